//! The lines of a budget from the entries of a document. Every known source has its line, and one
//! that adds nothing says why.

use crate::budget::{Entry, KNOWN_SOURCES, Known};
use crate::definition::ErrorKind;
use hairspring_core::estimate::Source;
use hairspring_expect::Dimension;
use hairspring_result::document::{BudgetEntry, FigureEntry};
use hairspring_view::format::significant;
use hairspring_view::source_name;
use serde_json::Value;

/// The entries as lines. Their half-widths are in nanoseconds or ticks; `factor` brings them into
/// the unit of the figure.
pub fn lines(
    entries: &[BudgetEntry],
    factor: f64,
    dimension: Dimension,
    environment: &Value,
) -> Vec<Entry> {
    let is_cycles = dimension == Dimension::CYCLES;
    let half = |source: Source| -> f64 {
        let of = entries.iter().filter(|entry| entry.source == source);
        of.filter_map(|entry| entry.half_width_ns.or(entry.half_width_ticks).flatten()).sum::<f64>()
            * factor.abs()
    };
    let line = |known_source: &Known| {
        let size = if is_cycles && known_source.source == Source::Rate {
            0.0
        } else {
            half(known_source.source)
        };
        let note = (size == 0.0).then(|| absent(known_source.source, dimension, environment));
        (size > 0.0 || known_source.always)
            .then(|| Entry::new(source_name(known_source.source), known_source.kind, size, note))
    };
    // Core cycles do not change with the core clock.
    let is_counted = |entry: &&BudgetEntry| {
        is_unlisted(entry.source) && !(is_cycles && entry.source == Source::CoreClock)
    };
    let other_line = |entry: &BudgetEntry| {
        Entry::new(source_name(entry.source), ErrorKind::Systematic, half(entry.source), None)
    };
    KNOWN_SOURCES
        .iter()
        .filter_map(line)
        .chain(entries.iter().filter(is_counted).map(other_line))
        .collect()
}

/// Whether a source is none of those that every budget knows.
fn is_unlisted(source: Source) -> bool {
    KNOWN_SOURCES.iter().all(|known| known.source != source)
}

/// The entries that stand beside a figure as lines; `factor` brings them into the unit of the
/// record.
pub fn figure_lines(entries: &[FigureEntry], factor: f64) -> Vec<Entry> {
    let half = |entry: &FigureEntry| entry.half_width.unwrap_or(f64::INFINITY) * factor.abs();
    let of = |entry: &FigureEntry, kind| {
        Entry::new(source_name(entry.source), kind, half(entry), entry.note.clone())
    };
    let line = |known_source: &Known| match entries
        .iter()
        .find(|entry| entry.source == known_source.source)
    {
        Some(entry) => Some(of(entry, known_source.kind)),
        None => known_source
            .always
            .then(|| unstated(known_source, "not known: the document does not state it")),
    };
    let other_entries = entries.iter().filter(|entry| is_unlisted(entry.source));
    KNOWN_SOURCES
        .iter()
        .filter_map(line)
        .chain(other_entries.map(|entry| of(entry, ErrorKind::Systematic)))
        .collect()
}

/// A line of a source that the document does not state.
fn unstated(known_source: &Known, note: &str) -> Entry {
    Entry::new(source_name(known_source.source), known_source.kind, 0.0, Some(note.to_owned()))
}

/// The code of the finding that something else used the core.
pub const SHARED_CORE: &str = "core_shared";

/// The lines with what a finding about the core says: interference that is seen and in no line is
/// not known.
pub fn of_shared_core(mut budget: Vec<Entry>) -> Vec<Entry> {
    let is_none = |entry: &&mut Entry| {
        entry.source == source_name(Source::Controls) && entry.half_width == 0.0
    };
    if let Some(entry) = budget.iter_mut().find(is_none) {
        entry.note = Some(
            "not known: something else used the core, as a finding says, and no line has its effect"
                .into(),
        );
    }
    budget
}

/// The lines of a document that gives an interval without its parts.
pub fn untold() -> Vec<Entry> {
    let note = "in the interval of the document, which does not tell its parts";
    KNOWN_SOURCES.iter().filter(|known| known.always).map(|known| unstated(known, note)).collect()
}

