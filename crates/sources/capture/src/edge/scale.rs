//! Signals whose edges rise over many samples: some samples are averaged, so that an edge is as
//! steep as a converter's.
//!
//! Without averages, the difference of two neighbours is small compared with the noise and locates
//! the edge badly. With averages of n samples it is n times as large with less noise, until n is
//! about as long as the rise.

use super::learn::{Learnt, learn, quantum};

/// Samples over which an edge may rise after averaging: as many as the low pass of the edges has.
const RISE: f64 = 2.5;
/// A difference that grows by less than this factor with twice as many samples has nearly the whole
/// step.
const SATURATED_GROWTH: f64 = 1.3;
/// A step that is much shorter than an average lies within one of them, and is shared between two
/// differences: the median of the larger share.
const SHARE: f64 = 0.75;
/// Range of averages before and after an edge in which the level must be constant, and its
/// tolerance as a share of the step; behind an edge through a resistor and a capacitor its tail
/// still moves the level.
const LEVEL_RANGE: (usize, usize) = (3, 6);
const LEVEL: f32 = 0.25;
const TAIL: f32 = 0.75;
/// Averages up to which one side of an edge with a constant level is enough.
const DENSE_AVERAGES: usize = 8;
/// Averages below which nothing is learnt.
const LEAST_AVERAGES: usize = 512;

/// The scale at which a signal is analysed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Samples that are averaged; 1 for most signals.
    pub every: usize,
    /// Samples that a typical edge takes: height over largest difference.
    pub rise: f64,
    /// Properties of the signal at this scale.
    pub learnt: Learnt,
    /// Step of the converter; 0 if none is known.
    pub quantum: f64,
}

/// The scale for a stretch of the signal; `None` if there is no edge in it at any scale.
pub fn scale(samples: &[f32], floor: f64) -> Option<Scale> {
    let mut seen_scales: Vec<(usize, Learnt)> = Vec::new();
    let (mut every, mut averaged, quantum) = (1, Vec::new(), quantum(samples));
    loop {
        let now: &[f32] = if every == 1 { samples } else { &averaged };
        // An average of several samples has steps that are as many times as small.
        let learnt = learn(now, floor, quantum / every as f64);
        let before = seen_scales.last().map(|(_, learnt)| learnt.peak);
        seen_scales.extend(learnt.map(|learnt| (every, learnt)));
        let grows = match (before, learnt) {
            (Some(before), Some(learnt)) => learnt.peak > SATURATED_GROWTH * before,
            (before, _) => before.is_none(),
        };
        if !grows || now.len() < 2 * LEAST_AVERAGES {
            break;
        }
        averaged = now.chunks_exact(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect();
        every *= 2;
    }
    let (least_scale, first) = *seen_scales.first()?;
    let height = seen_scales.iter().fold(0.0f64, |most, (_, learnt)| most.max(learnt.peak));
    // At a scale of 1 a peak is not shared between averages: its edge has the largest slope.
    let share = if height > SATURATED_GROWTH * first.peak { SHARE } else { 1.0 };
    let rise = least_scale as f64 * height / share / first.peak;
    let chosen = seen_scales.iter().rev().find(|(every, _)| *every as f64 * RISE <= rise);
    let (every, learnt) = *chosen.unwrap_or(&(least_scale, first));
    (every == 1 || has_levels(samples, every, learnt.peak)).then_some(Scale {
        every,
        rise,
        learnt,
        quantum,
    })
}

/// Whether most slow edges lead from one constant level to another: hum also rises, but has no
/// constant level.
fn has_levels(samples: &[f32], every: usize, peak: f64) -> bool {
    let mut averages = Vec::with_capacity(samples.len() / every);
    Averager::new(every).push(samples, &mut averages);
    let size = |at: usize| f64::from((averages[at + 1] - averages[at]).abs());
    let ends = |part: &[f32]| {
        part.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        })
    };
    let (mut edges, mut level) = (0, 0);
    for at in LEVEL_RANGE.1..averages.len().saturating_sub(LEVEL_RANGE.1 + 1) {
        if size(at) >= 0.5 * peak && size(at) > size(at - 1) && size(at) >= size(at + 1) {
            let (before, after) = (
                ends(&averages[at - LEVEL_RANGE.1..=at - LEVEL_RANGE.0]),
                ends(&averages[at + 1 + LEVEL_RANGE.0..=at + 1 + LEVEL_RANGE.1]),
            );
            let step = (0.5 * (after.0 + after.1) - 0.5 * (before.0 + before.1)).abs();
            edges += 1;
            let (still, tail) = (before.1 - before.0 < LEVEL * step, after.1 - after.0);
            // A tail goes on in the direction of the edge; hum comes back.
            let on = (averages[at + 1 + LEVEL_RANGE.1] - averages[at + 1 + LEVEL_RANGE.0])
                * (averages[at + 1] - averages[at])
                > 0.0;
            let settles = tail < if on { TAIL } else { LEVEL } * step;
            // Hum rises over hundreds of samples; between dense pulses the gaps are too short for a
            // level.
            level += usize::from(if every <= DENSE_AVERAGES {
                still || settles
            } else {
                still && settles
            });
        }
    }
    2 * level > edges
}

