//! Work in a second: bytes, items, operations, from the work of one execution and its time.

use crate::argument::arguments;
use crate::document::{ResultDocument, Series, finite};
use hairspring_core::Estimate;
use hairspring_core::math::pow;
use serde::{Deserialize, Serialize};

/// The work of one execution: a product of numbers and of powers of arguments, and its unit.
///
/// ```
/// use hairspring_result::throughput::Work;
/// let work = Work::parse("2*n^3 FLOP").unwrap();
/// assert_eq!(work.amount("matmul/n:64"), Ok(524_288.0));
/// assert_eq!(Work::parse("64 B").unwrap().amount("copy"), Ok(64.0));
/// assert!(work.amount("matmul").unwrap_err().contains("no argument `n`"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    factors: Vec<Factor>,
    /// `B`, `FLOP`, `items`.
    pub unit: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Factor {
    Number(f64),
    /// An argument of the benchmark, and its power.
    Argument(String, i32),
}

/// Longest unit in characters.
const LONGEST_UNIT: usize = 20;
/// Largest power of an argument.
const LARGEST_POWER: i32 = 9;

impl Work {
    /// Reads `AMOUNT UNIT`, such as `4096 B`, `size B`, `2*n^3 FLOP`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Work, String> {
        let (amount, unit) = text
            .trim()
            .rsplit_once(char::is_whitespace)
            .ok_or_else(|| format!("`{text}` has no unit: write AMOUNT UNIT, such as `64 B`"))?;
        let is_word = unit.chars().all(char::is_alphabetic);
        if !is_word || unit.chars().count() > LONGEST_UNIT {
            return Err(format!("`{unit}` is no unit: a unit has up to {LONGEST_UNIT} letters"));
        }
        let factors = amount.split('*').map(factor).collect::<Result<_, _>>()?;
        let unit = if unit == "bytes" || unit == "byte" { "B" } else { unit };
        Ok(Work { factors, unit: unit.to_owned() })
    }

    /// The work of one execution of the benchmark of this name.
    ///
    /// # Errors
    /// An argument that the name does not have, or a product that is no positive number.
    pub fn amount(&self, name: &str) -> Result<f64, String> {
        let values = arguments(name);
        let mut product = 1.0;
        for factor in &self.factors {
            product *= match factor {
                Factor::Number(number) => *number,
                Factor::Argument(argument, power) => {
                    let found = values.iter().find(|value| value.name == *argument);
                    let found = found.ok_or_else(|| format!("it has no argument `{argument}`"))?;
                    pow(found.value, f64::from(*power))
                }
            };
        }
        let is_work = product.is_finite() && product > 0.0;
        if is_work { Ok(product) } else { Err(format!("its work would be {product}")) }
    }
}

/// A number, an argument, or a power of one.
fn factor(text: &str) -> Result<Factor, String> {
    let text = text.trim();
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
        return number.map(Factor::Number).ok_or_else(|| format!("`{text}` is no number above 0"));
    }
    let (argument, power) = text.split_once('^').unwrap_or((text, "1"));
    let power = power.trim().parse().ok().filter(|power| (1..=LARGEST_POWER).contains(power));
    let argument = argument.trim();
    // An argument without a name is `#` and its place.
    let place = argument.strip_prefix('#').filter(|place| place.parse::<u16>().is_ok());
    let argument = place.unwrap_or(argument);
    let is_name = place.is_some()
        || argument.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && argument.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    match power {
        Some(power) if is_name => Ok(Factor::Argument(argument.to_owned(), power)),
        _ => {
            Err(format!("`{text}` is no factor: a number, an argument, or a power of one (`n^2`)"))
        }
    }
}

/// What a benchmark does in a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Throughput {
    /// The series.
    pub name: String,
    /// The work of one execution of its first component.
    pub amount: f64,
    /// The unit of the work.
    pub unit: String,
    /// Work in a second; `null` below resolution, and without a time in nanoseconds.
    pub per_second: Option<Estimate>,
    /// Below resolution: the work in a second is at least this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Work in a core cycle, where these are known.
    pub per_cycle: Option<Estimate>,
    /// Why there is no work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The throughput of each series of a document.
pub fn of(document: &ResultDocument, work: &Work) -> Vec<Throughput> {
    document.results.iter().map(|series| of_series(series, work)).collect()
}

fn of_series(series: &Series, work: &Work) -> Throughput {
    let name = series.title().to_owned();
    let none = Throughput {
        name,
        amount: 0.0,
        unit: work.unit.clone(),
        per_second: None,
        at_least: None,
        per_cycle: None,
        reason: None,
    };
    let amount = match work.amount(series.title()) {
        Ok(amount) => amount,
        Err(reason) => return Throughput { reason: Some(reason), ..none },
    };
    let Some(figure) = series.components.values().next().map(|part| &part.figure) else {
        return Throughput { reason: Some("it has no times".to_owned()), ..none };
    };
    let is_shown = !figure.below_resolution;
    let shown = |time: Option<Estimate>| time.filter(|_| is_shown);
    let per_second = shown(figure.time_ns.flatten()).and_then(|time| rate(1e9 * amount, &time));
    let bound = figure.bound_ns.flatten().filter(|_| !is_shown);
    let has_time = per_second.is_some() || bound.is_some();
    Throughput {
        amount,
        per_second,
        at_least: bound.and_then(|bound| finite(1e9 * amount / bound)),
        per_cycle: shown(figure.cycles).and_then(|cycles| rate(amount, &cycles)),
        reason: (!has_time).then(|| "it has no time in nanoseconds".to_owned()),
        ..none
    }
}

