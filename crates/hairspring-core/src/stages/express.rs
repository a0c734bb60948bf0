//! Ticks, nanoseconds, core cycles and ratios: views of the one vector of times with its budget.
//! Nothing behind this stage changes a number.

use crate::estimate::{Contribution, Estimate, LayoutsAre, Solution, Source, Uncertain, quotient};
use crate::observations::{SeriesId, Unit};
use crate::result::{
    Bound, Comparison, ComponentResult, Looks, SeriesResult, Time, component_floor, overhead_floor,
    upper_bound, verdict_if,
};
use crate::stages::reference::moved_in_few;
use crate::stages::{Did, Stage, State};

pub(crate) const STAGE: Stage = Stage {
    name: "express",
    question: "What are the times in each unit, and their ratios?",
    needs: &[],
    limits: &[crate::result::RESOLUTION_LIMITS, crate::result::VERDICT_LIMITS],
    source: Some(Source::Rate),
    says: |_, _| Vec::new(),
};

/// Makes the results of all series that are asked for.
pub(crate) fn express(state: &mut State) -> Did {
    let level = state.options.level;
    state.solutions.iter_mut().flatten().flatten().for_each(|solution| solution.express(level));
    let results: Vec<SeriesResult> =
        state.subjects().into_iter().filter_map(|series| result(state, series)).collect();
    let subjects = state.subjects();
    let compared =
        subjects.iter().skip(1).filter_map(|series| comparison(state, *series, subjects[0]));
    (state.comparisons, state.results) = (compared.collect(), results);
    Did::something(format!("{} series, {} ratios", state.results.len(), state.comparisons.len()))
}

fn result(state: &State, series: SeriesId) -> Option<SeriesResult> {
    let solution = state.solution(series)?;
    let component = |component: &crate::estimate::Component| {
        let floor = if component.is_difference() { None } else { Some(component_floor(solution)) };
        ComponentResult {
            name: component.name.clone(),
            time: time(state, series, component.unknown, floor),
            serves: state.table.origin.serves(&component.parts),
            row_influence: component.row_influence,
        }
    };
    Some(SeriesResult {
        name: state.name(series).to_owned(),
        components: solution.components.iter().map(component).collect(),
        overhead: overhead(solution)
            .map(|unknown| time(state, series, unknown, Some(overhead_floor(solution)))),
        findings: Vec::new(),
        stages: Vec::new(),
        solution: solution.clone(),
    })
}

/// The unknown of the overhead, if it is one by itself.
fn overhead(solution: &Solution) -> Option<usize> {
    solution
        .rank
        .identifiable
        .iter()
        .position(|one| one.terms == [(solution.columns.len() - 1, 1.0)])
}

/// An unknown in all units. Below the floor readings cannot show it.
fn time(state: &State, series: SeriesId, unknown: usize, floor: Option<f64>) -> Time {
    let level = state.options.level;
    let own_time = state
        .solution(series)
        .map_or_else(Uncertain::default, |solution| solution.uncertain(unknown, level));
    let moved = state.movement(series, own_time.value);
    let own_time = moved.into_iter().fold(own_time, Uncertain::with);
    let ns =
        state.table.origin.ns_per_unit().map(|factor| with_rate(state, own_time.scaled(factor)));
    let ticks = own_time.estimate(level);
    let bound = floor.and_then(|floor| bound(state, &ticks, floor));
    Time { ticks, ns, cycles: state.in_cycles(series, unknown), bound }
}

impl State<'_> {
    /// What the movement of the core clock does to a time of a series, in this run and in the next.
    fn movement(&self, series: SeriesId, time: f64) -> Option<Contribution> {
        let within = match &self.clock {
            Some(_) if !self.sheet.is_converted(series) => return None,
            clock => clock.as_ref().map_or(0.0, |clock| clock.sd),
        };
        self.moved(time, within)
    }
}

/// Adds the uncertainty of the clock's rate to a value in nanoseconds.
pub(crate) fn with_rate(state: &State, value: Uncertain) -> Uncertain {
    let rate = state.table.origin.rate.as_ref().filter(|_| state.table.origin.unit == Unit::Ticks);
    let entry = rate
        .filter(|rate| value.value.abs() * rate.uncertainty_ppm > 0.0)
        .map(|rate| Contribution::rate(value.value, rate));
    entry.into_iter().fold(value, Uncertain::with)
}

fn bound(state: &State, ticks: &Estimate, floor: f64) -> Option<Bound> {
    let most_ticks = upper_bound(ticks, floor)?;
    let (factor, _) = state.shown_unit();
    Some(Bound {
        shown: most_ticks * factor,
        cycles: state.cycles_per_unit().map(|per_unit| most_ticks * per_unit),
    })
}

/// A series compared with another one by their first components; `None` if they have no ratio.
/// Whether one is faster must not depend on the layouts that were tried, so for the ratio these are
/// a sample.
fn comparison(state: &State, a: SeriesId, b: SeriesId) -> Option<Comparison> {
    let first = |series: SeriesId| {
        Some((state.solution(series)?, state.solution(series)?.components.first()?.unknown))
    };
    let (of_a, of_b) = (first(a)?, first(b)?);
    let moved = |ratio: f64| moved_in_few(ratio, [of_a.0, of_b.0]);
    let ratio = quotient(of_a, of_b, state.options.level, LayoutsAre::ASample)?;
    let ratio =
        moved(ratio.value).into_iter().fold(ratio, Uncertain::with).estimate(state.options.level);
    let name = |series: SeriesId| state.name(series).to_owned();
    let lacks_layouts = state.grid.layouts > 1 && state.layouts.tried < state.grid.layouts;
    Some(Comparison {
        a: name(a),
        b: name(b),
        ratio,
        verdict: verdict_if(lacks_layouts, &ratio, Looks::Every),
    })
}
