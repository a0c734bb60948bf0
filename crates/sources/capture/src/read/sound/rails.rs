//! Clipping of floats, whose full scale is not known where a sample is beyond 1: runs of equal
//! samples at the largest or the smallest value of a signal that has noise elsewhere.

/// Samples in a row that are equal by clipping.
const RUN: u64 = 3;
/// Least share of samples that are at no extreme, to tell that the signal has noise.
const ELSEWHERE: f64 = 0.1;
/// Largest share of these that equal the one before, as those of a coarse converter do.
const EQUAL: f64 = 0.01;
/// Samples that are looked at together.
const BLOCK: usize = 4096;

/// An extreme value.
#[derive(Debug, Clone, Copy, Default)]
struct Rail {
    value: f32,
    run: u64,
    /// Samples in runs, and the first of them.
    clipped: u64,
    first: Option<u64>,
}

impl Rail {
    /// Takes a sample; `beyond` is whether it is farther out than all before.
    fn push(&mut self, sample: f32, beyond: bool, index: u64) {
        if beyond {
            *self = Rail { value: sample, run: 1, ..Rail::default() };
            return;
        }
        self.run = if sample == self.value { self.run + 1 } else { 0 };
        if self.run == RUN {
            self.first.get_or_insert(index + 1 - RUN);
            self.clipped += RUN;
        }
        self.clipped += u64::from(self.run > RUN);
    }
}

/// The extremes of a channel of floats.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rails {
    high: Rail,
    low: Rail,
    before: f32,
    samples: u64,
    /// Samples that were looked at one by one, those at no extreme, and how many of these equal the
    /// one before.
    seen_samples: u64,
    elsewhere: u64,
    equal: u64,
}

impl Default for Rails {
    fn default() -> Rails {
        let rail = |value| Rail { value, ..Rail::default() };
        Rails {
            high: rail(f32::NEG_INFINITY),
            low: rail(f32::INFINITY),
            before: f32::NAN,
            samples: 0,
            seen_samples: 0,
            elsewhere: 0,
            equal: 0,
        }
    }
}

impl Rails {
    /// Takes samples.
    pub(super) fn push(&mut self, samples: &[f32]) {
        for block in samples.chunks(BLOCK) {
            let high = block.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let low = block.iter().copied().fold(f32::INFINITY, f32::min);
            if high >= self.high.value || low <= self.low.value {
                self.look(block);
            }
            self.samples += block.len() as u64;
        }
    }

    fn look(&mut self, block: &[f32]) {
        for (at, sample) in block.iter().copied().enumerate().filter(|(_, s)| s.is_finite()) {
            let index = self.samples + at as u64;
            self.high.push(sample, sample > self.high.value, index);
            self.low.push(sample, sample < self.low.value, index);
            let is_elsewhere = sample < self.high.value && sample > self.low.value;
            self.seen_samples += 1;
            self.elsewhere += u64::from(is_elsewhere);
            self.equal += u64::from(is_elsewhere && sample == self.before);
            self.before = sample;
        }
    }

    /// Whether a sample is beyond 1, so that full scale is not 1.
    pub(super) fn is_beyond(&self) -> bool {
        self.high.value > 1.0 || self.low.value < -1.0
    }

    /// Clipped samples, and the first of them.
    pub(super) fn clipped(&self) -> (u64, Option<u64>) {
        let has_noise = self.elsewhere as f64 >= ELSEWHERE * self.seen_samples as f64
            && self.equal as f64 <= EQUAL * self.elsewhere as f64;
        let first = self.high.first.into_iter().chain(self.low.first).min();
        if has_noise { (self.high.clipped + self.low.clipped, first) } else { (0, None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pin of 3.3 V with noise, as a function of the number of the sample.
    fn volts(n: u32) -> f32 {
        let noise = (n.wrapping_mul(2_654_435_761) >> 8) as f32 / 16_777_216.0;
        if n / 50 % 2 == 1 { 3.3 + 0.01 * noise } else { 0.01 * noise }
    }

    fn of(sample: impl Fn(u32) -> f32) -> Rails {
        let mut rails = Rails::default();
        let samples: Vec<f32> = (0..20_000).map(sample).collect();
        samples.chunks(777).for_each(|part| rails.push(part));
        rails
    }

    #[test]
    fn runs_of_equal_extremes_are_clipped() {
        let rails = of(volts);
        assert!(rails.is_beyond());
        assert_eq!(rails.clipped(), (0, None));
        let rails = of(|n| volts(n).min(3.0));
        assert_eq!(rails.clipped(), (10_000, Some(50)));
        assert_eq!(of(|n| -volts(n).min(3.0)).clipped(), (10_000, Some(50)));
        // A coarse converter, and a signal without noise.
        assert_eq!(of(|n| (volts(n) * 200.0).round() / 200.0).clipped(), (0, None));
        assert_eq!(of(|n| volts(n).round()).clipped(), (0, None));
        assert!(!of(|n| volts(n) / 4.0).is_beyond());
        let nothing = of(|_| f32::NAN);
        assert!(!nothing.is_beyond() && nothing.clipped() == (0, None));
    }
}
