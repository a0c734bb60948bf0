//! What is known of a sampled signal.

use super::Edge;

/// Samples around an edge, for a picture of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Place of the first value, in samples.
    pub first: f64,
    /// Samples from one value to the next: 1, or as many as are averaged.
    pub every: f64,
    /// The values.
    pub samples: Vec<f32>,
    /// The edge.
    pub edge: Edge,
}

/// Properties of a sampled signal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Signal {
    /// Samples read.
    pub samples: u64,
    /// Edges found.
    pub edges: u64,
    /// Height of a step, in units of the samples; full scale of integers is 1.
    pub step: f64,
    /// Standard deviation of the noise far from edges, in the same unit; `None` if the edges are
    /// too dense.
    pub noise: Option<f64>,
    /// Standard deviation of the middle of the steps: hum, or a drift of the level.
    pub wander: f64,
    /// Samples at full scale, several in a row, and the first of them.
    pub clipped: u64,
    /// Index of the first such sample.
    pub first_clipped: Option<u64>,
    /// Steps from or to a level at full scale: how high they really are is not known.
    pub cut_steps: u64,
    /// Steps too small for an edge and too large for noise.
    pub weak: u64,
    /// Where the first of them is, in samples.
    pub first_weak: Option<f64>,
    /// Samples that are NaN or infinite.
    pub not_numbers: u64,
    /// Index of the first of them.
    pub first_not_number: Option<u64>,
    /// Steps that are lower than others because the signal was cut before the converter, and the
    /// place of the first.
    pub overload: Option<(u64, f64)>,
    /// Samples that a typical edge takes: height over largest difference.
    pub rise: f64,
    /// Samples that are averaged because an edge rises over many; else 1.
    pub averaged: usize,
    /// The same by the smoothed slope, which noise hardly changes: 0 for an edge that is as steep
    /// as the kernel.
    pub smoothed_rise: f64,
    /// Step of the converter in the unit of the samples; 0 if none is known.
    pub quantum: f64,
    /// Whether a filter before the converter, as sound devices have, is certain.
    pub is_filtered: bool,
    /// End of the signal's band as a share of the sample rate, after averaging.
    pub band_end: f64,
    /// How many times as wide as for a full band the low pass of the edges is.
    pub width: f64,
    /// What neighbours did to edges, if the recording shows it and it was corrected.
    pub neighbours: Option<Moved>,
    /// How far the edges of a pulse may move each other, where too few stand alone to measure it.
    pub doubt: ByDistance,
    /// How much the heights of steps differ, as a share of the largest.
    pub height_spread: f64,
    /// Share by which the height of a step depends on its level, as behind an input that saturates;
    /// 0 if it does not.
    pub bent: f64,
    /// Movement of the levels before edges that a linear input does not explain, as a share of
    /// their movement; 0 if none is sure.
    pub bend_of_levels: f64,
    /// Share by which edges of one direction differ in steepness; 0 if none is sure, as behind a
    /// linear input.
    pub steepness_spread: f64,
    /// The first edge with the samples around it.
    pub window: Option<Window>,
}

/// How far the two edges of a pulse move each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ByDistance {
    /// Samples from one value to the next.
    pub every: f64,
    /// In samples, for edges that are 0, 1, 2, ... times `every` apart, or farther.
    pub moved: Vec<f64>,
}

impl ByDistance {
    /// For edges that are so many samples apart. What was farther than was looked at falls at least
    /// as its square: ringing and the tail of a resistor and a capacitor fall faster.
    pub fn at(&self, distance: f64) -> f64 {
        let Some((end, last)) = self.moved.iter().enumerate().next_back() else { return 0.0 };
        let place = distance / self.every;
        self.moved.get(place as usize).copied().unwrap_or(last * (end as f64 / place).powi(2))
    }
}

/// How edges moved each other, before this was corrected by the step response.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// Edges from which the response was measured.
    pub edges: usize,
    /// Distance up to which edges move each other, in samples.
    pub reach: f64,
    /// The largest correction, in samples.
    pub most: f64,
    /// Standard deviation of a correction, in samples.
    pub noise: f64,
    /// How far the edges of a pulse moved each other.
    pub of_pulse: ByDistance,
}
