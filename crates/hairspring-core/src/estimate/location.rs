//! Grouping of raw readings by row and round, and detection of spikes over time.

use super::evened::even_layouts;
use super::steps::steps;
use super::visits::{Visits, keep_quickest, leave_out_slow, show_repeats};
use crate::observations::{Flags, Observations, Reading, RowId, SeriesId};
use crate::quantum::{digit_of_readings, step_of_readings};
use std::collections::BTreeSet;

/// Rounds in one chunk of the spike filter; its window is three chunks.
const CHUNK: usize = 32;
/// A reading further than this many robust standard deviations from the window's median is a spike.
const SPIKE_SIGMAS: f64 = 5.0;
/// The limit is `1 + 150/n^2` times larger in a window of `n` readings, because the spread of few readings is poorly known:
/// fewer than one clean reading in a thousand is then lost in any window (simulated for normal noise).
const SPIKE_SMALL_WINDOW: f64 = 150.0;
/// Quanta of the clock that are added to the limit, because readings of a coarse clock legitimately differ by one quantum.
const SPIKE_QUANTA: f64 = 1.5;

/// If fewer than one reading in this many is undisturbed, all readings are used.
pub const TOO_FEW_UNDISTURBED: usize = 4;

/// A reading of a row, and how far it is used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The round in which it was taken.
    pub round: u32,
    /// Its weight: 0 if it is left out, 1 if it is used, the probability that it was undisturbed where that is known.
    pub weight: f32,
    /// The reading.
    pub ticks: f64,
}

impl Sample {
    /// Whether it is used at all.
    pub fn is_used(&self) -> bool {
        self.weight > 0.0
    }
}

/// The number of readings that the weights amount to.
pub fn total_weight(samples: &[Sample]) -> f64 {
    samples.iter().map(|sample| f64::from(sample.weight)).sum()
}

/// The rows of one series, and the readings of each in the order of the table.
pub fn by_row(table: &Observations, series: SeriesId) -> (Vec<RowId>, Vec<Vec<&Reading>>) {
    let rows: Vec<RowId> = table.rows_of(series).map(|(id, _)| id).collect();
    let mut place = vec![usize::MAX; table.rows().len()];
    rows.iter().enumerate().for_each(|(at, id)| place[*id as usize] = at);
    let mut readings = vec![Vec::new(); rows.len()];
    for reading in table.readings() {
        if let Some(row) = readings.get_mut(place[reading.row as usize]) {
            row.push(reading);
        }
    }
    (rows, readings)
}

/// Whether a reading is known to be disturbed. A gap in it alone is not: the code may have taken that long.
pub(super) fn is_explained(reading: &Reading) -> bool {
    reading.flags.without(Flags::GAP).any()
}

/// Rows all of whose readings have the flag [`Flags::EXCLUDED`].
pub(super) fn excluded(table: &Observations) -> BTreeSet<RowId> {
    let is_out = |flags: Flags| flags.contains(Flags::EXCLUDED);
    let rows = |out: bool| table.readings().iter().filter(move |reading| is_out(reading.flags) == out).map(|reading| reading.row);
    let kept: BTreeSet<RowId> = rows(false).collect();
    rows(true).filter(|row| !kept.contains(row)).collect()
}

/// Which flags leave a reading out: any of them. Code that takes longer than a scheduler slice is never undisturbed: then all readings but
/// the excluded ones are used, and a finding reports it. Of a series whose readings are all excluded, none is left out.
fn flags_that_leave_out(all: impl Iterator<Item = Flags> + Clone) -> fn(Flags) -> bool {
    let is_excluded = |flags: Flags| flags.contains(Flags::EXCLUDED);
    let (kept, undisturbed) = (all.clone().filter(|flags| !is_excluded(*flags)).count(), all.filter(|flags| !flags.any()).count());
    if kept == 0 {
        |_| false
    } else if undisturbed * TOO_FEW_UNDISTURBED < kept {
        |flags| flags.contains(Flags::EXCLUDED)
    } else {
        |flags| flags.any()
    }
}

/// Readings of one series by row, in the order of their rounds.
#[derive(Debug, Clone)]
pub struct Grouped {
    /// The ids of the rows in the table.
    pub rows: Vec<RowId>,
    /// The readings of each row.
    pub readings: Vec<Vec<Sample>>,
    /// Whether the code's own slow evaluations are among them.
    pub has_slow: bool,
    /// How many of those that are left out were not disturbed.
    pub spared: usize,
    /// Quantum of the clock; 0 if unknown.
    pub quantum: f64,
    /// Whether the table states it, or its readings show it; else it is assumed to be a tick.
    pub is_quantum_known: bool,
}

/// The quantum that a table states, or that of the digits of its readings.
pub(crate) fn stated_quantum(table: &Observations) -> f64 {
    table.origin.granularity.unwrap_or_else(|| table.origin.quantum().max(digit_of_readings(table)))
}

