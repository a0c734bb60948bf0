use super::steps::MOST_TRIPS;
use super::*;
use crate::error::Error;
use crate::rounds::{Dither, Loops, Rounds};
use hairspring_core::design::enough::{ACCURACY, LAST_WINDOW_NS, resolution_window_ns};
use hairspring_core::design::loops::{COMPONENTS, LoopRow, two_equations};
use hairspring_core::estimate::{Options, Solution};
use hairspring_core::observations::Observations;
use hairspring_core::pipeline::solve;
use hairspring_host::clock::fake::{self, Noise};

const MS: u64 = 1_000_000;

/// A fake clock that counts nanoseconds in steps of its quantum.
fn harness(quantum: u64, noise: Noise) -> Harness {
    fake::set(fake::Settings {
        quantum,
        per_read: 40,
        start: 7 * quantum / 3,
        noise,
        ..fake::Settings::default()
    });
    Harness { now: fake::read, ns_per_tick: 1.0, quantum_ns: quantum as f64 }
}

/// A loop whose trips take 700 ns each.
fn work(trips: u64) {
    fake::advance(trips * 700);
}

#[test]
fn time_needed_grows_with_the_quantum() {
    for (quantum, window_ns, proven) in
        [(1, 5e6, true), (1_000, 5e6, true), (40_000, 5e7, true), (10 * MS, 1e9, false)]
    {
        let enough_time =
            harness(quantum, Noise::default()).enough(f64::INFINITY, &mut work).unwrap();
        assert_eq!(
            (enough_time.window_ns, enough_time.proven),
            (window_ns, proven),
            "quantum {quantum}"
        );
        // The window from the quantum is never longer than the one that the paper's check accepts.
        assert!(resolution_window_ns(quantum as f64, ACCURACY) <= window_ns, "quantum {quantum}");
    }
}

#[test]
fn quantum_of_10_ms_needs_a_second_by_both_methods() {
    let enough_time = harness(10 * MS, Noise::default()).enough(f64::INFINITY, &mut work).unwrap();
    assert_eq!(enough_time.trials.len(), 4);
    assert_eq!(enough_time.window_ns, resolution_window_ns(10.0 * MS as f64, ACCURACY));
}

#[test]
fn noise_is_mistaken_for_a_coarse_clock() {
    // Another process takes 1 ms of every 4: no interval repeats within 0.1 %, although the clock
    // is perfect.
    let noise = Noise { period: 3 * MS, stolen: MS, ..Noise::default() };
    let enough_time = harness(1, noise).enough(f64::INFINITY, &mut work).unwrap();
    assert_eq!((enough_time.window_ns, enough_time.proven), (LAST_WINDOW_NS, false));
    // A noise of 100 parts per million is less than the tolerance.
    assert!(
        harness(1, Noise { work_ppm: 100, ..Noise::default() })
            .enough(f64::INFINITY, &mut work)
            .unwrap()
            .proven
    );
}

#[test]
fn limit_ends_the_search() {
    let enough = harness(10 * MS, Noise::default()).enough(2e7, &mut work).unwrap();
    assert_eq!((enough.window_ns, enough.proven, enough.trials.len()), (2e7, false, 2));
    let enough = harness(1, Noise::default()).enough(1e5, &mut work).unwrap();
    assert_eq!((enough.window_ns, enough.proven, enough.trials.len()), (1e5, false, 0));
}

#[test]
fn a_loop_is_sized_until_its_interval_is_long_enough() {
    for quantum in [1, 1_000, 10 * MS] {
        let timed = harness(quantum, Noise::default()).experiment(5e7, 1, &mut work).unwrap();
        assert!(timed.interval_ns >= 0.95 * 5e7, "{timed:?}");
        assert!(timed.trips * 700 < 2 * 50 * MS + 10 * quantum, "{timed:?}");
    }
    // A body longer than the interval runs once.
    let timed = harness(1, Noise::default()).experiment(1e3, 1, &mut work).unwrap();
    let long = harness(1, Noise::default()).experiment(500.0, 1, &mut work).unwrap();
    assert_eq!((timed.trips, long.trips), (10, 1));
}

