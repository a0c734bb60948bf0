//! Estimates and findings from made-up wake-ups.

use super::super::tally::{Bins, Tick, Wake};
use super::*;
use hairspring_host::clock::{Clock, Reading, Width, fake};

const PERIOD: u64 = 100_000;

/// Numbers between 0 and 1 that are the same every time (a linear congruential generator).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn tick(ns: f64) -> Tick {
    Tick { ns, width: Width::FULL }
}

fn known(name: &'static str, quantum: u64, hz: Option<f64>) -> Known {
    let reading =
        Reading { quantum, back_to_back_min: 20, back_to_back_mean: 20.0, steps: 100, backward: 0 };
    Known { clock: Clock { nominal_hz: hz, ..Clock::new(name, "", fake::read) }, reading }
}

fn rate(hz: f64, uncertainty_ppm: f64) -> Rate {
    Rate { hz, uncertainty_ppm, provenance: "invented".into() }
}

fn ended() -> Ended {
    Ended {
        period_ns: PERIOD,
        known: [known("counter", 1, None), known("monotonic", 1, Some(1e9))],
        rates: [rate(2.5e9, 0.0), rate(1e9, 0.0)],
        stop: Stop::Done,
        limit: None,
        level: 0.95,
    }
}

/// Wake-ups whose latency is a function of the noise and the previous latency; the counter's rate
/// is off by `ppm`.
fn wakes(
    cycles: u64,
    seed: u64,
    ppm: f64,
    mut latency: impl FnMut(&mut Noise, f64) -> f64,
) -> Tally {
    let (mut noise, mut last) = (Noise(seed), 0.0);
    let mut tally = Tally::new([0.4, 1.0].map(tick), &Bins::for_period(PERIOD));
    for cycle in 0..cycles {
        last = latency(&mut noise, last);
        let due_ns = 1_000_000 + cycle * PERIOD;
        let wake_ns = due_ns + last as u64;
        let counter = (wake_ns as f64 + 20.0 * noise.next()) * 2.5 * (1.0 + ppm * 1e-6);
        tally.push(Wake { cycle, due_ns, wake_ns, ticks: [counter as u64, wake_ns] });
    }
    tally
}

fn even(noise: &mut Noise, _: f64) -> f64 {
    5_000.0 + 3_000.0 * noise.next()
}

/// Slowly changing, with rare long delays.
fn slow_and_bursty(noise: &mut Noise, last: f64) -> f64 {
    let burst = if noise.next() < 0.01 { 50_000.0 * noise.next() } else { 0.0 };
    0.9 * (last.min(9_000.0)) + 500.0 * noise.next() + burst
}

#[test]
fn the_interval_of_the_mean_period_covers_the_truth_and_is_as_narrow_as_its_ends_allow() {
    for latency in [even, slow_and_bursty] {
        let (mut covered, mut half, mut naive, runs) = (0, 0.0, 0.0, 300);
        for seed in 0..runs {
            let summary = summarise(&wakes(500, seed, 30.0, latency), None, &ended()).unwrap();
            // 30 ppm of 100 us.
            covered += u64::from(summary.clocks[0].error.mean_ns.contains(3.0));
            half += summary.clocks[0].error.mean_ns.half_width();
            naive += 1.96 * summary.clocks[0].error.sd_ns / 500f64.sqrt();
        }
        assert!(covered >= runs * 93 / 100, "{covered} of {runs}");
        // The spread of a period over the square root of their number is some 20 times as wide.
        assert!(half < 0.15 * naive, "{half} {naive}");
    }
}

#[test]
fn the_interval_of_the_mean_latency_covers_the_truth_for_correlated_latencies() {
    let mut covered = 0;
    for seed in 0..300 {
        let summary = summarise(
            &wakes(4_000, seed, 0.0, |noise, last| 0.9 * last + 1_000.0 * noise.next()),
            None,
            &ended(),
        )
        .unwrap();
        covered += u32::from(summary.latency.mean_ns.contains(5_000.0));
    }
    // If the values were treated as independent, fewer than half of the intervals would cover it.
    assert!(covered >= 270, "{covered} of 300");
}

#[test]
fn the_disagreement_of_the_clocks_is_found_to_parts_of_a_million() {
    let summary = summarise(&wakes(2_000, 1, 30.0, even), None, &ended()).unwrap();
    assert!(
        summary.disagreement.ppm.contains(30.0) && summary.disagreement.ppm.half_width() < 1.0,
        "{:?}",
        summary.disagreement
    );
    assert!(summary.disagreement.sd_ns < 15.0);
    assert!(summary.findings.is_empty(), "{:?}", summary.findings);
}

