//! Pulses without the pattern: a repeating list of counts. Since no pulse proves its k, all of them
//! must fit.

use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::observe::spread;
use crate::pattern::{Orientation, Pulse};

/// Largest distance of a pulse from its k, as a share of the distance to the next k.
const FARTHEST_SHARE: f64 = 0.45;
/// The same where copies are only a few quanta of the clock long, in quanta: a width may be off by
/// one, the line by another. The share must still tell a list from the same list shifted by one
/// pulse.
const FARTHEST_QUANTA: f64 = 2.1;
const FARTHEST_QUANTISED: f64 = 0.75;

/// Largest scatter of the widths of one count, as a share of a step of the list, at which counts
/// can be told apart.
const SCATTER: f64 = 0.15;

/// Rounds at the beginning and behind a fault that must fit where a pulse is missing or extra, and
/// most pulses that are.
const FIRST_ROUNDS: usize = 2;
const MOST_LOST: usize = 8;
/// Longest list whose rotations are tried, and the number of rounds on which they are tried.
const MOST_TURNED: usize = 256;
const MOST_ROUNDS: usize = 256;

/// The recorder's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    /// Ticks per second.
    pub hz: Option<f64>,
    /// The step of the edges' times, if they have one.
    pub quantum: Option<f64>,
}

/// Collects all pulses of a pin, whatever pattern some of them have.
#[derive(Debug, Clone, Default)]
pub struct Pulses {
    /// The direction of leading edges; that of the first edge if none is given.
    orientation: Option<Orientation>,
    leading: Option<f64>,
    /// The pulses so far.
    pub pulses: Vec<Pulse>,
}

impl Pulses {
    /// No pulses yet.
    pub fn new(orientation: Option<Orientation>) -> Pulses {
        Pulses { orientation, ..Pulses::default() }
    }

    /// Takes an edge.
    pub fn push(&mut self, edge: Edge) {
        let own_orientation = if edge.rising { Orientation::Rising } else { Orientation::Falling };
        if own_orientation == *self.orientation.get_or_insert(own_orientation) {
            self.leading = Some(edge.at);
        } else if let Some(leading) = self.leading.take() {
            self.pulses.push(Pulse { leading, trailing: edge.at });
        }
    }
}

/// Pulses of whole rounds only: those before the first round and behind the last one are left out.
/// Returns their numbers too.
///
/// # Errors
/// As [`assign`], or no rotation of the list fits.
pub fn trimmed<'p>(
    pulses: &'p [Pulse],
    ks: &[f64],
    clock: Clock,
) -> Result<(&'p [Pulse], usize, usize)> {
    let whole = |before: usize| {
        let rest = &pulses[before.min(pulses.len())..];
        &rest[..rest.len() / ks.len() * ks.len()]
    };
    let fits =
        |before: &usize| !whole(*before).is_empty() && assign(whole(*before), ks, clock).is_ok();
    // The list may begin anywhere in the recording's first round; where no place fits, the error of
    // the first one tells why.
    let Some(before) = (0..ks.len().min(MOST_TURNED)).find(fits) else {
        let failed = |error| match error {
            Error::Unusable(reason) if ks.len() > MOST_TURNED => Error::Unusable(format!(
                "{reason}; as the beginning of a round only the first {MOST_TURNED} pulses were \
                 tried"
            )),
            error => error,
        };
        return assign(whole(0), ks, clock)
            .map(|_| (whole(0), 0, pulses.len() - whole(0).len()))
            .map_err(failed);
    };
    Ok((whole(before), before, pulses.len() - before - whole(before).len()))
}

