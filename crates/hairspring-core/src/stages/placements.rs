//! Placements: fresh processes with other addresses of code, data and stack, other physical pages,
//! and another history of branches. How far they differ is in the interval; a few in which the code
//! takes another time by far are left out.

use crate::estimate::{InBlocks, Source, median, robust_sd};
use crate::finding::words::times;
use crate::finding::{Finding, Severity, code};
use crate::limit::{Basis, FEW_OF_ALL, limits};
use crate::numbers;
use crate::observations::SeriesId;
use crate::stages::blocks::groups;
use crate::stages::{Did, Stage, State, need};
use std::ops::Range;

limits! {
    /// A placement is of another kind if the code takes this share more or less than in the middle
    /// one ...
    OTHER_KIND = 0.25, "share of the time",
        Basis::Seen("loads that wait for a store: 1.3 to 3 times; AMD family 26, November 2026");
    /// ... and if it is this many robust standard deviations away from it.
    OTHER_DEVIATIONS = 8.0, "robust standard deviations",
        Basis::Derived("a part of the distribution of the others else");
    /// Fewest placements among which some count as of another kind.
    FEWEST_WITH_OTHERS = 8.0, "placements", Basis::Derived("one of seven is no small share");
}

pub(crate) const STAGE: Stage = Stage {
    name: "placements",
    question: "How does the time differ between placements, and are a few of another kind?",
    needs: &[need::PLACEMENTS, need::ALONE],
    limits: &[LIMITS],
    source: Some(Source::Placement),
    says,
};

/// Placements of another kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Odd {
    component: String,
    other_placements: usize,
    placements: usize,
    least_factor: f64,
    most_factor: f64,
    /// Whether a series cannot do without them, so that they count.
    pub is_needed: bool,
}

/// Leaves out the rounds of placements of another kind: for example those in which two arrays lie
/// so that each load waits for a store. Their number in a run is left to chance, so a mean over
/// them would not hold for the next run, and neither does the interval of a run without any.
pub(crate) fn leave_out_odd(state: &mut State) -> Did {
    if state.slow.iter().any(|slow| slow.counts) {
        return Did::nothing("the code's own slow evaluations count in all of them");
    }
    let odd_ones: Vec<(SeriesId, Vec<usize>, Odd)> =
        state.subjects().into_iter().filter_map(|series| odd_of(state, series)).collect();
    let mut spans: Vec<usize> = odd_ones.iter().flat_map(|(_, spans, _)| spans.clone()).collect();
    spans.sort_unstable();
    spans.dedup();
    if spans.is_empty() || spans.len() as f64 > FEW_OF_ALL * state.grid.spans.len() as f64 {
        return Did::nothing(match spans.len() {
            0 => format!("none of {} are of another kind", groups(&state.grid)),
            many => format!(
                "{many} of {} are of another kind, too many to leave out",
                groups(&state.grid)
            ),
        });
    }
    odd_ones.into_iter().for_each(|(series, _, odd)| state.odd[usize::from(series)] = Some(odd));
    let rounds: Vec<Range<u32>> =
        spans.iter().map(|span| state.grid.spans[*span].rounds.clone()).collect();
    state.leave_out_rounds(&rounds);
    state.before = Some(state.solve_again());
    Did::something(format!("{} of {} are of another kind", spans.len(), groups(&state.grid)))
}

