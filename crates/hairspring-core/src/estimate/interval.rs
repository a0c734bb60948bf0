//! A value with its error budget, and the interval that follows from it.

use crate::laws::{f_above, normal_exceeded, t_exceeded};
use crate::observations::Rate;
use serde::{Deserialize, Serialize};

/// A value with its confidence interval.
///
/// In serialised form an infinite end is `null`; deserialising an interval that does not contain
/// its value is an error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Ends", into = "Ends")]
pub struct Estimate {
    /// The most likely value.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence level, such as 0.95.
    pub level: f64,
}

/// The serialised form of an estimate.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(rename = "Estimate", description = "A value with its confidence interval.")
)]
struct Ends {
    /// The most likely value.
    value: f64,
    /// Lower end of the interval; `null` if it is infinite.
    low: Option<f64>,
    /// Upper end of the interval; `null` if it is infinite.
    high: Option<f64>,
    /// Confidence level, such as 0.95.
    level: f64,
}

impl TryFrom<Ends> for Estimate {
    type Error = String;

    fn try_from(ends: Ends) -> Result<Self, String> {
        let (low, high) =
            (ends.low.unwrap_or(f64::NEG_INFINITY), ends.high.unwrap_or(f64::INFINITY));
        if !(low <= ends.value && ends.value <= high) {
            return Err(format!(
                "the value {} is not between `low` and `high` ({low} and {high})",
                ends.value
            ));
        }
        if !(0.0 < ends.level && ends.level < 1.0) {
            return Err(format!("the level {} is not between 0 and 1", ends.level));
        }
        Ok(Estimate { value: ends.value, low, high, level: ends.level })
    }
}

impl From<Estimate> for Ends {
    fn from(estimate: Estimate) -> Ends {
        let end = |end: f64| end.is_finite().then_some(end);
        Ends {
            value: estimate.value,
            low: end(estimate.low),
            high: end(estimate.high),
            level: estimate.level,
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Estimate {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Ends::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Ends::json_schema(generator)
    }
}

impl Estimate {
    /// The rate of a clock with its interval.
    pub fn of_rate(rate: &Rate, level: f64) -> Estimate {
        Uncertain { value: rate.hz, budget: vec![Contribution::rate(rate.hz, rate)] }
            .estimate(level)
    }

    /// The estimate if its value is finite: JSON has no other numbers.
    pub fn if_finite(self) -> Option<Estimate> {
        self.value.is_finite().then_some(self)
    }

    /// Half the width of the interval.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Half-width divided by the absolute value; infinite for a value of 0.
    pub fn relative(&self) -> f64 {
        if self.value == 0.0 { f64::INFINITY } else { self.half_width() / self.value.abs() }
    }

    /// The estimate in another unit: everything times `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Estimate {
        let (a, b) = (self.low * factor, self.high * factor);
        Estimate { value: self.value * factor, low: a.min(b), high: a.max(b), level: self.level }
    }

    /// The estimate with this added to the value and to both ends.
    #[must_use]
    pub fn shifted(&self, by: f64) -> Estimate {
        Estimate {
            value: self.value + by,
            low: self.low + by,
            high: self.high + by,
            level: self.level,
        }
    }

    /// Whether the interval contains a number.
    pub fn contains(&self, number: f64) -> bool {
        self.low <= number && number <= self.high
    }
}

/// The source of an uncertainty: each entry of the error budget has one. In documents of the first
/// version some had other names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Source {
    /// Variation between rounds: noise, interference.
    #[serde(alias = "stochastic")]
    Noise,
    /// Differences between the placements of one run: fresh processes with other addresses and
    /// other physical memory.
    Placement,
    /// Departure of the rows from the straight line (or plane).
    #[serde(alias = "lack_of_fit")]
    Departure,
    /// Times that are not negative describe the rows nearly as well: the share of each is hardly
    /// known.
    Negative,
    /// The quantum of the clock, if it is not averaged out.
    #[serde(alias = "granularity")]
    Quantum,
    /// Errors of the readings themselves that their source doubts, such as an overloaded recorder:
    /// they may follow the counts.
    Readings,
    /// How calls begin and end: what the reads of the clock hide or add there differs between rows.
    Ends,
    /// What an init takes longer behind a body, which is moved from the body to the init.
    Undone,
    /// Time of the code that a fence before or after it hides.
    Fence,
    /// Body and init overlap: the time in the other order.
    Overlap,
    /// Rounds before the code was in its steady state.
    Settling,
    /// Readings that are far longer than the others, perhaps by the code's own doing.
    Slow,
    /// Pauses of the CPU.
    Pauses,
    /// What chains of known length miss of their lengths: an effect of a co-runner on the core that
    /// remains in the readings.
    #[serde(alias = "neighbour")]
    Controls,
    /// Uncertainty of the reference chain that counts core cycles.
    Reference,
    /// Movement of the core clock, during this run or between runs: the next run may have any of
    /// these clocks.
    CoreClock,
    /// Uncertainty of the clock's rate.
    Rate,
    /// Differences between runs in separate processes.
    Runs,
}

