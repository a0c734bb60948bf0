//! Solves the readings of a file, as `fit` and `capture` of the command do.

use crate::ask::Solving;
use crate::kind::Kind;
use crate::open::Table;
use hairspring_capture::{doubt_bend, doubt_counts};
use hairspring_core::estimate::Options;
use hairspring_core::judge::methods;
use hairspring_core::judge::{Assessment, Question, Remedies};
use hairspring_core::observations::Observations;
use hairspring_result::{Environment, Identity, Measurement, ResultDocument, Subject};
use std::borrow::Cow;
use std::time::SystemTime;

/// Remedies by the code of a finding; they name what a page has. A finding that is not listed keeps
/// the neutral remedy of its kind.
pub const REMEDIES: Remedies = Remedies {
    by_code: &[(
        "rows_left_out",
        "look at these rows in the list; the switch for rows off the line uses all of them",
    )],
    more_rows: "add rows with other counts, or switch rows on again",
};

/// Solves a table; `created` is the time of the document.
///
/// # Errors
/// What is wrong with the options, or why the table cannot be solved.
pub fn solve(
    table: &Table,
    asked: &Solving,
    created: Option<SystemTime>,
) -> Result<ResultDocument, String> {
    let options = asked.options()?;
    let used = used(table, asked)?;
    let assessment = judged(&used, table.kind, options).map_err(|error| error.to_string())?;
    let methods = if table.kind == Kind::Benchmark {
        methods::beside_tools(&used, &assessment)
    } else {
        Vec::new()
    };
    let document = ResultDocument::new(&Measurement {
        command: if table.kind == Kind::Recording { "capture" } else { "fit" }.into(),
        environment: environment(&used, table.kind, created),
        ns_per_unit: used.origin.ns_per_unit(),
        assessment,
        subjects: Subject::of_methods(&methods),
        methods,
        run: None,
    });
    Ok(match asked.at_clock {
        Some(hz) => document.at_clock(hz),
        None => document,
    })
}

/// The table without what the page leaves out.
pub fn used<'t>(table: &'t Table, asked: &Solving) -> Result<Cow<'t, Observations>, String> {
    let all = &table.observations;
    if !asked.is_partial() {
        return Ok(Cow::Borrowed(all));
    }
    let part = all.excluding(|reading| asked.leaves_out(reading.row, reading.round));
    part.map(Cow::Owned).map_err(|_| NOTHING_LEFT.to_owned())
}

const NOTHING_LEFT: &str =
    "no reading of a series is left: switch some of its rows or rounds on again";

fn judged(
    table: &Observations,
    kind: Kind,
    options: Options,
) -> hairspring_core::Result<Assessment> {
    let question = Question { options, ..Question::default() };
    let mut assessment = REMEDIES.assess(table, &question)?;
    if table.origin.is_recording() {
        doubt_counts(table, &mut assessment);
        if kind == Kind::Recording {
            REMEDIES.apply(assessment.series.iter_mut().flat_map(|one| &mut one.findings));
        }
        doubt_bend(&mut assessment);
    }
    Ok(assessment)
}

/// The file may come from another machine, so that none is described.
fn environment(table: &Observations, kind: Kind, created: Option<SystemTime>) -> Environment {
    let no_cycles = if kind == Kind::Recording {
        "a recording has no reference chain"
    } else {
        "the file has no reference chain"
    };
    let identity = created.map(|time| Identity::new(time, None, None));
    Environment { identity, ..Environment::unknown(no_cycles) }.with_origin(&table.origin)
}
