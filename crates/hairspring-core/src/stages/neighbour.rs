//! Readings during which a process on the other hardware thread of the core was active: it lengthens the reads of the clock just before and behind
//! them, their guards. Guards are compared at the mean core clock.

use crate::finding::{Finding, Severity, code};
use crate::limit::{Basis, limits};
use crate::numbers;
use crate::observations::SeriesId;
use crate::stages::{Did, Stage, State, need};

limits! {
    /// Guards that a core has while nobody else uses it: the shortest, one in so many.
    SHORT = 20.0, "", Basis::Derived("a core that is quiet more rarely has too few readings anyway");
    /// A longer guard, by this factor, was taken beside a neighbour.
    LONG = 1.05, "", Basis::Seen("guards of calm cores vary by 7 %, and neighbours lengthen them by 30 %; Intel family 6, November 2026");
    /// Largest quantum of the clock that shows it.
    FINE = 0.1, "share of the guard", Basis::Derived("as much as a guard may be longer");
    /// Share of readings beside a neighbour that is told.
    TOLD = 0.2, "share of the readings", Basis::Seen("calm cores have less by chance; Intel family 6 model 167, November 2026");
    /// Least share of the readings that is left. On a core that is hardly ever quiet all of them count, and chains of known length show what they miss.
    LEAST_LEFT = 0.1, "share of the readings", Basis::Simulated("times_beside_a_neighbour_are_those_of_a_calm_core");
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
    let guards = guards(state);
    let mut sorted: Vec<f32> = guards.iter().map(|guard| guard.1).collect();
    let short = sorted.len() / SHORT as usize;
    if sorted.is_empty() {
        return Did::nothing("no reading has a guard");
    }
    let short = f64::from(*sorted.select_nth_unstable_by(short, f32::total_cmp).1);
    let middle = f64::from(*{
        let middle = sorted.len() / 2;
        sorted.select_nth_unstable_by(middle, f32::total_cmp).1
    });
    if state.quantum.step > FINE * middle {
        return Did::nothing("the step of the clock is too large to show it");
    }
    state.guards_show = true;
    let limit = LONG * short;
    let long: Vec<usize> = guards.iter().filter(|guard| f64::from(guard.1) > limit).map(|guard| guard.0 as usize).collect();
    let (number, all) = (long.len(), guards.len());
    if (all - number) as f64 <= LEAST_LEFT * all as f64 {
        return Did::nothing("somebody else uses it all the time");
    }
    long.into_iter().for_each(|at| state.leave_out(at));
    if number == 0 { Did::nothing("all guards are short") } else { Did::something(format!("{number} of {all} readings")) }
}

/// The places of the readings in use with their guards at the mean core clock.
fn guards(state: &State) -> Vec<(u32, f32)> {
    let rows = 0..state.table.rows().len() as u32;
    let guard = |one: crate::sheet::Sample| Some((one.at as u32, f64::from(state.sheet.reading(one.at).guard?.get())));
    let at_mean = |row: u32| {
        let samples = state.sheet.row(row).filter(|one| one.is_used);
        samples.filter_map(move |one| guard(one).map(|(at, guard)| (at, (guard * state.sheet.factor(one.round)) as f32)))
    };
    rows.flat_map(at_mean).collect()
}

/// Share of the readings of a series that were not taken beside a neighbour; `None` where guards do not show it.
pub(crate) fn quiet_share(state: &State, series: SeriesId) -> Option<f64> {
    let number = state.number_of(&STAGE);
    let (all, out) = state
        .sheet
        .places_in(series)
        .fold((0.0, 0.0), |(all, out), at| (all + 1.0, out + f64::from(u8::from(state.sheet.mark(at) == number))));
    (state.guards_show && all > 0.0).then_some(1.0 - out / all)
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let Some(share) = quiet_share(state, series).filter(|quiet| *quiet < 1.0 - TOLD) else { return Vec::new() };
    let quiet_percent = 100.0 * share;
    let message = format!(
        "something else used the core in {:.0} % of the readings (for example a process on its other hardware thread): these are left out",
        100.0 - quiet_percent
    );
    let remedy = "nothing to do; on another CPU or a quieter machine the interval is narrower";
    vec![Finding::of(Severity::Note, code::CORE_SHARED, message, numbers! { quiet_percent }, remedy)]
}

#[cfg(test)]
mod tests {
    use crate::estimate::Options;
    use crate::simulated::{CALM, Core, STALLS};

    fn share_out(core: &Core, seed: u64) -> f64 {
        let (table, options) = (core.table(1.0, seed), Options::default());
        let state = crate::pipeline::state_of(&table, &options);
        let stage = state.number_of(&super::STAGE);
        (0..state.sheet.len()).filter(|at| state.sheet.mark(*at) == stage).count() as f64 / state.sheet.len() as f64
    }

    fn error(core: &Core, seed: u64, without: &[&str]) -> f64 {
        let options = Options { without: without.iter().map(|name| (*name).to_owned()).collect(), ..Options::default() };
        let table = core.table(1.0, seed);
        let state = crate::pipeline::state_of(&table, &options);
        state.results[0].components[0].time.cycles.as_ref().unwrap().estimate(0.95).value - 1.0
    }

    #[test]
    fn a_calm_core_keeps_its_readings_and_a_shared_one_those_of_the_neighbours_stalls() {
        assert!(share_out(&CALM, 1) < 0.01);
        let stalls = share_out(&STALLS, 1);
        assert!((0.5..0.95).contains(&stalls), "{stalls}");
    }

    #[test]
    fn times_beside_a_neighbour_are_those_of_a_calm_core() {
        for seed in 0..3 {
            let (with, without) = (error(&STALLS, seed, &[]), error(&STALLS, seed, &["neighbour"]));
            assert!(with.abs() < 0.004 && without > 0.01, "{with} and {without} without the stage");
        }
    }

    #[test]
    fn a_core_that_is_never_quiet_and_a_coarse_clock_keep_all_readings() {
        let alone = share_out(&Core { stalls: (1.0, 1e7), ..STALLS }, 1);
        assert!(alone < 0.9, "{alone}");
        assert_eq!(share_out(&Core { quantum: 26.0, ..STALLS }, 1), 0.0);
    }
}
