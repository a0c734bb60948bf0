//! An experiment that can be run: its file with the expectation evaluated and everything checked
//! that can be checked before a run.

use crate::definition::{Contribution, Definition, ErrorKind, Input, Setup};
use hairspring_core::Estimate;
use hairspring_core::alike::nearest;
use hairspring_core::estimate::coverage_factor;
use hairspring_core::named::Named;
use hairspring_expect::unit::{Unit, readable};
use hairspring_expect::{Dimension, LEVEL, Model, Quantity, evaluate};

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
    /// The expectation. Until its measured inputs are known, only its dimension counts.
    pub expected: Quantity,
    /// The measured inputs of the model as expressions, as far as they are known.
    pub inputs: Named<String>,
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
        let expected = expectation(&definition, &Named::new())?;
        let level = definition.accuracy.confidence_level.as_deref().map_or(Ok(0.95), level)?;
        let required_width = width(&definition.accuracy.required, expected.dimension)
            .map_err(|error| format!("accuracy.required: {error}"))?;
        let errors = stated(&definition.error, expected.dimension)?;
        for (name, setup) in
            [("setup", Some(&definition.setup)), ("check", definition.check.as_ref())]
        {
            setup
                .map_or(Ok(()), |setup| checked(setup, expected.dimension))
                .map_err(|error| format!("[{name}] {error}"))?;
        }
        differs(&definition)?;
        short(&definition)?;
        let (unit, inputs) = (expected.unit(), Named::new());
        Ok(Plan {
            text: text.to_owned(),
            unit,
            expected,
            inputs,
            level,
            required: required_width,
            errors,
            definition,
        })
    }

    /// The inputs of the model that are measured before the run.
    pub fn to_measure(&self) -> impl Iterator<Item = (&str, &Setup)> {
        self.definition.expectation.with.iter().filter_map(|(name, input)| match input {
            Input::Measured(setup) => Some((name.as_str(), &**setup)),
            Input::Expression(_) => None,
        })
    }

    /// Names the value of a measured input; what it measures is that of its figure.
    pub fn give(&mut self, name: &str, dimension: Dimension, measured: &Estimate) {
        let (unit, size) =
            readable(dimension, measured.value).map_or(("", 1.0), |unit| (unit.name, unit.size));
        let rounded = |number: f64, digits: usize| {
            format!("{:.*e}", digits - 1, number / size).parse().unwrap_or(number / size)
        };
        let (value, half): (f64, f64) =
            (rounded(measured.value, 7), rounded(measured.half_width(), 2));
        let half = half * coverage_factor(LEVEL) / coverage_factor(self.level);
        self.inputs.insert(name, format!("{value} {unit} +- {half} {unit}"));
    }

    /// Evaluates the expectation when all measured inputs are known.
    ///
    /// # Errors
    /// The expectation has no value with these inputs.
    pub fn evaluate(&mut self) -> Result<(), String> {
        self.expected = expectation(&self.definition, &self.inputs)?;
        self.unit = self.expected.unit();
        Ok(())
    }
}

/// The value of a measured input that is not known yet, without its unit: no usual number, so that
/// no difference is 0.
const STAND_IN: f64 = 1.618_034;

fn expectation(definition: &Definition, inputs: &Named<String>) -> Result<Quantity, String> {
    let mut model = Model::default();
    for (name, input) in &definition.expectation.with {
        let named = |reason: String| format!("expectation.with.{name}: {reason}");
        let text = match input {
            Input::Expression(text) => text.clone(),
            Input::Measured(setup) => {
                let unit = input_unit(setup).map_err(named)?;
                inputs.get(name).cloned().unwrap_or_else(|| format!("{STAND_IN} {}", unit.name))
            }
        };
        model.define(name, &text).map_err(|fault| named(fault.to_string()))?;
    }
    model
        .evaluate(&definition.expectation.model)
        .map_err(|fault| format!("expectation.model: {fault}"))
}

/// The unit of a measured input.
///
/// # Errors
/// It does not name a figure, or its set-up cannot be run.
pub fn input_unit(setup: &Setup) -> Result<Unit, String> {
    let figure = setup
        .figure
        .as_ref()
        .ok_or("names no `figure`, such as figure = \"/results/0/core_hz\"")?;
    let unit = unit_of(setup, figure)?;
    checked(setup, unit.dimension)?;
    Ok(unit)
}

/// A second method needs another command, or another number of its document.
fn differs(definition: &Definition) -> Result<(), String> {
    let setup = &definition.setup;
    let is_same = |check: &Setup| check.runs_as(setup) && check.names_as(setup);
    if definition.check.as_ref().is_some_and(is_same) {
        return Err("[check] is the same number of the same command as [setup]: name another \
                    method, or another `figure`"
            .into());
    }
    Ok(())
}

