//! The command line of `ab`.

use crate::AnyError;
use crate::arguments::{PrintArguments, SeatingArguments};
use crate::run::arguments::RunArguments;
use clap::{Args, Command, FromArgMatches};
use hairspring_program::ChoiceArguments;
use hairspring_program::values::{duration, share};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hairspring ab ./old ./new                     two builds of a program with benchmarks
  hairspring ab old.c new.c parse               source files: the benchmarks whose names contain \
parse
  hairspring ab ./old ./new --threshold 2%      exit with 3 if anything certainly takes 2 % longer
  hairspring ab main HEAD                       two commits of a cargo project
  hairspring ab main . --build make --program bench/all
                                                a commit and the working tree as it is
  hairspring ab --command 'gzip -1 a' 'gzip -2 a'     whole commands

A pair is three fresh processes, of the base, the head and the base again, which take turns batch \
by batch. The base over
the base is the null: it shows what the measurement makes of equal builds, and widens the verdict \
if it excludes 1.
Verdicts hold at every look, so the measurement may be stopped at any time (Ctrl-C), and it ends \
when all is decided.";

/// Compare two builds, in turns, with the base against itself beside them
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct AbArguments {
    /// The build to compare with: a program with benchmarks, a file in C, C++, Fortran or Python, a
    /// commit, or a folder of a source tree
    #[arg(value_name = "BASE")]
    pub base: OsString,
    /// The build to compare
    #[arg(value_name = "HEAD")]
    pub head: OsString,
    /// Measure the benchmarks whose name contains one of these
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// Which benchmarks.
    #[command(flatten)]
    pub choice: ChoiceArguments,
    #[command(flatten)]
    pub print: PrintArguments,
    /// Measure exactly N pairs (default: until all is decided, at most 30)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub pairs: Option<u32>,
    /// Time for measuring one benchmark in one process
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = duration,
        allow_hyphen_values = true)]
    pub budget: Duration,
    /// Exit with 3 if a benchmark certainly takes longer by more than this share; takes the place
    /// of the thresholds in hairspring.toml
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    pub threshold: Option<f64>,
    /// Exit with 3 as well if a threshold, or without one a verdict, is undecided, or if the head
    /// lacks a benchmark
    #[arg(long)]
    pub strict: bool,
    /// The file with thresholds by names (default: hairspring.toml, if there is one)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// BASE and HEAD are whole commands, which are timed from start to end; quote each
    #[arg(long, conflicts_with_all = ["build", "programs", "clock", "cpu", "threads", "no_pin"])]
    pub command: bool,
    /// The command that builds a commit, for the shell in its folder (default: by the files there:
    /// cargo, cmake, meson, go, npm)
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,
    /// A program with benchmarks that is there after the build, below the folder (repeatable;
    /// default: what cargo says that it has built)
    #[arg(long = "program", value_name = "FILE")]
    pub programs: Vec<PathBuf>,
    /// Time after which a build that has not ended is stopped
    #[arg(long, value_name = "TIME", default_value = "60m", value_parser = duration,
        allow_hyphen_values = true)]
    pub build_timeout: Duration,
    /// The clock, for instance tsc, monotonic
    #[arg(long, value_name = "NAME")]
    pub clock: Option<String>,
    /// The CPU to run on (default: the last one, or a quieter one)
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub cpu: Option<usize>,
    #[command(flatten)]
    pub seating: SeatingArguments,
    /// Time after which a process that has not ended is stopped
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration,
        allow_hyphen_values = true)]
    pub timeout: Duration,
    /// The compiler for source files
    #[arg(long, value_name = "COMMAND")]
    pub cc: Option<String>,
    /// Flags for the compiler, in place of the default; split as a shell does, quotes included
    #[arg(long, value_name = "FLAGS", default_value = "-O2", allow_hyphen_values = true)]
    pub cflags: String,
}

/// Pairs after which the measurement ends although something is undecided.
const MOST_PAIRS: u32 = 30;

impl AbArguments {
    /// Most pairs.
    pub fn most_pairs(&self) -> u32 {
        self.pairs.unwrap_or(MOST_PAIRS)
    }

    /// The options that `run` would have for one of its processes.
    pub fn of_run(&self) -> Result<RunArguments, AnyError> {
        let mut words: Vec<OsString> = ["run", "--processes", "1"].map(OsString::from).into();
        let mut add = |name: &str, value: Option<String>| {
            words.extend(value.into_iter().flat_map(|value| [name.into(), value.into()]));
        };
        add("--budget", Some(format!("{}ns", self.budget.as_nanos())));
        add("--timeout", Some(format!("{}ns", self.timeout.as_nanos())));
        add("--clock", self.clock.clone());
        add("--cpu", self.cpu.map(|cpu| cpu.to_string()));
        add("--cc", self.cc.clone());
        words.extend(self.seating.words().map(OsString::from));
        words.extend(["--", "program"].map(OsString::from));
        let matches =
            RunArguments::augment_args(Command::new("run")).try_get_matches_from(words)?;
        Ok(RunArguments::from_arg_matches(&matches)?)
    }
}
