//! The JSON of hyperfine (`--export-json`), in seconds: `command`, `mean`, `stddev`, `median`,
//! `min`, `max`, `times`, ...
//!
//! hyperfine's numbers are over runs; here a "run" is a row of the design: its location less the
//! overhead, divided by its copies. Where a row gives no time of one copy (two components, or no
//! overhead), there is only the value. The interval of the mean is in an extra key, which
//! hyperfine's readers skip. `user` and `system` are not measured; they are 0, because readers
//! require them.

use super::{Format, Holds, Names, Timed, finite};
use hairspring_result::Environment;
use serde_json::{Value, json};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "hyperfine",
    aliases: &[],
    purpose: "hyperfine",
    help: "The JSON of hyperfine",
    interval: "`mean_interval`; `times` are those of the rows minus the overhead; `user` and \
               `system` are not measured and are 0",
    names: Names::Json,
    holds: Holds::Intervals(text),
    #[cfg(test)]
    labels: tests::labels,
};

const SECONDS: f64 = 1e-9;

/// The document.
fn text(entries: &[Timed], _: &Environment) -> String {
    super::json(&json!({ "results": entries.iter().map(result).collect::<Vec<_>>() }))
}

fn result(entry: &Timed) -> Value {
    let (mean, mut times) = (entry.1.value * SECONDS, times(entry));
    if times.is_empty() {
        times.push(mean);
    }
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    let ends = |number: f64| finite(number).map(|number| number * SECONDS);
    json!({
        "command": entry.0.label,
        "mean": mean,
        "stddev": deviation(&times),
        "median": (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0,
        "user": 0.0,
        "system": 0.0,
        "min": sorted[0],
        "max": sorted[sorted.len() - 1],
        "times": times,
        "exit_codes": times.iter().map(|_| 0).collect::<Vec<i32>>(),
        "parameters": {},
        "mean_interval": { "low": ends(entry.1.low), "high": ends(entry.1.high),
        "level": entry.1.level },
    })
}

/// The time of one copy from each row in use, in seconds.
fn times((entry, _): &Timed) -> Vec<f64> {
    let overhead = entry.series.overhead.as_ref().and_then(|overhead| overhead.time_ns.flatten());
    let Some(overhead) = overhead.filter(|_| entry.series.components.len() == 1) else {
        return Vec::new();
    };
    let rows = entry.series.fit.rows_detail.iter().filter(|row| row.left_out.is_none());
    let alone = rows.filter_map(|row| match row.counts[..] {
        [copies] if copies > 0.0 => Some((row.location_ns?? - overhead.value) / copies * SECONDS),
        _ => None,
    });
    alone.filter(|time| time.is_finite()).collect()
}

/// Standard deviation; `None` for a single run, as in hyperfine.
fn deviation(times: &[f64]) -> Option<f64> {
    let n = times.len() as f64;
    let mean = times.iter().sum::<f64>() / n;
    let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (n - 1.0);
    finite(variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::{export, samples};
    use super::*;

    pub fn labels(text: &str) -> Vec<String> {
        let found: Value = serde_json::from_str(text).unwrap();
        found["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["command"].as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn it_has_seconds_and_the_rows_own_times() {
        let result = samples::result(&samples::line());
        let found: Value = serde_json::from_str(&export(&result, &FORMAT).text).unwrap();
        let one = &found["results"][0];
        let mean = one["mean"].as_f64().unwrap();
        assert!(
            (mean * 1e9 / result.results[0].components[0].figure.time_ns.unwrap().unwrap().value
                - 1.0)
                .abs()
                < 1e-12
        );
        let times: Vec<f64> =
            one["times"].as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect();
        assert!(
            times.len() > 3 && times.iter().all(|time| (time / mean - 1.0).abs() < 0.2),
            "{times:?}"
        );
        assert_eq!(one["exit_codes"].as_array().unwrap().len(), times.len());
        assert!(
            one["min"].as_f64() <= one["median"].as_f64()
                && one["median"].as_f64() <= one["max"].as_f64()
        );
    }

    #[test]
    fn two_components_have_no_times_of_their_own() {
        let found = export(&samples::result(&samples::init_and_body()), &FORMAT).text;
        let found: Value = serde_json::from_str(&found).unwrap();
        assert_eq!(
            (found["results"][1]["times"].as_array().map(Vec::len), &found["results"][1]["stddev"]),
            (Some(1), &Value::Null)
        );
    }
}
