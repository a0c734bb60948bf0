//! What each source line takes: the times of its blocks where they belong to it alone, else its
//! share of the instructions.

use super::{Analysis, CountRow, Place, Unknowns, runs_in_whole_calls};
use crate::graph::Graph;
use hairspring_core::estimate::{Contribution, Estimate, Source, Spread, Uncertain};
use hairspring_core::judge::{Bound, Time};
use std::collections::BTreeMap;

/// A file and a line.
pub type At = (String, u32);

/// A source line of the function.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its file and number.
    pub at: At,
    /// Its instructions in the function.
    pub instructions: u32,
    /// Its share of the instructions that ran in whole calls.
    pub instruction_share: f64,
    /// Its time in a call and the share of the function's own time in all whole calls; `None` where
    /// a block has several lines or no time of its own.
    pub time: Option<(Time, f64)>,
}

/// The lines of a function, those with the largest share first.
pub fn by_line(graph: &Graph, rows: &[CountRow], analysis: &Analysis) -> Vec<Line> {
    let runs = block_runs(graph, rows);
    let all_instructions: f64 = graph
        .blocks
        .iter()
        .zip(&runs)
        .map(|(block, runs)| runs * f64::from(block.instructions))
        .sum();
    let mut blocks_of_places: BTreeMap<&At, Vec<(usize, u32)>> = BTreeMap::new();
    for (at, block) in graph.blocks.iter().enumerate() {
        for place in block.code.iter().filter_map(|step| step.place.as_ref()) {
            let blocks = blocks_of_places.entry(place).or_default();
            match blocks.last_mut().filter(|(last, _)| *last == at) {
                Some((_, number)) => *number += 1,
                None => blocks.push((at, 1)),
            }
        }
    }
    let line = |(at, blocks): (&At, Vec<(usize, u32)>)| {
        let ran: Vec<usize> =
            blocks.iter().map(|(block, _)| *block).filter(|block| runs[*block] > 0.0).collect();
        let is_whole = ran.iter().all(|block| is_of(graph, *block, at));
        let own_instructions: f64 =
            blocks.iter().map(|(block, number)| runs[*block] * f64::from(*number)).sum();
        Line {
            at: at.clone(),
            instructions: blocks.iter().map(|(_, number)| number).sum(),
            instruction_share: if all_instructions > 0.0 {
                own_instructions / all_instructions
            } else {
                0.0
            },
            time: if is_whole && !ran.is_empty() { time(graph, analysis, &ran) } else { None },
        }
    };
    let mut lines: Vec<Line> = blocks_of_places.into_iter().map(line).collect();
    let share =
        |line: &Line| line.time.as_ref().map_or(line.instruction_share, |(_, share)| *share);
    lines.sort_by(|a, b| share(b).total_cmp(&share(a)));
    lines
}

/// How often each block ran in all whole calls.
fn block_runs(graph: &Graph, rows: &[CountRow]) -> Vec<f64> {
    (0..graph.blocks.len())
        .map(|at| runs_in_whole_calls(rows, |counts| counts.blocks[at]))
        .collect()
}

/// Whether all instructions of a block are of one line.
fn is_of(graph: &Graph, block: usize, line: &At) -> bool {
    graph.blocks[block].code.iter().all(|step| step.place.as_ref() == Some(line))
}

/// The time of some blocks in a call, if it is that of whole components.
fn time(graph: &Graph, analysis: &Analysis, blocks: &[usize]) -> Option<(Time, f64)> {
    if !analysis.quality.is_carried() {
        return None;
    }
    let block_of = |unknown: usize| match analysis.unknowns {
        Unknowns::Blocks => unknown,
        Unknowns::Edges => graph.edges[unknown].from,
    };
    let is_ours = |unknown: usize| blocks.contains(&block_of(unknown));
    let mut components: Vec<usize> = Vec::new();
    for (_, place) in analysis.places.iter().enumerate().filter(|(unknown, _)| is_ours(*unknown)) {
        match place {
            Place::Alone(at) | Place::With(at) if !components.contains(at) => components.push(*at),
            Place::Alone(_) | Place::With(_) | Place::NeverRan => {}
            Place::Together(_) | Place::Combined(_) | Place::Common => return None,
        }
    }
    let index = |name: &String| analysis.names.iter().position(|known| known == name);
    // What always runs together with blocks of other lines, or with the overhead, is not this
    // line's alone.
    let is_whole = |at: &usize| {
        let parts = &analysis.series().solution.components[*at].parts;
        parts.iter().all(|(name, _)| index(name).is_some_and(is_ours))
    };
    let share: f64 = components.iter().map(|at| analysis.own_share(*at)).sum::<Option<f64>>()?;
    (!components.is_empty() && components.iter().all(is_whole))
        .then(|| (total(analysis, &components), share))
}

/// The sum of components in a call. Their errors may depend on each other, so half-widths are
/// added.
fn total(analysis: &Analysis, components: &[usize]) -> Time {
    let each = |at: &usize| {
        let runs = analysis.leads[*at]
            .map_or(1.0, |lead| analysis.totals[lead] / analysis.calls.max(1) as f64);
        (&analysis.series().components[*at].time, runs)
    };
    let all_times: Vec<(&Time, f64)> = components.iter().map(each).collect();
    let level = all_times[0].0.ticks.level;
    let sum = |of: &dyn Fn(&Time) -> Option<Estimate>| -> Option<Estimate> {
        let (mut value, mut half) = (0.0, 0.0);
        for (time, runs) in &all_times {
            let time_of_one = of(time)?;
            (value, half) =
                (value + runs * time_of_one.value, half + runs * time_of_one.half_width());
        }
        Some(Estimate { value, low: value - half, high: value + half, level })
    };
    let uncertain = |estimate: Estimate| Uncertain {
        value: estimate.value,
        budget: vec![Contribution {
            source: Source::Noise,
            spread: Spread::Bound(estimate.half_width()),
        }],
    };
    let bound = match all_times[..] {
        [(Time { bound: Some(bound), .. }, runs)] => Some(Bound {
            shown: bound.shown * runs,
            cycles: bound.cycles.map(|cycles| cycles * runs),
        }),
        _ => None,
    };
    Time {
        ticks: sum(&|time| Some(time.ticks)).unwrap_or(all_times[0].0.ticks),
        ns: sum(&|time| time.ns.as_ref().map(|ns| ns.estimate(level))).map(uncertain),
        cycles: sum(&|time| time.cycles.as_ref().map(|cycles| cycles.estimate(level)))
            .map(uncertain),
        bound,
    }
}
