//! The record of an experiment that was run: what was asked, expected and measured, with the
//! verdicts. It contains the file, so that another person can run it again.

use crate::budget::{Entry, shared, total};
use crate::definition::{Definition, Input, Setup};
use crate::measured::Measured;
use crate::plan::Plan;
use hairspring_core::Estimate;
use hairspring_core::judge::{Agreement, Expected, Reach, against};
use hairspring_core::named::Named;
use hairspring_expect::Quantity;
use hairspring_result::Environment;
use serde::{Deserialize, Serialize};

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RecordSchema {
    /// Second version. The first one had other names of sources; it is read, too.
    #[serde(rename = "hairspring/experiment/2")]
    V2,
}

/// An experiment that was run. All numbers are in `unit` unless their name says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring experiment"))]
pub struct Record {
    /// Name and version of this format.
    pub schema: RecordSchema,
    /// The verb that made it: `experiment`.
    pub command: String,
    /// When, where and by which version it was made, and on which machine.
    pub environment: Environment,
    /// The file of the experiment: `hairspring experiment` runs this record again.
    pub text: String,
    /// The folder in which its set-ups ran. A record that is run again runs there, if that folder
    /// exists.
    pub folder: String,
    /// What the file says.
    pub definition: Definition,
    /// Unit of all numbers.
    pub unit: String,
    /// The expectation (step 4B).
    pub expectation: ExpectationRecord,
    /// The measurement with its error budget (steps 5 and 6).
    pub measurement: MeasurementRecord,
    /// Whether the required accuracy was reached (step 3).
    pub accuracy: AccuracyRecord,
    /// Measurement against expectation (step 7).
    pub sanity: Comparison,
    /// The second method, and the measurement against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckRecord>,
    /// Why the second method gave no figure, if the file names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_check: Option<String>,
    /// Whether the required accuracy was reached, and neither the expectation nor the second method
    /// deviates.
    pub passed: bool,
}

/// The expectation with both propagations.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExpectationRecord {
    /// The expected value with its interval. Where the propagations do not agree, its ends are
    /// those by Monte Carlo, and its sides differ.
    pub value: Estimate,
    /// Half-width from stochastic inputs, in quadrature and to first order.
    pub stochastic: Option<f64>,
    /// Half-width from systematic inputs, linearly and to first order.
    pub systematic: Option<f64>,
    /// Whether an uncertainty is stated; else 2 % are assumed.
    pub is_stated: bool,
    /// Lower end of the interval by Monte Carlo, at 95 % confidence; `null` without bounds.
    pub monte_carlo_low: Option<f64>,
    /// Upper end of it.
    pub monte_carlo_high: Option<f64>,
    /// Whether the two propagations agree; else the ends by Monte Carlo count, each on its own
    /// side.
    pub propagations_agree: bool,
    /// The named values of the model as expressions; those that were measured have their value.
    pub inputs: Named<String>,
    /// The command lines that measured inputs come from.
    #[serde(skip_serializing_if = "Named::is_empty")]
    pub measured_by: Named<String>,
    /// Doubts about measured inputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// The measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasurementRecord {
    /// The command lines that were run, the last one of which printed the document.
    pub commands: Vec<String>,
    /// How often.
    pub runs: usize,
    /// The value; its interval is the total of the budget.
    pub value: Estimate,
    /// The error budget.
    pub budget: Vec<Entry>,
    /// Half-width from all entries: stochastic ones in quadrature, plus systematic ones.
    pub total: f64,
    /// Whether it can be trusted.
    pub trusted: bool,
    /// Its doubts.
    pub findings: Vec<String>,
    /// The circumstances of the measurement, as its document describes them.
    pub environment: serde_json::Value,
}

/// The required accuracy and the one that was reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccuracyRecord {
    /// The required half-width.
    pub required: f64,
    /// The half-width that was reached: the total of the budget.
    pub reached: f64,
    /// Whether it was reached by a measurement that can be trusted.
    pub met: bool,
}

