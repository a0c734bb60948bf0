//! `hairspring doctor`: what this machine can and cannot give, in two seconds.

use crate::arguments::ReportArguments;
use crate::misuse::Misuse;
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use clap::Args;
use hairspring_host::clock::{find, seated_clock};
use hairspring_instruments::doctor::{Diagnosis, diagnose, document, text};
use hairspring_instruments::verify::fine_enough;
use hairspring_measure::cpu::settle_where_quiet;
use hairspring_program::circumstances::here;
use hairspring_result::{Clock, Environment, json};

/// Say what this machine can and cannot give: the smallest time, what is shared, what to change
#[derive(Debug, Clone, Args)]
pub struct DoctorArguments {
    /// The clock
    #[arg(long, value_name = "NAME")]
    pub clock: Option<String>,
    /// The CPU to run on (default: the last one, or a quieter one)
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub cpu: Option<usize>,
    #[command(flatten)]
    pub report: ReportArguments,
}

/// The verb.
pub const VERB: Verb = Verb::of::<DoctorArguments>();

impl Runs for DoctorArguments {
    const NAME: &'static str = "doctor";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Runs the verb; it ends with 1 where nothing can be measured.
fn run(arguments: &DoctorArguments) -> Result<Outcome, AnyError> {
    let clock = arguments.clock.as_deref().map_or_else(|| Ok(seated_clock()), find)?;
    fine_enough(&clock).map_err(Misuse)?;
    let settled = settle_where_quiet(arguments.cpu, clock)?;
    let found = diagnose(clock, settled.cpu, arguments.report.confidence_level);
    let circumstances = Environment {
        clock: Some(Clock::named(clock.name, clock.description)),
        pinned_cpu: Some(settled.cpu),
        priority_raised: Some(settled.priority_raised),
        memory_locked: Some(settled.memory_locked),
        ..here("the core clock is a part of the result")
    };
    print(arguments.report.json, &found, &circumstances)?;
    if let Err(reason) = &found {
        output::complain(&format!("nothing can be measured here: {reason}"));
    }
    Ok(if found.is_ok() { Outcome::Done } else { Outcome::Failed })
}

fn print(is_json: bool, found: &Result<Diagnosis, String>, circumstances: &Environment) -> Result<(), AnyError> {
    if is_json {
        output::print(&json::print(&document::doctor(found.as_ref(), circumstances)))?;
    } else if let Ok(found) = found {
        output::print(&text::doctor(found, &output::style()))?;
    }
    Ok(())
}
