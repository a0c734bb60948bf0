//! What the properties of a sampled signal mean for its readings: findings, the bound of what they
//! leave open, and the distance that edges need.

use crate::edge::{Method, Signal};
use crate::kinds::{NeighbourFinding, OverloadFinding, SignalFinding};
use crate::observe::spread;
use hairspring_core::judge::{Finding, Severity};
use hairspring_core::observations::Observations;

/// Noise above which there is a finding, as a share of a step.
const NOISY_SHARE: f64 = 0.02;
/// Wander of the level above which there is a finding, as a share of a step.
const WANDERING_SHARE: f64 = 0.2;
/// Steps that differ by more than this share were cut so far that nothing bounds the place of their
/// edges.
const CUT_TOO_FAR: f64 = 0.3;
/// The same for the movement of levels that a linear input does not explain.
const BENT_TOO_FAR: f64 = 0.1;
/// The same if more than this share of the edges is so low that they are not found.
const LOST_SHARE: f64 = 0.01;
/// Largest shift of an edge for steps that differ by their whole height, of one whose overshoot
/// alone is cut, and of one that is cut by an unknown part, in rise times. Where an input saturates
/// softly, a small difference of heights comes with a large one of the slopes: the shift grows as
/// its root.
const SHIFT: f64 = 1.5;
const SHIFT_BY_ROOT: f64 = 0.6;
const SHIFT_OF_OVERSHOOT: f64 = 0.15;
const SHIFT_OF_CUT: f64 = 1.0;
/// The same in times of the movement of levels that a linear input does not explain.
const SHIFT_BY_LEVELS: f64 = 2.0;
/// Largest bias of an edge through a resistor and a capacitor without another filter, in samples
/// times the square of its rise: it is 0.107, 0.061, 0.035, 0.018 and 0.009 samples for a rise of
/// 1.09, 1.27, 2.2, 3.2 and 4.7. An edge within a sample can be anywhere in it.
const ALIASING: f64 = 0.2;
const WITHIN_A_SAMPLE: (f64, f64) = (1.05, 0.5);
/// Noise that dithers a converter, in its steps.
const DITHERS: f64 = 0.4;
/// Bias of an edge that is worth a warning, in samples: more than that of the band-limited method.
const BIASED_SAMPLES: f64 = 0.002;
/// Share of the steps that may begin or end at full scale.
const CUT_STEPS: f64 = 0.02;
/// Part of a correction by neighbours that may be wrong, and size below which it is not counted, in
/// samples.
const WRONG_PART: f64 = 0.1;
const SMALL_CORRECTION: f64 = 0.002;
/// What neighbours may leave open for a row, in samples, and the fewest rows for which it must be
/// less for others to be left out.
const CLEAR_SAMPLES: f64 = 0.01;
const FEWEST_CLEAR: usize = 4;
/// Distance that edges need where what they do to each other is known, in samples for the narrowest
/// kernel; at least the narrowest one's.
const APART_SAMPLES: f64 = 5.5;

/// Whether the signal met a limit: full scale, a level below it, or an input that saturates.
fn is_overloaded(signal: &Signal) -> bool {
    signal.clipped > 0
        || signal.overload.is_some()
        || signal.bent.max(signal.bend_of_levels).max(signal.steepness_spread) > 0.0
}

/// Share by which the heights of steps differ beyond noise.
fn height_spread(signal: &Signal) -> f64 {
    // The difference of two levels, each from two means of five or six samples, from the 5 % to the
    // 95 % quantile.
    let by_noise = 3.3 * 1.4 * signal.noise.unwrap_or(0.0) / signal.step.max(f64::MIN_POSITIVE);
    (signal.height_spread - by_noise).max(0.0)
}

/// What overload leaves open, in samples for each reading.
fn overload_bound(signal: &Signal) -> Option<f64> {
    let spread = height_spread(signal).max(signal.bent).max(signal.steepness_spread);
    let cut = match signal {
        signal if signal.cut_steps as f64 > CUT_STEPS * signal.edges as f64 => SHIFT_OF_CUT,
        signal if signal.clipped > 0 => SHIFT_OF_OVERSHOOT,
        _ => 0.0,
    };
    let by_heights = (SHIFT * spread).max(SHIFT_BY_ROOT * spread.sqrt());
    let bound = signal.rise.max(signal.smoothed_rise)
        * (by_heights.max(SHIFT_BY_LEVELS * signal.bend_of_levels) + cut);
    Some(bound).filter(|bound| is_overloaded(signal) && *bound > 0.0)
}

/// What neighbours leave open for a pulse of a width, in samples.
fn neighbours_bound(signal: &Signal, width: f64) -> f64 {
    let corrected = signal.neighbours.as_ref().filter(|moved| moved.most > SMALL_CORRECTION);
    corrected.map_or(0.0, |moved| WRONG_PART * moved.of_pulse.at(width) + 2.0 * moved.noise)
        + signal.doubt.at(width)
}

