//! Which rows the line goes through: without the shortest ones, if the line bends there, and
//! without single rows far off it.

use crate::error::{Error, MORE_ROWS};
use crate::estimate::{Cells, Fit, LeftOut, Matrix, System, location_variances, median, weights};
use crate::finding::words::rows_of;
use crate::finding::{Finding, Severity, code};
use crate::limit::{Basis, FEW_OF_ALL, RARELY_CHANCE, limits};
use crate::numbers;
use crate::observations::{RowId, SeriesId};
use crate::stages::blocks::{MIN_ROUNDS, is_repeated};
use crate::stages::{Did, Stage, State, quantum};
use std::collections::BTreeSet;

limits! {
    /// A row has too few readings if it has less than the typical number divided by this.
    STARVED_ROW = 4.0, "", Basis::Derived("it would make three of four blocks incomplete");
    /// A lack of fit with a smaller probability is a departure. The limit is high, so that one that
    /// is not included is small beside the noise.
    DEPARTURE_ALPHA = 0.15, "probability",
        Basis::Derived("a departure that is missed is below the noise of the rows");
    /// A row further off than this may be left out.
    OFF_LINE = 6.0, "median deviations",
        Basis::Derived("Moreno and Fischmeister, 4.1; four standard deviations");
    /// A larger share of rows off the line is a warning.
    MANY_OFF = 0.15, "share of the rows", Basis::Derived("two of nine rows");
    /// Largest share of the rows that is left out as a bend.
    MOST_BEND = 0.4, "share of the rows",
        Basis::Derived("five of nine rows remain, with three to spare");
    /// If the rest is not straight without a bend, at most this share of the departure's variance
    /// may remain.
    MUCH_BETTER = 0.05, "share of the variance",
        Basis::Seen("fences on all CPU models of docs/measured.md, October 2026");
    /// More rows are not searched one by one, and not looked at in pairs.
    MANY_ROWS = 64.0, "rows", Basis::Size("time of the search; designs have nine to thirty");
    /// Rows for each unknown that such a table has at least, if there are more than three unknowns.
    ROWS_FOR_EACH_UNKNOWN = 5.0, "rows",
        Basis::Derived("fits of few rows find many that seem to bend");
    /// Leverage from which a row follows its own time whatever the other rows say; and, less than
    /// 1, below which rows tell of different unknowns.
    UNCHECKED_LEVERAGE = 0.999, "", Basis::Derived("a thousandth of its departure would show");
    /// The variance of a row's location is at least this share of the typical one.
    LEAST_VARIANCE = 0.1, "share of the variance",
        Basis::Derived("a row whose readings happen to be equal is not infinitely certain");
}

pub(crate) const STAGE: Stage = Stage {
    name: "rows",
    question: "Which rows and blocks does the line go through: does it bend at few copies, which \
               rows are far off it, and what is incomplete?",
    needs: &[],
    limits: &[LIMITS],
    source: None,
    says,
};

/// The rows of a repeated series, and which of them are used.
#[derive(Debug)]
pub(crate) struct Rows {
    pub cells: Cells,
    pub system: System,
    /// The blocks in which all rows have readings, with the means of the rows.
    pub blocks: Vec<usize>,
    pub means: Vec<Vec<f64>>,
    /// Variance of a single reading of each row.
    pub variances: Vec<Option<f64>>,
    /// The part of the locations' variance that rounding leaves, however many rounds there are.
    pub stuck: f64,
    /// Why each row is left out.
    pub marks: Vec<Option<LeftOut>>,
    /// The rows in use.
    pub active: Vec<usize>,
    /// The line through them.
    pub fit: Option<Fit>,
}

