//! Readings whose phases relative to a coarse clock hardly change, because the code's time is nearly a whole number of the clock's
//! quanta, or of a simple fraction of one.
//!
//! A reading is a whole number of quanta. Over all phases its mean is the true time, but here every round has nearly the same phase: the
//! readings of a row are nearly all equal, in all rows alike, and lie on a line whose slope is a whole number of quanta, whatever the
//! true slope is. Neither noise nor the departure from the line shows the error, which grows with the counts.

use std::f64::consts::PI;

/// Largest median standard deviation of the rows' readings, in quanta. Over all phases a row has `sqrt(f (1 - f))` for the fractional
/// part `f` of its time in quanta, so half of the rows have more than 0.43; jitter adds to that.
const STILL: f64 = 0.35;
/// Rayleigh's test of the rows' fractional parts: rows times squared mean resultant length. Spread parts exceed it in one of 1,000 tables.
const ALIKE: f64 = 7.0;
/// Least mean resultant length: in tables of many rows the test would also find parts that are only a little alike.
const MUCH_ALIKE: f64 = 0.5;

/// Whether the fitted times of the rows are whole numbers of quanta but for the same fraction of one, while readings of a row hardly vary
/// (`sd` is typical of the rows).
pub fn is_commensurate(fitted: impl Iterator<Item = f64>, sd: f64, quantum: f64) -> bool {
    if quantum <= 0.0 || sd.is_nan() || sd >= STILL * quantum {
        return false;
    }
    let (mut cosines, mut sines, mut rows) = (0.0, 0.0, 0.0);
    for time in fitted {
        let (sine, cosine) = (std::f64::consts::TAU * time / quantum).sin_cos();
        (cosines, sines, rows) = (cosines + cosine, sines + sine, rows + 1.0);
    }
    let squared = cosines * cosines + sines * sines;
    squared > ALIKE * rows && squared > (MUCH_ALIKE * rows).powi(2)
}

/// Largest error of an unknown whose rows have these counts: a quantum between the row with the fewest and the row with the most. A
/// larger error would show as a reading that is one quantum longer. For a constant, such as the overhead, it is the quantum.
pub fn largest_error(counts: impl Iterator<Item = f64>, quantum: f64) -> f64 {
    let (least, most) = counts.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), count| (least.min(count), most.max(count)));
    if most > least { quantum / (most - least) } else { quantum }
}

/// Mean variance of a row's readings in squared quanta, from which repeats average the rounding out. Phases that are evenly distributed give
/// 1/6 without any jitter.
const AVERAGED: f64 = 0.15;
/// Largest jitter of fixed phases whose rounding is looked for, in quanta. The rounding that it leaves is a hundredth of a quantum.
const MOST_JITTER: f64 = 0.4;

/// The variance of a row's mean, in squared quanta, that repeats do not reduce, because each row has its own phase relative to the clock and
/// its readings differ by less than a quantum. `variance` is that of the readings of a row in squared quanta, as the mean of the rows; `None`
/// where repeats average the rounding out, and where readings do not vary at all.
///
/// With a jitter of `s` quanta (normal), the mean of rounded readings is off by a sum of sines of the phase, whose variance over all phases is
/// `b = sum of exp(-4 pi^2 k^2 s^2) / (2 pi^2 k^2)`, and the readings have the variance `s^2 + 1/12 - b` (Widrow and Kollar 2008, on rounding
/// and dither). Twice as much counts: both ends of a reading are rounded.
pub fn unaveraged(variance: f64) -> Option<f64> {
    if variance.is_nan() || variance <= 0.0 || variance >= AVERAGED {
        return None;
    }
    let off = |jitter: f64| -> f64 {
        let order = |k: f64| (-4.0 * (PI * k * jitter).powi(2)).exp() / (2.0 * (PI * k).powi(2));
        (1..=40).map(|k| order(f64::from(k))).sum()
    };
    let (mut less, mut more) = (0.0, MOST_JITTER);
    for _ in 0..40 {
        let middle: f64 = (less + more) / 2.0;
        let seen = middle * middle + 1.0 / 12.0 - off(middle);
        (less, more) = if seen < variance { (middle, more) } else { (less, middle) };
    }
    Some(2.0 * off(less))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    #[test]
    fn rounding_that_repeats_do_not_reduce_is_known_from_their_variance() {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(3);
        for jitter in [0.05, 0.1, 0.2, 0.25] {
            let (mut seen, mut off) = (0.0, 0.0);
            for _ in 0..400 {
                let phase: f64 = random.random();
                // A sum of twelve even numbers is nearly normal.
                let mut reading = || (phase + jitter * ((0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0)).floor();
                let all: Vec<f64> = (0..400).map(|_| reading()).collect();
                let mean = all.iter().sum::<f64>() / 400.0;
                seen += all.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 399.0 / 400.0;
                off += (mean + 0.5 - phase).powi(2) / 400.0;
            }
            let found = unaveraged(seen).unwrap() / 2.0;
            assert!((found - off).abs() < 0.15 * off + 0.003, "{jitter}: {found} {off}");
        }
        assert_eq!((unaveraged(0.0), unaveraged(0.17), unaveraged(f64::NAN)), (None, None, None));
        assert!((unaveraged(1e-9).unwrap() - 1.0 / 6.0).abs() < 0.01);
    }

    #[test]
    fn times_that_are_alike_are_commensurate_unless_readings_vary() {
        let at = |fraction: f64| (1..=20).map(move |n| f64::from(n) * (165.0 + fraction));
        assert!(is_commensurate(at(0.004), 0.1, 1.0));
        assert!(!is_commensurate(at(0.004), 0.5, 1.0), "jitter moves the phases");
        assert!(!is_commensurate(at(0.004), f64::NAN, 1.0));
        assert!(!is_commensurate(at(0.37), 0.1, 1.0));
        assert!(!is_commensurate(at(0.004).take(6), 0.1, 1.0), "six rows may be alike by chance");
        assert!(!is_commensurate(at(0.004), 0.1, 0.0));
        assert!(!is_commensurate(std::iter::empty(), 0.1, 1.0));
        let many = (1..=10_000).map(|n| f64::from(n) * 0.618_034 + if n % 20 == 0 { 0.0 } else { 1e-3 });
        assert!(!is_commensurate(many, 0.1, 1.0));
    }

    #[test]
    fn error_is_a_quantum_over_the_range_of_the_counts() {
        assert_eq!(largest_error((1..=20).map(f64::from), 1000.0), 1000.0 / 19.0);
        assert_eq!(largest_error([1.0; 5].into_iter(), 8.0), 8.0);
    }
}