/// Assigns pulses to the counts of a list, in rounds.
///
/// The widths of a correct assignment lie on a line; every pulse must be nearer to its own k than
/// to any other of the list.
///
/// # Errors
/// The first pulse that does not fit, with its place: a pulse before it is missing or extra.
pub fn assign(pulses: &[Pulse], ks: &[f64], clock: Clock) -> Result<Vec<Vec<Pulse>>> {
    let place = |pulse: &Pulse| match clock.hz {
        Some(hz) => format!("{:.6} s", pulse.leading / hz),
        None => format!("tick {}", pulse.leading),
    };
    if let Some(reason) = broken(pulses, ks, clock, &place) {
        return Err(Error::Unusable(reason));
    }
    if pulses.is_empty() || pulses.len() % ks.len() != 0 {
        return Err(Error::Unusable(format!(
            "{} pulses are not a whole number of rounds of {} (--k): one is missing or extra, or \
             the recording begins or ends within a round: --trim leaves incomplete rounds at its \
             ends out; the header pattern (spec/capture.md) needs no such care",
            pulses.len(),
            ks.len()
        )));
    }
    let middles = middles(pulses, ks.len());
    if let Some(line) = Line::through(ks, &middles, clock) {
        if let Some((n, pulse)) = pulses.iter().enumerate().find(|pulse| !line.fits(*pulse)) {
            let misfit = || misfit(pulses, &middles, &line, n, &place(pulse));
            return Err(Error::Unusable(rotation(pulses, ks, clock).map_or_else(
                misfit,
                |(turned, first)| {
                    format!(
                        "the recording begins within a round: its pulses fit where a round of --k \
                         begins with pulse {first}; give --k {turned}, or --trim"
                    )
                },
            )));
        }
    }
    Ok(pulses.chunks(ks.len()).map(<[Pulse]>::to_vec).collect())
}

/// Where a pulse is missing or extra: the rounds before it lie on a line, and those behind it on
/// the same line with the list turned.
///
/// The medians over the whole recording mix both kinds of rounds, so that the line through them
/// names any pulse.
fn broken(
    pulses: &[Pulse],
    ks: &[f64],
    clock: Clock,
    place: &dyn Fn(&Pulse) -> String,
) -> Option<String> {
    let first = pulses.get(..ks.len() * FIRST_ROUNDS)?;
    let line = Line::through(ks, &middles(first, ks.len()), clock)?;
    if !first.iter().enumerate().all(|pulse| line.fits(pulse)) {
        return None;
    }
    let at = pulses.iter().enumerate().position(|pulse| !line.fits(pulse))?;
    let behind = &pulses[at..pulses.len().min(at + FIRST_ROUNDS * ks.len())];
    let follows = |from: usize, by: usize| {
        let shifted = |(n, pulse): (usize, &Pulse)| line.fits((at + n + by, pulse));
        behind.len() > from && behind.iter().enumerate().skip(from).all(shifted)
    };
    let missing = (1..ks.len().min(MOST_LOST + 1)).find(|lost| follows(0, *lost));
    let extra = || (1..ks.len().min(MOST_LOST + 1)).find(|more| follows(*more, ks.len() - more));
    let (place_of_pulse, n) = missing
        .map(|n| ("missing before it", n))
        .or_else(|| extra().map(|n| ("extra there", n)))?;
    let defect = if n == 1 {
        format!("one pulse is {place_of_pulse}")
    } else {
        format!("{n} pulses are {place_of_pulse}")
    };
    let (k, width) = (ks[at % ks.len()], line.copies(&pulses[at]));
    Some(format!(
        "pulse {} ({}) should be k = {k} by the list of --k and is as wide as {width:.2} copies: \
         {defect}; cut the recording there, or use the header pattern (spec/capture.md), which \
         leaves out the damaged frame only",
        at + 1,
        place(&pulses[at])
    ))
}

