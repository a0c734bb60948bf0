//! Simulated coverage of the intervals: how often the 95 % interval of the slope contains the true
//! slope, for four kinds of noise and a clock with a quantum. Fixed seeds make the test
//! deterministic.

use hairspring_core::estimate::Options;
use hairspring_core::observations::Observations;
use hairspring_core::pipeline::solve;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

const COPIES: [f64; 8] = [16.0, 32.0, 64.0, 96.0, 128.0, 160.0, 192.0, 256.0];
const ROUNDS: u32 = 256;
const TRIALS: u64 = 2_000;
const SLOPE: f64 = 0.7027;
const OVERHEAD: f64 = 58.9;

/// Time added to one reading of a row with this many copies.
type Noise = fn(&mut Pcg64Mcg, state: &mut f64, round: u32, exact: f64) -> f64;

fn gaussian(random: &mut Pcg64Mcg) -> f64 {
    let (u, v): (f64, f64) = (random.random::<f64>().max(1e-300), random.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

fn plain(random: &mut Pcg64Mcg, _: &mut f64, _: u32, _: f64) -> f64 {
    6.0 * gaussian(random)
}

/// Student's t with two degrees of freedom: infinite variance.
fn heavy(random: &mut Pcg64Mcg, _: &mut f64, _: u32, _: f64) -> f64 {
    let chi2 = gaussian(random).powi(2) + gaussian(random).powi(2);
    4.0 * gaussian(random) / (chi2 / 2.0).sqrt()
}

/// In 5 % of the readings something else runs for 50 to 5,000 ticks.
fn bursts(random: &mut Pcg64Mcg, _: &mut f64, _: u32, _: f64) -> f64 {
    let burst = if random.random_bool(0.05) { 50.0 * 100f64.powf(random.random()) } else { 0.0 };
    4.0 * gaussian(random) + burst
}

/// The core clock steps by 5 % about every eighth round; the true slope is the mean over both
/// levels.
fn steps(random: &mut Pcg64Mcg, level: &mut f64, _: u32, exact: f64) -> f64 {
    let step = if *level > 0.5 { 0.025 } else { -0.025 };
    4.0 * gaussian(random) + step * exact
}

fn trial(seed: u64, noise: Noise, quantum: f64) -> bool {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut table = Observations::new(vec!["body".into()]);
    table.origin.granularity = (quantum > 0.0).then_some(quantum);
    let series = table.series("main");
    let mut level = f64::from(u8::from(random.random_bool(0.5)));
    for round in 0..ROUNDS {
        if random.random_bool(0.125) {
            level = 1.0 - level;
        }
        for copies in COPIES {
            let exact = SLOPE * copies + OVERHEAD;
            let time = exact + noise(&mut random, &mut level, round, exact);
            let row = table.row(series, &[copies]);
            table.push(row, round, read(&mut random, time, quantum));
        }
    }
    let options = Options::default();
    solve(&table, series, &options).unwrap().components[0].ticks.contains(SLOPE)
}

/// Two reads of a clock that counts in quanta, at a random phase.
fn read(random: &mut Pcg64Mcg, time: f64, quantum: f64) -> f64 {
    if quantum == 0.0 {
        return time;
    }
    let start = random.random::<f64>() * quantum;
    (((start + time) / quantum).floor() - (start / quantum).floor()) * quantum
}

fn coverage(noise: Noise, quantum: f64) -> f64 {
    let hits = (0..TRIALS).filter(|seed| trial(*seed, noise, quantum)).count();
    hits as f64 / TRIALS as f64
}

fn check(name: &str, noise: Noise) {
    for quantum in [0.0, 2.0, 26.0] {
        let covered_share = coverage(noise, quantum);
        println!("{name}, quantum {quantum}: {:.1} %", 100.0 * covered_share);
        assert!(
            (0.93..=0.97).contains(&covered_share),
            "{name} with a quantum of {quantum}: the 95 % interval covered {:.1} %",
            100.0 * covered_share
        );
    }
}

#[test]
fn gaussian_noise() {
    check("gaussian", plain);
}

#[test]
fn heavy_tails() {
    check("heavy tails", heavy);
}

#[test]
fn bursts_in_five_percent() {
    check("bursts", bursts);
}

#[test]
fn frequency_steps() {
    check("frequency steps", steps);
}
