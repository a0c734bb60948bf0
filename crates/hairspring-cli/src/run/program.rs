//! A program with benchmarks: their names and their results.

use super::REMEDIES;
use super::arguments::RunArguments;
use super::child::{self, Answer, Ended, Limits, complaint};
use super::{shown, source};
use crate::AnyError;
use crate::mhz::clock_spread;
use hairspring_core::estimate::Options;
use hairspring_core::judge::Question;
use hairspring_core::observations::{Observations, read_csv};
use hairspring_host::clock::{RateMeter, default_clock};
use hairspring_host::process::Folder;
use hairspring_program::circumstances::here;
use hairspring_result::read::read;
use hairspring_result::runs::misses_precision;
use hairspring_result::{Measurement, ResultDocument};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Total length of the names on a program's command line, in bytes; with more, the program runs all its benchmarks.
const MOST_NAMES: usize = 100_000;

/// A program.
pub struct Program {
    /// The file as the user named it.
    pub shown: String,
    /// Names of the benchmarks to run.
    pub chosen: Vec<String>,
    /// How it is started, and the folder that must live as long.
    started: source::Started,
    /// All its names.
    names: Vec<String>,
    /// Whether it prints observations instead of results: then it has no command line.
    observes: bool,
}

impl Program {
    /// Finds out how a file is run; source is compiled with these flags.
    pub fn prepare(file: &Path, flags: &[String], arguments: &RunArguments) -> Result<Program, AnyError> {
        let started = source::prepare(file, flags, arguments).map_err(|error| format!("{}: {error}", shown(file)))?;
        Ok(Program { shown: shown(file), chosen: Vec::new(), started, names: Vec::new(), observes: false })
    }

    /// Asks the program for its benchmarks.
    pub fn find_benchmarks(&mut self, limits: &Limits) -> Result<(), AnyError> {
        let ended = self.start(["--list", "--format", "terse"].map(OsString::from).into(), limits)?;
        let missed = || (ended.status.code() == Some(3)).then(|| "ended with status 3".to_owned());
        if let Some(complaint) = complaint(ended.status).or_else(missed) {
            return Err(format!("{}: {complaint} when asked for its benchmarks (--list --format terse)", self.shown).into());
        }
        let text = String::from_utf8_lossy(&ended.output).into_owned();
        self.observes = is_observations(&text);
        self.names = if self.observes { series(&self.observations(&ended.output)?) } else { self.listed(&text)? };
        Ok(())
    }

    fn listed(&self, text: &str) -> Result<Vec<String>, AnyError> {
        let name = |line: &str| line.strip_suffix(": benchmark").map(str::to_owned);
        let names: Option<Vec<String>> = text.lines().filter(|line| !line.trim().is_empty()).map(name).collect();
        let first: String = text.lines().next().unwrap_or_default().chars().take(60).collect();
        names.ok_or_else(|| {
            format!("{}: is not a program with benchmarks: with --list --format terse it prints `{first}`", self.shown).into()
        })
    }

    /// Keeps the benchmarks of these names.
    pub fn choose(&mut self, chooses: impl Fn(&str) -> bool) {
        self.chosen = self.names.iter().filter(|name| chooses(name)).cloned().collect();
    }

    /// Runs the chosen benchmarks.
    pub fn run(&self, arguments: &RunArguments) -> Result<Answer, AnyError> {
        let limits = arguments.limits();
        if self.observes {
            let meter = RateMeter::start(default_clock());
            let ended = self.start(Vec::new(), &limits)?;
            failed(&ended)?;
            let document = self.solved(&ended.output, arguments, &meter)?;
            let limit_missed = misses_precision(&document);
            return Ok(Answer { document, limit_missed });
        }
        #[cfg(target_os = "linux")]
        super::pages::in_other_pages(Path::new(&self.started.command[0]), arguments.cpu);
        // The document goes to a file, so that output of the code cannot mix with it.
        let folder = Folder::new().map_err(|error| format!("a temporary folder: {error}"))?;
        let file = folder.path().join("result.json");
        let mut words = arguments.passed_on();
        words.extend([OsString::from("--output"), file.clone().into()]);
        let length: usize = self.chosen.iter().map(String::len).sum();
        if self.chosen.len() < self.names.len() && length < MOST_NAMES {
            words.extend(["--exact", "--"].map(OsString::from));
            words.extend(self.chosen.iter().map(OsString::from));
        }
        let ended = self.start(words, &limits)?;
        failed(&ended)?;
        let text = std::fs::read_to_string(&file).map_err(|error| format!("wrote no result: {error}"))?;
        let document = read(&text).map_err(|error| format!("its result {error}"))?;
        Ok(Answer { document, limit_missed: ended.status.code() == Some(3) })
    }

    fn start(&self, words: Vec<OsString>, limits: &Limits) -> Result<Ended, AnyError> {
        let mut command = Command::new(&self.started.command[0]);
        command.args(&self.started.command[1..]).args(words);
        Ok(child::run(command, limits)?)
    }

    fn observations(&self, bytes: &[u8]) -> Result<Observations, AnyError> {
        Ok(read_csv(bytes).map_err(|error| format!("{}: its observations: {error}", self.shown))?)
    }

    /// Solves the chosen series of a program that prints observations. If these give no rate but name this command's clock,
    /// the rate is the one measured here during the run.
    fn solved(&self, bytes: &[u8], arguments: &RunArguments, meter: &RateMeter) -> Result<ResultDocument, AnyError> {
        let mut table = self.observations(bytes)?;
        if table.origin.rate.is_none() && table.origin.clock.as_deref() == Some(default_clock().name) {
            table.origin.rate = Some(meter.rate());
        }
        if table.origin.reference.is_none() && table.origin.clock.as_deref() == Some(default_clock().name) {
            // The program does not show its own core clock.
            table.origin.clock_spread = clock_spread(arguments.cpu);
        }
        let options = Options { level: arguments.confidence_level, ..Options::default() };
        let question = Question { options, precision: arguments.precision, ..Question::default() };
        let assessment = REMEDIES.assess(&table, &question)?;
        let mut document = ResultDocument::new(&Measurement {
            command: "run".into(),
            environment: here("the program runs no reference chain").with_origin(&table.origin),
            assessment,
            ns_per_unit: table.origin.ns_per_unit(),
            subjects: Vec::new(),
            methods: Vec::new(),
            run: None,
        });
        document.results.retain(|series| self.chosen.contains(&series.name));
        // The series of such a table are not alternatives of each other.
        document.comparisons.clear();
        Ok(document)
    }
}

fn failed(ended: &Ended) -> Result<(), AnyError> {
    complaint(ended.status).map_or(Ok(()), |complaint| Err(complaint.into()))
}

fn is_observations(text: &str) -> bool {
    let first = text.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
    text.starts_with("# hairspring observations") || first.split(',').any(|column| matches!(column.trim(), "ticks" | "time_ns"))
}

/// Names of the series, without the auxiliary ones.
fn series(table: &Observations) -> Vec<String> {
    let own = |name: &&String| !table.origin.is_auxiliary(name);
    table.series_names().iter().filter(own).cloned().collect()
}
