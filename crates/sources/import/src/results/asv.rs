//! asv: the files of a commit below `results/MACHINE/`. A row of `results` has the columns of
//! `result_columns`, of which the last ones may be missing. The unit of a benchmark is in another
//! file; those that time are known by their names. Times are medians of samples, in seconds.

use super::model::{Results, Times};
use super::number::Number;
use super::{Format, Shape, parsed, words};
use hairspring_core::Estimate;
use hairspring_core::named::Named;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The format.
pub(super) const FORMAT: Format = Format {
    tool: "asv",
    file: "JSON of a commit's results",
    detects: |shape: &Shape| shape.has(&["result_columns", "results", "commit_hash"]),
    read,
};

const VALUE: &str = "one iteration, averaged over a sample";
const LACKS: &str = "what all processes have in common on the machine, nor the loop around the \
                     code; the intervals are asv's own, at 99 % and written in 5 digits";
const SECONDS: f64 = 1e9;
/// The level of `stats_ci_99_a` and `stats_ci_99_b`.
const LEVEL: f64 = 0.99;
/// Combinations of parameters of one benchmark.
const MOST_COMBINATIONS: usize = 10_000;

#[derive(Deserialize)]
struct Document {
    result_columns: Vec<String>,
    results: Named<Option<Vec<Value>>>,
    #[serde(default)]
    params: BTreeMap<String, Value>,
    python: Option<String>,
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let document: Document = parsed(format, text)?;
    let mut results = format.results(&[LACKS]);
    let parameter = |name: &str| document.params.get(name).and_then(Value::as_str);
    results.origin.machine = words([parameter("machine"), parameter("cpu")]);
    results.origin.runtime =
        words(["Python", document.python.as_deref().unwrap_or_default()].map(Some))
            .filter(|_| document.python.is_some());
    for (name, row) in &document.results {
        if !is_time(name) {
            results.left_out(name, "its name says that it is not a time");
            continue;
        }
        let row = Row { columns: &document.result_columns, fields: row.as_deref().unwrap_or(&[]) };
        add(&mut results, name, &row)?;
    }
    results.finish()
}

/// Whether the method's name begins like those of benchmarks that time.
fn is_time(name: &str) -> bool {
    let method = name.rsplit('.').next().unwrap_or(name);
    method.starts_with("time_") || method.starts_with("timeraw_") || method.starts_with("Time")
}

/// A row with the names of its columns.
struct Row<'r> {
    columns: &'r [String],
    fields: &'r [Value],
}

impl Row<'_> {
    /// The value of a column; `None` if it is missing or null.
    fn field(&self, column: &str) -> Option<&Value> {
        let at = self.columns.iter().position(|name| name == column)?;
        self.fields.get(at).filter(|value| !value.is_null())
    }

    /// The numbers of a column, one for each combination of parameters.
    fn numbers(&self, column: &str) -> Vec<Option<f64>> {
        let number = |value: &Value| {
            serde_json::from_value::<Number>(value.clone()).ok().and_then(Number::finite)
        };
        self.field(column)
            .and_then(Value::as_array)
            .map(|list| list.iter().map(number).collect())
            .unwrap_or_default()
    }

    /// The combinations of the parameters, in the order of the results: the last one changes
    /// fastest.
    fn combinations(&self) -> Vec<String> {
        let lists: Vec<Vec<&str>> = self
            .field("params")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|list| list.as_array().into_iter().flatten().filter_map(Value::as_str).collect())
            .collect();
        let mut all_combinations = vec![String::new()];
        for list in lists.iter().filter(|list| !list.is_empty()) {
            if all_combinations.len().saturating_mul(list.len()) > MOST_COMBINATIONS {
                break;
            }
            let joined = |before: &String, one: &&str| {
                if before.is_empty() { (*one).to_owned() } else { format!("{before}, {one}") }
            };
            all_combinations = all_combinations
                .iter()
                .flat_map(|before| list.iter().map(move |one| joined(before, one)))
                .collect();
        }
        all_combinations
    }
}

fn add(results: &mut Results, name: &str, row: &Row) -> Result<(), String> {
    let combinations = row.combinations();
    let values = row.numbers("result");
    if values.is_empty() {
        results.left_out(name, "it failed: its result is null");
        return Ok(());
    }
    if values.len() > combinations.len() {
        return Err(format!(
            "benchmark `{}` has {} results and {} combinations of parameters: there must be one \
             combination for each",
            super::model::shown(name),
            values.len(),
            combinations.len()
        ));
    }
    let (low, high) = (row.numbers("stats_ci_99_a"), row.numbers("stats_ci_99_b"));
    let end = |ends: &[Option<f64>], at: usize| ends.get(at).copied().flatten();
    for (at, (value, combination)) in values.iter().zip(&combinations).enumerate() {
        let own_name =
            if combination.is_empty() { name.to_owned() } else { format!("{name}({combination})") };
        match value {
            Some(value) => {
                let times = times(*value, end(&low, at), end(&high, at));
                results.push(&own_name, VALUE, times.scaled(SECONDS))?;
            }
            None => results.left_out(&own_name, "it failed (null) or was skipped (NaN)"),
        }
    }
    Ok(())
}

fn times(value: f64, low: Option<f64>, high: Option<f64>) -> Times {
    match low.zip(high) {
        // The ends have 5 digits, and may be rounded past the value.
        Some((low, high)) if low <= high && low <= value * 1.0001 && value * 0.9999 <= high => {
            let (low, high) = (low.min(value), high.max(value));
            let rounding = 1e-4 * value.abs();
            let interval =
                Estimate { value, low: low - rounding, high: high + rounding, level: LEVEL };
            Times::Given { interval, statistic: "median" }
        }
        _ => Times::Alone {
            value,
            statistic: "median",
            reason: "the file has no ends of an interval for it".to_owned(),
        },
    }
}
