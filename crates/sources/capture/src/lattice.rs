//! The sample period of a recorder, from the times of its edges: all of them are multiples of it.
//!
//! A list of changes states its times with more digits than the recorder resolves: a nanosecond where samples are 8 to 1,000 ns apart.
//! The digits would make readings that are one sample apart look like outliers.

use hairspring_core::divisor::gcd;

/// Edges that are looked at.
const MOST: usize = 4096;
/// A period is believed if chance would give it in fewer than this share of all recordings.
const BY_CHANCE: f64 = 1e-9;
/// Finest and coarsest digit of times, in ticks, as powers of ten.
const DIGITS: std::ops::RangeInclusive<i32> = -6..=9;
/// Rounding of the numbers themselves, as a share of a digit.
const ROUNDING: f64 = 0.01;

/// Collects edges.
#[derive(Debug, Clone, Default)]
pub struct Lattice {
    /// Times since the first edge, in ticks.
    times: Vec<f64>,
    first: Option<f64>,
}

impl Lattice {
    /// Takes an edge.
    pub fn push(&mut self, at: f64) {
        let first = *self.first.get_or_insert(at);
        if self.times.len() < MOST && at > first {
            self.times.push(at - first);
        }
    }

    /// The greatest period of which all times are multiples, as far as their digits tell; `None` for too few edges. `hz` is the number
    /// of ticks per second. Periods that are no whole number of digits are found for the usual sample rates.
    ///
    /// ```
    /// use hairspring_capture::lattice::Lattice;
    /// let mut lattice = Lattice::default();
    /// // Samples at 24 MHz, written in whole nanoseconds.
    /// (0..100).for_each(|n| lattice.push((f64::from(n * n * 7) * 1e9 / 24e6).round()));
    /// assert!((lattice.period(1e9).unwrap() - 1e9 / 24e6).abs() < 0.01);
    /// ```
    pub fn period(&self, hz: f64) -> Option<f64> {
        let digit = self.digit()?;
        let exact = self.greatest(digit).filter(|period| self.is_believed(*period, digit, 0.0));
        let rounded = || usual(hz).find(|period| *period > 2.0 * digit && self.is_believed(*period, digit, digit));
        exact.filter(|period| *period > 1.5 * digit).or_else(rounded).or(exact)
    }

    /// The last digit of the times: the greatest power of ten of which all are multiples.
    fn digit(&self) -> Option<f64> {
        let on = |time: f64, digit: f64| time > digit / 2.0 && off(time, digit) <= (ROUNDING * digit).max(1e-12 * time);
        let all = |digit: f64| self.times.iter().all(|time| on(*time, digit));
        (!self.times.is_empty()).then_some(())?;
        DIGITS.rev().map(|power| 10f64.powi(power)).find(|digit| all(*digit))
    }

    /// The greatest common step of all times, as whole numbers of digits.
    fn greatest(&self, digit: f64) -> Option<f64> {
        self.times.iter().map(|time| (time / digit).round() as u64).reduce(gcd).map(|step| step as f64 * digit)
    }

    /// Whether all times lie on multiples of a period, and chance would hardly put them there.
    fn is_believed(&self, period: f64, digit: f64, tolerance: f64) -> bool {
        let on = self.times.iter().all(|time| off(*time, period) <= tolerance + (ROUNDING * digit).max(1e-12 * time));
        // Places of the digits within a period, and how many of them count as on the lattice.
        let places = (period / digit).max(1.0);
        let near = 2.0 * (tolerance / digit).floor() + 1.0;
        let chance = (near / places).min(1.0);
        // The first times gave the period. That of the digits themselves needs no belief.
        on && (places < 1.5 || chance.powf(self.times.len().saturating_sub(2) as f64) < BY_CHANCE)
    }
}

/// Distance of a time from the nearest multiple of a step.
fn off(time: f64, step: f64) -> f64 {
    (time - (time / step).round() * step).abs()
}

/// Periods of the usual sample rates in ticks, the longest first.
fn usual(hz: f64) -> impl Iterator<Item = f64> {
    const RATES: [f64; 22] =
        [1.0, 1.2, 1.25, 1.5, 1.6, 1.92, 2.0, 2.4, 2.5, 3.0, 3.2, 3.84, 4.0, 4.8, 5.0, 6.0, 6.25, 6.4, 7.5, 8.0, 9.0, 9.6];
    (2..10).flat_map(move |power| RATES.map(|rate| hz / (rate * 10f64.powi(power))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Edges of a pin that has nothing to do with the recorder's clock, on samples of this period, written to this digit.
    fn edges(period: f64, digit: f64, edges: u32) -> Lattice {
        let mut lattice = Lattice::default();
        let mut at = 12_345.678;
        for n in 0..edges {
            at += 9_313.7 + f64::from(n * n % 97) * 531.9 + f64::from(n) * 17.3;
            let sample = (at / period).ceil() * period;
            lattice.push((sample / digit).round() * digit);
        }
        lattice
    }

    #[test]
    fn period_is_found_below_the_digits_of_the_times() {
        for period in [2.0, 4.0, 8.0, 10.0, 12.5, 20.0, 1e9 / 24e6, 62.5, 1e9 / 12e6, 100.0, 125.0, 500.0, 1000.0, 2500.0, 1e4] {
            let found = edges(period, 1.0, 200).period(1e9).unwrap_or(f64::NAN);
            assert!((found - period).abs() < 1e-3 * period, "{period}: {found}");
        }
    }

    #[test]
    fn period_of_the_digits_themselves_is_that_of_times_without_a_lattice() {
        assert_eq!(edges(1.0, 1.0, 200).period(1e9), Some(1.0));
        let found = edges(0.001, 0.001, 200).period(1e9).unwrap();
        assert!((found - 0.001).abs() < 1e-9, "{found}");
    }

    #[test]
    fn few_edges_show_no_period_beyond_the_digits() {
        assert_eq!(Lattice::default().period(1e9), None);
        assert_eq!(edges(8.0, 1.0, 4).period(1e9), None);
        let mut same = Lattice::default();
        (0..50).for_each(|_| same.push(7.0));
        assert_eq!(same.period(1e9), None);
    }
}
