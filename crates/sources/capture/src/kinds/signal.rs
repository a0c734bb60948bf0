//! Findings about a sampled signal.

use hairspring_core::judge::words::counted;
use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Findings about the signal.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum SignalFinding {
    /// A signal that ends below the band of its sample rate, so that edges are smoothed further.
    NarrowBand { band_percent: f64, width: f64 },
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
            SignalFinding::NarrowBand { band_percent, width } => narrow_band(band_percent, width),
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
                message: format!(
                    "an edge rises over {rise_samples:.0} samples: {averaged} of them are averaged"
                ),
                numbers: numbers! { rise_samples, averaged },
                remedy: "nothing to do: a sample rate lower by this factor would give the same \
                         result; faster edges are more precise",
            },
            SignalFinding::NoisySignal { noise_percent } => Description {
                code: "noisy_signal",
                message: format!(
                    "the noise is {noise_percent:.1} % of a step: edges scatter, and some may be \
                     missed"
                ),
                numbers: numbers! { noise_percent },
                remedy: "record at a higher level, with a shorter or shielded wire",
            },
            SignalFinding::LevelWanders { share_percent } => level_wanders(share_percent),
            SignalFinding::WeakEdges { edges, first_at } => Description {
                code: "weak_edges",
                message: format!(
                    "{} too small for an edge and too large for noise, the first {first_at}: not \
                     used",
                    counted(edges, "step is", "steps are")
                ),
                numbers: numbers! { edges, first_at },
                remedy: "look at the signal there: a glitch, crosstalk or a loose contact",
            },
        }
    }
}

fn narrow_band(band_percent: f64, width: f64) -> Description {
    Description {
        code: "narrow_band",
        message: format!(
            "the signal ends at {band_percent:.0} % of the sample rate, as upsampled sound or \
             behind a low filter does: edges are smoothed {width:.1} times as far as usual, so \
             that it does not ring"
        ),
        numbers: numbers! { band_percent, width },
        remedy: "nothing to do; short pulses need a recorder with a higher rate of its own",
    }
}

fn level_wanders(share_percent: f64) -> Description {
    Description {
        code: "level_wanders",
        message: format!(
            "the level wanders by {share_percent:.0} % of a step: hum, or the drift of an \
             AC-coupled input"
        ),
        numbers: numbers! { share_percent },
        remedy: "nothing to do if the intervals are narrow enough, since edges are found by their \
                 slope; else shield the wire and connect the grounds",
    }
}
