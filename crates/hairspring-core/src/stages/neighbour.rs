//! Readings during which a process on the other hardware thread of the core was active: it
//! lengthens the reads of the clock just before and behind them, their guards. Guards are compared
//! at the mean core clock.

use crate::finding::{Finding, Severity, code};
use crate::limit::{Basis, limits};
use crate::numbers;
use crate::observations::SeriesId;
use crate::sheet::USED_MARK;
use crate::stages::blocks::MIN_ROUNDS;
use crate::stages::flags::DISTURBED_WARNING;
use crate::stages::{Did, Stage, State, need};

limits! {
    /// The shortest guards, one in this number, are those of a core that nobody else uses.
    SHORTEST_GUARDS = 20.0, "",
        Basis::Derived("a core that is quiet more rarely has too few readings anyway");
    /// A longer guard, by this factor, was taken beside a co-runner.
    LONG_GUARD = 1.05, "", Basis::Seen("nine of ten guards of calm cores are within it, and \
                                        co-runners lengthen them by 30 %; Intel family 6, \
                                        November 2026");
    /// Largest quantum of the clock that shows it.
    FINE_CLOCK = 0.1, "share of the guard",
        Basis::Derived("a coarser reading is longer by chance, as guards beside a co-runner are");
    /// Guards that show which are short.
    GUARD_SAMPLE = 16384.0, "readings",
        Basis::Size("one in twenty of this number is known to a hundredth of its scatter");
}

pub(crate) const STAGE: Stage = Stage {
    name: "neighbour",
    question: "Which readings were taken while somebody else used the core?",
    needs: &[need::REFERENCE, need::GUARDS],
    limits: &[LIMITS],
    source: None,
    says,
};

/// Leaves out readings with long guards.
pub(crate) fn choose(state: &mut State) -> Did {
    let mut some: Vec<f64> = state
        .sheet
        .guards(state.sheet.len() / GUARD_SAMPLE as usize + 1)
        .map(|(_, guard)| guard)
        .collect();
    if some.is_empty() {
        return Did::nothing("no reading has a guard");
    }
    let last = (some.len() - 1) as f64;
    let mut at =
        |share: f64| *some.select_nth_unstable_by((share * last) as usize, f64::total_cmp).1;
    let (short, middle) = (at(1.0 / SHORTEST_GUARDS), at(0.5));
    if state.quantum.step > FINE_CLOCK * middle {
        return Did::nothing("the step of the clock is too large to show it");
    }
    let long: Vec<usize> = state
        .sheet
        .guards(1)
        .filter(|(_, guard)| *guard > LONG_GUARD * short)
        .map(|(at, _)| at)
        .collect();
    let kept_series = kept(state, &long);
    let out: Vec<usize> = long
        .iter()
        .copied()
        .filter(|at| !kept_series[usize::from(state.sheet.series_of(*at))])
        .collect();
    state.leave_out_all(
        out,
        if long.is_empty() {
            "all guards are short"
        } else {
            "somebody else uses it too often to leave these out"
        },
    )
}

/// Notes the share of the readings of each series that are long, and says whether all of its
/// readings count, because a row would have too few others for an interval.
fn kept(state: &mut State, long: &[usize]) -> Vec<bool> {
    let sheet = &state.sheet;
    let series = state.solutions.len();
    let (mut are_long, mut kept_series, mut readings_left) =
        (vec![0; series], vec![false; series], vec![0; state.table.rows().len()]);
    (0..state.table.readings().len())
        .filter(|at| sheet.mark(*at) == USED_MARK)
        .for_each(|at| readings_left[sheet.reading(at).row as usize] += 1);
    for at in long {
        let (row, series) = (sheet.reading(*at).row as usize, usize::from(sheet.series_of(*at)));
        are_long[series] += 1;
        if sheet.mark(*at) == USED_MARK {
            readings_left[row] -= 1;
            kept_series[series] |= readings_left[row] < MIN_ROUNDS as usize;
        }
    }
    let share = |(long, series): (&usize, SeriesId)| {
        *long as f64 / (sheet.number_in(series) as f64).max(1.0)
    };
    state.shared = are_long.iter().zip(state.all_series()).map(share).collect();
    kept_series
}

