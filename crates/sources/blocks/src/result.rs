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
    /// Name of the function, or its address in the file as `0x1149`.
    pub function: String,
    /// One run of the program for each.
    pub inputs: Vec<Input>,
    /// Calls of the function that are taken from each run, the first ones.
    pub calls: u64,
    /// Where calls are also ended early: `each`, a block as `B4`, an address as `0x1160`, a line as `12` or `file.c:12`.
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
        /// Inputs in all.
        of: usize,
    },
    /// Calls are timed in rounds.
    Timing {
        /// Time that this has taken.
        elapsed: Duration,
        /// Time that it may take.
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
    /// The file that it is in.
    pub object: PathBuf,
    /// Address of its entry in the file.
    pub entry: u64,
    /// Bytes.
    pub bytes: u64,
    /// Whether there are source lines.
    pub has_lines: bool,
}

/// An input that gave no row, or not all that was asked for.
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
}

/// All that was measured and found.
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
    /// Following.
    pub traced: Traced,
    /// The rounds.
    pub run: Run,
    /// What was found.
    pub analysis: Analysis,
    /// How the thread was settled.
    pub settled: Settled,
    /// The ruler, or the reason why there is none.
    pub ruler: std::result::Result<Ruler, String>,
}