/// The measurement against another value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Measured minus expected.
    pub difference: Option<f64>,
    /// Half-width of the interval of the difference.
    pub half_width: Option<f64>,
    /// Measured over expected.
    pub factor: Option<f64>,
    /// By how many standard deviations the difference is larger than the systematic bounds allow.
    pub sigmas: Option<f64>,
    /// The verdict.
    pub verdict: Agreement,
    /// Why it is undecided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict_reason: Option<String>,
}

/// The second method.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckRecord {
    /// Whether its figures are from the same runs as those of the first method.
    pub same_runs: bool,
    /// What it measured.
    pub measurement: MeasurementRecord,
    /// The first measurement against it.
    pub comparison: Comparison,
}

/// What was run, and what it measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// The command lines.
    pub commands: Vec<String>,
    /// The figure.
    pub measured: Measured,
}

/// All runs of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    /// The folder in which they ran.
    pub folder: String,
    /// The measured inputs of the model.
    pub inputs: Named<Ran>,
    /// The set-up.
    pub first: Ran,
    /// The second method, or why it gave no figure.
    pub check: Option<Result<Ran, String>>,
}

impl Record {
    /// The record of a plan that was run.
    pub fn new(plan: &Plan, environment: Environment, runs: &Runs) -> Record {
        let (first_run, check) = (&runs.first, runs.check.as_ref());
        let size = plan.unit.1;
        let expected = plan.expected.expected(plan.level, size);
        let measurement = measurement(plan, &plan.definition.setup, first_run, true);
        let accuracy = AccuracyRecord {
            required: plan.required.of(first_run.measured.estimate.value) / size,
            reached: measurement.total,
            met: measurement.trusted
                && measurement.total <= plan.required.of(first_run.measured.estimate.value) / size,
        };
        let doubted_input = runs
            .inputs
            .iter()
            .find(|(_, input)| !input.measured.trusted)
            .map(|(name, _)| name.as_str());
        let sanity = doubtful(compared(&measurement, &expected), doubted_input);
        let no_check = check.and_then(|check| check.as_ref().err().cloned());
        let check = check.and_then(|check| check.as_ref().ok()).map(|second_run| {
            let setup = plan.definition.check.as_ref().unwrap_or(&plan.definition.setup);
            let second = self::measurement(plan, setup, second_run, false);
            let expected = Expected::symmetric(
                second.value.value,
                Reach { stochastic: second.total, systematic: 0.0 },
            );
            let mut comparison = compared(&measurement, &expected);
            if !second.trusted {
                comparison.verdict = Agreement::Undecided;
                comparison.verdict_reason = Some("the second method is not to be trusted".into());
            }
            CheckRecord {
                same_runs: setup.runs_as(&plan.definition.setup),
                comparison,
                measurement: second,
            }
        });
        let deviates = |comparison: &Comparison| comparison.verdict == Agreement::Deviates;
        let passed = accuracy.met
            && !deviates(&sanity)
            && !check.as_ref().is_some_and(|check| deviates(&check.comparison));
        Record {
            schema: RecordSchema::V2,
            command: "experiment".into(),
            environment,
            text: plan.text.clone(),
            folder: runs.folder.clone(),
            definition: plan.definition.clone(),
            unit: plan.unit.0.clone(),
            expectation: expectation(plan, &plan.expected, &expected, &runs.inputs),
            measurement,
            accuracy,
            sanity,
            check,
            no_check,
            passed,
        }
    }
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

fn expectation(
    plan: &Plan,
    quantity: &Quantity,
    expected: &Expected,
    inputs: &Named<Ran>,
) -> ExpectationRecord {
    let size = plan.unit.1;
    let first_order = quantity.first_order(plan.level, size);
    ExpectationRecord {
        value: expected.interval(plan.level),
        stochastic: finite(first_order.stochastic),
        systematic: finite(first_order.systematic),
        is_stated: quantity.is_stated,
        monte_carlo_low: finite(quantity.monte_carlo.low / size),
        monte_carlo_high: finite(quantity.monte_carlo.high / size),
        propagations_agree: quantity.monte_carlo.agrees,
        inputs: given(plan),
        measured_by: inputs
            .iter()
            .map(|(name, ran)| (name.clone(), ran.commands.join("; ")))
            .collect(),
        findings: inputs
            .iter()
            .flat_map(|(name, ran)| {
                ran.measured.findings.iter().map(move |one| format!("{name}: {one}"))
            })
            .collect(),
    }
}

/// The named values of the model as expressions.
fn given(plan: &Plan) -> Named<String> {
    let text = |name: &str, input: &Input| match input {
        Input::Expression(text) => text.clone(),
        Input::Measured(_) => plan.inputs.get(name).cloned().unwrap_or_default(),
    };
    plan.definition
        .expectation
        .with
        .iter()
        .map(|(name, input)| (name.clone(), text(name, input)))
        .collect()
}

/// The comparison with an expectation of which this input, if any, is not to be trusted.
fn doubtful(comparison: Comparison, input: Option<&str>) -> Comparison {
    let Some(name) = input else { return comparison };
    let reason = format!("`{name}` of the expectation is not to be trusted");
    Comparison { verdict: Agreement::Undecided, verdict_reason: Some(reason), ..comparison }
}

/// A measurement in the unit of the record. The contributions that the file states belong to the
/// first method.
fn measurement(plan: &Plan, setup: &Setup, run: &Ran, with_stated: bool) -> MeasurementRecord {
    let (size, measured) = (plan.unit.1, &run.measured);
    let mut budget: Vec<Entry> = measured.budget.clone();
    for error in plan.errors.iter().filter(|_| with_stated) {
        budget.push(Entry::new(
            &error.source,
            error.kind,
            error.width.of(measured.estimate.value),
            error.because.clone(),
        ));
    }
    budget.iter_mut().for_each(|entry| entry.half_width /= size);
    let (total, value) = (total(&budget), measured.estimate.value / size);
    debug_assert!(setup.work().is_ok(), "the plan was checked");
    MeasurementRecord {
        commands: run.commands.clone(),
        runs: measured.runs,
        value: Estimate { value, low: value - total, high: value + total, level: plan.level },
        budget: shared(budget),
        total,
        trusted: measured.trusted,
        findings: measured.findings.clone(),
        environment: measured.environment.clone(),
    }
}

fn compared(measurement: &MeasurementRecord, expected: &Expected) -> Comparison {
    let agreement = against(&measurement.value, expected);
    let verdict = if measurement.trusted { agreement.agreement } else { Agreement::Undecided };
    let reason = if measurement.trusted {
        "the measurement is not precise enough to say"
    } else {
        "the measurement is not to be trusted"
    };
    Comparison {
        difference: finite(agreement.difference),
        half_width: finite(agreement.half_width),
        factor: agreement.factor,
        sigmas: agreement.sigmas,
        verdict,
        verdict_reason: (verdict == Agreement::Undecided).then(|| reason.to_owned()),
    }
}

/// The file of an experiment, and the folder in which it ran if it comes from a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub text: String,
    /// The folder.
    pub folder: Option<String>,
}

/// The file of an experiment in a record, or the text itself if it is no record.
///
/// # Errors
/// The text is a JSON document, and none of an experiment.
pub fn origin(text: &str) -> Result<Origin, String> {
    #[derive(Deserialize)]
    struct Head {
        schema: Option<String>,
        text: Option<String>,
        folder: Option<String>,
    }
    if !text.trim_start().starts_with('{') {
        return Ok(Origin { text: text.to_owned(), folder: None });
    }
    let head: Head = serde_json::from_str(text)
        .map_err(|error| format!("is neither TOML nor a record of an experiment: {error}"))?;
    match (head.schema.as_deref(), head.text) {
        (Some("hairspring/experiment/2" | "hairspring/experiment/1"), Some(text)) => {
            Ok(Origin { text, folder: head.folder })
        }
        _ => Err("is a JSON document, and none of hairspring/experiment/2".into()),
    }
}
