//! An experiment that can be run: its file with the expectation evaluated and everything checked that can be checked before a run.

use crate::definition::{Contribution, Definition, ErrorKind, Setup};
use hairspring_core::alike::nearest;
use hairspring_expect::unit::Unit;
use hairspring_expect::{Dimension, Model, Quantity, evaluate};

/// Longest text of one key, in bytes.
const MOST_TEXT: usize = 20_000;
/// Words of a command line, repetitions, and contributions to the budget.
const MOST_WORDS: usize = 1_000;
const MOST_REPEATS: u32 = 1_000;
const MOST_ERRORS: usize = 100;

/// A half-width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Width {
    /// A share of the value.
    Share(f64),
    /// In nanoseconds, cycles, ticks or bytes.
    Value(f64),
}

impl Width {
    /// The half-width for a value.
    pub fn of(self, value: f64) -> f64 {
        match self {
            Width::Share(share) => share * value.abs(),
            Width::Value(width) => width,
        }
    }
}

/// A contribution to the error budget that the file states.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedError {
    /// Its source.
    pub source: String,
    /// How it adds to others.
    pub kind: ErrorKind,
    /// Its size.
    pub width: Width,
    /// Where it comes from.
    pub because: Option<String>,
}

/// An experiment that can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The file as it was written.
    pub text: String,
    /// What it says.
    pub definition: Definition,
    /// The expectation.
    pub expected: Quantity,
    /// Unit of all numbers of the record, and its size in nanoseconds, cycles, ticks or bytes.
    pub unit: (String, f64),
    /// Confidence level.
    pub level: f64,
    /// Required accuracy.
    pub required: Width,
    /// Contributions to the error budget that the file states.
    pub errors: Vec<StatedError>,
}

impl Plan {
    /// Reads and checks the file of an experiment.
    ///
    /// # Errors
    /// What is wrong, with the name of its key.
    pub fn read(text: &str) -> Result<Plan, String> {
        let definition = Definition::read(text)?;
        let expected = expectation(&definition)?;
        let level = definition.accuracy.confidence_level.as_deref().map_or(Ok(0.95), level)?;
        let required = width(&definition.accuracy.required, expected.dimension).map_err(|error| format!("accuracy.required: {error}"))?;
        let errors = stated(&definition.error, expected.dimension)?;
        for (name, setup) in [("setup", Some(&definition.setup)), ("check", definition.check.as_ref())] {
            setup.map_or(Ok(()), |setup| checked(setup, expected.dimension)).map_err(|error| format!("[{name}] {error}"))?;
        }
        short(&definition)?;
        Ok(Plan { text: text.to_owned(), unit: expected.unit(), expected, level, required, errors, definition })
    }
}

fn expectation(definition: &Definition) -> Result<Quantity, String> {
    let mut model = Model::default();
    for (name, text) in &definition.expectation.with {
        model.define(name, text).map_err(|fault| format!("expectation.with.{name}: {fault}"))?;
    }
    model.evaluate(&definition.expectation.model).map_err(|fault| format!("expectation.model: {fault}"))
}

fn level(text: &str) -> Result<f64, String> {
    let level = evaluate(text).map_err(|fault| format!("accuracy.confidence_level: {fault}"))?;
    let good = level.dimension == Dimension::NUMBER && (0.5..=0.9999).contains(&level.value);
    if good { Ok(level.value) } else { Err(format!("accuracy.confidence_level: {text} is not from 50 % to 99.99 %")) }
}

/// A half-width: a share, or a value of this dimension.
fn width(text: &str, dimension: Dimension) -> Result<Width, String> {
    let found = evaluate(text).map_err(|fault| fault.to_string())?;
    if found.value <= 0.0 {
        return Err(format!("{text} is not above zero"));
    }
    match found.dimension {
        Dimension::NUMBER if found.value < 1.0 => Ok(Width::Share(found.value)),
        own if own == dimension => Ok(Width::Value(found.value)),
        Dimension::NUMBER => Err(format!("{text} is no share below 100 %, such as `2 %`")),
        own => Err(format!("{text} is {}, and the expectation is {}: give a share such as `2 %`, or that", own.words(), dimension.words())),
    }
}

fn stated(errors: &[Contribution], dimension: Dimension) -> Result<Vec<StatedError>, String> {
    if errors.len() > MOST_ERRORS {
        return Err(format!("[[error]] stands {} times: at most {MOST_ERRORS}", errors.len()));
    }
    let one = |error: &Contribution| {
        let width =
            width(&error.half_width, dimension).map_err(|reason| format!("half_width of the error `{}`: {reason}", error.source))?;
        Ok(StatedError { source: error.source.clone(), kind: error.kind, width, because: error.because.clone() })
    };
    errors.iter().map(one).collect()
}

