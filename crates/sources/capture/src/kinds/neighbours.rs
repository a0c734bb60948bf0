//! Findings about edges near each other.

use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Findings about what edges do to each other.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum NeighbourFinding {
    /// Edges that moved each other, which was corrected by the step response.
    NeighboursRemoved { edges: usize, reach_samples: f64, most_samples: f64 },
    /// Edges that may move each other, while too few stand alone to measure it.
    NeighboursUnknown { bound_samples: f64 },
}

impl Kind for NeighbourFinding {
    fn describe(self) -> Description {
        match self {
            NeighbourFinding::NeighboursRemoved { edges, reach_samples, most_samples } => {
                Description {
                    code: "neighbours_removed",
                    message: format!(
                        "edges up to {reach_samples:.0} samples apart move each other, by \
                         {most_samples:.3} samples at most: this is corrected by the step \
                         response, measured from {edges} edges that stand alone"
                    ),
                    numbers: numbers! { edges, reach_samples, most_samples },
                    remedy: "nothing to do: the interval includes what the correction may leave; \
                             longer gaps and pulses need none",
                }
            }
            NeighbourFinding::NeighboursUnknown { bound_samples } => Description {
                code: "neighbours_unknown",
                message: format!(
                    "edges move each other, and too few stand alone to measure the step response \
                     and to correct it: the interval includes {bound_samples:.3} samples for each \
                     reading"
                ),
                numbers: numbers! { bound_samples },
                remedy: "record 20 pulses that are 200 samples long and as far apart, before or \
                         behind the others, or longer gaps and pulses",
            },
        }
    }
}