/// The message for a pulse that does not fit: its width and its k, or that widths scatter too far
/// to tell counts apart.
fn misfit(pulses: &[Pulse], middles: &[f64], line: &Line, n: usize, place: &str) -> String {
    let (ks, slope) = (line.ks, line.slope);
    let (pulse, k, seen_copies) = (n + 1, ks[n % ks.len()], line.copies(&pulses[n]));
    let scatter =
        |at: usize| spread(pulses.iter().skip(at).step_by(ks.len()).map(Pulse::width).collect()).1;
    let typical = spread((0..ks.len()).map(scatter).collect()).0;
    let widest = middles.iter().copied().fold(0.0, f64::max);
    if typical > SCATTER * slope.abs() || !seen_copies.is_finite() {
        return format!(
            "the pulses are too alike to tell their counts apart by their widths: one more copy \
             makes {slope:.1} ticks, the widths of one count scatter by {typical:.1}, and the \
             widest have {widest:.1}; if the recording begins inside of a pulse, --polarity rising \
             or falling says which level is that of the pulses; otherwise --k needs longer code or \
             larger steps, or the header pattern (spec/capture.md), which proves the count of each \
             pulse"
        );
    }
    format!(
        "pulse {pulse} ({place}) should be k = {k} by the list of --k and is as wide as \
         {seen_copies:.2} copies by the line through all pulses: a pulse is missing or extra, or \
         the list is not the firmware's; the header pattern (spec/capture.md) shows which"
    )
}

/// If a rotation of the list fits because the recording begins within a round: that list, and the
/// pulse with which the original list begins.
fn rotation(pulses: &[Pulse], ks: &[f64], clock: Clock) -> Option<(String, usize)> {
    let pulses = &pulses[..pulses.len().min(MOST_ROUNDS * ks.len())];
    let fits = |turned: &[f64]| {
        let line = Line::through(turned, &middles(pulses, turned.len()), clock);
        line.is_some_and(|line| pulses.iter().enumerate().all(|pulse| line.fits(pulse)))
    };
    let turn =
        |by: usize| -> Vec<f64> { ks.iter().cycle().skip(by).take(ks.len()).copied().collect() };
    if ks.len() > MOST_TURNED {
        return None;
    }
    let by = (1..ks.len()).find(|by| fits(&turn(*by)))?;
    let words: Vec<String> = turn(by).iter().map(ToString::to_string).collect();
    Some((words.join(","), ks.len() - by + 1))
}

/// The line on which the widths of a list lie.
struct Line<'a> {
    ks: &'a [f64],
    /// Ticks of a copy, and of none.
    slope: f64,
    start: f64,
    /// The step of the clock in ticks, or 0.
    quantum: f64,
}

impl Line<'_> {
    fn through<'a>(ks: &'a [f64], widths: &[f64], clock: Clock) -> Option<Line<'a>> {
        line(ks, widths).map(|(slope, start)| Line {
            ks,
            slope,
            start,
            quantum: clock.quantum.unwrap_or(0.0),
        })
    }

    /// How many copies a pulse is wide.
    fn copies(&self, pulse: &Pulse) -> f64 {
        (pulse.width() - self.start) / self.slope
    }

    /// Whether the n-th pulse has its count.
    fn fits(&self, (n, pulse): (usize, &Pulse)) -> bool {
        let k = self.ks[n % self.ks.len()];
        self.slope > 0.0 && (self.copies(pulse) - k).abs() <= self.tolerance(k)
    }

    /// Largest distance of a pulse from its count, in copies.
    fn tolerance(&self, k: f64) -> f64 {
        let step = self
            .ks
            .iter()
            .map(|other| (other - k).abs())
            .filter(|distance| *distance > 0.0)
            .fold(f64::INFINITY, f64::min);
        (FARTHEST_SHARE * step)
            .max((FARTHEST_QUANTA * self.quantum / self.slope).min(FARTHEST_QUANTISED * step))
    }
}

fn middles(pulses: &[Pulse], rows: usize) -> Vec<f64> {
    (0..rows)
        .map(|at| spread(pulses.iter().skip(at).step_by(rows).map(Pulse::width).collect()).0)
        .collect()
}

