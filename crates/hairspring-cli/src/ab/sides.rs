//! The programs of the two builds, and the benchmarks that both have.

use super::arguments::AbArguments;
use crate::AnyError;
use crate::misuse::Misuse;
use crate::run::NO_BENCHMARKS;
use crate::run::arguments::RunArguments;
use crate::run::program::Program;
use hairspring_program::output;
use hairspring_result::ab::Source;
use std::ffi::OsStr;
use std::path::Path;

/// One build.
pub struct Side {
    /// What it is.
    pub source: Source,
    /// Its programs, with the names by which those of the other build are found.
    pub programs: Vec<(String, Program)>,
}

/// A program of both builds.
pub struct Both {
    /// The name of the program, if there are several.
    pub name: Option<String>,
    /// Of the base.
    pub base: Program,
    /// Of the head.
    pub head: Program,
}

/// What both builds have, and what only one of them has.
pub struct Sides {
    /// The base.
    pub base: Source,
    /// The head.
    pub head: Source,
    /// Programs of both.
    pub both: Vec<Both>,
    /// Benchmarks of the base alone.
    pub missing: Vec<String>,
    /// Benchmarks of the head alone.
    pub added: Vec<String>,
    /// Whether the two are the same file.
    pub is_same: bool,
}

/// A program, or a file that is compiled.
pub fn of_file(
    word: &OsStr,
    arguments: &AbArguments,
    of_run: &RunArguments,
) -> Result<Side, AnyError> {
    let flags = hairspring_snippet::shell_words("--cflags", &arguments.cflags)?;
    let program = Program::prepare(Path::new(word), &flags, of_run)?;
    let named = word.to_string_lossy().into_owned();
    let source = Source { programs: vec![named.clone()], named, ..Source::default() };
    Ok(Side { source, programs: vec![(String::new(), program)] })
}

impl Sides {
    /// Finds the benchmarks that both have.
    ///
    /// # Errors
    /// There is none, or a program cannot be run.
    pub fn find(
        base: Side,
        head: Side,
        arguments: &AbArguments,
        of_run: &RunArguments,
    ) -> Result<Sides, AnyError> {
        let mut sides = Sides {
            base: base.source,
            head: head.source,
            both: Vec::new(),
            missing: Vec::new(),
            added: Vec::new(),
            is_same: false,
        };
        let (is_several, mut heads) = (base.programs.len() > 1, head.programs);
        for (name, program) in base.programs {
            let at = heads.iter().position(|(other, _)| *other == name);
            let Some(at) = at else {
                sides.missing.push(format!("{name} (a program)"));
                continue;
            };
            let name = is_several.then_some(name);
            sides.both.push(Both { name, base: program, head: heads.swap_remove(at).1 });
        }
        sides.added.extend(heads.into_iter().map(|(name, _)| format!("{name} (a program)")));
        sides.choose(arguments, of_run)?;
        Ok(sides)
    }

    fn choose(&mut self, arguments: &AbArguments, of_run: &RunArguments) -> Result<(), AnyError> {
        for both in &mut self.both {
            output::status_line(&format!("looking for the benchmarks of {}", both.base.shown));
            both.base.find_benchmarks(&of_run.limits())?;
            both.head.find_benchmarks(&of_run.limits())?;
            output::status_line("");
            let is_wanted = |name: &str| arguments.choice.chooses(&arguments.filters, name);
            let only = |one: &Program, other: &Program| -> Vec<String> {
                let is_only = |name: &&String| is_wanted(name) && !other.names().contains(name);
                one.names().iter().filter(is_only).map(|name| both_name(&both.name, name)).collect()
            };
            self.missing.extend(only(&both.base, &both.head));
            self.added.extend(only(&both.head, &both.base));
            both.keep_common(&is_wanted);
        }
        self.is_same = self.both.iter().all(Both::is_same) && !self.both.is_empty();
        self.both.retain(|both| !both.base.chosen.is_empty());
        if self.both.is_empty() { Err(self.nothing(arguments)) } else { Ok(()) }
    }

    /// Why there is nothing to measure.
    fn nothing(&self, arguments: &AbArguments) -> AnyError {
        if self.missing.is_empty() && self.added.is_empty() {
            let advice = if arguments.filters.is_empty() { NO_BENCHMARKS } else { "" };
            let text = hairspring_program::nothing_chosen(&arguments.filters);
            return Misuse(format!("{text}; {advice}").trim_end_matches("; ").to_owned()).into();
        }
        let first = |names: &[String]| names.first().map_or("none", |name| name).to_owned();
        Misuse(format!(
            "the two builds have no benchmark in common: the base has {} ({}), the head {} ({})",
            self.missing.len(),
            first(&self.missing),
            self.added.len(),
            first(&self.added)
        ))
        .into()
    }
}

/// The name of a benchmark, with that of its program if there are several.
pub fn both_name(program: &Option<String>, name: &str) -> String {
    program.as_ref().map_or_else(|| name.to_owned(), |program| format!("{program}: {name}"))
}

impl Both {
    fn keep_common(&mut self, is_wanted: &dyn Fn(&str) -> bool) {
        let common: Vec<String> = self
            .base
            .names()
            .iter()
            .filter(|name| is_wanted(name) && self.head.names().contains(name))
            .cloned()
            .collect();
        self.base.choose(|name| common.iter().any(|one| one == name));
        self.head.choose(|name| common.iter().any(|one| one == name));
    }

    /// Whether both are the same file, or files of the same contents.
    fn is_same(&self) -> bool {
        let bytes = |program: &Program| std::fs::read(program.file()).ok();
        let words = |program: &Program| program.file().to_owned();
        let is_interpreted = |program: &Program| program.file() == Path::new("python3");
        if is_interpreted(&self.base) {
            return false;
        }
        words(&self.base) == words(&self.head) || {
            let one = bytes(&self.base);
            one.is_some() && one == bytes(&self.head)
        }
    }
}
