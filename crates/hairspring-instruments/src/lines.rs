//! The lines of the built-in chains in one table.

use hairspring_core::estimate::ratio::in_cycles;
use hairspring_core::estimate::{Component, Options, Quiet, Solution, Uncertain, solve};
use hairspring_core::observations::{Observations, Rate, SeriesId};
use hairspring_host::chains::{RULER, chains, name};

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
    let solved = |(name, series)| solve(table, series, &options).map(|solution| Line { name, solution }).map_err(|e| e.to_string());
    chains_of(table).map(solved).collect()
}

/// The reference chain of a table, and what can be compared with it: series solved from all readings, or all from undisturbed
/// ones.
pub struct InCycles<'a> {
    table: &'a Observations,
    options: Options,
    cycles: f64,
    plain: Solution,
    quiet: Option<(Quiet, Solution)>,
    hardly_quiet: bool,
}

impl<'a> InCycles<'a> {
    /// Solves the reference chain of a table, which has this many core cycles; `None` if that is not possible.
    pub fn new(table: &'a Observations, cycles: f64, level: f64) -> Option<InCycles<'a>> {
        let options = Options { level, departure_follows_counts: true, ..Options::default() };
        let reference = table.find_series(name(RULER))?;
        let undisturbed = |quiet: Quiet| quiet.solve(table, reference, &options).map(|solution| (quiet, solution));
        let seen = Quiet::from_table(table, name(RULER), cycles);
        let hardly_quiet = seen.as_ref().is_some_and(Quiet::is_hardly);
        let quiet = seen.and_then(undisturbed);
        let plain = solve(table, reference, &Options { level, ..Options::default() }).ok()?;
        Some(InCycles { table, options, cycles, plain, quiet, hardly_quiet })
    }

    /// Solves a series, from its undisturbed readings if there are enough, and gives its components in core cycles.
    pub fn solve(&self, series: SeriesId) -> Option<(Solution, Vec<Uncertain>)> {
        let undisturbed = self.quiet.as_ref().and_then(|(quiet, ruler)| {
            let solution = quiet.solve(self.table, series, &self.options)?;
            let cycles = self.ratios(&solution, ruler)?;
            Some((solution, cycles))
        });
        undisturbed.or_else(|| {
            let plain = Options { level: self.options.level, ..Options::default() };
            let solution = solve(self.table, series, &plain).ok()?;
            let cycles = self.ratios(&solution, &self.plain)?;
            Some((solution, cycles))
        })
    }

    /// Whether somebody else used the core most of the time, so that other measurements would not be trusted.
    pub fn is_hardly_quiet(&self) -> bool {
        self.hardly_quiet
    }

    /// Core cycles of the reference chain.
    pub fn cycles(&self) -> f64 {
        self.cycles
    }

    /// Confidence level of the solutions.
    pub fn level(&self) -> f64 {
        self.options.level
    }

    fn ratios(&self, solution: &Solution, ruler: &Solution) -> Option<Vec<Uncertain>> {
        solution.components.iter().map(|component| in_cycles((solution, component), (ruler, &ruler.components[0]), self.cycles)).collect()
    }
}

/// The chains that a table has as series.
fn chains_of(table: &Observations) -> impl Iterator<Item = (String, SeriesId)> + '_ {
    chains().into_iter().filter_map(|chain| table.find_series(chain.name).map(|series| (chain.name.to_owned(), series)))
}

/// Core clock from a chain whose length in core cycles is known.
pub fn core_hz(chain: &Line, cycles: f64, rate: &Rate) -> Uncertain {
    let ticks = &chain.solution.components[0].uncertain;
    let hz = cycles * rate.hz / ticks.value;
    Uncertain { value: hz, budget: ticks.budget.iter().map(|entry| entry.scaled(hz / ticks.value)).collect() }
}
