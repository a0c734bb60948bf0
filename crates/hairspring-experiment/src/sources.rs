//! The lines of a budget from the entries of a document. Every known source has its line, and one that adds nothing says why.

use crate::budget::{Entry, KNOWN, Known};
use crate::definition::ErrorKind;
use hairspring_core::estimate::Source;
use hairspring_expect::Dimension;
use hairspring_result::document::BudgetEntry;
use hairspring_view::format::significant;
use serde_json::Value;

/// Name of the line about neighbours.
const INTERFERENCE: &str = "interference";
/// Name of the line about the core clock.
pub const CORE_CLOCK: &str = "core clock";

/// The entries as lines. Their half-widths are in nanoseconds or ticks; `factor` brings them into the unit of the figure.
pub fn lines(entries: &[BudgetEntry], factor: f64, dimension: Dimension, environment: &Value) -> Vec<Entry> {
    let is_cycles = dimension == Dimension::CYCLES;
    let half = |source: Source| -> f64 {
        let of = entries.iter().filter(|entry| entry.source == source);
        of.filter_map(|entry| entry.half_width_ns.or(entry.half_width_ticks).flatten()).sum::<f64>() * factor.abs()
    };
    let line = |known: &Known| {
        let size = if is_cycles && known.source == Source::Rate { 0.0 } else { half(known.source) };
        let note = (size == 0.0).then(|| absent(known.source, dimension, environment));
        (size > 0.0 || known.always).then(|| Entry::new(known.name, known.kind, size, note))
    };
    let others = entries.iter().filter(|entry| KNOWN.iter().all(|known| known.source != entry.source));
    let other = |entry: &BudgetEntry| Entry::new(name_of(entry.source), ErrorKind::Systematic, half(entry.source), None);
    // Core cycles do not change with the core clock.
    let is_counted = |entry: &Entry| !is_cycles || entry.source != CORE_CLOCK;
    KNOWN.iter().filter_map(line).chain(others.map(other).filter(is_counted)).collect()
}

/// The code of the finding that something else used the core.
pub const SHARED: &str = "core_shared";

/// The lines with what a finding about the core says: interference that is seen and in no line is not known.
pub fn of_shared_core(mut budget: Vec<Entry>) -> Vec<Entry> {
    let is_none = |entry: &&mut Entry| entry.source == INTERFERENCE && entry.half_width == 0.0;
    if let Some(entry) = budget.iter_mut().find(is_none) {
        entry.note = Some("not known: something else used the core, as a finding says, and no line has its effect".into());
    }
    budget
}

/// The lines of a document that gives an interval without its parts.
pub fn untold() -> Vec<Entry> {
    let note = "in the interval of the document, which does not tell its parts";
    KNOWN.iter().filter(|known| known.always).map(|known| Entry::new(known.name, known.kind, 0.0, Some(note.into()))).collect()
}

/// The name of a source that has no line of its own: `core clock`.
fn name_of(source: Source) -> String {
    let name = serde_json::to_value(source).ok().and_then(|value| value.as_str().map(|name| name.replace('_', " ")));
    name.unwrap_or_else(|| "another source".to_owned())
}

/// Why a source adds nothing.
fn absent(source: Source, dimension: Dimension, environment: &Value) -> String {
    let clock = |key: &str| environment["clock"][key].as_f64();
    match source {
        Source::Granularity => match (clock("granularity_ticks"), clock("rate_hz")) {
            (Some(step), Some(hz)) => averaged(&format!("{} ns", significant(step / hz * 1e9, 2))),
            (Some(step), None) => averaged(&format!("{} ticks", significant(step, 3))),
            (None, _) => "not known: the measurement does not state the step of its clock".into(),
        },
        Source::Rate if dimension == Dimension::CYCLES => "core cycles do not depend on the rate of the clock".into(),
        Source::Rate if dimension == Dimension::TICKS => "ticks do not depend on the rate of the clock".into(),
        Source::Rate => match clock("rate_uncertainty_ppm") {
            Some(_) => "the rate of the clock is exact, or cancels".into(),
            None => "not known: the measurement does not state how exact the rate of its clock is".into(),
        },
        Source::Fence => "the line fit separates it from the time".into(),
        Source::Stochastic => "the readings show none".into(),
        Source::LackOfFit => "the rows lie on the line as closely as their noise allows".into(),
        Source::Neighbour if environment["reference"].is_null() => "not known: no chain of known length ran beside the code".into(),
        Source::Neighbour => "disturbed readings are left out, and chains of known length show no further effect".into(),
        _ => "none was seen".into(),
    }
}

fn averaged(step: &str) -> String {
    format!("averages out: readings begin at all phases of the clock, whose step is {step}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(source: Source, half: f64) -> BudgetEntry {
        BudgetEntry { source, half_width_ns: Some(Some(half)), half_width_ticks: None }
    }

    #[test]
    fn sources_are_named_as_in_the_documents() {
        assert_eq!((name_of(Source::LackOfFit).as_str(), name_of(Source::Runs).as_str()), ("lack of fit", "runs"));
    }

    #[test]
    fn every_source_has_a_line_and_an_absent_one_its_reason() {
        let environment = json!({"clock": {"granularity_ticks": 26.0, "rate_hz": 2.6e9, "rate_uncertainty_ppm": 1.0}, "reference": {}});
        let entries = [entry(Source::Stochastic, 2.0), entry(Source::Rate, 1.0), entry(Source::CoreClock, 3.0)];
        let all = lines(&entries, 2.0, Dimension::TIME, &environment);
        let found: Vec<(&str, f64)> = all.iter().map(|entry| (entry.source.as_str(), entry.half_width)).collect();
        let six = [
            ("clock resolution", 0.0),
            ("clock rate", 2.0),
            ("overhead", 0.0),
            ("noise", 4.0),
            ("lack of fit", 0.0),
            ("interference", 0.0),
        ];
        assert_eq!(found, [&six[..], &[(CORE_CLOCK, 6.0)]].concat());
        assert!(all.iter().all(|entry| (entry.half_width > 0.0) != entry.note.is_some() && entry.half_width.is_sign_positive()), "{all:?}");
        assert!(all[0].note.as_ref().unwrap().ends_with("whose step is 10 ns"), "{all:?}");
        let shared = of_shared_core(all);
        assert!(shared[5].note.as_ref().unwrap().starts_with("not known: something else used the core"), "{shared:?}");
        let cycles = lines(&entries, 1.0, Dimension::CYCLES, &Value::Null);
        assert!(cycles.len() == 6 && cycles[0].note.as_ref().unwrap().starts_with("not known"), "{cycles:?}");
        assert!(cycles[1].note.as_ref().unwrap().starts_with("core cycles do not"), "{cycles:?}");
    }
}
