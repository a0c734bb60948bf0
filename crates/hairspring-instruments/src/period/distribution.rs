//! Statistics of a stream of times: moments, batch means, histogram.

use super::histogram::Histogram;
use hairspring_core::Estimate;
use hairspring_core::estimate::{Contribution, Source, Uncertain};
use hairspring_core::stream::{Batches, Extreme, Moments};

/// Running statistics of a stream of times in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// Mean, spread, extremes.
    pub moments: Moments,
    /// For the interval of the mean, if the values do not telescope.
    pub batches: Batches,
    /// The histogram.
    pub histogram: Histogram,
}

impl Stream {
    /// An empty stream.
    pub fn new(histogram: Histogram) -> Stream {
        Stream { moments: Moments::default(), batches: Batches::default(), histogram }
    }

    /// Adds the time of a cycle.
    pub fn push(&mut self, ns: f64, cycle: u64) {
        self.moments.push(ns, cycle);
        self.batches.push(ns);
        self.histogram.push(ns);
    }

    /// The distribution for the report; `None` if there are no values. The interval of the mean is
    /// that of batch means, which holds for correlated values; `more` has further contributions to
    /// the mean's uncertainty.
    pub fn summary(&self, level: f64, more: &[Contribution]) -> Option<Distribution> {
        if self.moments.count() == 0 {
            return None;
        }
        let (sd, dof) = self.batches.sd_of_mean().unwrap_or((f64::INFINITY, 1.0));
        let mut mean = Uncertain {
            value: self.moments.mean(),
            budget: vec![Contribution::standard(Source::Noise, sd, dof)],
        };
        mean.budget.extend_from_slice(more);
        Some(Distribution::new(self, mean, level))
    }
}

/// A distribution of times as it is reported, in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// Number of values.
    pub count: u64,
    /// Mean with its interval.
    pub mean_ns: Estimate,
    /// The error budget of the mean.
    pub budget: Vec<Contribution>,
    /// Standard deviation of a single value.
    pub sd_ns: f64,
    /// Smallest value and its cycle.
    pub least_ns: Extreme,
    /// Largest value and its cycle. It is not a bound: a longer run finds larger ones.
    pub most_ns: Extreme,
    /// The histogram.
    pub histogram: Histogram,
}

impl Distribution {
    /// The distribution of a stream, with a mean that was computed elsewhere.
    pub fn new(stream: &Stream, mean: Uncertain, level: f64) -> Distribution {
        let moments = &stream.moments;
        Distribution {
            count: moments.count(),
            mean_ns: mean.estimate(level),
            budget: mean.budget,
            sd_ns: moments.variance().sqrt(),
            least_ns: moments.least(),
            most_ns: moments.most(),
            histogram: stream.histogram.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        Stream::new(Histogram::new(0.0, 100.0, 1.0))
    }

    #[test]
    fn no_values_give_no_distribution_and_one_value_has_no_interval() {
        let mut distribution = stream();
        assert_eq!(distribution.summary(0.95, &[]), None);
        distribution.push(5.0, 0);
        let found = distribution.summary(0.95, &[]).unwrap();
        assert_eq!((found.count, found.mean_ns.value, found.mean_ns.high), (1, 5.0, f64::INFINITY));
    }

    #[test]
    fn the_interval_of_the_mean_is_wider_where_values_resemble_their_neighbours() {
        let (mut quick, mut slow) = (stream(), stream());
        for cycle in 0..4_000u32 {
            quick.push(f64::from(10 + cycle % 2), u64::from(cycle));
            slow.push(f64::from(10 + cycle / 1_000 % 2), u64::from(cycle));
        }
        let half = |stream: &Stream| stream.summary(0.95, &[]).unwrap().mean_ns.half_width();
        assert!(half(&slow) > 10.0 * half(&quick), "{} {}", half(&slow), half(&quick));
    }
}