impl Rows {
    /// The rows of a series by its cells, which are complete in these blocks.
    fn new(state: &State, cells: Cells, blocks: Vec<usize>, evaluations_vary: bool) -> Rows {
        let counts: Vec<&[f64]> =
            cells.rows.iter().map(|row| &state.table.rows()[*row as usize].counts[..]).collect();
        let variances: Vec<Option<f64>> =
            (0..cells.rows.len()).map(|row| cells.variance(row)).collect();
        let stuck = quantum::stuck(
            state,
            &cells.rows,
            &variances.iter().flatten().copied().collect::<Vec<f64>>(),
        );
        let weights = weights(&state.grid, &blocks);
        let means: Vec<Vec<f64>> = blocks.iter().map(|block| cells.means(*block)).collect();
        let location: Vec<f64> = (0..cells.rows.len())
            .map(|row| means.iter().zip(&weights).map(|(block, weight)| weight * block[row]).sum())
            .collect();
        let (variance, repeats) = location_variances(&means, &weights, &location);
        let variance = floored(state, &cells, &location, variance);
        let variance = if evaluations_vary { by_evaluations(&variance, &counts) } else { variance };
        let variance = variance.into_iter().map(|one| one + stuck).collect();
        let system =
            System::new(state.table.components(), &counts).with(location, variance, repeats);
        let (marks, active) = (vec![None; cells.rows.len()], (0..cells.rows.len()).collect());
        Rows { cells, system, blocks, means, variances, stuck, marks, active, fit: None }
    }

    /// The rows in use, as rows of the table.
    pub fn active_rows(&self) -> impl Iterator<Item = RowId> + '_ {
        self.active.iter().map(|row| self.cells.rows[*row])
    }

    /// By how much an unknown of the series moved, to the first order, because a stage left
    /// readings out, whose sum and number are given for each row: by what the means of the rows
    /// would be with them.
    pub fn moved_by(&self, map: &Matrix, out: impl Fn(RowId) -> (f64, usize)) -> f64 {
        let moved = |(at, row): (usize, &usize)| {
            let (sum, count) = out(self.cells.rows[*row]);
            if count == 0 {
                return 0.0;
            }
            let with = (self.system.location[*row] * self.cells.used[*row] + sum)
                / (self.cells.used[*row] + count as f64);
            map[(0, at)] * (self.system.location[*row] - with)
        };
        self.active.iter().enumerate().map(moved).sum()
    }

    /// By how much the first unknown moved because whole rows are left out.
    pub fn moved_by_rows(&self) -> f64 {
        let all_rows: Vec<usize> = (0..self.marks.len()).collect();
        let with = (self.active.len() < all_rows.len())
            .then(|| self.system.fit(&all_rows, DEPARTURE_ALPHA))
            .flatten();
        self.fit.as_ref().zip(with).map_or(0.0, |(fit, with)| fit.unknowns[0] - with.unknowns[0])
    }

    /// The readings that the fit uses.
    pub fn readings_used(&self) -> usize {
        self.active.iter().map(|row| self.cells.used[*row] as usize).sum()
    }

    /// Too few rows for the unknowns.
    pub fn too_few(&self) -> Error {
        let detail = "rows with the same counts count as one".into();
        Error::TooFewRows {
            usable: self.system.design.len(),
            unknowns: self.system.unknowns(),
            detail,
            advice: MORE_ROWS,
        }
    }

    /// Rows that do not determine the unknowns.
    pub fn singular(&self) -> Error {
        let (rows, left_out) =
            (self.system.design.len(), self.system.design.len() - self.active.len());
        Error::Singular { rows, left_out, unknowns: self.system.unknowns(), advice: MORE_ROWS }
    }

    /// What is left out, in words.
    fn told(&self, state: &State) -> Option<String> {
        let blocks = state.grid.blocks.len();
        let marked =
            |reason: LeftOut| self.marks.iter().filter(|mark| **mark == Some(reason)).count();
        let incomplete = blocks - self.blocks.len();
        let parts = [
            (marked(LeftOut::Bend), "where the line bends"),
            (marked(LeftOut::OffLine), "far off the line"),
            (
                self.cells.starved.iter().filter(|row| !state.is_excluded(**row)).count(),
                "with too few readings",
            ),
        ];
        let rows = parts
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, why)| format!("{} {why}", rows_of(number)));
        let lacking = (incomplete > 0)
            .then(|| format!("{incomplete} of {blocks} blocks, in which a row has no reading"));
        let all: Vec<String> = rows.chain(lacking).collect();
        (!all.is_empty()).then(|| format!("without {}", all.join(", ")))
    }

    /// The readings that count and that the fit does not use: of whole rows, and in blocks in which
    /// another row has none.
    fn unused(&self, state: &State) -> Vec<usize> {
        let grid = &state.grid;
        if self.blocks.len() == grid.blocks.len()
            && self.active.len() == self.marks.len()
            && self.cells.starved.is_empty()
        {
            return Vec::new();
        }
        let active: BTreeSet<RowId> = self.active_rows().collect();
        let counts = |row: RowId, round: u32| {
            active.contains(&row) && self.blocks.binary_search(&grid.block_of(round)).is_ok()
        };
        let unused = |row: &RowId| {
            let row = *row;
            state
                .sheet
                .row(row)
                .filter(move |one| one.is_used && !counts(row, one.round))
                .map(|one| one.at)
        };
        self.cells.rows.iter().chain(&self.cells.starved).flat_map(unused).collect()
    }

    fn use_all_but_marked(&mut self) {
        self.active = (0..self.marks.len()).filter(|row| self.marks[*row].is_none()).collect();
    }
}

