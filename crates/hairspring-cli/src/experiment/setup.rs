//! Runs the set-up of an experiment: a verb of this command, or a program that prints observations.

use crate::VERBS;
use crate::run::child::{Limits, complaint, run};
use hairspring_core::alike::nearest;
use hairspring_experiment::measured::measured;
use hairspring_experiment::plan::timeout_seconds;
use hairspring_experiment::record::Ran;
use hairspring_experiment::{Plan, Setup, Work};
use hairspring_host::process::Folder;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where set-ups run: the folder of the file.
pub struct Place {
    folder: PathBuf,
}

impl Place {
    /// The folder of a file.
    pub fn of(file: &Path) -> Result<Place, String> {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = folder.canonicalize().map_err(|error| format!("its folder: {error}"))?;
        Ok(Place { folder })
    }

    /// Checks the verbs that a plan names.
    pub fn check(&self, plan: &Plan) -> Result<(), String> {
        for (name, setup) in [("setup", Some(&plan.definition.setup)), ("check", plan.definition.check.as_ref())] {
            if let Some(Ok(Work::Verb(words))) = setup.map(Setup::work) {
                verb(&words[0]).map_err(|reason| format!("[{name}] {reason}"))?;
            }
        }
        Ok(())
    }

    /// Runs a set-up as often as it says, and reads its figure.
    pub fn run(&self, setup: &Setup, plan: &Plan) -> Result<Ran, String> {
        let limits = Limits { timeout: Duration::from_secs_f64(timeout_seconds(setup)?), named: "key `timeout`" };
        let (mut texts, mut commands) = (Vec::new(), Vec::new());
        for _ in 0..setup.repeat.unwrap_or(1) {
            let (text, words) = self.once(setup, plan.level, &limits)?;
            texts.push(text);
            commands = words;
        }
        let measured = measured(&texts, setup, plan.expected.dimension, plan.level)?;
        Ok(Ran { commands, measured })
    }

    /// One run: the document that it printed, and the command lines.
    fn once(&self, setup: &Setup, level: f64, limits: &Limits) -> Result<(String, Vec<String>), String> {
        match setup.work()? {
            Work::Verb(words) => {
                let words = with_json(words, level)?;
                let text = self.output(&own()?, &words, limits, &words[0])?;
                Ok((text, vec![shown("hairspring", &words)]))
            }
            Work::Program(words) => self.observed(words, level, limits),
        }
    }

    /// A program's observations, solved by `fit`.
    fn observed(&self, words: &[String], level: f64, limits: &Limits) -> Result<(String, Vec<String>), String> {
        let (program, arguments) = words.split_first().ok_or("program is empty")?;
        // A path is meant from the folder of the file; a plain name is looked up as a shell does.
        let path = if program.contains('/') { self.folder.join(program) } else { PathBuf::from(program) };
        let table = self.output(&path, arguments, limits, program)?;
        let folder = Folder::new().map_err(|error| format!("a temporary folder: {error}"))?;
        let file = folder.path().join("observations.csv");
        std::fs::write(&file, table).map_err(|error| format!("a temporary file: {error}"))?;
        let solve = with_json(&["fit".to_owned(), file.display().to_string()], level)?;
        let text = self.output(&own()?, &solve, limits, "fit of its observations")?;
        let shown_solve = with_json(&["fit".to_owned(), "observations.csv".to_owned()], level)?;
        Ok((text, vec![format!("{} > observations.csv", shown(program, arguments)), shown("hairspring", &shown_solve)]))
    }

    /// What a program prints that runs in the folder; `name` stands for it in errors.
    fn output(&self, program: &Path, words: &[String], limits: &Limits, name: &str) -> Result<String, String> {
        let mut command = Command::new(program);
        command.args(words).current_dir(&self.folder);
        let ended = run(command, limits).map_err(|error| format!("{name} {error}"))?;
        if let Some(complaint) = complaint(ended.status) {
            return Err(format!("{name} {complaint}"));
        }
        String::from_utf8(ended.output).map_err(|_| format!("{name} printed what is not UTF-8 text"))
    }
}

/// This program.
fn own() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("this program's file: {error}"))
}

/// The entry of a verb that prints a JSON document.
fn verb(name: &str) -> Result<&'static crate::verb::Verb, String> {
    let has_json = |verb: &&crate::verb::Verb| has_option(verb, "json") && verb.name != "experiment";
    let names = || VERBS.iter().filter(has_json).map(|verb| verb.name);
    let found = VERBS.iter().filter(has_json).find(|verb| verb.name == name);
    found.ok_or_else(|| {
        let alike = nearest(name, names()).map_or_else(String::new, |alike| format!(": did you mean `{alike}`?"));
        format!("there is no verb `{}` that prints a JSON document{alike}", name.escape_debug())
    })
}

fn has_option(verb: &crate::verb::Verb, name: &str) -> bool {
    (verb.command)().get_arguments().any(|argument| argument.get_long() == Some(name))
}

/// The words with the options for a JSON document and the confidence level, where the verb has it.
fn with_json(words: &[String], level: f64) -> Result<Vec<String>, String> {
    let verb = verb(&words[0])?;
    let mut options = Vec::new();
    if !words.iter().any(|word| word == "--json") {
        options.push("--json".to_owned());
    }
    if has_option(verb, "confidence-level") && !words.iter().any(|word| word.starts_with("--confidence-level")) {
        options.extend(["--confidence-level".to_owned(), level.to_string()]);
    }
    // Before all arguments, so that no `--` of the user comes first.
    Ok(words[..1].iter().cloned().chain(options).chain(words[1..].iter().cloned()).collect())
}

/// A command line as a shell reads it.
fn shown(program: &str, words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,%+@".contains(c);
    let quoted = |word: &str| {
        if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    std::iter::once(program).chain(words.iter().map(String::as_str)).map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(all: &[&str]) -> Vec<String> {
        all.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn verbs_are_asked_for_documents_at_the_level() {
        let found = with_json(&words(&["time", "x", "--", "y"]), 0.99).unwrap();
        assert_eq!(found, words(&["time", "--json", "--confidence-level", "0.99", "x", "--", "y"]));
        assert_eq!(with_json(&words(&["compare", "a", "b"]), 0.99).unwrap(), words(&["compare", "--json", "a", "b"]));
        let given = words(&["fit", "a", "--json", "--confidence-level=0.9"]);
        assert_eq!(with_json(&given, 0.95).unwrap(), given);
    }

    #[test]
    fn verbs_without_a_document_are_refused() {
        assert!(verb("tiem").is_err_and(|error| error.contains("did you mean `time`?")));
        assert!(verb("man").is_err() && verb("experiment").is_err() && verb("--help").is_err());
    }

    #[test]
    fn command_lines_are_quoted_for_a_shell() {
        assert_eq!(shown("./a b", &words(&["x = x * c", "it's", "", "-O2"])), r"'./a b' 'x = x * c' 'it'\''s' '' -O2");
    }
}
