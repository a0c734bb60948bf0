//! The rows of a measurement: how often each component runs in a window, and the same rows in other
//! components.
//!
//! A window has switches, calls and work in known numbers. Windows with switches and calls, with
//! calls alone, and with work alone come in the same rounds, so the line fit tells them apart. All
//! switches are pairs: out and back.

use hairspring_core::observations::Observations;

/// Name of the switch without its system calls.
pub const SWITCH: &str = "switch";
/// Name of the system calls of a switch, made where nobody waits.
pub const CALLS: &str = "calls";
/// Name of the switch with its system calls.
pub const TOTAL: &str = "switch and calls";
/// Name of the work without a working set.
pub const WORK: &str = "work";
/// Name of a pass over the working set.
pub const TOUCH: &str = "touch";
/// Name of what the first pass after a switch takes more.
pub const REFILL: &str = "refill";
/// Name of what a pass takes more if the set is flushed after each.
pub const FLUSH: &str = "flush";
/// Name of what the first pass after a switch takes more if the set is flushed after each.
pub const FLUSHED_REFILL: &str = "refill after flush";

/// What a side does after each switch to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turn {
    /// Units of work.
    pub units: u32,
    /// Passes over its working set.
    pub passes: u16,
    /// Whether it flushes its working set from all caches after each pass.
    pub flush: bool,
}

/// One window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Switches, each followed by a turn.
    Switches {
        /// Switches out and back.
        pairs: u32,
        /// What each side does after each switch to it.
        turn: Turn,
    },
    /// The system calls of a switch, made by one side alone.
    Calls {
        /// How often.
        times: u32,
    },
    /// Turns of one side alone.
    Turns {
        /// How often.
        times: u32,
        /// What it does.
        turn: Turn,
    },
}

impl Window {
    /// Switches away from the measuring side.
    pub fn pairs(&self) -> u32 {
        match self {
            Window::Switches { pairs, .. } => *pairs,
            _ => 0,
        }
    }

    /// How often each component runs in it.
    fn counts(&self, has_set: bool) -> Vec<f64> {
        let (switches, calls, times, turn) = match *self {
            Window::Switches { pairs, turn } => (2 * pairs, 2 * pairs, 2 * pairs, turn),
            Window::Calls { times } => (0, times, 0, Turn::default()),
            Window::Turns { times, turn } => (0, 0, times, turn),
        };
        let (switches, calls, times) = (f64::from(switches), f64::from(calls), f64::from(times));
        if !has_set {
            return vec![switches, calls, times * f64::from(turn.units)];
        }
        let when = |condition: bool, count: f64| if condition { count } else { 0.0 };
        let passes = times * f64::from(turn.passes);
        // Only the first pass of a turn follows a switch.
        let has_first = turn.passes > 0;
        vec![
            switches,
            calls,
            passes,
            when(has_first && !turn.flush, switches),
            when(turn.flush, passes),
            when(has_first && turn.flush, switches),
        ]
    }
}

/// Times of a pilot run, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pilot {
    /// A switch out and back.
    pub pair_ns: f64,
    /// The system calls of one switch.
    pub calls_ns: f64,
    /// A unit of work.
    pub unit_ns: f64,
    /// A pass over the working set; `None` without one.
    pub touch_ns: Option<f64>,
    /// A pass with a flush.
    pub flush_ns: Option<f64>,
}

/// Length of the longest window: so long that the clock's quantum and the reads of the clock do not
/// matter, and so short that few windows are disturbed by an interrupt.
const LONGEST_NS: f64 = 120e3;
/// Most repetitions in a window.
const MOST_REPETITIONS: f64 = 256.0;
/// Fewest in the longest window.
const FEWEST_REPETITIONS: f64 = 2.0;
/// Units of work of a turn, in two amounts, as a share of a switch.
const WORK_SHARES: [f64; 2] = [0.5, 2.0];