/// Largest error of a reading that may follow its counts, in samples: what overload and neighbours
/// leave open, and the bias of edges if pulses always begin at the same place between two samples.
pub fn reading_bound(signal: &Signal, table: &Observations, may_be_locked: bool) -> Option<f64> {
    // Edges within a sample are whole numbers of them, wherever they are: the quantum covers these.
    let is_locked = may_be_locked && !is_within_a_sample(signal);
    let of_edges = if is_locked { 2.0 * bias_bound(signal) } else { 0.0 };
    let bound = overload_bound(signal).unwrap_or(0.0)
        + over_rows(table, |width| neighbours_bound(signal, width))
        + of_edges;
    Some(bound).filter(|bound| *bound > 0.0)
}

/// Largest bias of an edge at one place between two samples, in samples: of a signal that is not
/// filtered before the converter, and of a converter whose steps the noise does not dither. Both
/// average out over all places.
fn bias_bound(signal: &Signal) -> f64 {
    let (rise, step) = (rise(signal), signal.step.max(f64::MIN_POSITIVE));
    let is_undithered = signal.noise.unwrap_or(0.0) < DITHERS * signal.quantum;
    let rounding = if is_undithered { 0.5 * rise * signal.quantum / step } else { 0.0 };
    let averaged = signal.averaged.max(1) as f64;
    let aliasing = match rise / averaged {
        _ if signal.is_filtered => 0.0,
        _ if is_within_a_sample(signal) => WITHIN_A_SAMPLE.1,
        rise => averaged * ALIASING / (rise * rise),
    };
    rounding + aliasing
}

/// Samples that a typical edge takes, at least 1.
fn rise(signal: &Signal) -> f64 {
    signal.rise.max(1.0)
}

/// Whether edges take less than a sample, without a filter before the converter.
fn is_within_a_sample(signal: &Signal) -> bool {
    !signal.is_filtered && rise(signal) < WITHIN_A_SAMPLE.0 * signal.averaged.max(1) as f64
}

/// Range within which the place of an edge is unknown, in samples: that of a method for edges that
/// are known between the samples, up to a whole sample for edges within one.
pub fn quantum_of_edges(signal: &Signal, method: Method) -> f64 {
    (signal.averaged.max(1) as f64 * method.quantum()).max(2.0 * bias_bound(signal))
}

/// The width in samples from which on neighbours leave little open, if at least half of the rows
/// are as wide, and a few.
pub fn clear_width(signal: &Signal, table: &Observations) -> f64 {
    let widths: Vec<f64> = widths(table).into_iter().map(|(_, width)| width).collect();
    let longest = widths.iter().copied().fold(0.0, f64::max);
    let clear = (0..=longest as u32)
        .map(f64::from)
        .find(|width| neighbours_bound(signal, *width) <= CLEAR_SAMPLES)
        .unwrap_or(f64::INFINITY);
    let left = widths.iter().filter(|width| **width >= clear).count();
    if left >= FEWEST_CLEAR.max(widths.len().div_ceil(2)) { clear } else { 0.0 }
}

/// Rows with readings that are used, and the width of each.
fn widths(table: &Observations) -> Vec<(usize, f64)> {
    let mut readings: Vec<Vec<f64>> = vec![Vec::new(); table.rows().len()];
    table
        .readings()
        .iter()
        .filter(|reading| !reading.flags.any())
        .for_each(|reading| readings[reading.row as usize].push(reading.ticks));
    let used = readings.into_iter().enumerate().filter(|(_, readings)| !readings.is_empty());
    used.map(|(row, readings)| (row, spread(readings).0)).collect()
}

/// The error of all readings that moves the times as far as an error that depends on the width of a
/// pulse: its mean over the rows, each with its distance from the middle of the counts, for the
/// component for which it is largest.
fn over_rows(table: &Observations, error: impl Fn(f64) -> f64) -> f64 {
    let widths = widths(table);
    let errors: Vec<f64> = widths.iter().map(|(_, width)| error(*width)).collect();
    let of = |component: usize| {
        let counts = || widths.iter().map(|(row, _)| table.rows()[*row].counts[component]);
        let middle = counts().sum::<f64>() / errors.len().max(1) as f64;
        let weights: Vec<f64> = counts().map(|count| (count - middle).abs()).collect();
        let sum_of_weights: f64 = weights.iter().sum();
        if sum_of_weights > 0.0 {
            errors.iter().zip(&weights).map(|(error, weight)| error * weight).sum::<f64>()
                / sum_of_weights
        } else {
            0.0
        }
    };
    (0..table.components().len()).map(of).fold(0.0, f64::max)
}

