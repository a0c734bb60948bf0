//! The estimator on simulated shared cores.

use super::simulated::{CALM, Core, EPISODES, STALLS, normal};
use super::*;
use crate::estimate::ratio::in_cycles;
use crate::estimate::{Uncertain, solve};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

/// The length of the code in cycles, from its undisturbed readings.
fn quiet(table: &Observations) -> Option<Uncertain> {
    let quiet = Quiet::from_table(table, "reference", 3.0)?;
    let options = Options::default();
    let solved = |name: &str| quiet.solve(table, table.find_series(name).unwrap(), &options);
    let (code, ruler) = (solved("code")?, solved("reference")?);
    in_cycles((&code, &code.components[0]), (&ruler, &ruler.components[0]), 3.0)
}

/// The length of the code in cycles, from all readings.
fn plain(table: &Observations) -> Uncertain {
    let solved = |name: &str| solve(table, table.find_series(name).unwrap(), &Options::default()).unwrap();
    let (code, ruler) = (solved("code"), solved("reference"));
    in_cycles((&code, &code.components[0]), (&ruler, &ruler.components[0]), 3.0).unwrap()
}

/// Mean error in percent, largest error, and share of the intervals that contain the length, over the runs with a result,
/// which must be at least half of all.
fn errors(core: Core, latency: f64, runs: u64) -> (f64, f64, f64) {
    let found: Vec<Uncertain> = (0..runs).filter_map(|seed| quiet(&core.table(latency, seed))).collect();
    assert!(2 * found.len() >= runs as usize, "{} of {runs} have a result", found.len());
    let errors: Vec<f64> = found.iter().map(|cycles| 100.0 * (cycles.value / latency - 1.0)).collect();
    let covered = found.iter().filter(|cycles| cycles.estimate(0.95).contains(latency)).count();
    let worst = errors.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
    (errors.iter().sum::<f64>() / found.len() as f64, worst, covered as f64 / found.len() as f64)
}

#[test]
fn undisturbed_readings_of_a_calm_core_give_the_same_value_as_all() {
    for latency in [1.0, 4.0] {
        let table = CALM.table(latency, 7);
        let (quiet, plain) = (quiet(&table).unwrap(), plain(&table));
        assert!((quiet.value / plain.value - 1.0).abs() < 1e-3, "{} {}", quiet.value, plain.value);
        assert!(quiet.estimate(0.95).contains(latency), "{quiet:?}");
    }
}

#[test]
fn length_of_long_rows_is_right_where_the_core_clock_jitters() {
    let (mean, worst, covered) = errors(Core { jitter: 0.0015, ..CALM }, 14.0, 40);
    assert!(mean.abs() < 0.01 && worst.abs() < 0.1 && covered >= 0.9, "mean {mean}, worst {worst}, covered {covered}");
    let (mean, worst, covered) = errors(Core { jitter: 0.0015, present: 0.2, ..EPISODES }, 1.0, 40);
    assert!(mean.abs() < 0.1 && worst.abs() < 0.4 && covered >= 0.9, "mean {mean}, worst {worst}, covered {covered}");
}

#[test]
fn length_is_right_beside_a_neighbour_that_stalls() {
    for core in [STALLS, EPISODES] {
        let table = core.table(1.0, 3);
        assert!(plain(&table).value > 1.005, "the neighbour must matter: {}", plain(&table).value);
        let (mean, worst, covered) = errors(core, 1.0, 40);
        assert!(mean.abs() < 0.1 && worst.abs() < 0.4 && covered >= 0.9, "mean {mean}, worst {worst}, covered {covered}");
    }
}

#[test]
fn length_of_long_chains_is_right_beside_a_neighbour() {
    let (mean, worst, covered) = errors(Core { stalls: (3_000.0, 1_500.0), slower: 0.01, ..STALLS }, 4.0, 40);
    assert!(mean.abs() < 0.1 && worst.abs() < 0.4 && covered >= 0.9, "mean {mean}, worst {worst}, covered {covered}");
}

