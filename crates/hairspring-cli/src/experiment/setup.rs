//! Runs the set-up of an experiment: a verb of this command, or a program that prints observations.

use crate::run::child::{Limits, complaint, run};
use crate::verbs;
use hairspring_core::alike::nearest;
use hairspring_core::named::Named;
use hairspring_expect::Dimension;
use hairspring_experiment::measured::{measured, reason};
use hairspring_experiment::plan::input_unit;
use hairspring_experiment::plan::timeout_seconds;
use hairspring_experiment::record::{Ran, Runs};
use hairspring_experiment::{Plan, Setup, Work};
use hairspring_host::process::Folder;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where set-ups run.
pub struct Place {
    folder: PathBuf,
}

/// What the runs of a set-up printed, and their command lines.
struct Printed {
    texts: Vec<String>,
    commands: Vec<String>,
}

impl Printed {
    /// A figure of the documents.
    fn figure(&self, setup: &Setup, dimension: Dimension, level: f64) -> Result<Ran, String> {
        Ok(Ran {
            commands: self.commands.clone(),
            measured: measured(&self.texts, setup, dimension, level)?,
        })
    }
}

impl Place {
    /// A folder.
    pub fn of(folder: &Path) -> Result<Place, String> {
        let folder = folder
            .canonicalize()
            .map_err(|error| format!("the folder {}: {error}", folder.display()))?;
        Ok(Place { folder })
    }

    /// Checks the verbs that a plan names.
    pub fn check(&self, plan: &Plan) -> Result<(), String> {
        let named =
            |name: &str, setup: &Setup| checked(setup).map_err(|reason| format!("{name} {reason}"));
        named("[setup]", &plan.definition.setup)?;
        plan.definition.check.as_ref().map_or(Ok(()), |setup| named("[check]", setup))?;
        plan.to_measure()
            .try_for_each(|(name, setup)| named(&format!("expectation.with.{name}:"), setup))
    }

    /// Measures the inputs of the model, and gives them to the plan.
    pub fn inputs(&self, plan: &mut Plan) -> Result<Named<Ran>, String> {
        let wanted: Vec<(String, Setup)> =
            plan.to_measure().map(|(name, setup)| (name.to_owned(), setup.clone())).collect();
        let mut inputs = Named::new();
        for (name, setup) in wanted {
            let named = |reason: String| format!("expectation.with.{name}: {reason}");
            let dimension = input_unit(&setup).map_err(named)?.dimension;
            let ran = self
                .printed(&setup, plan.level)
                .and_then(|printed| printed.figure(&setup, dimension, plan.level))
                .map_err(named)?;
            plan.give(&name, dimension, &ran.measured.estimate);
            inputs.insert(name, ran);
        }
        Ok(inputs)
    }

    /// Runs the set-up and the second method. One that fails is no reason to throw the figure of
    /// the first one away, and one with the same command takes its figure from the same runs.
    pub fn runs(&self, plan: &Plan, inputs: Named<Ran>) -> Result<Runs, String> {
        let (setup, dimension, level) =
            (&plan.definition.setup, plan.expected.dimension, plan.level);
        let printed = self.printed(setup, level).map_err(|reason| format!("[setup] {reason}"))?;
        let first = printed
            .figure(setup, dimension, level)
            .map_err(|reason| format!("[setup] {reason}"))?;
        let second = |check: &Setup| match check.runs_as(setup) {
            true => printed.figure(check, dimension, level),
            false => self.printed(check, level)?.figure(check, dimension, level),
        };
        let check = plan
            .definition
            .check
            .as_ref()
            .map(|check| second(check).map_err(|reason| format!("[check] {reason}")));
        Ok(Runs { folder: self.folder.display().to_string(), inputs, first, check })
    }

    /// Runs a set-up as often as it says.
    fn printed(&self, setup: &Setup, level: f64) -> Result<Printed, String> {
        let limits = Limits {
            timeout: Duration::from_secs_f64(timeout_seconds(setup)?),
            named: "key `timeout`",
        };
        let mut printed = Printed { texts: Vec::new(), commands: Vec::new() };
        for _ in 0..setup.times() {
            let (text, words) = self.once(setup, level, &limits)?;
            printed.texts.push(text);
            printed.commands = words;
        }
        Ok(printed)
    }

    /// One run: the document that it printed, and the command lines.
    fn once(
        &self,
        setup: &Setup,
        level: f64,
        limits: &Limits,
    ) -> Result<(String, Vec<String>), String> {
        match setup.work()? {
            Work::Verb(words) => {
                let words = with_json(words, level)?;
                let text = self.output(&own_path()?, &words, limits, &words[0])?;
                Ok((text, vec![shown("hairspring", &words)]))
            }
            Work::Program(words) => self.observed(words, level, limits),
        }
    }

