//! `hairspring instructions`: latencies and throughputs of machine instructions.

use crate::arguments::ReportArguments;
use crate::misuse::Misuse;
use crate::shard::{Kept, ShardArguments};
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use clap::Args;
use hairspring_core::judge::Remedies;
use hairspring_instructions::against::{Comparison, Figure, llvm, read};
use hairspring_instructions::cpu::Features;
use hairspring_instructions::document::document;
use hairspring_instructions::form::Form;
use hairspring_instructions::forms::{Wanted, choose};
use hairspring_instructions::measure::Settings;
use hairspring_instructions::result::{Request, Table, table};
use hairspring_instructions::{export, text};
use hairspring_program::circumstances::{here, identity};
use hairspring_program::values::duration;
use hairspring_result::{Environment, json};
use std::time::Duration;

const EXAMPLES: &str = "\
Names are patterns: `add` is every form of that mnemonic, `add r64*` those with a register of 64 \
bits first.

Examples:
  hairspring instructions imul 'add r64, r64'   some forms, in seconds
  hairspring instructions --set integer         a set; without one all sets but avx512 and memory512
  hairspring instructions --set memory --pairs  loads, stores, and what goes through memory
  hairspring instructions --list                the forms, without measuring
  hairspring instructions --set fma --pairs --values  each pair of operands, also with 0, 1, \
random and denormal numbers
  hairspring instructions --against llvm        where the scheduling model of LLVM differs
  hairspring instructions --csv > here.csv      to compare with later: --against here.csv";

/// Measure latencies and throughputs of machine instructions, without counters or privileges
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct InstructionsArguments {
    /// Names of forms, or patterns with * for any text [default: all of the sets]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Only forms of these sets: integer, bmi, sse, crypto, avx, avx2, fma, avx512, memory,
    /// memory512, or all
    #[arg(long, value_name = "SET", value_delimiter = ',')]
    pub set: Vec<String>,
    /// Only forms of these extensions, such as avx2 or bmi2
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub extension: Vec<String>,
    /// List the forms with what they need, and measure nothing
    #[arg(long, conflicts_with_all = ["json", "markdown", "csv", "osaca", "against", "values",
        "pairs"])]
    pub list: bool,
    /// Show every pair of operands, as JSON and CSV do in any case
    #[arg(long, conflicts_with = "osaca")]
    pub pairs: bool,
    /// Measure latencies also with values of 0, 1, random and (numbers) denormal ones
    #[arg(long)]
    pub values: bool,
    /// Compare with another source: llvm, llvm:CPU (a CPU that LLVM knows), or a CSV file
    #[arg(long, value_name = "SOURCE", value_parser = source,
        conflicts_with_all = ["csv", "osaca"])]
    pub against: Vec<String>,
    /// Print CSV instead of text: a line for each latency and each throughput
    #[arg(long, conflicts_with_all = ["json", "markdown", "osaca"])]
    pub csv: bool,
    /// Print the instruction forms of a machine file for OSACA (YAML) instead of text
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    pub osaca: bool,
    /// Time for all forms [default: 380ms for each, 2s or more in all]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// The CPU to run on [default: one whose core nobody else uses, the last one first]
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    #[command(flatten)]
    pub shard: ShardArguments,
    #[command(flatten)]
    pub report: ReportArguments,
}

/// The verb.
pub const VERB: Verb = Verb::of::<InstructionsArguments>().with_remedies(REMEDIES);