/// Averages a stream over a fixed number of samples.
#[derive(Debug, Clone)]
pub struct Averager {
    every: usize,
    sum: f64,
    held_samples: usize,
}

impl Averager {
    /// An averager over `every` samples.
    pub fn new(every: usize) -> Averager {
        Averager { every, sum: 0.0, held_samples: 0 }
    }

    /// Samples in an average.
    pub fn every(&self) -> usize {
        self.every
    }

    /// Adds the averages that are complete.
    pub fn push(&mut self, samples: &[f32], averages: &mut Vec<f32>) {
        if self.every == 1 {
            averages.extend_from_slice(samples);
            return;
        }
        for sample in samples {
            self.sum += f64::from(*sample);
            self.held_samples += 1;
            if self.held_samples == self.every {
                averages.push((self.sum / self.every as f64) as f32);
                (self.sum, self.held_samples) = (0.0, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps up and down, each a straight line over `rise` samples.
    fn ramps(rise: f64) -> Vec<f32> {
        let place = |n: usize| n as f64 % (20.0 * rise) / rise;
        let height = |at: f64| {
            if at < 10.0 { (at - 4.0).clamp(0.0, 1.0) } else { 1.0 - (at - 14.0).clamp(0.0, 1.0) }
        };
        (0..800_000).map(|n| height(place(n)) as f32 * 0.5).collect()
    }

    #[test]
    fn the_scale_follows_the_rise() {
        for (rise, every) in [(1.0, 1), (2.0, 1), (30.0, 8), (400.0, 128)] {
            let scale = scale(&ramps(rise), 1e-5).unwrap();
            assert_eq!(scale.every, every, "{rise} {scale:?}");
            assert!((scale.rise / rise - 1.0).abs() < 0.3, "{rise} {scale:?}");
        }
        assert_eq!(scale(&[0.25; 5000], 1e-5), None);
    }

    #[test]
    fn hum_is_not_a_slow_edge() {
        for power in [1, 3, 9] {
            let hum: Vec<f32> = (0..400_000)
                .map(|n| {
                    0.2 * (n as f32 * std::f32::consts::TAU * 50.0 / 192_000.0).sin().powi(power)
                })
                .collect();
            assert_eq!(scale(&hum, 1e-5), None, "{power}");
        }
    }

    #[test]
    fn averages_do_not_depend_on_the_blocks() {
        let samples: Vec<f32> = (0..1000).map(|n| n as f32).collect();
        let (mut averager, mut averages) = (Averager::new(4), Vec::new());
        samples.chunks(7).for_each(|block| averager.push(block, &mut averages));
        assert!(
            averages.len() == 250
                && averages.iter().enumerate().all(|(at, value)| *value == 4.0 * at as f32 + 1.5)
        );
    }
}
