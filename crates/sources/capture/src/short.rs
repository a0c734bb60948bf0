//! Pulses so short that their two edges shift each other.

use crate::observe::{flagged, spread};
use hairspring_core::observations::Observations;
use std::collections::BTreeMap;

/// Minimum number of rows that must remain.
const FEWEST_ROWS: usize = 2;

/// Rows whose pulses are too short.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Short {
    /// Number of these rows.
    pub rows: usize,
    /// Number of all rows.
    pub of: usize,
    /// Typical pulse of the shortest row, in ticks.
    pub shortest: f64,
    /// Whether they are left out; if not, too few rows would remain.
    pub left_out: bool,
}

/// Leaves out the rows whose typical pulse is shorter than a limit in ticks: their readings get the
/// flag `x`. If fewer than two rows would remain, none is left out.
pub fn leave_out_short(table: Observations, limit: f64) -> (Observations, Option<Short>) {
    let mut readings: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for reading in table.readings().iter().filter(|reading| !reading.flags.any()) {
        readings.entry(reading.row).or_default().push(reading.ticks);
    }
    let of = readings.len();
    let typical: BTreeMap<u32, f64> =
        readings.into_iter().map(|(row, ticks)| (row, spread(ticks).0)).collect();
    let short: BTreeMap<u32, f64> =
        typical.into_iter().filter(|(_, ticks)| *ticks < limit).collect();
    let Some(shortest) = short.values().copied().min_by(f64::total_cmp) else {
        return (table, None);
    };
    let left_out = of - short.len() >= FEWEST_ROWS;
    let short_rows = Short { rows: short.len(), of, shortest, left_out };
    match left_out {
        true => (flagged(table, |_, reading| short.contains_key(&reading.row)), Some(short_rows)),
        false => (table, Some(short_rows)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(widths: &[f64]) -> Observations {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        for (at, width) in widths.iter().enumerate() {
            let row = table.row(series, &[at as f64 + 1.0]);
            (0..3).for_each(|round| table.push(row, round, width + 0.1 * f64::from(round)));
        }
        table
    }

    #[test]
    fn rows_below_the_limit_are_left_out_unless_too_few_remain() {
        let (table_left, short_rows) = leave_out_short(table(&[5.0, 10.0, 15.0]), 9.0);
        assert_eq!(short_rows, Some(Short { rows: 1, of: 3, shortest: 5.1, left_out: true }));
        assert_eq!(table_left.readings().iter().filter(|reading| !reading.flags.any()).count(), 6);
        assert!(
            table_left.readings().iter().all(|reading| reading.flags.any() == (reading.row == 0))
        );
        let (table_left, short_rows) = leave_out_short(table(&[5.0, 8.0, 15.0]), 9.0);
        assert!(short_rows.is_some_and(|short_rows| short_rows.rows == 2 && !short_rows.left_out));
        assert!(table_left.readings().iter().all(|reading| !reading.flags.any()));
        assert_eq!(leave_out_short(table(&[10.0, 20.0]), 9.0).1, None);
    }
}