/// Work divided by a time. A time without an end of its interval gives a rate without one.
fn rate(amount: f64, time: &Estimate) -> Option<Estimate> {
    let Estimate { value, low, high, level } = *time;
    let is_open = low.is_infinite() && high.is_infinite();
    let (slowest, fastest) = if is_open { (f64::INFINITY, 0.0) } else { (high, low) };
    let end =
        |time: f64, open: f64| if time > 0.0 && time.is_finite() { amount / time } else { open };
    let rate = Estimate {
        value: amount / value,
        low: end(slowest, if is_open { f64::NEG_INFINITY } else { 0.0 }),
        high: end(fastest, f64::INFINITY),
        level,
    };
    Some(rate).filter(|rate| value > 0.0 && rate.value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::read;

    fn series(name: &str, figure: &str) -> ResultDocument {
        read(&format!(
            r#"{{"schema": "hairspring/result/2", "command": "run", "results": [
                {{"name": "{name}", "components": {{"body": {figure}}}}}]}}"#
        ))
        .unwrap()
    }

    const TIMED: &str = r#"{"time_ns": {"value": 4.0, "low": 3.2, "high": 5.0, "level": 0.95},
        "cycles": {"value": 16.0, "low": 15.0, "high": 17.0, "level": 0.95}}"#;

    #[test]
    fn work_is_divided_by_the_whole_interval() {
        let work = Work::parse("size bytes").unwrap();
        let found = of(&series("copy/size:64", TIMED), &work).remove(0);
        let rate = found.per_second.unwrap();
        assert_eq!((rate.value, rate.low, rate.high), (16e9, 12.8e9, 20e9));
        assert_eq!((found.per_cycle.unwrap().value, found.unit.as_str()), (4.0, "B"));
    }

    #[test]
    fn a_time_without_an_interval_gives_a_rate_without_one() {
        let figure = r#"{"time_ns": {"value": 4.0, "low": null, "high": null, "level": 0.95}}"#;
        let found = of(&series("copy", figure), &Work::parse("64 B").unwrap()).remove(0);
        let rate = found.per_second.unwrap();
        assert!(rate.value == 16e9 && !rate.half_width().is_finite(), "{rate:?}");
        let negative = r#"{"time_ns": {"value": 4.0, "low": -1.0, "high": 8.0, "level": 0.95}}"#;
        let found = of(&series("copy", negative), &Work::parse("64 B").unwrap()).remove(0);
        let rate = found.per_second.unwrap();
        assert!(rate.low == 8e9 && rate.high.is_infinite(), "{rate:?}");
    }

    #[test]
    fn below_resolution_there_is_a_bound() {
        let figure = r#"{"time_ns": {"value": 0.1, "low": -0.1, "high": 0.3, "level": 0.95},
            "below_resolution": true, "bound_ns": 0.32}"#;
        let found = of(&series("copy", figure), &Work::parse("64 B").unwrap()).remove(0);
        assert_eq!((found.per_second, found.at_least), (None, Some(200e9)));
    }

    #[test]
    fn what_is_missing_is_said() {
        let found = of(&series("copy", TIMED), &Work::parse("size B").unwrap()).remove(0);
        assert_eq!(found.reason.as_deref(), Some("it has no argument `size`"));
        let ticks = r#"{"ticks": {"value": 4.0, "low": 3.0, "high": 5.0, "level": 0.95}}"#;
        let found = of(&series("copy", ticks), &Work::parse("1 item").unwrap()).remove(0);
        assert_eq!(found.reason.as_deref(), Some("it has no time in nanoseconds"));
    }

    #[test]
    fn wrong_work_is_refused_with_what_is_wrong() {
        for text in [
            "",
            "64",
            "64 ",
            "0 B",
            "-1 B",
            "1e400 B",
            "# B",
            "#x B",
            "a^0 B",
            "a^99 B",
            "a^x B",
            "a+b B",
            "* B",
            "2** B",
            "64 B/s",
            "64 \u{1b}[31m",
            "64 abcdefghijklmnopqrstuvwxyz",
        ] {
            assert!(Work::parse(text).is_err(), "{text}");
        }
        let large = Work::parse("n^9*n^9*n^9*n^9 B").unwrap();
        assert!(large.amount("a/n:99999999999").unwrap_err().contains("its work would be"));
    }

    #[test]
    fn products_and_places_are_read() {
        let work = Work::parse(" 2 * rows*columns^2 FLOP ").unwrap();
        assert_eq!(work.amount("sum/rows:3/columns:4"), Ok(96.0));
        assert_eq!(Work::parse("1 item").unwrap().amount("x"), Ok(1.0));
        assert_eq!(Work::parse("8*#1 B").unwrap().amount("BM_copy/512"), Ok(4096.0));
    }
}
