//! The command line. All of it is parsed before anything runs.

use crate::clocks::ClocksArguments;
use crate::mhz::MhzArguments;
use clap::{Args, Parser, Subcommand, ValueEnum};
use hairspring_program::values::{duration, level, share};
use std::path::PathBuf;
use std::time::Duration;

/// Times code below the error of the clock, and says how sure it is and why.
#[derive(Debug, Parser)]
#[command(name = "hairspring", version, max_term_width = 80, after_help = AFTER_HELP)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

const AFTER_HELP: &str = "\
Exit status: 0 success, 1 failure (a file, the code, the measurement), 2 wrong usage (an option, or a clock or CPU that
does not exist), 3 a limit that you set was not met.";

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Time a piece of C, C++ or assembly
    Time(Box<TimeArguments>),
    /// Solve observations from a file: counts of components and ticks
    Fit(FitArguments),
    /// Check the instrument on this machine against chains of known length
    Verify(VerifyArguments),
    /// Measure the core clock, without counters, privileges or a table of processors
    Mhz(MhzArguments),
    /// Measure the clocks of this machine, and the stopwatch made of them
    Clocks(ClocksArguments),
    /// Measure a cyclic task: its period by two clocks, its wake-up latency, round trips to a partner
    Period(crate::period::PeriodArguments),
    /// Solve a recording of a pin, made by a sound card, a simulator or a logic analyser
    Capture(Box<crate::capture::CaptureArguments>),
    /// Run programs with benchmarks, in any language: one table, one JSON document
    Run(Box<crate::run::RunArguments>),
    /// Time the basic blocks of a function in an unmodified program
    Blocks(Box<crate::blocks::BlocksArguments>),
    /// Compare two saved results: ratios with their intervals
    Compare(crate::compare::CompareArguments),
    /// Convert a saved result to the format of another tool: Bencher, benchstat, Google Benchmark, hyperfine, CSV
    Report(crate::report::SavedReportArguments),
    /// Print shell completions for this command
    Completions(crate::completions::CompletionsArguments),
    /// Print the manual page of this command or of a verb, or write all of them into a folder
    Man(crate::man::ManArguments),
}

/// Options of every verb that reports.
#[derive(Debug, Clone, Args)]
pub struct ReportArguments {
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Confidence level of all intervals
    #[arg(long, value_name = "LEVEL", default_value = "95%", value_parser = level, allow_hyphen_values = true)]
    pub confidence_level: f64,
}

/// Language of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LanguageArgument {
    /// C
    C,
    /// C++
    #[value(name = "c++", alias = "cpp")]
    Cpp,
    /// Assembly, AT&T or (where registers are named without %) Intel
    Asm,
}

/// Methods of measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// A straight line through several numbers of copies
    Line,
    /// Two copies minus one
    Differential,
    /// n copies divided by n: the overhead stays in
    Direct,
    /// All of them side by side
    All,
}

/// What is shown beside the times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Show {
    /// The disassembly of one copy
    Asm,
}

const TIME_EXAMPLES: &str = "\
Examples:
  hairspring time 'x = x * c' --let 'uint64_t x = 3' --let 'uint64_t c = 5'     latency
  hairspring time 'sqrt(x)' --let 'double x = 2'                                 throughput
  hairspring time 'sort(a, 16)' --init 'memcpy(a, b, sizeof a)' --file sort.c \\
             --let 'int a[16]' --let 'int b[16] = {5, 3, 9, 1}' --fence
  hairspring time --lang asm 'imul rax, rcx'
  hairspring time 'x = x / 3' --let 'unsigned x = 7' --show asm                  what the compiler made of it
  hairspring time 'x / 7' --vs 'x >> 3' --let 'unsigned x = 1000'";

