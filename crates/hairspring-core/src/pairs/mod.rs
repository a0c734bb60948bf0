//! Two builds of the same code, and the first one again, in pairs of processes: the verdict about
//! the ratio of their times, which holds at every look, and the null beside it.
//!
//! A pair gives the log ratio of the head over the mean of the two bases, and that of the second
//! base over the first: the null, which is the same code on both sides. A null whose interval
//! excludes 1 shows that the measurement makes differences of that size, so the interval of the
//! ratio is extended on both sides by as much as the null may be at most.

mod sequence;
#[cfg(test)]
mod tests;

pub use sequence::{Sequence, fewest, level_of_each};

use crate::estimate::Estimate;
use crate::limit::WIDE_SHARE;
use crate::math::{exp, ln};
use crate::result::{Verdict, excludes};

/// The times of a pair of processes, in any unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Of the new build.
    pub head: f64,
    /// Of the old build.
    pub base: f64,
    /// Of the old build, measured once more.
    pub again: f64,
}

impl Pair {
    /// The times of these, unless one is no time: none is zero, negative or infinite.
    pub fn of(head: f64, base: f64, again: f64) -> Option<Pair> {
        let is_time = |time: &f64| time.is_finite() && *time > 0.0;
        [head, base, again].iter().all(is_time).then_some(Pair { head, base, again })
    }

    /// Logarithm of the head over the mean of the bases.
    pub fn log_ratio(&self) -> f64 {
        ln(self.head) - (ln(self.base) + ln(self.again)) / 2.0
    }

    /// Logarithm of the second base over the first.
    pub fn log_null(&self) -> f64 {
        ln(self.again) - ln(self.base)
    }
}

/// All pairs so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pairs {
    ratio: Sequence,
    null: Sequence,
}

/// What the pairs say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// Number of pairs.
    pub pairs: u32,
    /// The time of the head over that of the base, extended by the null.
    pub ratio: Estimate,
    /// The time of the second base over that of the first.
    pub null: Estimate,
    /// The factor by which both ends of the ratio are extended; 1 unless the null excludes 1.
    pub widened_by: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// The smallest change that would be claimed now, as a share; infinite for too few pairs.
    pub smallest_seen: f64,
}

impl Pairs {
    /// Takes a further pair.
    pub fn push(&mut self, pair: &Pair) {
        self.ratio.push(pair.log_ratio());
        self.null.push(pair.log_null());
    }

    /// Number of pairs.
    pub fn count(&self) -> u32 {
        self.ratio.values()
    }

    /// What the pairs say at this level. There is no difference if the interval holds 1 and
    /// excludes a change of more than `within`.
    ///
    /// ```
    /// use hairspring_core::judge::Verdict;
    /// use hairspring_core::pairs::{Pair, Pairs};
    /// let mut pairs = Pairs::default();
    /// for noise in [0.999, 1.001, 1.002, 0.998, 1.0] {
    ///     pairs.push(&Pair { head: 21.0 * noise, base: 20.0, again: 20.0 / noise });
    /// }
    /// let found = pairs.compared(0.99, 0.05);
    /// assert_eq!((found.verdict, found.widened_by), (Verdict::Slower, 1.0));
    /// assert!(found.ratio.low > 1.03 && found.null.contains(1.0));
    /// ```
    pub fn compared(&self, level: f64, within: f64) -> Compared {
        let null = estimate(&self.null, level, 0.0);
        let beside = if null.contains(1.0) {
            0.0
        } else {
            self.null.mean().abs() + self.null.half_width(level)
        };
        let ratio = estimate(&self.ratio, level, beside);
        Compared {
            pairs: self.count(),
            ratio,
            null,
            widened_by: exp(beside),
            verdict: verdict(&ratio, within),
            smallest_seen: exp(self.ratio.half_width(level) + beside) - 1.0,
        }
    }
}

impl Default for Compared {
    fn default() -> Compared {
        Pairs::default().compared(level_of_each(1), WIDE_SHARE)
    }
}

/// The interval of a ratio from that of its logarithm, which is extended by so much.
fn estimate(sequence: &Sequence, level: f64, by: f64) -> Estimate {
    let (mean, half) = (sequence.mean(), sequence.half_width(level) + by);
    Estimate { value: exp(mean), low: exp(mean - half), high: exp(mean + half), level }
}

fn verdict(ratio: &Estimate, within: f64) -> Verdict {
    match (ratio.high < 1.0, ratio.low > 1.0) {
        (true, _) => Verdict::Faster,
        (_, true) => Verdict::Slower,
        _ if excludes(ratio) <= within => Verdict::NoDifference,
        _ => Verdict::Undecided,
    }
}
