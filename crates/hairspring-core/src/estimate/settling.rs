//! How code settles in a new process: branch predictors learn, caches fill, and a loop of 10,000 branches becomes three times as fast within
//! some hundred evaluations. A mean over all rounds then depends on how long the placements were. Users ask for the time that the code
//! comes to, so the rounds before are left out.

use super::blocks::variance_of_mean;
use super::location::median;
use crate::observations::{Observations, SeriesId};
use std::ops::Range;

/// Fewest rounds of a placement that shows how code settles.
const FEWEST_ROUNDS: u32 = 8;
/// Fewest such placements.
const FEWEST_PLACEMENTS: usize = 5;
/// Code has settled where it takes at most this share longer than at the end of the placements ...
const SETTLED: f64 = 0.01;
/// ... or so many standard errors.
const DEVIATIONS: f64 = 4.0;
/// So many times the rounds in which the middle placement settles are left out, because others take longer.
const OTHERS_TAKE: u32 = 2;
/// This part of a placement, the last one, is its end.
const END: f64 = 0.25;
/// A placement is long enough if it has settled in this part of it.
const EARLY: f64 = 0.5;

/// How the code of a table settles in each placement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settling {
    /// Rounds of each placement before it has surely settled.
    pub rounds: u32,
    /// Rounds of a placement, in the longer half of them.
    pub of: u32,
    /// How many times as long the first round takes as the last ones.
    pub first_factor: f64,
    /// By which share it still becomes faster towards the end of the placements; 0 where it has settled before.
    pub left: f64,
}

impl Settling {
    /// Whether longer placements would show more.
    pub fn is_late(&self) -> bool {
        f64::from(self.rounds) > EARLY * f64::from(self.of)
    }

    /// The rounds before the code has settled.
    pub fn unsettled(&self, placements: &[Range<u32>]) -> Vec<Range<u32>> {
        placements.iter().map(|placement| placement.start..placement.end.min(placement.start + self.rounds)).collect()
    }
}

/// How the code of a table settles, by the series that takes longest to; `None` if no round of a placement takes longer than the last ones,
/// or if the placements are few or short.
///
/// # Cost
/// About 10 ns for each reading.
pub fn settling(table: &Observations) -> Option<Settling> {
    let mut placements = table.placements();
    let longest = placements.iter().map(rounds_of).max()?;
    placements.retain(|placement| 2 * rounds_of(placement) > longest && rounds_of(placement) >= FEWEST_ROUNDS);
    if placements.len() < FEWEST_PLACEMENTS {
        return None;
    }
    // The core clock may rise in each new process, too, and the reference chain with it.
    let chain = table.origin.reference.as_ref().and_then(|(name, _)| table.find_series(name)).map(|chain| sums(table, chain));
    let relative = |series| {
        let mut all = sums(table, series);
        chain.iter().for_each(|chain| all.iter_mut().zip(chain).for_each(|(sum, chain)| *sum /= chain));
        all
    };
    let subjects = table.series_names().iter().enumerate().filter(|(_, name)| !table.origin.is_auxiliary(name));
    let found = subjects.filter_map(|(at, _)| of_series(&relative(at as SeriesId), &placements));
    found.max_by_key(|settling| settling.rounds)
}

fn rounds_of(placement: &Range<u32>) -> u32 {
    placement.end - placement.start
}

/// The sum of all readings of a series in each round; NaN where one is missing or flagged.
fn sums(table: &Observations, series: SeriesId) -> Vec<f64> {
    let is_own: Vec<bool> = table.rows().iter().map(|row| row.series == series).collect();
    let rows = is_own.iter().filter(|own| **own).count() as u32;
    let mut all = vec![(0.0, 0); table.rounds() as usize];
    for one in table.readings().iter().filter(|one| is_own[one.row as usize] && one.is_clean_but_shared()) {
        let (sum, number) = &mut all[one.round as usize];
        *sum += one.ticks;
        *number += 1;
    }
    all.into_iter().map(|(sum, number)| if number == rows { sum } else { f64::NAN }).collect()
}

fn of_series(sums: &[f64], placements: &[Range<u32>]) -> Option<Settling> {
    let length = placements.iter().map(rounds_of).min()?;
    let end = length - (END * f64::from(length)) as u32;
    let windows: Vec<(u32, Window)> =
        borders(end).windows(2).filter_map(|two| Some((two[0], window(sums, placements, two[0]..two[1], end..length)?))).collect();
    let unsettled = windows.iter().rposition(|(_, window)| window.is_longer())?;
    let rounds = windows.get(unsettled + 1).map_or(end, |(begin, _)| end.min(OTHERS_TAKE * *begin));
    let is_last = unsettled + 1 == windows.len();
    let left = if is_last { windows[unsettled].1.longer } else { 0.0 };
    Some(Settling { rounds, of: length, first_factor: 1.0 + windows[0].1.longer, left })
}