#[test]
fn code_that_is_always_lengthened_gets_no_undisturbed_time() {
    // The neighbour never stalls, and lengthens throughput by half.
    let core = Core { stalls: (1.0, 1e9), slower: 0.5, ..STALLS };
    let found: Vec<f64> = (0..10).filter_map(|seed| quiet(&core.table(1.0, seed))).map(|cycles| cycles.value).collect();
    assert!(found.iter().all(|value| *value > 1.3), "{found:?}");
}

#[test]
fn throughput_that_is_lengthened_by_chance_is_refused() {
    let core = Core { stalls: (60.0, 2_000.0), slower: 0.6, ..STALLS };
    let too_short = (0..10).filter(|seed| quiet(&core.table(1.0, *seed)).is_some_and(|cycles| cycles.value < 1.2)).count();
    assert_eq!(too_short, 0);
}

#[test]
fn share_of_short_guards_is_the_share_of_quiet_time() {
    let share = |core: Core| Quiet::from_table(&core.table(1.0, 5), "reference", 3.0).unwrap().share().unwrap();
    assert!(share(CALM) > 0.95, "{}", share(CALM));
    assert!(share(STALLS) < 0.4, "{}", share(STALLS));
}

#[test]
fn tables_without_guards_or_reference_do_not_panic() {
    let mut table = CALM.table(1.0, 2);
    assert!(Quiet::from_table(&table, "nobody", 3.0).is_none());
    let code = table.find_series("code").unwrap();
    let quiet = Quiet::from_table(&table, "reference", 3.0).unwrap();
    let row = table.row(code, &[0.0]);
    quiet.solve(&table, code, &Options::default());
    table.push(row, 0, f64::MAX);
    quiet.solve(&table, code, &Options::default());
    let empty = Observations::new(vec!["body".into()]);
    assert!(Quiet::from_table(&empty, "reference", 3.0).is_none());
}

/// Steps of 26 ticks, which are wider than what a neighbour adds to a guard.
const COARSE: f64 = 26.0;
/// The guard of the simulated core while nobody else uses it, in core cycles: two pairs of reads.
const GUARD: f64 = 149.6;

/// A table whose readings are of a coarse clock.
fn coarse(core: Core, latency: f64, seed: u64) -> Observations {
    let mut table = Core { quantum: COARSE, ..core }.table(latency, seed);
    table.origin.quiet_guard = Some(GUARD);
    table
}

/// The share of the rounds in which nobody else used the core.
fn share(table: &Observations) -> f64 {
    Quiet::from_table(table, "reference", 3.0).unwrap().share().unwrap()
}

#[test]
fn length_is_right_by_a_coarse_clock_beside_a_neighbour_that_comes_and_goes() {
    for (latency, slower) in [(1.0, 0.05), (4.0, 0.1)] {
        let core = Core { slower, of_chains: 0.1, ..EPISODES };
        let tables: Vec<Observations> = (0..40).map(|seed| coarse(core, latency, seed)).collect();
        let mean_of_all = tables.iter().map(|table| plain(table).value).sum::<f64>() / 40.0;
        assert!(mean_of_all > 1.01 * latency, "the neighbour must matter: {mean_of_all}");
        let found: Vec<Uncertain> = tables.iter().filter_map(quiet).collect();
        assert!(found.len() >= 20, "{} of 40 have a result", found.len());
        let off: Vec<f64> = found.iter().map(|cycles| 100.0 * (cycles.value / latency - 1.0)).collect();
        let covered = found.iter().filter(|cycles| cycles.estimate(0.95).contains(latency)).count();
        assert!(off.iter().sum::<f64>().abs() < 0.1 * found.len() as f64, "{off:?}");
        assert!(covered >= found.len() * 9 / 10, "{covered} of {}: {off:?}", found.len());
    }
}

