//! The rate of the recorder from a known interval in the recording (Moreno and Fischmeister,
//! section 6), which calibrates both crystals at once.

use crate::error::{Error, Result};
use hairspring_core::judge::Finding;
use hairspring_core::math::hypot;
use hairspring_core::observations::Rate;

/// Largest relative error of an interval; with a larger one it is another interval.
const LARGEST_ERROR: f64 = 0.01;
/// Distance beyond which two crystals do not explain it, in parts per million.
const FAR_PPM: f64 = 400.0;
/// Standard uncertainty of a single interval, in samples of a signal and in quanta of a clock: the
/// latter is the standard deviation of a difference between two readings that are uniform within
/// the quantum.
const SINGLE_UNCERTAINTY: f64 = 0.3;
const ALONE_QUANTA: f64 = 0.41;
/// Fewest intervals among which one with dropped samples can be told, and the distance from the
/// others in times of their scatter.
const FEWEST_INTERVALS: usize = 3;
const DROPPED_DISTANCE: f64 = 4.0;

/// A known interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// How long it is.
    pub seconds: f64,
    /// Its own standard uncertainty in parts per million: 0 to measure in the chip's time.
    pub uncertainty_ppm: f64,
}

/// The crystal of a recorder, as another recording showed it. It belongs to the recorder: a
/// recording at another sample rate has the same one.
#[derive(Debug, Clone, PartialEq)]
pub struct Crystal {
    /// Its rate as a share of the stated one, near 1.
    pub ratio: f64,
    /// Standard uncertainty of the ratio in parts per million.
    pub uncertainty_ppm: f64,
    /// Where the ratio comes from, in words.
    pub provenance: String,
    /// What is doubtful about the intervals.
    pub doubt: Option<Finding>,
}

impl Crystal {
    /// The crystal of a recorder whose recording states this rate and has the other one.
    pub fn new(stated_hz: f64, rate: Rate) -> Crystal {
        let Rate { hz, uncertainty_ppm, provenance } = rate;
        Crystal { ratio: hz / stated_hz, uncertainty_ppm, provenance, doubt: None }
    }

    /// The rate of a recording that states this one.
    pub fn rate(&self, stated_hz: f64) -> Rate {
        let off_ppm = 1e6 * (self.ratio - 1.0);
        Rate {
            hz: self.ratio * stated_hz,
            uncertainty_ppm: self.uncertainty_ppm,
            provenance: format!(
                "stated by the file, corrected by {off_ppm:+.2} ppm: {} of --reference-file",
                self.provenance
            ),
        }
    }
}

/// Ticks per second of the reference, from intervals in ticks; `quantum` is the step of the edges'
/// times, which those of a signal do not have.
///
/// The standard uncertainty is that of the intervals' mean, with Student's factor for few of them,
/// and the reference's own in quadrature.
///
/// # Errors
/// No interval, or one that is farther from the recorder's stated rate than any crystal.
///
/// ```
/// use hairspring_capture::calibrate::{Reference, rate};
/// let second = Reference { seconds: 1.0, uncertainty_ppm: 0.0 };
/// let found = rate(&[192_007.1, 192_007.0, 192_007.2], Some(192_000.0), second, None).unwrap();
/// assert!((found.hz - 192_007.1).abs() < 0.01 && found.uncertainty_ppm < 1.0);
/// ```
pub fn rate(
    intervals: &[f64],
    stated_hz: Option<f64>,
    reference: Reference,
    quantum: Option<f64>,
) -> Result<Rate> {
    calibration(intervals, stated_hz, reference, quantum).map(|(rate, _)| rate)
}

/// What is doubtful about reference intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// Some are shorter than the others, by this many ticks at most: samples were dropped.
    Dropped {
        /// Their number.
        intervals: usize,
        /// The largest difference.
        ticks: f64,
    },
    /// They are farther off the stated rate than two crystals are.
    Far {
        /// Their distance in parts per million.
        off_ppm: f64,
    },
    /// They are too few to check each other, and this far off the stated rate.
    Unchecked {
        /// Their distance in parts per million.
        off_ppm: f64,
    },
}

