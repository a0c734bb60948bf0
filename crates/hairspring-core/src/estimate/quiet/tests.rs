//! The estimator on simulated shared cores.

use super::simulated::{CALM, Core, EPISODES, STALLS};
use super::*;
use crate::estimate::ratio::in_cycles;
use crate::estimate::{Uncertain, solve};

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
fn table_of_a_coarse_clock_is_refused() {
    let table = Core { quantum: 26.0, ..STALLS }.table(1.0, 1);
    assert!(Quiet::from_table(&table, "reference", 3.0).is_none());
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
