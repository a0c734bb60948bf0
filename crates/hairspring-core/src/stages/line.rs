//! The line (or plane) through the rows of each series: its slopes are the times of the components.

use crate::estimate::{Fit, LeftOut, Matrix, RowFit, Solution, Vector, components, median};
use crate::finding::words::{counted, rows_of, shortened};
use crate::finding::{Finding, Severity, code};
use crate::limit::{Basis, limits};
use crate::numbers;
use crate::observations::{Flags, RowId, SeriesId};
use crate::stages::regression::{self, EXACT_RESIDUAL};
use crate::stages::rows::{DEPARTURE_ALPHA, Rows};
use crate::stages::{Did, Stage, State};
use std::sync::Arc;

limits! {
    /// Rows beyond the unknowns that check a line without repeats, if they lie on it.
    EXACT_ROWS = 3.0, "rows", Basis::Derived("two rows may lie on a line by chance");
    /// Rows beyond the unknowns that check a line otherwise.
    CHECKING_ROWS = 10.0, "rows", Basis::Derived("the spread of fewer is known to a third");
}

pub(crate) const STAGE: Stage = Stage {
    name: "line",
    question: "What does each component take, by the line through the rows?",
    needs: &[],
    limits: &[LIMITS, regression::LIMITS, crate::estimate::DEPARTURE_LIMITS],
    source: None,
    says,
};

/// Solves all series. A series whose rows were not repeated is solved by a regression over its
/// readings.
pub(crate) fn fit(state: &mut State) -> Did {
    let mut done = Vec::new();
    for series in state
        .all_series()
        .filter(|series| state.sheet.number_in(*series) > 0)
        .collect::<Vec<SeriesId>>()
    {
        let (solution, mut fit) = match &state.systems[usize::from(series)] {
            Some(rows) => solve(state, series, rows).map_or_else(
                |error| (Err(error), None),
                |(solution, fit)| (Ok(solution), Some(fit)),
            ),
            None => (regression::solve(state, series), None),
        };
        let by = match (&solution, &fit) {
            (Err(_), _) => "it cannot be solved",
            (_, Some(_)) => "by repeated rows",
            (_, None) => "by single readings",
        };
        done.push((series, by.to_owned()));
        state.systems[usize::from(series)].iter_mut().for_each(|rows| rows.fit = fit.take());
        state.solutions[usize::from(series)] = Some(solution);
    }
    Did::each(done, "it has no readings")
}

/// Leaves out the readings that are far off the plane of a regression.
pub(crate) fn leave_out(state: &mut State) -> Did {
    let places = |solution: &Solution| {
        solution.off_plane.iter().map(|at| *at as usize).collect::<Vec<usize>>()
    };
    let out =
        state.all_series().filter_map(|series| state.solution(series)).flat_map(places).collect();
    state.leave_out_all(out, "")
}

/// The same once more, if other readings count now.
pub(crate) fn fit_again(state: &mut State) -> Did {
    if state.is_unsolved() { fit(state) } else { Did::nothing("") }
}

fn solve(state: &State, series: SeriesId, rows: &Rows) -> crate::Result<(Solution, Fit)> {
    if rows.active.len() < rows.system.unknowns() {
        return Err(rows.too_few());
    }
    let fit = rows.system.fit(&rows.active, DEPARTURE_ALPHA).ok_or_else(|| rows.singular())?;
    let per_block: Vec<Vec<f64>> = rows
        .means
        .iter()
        .map(|means| {
            fit.map.solve(&rows.active.iter().map(|row| means[*row]).collect::<Vec<f64>>())
        })
        .collect();
    let influence: Vec<f64> =
        (0..fit.unknowns.len()).map(|unknown| row_influence(&fit, unknown)).collect();
    let mean_square = fit.residuals.iter().map(|r| r * r).sum::<f64>() / fit.residuals.len() as f64;
    let first_round = |block: &usize| state.grid.blocks[*block].rounds.start;
    let solution = Solution {
        components: components(&rows.system.columns, &rows.system.rank, &influence),
        overhead: None,
        rank: rows.system.rank.clone(),
        columns: rows.system.columns.clone(),
        rows: row_fits(state, rows, &fit),
        lack_of_fit: fit.lack_of_fit,
        largest: rows.system.location.iter().map(|location| location.abs()).fold(0.0, f64::max),
        residual_sd: mean_square.sqrt(),
        readings: state.sheet.number_in(series),
        readings_used: rows.readings_used(),
        off_plane: Vec::new(),
        blocks: rows.blocks.iter().map(first_round).zip(per_block).collect(),
        quantum: state.quantum.step,
        phase_spread: phase_spread(state, rows),
        vector: Vector::of(fit.unknowns.clone(), fit.map.map.clone(), Arc::clone(&state.grid)),
    };
    Ok((solution, fit))
}

impl Vector {
    /// A vector without any uncertainty.
    pub(crate) fn of(values: Vec<f64>, map: Matrix, grid: Arc<crate::grid::Grid>) -> Vector {
        let entries = values.iter().map(|_| Vec::new()).collect();
        let least_noise = vec![0.0; values.len()];
        Vector { entries, least_noise, grid, map, values, ..Vector::default() }
    }
}

/// Largest standard deviation of a row's readings in quanta.
fn phase_spread(state: &State, rows: &Rows) -> Option<f64> {
    let quantum = (state.quantum.step > 0.0).then_some(state.quantum.step)?;
    rows.variances.iter().flatten().map(|variance| variance.sqrt() / quantum).max_by(f64::total_cmp)
}

