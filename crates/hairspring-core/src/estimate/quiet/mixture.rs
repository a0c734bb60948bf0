//! A mixture of undisturbed and lengthened readings, fitted to all rows of a series together by expectation maximisation
//! (Dempster, Laird and Rubin, 1977).
//!
//! A reading `y` of a row with the counts `x` is distributed as
//!
//! `q_x N(y; x b, s_x) + (1 - q_x) (0.9 Exp(y - x b + 2 s_x; t) + 0.1 / 200)`, `s_x^2 = s^2 + (j x b)^2`
//!
//! All rows share the unknowns `b`, the width `s`, the jitter `j` and the tail `t`; every row has its own share `q_x` of undisturbed
//! readings. Long rows have more lengthened readings; this changes their shares, not the unknowns. The jitter is that of the core
//! clock, which some cores vary by 0.15 % from one reading to the next: without it, only the left flank of a row of 7,000 cycles would
//! be as narrow as the undisturbed part of a short one.

use crate::estimate::linear::LinearMap;

/// A row: its counts, and readings in core cycles.
#[derive(Debug, Clone)]
pub struct Row {
    /// Counts of the independent columns.
    pub counts: Vec<f64>,
    /// Readings.
    pub cycles: Vec<f64>,
}

/// The fitted mixture.
#[derive(Debug, Clone)]
pub struct Mixture {
    unknowns: Vec<f64>,
    spread: Spread,
    tail: f64,
    shares: Vec<f64>,
    likelihood: f64,
}

/// Standard deviation of the undisturbed part of a row.
#[derive(Debug, Clone, Copy)]
struct Spread {
    /// That of a row without a length, in core cycles.
    width: f64,
    /// What is added in quadrature, as a share of the row's length.
    jitter: f64,
}

/// What a fit may find.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Smallest and largest width in core cycles.
    width: (f64, f64),
    /// Largest jitter; 0 if it is not looked for.
    jitter: f64,
}

/// Width of the undisturbed part in core cycles: that of an ordered read of the clock.
const WIDTH: (f64, f64) = (1.2, 3.5);
/// Largest jitter of the core clock, as a share of a row's length. Fits that may find it start without any, and with half of it.
pub const MOST_JITTER: f64 = 0.003;
/// Mean excess of the lengthened part in core cycles.
const TAIL: (f64, f64) = (8.0, 80.0);
/// The lengthened part begins this many widths before the undisturbed one.
const BEFORE: f64 = 2.0;
/// Share of the lengthened part that is uniform, and its range in core cycles.
const UNIFORM: (f64, f64) = (0.1, 200.0);
/// Quantiles of the rows from which fits start; the fit with the highest likelihood is continued.
const STARTS: [f64; 3] = [0.1, 0.3, 0.5];
/// Iterations of each start, and of the one that is continued.
const ITERATIONS: (usize, usize) = (8, 30);
/// Most readings of a row that are fitted; with more, the error of the model dominates.
const MOST_READINGS: usize = 800;

/// Fits the mixture, with at most this jitter, to rows read by a clock of this quantum in core cycles; `None` if a row is empty or the
/// rows do not determine the unknowns.
pub fn fit(rows: &[Row], quantum: f64, most_jitter: f64) -> Option<Mixture> {
    let rows: Vec<Row> = rows.iter().map(thinned).collect();
    if rows.iter().any(|row| row.cycles.is_empty()) {
        return None;
    }
    let limits = Limits { width: (WIDTH.0.max(quantum / 12f64.sqrt()), WIDTH.1.max(quantum)), jitter: most_jitter };
    let begin = |(quantile, jitter): (f64, f64)| -> Option<Mixture> {
        let design: Vec<Vec<f64>> = rows.iter().map(|row| row.counts.clone()).collect();
        let located: Vec<f64> = rows.iter().map(|row| quantile_of(&row.cycles, quantile)).collect();
        let unknowns = LinearMap::new(&design, &vec![1.0; rows.len()])?.solve(&located);
        let spread = Spread { width: limits.width.1, jitter };
        let mixture = Mixture { unknowns, spread, tail: 30.0, shares: vec![0.5; rows.len()], likelihood: f64::NEG_INFINITY };
        repeated(mixture, &rows, limits, ITERATIONS.0)
    };
    let jitters = if limits.jitter > 0.0 { &[0.0, limits.jitter / 2.0][..] } else { &[0.0] };
    let starts = jitters.iter().flat_map(|jitter| STARTS.map(|quantile| (quantile, *jitter)));
    let best = starts.filter_map(begin).max_by(|a, b| a.likelihood.total_cmp(&b.likelihood))?;
    repeated(best, &rows, limits, ITERATIONS.1)
}

/// A row with at most [`MOST_READINGS`], spread over the run.
fn thinned(row: &Row) -> Row {
    let step = row.cycles.len().div_ceil(MOST_READINGS).max(1);
    Row { counts: row.counts.clone(), cycles: row.cycles.iter().copied().step_by(step).collect() }
}

fn quantile_of(values: &[f64], quantile: f64) -> f64 {
    let mut values = values.to_vec();
    let at = ((values.len() - 1) as f64 * quantile) as usize;
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}

fn repeated(mixture: Mixture, rows: &[Row], limits: Limits, times: usize) -> Option<Mixture> {
    (0..times).try_fold(mixture, |mixture, _| mixture.improved(rows, limits))
}

impl Spread {
    /// The standard deviation of a row of this length.
    fn at(self, length: f64) -> f64 {
        self.width.hypot(self.jitter * length)
    }