/// A finding if edges may move each other, and too few stand alone to measure it.
pub fn neighbours_unknown(signal: &Signal, table: &Observations) -> Option<Finding> {
    let bound_samples = over_rows(table, |width| signal.doubt.at(width));
    (bound_samples > SMALL_CORRECTION).then(|| {
        Finding::new(Severity::Warning, NeighbourFinding::NeighboursUnknown { bound_samples })
    })
}

/// How severe it is that pulses always begin at the same place between two samples.
pub fn locked_severity(signal: &Signal, method: Method) -> Severity {
    let is_small = bias_bound(signal) < BIASED_SAMPLES || is_within_a_sample(signal);
    if method == Method::BandLimited && is_small { Severity::Note } else { Severity::Warning }
}

/// Distance that two edges need, in samples after averaging.
pub fn distance_needed(signal: &Signal, method: Method) -> f64 {
    let narrow = method.apart();
    match signal.neighbours {
        Some(_) => narrow.max(APART_SAMPLES * signal.width),
        None => narrow * signal.width,
    }
}

/// A finding about overload; `at` gives a place in samples as text.
fn overload_finding(signal: &Signal, at: &dyn Fn(f64) -> String) -> Option<Finding> {
    let lost = signal.weak as f64 > LOST_SHARE * signal.edges as f64;
    let spread = height_spread(signal).max(signal.steepness_spread);
    let is_too_far = is_overloaded(signal)
        && (spread > CUT_TOO_FAR || signal.bend_of_levels > BENT_TOO_FAR || lost);
    let severity = if is_too_far { Severity::Untrusted } else { Severity::Warning };
    let bound_samples = overload_bound(signal);
    let kind = match (signal.first_clipped, signal.overload) {
        (Some(first), _) => OverloadFinding::Clipped {
            samples: signal.clipped,
            first_at: at(first as f64),
            bound_samples,
        },
        (None, Some((steps, first))) => {
            OverloadFinding::Overloaded { steps, first_at: at(first), bound_samples }
        }
        (None, None) if signal.bent > 0.0 => {
            OverloadFinding::Saturated { bent_percent: 100.0 * signal.bent, bound_samples }
        }
        (None, None) if signal.bend_of_levels > 0.0 => OverloadFinding::NotLinear {
            bend_percent: 100.0 * signal.bend_of_levels,
            bound_samples,
        },
        (None, None) if signal.steepness_spread > 0.0 => OverloadFinding::EdgesDiffer {
            steepness_percent: 100.0 * signal.steepness_spread,
            bound_samples,
        },
        (None, None) => return None,
    };
    Some(Finding::new(severity, kind))
}

/// Findings about the signal; `at` gives a place in samples as text.
pub fn signal_findings(signal: &Signal, at: &dyn Fn(f64) -> String) -> Vec<Finding> {
    let (mut kinds, mut removed) = (Vec::new(), None);
    if let Some(first) = signal.first_not_number {
        kinds.push((
            Severity::Warning,
            SignalFinding::NotNumbers { samples: signal.not_numbers, first_at: at(first as f64) },
        ));
    }
    if signal.averaged > 1 {
        kinds.push((
            Severity::Note,
            SignalFinding::Oversampled { rise_samples: signal.rise, averaged: signal.averaged },
        ));
    }
    if signal.width > 1.0 {
        kinds.push((
            Severity::Note,
            SignalFinding::NarrowBand {
                band_percent: 100.0 * signal.band_end,
                width: signal.width,
            },
        ));
    }
    if let Some(moved) = signal.neighbours.as_ref().filter(|moved| moved.most > SMALL_CORRECTION) {
        let (reach_samples, most_samples) = (moved.reach, moved.most);
        let kind =
            NeighbourFinding::NeighboursRemoved { edges: moved.edges, reach_samples, most_samples };
        removed = Some(Finding::new(Severity::Note, kind));
    }
    if let Some(noise) = signal.noise.filter(|noise| *noise > NOISY_SHARE * signal.step) {
        kinds.push((
            Severity::Warning,
            SignalFinding::NoisySignal { noise_percent: 100.0 * noise / signal.step },
        ));
    }
    if signal.wander > WANDERING_SHARE * signal.step {
        kinds.push((
            Severity::Note,
            SignalFinding::LevelWanders { share_percent: 100.0 * signal.wander / signal.step },
        ));
    }
    if let Some(first) = signal.first_weak {
        kinds.push((
            Severity::Warning,
            SignalFinding::WeakEdges { edges: signal.weak, first_at: at(first) },
        ));
    }
    let others = kinds.into_iter().map(|(severity, kind)| Finding::new(severity, kind));
    overload_finding(signal, at).into_iter().chain(removed).chain(others).collect()
}
