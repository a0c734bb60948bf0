//! A program with benchmarks: their names and their results.

use super::NO_BENCHMARKS;
use super::REMEDIES;
use super::arguments::RunArguments;
use super::child::{self, Answer, Ended, Limits, complaint};
use super::{shown, source};
use crate::AnyError;
use crate::mhz::{beside_core_clock, on_any_cpu};
use hairspring_core::estimate::Options;
use hairspring_core::judge::Question;
use hairspring_core::observations::{Observations, read_csv};
use hairspring_host::clock::{RateMeter, default_clock};
use hairspring_host::process::Folder;
use hairspring_measure::Seating;
use hairspring_program::circumstances::here;
use hairspring_result::read::read;
use hairspring_result::runs::misses_precision;
use hairspring_result::{Measurement, ResultDocument};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// The environment variable that moves the stack of a process by its length.
const PADDING: &str = "HAIRSPRING_PADDING";
/// Total length of the names on a program's command line, in bytes; with more, the program runs all
/// its benchmarks.
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
    /// Whether it was seen with several threads when it was first run.
    has_threads: bool,
}

impl Program {
    /// Finds out how a file is run; source is compiled with these flags.
    pub fn prepare(
        file: &Path,
        flags: &[String],
        arguments: &RunArguments,
    ) -> Result<Program, AnyError> {
        let started = source::prepare(file, flags, arguments)
            .map_err(|error| format!("{}: {error}", shown(file)))?;
        Ok(Program {
            shown: shown(file),
            chosen: Vec::new(),
            started,
            names: Vec::new(),
            observes: false,
            has_threads: false,
        })
    }

    /// Whether it said that it has no benchmarks.
    pub fn has_none(&self) -> bool {
        self.names.is_empty()
    }

    /// Asks the program for its benchmarks.
    pub fn find_benchmarks(&mut self, limits: &Limits) -> Result<(), AnyError> {
        let words = ["--list", "--format", "terse"].map(OsString::from).into();
        let (ended, has_threads) = child::run_counting_threads(self.command(words), limits)
            .map_err(|error| format!("{}: {error}", self.shown))?;
        self.has_threads = has_threads;
        let missed = || (ended.status.code() == Some(3)).then(|| "ended with status 3".to_owned());
        if let Some(complaint) = complaint(ended.status).or_else(missed) {
            return Err(format!(
                "{}: {complaint} when asked for its benchmarks (--list --format terse); \
                 {NO_BENCHMARKS}",
                self.shown
            )
            .into());
        }
        let text = String::from_utf8_lossy(&ended.output).into_owned();
        self.observes = is_observations(&text);
        self.names = if self.observes {
            series(&self.observations(&ended.output)?)
        } else {
            self.listed(&text)?
        };
        Ok(())
    }

    fn listed(&self, text: &str) -> Result<Vec<String>, AnyError> {
        let name = |line: &str| line.strip_suffix(": benchmark").map(str::to_owned);
        let names: Option<Vec<String>> =
            text.lines().filter(|line| !line.trim().is_empty()).map(name).collect();
        let first: String = text.lines().next().unwrap_or_default().chars().take(60).collect();
        names.ok_or_else(|| {
            format!(
                "{}: is not a program with benchmarks: with --list --format terse it prints \
                 `{first}`",
                self.shown
            )
            .into()
        })
    }

    /// Whether it prints observations instead of results, in a time of its own.
    pub fn observes(&self) -> bool {
        self.observes
    }

    /// Keeps the benchmarks of these names.
    pub fn choose(&mut self, chooses: impl Fn(&str) -> bool) {
        self.chosen = self.names.iter().filter(|name| chooses(name)).cloned().collect();
    }

    /// Runs the chosen benchmarks.
    pub fn run(&self, arguments: &RunArguments) -> Result<Answer, AnyError> {
        let limits = arguments.limits();
        if self.observes {
            let document = self.observed(arguments, &limits)?;
            let limit_missed = misses_precision(&document);
            return Ok(Answer { document, limit_missed });
        }
        #[cfg(target_os = "linux")]
        super::pages::in_other_pages(self.file(), arguments.cpu);
        let folder = Folder::new().map_err(|error| format!("a temporary folder: {error}"))?;
        let file = folder.path().join("result.json");
        let ended = child::run(self.measuring(arguments, &file), &limits)?;
        failed(&ended)?;
        Ok(Answer { document: written(&file)?, limit_missed: ended.status.code() == Some(3) })
    }

