//! Checks how often the intervals of short runs contained the true length: on average, and for each chain within chance.

use statrs::distribution::{Binomial, DiscreteCDF};

/// How far the coverage of short runs may be below the level: a neighbour or a frequency step may disturb a run.
pub const SHORTFALL: f64 = 0.05;
/// Probability that the coverage of any chain is called too low although the instrument has the lowest accepted coverage.
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

/// Fewest hits that chance allows one of several chains whose true coverage is [`least`]: the quantile of a binomial
/// distribution at 1 % over the number of chains (Bonferroni).
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

/// Messages about chains whose coverage is too low.
pub fn failures(chains: &[(&str, Coverage)], level: f64) -> Vec<String> {
    let mean = chains.iter().map(|(_, coverage)| coverage.share()).sum::<f64>() / chains.len().max(1) as f64;
    let percent = 100.0 * least(level);
    let low = (!chains.is_empty() && mean < least(level))
        .then(|| format!("the intervals covered the integers in {:.0} % of the short runs, less than {percent:.0} %", 100.0 * mean));
    let each = chains.iter().filter_map(|(name, coverage)| {
        let fewest = fewest_hits(coverage.runs, chains.len(), level);
        let Coverage { hits, runs } = coverage;
        (*hits < fewest)
            .then(|| format!("chain {name}: {hits} of {runs} short runs covered its integer, chance allows no fewer than {fewest}"))
    });
    low.into_iter().chain(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(hits: &[u32], level: f64) -> Vec<String> {
        let chains: Vec<(&str, Coverage)> = hits.iter().map(|hits| ("c", Coverage { hits: *hits, runs: 40 })).collect();
        failures(&chains, level)
    }

    #[test]
    fn one_bad_chain_fails_despite_a_good_mean() {
        let mut hits = [40; 12];
        assert_eq!(all(&hits, 0.95), [""; 0]);
        hits[3] = 12;
        let found = all(&hits, 0.95);
        assert_eq!(found, ["chain c: 12 of 40 short runs covered its integer, chance allows no fewer than 29"]);
    }

    #[test]
    fn a_low_mean_fails_without_any_bad_chain() {
        let found = all(&[35; 12], 0.95);
        assert!(found.len() == 1 && found[0].contains("88 % of the short runs, less than 90 %"), "{found:?}");
    }

    #[test]
    fn what_chance_allows_depends_on_the_level_and_the_runs() {
        assert_eq!(all(&[22; 12], 0.5), [""; 0]);
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
