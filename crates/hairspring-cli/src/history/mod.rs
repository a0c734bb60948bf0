//! `hairspring history`: results of many commits, kept and searched for steps.

mod add;
mod arguments;
mod check;
mod database;
mod git;
mod move_runs;

use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome};
pub use arguments::HistoryArguments;
use arguments::HistoryVerb;

/// The verb.
pub const VERB: Verb = Verb::of::<HistoryArguments>();

impl Runs for HistoryArguments {
    const NAME: &'static str = "history";

    fn run(&self) -> Result<Outcome, AnyError> {
        match &self.verb {
            HistoryVerb::Add(arguments) => add::run(arguments),
            HistoryVerb::Show(arguments) => check::show(arguments),
            HistoryVerb::Check(arguments) => check::check(arguments),
            HistoryVerb::Import(arguments) => move_runs::import(arguments),
            HistoryVerb::Export(arguments) => move_runs::export(arguments),
            HistoryVerb::Prune(arguments) => move_runs::prune(arguments),
        }
    }
}
