//! The core clock in stretches of rounds, as the reference chain shows it.

use crate::estimate::blocks::variance;
use crate::estimate::levels::{levels, noise};
use crate::estimate::linear::LinearMap;
use crate::estimate::location::{by_row, median};
use crate::observations::{Observations, Reading, RowId, SeriesId};

/// Rounds in a stretch: short compared with the stay of a core at one clock (5 to 100 ms), and long enough for a median.
const STRETCH: u32 = 8;
/// The same where a quantum of the clock is not short compared with the rows, so that more readings are needed.
const LONG_STRETCH: u32 = 32;
/// The quantum from which on the longer stretches are used, as a share of the longest row.
const COARSE: f64 = 0.01;
/// Readings of the longest row whose median is its length.
const FIRST_READINGS: usize = 64;
/// A stretch belongs to a level if it is off by at most this share ...
const OFF: f64 = 0.004;
/// ... or by this many times the noise of a stretch.
const OVER_NOISE: f64 = 4.0;
/// Standard deviation of a median over that of a mean of the same normal values.
const MEDIAN_NOISE: f64 = 1.2533;
/// Least share of the stretches that must belong to a level.
const LEAST_KNOWN: f64 = 0.2;

/// Ticks per core cycle.
#[derive(Debug, Clone)]
pub struct Rates {
    /// For each round; NaN where the clock was changing.
    pub by_round: Vec<f64>,
    /// Mean over the rounds where it is known.
    pub mean: f64,
    /// Standard error of the mean by the noise of the reference chain, as a share of it.
    pub mean_error: f64,
}

impl Rates {
    /// The rate in a round, if it is known.
    pub fn at(&self, round: u32) -> Option<f64> {
        self.by_round.get(round as usize).copied().filter(|rate| rate.is_finite())
    }

    /// Standard deviation of the rates of all rounds, as a share of their mean.
    pub fn relative_sd(&self) -> f64 {
        let known: Vec<f64> = self.by_round.iter().copied().filter(|rate| rate.is_finite()).collect();
        if known.len() < 2 { 0.0 } else { variance(&known).sqrt() / self.mean }
    }
}

/// The rates of a table with a reference chain of this many core cycles; `None` if it has too few rounds, or the core clock
/// never stays at a level.
pub fn rates(table: &Observations, reference: SeriesId, cycles: f64) -> Option<Rates> {
    let stretch = stretch(table, reference);
    let stretches = stretches(table, reference, cycles, stretch);
    let known: Vec<f64> = stretches.iter().copied().flatten().collect();
    let noise = noise(&known);
    let reach = |level: f64| (OFF * level).max(OVER_NOISE * noise);
    let found: Vec<f64> = levels(&steady(&known, OVER_NOISE * noise), 0.95)
        .iter()
        .map(|level| middle(&known, level.value.value, reach(level.value.value)))
        .collect();
    let nearest = |rate: f64| found.iter().copied().min_by(|a, b| (a - rate).abs().total_cmp(&(b - rate).abs()));
    let snapped = |rate: f64| nearest(rate).filter(|level| (level - rate).abs() <= reach(*level));
    let by_stretch: Vec<f64> = stretches.iter().map(|rate| rate.and_then(snapped).unwrap_or(f64::NAN)).collect();
    let is_enough = |rates: &[f64]| {
        let known = rates.iter().filter(|rate| rate.is_finite()).count();
        known > 0 && known as f64 >= LEAST_KNOWN * stretches.len() as f64
    };
    let inside = inside(&by_stretch);
    let by_stretch = [inside, by_stretch].into_iter().find(|rates| is_enough(rates))?;
    let at_level: Vec<f64> = by_stretch.iter().copied().filter(|rate| rate.is_finite()).collect();
    let by_round = by_stretch.iter().flat_map(|rate| vec![*rate; stretch as usize]).take(table.rounds() as usize).collect();
    let mean = at_level.iter().sum::<f64>() / at_level.len() as f64;
    Some(Rates { by_round, mean, mean_error: MEDIAN_NOISE * noise / (at_level.len() as f64).sqrt() / mean })
}

