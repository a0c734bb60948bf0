//! Machine code of processors other than x86-64 is not looked at.

use crate::mode::{Judged, fenced};
use crate::request::Request;
use crate::source::RowSpec;
use std::path::Path;

/// What the machine code of one alternative tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Copy {
    /// Latency or throughput.
    pub judged: Judged,
    /// The instructions of one copy.
    pub disassembly: Vec<String>,
    /// How much one copy does; `None` where it could not be followed.
    pub work: Option<Work>,
    /// Registers that one copy changes, in lower case.
    pub written: Vec<String>,
}

/// What stands in a copy of straight-line code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {}

/// Operations of which the compiled copy holds fewer than the source.
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

/// Looks at one copy of each alternative.
pub fn look(request: &Request, _: &Path, _: &[RowSpec]) -> Vec<Copy> {
    let judged = || fenced(request).unwrap_or_else(|| Judged::not_known("machine code of this architecture is not analysed"));
    let copy = || Copy { judged: judged(), disassembly: Vec::new(), work: None, written: Vec::new() };
    request.codes.iter().map(|_| copy()).collect()
}
