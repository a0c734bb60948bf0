//! Results of other tools: what can be compared, and what their intervals do not contain.

use crate::document::{Measures, ResultDocument, Series, ToolOrigin};
use crate::tool_kinds::ToolFinding;
use hairspring_core::judge::{Finding, Looks, Severity};

/// Checks that both results are of Hairspring, or both of one tool.
///
/// # Errors
/// Why a ratio of their times would mean nothing, and what to do.
pub fn comparable(old: &ResultDocument, new: &ResultDocument) -> Result<(), String> {
    let tool = |document: &ResultDocument| {
        document
            .origin
            .as_ref()
            .map_or_else(|| "Hairspring".to_owned(), |origin| origin.tool.clone())
    };
    let (before, after) = (tool(old), tool(new));
    if before == after {
        return Ok(());
    }
    Err(format!(
        "the old result is of {before} and the new one of {after}: a value is something else in \
         each, so a ratio would not be that of the code; give two results of one tool"
    ))
}

/// Why the times of two series are not of the same; `None` if they are.
pub(super) fn differ(old: &Series, new: &Series) -> Option<String> {
    let words = |measures: &Option<Measures>| {
        measures.as_ref().map_or_else(|| "slope of a line".to_owned(), Measures::words)
    };
    let same = match (&old.measures, &new.measures) {
        (None, None) => true,
        (Some(old), Some(new)) => old.is_of_the_same(new),
        _ => false,
    };
    (!same).then(|| {
        format!(
            "the old time is the {}, the new one the {}: measure both in the same way",
            words(&old.measures),
            words(&new.measures)
        )
    })
}

/// How often the verdict is looked for: the mean of few values knows its spread badly.
pub(super) fn looks(old: &Series, new: &Series) -> Looks {
    let independent = |series: &Series| series.measures.as_ref().and_then(|of| of.independent);
    let fewest = [old, new].into_iter().filter_map(independent).min();
    fewest.map_or(Looks::One, Looks::Runs)
}

/// Why a series has no interval, if that is so.
pub(super) fn no_interval(which: &str, series: &Series) -> Option<String> {
    let found = series.findings.iter().find(|finding| finding.is("no_interval"))?;
    Some(format!("the {which} result has no interval: {}", found.text("reason")?))
}

/// Whether the files name different machines.
pub(super) fn on_other_machines(old: &ResultDocument, new: &ResultDocument) -> bool {
    let machine = |document: &ResultDocument| document.origin.as_ref()?.machine.clone();
    machine(old).zip(machine(new)).is_some_and(|(old, new)| old != new)
}

/// Machine, runtime and version of both tools.
pub(super) fn circumstances(
    old: &ResultDocument,
    new: &ResultDocument,
) -> [(Severity, &'static str, Option<String>, Option<String>); 3] {
    let of = |document: &ResultDocument, pick: fn(&ToolOrigin) -> Option<String>| {
        document.origin.as_deref().and_then(pick)
    };
    let both = |pick| (of(old, pick), of(new, pick));
    let (machine, runtime, version) = (
        both(|origin| origin.machine.clone()),
        both(|origin| origin.runtime.clone()),
        both(|origin| origin.version.clone()),
    );
    [
        (Severity::Warning, "machine", machine.0, machine.1),
        (Severity::Warning, "runtime", runtime.0, runtime.1),
        (Severity::Note, "version of the tool", version.0, version.1),
    ]
}

/// What the intervals of either do not contain, each once.
pub(super) fn lacking(old: &ResultDocument, new: &ResultDocument) -> Vec<Finding> {
    let lacks = |document: &ResultDocument| {
        document.origin.as_ref().map(|origin| origin.lacks.clone()).unwrap_or_default()
    };
    let (before, after) = (lacks(old), lacks(new));
    let Some(tool) = new.origin.as_ref().or(old.origin.as_ref()).map(|origin| &origin.tool) else {
        return Vec::new();
    };
    let note = |(result, lacks): (&str, &String)| {
        Finding::new(
            Severity::Note,
            ToolFinding::IntervalLacks {
                result: result.to_owned(),
                tool: tool.clone(),
                lacks: lacks.clone(),
            },
        )
    };
    let first = before.iter().map(|clause| {
        (if after.contains(clause) { "both results" } else { "the old result" }, clause)
    });
    let second = after
        .iter()
        .filter(|clause| !before.contains(clause))
        .map(|clause| ("the new result", clause));
    first.chain(second).map(note).collect()
}
