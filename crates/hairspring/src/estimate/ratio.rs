//! The ratio of two times that were measured in the same rounds. What both share (core clock, rate of the clock)
//! cancels in every block of rounds, so the interval is narrower than those of the two times.

use super::blocks::variance_of_mean;
use super::interval::{Contribution, Source, Spread, Uncertain};
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

fn index(solution: &Solution, component: &Component) -> Option<usize> {
    let alone = |combination: &super::Combination| -> Vec<(String, f64)> {
        combination.terms.iter().map(|(j, c)| (solution.columns[*j].clone(), *c)).collect()
    };
    solution.rank.identifiable.iter().position(|combination| alone(combination) == component.parts)
}

fn shared_blocks<'s>(a: &'s Solution, b: &'s Solution) -> impl Iterator<Item = (&'s Vec<f64>, &'s Vec<f64>)> {
    a.blocks.iter().filter_map(move |(round, x)| b.blocks.iter().find(|(other, _)| other == round).map(|(_, y)| (x, y)))
}
