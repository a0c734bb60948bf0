//! The core clock in short stretches of rounds, as the reference chain shows it. Readings are
//! converted to its mean, so that its steps are neither noise nor spikes, and so that ticks,
//! nanoseconds and core cycles are one vector.
//!
//! What the chain shows in a stretch is the clock and noise of its own. The scatter of the readings
//! shows the noise; a core clock stays at a level and steps, so that the levels with the least
//! squares give the clock: a steady one is the mean of all stretches.

use crate::estimate::{LinearMap, levels_with_steps, median, noise, variance};
use crate::finding::{Finding, Severity, code};
use crate::grid::{Span, divided};
use crate::limit::{Basis, FAR_SIGMAS, USUAL_PRECISION, limits};
use crate::math::{exp, ln};
use crate::numbers;
use crate::observations::{RowId, SeriesId};
use crate::sheet::{Piece, Sorted};
use crate::stages::spikes::{Inliers, inliers, limit};
use crate::stages::{Did, Stage, State, need};
use std::ops::Range;

limits! {
    /// Rounds of a stretch, and readings of each row where a round has several: short beside the
    /// stay of a core at one clock, and long enough to leave an interrupted reading out.
    STRETCH_ROUNDS = 8.0, "rounds", Basis::Seen("stays of 5 to 100 ms in rounds of 30 to 60 us; \
                                                 AMD family 25 and 26, Intel family 6, 2026");
    /// Code follows the core clock unless its times vary less as they are, by this factor in their
    /// variance, than at one clock.
    FOLLOWS_CLOCK = 2.0, "", Basis::Derived("equal variances differ by less with 30 stretches in \
                                             97 of 100 cases");
}

pub(crate) const STAGE: Stage = Stage {
    name: "core_clock",
    question: "How did the core clock move, and which code follows it?",
    needs: &[need::REFERENCE],
    limits: &[LIMITS],
    source: Some(crate::estimate::Source::CoreClock),
    says,
};

/// The core clock during a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CoreClock {
    /// Ticks per core cycle, in the mean.
    pub mean: f64,
    /// Standard deviation of the clock during the run, as a share of it.
    pub sd: f64,
    /// Least and largest clock as shares of the middle one, if it stepped.
    pub stepped: Option<(f64, f64)>,
}

/// A stretch with the ticks per core cycle in it.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    /// Its number among all.
    seen: usize,
    first_round: u32,
    rate: f64,
    /// Variance of the rate by the scatter of the readings.
    noise: f64,
}

/// Converts all series that follow the clock.
pub(crate) fn convert(state: &mut State) -> Did {
    let Some((series, cycles)) = state.reference() else {
        return Did::nothing("there is no reference chain");
    };
    let seen_stretches = look(state, series);
    let mut stretches = stretches(state, &seen_stretches, series, cycles);
    if stretches.len() < 2 {
        return Did::nothing("the reference chain has too few rounds");
    }
    let code: Vec<(SeriesId, Vec<f64>)> = state
        .subjects()
        .into_iter()
        .map(|series| (series, paces(state, &seen_stretches, series, &stretches)))
        .collect();
    let replaced = replace_hit(&mut stretches, &code);
    let shown: Vec<f64> = stretches.iter().map(|stretch| stretch.rate).collect();
    let rates = levels_with_steps(
        &shown,
        &stretches.iter().map(|stretch| stretch.noise).collect::<Vec<f64>>(),
    );
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    state.sheet.set_clock(
        stretches
            .iter()
            .zip(&rates)
            .map(|(one, rate)| Piece { first_round: one.first_round, factor: mean / rate })
            .collect(),
    );
    let sd = variance(&rates).sqrt() / mean;
    let stepped = stepped(&shown);
    let memory = code.iter().filter(|(_, paces)| stepped.is_some() && !follows(paces, &rates));
    let memory: Vec<SeriesId> = memory.map(|(series, _)| *series).collect();
    state.clock = Some(CoreClock { mean, sd, stepped });
    memory.iter().for_each(|series| state.sheet.ignore_clock(*series));
    let names: Vec<&str> = memory.iter().map(|series| state.name(*series)).collect();
    let ignored = if names.is_empty() {
        String::new()
    } else {
        format!("; {} does not follow it", names.join(", "))
    };
    let hit =
        if replaced == 0 { String::new() } else { format!("; in {replaced} of them by the code") };
    Did::something(format!(
        "{:.2} % about its mean, in {} stretches{hit}{ignored}",
        100.0 * sd,
        rates.len()
    ))
}

