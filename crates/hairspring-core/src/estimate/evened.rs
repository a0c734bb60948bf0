//! Readings without what the layouts of the code differ by.
//!
//! Where code takes another time in each of its layouts, the readings of a row have several centres. One centre of all of them would be that of
//! some of the layouts, the filter of spikes would take the others for disturbed, and neighbouring rows would have other ones. Moved to the
//! mean of the layouts, the readings of a row have a single centre, which is that mean.

use super::layouts::{Layouts, MUCH};
use super::location::{Sample, median};
use crate::observations::{Observations, Turns};
use std::ops::Range;

/// Fewest usable readings of a row in a placement for a median.
const FEWEST: usize = 3;

/// Moves the readings of every row of a series, in the order of their rounds, from their layout's median to the mean of the layouts' medians,
/// if the layouts surely differ.
///
/// # Cost
/// About 30 ns for each reading.
pub(super) fn even_layouts(table: &Observations, rows: &mut [Vec<Sample>]) {
    let Some(turns) = table.turns().filter(|turns| differ(rows, turns)) else { return };
    let Some(shifts) = rows.iter().map(|row| shifts(row, &turns)).collect::<Option<Vec<_>>>() else { return };
    for (row, shifts) in rows.iter_mut().zip(shifts) {
        row.iter_mut().for_each(|sample| sample.ticks += shifts[turns.of_round(sample.round)]);
    }
}

/// Whether the time of the rows, relative to their medians over the run, surely differs between the layouts.
fn differ(rows: &[Vec<Sample>], turns: &Turns) -> bool {
    let middles: Vec<f64> = rows.iter().map(|row| middle(row.iter())).collect();
    let time = |placement: &Range<u32>| {
        let relative = rows.iter().zip(&middles).filter_map(|(row, middle)| Some(median_in(row, placement)? / middle));
        let (sum, number) = relative.filter(|one| one.is_finite()).fold((0.0, 0.0), |(sum, number), one| (sum + one, number + 1.0));
        (number > 0.0).then(|| sum / number)
    };
    let times: Vec<(usize, f64)> = turns.iter().filter_map(|(layout, placement)| Some((layout, time(placement)?))).collect();
    Layouts::of(&times, turns.layouts).is_some_and(|found| found.differ_by(MUCH))
}

/// The median of the usable readings of a row in a placement; `None` if there are too few.
fn median_in(row: &[Sample], placement: &Range<u32>) -> Option<f64> {
    let (from, to) =
        (row.partition_point(|sample| sample.round < placement.start), row.partition_point(|sample| sample.round < placement.end));
    let usable = row[from..to].iter().filter(|sample| sample.is_used());
    (usable.clone().count() >= FEWEST).then(|| middle(usable))
}

fn middle<'s>(samples: impl Iterator<Item = &'s Sample>) -> f64 {
    median(&mut samples.filter(|sample| sample.is_used()).map(|sample| sample.ticks).collect::<Vec<f64>>())
}

/// What each layout's median lacks of the mean of all; `None` if a layout has no usable readings.
fn shifts(row: &[Sample], turns: &Turns) -> Option<Vec<f64>> {
    let mut each = vec![Vec::new(); turns.layouts];
    row.iter().filter(|sample| sample.is_used()).for_each(|sample| each[turns.of_round(sample.round)].push(sample.ticks));
    let medians: Vec<f64> = each.iter_mut().map(|ticks| median(ticks)).collect();
    let mean = medians.iter().sum::<f64>() / turns.layouts as f64;
    mean.is_finite().then(|| medians.iter().map(|median| mean - median).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::location::Grouped;
    use crate::observations::Flags;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    const ROUNDS: u32 = 14;

    /// Rows of 32 to 128 copies in placements that take turns in layouts with these times of a copy, as memcpy of 512 bytes has them.
    fn table(times: &[f64], placements: u32) -> Observations {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("code");
        for placement in 0..placements {
            for round in placement * ROUNDS..(placement + 1) * ROUNDS {
                for copies in [32.0, 48.0, 64.0, 96.0, 128.0] {
                    let row = table.row(series, &[copies]);
                    let spike = if random.random_bool(0.02) { 500.0 } else { 0.0 };
                    let ticks = 40.0 + copies * times[placement as usize % times.len()] + 4.0 * random.random::<f64>() + spike;
                    table.push_flagged(row, round, ticks.round(), Flags::NONE);
                }
            }
        }
        table.origin.placements = (1..placements).map(|placement| placement * ROUNDS).collect();
        table.origin.layouts = times.len() as u32;
        table
    }

    fn left_out(grouped: &Grouped) -> f64 {
        let (all, used) = grouped.reading_counts();
        1.0 - used as f64 / all as f64
    }

    #[test]
    fn the_readings_of_no_layout_count_as_disturbed() {
        const TIMES: [f64; 8] = [27.3, 27.3, 33.1, 33.1, 27.3, 27.3, 33.1, 33.1];
        let mut table = table(&TIMES, 24);
        let grouped = Grouped::new(&table, 0);
        assert!((0.01..0.03).contains(&left_out(&grouped)), "{} are left out", left_out(&grouped));
        for (row, copies) in grouped.readings.iter().zip([32.0, 48.0, 64.0, 96.0, 128.0]) {
            let usable = row.iter().filter(|sample| sample.is_used());
            assert!(usable.clone().all(|sample| (sample.ticks - 42.0 - copies * 30.2).abs() < 6.0), "{copies} copies");
        }
        // In no known layouts, the readings of some placements are far from those around them.
        table.origin.layouts = 0;
        assert!(left_out(&Grouped::new(&table, 0)) > 0.1);
    }

    #[test]
    fn readings_stay_as_they_are_where_layouts_are_alike_or_have_few_placements() {
        for table in [table(&[27.3; 8], 24), table(&[27.3, 33.1], 2), table(&[27.30, 27.31], 24)] {
            let unchanged = |row: &Vec<Sample>| row.iter().all(|sample| sample.ticks == sample.ticks.round());
            assert!(Grouped::new(&table, 0).readings.iter().all(unchanged), "{} layouts", table.origin.layouts);
        }
    }
}
