//! The estimator on simulated shared cores.

use super::simulated::{CALM, Core, EPISODES, STALLS};
use super::*;
use crate::estimate::{Uncertain, solve};

/// The length of the code in cycles by its undisturbed readings.
fn quiet(table: &Observations) -> Option<Uncertain> {
    let quiet = Quiet::of(table, "reference", 3.0)?;
    let options = Options::default();
    let solved = |name: &str| quiet.solve(table, table.find_series(name).unwrap(), &options);
    let (code, ruler) = (solved("code")?, solved("reference")?);
    Some(crate::estimate::ratio::ratio((&code, &code.components[0]), (&ruler, &ruler.components[0]))?.scaled(3.0))
}

/// The same by all readings.
fn plain(table: &Observations) -> Uncertain {
    let solved = |name: &str| solve(table, table.find_series(name).unwrap(), &Options::default()).unwrap();
    let (code, ruler) = (solved("code"), solved("reference"));
    crate::estimate::ratio::ratio((&code, &code.components[0]), (&ruler, &ruler.components[0])).unwrap().scaled(3.0)
}

/// Mean error in percent, largest error, and share of the intervals that hold the length, over the runs that are answered: at
/// least half of them.
fn errors(core: Core, latency: f64, runs: u64) -> (f64, f64, f64) {
    let found: Vec<Uncertain> = (0..runs).filter_map(|seed| quiet(&core.table(latency, seed))).collect();
    assert!(2 * found.len() >= runs as usize, "{} of {runs} answered", found.len());
    let errors: Vec<f64> = found.iter().map(|cycles| 100.0 * (cycles.value / latency - 1.0)).collect();
    let held = found.iter().filter(|cycles| cycles.estimate(0.95).contains(latency)).count();
    let worst = errors.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
    (errors.iter().sum::<f64>() / found.len() as f64, worst, held as f64 / found.len() as f64)
}

#[test]
fn a_calm_core_gives_the_same_value() {
    for latency in [1.0, 4.0] {
        let table = CALM.table(latency, 7);
        let (quiet, plain) = (quiet(&table).unwrap(), plain(&table));
        assert!((quiet.value / plain.value - 1.0).abs() < 1e-3, "{} {}", quiet.value, plain.value);
        assert!(quiet.estimate(0.95).contains(latency), "{quiet:?}");
    }
}

#[test]
fn a_neighbour_that_stalls_leaves_the_length_right() {
    for core in [STALLS, EPISODES] {
        let table = core.table(1.0, 3);
        assert!(plain(&table).value > 1.005, "the neighbour must matter: {}", plain(&table).value);
        let (mean, worst, held) = errors(core, 1.0, 40);
        assert!(mean.abs() < 0.1 && worst.abs() < 0.4 && held >= 0.9, "mean {mean}, worst {worst}, held {held}");
    }
}

#[test]
fn long_chains_beside_a_neighbour_are_right() {
    let (mean, worst, held) = errors(Core { stalls: (3_000.0, 1_500.0), slower: 0.01, ..STALLS }, 4.0, 40);
    assert!(mean.abs() < 0.1 && worst.abs() < 0.4 && held >= 0.9, "mean {mean}, worst {worst}, held {held}");
}

#[test]
fn code_that_is_always_lengthened_is_not_answered_as_undisturbed() {
    // The neighbour never stalls, and lengthens throughput by half.
    let core = Core { stalls: (1.0, 1e9), slower: 0.5, ..STALLS };
    let answered: Vec<f64> = (0..10).filter_map(|seed| quiet(&core.table(1.0, seed))).map(|cycles| cycles.value).collect();
    assert!(answered.iter().all(|value| *value > 1.3), "{answered:?}");
}

#[test]
fn throughput_that_is_lengthened_by_chance_is_refused() {
    let core = Core { stalls: (60.0, 2_000.0), slower: 0.6, ..STALLS };
    let answered = (0..10).filter(|seed| quiet(&core.table(1.0, *seed)).is_some_and(|cycles| cycles.value < 1.2)).count();
    assert_eq!(answered, 0);
}

#[test]
fn a_coarse_clock_is_not_used() {
    let table = Core { quantum: 26.0, ..STALLS }.table(1.0, 1);
    assert!(Quiet::of(&table, "reference", 3.0).is_none());
}

#[test]
fn the_share_of_short_guards_is_that_of_the_quiet_time() {
    let share = |core: Core| Quiet::of(&core.table(1.0, 5), "reference", 3.0).unwrap().share().unwrap();
    assert!(share(CALM) > 0.95, "{}", share(CALM));
    assert!(share(STALLS) < 0.4, "{}", share(STALLS));
}

#[test]
fn tables_without_guards_or_reference_do_not_panic() {
    let mut table = CALM.table(1.0, 2);
    assert!(Quiet::of(&table, "nobody", 3.0).is_none());
    let code = table.find_series("code").unwrap();
    let quiet = Quiet::of(&table, "reference", 3.0).unwrap();
    let row = table.row(code, &[0.0]);
    quiet.solve(&table, code, &Options::default());
    table.push(row, 0, f64::MAX);
    quiet.solve(&table, code, &Options::default());
    let empty = Observations::new(vec!["body".into()]);
    assert!(Quiet::of(&empty, "reference", 3.0).is_none());
}
