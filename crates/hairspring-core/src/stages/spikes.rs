//! Readings that are far from the others of their row in the same time: something else ran
//! meanwhile (a Hampel filter).

use crate::estimate::median;
use crate::grid::{Span, divided};
use crate::limit::{Basis, FAR_SIGMAS, FEWEST_VALUES, TWO_ROUNDINGS, limits};
use crate::sheet::Sorted;
use crate::stages::{Did, Stage, State, need};
use std::ops::Range;

limits! {
    /// The limit is `1 + this / n^2` times larger in a window of `n` readings, whose spread is
    /// poorly known.
    SPIKE_SMALL_WINDOW = 150.0, "",
        Basis::Simulated("short_clean_rows_lose_at_most_one_reading_in_a_thousand");
    /// Readings of a window.
    WINDOW_READINGS = 96.0, "readings",
        Basis::Size("longer windows mix what the code takes at other times");
}

pub(crate) const STAGE: Stage = Stage {
    name: "spikes",
    question: "Which readings are far from the others of their row in the same time?",
    needs: &[need::ALONE],
    limits: &[LIMITS],
    source: None,
    says: |_, _| Vec::new(),
};

/// Leaves out spikes in all rows that are repeated. Windows do not reach over the borders of
/// placements: another placement may take another time.
pub(crate) fn choose(state: &mut State) -> Did {
    let (mut rows, mut scratch, mut out) =
        (vec![Sorted::default(); state.sheet.rows().len()], Vec::new(), Vec::new());
    for rounds in windows(state) {
        state.sheet.sort_into(&mut rows, rounds);
        for row in &rows {
            scratch.clone_from(&row.ticks);
            let Some((middle, reach)) = limit(&mut scratch, state.quantum.step) else { continue };
            let off = row
                .ticks
                .iter()
                .zip(&row.places)
                .filter(|(ticks, _)| (**ticks - middle).abs() > reach);
            out.extend(off.map(|(_, at)| *at as usize));
        }
    }
    state.leave_out_all(out, "no reading is far from the others")
}

/// Windows of about the same number of rounds within each span.
fn windows(state: &State) -> Vec<Range<u32>> {
    let rows = state.sheet.rows().filter(|row| state.sheet.number_of(*row) > 0).count();
    let readings =
        state.sheet.len() as f64 / rows.max(1) as f64 / f64::from(state.sheet.rounds.max(1));
    let parts = |span: &Span| {
        let length = span.rounds.end - span.rounds.start;
        divided(
            &span.rounds,
            (f64::from(length) * readings / WINDOW_READINGS)
                .round()
                .clamp(1.0, f64::from(length.max(1))) as u32,
        )
    };
    state.grid.spans.iter().flat_map(parts).collect()
}

/// The middle of some readings, and the largest distance from it that is no spike, if there is one;
/// spoils them.
pub(crate) fn limit(ticks: &mut [f64], quantum: f64) -> Option<(f64, f64)> {
    let (least_ticks, most_ticks) =
        ticks.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least_ticks, most_ticks), one| {
            (one.min(least_ticks), one.max(most_ticks))
        });
    // Roundings alone make no spike, and most windows of a coarse clock have nothing else.
    if ticks.len() < FEWEST_VALUES as usize || most_ticks - least_ticks <= TWO_ROUNDINGS * quantum {
        return None;
    }
    let (middle, number) = (median(ticks), ticks.len() as f64);
    let sigmas = 1.4826 * FAR_SIGMAS * (1.0 + SPIKE_SMALL_WINDOW / (number * number));
    // Readings that are mostly equal have a robust deviation of 0: the limit must still be above
    // rounding.
    let rounding = TWO_ROUNDINGS * quantum + 1e-9 * middle.abs();
    let furthest = (most_ticks - middle).max(middle - least_ticks);
    // If half of the readings are further from the middle than this, the limit reaches to all:
    // mostly, no more need be known.
    let far = (furthest - rounding) / sigmas;
    if 2 * ticks.iter().filter(|one| (**one - middle).abs() < far).count() < ticks.len() {
        return None;
    }
    ticks.iter_mut().for_each(|one| *one = (*one - middle).abs());
    let reach = sigmas * median(ticks) + rounding;
    (furthest > reach).then_some((middle, reach))
}

/// Some readings without spikes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Inliers {
    /// NaN for none.
    pub mean: f64,
    /// Sum of the squares of their distances from it.
    pub squares: f64,
    pub number: f64,
}

