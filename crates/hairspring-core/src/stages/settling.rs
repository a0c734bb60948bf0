//! How code warms up in a new process: branch predictors learn, caches fill, and a loop of 10,000
//! branches becomes three times as fast within some hundred evaluations. A mean over all rounds
//! then depends on how long the placements were. Users ask for the time that the code comes to, so
//! the rounds before its steady state are left out.

use crate::estimate::{Source, median, variance_of_mean};
use crate::finding::words::in_percent;
use crate::finding::{Finding, Severity, code};
use crate::grid::ROUNDS_OF_SPAN;
use crate::limit::{Basis, FAR_ERRORS, FEWEST_VALUES, USUAL_PRECISION, limits};
use crate::numbers;
use crate::observations::SeriesId;
use crate::sheet::Sheet;
use crate::stages::{Did, Stage, State, need};
use std::ops::Range;

limits! {
    /// This part of a placement, the last one, is its end.
    END_SHARE = 0.25, "share of a placement",
        Basis::Size("a longer end is not in the steady state");
    /// A placement is long enough if the steady state begins in this part of it.
    EARLY_SHARE = 0.5, "share of a placement", Basis::Size("time of the run");
    /// Rounds of which nothing is said.
    FEW_ROUNDS = 3.0, "rounds",
        Basis::Seen("the first rounds of new processes find cold caches; all CPU models of \
                     docs/measured.md");
    /// Another run may warm up for this many times as long; and code that still becomes faster by a
    /// share at the end of the placements may do so by this many times as much.
    FURTHER_LEFT = 2.0, "", Basis::Derived("exponential warm-up times: three quarters of the \
                                            placements; the rest of a decay that halved twice in \
                                            the last quarter");
}

pub(crate) const STAGE: Stage = Stage {
    name: "settling",
    question: "Has the code warmed up in each placement?",
    needs: &[need::PLACEMENTS, need::SINGLE_READINGS, need::ALONE],
    limits: &[LIMITS],
    source: Some(Source::Settling),
    says,
};

/// How the code of a table warms up in each placement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WarmUp {
    /// Rounds of each placement before it is surely in its steady state.
    pub rounds: u32,
    /// Rounds of a placement, in the longer half of them.
    pub of: u32,
    /// How many times as long the first round takes as the last ones.
    pub first_factor: f64,
    /// By which share it still becomes faster towards the end of the placements; 0 where it is in
    /// its steady state before.
    pub left: f64,
    /// Whether the other rounds are too few, so that all count.
    pub is_needed: bool,
}

impl WarmUp {
    /// Whether longer placements would show more.
    pub fn is_late(&self) -> bool {
        f64::from(self.rounds) > EARLY_SHARE * f64::from(self.of)
    }

    /// The rounds before the steady state.
    pub fn before_steady_state(&self, placements: &[Range<u32>]) -> Vec<Range<u32>> {
        placements
            .iter()
            .map(|placement| placement.start..placement.end.min(placement.start + self.rounds))
            .collect()
    }
}

/// Leaves out the rounds before the steady state.
pub(crate) fn choose(state: &mut State) -> Did {
    let Some(found_warm_up) = warm_up(&state.sheet) else {
        return Did::nothing("no round of a placement takes longer than its last ones");
    };
    state.leave_out_rounds(
        &found_warm_up.before_steady_state(&state.table.placements_until(state.sheet.rounds)),
    );
    state.warm_up = Some(found_warm_up);
    let WarmUp { rounds, of, first_factor, .. } = found_warm_up;
    Did::something(format!(
        "the first {rounds} of {of} rounds of each placement; the first one takes \
         {first_factor:.1} times as long"
    ))
}

/// Uses the rounds before after all, if a series cannot be solved without them.
pub(crate) fn use_if_needed(state: &mut State) -> Did {
    let is_lost = |series: SeriesId| matches!(state.solutions[usize::from(series)], Some(Err(_)));
    if state.warm_up.is_none() || !state.subjects().into_iter().any(is_lost) {
        return Did::nothing("");
    }
    let number = state.number_of(&STAGE);
    state.sheet.restore_all(number);
    state.warm_up.iter_mut().for_each(|warm_up| warm_up.is_needed = true);
    state.solve_again();
    Did::something("the other rounds are too few: all count")
}

/// Adds what is left of the warm-up.
pub(crate) fn widen(state: &mut State) -> Did {
    let warm_up_left = state.warm_up.map_or(0.0, |warm_up| warm_up.left);
    if warm_up_left == 0.0 {
        return Did::nothing("it warms up early enough");
    }
    for series in state.subjects() {
        state.bound_all(series, FURTHER_LEFT * warm_up_left, Source::Settling);
    }
    Did::something(format!(
        "it still becomes faster, by {}, at the end of the placements",
        in_percent(100.0 * warm_up_left)
    ))
}

