//! `hairspring fit`: solves observations from a file, with the same estimate and checks as `time`.

use crate::arguments::{FitArguments, FitFormat};
use crate::remedies::FIT;
use crate::{AnyError, Outcome, output};
use hairspring_core::estimate::Options;
use hairspring_core::judge::Question;
use hairspring_core::judge::methods::{self, MethodTable};
use hairspring_core::observations::{Observations, read_csv};
use hairspring_import::{Tool, detect, head};
use hairspring_program::circumstances::identity;
use hairspring_result::{Environment, Measurement, ResultDocument, Subject, json};
use hairspring_view::text;
use std::fmt::Display;
use std::io::Read;
use std::path::Path;

/// Runs the verb.
pub fn run(arguments: &FitArguments) -> Result<Outcome, AnyError> {
    let (table, tool) = read(arguments)?;
    let options = Options { level: arguments.report.confidence_level, leave_rows_out: !arguments.keep_all, ..Options::default() };
    let assessment = FIT.assess(&table, &Question { options, ..Question::default() }).map_err(|e| named(&arguments.file, &e))?;
    let methods = if tool.is_some() { methods::beside_tools(&table, &assessment) } else { Vec::new() };
    let document = ResultDocument::new(&Measurement {
        command: "fit".into(),
        // The file may come from another machine, so this one is not described.
        environment: Environment { identity: Some(identity()), ..Environment::unknown("the file has no reference chain") }
            .with_origin(&table.origin),
        ns_per_unit: table.origin.ns_per_unit(),
        assessment,
        subjects: subjects(&methods),
        methods,
        run: None,
    });
    output::print(&if arguments.report.json { json::print(&document) } else { text::report(&document, &output::style()) })?;
    Ok(Outcome::Done)
}

/// The errors of other tools' methods, as findings of their series.
fn subjects(tables: &[MethodTable]) -> Vec<Subject> {
    let subject = |table: &MethodTable| Subject { name: table.subject.clone(), findings: methods::doubts(table), ..Subject::default() };
    tables.iter().map(subject).collect()
}

/// The observations, and the tool that wrote the file. What is left out of it is reported on standard error.
fn read(arguments: &FitArguments) -> Result<(Observations, Option<Tool>), AnyError> {
    let path = &arguments.file;
    let stream: Box<dyn Read> = if is_standard_input(path) {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(std::fs::File::open(path).map_err(|e| named(path, &e))?)
    };
    let (head, stream) = head(stream).map_err(|e| named(path, &e))?;
    let tool = match arguments.format {
        None => detect(&head),
        Some(FitFormat::Observations) => None,
        Some(FitFormat::Criterion) => Some(Tool::Criterion),
        Some(FitFormat::GoogleBenchmark) => Some(Tool::GoogleBenchmark),
    };
    let Some(tool) = tool else { return Ok((read_csv(stream).map_err(|e| named(path, &e))?, None)) };
    let imported = hairspring_import::read(stream, tool).map_err(|e| named(path, &e))?;
    imported.remarks.iter().for_each(|remark| output::complain(&named(path, remark)));
    Ok((imported.table, Some(tool)))
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// An error with the name of the file that it is about.
fn named(path: &Path, reason: &dyn Display) -> String {
    if is_standard_input(path) { format!("standard input: {reason}") } else { format!("{}: {reason}", path.display()) }
}
