//! The lines of the built-in chains in one table.

use hairspring_core::estimate::{Estimate, Options, Solution, Uncertain};
use hairspring_core::judge::{
    Assessment, ComponentResult, Finding, Question, Severity, assess, code,
};
use hairspring_core::observations::{Observations, Rate, SeriesId};
use hairspring_core::pipeline::solve;
use hairspring_host::chains::{LATTICE, RULER, chains, name, role_of};
use hairspring_measure::proof::{Fit, Length, prove};

/// A run in whose readings somebody else used the core more often than not is no check of the
/// others.
const LEAST_QUIET: f64 = 0.5;

/// A solved chain.
pub struct Line {
    /// Name of the chain.
    pub name: String,
    /// Its line.
    pub solution: Solution,
}

/// Solves every chain of a table, in the order of [`chains`].
pub fn lines(table: &Observations, level: f64) -> Result<Vec<Line>, String> {
    let options = Options { level, ..Options::default() };
    let solved = |(name, series)| {
        solve(table, series, &options)
            .map(|solution| Line { name, solution })
            .map_err(|e| e.to_string())
    };
    chains_of(table).map(solved).collect()
}

/// The lengths of the chains in core cycles, in their order; `None` if those of the lattice do not
/// lie on one.
pub fn lengths(lines: &[Line], level: f64, fit: Fit) -> Option<Vec<Length>> {
    let with_roles = lines.iter().map(|line| Some((role_of(&line.name)?, &line.solution)));
    prove(&with_roles.collect::<Option<Vec<_>>>()?, level, fit)
}

/// Whether a chain, by its name, has its length by the lattice: it consists of the instructions of
/// the lattice, whose lengths add up.
pub fn is_of_lattice(name: &str) -> bool {
    role_of(name).is_some_and(|role| role.parts().iter().all(|part| LATTICE.contains(part)))
}

/// The series of a table in core cycles, as the reference chain counts them.
pub struct InCycles {
    assessment: Assessment,
    cycles: f64,
    level: f64,
}

impl InCycles {
    /// Assesses a table whose reference chain has this many core cycles; `None` if that is not
    /// possible.
    pub fn new(table: &Observations, cycles: f64, level: f64) -> Option<InCycles> {
        let mut table = table.clone();
        table.origin.reference = Some((name(RULER).to_owned(), cycles));
        let question =
            Question { options: Options { level, ..Options::default() }, ..Question::default() };
        Some(InCycles { assessment: assess(&table, &question).ok()?, cycles, level })
    }

    /// The components of a series.
    pub fn components(&self, series: &str) -> Option<&[ComponentResult]> {
        self.assessment.series.iter().find(|one| one.name == series).map(|one| &one.components[..])
    }

    /// The first component of a series in core cycles.
    pub fn first(&self, series: &str) -> Option<Estimate> {
        Some(self.components(series)?.first()?.time.cycles.as_ref()?.estimate(self.level))
    }

    /// Whether something else disturbed so much that other measurements would not be trusted.
    pub fn is_disturbed(&self) -> bool {
        let is_disturbed = |finding: &Finding| {
            finding.severity == Severity::Untrusted && finding.is(code::DISTURBED)
        };
        self.findings().any(is_disturbed)
            || self.assessment.quiet_share.is_some_and(|share| share < LEAST_QUIET)
    }

    /// Share of the readings that nobody else disturbed; `None` where the reads of the clock do not
    /// show it.
    pub fn quiet_share(&self) -> Option<f64> {
        self.assessment.quiet_share
    }

    /// What is said of the series.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.assessment.series.iter().flat_map(|one| &one.findings)
    }

    /// Core cycles of the reference chain.
    pub fn cycles(&self) -> f64 {
        self.cycles
    }

    /// Confidence level of the intervals.
    pub fn level(&self) -> f64 {
        self.level
    }
}

/// The chains that a table has as series.
fn chains_of(table: &Observations) -> impl Iterator<Item = (String, SeriesId)> + '_ {
    chains().into_iter().filter_map(|chain| {
        table.find_series(chain.name).map(|series| (chain.name.to_owned(), series))
    })
}

/// Core clock from a chain whose length in core cycles is known.
pub fn core_hz(chain: &Line, cycles: f64, rate: &Rate) -> Uncertain {
    let ticks = &chain.solution.components[0].uncertain;
    let hz = cycles * rate.hz / ticks.value;
    Uncertain {
        value: hz,
        budget: ticks.budget.iter().map(|entry| entry.scaled(hz / ticks.value)).collect(),
    }
}