/// The components in their order. The first is asked for, and the others serve.
pub fn components(has_set: bool) -> Vec<String> {
    let names: &[&str] = if has_set {
        &[SWITCH, CALLS, TOUCH, REFILL, FLUSH, FLUSHED_REFILL]
    } else {
        &[SWITCH, CALLS, WORK]
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The windows of a design with their counts.
pub fn rows(pilot: &Pilot) -> Vec<(Window, Vec<f64>)> {
    let has_set = pilot.touch_ns.is_some();
    let mut windows: Vec<Window> = steps(pilot.pair_ns, 4)
        .map(|pairs| Window::Switches { pairs, turn: Turn::default() })
        .collect();
    windows.extend(steps(pilot.calls_ns, 3).map(|times| Window::Calls { times }));
    for (turn, turn_ns) in turns(pilot) {
        let count = if has_set { 2 } else { 3 };
        windows.extend(
            steps(pilot.pair_ns + 2.0 * turn_ns, count)
                .map(|pairs| Window::Switches { pairs, turn }),
        );
        if !has_set {
            windows.extend(steps(turn_ns, count).map(|times| Window::Turns { times, turn }));
        }
    }
    let mut rows: Vec<(Window, Vec<f64>)> = Vec::new();
    for window in windows {
        let counts = window.counts(has_set);
        // Many short turns may have the counts of few long ones.
        if rows.iter().all(|(_, known)| *known != counts) {
            rows.push((window, counts));
        }
    }
    rows
}

/// The turns of a design with their times. Turns with several passes tell what a pass takes in the
/// caches of its own side. Passes by one side alone would not do: what the memory of the other side
/// takes more or less would look like an effect of the switch.
fn turns(pilot: &Pilot) -> Vec<(Turn, f64)> {
    let none = Turn::default();
    match (pilot.touch_ns, pilot.flush_ns) {
        (Some(touch_ns), Some(flush_ns)) => {
            let turn = |passes: u16, flush: bool| {
                let ns = if flush { flush_ns } else { touch_ns };
                (Turn { passes, flush, ..none }, f64::from(passes) * ns)
            };
            // A flush takes long, so its windows take most of the time.
            [1, 2, 4]
                .map(|passes| turn(passes, false))
                .into_iter()
                .chain([1, 2].map(|passes| turn(passes, true)))
                .collect()
        }
        _ => WORK_SHARES
            .map(|share| {
                let units = (share * pilot.pair_ns / 2.0 / pilot.unit_ns).ceil().clamp(1.0, 1e6);
                (Turn { units: units as u32, ..none }, units * pilot.unit_ns)
            })
            .to_vec(),
    }
}

/// So many numbers of repetitions, each half of the next, for something that takes this long.
fn steps(ns: f64, count: u32) -> impl Iterator<Item = u32> {
    let most_repetitions = (LONGEST_NS / ns).clamp(FEWEST_REPETITIONS, MOST_REPETITIONS) as u32;
    // Windows of few have 1, 2 and so on.
    (0..count).rev().map(move |at| {
        if most_repetitions >> (count - 1) > 0 {
            most_repetitions >> at
        } else {
            most_repetitions.saturating_sub(at)
        }
        .max(1)
    })
}

/// The same readings with other components. `columns` gives for each new component how much of it
/// each old one is: the counts of the old components times this matrix are the counts of the new
/// ones.
#[must_use]
pub fn in_other_components(
    table: &Observations,
    names: &[&str],
    columns: &[Vec<f64>],
) -> Observations {
    let mut other_table = Observations::new(names.iter().map(|name| (*name).to_owned()).collect());
    other_table.origin = table.origin.clone();
    other_table.origin.serving = names.iter().skip(1).map(|name| (*name).to_owned()).collect();
    for name in table.series_names() {
        other_table.series(name);
    }
    for row in table.rows() {
        let counts: Vec<f64> = columns
            .iter()
            .map(|column| column.iter().zip(&row.counts).map(|(part, count)| part * count).sum())
            .collect();
        other_table.row_apart(row.series, &counts);
    }
    for one in table.readings() {
        other_table.push_guarded(one.row, one.round, one.ticks, one.flags, one.guard);
    }
    other_table
}

/// A sum of components as a component of its own, the first one: the others are its parts but for
/// `left_out`, whose time is the sum minus theirs.
#[must_use]
pub fn with_sum(table: &Observations, sum: &str, parts: &[&str], left_out: &str) -> Observations {
    let old: Vec<String> = table.components().to_vec();
    let at = |name: &str| old.iter().position(|known| known == name);
    let Some(out) = at(left_out) else { return table.clone() };
    // With t_sum = sum of parts, t_out = t_sum - (other parts), so n_out * t_out = n_out * t_sum -
    // n_out * (other parts).
    let of = |wanted_component: usize| -> Vec<f64> {
        (0..old.len()).map(|j| f64::from(u8::from(j == wanted_component))).collect()
    };
    let (mut names, mut columns) = (vec![sum], vec![of(out)]);
    for (j, name) in old.iter().enumerate().filter(|(j, _)| *j != out) {
        let mut column = of(j);
        if parts.contains(&name.as_str()) {
            column[out] = -1.0;
        }
        names.push(name);
        columns.push(column);
    }
    in_other_components(table, &names, &columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_core::estimate::Options;
    use hairspring_core::judge::{Question, assess};
    use hairspring_core::observations::Rate;
    use hairspring_core::pipeline::solve;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    fn pilot(has_set: bool) -> Pilot {
        let set = |ns: f64| has_set.then_some(ns);
        Pilot {
            pair_ns: 3e3,
            calls_ns: 700.0,
            unit_ns: 130.0,
            touch_ns: set(2e3),
            flush_ns: set(30e3),
        }
    }

    /// Readings of made-up switches: the times of the components in ticks, and the noise of a
    /// reading.
    fn simulated(has_set: bool, times: &[f64], noise: f64, seed: u64) -> Observations {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        // A sum of 12 uniform numbers is nearly normal.
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let mut table = Observations::new(components(has_set));
        table.origin.serving = components(has_set)[1..].to_vec();
        table.origin.rate = Some(Rate { hz: 1e9, uncertainty_ppm: 0.0, provenance: String::new() });
        let series = table.series("pipe");
        let rows: Vec<_> = rows(&pilot(has_set))
            .into_iter()
            .map(|(_, counts)| (table.row(series, &counts), counts))
            .collect();
        for round in 0..64 {
            for (row, counts) in &rows {
                let exact: f64 = counts.iter().zip(times).map(|(count, time)| count * time).sum();
                table.push(*row, round, exact + 60.0 + noise * normal());
            }
        }
        table
    }

    #[test]
    fn every_component_can_be_told_from_the_others() {
        for (has_set, times) in [
            (false, vec![800.0, 700.0, 130.0]),
            (true, vec![800.0, 700.0, 2_000.0, -30.0, 28_000.0, 500.0]),
        ] {
            let table = simulated(has_set, &times, 0.0, 1);
            let solution = solve(&table, 0, &Options::default()).unwrap();
            for (name, time) in components(has_set).iter().zip(&times) {
                let ticks = solution
                    .component(name)
                    .unwrap_or_else(|| panic!("{name}: {solution:?}"))
                    .ticks;
                assert!((ticks.value - time).abs() < 1e-6, "{name}: {ticks:?}");
            }
        }
    }

    #[test]
    fn windows_are_short_and_differ() {
        for has_set in [false, true] {
            let all_windows = rows(&pilot(has_set));
            let counts: std::collections::BTreeSet<String> =
                all_windows.iter().map(|(_, counts)| format!("{counts:?}")).collect();
            assert_eq!(counts.len(), all_windows.len(), "{all_windows:?}");
            assert!(all_windows.iter().all(|(window, _)| window.pairs() <= 40), "{all_windows:?}");
        }
        let slow = Pilot { pair_ns: 1e9, ..pilot(false) };
        let most_pairs = rows(&slow).iter().map(|(window, _)| window.pairs()).max();
        assert_eq!(most_pairs, Some(2), "a slow switch has short windows");
    }

    #[test]
    fn a_sum_has_the_interval_of_the_sum() {
        let times = [800.0, 700.0, 130.0];
        let table = with_sum(&simulated(false, &times, 40.0, 2), TOTAL, &[SWITCH, CALLS], SWITCH);
        let solution = solve(&table, 0, &Options::default()).unwrap();
        let total = solution.component(TOTAL).unwrap().ticks;
        assert!((total.value - 1_500.0).abs() < 5.0, "{total:?}");
        let parts = solve(&simulated(false, &times, 40.0, 2), 0, &Options::default()).unwrap();
        let sum: f64 =
            [SWITCH, CALLS].iter().map(|name| parts.component(name).unwrap().ticks.value).sum();
        assert!((total.value - sum).abs() < 1e-6, "{} {sum}", total.value);
        // The two parts are anticorrelated, so their sum is better known than the switch alone.
        assert!(total.half_width() < parts.component(SWITCH).unwrap().ticks.half_width());
    }

    #[test]
    fn intervals_contain_the_truth() {
        const RUNS: u64 = 200;
        let times = [800.0, 700.0, 2_000.0, 150.0, 28_000.0, 0.0];
        let mut inside = 0;
        for seed in 0..RUNS {
            let table =
                with_sum(&simulated(true, &times, 100.0, seed), TOTAL, &[SWITCH, CALLS], SWITCH);
            let assessment = assess(&table, &Question::default()).unwrap();
            let ns = |name: &str| {
                let one =
                    assessment.series[0].components.iter().find(|one| one.name == name).unwrap();
                one.time.ns.as_ref().unwrap().estimate(0.95)
            };
            inside +=
                u64::from(ns(TOTAL).contains(1_500.0)) + u64::from(ns(REFILL).contains(150.0));
        }
        assert!(inside as f64 >= 0.91 * (2 * RUNS) as f64, "{inside} of {}", 2 * RUNS);
    }
}
