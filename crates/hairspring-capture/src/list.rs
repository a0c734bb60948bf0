//! Pulses without the pattern: a list of counts that repeats. No pulse proves its k, so all of them must fit.

use crate::error::{Error, Result};
use crate::observe::spread;
use crate::pattern::Pulse;

/// Farthest that a pulse may be off its k, as a share of the distance to the next k.
const FARTHEST: f64 = 0.45;

/// Deals pulses out to the counts of a list, in rounds.
///
/// The widths of a right assignment lie on a line; every pulse must be nearer to its own k than to any other of the list.
///
/// # Errors
/// The pulse that does not fit, with its place: one before it is missing or too many.
pub fn deal(pulses: &[Pulse], ks: &[f64], hz: Option<f64>) -> Result<Vec<Vec<Pulse>>> {
    let place = |pulse: &Pulse| match hz {
        Some(hz) => format!("{:.6} s", pulse.leading / hz),
        None => format!("tick {}", pulse.leading),
    };
    if pulses.is_empty() || pulses.len() % ks.len() != 0 {
        return Err(Error::Unusable(format!(
            "{} pulses are no whole number of rounds of {} (--k): one is missing or too many, or the recording is cut; with the header pattern (spec/capture.md) the rest can be used",
            pulses.len(),
            ks.len()
        )));
    }
    let middles: Vec<f64> =
        (0..ks.len()).map(|at| spread(pulses.iter().skip(at).step_by(ks.len()).map(Pulse::width).collect()).0).collect();
    if let Some((slope, start)) = line(ks, &middles) {
        for (n, pulse) in pulses.iter().enumerate() {
            let k = ks[n % ks.len()];
            let seen = (pulse.width() - start) / slope;
            let next = ks.iter().map(|other| (other - k).abs()).filter(|distance| *distance > 0.0).fold(f64::INFINITY, f64::min);
            if !(slope > 0.0 && (seen - k).abs() <= FARTHEST * next) {
                return Err(Error::Unusable(format!(
                    "pulse {} ({}) should be k = {k} and is as wide as k = {seen:.2}: a pulse is missing or too many, or the list of --k is not the firmware's; the header pattern (spec/capture.md) finds out which",
                    n + 1,
                    place(pulse)
                )));
            }
        }
    }
    Ok(pulses.chunks(ks.len()).map(<[Pulse]>::to_vec).collect())
}

/// The line through most points: medians of slopes and of intercepts (Theil and Sen); `None` for fewer than two counts.
fn line(ks: &[f64], widths: &[f64]) -> Option<(f64, f64)> {
    let pairs = (0..ks.len()).flat_map(|a| (a + 1..ks.len()).map(move |b| (a, b))).filter(|(a, b)| ks[*a] != ks[*b]);
    let slopes: Vec<f64> = pairs.map(|(a, b)| (widths[b] - widths[a]) / (ks[b] - ks[a])).collect();
    if slopes.is_empty() {
        return None;
    }
    let slope = spread(slopes).0;
    let start = spread(ks.iter().zip(widths).map(|(k, width)| width - slope * k).collect()).0;
    Some((slope, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pulses(ks: &[f64]) -> Vec<Pulse> {
        (0..).zip(ks).map(|(n, k)| Pulse { leading: 5000.0 * f64::from(n), trailing: 5000.0 * f64::from(n) + 100.0 * k + 8.5 }).collect()
    }

    #[test]
    fn rounds_that_fit_are_dealt_and_others_are_refused() {
        let ks: Vec<f64> = (1..=10).map(f64::from).collect();
        let whole = [ks.clone(), ks.clone(), ks.clone()].concat();
        assert_eq!(deal(&pulses(&whole), &ks, None).unwrap().len(), 3);
        for at in 0..whole.len() {
            let mut missing = whole.clone();
            missing.remove(at);
            let mut glitch = whole.clone();
            glitch.insert(at, 0.0);
            let mut both = missing.clone();
            both.insert((at + 7) % 29, 0.3);
            for ks_seen in [missing, glitch, both.clone()] {
                assert!(deal(&pulses(&ks_seen), &ks, Some(1e6)).is_err(), "{at}");
            }
        }
        let late = [&whole[1..], &[1.0]].concat();
        let message = deal(&pulses(&late), &ks, Some(1e6)).unwrap_err().to_string();
        assert!(message.contains("pulse ") && message.contains(" s) should be k"), "{message}");
    }
}
