//! Simulated coverage of the intervals of parts, where rows depart from the sum of their parts: not
//! at all, independently, or by similar amounts for rows with similar counts. Fixed seeds make the
//! test deterministic.

use hairspring_core::estimate::Options;
use hairspring_core::observations::Observations;
use hairspring_core::pipeline::solve;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

const ROWS: usize = 60;
const ROUNDS: u32 = 16;
const TRIALS: u64 = 400;
/// Ticks of a trip, and of a branch that every other row takes once in three trips.
const PARTS: [f64; 2] = [30.0, 12.0];
const OVERHEAD: f64 = 60.0;
const NOISE: f64 = 4.0;
const DEPARTURE: f64 = 12.0;

/// Departure of each row, by its trips as a share of the largest number of trips.
type Departs = fn(&mut Pcg64Mcg) -> Box<dyn FnMut(f64) -> f64>;

/// A random number of mean 0 and standard deviation 1, bounded so that no row is an outlier.
fn spread(random: &mut Pcg64Mcg) -> f64 {
    (0..3).map(|_| random.random_range(-1.0..1.0)).sum()
}

fn none(_: &mut Pcg64Mcg) -> Box<dyn FnMut(f64) -> f64> {
    Box::new(|_| 0.0)
}

fn independent(random: &mut Pcg64Mcg) -> Box<dyn FnMut(f64) -> f64> {
    let mut own = Pcg64Mcg::seed_from_u64(random.random());
    Box::new(move |_| DEPARTURE * spread(&mut own))
}

/// A sine along the trips, with about one to two periods and a random phase.
fn along_the_trips(random: &mut Pcg64Mcg) -> Box<dyn FnMut(f64) -> f64> {
    let (periods, phase): (f64, f64) = (random.random_range(0.7..2.0), random.random());
    Box::new(move |share| {
        DEPARTURE * 2f64.sqrt() * (std::f64::consts::TAU * (periods * share + phase)).sin()
    })
}

/// Whether the intervals of the two parts contain the true times, and their half-widths.
fn trial(seed: u64, departs: Departs, options: &Options) -> [(bool, f64); 2] {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut table = Observations::new(vec!["trip".into(), "arm".into()]);
    let series = table.series("main");
    let mut departure = departs(&mut random);
    for at in 0..ROWS {
        let counts = [1.0 + at as f64, if at % 2 == 0 { (at / 3) as f64 } else { 0.0 }];
        let exact = OVERHEAD
            + counts[0] * PARTS[0]
            + counts[1] * PARTS[1]
            + departure(at as f64 / ROWS as f64);
        let row = table.row_apart(series, &counts);
        for round in 0..ROUNDS {
            table.push(row, round, exact + NOISE * spread(&mut random));
        }
    }
    let solution = solve(&table, series, options).unwrap();
    let outcome_of = |at: usize| {
        (
            solution.components[at].ticks.contains(PARTS[at]),
            solution.components[at].ticks.half_width(),
        )
    };
    [outcome_of(0), outcome_of(1)]
}

/// Share of the intervals that contain the true time, and their mean half-width.
fn coverage(name: &str, departs: Departs, departure_follows_counts: bool) -> (f64, f64) {
    let options = Options { departure_follows_counts, ..Options::default() };
    let outcomes: Vec<(bool, f64)> =
        (0..TRIALS).flat_map(|seed| trial(seed, departs, &options)).collect();
    let held = outcomes.iter().filter(|one| one.0).count() as f64 / outcomes.len() as f64;
    let half = outcomes.iter().map(|one| one.1).sum::<f64>() / outcomes.len() as f64;
    println!(
        "{name}, {departure_follows_counts}: {:.1} % hold, half-width {half:.3}",
        100.0 * held
    );
    (held, half)
}

#[test]
fn intervals_cover_departures_that_follow_the_counts() {
    let (single, _) = coverage("along the trips", along_the_trips, false);
    assert!(single < 0.85, "the plain interval should cover too little here: {single}");
    let (held, _) = coverage("along the trips", along_the_trips, true);
    assert!(held > 0.92, "{held}");
}

#[test]
fn intervals_cover_and_stay_narrow_with_independent_or_no_departures() {
    for (name, departs, wider) in
        [("none", none as Departs, 1.1), ("independent", independent, 1.6)]
    {
        let (single, narrow) = coverage(name, departs, false);
        let (held, half) = coverage(name, departs, true);
        assert!(single > 0.93 && held > 0.94, "{name}: {single} {held}");
        assert!(half < wider * narrow, "{name}: {half} against {narrow}");
    }
}