fn says(state: &State, _: SeriesId) -> Vec<Finding> {
    let Some(WarmUp { rounds, of, first_factor, left: warm_up_left, is_needed }) = state.warm_up
    else {
        return Vec::new();
    };
    if rounds <= FEW_ROUNDS as u32 && warm_up_left == 0.0 {
        return Vec::new();
    }
    let left_percent = 100.0 * warm_up_left;
    let message = format!(
        "the code warms up in each placement, as caches fill and branch predictors learn: its \
         first round takes {first_factor:.1} times as long as later ones{}",
        if warm_up_left > 0.0 {
            format!(
                ", and it still becomes faster, by {}, at the end of the placements",
                in_percent(left_percent)
            )
        } else if is_needed {
            format!("; the rounds behind the first {rounds} of {of} are too few, so all are used")
        } else {
            format!("; the first {rounds} of {of} rounds are left out")
        }
    );
    let (severity, remedy) = if warm_up_left > 0.0 || is_needed {
        (Severity::Warning, "give it more time, so that the placements are longer")
    } else {
        (Severity::Note, "nothing to do: the time is what the code comes to where it runs often")
    };
    vec![Finding::of(
        severity,
        code::SETTLES,
        message,
        numbers! { rounds, of, first_factor, left_percent },
        remedy,
    )]
}

/// How the code of a table warms up, by the series that takes longest to; `None` if no round of a
/// placement takes longer than the last ones, or if the placements are few or short.
///
/// # Cost
/// About 10 ns for each reading.
fn warm_up(sheet: &Sheet) -> Option<WarmUp> {
    let table = sheet.table;
    let mut placements = table.placements_until(sheet.rounds);
    let longest = placements.iter().map(rounds_of).max()?;
    placements.retain(|placement| {
        2 * rounds_of(placement) > longest && rounds_of(placement) >= ROUNDS_OF_SPAN as u32
    });
    if placements.len() < FEWEST_VALUES as usize {
        return None;
    }
    // The core clock may rise in each new process, too, and the reference chain with it.
    let sums = sums(sheet);
    let chain = table
        .origin
        .reference
        .as_ref()
        .and_then(|(name, _)| table.find_series(name))
        .map(|chain| &sums[usize::from(chain)]);
    let relative = |series: usize| match chain {
        Some(chain) => sums[series].iter().zip(chain).map(|(sum, chain)| sum / chain).collect(),
        None => sums[series].clone(),
    };
    let subjects = table
        .series_names()
        .iter()
        .enumerate()
        .filter(|(_, name)| !table.origin.is_auxiliary(name));
    let found = subjects.filter_map(|(series, _)| of_series(&relative(series), &placements));
    found.max_by_key(|warm_up| warm_up.rounds)
}

fn rounds_of(placement: &Range<u32>) -> u32 {
    placement.end - placement.start
}

/// The sum of all readings of each series in each round; NaN where one is missing or flagged. The
/// core clock of single rounds cancels in the quotient of two.
fn sums(sheet: &Sheet) -> Vec<Vec<f64>> {
    let (series, rows) = (sheet.table.series_names().len(), sheet.table.rows());
    let mut sums_of_rounds = vec![vec![(0.0, 0); sheet.rounds as usize]; series];
    for reading in sheet.table.readings().iter().filter(|reading| !reading.flags.any()) {
        let (sum, number) = &mut sums_of_rounds[usize::from(rows[reading.row as usize].series)]
            [reading.round as usize];
        *sum += reading.ticks;
        *number += 1;
    }
    let complete_sums = |(series, sums): (usize, Vec<(f64, usize)>)| {
        let rows = sheet.rows_of(series as SeriesId).len();
        sums.into_iter().map(|(sum, number)| if number == rows { sum } else { f64::NAN }).collect()
    };
    sums_of_rounds.into_iter().enumerate().map(complete_sums).collect()
}

fn of_series(sums: &[f64], placements: &[Range<u32>]) -> Option<WarmUp> {
    let length = placements.iter().map(rounds_of).min()?;
    let end = length - (END_SHARE * f64::from(length)) as u32;
    let windows: Vec<(u32, Window)> = borders(end)
        .windows(2)
        .filter_map(|two| Some((two[0], window(sums, placements, two[0]..two[1], end..length)?)))
        .collect();
    let last_longer = windows.iter().rposition(|(_, window)| window.is_longer())?;
    let rounds = windows
        .get(last_longer + 1)
        .map_or(end, |(begin, _)| end.min(FURTHER_LEFT as u32 * *begin));
    let is_last = last_longer + 1 == windows.len();
    let warm_up_left = if is_last { windows[last_longer].1.longer } else { 0.0 };
    Some(WarmUp {
        rounds,
        of: length,
        first_factor: 1.0 + windows[0].1.longer,
        left: warm_up_left,
        is_needed: false,
    })
}

/// Borders of windows that become longer: a warm-up takes its time in proportion.
fn borders(end: u32) -> Vec<u32> {
    let mut all_borders = vec![0, 1, 2, 3];
    while let Some(last) = all_borders.last().copied().filter(|last| *last < end) {
        all_borders.push(last + (last / 2).max(1));
    }
    all_borders.retain(|border| *border < end);
    all_borders.push(end);
    all_borders
}

/// How much longer the rounds of a window are than those at the end of the same placements.
struct Window {
    longer: f64,
    error: f64,
}

