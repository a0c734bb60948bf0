//! Checks how often the intervals of short runs contained the true length: on average, and for each
//! chain within chance.

use statrs::distribution::{Binomial, DiscreteCDF};

/// How far the coverage of short runs may be below the level: a co-runner or a frequency step may
/// disturb a run.
pub const SHORTFALL: f64 = 0.05;
/// Probability that the coverage of any chain is called too low although the instrument has the
/// lowest accepted coverage.
const ALPHA: f64 = 0.01;

/// How many short runs had an interval that contained the integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coverage {
    /// Runs whose interval contained it.
    pub hits: u32,
    /// Runs.
    pub runs: u32,
}

impl Coverage {
    /// Hits as a share of the runs; NaN if there were no runs.
    pub fn share(&self) -> f64 {
        f64::from(self.hits) / f64::from(self.runs)
    }
}

/// Coverage that intervals of this level must reach over short runs.
pub fn least(level: f64) -> f64 {
    level - SHORTFALL
}

/// Fewest hits that chance allows one of several chains whose true coverage is [`least`]: the
/// quantile of a binomial distribution at 1 % over the number of chains (Bonferroni).
///
/// ```
/// assert_eq!(hairspring_instruments::verify::coverage::fewest_hits(40, 1, 0.95), 31);
/// assert!(hairspring_instruments::verify::coverage::fewest_hits(40, 12, 0.95) < 31);
/// ```
pub fn fewest_hits(runs: u32, chains: usize, level: f64) -> u32 {
    let allowed = ALPHA / chains.max(1) as f64;
    let Ok(law) = Binomial::new(least(level), u64::from(runs)) else { return 0 };
    (0..runs).find(|hits| law.cdf(u64::from(*hits)) >= allowed).unwrap_or(runs)
}

/// Most chains that chance allows to hold in too few runs. All short runs of a chain have the same
/// rows, so an interval that misses because of their offsets misses in nearly all runs: each chain
/// is one trial of a binomial distribution.
///
/// ```
/// assert_eq!(hairspring_instruments::verify::coverage::most_low(12, 0.95), 3);
/// assert_eq!(hairspring_instruments::verify::coverage::most_low(1, 0.95), 1);
/// ```
pub fn most_low(chains: usize, level: f64) -> usize {
    let Ok(law) = Binomial::new(1.0 - level, chains as u64) else { return 0 };
    (0..chains).find(|low| law.cdf(*low as u64) >= 1.0 - ALPHA).unwrap_or(chains)
}

/// What the short runs of all chains show.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Judgement<'a> {
    /// Messages about coverage that is too low.
    pub failures: Vec<String>,
    /// Chains that hold in too few runs, where they are no more than chance allows.
    pub low_by_chance: Vec<(&'a str, Coverage)>,
}

/// Judges the coverage of the chains: that of single chains, and the mean of the others.
pub fn judge<'a>(chains: &[(&'a str, Coverage)], level: f64) -> Judgement<'a> {
    let fewest = |coverage: &Coverage| fewest_hits(coverage.runs, chains.len(), level);
    let (low, other_chains): (Vec<_>, Vec<_>) =
        chains.iter().copied().partition(|(_, coverage)| coverage.hits < fewest(coverage));
    let mean = other_chains.iter().map(|(_, coverage)| coverage.share()).sum::<f64>()
        / other_chains.len().max(1) as f64;
    let percent = 100.0 * least(level);
    let low_mean = (!other_chains.is_empty() && mean < least(level)).then(|| {
        format!(
            "the intervals covered the integers in {:.0} % of the short runs, less than \
             {percent:.0} %",
            100.0 * mean
        )
    });
    let mut judgement = Judgement { failures: low_mean.into_iter().collect(), low_by_chance: low };
    if judgement.low_by_chance.len() > most_low(chains.len(), level) {
        judgement.failures.extend(judgement.low_by_chance.drain(..).map(|(name, coverage)| {
            let Coverage { hits, runs } = coverage;
            format!(
                "chain {name}: {hits} of {runs} short runs covered its integer, chance allows no \
                 fewer than {}",
                fewest(&coverage)
            )
        }));
    }
    judgement
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(hits: &[u32], level: f64) -> Judgement<'static> {
        let chains: Vec<(&str, Coverage)> =
            hits.iter().map(|hits| ("c", Coverage { hits: *hits, runs: 40 })).collect();
        judge(&chains, level)
    }

    #[test]
    fn a_few_bad_chains_are_noted_and_more_fail() {
        let mut hits = [40; 12];
        assert_eq!(all(&hits, 0.95), Judgement::default());
        hits[3] = 0;
        let coverage = all(&hits, 0.95);
        assert_eq!(
            coverage,
            Judgement {
                failures: Vec::new(),
                low_by_chance: vec![("c", Coverage { hits: 0, runs: 40 })]
            }
        );
        hits[4..7].fill(12);
        let coverage = all(&hits, 0.95);
        assert_eq!(
            coverage.failures[0],
            "chain c: 0 of 40 short runs covered its integer, chance allows no fewer than 29"
        );
        assert!(coverage.failures.len() == 4 && coverage.low_by_chance.is_empty(), "{coverage:?}");
    }

    #[test]
    fn a_low_mean_fails_without_any_bad_chain() {
        let failures = all(&[35; 12], 0.95).failures;
        assert!(
            failures.len() == 1 && failures[0].contains("88 % of the short runs, less than 90 %"),
            "{failures:?}"
        );
        assert_eq!(all(&[0; 12], 0.95).failures.len(), 12);
    }

    #[test]
    fn what_chance_allows_depends_on_the_level_and_the_runs() {
        assert_eq!(all(&[22; 12], 0.5), Judgement::default());
        assert_eq!(fewest_hits(0, 12, 0.95), 0);
        assert!(fewest_hits(1_000, 12, 0.95) > 860);
    }

    #[test]
    fn good_chains_seldom_fail() {
        let (runs, chains) = (40, 12);
        let law = Binomial::new(least(0.95), u64::from(runs)).unwrap();
        let fewest = u64::from(fewest_hits(runs, chains, 0.95));
        assert!(chains as f64 * law.cdf(fewest - 1) <= ALPHA);
        assert!(chains as f64 * law.cdf(fewest) > ALPHA);
    }
}
