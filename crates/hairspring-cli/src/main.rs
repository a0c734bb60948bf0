//! The command `hairspring`: one thin file per verb. Verbs only sequence; the work is in the crates they call.

mod arguments;
mod baseline;
mod blocks;
mod capture;
mod clocks;
mod compare;
mod completions;
mod fit;
mod interrupt;
mod man;
mod mhz;
mod misuse;
mod period;
mod remedies;
mod report;
mod run;
mod time;
mod verify;

use arguments::{Arguments, Verb};
use clap::Parser;
use hairspring_program::output;
use std::process::ExitCode;

/// How a verb ended, as the status of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Done,
    /// It failed, and the reason is already reported.
    Failed,
    /// A limit that the user set was not met.
    LimitMissed,
}

/// An error of any verb, reported on standard error.
pub type AnyError = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == hairspring_snippet::host::ARGUMENT) {
        return ExitCode::from(hairspring_snippet::host::main() as u8);
    }
    let arguments = Arguments::parse();
    // `period` handles the signals itself, to end with a report.
    if !matches!(arguments.verb, Verb::Period(_)) {
        interrupt::clean_up_on_signals();
    }
    let outcome = match arguments.verb {
        Verb::Time(arguments) => time::run(&arguments),
        Verb::Fit(arguments) => fit::run(&arguments),
        Verb::Verify(arguments) => verify::run(&arguments),
        Verb::Mhz(arguments) => mhz::run(&arguments),
        Verb::Clocks(arguments) => clocks::run(&arguments),
        Verb::Period(arguments) => period::run(&arguments),
        Verb::Capture(arguments) => capture::run(&arguments),
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Blocks(arguments) => blocks::run(&arguments),
        Verb::Compare(arguments) => compare::run(&arguments),
        Verb::Report(arguments) => report::run(&arguments),
        Verb::Completions(arguments) => completions::run(&arguments),
        Verb::Man(arguments) => man::run(&arguments),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Ok(Outcome::LimitMissed) => ExitCode::from(3),
        Err(error) => {
            output::complain(&error.to_string());
            ExitCode::from(if misuse::is_misuse(error.as_ref()) { 2 } else { 1 })
        }
    }
}
