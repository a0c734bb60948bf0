//! What the table says of itself: its clock, its compiler, and what its source found.

use crate::finding::words::counted;
use crate::finding::{Finding, Numbers, Severity, code};
use crate::numbers;
use crate::observations::{Origin, SeriesId};
use crate::stages::{Did, Stage, State};

pub(crate) const STAGE: Stage = Stage {
    name: "origin",
    question: "What does the table say of its clock and its code?",
    needs: &[],
    limits: &[],
    source: None,
    says,
};

/// Key of a note that holds a finding.
const KEY: &str = "finding";
/// Most findings that a table carries. A source has a few kinds; a file may have any number.
const MOST_NAMED: usize = 100;

/// Adds findings of the source of the readings to a table: every result from it has them.
pub fn carry(findings: &[Finding], origin: &mut Origin) {
    let text = |finding: &Finding| Some((KEY.to_owned(), serde_json::to_string(finding).ok()?));
    origin.notes.extend(findings.iter().filter_map(text));
}

/// The findings that came with the table. A note of the same key that is no finding stays a note.
fn carried(origin: &Origin) -> impl Iterator<Item = Finding> + '_ {
    let notes = origin.notes.iter().filter(|(key, _)| key == KEY);
    notes.filter_map(|(_, text)| serde_json::from_str(text).ok()).take(MOST_NAMED)
}

/// Looks at the head of the table.
pub(crate) fn look(state: &mut State) -> Did {
    match carried(&state.table.origin).count() {
        0 => Did::nothing("it came without findings"),
        some => {
            Did::something(format!("it came with {}", counted(some as u64, "finding", "findings")))
        }
    }
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let origin = &state.table.origin;
    let name = &state.table.series_names()[usize::from(series)];
    let unoptimised = origin.unoptimised.contains(name).then(not_optimised);
    let clock = origin.clock.as_deref().and_then(clock_finding);
    [unoptimised, clock, no_cycles(state)].into_iter().flatten().chain(carried(origin)).collect()
}

fn not_optimised() -> Finding {
    let message = "the code was compiled without optimisation: moves between registers and the \
                   stack may take most of the time";
    let remedy =
        "compile it with optimisation (-O2), unless unoptimised code is what you want to time";
    Finding::of(
        Severity::Warning,
        code::NOT_OPTIMISED,
        message.to_owned(),
        Numbers::default(),
        remedy,
    )
}

/// A finding if the clock is not ordered.
pub fn clock_finding(clock: &str) -> Option<Finding> {
    let message = format!(
        "clock `{clock}` is not ordered: the core may run the code and the read at the same time"
    );
    let is_ordered = clock != "rdtsc";
    let clock = clock.to_owned();
    let remedy = "use an ordered clock, unless this effect is what you study";
    (!is_ordered).then(|| {
        Finding::of(Severity::Warning, code::UNORDERED_CLOCK, message, numbers! { clock }, remedy)
    })
}

fn no_cycles(state: &State) -> Option<Finding> {
    let is_asked = !state.options.is_without(super::reference::STAGE.name);
    let (name, _) =
        state.table.origin.reference.as_ref().filter(|_| is_asked && state.ruler().is_none())?;
    let reason = format!("the reference chain `{name}` could not be measured in this run");
    let message = format!("no core cycles: {reason}");
    Some(Finding::of(
        Severity::Note,
        code::NO_CYCLES,
        message,
        numbers! { reason },
        "nothing to do: the time does not depend on core cycles",
    ))
}