impl Runs for InstructionsArguments {
    const NAME: &'static str = "instructions";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Remedies by the code of a finding (`spec/result.md`); they name options of this verb. A finding
/// that is not listed keeps the neutral remedy of its kind.
const REMEDIES: Remedies = Remedies {
    by_code: &[
        ("core_shared", MORE_TIME),
        ("disturbed", MORE_TIME),
        ("wide_interval", MORE_TIME),
        ("below_resolution", MORE_TIME),
        ("depends_on_addresses", "no single number is right for all code: --pairs shows each"),
        ("depends_on_values", "a table needs a row for each kind of values: --pairs shows them"),
    ],
    more_rows: MORE_TIME,
};

const MORE_TIME: &str = "give more time (--budget), which is spent on what is in doubt, or choose \
                         a quieter CPU (--cpu)";

/// Time for a form, and the least time for all.
const PER_FORM: Duration = Duration::from_millis(380);
const LEAST_BUDGET: Duration = Duration::from_secs(2);

/// Runs the verb; it fails if no form could be measured.
fn run(arguments: &InstructionsArguments) -> Result<Outcome, AnyError> {
    let wanted = Wanted {
        names: arguments.names.clone(),
        sets: arguments.set.clone(),
        extensions: arguments.extension.clone(),
    };
    let features = Features::here();
    let forms: Vec<(Form, Vec<String>)> = choose(&wanted)
        .map_err(Misuse)?
        .into_iter()
        .map(|form| {
            let lacking = features.lacking(&form);
            (form, lacking)
        })
        .collect();
    if forms.is_empty() {
        return Err(Misuse("the names, sets and extensions have no form in common".into()).into());
    }
    let Some(forms) = arguments.shard.of_part("form", forms) else {
        return Ok(Outcome::Done);
    };
    if arguments.list {
        output::print(&text::list(&forms, &output::style()))?;
        return Ok(Outcome::Done);
    }
    let elsewhere = |reason| {
        format!("{reason}: `hairspring time --lang asm` times instructions of this processor")
    };
    hairspring_host::chains::can_run_encoded().map_err(elsewhere)?;
    measured(arguments, forms)
}

/// Measures the forms that the CPU has, and prints the table.
fn measured(
    arguments: &InstructionsArguments,
    forms: Vec<(Form, Vec<String>)>,
) -> Result<Outcome, AnyError> {
    let left_out: Vec<(String, String)> = forms
        .iter()
        .filter(|(_, lacking)| !lacking.is_empty())
        .map(|(form, lacking)| {
            (form.name.clone(), format!("this CPU has no {}", lacking.join(", ")))
        })
        .collect();
    let forms: Vec<Form> =
        forms.into_iter().filter(|(_, lacking)| lacking.is_empty()).map(|(form, _)| form).collect();
    if forms.is_empty() {
        let (name, reason) = left_out.first().ok_or("there are no forms")?;
        return Err(format!("none of the forms can be run: {name}: {reason}").into());
    }
    // Sources that cannot be read are reported before anything is measured.
    let sources: Vec<(String, Vec<Figure>)> =
        arguments.against.iter().map(|source| figures(source, &forms)).collect::<Result<_, _>>()?;
    // So is a folder that cannot be written.
    let kept = Kept::new(&arguments.shard, &identity())?;
    let budget =
        arguments.budget.unwrap_or_else(|| (PER_FORM * forms.len() as u32).max(LEAST_BUDGET));
    let settings =
        Settings { cpu: arguments.cpu, budget, level: arguments.report.confidence_level };
    let measured = table(&Request { forms, values: arguments.values, settings }, &|share| {
        progress(share, budget)
    });
    output::status_line("");
    let mut measured = Table { left_out, ..measured? };
    measured.forms.iter_mut().for_each(|form| REMEDIES.apply(&mut form.findings));
    let compared: Vec<Comparison> =
        sources.iter().map(|(name, figures)| Comparison::new(&measured, name, figures)).collect();
    let environment = environment(&measured);
    let document = || json::print(&document(&measured, &environment, &compared));
    kept.map_or(Ok(()), |kept| kept.write(&document()))?;
    arguments
        .report
        .print
        .print(document, || printed(arguments, &measured, &environment, &compared))?;
    let is_measured = measured.forms.iter().any(|form| form.throughput.cycles.is_ok());
    Ok(if is_measured { Outcome::Done } else { Outcome::Failed })
}

fn progress(share: f64, budget: Duration) {
    output::status_line(&format!("{:.0} % of {:.0} s", 100.0 * share, budget.as_secs_f64()));
}

/// A source that can be asked: a request without a CPU is refused before anything runs.
fn source(text: &str) -> Result<String, String> {
    if llvm::is_llvm(text) {
        llvm::named_cpu(text)?;
    }
    Ok(text.to_owned())
}

/// The figures of a source, with its name.
fn figures(source: &str, forms: &[Form]) -> Result<(String, Vec<Figure>), AnyError> {
    if llvm::is_llvm(source) {
        let model = llvm::model(forms, llvm::named_cpu(source).map_err(Misuse)?)?;
        return Ok((model.name, model.figures));
    }
    let named = |reason: &dyn std::fmt::Display| format!("{source}: {reason}");
    let file = std::fs::File::open(source).map_err(|error| named(&error))?;
    Ok((source.to_owned(), read(file).map_err(|error| named(&error))?))
}

fn printed(
    arguments: &InstructionsArguments,
    table: &Table,
    environment: &Environment,
    compared: &[Comparison],
) -> Result<String, AnyError> {
    if arguments.csv {
        return export::csv(table);
    }
    if arguments.osaca {
        let machine = environment.cpu.as_ref().map_or("unknown", |cpu| cpu.model.as_str());
        return Ok(export::osaca(table, machine));
    }
    Ok(text::instructions(table, environment, compared, arguments.pairs, &output::style()))
}

fn environment(table: &Table) -> Environment {
    here("it is in every group of rounds").with_core_clock(table.run.core_hz.as_ref())
}
