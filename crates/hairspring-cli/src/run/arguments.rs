//! The command line of `run`.

use crate::arguments::{
    ComplexityArguments, ExplainArguments, PrintArguments, SeatingArguments, StatedClockArguments,
    ThroughputArguments,
};
use crate::baseline::BaselineArguments;
use crate::shard::ShardArguments;
use clap::Args;
use hairspring_program::ChoiceArguments;
use hairspring_program::values::{duration, level, share};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hairspring run ./benchmarks                      a program that was built with Hairspring, in \
any language
  hairspring run bench.c --save-baseline main      a source file: compiled, and run
  hairspring run ./a ./b copy --json               the benchmarks of two programs whose names \
contain copy
  hairspring run ./benchmarks --processes 1        one process: quicker; how processes differ is \
not in the interval

A program is built with hairspring.h, hairspring.hpp, the Fortran module, the Rust crate or the \
Python package. The raw
observations that a program prints are solved.";

/// Run programs with benchmarks, in any language: one table, one JSON document
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArguments {
    /// Programs with benchmarks, or files in C, C++, Fortran or Python; any other word is a filter:
    /// a part of the names to run
    #[arg(value_name = "PROGRAM|FILE|FILTER", required = true)]
    pub words: Vec<OsString>,
    /// Which benchmarks.
    #[command(flatten)]
    pub choice: ChoiceArguments,
    #[command(flatten)]
    pub shard: ShardArguments,
    /// Print the names and run nothing
    #[arg(long)]
    pub list: bool,
    #[command(flatten)]
    pub print: PrintArguments,
    /// Run each program N times, each in a process of its own; the interval includes how the
    /// processes differ (default: 5; slow programs get fewer, and those that print observations up
    /// to 40: see docs/commands/run.md)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub processes: Option<u32>,
    /// Time for measuring one benchmark with its alternatives (default: set by the program, else
    /// 500ms). Programs that print observations, such as programs in C with the header alone, run
    /// in up to 40 processes within 5 budgets
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub budget: Option<Duration>,
    /// Wanted half-width of the intervals; exit with 3 if an interval stays wider
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    pub precision: Option<f64>,
    /// Confidence level of all intervals
    #[arg(long, value_name = "LEVEL", default_value = "95%", value_parser = level,
        allow_hyphen_values = true)]
    pub confidence_level: f64,
    /// The clock, for instance tsc, monotonic
    #[arg(long, value_name = "NAME")]
    pub clock: Option<String>,
    /// The CPU to run on (default: the last one, or a quieter one)
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub cpu: Option<usize>,
    #[command(flatten)]
    pub seating: SeatingArguments,
    #[command(flatten)]
    pub stated: StatedClockArguments,
    #[command(flatten)]
    pub explain: ExplainArguments,
    #[command(flatten)]
    pub complexity: ComplexityArguments,
    #[command(flatten)]
    pub throughput: ThroughputArguments,
    /// Time after which a program that has not ended is stopped
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration,
        allow_hyphen_values = true)]
    pub timeout: Duration,
    /// The compiler for source files
    #[arg(long, value_name = "COMMAND")]
    pub cc: Option<String>,
    /// Flags for the compiler, in place of the default; split as a shell does, quotes included
    #[arg(long, value_name = "FLAGS", default_value = "-O2", allow_hyphen_values = true)]
    pub cflags: String,
    #[command(flatten)]
    pub expect: crate::expect::ExpectArguments,
    /// Baselines.
    #[command(flatten)]
    pub baseline: BaselineArguments,
    /// Bytes by which the environment of a process is larger, which moves its stack (`ab`).
    #[arg(skip)]
    pub padding: usize,
}

/// Processes of a program if the user does not name their number: another process has other
/// placements of code and data, by which real code differs by several percent.
const PROCESSES: u32 = 5;
/// Time after which no further process begins if the user does not name their number. Programs that
/// prepare for long would otherwise surprise.
const LONGEST_TIME: Duration = Duration::from_secs(60);

/// Programs that print observations choose their own time, mostly much less than a budget. They run
/// in at most this number of processes, within the budgets that the usual number would take.
const MOST_PROCESSES: u32 = 40;
const BUDGET: Duration = Duration::from_millis(500);

/// How often each program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processes {
    /// Number of processes.
    pub most: u32,
    /// Time after which no further one begins.
    pub longest: Duration,
    /// Further processes begin within this time, if they are short.
    pub short: Duration,
}

impl Processes {
    /// Whether a further process begins, if programs keep to a time of their own and take less than
    /// a budget.
    pub fn goes_on(&self, done: u32, elapsed: Duration, keep_to_own_time: bool) -> bool {
        done < self.most || keep_to_own_time && done < MOST_PROCESSES && elapsed < self.short
    }
}

impl RunArguments {
    /// How often each program runs. A baseline is compared with a result of another day, so it
    /// always gets all processes.
    pub fn processes(&self) -> Processes {
        let is_firm = self.processes.is_some() || self.baseline.is_used();
        let budget = self.budget.unwrap_or(BUDGET);
        Processes {
            most: self.processes.unwrap_or(PROCESSES),
            longest: if is_firm { Duration::MAX } else { LONGEST_TIME },
            short: if self.processes.is_some() {
                Duration::ZERO
            } else {
                budget.saturating_mul(PROCESSES)
            },
        }
    }

    /// Splits the words into files and filters: a word is a file if it exists, or if it begins like
    /// a path.
    pub fn split(&self) -> (Vec<PathBuf>, Vec<String>) {
        let begins = |word: &OsString| {
            ["/", "./", "../"].iter().any(|start| word.to_string_lossy().starts_with(start))
        };
        let is_file = |word: &OsString| Path::new(word).exists() || begins(word);
        let (files, filters): (Vec<&OsString>, Vec<&OsString>) =
            self.words.iter().partition(|word| is_file(word));
        (
            files.into_iter().map(PathBuf::from).collect(),
            filters.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        )
    }

    /// Options that are passed on to programs.
    pub fn passed_on(&self) -> Vec<OsString> {
        let mut all: Vec<String> = vec![
            "--bench".into(),
            "--json".into(),
            "--confidence-level".into(),
            self.confidence_level.to_string(),
        ];
        let mut add = |name: &str, value: Option<String>| {
            all.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]))
        };
        add("--budget", self.budget.map(|budget| format!("{}ns", budget.as_nanos())));
        add("--precision", self.precision.map(|share| share.to_string()));
        add("--clock", self.clock.clone());
        add("--cpu", self.cpu.map(|cpu| cpu.to_string()));
        all.extend(self.seating.words().map(str::to_owned));
        all.into_iter().map(OsString::from).collect()
    }
}
