//! All benchmarks of a program, found without a list of them, and its `main`.

use hairspring_program::{Benchmark, Group, Manner, main as run, output::complain};
use std::process::ExitCode;

/// A function with the attribute. The attribute makes one for every function, and the linker
/// collects them.
#[derive(Debug)]
pub struct Entry {
    /// Where it was written: benchmarks run in this order.
    pub file: &'static str,
    /// Line in the file.
    pub line: u32,
    /// Its module, the crate's name first.
    pub module: &'static str,
    /// The function's name.
    pub name: &'static str,
    /// The function's type name, which is unique.
    pub identity: fn() -> &'static str,
    /// The type name of the function that it is compared with.
    pub against: Option<fn() -> &'static str>,
    /// The benchmark, once for each argument.
    pub cases: fn() -> Vec<Case>,
}

inventory::collect!(Entry);

/// A benchmark with one argument.
#[derive(Debug)]
pub struct Case {
    /// Name and value of the argument: `size:64`.
    pub argument: Option<String>,
    /// The benchmark, still without a name.
    pub benchmark: Benchmark<'static>,
}

impl Entry {
    /// Its name: that of the function, behind those of its modules within the program.
    fn full_name(&self) -> String {
        let modules = self.module.split_once("::").map(|(_, inner)| format!("{inner}::"));
        format!("{}{}", modules.unwrap_or_default(), self.name)
    }

    fn named_cases(&self) -> Vec<Case> {
        let name = self.full_name();
        let with_name = |mut case: Case| {
            case.benchmark.name = case
                .argument
                .as_ref()
                .map_or_else(|| name.clone(), |argument| format!("{name}/{argument}"));
            case
        };
        (self.cases)().into_iter().map(with_name).collect()
    }
}

/// Runs the benchmarks of a program as its command line says; `--help` has the options. Without
/// `--bench`, which cargo passes for `cargo bench`, every benchmark runs once. Returns the exit
/// status: 0 done, 1 it failed, 2 wrong usage, 3 the precision asked for was missed.
/// [`main!`](crate::main!) writes a `main` that does this.
#[must_use = "the exit status is to be returned from main"]
pub fn main() -> ExitCode {
    let mut entries: Vec<&Entry> = inventory::iter::<Entry>.into_iter().collect();
    entries.sort_by_key(|entry| (entry.file, entry.line, entry.name));
    match groups(&entries) {
        Ok(groups) => ExitCode::from(run(std::env::args_os(), Manner::Cargo, groups)),
        Err(reason) => {
            complain(&reason);
            ExitCode::from(2)
        }
    }
}

/// One group for every argument of every benchmark that is not an alternative; alternatives join
/// the group of their partner.
fn groups(entries: &[&Entry]) -> Result<Vec<Group<'static>>, String> {
    let mut groups: Vec<(&Entry, Option<String>, Group)> = Vec::new();
    for entry in entries.iter().filter(|entry| entry.against.is_none()) {
        groups.extend(
            entry
                .named_cases()
                .into_iter()
                .map(|case| (*entry, case.argument, case.benchmark.into())),
        );
    }
    for entry in entries {
        let Some(against) = entry.against else { continue };
        let first = partner(entry, against(), entries)?;
        for case in entry.named_cases() {
            let group = groups
                .iter_mut()
                .find(|(of, argument, _)| std::ptr::eq(*of, first) && *argument == case.argument);
            let (_, _, group) = group.ok_or_else(|| without_partner(&case, first))?;
            group.benchmarks.push(case.benchmark);
        }
    }
    Ok(groups.into_iter().map(|(_, _, group)| group).collect())
}

/// The benchmark that an alternative is compared with.
fn partner<'a>(entry: &Entry, against: &str, entries: &[&'a Entry]) -> Result<&'a Entry, String> {
    let reference = entries.iter().find(|other| (other.identity)() == against);
    let reference = reference.ok_or_else(|| {
        format!(
            "`{}` is compared with `{against}`, which has no #[hairspring::bench]",
            entry.full_name()
        )
    })?;
    if std::ptr::eq(*reference, entry) {
        return Err(format!("`{}` is compared with itself", entry.full_name()));
    }
    if reference.against.is_some() {
        let (name, other) = (entry.full_name(), reference.full_name());
        return Err(format!(
            "`{name}` is compared with `{other}`, which is compared with another itself; compare \
             both with that one"
        ));
    }
    Ok(reference)
}

fn without_partner(case: &Case, first: &Entry) -> String {
    let (name, first) = (&case.benchmark.name, first.full_name());
    format!(
        "`{name}` has no benchmark to be compared with: `{first}` has no such argument; give both \
         the same `args`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases() -> Vec<Case> {
        vec![Case { argument: None, benchmark: Benchmark::new("", Vec::new()) }]
    }

    fn sizes() -> Vec<Case> {
        ["size:1", "size:2"]
            .map(|size| Case {
                argument: Some(size.into()),
                benchmark: Benchmark::new("", Vec::new()),
            })
            .into()
    }

    const fn entry(
        name: &'static str,
        identity: fn() -> &'static str,
        cases: fn() -> Vec<Case>,
    ) -> Entry {
        Entry { file: "f", line: 1, module: "program::inner", name, identity, against: None, cases }
    }

    fn names(entries: &[&Entry]) -> Result<Vec<Vec<String>>, String> {
        let names = |group: Group| group.benchmarks.into_iter().map(|one| one.name).collect();
        groups(entries).map(|groups| groups.into_iter().map(names).collect())
    }

    #[test]
    fn alternatives_are_in_the_group_of_the_same_argument() {
        let (a, mut b) = (entry("a", || "p::a", sizes), entry("b", || "p::b", sizes));
        b.against = Some(|| "p::a");
        let expected =
            [["inner::a/size:1", "inner::b/size:1"], ["inner::a/size:2", "inner::b/size:2"]];
        assert_eq!(names(&[&b, &a]).unwrap(), expected);
    }

    #[test]
    fn alternatives_that_cannot_be_compared_are_errors() {
        let (a, mut b, mut c) = (
            entry("a", || "p::a", sizes),
            entry("b", || "p::b", cases),
            entry("c", || "p::c", cases),
        );
        b.against = Some(|| "p::a");
        c.against = Some(|| "p::b");
        assert!(names(&[&a, &b]).unwrap_err().contains("give both the same `args`"));
        assert!(
            names(&[&c, &b])
                .unwrap_err()
                .contains("`inner::c` is compared with `inner::b`, which is compared with another")
        );
        assert!(names(&[&b]).unwrap_err().contains("`p::a`, which has no #[hairspring::bench]"));
        b.against = Some(|| "p::b");
        assert!(names(&[&b]).unwrap_err().contains("itself"));
    }
}
