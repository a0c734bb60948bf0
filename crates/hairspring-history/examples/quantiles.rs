//! Simulates how often the largest statistic of the multiscale test exceeds a limit, and prints the
//! table of `change/tail_table.rs`:
//!
//!     cargo run --release -p hairspring-history --example quantiles
//!
//! Large probabilities are counted. Small ones, down to 1e-20, are found by drawing points among
//! which a run exceeds its limit, and counting how many do: a run that exceeds together with many
//! others is one of as many ways to the same event.

use hairspring_history::change::multiscale::{outside, penalty};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Number of points, as powers of two; limits; draws for all limits, and for each.
const POWERS: std::ops::RangeInclusive<u32> = 0..=10;
const LIMITS: usize = 41;
const PLAIN_DRAWS: usize = 40_000;
const DRAWS: usize = 4_000;
/// Smaller shares are counted too seldom.
const LEAST_COUNTED: f64 = 0.003;

fn main() {
    println!("//! The table of `tail.rs`, printed by the example `quantiles`.\n");
    println!(
        "/// Natural logarithms of the probabilities: a line of limits for each power of two."
    );
    println!("pub const LOGARITHMS: [[f64; {LIMITS}]; {}] = [", POWERS.count());
    for power in POWERS {
        let row: Vec<String> = row(1 << power).iter().map(|one| format!("{one:.3}")).collect();
        println!("    [{}],", row.join(", "));
    }
    println!("];");
}

/// The logarithms for a number of points, none above the one before.
fn row(n: usize) -> Vec<f64> {
    let mut random = Pcg64::seed_from_u64(n as u64);
    let penalties: Vec<f64> = (1..=n).map(|length| penalty(length, n)).collect();
    let mut statistics: Vec<f64> =
        (0..PLAIN_DRAWS).map(|_| statistic(n, &penalties, &mut random)).collect();
    statistics.sort_unstable_by(f64::total_cmp);
    let mut last = 0.0_f64;
    (0..LIMITS)
        .map(|at| {
            let over = statistics.len() - statistics.partition_point(|one| *one <= limit(at));
            let share = over as f64 / PLAIN_DRAWS as f64;
            let found = if share >= LEAST_COUNTED { share.ln() } else { logarithm(n, limit(at)) };
            last = last.min(found);
            last
        })
        .collect()
}

/// The largest statistic of points without a step.
fn statistic(n: usize, penalties: &[f64], random: &mut Pcg64) -> f64 {
    let mut sums = vec![0.0];
    (0..n).for_each(|_| sums.push(sums[sums.len() - 1] + normal(random)));
    let of = |length: usize| {
        let pairs = sums.iter().zip(&sums[length..]);
        let largest = pairs.map(|(from, to): (&f64, &f64)| (to - from).abs()).fold(0.0, f64::max);
        largest / (length as f64).sqrt() - penalties[length - 1]
    };
    (1..=n).map(of).fold(f64::NEG_INFINITY, f64::max)
}

fn limit(at: usize) -> f64 {
    -1.0 + 0.25 * at as f64
}

fn logarithm(n: usize, limit: f64) -> f64 {
    let mut random = Pcg64::seed_from_u64(n as u64);
    let limits: Vec<f64> = (1..=n).map(|length| limit + penalty(length, n)).collect();
    let ways: Vec<f64> =
        (1..=n).map(|length| (n + 1 - length) as f64 * outside(limits[length - 1])).collect();
    let total: f64 = ways.iter().sum();
    let shares = (0..DRAWS).map(|_| 1.0 / draw(n, &limits, &ways, total, &mut random) as f64);
    (total * shares.sum::<f64>() / DRAWS as f64).min(1.0).ln()
}

/// How many runs exceed their limits, given that one does which is drawn by its probability.
fn draw(n: usize, limits: &[f64], ways: &[f64], total: f64, random: &mut Pcg64) -> usize {
    let mut left = random.random::<f64>() * total;
    let found = ways.iter().position(|way| {
        left -= way;
        left < 0.0
    });
    let length = found.unwrap_or(n - 1) + 1;
    let from = random.random_range(0..=n - length);
    let mut points: Vec<f64> = (0..n).map(|_| normal(random)).collect();
    let run = &mut points[from..from + length];
    let root = (length as f64).sqrt();
    let shift = (beyond(limits[length - 1], random) - run.iter().sum::<f64>() / root) / root;
    run.iter_mut().for_each(|point| *point += shift);
    exceeding(&points, limits).max(1)
}

fn exceeding(points: &[f64], limits: &[f64]) -> usize {
    let mut sums = vec![0.0];
    points.iter().for_each(|point| sums.push(sums[sums.len() - 1] + point));
    let over = |length: usize| {
        let least = limits[length - 1] * (length as f64).sqrt();
        let pairs = sums.iter().zip(&sums[length..]);
        pairs.filter(|(from, to)| (**to - **from).abs() > least).count()
    };
    (1..=points.len()).map(over).sum()
}

fn normal(random: &mut Pcg64) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

/// A normal variable that is further from zero than this, on either side.
fn beyond(limit: f64, random: &mut Pcg64) -> f64 {
    let size = if limit < 1.0 { plain(limit, random) } else { by_rejection(limit, random) };
    if random.random() { size } else { -size }
}

fn plain(limit: f64, random: &mut Pcg64) -> f64 {
    loop {
        let drawn = normal(random).abs();
        if drawn > limit {
            return drawn;
        }
    }
}

fn by_rejection(limit: f64, random: &mut Pcg64) -> f64 {
    loop {
        let over = -(1.0 - random.random::<f64>()).ln() / limit;
        if random.random::<f64>() < (-0.5 * over * over).exp() {
            return limit + over;
        }
    }
}