fn level(text: &str) -> Result<f64, String> {
    let level = evaluate(text).map_err(|fault| format!("accuracy.confidence_level: {fault}"))?;
    let is_good = level.dimension == Dimension::NUMBER
        && !level.is_stated
        && (0.5..=0.9999).contains(&level.value);
    if is_good {
        Ok(level.value)
    } else {
        Err(format!(
            "accuracy.confidence_level: {text} is not from 50 % to 99.99 %, such as `95 %`"
        ))
    }
}

/// A half-width: a share, or a value of this dimension.
fn width(text: &str, dimension: Dimension) -> Result<Width, String> {
    let value = evaluate(text).map_err(|fault| fault.to_string())?;
    if value.is_stated {
        return Err(format!(
            "{text} has an uncertainty of its own: give one half-width, without `+-`"
        ));
    }
    if value.value <= 0.0 {
        return Err(format!("{text} is not above zero"));
    }
    match value.dimension {
        Dimension::NUMBER if value.value < 1.0 => Ok(Width::Share(value.value)),
        own if own == dimension => Ok(Width::Value(value.value)),
        Dimension::NUMBER => Err(format!("{text} is no share below 100 %, such as `2 %`")),
        own => Err(format!(
            "{text} is {}, and the expectation is {}: give a share such as `2 %`, or that",
            own.words(),
            dimension.words()
        )),
    }
}

fn stated(errors: &[Contribution], dimension: Dimension) -> Result<Vec<StatedError>, String> {
    if errors.len() > MOST_ERRORS {
        return Err(format!("[[error]] stands {} times: at most {MOST_ERRORS}", errors.len()));
    }
    let stated_error = |error: &Contribution| {
        let width = width(&error.half_width, dimension)
            .map_err(|reason| format!("half_width of the error `{}`: {reason}", error.source))?;
        Ok(StatedError {
            source: error.source.clone(),
            kind: error.kind,
            width,
            because: error.because.clone(),
        })
    };
    errors.iter().map(stated_error).collect()
}

/// Checks what a set-up runs, and that its number can be compared with the expectation.
fn checked(setup: &Setup, dimension: Dimension) -> Result<(), String> {
    let words = match setup.work()? {
        crate::Work::Verb(words) | crate::Work::Program(words) => words,
    };
    if words.len() > MOST_WORDS
        || words.iter().any(|word| word.len() > MOST_TEXT || word.contains('\0'))
    {
        return Err(format!(
            "has a command line that is too long (at most {MOST_WORDS} words of {MOST_TEXT} bytes) \
             or has a NUL"
        ));
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
        None if setup.unit.is_some() => {
            Err("has a `unit` without a `figure`: times have their own unit".into())
        }
        None if matches!(dimension, Dimension::TIME | Dimension::CYCLES | Dimension::TICKS) => {
            Ok(())
        }
        None => Err(format!(
            "gives a time, and the expectation is {}: name the `figure` of the document and its \
             `unit`",
            dimension.words()
        )),
    }
}

fn same(given_dimension: Dimension, expected: Dimension) -> Result<(), String> {
    if given_dimension == expected {
        Ok(())
    } else {
        Err(format!(
            "gives {}, and the expectation is {}",
            given_dimension.words(),
            expected.words()
        ))
    }
}

