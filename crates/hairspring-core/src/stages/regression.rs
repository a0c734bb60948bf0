//! The estimator for rows that were not repeated: robust regression of totals on counts.
//!
//! The normal equations are built in chunks (the columns are scaled, and independent by exact
//! elimination) and solved with one step of refinement. Rows whose deviation is far above the
//! median deviation are then left out and the rest is solved again (Moreno and Fischmeister, 4.1).
//! The covariance is the classical one or, from 30 degrees of freedom, the larger of it and the
//! heteroscedasticity-consistent one (HC3).

use crate::error::{Error, MORE_ROWS, Result};
use crate::estimate::{
    Cholesky, Departure, Entry, InOrder, LackOfFit, LeftOut, Matrix, Moments, Rank, RowFit, Serial,
    Solution, Source, Vector, along_columns, clearest, components, departure, dot, exact_rank,
    f_tail, in_parallel, largest_error, median, robust_sd, rounding,
};
use crate::limit::{Basis, FALSE_ALARM, TWO_ROUNDINGS, limits};
use crate::observations::{RowId, SeriesId};
use crate::stages::State;
use crate::stages::quantum::{LEAST_DITHER, is_commensurate};

/// Rows in one chunk.
const CHUNK_ROWS: usize = 4096;

limits! {
    /// Rows lie on a line if their residual is at most this share of the longest row.
    EXACT_RESIDUAL = 1e-9, "share of the time", Basis::Derived("rounding of numbers");
    /// A reading that deviates by more than this is left out.
    OFF_PLANE = 6.0, "robust standard deviations",
        Basis::Derived("one normal reading in 500 millions");
    /// Passes of the search for outliers.
    OUTLIER_SEARCHES = 5.0, "passes", Basis::Size("an outlier tilts the plane less in each");
    /// Fewest degrees of freedom for which the consistent covariance is trusted.
    HC_DOF = 30.0, "degrees of freedom",
        Basis::Derived("Long and Ervin 2000: HC3 in samples of 25 and more");
    /// Most counts that are tested for a departure along a component; of a larger table a sample of
    /// the readings is tested.
    MOST_TESTED = 2e6, "counts", Basis::Size("time");
    /// Components that are tested in one pass over the readings.
    TESTED_AT_ONCE = 8.0, "components", Basis::Size("registers");
    /// Most rows that are listed one by one in the solution.
    MOST_LISTED = 20000.0, "rows", Basis::Size("memory");
}

/// Solves a series as one regression over all usable readings.
pub(crate) fn solve(state: &State, series: SeriesId) -> Result<Solution> {
    let data = Data::new(state, series);
    let unknowns = data.rank.pivots.len();
    if data.rows.len() <= unknowns {
        let detail = format!(
            "{} of {} readings are flagged or outliers",
            data.all_readings - data.rows.len(),
            data.all_readings
        );
        return Err(Error::TooFewRows {
            usable: data.rows.len(),
            unknowns,
            detail,
            advice: MORE_ROWS,
        });
    }
    let mut used = vec![true; data.rows.len()];
    let mut fit = data.fit(&used).ok_or_else(|| singular(&data))?;
    for _ in 0..if state.options.leave_rows_out { OUTLIER_SEARCHES as usize } else { 0 } {
        let next = data.without_outliers(&fit);
        if next == used
            || next.iter().filter(|ok| **ok).count() < data.rows.len().div_ceil(2).max(unknowns + 2)
        {
            break;
        }
        let Some(without) = data.fit_without(next) else { break };
        (used, fit) = without;
    }
    Ok(data.solution(&fit, &used))
}

fn singular(data: &Data) -> Error {
    Error::Singular {
        rows: data.all_readings,
        left_out: data.all_readings - data.rows.len(),
        unknowns: data.rank.pivots.len(),
        advice: MORE_ROWS,
    }
}

