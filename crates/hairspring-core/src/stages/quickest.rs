//! Chains that somebody slowed within nearly all of their readings. A co-runner that comes and goes
//! within a microsecond is seen neither by the guards at the ends of a long reading nor by
//! controls, whose rows are shorter.
//!
//! A chain on a core of its own takes the same time in every round, and nothing makes it faster. So
//! the line through the quickest readings of its rows is as steep as that through their means, but
//! for the core clock, which the reference chain shows in the same way, and for the step of the
//! clock. Where it is less steep, its slope is the time.

use crate::estimate::{Entry, LinearMap, Source, System};
use crate::finding::{Finding, Severity, code};
use crate::limit::WIDE_SHARE;
use crate::math::hypot;
use crate::numbers;
use crate::observations::{Flags, Occupancy, RowId, SeriesId};
use crate::stages::{Did, Stage, State, need};

pub(crate) const STAGE: Stage = Stage {
    name: "quickest",
    question: "Is the line through the quickest readings of a chain as steep as that through \
               their means?",
    needs: &[need::REFERENCE],
    limits: &[],
    source: Some(Source::Controls),
    says,
};

/// The part of the distance of both lines by which the time may be off. As many intervals hold
/// without, but only one machine has shown a distance.
const MAY_BE_OFF: f64 = 0.5;

/// Moves the times of chains to those by their quickest readings, unless the step of the clock
/// explains the distance. Of 144 chains beside a foreign tenant (Intel family 6 model 207,
/// November 2026) 86 came within 0.5 % by the means, and 135 by the quickest readings; of 351
/// tables of three calmer machines none moves.
pub(crate) fn follow(state: &mut State) -> Did {
    let reference =
        state.reference().and_then(|(reference, _)| lines(state, reference)?.into_iter().next());
    let Some(ruler) = reference else {
        return Did::nothing("the rows of the reference chain do not show it");
    };
    let waits = |series: &SeriesId| state.occupancy(*series) == Some(Occupancy::Waits);
    let chains: Vec<SeriesId> = state.subjects().into_iter().filter(waits).collect();
    let mut done = Vec::new();
    for series in chains {
        let shares: Vec<f64> = lines(state, series)
            .unwrap_or_default()
            .iter()
            .map(|lines| lines.less_than(&ruler))
            .collect();
        let Some(solution) = state.solution_mut(series) else { continue };
        let moved: Vec<f64> =
            solution.vector.values.iter().zip(&shares).map(|(time, share)| share * time).collect();
        moved.iter().enumerate().for_each(|(unknown, by)| solution.shift(unknown, -by));
        if let Some(share) = shares.first().copied().filter(|share| *share > 0.0) {
            done.push((series, format!("{:.2} % less", 100.0 * share)));
            state.above_quickest[usize::from(series)] = Some((share, moved));
        }
    }
    Did::each(done, "it is")
}

/// Adds half of what the times were moved by.
pub(crate) fn widen(state: &mut State) -> Did {
    let moved: Vec<(SeriesId, Vec<f64>)> = state
        .above_quickest
        .iter()
        .zip(0..)
        .filter_map(|(found, series)| Some((series, found.as_ref()?.1.clone())))
        .collect();
    for (series, by) in &moved {
        let Some(solution) = state.solution_mut(*series) else { continue };
        by.iter().enumerate().for_each(|(unknown, by)| {
            solution.add(unknown, Entry::bound(Source::Controls, MAY_BE_OFF * by))
        });
    }
    Did::each(moved.into_iter().map(|(series, _)| (series, String::new())).collect(), "")
}

/// A time by two lines.
struct Lines {
    /// The time by the means of the rows, at the mean core clock.
    mean: f64,
    /// The time by the quickest readings, at the core clock of these.
    quickest: f64,
    /// What the step of the clock makes the latter uncertain by.
    step: f64,
}

impl Lines {
    /// What the quickest readings of a series are less steep by than those of the reference chain
    /// are, as a share; 0 where steps of the clock explain it.
    fn less_than(&self, ruler: &Lines) -> f64 {
        let less = 1.0 - self.quickest / self.mean * ruler.mean / ruler.quickest;
        let by_step = hypot(self.step / self.quickest, ruler.step / ruler.quickest);
        let are_times = [self.mean, self.quickest, ruler.mean, ruler.quickest]
            .into_iter()
            .all(|time| time > 0.0);
        if are_times && less > by_step { less } else { 0.0 }
    }
}

