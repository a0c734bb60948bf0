//! Repeats: the readings of a row in one round, taken one after the other. Whatever slows the core
//! slows such a group as a whole, and all groups meanwhile, but never makes one faster. So the slow
//! groups of a row are left out by the row's own quick ones.
//!
//! Single readings do not show it where the clock's quantum is larger than the slowing, and the
//! filter of spikes keeps what lasts.

use crate::estimate::{Repeats, median, variance};
use crate::limit::{Basis, FAR_ERRORS, FEWEST_VALUES, LITTLE_SHARE, limits};
use crate::sheet::Sample;
use crate::stages::{Did, Stage, State, need};

limits! {
    /// The quickest groups of repeats, one in this number, show how long a row takes.
    QUICK_GROUPS = 4.0, "", Basis::Derived("a co-runner may be there in three quarters of the \
                                            rounds");
    /// The quickest of all groups, one in this number: a quarter is above it by a standard
    /// deviation where calm groups differ as a normal distribution.
    QUICKEST_GROUPS = 20.0, "",
        Basis::Derived("the quantiles of a normal distribution at 5 and 25 % are 0.97 standard \
                        deviations apart");
    /// One in this number of the quickest repeats counts.
    QUICKEST_REPEATS = 5.0, "",
        Basis::Seen("least departure of the rows of lua and sqlite3; Intel family 6 model 167, \
                     November 2026");
    /// Fewest quanta of the clock between the quickest and the slowest tenth of a row's readings
    /// that show how long a repeat took.
    REPEAT_QUANTA = 4.0, "quanta of the clock",
        Basis::Simulated("readings_in_coarse_steps_do_not_show_the_quickest_repeats");
}

pub(crate) const STAGE: Stage = Stage {
    name: "visits",
    question: "Which repeats of a row are slower than its quick ones?",
    needs: &[need::REPEATS],
    limits: &[LIMITS],
    source: None,
    says: |_, _| Vec::new(),
};

/// Leaves out slow groups of repeats, and all but the quickest repeats where these are asked for.
pub(crate) fn choose(state: &mut State) -> Did {
    let quantum = state.quantum.step;
    let mut out = Vec::new();
    for series in state.all_series() {
        let used =
            |row: u32| state.sheet.row(row).filter(|one| one.is_used).collect::<Vec<Sample>>();
        let mut rows: Vec<Vec<Sample>> =
            state.sheet.rows_of(series).into_iter().map(used).collect();
        let is_converted = state.sheet.is_converted(series);
        for row in &mut rows {
            let slow = slow(row, quantum, is_converted);
            out.extend(slow.iter().map(|at| row[*at].at));
            let mut at = 0;
            row.retain(|_| {
                at += 1;
                slow.binary_search(&(at - 1)).is_err()
            });
        }
        if state.options.repeats == Repeats::Quickest && show_repeats(&rows, quantum) {
            out.extend(rows.iter_mut().flat_map(|row| but_quickest(row)));
        }
    }
    state.leave_out_all(out, "all repeats are quick")
}

/// Whether single readings show how long a repeat took, in half of the rows or more, rather than
/// where in its quantum the clock was.
fn show_repeats(rows: &[Vec<Sample>], quantum: f64) -> bool {
    let spread = |row: &Vec<Sample>| {
        let mut ticks: Vec<f64> = row.iter().map(|sample| sample.ticks).collect();
        ticks.sort_by(f64::total_cmp);
        let tenth = ticks.len() / 10;
        Some(ticks.get(ticks.len().checked_sub(1 + tenth)?)? - ticks[tenth])
    };
    let mut spreads: Vec<f64> = rows.iter().filter_map(spread).collect();
    !spreads.is_empty() && median(&mut spreads) >= REPEAT_QUANTA * quantum
}

/// The places of all but the quickest readings of a row.
fn but_quickest(row: &mut [Sample]) -> Vec<usize> {
    row.sort_by(|a, b| a.ticks.total_cmp(&b.ticks));
    row[row.len().div_ceil(QUICKEST_REPEATS as usize)..].iter().map(|sample| sample.at).collect()
}

