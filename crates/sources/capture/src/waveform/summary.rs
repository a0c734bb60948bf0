//! What is known of a quantity: its mean and its jitter with their intervals, and its distribution.

use super::Kind;
use super::counts::Bin;
use super::quantity::Quantity;
use hairspring_core::Estimate;
use hairspring_core::estimate::{Contribution, Source, Uncertain};
use hairspring_core::judge::unaveraged;
use hairspring_core::observations::Rate;

/// Bins of a histogram, besides those of all smaller and all larger values, and the shares of the
/// values between which they are.
const BINS: usize = 12;
const SHOWN_QUANTILES: (f64, f64) = (0.005, 0.995);

/// A quantity of a waveform; times are in nanoseconds, a duty cycle is a share.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Which one.
    pub kind: Kind,
    /// Number of values.
    pub count: u64,
    /// Mean, with its interval.
    pub mean: Estimate,
    /// The error budget of the mean.
    pub budget: Vec<Contribution>,
    /// Standard deviation of a value: the jitter, with its interval, whose low end is without what
    /// the recorder's step adds.
    pub jitter: Estimate,
    /// The distribution.
    pub distribution: Distribution,
}

/// The distribution of a quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// The smallest value, and the time at which it ended, in seconds.
    pub least: (f64, f64),
    /// The largest value and its time. It is no bound: a longer recording has larger ones.
    pub most: (f64, f64),
    /// Values below which 1, 50 and 99 % of all are.
    pub quantiles: [f64; 3],
    /// The histogram.
    pub bins: Vec<Bin>,
}

impl Summary {
    /// The summary of values in ticks (or of shares) that are rounded to a step; `None` without
    /// values.
    pub(super) fn new(
        kind: Kind,
        quantity: &Quantity,
        step: f64,
        rate: &Rate,
        level: f64,
    ) -> Option<Summary> {
        let count = quantity.moments.count();
        let median = quantity.counts.quantile(0.5)?;
        let is_share = kind == Kind::Duty;
        let scale = if is_share { 1.0 } else { 1e9 / rate.hz };
        let mut budget: Vec<Contribution> =
            mean(kind, quantity, step).into_iter().map(|part| part.scaled(scale)).collect();
        let value = scale * quantity.moments.mean();
        if !is_share {
            budget.push(Contribution::rate(value, rate));
        }
        Some(Summary {
            kind,
            count,
            mean: Uncertain { value, budget: budget.clone() }.estimate(level),
            budget,
            jitter: jitter(quantity, step, level).scaled(scale),
            distribution: distribution(quantity, median, scale, rate.hz),
        })
    }

    /// The largest value minus the smallest.
    pub fn peak_to_peak(&self) -> f64 {
        self.distribution.most.0 - self.distribution.least.0
    }
}

/// The budget of the mean. Rounding to whole steps averages out as far as the values themselves
/// vary. Periods telescope, and so do their differences: only their two ends are rounded.
fn mean(kind: Kind, quantity: &Quantity, step: f64) -> [Contribution; 2] {
    let count = quantity.moments.count() as f64;
    let (sd, dof) = quantity.sd_of_mean().unwrap_or((f64::INFINITY, 1.0));
    let rounding = match kind {
        Kind::Period => Contribution::bound(Source::Quantum, step / count),
        Kind::CycleToCycle => Contribution::bound(Source::Quantum, 2.0 * step / count),
        Kind::High | Kind::Low | Kind::Duty => {
            let variance = unrounded(quantity.moments.variance(), step, count);
            Contribution::standard(Source::Quantum, variance.sqrt(), f64::INFINITY)
        }
    };
    [Contribution::standard(Source::Noise, sd, dof), rounding]
}

/// Variance of a mean by rounding, of so many values with this variance.
fn unrounded(variance: f64, step: f64, count: f64) -> f64 {
    if step <= 0.0 {
        return 0.0;
    }
    step * step * unaveraged(variance / (step * step)).unwrap_or(1.0 / 6.0 / count)
}

/// The standard deviation of the values with its interval. Two roundings at any phases add up to
/// `step^2 / 4` to the variance, for a width of half a step: the low end is without them.
fn jitter(quantity: &Quantity, step: f64, level: f64) -> Estimate {
    let variance = quantity.moments.variance();
    let (sd, dof) = quantity.sd_of_variance().unwrap_or((f64::INFINITY, 1.0));
    let budget = vec![Contribution::standard(Source::Noise, sd, dof)];
    let estimate = Uncertain { value: variance, budget }.estimate(level);
    let low = (estimate.low - step * step / 4.0).max(0.0).sqrt();
    Estimate { value: variance.sqrt(), low, high: estimate.high.max(0.0).sqrt(), level }
}

fn distribution(quantity: &Quantity, median: f64, scale: f64, hz: f64) -> Distribution {
    let (least_extreme, most_extreme) = (quantity.moments.least(), quantity.moments.most());
    let at = |share: f64| quantity.counts.quantile(share).unwrap_or(median) * scale;
    let bin = |bin: Bin| Bin { low: bin.low * scale, high: bin.high * scale, ..bin };
    Distribution {
        least: (least_extreme.value * scale, least_extreme.cycle as f64 / hz),
        most: (most_extreme.value * scale, most_extreme.cycle as f64 / hz),
        quantiles: [at(0.01), at(0.5), at(0.99)],
        bins: quantity.counts.histogram(BINS, SHOWN_QUANTILES).into_iter().map(bin).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate() -> Rate {
        Rate { hz: 1e6, uncertainty_ppm: 0.0, provenance: "invented".into() }
    }

    /// The summary of widths in whole ticks of pulses that begin and end at any time.
    fn of(kind: Kind, width: f64, jitter: f64, count: usize) -> Summary {
        let mut quantity = Quantity::new(1.0);
        let (mut phase, mut sign) = (0.3, 1.0);
        for n in 0..count {
            phase = (phase + 0.618_034) % 1.0;
            sign = -sign;
            let end = phase + width + sign * jitter;
            quantity.push(end.floor() - f64::floor(phase), n as f64 * 1000.0);
        }
        Summary::new(kind, &quantity, 1.0, &rate(), 0.95).unwrap()
    }

    #[test]
    fn the_mean_of_rounded_widths_holds_the_width() {
        for width in [100.0, 100.25, 100.5, 100.9] {
            let summary = of(Kind::High, width, 0.0, 2_000);
            let truth = width * 1e3;
            assert!((summary.mean.low..=summary.mean.high).contains(&truth), "{width} {summary:?}");
        }
        // Widths that never vary may be off by a step.
        assert!(of(Kind::High, 100.0, 0.0, 2_000).mean.half_width() > 500.0);
        assert!(of(Kind::High, 100.5, 2.0, 2_000).mean.half_width() < 100.0);
        // A period telescopes.
        assert!(of(Kind::Period, 100.0, 0.0, 2_000).mean.half_width() <= 0.5);
    }

    #[test]
    fn jitter_has_an_interval_that_begins_without_the_rounding() {
        let still = of(Kind::High, 100.5, 0.0, 2_000).jitter;
        assert!(still.value > 400.0 && still.low < 310.0, "{still:?}");
        let moved = of(Kind::High, 100.5, 3.0, 2_000).jitter;
        assert!((moved.low..=moved.high).contains(&3_000.0), "{moved:?}");
        let one = of(Kind::High, 100.0, 0.0, 1);
        assert!(one.mean.high.is_infinite() && one.jitter.high.is_infinite(), "{one:?}");
    }
}