/// The same by the readings that are left, if some are not.
pub(crate) fn convert_again(state: &mut State) -> Did {
    let co_runner = state.number_of(&super::neighbour::STAGE);
    if state.sheet.left_out(&[co_runner]).next().is_none() {
        return Did::nothing("all readings are left");
    }
    state.sheet.set_clock(Vec::new());
    convert(state)
}

/// What was read in a stretch of rounds: of the reference chain the readings without spikes, and of
/// the code the middle reading of each row.
struct Seen {
    first_round: u32,
    chain: Vec<Inliers>,
    code: Vec<f64>,
}

/// Looks at the rounds stretch by stretch. A stretch holds so many rounds that each row of the
/// chain has enough readings, and no border between two placements.
fn look(state: &State, reference: SeriesId) -> Vec<Seen> {
    let (chain, subjects) = (state.sheet.rows_of(reference), state.subjects());
    let is_code = |row: usize| subjects.contains(&state.table.rows()[row].series);
    let is_code: Vec<bool> = (0..state.table.rows().len()).map(is_code).collect();
    let in_round =
        state.sheet.number_in(reference) / chain.len().max(1) / state.sheet.rounds.max(1) as usize;
    let rounds = if in_round > 1 {
        (STRETCH_ROUNDS as usize).div_ceil(in_round) as u32
    } else {
        STRETCH_ROUNDS as u32
    };
    let parts = |span: &Span| {
        divided(&span.rounds, ((span.rounds.end - span.rounds.start) / rounds).max(1))
    };
    let row = |row: usize| Sorted {
        is_unwanted: !is_code[row] && !chain.contains(&(row as RowId)),
        ..Sorted::default()
    };
    let (mut rows, mut scratch): (Vec<Sorted>, _) =
        ((0..is_code.len()).map(row).collect(), Vec::new());
    let mut look = |rounds: Range<u32>| {
        let first_round = rounds.start;
        state.sheet.sort_into(&mut rows, rounds);
        let inliers =
            |row: &RowId| inliers(&rows[*row as usize].ticks, &mut scratch, state.quantum.step);
        let chain = chain.iter().map(inliers).collect();
        let code = rows
            .iter_mut()
            .zip(&is_code)
            .map(|(row, is_code)| if *is_code { median(&mut row.ticks) } else { f64::NAN })
            .collect();
        Seen { first_round, chain, code }
    };
    state.grid.spans.iter().flat_map(parts).map(&mut look).collect()
}

/// How long a series takes in each stretch, as a share of what it usually takes: the middle one of
/// its longer rows. NaN where none was read.
fn paces(
    state: &State,
    seen_stretches: &[Seen],
    series: SeriesId,
    stretches: &[Stretch],
) -> Vec<f64> {
    let of = |at: usize, row: RowId| seen_stretches[stretches[at].seen].code[row as usize];
    let usual = |row: RowId| {
        (
            median(
                &mut (0..stretches.len())
                    .map(|at| of(at, row))
                    .filter(|one| one.is_finite())
                    .collect::<Vec<f64>>(),
            ),
            row,
        )
    };
    let mut rows: Vec<(f64, RowId)> = state.sheet.rows_of(series).into_iter().map(usual).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    rows.truncate(rows.len().div_ceil(2));
    let shares = |at: usize| rows.iter().map(move |(usual, row)| of(at, *row) / usual);
    let pace =
        |at: usize| median(&mut shares(at).filter(|pace| pace.is_finite()).collect::<Vec<f64>>());
    (0..stretches.len()).map(pace).collect()
}

/// Gives stretches in which something else lengthened the chain and not the code the rate that the
/// code shows, and says how many they are.
fn replace_hit(stretches: &mut [Stretch], code: &[(SeriesId, Vec<f64>)]) -> usize {
    let pace = |at: usize| {
        let paces = code.iter().map(|(_, paces)| paces[at]).filter(|pace| pace.is_finite());
        ln(median(&mut paces.collect::<Vec<f64>>()))
    };
    let paces: Vec<f64> = (0..stretches.len()).map(pace).collect();
    let rates: Vec<f64> = stretches.iter().map(|stretch| ln(stretch.rate)).collect();
    let usual = median(&mut rates.clone());
    let ratios: Vec<f64> = rates.iter().zip(&paces).map(|(rate, pace)| rate - pace).collect();
    let known_ratios =
        || ratios.iter().copied().filter(|one| one.is_finite()).collect::<Vec<f64>>();
    let Some((middle, reach)) = limit(&mut known_ratios(), 0.0) else { return 0 };
    let is_hit = |at: &usize| ratios[*at] > middle + reach && rates[*at] - usual > paces[*at].abs();
    let hit: Vec<usize> = (0..ratios.len()).filter(is_hit).collect();
    hit.iter().for_each(|at| stretches[*at].rate = exp(paces[*at] + middle));
    hit.len()
}

