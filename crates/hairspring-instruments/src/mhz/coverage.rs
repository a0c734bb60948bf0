//! How often the interval of the core clock holds, on simulated cores.

use super::*;
use hairspring_core::observations::Rate;
use hairspring_host::clock::fake::{self, SimulatedCore};

const RUNS: u64 = 100;
const ROUNDS: u32 = 640;
/// Name and core cycles of the chains of x86-64, whose names the instrument knows.
const CHAINS: [(&str, f64); 6] = [
    ("imul", 3.0),
    ("xor", 1.0),
    ("load", 4.0),
    ("mulsd", 3.0),
    ("xor+imul", 4.0),
    ("xor+imul+xor", 5.0),
];
const COPIES: [u32; 6] = [64, 128, 192, 256, 384, 512];
/// By how much a co-runner on the core's other hardware thread lengthens a chain.
const SLOWER_SHARE: f64 = 0.03;

/// Rounds over the chains. The readings begin anywhere between two steps of the clock, as those of
/// the measuring loop do.
fn table(core: SimulatedCore, seed: u64) -> Observations {
    fake::simulate(core, seed);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut table = Observations::new(vec!["body".into(), "init".into()]);
    for round in 0..ROUNDS {
        for (name, cycles) in CHAINS {
            let series = table.series(name);
            for copies in COPIES {
                let row = table.row(series, &[f64::from(copies), 0.0]);
                fake::wait(3.0 * core.quantum.max(100) as f64 * random.f64());
                let times = [(); 2].map(|()| fake::read());
                fake::execute(f64::from(copies) * cycles, SLOWER_SHARE);
                let behind = [(); 2].map(|()| fake::read());
                let guard = (times[1] - times[0]) + (behind[1] - behind[0]);
                table.push_guarded(
                    row,
                    round,
                    (behind[0] - times[1]) as f64,
                    hairspring_core::observations::Flags::NONE,
                    std::num::NonZeroU32::new(guard as u32),
                );
            }
        }
    }
    table.origin.rate = Some(Rate {
        hz: core.tick_ghz * 1e9,
        uncertainty_ppm: 0.0,
        provenance: "simulated".into(),
    });
    table.origin.granularity = Some(core.quantum as f64);
    table
}

/// Of the runs with an answer: how many intervals contain the clock, or one of its levels, and the
/// mean half-width as a share.
fn covered(core: SimulatedCore) -> (u64, u64, f64) {
    let estimates: Vec<Estimate> = (0..RUNS)
        .filter_map(|seed| Some(core_clock(&table(core, seed), 0.95).ok()?.core_hz))
        .collect();
    let holds = |estimate: &&Estimate| core.core_ghz.iter().any(|ghz| estimate.contains(1e9 * ghz));
    let wide =
        estimates.iter().map(Estimate::relative).sum::<f64>() / estimates.len().max(1) as f64;
    (estimates.iter().filter(holds).count() as u64, estimates.len() as u64, wide)
}

#[test]
fn intervals_of_the_core_clock_hold() {
    let cores = [
        ("calm core", SimulatedCore::CALM),
        ("two levels, 30 ms", SimulatedCore::LEVELS),
        ("interrupts", SimulatedCore::INTERRUPTS),
        ("bursts of a co-runner", SimulatedCore::BURSTS),
        ("coarse read of 26 ticks", SimulatedCore::COARSE_READ),
        ("clock of 40 ns", SimulatedCore::coarse(40)),
    ];
    for (name, core) in cores {
        let (held_intervals, answered_runs, wide) = covered(core);
        println!("{name}: {held_intervals} of {answered_runs}, +-{:.4} %", 100.0 * wide);
        assert!(
            answered_runs >= RUNS * 9 / 10,
            "{name}: only {answered_runs} of {RUNS} runs gave an answer"
        );
        assert!(
            held_intervals * 100 >= answered_runs * 93,
            "{name}: {held_intervals} of {answered_runs} intervals hold, +-{:.4} %",
            100.0 * wide
        );
    }
}
