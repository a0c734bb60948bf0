//! The table compared with another source: a file, or the model of a compiler.

pub mod copy;
mod file;
pub mod llvm;
mod mca;

pub use file::read;

use crate::forms::words;
use crate::result::{Cycles, Table};
use hairspring_core::Estimate;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// The other source.
    pub source: String,
    /// Forms in both.
    pub rows: Vec<ComparedRow>,
    /// Numbers in both sources that are in doubt here, or only known as a sum, and are not compared.
    pub doubtful: usize,
    /// Names in the other source that no measured form has.
    pub unknown: Vec<String>,
}

impl Comparison {
    /// Compares a table with the figures of a source.
    pub fn new(table: &Table, source: &str, figures: &[Figure]) -> Comparison {
        let (mut rows, mut doubtful, mut unknown) = (Vec::new(), 0, Vec::new());
        let by_words: HashMap<_, _> = table.forms.iter().map(|form| (words(&form.name), form)).collect();
        for figure in figures {
            let Some(form) = by_words.get(&words(&figure.form)) else {
                unknown.push(figure.form.clone());
                continue;
            };
            let here = match figure.quantity {
                Quantity::Latency => form.latency().filter(|latency| !latency.is_doubtful).and_then(|latency| match &latency.cycles {
                    Cycles::Alone(cycles) => Some(cycles),
                    _ => None,
                }),
                Quantity::Throughput => {
                    let usual = form.throughput.cycles.as_ref().ok().filter(|_| !form.throughput.is_doubtful);
                    // Some sources store to one line of the cache, some to several.
                    let distance = |cycles: &&Estimate| (cycles.value - figure.cycles).abs();
                    usual.into_iter().chain(&form.throughput.one_line).min_by(|a, b| distance(a).total_cmp(&distance(b)))
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
        unknown.dedup();
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