/// The values that one of their neighbours shares within this distance. The others are of stretches in which the clock stepped: such a
/// stretch lies between two levels and would join them into one.
fn steady(values: &[f64], distance: f64) -> Vec<f64> {
    let near = |a: usize, b: usize| (values[a] - values[b]).abs() <= distance;
    let last = values.len().saturating_sub(1);
    (0..values.len()).filter(|at| *at > 0 && near(*at, at - 1) || *at < last && near(*at, at + 1)).map(|at| values[at]).collect()
}

/// The rates without those of stretches beside another level: the clock may have stepped within such a stretch, and readings at
/// a rate that is not theirs would seem shorter than any undisturbed one.
fn inside(by_stretch: &[f64]) -> Vec<f64> {
    let same = |at: Option<usize>, rate: f64| at.and_then(|at| by_stretch.get(at)).is_none_or(|other| *other == rate);
    let kept = |(at, rate): (usize, &f64)| if same(at.checked_sub(1), *rate) && same(Some(at + 1), *rate) { *rate } else { f64::NAN };
    by_stretch.iter().enumerate().map(kept).collect()
}

/// The median of the values near a level, which a few lengthened stretches do not shift.
fn middle(values: &[f64], level: f64, reach: f64) -> f64 {
    let mut near: Vec<f64> = values.iter().copied().filter(|value| (value - level).abs() <= reach).collect();
    if near.is_empty() { level } else { median(&mut near) }
}

/// The mean of the readings within two quanta of their median, or the median itself for a quantum of 0. Readings of a coarse clock
/// have their median at a multiple of the quantum.
fn typical(readings: &mut [f64], quantum: f64) -> f64 {
    let middle = median(readings);
    let (mut sum, mut count) = (0.0, 0.0);
    for reading in readings.iter().filter(|reading| (**reading - middle).abs() <= 2.0 * quantum) {
        sum += reading;
        count += 1.0;
    }
    if quantum > 0.0 && count > 0.0 { sum / count } else { middle }
}

/// Rounds in a stretch of this table.
fn stretch(table: &Observations, reference: SeriesId) -> u32 {
    let counts = |row: RowId| table.rows()[row as usize].counts.iter().sum::<f64>();
    let longest = table.rows_of(reference).map(|(row, _)| row).max_by(|a, b| counts(*a).total_cmp(&counts(*b)));
    let of_longest = |one: &&Reading| Some(one.row) == longest && !one.flags.any();
    let mut first: Vec<f64> = table.readings().iter().filter(of_longest).take(FIRST_READINGS).map(|one| one.ticks).collect();
    if table.origin.quantum() > COARSE * median(&mut first) { LONG_STRETCH } else { STRETCH }
}

/// The slope of the reference chain in ticks per core cycle, in each stretch; `None` where a row has no reading.
fn stretches(table: &Observations, reference: SeriesId, cycles: f64, stretch: u32) -> Vec<Option<f64>> {
    let (rows, by_row) = by_row(table, reference);
    let length = |id: &RowId| table.rows()[*id as usize].counts.iter().sum::<f64>() * cycles;
    let count = table.rounds().div_ceil(stretch) as usize;
    // With fewer readings than that too few stretches can be known, and a file may have a round of any number.
    if (by_row.iter().map(Vec::len).min().unwrap_or(0) as f64) < LEAST_KNOWN * count as f64 {
        return Vec::new();
    }
    let mut readings = vec![vec![Vec::new(); rows.len()]; count];
    for (at, row) in by_row.iter().enumerate() {
        for one in row.iter().filter(|one| one.is_clean_but_shared()) {
            readings[(one.round / stretch) as usize][at].push(one.ticks);
        }
    }
    let design: Vec<Vec<f64>> = rows.iter().map(|id| vec![length(id), 1.0]).collect();
    let Some(line) = LinearMap::new(&design, &vec![1.0; rows.len()]) else { return vec![None; count] };
    let quantum = table.origin.quantum();
    let slope = |mut rows: Vec<Vec<f64>>| {
        let located: Vec<f64> = rows.iter_mut().map(|row| typical(row, if stretch == STRETCH { 0.0 } else { quantum })).collect();
        Some(line.solve(&located)[0]).filter(|slope| slope.is_finite() && *slope > 0.0)
    };
    readings.into_iter().map(slope).collect()
}
