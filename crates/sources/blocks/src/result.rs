//! Requests and results: plain data.

use crate::analysis::{Analysis, CountRow};
use crate::graph::Graph;
use crate::inputs::Input;
use hairspring_host::thread::Settled;
use hairspring_measure::Run;
use hairspring_measure::ruler::Ruler;
use std::path::PathBuf;
use std::time::Duration;

/// Which unknowns to solve for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Blocks.
    Blocks,
    /// Edges.
    Edges,
    /// Blocks if their counts determine those of all edges, else edges.
    Auto,
}

/// A request to measure a function.
#[derive(Debug, Clone)]
pub struct Request {
    /// The program.
    pub program: PathBuf,
    /// Name of the function, or its address in the file, such as `0x1149`.
    pub function: String,
    /// One run of the program for each.
    pub inputs: Vec<Input>,
    /// Calls of the function that are taken from each run, the first ones.
    pub calls: u64,
    /// Where calls are also ended early: `each`, a block (`B4`), an address (`0x1160`), or a line (`12` or `file.c:12`).
    pub until: Vec<String>,
    /// Unknowns.
    pub unknowns: Wanted,
    /// CPU to run on.
    pub cpu: Option<usize>,
    /// Time for the rounds.
    pub budget: Duration,
    /// Longest time of one run.
    pub timeout: Duration,
    /// Confidence level.
    pub level: f64,
    /// Called with the progress.
    pub progress: fn(Progress),
}

/// Progress of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The program is run up to the calls, which are followed.
    Following {
        /// Number of the input, from 1.
        input: usize,
        /// Number of inputs.
        of: usize,
    },
    /// Calls are timed in rounds.
    Timing {
        /// Time since the rounds began.
        elapsed: Duration,
        /// Time for the rounds.
        budget: Duration,
    },
    /// The table is solved.
    Solving,
}

/// The function that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionInfo {
    /// Its name.
    pub name: String,
    /// The file that contains it.
    pub object: PathBuf,
    /// Address of its entry in the file.
    pub entry: u64,
    /// Bytes.
    pub bytes: u64,
    /// Whether there are source lines.
    pub has_lines: bool,
}

/// An input that gave no row, or fewer than requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its number, from 1.
    pub input: usize,
    /// The input.
    pub text: String,
    /// Why.
    pub reason: String,
}

/// Statistics of following the calls.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Traced {
    /// Instructions of the function that were followed.
    pub instructions: u64,
    /// Time that following took, in seconds.
    pub seconds: f64,
    /// Times that programs were stopped for it.
    pub stops: u64,
    /// Calls that were followed again after the rounds.
    pub again: usize,
}

/// The result of a measurement.
#[derive(Debug)]
pub struct MeasuredFunction {
    /// The function.
    pub function: FunctionInfo,
    /// Its graph.
    pub graph: Graph,
    /// Inputs that were given.
    pub inputs: usize,
    /// Inputs left out, with the reason.
    pub skipped: Vec<Skipped>,
    /// Messages about `until` places that match several blocks.
    pub notes: Vec<String>,
    /// What ran in each row.
    pub rows: Vec<CountRow>,
    /// Statistics of following the calls.
    pub traced: Traced,
    /// The rounds.
    pub run: Run,
    /// The analysis.
    pub analysis: Analysis,
    /// How the thread was settled.
    pub settled: Settled,
    /// The ruler, or the reason why there is none.
    pub ruler: std::result::Result<Ruler, String>,
}