/// Checks what a set-up runs, and that its number can be compared with the expectation.
fn checked(setup: &Setup, dimension: Dimension) -> Result<(), String> {
    let words = match setup.work()? {
        crate::Work::Verb(words) | crate::Work::Program(words) => words,
    };
    if words.len() > MOST_WORDS || words.iter().any(|word| word.len() > MOST_TEXT || word.contains('\0')) {
        return Err(format!("has a command line that is too long (at most {MOST_WORDS} words of {MOST_TEXT} bytes) or has a NUL"));
    }
    if setup.repeat.is_some_and(|repeat| repeat == 0 || repeat > MOST_REPEATS) {
        return Err(format!("repeat is not from 1 to {MOST_REPEATS}"));
    }
    timeout_seconds(setup)?;
    match &setup.figure {
        Some(figure) => {
            let unit = unit_of(setup, figure)?;
            if setup.series.is_some() || setup.component.is_some() {
                return Err("has both `figure` and `series` or `component`: keep one".into());
            }
            same(unit.dimension, dimension)
        }
        None if setup.unit.is_some() => Err("has a `unit` without a `figure`: times have their own unit".into()),
        None if matches!(dimension, Dimension::TIME | Dimension::CYCLES | Dimension::TICKS) => Ok(()),
        None => {
            Err(format!("gives a time, and the expectation is {}: name the `figure` of the document and its `unit`", dimension.words()))
        }
    }
}

fn same(own: Dimension, expected: Dimension) -> Result<(), String> {
    if own == expected { Ok(()) } else { Err(format!("gives {}, and the expectation is {}", own.words(), expected.words())) }
}

/// The unit of a figure: the stated one, or the one that its name ends in.
pub(crate) fn unit_of(setup: &Setup, figure: &str) -> Result<Unit, String> {
    if !figure.starts_with('/') {
        return Err(format!("figure `{figure}` is no place in a JSON document: it begins with a slash, such as /results/0/core_hz"));
    }
    let ends = [
        ("_ns", "ns"),
        ("_us", "us"),
        ("_ms", "ms"),
        ("_hz", "Hz"),
        ("cycles", "cycles"),
        ("ticks", "ticks"),
        ("_percent", "%"),
        ("_ppm", "ppm"),
    ];
    let implied = ends.iter().find(|(end, _)| figure.ends_with(end)).map(|(_, unit)| *unit);
    let name = setup.unit.as_deref().or(implied).ok_or_else(|| format!("figure {figure} needs its `unit`, such as ns or Hz"))?;
    if let Some(unit) = Unit::find(name) {
        return Ok(unit);
    }
    let alike = nearest(name, hairspring_expect::unit::UNITS.iter().map(|unit| unit.name));
    Err(format!("has the unknown unit `{name}`{}", alike.map_or_else(String::new, |alike| format!(": did you mean `{alike}`?"))))
}

/// Time after which a set-up is stopped, in seconds.
///
/// # Errors
/// It is no time, or not from a second to a day.
pub fn timeout_seconds(setup: &Setup) -> Result<f64, String> {
    let text = setup.timeout.as_deref().unwrap_or("600 s");
    let found = evaluate(text).map_err(|fault| format!("timeout: {fault}"))?;
    let seconds = found.value * 1e-9;
    let good = found.dimension == Dimension::TIME && (0.001..=86_400.0).contains(&seconds);
    if good { Ok(seconds) } else { Err(format!("timeout: {text} is not from 1 ms to 86400 s")) }
}

fn short(definition: &Definition) -> Result<(), String> {
    let texts = [("name", &definition.name), ("need", &definition.need), ("quantity", &definition.quantity)];
    let circumstances = definition.circumstances.iter().map(|(name, text)| (name.as_str(), text));
    for (name, text) in texts.into_iter().chain(circumstances) {
        if text.len() > MOST_TEXT || name.len() > MOST_TEXT {
            return Err(format!("{} is too long: at most {MOST_TEXT} bytes", name.chars().take(40).collect::<String>()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TEMPLATE;

    #[test]
    fn template_is_a_plan() {
        let plan = Plan::read(TEMPLATE).unwrap();
        assert_eq!((plan.expected.value, plan.expected.dimension, plan.level), (3.0, Dimension::CYCLES, 0.95));
        assert_eq!((plan.required, plan.unit.0.as_str()), (Width::Share(0.02), "cycles"));
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        for (from, to, part) in [
            ("\"2 %\"", "\"200 %\"", "accuracy.required: 200 % is no share"),
            ("\"2 %\"", "\"2 ns\"", "accuracy.required: 2 ns is a time, and the expectation is core cycles"),
            ("\"2 %\"", "\"0 %\"", "not above zero"),
            ("# confidence_level = \"95 %\"", "confidence_level = \"20 %\"", "not from 50 %"),
            ("instructions * latency", "instructions * latancy", "did you mean `latency`?"),
            ("\"3 +- 0.05 cycles systematic\"", "\"3 +- cycels\"", "expectation.with.latency: unknown name `cycels`"),
            ("\"instructions * latency\"", "\"5 bytes\"", "[setup] gives a time, and the expectation is bytes"),
            ("# repeat = 3 ", "repeat = 0 ", "[setup] repeat is not from 1"),
            ("# timeout = \"600 s\"", "timeout = \"600\"", "[setup] timeout: 600 is not"),
            ("# unit = \"Hz\"", "unit = \"Hz\"", "[setup] has a `unit` without a `figure`"),
            ("# figure = \"/results/0/core_hz\"", "figure = \"results\"", "begins with a slash"),
            ("# figure = \"/results/0/core_hz\"", "figure = \"/results/0/core_hz\"", "gives a frequency"),
            ("# figure = \"/results/0/core_hz\"", "figure = \"/x\"", "needs its `unit`"),
            ("# unit = \"Hz\"", "figure = \"/x\"\nunit = \"cycels\"", "did you mean `cycles`?"),
        ] {
            let text = TEMPLATE.replace(from, to);
            assert_ne!(text, TEMPLATE, "{from}");
            let error = Plan::read(&text).unwrap_err();
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
