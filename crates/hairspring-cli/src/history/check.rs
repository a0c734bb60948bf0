//! `history show` and `history check`.

use super::arguments::{CheckArguments, DatabaseArguments, ShowArguments, StepArguments};
use super::database::named;
use super::git;
use crate::arguments::PrintArguments;
use crate::misuse::Misuse;
use crate::{AnyError, Outcome, output};
use hairspring_core::judge::{Finding, Severity};
use hairspring_history::change::Options;
use hairspring_history::document::HistoryDocument;
use hairspring_history::judge::{HistoryFinding, Terms, Wanted, judge};
use hairspring_history::order::ordered;
use hairspring_history::store::Store;
use hairspring_history::text;
use hairspring_program::circumstances::identity;
use hairspring_result::json;
use hairspring_view::page::Style;

/// Shows series.
pub fn show(arguments: &ShowArguments) -> Result<Outcome, AnyError> {
    let terms = terms("history show", &arguments.steps, &arguments.series, true);
    let document = document(&arguments.database, terms)?;
    print(&arguments.print, &document, text::show)?;
    Ok(Outcome::Done)
}

/// Tells new steps.
pub fn check(arguments: &CheckArguments) -> Result<Outcome, AnyError> {
    let drawn = arguments.print.page.html.is_some() || !arguments.print.plots.plot.is_empty();
    let terms = terms("history check", &arguments.steps, &arguments.series, drawn);
    let document = document(&arguments.database, terms)?;
    print(&arguments.print, &document, text::check)?;
    let shown = || document.series.iter();
    let past = shown().flat_map(|one| &one.steps).any(|step| step.past);
    let outside = shown().filter_map(|one| one.last.as_ref()).any(|last| last.outside);
    let missed = past || arguments.strict && outside;
    Ok(if missed { Outcome::LimitMissed } else { Outcome::Done })
}

fn print(
    arguments: &PrintArguments,
    document: &HistoryDocument,
    text: fn(&HistoryDocument, &Style) -> String,
) -> Result<(), AnyError> {
    arguments.print(|| json::print(document), || Ok(text(document, &output::style())))
}

fn terms(command: &str, steps: &StepArguments, names: &[String], with_points: bool) -> Terms {
    Terms {
        command: command.into(),
        database: String::new(),
        options: Options {
            false_discoveries: steps.false_discoveries,
            level: steps.confidence_level,
            ..Options::default()
        },
        threshold: steps.threshold,
        new_points: steps.new,
        with_points,
        wanted: Wanted { names: names.to_vec() },
    }
}

/// Reads the history, and judges it in the order of git's commits.
fn document(database: &DatabaseArguments, terms: Terms) -> Result<HistoryDocument, AnyError> {
    let (path, store) = database.read()?;
    let terms = Terms { database: path.display().to_string(), ..terms };
    let runs = store.runs().map_err(|error| named(&path, &error))?;
    let order = ordered(&runs, &git::commits());
    let judged = judge(&store, &runs, &order, &terms).map_err(|error| named(&path, &error))?;
    if judged.series.is_empty() && !terms.wanted.names.is_empty() {
        return Err(unknown(&terms.wanted.names, &store, &path).into());
    }
    let mut document = HistoryDocument { identity: Some(identity()), ..judged };
    if order.unknown > 0 && git::is_shallow() {
        document.findings.push(Finding::new(Severity::Warning, HistoryFinding::CloneShallow));
    }
    Ok(document)
}

/// Names of which there is no series.
fn unknown(names: &[String], store: &dyn Store, path: &std::path::Path) -> Misuse {
    let series = store.series().unwrap_or_default();
    let known: Vec<&str> = series.iter().map(|(_, key)| key.name.as_str()).collect();
    let wrong = names.first().map(String::as_str).unwrap_or_default();
    let alike = hairspring_core::alike::nearest(wrong, known.iter().copied());
    let hint = alike.map(|name| format!("; did you mean `{}`?", name.escape_debug()));
    Misuse(format!(
        "{}: no series has `{}` in its name{}",
        path.display(),
        wrong.escape_debug(),
        hint.unwrap_or_else(|| "; `history show` lists all".into())
    ))
}