    /// A program's observations, solved by `fit`.
    fn observed(
        &self,
        words: &[String],
        level: f64,
        limits: &Limits,
    ) -> Result<(String, Vec<String>), String> {
        let (program, arguments) = words.split_first().ok_or("program is empty")?;
        // A path is meant from the folder of the file; a plain name is looked up as a shell does.
        let path =
            if program.contains('/') { self.folder.join(program) } else { PathBuf::from(program) };
        let table = self.output(&path, arguments, limits, program)?;
        let folder = Folder::new().map_err(|error| format!("a temporary folder: {error}"))?;
        let file = folder.path().join("observations.csv");
        std::fs::write(&file, table).map_err(|error| format!("a temporary file: {error}"))?;
        // By its name alone: the folder is gone when somebody reads the message of `fit`.
        let solve = with_json(&["fit".to_owned(), "observations.csv".to_owned()], level)?;
        let text = output(
            folder.path(),
            &own_path()?,
            &solve,
            limits,
            &format!("fit of what {program} printed (observations.csv)"),
        )?;
        Ok((
            text,
            vec![
                format!("{} > observations.csv", shown(program, arguments)),
                shown("hairspring", &solve),
            ],
        ))
    }

    /// What a program prints that runs in the folder; `name` stands for it in errors.
    fn output(
        &self,
        program: &Path,
        words: &[String],
        limits: &Limits,
        name: &str,
    ) -> Result<String, String> {
        output(&self.folder, program, words, limits, name)
    }
}

/// What a program prints that runs in a folder; `name` stands for it in errors.
fn output(
    folder: &Path,
    program: &Path,
    words: &[String],
    limits: &Limits,
    name: &str,
) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(words).current_dir(folder);
    let ended = run(command, limits).map_err(|error| format!("{name} {error}"))?;
    if let Some(complaint) = complaint(ended.status) {
        // A verb that fails may have printed a document that says why.
        let why = std::str::from_utf8(&ended.output).ok().and_then(reason);
        return Err(why.map_or_else(
            || format!("{name} {complaint}"),
            |why| format!("{name} {complaint}: {why}"),
        ));
    }
    String::from_utf8(ended.output).map_err(|_| format!("{name} printed what is not UTF-8 text"))
}

/// This program.
fn own_path() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("this program's file: {error}"))
}

/// The entry of a verb that prints a JSON document.
fn verb(name: &str) -> Result<&'static crate::verb::Verb, String> {
    let has_json =
        |verb: &&crate::verb::Verb| has_option(verb, "json") && verb.name != "experiment";
    let names = || verbs().filter(has_json).map(|verb| verb.name);
    let found = verbs().filter(has_json).find(|verb| verb.name == name);
    found.ok_or_else(|| {
        let alike = nearest(name, names())
            .map_or_else(String::new, |alike| format!(": did you mean `{alike}`?"));
        format!("there is no verb `{}` that prints a JSON document{alike}", name.escape_debug())
    })
}

/// Verbs whose document is a result with series and components. Of others the figure must be named.
const WITH_SERIES: [&str; 4] = ["time", "fit", "capture", "run"];

/// Checks the verb that a set-up names.
fn checked(setup: &Setup) -> Result<(), String> {
    let Ok(Work::Verb(words)) = setup.work() else { return Ok(()) };
    verb(&words[0])?;
    if setup.figure.is_none() && !WITH_SERIES.contains(&words[0].as_str()) {
        return Err(format!(
            "the document of `{}` has no series of times: name the number by `figure`, such as \
             /results/0/...",
            words[0]
        ));
    }
    Ok(())
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
    if has_option(verb, "confidence-level")
        && !words.iter().any(|word| word.starts_with("--confidence-level"))
    {
        options.extend(["--confidence-level".to_owned(), level.to_string()]);
    }
    // Before all arguments, so that no `--` of the user comes first.
    Ok(words[..1].iter().cloned().chain(options).chain(words[1..].iter().cloned()).collect())
}

/// A command line as a shell reads it.
fn shown(program: &str, words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,%+@".contains(c);
    let quoted = |word: &str| {
        if !word.is_empty() && word.chars().all(plain) {
            word.to_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    std::iter::once(program)
        .chain(words.iter().map(String::as_str))
        .map(quoted)
        .collect::<Vec<_>>()
        .join(" ")
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
        assert_eq!(
            with_json(&words(&["compare", "a", "b"]), 0.99).unwrap(),
            words(&["compare", "--json", "a", "b"])
        );
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
        assert_eq!(
            shown("./a b", &words(&["x = x * c", "it's", "", "-O2"])),
            r"'./a b' 'x = x * c' 'it'\''s' '' -O2"
        );
    }
}