/// The rate by [`rate`], and what is doubtful about it.
///
/// # Errors
/// As for [`rate`].
pub fn calibration(
    intervals: &[f64],
    stated_hz: Option<f64>,
    reference: Reference,
    quantum: Option<f64>,
) -> Result<(Rate, Option<Doubt>)> {
    if intervals.is_empty() {
        let advice = "send a frame of kind 15 (spec/capture.md), or give a recording of the \
                      intervals with --reference-file";
        return Err(Error::Unusable(format!(
            "--reference: no reference interval in the recording: {advice}"
        )));
    }
    refuse_odd(intervals, stated_hz, reference)?;
    let (kept_intervals, dropped_intervals) = without_dropped(intervals, quantum);
    let n = kept_intervals.len() as f64;
    let mean = kept_intervals.iter().sum::<f64>() / n;
    let sum: f64 = kept_intervals.iter().map(|ticks| (ticks - mean).powi(2)).sum();
    let scatter = if kept_intervals.len() < 2 {
        alone(quantum)
    } else {
        (sum / (n - 1.0) / n).sqrt() * student(kept_intervals.len() - 1)
    };
    // Readings that are all equal may still be off by a part of the quantum.
    let own_error = scatter.max(quantum.map_or(0.0, |_| alone(quantum) / n.sqrt()));
    let off_ppm = stated_hz.map_or(0.0, |hz| 1e6 * (mean / (hz * reference.seconds) - 1.0));
    let own_ppm = 1e6 * own_error / mean;
    // Nothing tells the distance of a few intervals from samples that were dropped: two may have
    // lost as many.
    let unchecked = (intervals.len() < FEWEST_INTERVALS && off_ppm != 0.0)
        .then_some(Doubt::Unchecked { off_ppm });
    let distance = if unchecked.is_some() { off_ppm } else { 0.0 };
    let rate = Rate {
        hz: mean / reference.seconds,
        uncertainty_ppm: hypot(hypot(own_ppm, reference.uncertainty_ppm), distance),
        provenance: format!(
            "{n} {} of {} s in the recording",
            if n < 2.0 { "interval" } else { "intervals" },
            reference.seconds
        ),
    };
    let far = (off_ppm.abs() - 2.0 * own_ppm > FAR_PPM).then_some(Doubt::Far { off_ppm });
    Ok((rate, dropped_intervals.or(far).or(unchecked)))
}

/// Refuses an interval that no crystal explains.
fn refuse_odd(intervals: &[f64], stated_hz: Option<f64>, reference: Reference) -> Result<()> {
    let n = intervals.len();
    let expected =
        stated_hz.map_or(intervals.iter().sum::<f64>() / n as f64, |hz| hz * reference.seconds);
    match intervals
        .iter()
        .enumerate()
        .find(|(_, ticks)| (*ticks / expected - 1.0).abs() > LARGEST_ERROR)
    {
        Some((at, odd)) => Err(Error::Unusable(format!(
            "reference interval {} of {n} is {:.6} times as long as {} s by the recorder's rate: \
             a pulse is missing or extra, samples were dropped, or --reference is not its length",
            at + 1,
            odd / expected,
            reference.seconds
        ))),
        None => Ok(()),
    }
}

/// Standard uncertainty of a single interval, in ticks.
fn alone(quantum: Option<f64>) -> f64 {
    quantum.map_or(SINGLE_UNCERTAINTY, |quantum| ALONE_QUANTA * quantum)
}

/// The intervals without those in which samples were dropped: far shorter than the longer half of
/// them, which agree.
fn without_dropped(intervals: &[f64], quantum: Option<f64>) -> (Vec<f64>, Option<Doubt>) {
    if intervals.len() < FEWEST_INTERVALS {
        return (intervals.to_vec(), None);
    }
    let mut sorted = intervals.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let longer = &sorted[sorted.len() / 2..];
    let middle = longer[longer.len() / 2];
    // Two or three that agree by chance say little about their scatter. Quantised ones differ by a
    // quantum without any.
    let beyond_quantum = (longer[longer.len() - 1] - longer[0] - quantum.unwrap_or(0.0)).max(0.0);
    let scatter =
        quantum.unwrap_or(SINGLE_UNCERTAINTY) + beyond_quantum * student(longer.len() - 1);
    let kept_intervals: Vec<f64> = intervals
        .iter()
        .copied()
        .filter(|ticks| middle - ticks <= DROPPED_DISTANCE * scatter)
        .collect();
    let dropped = intervals.len() - kept_intervals.len();
    let doubt =
        (dropped > 0).then(|| Doubt::Dropped { intervals: dropped, ticks: middle - sorted[0] });
    (kept_intervals, doubt)
}