/// The times of a series by both lines.
fn lines(state: &State, series: SeriesId) -> Option<Vec<Lines>> {
    let rows: Vec<(&[f64], f64)> =
        state.sheet.rows_of(series).into_iter().filter_map(|row| quickest(state, row)).collect();
    let counts: Vec<&[f64]> = rows.iter().map(|row| row.0).collect();
    let system = System::new(state.table.components(), &counts);
    let map = LinearMap::new(&system.design, &vec![1.0; rows.len()])?;
    let quickest = map.solve(&rows.iter().map(|row| row.1).collect::<Vec<f64>>());
    let step = |unknown: usize| {
        state.quantum.step
            * map.row_weights(unknown).iter().map(|weight| weight * weight).sum::<f64>().sqrt()
    };
    let means = &state.solution(series)?.vector.values;
    let lines = |(unknown, (mean, quickest)): (usize, (&f64, &f64))| Lines {
        mean: *mean,
        quickest: *quickest,
        step: step(unknown),
    };
    Some(means.iter().zip(&quickest).enumerate().map(lines).collect())
}

/// The counts of a row and its quickest reading, as the clock has it: at the mean core clock a
/// reading has the error of the clock's level, too.
fn quickest<'t>(state: &State<'t>, row: RowId) -> Option<(&'t [f64], f64)> {
    let readings = state.table.readings();
    let undisturbed_readings = state
        .sheet
        .row(row)
        .map(|one| &readings[one.at])
        .filter(|reading| reading.flags == Flags::NONE);
    let ticks = undisturbed_readings.map(|reading| reading.ticks).min_by(f64::total_cmp)?;
    Some((&state.table.rows()[row as usize].counts, ticks))
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let share_above = state.above_quickest[usize::from(series)].as_ref().map(|(share, _)| *share);
    let Some(share) = share_above.filter(|share| *share > WIDE_SHARE) else { return Vec::new() };
    let less_percent = 100.0 * share;
    let message = format!(
        "something else used the core during nearly all readings (for example a process on its \
         other hardware thread): the time comes from the quickest readings and is \
         {less_percent:.0} % less than the mean"
    );
    let remedy = "measure again, on another CPU or a quieter machine";
    vec![Finding::of(
        Severity::Warning,
        code::CORE_SHARED,
        message,
        numbers! { less_percent },
        remedy,
    )]
}

#[cfg(test)]
mod tests {
    use crate::estimate::Options;
    use crate::finding::code;
    use crate::judge::{Question, assess};
    use crate::observations::{Observations, Occupancy};
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// A chain of 4 cycles and a reference. Of the cycles of the chain, `met` are taken beside a
    /// co-runner that makes them half as long again, in stretches of 300 cycles. In one of 20
    /// rounds the co-runner rests.
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
                    let slow = (0..stretches as u32)
                        .filter(|_| random.random::<f64>() < met)
                        .count() as f64
                        / stretches;
                    let ticks =
                        40.0 + copies * cycles * (1.0 + 0.5 * slow) + random.random::<f64>();
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
        (
            cycles.value,
            cycles.half_width(),
            code.findings.iter().any(|finding| finding.is(code::CORE_SHARED)),
        )
    }

    #[test]
    fn a_chain_that_is_slowed_within_its_readings_has_its_length() {
        for seed in 0..4 {
            let (value, half, is_said) = time(&table(0.5, seed));
            assert!(
                (value - 4.0).abs() < 0.04 && half < 1.0 && is_said,
                "{seed}: {value} +- {half}, {is_said}"
            );
        }
    }

    #[test]
    fn a_time_that_is_not_above_zero_is_not_moved() {
        let lines = |mean, quickest| super::Lines { mean, quickest, step: 0.001 };
        let ruler = lines(3.0, 3.0);
        assert!((lines(4.0, 3.0).less_than(&ruler) - 0.25).abs() < 1e-12);
        for (mean, quickest) in [(-0.1, 3.0), (0.0, 3.0), (4.0, -0.1), (-4.0, -3.0)] {
            assert_eq!(lines(mean, quickest).less_than(&ruler), 0.0);
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
        assert!(
            half(&Options::default()) < 1.2 * half(&without) + 0.001,
            "{} {}",
            half(&Options::default()),
            half(&without)
        );
    }

    #[test]
    fn code_that_may_differ_from_round_to_round_has_no_floor() {
        let mut table = table(0.5, 1);
        table.origin.occupancy.clear();
        let (value, half, _) = time(&table);
        assert!(value > 4.6 && half < 0.3, "{value} +- {half}");
    }
}
