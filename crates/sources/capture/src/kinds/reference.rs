//! Findings about reference intervals.

use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Findings about the reference.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum ReferenceFinding {
    /// Reference intervals in which samples were dropped.
    SamplesDropped { intervals: usize, of: usize, samples: f64 },
    /// Reference intervals that are farther off the stated rate than two crystals are.
    ReferenceFar { off_ppm: f64 },
    /// One or two reference intervals, which others do not check.
    ReferenceUnchecked { intervals: usize, off_ppm: f64 },
}

impl Kind for ReferenceFinding {
    fn describe(self) -> Description {
        match self {
            ReferenceFinding::SamplesDropped { intervals, of, samples } => Description {
                code: "samples_dropped",
                message: format!(
                    "{intervals} of {of} reference intervals are shorter than the others, by \
                     {samples:.1} samples at most, and left out: the recorder dropped samples, \
                     perhaps in pulses too"
                ),
                numbers: numbers! { intervals, of, samples },
                remedy: "record again with larger buffers and nothing else running",
            },
            ReferenceFinding::ReferenceFar { off_ppm } => Description {
                code: "reference_far",
                message: format!(
                    "the reference intervals are {off_ppm:+.0} ppm off the stated rate, more than \
                     two crystals: --reference is not their length, all of them lost samples, or \
                     the chip's clock is no crystal"
                ),
                numbers: numbers! { off_ppm },
                remedy: "compare --reference with the firmware, and record again to see whether \
                         the distance stays; nothing to do if the chip runs on an RC oscillator: \
                         times are then in the chip's time",
            },
            ReferenceFinding::ReferenceUnchecked { intervals, off_ppm } => Description {
                code: "reference_unchecked",
                message: format!(
                    "{}, {off_ppm:+.1} ppm off the stated rate: dropped samples would look the \
                     same, so the interval includes this distance",
                    if intervals == 1 {
                        "there is one reference interval"
                    } else {
                        "there are only two reference intervals"
                    }
                ),
                numbers: numbers! { intervals, off_ppm },
                remedy: "send four pulses or more in the frame of the reference, or several such \
                         frames: three intervals that agree check each other",
            },
        }
    }
}