/// Some readings without spikes; reorders `scratch`.
pub(crate) fn inliers(ticks: &[f64], scratch: &mut Vec<f64>, quantum: f64) -> Inliers {
    scratch.clear();
    scratch.extend_from_slice(ticks);
    let (middle, reach) = limit(scratch, quantum)
        .unwrap_or_else(|| (ticks.first().copied().unwrap_or(f64::NAN), f64::INFINITY));
    let (mut sum, mut squares, mut number) = (0.0, 0.0, 0.0);
    for off in ticks.iter().map(|one| one - middle).filter(|off| off.abs() <= reach) {
        (sum, squares, number) = (sum + off, squares + off * off, number + 1.0);
    }
    Inliers {
        mean: middle + sum / number,
        squares: (squares - sum * sum / number).max(0.0),
        number,
    }
}

#[cfg(test)]
mod tests {
    use crate::estimate::Options;
    use crate::observations::Observations;

    fn used(values: &[f64], quantum: f64) -> Vec<bool> {
        let mut table = Observations::new(vec!["body".into()]);
        table.origin.granularity = (quantum > 0.0).then_some(quantum);
        let series = table.series("main");
        let row = table.row(series, &[1.0]);
        values.iter().enumerate().for_each(|(at, ticks)| table.push(row, at as u32, *ticks));
        used_in(&table)
    }

    fn used_in(table: &Observations) -> Vec<bool> {
        let options = Options::default();
        let state = crate::pipeline::state_of(table, &options);
        (0..state.sheet.len()).map(|at| state.sheet.mark(at) == crate::sheet::USED_MARK).collect()
    }

    #[test]
    fn spike_is_removed_and_step_is_kept() {
        let mut values: Vec<f64> = (0..200).map(|i| 100.0 + f64::from(i % 3)).collect();
        values[50] = 900.0;
        let marks = used(&values, 1.0);
        assert_eq!(marks.iter().filter(|ok| !**ok).count(), 1);
        assert!(!marks[50]);
        let step: Vec<f64> =
            (0..400).map(|i| if i < 200 { 100.0 } else { 108.0 } + f64::from(i % 3)).collect();
        assert!(used(&step, 1.0).iter().filter(|ok| !**ok).count() < 40);
    }

    #[test]
    fn a_series_that_is_solved_alone_keeps_the_rounds_behind_a_step() {
        let mut table = Observations::new(vec!["body".into()]);
        for round in 0..640_u32 {
            for name in ["a", "b", "c", "d", "e", "f"] {
                let series = table.series(name);
                for copies in 1..7_u32 {
                    let row = table.row(series, &[f64::from(copies)]);
                    let long = f64::from(copies) * if round < 400 { 100.0 } else { 112.0 };
                    table.push(row, round, long + f64::from((round * 7 + copies) % 3));
                }
            }
        }
        let one_series = table.find_series("a").unwrap();
        let alone = crate::pipeline::solve(&table, one_series, &Options::default()).unwrap();
        assert!(
            (alone.components[0].ticks.value - 104.5).abs() < 0.6,
            "{:?}",
            alone.components[0].ticks
        );
    }

    #[test]
    fn short_clean_rows_lose_at_most_one_reading_in_a_thousand() {
        use rand::{Rng, SeedableRng};
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(3);
        for length in [5, 6, 7, 8, 10, 16, 32, 96] {
            let mut lost = 0;
            let rows = 100_000 / length;
            for _ in 0..rows {
                let row: Vec<f64> = (0..length)
                    .map(|_| 1e3 + (0..12).map(|_| random.random::<f64>()).sum::<f64>())
                    .collect();
                lost += used(&row, 0.0).iter().filter(|ok| !**ok).count();
            }
            assert!(
                lost <= rows * length / 1_000,
                "{lost} of {} lost in rows of {length}",
                rows * length
            );
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
        assert!(used_in(&table).iter().all(|used| *used));
    }

    #[test]
    fn the_readings_of_another_placement_are_no_spikes() {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        for round in 0..112_u32 {
            let row = table.row(series, &[1.0]);
            let own = if round / 14 == 3 { 33.1 } else { 27.3 };
            table.push(row, round, 1_000.0 * own + f64::from(round * 7 % 11));
        }
        assert!(
            used_in(&table).iter().filter(|used| !**used).count() > 10,
            "in one placement they are"
        );
        table.origin.placements = (1..8).map(|placement| 14 * placement).collect();
        let options = Options::default();
        let state = crate::pipeline::state_of(&table, &options);
        let spikes = state.number_of(&super::STAGE);
        assert!((0..state.sheet.len()).all(|at| state.sheet.mark(at) != spikes));
    }
}
