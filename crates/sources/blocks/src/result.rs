//! Requests and results: plain data.

use crate::analysis::{Analysis, CountRow, Missing, Unknowns, runs_in_whole_calls};
use crate::graph::{Counts, Graph};
use crate::inputs::Input;
use hairspring_host::thread::PreparedThread;
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

/// Which calls of a run are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The first ones.
    First,
    /// A sample over the whole run.
    Sample,
    /// Those after which the program takes the most CPU time until the next one: the longest,
    /// unless they call the function themselves.
    Longest,
}

/// A request to measure a function.
#[derive(Debug, Clone)]
pub struct Request {
    /// The program.
    pub program: PathBuf,
    /// Name of the function, or its address in the file, such as `0x1149`.
    pub function: String,
    /// The folder of files with names and lines, such as `/usr/lib/debug`.
    pub debug_files: PathBuf,
    /// One run of the program for each.
    pub inputs: Vec<Input>,
    /// Calls of the function that are taken from each run.
    pub calls: u64,
    /// Calls before these that are not taken.
    pub skip: u64,
    /// Which calls are taken.
    pub choice: Choice,
    /// Most memory of the processes that wait to be timed, in bytes.
    pub memory: u64,
    /// Where rows begin inside of a call: a block (`B4`), an address (`0x1160`), or a line (`12` or
    /// `file.c:12`), each with `@k` or `@k-m` for the k-th arrival there.
    pub from: Option<String>,
    /// Parts of calls that are timed in place of whole calls; each begins at `from`, or at the
    /// block that runs most often.
    pub parts: Option<u64>,
    /// Where calls are also ended early: `each`, `merged`, or such places.
    pub until: Vec<String>,
    /// Unknowns.
    pub unknowns: Wanted,
    /// CPU to run on.
    pub cpu: Option<usize>,
    /// Time for the rounds.
    pub budget: Duration,
    /// Whether the budget was given, and does not grow.
    pub is_firm: bool,
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

/// A function of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFunction {
    /// Its address in the file.
    pub address: u64,
    /// Its bytes; 0 if they are not known.
    pub bytes: u64,
    /// Its name, if there is one.
    pub name: Option<String>,
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
    /// Calls that were followed from breakpoint to breakpoint, because no instrumented copy of the
    /// function could run.
    pub stepped: usize,
    /// Why not, for the last of them.
    pub why_stepped: Option<&'static str>,
}

/// The result of a measurement.
#[derive(Debug)]
pub struct MeasuredFunction {
    /// The function.
    pub function: FunctionInfo,
    /// Its graph. Its entry is where rows begin.
    pub graph: Graph,
    /// The place where rows begin, if it is inside of the function.
    pub from: Option<String>,
    /// Whether rows are parts of calls in place of whole calls.
    pub parts: bool,
    /// Inputs that were given.
    pub inputs: usize,
    /// Inputs left out, with the reason.
    pub skipped: Vec<Skipped>,
    /// Messages about what was not as requested: fewer calls, places that match several blocks or
    /// none.
    pub notes: Vec<String>,
    /// What ran in each row.
    pub rows: Vec<CountRow>,
    /// Statistics of following the calls.
    pub traced: Traced,
    /// The rounds.
    pub run: Run,
    /// The analysis.
    pub analysis: Analysis,
    /// What more inputs or parts could determine.
    pub missing: Vec<Missing>,
    /// How the thread was prepared.
    pub thread: PreparedThread,
    /// The ruler, or the reason why there is none.
    pub ruler: std::result::Result<Ruler, String>,
}

impl MeasuredFunction {
    /// Share of the instructions of a block, or of an edge, in all that ran in whole calls;
    /// instructions of callees are not counted.
    pub fn instruction_share(&self, index: usize) -> f64 {
        match self.analysis.unknowns {
            Unknowns::Blocks => self.block_instruction_share(index),
            Unknowns::Edges => {
                self.share_of(self.graph.edges[index].from, |counts| counts.edges[index])
            }
        }
    }

    /// The same of a block, whatever was solved for.
    pub fn block_instruction_share(&self, block: usize) -> f64 {
        self.share_of(block, |counts| counts.blocks[block])
    }

    fn share_of(&self, block: usize, runs: impl Fn(&Counts) -> u64) -> f64 {
        let blocks = &self.graph.blocks;
        let whole = || self.rows.iter().filter(|row| row.is_whole());
        let of_row = |row: &CountRow| {
            row.counts
                .blocks
                .iter()
                .zip(blocks)
                .map(|(n, one)| *n as f64 * f64::from(one.instructions))
                .sum::<f64>()
        };
        let all_instructions: f64 = whole().map(of_row).sum();
        let own_instructions: f64 =
            runs_in_whole_calls(&self.rows, runs) * f64::from(blocks[block].instructions);
        if all_instructions > 0.0 { own_instructions / all_instructions } else { 0.0 }
    }

    /// Core cycles of a tick, where both clocks are known.
    pub fn cycles_per_tick(&self) -> Option<f64> {
        Some(
            self.analysis.assessment.core_hz.as_ref()?.value
                * self.run.table.origin.ns_per_unit()?
                * 1e-9,
        )
    }
}
