//! The JSON of hyperfine (`--export-json`), in seconds: `command`, `mean`, `stddev`, `median`, `min`, `max`, `times`, ...
//!
//! hyperfine's numbers are over runs; here a "run" is a row of the design: its location less the overhead, divided by its
//! copies. Where a row gives no time of one copy (two components, or no overhead), there is only the value. The
//! interval of the mean is in an extra key, which hyperfine's readers skip. `user` and `system` are not measured; they are 0,
//! because readers require them.

use super::{Timed, finite};
use serde_json::{Value, json};

const SECONDS: f64 = 1e-9;

/// The document.
pub(super) fn text(entries: &[Timed]) -> String {
    hairspring_result::json::print(&json!({ "results": entries.iter().map(result).collect::<Vec<_>>() }))
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
        "mean_interval": { "low": ends(entry.1.low), "high": ends(entry.1.high), "level": entry.1.level },
    })
}

/// The time of one copy from each row in use, in seconds.
fn times((entry, _): &Timed) -> Vec<f64> {
    let overhead = entry.series.overhead.as_ref().and_then(|overhead| overhead.time_ns.flatten());
    let Some(overhead) = overhead.filter(|_| entry.series.components.len() == 1) else { return Vec::new() };
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
