//! One estimate from several runs, each in its own process. The addresses of code and data, the state of the allocator and
//! of the machine are the same for all rounds of a run, so the interval of a single run cannot contain their effect; the
//! spread between runs does.

use super::interval::{Contribution, Estimate, Source, Spread, Uncertain, t_quantile};

/// The mean of the runs, with two entries in its budget: their spread, as a standard deviation of the mean, and the mean
/// half-width of their own intervals as a bound, because an error that is systematic in one run is systematic in all.
/// `None` for fewer than two runs, or if a value is not finite.
///
/// ```
/// use hairspring_core::Estimate;
/// use hairspring_core::estimate::between_runs;
/// let run = |value: f64| Estimate { value, low: value - 0.01, high: value + 0.01, level: 0.95 };
/// let all = between_runs(&[run(3.00), run(3.02), run(3.04)]).unwrap().estimate(0.95);
/// assert!((all.value - 3.02).abs() < 1e-12 && all.half_width() > 0.05);
/// ```
pub fn between_runs(runs: &[Estimate]) -> Option<Uncertain> {
    let count = runs.len() as f64;
    if runs.len() < 2 || runs.iter().any(|run| !run.value.is_finite() || run.half_width().is_nan()) {
        return None;
    }
    let value = runs.iter().map(|run| run.value).sum::<f64>() / count;
    let variance = runs.iter().map(|run| (run.value - value).powi(2)).sum::<f64>() / (count - 1.0);
    let within = runs.iter().map(|run| run.half_width()).sum::<f64>() / count;
    let mut budget = vec![Contribution::standard(Source::Runs, (variance / count).sqrt(), count - 1.0)];
    // The spread already contains the noise within the runs: only the excess of the bound is added.
    let level = runs.iter().map(|run| run.level).fold(1.0, f64::min);
    let spread = t_quantile(level, count - 1.0) * (variance / count).sqrt();
    let beyond = spread.hypot(within) - spread;
    budget.push(Contribution { source: Source::Stochastic, spread: Spread::Bound(beyond) });
    Some(Uncertain { value, budget })
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
    fn runs_that_agree_keep_their_own_half_width() {
        let run = Estimate { value: 5.0, low: 4.9, high: 5.1, level: 0.95 };
        assert!((between_runs(&[run, run]).unwrap().estimate(0.95).half_width() - 0.1).abs() < 1e-12);
        assert_eq!(between_runs(&[run]), None);
        assert_eq!(between_runs(&[run, Estimate { value: f64::NAN, ..run }]), None);
    }
}
