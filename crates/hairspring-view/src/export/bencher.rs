//! Bencher Metric Format: benchmark, measure, and `value` with `lower_value` and `upper_value`.

use super::{Format, Holds, Names, Timed, finite, json};
use hairspring_core::Estimate;
use hairspring_result::{Environment, Named};
use serde::Serialize;

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "bencher",
    aliases: &["bmf"],
    purpose: "Bencher",
    help: "Bencher Metric Format: JSON, with the interval",
    interval: "`lower_value`, `upper_value` of `latency` (ns) and `cycles`",
    names: Names::Json,
    holds: Holds::Intervals(text),
    #[cfg(test)]
    labels: tests::labels,
};

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
        Metric {
            value: estimate.value,
            lower_value: finite(estimate.low),
            upper_value: finite(estimate.high),
        }
    }
}

/// `latency` in nanoseconds, Bencher's own measure, and `cycles` where there are core cycles.
fn text(entries: &[Timed], _: &Environment) -> String {
    let mut document: Named<Named<Metric>> = Named::new();
    for (entry, time) in entries {
        let mut measures = Named::from_iter([("latency".to_owned(), Metric::from(time))]);
        if let Some(cycles) = &entry.figure.cycles {
            measures.insert("cycles", Metric::from(cycles));
        }
        document.insert(entry.label.clone(), measures);
    }
    json(&document)
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use serde_json::Value;

    pub fn labels(text: &str) -> Vec<String> {
        serde_json::from_str::<Value>(text).unwrap().as_object().unwrap().keys().cloned().collect()
    }

    #[test]
    fn it_has_the_interval() {
        let result = samples::result(&samples::line());
        let found: Value =
            serde_json::from_str(&super::super::export(&result, &FORMAT).text).unwrap();
        let series = &result.results[0];
        let metric = &found[series.title()]["latency"];
        let time = series.components[0].figure.time_ns.unwrap().unwrap();
        let number = |key: &str| metric[key].as_f64().unwrap();
        assert_eq!(
            (number("value"), number("lower_value"), number("upper_value")),
            (time.value, time.low, time.high)
        );
        assert!(found[series.title()]["cycles"]["lower_value"].is_number());
    }
}
