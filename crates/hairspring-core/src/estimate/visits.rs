//! Visits: the readings of a row in one round, taken one after the other. Whatever slows the core slows a visit as a whole, and all
//! visits meanwhile, but never makes one faster. So the slow visits of a row are left out by the row's own quick ones.
//!
//! Single readings do not show it where the clock's quantum is larger than the slowing, and the filter of spikes keeps what lasts.

use super::location::{Sample, median};

/// Which readings of a row count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Visits {
    /// All but spikes.
    #[default]
    All,
    /// Those of calm visits: the readings of a row in one round were taken one after the other, so that what slows the core slows them
    /// together. There may be fewer blocks of rounds.
    Calm,
    /// The quickest fifth of those: rows so short that a branch more or less that is mispredicted is a good part of them. How many are differs
    /// from one repeat to the next and from row to row, and no sum of the parts describes it; the quickest repeats have the fewest.
    ///
    /// All calm visits, where the quantum of the clock is not much shorter than what the repeats differ by: the quickest readings are then
    /// those that met the clock shortly before its step.
    Quickest,
}

impl Visits {
    /// Whether readings of one round were taken one after the other.
    pub(super) fn are_visits(self) -> bool {
        self != Visits::All
    }
}

/// Visits that show how long a row takes: the quickest quarter.
const QUICK: usize = 4;
/// The quickest twentieth: a quarter is above it by about a standard deviation where calm visits differ as a normal distribution does.
const QUICKEST: usize = 20;
/// Fewest visits of which a quarter is more than one.
const FEWEST: usize = 5;
/// A visit is slow if it is above the quick ones by more than this many standard errors, and this share of them.
const ERRORS: f64 = 4.0;
const SHARE: f64 = 0.003;

/// The share of the quickest readings that counts: a fifth. Of tenths to thirds, a fifth left the least departure of the rows of lua's and
/// sqlite3's interpreters on an Intel core (family 6, model 167); the half was three times worse for lua.
const QUICKEST_READINGS: usize = 5;

/// Fewest quanta of the clock between the quickest and the slowest tenth of a row's readings for which a reading shows how long a repeat took.
const QUANTA: f64 = 4.0;

/// Whether single readings show how long a repeat took, in half of the rows or more, rather than where in its quantum the clock was.
pub(super) fn show_repeats(rows: &[Vec<Sample>], quantum: f64) -> bool {
    let spread = |row: &Vec<Sample>| {
        let mut ticks: Vec<f64> = row.iter().filter(|sample| sample.is_used()).map(|sample| sample.ticks).collect();
        ticks.sort_by(f64::total_cmp);
        let tenth = ticks.len() / 10;
        Some(ticks.get(ticks.len().checked_sub(1 + tenth)?)? - ticks[tenth])
    };
    let mut spreads: Vec<f64> = rows.iter().filter_map(spread).collect();
    !spreads.is_empty() && median(&mut spreads) >= QUANTA * quantum
}

/// Gives all but the quickest readings of a row no weight, and returns how many these are. They are compared as they are at one clock, if that
/// is known.
pub(super) fn keep_quickest(row: &mut [Sample], at_one_clock: Option<&[Sample]>) -> usize {
    let same = at_one_clock.unwrap_or(row);
    let ticks = |at: &usize| if same[*at].is_used() { same[*at].ticks } else { f64::INFINITY };
    let mut order: Vec<usize> = (0..row.len()).filter(|at| row[*at].is_used()).collect();
    order.sort_by(|a, b| ticks(a).total_cmp(&ticks(b)));
    let known = order.iter().filter(|at| ticks(at).is_finite()).count();
    let kept = known.div_ceil(QUICKEST_READINGS);
    order[kept..].iter().for_each(|at| row[*at].weight = 0.0);
    order.len() - kept
}

