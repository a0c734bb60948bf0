//! What a verb is to the command. A verb is a file or folder with its arguments, its help and its
//! code; `main.rs` lists them.

use crate::{AnyError, Outcome, html, plot};
use clap::{Arg, ArgMatches, Args, Command};
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
    /// The options that its help shows, if it has many: `--help-all` shows the others. Empty for
    /// all.
    pub common_options: &'static [&'static str],
}

impl Verb {
    /// The verb with these arguments.
    pub const fn of<A: Runs>() -> Verb {
        Verb {
            name: A::NAME,
            handles_signals: A::HANDLES_SIGNALS,
            command: A::command,
            run: run::<A>,
            remedies: None,
            common_options: &[],
        }
    }

    /// The verb with a help of these options alone.
    pub const fn with_common_options(mut self, options: &'static [&'static str]) -> Verb {
        self.common_options = options;
        self
    }

    /// Its part of the command with a short help, if it has one.
    pub fn with_short_help(&self, command: Command) -> Command {
        if self.common_options.is_empty() {
            return command;
        }
        let is_common =
            |arg: &Arg| arg.get_long().is_none_or(|long| self.common_options.contains(&long));
        let others = command.get_arguments().filter(|arg| !is_common(arg)).count();
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let more = format!(
            "`hairspring {} --help-all` shows {others} more options.\n\n{after}",
            self.name
        );
        command.mut_args(|arg| if is_common(&arg) { arg } else { arg.hide(true) }).after_help(more)
    }

    /// The verb with remedies that name its options, for the findings that it reports.
    pub const fn with_remedies(mut self, remedies: Remedies) -> Verb {
        self.remedies = Some(remedies);
        self
    }
}

fn run<A: Runs>(matches: &ArgMatches) -> Result<Outcome, AnyError> {
    // The files of a verb below this one are its own.
    let innermost = matches.subcommand().map_or(matches, |(_, below)| below);
    html::check(innermost)?;
    plot::check(innermost)?;
    A::from_arg_matches(matches)?.run()
}
