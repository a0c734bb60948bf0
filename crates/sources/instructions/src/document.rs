//! The document of `instructions`.

use crate::against::Comparison;
use crate::result::{Cycles, FormResult, Latency, Table};
use hairspring_core::Estimate;
use hairspring_result::{Environment, Finding};
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum InstructionsSchema {
    /// First version.
    #[serde(rename = "hairspring/instructions/1")]
    V1,
}

/// Latencies and throughputs of instructions in core cycles.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring instructions"))]
pub struct InstructionsDocument {
    /// Name and version of this format.
    pub schema: InstructionsSchema,
    /// The verb that made it.
    pub command: String,
    /// Circumstances.
    pub environment: Environment,
    /// The CPU that it was measured on.
    pub cpu: usize,
    /// How the core cycle was found.
    pub cycle_provenance: String,
    /// Cycles of an instruction that does nothing, which shows the front end.
    pub front_end_cycles: Option<Estimate>,
    /// Rounds of all groups.
    pub rounds: u64,
    /// Time that it took, in milliseconds.
    pub elapsed_ms: f64,
    /// Series that were measured again because they were in doubt.
    pub repeated: usize,
    /// The forms.
    pub forms: Vec<FormJson>,
    /// Forms that were left out.
    pub left_out: Vec<LeftOutJson>,
    /// The same numbers from other sources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<Comparison>,
}

/// A form.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FormJson {
    /// Its name, such as `add r64, r64`.
    pub name: String,
    /// The set that it belongs to.
    pub set: String,
    /// The extensions that it needs, joined with `+`.
    pub extension: String,
    /// Latencies by pairs of operands.
    pub latencies: Vec<LatencyJson>,
    /// Core cycles of one of many independent copies (reciprocal throughput).
    pub throughput: Option<Estimate>,
    /// Why the throughput is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_reason: Option<String>,
    /// The same where all copies write to one line of the cache, for forms that only store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_one_line: Option<Estimate>,
    /// Instructions that each independent copy needs besides, to depend on no other copy.
    pub throughput_with: Vec<String>,
    /// Whether the throughput is in doubt.
    pub throughput_doubtful: bool,
    /// Findings.
    pub findings: Vec<Finding>,
}

/// A latency.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyJson {
    /// The operand that is read: its number from 1, a register, `flags`, `base` (the address), or
    /// `m` (what is in memory).
    pub from: String,
    /// The operand that is written.
    pub to: String,
    /// Core cycles; `null` if only a sum is known.
    pub cycles: Option<Estimate>,
    /// Core cycles of the pair and of the helpers in `with`; for a value that goes through memory,
    /// of a store and a load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<Estimate>,
    /// The instructions that carry the value back in the sum, with their operands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
    /// The most that the pair alone can take, if every helper takes at least a cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Why it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The same latency with special values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValuesJson>,
    /// The chain with other uses of memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arrangements: Vec<ArrangementJson>,
    /// Whether it is in doubt.
    pub doubtful: bool,
}

/// A chain that uses memory in another way than usual.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArrangementJson {
    /// `other base`: loaded through another register than stored; `just stored`: loaded from where
    /// was stored just before.
    pub arrangement: String,
    /// Core cycles of the chain, with all helpers.
    pub cycles: Estimate,
    /// Core cycles of the usual chain, with all helpers.
    pub usual_cycles: Option<Estimate>,
}

/// A latency with special values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValuesJson {
    /// The values: `zero`, `one`, `random` or `denormal`.
    pub values: String,
    /// Core cycles of the chain.
    pub cycles: Estimate,
}

/// A form that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOutJson {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// The document of a table.
pub fn document(
    table: &Table,
    environment: &Environment,
    against: &[Comparison],
) -> InstructionsDocument {
    let run = &table.run;
    InstructionsDocument {
        schema: InstructionsSchema::V1,
        command: "instructions".into(),
        environment: environment.clone(),
        cpu: run.cpu,
        cycle_provenance: run.provenance.clone(),
        front_end_cycles: table.front_end,
        rounds: run.rounds,
        elapsed_ms: run.elapsed.as_secs_f64() * 1e3,
        repeated: run.repeated,
        forms: table.forms.iter().map(form).collect(),
        left_out: table
            .left_out
            .iter()
            .map(|(name, reason)| LeftOutJson { name: name.clone(), reason: reason.clone() })
            .collect(),
        against: against.to_vec(),
    }
}

fn form(row: &FormResult) -> FormJson {
    FormJson {
        name: row.name.clone(),
        set: row.set.clone(),
        extension: row.extension.clone(),
        latencies: row.latencies.iter().map(latency).collect(),
        throughput: row.throughput.cycles.as_ref().ok().copied(),
        throughput_reason: row.throughput.cycles.as_ref().err().cloned(),
        throughput_one_line: row.throughput.one_line,
        throughput_with: row.throughput.with.clone(),
        throughput_doubtful: row.throughput.is_doubtful,
        findings: row.findings.clone(),
    }
}

fn latency(latency: &Latency) -> LatencyJson {
    let (mut cycles, mut sum, mut with, mut reason) = (None, None, Vec::new(), None);
    match &latency.cycles {
        Cycles::Alone(alone) => cycles = Some(*alone),
        Cycles::Sum(sum_of_all, helpers) => {
            sum = Some(*sum_of_all);
            with = helpers
                .iter()
                .map(|helper| format!("{} ({} to {})", helper.form, helper.from, helper.to))
                .collect();
        }
        Cycles::Unknown(why) => reason = Some(why.clone()),
    }
    LatencyJson {
        from: latency.from.clone(),
        to: latency.to.clone(),
        at_most: sum.and_then(|_| latency.cycles.at_most()),
        cycles,
        sum,
        with,
        reason,
        values: latency
            .values
            .iter()
            .map(|(values, cycles)| ValuesJson { values: values.name().into(), cycles: *cycles })
            .collect(),
        arrangements: latency
            .arrangements
            .iter()
            .map(|(arrangement, cycles)| ArrangementJson {
                arrangement: arrangement.name().into(),
                cycles: *cycles,
                usual_cycles: latency.chain,
            })
            .collect(),
        doubtful: latency.is_doubtful,
    }
}
