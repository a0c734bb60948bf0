//! The rows' departure from the line beyond their noise, which no number of rounds averages out.

use crate::estimate::{Component, Contribution, Fit, RowDeparture, Solution, Source, Vector};
use crate::finding::words::in_percent;
use crate::finding::{Finding, Severity, about, code};
use crate::limit::{Basis, FALSE_ALARM, HARDLY_CHANCE, LITTLE_SHARE, USUAL_PRECISION, limits};
use crate::numbers;
use crate::observations::SeriesId;
use crate::stages::rows::{MANY_ROWS, Rows};
use crate::stages::{Did, Stage, State};

limits! {
    /// Groups of rows with similar counts, which depart alike, and fewest rows in each.
    ROW_GROUPS = 6.0, "groups",
        Basis::Simulated("intervals_cover_departures_that_follow_the_counts");
    /// See there.
    FEWEST_IN_GROUP = 3.0, "rows",
        Basis::Simulated("intervals_cover_departures_that_follow_the_counts");
    /// Departure above which no time of the series can be trusted, because the rows are not sums of
    /// their parts.
    DEPARTURE_UNTRUSTED = 0.03, "share of the longest row",
        Basis::Seen("code whose time depends on its size; all CPU models of docs/measured.md");
    /// The same where it is not to be trusted.
    EFFECT_UNTRUSTED = 0.1, "share of the time", Basis::Derived("one digit is left");
}

pub(crate) const STAGE: Stage = Stage {
    name: "departure",
    question: "How far do the rows depart from the line beyond their noise?",
    needs: &[],
    limits: &[LIMITS],
    source: Some(Source::Departure),
    says,
};

/// Gives each vector the departures of its rows, unless chance explains them.
pub(crate) fn widen(state: &mut State) -> Did {
    let mut done = Vec::new();
    let (systems, solutions) = (&state.systems, &mut state.solutions);
    for ((rows, solution), series) in systems.iter().zip(solutions).zip(0..) {
        let (Some(rows), Some(Ok(solution))) = (rows, solution) else { continue };
        if solution.lack_of_fit.is_none_or(|lack| lack.sd <= 0.0) {
            continue;
        }
        let Some(fit) = &rows.fit else { continue };
        done.push((series, "further than chance explains".to_owned()));
        let departures = departures(state.table, rows, fit);
        let vector = &mut solution.vector;
        vector.departure_dof =
            (0..fit.unknowns.len()).map(|unknown| degrees_of_freedom(fit, unknown)).collect();
        vector.departures = departures;
        if state.options.departure_follows_counts {
            vector.grouped = (0..fit.unknowns.len())
                .map(|unknown| grouped(rows, fit, unknown, vector))
                .collect();
        }
    }
    Did::each(done, "chance explains the rows")
}

fn departures(
    table: &crate::observations::Observations,
    rows: &Rows,
    fit: &Fit,
) -> Vec<RowDeparture> {
    let row = |(at, row): (usize, &usize)| RowDeparture {
        counts: table.rows()[rows.cells.rows[*row] as usize].counts.clone(),
        residual: corrected(fit, at),
        noise: rows.system.variance[*row],
    };
    rows.active.iter().enumerate().map(row).collect()
}

/// A residual as it would be if the row had not drawn the line to itself.
fn corrected(fit: &Fit, at: usize) -> f64 {
    fit.residuals[at] / (1.0 - fit.map.leverage[at]).max(1e-3).sqrt()
}

/// The degrees of freedom of the variance of an unknown by the residuals of its rows (Bell and
/// McCaffrey 2002; Imbens and Kolesar 2016): the residuals `(I - H) e` of independent departures
/// `e` are correlated. With many rows they hardly are.
fn degrees_of_freedom(fit: &Fit, unknown: usize) -> f64 {
    let weights = fit.map.row_weights(unknown);
    let rows = weights.len();
    let scaled = |at: usize| weights[at] / (1.0 - fit.map.leverage[at]).max(1e-3).sqrt();
    let own_product = |at: usize| scaled(at).powi(2) * (1.0 - fit.map.leverage[at]).max(1e-3);
    let trace: f64 = (0..rows).map(own_product).sum();
    let squares: f64 = if rows > MANY_ROWS as usize {
        (0..rows).map(|at| own_product(at).powi(2)).sum()
    } else {
        let product = |a: usize, b: usize| {
            if a == b {
                own_product(a).powi(2)
            } else {
                (scaled(a) * scaled(b)).powi(2) * fit.map.shared(a, b)
            }
        };
        (0..rows).flat_map(|a| (0..rows).map(move |b| (a, b))).map(|(a, b)| product(a, b)).sum()
    };
    (trace * trace / squares).clamp(1.0, (rows - fit.unknowns.len()).max(1) as f64)
}

/// The departure of an unknown where rows with similar counts depart alike, so that more of them do
/// not average it out: the widest of that by single rows, by groups of rows of similar size, and by
/// groups with similar counts of the unknown (the cluster-robust variance: Liang and Zeger, 1986;
/// Cameron and Miller, 2015).
fn grouped(rows: &Rows, fit: &Fit, unknown: usize, vector: &Vector) -> Option<Contribution> {
    let weights = vector.map.row(unknown);
    let shares: Vec<f64> =
        weights.iter().zip(&vector.departures).map(|(weight, row)| weight * row.residual).collect();
    let noise: f64 = weights
        .iter()
        .zip(&vector.departures)
        .map(|(weight, row)| weight * weight * row.noise)
        .sum();
    let size: Vec<f64> = rows.active.iter().map(|row| rows.system.fitted(*row, fit)).collect();
    let count = |at: usize| rows.system.design[rows.active[at]][unknown];
    let singly = (
        shares.iter().map(|share| share * share).sum(),
        (rows.active.len() - fit.unknowns.len()) as f64,
    );
    let all_groupings = [
        Some(singly),
        by_neighbours(&shares, |at| (size[at], 0.0)),
        by_neighbours(&shares, |at| (count(at), size[at])),
    ];
    let entry = |(variance, dof): (f64, f64)| {
        Contribution::standard(Source::Departure, (variance - noise).max(0.0).sqrt(), dof)
    };
    all_groupings
        .into_iter()
        .flatten()
        .map(entry)
        .max_by(|a, b| a.half_width(0.95).total_cmp(&b.half_width(0.95)))
}

