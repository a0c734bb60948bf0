//! The error budgets of figures of several instruments.

use hairspring_core::estimate::{Contribution, Source};
use hairspring_core::observations::Rate;
use hairspring_result::document::{FigureEntry, figure_budget};

/// The budget of a rate in a unit in which the rate has this value: how exactly two clocks were
/// compared.
pub fn rate_budget(rate: &Rate, value: f64, level: f64) -> Vec<FigureEntry> {
    let compared = "in the clock rate: how closely both clocks were read at both ends";
    let absent = [
        (Source::Quantum, compared),
        (Source::Fence, compared),
        (Source::Noise, compared),
        (Source::Departure, "no line is fitted: the rate is that of the two ends"),
        (Source::Controls, "the clock does not depend on what else uses the core"),
    ];
    let mut entries = figure_budget(&[Contribution::rate(value, rate)], level, &absent);
    entries
        .iter_mut()
        .filter(|entry| entry.source == Source::Rate)
        .for_each(|entry| entry.note = Some(rate.provenance.clone()));
    entries
}

/// The reason of a source that a figure without a line fit does not have.
pub const NO_LINE: &str = "no line is fitted";
/// The reason of interference where every reading counts.
pub const IN_THE_NOISE: &str = "in the noise: all readings count, the disturbed ones too";