/// A robust line: medians of slopes and of intercepts (Theil and Sen); `None` for fewer than two
/// counts.
fn line(ks: &[f64], widths: &[f64]) -> Option<(f64, f64)> {
    let pairs = (0..ks.len())
        .flat_map(|a| (a + 1..ks.len()).map(move |b| (a, b)))
        .filter(|(a, b)| ks[*a] != ks[*b]);
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

    const MICROSECONDS: Clock = Clock { hz: Some(1e6), quantum: None };

    fn pulses(ks: &[f64]) -> Vec<Pulse> {
        (0..)
            .zip(ks)
            .map(|(n, k)| Pulse {
                leading: 5000.0 * f64::from(n),
                trailing: 5000.0 * f64::from(n) + 100.0 * k + 8.5,
            })
            .collect()
    }

    #[test]
    fn a_long_list_is_trimmed_wherever_the_recording_begins() {
        let ks: Vec<f64> = (1..=100).map(f64::from).collect();
        let begun: Vec<f64> = ks[30..].iter().chain(&ks).chain(&ks[..7]).copied().collect();
        let all_pulses = pulses(&begun);
        let (inner, before, behind) = trimmed(&all_pulses, &ks, Clock::default()).unwrap();
        assert_eq!((inner.len(), before, behind), (100, 70, 7));
        let long: Vec<f64> = (1..=300).map(f64::from).collect();
        let late: Vec<f64> = long[10..].iter().chain(&long).copied().collect();
        let error = trimmed(&pulses(&late), &long, Clock::default()).unwrap_err().to_string();
        assert!(error.ends_with("only the first 256 pulses were tried"), "{error}");
    }

    #[test]
    fn pulses_of_one_width_are_too_alike() {
        let error = assign(&pulses(&[3.0; 12]), &[1.0, 2.0, 3.0], MICROSECONDS).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("too alike") && !text.contains("NaN"), "{text}");
    }

    #[test]
    fn fitting_rounds_are_assigned_and_others_are_refused() {
        let ks: Vec<f64> = (1..=10).map(f64::from).collect();
        let whole = [ks.clone(), ks.clone(), ks.clone()].concat();
        assert_eq!(assign(&pulses(&whole), &ks, Clock::default()).unwrap().len(), 3);
        for at in 0..whole.len() {
            let mut missing = whole.clone();
            missing.remove(at);
            let mut glitch = whole.clone();
            glitch.insert(at, 0.0);
            let mut both_defects = missing.clone();
            both_defects.insert((at + 7) % 29, 0.3);
            for ks_seen in [missing, glitch, both_defects.clone()] {
                assert!(assign(&pulses(&ks_seen), &ks, MICROSECONDS).is_err(), "{at}");
            }
        }
        let mut other_counts = whole.clone();
        other_counts[7] = 4.0;
        let message = assign(&pulses(&other_counts), &ks, MICROSECONDS).unwrap_err().to_string();
        assert!(
            message.contains("pulse 8 (") && message.contains(" s) should be k = 8"),
            "{message}"
        );
    }

    #[test]
    fn a_missing_or_extra_pulse_is_named_where_it_is() {
        let ks: Vec<f64> = (1..=8).map(f64::from).collect();
        let whole = ks.repeat(40);
        let message = |seen_counts: &[f64]| {
            assign(&pulses(seen_counts), &ks, MICROSECONDS).unwrap_err().to_string()
        };
        for at in [16, 97, 150, 255] {
            let mut missing = whole.clone();
            missing.remove(at);
            let text = message(&missing);
            assert!(
                text.starts_with(&format!("pulse {} (", at + 1))
                    && text.contains("one pulse is missing before it"),
                "{at} {text}"
            );
            let mut extra = whole.clone();
            extra.insert(at, 0.1);
            // Another one is missing, so that the number of pulses is right.
            extra.remove(extra.len() - 3);
            let text = message(&extra);
            assert!(
                text.starts_with(&format!("pulse {} (", at + 1))
                    && text.contains("one pulse is extra there"),
                "{at} {text}"
            );
        }
    }

    #[test]
    fn a_recording_that_begins_within_a_round_gets_the_fitting_list() {
        let ks = [1.0, 2.0, 3.0, 5.0];
        let late: Vec<f64> = ks.iter().cycle().skip(3).take(12).copied().collect();
        let message = assign(&pulses(&late), &ks, MICROSECONDS).unwrap_err().to_string();
        assert!(
            message.contains("a round of --k begins with pulse 2; give --k 5,1,2,3"),
            "{message}"
        );
        assert_eq!(
            assign(&pulses(&late), &[5.0, 1.0, 2.0, 3.0], Clock::default()).unwrap().len(),
            3
        );
    }

    #[test]
    fn incomplete_rounds_at_the_ends_are_trimmed() {
        let ks = [1.0, 2.0, 3.0, 5.0];
        for (first, number) in [(0, 14), (3, 13), (2, 16), (0, 16)] {
            let seen_counts: Vec<f64> =
                ks.iter().cycle().skip(first).take(number).copied().collect();
            let all_pulses = pulses(&seen_counts);
            let (whole, before, after) = trimmed(&all_pulses, &ks, MICROSECONDS).unwrap();
            assert_eq!((before, before + whole.len() + after), ((4 - first) % 4, number));
            assert_eq!(assign(whole, &ks, Clock::default()).unwrap().len(), whole.len() / 4);
        }
        let mut missing: Vec<f64> = ks.repeat(6);
        missing.remove(9);
        assert!(trimmed(&pulses(&missing), &ks, Clock::default()).is_err());
        assert!(trimmed(&pulses(&ks[1..]), &ks, Clock::default()).is_err());
    }

    #[test]
    fn indistinguishable_counts_are_not_reported_as_missing_pulses() {
        let jitter = |n: usize| [0.0, 90.0, -110.0, 40.0, -60.0, 120.0, -20.0][n % 7];
        let all_pulses = (0..40).map(|n| Pulse {
            leading: 5000.0 * n as f64,
            trailing: 5000.0 * n as f64 + 100.0 * (n % 4 + 1) as f64 + 800.0 + jitter(n),
        });
        let message =
            assign(&all_pulses.collect::<Vec<_>>(), &[1.0, 2.0, 3.0, 4.0], Clock::default())
                .unwrap_err()
                .to_string();
        assert!(
            message.contains("too alike")
                && message.contains("ticks")
                && !message.contains("missing"),
            "{message}"
        );
    }

    /// Pulses of `copy` samples a copy at sampled times, without those of `lost`.
    fn sampled(ks: &[f64], copy: f64, lost: &[usize]) -> Vec<Pulse> {
        let mut at = 0.0;
        let all_pulses = ks.iter().map(|k| {
            at += 41.37;
            let leading = f64::ceil(at);
            at += 3.5 + copy * k;
            Pulse { leading, trailing: at.ceil() }
        });
        all_pulses.enumerate().filter(|(n, _)| !lost.contains(n)).map(|(_, pulse)| pulse).collect()
    }

    #[test]
    fn copies_of_two_samples_are_told_apart() {
        let ks: Vec<f64> = (1..=12).map(f64::from).collect();
        let clock = Clock { hz: Some(1e6), quantum: Some(1.0) };
        let seen_counts = ks.repeat(20);
        for copy in [2.0, 2.03, 2.4, 3.01, 4.5] {
            assert_eq!(
                assign(&sampled(&seen_counts, copy, &[]), &ks, clock).map(|rounds| rounds.len()),
                Ok(20),
                "{copy}"
            );
            let late = sampled(&seen_counts[5..], copy, &[]);
            assert_eq!(
                trimmed(&late, &ks, clock).map(|(_, before, behind)| (before, behind)),
                Ok((7, 0)),
                "{copy}"
            );
            // One round less one pulse, or a whole round of which each pulse comes from two rounds.
            for lost in
                [&[40][..], &[30, 31, 90], &[14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 37]]
            {
                assert!(
                    assign(&sampled(&seen_counts, copy, lost), &ks, clock).is_err(),
                    "{copy} {lost:?}"
                );
            }
        }
        // A clock without a quantum has no such excuse.
        assert!(assign(&sampled(&seen_counts, 2.03, &[]), &ks, MICROSECONDS).is_err());
    }
}
