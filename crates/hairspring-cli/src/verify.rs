//! `hairspring verify`: the instrument's certificate on this machine.

use crate::arguments::VerifyArguments;
use crate::misuse::Misuse;
use crate::remedies::VERIFY;
use crate::{AnyError, Outcome, output};
use hairspring_host::clock::{default_clock, find};
use hairspring_instruments::verify::{Effort, fine_enough, verify};
use hairspring_instruments::verify::{document, text};
use hairspring_measure::cpu::settle_where_quiet;
use hairspring_program::circumstances::here;
use hairspring_result::{Clock, Environment, json};
use std::io::IsTerminal;

/// Runs the verb; a certificate with failures ends with 1.
pub fn run(arguments: &VerifyArguments) -> Result<Outcome, AnyError> {
    let clock = arguments.clock.as_deref().map_or_else(|| Ok(default_clock()), find)?;
    fine_enough(&clock).map_err(Misuse)?;
    let settled = settle_where_quiet(arguments.cpu, clock)?;
    if std::io::stderr().is_terminal() {
        eprintln!("measuring chains and pairs, then {} short runs ...", arguments.runs);
    }
    let effort = Effort {
        per_chain: arguments.budget,
        coverage_runs: arguments.runs,
        level: arguments.report.confidence_level,
        ..Effort::default()
    };
    let mut certificate = verify(clock, &effort)?;
    VERIFY.apply(&mut certificate.findings);
    let circumstances = Environment {
        clock: Some(Clock::named(clock.name, clock.description)),
        pinned_cpu: Some(settled.cpu),
        priority_raised: Some(settled.priority_raised),
        memory_locked: Some(settled.memory_locked),
        ..here("the reference chain is missing")
    };
    let report = if arguments.report.json {
        json::print(&document::certificate(&certificate, &circumstances))
    } else {
        text::certificate(&certificate, &circumstances, &output::style())
    };
    output::print(&report)?;
    Ok(if certificate.failures().is_empty() { Outcome::Done } else { Outcome::Failed })
}
