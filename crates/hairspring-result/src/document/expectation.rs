//! A measured time beside what was expected of it.

use super::figure::finite;
use super::{Figure, ResultDocument, Unit};
use hairspring_core::Estimate;
use hairspring_core::judge::{Agreement, Expected, Reach, against};
use serde::{Deserialize, Serialize};

/// What is expected of the first component of the first series.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// The expectation as it was given.
    pub expression: String,
    /// Its value and uncertainty, in the unit.
    pub expected: Expected,
    /// Its half-widths to first order.
    pub first_order: Reach,
    /// Whether it states an uncertainty; else one is assumed.
    pub is_stated: bool,
    /// Whether Monte Carlo agrees with the propagation to first order.
    pub is_straight: bool,
    /// The unit in which the two are compared.
    pub unit: Unit,
}

/// A measured time beside what was expected of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expectation {
    /// The expectation as it was given.
    pub expression: String,
    /// Name of the series ...
    pub series: String,
    /// ... and of its component.
    pub component: String,
    /// Unit of the numbers below.
    pub unit: Unit,
    /// The expected value with its interval. Where the propagations do not agree, its ends are
    /// those by Monte Carlo, and its sides differ.
    pub expected: Estimate,
    /// Half-width from stochastic inputs, to first order.
    pub stochastic: Option<f64>,
    /// Half-width from systematic inputs, to first order.
    pub systematic: Option<f64>,
    /// Whether Monte Carlo agrees with the propagation to first order.
    #[serde(default = "yes")]
    pub propagations_agree: bool,
    /// Whether the expectation states an uncertainty; else 2 % are assumed.
    pub is_stated: bool,
    /// The measured value with its interval; below resolution the interval reaches up to the bound.
    pub measured: Option<Estimate>,
    /// Measured minus expected.
    pub difference: Option<f64>,
    /// Half-width of the interval of the difference.
    pub half_width: Option<f64>,
    /// Measured over expected.
    pub factor: Option<f64>,
    /// By how many standard deviations the difference is larger than the systematic bounds allow.
    pub sigmas: Option<f64>,
    /// The verdict.
    pub verdict: Agreement,
    /// Why it is undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict_reason: Option<String>,
    /// The scheduling model that the expectation comes from, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<Scheduling>,
}

/// Documents of earlier versions do not say whether the propagations agree.
fn yes() -> bool {
    true
}

/// What a scheduling model says about the compiled copy, beside the cycles that it expects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scheduling {
    /// The program and the CPU that it has a model of.
    pub model: String,
    /// Cycles of a copy if only the units and the front end limited it.
    pub throughput_cycles: f64,
    /// Cycles of one copy from its start to its end, the stages before and behind the units
    /// included.
    pub single_cycles: f64,
    /// What limits the stream of copies, in the program's words.
    pub bottleneck: Vec<String>,
    /// What the program warned of.
    pub warnings: Vec<String>,
    /// What the difference may mean, if there is one.
    pub may_mean: Vec<String>,
}

impl ResultDocument {
    /// Puts the expectation beside the first component of the first series.
    #[must_use]
    pub fn beside(mut self, wanted: &Wanted) -> ResultDocument {
        self.expectation = self.compared(wanted).map(Box::new);
        self
    }

    fn compared(&self, wanted: &Wanted) -> Option<Expectation> {
        let series = self.results.first()?;
        let (name, component) = series.body()?;
        let rate = self.environment.clock.as_ref().and_then(|clock| clock.rate_hz);
        let measured = measured(&component.figure, wanted.unit, rate);
        let trusted = component.trusted;
        let doubt = match (&measured, trusted) {
            (None, _) => Some(format!("there is no time in {}", wanted.unit.word())),
            (_, false) => Some("the measurement is not to be trusted".to_owned()),
            _ => None,
        };
        let compared = measured.map(|measured| against(&measured, &wanted.expected));
        let verdict = compared
            .filter(|_| doubt.is_none())
            .map_or(Agreement::Undecided, |compared| compared.agreement);
        let too_wide = || "the measurement is not precise enough to say".to_owned();
        Some(Expectation {
            expression: wanted.expression.clone(),
            series: series.name.clone(),
            component: name.to_owned(),
            unit: wanted.unit,
            expected: wanted.expected.interval(self.level()),
            stochastic: finite(wanted.first_order.stochastic),
            systematic: finite(wanted.first_order.systematic),
            propagations_agree: wanted.is_straight,
            is_stated: wanted.is_stated,
            measured,
            difference: compared.and_then(|compared| finite(compared.difference)),
            half_width: compared.and_then(|compared| finite(compared.half_width)),
            factor: compared.and_then(|compared| compared.factor),
            sigmas: compared.and_then(|compared| compared.sigmas),
            verdict,
            verdict_reason: (verdict == Agreement::Undecided)
                .then(|| doubt.unwrap_or_else(too_wide)),
            scheduling: None,
        })
    }
}

/// The interval of a time in a unit, for a verdict; ticks also from nanoseconds, where the clock's
/// rate is known.
fn measured(figure: &Figure, unit: Unit, rate_hz: Option<f64>) -> Option<Estimate> {
    let interval = figure.interval(unit);
    let bounded = || {
        let (cycles, bound) = (figure.cycles?, figure.bound_cycles?);
        Some(Estimate { low: cycles.low.min(0.0), high: cycles.high.max(bound), ..cycles })
    };
    match unit {
        Unit::Ticks => {
            interval.or_else(|| Some(figure.interval(Unit::Nanoseconds)?.scaled(rate_hz? * 1e-9)))
        }
        Unit::Cycles => interval.or_else(bounded),
        Unit::Nanoseconds => interval,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, half: f64) -> Estimate {
        Estimate { value, low: value - half, high: value + half, level: 0.95 }
    }

    #[test]
    fn each_unit_has_its_own_figure() {
        let figure = Figure {
            time_ns: Some(Some(estimate(10.0, 0.1))),
            cycles: Some(estimate(30.0, 0.2)),
            ..Figure::default()
        };
        assert_eq!(measured(&figure, Unit::Nanoseconds, None), Some(estimate(10.0, 0.1)));
        assert_eq!(measured(&figure, Unit::Cycles, None), Some(estimate(30.0, 0.2)));
        assert_eq!(measured(&figure, Unit::Ticks, None), None);
        assert!((measured(&figure, Unit::Ticks, Some(2e9)).unwrap().value - 20.0).abs() < 1e-9);
        let ticks = Figure { ticks: Some(Some(estimate(7.0, 0.1))), ..Figure::default() };
        assert_eq!(measured(&ticks, Unit::Ticks, Some(2e9)), Some(estimate(7.0, 0.1)));
        assert_eq!(measured(&ticks, Unit::Nanoseconds, Some(2e9)), None);
    }

    #[test]
    fn below_resolution_the_interval_reaches_up_to_the_bound() {
        let figure = Figure {
            cycles: Some(estimate(0.1, 0.2)),
            below_resolution: true,
            bound_cycles: Some(0.9),
            ..Figure::default()
        };
        let found = measured(&figure, Unit::Cycles, None).unwrap();
        assert_eq!((found.low, found.high), (-0.1, 0.9));
    }
}
