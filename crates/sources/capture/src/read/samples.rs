//! Conversion of sampled levels to edges, shared by the readers.

use super::{Recording, Remark};
use crate::edge::{Detector, Edge};
use crate::error::{Error, Result};

/// Samples without an edge after which reading stops.
const MOST_SILENCE: u64 = 1 << 31;

/// Edges of a signal that is sampled as levels: an edge lies at the first sample of the new level.
#[derive(Debug, Default)]
pub struct Levels {
    /// Samples so far.
    pub samples: u64,
    /// Edges so far.
    pub edges: u64,
    level: Option<bool>,
    /// How often the level became undefined, and when it first did.
    pub undefined: (u64, f64),
}

impl Levels {
    /// Takes a sample.
    #[inline]
    pub fn push(&mut self, high: bool, sink: &mut dyn FnMut(Edge)) {
        if self.level != Some(high) {
            self.change(high, self.samples as f64, sink);
        }
        self.samples += 1;
    }

    /// The level is undefined from a time on: the next level is no edge.
    #[inline]
    pub fn lost(&mut self, at: f64) {
        if self.level.take().is_some() {
            if self.undefined.0 == 0 {
                self.undefined.1 = at;
            }
            self.undefined.0 += 1;
        }
    }

    /// Takes the level from a time on.
    #[inline]
    pub fn change(&mut self, high: bool, at: f64, sink: &mut dyn FnMut(Edge)) {
        if self.level.is_some_and(|before| before != high) {
            self.edges += 1;
            sink(Edge { at, rising: high });
        }
        self.level = Some(high);
    }

    /// An error if there was no edge for so long that there will be none.
    pub fn give_up_at_silence(&self) -> Result<()> {
        if self.edges > 0 || self.samples <= MOST_SILENCE {
            return Ok(());
        }
        Err(Error::Unusable(format!(
            "no edge in the first {} samples, so the rest is not read",
            self.samples
        )))
    }

    /// What the recording is, at its end; the number of samples.
    pub fn end(&self, recording: &mut Recording) -> u64 {
        (recording.edges, recording.granularity) = (self.edges, Some(1.0));
        let (times, first) = self.undefined;
        if times > 0 {
            recording.remarks.push(Remark::Undefined { times, first });
        }
        self.samples
    }
}

/// Ends a signal of volts: what it is, and the number of samples.
///
/// # Errors
/// No edge in it.
pub fn take_volts(
    mut detector: Detector,
    recording: &mut Recording,
    sink: &mut dyn FnMut(Edge),
) -> Result<u64> {
    detector.finish(sink)?;
    let signal = detector.signal();
    let samples = signal.samples;
    (recording.edges, recording.signal) = (signal.edges, Some(signal));
    Ok(samples)
}
