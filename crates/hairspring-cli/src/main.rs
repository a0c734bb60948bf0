//! The command `hairspring`: one thin file or folder per verb. Verbs only sequence; the work is in
//! the crates they call.

mod arguments;
mod baseline;
mod expect;
mod git;
mod html;
mod interactive;
mod interrupt;
mod misuse;
mod plot;
mod saved;
mod shard;
#[cfg(test)]
mod tests;
mod verb;

use clap::{ArgMatches, Command};
use hairspring_program::output;
use hairspring_view::clean::wrap;
use std::ffi::OsString;
use std::process::ExitCode;
use verb::Verb;

/// The C library's allocator belongs to the code that is measured, which would find there what the
/// command has freed: blocks of 2 KiB, taken out of such a block, cost 100 cycles instead of 60.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// Declares the modules of the verbs, and the table of them by groups, from one list of names.
macro_rules! verbs {
    ($($group:literal: $($(#[$when:meta])? $name:ident),*;)*) => {
        $($($(#[$when])? mod $name;)*)*

        /// All verbs, in the groups and the order in which they are shown.
        const GROUPS: &[(&str, &[Verb])] = &[$(($group, &[$($(#[$when])? $name::VERB),*])),*];
    };
}

verbs! {
    "Measure code": time, run, new, #[cfg(feature = "blocks")] blocks,
        #[cfg(feature = "instructions")] instructions;
    "Compare and keep": ab, compare, #[cfg(feature = "history")] history, merge, report,
        experiment;
    "This machine": doctor, verify, clocks, mhz, switch, period;
    "Files and chips": fit, #[cfg(feature = "capture")] capture;
    "This command": completions, man;
}

/// Verbs that this build leaves out; each is a feature of the crate, of the same name.
const ABSENT: &[&str] = &[
    #[cfg(not(feature = "blocks"))]
    "blocks",
    #[cfg(not(feature = "capture"))]
    "capture",
    #[cfg(not(feature = "history"))]
    "history",
    #[cfg(not(feature = "instructions"))]
    "instructions",
];

/// All verbs.
fn verbs() -> impl Iterator<Item = &'static Verb> {
    GROUPS.iter().flat_map(|(_, verbs)| verbs.iter())
}

const ABOUT: &str = "Times code below the error of the clock, and says how sure it is and why";

const AFTER_HELP: &str = "\
`hairspring VERB --help` shows the options of a verb.
Exit status: 0 success, 1 failure (a file, the code, the measurement), 2 wrong
usage (an option, or a clock or CPU that does not exist), 3 a limit that you set
was not met.";

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

impl Outcome {
    /// This outcome, or the other one if this is done.
    pub fn or(self, other: Outcome) -> Outcome {
        if self == Outcome::Done { other } else { self }
    }
}

/// An error of any verb, reported on standard error.
pub type AnyError = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == hairspring_snippet::host::ARGUMENT) {
        return ExitCode::from(hairspring_snippet::host::main() as u8);
    }
    #[cfg(target_os = "linux")]
    if hairspring_instruments::switch::partner::is_partner(
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()),
    ) {
        return ExitCode::from(hairspring_instruments::switch::partner::main(std::env::args()));
    }
    if let Some(absent) = std::env::args_os()
        .nth(1)
        .and_then(|first| first.into_string().ok())
        .filter(|first| ABSENT.contains(&first.as_str()))
    {
        output::complain(&format!(
            "this build leaves out the verb `{absent}`: build the command with the feature \
             `{absent}` (./install has all)"
        ));
        return ExitCode::from(2);
    }
    // All of the command line is parsed before anything runs.
    let matches = parsed(std::env::args_os().collect());
    let outcome = match matches.subcommand() {
        Some((name, arguments)) => run_verb(name, arguments),
        None => Err("no verb is given".into()),
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

/// The command with all its verbs.
fn command() -> Command {
    let groups: Vec<(&str, Vec<Command>)> = GROUPS
        .iter()
        .map(|(title, verbs)| (*title, verbs.iter().map(|verb| (verb.command)()).collect()))
        .collect();
    Command::new("hairspring")
        .version(env!("HAIRSPRING_VERSION"))
        .about(ABOUT)
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n\
             {{options}}{{after-help}}",
            overview(&groups)
        ))
        .max_term_width(80)
        .after_help(AFTER_HELP)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(groups.into_iter().flat_map(|(_, verbs)| verbs))
}

/// The command with the short helps of verbs that have many options.
fn command_with_short_helps() -> Command {
    verbs().fold(command(), |command, verb| {
        command.mut_subcommand(verb.name, |one| verb.with_short_help(one))
    })
}

/// A command line, of which `--help-all` asks for the help with all options.
fn parsed(mut words: Vec<OsString>) -> ArgMatches {
    let own = words.iter().position(|word| word == "--").unwrap_or(words.len());
    match words[..own].iter().position(|word| word == "--help-all") {
        Some(at) => {
            words[at] = "--help".into();
            command().get_matches_from(words)
        }
        None => command_with_short_helps().get_matches_from(words),
    }
}

/// The verbs by groups, as the help shows them.
fn overview(groups: &[(&str, Vec<Command>)]) -> String {
    const COLUMNS: usize = 80;
    let width = verbs().map(|verb| verb.name.len()).max().unwrap_or(0) + 4;
    let about = |verb: &Command| {
        let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
        format!(
            "  {:<rest$}{}\n",
            verb.get_name(),
            wrap(&about, COLUMNS - width).join(&format!("\n{:width$}", "")),
            rest = width - 2
        )
    };
    groups
        .iter()
        .map(|(title, verbs)| {
            format!("{title}:\n{}\n", verbs.iter().map(about).collect::<String>())
        })
        .collect()
}

fn run_verb(name: &str, arguments: &ArgMatches) -> Result<Outcome, AnyError> {
    let verb = verbs()
        .find(|verb| verb.name == name)
        .ok_or_else(|| format!("there is no verb `{name}`"))?;
    if !verb.handles_signals {
        interrupt::clean_up_on_signals()?;
    }
    (verb.run)(arguments)
}