/// Largest change of an unknown when any one row is left out (the closed form of the leave-one-out
/// fit).
fn row_influence(fit: &Fit, unknown: usize) -> f64 {
    let weights = fit.map.row_weights(unknown);
    let shifts = weights
        .iter()
        .zip(&fit.residuals)
        .zip(&fit.map.leverage)
        .map(|((w, r), h)| (w * r / (1.0 - h).max(1e-9)).abs());
    shifts.fold(0.0, f64::max)
}

/// All rows of a series in the order of the table.
fn row_fits(state: &State, rows: &Rows, fit: &Fit) -> Vec<RowFit> {
    let counts = |row: RowId| state.table.rows()[row as usize].counts.clone();
    let kept_rows = rows.cells.rows.iter().enumerate().map(|(at, row)| RowFit {
        row: *row,
        counts: counts(*row),
        readings: state.sheet.number_of(*row),
        used: rows.cells.used[at] as usize,
        location: rows.system.location[at],
        sd: rows.variances[at].map(f64::sqrt),
        residual: rows.system.location[at] - rows.system.fitted(at, fit),
        left_out: rows.marks[at],
    });
    let lost_rows = rows.cells.starved.iter().map(|row| RowFit {
        row: *row,
        counts: counts(*row),
        readings: state.sheet.number_of(*row),
        used: 0,
        location: median(&mut state.sheet.row(*row).map(|one| one.ticks).collect::<Vec<f64>>()),
        sd: None,
        residual: f64::NAN,
        left_out: Some(if state.is_excluded(*row) {
            LeftOut::Excluded
        } else {
            LeftOut::Interference
        }),
    });
    let mut all_rows: Vec<RowFit> = kept_rows.chain(lost_rows).collect();
    all_rows.sort_by_key(|row| row.row);
    all_rows
}

impl State<'_> {
    /// Whether the author of the table excluded all readings of a row.
    pub(crate) fn is_excluded(&self, row: RowId) -> bool {
        self.sheet.flags.contains(Flags::EXCLUDED)
            && self
                .sheet
                .row(row)
                .all(|one| self.sheet.reading(one.at).flags.contains(Flags::EXCLUDED))
    }
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let Some(solution) = state.solution(series) else { return Vec::new() };
    [rank(solution), not_checked(solution), never_ran(state)].into_iter().flatten().collect()
}

fn rank(solution: &Solution) -> Option<Finding> {
    let names = |terms: &[(usize, f64)]| {
        let named: Vec<(String, f64)> =
            terms.iter().map(|(j, c)| (solution.columns[*j].clone(), *c)).collect();
        crate::estimate::solution::spell(&named)
    };
    let dependent = solution.rank.dependent.iter();
    let dependent: Vec<String> = dependent
        .map(|(column, sum)| {
            format!("{} runs as often as {}", solution.columns[*column], names(&sum.terms))
        })
        .collect();
    let (rank, unknowns) = (solution.rank.pivots.len(), solution.columns.len());
    let message = format!(
        "the counts separate only {rank} of {unknowns} unknowns, because some always run in the \
         same proportion: {}",
        shortened(&dependent)
    );
    let remedy = "the result reports the combinations that can be separated; add rows in which \
                  the counts of the others change independently";
    (!dependent.is_empty()).then(|| {
        Finding::of(
            Severity::Warning,
            code::RANK_DEFICIENT,
            message,
            numbers! { rank, unknowns, dependent },
            remedy,
        )
    })
}

fn not_checked(solution: &Solution) -> Option<Finding> {
    let (rows, _) = solution.rows_used();
    let unknowns = solution.rank.pivots.len();
    // Rows that lie exactly on the line check it without repeats.
    let exact = rows >= unknowns + EXACT_ROWS as usize
        && solution.residual_sd <= EXACT_RESIDUAL * solution.largest;
    let bare = solution.lack_of_fit.is_none()
        && !solution.rows.is_empty()
        && rows < unknowns + CHECKING_ROWS as usize
        && !exact;
    let of = counted(unknowns as u64, "unknown", "unknowns");
    let message = format!(
        "{} for {of}, without enough repeats: the fit to a straight line cannot be checked",
        rows_of(rows)
    );
    let remedy = "add rows with other counts, and repeat each of them";
    bare.then(|| {
        Finding::of(
            Severity::Warning,
            code::NOT_CHECKED,
            message,
            numbers! { rows, unknowns },
            remedy,
        )
    })
}

/// Components that are 0 in every row of the table, unless they only serve: programs without an
/// init have its column.
fn never_ran(state: &State) -> Option<Finding> {
    let (table, serving) = (state.table, &state.table.origin.serving);
    let ran = |at: usize| table.rows().iter().any(|row| row.counts[at] != 0.0);
    let idle = table
        .components()
        .iter()
        .enumerate()
        .filter(|(at, name)| !serving.contains(name) && !ran(*at));
    let components: Vec<String> = idle.map(|(_, name)| name.clone()).collect();
    let message = format!(
        "never ran and are not in the result: {} (count 0 in every row)",
        shortened(&components)
    );
    let remedy = "add rows in which they run, or remove their columns";
    (!components.is_empty()).then(|| {
        Finding::of(Severity::Warning, code::NEVER_RAN, message, numbers! { components }, remedy)
    })
}
