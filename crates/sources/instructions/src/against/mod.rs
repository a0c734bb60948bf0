//! The table compared with another source: a file, or the model of a compiler.

pub mod copy;
mod file;
pub mod llvm;
mod mca;

pub use file::read;

use crate::forms::words;
use crate::result::{Cycles, Table};
use hairspring_core::Estimate;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Latency of the slowest pair of operands.
    Latency,
    /// Cycles of one of many independent copies.
    Throughput,
}

impl Quantity {
    /// Its name in the text.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Latency => "latency",
            Quantity::Throughput => "per copy",
        }
    }

    /// Largest difference, as a share, at which two sources agree.
    pub fn tolerance(self) -> f64 {
        match self {
            Quantity::Latency => 0.01,
            Quantity::Throughput => 0.02,
        }
    }
}

/// A number of another source.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The form as the source calls it.
    pub form: String,
    /// What it is.
    pub quantity: Quantity,
    /// Cycles.
    pub cycles: f64,
}

/// A form in both sources.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRow {
    /// Name of the form.
    pub form: String,
    /// What is compared.
    pub quantity: Quantity,
    /// Cycles as measured here.
    pub here: f64,
    /// Cycles of the other source.
    pub there: f64,
    /// Whether they agree.
    pub agrees: bool,
}

/// The table compared with another source.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The other source.
    pub source: String,
    /// Forms in both.
    pub rows: Vec<ComparedRow>,
    /// Numbers in both sources that are in doubt here, or only known as a sum, and are not
    /// compared.
    pub doubtful: usize,
    /// Names in the other source that no measured form has, each once, in its order.
    pub unknown: Vec<String>,
}

impl Comparison {
    /// Compares a table with the figures of a source.
    pub fn new(table: &Table, source: &str, figures: &[Figure]) -> Comparison {
        let (mut rows, mut doubtful, mut unknown, mut seen_names) =
            (Vec::new(), 0, Vec::new(), HashSet::new());
        let by_words: HashMap<_, _> =
            table.forms.iter().map(|form| (words(&form.name), form)).collect();
        for figure in figures {
            let Some(form) = by_words.get(&words(&figure.form)) else {
                // A name may have several rows, which need not be neighbours.
                if seen_names.insert(&figure.form) {
                    unknown.push(figure.form.clone());
                }
                continue;
            };
            let here = match figure.quantity {
                Quantity::Latency => form
                    .latency()
                    .filter(|latency| !latency.is_doubtful)
                    .and_then(|latency| match &latency.cycles {
                        Cycles::Alone(cycles) => Some(cycles),
                        _ => None,
                    }),
                Quantity::Throughput => {
                    let usual = form
                        .throughput
                        .cycles
                        .as_ref()
                        .ok()
                        .filter(|_| !form.throughput.is_doubtful);
                    // Some sources store to one line of the cache, some to several.
                    let distance = |cycles: &&Estimate| (cycles.value - figure.cycles).abs();
                    usual.map(|usual| {
                        let both_distances =
                            [Some(usual), form.throughput.one_line.as_ref()].into_iter().flatten();
                        both_distances
                            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
                            .unwrap_or(usual)
                    })
                }
            };
            let Some(here) = here else {
                doubtful += 1;
                continue;
            };
            let tolerance = figure.quantity.tolerance() * figure.cycles.abs() + here.half_width();
            rows.push(ComparedRow {
                form: form.name.clone(),
                quantity: figure.quantity,
                here: here.value,
                there: figure.cycles,
                agrees: (here.value - figure.cycles).abs() <= tolerance,
            });
        }
        Comparison { source: source.to_owned(), rows, doubtful, unknown }
    }

    /// Number of rows of a quantity.
    pub fn compared(&self, quantity: Quantity) -> usize {
        self.rows.iter().filter(|row| row.quantity == quantity).count()
    }

    /// Number of rows of a quantity that agree.
    pub fn agreeing(&self, quantity: Quantity) -> usize {
        self.rows.iter().filter(|row| row.quantity == quantity && row.agrees).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Run;
    use crate::result::{FormResult, Throughput};
    use std::time::Duration;

    fn estimate(value: f64) -> Estimate {
        Estimate { value, low: value - 0.004, high: value + 0.004, level: 0.95 }
    }

    /// A store that takes a cycle, and half a cycle if all copies write to one line.
    fn store(is_doubtful: bool) -> Table {
        let throughput = Throughput {
            cycles: Ok(estimate(1.0)),
            with: Vec::new(),
            one_line: Some(estimate(0.5)),
            is_doubtful,
        };
        let (name, set, extension) =
            ("mov m64, r64".to_owned(), "memory".to_owned(), "x64".to_owned());
        let form = FormResult {
            name,
            set,
            extension,
            latencies: Vec::new(),
            throughput,
            findings: Vec::new(),
        };
        let run = Run {
            series: Vec::new(),
            cpu: 0,
            provenance: String::new(),
            core_hz: None,
            rounds: 0,
            elapsed: Duration::ZERO,
            repeated: 0,
        };
        Table { forms: vec![form], left_out: Vec::new(), front_end: None, run }
    }

    #[test]
    fn a_name_that_no_form_has_is_told_once() {
        let figure =
            |form: &str| Figure { form: form.into(), quantity: Quantity::Latency, cycles: 1.0 };
        let comparison =
            Comparison::new(&store(false), "other", &["b", "a", "b", "c", "a"].map(figure));
        assert_eq!(
            (comparison.unknown, comparison.rows.len()),
            (vec!["b".to_owned(), "a".to_owned(), "c".to_owned()], 0)
        );
    }

    #[test]
    fn a_store_agrees_by_its_lines_or_by_one_line_and_is_not_compared_in_doubt() {
        let compared = |is_doubtful, cycles| {
            let figure =
                Figure { form: "MOV_M64_R64".into(), quantity: Quantity::Throughput, cycles };
            let found = Comparison::new(&store(is_doubtful), "other", &[figure]);
            (found.agreeing(Quantity::Throughput), found.rows.len(), found.doubtful)
        };
        assert_eq!(
            (compared(false, 1.0), compared(false, 0.5), compared(false, 0.7)),
            ((1, 1, 0), (1, 1, 0), (0, 1, 0))
        );
        assert_eq!(
            compared(true, 1.0),
            (0, 0, 1),
            "copies on one line say nothing about the others"
        );
    }
}