/// Usable readings with their counts.
struct Data<'a> {
    state: &'a State<'a>,
    ids: Vec<RowId>,
    /// Number of readings.
    all_readings: usize,
    columns: Vec<String>,
    rank: Rank,
    scale: Vec<f64>,
    /// Scaled counts of the pivots, for each distinct row.
    design: Vec<Vec<f64>>,
    /// Index of the distinct row, and the reading.
    rows: Vec<(usize, f64)>,
}

struct Fit {
    /// Scaled unknowns, the factor of the normal matrix, and its inverse.
    unknowns: Vec<f64>,
    factor: Cholesky,
    inverse: Matrix,
    residuals: Vec<f64>,
    used: usize,
}

impl<'a> Data<'a> {
    fn new(state: &'a State, series: SeriesId) -> Data<'a> {
        let (table, ids) = (state.table, state.sheet.rows_of(series));
        let counts = |id: &RowId| -> Vec<f64> {
            table.rows()[*id as usize].counts.iter().copied().chain([1.0]).collect()
        };
        let mut design: Vec<Vec<f64>> = ids.iter().map(counts).collect();
        let width = design.first().map_or(0, Vec::len);
        let present: Vec<usize> =
            (0..width).filter(|j| design.iter().any(|row| row[*j] != 0.0)).collect();
        if present.len() < width {
            design.iter_mut().for_each(|row| *row = present.iter().map(|j| row[*j]).collect());
        }
        let rank = exact_rank(&design);
        let scale: Vec<f64> = rank
            .pivots
            .iter()
            .map(|j| design.iter().map(|row| row[*j].abs()).fold(0.0, f64::max))
            .collect();
        for row in &mut design {
            *row = rank.pivots.iter().zip(&scale).map(|(j, s)| row[*j] / s).collect();
        }
        let names: Vec<&str> =
            table.components().iter().map(String::as_str).chain(["overhead"]).collect();
        let columns = present.iter().map(|j| names[*j].to_owned()).collect();
        let used = |(at, row): (usize, &RowId)| {
            state
                .sheet
                .row(*row)
                .filter(|one| one.is_used)
                .map(move |one| (at, one.ticks))
                .collect::<Vec<_>>()
        };
        let rows = ids.iter().enumerate().flat_map(used).collect();
        let all = ids.iter().map(|row| state.sheet.number_of(*row)).sum();
        Data { state, ids, all_readings: all, columns, rank, scale, design, rows }
    }

    /// `sum of w x x'` over the readings, with weights given as their roots. Readings of one
    /// distinct row are taken together.
    fn gram(&self, root_weight: impl Fn(usize) -> f64) -> Matrix {
        let mut weights = vec![0.0; self.design.len()];
        self.rows.iter().enumerate().for_each(|(i, row)| weights[row.0] += root_weight(i).powi(2));
        let parts = in_parallel(self.design.len().div_ceil(CHUNK_ROWS), |at| {
            let chunk = at * CHUNK_ROWS..self.design.len().min((at + 1) * CHUNK_ROWS);
            Matrix::gram(self.scale.len(), chunk.map(|row| (&self.design[row][..], weights[row])))
        });
        // Summed in the order of the rows, so that the last digits do not depend on the number of
        // processors.
        parts.iter().fold(Matrix::zeros(self.scale.len(), self.scale.len()), Matrix::plus)
    }

    fn fit(&self, used: &[bool]) -> Option<Fit> {
        let factor = Cholesky::new(&self.gram(|i| f64::from(u8::from(used[i]))))?;
        let mut unknowns = vec![0.0; self.scale.len()];
        let mut residuals: Vec<f64> = self.rows.iter().map(|row| row.1).collect();
        for _ in 0..2 {
            let step = factor.solve(self.right_side(&residuals, used));
            unknowns.iter_mut().enumerate().for_each(|(j, value)| *value += step[j]);
            residuals = self.residuals(&unknowns);
        }
        Some(Fit {
            unknowns,
            inverse: factor.inverse(),
            factor,
            residuals,
            used: used.iter().filter(|ok| **ok).count(),
        })
    }

    fn right_side(&self, values: &[f64], used: &[bool]) -> Vec<f64> {
        let mut sums = vec![0.0; self.scale.len()];
        for ((row, value), _) in self.rows.iter().zip(values).zip(used).filter(|(_, ok)| **ok) {
            sums.iter_mut().zip(&self.design[row.0]).for_each(|(sum, n)| *sum += n * value);
        }
        sums
    }

    fn residuals(&self, unknowns: &[f64]) -> Vec<f64> {
        let fitted: Vec<f64> = self
            .design
            .iter()
            .map(|row| row.iter().zip(unknowns).map(|(n, t)| n * t).sum())
            .collect();
        self.rows.iter().map(|(at, ticks)| ticks - fitted[*at]).collect()
    }

    fn without_outliers(&self, fit: &Fit) -> Vec<bool> {
        let sigma = robust_sd(&fit.residuals, 0.0);
        let largest = self.rows.iter().map(|row| row.1.abs()).fold(0.0, f64::max);
        let reach = OFF_PLANE * sigma + TWO_ROUNDINGS * self.state.quantum.step + 1e-9 * largest;
        fit.residuals.iter().map(|r| r.abs() <= reach).collect()
    }

    /// The fit of these readings, and which they are: where an unknown would have none, all of its
    /// readings stay, however far they scatter.
    fn fit_without(&self, mut used: Vec<bool>) -> Option<(Vec<bool>, Fit)> {
        if let Some(fit) = self.fit(&used) {
            return Some((used, fit));
        }
        for unknown in 0..self.scale.len() {
            let counts = |row: &(usize, f64)| self.design[row.0][unknown] != 0.0;
            if !self.rows.iter().zip(&used).any(|(row, used)| *used && counts(row)) {
                self.rows.iter().zip(&mut used).for_each(|(row, used)| *used |= counts(row));
            }
        }
        let fit = self.fit(&used)?;
        Some((used, fit))
    }

    fn solution(&self, fit: &Fit, used: &[bool]) -> Solution {
        let (unknowns, usable, quantum) = (fit.unknowns.len(), fit.used, self.state.quantum.step);
        let squares: f64 =
            fit.residuals.iter().zip(used).filter(|(_, ok)| **ok).map(|(r, _)| r * r).sum();
        let sigma2 = squares / (usable - unknowns).max(1) as f64;
        let binned = self.departure(fit, used);
        let values =
            fit.unknowns.iter().zip(&self.scale).map(|(value, scale)| value / scale).collect();
        let mut vector =
            Vector::of(values, Matrix::default(), std::sync::Arc::clone(&self.state.grid));
        vector.entries = self.entries(fit, used, sigma2, binned.as_ref());
        let largest = self.points(fit, used).map(|(fitted, _)| fitted.abs()).fold(0.0, f64::max);
        let places = self.places();
        let scatters =
            sigma2.sqrt() > EXACT_RESIDUAL * largest && sigma2.sqrt() >= LEAST_DITHER * quantum;
        vector.serial = scatters.then(|| self.serial(fit, &places, used)).flatten();
        Solution {
            components: components(&self.columns, &self.rank, &vec![f64::NAN; unknowns]),
            overhead: None,
            rank: self.rank.clone(),
            columns: self.columns.clone(),
            rows: self.row_fits(fit, used),
            lack_of_fit: more_significant(
                self.lack_of_fit(fit, used),
                binned.map(|binned| binned.lack_of_fit),
            ),
            largest,
            residual_sd: sigma2.sqrt(),
            readings: self.all_readings,
            readings_used: usable,
            off_plane: off_plane(&places, used),
            blocks: Vec::new(),
            quantum,
            phase_spread: (quantum > 0.0).then(|| sigma2.sqrt() / quantum),
            vector,
        }
    }

    /// The places of the readings in the table.
    fn places(&self) -> Vec<u32> {
        let sheet = &self.state.sheet;
        let of = |row: &RowId| sheet.row(*row).filter(|one| one.is_used).map(|one| one.at as u32);
        self.ids.iter().flat_map(of).collect()
    }

    /// The readings in use in the order of the table, if their counts rise or fall in that order.
    fn order(&self, places: &[u32], used: &[bool]) -> Option<Vec<usize>> {
        let mut order: Vec<usize> = (0..used.len()).filter(|at| used[*at]).collect();
        order.sort_unstable_by_key(|at| places[*at]);
        let follows = |column: usize| {
            let counts = || order.iter().map(|at| self.design[self.rows[*at].0][column]);
            counts().is_sorted() || counts().is_sorted_by(|a, b| a >= b)
        };
        (0..self.scale.len()).all(follows).then_some(order)
    }

    /// The correlation of the errors, and what it does to the unknowns; `None` if the readings were
    /// not taken in the order of their counts, or if there are too few.
    fn serial(&self, fit: &Fit, places: &[u32], used: &[bool]) -> Option<Serial> {
        let order = self.order(places, used)?;
        let in_order = InOrder {
            rows: order.iter().map(|at| &self.design[self.rows[*at].0][..]).collect(),
            residuals: order.iter().map(|at| fit.residuals[*at]).collect(),
            inverse: &fit.inverse,
        };
        in_order.serial(self.state.options.level)
    }

    /// What each unknown is uncertain by.
    fn entries(
        &self,
        fit: &Fit,
        used: &[bool],
        sigma2: f64,
        binned: Option<&Departure>,
    ) -> Vec<Vec<Entry>> {
        let (dof, quantum) = (fit.used - fit.unknowns.len(), self.state.quantum.step);
        let fitted =
            self.design.iter().map(|row| row.iter().zip(&fit.unknowns).map(|(n, t)| n * t).sum());
        let commensurate = is_commensurate(fitted, sigma2.sqrt(), quantum);
        let consistent = (dof >= HC_DOF as usize).then(|| self.consistent_variances(fit, used));
        let rounding = self.rounding(fit, sigma2);
        let counts = |j: usize| self.design.iter().map(move |row| row[j] * self.scale[j]);
        let of_unknown = |j: usize| {
            let classical = sigma2 * fit.inverse[(j, j)];
            let variance = consistent.as_ref().map_or(classical, |all| all[j].max(classical));
            let mut budget =
                vec![Entry::standard(Source::Noise, variance.sqrt() / self.scale[j], dof as f64)];
            if commensurate {
                budget.push(Entry::bound(Source::Quantum, largest_error(counts(j), quantum)));
            } else if rounding * fit.inverse[(j, j)] > variance {
                let sd = (rounding * fit.inverse[(j, j)] - variance).sqrt() / self.scale[j];
                budget.push(Entry::standard(Source::Quantum, sd, f64::INFINITY));
            }
            budget.extend(binned.and_then(|binned| self.departure_part(fit, j, binned)));
            let doubted = self
                .state
                .table
                .origin
                .reading_bound
                .map(|bound| largest_error(counts(j), 2.0 * bound));
            budget.extend(doubted.map(|bound| Entry::bound(Source::Readings, bound)));
            budget
        };
        (0..fit.unknowns.len()).map(of_unknown).collect()
    }

    /// Variance that the quantum leaves in a reading: two roundings at unknown phases, `q^2/6`,
    /// where the quantum is known or there is no noise beside it. Readings of the same row may have
    /// the same phase, so a few of them count as one.
    fn rounding(&self, fit: &Fit, sigma2: f64) -> f64 {
        let quantum = self.state.quantum;
        let is_bare = sigma2.sqrt() < LEAST_DITHER * quantum.step;
        let alike = (fit.used as f64 / self.design.len().max(1) as f64).max(1.0);
        if quantum.is_known || is_bare { alike * quantum.step * quantum.step / 6.0 } else { 0.0 }
    }

    /// Fitted value and residual of every reading in use.
    fn points<'f>(
        &'f self,
        fit: &'f Fit,
        used: &'f [bool],
    ) -> impl Iterator<Item = (f64, f64)> + Clone + 'f {
        let all = self.rows.iter().zip(&fit.residuals).zip(used);
        all.filter(|(_, ok)| **ok).map(|(((_, ticks), residual), _)| (ticks - residual, *residual))
    }

    /// The most significant departure from the plane: by fitted value, or along one component.
    fn departure(&self, fit: &Fit, used: &[bool]) -> Option<Departure> {
        let largest = self.points(fit, used).map(|(fitted, _)| fitted.abs()).fold(0.0, f64::max);
        let (width, rows) = (self.scale.len(), self.sample(fit, used));
        let along = in_parallel(width.div_ceil(TESTED_AT_ONCE as usize), |at| {
            let columns =
                at * TESTED_AT_ONCE as usize..width.min((at + 1) * TESTED_AT_ONCE as usize);
            along_columns(columns, &self.design, &rows, rounding(largest))
        });
        let along = along.into_iter().flatten().flatten();
        clearest(
            departure(self.points(fit, used))
                .into_iter()
                .chain(along)
                .collect::<Vec<Departure>>()
                .into_iter(),
        )
    }

    /// Rows of the design and residuals of the readings in use, or of a sample of them that follows
    /// no period.
    fn sample(&self, fit: &Fit, used: &[bool]) -> Vec<(usize, f64)> {
        let share = (MOST_TESTED / (fit.used * self.scale.len()) as f64).min(1.0);
        let most_hash = (share * f64::from(u32::MAX)) as u64;
        // Multiplicative hashing (Knuth, The Art of Computer Programming 3, 6.4).
        let picked = |at: usize| (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 <= most_hash;
        let readings_with_residuals = self.rows.iter().zip(&fit.residuals).zip(used).enumerate();
        readings_with_residuals
            .filter(|(at, (_, ok))| **ok && picked(*at))
            .map(|(_, (((row, _), residual), _))| (*row, *residual))
            .collect()
    }

    /// The contribution of a departure from the plane to an unknown. More readings do not average
    /// it out, so each bin counts as one row.
    fn departure_part(&self, fit: &Fit, unknown: usize, binned: &Departure) -> Option<Entry> {
        let lack = binned.lack_of_fit;
        let spread = fit.inverse[(unknown, unknown)] * fit.used as f64 / binned.bins as f64;
        let sd = lack.sd * spread.sqrt() / self.scale[unknown];
        (lack.p < FALSE_ALARM && sd > 0.0)
            .then(|| Entry::standard(Source::Departure, sd, lack.dof as f64))
    }

    /// Diagonal of `(X'X)^-1 X' diag(e^2/(1-h)^2) X (X'X)^-1`.
    fn consistent_variances(&self, fit: &Fit, used: &[bool]) -> Vec<f64> {
        let leverage = self.leverages(fit);
        let root = |i: usize| {
            if used[i] { fit.residuals[i].abs() / (1.0 - leverage(i)).max(1e-3) } else { 0.0 }
        };
        let meat = self.gram(root);
        (0..meat.rows()).map(|j| dot(&meat.times(fit.inverse.row(j)), fit.inverse.row(j))).collect()
    }

    /// Leverage of each reading. With many readings per unknown it is close to 0, and the mean
    /// leverage is used.
    fn leverages(&self, fit: &Fit) -> impl Fn(usize) -> f64 {
        const MANY_ROWS: usize = 100;
        let mean = fit.unknowns.len() as f64 / fit.used as f64;
        let few = fit.used < MANY_ROWS * fit.unknowns.len();
        let pieces = if few { self.design.len().div_ceil(CHUNK_ROWS) } else { 0 };
        let each = in_parallel(pieces, |at| self.chunk_leverages(fit, at)).concat();
        move |i| each.get(self.rows[i].0).copied().unwrap_or(mean)
    }

    /// Leverage of one reading of each distinct row of a chunk.
    fn chunk_leverages(&self, fit: &Fit, at: usize) -> Vec<f64> {
        let chunk = at * CHUNK_ROWS..self.design.len().min((at + 1) * CHUNK_ROWS);
        let leverage = |row: usize| {
            fit.factor.half(self.design[row].clone()).iter().map(|half| half * half).sum()
        };
        chunk.map(leverage).collect()
    }

    /// F test against the pure error of readings with equal counts, if there are any.
    fn lack_of_fit(&self, fit: &Fit, used: &[bool]) -> Option<LackOfFit> {
        // The first residual of each row, and the distances from it, which are exact where readings
        // are equal.
        let mut cells: Vec<Option<(f64, Moments)>> = vec![None; self.design.len()];
        for (((at, _), residual), _) in
            self.rows.iter().zip(&fit.residuals).zip(used).filter(|(_, ok)| **ok)
        {
            let (first, offs) = cells[*at].get_or_insert((*residual, Moments::default()));
            offs.add(&Moments::of(residual - *first));
        }
        let distinct = cells.iter().flatten().count();
        let pure: f64 = cells.iter().flatten().map(|(_, offs)| offs.around_mean()).sum();
        let rounding = rounding(self.rows.iter().map(|row| row.1.abs()).fold(0.0, f64::max));
        let mean = |first: f64, offs: &Moments| {
            Some(first + offs.mean()).filter(|mean| mean.abs() > rounding).unwrap_or(0.0)
        };
        let between: f64 = cells
            .iter()
            .flatten()
            .map(|(first, offs)| offs.count * mean(*first, offs).powi(2))
            .sum();
        let (dof, pure_dof) = (distinct.checked_sub(fit.unknowns.len())?, fit.used - distinct);
        if dof == 0 || pure_dof == 0 || pure <= 0.0 {
            return None;
        }
        let (noise, f) = (pure / pure_dof as f64, between / dof as f64 / (pure / pure_dof as f64));
        let p = f_tail(f, dof as f64, pure_dof as f64);
        let repeats = fit.used as f64 / distinct as f64;
        Some(LackOfFit {
            f,
            dof,
            p,
            sd: ((between / dof as f64 - noise) / repeats).max(0.0).sqrt(),
        })
    }

    /// One entry for each distinct row; empty if there are too many to list.
    fn row_fits(&self, fit: &Fit, used: &[bool]) -> Vec<RowFit> {
        if self.design.len() > MOST_LISTED as usize {
            return Vec::new();
        }
        let mut sums = vec![(0.0, 0usize); self.design.len()];
        for ((at, ticks), ok) in self.rows.iter().zip(used) {
            sums[*at] =
                (sums[*at].0 + if *ok { *ticks } else { 0.0 }, sums[*at].1 + usize::from(*ok));
        }
        let fitted = |at: usize| -> f64 {
            self.design[at].iter().zip(&fit.unknowns).map(|(n, t)| n * t).sum()
        };
        let reason = |row: RowId| {
            if self.state.is_excluded(row) { LeftOut::Excluded } else { LeftOut::OffLine }
        };
        let row_fit = |(at, (sum, count)): (usize, &(f64, usize))| {
            let row = self.ids[at];
            let all_ticks = || self.state.sheet.row(row).map(|one| one.ticks);
            let location = if *count > 0 {
                sum / *count as f64
            } else {
                median(&mut all_ticks().collect::<Vec<f64>>())
            };
            RowFit {
                row,
                counts: self.state.table.rows()[row as usize].counts.clone(),
                readings: self.state.sheet.number_of(row),
                used: *count,
                location,
                sd: None,
                residual: location - fitted(at),
                left_out: (*count == 0).then(|| reason(row)),
            }
        };
        sums.iter().enumerate().map(row_fit).collect()
    }
}

/// The places of the readings that are not used.
fn off_plane(places: &[u32], used: &[bool]) -> Vec<u32> {
    places.iter().zip(used).filter(|(_, used)| !**used).map(|(at, _)| *at).collect()
}

/// The more significant of the lack of fit against repeats and that against neighbours.
fn more_significant(
    repeats: Option<LackOfFit>,
    neighbours: Option<LackOfFit>,
) -> Option<LackOfFit> {
    match (repeats, neighbours) {
        (Some(a), Some(b)) => Some(if b.p < a.p { b } else { a }),
        (a, b) => a.or(b),
    }
}