/// Borders of windows that become longer: settling takes its time in proportion.
fn borders(end: u32) -> Vec<u32> {
    let mut all = vec![0, 1, 2, 3];
    while let Some(last) = all.last().copied().filter(|last| *last < end) {
        all.push(last + (last / 2).max(1));
    }
    all.retain(|border| *border < end);
    all.push(end);
    all
}

/// How much longer the rounds of a window are than those at the end of the same placements.
struct Window {
    longer: f64,
    error: f64,
}

impl Window {
    fn is_longer(&self) -> bool {
        self.longer > SETTLED.max(DEVIATIONS * self.error)
    }
}

/// The median over the placements, with its standard error; `None` if too few of them have readings in both.
fn window(sums: &[f64], placements: &[Range<u32>], of: Range<u32>, end: Range<u32>) -> Option<Window> {
    let middle = |start: u32, rounds: &Range<u32>| {
        let mut all: Vec<f64> =
            rounds.clone().filter_map(|at| sums.get((start + at) as usize).copied()).filter(|sum| sum.is_finite()).collect();
        (!all.is_empty()).then(|| median(&mut all))
    };
    let longer = |placement: &Range<u32>| Some(middle(placement.start, &of)? / middle(placement.start, &end)? - 1.0);
    let mut all: Vec<f64> = placements.iter().filter_map(longer).filter(|longer| longer.is_finite()).collect();
    if all.len() < FEWEST_PLACEMENTS {
        return None;
    }
    // A median of numbers that scatter by chance has a standard error that is a quarter larger than that of their mean.
    let error = 1.25 * variance_of_mean(&all).0.sqrt();
    Some(Window { longer: median(&mut all), error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observations::Reading;
    use rand::{Rng, SeedableRng};

    /// Placements of so many rounds, in which code takes `1 + first * 2^(-round / half)` times as long as it comes to.
    fn table(placements: u32, rounds: u32, first: f64, half: f64) -> Observations {
        let mut table = Observations::new(vec!["body".into()]);
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(11);
        let (code, chain) = (table.series("code"), table.series("reference"));
        let rows: Vec<_> = [1.0, 2.0, 4.0].map(|copies| (table.row(code, &[copies]), table.row(chain, &[copies]), copies)).into();
        for round in 0..placements * rounds {
            let longer = 1.0 + first * 0.5_f64.powf(f64::from(round % rounds) / half);
            for (code, chain, copies) in &rows {
                let noise = if random.random::<f64>() < 0.02 { 500.0 } else { 4.0 * random.random::<f64>() };
                table.push(*code, round, 400.0 * copies * longer + 60.0 + noise);
                table.push(*chain, round, 30.0 * copies + 60.0 + 4.0 * random.random::<f64>());
            }
        }
        table.origin.placements = (1..placements).map(|at| at * rounds).collect();
        table.origin.reference = Some(("reference".into(), 3.0));
        table
    }

    #[test]
    fn steady_code_has_nothing_to_settle() {
        for (placements, rounds) in [(20, 100), (20, 13), (300, 40), (4, 100), (20, 6)] {
            assert_eq!(settling(&table(placements, rounds, 0.0, 1.0)), None, "{placements} of {rounds}");
        }
    }

    #[test]
    fn a_core_clock_that_rises_in_each_placement_is_nothing_to_settle() {
        let slower = |reading: &Reading| if reading.round % 100 < 20 { 1.3 } else { 1.0 };
        let mut rising = table(20, 100, 0.0, 1.0).with_times(|_, _, reading| slower(reading) * reading.ticks);
        assert_eq!(settling(&rising), None);
        rising.origin.reference = None;
        assert_eq!(settling(&rising).map(|settling| settling.rounds), Some(38));
    }

    #[test]
    fn rounds_before_the_code_has_settled_are_counted() {
        let found = settling(&table(20, 200, 1.0, 4.0)).unwrap();
        // After 26 rounds it takes 1 % longer.
        assert!((36..=80).contains(&found.rounds) && found.left == 0.0 && !found.is_late(), "{found:?}");
        assert!((1.9..2.1).contains(&found.first_factor), "{found:?}");
        let unsettled = found.unsettled(&[0..200, 200..210]);
        assert_eq!(unsettled, [0..found.rounds, 200..210], "a placement may be too short");
    }

    #[test]
    fn code_that_settles_too_late_asks_for_longer_placements() {
        let found = settling(&table(20, 13, 2.0, 4.0)).unwrap();
        assert!(found.is_late() && found.left > 0.05 && found.rounds == 10, "{found:?}");
        // Longer placements among short ones show it.
        let mut mixed = table(40, 13, 2.0, 4.0);
        let later = table(8, 130, 2.0, 4.0);
        let first = mixed.rounds();
        for reading in later.readings() {
            mixed.push(reading.row, first + reading.round, reading.ticks);
        }
        mixed.origin.placements.extend((0..8).map(|at| first + at * 130));
        let found = settling(&mixed).unwrap();
        assert!(found.left == 0.0 && (36..=97).contains(&found.rounds), "{found:?}");
    }
}