#[test]
fn a_loop_that_takes_no_time_and_a_clock_that_stands_still_are_errors() {
    let error = harness(1, Noise::default()).experiment(5e6, 1, &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("5000000 ns"), "{error}");
    let still = Harness { now: still, ns_per_tick: 1.0, quantum_ns: 0.0 };
    assert!(matches!(
        still.enough(f64::INFINITY, &mut |_| ()),
        Err(Error::LoopTooShort { reached_ns: 0.0, .. })
    ));
    // A loop that takes time is given up long before its number of trips overflows.
    let mut slow = |trips: u64| {
        std::thread::sleep(std::time::Duration::from_nanos(trips.saturating_mul(1_000)))
    };
    assert!(matches!(still.experiment(5e6, 1, &mut slow),
            Err(Error::LoopTooShort { trips, .. }) if trips < MOST_TRIPS / 10));
}

extern "C" fn still() -> u64 {
    17
}

#[test]
fn timing_overhead_is_the_time_of_a_read() {
    for (quantum, noise) in [
        (1, Noise::default()),
        (1_000, Noise::default()),
        (1, Noise { read: 20, ..Noise::default() }),
    ] {
        let overhead = harness(quantum, noise).timing_overhead(5e6).unwrap();
        let (median, truth) =
            (overhead.trip_ns.median(0.95).unwrap(), 40.0 + noise.read as f64 / 2.0);
        assert!((median.value - truth).abs() < 0.05, "quantum {quantum}: {median:?}");
        assert!(median.high - median.low < 0.2 && median.level > 0.95);
        assert_eq!(overhead.timed.len(), 11);
    }
}

#[test]
fn several_experiments_give_a_median_with_an_interval_and_a_minimum() {
    // Another process takes 3 ms of every 103 ms, so it disturbs some intervals of 5 ms, but not
    // most of them.
    let noise = Noise { period: 100 * MS, stolen: 3 * MS, work_ppm: 2_000, ..Noise::default() };
    let measured_bench =
        harness(1_000, noise).bench(&Settings::for_window(5e6), &mut work).unwrap();
    let (median, minimum) =
        (measured_bench.trip_ns.median(0.95).unwrap(), measured_bench.trip_ns.minimum().unwrap());
    assert!(
        (700.0..701.5).contains(&median.value) && median.low <= median.value && median.high < 710.0,
        "{median:?}"
    );
    assert!((699.5..701.0).contains(&minimum.value) && minimum.gap() < 0.001, "{minimum:?}");
}

#[test]
fn long_interval_is_measured_once_without_a_spread() {
    let measured_bench =
        harness(10 * MS, Noise::default()).bench(&Settings::for_window(1e9), &mut work).unwrap();
    assert_eq!(measured_bench.timed.len(), 1);
    assert!(measured_bench.trip_ns.median(0.95).is_none());
    let asked = Settings { experiments: 11, ..Settings::for_window(1e9) };
    let median = harness(10 * MS, Noise::default())
        .bench(&asked, &mut work)
        .unwrap()
        .trip_ns
        .median(0.95)
        .unwrap();
    assert!(median.contains(700.0) && (median.value / 700.0 - 1.0).abs() < 0.01, "{median:?}");
}

/// Times of one loop by the rows of the two equations: 9 ns for a copy of the body, 4 ns for the
/// loop.
fn loops(harness: &Harness, rounds: u32) -> (Solution, [f64; 4]) {
    let run = |row: LoopRow| fake::advance(row.trips * (u64::from(row.copies) * 9 + 4));
    let mut rig = Loops { now: harness.now, rows: two_equations(2_000), run };
    let mut table = Observations::new(COMPONENTS.map(str::to_owned).to_vec());
    let series = table.series("loops");
    let ids: Vec<_> = rig.rows.iter().map(|row| table.row(series, &row.counts())).collect();
    table.origin.granularity = Some(harness.quantum_ns);
    let mut turns = Rounds::new(ids.len(), 5, Dither::none(), harness.quantum_ns as u64);
    for round in 0..rounds {
        // The phase that waiting gives on a real clock.
        fake::advance(u64::from(round) * 617 % (harness.quantum_ns as u64).max(2));
        for (id, raw) in ids.iter().zip(turns.round(&mut rig)) {
            table.push_flagged(*id, round, raw.ticks as f64, raw.flags);
        }
    }
    let interval_of_one = harness.time(2_000, &mut |trips| fake::advance(trips * 13)).interval_ns;
    let interval_of_two = harness.time(2_000, &mut |trips| fake::advance(trips * 22)).interval_ns;
    (
        solve(&table, series, &Options::default()).unwrap(),
        [interval_of_one, 2_000.0, interval_of_two, 2_000.0],
    )
}