/// The rate of each stretch that shows it, by the line of the reference chain. The scatter of its
/// readings in all stretches shows the noise.
fn stretches(
    state: &State,
    seen_stretches: &[Seen],
    series: SeriesId,
    cycles: f64,
) -> Vec<Stretch> {
    let rows = state.sheet.rows_of(series);
    let length =
        |row: &RowId| state.table.rows()[*row as usize].counts.iter().sum::<f64>() * cycles;
    let design: Vec<Vec<f64>> = rows.iter().map(|row| vec![length(row), 1.0]).collect();
    let Some(line) = LinearMap::new(&design, &vec![1.0; rows.len()]) else { return Vec::new() };
    let variance = |row: usize| {
        let squares: f64 = seen_stretches.iter().map(|one| one.chain[row].squares).sum();
        let spare: f64 =
            seen_stretches.iter().map(|one| (one.chain[row].number - 1.0).max(0.0)).sum();
        f64::max(squares / spare, state.quantum.rounding()).max(1e-24)
    };
    let variances: Vec<f64> = (0..rows.len()).map(variance).collect();
    let stretch = |(at, seen_stretch): (usize, &Seen)| {
        let weighted = || seen_stretch.chain.iter().zip(line.map.row(0));
        let rate = weighted().map(|(row, weight)| weight * row.mean).sum();
        let noise = weighted()
            .zip(&variances)
            .map(|((row, weight), variance)| weight * weight * variance / row.number)
            .sum();
        Stretch { seen: at, first_round: seen_stretch.first_round, rate, noise }
    };
    let mut found_stretches: Vec<Stretch> = seen_stretches
        .iter()
        .enumerate()
        .map(stretch)
        .filter(|one| one.rate.is_finite() && one.rate > 0.0)
        .collect();
    found_stretches.iter_mut().take(1).for_each(|first| first.first_round = 0);
    found_stretches
}

/// Whether the paces of a series vary with the clock.
fn follows(paces: &[f64], rates: &[f64]) -> bool {
    let spread = |values: &mut dyn Iterator<Item = f64>| {
        variance(&values.filter(|one| one.is_finite()).map(ln).collect::<Vec<f64>>())
    };
    let at_one_clock = spread(&mut paces.iter().zip(rates).map(|(pace, rate)| pace / rate));
    // A spread that is not known, of a few stretches, is no reason against it.
    at_one_clock.is_nan() || at_one_clock <= FOLLOWS_CLOCK * spread(&mut paces.iter().copied())
}

/// The least and the largest rate over the middle one, if the clock stepped.
fn stepped(rates: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len() - 1;
    let (low, middle, high) =
        (sorted[sorted.len() / 20], sorted[sorted.len() / 2], sorted[last - sorted.len() / 20]);
    let is_stepped = rates.len() >= STRETCH_ROUNDS as usize
        && (high - low) / middle > USUAL_PRECISION
        && high - low > FAR_SIGMAS * noise(rates);
    is_stepped.then_some((low / middle, high / middle))
}

fn says(state: &State, _: SeriesId) -> Vec<Finding> {
    // More ticks per cycle mean a slower clock.
    let stepped = state
        .clock
        .as_ref()
        .and_then(|clock| clock.stepped)
        .map(|(low, high)| stepped_finding(1.0 / high, 1.0 / low));
    stepped.into_iter().collect()
}

/// The finding that the core clock moved between these shares of its median.
pub fn stepped_finding(low: f64, high: f64) -> Finding {
    let (low_percent, high_percent) = (100.0 * (low - 1.0), 100.0 * (high - 1.0));
    let message = format!(
        "the core clock moved between {low_percent:+.1} % and {high_percent:+.1} % of its median \
         during the run"
    );
    let numbers = numbers! { low_percent, high_percent };
    let remedy =
        "compare core cycles, which do not change with it; the time in ns is the mean over the run";
    Finding::of(Severity::Note, code::FREQUENCY_STEPPED, message, numbers, remedy)
}
