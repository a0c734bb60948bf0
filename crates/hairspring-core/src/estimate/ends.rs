//! How calls begin and end: what the reads of the clock hide or add there is not the same in all rows.
//!
//! A fence lets the first instructions of a call run beside the end of the read before it, so a call that does next to nothing takes
//! longer than what longer calls have in common; a call that is ended early has no return. The source of the rows measures by how
//! much, and for which rows it may be so. Rows of a kind (the same exit, the same early end) are off together.

use super::interval::{Contribution, Source};
use super::location::Grouped;
use crate::observations::RowId;
use std::collections::{BTreeMap, HashMap};

/// A row that may be longer than its parts and the overhead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ending {
    /// The row.
    pub row: RowId,
    /// Rows of the same kind are off together.
    pub kind: u32,
    /// By how much at the least, in the table's unit; below 0 if it may be shorter.
    pub low: f64,
    /// By how much at the most.
    pub high: f64,
    /// Standard deviation between kinds beyond that: code that takes other paths is followed by other waits.
    pub sd: f64,
}

impl Ending {
    fn middle(&self) -> f64 {
        (self.low + self.high) / 2.0
    }

    fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// Takes the middle of what the rows may be off from their readings.
pub(super) fn take_off(grouped: &mut Grouped, endings: &[Ending]) {
    for ending in endings {
        if let Some(at) = grouped.rows.iter().position(|row| *row == ending.row) {
            grouped.readings[at].iter_mut().for_each(|sample| sample.ticks -= ending.middle());
        }
    }
}

/// Degrees of freedom of the standard deviation between kinds, which a few functions of known length show.
const FEW: f64 = 4.0;

/// What is left for an unknown, whose weights are those of `rows`: kinds are off independently, by their bounds in the worst case all in
/// the direction that moves the unknown.
pub(super) fn left(rows: &[RowId], weights: &[f64], endings: &[Ending]) -> Vec<Contribution> {
    let mut kinds: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    let places: HashMap<RowId, usize> = rows.iter().enumerate().map(|(at, row)| (*row, at)).collect();
    for ending in endings {
        let Some(at) = places.get(&ending.row) else { continue };
        let sums = kinds.entry(ending.kind).or_insert((0.0, 0.0));
        *sums = (sums.0 + weights[*at] * ending.half(), sums.1 + weights[*at] * ending.sd);
    }
    let bound: f64 = kinds.values().map(|(sum, _)| sum.abs()).sum();
    let sd = kinds.values().map(|(_, sum)| sum * sum).sum::<f64>().sqrt();
    let entries = [Contribution::bound(Source::Ends, bound), Contribution::standard(Source::Ends, sd, FEW)];
    entries.into_iter().zip([bound, sd]).filter(|(_, size)| *size > 0.0).map(|(entry, _)| entry).collect()
}

#[cfg(test)]
mod tests {
    use crate::estimate::ends::Ending;
    use crate::estimate::{Options, Source, solve};
    use crate::observations::Observations;

    #[test]
    fn an_empty_call_whose_fence_hides_nothing_does_not_make_a_part_negative() {
        let mut table = Observations::new(vec!["loop".into(), "rest".into()]);
        let series = table.series("main");
        let mut rows = Vec::new();
        for trips in 0..12u32 {
            let counts = [f64::from(trips), f64::from(trips.min(1))];
            let row = table.row(series, &counts);
            rows.push(row);
            let hidden = if trips == 0 { 10.0 } else { 0.0 };
            (0..32).for_each(|round| {
                table.push(row, round, 60.0 + 30.0 * counts[0] + hidden + f64::from((round * 7 + trips * 13) % 11) / 5.0)
            });
        }
        let rest =
            |ends: Vec<Ending>| solve(&table, series, &Options { ends, ..Options::default() }).unwrap().component("rest").unwrap().clone();
        let plain = rest(Vec::new());
        assert!(plain.ticks.high < 0.0, "{:?}", plain.ticks);
        let known = rest(vec![Ending { row: rows[0], kind: 1, low: 0.0, high: 10.0, sd: 0.0 }]);
        assert!(known.ticks.contains(0.0) && known.ticks.half_width() < 8.0, "{:?}", known.ticks);
        assert!((known.uncertain.part(Source::Ends, 0.95) - 5.0).abs() < 0.5, "{:?}", known.uncertain);
    }

    #[test]
    fn rows_of_a_kind_are_off_together() {
        let off = |kind: u32, row: u32| Ending { row, kind, low: 0.0, high: 4.0, sd: 0.0 };
        let bound = |kinds: [u32; 2]| {
            let all = [off(kinds[0], 0), off(kinds[1], 1)];
            super::left(&[0, 1], &[1.0, -0.5], &all).iter().map(|entry| entry.half_width(0.95)).sum::<f64>()
        };
        assert!((bound([1, 1]) - 1.0).abs() < 1e-12 && (bound([1, 2]) - 3.0).abs() < 1e-12);
    }
}
