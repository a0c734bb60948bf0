//! Latency or throughput: whether one copy of the code waits for the copy before it.

use crate::request::Request;
use serde::{Deserialize, Serialize};

/// What the slope of the line means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Every copy waits for the previous one: the slope is a latency.
    Latency,
    /// The copies are independent and may overlap: the slope is a reciprocal throughput.
    Throughput,
}

/// The mode of a piece of code and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The mode; `None` if the machine code does not show it.
    pub mode: Option<Mode>,
    /// The reason, in words.
    pub reason: String,
}

impl Judged {
    /// A mode that is known.
    pub fn known(mode: Mode, reason: impl Into<String>) -> Judged {
        Judged { mode: Some(mode), reason: reason.into() }
    }

    /// An unknown mode with the reason.
    pub fn unknown(why: &str) -> Judged {
        Judged { mode: None, reason: format!("latency or throughput: not known, {why}") }
    }
}

/// The mode if fences determine it regardless of the code.
pub fn fenced(request: &Request) -> Option<Judged> {
    let why = match () {
        () if !request.cold.is_empty() => "fenced: the caches are flushed before every evaluation",
        () if request.fence => {
            "fenced: an evaluation starts after all earlier instructions are done"
        }
        () => return None,
    };
    Some(Judged::known(Mode::Latency, why))
}
