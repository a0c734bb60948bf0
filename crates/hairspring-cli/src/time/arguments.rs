//! The command line of `time`.

use crate::arguments::{
    ExplainArguments, ReportArguments, SeatingArguments, StatedClockArguments, ThroughputArguments,
};
use crate::shard::ShardArguments;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use hairspring_core::judge::methods::LINE;
use hairspring_core::methods::{METHODS, Method, Shown};
use hairspring_program::values::{duration, share};
use std::path::PathBuf;
use std::time::Duration;

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

/// A choice of methods of measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The straight line alone.
    Line,
    /// The line, and the method of this name beside it.
    Other(&'static str),
    /// All methods.
    All,
}

const ALL: &str = "all";

/// The methods that can be asked for beside the line.
pub fn other_methods() -> impl Iterator<Item = &'static Method> {
    METHODS.iter().filter(|method| method.shown == Shown::OnRequest)
}

/// Their names in a sentence: `differential and direct`.
pub fn names_of_other_methods() -> String {
    let names: Vec<&str> = other_methods().map(|method| method.name).collect();
    match names.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// The values of --method, from the table of methods.
fn methods() -> impl TypedValueParser<Value = Choice> {
    let line = PossibleValue::new(LINE).help("A straight line through several numbers of copies");
    let others = other_methods().map(|method| PossibleValue::new(method.name).help(method.summary));
    let all = PossibleValue::new(ALL).help("All of them side by side");
    let values = PossibleValuesParser::new(std::iter::once(line).chain(others).chain([all]));
    values.map(|name| match other_methods().find(|method| method.name == name) {
        Some(method) => Choice::Other(method.name),
        None if name == ALL => Choice::All,
        None => Choice::Line,
    })
}

/// What is shown beside the times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Show {
    /// The disassembly of one copy
    Asm,
}

const TIME_EXAMPLES: &str = "\
Examples:
  # a latency, then a throughput
  hairspring time 'x = x * c' --let 'uint64_t x = 3' --let 'uint64_t c = 5'
  hairspring time 'sqrt(x)' --let 'double x = 2'
  # only the sort, not the copy before it
  hairspring time 'sort(a, 16)' --init 'memcpy(a, b, sizeof a)' --file sort.c \\
             --let 'int a[16]' --let 'int b[16] = {5, 3, 9, 1}'
  hairspring time --lang asm 'imul rax, rcx'
  # what the compiler made of it
  hairspring time 'x = x / 3' --let 'unsigned x = 7' --show asm
  # two alternatives in the same rounds
  hairspring time 'x / 7' --vs 'x >> 3' --let 'unsigned x = 1000'";

/// Time a piece of C, C++ or assembly
#[derive(Debug, Clone, Args)]
#[command(after_help = TIME_EXAMPLES)]
pub struct TimeArguments {
    /// The code: an expression (its value is kept alive), an assignment to a --let variable, or
    /// statements. The time is a latency if each compiled copy waits for the one before, as in
    /// `x = x * c`, else a throughput
    #[arg(value_name = "CODE", allow_hyphen_values = true)]
    pub code: String,
    /// Declare a variable that is opaque to the compiler before every copy (repeatable)
    #[arg(long = "let", value_name = "DECLARATION")]
    pub lets: Vec<String>,
    /// Code that runs before every evaluation, and in some rows several times in turn; its time is
    /// reported separately
    #[arg(long, value_name = "CODE", allow_hyphen_values = true)]
    pub init: Option<String>,
    /// Code that runs once (in assembly: at the start of every row, to set up registers)
    #[arg(long, value_name = "CODE", allow_hyphen_values = true)]
    pub setup: Option<String>,
    /// Time every evaluation from a standing start: fences before and behind it keep evaluations
    /// from overlapping
    #[arg(long)]
    pub fence: bool,
    /// Flush data from the caches before every evaluation: NAME of a variable, or POINTER:BYTES
    /// (repeatable)
    #[arg(long, value_name = "DATA", value_delimiter = ',')]
    pub cold: Vec<String>,
    /// An alternative to compare with, run in the same rounds (repeatable)
    #[arg(long, value_name = "CODE", allow_hyphen_values = true)]
    pub vs: Vec<String>,
    /// Language of the code
    #[arg(long, value_enum, default_value = "c")]
    pub lang: LanguageArgument,
    /// A file with functions that the code may call; source is included, objects and archives are
    /// linked (repeatable)
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
    #[arg(
        long,
        value_name = "FLAGS",
        default_value = "",
        allow_hyphen_values = true,
        hide_default_value = true
    )]
    pub link: String,
    /// Compile anew: neither take what was compiled before from the cache folder
    /// (`~/.cache/hairspring`), nor keep it there
    #[arg(long)]
    pub no_cache: bool,
    /// Measure as in a process that has started a thread: std::shared_ptr and others are faster in
    /// one that has not
    #[arg(long)]
    pub multithreaded: bool,
    /// The clock, for instance tsc, monotonic, gettimeofday
    #[arg(long, value_name = "NAME")]
    pub clock: Option<String>,
    /// The CPU to run on (default: the last one, or a quieter one)
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub cpu: Option<usize>,
    #[command(flatten)]
    pub seating: SeatingArguments,
    /// Measure in N processes, one after the other; the interval then includes the variation
    /// between them
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "save")]
    pub processes: u32,
    /// Time for measuring, compilation apart (default: 0.8s, up to 1.6s while something else uses
    /// the core, or a verdict is in reach; a given budget is kept, but for one round of all rows)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub budget: Option<Duration>,
    /// Stop when the interval is this narrow, as a share of the value; exit with 3 if it stays
    /// wider [default: 0.5%, without that exit]
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    pub precision: Option<f64>,
    /// How to measure; other methods are shown beside the line
    #[arg(long, value_parser = methods(), default_value = LINE)]
    pub method: Choice,
    /// Show more than times: `asm` is the disassembly of one copy, in AT&T syntax for C and C++
    #[arg(long, value_enum, value_name = "WHAT")]
    pub show: Vec<Show>,
    /// Write the raw observations to a file, for `hairspring fit`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    #[command(flatten)]
    pub shard: ShardArguments,
    #[command(flatten)]
    pub stated: StatedClockArguments,
    #[command(flatten)]
    pub expect: crate::expect::ExpectArguments,
    #[command(flatten)]
    pub baseline: crate::baseline::BaselineArguments,
    /// Time after which code that has not answered counts as hanging
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration,
        allow_hyphen_values = true)]
    pub timeout: Duration,
    #[command(flatten)]
    pub explain: ExplainArguments,
    #[command(flatten)]
    pub throughput: ThroughputArguments,
    #[command(flatten)]
    pub report: ReportArguments,
}