#[test]
fn most_rounds_of_a_calm_run_are_quiet_by_a_coarse_clock_and_the_rest_beside_a_neighbour() {
    for (present, expected) in [(0.0, 0.85..=1.0), (0.5, 0.3..=0.7)] {
        let core = Core { present, slower: 0.05, ..CALM };
        let shares: Vec<f64> = (0..20).map(|seed| share(&coarse(core, 1.0, seed))).collect();
        let mean = shares.iter().sum::<f64>() / 20.0;
        assert!(expected.contains(&mean), "{mean}: {shares:?}");
    }
}

#[test]
fn guards_that_are_longer_than_in_earlier_runs_show_a_neighbour_who_is_there_throughout() {
    let mut table = coarse(Core { slower: 0.05, ..STALLS }, 1.0, 3);
    let quiet_of = |table: &Observations| Quiet::from_table(table, "reference", 3.0).unwrap();
    assert!(quiet_of(&table).is_never() && quiet(&table).is_none());
    assert!(
        quiet_of(&table).guard().unwrap() > GUARD + 20.0,
        "the history keeps it: if it was the known guard that is wrong, others follow"
    );
    assert!(quiet_of(&table).longer_than_earlier().is_some_and(|longer| longer > 20.0 / GUARD));
    table.origin.quiet_guard = None;
    assert!(!quiet_of(&table).is_never(), "without an earlier run the neighbour's guard is the only one");
}

/// The table with other guards.
fn with_guards(table: &Observations, guard: impl Fn(u32) -> u32) -> Observations {
    let mut other = Observations::new(table.components().to_vec());
    other.origin = table.origin.clone();
    for reading in table.readings() {
        let row = &table.rows()[reading.row as usize];
        let series = other.series(&table.series_names()[usize::from(row.series)]);
        let row = other.row(series, &row.counts);
        let guard = std::num::NonZeroU32::new(guard(reading.guard.map_or(0, std::num::NonZeroU32::get)));
        other.push_guarded(row, reading.round, reading.ticks, reading.flags, guard);
    }
    other
}

#[test]
fn guards_that_do_not_scatter_show_nothing() {
    let table = coarse(CALM, 1.0, 1);
    assert!(Quiet::from_table(&with_guards(&table, |_| 130), "reference", 3.0).is_none());
    assert!(Quiet::from_table(&with_guards(&table, |guard| guard), "reference", 3.0).is_some());
}

#[test]
fn round_with_a_huge_number_costs_no_memory() {
    let mut table = Observations::new(vec!["body".into()]);
    let series = table.series("reference");
    for (copies, round) in [(1.0, 0), (2.0, 0), (3.0, 0), (3.0, 1 << 30)] {
        let row = table.row(series, &[copies]);
        table.push(row, round, 100.0 * copies);
    }
    assert!(Quiet::from_table(&table, "reference", 3.0).is_none());
}

#[test]
fn table_of_a_coarse_clock_with_few_rounds_is_refused() {
    let table = coarse(STALLS, 1.0, 1);
    assert!(Quiet::from_table(&table.in_rounds(&(0..90)), "reference", 3.0).is_none());
}

#[test]
fn error_of_the_mean_clock_is_its_scatter_over_runs() {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut one = || {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("reference");
        for round in 0..800 {
            for copies in [32.0, 128.0, 512.0] {
                let row = table.row(series, &[copies]);
                table.push(row, round, 0.8 * 3.0 * copies + 60.0 + 5.0 * normal(&mut random));
            }
        }
        let rates = rates(&table, series, 3.0).unwrap();
        (rates.mean / 0.8 - 1.0, rates.mean_error)
    };
    let (errors, told): (Vec<f64>, Vec<f64>) = (0..100).map(|_| one()).unzip();
    let scatter = (errors.iter().map(|error| error * error).sum::<f64>() / 100.0).sqrt();
    let told = told.iter().sum::<f64>() / 100.0;
    assert!((0.7..1.4).contains(&(told / scatter)), "told {told}, scatter {scatter}");
}
