//! Times that are not negative: whether they describe the rows as well as the best solution does.
//!
//! Where a core overlaps parts, the rows do not tell how neighbours share their time, and the best
//! solution may give one of them too much and the other less than nothing. That is no reason
//! against the sum if times without negative ones describe the rows nearly as well; how far the two
//! solutions are apart then shows how badly the share is known.

use crate::estimate::{Cholesky, Component, Entry, Matrix, Source, dot};
use crate::finding::words::in_percent;
use crate::finding::{Finding, Severity, code, with_unit};
use crate::limit::{Basis, limits};
use crate::numbers;
use crate::observations::SeriesId;
use crate::stages::departure::severity_of;
use crate::stages::{Did, Stage, State};

limits! {
    /// How much larger the departure of the rows may be with times that are not negative.
    NEARLY_AS_WELL = 1.25, "",
        Basis::Derived("the spread of a departure over 30 rows is known to a seventh");
}

pub(crate) const STAGE: Stage = Stage {
    name: "negative",
    question: "Would times that are not negative describe the rows as well?",
    needs: &[],
    limits: &[LIMITS],
    source: Some(Source::Negative),
    says,
};

/// Where parts overlap, the intervals reach to times that are not negative, if these describe the
/// rows nearly as well.
pub(crate) fn widen(state: &mut State) -> Did {
    if !state.options.overlapping {
        return Did::nothing("it is asked only of parts that overlap");
    }
    let mut done = Vec::new();
    for ((rows, solution), series) in state.systems.iter().zip(&mut state.solutions).zip(0..) {
        let (Some(rows), Some(Ok(solution))) = (rows, solution) else { continue };
        let Some(fit) = rows.fit.as_ref().filter(|fit| fit.tau2 > 0.0) else { continue };
        let design: Vec<Vec<f64>> =
            rows.active.iter().map(|row| rows.system.design[*row].clone()).collect();
        let values: Vec<f64> = rows.active.iter().map(|row| rows.system.location[*row]).collect();
        let weights: Vec<f64> =
            rows.active.iter().map(|row| 1.0 / (rows.system.variance[*row] + fit.tau2)).collect();
        let is_sum =
            |terms: &[(usize, f64)]| terms.iter().all(|(_, coefficient)| *coefficient > 0.0);
        let bounded: Vec<bool> =
            rows.system.rank.identifiable.iter().map(|one| is_sum(&one.terms)).collect();
        let Some(nonnegative_unknowns) = nonnegative(
            &Rows { design: &design, values: &values, weights: &weights },
            &fit.unknowns,
            &bounded,
        ) else {
            continue;
        };
        let apart: Vec<f64> = fit
            .unknowns
            .iter()
            .zip(&nonnegative_unknowns)
            .map(|(one, other)| (one - other).abs())
            .collect();
        apart.into_iter().enumerate().for_each(|(unknown, apart)| {
            solution.add(unknown, Entry::bound(Source::Negative, apart))
        });
        done.push((series, "the intervals reach to times that are not negative".to_owned()));
    }
    Did::each(done, "no time is negative, or the rows need it")
}
/// Rows with their times and weights.
struct Rows<'a> {
    /// Counts of the unknowns.
    pub design: &'a [Vec<f64>],
    /// Times.
    pub values: &'a [f64],
    /// Weights.
    pub weights: &'a [f64],
}

/// A solution of the rows in which the unknowns that are `bounded` are not negative; `None` if it
/// describes them clearly worse than `best`, or if `best` is one.
fn nonnegative(rows: &Rows, best: &[f64], bounded: &[bool]) -> Option<Vec<f64>> {
    if !best.iter().zip(bounded).any(|(value, bounded)| *bounded && *value < 0.0) {
        return None;
    }
    let width = best.len();
    let scale: Vec<f64> = (0..width)
        .map(|j| {
            rows.design.iter().map(|row| row[j].abs()).fold(0.0, f64::max).max(f64::MIN_POSITIVE)
        })
        .collect();
    let scaled: Vec<Vec<f64>> = rows
        .design
        .iter()
        .map(|row| row.iter().zip(&scale).map(|(n, s)| n / s).collect())
        .collect();
    let mut kept_unknowns: Vec<usize> = (0..width).collect();
    let kept_values = loop {
        let (values, sds) = solved(&scaled, rows, &kept_unknowns)?;
        let negative =
            (0..kept_unknowns.len()).filter(|at| bounded[kept_unknowns[*at]] && values[*at] < 0.0);
        match negative.min_by(|a, b| (values[*a] / sds[*a]).total_cmp(&(values[*b] / sds[*b]))) {
            Some(worst) => drop(kept_unknowns.remove(worst)),
            None => break values,
        }
    };
    let mut unknowns = vec![0.0; width];
    kept_unknowns
        .iter()
        .zip(kept_values)
        .for_each(|(at, value)| unknowns[*at] = value / scale[*at]);
    let departure = |unknowns: &[f64], number: usize| {
        let square = |((row, value), weight): ((&Vec<f64>, &f64), &f64)| {
            weight * (value - dot(row, unknowns)).powi(2)
        };
        let sum: f64 = rows.design.iter().zip(rows.values).zip(rows.weights).map(square).sum();
        (sum / rows.values.len().saturating_sub(number).max(1) as f64).sqrt()
    };
    (departure(&unknowns, kept_unknowns.len()) <= NEARLY_AS_WELL * departure(best, width))
        .then_some(unknowns)
}

