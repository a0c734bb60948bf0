//! The reference chain that counts core cycles: what its line is uncertain by is in all core
//! cycles, and in nothing else.

use crate::estimate::{Contribution, LayoutsAre, Part, Solution, Source, Uncertain, combined};
use crate::limit::{Basis, USUAL_PRECISION, limits};
use crate::observations::SeriesId;
use crate::stages::{Did, Stage, State};

limits! {
    /// Departures of the rows of chains that the rows do not show.
    UNSEEN_DEPARTURE = 0.0002, "share of the cycles",
        Basis::Seen("chains of known length on calm cores; all CPU models of docs/measured.md");
}

pub(crate) const STAGE: Stage = Stage {
    name: "reference",
    question: "What is a core cycle uncertain by?",
    needs: &[],
    limits: &[LIMITS],
    source: Some(Source::Reference),
    says: |_, _| Vec::new(),
};

/// The length of a core cycle is a time of its own: nothing is added to the others.
pub(crate) fn widen(state: &mut State) -> Did {
    let Some((series, cycles)) = state.reference() else {
        return match state.table.origin.core_clock {
            Some(clock) => Did::something(format!(
                "the core clock was measured beside the readings, +-{:.2} %",
                100.0 * clock.sd
            )),
            None => Did::nothing("there are no core cycles"),
        };
    };
    let Some(ruler) = state.ruler() else {
        return Did::nothing("the reference chain could not be measured");
    };
    let time = ruler.uncertain(0, state.options.level);
    let share = time.estimate(state.options.level).relative();
    Did::something(format!("{} of {cycles} cycles, +-{:.3} %", state.name(series), 100.0 * share))
}

/// The clock may have moved between the readings of few rounds, by which two series are compared.
pub(crate) fn moved_in_few(value: f64, of: [&Solution; 2]) -> Option<Contribution> {
    let are_few = of.iter().any(|solution| solution.blocks.len() < 2);
    are_few.then(|| crate::estimate::moved(value, USUAL_PRECISION, None)).flatten()
}

impl State<'_> {
    /// The solved reference chain, if it can be used.
    pub(crate) fn ruler(&self) -> Option<&Solution> {
        let solution = self.solution(self.reference()?.0)?;
        let is_usable = !self.options.is_without(STAGE.name)
            && solution.components.len() == 1
            && solution.uncertain(0, self.options.level).estimate(self.options.level).low > 0.0;
        is_usable.then_some(solution)
    }

    /// Core cycles in a unit of the table.
    pub(crate) fn cycles_per_unit(&self) -> Option<f64> {
        let (_, cycles) = self.reference()?;
        Some(cycles / self.ruler()?.vector.values[0])
    }

    /// An unknown of a series in core cycles.
    pub(crate) fn in_cycles(&self, series: SeriesId, unknown: usize) -> Option<Uncertain> {
        let solution = self.solution(series)?;
        let Some(ruler) = self.ruler() else { return self.by_core_clock(series, unknown) };
        let per_unit = self.cycles_per_unit()?;
        let cycles = solution.vector.values[unknown] * per_unit;
        let chain = Part {
            called: Some(Source::Reference),
            ..ruler.part(0, -cycles / ruler.vector.values[0])
        };
        let time = combined(
            cycles,
            &[solution.part(unknown, per_unit), chain],
            self.options.level,
            LayoutsAre::Fixed,
        );
        let unseen = Contribution::bound(Source::Reference, UNSEEN_DEPARTURE * cycles.abs());
        Some(
            moved_in_few(cycles, [solution, ruler])
                .into_iter()
                .fold(time.with(unseen), Uncertain::with),
        )
    }

    /// The same by a core clock that was measured beside the readings, if there is one.
    fn by_core_clock(&self, series: SeriesId, unknown: usize) -> Option<Uncertain> {
        let (clock, ns) = (self.core_clock()?, self.table.origin.ns_per_unit()?);
        let cycles = self
            .solution(series)?
            .uncertain(unknown, self.options.level)
            .scaled(ns * clock.hz / 1e9);
        let of_clock =
            Contribution::standard(Source::CoreClock, clock.sd * cycles.value.abs(), f64::INFINITY);
        Some(cycles.with(of_clock))
    }

    /// The core clock that was measured beside the readings.
    fn core_clock(&self) -> Option<crate::observations::CoreClock> {
        self.table.origin.core_clock.filter(|_| !self.options.is_without(STAGE.name))
    }

    /// The core clock in Hz: by the reference chain, or as it was measured beside the readings.
    pub(crate) fn core_hz(&self) -> Option<Uncertain> {
        let Some(per_unit) = self.ruler().and_then(|_| self.cycles_per_unit()) else {
            let clock = self.core_clock()?;
            return Some(Uncertain {
                value: clock.hz,
                budget: vec![Contribution::standard(
                    Source::CoreClock,
                    clock.sd * clock.hz,
                    f64::INFINITY,
                )],
            });
        };
        let hz = per_unit * 1e9 / self.table.origin.ns_per_unit()?;
        let chain = self.ruler()?.uncertain(0, self.options.level);
        Some(Uncertain {
            value: hz,
            budget: chain.budget.iter().map(|entry| entry.scaled(hz / chain.value)).collect(),
        })
    }

    /// The entry of a time that follows the core clock: the larger of its movements within this
    /// run, as a share, and between runs. The mean over the run is known better than that, but the
    /// next run may have any of these clocks. `None` if it did not move.
    pub(crate) fn moved(&self, time: f64, within: f64) -> Option<Contribution> {
        let is_known = !self.options.is_without(super::core_clock::STAGE.name);
        crate::estimate::moved(time, within, self.table.origin.clock_spread).filter(|_| is_known)
    }
}