/// The spans in which the body of a series is of another kind; `None` if there are none, or too
/// many.
fn odd_of(state: &State, series: SeriesId) -> Option<(SeriesId, Vec<usize>, Odd)> {
    let times = span_times(state, series)?;
    let mut values: Vec<f64> = times.iter().map(|(_, time)| *time).collect();
    let middle = median(&mut values);
    let limit = (OTHER_KIND * middle.abs()).max(OTHER_DEVIATIONS * robust_sd(&values, middle));
    let layout = |span: usize| state.grid.spans[span].layout;
    // A layout of the code in which it takes another time comes again in every run.
    let of_layout = |one: usize| {
        times.iter().filter(move |(span, _)| layout(*span) == Some(one)).map(|(_, time)| *time)
    };
    let is_layout =
        |one: usize| (median(&mut of_layout(one).collect::<Vec<f64>>()) - middle).abs() > limit;
    let is_other = |(span, time): &&(usize, f64)| {
        (time - middle).abs() > limit && !layout(*span).is_some_and(is_layout)
    };
    let other_spans: Vec<(usize, f64)> = times.iter().filter(is_other).copied().collect();
    let is_few = (1..=(FEW_OF_ALL * times.len() as f64) as usize).contains(&other_spans.len())
        && times.len() >= FEWEST_WITH_OTHERS as usize;
    let is_positive = middle > 0.0 && other_spans.iter().all(|(_, time)| *time > 0.0);
    let count = |spans: &[(usize, f64)]| {
        spans.iter().map(|(span, _)| state.grid.spans[*span].placements).sum::<usize>()
    };
    let factors = || other_spans.iter().map(|(_, time)| time / middle);
    let odd = || Odd {
        component: state
            .solution(series)
            .map_or_else(String::new, |solution| solution.components[0].name.clone()),
        other_placements: count(&other_spans),
        placements: count(&times),
        least_factor: factors().fold(f64::INFINITY, f64::min),
        most_factor: factors().fold(f64::NEG_INFINITY, f64::max),
        is_needed: false,
    };
    (is_few && is_positive)
        .then(|| (series, other_spans.iter().map(|(span, _)| *span).collect(), odd()))
}

/// The first time of a series in each span that has blocks of it; `None` if it is indistinguishable
/// from zero, as it then has no multiples.
fn span_times(state: &State, series: SeriesId) -> Option<Vec<(usize, f64)>> {
    let (solution, rows) = (state.solution(series)?, state.systems[usize::from(series)].as_ref()?);
    let unknown = solution.components.first()?.unknown;
    let values: Vec<f64> = solution.blocks.iter().map(|(_, unknowns)| unknowns[unknown]).collect();
    let values_in_blocks = InBlocks { blocks: &rows.blocks, values: &values };
    let half: f64 = values_in_blocks
        .budget(&state.grid, state.options.level, crate::estimate::LayoutsAre::Fixed)
        .iter()
        .map(|entry| entry.half_width(state.options.level))
        .sum();
    (values_in_blocks.mean(&state.grid).abs() > half)
        .then(|| values_in_blocks.span_means(&state.grid))
}

/// Uses all placements after all, if a series cannot be solved without those of another kind: all
/// series keep the solutions that they had.
pub(crate) fn use_if_needed(state: &mut State) -> Did {
    let Some(before) = state.before.take() else { return Did::nothing("") };
    if !state
        .solutions
        .iter()
        .zip(&before.solutions)
        .any(|(now, before)| matches!((before, now), (Some(Ok(_)), Some(Err(_)) | None)))
    {
        return Did::nothing("");
    }
    (state.solutions, state.systems) = (before.solutions, before.systems);
    let number = state.number_of(&STAGE);
    state.sheet.restore_all(number);
    state.odd.iter_mut().flatten().for_each(|odd| odd.is_needed = true);
    Did::something("a series needs those of another kind: all count")
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    state.odd[usize::from(series)].iter().map(told).collect()
}

fn told(odd: &Odd) -> Finding {
    let Odd {
        component,
        other_placements: others,
        placements,
        least_factor,
        most_factor,
        is_needed,
    } = odd.clone();
    let factors = if most_factor - least_factor < 0.01 {
        times(most_factor)
    } else {
        format!("{} to {}", times(least_factor), times(most_factor))
    };
    let which = if is_needed {
        "the time is the mean of all placements, because too few are left without these"
    } else {
        "the time is the mean of the others"
    };
    let message = format!(
        "in {others} of {placements} placements {component} takes {factors} times as long as in \
         the others; {which}"
    );
    let remedy = format!(
        "align the data; otherwise {others} in {placements} processes will take the other time. \
         The addresses of code and data, or other work at that moment, make the difference"
    );
    let numbers = numbers! { component, others, placements, least_factor, most_factor };
    Finding::of(Severity::Warning, code::OTHER_PLACEMENTS, message, numbers, remedy)
}