/// Options of `time`.
#[derive(Debug, Clone, Args)]
#[command(after_help = TIME_EXAMPLES)]
pub struct TimeArguments {
    /// The code: an expression (its value is kept alive), an assignment to a --let variable, or statements. The time
    /// is a latency if each compiled copy waits for the one before, as in `x = x * c`, else a throughput
    #[arg(value_name = "CODE", allow_hyphen_values = true)]
    pub code: String,
    /// Declare a variable that is opaque to the compiler before every copy (repeatable)
    #[arg(long = "let", value_name = "DECLARATION")]
    pub lets: Vec<String>,
    /// Code that runs before every evaluation; its time is reported separately
    #[arg(long, value_name = "CODE", allow_hyphen_values = true)]
    pub init: Option<String>,
    /// Code that runs once (in assembly: at the start of every row, to set up registers)
    #[arg(long, value_name = "CODE", allow_hyphen_values = true)]
    pub setup: Option<String>,
    /// Time every evaluation from a standing start: a fence before and behind it keeps it from overlapping with others
    #[arg(long)]
    pub fence: bool,
    /// Flush data from the caches before every evaluation: NAME of a variable, or POINTER:BYTES (repeatable)
    #[arg(long, value_name = "DATA", value_delimiter = ',')]
    pub cold: Vec<String>,
    /// An alternative to compare with, run in the same rounds (repeatable)
    #[arg(long, value_name = "CODE", allow_hyphen_values = true)]
    pub vs: Vec<String>,
    /// Language of the code
    #[arg(long, value_enum, default_value = "c")]
    pub lang: LanguageArgument,
    /// A file with functions that the code may call; source is included, objects and archives are linked (repeatable)
    #[arg(long, value_name = "FILE")]
    pub file: Vec<PathBuf>,
    /// A header to include, as vector or my.h (repeatable)
    #[arg(long, value_name = "HEADER")]
    pub include: Vec<String>,
    /// The compiler
    #[arg(long, value_name = "COMMAND")]
    pub cc: Option<String>,
    /// Flags for the compiler, in place of the default; split as a shell does, quotes included
    #[arg(long, value_name = "FLAGS", default_value = "-O2", allow_hyphen_values = true)]
    pub cflags: String,
    /// Flags for the linker
    #[arg(long, value_name = "FLAGS", default_value = "", allow_hyphen_values = true, hide_default_value = true)]
    pub link: String,
    /// The clock, for instance tsc, monotonic, gettimeofday
    #[arg(long, value_name = "NAME")]
    pub clock: Option<String>,
    /// The CPU to run on (default: the last one allowed)
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub cpu: Option<usize>,
    /// Measure in N processes, one after the other; the interval then includes the variation between them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "save")]
    pub processes: u32,
    /// Time for the whole measurement, compilation included (default: 0.8s)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub budget: Option<Duration>,
    /// Stop when the interval is this narrow, as a share of the value; exit with 3 if it is not reached [default: 0.5%,
    /// without that exit]
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    pub precision: Option<f64>,
    /// How to measure; other methods are shown beside the line
    #[arg(long, value_enum, default_value = "line")]
    pub method: Method,
    /// Show more than times: `asm` is the disassembly of one copy, in AT&T syntax for C and C++
    #[arg(long, value_enum, value_name = "WHAT")]
    pub show: Vec<Show>,
    /// Write the raw observations to a file, for `hairspring fit`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    #[command(flatten)]
    pub baseline: crate::baseline::BaselineArguments,
    /// Time after which code that has not answered counts as hanging
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, allow_hyphen_values = true)]
    pub timeout: Duration,
    #[command(flatten)]
    pub report: ReportArguments,
}

const FIT_EXAMPLES: &str = "\
The file is CSV: comments `# key: value`, a header with one column per component and a last column `ticks` (or
`time_ns`), optionally `round`, `flags` and `series`. See spec/observations.md.

  printf 'body,ticks\\n1,108\\n2,208\\n3,308\\n4,408\\n' | hairspring fit -

Files of other tools are fitted again, with an intercept: the overhead that their answer contains.

  hairspring fit target/criterion/NAME/new/sample.json
  hairspring fit google-benchmark.json";

/// Files that `fit` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FitFormat {
    /// Observations: counts and ticks (spec/observations.md)
    Observations,
    /// Criterion.rs: sample.json or raw.csv
    Criterion,
    /// Google Benchmark: the JSON of its runs
    GoogleBenchmark,
}

/// Options of `fit`.
#[derive(Debug, Clone, Args)]
#[command(after_help = FIT_EXAMPLES)]
pub struct FitArguments {
    /// The file, or - for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The tool that wrote the file [default: detected from its content]
    #[arg(long, value_enum)]
    pub format: Option<FitFormat>,
    /// Use all rows, even those far off the line
    #[arg(long)]
    pub keep_all: bool,
    #[command(flatten)]
    pub report: ReportArguments,
}

/// Options of `verify`.
#[derive(Debug, Clone, Args)]
pub struct VerifyArguments {
    /// The clock
    #[arg(long, value_name = "NAME")]
    pub clock: Option<String>,
    /// The CPU to run on (default: the last one allowed)
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub cpu: Option<usize>,
    /// Measuring time of each chain
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = duration, allow_hyphen_values = true)]
    pub budget: Duration,
    /// Number of short runs that test the coverage of the intervals
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub runs: u32,
    #[command(flatten)]
    pub report: ReportArguments,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn command_line_is_consistent() {
        super::Arguments::command().debug_assert();
    }
}