/// How an uncertainty is known. Standard deviations add in quadrature, bounds add linearly (Muller,
/// step 5).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// A standard deviation with its degrees of freedom.
    Standard {
        /// Standard deviation of the value.
        sd: f64,
        /// Degrees of freedom.
        dof: f64,
    },
    /// The largest possible error of the value.
    Bound(f64),
}

/// One entry of the error budget.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Contribution {
    /// Its source.
    pub source: Source,
    /// Its size, in the unit of the value.
    pub spread: Spread,
}

impl Contribution {
    /// A standard deviation from a source.
    pub fn standard(source: Source, sd: f64, dof: f64) -> Self {
        Contribution { source, spread: Spread::Standard { sd, dof } }
    }

    /// The contribution of a clock's rate to a value that was converted with it.
    pub fn rate(value: f64, rate: &Rate) -> Self {
        Contribution::standard(
            Source::Rate,
            value.abs() * rate.uncertainty_ppm * 1e-6,
            f64::INFINITY,
        )
    }

    /// A bound from a source.
    pub fn bound(source: Source, bound: f64) -> Self {
        Contribution { source, spread: Spread::Bound(bound) }
    }

    /// The contribution in another unit.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let factor = factor.abs();
        let spread = match self.spread {
            Spread::Standard { sd, dof } => Spread::Standard { sd: sd * factor, dof },
            Spread::Bound(bound) => Spread::Bound(bound * factor),
        };
        Contribution { source: self.source, spread }
    }

    /// Whether it is rounding beside this value.
    pub(crate) fn is_negligible(&self, value: f64) -> bool {
        let (Spread::Standard { sd: size, .. } | Spread::Bound(size)) = self.spread;
        size < NEGLIGIBLE_SHARE * value.abs()
    }

    /// Half-width that this entry alone would give.
    pub fn half_width(&self, level: f64) -> f64 {
        match self.spread {
            Spread::Standard { sd, dof } => t_quantile(level, dof) * sd,
            Spread::Bound(bound) => bound,
        }
    }
}

/// An entry of the budget that is a smaller share of the value is rounding.
const NEGLIGIBLE_SHARE: f64 = 1e-9;

/// A value with its error budget.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Uncertain {
    /// The most likely value.
    pub value: f64,
    /// Its error budget.
    pub budget: Vec<Contribution>,
}

impl Uncertain {
    /// The interval at a confidence level: the standard deviations added in quadrature, times
    /// Student's quantile for the Welch-Satterthwaite degrees of freedom, plus the bounds. It is
    /// infinite if a spread is unknown.
    pub fn estimate(&self, level: f64) -> Estimate {
        let (mut variance, mut weight, mut bounds) = (0.0, 0.0, 0.0);
        for entry in &self.budget {
            match entry.spread {
                Spread::Standard { sd, dof } => {
                    variance += sd * sd;
                    weight += sd.powi(4) / dof.max(1.0);
                }
                Spread::Bound(bound) => bounds += bound,
            }
        }
        let dof = if weight > 0.0 { variance * variance / weight } else { f64::INFINITY };
        let half =
            if variance > 0.0 { t_quantile(level, dof) * variance.sqrt() } else { 0.0 } + bounds;
        let half = if half.is_finite() { half } else { f64::INFINITY };
        Estimate { value: self.value, low: self.value - half, high: self.value + half, level }
    }