/// The unit of a figure: the stated one, or the one that its name ends in.
pub(crate) fn unit_of(setup: &Setup, figure: &str) -> Result<Unit, String> {
    if !figure.starts_with('/') {
        return Err(format!(
            "figure `{figure}` is no place in a JSON document: it begins with a slash, such as \
             /results/0/core_hz"
        ));
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
    let name = setup
        .unit
        .as_deref()
        .or(implied)
        .ok_or_else(|| format!("figure {figure} needs its `unit`, such as ns or Hz"))?;
    if let Some(unit) = Unit::find(name) {
        return Ok(unit);
    }
    let alike = nearest(name, hairspring_expect::unit::UNITS.iter().map(|unit| unit.name));
    Err(format!(
        "has the unknown unit `{name}`{}",
        alike.map_or_else(String::new, |alike| format!(": did you mean `{alike}`?"))
    ))
}

/// Time after which a set-up is stopped, in seconds.
///
/// # Errors
/// It is no time, or not from a second to a day.
pub fn timeout_seconds(setup: &Setup) -> Result<f64, String> {
    let text = setup.timeout.as_deref().unwrap_or("600 s");
    let timeout = evaluate(text).map_err(|fault| format!("timeout: {fault}"))?;
    let seconds = timeout.value * 1e-9;
    let is_good = timeout.dimension == Dimension::TIME
        && !timeout.is_stated
        && (0.001..=86_400.0).contains(&seconds);
    if is_good { Ok(seconds) } else { Err(format!("timeout: {text} is not from 1 ms to 86400 s")) }
}

fn short(definition: &Definition) -> Result<(), String> {
    let texts = [
        ("name", &definition.name),
        ("need", &definition.need),
        ("quantity", &definition.quantity),
    ];
    let circumstances = definition.circumstances.iter().map(|(name, text)| (name.as_str(), text));
    for (name, text) in texts.into_iter().chain(circumstances) {
        if text.len() > MOST_TEXT || name.len() > MOST_TEXT {
            return Err(format!(
                "{} is too long: at most {MOST_TEXT} bytes",
                name.chars().take(40).collect::<String>()
            ));
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
        assert_eq!(
            (plan.expected.value, plan.expected.dimension, plan.level),
            (3.0, Dimension::CYCLES, 0.95)
        );
        assert_eq!((plan.required, plan.unit.0.as_str()), (Width::Share(0.02), "cycles"));
    }

    /// Each text of the template, replaced by the second, is refused with the third.
    fn are_refused(cases: &[(&str, &str, &str)]) {
        for (from, to, part) in cases {
            let text = TEMPLATE.replace(from, to);
            assert_ne!(text, TEMPLATE, "{from}");
            let error = Plan::read(&text).unwrap_err();
            assert!(error.contains(part), "{part}: {error}");
        }
    }

    #[test]
    fn accuracies_and_expectations_that_do_not_fit_are_refused() {
        are_refused(&[
            ("\"2 %\"", "\"200 %\"", "accuracy.required: 200 % is no share"),
            (
                "\"2 %\"",
                "\"2 ns\"",
                "accuracy.required: 2 ns is a time, and the expectation is core cycles",
            ),
            ("\"2 %\"", "\"0 %\"", "not above zero"),
            (
                "\"2 %\"",
                "\"1 +- 1 cycles\"",
                "accuracy.required: 1 +- 1 cycles has an uncertainty of its own",
            ),
            ("\"2 %\"", "\"3 % +- 1 %\"", "give one half-width"),
            (
                "# confidence_level = \"95 %\"",
                "confidence_level = \"95 % +- 1 %\"",
                "such as `95 %`",
            ),
            (
                "instructions = \"1\"",
                "instructions = { verb = [\"mhz\"] }",
                "expectation.with.instructions: names no `figure`",
            ),
            (
                "instructions = \"1\"",
                "instructions = { figure = \"/a_hz\" }",
                "expectation.with.instructions: has neither",
            ),
            (
                "\"1\"",
                "{ verb = [\"mhz\"], figure = \"/results/0/core_hz\" }",
                "and the expectation is `ns^-1 * cycles`",
            ),
            ("# confidence_level = \"95 %\"", "confidence_level = \"20 %\"", "not from 50 %"),
            ("instructions * latency", "instructions * latancy", "did you mean `latency`?"),
            (
                "\"3 +- 0.05 cycles systematic\"",
                "\"3 +- cycels\"",
                "expectation.with.latency: unknown name `cycels`",
            ),
        ]);
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        are_refused(&[
            (
                "\"instructions * latency\"",
                "\"5 bytes\"",
                "[setup] gives a time, and the expectation is bytes",
            ),
            ("# repeat = 3 ", "repeat = 0 ", "[setup] repeat is not from 1"),
            ("# timeout = \"600 s\"", "timeout = \"600\"", "[setup] timeout: 600 is not"),
            ("# unit = \"Hz\"", "unit = \"Hz\"", "[setup] has a `unit` without a `figure`"),
            ("# figure = \"/results/0/core_hz\"", "figure = \"results\"", "begins with a slash"),
            (
                "# figure = \"/results/0/core_hz\"",
                "figure = \"/results/0/core_hz\"",
                "gives a frequency",
            ),
            ("# figure = \"/results/0/core_hz\"", "figure = \"/x\"", "needs its `unit`"),
            ("# unit = \"Hz\"", "figure = \"/x\"\nunit = \"cycels\"", "did you mean `cycles`?"),
        ]);
        let again = TEMPLATE.split("\n[setup]").nth(1).unwrap();
        let error = Plan::read(&format!("{TEMPLATE}\n[check]{again}")).unwrap_err();
        assert!(error.starts_with("[check] is the same number"), "{error}");
    }

    #[test]
    fn measured_inputs_are_put_in_before_the_run() {
        let measured = "latency = \"3 +- 0.05 cycles systematic\"\n\
                        clock = { verb = [\"mhz\"], figure = \"/results/0/core_hz\" }";
        let text = TEMPLATE.replace("latency = \"3 +- 0.05 cycles systematic\"", measured);
        let text = text.replace("\"instructions * latency\"", "\"instructions * latency / clock\"");
        let mut plan = Plan::read(&text).unwrap();
        assert_eq!(plan.expected.dimension, Dimension::TIME);
        let names: Vec<String> = plan.to_measure().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(names, ["clock"]);
        plan.give(
            "clock",
            Dimension::FREQUENCY,
            &Estimate { value: 4.0, low: 3.98, high: 4.02, level: 0.95 },
        );
        assert_eq!(plan.inputs.get("clock").map(String::as_str), Some("4 GHz +- 0.02 GHz"));
        plan.evaluate().unwrap();
        assert!(
            (plan.expected.value - 0.75).abs() < 1e-12 && plan.unit.0 == "ns",
            "{:?}",
            plan.expected
        );
    }
}