impl Grouped {
    /// Groups the readings of one series, and marks flagged readings and spikes as unusable.
    pub fn new(table: &Observations, series: SeriesId) -> Grouped {
        Grouped::of(table, series, Visits::All)
    }

    /// The same with the readings that are far longer than the others, because they are the code's own.
    pub fn with_slow(table: &Observations, series: SeriesId) -> Grouped {
        let (rows, readings) = by_row(table, series);
        let sample = |one: &Reading| Sample { round: one.round, weight: if is_explained(one) { 0.0 } else { 1.0 }, ticks: one.ticks };
        let mut readings: Vec<Vec<Sample>> = readings.into_iter().map(|row| row.into_iter().map(sample).collect()).collect();
        readings.iter_mut().for_each(|row| row.sort_by_key(|sample| sample.round));
        let (quantum, is_quantum_known) = (stated_quantum(table), table.origin.granularity.is_some());
        Grouped { rows, readings, has_slow: true, spared: 0, quantum, is_quantum_known }
    }

    /// The same, with the readings that these visits leave.
    pub fn of(table: &Observations, series: SeriesId, visits: Visits) -> Grouped {
        let (rows, readings) = by_row(table, series);
        let left_out = flags_that_leave_out(readings.iter().flatten().map(|one| one.flags));
        let sample = |one: &Reading| Sample { round: one.round, weight: if left_out(one.flags) { 0.0 } else { 1.0 }, ticks: one.ticks };
        let mut readings: Vec<Vec<Sample>> = readings.into_iter().map(|row| row.into_iter().map(sample).collect()).collect();
        let learnt = if table.origin.granularity.is_none() { step_of_readings(table) } else { None };
        let stated = stated_quantum(table);
        let quantum = learnt.map_or(stated, |step| step.max(stated));
        let steps = if visits.are_visits() { steps(table) } else { None };
        readings.iter_mut().for_each(|row| row.sort_by_key(|sample| sample.round));
        even_layouts(table, &mut readings);
        for row in &mut readings {
            match visits {
                Visits::All => mark_spikes(row, quantum),
                Visits::Calm | Visits::Quickest => mark_disturbed(row, steps.as_deref(), quantum),
            }
        }
        let mut spared = 0;
        if visits == Visits::Quickest && show_repeats(&readings, quantum) {
            for row in &mut readings {
                let at_one_clock = steps.as_ref().map(|steps| at_one_clock(row, steps));
                spared += keep_quickest(row, at_one_clock.as_deref());
            }
        }
        let is_quantum_known = learnt.is_some() || table.origin.granularity.is_some();
        Grouped { rows, readings, has_slow: false, spared, quantum, is_quantum_known }
    }

    /// Median number of usable readings of a row.
    pub fn typical_repeats(&self) -> usize {
        let mut usable: Vec<usize> = self.readings.iter().map(|row| total_weight(row) as usize).collect();
        let middle = usable.len() / 2;
        if usable.is_empty() { 0 } else { *usable.select_nth_unstable(middle).1 }
    }

    /// Number of readings, and number of usable readings.
    pub fn reading_counts(&self) -> (usize, usize) {
        let all = self.readings.iter().map(Vec::len).sum();
        (all, self.readings.iter().map(|row| total_weight(row)).sum::<f64>() as usize)
    }
}

/// Marks slow visits and spikes as unusable: readings that are too long both as they are, which is how code that waits for memory shows it,
/// and at one level of the core clock, where the levels of rounds are known.
fn mark_disturbed(row: &mut [Sample], steps: Option<&[f64]>, quantum: f64) {
    let mut at_one_clock = steps.map(|steps| at_one_clock(row, steps));
    leave_out_slow(row, quantum, false);
    mark_spikes(row, quantum);
    if let Some(same) = &mut at_one_clock {
        leave_out_slow(same, quantum, true);
        mark_spikes(same, quantum);
        row.iter_mut().zip(same).for_each(|(sample, same)| sample.weight = sample.weight.max(same.weight));
    }
}

/// The readings as they were at the usual level of the core clock; unusable where the level is not known.
fn at_one_clock(row: &[Sample], steps: &[f64]) -> Vec<Sample> {
    let at_usual = |sample: &Sample| match steps.get(sample.round as usize) {
        Some(step) if step.is_finite() => Sample { ticks: sample.ticks / step, ..*sample },
        _ => Sample { weight: 0.0, ..*sample },
    };
    row.iter().map(at_usual).collect()
}

