//! `hairspring fit`: the same estimate and checks for observations from anywhere.

use crate::arguments::FitArguments;
use crate::{AnyError, Outcome, output};
use hairspring::estimate::Options;
use hairspring::judge::{Question, assess};
use hairspring::observations::{Observations, read_csv};
use hairspring_report::{ClockInfo, Document, Environment, Ruler, json, text};
use std::path::Path;

/// Runs the verb.
pub fn run(arguments: &FitArguments) -> Result<Outcome, AnyError> {
    let table = read(&arguments.file)?;
    let options = Options { level: arguments.report.confidence_level, leave_rows_out: !arguments.keep_all };
    let assessment = assess(&table, &Question { options, ..Question::default() })?;
    let document = Document {
        command: "fit".into(),
        environment: environment(&table),
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
    if path == Path::new("-") {
        return Ok(read_csv(std::io::stdin().lock()).map_err(|e| format!("standard input, {e}"))?);
    }
    let named = |reason: &dyn std::fmt::Display| format!("{}: {reason}", path.display());
    let file = std::fs::File::open(path).map_err(|e| named(&e))?;
    Ok(read_csv(file).map_err(|e| named(&e))?)
}

/// What the file says of its origin; the machine that this runs on has nothing to do with it.
fn environment(table: &Observations) -> Environment {
    let origin = &table.origin;
    let clock = origin.clock.clone().or(origin.rate.as_ref().map(|_| "of the file".to_owned()));
    let reference =
        origin.reference.as_ref().map(|(series, cycles)| Ruler { cycles: *cycles, provenance: format!("series `{series}` of the file") });
    Environment {
        machine: None,
        clock: clock.map(|name| ClockInfo {
            name,
            description: String::new(),
            rate: origin.rate.clone(),
            granularity_ticks: origin.granularity,
            read_cost_ticks: None,
        }),
        ruler: reference.ok_or_else(|| "the file has no reference chain".to_owned()),
        compiler: None,
        compiler_flags: None,
        pinned_cpu: None,
        priority_raised: None,
        memory_locked: None,
    }
}
