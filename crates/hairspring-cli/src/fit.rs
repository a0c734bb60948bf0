//! `hairspring fit`: the same estimate and checks for observations from anywhere.

use crate::arguments::FitArguments;
use crate::{AnyError, Outcome, output};
use hairspring::estimate::Options;
use hairspring::judge::{Question, Setting, assess};
use hairspring::observations::{Observations, read_csv};
use hairspring_report::{Document, Environment, json, text};
use std::fmt::Display;
use std::path::Path;

/// Runs the verb.
pub fn run(arguments: &FitArguments) -> Result<Outcome, AnyError> {
    let table = read(&arguments.file)?;
    let options = Options { level: arguments.report.confidence_level, leave_rows_out: !arguments.keep_all };
    let assessment =
        assess(&table, &Question { options, setting: Setting::Table, ..Question::default() }).map_err(|e| named(&arguments.file, &e))?;
    let document = Document {
        command: "fit".into(),
        // The machine that this runs on has nothing to do with the file.
        environment: Environment::unknown("the file has no reference chain").with_origin(&table.origin),
        ns_per_unit: table.origin.ns_per_unit(),
        assessment,
        subjects: Vec::new(),
        methods: Vec::new(),
        run: None,
    };
    output::print(&if arguments.report.json { json::print(&json::result(&document)) } else { text::report(&document, &output::style()) })?;
    Ok(Outcome::Done)
}

fn read(path: &Path) -> Result<Observations, AnyError> {
    if is_standard_input(path) {
        return Ok(read_csv(std::io::stdin().lock()).map_err(|e| named(path, &e))?);
    }
    let file = std::fs::File::open(path).map_err(|e| named(path, &e))?;
    Ok(read_csv(file).map_err(|e| named(path, &e))?)
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// An error with the name of the file that it is about.
fn named(path: &Path, reason: &dyn Display) -> String {
    if is_standard_input(path) { format!("standard input: {reason}") } else { format!("{}: {reason}", path.display()) }
}