/// The readings of a row's slow groups of repeats, as places in the row, which is in the order of
/// the rounds.
///
/// If they are at one clock, the spread of the quick groups is that of calm ones, and only a group
/// beyond it is slow: single readings of long rows have no error of their own, and a group may
/// differ from the next for reasons of the code.
fn slow(row: &[Sample], quantum: f64, at_one_clock: bool) -> Vec<usize> {
    let groups: Vec<(f64, f64)> =
        row.chunk_by(|a, b| a.round == b.round).map(mean_and_error).collect();
    let mut means: Vec<f64> = groups.iter().map(|group| group.0).collect();
    if means.len() < FEWEST_VALUES as usize {
        return Vec::new();
    }
    means.sort_by(f64::total_cmp);
    let quick = means[means.len() / QUICK_GROUPS as usize];
    let mut errors: Vec<f64> =
        groups.iter().map(|group| group.1).filter(|error| error.is_finite()).collect();
    // Few readings may be equal by chance; the phases of the clock have at least this error.
    let least_error = quantum / (6.0 * row.len() as f64 / groups.len() as f64).sqrt();
    let between =
        if at_one_clock { quick - means[means.len() / QUICKEST_GROUPS as usize] } else { 0.0 };
    let error = if errors.is_empty() { least_error } else { median(&mut errors).max(least_error) }
        .max(between);
    let limit = quick + FAR_ERRORS * error + LITTLE_SHARE * quick.abs();
    let mut is_slow = groups.iter().map(|group| group.0 > limit);
    let (mut at, mut slow) = (0, Vec::new());
    for group in row.chunk_by(|a, b| a.round == b.round) {
        if is_slow.next().unwrap_or(false) {
            slow.extend(at..at + group.len());
        }
        at += group.len();
    }
    slow
}

/// Mean of a group of repeats without the longest, which a single interruption does not move, and
/// its standard error.
fn mean_and_error(group: &[Sample]) -> (f64, f64) {
    let mut ticks: Vec<f64> = group.iter().map(|sample| sample.ticks).collect();
    ticks.sort_by(f64::total_cmp);
    let kept_ticks = &ticks[..ticks.len() - ticks.len() / 8];
    let count = kept_ticks.len() as f64;
    let mean = kept_ticks.iter().sum::<f64>() / count;
    (mean, if kept_ticks.len() > 2 { (variance(kept_ticks) / count).sqrt() } else { f64::NAN })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(factors: &[f64]) -> Vec<Sample> {
        let reading = |round: usize, at: usize| {
            let ticks =
                1000.0 * factors[round] + f64::from((round as u32 * 7 + at as u32 * 5) % 11);
            Sample { at: 12 * round + at, round: round as u32, is_used: true, ticks }
        };
        (0..factors.len()).flat_map(|round| (0..12).map(move |at| reading(round, at))).collect()
    }

    #[test]
    fn slow_groups_are_left_out_as_a_whole_and_calm_ones_kept() {
        let mut factors = vec![1.0; 24];
        factors[4..14].fill(1.05);
        let row = groups(&factors);
        assert_eq!(slow(&row, 0.0, false), (48..168).collect::<Vec<usize>>());
        assert!(slow(&groups(&[1.0; 24]), 0.0, false).is_empty());
    }

    #[test]
    fn the_quickest_fifth_counts() {
        let mut row: Vec<Sample> = (0..40)
            .map(|round| Sample {
                at: round,
                round: round as u32,
                is_used: true,
                ticks: (round * 7 % 40) as f64,
            })
            .collect();
        let out = but_quickest(&mut row);
        assert!(out.len() == 32 && out.iter().all(|at| at * 7 % 40 >= 8), "{out:?}");
    }

    #[test]
    fn an_interruption_does_not_make_a_group_slow() {
        let mut row = groups(&[1.0; 8]);
        row[30].ticks += 9_000.0;
        assert!(slow(&row, 0.0, false).is_empty());
    }

    #[test]
    fn calm_groups_of_a_single_reading_that_differ_are_kept() {
        let reading = |round: usize| Sample {
            at: round,
            round: round as u32,
            is_used: true,
            ticks: 5e6 * (1.0 + 0.002 * f64::from(round as u32 * 7 % 11)),
        };
        let mut row: Vec<Sample> = (0..60).map(reading).collect();
        [9, 20, 41].into_iter().for_each(|round| row[round].ticks *= 1.2);
        assert_eq!(slow(&row, 2.0, true), [9, 20, 41]);
    }
}