/// Marks readings far from their neighbours in time as unusable (a Hampel filter, in chunks). A lasting change of level is
/// not a spike, because the neighbours have it too.
pub fn mark_spikes(row: &mut [Sample], quantum: f64) {
    if row.len() < 5 {
        return;
    }
    let chunks = row.len().div_ceil(CHUNK);
    let mut limits = Vec::with_capacity(chunks);
    for chunk in 0..chunks {
        let (from, to) = (chunk.saturating_sub(1) * CHUNK, ((chunk + 2) * CHUNK).min(row.len()));
        let mut window: Vec<f64> = row[from..to].iter().filter(|sample| sample.is_used()).map(|sample| sample.ticks).collect();
        limits.push(if window.len() < 5 { (0.0, f64::INFINITY) } else { spike_limit(&mut window, quantum) });
    }
    for (at, sample) in row.iter_mut().enumerate() {
        let (median, reach) = limits[at / CHUNK];
        if (sample.ticks - median).abs() > reach {
            sample.weight = 0.0;
        }
    }
}

/// Median of a window, and the largest distance from it that is not a spike.
fn spike_limit(window: &mut [f64], quantum: f64) -> (f64, f64) {
    let middle = median(window);
    let sigma = robust_sd(window, middle);
    // A window whose readings are mostly equal has a robust deviation of 0: the limit must still be above rounding.
    let sigmas = SPIKE_SIGMAS * (1.0 + SPIKE_SMALL_WINDOW / (window.len() * window.len()) as f64);
    (middle, sigmas * sigma + SPIKE_QUANTA * quantum + 1e-9 * middle.abs())
}

/// Standard deviation about a middle by the median of the distances from it, as that of a normal distribution; NaN for no values.
pub fn robust_sd(values: &[f64], middle: f64) -> f64 {
    1.4826 * median(&mut values.iter().map(|value| (value - middle).abs()).collect::<Vec<f64>>())
}

/// Median (the mean of the two middle values if their number is even); NaN for no values. Reorders the values.
pub fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let (middle, even) = (values.len() / 2, values.len() % 2 == 0);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = if even { below.iter().copied().fold(f64::NEG_INFINITY, f64::max) } else { *upper };
    (lower + *upper) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(values: &[f64], quantum: f64) -> Vec<bool> {
        let mut row: Vec<_> =
            values.iter().enumerate().map(|(at, ticks)| Sample { round: at as u32, weight: 1.0, ticks: *ticks }).collect();
        mark_spikes(&mut row, quantum);
        row.iter().map(Sample::is_used).collect()
    }

    #[test]
    fn medians() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&mut []).is_nan());
    }

    #[test]
    fn spike_is_removed_and_step_is_kept() {
        let mut values: Vec<f64> = (0..200).map(|i| 100.0 + f64::from(i % 3)).collect();
        values[50] = 900.0;
        let marks = used(&values, 1.0);
        assert_eq!(marks.iter().filter(|ok| !**ok).count(), 1);
        assert!(!marks[50]);
        let step: Vec<f64> = (0..400).map(|i| if i < 200 { 100.0 } else { 108.0 } + f64::from(i % 3)).collect();
        assert!(used(&step, 1.0).iter().filter(|ok| !**ok).count() < 40);
    }

    #[test]
    fn short_clean_rows_lose_at_most_one_reading_in_a_thousand() {
        use rand::{Rng, SeedableRng};
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(3);
        for length in [5, 6, 7, 8, 10, 16, 32, 96] {
            let mut lost = 0;
            let rows = 100_000 / length;
            for _ in 0..rows {
                let row: Vec<f64> = (0..length).map(|_| 1e3 + (0..12).map(|_| random.random::<f64>()).sum::<f64>()).collect();
                lost += used(&row, 0.0).iter().filter(|ok| !**ok).count();
            }
            assert!(lost <= rows * length / 1_000, "{lost} of {} lost in rows of {length}", rows * length);
        }
    }

    #[test]
    fn large_spike_is_removed_among_few_readings() {
        let marks = used(&[100.0, 101.0, 900.0, 99.5, 100.5], 1.0);
        assert_eq!(marks, [true, true, false, true, true]);
    }

    #[test]
    fn difference_of_one_quantum_is_not_a_spike() {
        let mut values = vec![52.0; 300];
        (0..300).step_by(40).for_each(|i| values[i] = 78.0);
        assert!(used(&values, 26.0).iter().all(|ok| *ok));
    }

    #[test]
    fn whole_nanoseconds_that_differ_by_one_are_no_spikes() {
        let mut table = Observations::new(vec!["body".into()]);
        table.origin.unit = crate::observations::Unit::TimeNs;
        let series = table.series("main");
        for n in 0..90u32 {
            let row = table.row(series, &[f64::from(n % 3 + 1)]);
            let start = f64::from(n * 37 % 100) / 100.0;
            table.push(row, n / 3, (start + 6.5 + 15.151 * f64::from(n % 3 + 1)).floor());
        }
        let grouped = Grouped::new(&table, series);
        assert_eq!((grouped.quantum, grouped.reading_counts()), (1.0, (90, 90)));
    }
}
