//! How times grow with an argument: the models of the core for every argument of a document that
//! has enough values.
//!
//! Arguments are parts of the names: `family/argument:value` by our convention, and
//! `family/value` by Google Benchmark's. Series that differ in one argument alone are one curve.

use crate::argument::{Argument, arguments};
use crate::document::{ResultDocument, Series};
use hairspring_core::Estimate;
use hairspring_core::estimate::complexity::{FEWEST_VALUES, Growth, Point, growth};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The times of one code at several values of one argument, and the models beside them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Complexity {
    /// The name of the series, without the argument.
    pub name: String,
    /// The argument: its name, or its place in the name, from 1.
    pub argument: String,
    /// The unit of the intercepts and slopes: `ns`, or `cycles` where there are no nanoseconds.
    pub unit: String,
    /// The values of the argument, in ascending order.
    pub values: Vec<f64>,
    /// Values that are left out: below resolution, or without a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<f64>,
    /// All models, the nearest to the times first.
    pub models: Vec<Model>,
}

/// `time = intercept + slope * f(n)`; logarithms are to the base 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Model {
    /// `O(n log n)`.
    pub order: String,
    /// The time that does not grow.
    pub intercept: Estimate,
    /// Factor of `f(n)`; none of `O(1)`.
    pub slope: Option<Estimate>,
    /// Standard deviation of the times from the model, as a share of the time.
    pub residual: f64,
    /// Whether the times exclude the model at the level of their intervals.
    pub excluded: bool,
}

impl From<&Growth> for Model {
    fn from(growth: &Growth) -> Model {
        Model {
            order: growth.order.notation().to_owned(),
            intercept: growth.intercept,
            slope: growth.slope,
            residual: growth.residual,
            excluded: growth.is_excluded,
        }
    }
}

impl Model {
    /// What the slope is multiplied with, as text: `n log n`.
    pub fn function(&self) -> &str {
        self.order.trim_start_matches("O(").trim_end_matches(')')
    }
}

/// The curves of a document, in the order of its series; none where no argument has
/// [`FEWEST_VALUES`] values.
///
/// ```
/// use hairspring_result::{complexity, read::read};
/// let series = |n: u64| {
///     let time = 12.0 + 0.5 * n as f64;
///     format!(
///         r#"{{"name": "copy/size:{n}", "components": {{"body": {{"time_ns":
///             {{"value": {time}, "low": {time}, "high": {time}, "level": 0.95}}}}}}}}"#
///     )
/// };
/// let all = [16, 64, 256, 1024, 4096].map(series).join(",");
/// let head = r#""schema": "hairspring/result/2", "command": "run""#;
/// let text = format!(r#"{{{head}, "results": [{all}]}}"#);
/// let curves = complexity::of(&read(&text).unwrap());
/// assert_eq!((curves[0].argument.as_str(), curves[0].models[0].order.as_str()), ("size", "O(n)"));
/// ```
pub fn of(document: &ResultDocument) -> Vec<Complexity> {
    let mut places = HashMap::new();
    let mut curves: Vec<Curve> = Vec::new();
    for series in &document.results {
        for Argument { before, name, value, after } in arguments(series.title()) {
            let place = *places.entry((before, name.clone(), after)).or_insert(curves.len());
            if place == curves.len() {
                curves.push(Curve {
                    name: format!("{before}{after}"),
                    argument: name,
                    points: vec![],
                });
            }
            curves[place].points.push((value, series));
        }
    }
    curves.into_iter().filter_map(Curve::complexity).collect()
}

/// The series of one code that differ in one argument alone.
struct Curve<'d> {
    name: String,
    argument: String,
    points: Vec<(f64, &'d Series)>,
}