#[test]
fn solve_agrees_with_the_two_equations() {
    for (quantum, noise) in [
        (1, Noise::default()),
        (1_000, Noise::default()),
        (1, Noise { work_ppm: 3_000, read: 10, ..Noise::default() }),
    ] {
        let (solution, [t1, n1, t2, n2]) = loops(&harness(quantum, noise), 200);
        let [body, trip] = COMPONENTS.map(|name| solution.component(name).unwrap().ticks);
        assert!((body.value - 9.0).abs() < 0.05, "quantum {quantum}: {body:?}");
        assert!((trip.value - 4.0).abs() < 0.1, "quantum {quantum}: {trip:?}");
        // The paper's own solution, with the overhead of the timing subtracted before.
        let published = 2.0 * (t1 - 40.0) / n1 - (t2 - 40.0) / n2;
        assert!(
            (published - trip.value).abs() < 3.0 * quantum as f64 / n1 + 0.1,
            "quantum {quantum}: {published}"
        );
    }
}

#[test]
fn timing_overhead_agrees_with_the_solved_overhead() {
    let clock = harness(1, Noise::default());
    let solved = loops(&clock, 50).0.overhead.unwrap();
    let published = clock.timing_overhead(5e6).unwrap().trip_ns.median(0.95).unwrap();
    assert!((solved.value - published.value).abs() < 0.1, "{solved:?} {published:?}");
}

#[test]
fn overheads_are_subtracted_and_their_uncertainty_is_kept() {
    let clock = harness(1, Noise::default());
    let about = |value: f64, half: f64| hairspring_core::Estimate {
        value,
        low: value - half,
        high: value + half,
        level: 0.95,
    };
    let overheads = Overheads { timing_ns: about(40.0, 4.0), loop_ns: about(4.0, 0.5) };
    let settings = Settings { overheads, ..Settings::for_window(1e5) };
    let median_trip = clock
        .bench(&settings, &mut |trips| fake::advance(trips * 13))
        .unwrap()
        .trip_ns
        .median(0.95)
        .unwrap();
    assert!(
        (median_trip.value - 9.0).abs() < 1e-6
            && median_trip.contains(9.5)
            && !median_trip.contains(9.6),
        "{median_trip:?}"
    );
    // The subtracted overhead may be too large; the result is not clamped.
    let less = clock
        .bench(&settings, &mut |trips| fake::advance(trips * 3))
        .unwrap()
        .trip_ns
        .median(0.95)
        .unwrap();
    assert!(less.value < 0.0, "{less:?}");
}

#[test]
fn trials_step_by_step_agree_with_bench() {
    for quantum in [1, 1_000, 10 * MS] {
        let settings = Settings::for_window(5e7);
        let at_once = harness(quantum, Noise::default()).bench(&settings, &mut work).unwrap();
        let clock = harness(quantum, Noise::default());
        let mut trials = Trials::new(&clock, &settings);
        assert_eq!(trials.bench(), None);
        while let Some(trips) = trials.trips() {
            let timed = clock.time(trips, &mut work);
            trials.ran(timed.interval_ns, timed.interval_ns).unwrap();
        }
        assert_eq!(trials.bench().unwrap(), at_once, "quantum {quantum}");
        // Reports after the last experiment change nothing.
        trials.ran(1.0, 1.0).unwrap();
        assert_eq!(trials.bench().unwrap(), at_once);
    }
}

#[test]
fn a_step_by_step_loop_on_a_clock_that_stands_still_is_an_error() {
    let mut filling = Filling::new(5e6, 0);
    assert_eq!(filling.trips(), 1);
    let error = loop {
        match filling.ran(0.0, 1e3 * filling.trips() as f64) {
            Ok(found) => assert!(found.is_none()),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::LoopTooShort { reached_ns: 0.0, .. }), "{error}");
}

