//! `hairspring verify`: the instrument's certificate on this machine.

use crate::arguments::{PlaceArguments, ReportArguments};
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use clap::Args;
use hairspring_core::judge::Remedies;
use hairspring_instruments::doctor::document::MachineJson;
use hairspring_instruments::doctor::{diagnose, text::section};
use hairspring_instruments::verify::document::CertificateDocument;
use hairspring_instruments::verify::{Effort, Verdict, verify};
use hairspring_instruments::verify::{document, text};
use hairspring_program::circumstances::bound;
use hairspring_program::values::duration;
use hairspring_result::{Clock, Environment, json};
use std::io::IsTerminal;
use std::time::Duration;

/// Check the instrument on this machine against chains of known length
#[derive(Debug, Clone, Args)]
pub struct VerifyArguments {
    #[command(flatten)]
    pub place: PlaceArguments,
    /// Measuring time of each chain
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = duration,
        allow_hyphen_values = true)]
    pub budget: Duration,
    /// Number of short runs that test the coverage of the intervals
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub runs: u32,
    #[command(flatten)]
    pub report: ReportArguments,
}

/// The verb.
pub const VERB: Verb = Verb::of::<VerifyArguments>().with_remedies(REMEDIES);

impl Runs for VerifyArguments {
    const NAME: &'static str = "verify";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

const VERIFY_AGAIN: &str = "verify again, on a quieter CPU (--cpu) or for longer (--budget)";

/// Remedies by the code of a finding (`spec/result.md`); they name options of this verb. A finding
/// that is not listed keeps the neutral remedy of its kind.
const REMEDIES: Remedies = Remedies {
    by_code: &[
        ("non_linear", VERIFY_AGAIN),
        ("rows_left_out", VERIFY_AGAIN),
        ("core_shared", VERIFY_AGAIN),
        ("negative", "verify again, on a quieter CPU (--cpu)"),
        ("clock_too_coarse", "use a finer clock (--clock)"),
        ("disturbed", "choose a quieter CPU (--cpu) or give it more time (--budget)"),
        ("below_resolution", "give it more time (--budget)"),
        (
            "wide_interval",
            "give it more time (--budget), a finer clock (--clock) or a quieter CPU (--cpu)",
        ),
        ("not_checked", "give it more time (--budget)"),
        ("unordered_clock", "use --clock tsc unless this is what you study"),
    ],
    more_rows: "give it more time (--budget) or choose a quieter CPU (--cpu)",
};

/// Runs the verb; it ends with 1 unless all checks passed, also where something else kept them from
/// being made.
fn run(arguments: &VerifyArguments) -> Result<Outcome, AnyError> {
    let (clock, thread) = arguments.place.prepare_thread()?;
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
    REMEDIES.apply(&mut certificate.findings);
    let circumstances = Environment {
        clock: Some(Clock::named(clock.name, clock.description)),
        ..bound(&thread, "the reference chain is missing")
    };
    let machine = diagnose(clock, thread.cpu, effort.level).ok();
    let document = || {
        let document = document::certificate(&certificate, &circumstances);
        json::print(&CertificateDocument {
            machine: machine.as_ref().map(MachineJson::from),
            ..document
        })
    };
    let text = || {
        let end = machine.as_ref().map(|one| format!("\n{}", section(one, &output::style())));
        text::certificate(&certificate, &circumstances, &output::style()) + &end.unwrap_or_default()
    };
    arguments.report.print.print(document, || Ok(text()))?;
    Ok(if certificate.verdict() == Verdict::Passed { Outcome::Done } else { Outcome::Failed })
}