/// The variances of the locations, at least that of rounding and a part of the typical one.
fn floored(state: &State, cells: &Cells, location: &[f64], variance: Vec<f64>) -> Vec<f64> {
    let mut known_variances: Vec<f64> =
        variance.iter().copied().filter(|one| one.is_finite()).collect();
    let typical = if known_variances.is_empty() { 1.0 } else { median(&mut known_variances) };
    let largest = location.iter().map(|one| one.abs()).fold(0.0, f64::max);
    let floor = (LEAST_VARIANCE * typical)
        .max((largest * 1e-9).powi(2))
        .max((state.quantum.step * 1e-6).powi(2))
        .max(1e-24);
    let rounding = cells.used.iter().map(|used| state.quantum.rounding() / used.max(1.0));
    variance
        .into_iter()
        .zip(rounding)
        .map(|(one, rounding)| if one.is_finite() { one } else { typical }.max(floor).max(rounding))
        .collect()
}

/// Variances of the same mean, each as many times as large as the row has evaluations: those that
/// are slow come at random. A row that met none of them shows a small variance, and would draw the
/// line to the time without them.
fn by_evaluations(variances: &[f64], counts: &[&[f64]]) -> Vec<f64> {
    let evaluations: Vec<f64> = counts.iter().map(|row| row.iter().sum::<f64>().max(1.0)).collect();
    let one = variances.iter().sum::<f64>() / evaluations.iter().sum::<f64>();
    evaluations.iter().map(|number| number * one).collect()
}

/// The systems of all series that were repeated.
fn systems(state: &mut State) {
    for (series, mut cells) in std::mem::take(&mut state.cells).into_iter().enumerate() {
        state.systems[series] = None;
        if !is_repeated(&cells) {
            continue;
        }
        cells.set_starved_apart(cells.typical().div_ceil(STARVED_ROW as usize).max(2));
        // A row without a reading in a block of repeats has the mean of all its readings there.
        let blocks = if state.options.repeats.are_consecutive() {
            (0..state.grid.blocks.len()).collect()
        } else {
            cells.complete()
        };
        if blocks.len() >= MIN_ROUNDS as usize {
            cells.use_only(&blocks);
            let evaluations_vary =
                state.slow.iter().any(|slow| slow.counts && usize::from(slow.series) == series);
            state.systems[series] = Some(Rows::new(state, cells, blocks, evaluations_vary));
        }
    }
}

/// Chooses the rows of each series. Alternatives with the same rows lose the same ones as a bend:
/// one that is seen in one of two equal series would make their times differ.
pub(crate) fn choose(state: &mut State) -> Did {
    systems(state);
    if !state.options.leave_rows_out {
        return Did::nothing("all rows are kept by request");
    }
    let subjects = state.subjects();
    let bend = |rows: &Rows| rows.bend();
    let bends: Vec<Vec<usize>> =
        state.systems.iter().map(|rows| rows.as_ref().map(bend).unwrap_or_default()).collect();
    let mut done = Vec::new();
    for series in state.all_series() {
        let alike =
            |other: &&SeriesId| subjects.contains(&series) && state.have_same_rows(series, **other);
        let longest =
            subjects.iter().filter(alike).map(|other| bends[usize::from(*other)].len()).max();
        let bend = longest.unwrap_or(0).max(bends[usize::from(series)].len());
        let Some(rows) = &mut state.systems[usize::from(series)] else { continue };
        rows.leave_out_shortest(bend);
        rows.leave_out_outliers();
        let told = state.systems[usize::from(series)].as_ref().and_then(|rows| rows.told(state));
        done.extend(told.map(|told| (series, told)));
    }
    Did::each(done, "the rows are straight, or none is to spare")
}

