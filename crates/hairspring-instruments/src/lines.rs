//! The lines of the built-in chains in one table.

use hairspring_core::estimate::{Component, Options, Solution, Uncertain, solve};
use hairspring_core::observations::{Observations, Rate};
use hairspring_host::chains::chains;

/// A solved chain.
pub struct Line {
    /// Name of the chain.
    pub name: String,
    /// Its line.
    pub solution: Solution,
}

impl Line {
    /// The solution with its one component.
    pub fn first(&self) -> (&Solution, &Component) {
        (&self.solution, &self.solution.components[0])
    }
}

/// Solves every chain of a table, in the order of [`chains`].
pub fn lines(table: &Observations, level: f64) -> Result<Vec<Line>, String> {
    let options = Options { level, ..Options::default() };
    let named = chains().into_iter().filter_map(|chain| table.find_series(chain.name).map(|series| (chain.name.to_owned(), series)));
    named.map(|(name, series)| solve(table, series, &options).map(|solution| Line { name, solution }).map_err(|e| e.to_string())).collect()
}

/// Core clock from a chain whose length in core cycles is known.
pub fn core_hz(chain: &Line, cycles: f64, rate: &Rate) -> Uncertain {
    let ticks = &chain.solution.components[0].uncertain;
    let hz = cycles * rate.hz / ticks.value;
    Uncertain { value: hz, budget: ticks.budget.iter().map(|entry| entry.scaled(hz / ticks.value)).collect() }
}
