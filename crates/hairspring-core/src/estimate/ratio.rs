//! The ratio of two times that were measured in the same rounds. What both share (core clock, rate of the clock)
//! cancels in every block of rounds, so the interval is narrower than those of the two times. [`apart`] is for times that
//! were not.

use super::blocks::variance_of_mean;
use super::interval::{Contribution, Estimate, Source, Spread, Uncertain};
use super::solution::{Component, Solution};

/// Ratio of component `a` of one solution to component `b` of another; `None` where the two share fewer than two
/// blocks of rounds, or `b` is not above 0.
pub fn ratio(a: (&Solution, &Component), b: (&Solution, &Component)) -> Option<Uncertain> {
    let value = a.1.ticks.value / b.1.ticks.value;
    if !value.is_finite() || b.1.ticks.value <= 0.0 {
        return None;
    }
    let at = (index(a.0, a.1)?, index(b.0, b.1)?);
    let departures: Vec<f64> = shared_blocks(a.0, b.0).map(|(x, y)| (x[at.0] - value * y[at.1]) / b.1.ticks.value).collect();
    if departures.len() < 2 {
        return None;
    }
    let (variance, dof) = variance_of_mean(&departures);
    let mut budget = vec![Contribution::standard(Source::Stochastic, variance.sqrt(), dof)];
    let systematic = |component: &Component, factor: f64| -> Vec<Contribution> {
        let carried = component.uncertain.budget.iter().filter(|entry| matches!(entry.source, Source::LackOfFit | Source::Granularity));
        carried.map(|entry| entry.scaled(factor)).collect()
    };
    budget.extend(systematic(a.1, 1.0 / b.1.ticks.value));
    budget.extend(systematic(b.1, value / b.1.ticks.value).into_iter().map(|entry| Contribution { source: Source::Reference, ..entry }));
    budget.push(Contribution::bound(Source::Fence, shadow(a.1, b.1, value)));
    budget.retain(|entry| !matches!(entry.spread, Spread::Standard { sd: 0.0, .. } | Spread::Bound(0.0)));
    Some(Uncertain { value, budget })
}

/// What fences hide is a property of the core: where both times lack it, they lack the same, and the ratio is off by less
/// the closer it is to 1. Where one of them alone has fences, it is off by all of that.
fn shadow(a: &Component, b: &Component, ratio: f64) -> f64 {
    let of = |component: &Component| component.uncertain.part(Source::Fence, component.ticks.level) / b.ticks.value;
    let (of_a, of_b) = (of(a), of(b));
    if of_a > 0.0 && of_b > 0.0 { (1.0 - ratio).abs() * of_a.max(of_b) } else { of_a + ratio.abs() * of_b }
}

/// Ratio `new / old` of two times that were measured apart: in other runs, on another day.
///
/// Nothing cancels between them, and what differs from run to run (where code and data lie, the state of the machine) is in
/// neither interval. So the ends are added as systematic contributions are (Muller: linearly, not in quadrature): the low
/// end is the low end of `new` over the high end of `old`, the high end the other way round. Such an interval is up to 1.4
/// times as wide as one in quadrature, and wider than that of [`ratio`]. Its level is the lower one of the two.
///
/// An `old` whose interval contains zero leaves the ratio without an upper end; the value is infinite where `old` is not
/// above zero. `None` where `old` lies below zero altogether, or a value is not a number.
///
/// ```
/// use hairspring_core::Estimate;
/// use hairspring_core::estimate::ratio::apart;
/// let time = |value: f64, half: f64| Estimate { value, low: value - half, high: value + half, level: 0.95 };
/// let found = apart(&time(3.0, 0.03), &time(2.0, 0.02)).unwrap();
/// assert_eq!((found.value, found.low, found.high), (1.5, 2.97 / 2.02, 3.03 / 1.98));
/// ```
pub fn apart(new: &Estimate, old: &Estimate) -> Option<Estimate> {
    if !new.value.is_finite() || !old.value.is_finite() || new.low.is_nan() || new.high.is_nan() || old.low.is_nan() {
        return None;
    }
    // Written so that an end that is not a number counts as no end above zero.
    if old.high.is_nan() || old.high <= 0.0 {
        return None;
    }
    let level = new.level.min(old.level);
    let value = if old.value > 0.0 { new.value / old.value } else { f64::INFINITY };
    if old.low <= 0.0 {
        let low = if new.low > 0.0 { new.low / old.high } else { f64::NEG_INFINITY };
        return Some(Estimate { value, low, high: f64::INFINITY, level });
    }
    let low = new.low / if new.low > 0.0 { old.high } else { old.low };
    let high = new.high / if new.high > 0.0 { old.low } else { old.high };
    Some(Estimate { value, low, high, level })
}

fn index(solution: &Solution, component: &Component) -> Option<usize> {
    let alone = |combination: &super::Combination| -> Vec<(String, f64)> {
        combination.terms.iter().map(|(j, c)| (solution.columns[*j].clone(), *c)).collect()
    };
    solution.rank.identifiable.iter().position(|combination| alone(combination) == component.parts)
}

fn shared_blocks<'s>(a: &'s Solution, b: &'s Solution) -> impl Iterator<Item = (&'s Vec<f64>, &'s Vec<f64>)> {
    a.blocks.iter().filter_map(move |(round, x)| b.blocks.iter().find(|(other, _)| other == round).map(|(_, y)| (x, y)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(low: f64, value: f64, high: f64) -> Estimate {
        Estimate { value, low, high, level: 0.95 }
    }

    #[test]
    fn ends_are_the_worst_of_both() {
        let found = apart(&within(9.0, 10.0, 11.0), &within(4.0, 5.0, 6.0)).unwrap();
        assert_eq!((found.value, found.low, found.high), (2.0, 1.5, 2.75));
        let negative = apart(&within(-1.0, 1.0, 3.0), &within(4.0, 5.0, 6.0)).unwrap();
        assert_eq!((negative.low, negative.high), (-0.25, 0.75));
        let other = Estimate { level: 0.9, ..within(4.0, 5.0, 6.0) };
        assert_eq!(apart(&within(9.0, 10.0, 11.0), &other).unwrap().level, 0.9);
    }

    #[test]
    fn what_was_below_resolution_has_no_upper_end_and_its_sign_decides_nothing() {
        let some = |old: f64| apart(&within(9.0, 10.0, 11.0), &within(-0.5, old, 0.5)).unwrap();
        for old in [0.1, -0.1, 0.0] {
            assert_eq!((some(old).low, some(old).high), (18.0, f64::INFINITY));
        }
        let both = apart(&within(-0.5, 0.1, 0.5), &within(-0.5, 0.1, 0.5)).unwrap();
        assert_eq!((both.low, both.high), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(apart(&within(1.0, 1.0, 1.0), &within(-3.0, -2.0, -1.0)), None);
        assert_eq!(apart(&within(1.0, f64::NAN, 1.0), &within(1.0, 1.0, 1.0)), None);
    }
}
