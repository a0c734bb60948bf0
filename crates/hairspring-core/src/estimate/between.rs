//! One estimate from several runs, each in its own process. The addresses of code and data, the
//! state of the allocator and of the machine are the same for all rounds of a run, so the interval
//! of a single run cannot contain their effect; the spread between runs does.

use super::interval::{Contribution, Estimate, Source, Spread, Uncertain, t_quantile};
use super::median;
use crate::math::hypot;

/// The mean of the runs, with two entries in its budget: their spread, as a standard deviation of
/// the mean, and the mean half-width of their own intervals as a bound, because an error that is
/// systematic in one run is systematic in all. `None` for fewer than two runs, or if a value is not
/// finite.
///
/// A run whose interval is wider than that of the median run counts less: its weight is the inverse
/// of its own variance and the variance between runs together, which is that of Paule and Mandel
/// (1982), and the spread of the weighted mean is that of Hartung and Knapp (2001). Runs with
/// intervals of about the same width have equal weights.
///
/// ```
/// use hairspring_core::Estimate;
/// use hairspring_core::estimate::between_runs;
/// let run = |value: f64| Estimate { value, low: value - 0.01, high: value + 0.01, level: 0.95 };
/// let all = between_runs(&[run(3.00), run(3.02), run(3.04)]).unwrap().estimate(0.95);
/// assert!((all.value - 3.02).abs() < 1e-12 && all.half_width() > 0.05);
/// // A run that was disturbed, and says so.
/// let wide = Estimate { value: 3.4, low: 2.4, high: 4.4, level: 0.95 };
/// let all = between_runs(&[run(3.00), run(3.02), run(3.04), wide]).unwrap().estimate(0.95);
/// assert!((all.value - 3.02).abs() < 0.01 && all.half_width() < 0.1);
/// ```
pub fn between_runs(runs: &[Estimate]) -> Option<Uncertain> {
    let halves: Vec<f64> = runs.iter().map(Estimate::half_width).collect();
    between(runs, &halves, [Source::Runs, Source::Noise])
}

/// The mean of machines by the same method, with the spread between machines in its budget. The
/// bound is the mean of `common`, the part of the half-width of each that all machines may have
/// alike, such as the departure of the same rows from a line: what is by chance in one machine is
/// not in the others, and the spread contains it.
///
/// ```
/// use hairspring_core::Estimate;
/// use hairspring_core::estimate::between_machines;
/// let one = |value: f64| Estimate { value, low: value - 0.5, high: value + 0.5, level: 0.95 };
/// let all = [3.00, 3.02, 3.04].map(one);
/// let half = |common: f64| {
///     between_machines(&all, &[common; 3]).unwrap().estimate(0.95).half_width()
/// };
/// assert!(half(0.0) < 0.06 && half(0.5) > 0.5);
/// ```
pub fn between_machines(machines: &[Estimate], common: &[f64]) -> Option<Uncertain> {
    between(machines, common, [Source::Machines, Source::Departure])
}

/// The mean with the spread as an entry of the first source, and what all have in common as one of
/// the second.
fn between(runs: &[Estimate], common: &[f64], sources: [Source; 2]) -> Option<Uncertain> {
    let count = runs.len() as f64;
    if runs.len() < 2 || runs.iter().any(|run| !run.value.is_finite() || run.half_width().is_nan())
    {
        return None;
    }
    let level = runs.iter().map(|run| run.level).fold(1.0, f64::min);
    let weights = weights(runs);
    let mean = |of: &dyn Fn(&Estimate) -> f64| {
        runs.iter().zip(&weights).map(|(run, weight)| weight * of(run)).sum::<f64>()
    };
    let value = mean(&|run| run.value);
    let variance = mean(&|run| (run.value - value).powi(2)) / (count - 1.0);
    let within: f64 = common.iter().zip(&weights).map(|(half, weight)| weight * half).sum();
    let mut budget = vec![Contribution::standard(sources[0], variance.sqrt(), count - 1.0)];
    // The spread already contains the noise within the runs: only the excess of the bound is added.
    let spread = t_quantile(level, count - 1.0) * variance.sqrt();
    let beyond = hypot(spread, within) - spread;
    budget.push(Contribution { source: sources[1], spread: Spread::Bound(beyond) });
    Some(Uncertain { value, budget })
}