/// Leaves out the readings that no fit has used.
pub(crate) fn leave_out(state: &mut State) -> Did {
    let out: Vec<usize> =
        state.systems.iter().flatten().flat_map(|rows| rows.unused(state)).collect();
    state.leave_out_all(out, "")
}

/// The same once more, if other readings count now.
pub(crate) fn choose_again(state: &mut State) -> Did {
    if state.is_unsolved() { choose(state) } else { Did::nothing("") }
}

impl State<'_> {
    /// Whether two series have rows with the same counts.
    fn have_same_rows(&self, one: SeriesId, other: SeriesId) -> bool {
        let (Some(a), Some(b)) =
            (&self.systems[usize::from(one)], &self.systems[usize::from(other)])
        else {
            return false;
        };
        let counts = |row: &RowId| &self.table.rows()[*row as usize].counts;
        a.cells.rows.len() == b.cells.rows.len()
            && a.cells.rows.iter().zip(&b.cells.rows).all(|(a, b)| counts(a) == counts(b))
    }
}

impl Rows {
    /// The fit of some rows, and whether it is straight; `None` if no row is to spare.
    fn try_fit(&self, rows: &[usize]) -> Option<(Fit, bool)> {
        let spare = rows.len() > self.system.unknowns() + 1;
        let fit = spare.then(|| self.system.fit(rows, DEPARTURE_ALPHA)).flatten()?;
        let straight = fit.lack_of_fit.is_none_or(|lack| lack.p > RARELY_CHANCE);
        Some((fit, straight))
    }

    /// The fewest shortest rows such that the rest is straight or, if it never is, such that almost
    /// all of the departure is gone. None if nothing would check a row any longer that others
    /// check: shortest rows may be the only ones beside it that tell of a component.
    fn bend(&self) -> Vec<usize> {
        let (all_rows, unknowns) = (self.marks.len(), self.system.unknowns());
        if all_rows > MANY_ROWS as usize
            || unknowns > 3 && all_rows < ROWS_FOR_EACH_UNKNOWN as usize * unknowns
        {
            return Vec::new();
        }
        let whole: Vec<usize> = (0..all_rows).collect();
        let Some((fit_of_all, false)) = self.try_fit(&whole) else { return Vec::new() };
        let order = self.by_length();
        let mut better = 0;
        for bent in 1..=(all_rows as f64 * MOST_BEND) as usize {
            let rest: Vec<usize> =
                whole.iter().copied().filter(|row| !order[..bent].contains(row)).collect();
            match self.try_fit(&rest) {
                Some((fit, _))
                    if !no_longer_checked(&fit_of_all, &whole, &fit, &rest).is_empty() =>
                {
                    break;
                }
                Some((_, true)) => return order[..bent].to_vec(),
                Some((fit, false)) if better == 0 && fit.tau2 < MUCH_BETTER * fit_of_all.tau2 => {
                    better = bent
                }
                Some(_) => {}
                None => break,
            }
        }
        order[..better].to_vec()
    }