impl Curve<'_> {
    fn complexity(mut self) -> Option<Complexity> {
        if self.points.len() < FEWEST_VALUES {
            return None;
        }
        self.points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        ["ns", "cycles"].iter().find_map(|unit| self.in_unit(unit))
    }

    fn in_unit(&self, unit: &str) -> Option<Complexity> {
        let (mut points, mut left_out) = (Vec::new(), Vec::new());
        for (n, series) in &self.points {
            match time(series, unit) {
                Some(time) => points.push(Point { n: *n, time }),
                None => left_out.push(*n),
            }
        }
        let level = points.first()?.time.level;
        let models = growth(&points, level)?;
        Some(Complexity {
            name: self.name.clone(),
            argument: self.argument.clone(),
            unit: unit.to_owned(),
            values: points.iter().map(|point| point.n).collect(),
            left_out,
            models: models.iter().map(Model::from).collect(),
        })
    }
}

/// The time of the first component, where it is above resolution.
fn time(series: &Series, unit: &str) -> Option<Estimate> {
    let figure = &series.components.values().next()?.figure;
    let time = if unit == "ns" { figure.time_ns.flatten() } else { figure.cycles };
    time.filter(|time| !figure.below_resolution && time.value > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::read;
    use hairspring_core::estimate::complexity::Order;

    fn document(names_and_times: &[(String, f64)]) -> ResultDocument {
        let series = |(name, time): &(String, f64)| {
            let (low, high) = (time - 0.01 * time.abs(), time + 0.01 * time.abs());
            let body = serde_json::json!({"time_ns":
                {"value": time, "low": low, "high": high, "level": 0.95}});
            serde_json::json!({"name": name, "components": {"body": body}})
        };
        let all: Vec<_> = names_and_times.iter().map(series).collect();
        let whole = serde_json::json!(
            {"schema": "hairspring/result/2", "command": "run", "results": all});
        read(&whole.to_string()).unwrap()
    }

    fn named(name: impl Fn(u32) -> String, time: impl Fn(f64) -> f64) -> Vec<(String, f64)> {
        [16, 64, 256, 1024, 4096].map(|n| (name(n), time(f64::from(n)))).to_vec()
    }

    #[test]
    fn each_argument_of_a_product_has_curves() {
        let mut all = Vec::new();
        for rows in [1u32, 2, 4, 8] {
            all.extend(named(
                |n| format!("sum/rows:{rows}/columns:{n}"),
                |n| 3.0 * n * f64::from(rows),
            ));
        }
        let curves = of(&document(&all));
        let columns = curves.iter().filter(|curve| curve.argument == "columns").count();
        let rows = curves.iter().filter(|curve| curve.argument == "rows").count();
        assert_eq!((columns, rows), (4, 5));
        assert!(curves.iter().all(|curve| curve.models[0].order == "O(n)"), "{curves:?}");
        let first = curves.iter().find(|curve| curve.argument == "rows").unwrap();
        assert_eq!((first.name.as_str(), first.values.len()), ("sum/columns:16", 4));
    }

    #[test]
    fn arguments_without_a_name_are_counted() {
        let curves = of(&document(&named(|n| format!("BM_sort/{n}"), |n| n * n)));
        assert_eq!((curves[0].name.as_str(), curves[0].argument.as_str()), ("BM_sort", "1"));
        assert_eq!(curves[0].models[0].order, "O(n^2)");
        let is_known = |order: &Order| order.notation() == curves[0].models[0].order;
        assert!(Order::ALL.iter().any(is_known));
    }

    #[test]
    fn what_has_no_curve_is_left_out() {
        let few = named(|n| format!("a/n:{n}"), |n| n)[..3].to_vec();
        assert!(of(&document(&few)).is_empty());
        let words = named(|n| format!("a/kind:k{n}"), |n| n);
        assert!(of(&document(&words)).is_empty());
        let hostile =
            ["/", "//", ":", "a/:", "a/n:", "a/n:inf", "a/n:1e999", "a/n:-1", "a/\u{e9}:1"];
        let hostile: Vec<_> = hostile.map(|name| (name.to_owned(), 1.0)).to_vec();
        assert!(of(&document(&hostile)).is_empty());
    }

    #[test]
    fn a_value_without_a_time_is_named() {
        let mut all = named(|n| format!("a/n:{n}"), |n| n);
        all.push(("a/n:9".to_owned(), -1.0));
        let curve = of(&document(&all)).remove(0);
        assert_eq!((curve.values.len(), curve.left_out), (5, vec![9.0]));
    }
}
