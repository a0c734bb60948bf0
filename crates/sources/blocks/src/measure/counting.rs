//! What counting arrivals takes, where calls that are ended late are timed with each arrival
//! counted once and twice.
//!
//! The table tells it as what counting once more takes. The first time may take less: the core runs
//! a part of it beside what it waits for.

use super::rounds::undisturbed;
use crate::analysis::{CountRow, Counted};
use hairspring_core::estimate::Ending;
use hairspring_core::observations::Reading;
use std::collections::{BTreeMap, HashMap};

/// By how much less counting the first time may take than once more, as a share of that: 0.26 and
/// 0.31 less in loops of 12 and 3 cycles (EPYC, family 26).
const LESS_SHARE: f64 = 0.5;
/// Kinds from here on are rows with arrivals counted at a block.
const COUNTS: u32 = 1 << 28;

/// By how much rows may be shorter than the time of counting says: all rows with arrivals counted
/// at a block are off together.
pub fn ends(rows: &[CountRow], readings: &[Reading]) -> Vec<Ending> {
    let each = once_more(rows, &means(rows, readings));
    let of_row = |(at, row): (usize, &CountRow)| {
        let counted = row.counted?;
        let less = LESS_SHARE * each.get(&counted.block)? * counted.arrivals as f64;
        (less > 0.0).then(|| Ending {
            row: at as u32,
            kind: COUNTS + counted.block as u32,
            low: -less,
            high: 0.0,
            sd: 0.0,
        })
    };
    rows.iter().enumerate().filter_map(of_row).collect()
}

/// The time of counting an arrival once more, by its block.
fn once_more(rows: &[CountRow], means: &[Option<f64>]) -> HashMap<usize, f64> {
    type Call<'a> = (usize, u64, Option<usize>, &'a [u64]);
    let mut alike: BTreeMap<Call, [Vec<f64>; 2]> = BTreeMap::new();
    for (row, mean) in rows.iter().zip(means) {
        if let (Some(Counted { block, arrivals, twice }), Some(mean)) = (row.counted, mean) {
            alike.entry((block, arrivals, row.until, &row.counts.blocks)).or_default()
                [usize::from(twice)]
            .push(*mean);
        }
    }
    // The longest calls say most of it.
    let mut sums: HashMap<usize, (f64, f64)> = HashMap::new();
    for ((block, arrivals, ..), [once, twice]) in
        alike.iter().filter(|(_, both)| both.iter().all(|times| !times.is_empty()))
    {
        let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
        let sum = sums.entry(*block).or_default();
        *sum = (sum.0 + mean(twice) - mean(once), sum.1 + *arrivals as f64);
    }
    sums.into_iter().map(|(block, (ticks, arrivals))| (block, ticks / arrivals)).collect()
}

/// The mean of the middle half of the readings of each row with counted arrivals: a clock in steps
/// has no median that says enough.
fn means(rows: &[CountRow], readings: &[Reading]) -> Vec<Option<f64>> {
    let counted = readings.iter().filter(|reading| rows[reading.row as usize].counted.is_some());
    let middle = |mut ticks: Vec<f64>| {
        ticks.sort_by(f64::total_cmp);
        let quarter = ticks.len() / 4;
        let half = &ticks[quarter..ticks.len() - quarter];
        (!half.is_empty()).then(|| half.iter().sum::<f64>() / half.len() as f64)
    };
    undisturbed(rows.len(), counted).into_iter().map(middle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Counts;
    use hairspring_core::estimate::{Options, Repeats};
    use hairspring_core::observations::{Flags, Observations};
    use hairspring_core::pipeline::solve;

    fn row(trips: u64, counted: Option<(u64, bool)>) -> CountRow {
        let counted = counted.map(|(arrivals, twice)| Counted { block: 1, arrivals, twice });
        CountRow {
            counts: Counts { blocks: vec![0, trips], edges: Vec::new() },
            until: Some(1),
            counted,
        }
    }

    #[test]
    fn rows_of_counted_arrivals_may_be_shorter_by_half_of_counting_once_more() {
        let rows = [
            row(1, None),
            row(32, Some((33, false))),
            row(32, Some((33, true))),
            row(64, Some((65, false))),
            row(64, Some((65, true))),
        ];
        let times = [60.0, 400.0, 400.0 + 2.0 * 33.0, 800.0, 800.0 + 2.0 * 65.0];
        let ticks = times
            .iter()
            .enumerate()
            .flat_map(|(at, ticks)| [-9.0, 0.0, 0.0, 9.0].map(|off| (at as u32, ticks + off)));
        let readings: Vec<Reading> = ticks
            .map(|(row, ticks)| Reading { row, round: 0, ticks, flags: Flags::NONE, guard: None })
            .collect();
        let found_ends: Vec<(u32, f64)> =
            ends(&rows, &readings).iter().map(|end| (end.row, end.low)).collect();
        assert_eq!(found_ends, [(1, -33.0), (2, -33.0), (3, -65.0), (4, -65.0)]);
    }

    #[test]
    fn nothing_is_said_where_no_row_is_counted_twice() {
        let rows = [row(32, Some((33, false)))];
        assert!(
            ends(
                &rows,
                &[Reading { row: 0, round: 0, ticks: 400.0, flags: Flags::NONE, guard: None }]
            )
            .is_empty()
        );
    }

    #[test]
    fn interval_of_a_trip_holds_where_the_first_count_takes_less_than_the_second() {
        // Trips of 22 ticks of which one alone shows its latency; counting takes 1.2 ticks, and
        // once more 1.8.
        let mut table = Observations::new(vec!["trip".into(), "counter".into()]);
        let series = table.series("function");
        let (mut rows, mut readings) = (Vec::new(), Vec::new());
        let calls =
            [1, 8, 16, 32, 64].into_iter().flat_map(|trips: u64| [(trips, false), (trips, true)]);
        for (at, (trips, twice)) in (0u32..).zip(calls) {
            let counted = (trips > 1).then_some((trips, twice));
            let times = counted.map_or(0.0, |_| if twice { 2.0 } else { 1.0 }) * trips as f64;
            let id = table.row_apart(series, &[trips as f64, times]);
            let counting =
                counted.map_or(0.0, |_| if twice { 1.2 + 1.8 } else { 1.2 }) * trips as f64;
            for round in 0..32 {
                let ticks = 100.0
                    + 22.0 * trips as f64
                    + counting
                    + f64::from((round * 7 + at * 13) % 11) / 5.0;
                table.push(id, round, ticks);
                readings.push(Reading { row: at, round, ticks, flags: Flags::NONE, guard: None });
            }
            rows.push(row(trips, counted));
        }
        let off = |ends: Vec<Ending>| {
            let solution = solve(
                &table,
                series,
                &Options { ends, repeats: Repeats::Calm, ..Options::default() },
            )
            .unwrap();
            let trip = solution.component("trip").unwrap().ticks;
            (trip.value - 22.0).abs() / trip.half_width()
        };
        assert!(off(ends(&rows, &readings)) < 1.0 && off(Vec::new()) > 2.0);
    }
}