    /// Fitted to the variances of rows: their lengths, variances and weights. The variance of a variance is as its square.
    fn fitted(rows: &[(f64, f64, f64)], before: Spread, limits: Limits) -> Spread {
        let weighed = |(length, variance, weight): &(f64, f64, f64)| (length * length, *variance, weight / before.at(*length).powi(4));
        let rows: Vec<(f64, f64, f64)> = rows.iter().map(weighed).collect();
        let sum = |part: fn(f64, f64) -> f64| rows.iter().map(|(square, variance, weight)| weight * part(*square, *variance)).sum::<f64>();
        let (all, squares, fourths) = (sum(|_, _| 1.0), sum(|square, _| square), sum(|square, _| square * square));
        let (variances, products) = (sum(|_, variance| variance), sum(|square, variance| square * variance));
        let free = (fourths * variances - squares * products) / (all * fourths - squares * squares);
        let width = if limits.jitter > 0.0 && free.is_finite() { free.max(0.0).sqrt() } else { (variances / all).sqrt() };
        let width = width.clamp(limits.width.0, limits.width.1);
        let jitter = ((products - width * width * squares) / fourths).max(0.0).sqrt().min(limits.jitter);
        Spread { width, jitter: if jitter.is_finite() { jitter } else { 0.0 } }
    }
}

/// Sums over the readings of a row, computed in one pass.
#[derive(Default)]
struct Sums {
    quiet: f64,
    cycles: f64,
    squares: f64,
    lengthened: f64,
    excess: f64,
    likelihood: f64,
}

impl Sums {
    /// Variance of the undisturbed readings.
    fn variance(&self) -> f64 {
        let quiet = self.quiet.max(1e-6);
        (self.squares / quiet - (self.cycles / quiet).powi(2)).max(0.0)
    }
}

impl Mixture {
    /// The probability that a reading of a row was undisturbed.
    pub fn probability(&self, at: usize, row: &Row, cycles: f64) -> f64 {
        let fitted = self.fitted(row);
        let (quiet, lengthened) = self.densities(at, self.spread.at(fitted), cycles - fitted);
        if quiet > 0.0 { quiet / (quiet + lengthened) } else { 0.0 }
    }

    fn fitted(&self, row: &Row) -> f64 {
        row.counts.iter().zip(&self.unknowns).map(|(count, unknown)| count * unknown).sum()
    }

    /// Densities of the two parts at a distance from the fitted value, times their shares.
    fn densities(&self, at: usize, width: f64, distance: f64) -> (f64, f64) {
        const ROOT_OF_2_PI: f64 = 2.506_628_274_631_000_2;
        let share = self.shares[at];
        let quiet = share * (-0.5 * (distance / width).powi(2)).exp() / (width * ROOT_OF_2_PI);
        let excess = distance + BEFORE * width;
        let tail = if excess > 0.0 { (-excess / self.tail).exp() / self.tail } else { 0.0 };
        let uniform = if distance.abs() < UNIFORM.1 { 1.0 / UNIFORM.1 } else { 0.0 };
        (quiet, (1.0 - share) * ((1.0 - UNIFORM.0) * tail + UNIFORM.0 * uniform) + 1e-12)
    }

    /// One step of expectation maximisation.
    fn improved(&self, rows: &[Row], limits: Limits) -> Option<Mixture> {
        let sums: Vec<Sums> = rows.iter().enumerate().map(|(at, row)| self.sums(at, row)).collect();
        let design: Vec<Vec<f64>> = rows.iter().map(|row| row.counts.clone()).collect();
        let variance = |row: &Row| self.spread.at(self.fitted(row)).powi(2);
        let weights: Vec<f64> = rows.iter().zip(&sums).map(|(row, sum)| sum.quiet.max(1e-6) / variance(row)).collect();
        let located: Vec<f64> = rows.iter().zip(&sums).map(|(row, sum)| self.fitted(row) + sum.cycles / sum.quiet.max(1e-6)).collect();
        let unknowns = LinearMap::new(&design, &weights)?.solve(&located);
        let total = |part: &dyn Fn(&Sums) -> f64| sums.iter().map(part).sum::<f64>();
        let spreads: Vec<(f64, f64, f64)> =
            rows.iter().zip(&sums).map(|(row, sum)| (self.fitted(row), sum.variance(), sum.quiet)).collect();
        Some(Mixture {
            unknowns,
            spread: Spread::fitted(&spreads, self.spread, limits),
            tail: (total(&|sum| sum.excess) / total(&|sum| sum.lengthened).max(1.0)).clamp(TAIL.0, TAIL.1),
            shares: rows.iter().zip(&sums).map(|(row, sum)| (sum.quiet / row.cycles.len() as f64).clamp(0.01, 0.99)).collect(),
            likelihood: total(&|sum| sum.likelihood),
        })
    }

    fn sums(&self, at: usize, row: &Row) -> Sums {
        let (fitted, mut sums) = (self.fitted(row), Sums::default());
        let width = self.spread.at(fitted);
        for cycles in &row.cycles {
            let distance = cycles - fitted;
            let (quiet, lengthened) = self.densities(at, width, distance);
            let probability = quiet / (quiet + lengthened);
            let excess = (distance + BEFORE * width).min(UNIFORM.1);
            sums.quiet += probability;
            sums.cycles += probability * distance;
            sums.squares += probability * distance * distance;
            if excess > 0.0 {
                sums.lengthened += 1.0 - probability;
                sums.excess += (1.0 - probability) * excess;
            }
            sums.likelihood += (quiet + lengthened).ln();
        }
        sums
    }
}