/// The weights of the runs, with a sum of 1.
fn weights(runs: &[Estimate]) -> Vec<f64> {
    let own_variance =
        |run: &Estimate| (run.half_width() / t_quantile(run.level, f64::INFINITY)).powi(2);
    let mut sorted: Vec<f64> = runs.iter().map(own_variance).collect();
    let median = median(&mut sorted);
    // An interval that is narrow by chance gives a run no weight beyond that of the others.
    let own_variance: Vec<f64> = runs.iter().map(|run| own_variance(run).max(median)).collect();
    let between = between_variance(runs, &own_variance);
    // Runs that agree without any uncertainty have equal weights.
    let inverse = |own_variance: &f64| {
        if between + median > 0.0 { 1.0 / (between + own_variance) } else { 1.0 }
    };
    let total: f64 = own_variance.iter().map(inverse).sum();
    own_variance.iter().map(|own_variance| inverse(own_variance) / total).collect()
}

/// The variance between the runs beside their own, for which their weighted sum of squares is as
/// expected; 0 if their own are enough.
fn between_variance(runs: &[Estimate], own_variances: &[f64]) -> f64 {
    let count = runs.len() as f64;
    let center = runs.iter().map(|run| run.value).sum::<f64>() / count;
    let excess = |between: f64| {
        let weighted = || {
            runs.iter()
                .zip(own_variances)
                .map(|(run, own_variances)| (1.0 / (between + own_variances), run.value))
        };
        let mean = weighted().map(|(weight, value)| weight * value).sum::<f64>()
            / weighted().map(|(weight, _)| weight).sum::<f64>();
        weighted().map(|(weight, value)| weight * (value - mean).powi(2)).sum::<f64>()
            - (count - 1.0)
    };
    // The sum of squares is less than expected at the high end, whatever the own variances are.
    let (mut low, mut high) =
        (0.0, runs.iter().map(|run| (run.value - center).powi(2)).sum::<f64>());
    // Until the halves are no numbers of their own.
    while let Some(middle) =
        Some(f64::midpoint(low, high)).filter(|middle| low < *middle && *middle < high)
    {
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    #[test]
    fn the_interval_contains_the_mean_of_many_runs_where_runs_differ() {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        // A sum of 12 uniform numbers is nearly normal.
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let mut covered = 0;
        for _ in 0..1_000 {
            // Runs differ by 1 %; the interval of each is +-0.1 %.
            let runs: Vec<Estimate> = (0..4)
                .map(|_| 100.0 + normal())
                .map(|value| Estimate { value, low: value - 0.1, high: value + 0.1, level: 0.95 })
                .collect();
            let all = between_runs(&runs).unwrap().estimate(0.95);
            covered += u32::from(all.low <= 100.0 && 100.0 <= all.high);
        }
        assert!((930..=980).contains(&covered), "{covered} of 1000");
    }

    #[test]
    fn a_run_with_a_wide_interval_counts_less_and_the_interval_holds() {
        let mut random = Pcg64Mcg::seed_from_u64(8);
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let (mut covered, mut half) = (0, 0.0);
        for _ in 0..1_000 {
            // Runs differ by 1 %; each knows its own time within 0.5 %, and one of five within 15
            // %.
            let runs: Vec<Estimate> = [0.5, 15.0, 0.5, 0.5, 0.5]
                .map(|sd| (100.0 + normal() + sd * normal(), 1.96 * sd))
                .map(|(value, half)| Estimate {
                    value,
                    low: value - half,
                    high: value + half,
                    level: 0.95,
                })
                .to_vec();
            let estimate = between_runs(&runs).unwrap().estimate(0.95);
            covered += u32::from(estimate.contains(100.0));
            half += estimate.half_width() / 1_000.0;
        }
        // The mean with equal weights has a half-width of 9.
        assert!(covered >= 940 && half < 2.5, "{covered} of 1000, {half}");
    }

    #[test]
    fn runs_that_agree_keep_their_own_half_width() {
        let run = Estimate { value: 5.0, low: 4.9, high: 5.1, level: 0.95 };
        assert!(
            (between_runs(&[run, run]).unwrap().estimate(0.95).half_width() - 0.1).abs() < 1e-12
        );
        assert_eq!(between_runs(&[run]), None);
        assert_eq!(between_runs(&[run, Estimate { value: f64::NAN, ..run }]), None);
    }
}