    /// The rows, the shortest first.
    fn by_length(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.marks.len()).collect();
        rows.sort_by(|a, b| self.system.location[*a].total_cmp(&self.system.location[*b]));
        rows
    }

    fn leave_out_shortest(&mut self, number: usize) {
        self.by_length()
            .into_iter()
            .take(number)
            .for_each(|row| self.marks[row] = Some(LeftOut::Bend));
        self.use_all_but_marked();
    }

    /// Leaves out rows whose deviation is far above the median deviation, until the rest is
    /// straight.
    fn leave_out_outliers(&mut self) {
        let most_outliers = (self.marks.len() as f64 * FEW_OF_ALL) as usize;
        while let Some((fit, false)) = self.try_fit(&self.active) {
            let sizes: Vec<f64> = fit.residuals.iter().map(|r| r.abs()).collect();
            let limit = OFF_LINE * median(&mut sizes.clone());
            // Only the worst tenth in each pass: an outlier tilts the plane, so that good rows also
            // seem off.
            let mut off: Vec<usize> = (0..sizes.len()).filter(|at| sizes[*at] > limit).collect();
            off.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
            off.truncate(off.len().div_ceil(10));
            self.keep_needed(&mut off, &fit);
            let gone = self.marks.iter().filter(|mark| **mark == Some(LeftOut::OffLine)).count();
            if off.is_empty() || gone + off.len() > most_outliers {
                return;
            }
            off.into_iter().for_each(|at| self.marks[self.active[at]] = Some(LeftOut::OffLine));
            self.use_all_but_marked();
        }
    }

    /// Takes those out of `off`, places among the rows in use, without which nothing would check
    /// the others: if all rows with a component are off, or all but one, nothing shows which of
    /// them is right.
    fn keep_needed(&self, off: &mut Vec<usize>, fit: &Fit) {
        let before = &fit.map.leverage;
        let other_rows: Vec<usize> =
            (0..self.active.len()).filter(|at| !off.contains(at)).collect();
        let checked = other_rows
            .iter()
            .map(|at| before[*at])
            .filter(|leverage| *leverage < UNCHECKED_LEVERAGE)
            .fold(0.0, f64::max);
        // Rows can be needed only if their leverages and that of one other row amount to 1.
        if off.iter().map(|at| before[*at]).sum::<f64>() + checked < UNCHECKED_LEVERAGE {
            return;
        }
        let rows =
            |places: &[usize]| places.iter().map(|at| self.active[*at]).collect::<Vec<usize>>();
        let mut spanned = self.system.spanned(&rows(&other_rows), &rows(off)).into_iter();
        off.retain(|_| spanned.next().unwrap_or(false));
        let rest: Vec<usize> = (0..self.active.len())
            .filter(|at| !off.contains(at))
            .map(|at| self.active[at])
            .collect();
        let Some((after, _)) = self.try_fit(&rest) else { return off.clear() };
        let unchecked = no_longer_checked(fit, &self.active, &after, &rest);
        off.retain(|row| {
            unchecked.iter().all(|other| fit.map.shared(*row, *other) < (1.0 - UNCHECKED_LEVERAGE))
        });
    }
}

/// The rows that are left and were checked by those that are not, and by no other, as their places
/// in `all_rows`: each fit with its rows.
fn no_longer_checked(
    before: &Fit,
    all_rows: &[usize],
    after: &Fit,
    rows_left: &[usize],
) -> Vec<usize> {
    let alone = rows_left
        .iter()
        .zip(&after.map.leverage)
        .filter(|(_, leverage)| **leverage >= UNCHECKED_LEVERAGE);
    let places = alone.filter_map(|(row, _)| all_rows.iter().position(|one| one == row));
    places.filter(|at| before.map.leverage[*at] < UNCHECKED_LEVERAGE).collect()
}

/// A note about rows that are left out; a warning if many are off the line.
fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let Some(solution) = state.solution(series) else { return Vec::new() };
    let count =
        |reason: LeftOut| solution.rows.iter().filter(|row| row.left_out == Some(reason)).count();
    let (bent, off) =
        (count(LeftOut::Bend), count(LeftOut::OffLine) + count(LeftOut::Interference));
    let bend = (bent > 0)
        .then(|| format!("{} with few copies left out: the line bends there", rows_of(bent)));
    let outliers = (off > 0).then(|| format!("{} far off the line left out", rows_of(off)));
    let is_many = off as f64 > MANY_OFF * solution.rows.len() as f64;
    let message = bend.into_iter().chain(outliers).collect::<Vec<String>>().join("; ");
    let severity = if is_many { Severity::Warning } else { Severity::Note };
    let remedy = if off > 0 {
        "look at these rows; measure again on a quieter machine if it happens again"
    } else {
        "nothing to do: the remaining rows lie on a line"
    };
    let finding =
        || Finding::of(severity, code::ROWS_LEFT_OUT, message, numbers! { bent, off }, remedy);
    (bent + off > 0).then(finding).into_iter().collect()
}