/// Why a source adds nothing.
fn absent(source: Source, dimension: Dimension, environment: &Value) -> String {
    let clock = |key: &str| environment["clock"][key].as_f64();
    match source {
        Source::Quantum => match (clock("granularity_ticks"), clock("rate_hz")) {
            (Some(step), Some(hz)) => averaged(&format!("{} ns", significant(step / hz * 1e9, 2))),
            (Some(step), None) => averaged(&format!("{} ticks", significant(step, 3))),
            (None, _) => "not known: the measurement does not state the step of its clock".into(),
        },
        Source::Rate if dimension == Dimension::CYCLES => {
            "core cycles do not depend on the rate of the clock".into()
        }
        Source::Rate if dimension == Dimension::TICKS => {
            "ticks do not depend on the rate of the clock".into()
        }
        Source::Rate => match clock("rate_uncertainty_ppm") {
            Some(_) => "the rate of the clock is exact, or cancels".into(),
            None => "not known: the measurement does not state how exact the rate of its clock is"
                .into(),
        },
        Source::Fence => "the line fit separates it from the time".into(),
        Source::Noise => "the readings show none".into(),
        Source::Departure => "the rows lie on the line as closely as their noise allows".into(),
        Source::Controls if environment["reference"].is_null() => {
            "not known: no chain of known length ran beside the code".into()
        }
        Source::Controls => {
            "disturbed readings are left out, and chains of known length show no further effect"
                .into()
        }
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
    fn every_source_has_a_line_and_an_absent_one_its_reason() {
        let environment = json!({"clock": {"granularity_ticks": 26.0, "rate_hz": 2.6e9,
            "rate_uncertainty_ppm": 1.0}, "reference": {}});
        let entries =
            [entry(Source::Noise, 2.0), entry(Source::Rate, 1.0), entry(Source::CoreClock, 3.0)];
        let all_lines = lines(&entries, 2.0, Dimension::TIME, &environment);
        let widths: Vec<(&str, f64)> =
            all_lines.iter().map(|entry| (entry.source.as_str(), entry.half_width)).collect();
        let six = [
            ("clock resolution", 0.0),
            ("clock rate", 2.0),
            ("overhead", 0.0),
            ("noise", 4.0),
            ("lack of fit", 0.0),
            ("control chains", 0.0),
        ];
        assert_eq!(widths, [&six[..], &[(source_name(Source::CoreClock), 6.0)]].concat());
        assert!(
            all_lines.iter().all(|entry| (entry.half_width > 0.0) != entry.note.is_some()
                && entry.half_width.is_sign_positive()),
            "{all_lines:?}"
        );
        assert!(
            all_lines[0].note.as_ref().unwrap().ends_with("whose step is 10 ns"),
            "{all_lines:?}"
        );
        let with_shared_core = of_shared_core(all_lines);
        assert!(
            with_shared_core[5]
                .note
                .as_ref()
                .unwrap()
                .starts_with("not known: something else used the core"),
            "{with_shared_core:?}"
        );
        let cycles = lines(&entries, 1.0, Dimension::CYCLES, &Value::Null);
        assert!(
            cycles.len() == 6 && cycles[0].note.as_ref().unwrap().starts_with("not known"),
            "{cycles:?}"
        );
        assert!(cycles[1].note.as_ref().unwrap().starts_with("core cycles do not"), "{cycles:?}");
    }

    #[test]
    fn entries_beside_a_figure_keep_their_notes_and_missing_ones_are_not_known() {
        let entry = |source, half, note: Option<&str>| FigureEntry {
            source,
            half_width: half,
            note: note.map(str::to_owned),
        };
        let entries = [
            entry(Source::Rate, Some(2.0), Some("compared")),
            entry(Source::Fence, Some(0.0), Some("cancels")),
            entry(Source::CoreClock, Some(3.0), None),
            entry(Source::Noise, None, None),
        ];
        let found_lines = figure_lines(&entries, 0.5);
        let of = |name: &str| {
            found_lines
                .iter()
                .find(|line| line.source == name)
                .map(|line| (line.half_width, line.note.as_deref()))
        };
        assert_eq!(of("clock rate"), Some((1.0, Some("compared"))));
        assert_eq!(of("overhead"), Some((0.0, Some("cancels"))));
        assert_eq!(
            (of("core clock"), of("noise")),
            (Some((1.5, None)), Some((f64::INFINITY, None)))
        );
        assert_eq!(
            of("lack of fit"),
            Some((0.0, Some("not known: the document does not state it")))
        );
        assert_eq!(found_lines.len(), 7);
    }
}
