//! The options of a program with benchmarks. They are declared with clap's builder: its derive
//! macros would double the number of packages that a user's first build compiles.

use crate::session::Settings;
use crate::values::{duration, level, share};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use hairspring_measure::Seating;
use hairspring_measure::limits::DEFAULT_PRECISION;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const AFTER_HELP: &str = "\
Exit status: 0 success, 1 failure, 2 wrong usage, 3 the requested precision was
missed.
`hairspring run` runs several such programs and makes one table and one JSON
document of them.";

/// How filters choose benchmarks.
#[derive(Debug, Clone)]
pub struct ChoiceArguments {
    /// Match filters against the whole name
    pub exact: bool,
    /// Leave out the benchmarks whose name contains this (repeatable)
    pub skip: Vec<String>,
}

impl ChoiceArguments {
    /// Whether a benchmark of this name is to be run; without filters all are.
    pub fn chooses(&self, filters: &[String], name: &str) -> bool {
        let matches = |filter: &String| {
            if self.exact { name == filter } else { name.contains(filter.as_str()) }
        };
        (filters.is_empty() || filters.iter().any(matches)) && !self.skip.iter().any(matches)
    }
}

impl Args for ChoiceArguments {
    fn augment_args(command: Command) -> Command {
        command.arg(flag("exact").help("Match filters against the whole name")).arg(
            option("skip", "FILTER")
                .action(ArgAction::Append)
                .help("Leave out the benchmarks whose name contains this (repeatable)"),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ChoiceArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ChoiceArguments, clap::Error> {
        Ok(ChoiceArguments { exact: matches.get_flag("exact"), skip: all(matches, "skip") })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Options of a program with benchmarks.
#[derive(Debug, Clone)]
pub struct Arguments {
    /// Run the benchmarks whose name contains one of these
    pub filters: Vec<String>,
    /// Which benchmarks.
    pub choice: ChoiceArguments,
    /// Print the names and run nothing
    pub list: bool,
    /// Print one JSON document instead of text
    pub json: bool,
    /// Print the whole report of every benchmark: rows, plots, error budget, circumstances
    pub details: bool,
    /// Write the raw observations into this folder, one file for each benchmark, for
    /// `hairspring fit`
    pub save: Option<PathBuf>,
    /// Write the JSON document into this file, and leave standard output to the code
    pub output: Option<PathBuf>,
    /// Time for measuring a benchmark with its alternatives
    pub budget: Duration,
    /// Whether the budget was given, and is kept even while something else uses the core
    pub is_firm: bool,
    /// Half-width of the intervals that is wanted; exit with 3 if it is missed (default: 0.5%, not
    /// insisted on)
    pub precision: Option<f64>,
    /// Confidence level of all intervals
    pub confidence_level: f64,
    /// The clock to read, such as tsc or monotonic
    pub clock: Option<String>,
    /// The CPU to run on (default: the last one, or a quieter one)
    pub cpu: Option<usize>,
    /// Whether the thread is bound to a CPU
    pub seating: Seating,
    /// Run each benchmark once without measuring it, as a test
    pub test: bool,
    /// Options that cargo and other test runners pass to every program
    pub runner: RunnerArguments,
}

/// Options of libtest that runners pass on; they are accepted, and have no effect except as
/// described here.
#[derive(Debug, Clone)]
pub struct RunnerArguments {
    /// Set by `cargo bench`
    pub(crate) bench: bool,
    /// How a list is printed; `terse` is `name: benchmark`
    pub(crate) format: Option<String>,
    /// Only ignored tests: there are none
    pub(crate) ignored: bool,
}

impl Arguments {
    /// Reads a command line, with the program's name first.
    ///
    /// # Errors
    /// The message about a wrong option, or the requested help, to be printed.
    pub fn try_parse_from(
        arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<Arguments, clap::Error> {
        Ok(Arguments::from_matches(&command().try_get_matches_from(arguments)?))
    }

    fn from_matches(matches: &ArgMatches) -> Arguments {
        Arguments {
            filters: all(matches, "filters"),
            choice: ChoiceArguments {
                exact: matches.get_flag("exact"),
                skip: all(matches, "skip"),
            },
            list: matches.get_flag("list"),
            json: matches.get_flag("json"),
            details: matches.get_flag("details"),
            save: one(matches, "save"),
            output: one(matches, "output"),
            // If the option is missing, clap gives the default.
            budget: one(matches, "budget").unwrap_or_default(),
            is_firm: matches.value_source("budget") == Some(ValueSource::CommandLine),
            precision: one(matches, "precision"),
            confidence_level: one(matches, "confidence-level").unwrap_or_default(),
            clock: one(matches, "clock"),
            cpu: one(matches, "cpu"),
            seating: seating(matches.get_flag("threads"), matches.get_flag("no-pin")),
            test: matches.get_flag("test"),
            runner: RunnerArguments {
                bench: matches.get_flag("bench"),
                format: one(matches, "format"),
                ignored: matches.get_flag("ignored"),
            },
        }
    }

    /// Whether a benchmark of this name is to be run.
    pub fn chooses(&self, name: &str) -> bool {
        self.choice.chooses(&self.filters, name) && !self.runner.ignored
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            clock: self.clock.clone(),
            cpu: self.cpu,
            seating: self.seating,
            budget: self.budget,
            is_firm: self.is_firm,
            precision: self.precision.unwrap_or(DEFAULT_PRECISION),
            level: self.confidence_level,
            ..Settings::default()
        }
    }
}

/// How the timed thread is to run by the two options; code with threads is not bound in any case.
pub fn seating(threads: bool, no_pin: bool) -> Seating {
    match (threads, no_pin) {
        (true, _) => Seating::Threads,
        (false, true) => Seating::Unpinned,
        (false, false) => Seating::Pinned,
    }
}

fn one<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, name: &str) -> Option<T> {
    matches.get_one(name).cloned()
}

fn all(matches: &ArgMatches, name: &str) -> Vec<String> {
    matches.get_many(name).into_iter().flatten().cloned().collect()
}

fn flag(name: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue)
}

fn option(name: &'static str, value: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value)
}

/// The command line; the help is wrapped by hand at 80 columns.
pub(crate) fn command() -> Command {
    let filters = Arg::new("filters").value_name("FILTER").num_args(1..).action(ArgAction::Append);
    let command = Command::new("benchmarks")
        .about("Benchmarks, measured by Hairspring")
        .next_line_help(true)
        .after_help(AFTER_HELP)
        .arg(filters.help("Run the benchmarks whose name contains one of these"));
    let command =
        ChoiceArguments::augment_args(command).args(output_options()).args(measurement_options());
    command
        .arg(flag("test").help("Run each benchmark once without measuring it, as a test"))
        .args(runner_options())
}

fn output_options() -> [Arg; 5] {
    [
        flag("list").help("Print the names and run nothing"),
        flag("json").help("Print one JSON document instead of text"),
        flag("details").conflicts_with("json").help(
            "Print the whole report of every benchmark: rows, plots, error budget,\ncircumstances",
        ),
        option("save", "FOLDER").value_parser(value_parser!(PathBuf)).help(
            "Write the raw observations into this folder, one file for each\n\
             benchmark, for `hairspring fit`",
        ),
        option("output", "FILE").value_parser(value_parser!(PathBuf)).hide(true),
    ]
}

fn measurement_options() -> [Arg; 7] {
    [
        option("budget", "TIME")
            .default_value("500ms")
            .value_parser(duration)
            .allow_hyphen_values(true)
            .help(
                "Time for measuring a benchmark with its alternatives; the\n\
                 default grows to twice as much while something else uses\n\
                 the core, or a verdict is in reach; a given one is\nkept",
            ),
        option("precision", "SHARE").value_parser(share).allow_hyphen_values(true).help(
            "Half-width of the intervals to reach; exit with 3 if it is missed\n\
             (default: 0.5%, without that exit status)",
        ),
        option("confidence-level", "LEVEL")
            .default_value("95%")
            .value_parser(level)
            .allow_hyphen_values(true)
            .help("Confidence level of all intervals"),
        option("clock", "NAME").help("The clock to read, such as tsc or monotonic"),
        option("cpu", "N")
            .value_parser(value_parser!(usize))
            .allow_hyphen_values(true)
            .help("The CPU to run on (default: the last one, or a quieter\none)"),
        flag("threads").conflicts_with("cpu").help(
            "The code runs other threads: leave CPUs and priority as\nthey are (default: find out)",
        ),
        flag("no-pin").conflicts_with("cpu").help("Do not bind the thread to a CPU"),
    ]
}

/// Options that cargo and other test runners pass to every program.
fn runner_options() -> impl Iterator<Item = Arg> {
    let flags =
        ["bench", "ignored", "include-ignored", "nocapture", "no-capture", "show-output"].map(flag);
    let options =
        [("format", "FORMAT"), ("test-threads", "N"), ("color", "WHEN"), ("logfile", "FILE")]
            .map(|(name, value)| option(name, value));
    let short = [
        flag("quiet").short('q'),
        Arg::new("unstable").short('Z').value_name("FLAG").action(ArgAction::Append),
    ];
    flags.into_iter().chain(options).chain(short).map(|argument| argument.hide(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_fits_into_80_columns() {
        let help = command().render_help().to_string();
        let widest = help.lines().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|widest| widest <= 80), "{help}");
        for argument in command().get_arguments() {
            assert!(
                argument.is_hide_set() || argument.get_help()
                    .is_some_and(|text| help.contains(text.to_string().lines().next().unwrap()))
            );
        }
    }

    #[test]
    fn the_command_line_passes_claps_checks() {
        command().debug_assert();
    }
}
