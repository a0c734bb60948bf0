//! `hairspring verify`: the instrument's certificate on this machine.

use crate::arguments::VerifyArguments;
use crate::misuse::Misuse;
use crate::{AnyError, Outcome, output};
use hairspring_host::chains::{RULER, name};
use hairspring_host::clock::{default_clock, find};
use hairspring_host::thread::settle;
use hairspring_instruments::verify::{Effort, fine_enough, verify};
use hairspring_report::{ClockInfo, Environment, Ruler, json, text};
use std::io::IsTerminal;

/// Runs the verb; a certificate with failures ends with 1.
pub fn run(arguments: &VerifyArguments) -> Result<Outcome, AnyError> {
    let clock = arguments.clock.as_deref().map_or_else(|| Ok(default_clock()), find)?;
    fine_enough(&clock).map_err(Misuse)?;
    let settled = settle(arguments.cpu)?;
    if std::io::stderr().is_terminal() {
        eprintln!("measuring chains and pairs, then {} short runs ...", arguments.runs);
    }
    let effort = Effort {
        per_chain: arguments.budget,
        coverage_runs: arguments.runs,
        level: arguments.report.confidence_level,
        ..Effort::default()
    };
    let certificate = verify(clock, &effort)?;
    let ruler = certificate.chains.iter().find(|chain| chain.name == name(RULER));
    let ruler = ruler.map(|chain| Ruler { cycles: f64::from(chain.integer), provenance: "integer lattice of the chains above".into() });
    let circumstances = Environment {
        machine: Some(hairspring_host::environment::machine()),
        clock: Some(ClockInfo {
            name: clock.name.into(),
            description: clock.description.into(),
            rate: Some(certificate.rate.clone()),
            granularity_ticks: (certificate.reading.quantum > 0).then_some(certificate.reading.quantum as f64),
            read_cost_ticks: Some(certificate.reading.back_to_back_mean),
        }),
        ruler: ruler.ok_or_else(|| "the ruler chain is missing".into()),
        compiler: None,
        compiler_flags: None,
        pinned_cpu: Some(settled.cpu),
        priority_raised: Some(settled.priority_raised),
        memory_locked: Some(settled.memory_locked),
    };
    let report = if arguments.report.json {
        json::print(&json::certificate(&certificate, &circumstances))
    } else {
        text::certificate(&certificate, &circumstances, &output::style())
    };
    output::print(&report)?;
    Ok(if certificate.failures().is_empty() { Outcome::Done } else { Outcome::Failed })
}
