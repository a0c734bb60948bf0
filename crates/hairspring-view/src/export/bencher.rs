//! Bencher Metric Format: benchmark, measure, and `value` with `lower_value` and `upper_value`.

use super::{Timed, finite};
use hairspring_core::Estimate;
use hairspring_result::Named;
use serde::Serialize;

/// A metric; a missing end means no boundary to Bencher.
#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

impl From<&Estimate> for Metric {
    fn from(estimate: &Estimate) -> Metric {
        Metric { value: estimate.value, lower_value: finite(estimate.low), upper_value: finite(estimate.high) }
    }
}

/// `latency` in nanoseconds, Bencher's own measure, and `cycles` where there are core cycles.
pub(super) fn text(entries: &[Timed]) -> String {
    let mut document: Named<Named<Metric>> = Named::new();
    for (entry, time) in entries {
        let mut measures = Named::from_iter([("latency".to_owned(), Metric::from(time))]);
        if let Some(cycles) = &entry.figure.cycles {
            measures.insert("cycles", Metric::from(cycles));
        }
        document.insert(entry.label.clone(), measures);
    }
    hairspring_result::json::print(&document)
}