    /// The value in another unit: everything times `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Uncertain {
        Uncertain {
            value: self.value * factor,
            budget: self.budget.iter().map(|entry| entry.scaled(factor)).collect(),
        }
    }

    /// The value with one more entry in the budget, unless it is rounding.
    #[must_use]
    pub fn with(mut self, entry: Contribution) -> Uncertain {
        self.budget.extend(Some(entry).filter(|entry| !entry.is_negligible(self.value)));
        self
    }

    /// The value without the budget entries of one source.
    #[must_use]
    pub fn without(&self, source: Source) -> Uncertain {
        Uncertain {
            value: self.value,
            budget: self.budget.iter().filter(|entry| entry.source != source).copied().collect(),
        }
    }

    /// Half-width that the entries of one source alone would give.
    pub fn part(&self, source: Source, level: f64) -> f64 {
        self.budget
            .iter()
            .filter(|entry| entry.source == source)
            .map(|entry| entry.half_width(level))
            .sum()
    }
}

/// Degrees of freedom above which the expansion around the normal quantile is more accurate than
/// the inversion.
const MANY_DOF: f64 = 300.0;

/// Half-width of a normal distribution's interval at a confidence level, in standard deviations:
/// 1.96 at 95 %.
pub fn coverage_factor(level: f64) -> f64 {
    t_quantile(level, f64::INFINITY)
}

/// Two-sided quantile of Student's distribution.
pub(crate) fn t_quantile(level: f64, dof: f64) -> f64 {
    let (chance, dof) = ((1.0 - level) / 2.0, dof.max(1.0));
    if dof > MANY_DOF {
        let z = normal_exceeded(chance);
        return z + (z.powi(3) + z) / (4.0 * dof);
    }
    t_exceeded(chance, dof)
}

/// Probability of a larger ratio of two variances with these degrees of freedom by chance (Fisher's
/// distribution); NaN if one has none.
pub(crate) fn f_tail(f: f64, dof: f64, dof_below: f64) -> f64 {
    f_above(f, dof, dof_below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_variances_without_a_number_have_a_probability() {
        assert!((f_tail(4.0, 3.0, 40.0) - 0.014).abs() < 0.001);
        assert_eq!(f_tail(f64::INFINITY, 3.0, 40.0), 0.0);
        assert!(f_tail(f64::NAN, 3.0, 40.0).is_nan() && f_tail(1.0, 0.0, 40.0).is_nan());
    }

    #[test]
    fn quantiles_agree_with_published_tables() {
        assert!((t_quantile(0.95, 10.0) - 2.228_139).abs() < 1e-4);
        assert!((t_quantile(0.95, 1e6) - 1.959_966).abs() < 1e-4);
        assert!((t_quantile(0.95, 299.0) - t_quantile(0.95, 301.0)).abs() < 1e-4);
        assert!((t_quantile(0.99, 4.0) - 4.604_095).abs() < 1e-4);
    }

    #[test]
    fn bounds_add_linearly_to_standard_deviations() {
        let value = Uncertain {
            value: 10.0,
            budget: vec![
                Contribution::standard(Source::Noise, 0.3, 1e6),
                Contribution::standard(Source::Departure, 0.4, 1e6),
            ],
        };
        let plain = value.estimate(0.95);
        assert!((plain.half_width() - 1.96 * 0.5).abs() < 1e-3);
        let bounded = value.with(Contribution::bound(Source::Quantum, 1.0)).estimate(0.95);
        assert!((bounded.half_width() - plain.half_width() - 1.0).abs() < 1e-12);
    }
}
