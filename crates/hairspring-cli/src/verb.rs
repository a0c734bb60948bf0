//! What a verb is to the command. A verb is a file or folder with its arguments, its help and its code; `main.rs` lists them.

use crate::{AnyError, Outcome};
use clap::{ArgMatches, Args, Command};
use hairspring_core::judge::Remedies;

/// The arguments of a verb. Their doc comment is the verb's help.
pub trait Runs: Args {
    /// The verb as it is typed.
    const NAME: &'static str;
    /// Whether it handles the signals that end a process itself, to end with a report.
    const HANDLES_SIGNALS: bool = false;

    /// The verb with its options and its help.
    fn command() -> Command {
        Self::augment_args(Command::new(Self::NAME))
    }

    /// Runs the verb.
    fn run(&self) -> Result<Outcome, AnyError>;
}

/// An entry of the table of verbs.
pub struct Verb {
    /// The verb as it is typed.
    pub name: &'static str,
    /// Whether it handles the signals that end a process itself.
    pub handles_signals: bool,
    /// Makes its options and its help.
    pub command: fn() -> Command,
    /// Runs it.
    pub run: fn(&ArgMatches) -> Result<Outcome, AnyError>,
    /// Its remedies, where it has findings.
    pub remedies: Option<Remedies>,
}

impl Verb {
    /// The verb with these arguments.
    pub const fn of<A: Runs>() -> Verb {
        Verb { name: A::NAME, handles_signals: A::HANDLES_SIGNALS, command: A::command, run: run::<A>, remedies: None }
    }

    /// The verb with remedies that name its options, for the findings that it reports.
    pub const fn with_remedies(mut self, remedies: Remedies) -> Verb {
        self.remedies = Some(remedies);
        self
    }
}

fn run<A: Runs>(matches: &ArgMatches) -> Result<Outcome, AnyError> {
    A::from_arg_matches(matches)?.run()
}