#[test]
fn clocks_that_differ_by_more_than_steering_are_a_finding() {
    let summary = summarise(&wakes(2_000, 1, -400.0, even), None, &ended()).unwrap();
    let disagree = &summary.findings[0];
    assert!(
        disagree.is("clocks_disagree")
            && disagree.number("ppm").is_some_and(|ppm| (ppm + 400.0).abs() < 5.0)
    );
}

#[test]
fn the_uncertainty_of_the_rate_is_included() {
    let tally = wakes(2_000, 1, 0.0, even);
    let unsure = Ended { rates: [rate(2.5e9, 50.0), rate(1e9, 0.0)], ..ended() };
    let summary = summarise(&tally, None, &unsure).unwrap();
    // 50 ppm of 100 us are 5 ns.
    assert!((summary.clocks[0].error.mean_ns.half_width() - 1.96 * 5.0).abs() < 2.0);
    assert!(summary.disagreement.ppm.half_width() > 95.0);
}

#[test]
fn the_final_rate_replaces_that_of_the_start() {
    let tally = wakes(2_000, 1, 0.0, even);
    let better = Ended { rates: [rate(2.5e9 * 1.0002, 0.0), rate(1e9, 0.0)], ..ended() };
    let (before, after) =
        (summarise(&tally, None, &ended()).unwrap(), summarise(&tally, None, &better).unwrap());
    let moved = |of: fn(&ClockPeriods) -> f64| of(&after.clocks[0]) - of(&before.clocks[0]);
    for of in [
        |c: &ClockPeriods| c.period_ns.value,
        |c: &ClockPeriods| c.error.most_ns.value,
        |c: &ClockPeriods| c.error.least_ns.value,
    ] {
        assert!((moved(of) + 20.0).abs() < 0.1, "{}", moved(of));
    }
}

#[test]
fn missed_cycles_are_a_finding_and_many_are_untrusted() {
    let with = |missed: u64| {
        let mut tally = wakes(100, 1, 0.0, even);
        tally.finish(100 + missed);
        summarise(&tally, None, &ended()).unwrap().findings
    };
    assert!(with(0).is_empty());
    assert_eq!(with(1)[0].severity, Severity::Warning);
    assert_eq!(with(200)[0].severity, Severity::Untrusted);
    assert!(with(200)[0].message.contains("200 of 300"));
}

#[test]
fn a_quantum_that_hides_the_spread_is_a_finding() {
    let coarse = Ended {
        known: [known("counter", 20_000, None), known("monotonic", 1, Some(1e9))],
        ..ended()
    };
    let summary = summarise(&wakes(200, 1, 0.0, even), None, &coarse).unwrap();
    let hidden = &summary.findings[0];
    assert!(hidden.is("quantum_hides_spread") && hidden.number("quantum_ns") == Some(8_000.0));
}

#[test]
fn the_limit_is_that_of_the_latest_cycle() {
    let limited =
        |latency_ns| Ended { limit: Some(Limit { latency_ns, ends_run: false }), ..ended() };
    let exceeded =
        |ns| summarise(&wakes(200, 1, 0.0, even), None, &limited(ns)).unwrap().limit_exceeded();
    assert!(exceeded(6_000.0) && !exceeded(9_000.0));
    assert!(!summarise(&wakes(200, 1, 0.0, even), None, &ended()).unwrap().limit_exceeded());
}

#[test]
fn too_few_cycles_give_no_summary() {
    assert!(summarise(&wakes(2, 1, 0.0, even), None, &ended()).is_none());
    assert!(summarise(&wakes(3, 1, 0.0, even), None, &ended()).is_some());
}

#[test]
fn an_end_that_is_an_outlier_widens_the_interval_of_the_mean() {
    let mut tally = wakes(500, 1, 0.0, even);
    let (due_ns, wake_ns) = (1_000_000 + 500 * PERIOD, 1_000_000 + 509 * PERIOD);
    tally.push(Wake { cycle: 500, due_ns, wake_ns, ticks: [wake_ns * 5 / 2, wake_ns] });
    let summary = summarise(&tally, None, &ended()).unwrap();
    assert!(
        summary.clocks[0].error.mean_ns.value > 1_500.0
            && summary.clocks[0].error.mean_ns.contains(0.0)
    );
}
