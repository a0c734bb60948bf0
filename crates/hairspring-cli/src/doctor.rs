//! `hairspring doctor`: what this machine can and cannot give, in two seconds.

use crate::arguments::{PlaceArguments, ReportArguments};
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use clap::Args;
use hairspring_instruments::doctor::{diagnose, document, text};
use hairspring_program::circumstances::bound;
use hairspring_result::{Clock, Environment, json};

/// Say what this machine can and cannot give: the smallest time, what is shared, what to change
#[derive(Debug, Clone, Args)]
pub struct DoctorArguments {
    #[command(flatten)]
    pub place: PlaceArguments,
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
    let (clock, thread) = arguments.place.prepare_thread()?;
    let diagnosis = diagnose(clock, thread.cpu, arguments.report.confidence_level);
    let circumstances = Environment {
        clock: Some(Clock::named(clock.name, clock.description)),
        ..bound(&thread, "the core clock is a part of the result")
    };
    arguments.report.print.print(
        || json::print(&document::doctor(diagnosis.as_ref(), &circumstances)),
        || {
            Ok(diagnosis.as_ref().map_or_else(
                |_| String::new(),
                |diagnosis| text::doctor(diagnosis, &output::style()),
            ))
        },
    )?;
    if let Err(reason) = &diagnosis {
        output::complain(&format!("nothing can be measured here: {reason}"));
    }
    Ok(if diagnosis.is_ok() { Outcome::Done } else { Outcome::Failed })
}
