//! On processors other than x86-64 the machine code is not analysed.

use crate::mode::{Judged, fenced};
use crate::request::Request;
use crate::source::RowSpec;
use std::path::Path;

/// What the machine code of one alternative shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Copy {
    /// Latency or throughput.
    pub judged: Judged,
    /// The instructions of one copy.
    pub disassembly: Vec<String>,
    /// Operations of one copy; `None` if it could not be followed.
    pub work: Option<Work>,
    /// Registers that one copy changes, in lower case.
    pub written: Vec<String>,
}

/// The operations in one copy of straight-line code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {}

/// Operations that occur less often in the compiled copy than in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// Their name.
    pub operation: &'static str,
    /// How many there are in the copy.
    pub copy: u32,
    /// How many there are in the source.
    pub source: u32,
}

impl Work {
    /// Nothing is known.
    pub fn is_straight(&self) -> bool {
        false
    }

    /// Nothing is known.
    pub fn lost(&self, _: &Work) -> Vec<Lost> {
        Vec::new()
    }
}

/// Analyses one copy of each alternative.
pub fn look(request: &Request, _: &Path, _: &[RowSpec]) -> Vec<Copy> {
    let judged = || fenced(request).unwrap_or_else(|| Judged::unknown("machine code of this architecture is not analysed"));
    let copy = || Copy { judged: judged(), disassembly: Vec::new(), work: None, written: Vec::new() };
    request.codes.iter().map(|_| copy()).collect()
}