#[test]
fn a_single_experiment_has_the_bounds_of_clock_and_overheads_only() {
    let timed = vec![Timed { trips: 1_000, interval_ns: 700_000.0 }];
    let about = |value: f64, low: f64, high: f64| hairspring_core::Estimate {
        value,
        low,
        high,
        level: 0.95,
    };
    let overheads = Overheads { timing_ns: about(0.0, 0.0, 0.0), loop_ns: about(0.0, -0.5, 2.0) };
    let bench = Bench::from_intervals(timed, 1_000.0, &overheads);
    let trip = bench.trip(0.95, 0.0).unwrap();
    assert_eq!((trip.value, trip.low, trip.high, trip.level), (700.0, 697.0, 701.5, 0.0));
    // The clock's rate widens it: 2 * 100 ppm of 700 ns.
    assert!((bench.trip(0.95, 100.0).unwrap().high - 701.64).abs() < 1e-9);
    assert_eq!(Bench::from_intervals(Vec::new(), 0.0, &overheads).trip(0.95, 0.0), None);
}

#[test]
fn median_experiment_is_one_of_the_experiments() {
    let timed = |trips: u64, interval_ns| Timed { trips, interval_ns };
    let bench = Bench::from_intervals(
        vec![timed(10, 90.0), timed(20, 100.0), timed(10, 70.0)],
        0.0,
        &Overheads::none(),
    );
    assert_eq!(bench.median_experiment(), Some(&timed(10, 70.0)));
    assert_eq!(
        Bench::from_intervals(Vec::new(), 0.0, &Overheads::none()).median_experiment(),
        None
    );
}

/// Measures a loop of 4 ns a trip, of which `hidden` nanoseconds run at the same time as a body of
/// 9 ns.
fn overhead_of(hidden: u64) -> LoopOverhead {
    let clock = harness(10, Noise::default());
    let mut run = |row: LoopRow| {
        let hides = if row.copies > 0 { hidden } else { 0 };
        fake::advance(row.trips * (u64::from(row.copies) * 9 + 4 - hides));
    };
    clock.loop_overhead(&fake::clock(64), 0.95, &mut run).unwrap()
}

#[test]
fn the_overhead_of_a_loop_is_measured_with_bodies_and_alone() {
    let overhead = overhead_of(0);
    assert!(
        (overhead.by_two_equations_ns.value - 4.0).abs() < 0.05
            && (overhead.alone_ns.value - 4.0).abs() < 0.05,
        "{overhead:?}"
    );
    let hidden = overhead_of(4);
    assert!(hidden.by_two_equations_ns.value.abs() < 0.05, "{hidden:?}");
    // Another body may hide less of it, so the interval includes the whole loop.
    let estimate = hidden.estimate();
    assert!(
        estimate.value.abs() < 0.05 && estimate.contains(0.0) && estimate.contains(4.0),
        "{estimate:?}"
    );
}

#[test]
fn slower_loop_widens_the_interval() {
    let clock = harness(10, Noise::default());
    let mut watch = LoopWatch::new(&clock, 4.0, 40.0);
    assert!(watch.tells(0.1));
    // The longest may have an interrupt in it.
    for trip_ns in [4, 8, 4, 90] {
        watch.look(&clock, &mut |row: LoopRow| fake::advance(row.trips * trip_ns));
    }
    assert!((watch.most_ns() - 8.0).abs() < 0.05, "{watch:?}");
    assert!(!watch.tells(16.0) && watch.tells(21.0));
    // The longest time of the loop extends the interval downwards, and changes no value.
    let mut trials = Trials::new(&clock, &Settings { experiments: 2, ..Settings::for_window(1e5) });
    while let Some(trips) = trials.trips() {
        let timed = clock.time(trips, &mut work);
        trials.ran(timed.interval_ns, timed.interval_ns).unwrap();
    }
    let before = trials.bench().unwrap().trip(0.95, 0.0).unwrap();
    trials.saw_loop(watch.most_ns());
    let after = trials.bench().unwrap().trip(0.95, 0.0).unwrap();
    assert!(
        (before.low - after.low - watch.most_ns()).abs() < 1e-9
            && before.value == after.value
            && before.high == after.high
    );
}
