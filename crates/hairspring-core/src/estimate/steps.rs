//! The core clock of single rounds, for rounds so long that the clock stays for few of them.
//!
//! A step of the core clock makes everything in a round longer by the same factor, as a neighbour does, but no reading is worth less for
//! it. The clock has few levels, to which it returns; a neighbour slows the reference chain by any factor. So a factor that many rounds
//! share is taken for a clock, and any other is not.
//!
//! [`levels`](super::levels::levels) separates levels by the noise between successive values. Here the clock may step from each round to the
//! next, so that these differences are the steps, and levels are found where lengths lie densest.

use super::location::{by_row, median};
use crate::observations::Observations;

/// A round belongs to a level if it is off by at most this share; two levels are further apart.
const OFF: f64 = 0.004;
/// Least share of the rounds at a level, and fewest of them.
const LEAST_SHARE: f64 = 0.06;
const FEWEST: usize = 3;

/// How much longer the reference chain is in each round than at its most frequent level; NaN where the clock is not known. `None` without
/// a reference chain, or if it never stays at a level.
pub(super) fn steps(table: &Observations) -> Option<Vec<f64>> {
    let lengths = lengths(table)?;
    let levels = levels(&lengths);
    let usual = levels.first()?;
    let level_of = |length: f64| levels.iter().find(|level| is_at(length, **level));
    Some(lengths.into_iter().map(|length| level_of(length).map_or(f64::NAN, |level| level / usual)).collect())
}

fn is_at(length: f64, level: f64) -> bool {
    (length / level - 1.0).abs() <= OFF
}

/// The length of the reference chain in each round, the sum over its rows; NaN where a row has no reading.
fn lengths(table: &Observations) -> Option<Vec<f64>> {
    let (name, _) = table.origin.reference.as_ref()?;
    let (_, rows) = by_row(table, table.find_series(name)?);
    let fewest = rows.iter().map(Vec::len).min()?;
    let rounds = table.rounds() as usize;
    // A file may have a round of any number.
    if (fewest as f64) < LEAST_SHARE * rounds as f64 {
        return None;
    }
    let mut lengths = vec![0.0; rounds];
    for row in rows {
        let mut ticks = vec![Vec::new(); rounds];
        row.iter().filter(|one| !one.flags.any()).for_each(|one| ticks[one.round as usize].push(one.ticks));
        lengths.iter_mut().zip(&mut ticks).for_each(|(length, ticks)| *length += median(ticks));
    }
    Some(lengths)
}

/// The levels of the chain's length, the most frequent one first.
fn levels(lengths: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = lengths.iter().copied().filter(|length| *length > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let fewest = FEWEST.max((LEAST_SHARE * sorted.len() as f64).ceil() as usize);
    let mut levels = Vec::new();
    // The densest stretch of lengths is a level, then that of the others.
    while let Some((from, count)) = densest(&sorted).filter(|(_, count)| *count >= fewest) {
        let mut members: Vec<f64> = sorted.drain(from..from + count).collect();
        let level = median(&mut members);
        sorted.retain(|length| !is_at(*length, level));
        levels.push(level);
    }
    levels
}

/// The first of the sorted lengths, and the number of them, in the stretch as wide as a level that holds most.
fn densest(sorted: &[f64]) -> Option<(usize, usize)> {
    let mut end = 0;
    let count = |from: usize| {
        while end < sorted.len() && sorted[end] <= sorted[from] * (1.0 + OFF) {
            end += 1;
        }
        (from, end - from)
    };
    (0..sorted.len()).map(count).max_by_key(|(_, count)| *count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of a chain with two rows whose readings are longer by these factors in its rounds.
    fn table(factors: &[f64]) -> Observations {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("reference");
        table.origin.reference = Some(("reference".into(), 3.0));
        for (round, factor) in factors.iter().enumerate() {
            for copies in [100.0, 400.0] {
                let row = table.row(series, &[copies]);
                (0..8).for_each(|at| table.push(row, round as u32, factor * 3.0 * copies + f64::from(at % 3) - 1.0));
            }
        }
        table
    }

    #[test]
    fn levels_of_the_clock_are_found_and_other_factors_are_not() {
        let factors: Vec<f64> = (0..60u32)
            .map(|round| match round % 6 {
                0..=2 => 1.0,
                3 => 1.03,
                4 => 0.95,
                _ => 1.1 + 0.01 * f64::from(round),
            })
            .collect();
        let found = steps(&table(&factors)).unwrap();
        for (factor, found) in factors.iter().zip(&found) {
            assert!(if *factor < 1.1 { (found / factor - 1.0).abs() < 0.001 } else { found.is_nan() }, "{factor}: {found}");
        }
    }

    #[test]
    fn nothing_is_known_without_a_chain_or_a_level() {
        let mut without = table(&[1.0; 20]);
        without.origin.reference = None;
        assert_eq!(steps(&without), None);
        assert_eq!(steps(&table(&(0..20).map(|round| 1.0 + 0.02 * f64::from(round)).collect::<Vec<f64>>())), None);
        assert_eq!(steps(&Observations::new(vec!["body".into()])), None);
    }
}