/// The variance of an unknown from the rows' shares in it, where rows with neighbouring keys form
/// groups, and its degrees of freedom; `None` if there are too few rows.
fn by_neighbours(shares: &[f64], key: impl Fn(usize) -> (f64, f64)) -> Option<(f64, f64)> {
    let groups = (shares.len() / FEWEST_IN_GROUP as usize).min(ROW_GROUPS as usize);
    let order = in_order(shares.len(), key);
    let group = |at: usize| &order[at * order.len() / groups..(at + 1) * order.len() / groups];
    let square = |at: usize| group(at).iter().map(|row| shares[*row]).sum::<f64>().powi(2);
    let few = groups as f64 / (groups as f64 - 1.0);
    (groups >= ROW_GROUPS as usize / 2)
        .then(|| (few * (0..groups).map(square).sum::<f64>(), groups as f64 - 1.0))
}

/// Places in the order of their keys.
fn in_order(number: usize, key: impl Fn(usize) -> (f64, f64)) -> Vec<usize> {
    let mut order: Vec<usize> = (0..number).collect();
    order.sort_by(|a, b| key(*a).0.total_cmp(&key(*b).0).then(key(*a).1.total_cmp(&key(*b).1)));
    order
}

/// The departure of the rows, for each component that it makes uncertain. Components share their
/// rows but not the effect: a departure of a thousandth of the longest row is nothing to the body
/// that fills this row, and a lot to a small init.
fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    state.solution(series).map(departures_told).unwrap_or_default()
}

/// The same of a solution.
pub(crate) fn departures_told(solution: &Solution) -> Vec<Finding> {
    let Some(lack) =
        solution.lack_of_fit.filter(|lack| lack.p < FALSE_ALARM && solution.largest != 0.0)
    else {
        return Vec::new();
    };
    let departure = lack.sd / solution.largest;
    let finding = |severity, about: Option<(&str, f64)>| {
        non_linear(severity, about, lack.f, 100.0 * departure)
    };
    if departure > DEPARTURE_UNTRUSTED {
        return vec![finding(Severity::Untrusted, None)];
    }
    let affected =
        solution.components.iter().map(|component| (&*component.name, effect(component)));
    let findings: Vec<Finding> = affected
        .filter_map(|(name, effect)| Some(finding(severity_of(effect)?, Some((name, effect)))))
        .collect();
    let is_noted = departure > LITTLE_SHARE || lack.p < HARDLY_CHANCE && solution.blocks.is_empty();
    if findings.is_empty() && is_noted { vec![finding(Severity::Note, None)] } else { findings }
}

fn non_linear(
    severity: Severity,
    component: Option<(&str, f64)>,
    lack_of_fit_f: f64,
    departure_percent: f64,
) -> Finding {
    let effect_percent = component.map(|(_, effect)| 100.0 * effect);
    let of = component
        .map(|(name, effect)| format!("; it makes {name} uncertain by {:.1} %", 100.0 * effect))
        .unwrap_or_default();
    let departure = in_percent(departure_percent);
    let message = format!(
        "the rows do not lie on a straight line: lack of fit F = {lack_of_fit_f:.1}, departure \
         {departure} of the longest row{of}"
    );
    let numbers = about(
        component.map(|(name, _)| name),
        numbers! { effect_percent, lack_of_fit_f, departure_percent },
    );
    let remedy = "the totals are not sums of these parts: look for work that was not counted or \
                  that depends on another count, or use rows of similar length";
    Finding::of(severity, code::NON_LINEAR, message, numbers, remedy)
}

/// Half-width that the departure of the rows alone gives to a component, relative to its time; 0
/// for a time that is indistinguishable from zero, whose bound includes it.
fn effect(component: &Component) -> f64 {
    if component.ticks.contains(0.0) {
        return 0.0;
    }
    component.uncertain.part(Source::Departure, component.ticks.level) / component.ticks.value.abs()
}

/// Severity of an effect on a component, given relative to its time.
pub(crate) fn severity_of(effect: f64) -> Option<Severity> {
    match effect {
        e if e > EFFECT_UNTRUSTED => Some(Severity::Untrusted),
        e if e > USUAL_PRECISION => Some(Severity::Warning),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_departures_of_neighbours_do_not_average_out() {
        let key = |at: usize| (at as f64, 0.0);
        let alternating: Vec<f64> =
            (0..60).map(|at| if at % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let waves: Vec<f64> = (0..60).map(|at| if at / 10 % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert!(by_neighbours(&alternating, key).unwrap().0 < 1e-9);
        // Six groups of ten equal shares: 6 * 10^2, times 6/5 for the small number of groups.
        assert_eq!(by_neighbours(&waves, key), Some((720.0, 5.0)));
        assert_eq!(by_neighbours(&waves[..8], key), None);
    }
}
