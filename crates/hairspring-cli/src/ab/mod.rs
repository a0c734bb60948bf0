//! `hairspring ab`: two builds, measured in turns, with the base against itself beside them.

mod arguments;
mod arm;
mod command;
mod commits;
mod measure;
mod pair;
mod programs;
mod sides;
mod thresholds;
mod turns;

use crate::interrupt;
use crate::run::arguments::RunArguments;
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use arguments::AbArguments;
use command::Commands;
use hairspring_core::judge::{Remedies, Verdict};
use hairspring_host::thread::check_cpu;
use hairspring_result::ab::{AbDocument, Change};
use hairspring_result::compare::Limit;
use hairspring_result::json;
use hairspring_view::text;
use measure::measured;
use programs::Programs;
use sides::{Sides, of_file};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use thresholds::Thresholds;

/// The verb.
pub const VERB: Verb = Verb::of::<AbArguments>().with_remedies(REMEDIES);

/// Remedies by the code of a finding (`spec/result.md`).
const REMEDIES: Remedies = Remedies { by_code: &[], more_rows: "" };

impl Runs for AbArguments {
    const NAME: &'static str = "ab";
    const HANDLES_SIGNALS: bool = true;

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Runs the verb. Ctrl-C ends it with what was measured so far.
fn run(arguments: &AbArguments) -> Result<Outcome, AnyError> {
    arguments.cpu.map_or(Ok(()), check_cpu)?;
    let thresholds = Thresholds::find(arguments)?;
    let stop = interrupt::stop_on_signals()?;
    let measured = if arguments.command {
        let mut commands = Commands::new(arguments, &stop)?;
        measured(arguments, &mut commands, &thresholds)
    } else {
        let of_run = arguments.of_run()?;
        let sides = sides(arguments, &of_run, &stop)?;
        let mut programs = Programs::new(arguments, &of_run, sides, &stop);
        measured(arguments, &mut programs, &thresholds)
    };
    let mut document = measured.document;
    REMEDIES.apply(&mut document.findings);
    let text = || Ok(text::ab(&document, &output::style()));
    arguments.print.print(|| json::print(&document), text)?;
    Ok(if measured.has_failed { Outcome::Failed } else { outcome(&document, arguments.strict) })
}

/// The programs of the two builds.
fn sides(
    arguments: &AbArguments,
    of_run: &RunArguments,
    stop: &AtomicBool,
) -> Result<Sides, AnyError> {
    let side = |word: &OsStr| {
        if is_file(Path::new(word)) {
            of_file(word, arguments, of_run)
        } else {
            commits::of_word(word, arguments, of_run, stop)
        }
    };
    Sides::find(side(&arguments.base)?, side(&arguments.head)?, arguments, of_run)
}

/// Whether a word names a file: it is one, or it begins like a path.
fn is_file(path: &Path) -> bool {
    let begins = ["/", "./", "../"];
    let begins = begins.iter().any(|start| path.to_string_lossy().starts_with(start));
    path.is_file() || !path.is_dir() && begins
}

/// Whether a limit was not met.
fn outcome(document: &AbDocument, strict: bool) -> Outcome {
    let is_open = |change: &Change| match change.limit {
        Some(limit) => limit == Limit::Undecided,
        None => change.verdict == Verdict::Undecided,
    };
    let is_uncertain = document.results.iter().any(is_open) || !document.missing.is_empty();
    match document.past_threshold {
        0 if document.pairs == 0 => Outcome::Failed,
        0 if strict && is_uncertain => Outcome::LimitMissed,
        0 => Outcome::Done,
        _ => Outcome::LimitMissed,
    }
}
