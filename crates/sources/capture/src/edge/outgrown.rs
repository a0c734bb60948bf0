//! Edges that were learnt from the noise of an idle input.

use super::learn::least_difference;
use crate::error::{Error, Result};

/// Steps of the converter up to which a typical edge may be its noise, how many times as high as
/// such an edge others are that show this, and how many there must be of both.
const NOISE_QUANTA: f64 = 2.5;
const OUTGROWN: f64 = 8.0;
const FEWEST_OUTGROWN: u64 = 4;

/// Finds whether the edges from which the size was learnt are noise of an idle input: as high as
/// one or two steps of the converter, and later ones many times as high.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outgrown {
    /// Height from which an edge shows it; 0 if the learnt ones are no noise.
    from: f64,
    /// Edges that show it, the place of the first and the edges before it.
    edges: u64,
    first: (f64, u64),
}

impl Outgrown {
    /// Of the samples from which a typical edge was learnt, and its largest difference.
    pub(super) fn of(samples: &[f32], peak: f64) -> Outgrown {
        let may_be_noise = peak <= NOISE_QUANTA * f64::from(least_difference(samples));
        Outgrown { from: if may_be_noise { OUTGROWN * peak } else { 0.0 }, ..Outgrown::default() }
    }

    /// Takes the height of an edge, and the heights of those before it: their sum and number.
    pub(super) fn push(&mut self, at: f64, height: f64, (heights, edges): (f64, u64)) {
        let is_higher = height * edges as f64 >= OUTGROWN * heights;
        if self.from > 0.0 && height >= self.from && is_higher && edges >= FEWEST_OUTGROWN {
            self.first = if self.edges == 0 { (at, edges) } else { self.first };
            self.edges += 1;
        }
    }

    /// An error if several edges show it.
    pub(super) fn check(&self) -> Result<()> {
        let (at, before) = self.first;
        if self.edges < FEWEST_OUTGROWN {
            return Ok(());
        }
        Err(Error::Unusable(format!(
            "the {before} edges before sample {at:.0} are one or two steps of the converter high, \
             and those from there on more than {OUTGROWN} times as high: the former are noise of \
             an idle input; cut the recording before that sample, or begin it later"
        )))
    }
}
