//! Findings about a signal that met a limit.

use hairspring_core::judge::words::counted;
use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// What helps against an input that meets its limit before the converter.
const ATTENUATE: &str = "attenuate the signal at the recorder's input, for instance with two \
                         resistors; a lower gain alone does not help";

/// Findings about overload.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum OverloadFinding {
    /// Samples at full scale.
    Clipped { samples: u64, first_at: String, bound_samples: Option<f64> },
    /// Steps that are lower than others because the signal was cut before the converter.
    Overloaded { steps: u64, first_at: String, bound_samples: Option<f64> },
    /// Steps whose height depends on their level, as behind an input that saturates.
    Saturated { bent_percent: f64, bound_samples: Option<f64> },
    /// Levels between edges that no coupling capacitor explains.
    NotLinear { bend_percent: f64, bound_samples: Option<f64> },
    /// Edges of one direction that are not equally steep.
    EdgesDiffer { steepness_percent: f64, bound_samples: Option<f64> },
}

impl Kind for OverloadFinding {
    fn describe(self) -> Description {
        match self {
            OverloadFinding::Clipped { samples, first_at, bound_samples } => Description {
                code: "clipped",
                message: format!(
                    "{samples} samples are clipped, the first {first_at}: edges may be misplaced \
                     there{}",
                    included(bound_samples)
                ),
                numbers: numbers! { samples, first_at, bound_samples },
                remedy: "record at a lower level",
            },
            OverloadFinding::Overloaded { steps, first_at, bound_samples } => Description {
                code: "overloaded",
                message: format!(
                    "{} lower than the others and stop at the same level, the first {first_at}: \
                     the signal is clipped before the converter, below full scale, and edges may \
                     be misplaced{}",
                    counted(steps, "step is", "steps are"),
                    included(bound_samples)
                ),
                numbers: numbers! { steps, first_at, bound_samples },
                remedy: ATTENUATE,
            },
            OverloadFinding::Saturated { bent_percent, bound_samples } => Description {
                code: "saturated",
                message: format!(
                    "steps at other levels have other heights, by {bent_percent:.0} %: an input \
                     saturates, and edges may be misplaced{}",
                    included(bound_samples)
                ),
                numbers: numbers! { bent_percent, bound_samples },
                remedy: ATTENUATE,
            },
            OverloadFinding::NotLinear { bend_percent, bound_samples } => Description {
                code: "not_linear",
                message: format!(
                    "the levels between edges move in a way that coupling does not explain, by \
                     {bend_percent:.0} % of their movement: the input bends or cuts the signal, \
                     and edges may be misplaced{}",
                    included(bound_samples)
                ),
                numbers: numbers! { bend_percent, bound_samples },
                remedy: ATTENUATE,
            },
            OverloadFinding::EdgesDiffer { steepness_percent, bound_samples } => Description {
                code: "edges_differ",
                message: format!(
                    "edges of one direction are not equally steep, by {steepness_percent:.0} %: \
                     the input bends or cuts them, or their height changes, and they may be \
                     misplaced{}",
                    included(bound_samples)
                ),
                numbers: numbers! { steepness_percent, bound_samples },
                remedy: ATTENUATE,
            },
        }
    }
}

/// That a bound is in the interval.
fn included(bound_samples: Option<f64>) -> String {
    bound_samples.map_or_else(String::new, |bound| {
        format!("; the interval includes {bound:.2} samples for each reading")
    })
}