/// The unknowns that are kept, and their standard deviations but for a factor.
fn solved(
    scaled: &[Vec<f64>],
    rows: &Rows,
    kept_unknowns: &[usize],
) -> Option<(Vec<f64>, Vec<f64>)> {
    let picked: Vec<Vec<f64>> =
        scaled.iter().map(|row| kept_unknowns.iter().map(|j| row[*j]).collect()).collect();
    let gram = Matrix::gram(
        kept_unknowns.len(),
        picked.iter().zip(rows.weights).map(|(row, weight)| (&row[..], *weight)),
    );
    let mut right = vec![0.0; kept_unknowns.len()];
    for ((row, value), weight) in picked.iter().zip(rows.values).zip(rows.weights) {
        right.iter_mut().zip(row).for_each(|(sum, n)| *sum += weight * n * value);
    }
    let factor = Cholesky::new(&gram)?;
    let inverse = factor.inverse();
    let sds = (0..kept_unknowns.len())
        .map(|at| inverse.row(at)[at].max(f64::MIN_POSITIVE).sqrt())
        .collect();
    Some((factor.solve(right), sds))
}

/// A component whose whole interval is negative, and what a negative time of a component that
/// serves does to those that are asked for: the sum of the two is well known, so what the one lacks
/// the other may have too much.
fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let Some(solution) = state.solution(series) else { return Vec::new() };
    let (factor, unit) = state.shown_unit();
    let negative = |component: &&Component| component.ticks.high < 0.0;
    let own_findings =
        solution.components.iter().filter(|one| !one.is_difference()).filter(negative);
    let own_findings = own_findings
        .map(|component| negative_finding(&component.name, component.ticks.value * factor, unit));
    let serves = |component: &&Component| {
        component.parts.iter().all(|(part, _)| state.table.origin.serving.contains(part))
    };
    let (serving, asked): (Vec<&Component>, Vec<&Component>) =
        solution.components.iter().partition(serves);
    let lowest =
        serving.into_iter().filter(negative).min_by(|a, b| a.ticks.value.total_cmp(&b.ticks.value));
    let moved = |lowest: &Component| {
        let asked = asked.iter().filter(|component| !component.ticks.contains(0.0));
        asked.filter_map(|component| shifted(component, lowest)).collect::<Vec<Finding>>()
    };
    own_findings.chain(lowest.map(moved).unwrap_or_default()).collect()
}

/// The finding that the solved value of a component is negative.
pub fn negative_finding(component: &str, value: f64, unit: &str) -> Finding {
    let message = format!(
        "the solved value of {component} is negative ({value:.4} {unit}): the model does not hold \
         for these rows"
    );
    let component = component.to_owned();
    let numbers = numbers! { component }
        .into_iter()
        .chain(with_unit(unit, [("value", value.into())]))
        .collect();
    Finding::of(Severity::Untrusted, code::NEGATIVE, message, numbers, REMEDY)
}

const REMEDY: &str =
    "the rows are not sums of their parts; see the lack of fit, and check the counts";

fn shifted(component: &Component, lowest: &Component) -> Option<Finding> {
    let effect = lowest.ticks.value.abs() / component.ticks.value.abs();
    let (component, negative, effect_percent) =
        (component.name.clone(), lowest.name.clone(), 100.0 * effect);
    let message = format!(
        "the solved value of {negative} is negative, so {component} may be too long by up to {}",
        in_percent(effect_percent)
    );
    Some(Finding::of(
        severity_of(effect)?,
        code::NEGATIVE,
        message,
        numbers! { component, negative, effect_percent },
        REMEDY,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of two neighbours of 10 together that nearly always run equally often, and of an
    /// overhead of 50; those that end between them take longer by `by`.
    fn found(by: f64) -> Option<Vec<f64>> {
        let (mut design, mut values) = (Vec::new(), Vec::new());
        for trips in 1..=20 {
            let trips = f64::from(trips);
            let departs = if trips % 2.0 == 0.0 { 3.0 } else { -3.0 };
            design.extend([vec![trips, trips, 1.0], vec![trips, trips - 1.0, 1.0]]);
            values.extend([50.0 + 10.0 * trips + departs, 50.0 + 10.0 * trips + by - departs]);
        }
        let rows = Rows { design: &design, values: &values, weights: &vec![1.0; values.len()] };
        let (best, _) = solved(&design, &rows, &[0, 1, 2])?;
        nonnegative(&rows, &best, &[true, true, false])
    }

    #[test]
    fn a_share_that_is_hardly_known_may_be_zero() {
        let unknowns = found(2.0).expect("the second one is negative by less than the rows depart");
        assert!(
            unknowns[1] == 0.0
                && (unknowns[0] - 10.0).abs() < 0.2
                && (unknowns[2] - 51.0).abs() < 2.0,
            "{unknowns:?}"
        );
    }

    #[test]
    fn a_negative_time_that_the_rows_need_is_not_taken_away() {
        assert!(found(30.0).is_none());
        // Nothing is negative.
        assert!(found(-4.0).is_none());
    }
}