impl Window {
    fn is_longer(&self) -> bool {
        self.longer > USUAL_PRECISION.max(FAR_ERRORS * self.error)
    }
}

/// The median over the placements, with its standard error; `None` if too few of them have readings
/// in both.
fn window(
    sums: &[f64],
    placements: &[Range<u32>],
    of: Range<u32>,
    end: Range<u32>,
) -> Option<Window> {
    let middle = |start: u32, rounds: &Range<u32>| {
        let mut sums_of_rounds: Vec<f64> = rounds
            .clone()
            .filter_map(|at| sums.get((start + at) as usize).copied())
            .filter(|sum| sum.is_finite())
            .collect();
        (!sums_of_rounds.is_empty()).then(|| median(&mut sums_of_rounds))
    };
    let longer = |placement: &Range<u32>| {
        Some(middle(placement.start, &of)? / middle(placement.start, &end)? - 1.0)
    };
    let mut lengthenings: Vec<f64> =
        placements.iter().filter_map(longer).filter(|longer| longer.is_finite()).collect();
    if lengthenings.len() < FEWEST_VALUES as usize {
        return None;
    }
    // A median of numbers that scatter by chance has a standard error that is a quarter larger than
    // that of their mean.
    let error = 1.25 * variance_of_mean(&lengthenings).0.sqrt();
    Some(Window { longer: median(&mut lengthenings), error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observations::{Observations, Reading};
    use rand::{Rng, SeedableRng};

    /// Placements of so many rounds, in which code takes `1 + first * 2^(-round / half)` times as
    /// long as it comes to.
    fn table(placements: u32, rounds: u32, first: f64, half: f64) -> Observations {
        let mut table = Observations::new(vec!["body".into()]);
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(11);
        let (code, chain) = (table.series("code"), table.series("reference"));
        let rows: Vec<_> = [1.0, 2.0, 4.0]
            .map(|copies| (table.row(code, &[copies]), table.row(chain, &[copies]), copies))
            .into();
        for round in 0..placements * rounds {
            let longer = 1.0 + first * 0.5_f64.powf(f64::from(round % rounds) / half);
            for (code, chain, copies) in &rows {
                let noise = if random.random::<f64>() < 0.02 {
                    500.0
                } else {
                    4.0 * random.random::<f64>()
                };
                table.push(*code, round, 400.0 * copies * longer + 60.0 + noise);
                table.push(*chain, round, 30.0 * copies + 60.0 + 4.0 * random.random::<f64>());
            }
        }
        table.origin.placements = (1..placements).map(|at| at * rounds).collect();
        table.origin.reference = Some(("reference".into(), 3.0));
        table
    }

    fn found_in(table: &Observations) -> Option<WarmUp> {
        warm_up(&Sheet::new(table, &[]))
    }

    #[test]
    fn steady_code_has_no_warm_up() {
        for (placements, rounds) in [(20, 100), (20, 13), (300, 40), (4, 100), (20, 6)] {
            assert_eq!(
                found_in(&table(placements, rounds, 0.0, 1.0)),
                None,
                "{placements} of {rounds}"
            );
        }
    }

    #[test]
    fn a_core_clock_that_rises_in_each_placement_is_no_warm_up() {
        let slower = |reading: &Reading| if reading.round % 100 < 20 { 1.3 } else { 1.0 };
        let mut rising =
            table(20, 100, 0.0, 1.0).with_times(|_, _, reading| slower(reading) * reading.ticks);
        assert_eq!(found_in(&rising), None);
        rising.origin.reference = None;
        assert_eq!(found_in(&rising).map(|warm_up| warm_up.rounds), Some(38));
    }

    #[test]
    fn rounds_before_the_steady_state_are_counted() {
        let warm_up = found_in(&table(20, 200, 1.0, 4.0)).unwrap();
        // After 26 rounds it takes 1 % longer.
        assert!(
            (36..=80).contains(&warm_up.rounds) && warm_up.left == 0.0 && !warm_up.is_late(),
            "{warm_up:?}"
        );
        assert!((1.9..2.1).contains(&warm_up.first_factor), "{warm_up:?}");
        let before = warm_up.before_steady_state(&[0..200, 200..210]);
        assert_eq!(before, [0..warm_up.rounds, 200..210], "a placement may be too short");
    }

    #[test]
    fn code_that_warms_up_too_late_asks_for_longer_placements() {
        let warm_up = found_in(&table(20, 13, 2.0, 4.0)).unwrap();
        assert!(warm_up.is_late() && warm_up.left > 0.05 && warm_up.rounds == 10, "{warm_up:?}");
        // Longer placements among short ones show it.
        let mut mixed = table(40, 13, 2.0, 4.0);
        let later = table(8, 130, 2.0, 4.0);
        let first = mixed.rounds();
        for reading in later.readings() {
            mixed.push(reading.row, first + reading.round, reading.ticks);
        }
        mixed.origin.placements.extend((0..8).map(|at| first + at * 130));
        let warm_up = found_in(&mixed).unwrap();
        assert!(warm_up.left == 0.0 && (36..=97).contains(&warm_up.rounds), "{warm_up:?}");
    }
}
