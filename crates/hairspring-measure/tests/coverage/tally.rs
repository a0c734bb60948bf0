//! Counts how often intervals hold, and judges the counts.

use hairspring_core::Estimate;
use statrs::distribution::{Binomial, DiscreteCDF};

/// Confidence level of all intervals.
pub const LEVEL: f64 = 0.95;
/// Probability that a cell whose claims are true fails all the same, with other seeds.
const BY_CHANCE: f64 = 1e-4;

/// An interval of a run.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// What estimated it.
    pub estimator: &'static str,
    /// The true value.
    pub truth: f64,
    /// The interval; `None` if the run had none.
    pub estimate: Option<Estimate>,
    /// Whether the result is trusted.
    pub is_trusted: bool,
}

/// What is claimed of the intervals of an estimator.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// The estimator.
    pub estimator: &'static str,
    /// Least and largest share of the runs with a trusted result.
    pub trusted: (f64, f64),
    /// Least and largest share of the trusted intervals that hold.
    pub held: (f64, f64),
    /// Most that the half-widths are wider than the errors need.
    pub widest: f64,
}

impl Claim {
    /// 93 to 97 % of the intervals hold, and nearly all results are trusted.
    pub const fn exact(estimator: &'static str) -> Claim {
        Claim { estimator, trusted: (0.97, 1.0), held: (0.93, 0.97), widest: 1.2 }
    }

    /// At least 93 % of the intervals hold, and they are at most this much wider than they need be.
    pub const fn wide(estimator: &'static str, widest: f64) -> Claim {
        Claim { estimator, trusted: (0.97, 1.0), held: (0.93, 1.0), widest }
    }

    /// Hardly any result is trusted.
    pub const fn doubted(estimator: &'static str) -> Claim {
        Claim { estimator, trusted: (0.0, 0.03), held: (0.0, 1.0), widest: f64::INFINITY }
    }

    /// A share of the results is trusted.
    #[must_use]
    pub const fn trusted(self, least_share: f64, most_share: f64) -> Claim {
        Claim { trusted: (least_share, most_share), ..self }
    }
}

/// The counts of one estimator.
#[derive(Debug, Clone)]
pub struct Tally {
    runs: u64,
    trusted: u64,
    held: u64,
    halves: f64,
    squares: f64,
    errors: f64,
}

impl Tally {
    /// Counts the results of an estimator.
    pub fn new<'f>(results: impl Iterator<Item = &'f Found>) -> Tally {
        let mut tally =
            Tally { runs: 0, trusted: 0, held: 0, halves: 0.0, squares: 0.0, errors: 0.0 };
        for result in results {
            tally.runs += 1;
            if let Some(estimate) = result
                .estimate
                .filter(|estimate| result.is_trusted && estimate.half_width().is_finite())
            {
                let error = estimate.value / result.truth - 1.0;
                tally.trusted += 1;
                tally.held += u64::from(estimate.contains(result.truth));
                tally.halves += estimate.half_width() / result.truth.abs();
                tally.squares += error * error;
                tally.errors += error;
            }
        }
        tally
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.trusted.max(1) as f64
    }

    /// Mean half-width over the half-width that the errors need.
    fn too_wide(&self) -> f64 {
        self.mean(self.halves) / (1.96 * self.mean(self.squares).sqrt())
    }

    /// What contradicts a claim.
    pub fn contradictions(&self, claim: &Claim) -> Vec<String> {
        let share = |name: &str, count: u64, of: u64, (least_share, most_share): (f64, f64)| {
            let fits = at_least(count, of, least_share) && at_most(count, of, most_share);
            (!fits).then(|| {
                format!(
                    "{count} of {of} are {name}, claimed are {:.0} to {:.0} %",
                    100.0 * least_share,
                    100.0 * most_share
                )
            })
        };
        let wide = self.too_wide();
        let width = (self.trusted > 10 && wide > claim.widest).then(|| {
            format!("the intervals are {wide:.2} times too wide, claimed are {}", claim.widest)
        });
        [
            share("trusted", self.trusted, self.runs, claim.trusted),
            share("held", self.held, self.trusted, claim.held),
            width,
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The cells of the table.
    pub fn cells(&self) -> String {
        let percent = |part: u64, of: u64| {
            if of == 0 {
                "-".to_owned()
            } else {
                format!("{:.1} %", 100.0 * part as f64 / of as f64)
            }
        };
        let (trusted, held) = (percent(self.trusted, self.runs), percent(self.held, self.trusted));
        if self.trusted == 0 {
            return format!("{} | {trusted} | - | - | - | -", self.runs);
        }
        let (half, bias) = (100.0 * self.mean(self.halves), 100.0 * self.mean(self.errors));
        format!(
            "{} | {trusted} | {held} | {half:.3} % | {:.2} | {bias:+.3} %",
            self.runs,
            self.too_wide()
        )
    }
}

/// Whether a count is possible if the true share is at least this.
fn at_least(count: u64, of: u64, share: f64) -> bool {
    share <= 0.0
        || of == 0
        || Binomial::new(share.min(1.0 - 1e-9), of).is_ok_and(|law| law.cdf(count) >= BY_CHANCE)
}

/// Whether a count is possible if the true share is at most this.
fn at_most(count: u64, of: u64, share: f64) -> bool {
    share >= 1.0
        || count == 0
        || Binomial::new(share.max(1e-9), of).is_ok_and(|law| 1.0 - law.cdf(count - 1) >= BY_CHANCE)
}

#[test]
fn counts_that_chance_does_not_allow_contradict_the_claim() {
    let complaints = |held: u64, runs: u64| -> Vec<String> {
        let result_of = |at: u64| {
            // Errors of standard deviation 1 %; the intervals of the others miss.
            let value = 1.0 + 0.01 * if at % 2 == 0 { 1.0 } else { -1.0 };
            let half = if at < held { 0.0196 } else { 0.005 };
            Found {
                estimator: "x",
                truth: 1.0,
                estimate: Some(Estimate {
                    value,
                    low: value - half,
                    high: value + half,
                    level: 0.95,
                }),
                is_trusted: true,
            }
        };
        let all: Vec<Found> = (0..runs).map(result_of).collect();
        Tally::new(all.iter()).contradictions(&Claim::exact("x"))
    };
    assert!(complaints(1_900, 2_000).is_empty());
    assert!(
        complaints(1_800, 2_000)[0].contains("held")
            && complaints(1_980, 2_000)[0].contains("held")
    );
    assert!(complaints(95, 100).is_empty() && !complaints(80, 100).is_empty());
    let doubted = Tally::new(
        [Found { estimator: "x", truth: 1.0, estimate: None, is_trusted: false }]
            .repeat(100)
            .iter(),
    );
    assert!(
        doubted.contradictions(&Claim::doubted("x")).is_empty()
            && !doubted.contradictions(&Claim::exact("x")).is_empty()
    );
}
