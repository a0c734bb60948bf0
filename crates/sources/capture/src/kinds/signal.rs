//! Findings about a sampled signal.

use hairspring_core::judge::words::counted;
use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Findings about the signal.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are named by what they hold; `describe` spells each out")]
pub enum SignalFinding {
    /// Samples at full scale.
    Clipped { samples: u64, first_at: String, bound_samples: Option<f64> },
    /// Steps that are lower than others because the signal was cut before the converter.
    Overloaded { steps: u64, first_at: String, bound_samples: Option<f64> },
    /// Steps whose height depends on their level, as behind an input that saturates.
    Saturated { bent_percent: f64, bound_samples: Option<f64> },
    /// A signal that ends below the band of its sample rate, so that edges are smoothed further.
    NarrowBand { band_percent: f64, width: f64 },
    /// Edges that moved each other, which was corrected by the step response.
    NeighboursRemoved { edges: usize, reach_samples: f64, most_samples: f64 },
    /// Samples that are NaN or infinite.
    NotNumbers { samples: u64, first_at: String },
    /// Edges that rise over so many samples that these are averaged.
    Oversampled { rise_samples: f64, averaged: usize },
    /// Noise that is large against the steps.
    NoisySignal { noise_percent: f64 },
    /// A level that moves: hum, or an AC-coupled input.
    LevelWanders { share_percent: f64 },
    /// Steps too small for an edge and too large for noise.
    WeakEdges { edges: u64, first_at: String },
}

impl Kind for SignalFinding {
    fn describe(self) -> Description {
        match self {
            SignalFinding::Clipped { samples, first_at, bound_samples } => Description {
                code: "clipped",
                message: format!(
                    "{samples} samples are clipped, the first {first_at}: edges may be misplaced there{}",
                    included(bound_samples)
                ),
                numbers: numbers! { samples, first_at, bound_samples },
                remedy: "record at a lower level",
            },
            SignalFinding::Overloaded { steps, first_at, bound_samples } => Description {
                code: "overloaded",
                message: format!(
                    "{} lower than the others and stop at the same level, the first {first_at}: the signal is clipped before the converter, below full scale, and edges may be misplaced{}",
                    counted(steps, "step is", "steps are"),
                    included(bound_samples)
                ),
                numbers: numbers! { steps, first_at, bound_samples },
                remedy: "attenuate the signal at the recorder's input, for instance with two resistors; a lower gain alone does not help",
            },
            SignalFinding::Saturated { bent_percent, bound_samples } => Description {
                code: "saturated",
                message: format!(
                    "steps at other levels have other heights, by {bent_percent:.0} %: an input saturates, and edges may be misplaced{}",
                    included(bound_samples)
                ),
                numbers: numbers! { bent_percent, bound_samples },
                remedy: "attenuate the signal at the recorder's input, for instance with two resistors; a lower gain alone does not help",
            },
            SignalFinding::NarrowBand { band_percent, width } => Description {
                code: "narrow_band",
                message: format!(
                    "the signal ends at {band_percent:.0} % of the sample rate, as upsampled sound or behind a low filter does: edges are smoothed {width:.1} times as far as usual, so that it does not ring"
                ),
                numbers: numbers! { band_percent, width },
                remedy: "nothing to do; short pulses need a recorder with a higher rate of its own",
            },
            SignalFinding::NeighboursRemoved { edges, reach_samples, most_samples } => Description {
                code: "neighbours_removed",
                message: format!(
                    "edges up to {reach_samples:.0} samples apart move each other, by {most_samples:.3} samples at most: this is corrected by the step response, measured from {edges} edges that stand alone"
                ),
                numbers: numbers! { edges, reach_samples, most_samples },
                remedy: "nothing to do: the interval includes what the correction may leave; longer gaps and pulses need none",
            },
            SignalFinding::NotNumbers { samples, first_at } => Description {
                code: "not_numbers",
                message: format!(
                    "{}, the first {first_at}: no edge is found there",
                    counted(samples, "sample is NaN or infinite", "samples are NaN or infinite")
                ),
                numbers: numbers! { samples, first_at },
                remedy: "record or convert it again",
            },
            SignalFinding::Oversampled { rise_samples, averaged } => Description {
                code: "oversampled",
                message: format!("an edge rises over {rise_samples:.0} samples: {averaged} of them are averaged"),
                numbers: numbers! { rise_samples, averaged },
                remedy: "nothing to do: a sample rate lower by this factor would give the same result; faster edges are more precise",
            },
            SignalFinding::NoisySignal { noise_percent } => Description {
                code: "noisy_signal",
                message: format!("the noise is {noise_percent:.1} % of a step: edges scatter, and some may be missed"),
                numbers: numbers! { noise_percent },
                remedy: "record at a higher level, with a shorter or shielded wire",
            },
            SignalFinding::LevelWanders { share_percent } => Description {
                code: "level_wanders",
                message: format!("the level wanders by {share_percent:.0} % of a step: hum, or the drift of an AC-coupled input"),
                numbers: numbers! { share_percent },
                remedy: "nothing to do if the intervals are narrow enough, since edges are found by their slope; else shield the wire and connect the grounds",
            },
            SignalFinding::WeakEdges { edges, first_at } => Description {
                code: "weak_edges",
                message: format!(
                    "{} too small for an edge and too large for noise, the first {first_at}: not used",
                    counted(edges, "step is", "steps are")
                ),
                numbers: numbers! { edges, first_at },
                remedy: "look at the signal there: a glitch, crosstalk or a loose contact",
            },
        }
    }
}

/// That a bound is in the interval.
fn included(bound_samples: Option<f64>) -> String {
    bound_samples.map_or_else(String::new, |bound| format!("; the interval includes {bound:.2} samples for each reading"))
}
