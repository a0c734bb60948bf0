//! What github-action-benchmark reads with `tool: customSmallerIsBetter`: an array of `name`,
//! `unit`, `value`, and of two texts that it only shows, `range` and `extra`.

use super::{Entry, Format, Holds, Names, Timed, finite, json};
use hairspring_core::Estimate;
use hairspring_result::Environment;
use serde::Serialize;

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "custom-smaller-is-better",
    aliases: &["github-action-benchmark"],
    purpose: "github-action-benchmark",
    help: "The JSON of github-action-benchmark (customSmallerIsBetter)",
    interval: "`range` (the wider half) and `extra` (both ends, cycles), texts that are only shown",
    names: Names::Json,
    holds: Holds::Intervals(text),
    #[cfg(test)]
    labels: tests::labels,
};

/// A point of a chart.
#[derive(Serialize)]
struct Point<'a> {
    name: &'a str,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

fn text(entries: &[Timed], _: &Environment) -> String {
    let points: Vec<Point> = entries.iter().map(|(entry, time)| point(entry, time)).collect();
    json(&points)
}

fn point<'a>(entry: &'a Entry, time: &Estimate) -> Point<'a> {
    let half_width = finite((time.high - time.value).max(time.value - time.low));
    let cycles = entry.figure.cycles.map(|cycles| format!("\n{}", ends(&cycles, "cycles")));
    Point {
        name: &entry.label,
        unit: "ns",
        value: time.value,
        range: half_width.map(|half_width| format!("\u{b1} {half_width:.3e}")),
        extra: ends(time, "ns") + &cycles.unwrap_or_default(),
    }
}

/// The interval in words.
fn ends(Estimate { low, high, level, .. }: &Estimate, unit: &str) -> String {
    let level = level * 100.0;
    match (finite(*low), finite(*high)) {
        (Some(low), Some(high)) => format!("{low} to {high} {unit} at {level} %"),
        (None, Some(high)) => format!("at most {high} {unit} at {level} %"),
        (Some(low), None) => format!("at least {low} {unit} at {level} %"),
        (None, None) => format!("no interval in {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{export, samples};
    use super::*;
    use serde_json::Value;

    fn points(text: &str) -> Vec<Value> {
        serde_json::from_str(text).unwrap()
    }

    pub fn labels(text: &str) -> Vec<String> {
        points(text).iter().map(|point| point["name"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_point_shows_its_interval() {
        let result = samples::result(&samples::line());
        let point = points(&export(&result, &FORMAT).text).remove(0);
        let time = result.results[0].components[0].figure.time_ns.unwrap().unwrap();
        assert_eq!((point["value"].as_f64(), &point["unit"]), (Some(time.value), &"ns".into()));
        let half_width: f64 =
            point["range"].as_str().unwrap().trim_start_matches("\u{b1} ").parse().unwrap();
        assert!((half_width / (time.high - time.value) - 1.0).abs() < 1e-3, "{half_width}");
        let extra = point["extra"].as_str().unwrap();
        assert!(
            extra.starts_with(&format!("{} to {} ns at 95 %\n", time.low, time.high))
                && extra.contains("cycles at 95 %"),
            "{extra}"
        );
    }

    #[test]
    fn an_interval_with_one_end_is_said_in_words() {
        let open = Estimate { value: 1.0, low: f64::NEG_INFINITY, high: 2.0, level: 0.95 };
        assert_eq!(ends(&open, "ns"), "at most 2 ns at 95 %");
        let other = Estimate { low: 0.5, high: f64::INFINITY, ..open };
        assert_eq!(ends(&other, "ns"), "at least 0.5 ns at 95 %");
    }
}
