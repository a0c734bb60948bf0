//! Chains that somebody slowed within nearly all of their readings, so that the rest is too little to be left alone with. A neighbour that comes and goes
//! within a microsecond is seen neither by the guards at the ends of a long reading nor by controls, whose rows are shorter.
//!
//! A chain on a core of its own takes the same time in every round, and nothing makes it faster. So the line through the quickest readings of
//! its rows is as steep as that through their means, but for the core clock, which the reference chain shows in the same way. What it is less steep by,
//! the time may be too long by.

use crate::estimate::{Entry, LinearMap, Source, System};
use crate::finding::{Finding, Severity, code};
use crate::limit::WIDE_SHARE;
use crate::numbers;
use crate::observations::{Occupancy, RowId, SeriesId};
use crate::stages::{Did, Stage, State, need};

pub(crate) const STAGE: Stage = Stage {
    name: "quickest",
    question: "Is the line through the quickest readings of a chain as steep as that through their means?",
    needs: &[need::REFERENCE],
    limits: &[],
    source: Some(Source::Controls),
    says,
};

/// Adds what the quickest readings are less steep by to the times of chains. Of 144 intervals of chains beside a foreign tenant (Intel family 6 model
/// 207, November 2026) 140 held, and 114 without this stage; 133, where what the controls miss was a part of the bound.
pub(crate) fn widen(state: &mut State) -> Did {
    let reference = state.reference().and_then(|(reference, _)| above(state, reference)?.first().copied());
    let Some(usual) = reference else { return Did::nothing("the rows of the reference chain do not show it") };
    let waits = |series: &SeriesId| state.occupancy(*series) == Some(Occupancy::Waits);
    let chains: Vec<SeriesId> = state.subjects().into_iter().filter(waits).collect();
    for series in chains {
        let more = above(state, series).map(|all| all.into_iter().map(|above| (above - usual).max(0.0)).collect::<Vec<f64>>());
        let Some(more) = more else { continue };
        let Some(solution) = state.solution_mut(series) else { continue };
        for (unknown, share) in more.iter().enumerate().take(solution.vector.values.len()) {
            let size = share * solution.vector.values[unknown].abs();
            solution.add(unknown, Entry::bound(Source::Controls, size));
        }
        state.above_quickest[usize::from(series)] = more.first().copied();
    }
    let of = |(above, series): (&Option<f64>, SeriesId)| Some((series, above.filter(|above| *above > 0.0)?));
    let slowed = state.above_quickest.iter().zip(0..).filter_map(of);
    Did::each(slowed.map(|(series, above)| (series, format!("{:.2} % less", 100.0 * above))).collect(), "it is")
}

/// What each time of a series is above that by its rows' quickest readings, as a share.
fn above(state: &State, series: SeriesId) -> Option<Vec<f64>> {
    let rows: Vec<Row> = state.sheet.rows_of(series).into_iter().filter_map(|row| Row::of(state, row)).collect();
    let counts: Vec<&[f64]> = rows.iter().map(|row| row.counts).collect();
    let system = System::new(state.table.components(), &counts);
    let map = LinearMap::new(&system.design, &vec![1.0; rows.len()])?;
    let above = map.solve(&rows.iter().map(|row| row.mean - row.quickest).collect::<Vec<f64>>());
    let times = map.solve(&rows.iter().map(|row| row.mean).collect::<Vec<f64>>());
    Some(above.iter().zip(&times).map(|(above, time)| above / time).collect())
}

/// A row by its readings that count.
struct Row<'t> {
    counts: &'t [f64],
    mean: f64,
    /// The quickest one.
    quickest: f64,
}

impl<'t> Row<'t> {
    fn of(state: &State<'t>, row: RowId) -> Option<Row<'t>> {
        let ticks: Vec<f64> = state.sheet.row(row).filter(|one| one.is_used).map(|one| one.ticks).collect();
        let quickest = ticks.iter().copied().min_by(f64::total_cmp)?;
        let mean = ticks.iter().sum::<f64>() / ticks.len() as f64;
        Some(Row { counts: &state.table.rows()[row as usize].counts, mean, quickest })
    }
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let Some(above) = state.above_quickest[usize::from(series)].filter(|above| *above > WIDE_SHARE) else { return Vec::new() };
    let above_percent = 100.0 * above;
    let message = format!(
        "the time is {above_percent:.0} % more than that of the quickest readings: something else used the core during nearly all of them (for example a process on its other hardware thread); the interval holds both"
    );
    let remedy = "measure again, on another CPU or a quieter machine";
    vec![Finding::of(Severity::Warning, code::CORE_SHARED, message, numbers! { above_percent }, remedy)]
}

#[cfg(test)]
mod tests {
    use crate::estimate::Options;
    use crate::finding::code;
    use crate::judge::{Question, assess};
    use crate::observations::{Observations, Occupancy};
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// A chain of 4 cycles and a reference. Of the cycles of the chain, `met` are taken beside a neighbour that makes them half as long again, in
    /// stretches of 300 cycles. In one of 20 rounds the neighbour rests.
    fn table(met: f64, seed: u64) -> Observations {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut table = Observations::new(vec!["body".into()]);
        table.origin.granularity = Some(1.0);
        for round in 0..800 {
            for (name, cycles, met) in [("code", 4.0, met), ("reference", 3.0, 0.0)] {
                let series = table.series(name);
                for copies in [64.0, 128.0, 256.0, 512.0, 1024.0] {
                    let row = table.row(series, &[copies]);
                    let stretches = (copies * cycles / 300.0_f64).ceil();
                    let met = if round % 20 == 0 { 0.0 } else { met };
                    let slow = (0..stretches as u32).filter(|_| random.random::<f64>() < met).count() as f64 / stretches;
                    let ticks = 40.0 + copies * cycles * (1.0 + 0.5 * slow) + random.random::<f64>();
                    table.push(row, round, ticks.floor());
                }
            }
        }
        table.origin.reference = Some(("reference".into(), 3.0));
        table.origin.occupancy = vec![("code".into(), Occupancy::Waits)];
        table
    }

    /// Value and half-width in cycles, and whether it is said that the core was shared.
    fn time(table: &Observations) -> (f64, f64, bool) {
        let code = &assess(table, &Question::default()).unwrap().series[0];
        let cycles = code.components[0].time.cycles.as_ref().unwrap().estimate(0.95);
        (cycles.value, cycles.half_width(), code.findings.iter().any(|finding| finding.is(code::CORE_SHARED)))
    }

    #[test]
    fn the_interval_of_a_chain_that_is_slowed_within_its_readings_holds_its_length() {
        for seed in 0..4 {
            let (value, half, is_said) = time(&table(0.5, seed));
            assert!(value > 4.6 && (value - 4.0) < half && half < 2.0 && is_said, "{seed}: {value} +- {half}, {is_said}");
        }
    }

    #[test]
    fn calm_chains_keep_their_intervals() {
        let calm = table(0.0, 1);
        let without = Options { without: vec![super::STAGE.name.into()], ..Options::default() };
        let half = |options: &Options| {
            let state = crate::pipeline::state_of(&calm, options);
            state.results[0].components[0].time.cycles.as_ref().unwrap().estimate(0.95).half_width()
        };
        assert!(half(&Options::default()) < 1.2 * half(&without) + 0.001, "{} {}", half(&Options::default()), half(&without));
    }

    #[test]
    fn code_that_may_differ_from_round_to_round_has_no_floor() {
        let mut table = table(0.5, 1);
        table.origin.occupancy.clear();
        assert!(time(&table).1 < 0.3, "{:?}", time(&table));
    }
}