    /// The command that measures the chosen benchmarks. The document goes to a file, so that output
    /// of the code cannot mix with it.
    pub fn measuring(&self, arguments: &RunArguments, file: &Path) -> Command {
        let mut words = arguments.passed_on();
        words.extend([OsString::from("--output"), file.into()]);
        let length: usize = self.chosen.iter().map(String::len).sum();
        if self.chosen.len() < self.names.len() && length < MOST_NAMES {
            words.extend(["--exact", "--"].map(OsString::from));
            words.extend(self.chosen.iter().map(OsString::from));
        }
        self.padded(arguments, words)
    }

    /// The command in an environment of the asked size.
    fn padded(&self, arguments: &RunArguments, words: Vec<OsString>) -> Command {
        let mut command = self.command(words);
        if arguments.padding > 0 {
            command.env(PADDING, "x".repeat(arguments.padding));
        }
        command
    }

    /// All its benchmarks.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The file that is started.
    pub fn file(&self) -> &Path {
        Path::new(&self.started.command[0])
    }

    fn command(&self, words: Vec<OsString>) -> Command {
        let mut command = Command::new(&self.started.command[0]);
        command.args(&self.started.command[1..]).args(words);
        command
    }

    fn observations(&self, bytes: &[u8]) -> Result<Observations, AnyError> {
        let why =
            "a program that prints its observations may print nothing else on standard output";
        Ok(read_csv(bytes)
            .map_err(|error| format!("{}: its observations: {error} ({why})", self.shown))?)
    }

    /// Runs a program that prints observations, and solves them. It does not show its own core
    /// clock, so it runs on the CPU whose clock is measured before and after it, unless it may use
    /// all CPUs.
    fn observed(
        &self,
        arguments: &RunArguments,
        limits: &Limits,
    ) -> Result<ResultDocument, AnyError> {
        let meter = RateMeter::start(default_clock());
        let start = || {
            let command = self.padded(arguments, Vec::new());
            child::run(command, limits).map_err(|error| error.to_string())
        };
        let is_bound = arguments.seating.value() == Seating::Pinned
            && (arguments.cpu.is_some() || !self.has_threads);
        let beside =
            if is_bound { beside_core_clock(arguments.cpu, start)? } else { on_any_cpu(start)? };
        let ended = beside.answer?;
        failed(&ended)?;
        let mut table = self.observations(&ended.output)?;
        if table.origin.clock.as_deref() == Some(default_clock().name) {
            if table.origin.rate.is_none() {
                table.origin.rate = Some(meter.rate());
            }
            if table.origin.reference.is_none() {
                (table.origin.core_clock, table.origin.clock_spread) =
                    (beside.clock, beside.spread);
                table.origin.pauses = beside.pauses;
            }
        }
        self.solved(&table, arguments)
    }

    /// Solves the chosen series of a program that prints observations.
    fn solved(
        &self,
        table: &Observations,
        arguments: &RunArguments,
    ) -> Result<ResultDocument, AnyError> {
        let options = Options { level: arguments.confidence_level, ..Options::default() };
        let question = Question { options, precision: arguments.precision, ..Question::default() };
        let assessment = REMEDIES.assess(table, &question)?;
        let mut document = ResultDocument::new(&Measurement {
            command: "run".into(),
            environment: here(match table.origin.core_clock {
                Some(_) => {
                    "core cycles are by the core clock of the CPU before and after the program, \
                     which runs no reference chain"
                }
                None => "the program runs no reference chain",
            })
            .with_origin(&table.origin),
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

/// The document that a program has written into this file.
///
/// # Errors
/// There is none.
pub fn written(file: &Path) -> Result<ResultDocument, AnyError> {
    let text =
        std::fs::read_to_string(file).map_err(|error| format!("wrote no result: {error}"))?;
    Ok(read(&text).map_err(|error| format!("its result {error}"))?)
}

fn failed(ended: &Ended) -> Result<(), AnyError> {
    complaint(ended.status).map_or(Ok(()), |complaint| Err(complaint.into()))
}

fn is_observations(text: &str) -> bool {
    let first = text.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
    text.starts_with("# hairspring observations")
        || first.split(',').any(|column| matches!(column.trim(), "ticks" | "time_ns"))
}

/// Names of the series, without the auxiliary ones.
fn series(table: &Observations) -> Vec<String> {
    let own = |name: &&String| !table.origin.is_auxiliary(name);
    table.series_names().iter().filter(own).cloned().collect()
}