/// Gives the readings of a row's slow visits no weight. The readings are in the order of their rounds.
///
/// If they are `at_one_clock`, the spread of the quick visits is that of calm ones, and only a visit beyond it is slow: single readings of
/// long rows have no error of their own, and a visit may differ from the next for reasons of the code.
pub(super) fn leave_out_slow(row: &mut [Sample], quantum: f64, at_one_clock: bool) {
    let visits: Vec<(f64, f64)> = row.chunk_by(|a, b| a.round == b.round).map(mean_and_error).collect();
    let mut means: Vec<f64> = visits.iter().map(|visit| visit.0).filter(|mean| mean.is_finite()).collect();
    if means.len() < FEWEST {
        return;
    }
    means.sort_by(f64::total_cmp);
    let quick = means[means.len() / QUICK];
    let mut errors: Vec<f64> = visits.iter().map(|visit| visit.1).filter(|error| error.is_finite()).collect();
    let readings = row.len() as f64 / visits.len() as f64;
    // Few readings may be equal by chance; the phases of the clock have at least this error.
    let least = quantum / (6.0 * readings).sqrt();
    let between = if at_one_clock { quick - means[means.len() / QUICKEST] } else { 0.0 };
    let error = if errors.is_empty() { least } else { median(&mut errors).max(least) }.max(between);
    let limit = quick + ERRORS * error + SHARE * quick.abs();
    let mut slow = visits.iter().map(|visit| visit.0 > limit);
    for visit in row.chunk_by_mut(|a, b| a.round == b.round) {
        if slow.next().unwrap_or(false) {
            visit.iter_mut().for_each(|sample| sample.weight = 0.0);
        }
    }
}

/// Mean of a visit's readings without the longest, which a single interruption does not move, and its standard error; NaN for none.
fn mean_and_error(visit: &[Sample]) -> (f64, f64) {
    let mut ticks: Vec<f64> = visit.iter().filter(|sample| sample.is_used()).map(|sample| sample.ticks).collect();
    if ticks.is_empty() {
        return (f64::NAN, f64::NAN);
    }
    ticks.sort_by(f64::total_cmp);
    let kept = &ticks[..ticks.len() - ticks.len() / 8];
    let count = kept.len() as f64;
    let mean = kept.iter().sum::<f64>() / count;
    let variance = kept.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, if kept.len() > 2 { (variance / count).sqrt() } else { f64::NAN })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visits(factors: &[f64]) -> Vec<Sample> {
        let reading = |round: usize, at: usize| {
            let ticks = 1000.0 * factors[round] + f64::from((round as u32 * 7 + at as u32 * 5) % 11);
            Sample { round: round as u32, weight: 1.0, ticks }
        };
        (0..factors.len()).flat_map(|round| (0..12).map(move |at| reading(round, at))).collect()
    }

    #[test]
    fn slow_visits_are_left_out_as_a_whole_and_calm_ones_kept() {
        let mut factors = vec![1.0; 24];
        factors[4..14].fill(1.05);
        let mut row = visits(&factors);
        leave_out_slow(&mut row, 0.0, false);
        assert!(row.iter().all(|sample| sample.is_used() == (factors[sample.round as usize] == 1.0)));
        let mut calm = visits(&[1.0; 24]);
        leave_out_slow(&mut calm, 0.0, false);
        assert!(calm.iter().all(Sample::is_used));
    }

    #[test]
    fn the_quickest_fifth_is_that_at_one_clock() {
        // The second half runs at a clock that is slower by a quarter.
        let reading = |round: u32| {
            let own = 100.0 + f64::from(round * 7 % 20);
            Sample { round, weight: 1.0, ticks: if round < 20 { own } else { 1.25 * own } }
        };
        let mut row: Vec<Sample> = (0..40).map(reading).collect();
        row[0].weight = 0.0;
        let same: Vec<Sample> =
            row.iter().map(|one| Sample { ticks: one.ticks / if one.round < 20 { 1.0 } else { 1.25 }, ..*one }).collect();
        let kept = |same: Option<&[Sample]>| {
            let mut row = row.clone();
            keep_quickest(&mut row, same);
            row.into_iter().filter(Sample::is_used).map(|one| one.round).collect::<Vec<u32>>()
        };
        assert_eq!(kept(Some(&same)), [3, 6, 9, 12, 20, 23, 26, 29]);
        assert!(kept(None).iter().all(|round| *round < 20));
        assert_eq!(kept(None).len(), 8);
    }

    #[test]
    fn an_interruption_does_not_make_a_visit_slow() {
        let mut row = visits(&[1.0; 8]);
        row[30].ticks += 9_000.0;
        leave_out_slow(&mut row, 0.0, false);
        assert!(row.iter().all(Sample::is_used));
    }

    #[test]
    fn calm_visits_of_a_single_reading_that_differ_are_kept() {
        let reading = |round: u32| Sample { round, weight: 1.0, ticks: 5e6 * (1.0 + 0.002 * f64::from(round * 7 % 11)) };
        let mut row: Vec<Sample> = (0..60).map(reading).collect();
        for round in [9, 20, 41] {
            row[round].ticks *= 1.2;
        }
        leave_out_slow(&mut row, 2.0, true);
        let slow: Vec<u32> = row.iter().filter(|sample| !sample.is_used()).map(|sample| sample.round).collect();
        assert_eq!(slow, [9, 20, 41]);
    }
}