/// Share of the readings of a series that were not taken beside a co-runner; `None` where guards do
/// not show it.
pub(crate) fn quiet_share(state: &State, series: SeriesId) -> Option<f64> {
    state.shared.get(usize::from(series)).map(|shared| 1.0 - shared)
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let Some(share) = quiet_share(state, series).filter(|quiet| *quiet < 1.0 - DISTURBED_WARNING)
    else {
        return Vec::new();
    };
    let quiet_percent = 100.0 * share;
    let (severity, consequence, remedy) = if state.number_out(series, &STAGE) == 0 {
        (
            Severity::Warning,
            "too many to leave out, so the time includes the effect",
            "measure again; choose another CPU or a quieter machine",
        )
    } else {
        (
            Severity::Note,
            "these are left out",
            "nothing to do; on another CPU or a quieter machine the interval is narrower",
        )
    };
    let message = format!(
        "something else used the core in {:.0} % of the readings (for example a process on its \
         other hardware thread): {consequence}",
        100.0 - quiet_percent
    );
    let keeps_remedy = severity == Severity::Note;
    vec![Finding {
        keeps_remedy,
        ..Finding::of(severity, code::CORE_SHARED, message, numbers! { quiet_percent }, remedy)
    }]
}

#[cfg(test)]
mod tests {
    use crate::estimate::Options;
    use crate::simulated::{CALM, Core, STALLS};

    fn share_out(core: &Core, seed: u64) -> f64 {
        let (table, options) = (core.table(1.0, seed), Options::default());
        let state = crate::pipeline::state_of(&table, &options);
        let stage = state.number_of(&super::STAGE);
        (0..state.sheet.len()).filter(|at| state.sheet.mark(*at) == stage).count() as f64
            / state.sheet.len() as f64
    }

    fn error(core: &Core, seed: u64, without: &[&str]) -> f64 {
        let options = Options {
            without: without.iter().map(|name| (*name).to_owned()).collect(),
            ..Options::default()
        };
        let table = core.table(1.0, seed);
        let state = crate::pipeline::state_of(&table, &options);
        state.results[0].components[0].time.cycles.as_ref().unwrap().estimate(0.95).value - 1.0
    }

    #[test]
    fn a_calm_core_keeps_its_readings_and_a_shared_one_those_of_the_co_runners_stalls() {
        assert!(share_out(&CALM, 1) < 0.01);
        let stalls = share_out(&STALLS, 1);
        assert!((0.5..0.95).contains(&stalls), "{stalls}");
    }

    #[test]
    fn times_beside_a_co_runner_are_those_of_a_calm_core() {
        for seed in 0..3 {
            let (with, without) = (error(&STALLS, seed, &[]), error(&STALLS, seed, &["neighbour"]));
            assert!(
                with.abs() < 0.008 && without > 0.015,
                "{with} and {without} without the stage"
            );
        }
    }

    #[test]
    fn a_core_that_is_never_quiet_and_a_coarse_clock_keep_all_readings() {
        let alone = share_out(&Core { stalls: (1.0, 1e7), ..STALLS }, 1);
        assert!(alone < 0.9, "{alone}");
        assert_eq!(share_out(&Core { quantum: 26.0, ..STALLS }, 1), 0.0);
    }

    #[test]
    fn a_series_that_is_always_beside_a_co_runner_keeps_its_readings() {
        let calm = CALM.table(1.0, 1);
        let mut beside = crate::observations::Observations::new(vec!["body".into()]);
        beside.origin = calm.origin.clone();
        for reading in calm.readings() {
            let row = &calm.rows()[reading.row as usize];
            let name = &calm.series_names()[usize::from(row.series)];
            let factor = std::num::NonZeroU32::new(if &**name == "code" { 2 } else { 1 }).unwrap();
            let series = beside.series(name);
            let row = beside.row(series, &row.counts);
            beside.push_guarded(
                row,
                reading.round,
                reading.ticks,
                reading.flags,
                reading.guard.map(|guard| guard.saturating_mul(factor)),
            );
        }
        let options = Options::default();
        let state = crate::pipeline::state_of(&beside, &options);
        let code = beside.find_series("code").unwrap();
        assert_eq!(state.number_out(code, &super::STAGE), 0);
        assert!(
            super::says(&state, code)[0].message.contains("100 % of the readings"),
            "{:?}",
            super::says(&state, code)
        );
    }

    #[test]
    fn a_series_that_is_solved_by_itself_loses_the_same_readings() {
        let (table, options) = (STALLS.table(1.0, 1), Options::default());
        let code = table.find_series("code").unwrap();
        let alone = crate::pipeline::solve(&table, code, &options).unwrap();
        let all = crate::pipeline::state_of(&table, &options);
        assert_eq!(alone.readings_used, all.solution(code).unwrap().readings_used);
    }

    #[test]
    fn a_short_run_keeps_the_rows_that_it_needs() {
        let (short, options) = (STALLS.table(1.0, 1).in_rounds(&(0..8)), Options::default());
        let state = crate::pipeline::state_of(&short, &options);
        let code = short.find_series("code").unwrap();
        let used = |row: u32| state.sheet.row(row).filter(|one| one.is_used).count();
        let fewest = state.sheet.rows_of(code).into_iter().map(used).min().unwrap();
        assert!(fewest >= 4 && super::quiet_share(&state, code).unwrap() < 0.5, "{fewest}");
    }
}
