//! The rate of the recorder from a known interval in the recording (Moreno and Fischmeister, section 6), which calibrates
//! both crystals at once.

use crate::error::{Error, Result};
use hairspring_core::observations::Rate;

/// Largest relative error of an interval; with a larger one it is another interval.
const FARTHEST: f64 = 0.01;
/// Standard uncertainty of a single interval, in ticks.
const ALONE: f64 = 0.3;

/// A known interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// How long it is.
    pub seconds: f64,
    /// Its own standard uncertainty in parts per million: 0 to measure in the chip's time.
    pub uncertainty_ppm: f64,
}

/// The crystal of a recorder, as another recording showed it. It belongs to the recorder: a recording at another sample rate has the
/// same one.
#[derive(Debug, Clone, PartialEq)]
pub struct Crystal {
    /// Its rate as a share of the stated one, near 1.
    pub ratio: f64,
    /// Standard uncertainty of the ratio in parts per million.
    pub uncertainty_ppm: f64,
    /// Where the ratio comes from, in words.
    pub provenance: String,
}

impl Crystal {
    /// The crystal of a recorder whose recording states this rate and has the other one.
    pub fn new(stated_hz: f64, rate: Rate) -> Crystal {
        let Rate { hz, uncertainty_ppm, provenance } = rate;
        Crystal { ratio: hz / stated_hz, uncertainty_ppm, provenance }
    }

    /// The rate of a recording that states this one.
    pub fn rate(&self, stated_hz: f64) -> Rate {
        let off_ppm = 1e6 * (self.ratio - 1.0);
        Rate {
            hz: self.ratio * stated_hz,
            uncertainty_ppm: self.uncertainty_ppm,
            provenance: format!("stated by the file, corrected by {off_ppm:+.2} ppm: {} of --reference-file", self.provenance),
        }
    }
}

/// Ticks per second of the reference, from intervals in ticks.
///
/// The standard uncertainty is that of the intervals' mean, with Student's factor for few of them, and the reference's own
/// in quadrature.
///
/// # Errors
/// No interval, or one that is farther from the recorder's stated rate than any crystal.
///
/// ```
/// use hairspring_capture::calibrate::{Reference, rate};
/// let found = rate(&[192_007.1, 192_007.0, 192_007.2], Some(192_000.0), Reference { seconds: 1.0, uncertainty_ppm: 0.0 }).unwrap();
/// assert!((found.hz - 192_007.1).abs() < 0.01 && found.uncertainty_ppm < 1.0);
/// ```
pub fn rate(intervals: &[f64], stated_hz: Option<f64>, reference: Reference) -> Result<Rate> {
    let n = intervals.len() as f64;
    if intervals.is_empty() {
        let advice = "send a frame of kind 15 (spec/capture.md), or give a recording of the intervals with --reference-file";
        return Err(Error::Unusable(format!("--reference: no reference interval in the recording: {advice}")));
    }
    let mean = intervals.iter().sum::<f64>() / n;
    let expected = stated_hz.map_or(mean, |hz| hz * reference.seconds);
    if let Some((at, odd)) = intervals.iter().enumerate().find(|(_, ticks)| (*ticks / expected - 1.0).abs() > FARTHEST) {
        return Err(Error::Unusable(format!(
            "reference interval {} of {n} is {:.6} times as long as {} s by the recorder's rate: a pulse is missing or extra, or --reference is not its length",
            at + 1,
            odd / expected,
            reference.seconds
        )));
    }
    let sum: f64 = intervals.iter().map(|ticks| (ticks - mean).powi(2)).sum();
    let own = if intervals.len() < 2 { ALONE } else { (sum / (n - 1.0) / n).sqrt() * student(intervals.len() - 1) };
    Ok(Rate {
        hz: mean / reference.seconds,
        uncertainty_ppm: (1e6 * own / mean).hypot(reference.uncertainty_ppm),
        provenance: format!(
            "{n} {} of {} s in the recording",
            if intervals.len() == 1 { "interval" } else { "intervals" },
            reference.seconds
        ),
    })
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
        let ppm = |ticks: &[f64]| rate(ticks, Some(48_000.0), SECOND).unwrap().uncertainty_ppm;
        assert!(ppm(&[48_000.0]) > 6.0);
        assert!(ppm(&[48_000.0, 48_000.1]) > ppm(&[48_000.0, 48_000.1, 48_000.0, 48_000.1]));
        let own = Reference { uncertainty_ppm: 20.0, ..SECOND };
        assert!(rate(&[48_000.0, 48_000.0], None, own).unwrap().uncertainty_ppm >= 20.0);
    }

    #[test]
    fn wrong_or_missing_intervals_are_refused() {
        let message = rate(&[48_001.0, 96_002.0], Some(48_000.0), SECOND).unwrap_err().to_string();
        assert!(message.contains("interval 2 of 2") && message.contains("2.0000"), "{message}");
        assert!(rate(&[], None, SECOND).unwrap_err().to_string().contains("kind 15"));
    }
}