/// Factor by which a standard deviation of few values is widened, so that twice of it covers 95 %.
fn student(dof: usize) -> f64 {
    const TABLE: [f64; 10] = [6.48, 2.20, 1.62, 1.42, 1.31, 1.25, 1.21, 1.18, 1.15, 1.14];
    TABLE.get(dof - 1).copied().unwrap_or(1.0 + 1.4 / dof as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Reference = Reference { seconds: 1.0, uncertainty_ppm: 0.0 };

    #[test]
    fn few_intervals_have_a_larger_uncertainty() {
        let ppm =
            |ticks: &[f64]| rate(ticks, Some(48_000.0), SECOND, None).unwrap().uncertainty_ppm;
        assert!(
            ppm(&[48_000.0]) > 6.0 && ppm(&[48_002.4]) > 50.0,
            "what one interval shows is not checked"
        );
        assert!(ppm(&[48_000.0, 48_000.1]) > ppm(&[48_000.0, 48_000.1, 48_000.0, 48_000.1]));
        let own = Reference { uncertainty_ppm: 20.0, ..SECOND };
        assert!(rate(&[48_000.0, 48_000.0], None, own, None).unwrap().uncertainty_ppm >= 20.0);
    }

    #[test]
    fn a_reference_that_no_two_crystals_explain_is_told() {
        let of = |ticks: f64| {
            calibration(&[ticks, ticks + 0.1, ticks - 0.1], Some(48_000.0), SECOND, None).unwrap().1
        };
        assert!(
            of(47_981.0).is_none()
                && matches!(of(48_024.0),
                    Some(Doubt::Far { off_ppm }) if (off_ppm - 500.0).abs() < 0.1)
        );
        assert!(calibration(&[48_500.0], Some(48_000.0), SECOND, None).is_err());
    }

    #[test]
    fn dropped_samples_shorten_intervals_and_are_told() {
        let of = |ticks: &[f64]| calibration(ticks, Some(48_000.0), SECOND, None).unwrap();
        let (rate, doubt) = of(&[48_001.0, 47_990.0, 48_001.2, 48_000.9]);
        assert!((rate.hz - 48_001.03).abs() < 0.01 && rate.uncertainty_ppm < 10.0, "{rate:?}");
        assert!(
            matches!(doubt, Some(Doubt::Dropped { intervals: 1,
                ticks }) if (ticks - 11.0).abs() < 0.5),
            "{doubt:?}"
        );
        // Two intervals that differ: which of them is whole is not known, and the uncertainty is
        // large.
        assert!(of(&[48_001.0, 47_990.0]).0.uncertainty_ppm > 500.0);
        // One alone, or two that may have lost as many: their distance is the uncertainty.
        for few in [&[47_994.0][..], &[47_994.0, 47_994.0]] {
            let (rate, doubt) = of(few);
            let is_told = matches!(doubt,
                Some(Doubt::Unchecked { off_ppm }) if (off_ppm + 125.0).abs() < 0.1);
            assert!(rate.uncertainty_ppm > 120.0 && is_told, "{rate:?} {doubt:?}");
        }
        assert_eq!(of(&[48_001.0, 48_001.3, 48_000.8]).1, None);
    }

    #[test]
    fn quantised_intervals_that_differ_by_a_quantum_are_whole() {
        // A sample is 40 ticks long, and the interval 1000.3 samples.
        let of = |samples: &[f64]| {
            let ticks: Vec<f64> = samples.iter().map(|n| 40.0 * n).collect();
            calibration(&ticks, Some(40_000.0), SECOND, Some(40.0)).unwrap()
        };
        let (rate, doubt) = of(&[
            1000.0, 1000.0, 1001.0, 1000.0, 1001.0, 1000.0, 1000.0, 1001.0, 1000.0, 1000.0, 1001.0,
        ]);
        assert_eq!(doubt, None);
        assert!((rate.hz - 40.0 * 1000.3).abs() < 3.0 && rate.uncertainty_ppm < 250.0, "{rate:?}");
        // Short intervals are far from the stated rate because they are rounded.
        let ticks = [40.0 * 2001.0; 3];
        assert_eq!(calibration(&ticks, Some(80_000.0), SECOND, Some(40.0)).unwrap().1, None);
        assert!(matches!(
            calibration(&ticks, Some(80_000.0), SECOND, Some(1.0)).unwrap().1,
            Some(Doubt::Far { .. })
        ));
        // All equal: they may be off by a part of a sample.
        let (rate, doubt) = of(&[1000.0; 4]);
        assert!(doubt.is_none() && (rate.uncertainty_ppm - 205.0).abs() < 1.0, "{rate:?}");
        assert!(matches!(
            of(&[1000.0, 1001.0, 993.0, 1000.0, 1000.0]).1,
            Some(Doubt::Dropped { intervals: 1, .. })
        ));
    }

    #[test]
    fn three_intervals_of_which_two_agree_by_chance_are_whole() {
        let of = |ticks: &[f64]| calibration(ticks, Some(48_000.0), SECOND, None).unwrap().1;
        assert_eq!(of(&[48_000.0, 48_002.6, 48_002.0]), None);
        assert!(matches!(of(&[48_000.0, 48_025.0, 48_025.1]), Some(Doubt::Dropped { .. })));
    }

    #[test]
    fn wrong_or_missing_intervals_are_refused() {
        let message =
            rate(&[48_001.0, 96_002.0], Some(48_000.0), SECOND, None).unwrap_err().to_string();
        assert!(message.contains("interval 2 of 2") && message.contains("2.0000"), "{message}");
        assert!(rate(&[], None, SECOND, None).unwrap_err().to_string().contains("kind 15"));
    }
}
