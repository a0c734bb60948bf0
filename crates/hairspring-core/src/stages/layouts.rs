//! Layouts of the code, which the placements take in turns. How branches are predicted and decoded
//! depends on where they lie in a line of the cache. The layouts are the same in every run, so they
//! are a fixed factor: the time is the mean of their means, and what varies within each is noise.

use crate::estimate::{InBlocks, LayoutMeans, Vector};
use crate::finding::words::times;
use crate::finding::{Finding, Severity, code};
use crate::grid::Span;
use crate::limit::{USUAL_PRECISION, WIDE_SHARE};
use crate::numbers;
use crate::observations::SeriesId;
use crate::stages::{Did, Need, Stage, State};

pub(crate) const STAGE: Stage = Stage {
    name: "layouts",
    question: "Does the time depend on where the code lies?",
    needs: &[Need { what: "several layouts of the code", is_met: |state| state.grid.layouts > 1 }],
    limits: &[],
    source: None,
    says,
};

/// What the layouts of the code show.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Layouts {
    /// Layouts in which the code ran undisturbed.
    pub tried: usize,
    /// The times of each series in them.
    times: Vec<Option<LayoutMeans>>,
}

fn differ(means: &LayoutMeans) -> bool {
    let (least, most) = means.range();
    means.differ && most > (1.0 + USUAL_PRECISION) * least
}

/// Looks at the times of each layout.
pub(crate) fn look(state: &mut State) -> Did {
    let means = |series: SeriesId| {
        let vector = &state.solution(series)?.vector;
        let values: Vec<f64> = vector.in_blocks.iter().map(|unknowns| unknowns[0]).collect();
        InBlocks { blocks: &vector.blocks, values: &values }.layouts(&state.grid)
    };
    let times: Vec<Option<LayoutMeans>> = state.all_series().map(means).collect();
    let has_readings = |layout: usize| {
        let of_subject = |series: &SeriesId| {
            let vector = state.solution(*series).map(|solution| &solution.vector);
            let is_of = |span: &Span| span.layout == Some(layout);
            let has_block =
                |block: &usize| is_of(&state.grid.spans[state.grid.blocks[*block].span]);
            // Single readings, which are solved without blocks, are of all spans.
            let has = |vector: &Vector| {
                vector.blocks.iter().any(has_block)
                    || vector.blocks.is_empty() && state.grid.spans.iter().any(is_of)
            };
            vector.is_some_and(has)
        };
        state.subjects().iter().all(of_subject)
    };
    // Layouts that share their spans say nothing of each.
    let are_mixed = state.grid.spans.iter().any(|span| span.layout.is_none());
    let turns =
        state.grid.spans.iter().map(|span| span.placements).sum::<usize>().min(state.grid.layouts);
    let tried = if are_mixed {
        turns
    } else {
        (0..state.grid.layouts).filter(|layout| has_readings(*layout)).count()
    };
    state.layouts = Layouts { tried, times };
    Did::something(format!("{tried} of {} layouts", state.grid.layouts))
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let (tried, layouts) = (state.layouts.tried, state.grid.layouts);
    let message = format!(
        "the code ran in {tried} of {layouts} layouts: its time may depend on where it lies, and \
         the interval does not include that"
    );
    let remedy = "give it more time, so that it runs in all of them";
    let untried = (layouts > 1 && tried < layouts).then(|| {
        Finding::of(
            Severity::Warning,
            code::LAYOUTS_UNTRIED,
            message,
            numbers! { tried, layouts },
            remedy,
        )
    });
    let means = state
        .layouts
        .times
        .get(usize::from(series))
        .and_then(Option::as_ref)
        .filter(|means| differ(means) && means.mean() > 0.0);
    untried.into_iter().chain(means.map(|means| told(state, series, means))).collect()
}

fn told(state: &State, series: SeriesId, means: &LayoutMeans) -> Finding {
    let (least_mean, most_mean) = means.range();
    let severity = if most_mean > (1.0 + WIDE_SHARE) * least_mean {
        Severity::Warning
    } else {
        Severity::Note
    };
    let component = state
        .solution(series)
        .map_or_else(String::new, |solution| solution.components[0].name.clone());
    let (layouts, least_factor, most_factor) =
        (state.grid.layouts, least_mean / means.mean(), most_mean / means.mean());
    let message = format!(
        "the time of {component} depends on where the code lies: in {layouts} layouts it takes {} \
         to {} times the mean, which is the time",
        times(least_factor),
        times(most_factor)
    );
    let remedy = "align the code, or expect any of these times where other code comes before it: \
                  a change elsewhere in a program moves it";
    Finding::of(
        severity,
        code::LAYOUTS_DIFFER,
        message,
        numbers! { component, layouts, least_factor, most_factor },
        remedy,
    )
}
