//! Tables of made-up readings: the line fit and the methods beside it, fits without repeats, exact
//! pulses of a pin.

use super::shared_core::gaussian;
use super::tally::{Found, LEVEL};
use fastrand::Rng;
use hairspring_core::Estimate;
use hairspring_core::estimate::Options;
use hairspring_core::estimate::ratio::ratio;
use hairspring_core::methods::METHODS;
use hairspring_core::observations::Observations;
use hairspring_core::pipeline::solve;

const COPIES: [f64; 8] = [16.0, 32.0, 64.0, 96.0, 128.0, 160.0, 192.0, 256.0];
const ROUNDS: u32 = 256;
const SLOPE: f64 = 0.7027;
const OVERHEAD: f64 = 58.9;

/// The noise of readings.
#[derive(Debug, Clone, Copy)]
pub enum Noise {
    /// No noise: only the quantum of the clock.
    Exact,
    /// A normal distribution.
    Gaussian,
    /// Student's t with two degrees of freedom.
    HeavyTails,
    /// In 5 % of the readings something else runs.
    Bursts,
    /// The core clock steps by 5 % about every eighth round.
    Steps,
}

impl Noise {
    /// The time of a reading that takes this long without noise, at a level of the core clock.
    fn time(self, random: &mut Rng, exact: f64, level: bool) -> f64 {
        let burst = |random: &mut Rng| {
            if random.f64() < 0.05 { 50.0 * 100f64.powf(random.f64()) } else { 0.0 }
        };
        let step = if level { 0.025 } else { -0.025 };
        exact
            + match self {
                Noise::Exact => 0.0,
                Noise::Gaussian => 6.0 * gaussian(random),
                Noise::HeavyTails => {
                    let chi2 = gaussian(random).powi(2) + gaussian(random).powi(2);
                    4.0 * gaussian(random) / (chi2 / 2.0).sqrt()
                }
                Noise::Bursts => 4.0 * gaussian(random) + burst(random),
                Noise::Steps => 4.0 * gaussian(random) + step * exact,
            }
    }
}

/// The time between two readings of a clock with this quantum, at a random phase.
fn read(random: &mut Rng, time: f64, quantum: f64) -> f64 {
    let start = random.f64() * quantum;
    ((start + time) / quantum).floor() * quantum
}

fn table(noise: Noise, quantum: f64, seed: u64) -> Observations {
    let mut random = Rng::with_seed(seed);
    let mut table = Observations::new(vec!["body".into()]);
    table.origin.granularity = Some(quantum);
    let mut level = random.bool();
    let rows: Vec<(u32, f64)> = ["code", "again"]
        .iter()
        .flat_map(|name| {
            let series = table.series(name);
            COPIES.map(|copies| (table.row(series, &[copies]), copies))
        })
        .collect();
    for round in 0..ROUNDS {
        level ^= random.f64() < 0.125;
        for (row, copies) in &rows {
            let time = noise.time(&mut random, SLOPE * copies + OVERHEAD, level);
            table.push(*row, round, read(&mut random, time, quantum));
        }
    }
    table
}

/// The line fit, the ratio of two series of the same code, and every method beside the line fit.
pub fn run(noise: Noise, quantum: f64, seed: u64) -> Vec<Found> {
    let table = table(noise, quantum, seed);
    let solved = |series| solve(&table, series, &Options::default()).unwrap();
    let (code, again) = (solved(0), solved(1));
    let trusted_result = |estimator, truth, estimate: Estimate| Found {
        estimator,
        truth,
        estimate: Some(estimate),
        is_trusted: true,
    };
    let between = ratio((&code, &code.components[0]), (&again, &again.components[0]))
        .unwrap()
        .estimate(LEVEL);
    let mut results = vec![
        trusted_result("line fit", SLOPE, code.components[0].ticks),
        trusted_result("ratio", 1.0, between),
    ];
    for method in METHODS {
        // A method without rows of its own shows all; the last one has the most copies.
        let found = (method.measure)(&table, 0, LEVEL).pop().unwrap();
        results.push(trusted_result(method.name, with_overhead(method.name, noise), found.ticks));
    }
    results
}

/// What a method is to find: the slope with the part of the overhead that the method leaves in. A
/// line through the origin is that of other tools, which leave no reading out: the mean of what
/// else runs is a part of its overhead.
fn with_overhead(method: &str, noise: Noise) -> f64 {
    let bursts =
        if matches!(noise, Noise::Bursts) { 0.05 * 50.0 * 99.0 / 100f64.ln() } else { 0.0 };
    let sum: f64 = COPIES.iter().sum();
    let squares: f64 = COPIES.iter().map(|copies| copies * copies).sum();
    match method {
        "direct" => SLOPE + OVERHEAD / COPIES[COPIES.len() - 1],
        "through-origin" => SLOPE + (OVERHEAD + bursts) * sum / squares,
        _ => SLOPE,
    }
}

/// How the noise of a table of inputs and totals depends on the counts.
#[derive(Debug, Clone, Copy)]
pub enum Totals {
    Even,
    GrowsWithSize,
    Spikes,
}

/// A table of two components whose rows ran once each.
pub fn run_unrepeated(totals: Totals, seed: u64) -> Vec<Found> {
    const PARTS: [f64; 2] = [3.0, 11.0];
    let mut random = Rng::with_seed(seed);
    let mut table = Observations::new(vec!["a".into(), "b".into()]);
    let series = table.series("main");
    for round in 0..300 {
        let counts = [f64::from(random.u32(0..400)), f64::from(random.u32(0..100))];
        let exact = PARTS[0] * counts[0] + PARTS[1] * counts[1];
        let noise = match totals {
            Totals::Even => 20.0 * gaussian(&mut random),
            Totals::GrowsWithSize => 0.02 * exact * gaussian(&mut random),
            Totals::Spikes => {
                20.0 * gaussian(&mut random)
                    + if random.f64() < 0.03 { 3_000.0 * random.f64() } else { 0.0 }
            }
        };
        let row = table.row(series, &counts);
        table.push(row, round, exact + 40.0 + noise);
    }
    let solution = solve(&table, series, &Options::default()).unwrap();
    let result_of = |at: usize| Found {
        estimator: "fit",
        truth: PARTS[at],
        estimate: Some(solution.components[at].ticks),
        is_trusted: true,
    };
    vec![result_of(0), result_of(1)]
}
