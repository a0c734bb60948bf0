//! The command line of `blocks`.

use crate::arguments::{ExplainArguments, ReportArguments};
use clap::{Args, ValueEnum};
use hairspring_program::values::duration;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
The program is run once for each line of the inputs, up to the function. The call is followed to \
count its blocks, then
repeated from the same state in interleaved rounds; the function runs as the compiler made it. A \
line holds arguments, quoted
as in a shell, and `< FILE` for the standard input; `--` is a run without arguments. There is no \
shell: `>`, `|`, `$` and `*`
are ordinary arguments. Empty lines and lines that begin with `#` are ignored. The limit is 10,000 \
lines and 64 MiB.

Examples:
  hairspring blocks ./coder --function encode --inputs inputs.txt
  hairspring blocks ./coder --function encode --generate 'seq 99' --until each
  hairspring blocks ./interpreter --function run --inputs script.txt --parts 40
  hairspring blocks ./stripped --function 0x1149 --inputs -
  hairspring blocks /usr/bin/python3 --function adler32_z --inputs calls.txt";

/// Where distributions put files of names and lines.
pub const DEBUG_FILES: &str = "/usr/lib/debug";

/// What to solve for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnknownsArgument {
    /// The time of every block
    Blocks,
    /// The time of every block for each edge by which it is left
    Edges,
    /// Blocks; edges where the counts of blocks do not distinguish branches
    Auto,
}

/// Time the basic blocks of a function in an unmodified program
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct BlocksArguments {
    /// The program; it is not compiled again (built with -g, it has source lines)
    #[arg(value_name = "PROGRAM")]
    pub program: PathBuf,
    /// The function, in the program or in a library that it loads; or its address, as 0x1149 or
    /// libz.so.1:0x3400
    #[arg(long, value_name = "NAME|ADDRESS", required_unless_present = "list")]
    pub function: Option<String>,
    /// A file with one line of arguments for each run; - for standard input
    #[arg(long, value_name = "FILE", required_unless_present_any = ["generate", "list"],
        conflicts_with = "generate")]
    pub inputs: Option<PathBuf>,
    /// A command that prints these lines of arguments
    #[arg(long, value_name = "COMMAND")]
    pub generate: Option<String>,
    /// Only list the functions of the program or library, with address and size; a stripped file is
    /// read by its unwind table
    #[arg(long, conflicts_with_all = ["function", "inputs", "generate", "json", "markdown",
        "save", "dot", "annotate", "explain", "until", "from", "parts", "sample", "longest",
        "calls", "skip", "memory"])]
    pub list: bool,
    /// The folder with files of names and lines that were moved out of programs (build-id,
    /// .gnu_debuglink)
    #[arg(long, value_name = "FOLDER", default_value = DEBUG_FILES)]
    pub debug_files: PathBuf,
    /// Number of calls of the function that are taken from each run, one after the other
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub calls: u64,
    /// Number of calls of each run that are left out before the first one that is taken
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    pub skip: u64,
    /// Take the calls evenly over the whole run: the program runs once more, to count them
    #[arg(long)]
    pub sample: bool,
    /// Take the calls with the most CPU time up to the next call; the program runs once more, to
    /// find them
    #[arg(long, conflicts_with = "sample")]
    pub longest: bool,
    /// Most memory of the program's copies that wait to be timed, in MiB; calls beyond are left out
    #[arg(long, value_name = "MIB", default_value_t = 500,
        value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub memory: u64,
    /// Begin calls inside of the function, at a place as for --until: only what follows is timed.
    /// B4@3 is the third arrival at B4 in a call, and B4@3-8 are six parts of it, each timed by
    /// itself
    #[arg(long, value_name = "PLACE")]
    pub from: Option<String>,
    /// Also end calls early, before a block (repeatable): a block as B4, an address, or a line,
    /// which means the first block that begins on it; `each` block; `merged` for blocks that run as
    /// often as another. B4@3 is the third arrival at B4, and B4@3-8 are six ends
    #[arg(long, value_name = "PLACE")]
    pub until: Vec<String>,
    /// Time N parts of the calls in place of whole calls, for a function that runs long in one
    /// call, as the loop of an interpreter: the parts begin evenly over the calls, at the block
    /// that runs most often or at --from, and each part is ended at the blocks that it comes to
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000),
        conflicts_with = "until")]
    pub parts: Option<u64>,
    /// What to solve for
    #[arg(long, value_enum, default_value = "auto")]
    pub unknowns: UnknownsArgument,
    /// The CPU to run on (default: the last one, or a quieter one)
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub cpu: Option<usize>,
    /// Time for the rounds (default: 3s, up to 6s if rounds are long; a given budget is kept, but
    /// five rounds always run)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub budget: Option<Duration>,
    /// Time limit for each step: up to the next call, and following it; a call that takes longer is
    /// left out. Also the time limit for the command of --generate
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration,
        allow_hyphen_values = true)]
    pub timeout: Duration,
    /// Write the raw observations to a file, for `hairspring fit`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Also show source and assembly side by side, with the time of each line, or its share of the
    /// instructions where the time is not known
    #[arg(long)]
    pub annotate: bool,
    /// Write the graph of blocks to a file, for Graphviz (`dot -Tsvg`)
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    #[command(flatten)]
    pub explain: ExplainArguments,
    #[command(flatten)]
    pub report: ReportArguments,
}
