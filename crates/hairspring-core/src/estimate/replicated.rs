//! The estimator for repeated rows: row means, weighted least squares, and an interval that includes both the rows'
//! departure from the line and the variation between rounds.
//!
//! A bootstrap over rounds includes only the variation between rounds; on real chains its 95 % interval contained the true
//! value in 47 % of the runs. Here the rows' departure beyond their pure error is a separate variance component (DerSimonian
//! and Laird's moment estimator for random effects), and the rounds enter as means of blocks, so that slow noise and
//! frequency steps are fully included.

use super::blocks::{BlockMeans, variance_of_mean};
use super::commensurate::{is_commensurate, largest_error, unaveraged};
use super::ends::{left, take_off};
use super::groups::by_neighbours;
use super::interval::{Contribution, Source, Uncertain, f_tail};
use super::linear::LinearMap;
use super::location::{Grouped, Sample, excluded, median, total_weight};
use super::nonnegative::{Rows, nonnegative};
use super::rank::{Rank, exact_rank, spanned};
use super::scatter::scatter;
use super::solution::{LackOfFit, LeftOut, RowFit, Solution, assemble};
use super::{MIN_ROUNDS, Options, regression};
use crate::error::{Error, MORE_ROWS, Result};
use crate::observations::{Observations, Row, RowId};
use std::cell::LazyCell;
use std::collections::HashMap;

/// A lack of fit with a probability below this starts the search for rows off the line.
const LACK_OF_FIT_ALPHA: f64 = 0.005;
/// A lack of fit with a probability below this counts as a systematic departure and is included in the interval. The limit
/// is high, so that any departure that is not included is small compared with the stochastic part.
const DEPARTURE_ALPHA: f64 = 0.15;
/// A row deviating by more than this many median deviations may be left out.
const OFF_LINE: f64 = 6.0;
/// Passes of the search for outliers.
const OFF_LINE_PASSES: usize = 20;
/// Most rows of a table that counts as a line or plane whose shortest rows may bend.
const MOST_LINE_ROWS: usize = 64;
/// A table of more unknowns than this is no line or plane, unless it has so many rows for each: fits of few rows find many that seem to bend.
const MOST_UNKNOWNS: usize = 3;
const ROWS_FOR_EACH_UNKNOWN: usize = 5;
/// Readings whose difference is this far from a whole number of quanta were not rounded to them ...
const BETWEEN_QUANTA: f64 = 0.05;
/// ... if fewer than this share are nearer: a long outlier may be as far where the quantum is stated with few digits.
const MOSTLY_WHOLE: f64 = 0.9;
/// If the rest is not straight after a bend was left out, at most this share of the departure's variance may remain.
const MUCH_BETTER: f64 = 0.05;
/// More may remain, up to this share, where the departure is only this part of the clock's quantum: dithering leaves as much of it in a row.
const BETTER: f64 = 0.15;
const OF_QUANTUM: f64 = 0.06;
/// Leverage from which a row follows its own time whatever the other rows say.
const UNCHECKED: f64 = 0.999;
/// Product of two rows' leverages on each other above which they tell of the same component.
const SHARED: f64 = 1e-3;
/// Fewest degrees of freedom for which the departure of each row counts by itself: with fewer, all rows together tell more.
const FEWEST_FOR_EACH_ROW: f64 = 3.0;
/// Largest share of rows left out as the bend at few copies, and as outliers.
const MOST_BEND: f64 = 0.4;
const MOST_OFF_LINE: f64 = 0.2;
/// Below this spread, in quanta, repeated readings do not average the quantum out.
const DITHERED: f64 = 0.05;

/// Solves a series whose rows were repeated. Uses the regression instead if there are too few complete blocks of rounds.
pub fn solve(mut grouped: Grouped, table: &Observations, options: &Options) -> Result<Solution> {
    take_off(&mut grouped, &options.ends);
    let starved = split_starved(&mut grouped);
    let blocks = if options.visits.are_visits() {
        BlockMeans::complete(&grouped, table.rounds())
    } else {
        BlockMeans::new(&grouped, table.rounds())
    };
    if blocks.len() < MIN_ROUNDS {
        return regression::solve(&grouped, table, options);
    }
    let system = System::new(&grouped, table, &blocks)?;
    let marks = system.choose_rows(options);
    let active = in_use(&marks);
    if active.len() < system.rank.pivots.len() {
        return Err(system.too_few());
    }
    let fit = system.fit(&active).ok_or_else(|| system.singular(active.len()))?;
    Ok(system.solution(&fit, &marks, &starved, options))
}

/// A row with too few usable readings.
struct Starved {
    row: RowId,
    readings: Vec<Sample>,
}

/// Removes and returns the rows with too few usable readings, which would make every block incomplete.
fn split_starved(grouped: &mut Grouped) -> Vec<Starved> {
    let enough = grouped.typical_repeats().div_ceil(4).max(2);
    let mut starved = Vec::new();
    for at in (0..grouped.rows.len()).rev() {
        if (total_weight(&grouped.readings[at]) as usize) < enough {
            starved.push(Starved { row: grouped.rows.remove(at), readings: grouped.readings.remove(at) });
        }
    }
    starved
}

/// The system to be solved: one entry per row.
struct System<'a> {
    grouped: &'a Grouped,
    table: &'a Observations,
    blocks: &'a BlockMeans,
    columns: Vec<String>,
    rank: Rank,
    /// Counts of the pivot columns.
    design: Vec<Vec<f64>>,
    location: Vec<f64>,
    /// Variance of a single reading within blocks.
    reading_variance: Vec<Option<f64>>,
    /// Variance of each row's location among the other rows of the same rounds.
    location_variance: Vec<f64>,
    /// The part of it that comes from the clock's quantum, whatever the number of rounds; 0 where they average it out.
    stuck: f64,
}

/// A fit of the rows in use.
struct Fit {
    map: LinearMap,
    unknowns: Vec<f64>,
    residuals: Vec<f64>,
    lack_of_fit: Option<LackOfFit>,
    /// Variance of the rows' systematic departure.
    tau2: f64,
}

impl<'a> System<'a> {
    fn new(grouped: &'a Grouped, table: &'a Observations, blocks: &'a BlockMeans) -> Result<System<'a>> {
        let rows: Vec<&Row> = grouped.rows.iter().map(|id| &table.rows()[*id as usize]).collect();
        let full: Vec<Vec<f64>> = rows.iter().map(|row| row.counts.iter().copied().chain([1.0]).collect()).collect();
        let used = used_columns(&full);
        let full: Vec<Vec<f64>> = full.iter().map(|row| used.iter().map(|j| row[*j]).collect()).collect();
        let names: Vec<&str> = table.components().iter().map(String::as_str).chain(["overhead"]).collect();
        let rank = exact_rank(&full);
        let design = full.iter().map(|row| rank.pivots.iter().map(|j| row[*j]).collect()).collect();
        let reading_variance: Vec<Option<f64>> = grouped.readings.iter().map(|readings| within(readings, table.rounds())).collect();
        let location = blocks.overall();
        let own = location_variances(grouped, &scatter(&grouped.readings, &location));
        let own = if grouped.has_slow { by_evaluations(&own, &rows) } else { own };
        let stuck = stuck(grouped, table, &reading_variance);
        let location_variance = own.into_iter().map(|variance| variance + stuck).collect();
        let columns = used.iter().map(|j| names[*j].to_owned()).collect();
        Ok(System { grouped, table, blocks, columns, rank, design, location, reading_variance, location_variance, stuck })
    }

    fn too_few(&self) -> Error {
        Error::TooFewRows {
            usable: self.design.len(),
            unknowns: self.rank.pivots.len(),
            detail: "rows with the same counts count as one".into(),
            advice: MORE_ROWS,
        }
    }

    fn singular(&self, used: usize) -> Error {
        Error::Singular { rows: self.design.len(), left_out: self.design.len() - used, unknowns: self.rank.pivots.len(), advice: MORE_ROWS }
    }

    /// Weighted least squares over the rows in use. A second pass includes the departure of the rows in the weights.
    fn fit(&self, active: &[usize]) -> Option<Fit> {
        let pick = |all: &[f64]| -> Vec<f64> { active.iter().map(|i| all[*i]).collect() };
        let design: Vec<Vec<f64>> = active.iter().map(|i| self.design[*i].clone()).collect();
        let (values, variances) = (pick(&self.location), pick(&self.location_variance));
        let weights: Vec<f64> = variances.iter().map(|v| 1.0 / v).collect();
        let map = LinearMap::new(&design, &weights)?;
        let residuals = map.residuals(&values, &map.solve(&values));
        let dof = active.len() - self.rank.pivots.len();
        let chi2: f64 = residuals.iter().zip(&weights).map(|(r, w)| r * r * w).sum();
        // Moment estimator: E[chi2] = dof + tau2 * sum(w * (1 - leverage)).
        let sensitivity: f64 = weights.iter().zip(&map.leverage).map(|(w, h)| w * (1.0 - h)).sum();
        let lack = (dof > 0).then(|| self.lack_of_fit(chi2, dof));
        let departs = lack.is_some_and(|lack| lack.p < DEPARTURE_ALPHA);
        let tau2 = if departs { ((chi2 - dof as f64) / sensitivity).max(0.0) } else { 0.0 };
        let combined: Vec<f64> = variances.iter().map(|v| 1.0 / (v + tau2)).collect();
        let map = LinearMap::new(&design, &combined)?;
        let unknowns = map.solve(&values);
        let residuals = map.residuals(&values, &unknowns);
        let lack_of_fit = lack.map(|lack| LackOfFit { sd: tau2.sqrt(), ..lack });
        Some(Fit { map, unknowns, residuals, lack_of_fit, tau2 })
    }

    fn lack_of_fit(&self, chi2: f64, dof: usize) -> LackOfFit {
        let (_, used) = self.grouped.reading_counts();
        let repeats = used.saturating_sub(self.design.len()).max(1) as f64;
        let f = chi2 / dof as f64;
        let p = f_tail(f, dof as f64, repeats);
        LackOfFit { f, dof, p, sd: 0.0 }
    }

    /// The solution of a fit with its error budget.
    fn solution(&self, fit: &Fit, marks: &[(usize, Option<LeftOut>)], starved: &[Starved], options: &Options) -> Solution {
        let active = in_use(marks);
        let per_block: Vec<Vec<f64>> =
            self.blocks.means.iter().map(|means| fit.map.solve(&active.iter().map(|i| means[*i]).collect::<Vec<f64>>())).collect();
        let mut unknowns: Vec<Uncertain> = (0..fit.unknowns.len()).map(|j| self.uncertain(fit, &active, &per_block, j, options)).collect();
        if let Some(others) = self.without_negative(fit, &active, options) {
            let apart = |one: &Uncertain, other: f64| Contribution::bound(Source::LackOfFit, (one.value - other).abs());
            unknowns.iter_mut().zip(others).for_each(|(one, other)| one.budget.push(apart(one, other)));
        }
        let influence: Vec<f64> = (0..fit.unknowns.len()).map(|j| row_influence(fit, j)).collect();
        let (components, overhead) = assemble(&self.columns, &self.rank, unknowns, &influence, options.level);
        let (readings, readings_used) = self.grouped.reading_counts();
        let mean_square = fit.residuals.iter().map(|r| r * r).sum::<f64>() / fit.residuals.len() as f64;
        Solution {
            components,
            overhead,
            rank: self.rank.clone(),
            columns: self.columns.clone(),
            rows: self.row_fits(fit, marks, starved),
            lack_of_fit: fit.lack_of_fit,
            largest: self.location.iter().map(|location| location.abs()).fold(0.0, f64::max),
            residual_sd: mean_square.sqrt(),
            readings: readings + starved.iter().map(|row| row.readings.len()).sum::<usize>(),
            readings_used: readings_used + self.grouped.spared,
            blocks: self.blocks.from_round.iter().copied().zip(per_block).collect(),
            quantum: self.grouped.quantum,
            phase_spread: self.phase_spread(),
        }
    }

    fn uncertain(&self, fit: &Fit, active: &[usize], per_block: &[Vec<f64>], unknown: usize, options: &Options) -> Uncertain {
        let weights = fit.map.row_weights(unknown);
        let spread: f64 = weights.iter().map(|w| w * w).sum();
        let values: Vec<f64> = per_block.iter().map(|block| block[unknown]).collect();
        let (variance, dof) = variance_of_mean(&values);
        let is_commensurate = self.is_commensurate(fit, active);
        let is_locked = self.phase_spread().is_some_and(|spread| spread < DITHERED);
        // Few blocks may agree by chance, but not closer than the quantum lets them for long. Where phases do not change, it is an entry of
        // its own.
        let least: f64 = weights.iter().zip(active).map(|(w, row)| w * w / total_weight(&self.grouped.readings[*row]).max(1.0)).sum();
        let variance = if is_commensurate || is_locked { variance } else { variance.max(least * rounding(self.grouped)) };
        let mut budget = vec![Contribution::standard(Source::Stochastic, variance.sqrt(), dof)];
        if fit.tau2 > 0.0 {
            let single = Contribution::standard(Source::LackOfFit, (fit.tau2 * spread).sqrt(), (active.len() - fit.unknowns.len()) as f64);
            let follows = options.departure_follows_counts.then(|| self.departure_by_groups(fit, active, unknown)).flatten();
            let is_certain = fit.lack_of_fit.is_some_and(|lack| lack.p < LACK_OF_FIT_ALPHA);
            let by_rows = is_certain.then(|| self.departure_by_rows(fit, active, unknown)).flatten();
            let all = [Some(single), by_rows, follows];
            let width = |one: &Contribution| one.half_width(options.level);
            budget.extend(all.into_iter().flatten().max_by(|a, b| width(a).total_cmp(&width(b))));
        }
        if is_commensurate {
            let counts = active.iter().map(|row| self.design[*row][unknown]);
            budget.push(Contribution::bound(Source::Granularity, largest_error(counts, self.grouped.quantum)));
        } else if is_locked {
            // Two roundings at unknown, fixed phases: a triangular error of variance q^2/6 for each row.
            budget.push(Contribution::standard(Source::Granularity, self.grouped.quantum * (spread / 6.0).sqrt(), f64::INFINITY));
        } else if self.stuck > 0.0 {
            budget.push(Contribution::standard(Source::Granularity, (self.stuck * spread).sqrt(), f64::INFINITY));
        }
        // The worst case: every reading is off by the bound, in the direction that moves the unknown.
        let doubted = self.table.origin.reading_bound.map(|bound| bound * weights.iter().map(|weight| weight.abs()).sum::<f64>());
        budget.extend(doubted.map(|bound| Contribution::bound(Source::Readings, bound)));
        let rows: Vec<RowId> = active.iter().map(|at| self.grouped.rows[*at]).collect();
        budget.extend(left(&rows, &weights, &options.ends));
        Uncertain { value: fit.unknowns[unknown], budget }
    }

    /// The contribution of the departure to an unknown if it is larger in some rows than in others, as in long rows of code whose branches
    /// are predicted in short ones only: every row counts with its own residual (MacKinnon and White 1985, HC2). `None` if too
    /// few rows tell of the unknown.
    fn departure_by_rows(&self, fit: &Fit, active: &[usize], unknown: usize) -> Option<Contribution> {
        let squares: Vec<f64> = fit.map.row_weights(unknown).iter().map(|weight| weight * weight).collect();
        let sum: f64 = squares.iter().sum();
        // Satterthwaite's degrees of freedom of a sum of squares with these weights.
        let dof = (sum * sum / squares.iter().map(|square| square * square).sum::<f64>()).min((active.len() - fit.unknowns.len()) as f64);
        let own = |at: usize| fit.residuals[at].powi(2) / (1.0 - fit.map.leverage[at]).max(1e-3) - self.location_variance[active[at]];
        let variance: f64 = squares.iter().enumerate().map(|(at, square)| square * own(at)).sum();
        (dof >= FEWEST_FOR_EACH_ROW).then(|| Contribution::standard(Source::LackOfFit, variance.max(0.0).sqrt(), dof))
    }

    /// Times that are not negative, if parts overlap and these describe the rows nearly as well as the fit does.
    fn without_negative(&self, fit: &Fit, active: &[usize], options: &Options) -> Option<Vec<f64>> {
        if !options.overlapping || fit.tau2 <= 0.0 {
            return None;
        }
        let design: Vec<Vec<f64>> = active.iter().map(|at| self.design[*at].clone()).collect();
        let values: Vec<f64> = active.iter().map(|at| self.location[*at]).collect();
        let weights: Vec<f64> = active.iter().map(|at| 1.0 / (self.location_variance[*at] + fit.tau2)).collect();
        let is_sum = |terms: &[(usize, f64)]| terms.iter().all(|(_, coefficient)| *coefficient > 0.0);
        let bounded: Vec<bool> = self.rank.identifiable.iter().map(|one| is_sum(&one.terms)).collect();
        nonnegative(&Rows { design: &design, values: &values, weights: &weights }, &fit.unknowns, &bounded)
    }

    /// The contribution of the departure to an unknown if it follows the counts: the larger of those from groups of rows of
    /// similar size, and from groups of rows with similar counts of the unknown.
    fn departure_by_groups(&self, fit: &Fit, active: &[usize], unknown: usize) -> Option<Contribution> {
        let weights = fit.map.row_weights(unknown);
        let corrected = |at: usize| fit.residuals[at] / (1.0 - fit.map.leverage[at]).max(1e-3).sqrt();
        let shares: Vec<f64> = (0..active.len()).map(|at| weights[at] * corrected(at)).collect();
        let noise: f64 = weights.iter().zip(active).map(|(weight, row)| weight * weight * self.location_variance[*row]).sum();
        let fitted: Vec<f64> = active.iter().zip(&fit.residuals).map(|(row, residual)| self.location[*row] - residual).collect();
        let by_size: Vec<(f64, f64)> = fitted.iter().map(|size| (*size, 0.0)).collect();
        let by_count: Vec<(f64, f64)> = active.iter().zip(&fitted).map(|(row, size)| (self.design[*row][unknown], *size)).collect();
        let variances = [by_neighbours(&shares, &by_size)?, by_neighbours(&shares, &by_count)?];
        let widest = variances.into_iter().max_by(|a, b| a.variance.total_cmp(&b.variance))?;
        Some(Contribution::standard(Source::LackOfFit, (widest.variance - noise).max(0.0).sqrt(), widest.dof))
    }

    fn is_commensurate(&self, fit: &Fit, active: &[usize]) -> bool {
        let fitted = active.iter().zip(&fit.residuals).map(|(row, residual)| self.location[*row] - residual);
        let mut sds: Vec<f64> = active.iter().filter_map(|row| self.reading_variance[*row]).map(f64::sqrt).collect();
        is_commensurate(fitted, median(&mut sds), self.grouped.quantum)
    }

    fn phase_spread(&self) -> Option<f64> {
        let quantum = (self.grouped.quantum > 0.0).then_some(self.grouped.quantum)?;
        self.reading_variance.iter().flatten().map(|v| v.sqrt() / quantum).max_by(f64::total_cmp)
    }

    fn row_fits(&self, fit: &Fit, marks: &[(usize, Option<LeftOut>)], starved: &[Starved]) -> Vec<RowFit> {
        let fitted = |design: &[f64]| -> f64 { design.iter().zip(&fit.unknowns).map(|(n, t)| n * t).sum() };
        let kept = marks.iter().map(|(at, left_out)| {
            let (row, readings) = (self.grouped.rows[*at], &self.grouped.readings[*at]);
            RowFit {
                row,
                counts: self.table.rows()[row as usize].counts.clone(),
                readings: readings.len(),
                used: total_weight(readings) as usize,
                location: self.location[*at],
                sd: self.reading_variance[*at].map(f64::sqrt),
                residual: self.location[*at] - fitted(&self.design[*at]),
                left_out: *left_out,
            }
        });
        let excluded = LazyCell::new(|| excluded(self.table));
        let lost = starved.iter().map(|lost| RowFit {
            row: lost.row,
            counts: self.table.rows()[lost.row as usize].counts.clone(),
            readings: lost.readings.len(),
            used: 0,
            location: median(&mut lost.readings.iter().map(|sample| sample.ticks).collect::<Vec<f64>>()),
            sd: None,
            residual: f64::NAN,
            left_out: Some(if excluded.contains(&lost.row) { LeftOut::Excluded } else { LeftOut::Interference }),
        });
        let mut rows: Vec<RowFit> = kept.chain(lost).collect();
        rows.sort_by_key(|row| row.row);
        rows
    }

    /// Chooses the rows to fit: leaves out first the bend at few copies, then single rows far off the line.
    fn choose_rows(&self, options: &Options) -> Vec<(usize, Option<LeftOut>)> {
        let mut marks: Vec<(usize, Option<LeftOut>)> = (0..self.design.len()).map(|i| (i, None)).collect();
        if options.leave_rows_out {
            match options.shortest_left_out {
                0 => self.leave_out_bend(&mut marks),
                rows => self.by_length().into_iter().take(rows).for_each(|row| marks[row].1 = Some(LeftOut::Bend)),
            }
            self.leave_out_outliers(&mut marks);
        }
        marks
    }

    /// The fit of the rows in use, and whether it is straight; `None` if no row is to spare.
    fn try_fit(&self, marks: &[(usize, Option<LeftOut>)]) -> Option<(Fit, bool)> {
        let active = in_use(marks);
        let spare = active.len() > self.rank.pivots.len() + 1;
        let fit = spare.then(|| self.fit(&active)).flatten()?;
        let straight = fit.lack_of_fit.is_none_or(|lack| lack.p > LACK_OF_FIT_ALPHA);
        Some((fit, straight))
    }

    /// Leaves out the fewest shortest rows such that the rest is straight or, if it never is, such that almost all of the
    /// departure is gone. Not if nothing would check a row any longer that others check: shortest rows may be the only ones beside it
    /// that tell of a component.
    fn leave_out_bend(&self, marks: &mut [(usize, Option<LeftOut>)]) {
        let unknowns = self.rank.pivots.len();
        if marks.len() > MOST_LINE_ROWS || unknowns > MOST_UNKNOWNS && marks.len() < ROWS_FOR_EACH_UNKNOWN * unknowns {
            return;
        }
        let Some((whole, false)) = self.try_fit(marks) else { return };
        let all = in_use(marks);
        let most = (marks.len() as f64 * MOST_BEND) as usize;
        let (mut trial, mut better) = (marks.to_vec(), None);
        for row in self.by_length().into_iter().take(most) {
            trial[row].1 = Some(LeftOut::Bend);
            match self.try_fit(&trial) {
                Some((fit, _)) if !no_longer_checked((&whole, &all), (&fit, &in_use(&trial))).is_empty() => break,
                Some((_, true)) => return marks.copy_from_slice(&trial),
                Some((fit, false)) if self.is_much_better(&fit, &whole) => better = better.or(Some(trial.clone())),
                Some(_) => {}
                None => break,
            }
        }
        if let Some(trial) = better {
            marks.copy_from_slice(&trial);
        }
    }

    /// The rows, the shortest first.
    fn by_length(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.design.len()).collect();
        rows.sort_by(|a, b| self.location[*a].total_cmp(&self.location[*b]));
        rows
    }

    /// Whether almost all of the departure of the whole table is gone, or all but what the clock's quantum explains.
    fn is_much_better(&self, fit: &Fit, whole: &Fit) -> bool {
        let explained = OF_QUANTUM * self.grouped.quantum;
        fit.tau2 < MUCH_BETTER * whole.tau2 || fit.tau2 < BETTER * whole.tau2 && fit.tau2 < explained * explained
    }

    /// Leaves out rows whose deviation is far above the median deviation, until the rest is straight.
    fn leave_out_outliers(&self, marks: &mut [(usize, Option<LeftOut>)]) {
        let most = (marks.len() as f64 * MOST_OFF_LINE) as usize;
        for _ in 0..OFF_LINE_PASSES {
            let Some((fit, false)) = self.try_fit(marks) else { return };
            let active = in_use(marks);
            let sizes: Vec<f64> = fit.residuals.iter().map(|r| r.abs()).collect();
            let limit = OFF_LINE * median(&mut sizes.clone());
            // Only the worst tenth in each pass: an outlier tilts the plane, so that good rows also seem off.
            let mut off: Vec<usize> = (0..sizes.len()).filter(|at| sizes[*at] > limit).collect();
            off.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
            off.truncate(off.len().div_ceil(10));
            self.keep_needed(&mut off, &fit, &active);
            let gone = marks.iter().filter(|mark| mark.1 == Some(LeftOut::OffLine)).count();
            if off.is_empty() || gone + off.len() > most {
                return;
            }
            off.into_iter().for_each(|at| marks[active[at]].1 = Some(LeftOut::OffLine));
        }
    }

    /// Takes those out of `off`, places in `active`, without which nothing would check the others: if all rows with a component are off, or
    /// all but one, nothing shows which of them is right.
    fn keep_needed(&self, off: &mut Vec<usize>, fit: &Fit, active: &[usize]) {
        let before = &fit.map.leverage;
        let others: Vec<usize> = (0..active.len()).filter(|at| !off.contains(at)).collect();
        let checked = others.iter().map(|at| before[*at]).filter(|leverage| *leverage < UNCHECKED).fold(0.0, f64::max);
        // Rows can be needed only if their leverages and that of one other row amount to 1.
        if off.iter().map(|at| before[*at]).sum::<f64>() + checked < UNCHECKED {
            return;
        }
        let designs = |places: &[usize]| places.iter().map(|at| self.design[active[*at]].clone()).collect::<Vec<_>>();
        let mut spanned = spanned(&designs(&others), &designs(off)).into_iter();
        off.retain(|_| spanned.next().unwrap_or(false));
        let rest: Vec<usize> = (0..active.len()).filter(|at| !off.contains(at)).map(|at| active[at]).collect();
        let Some(after) = self.fit(&rest) else { return off.clear() };
        let unchecked = no_longer_checked((fit, active), (&after, &rest));
        off.retain(|row| unchecked.iter().all(|other| fit.map.shared(*row, *other) < SHARED));
    }
}

fn in_use(marks: &[(usize, Option<LeftOut>)]) -> Vec<usize> {
    marks.iter().filter(|mark| mark.1.is_none()).map(|mark| mark.0).collect()
}

/// The rows that are left and were checked by those that are not, and by no other, as their places in `all`: each fit with its rows.
fn no_longer_checked((before, all): (&Fit, &[usize]), (after, left): (&Fit, &[usize])) -> Vec<usize> {
    let alone = left.iter().zip(&after.map.leverage).filter(|(_, leverage)| **leverage >= UNCHECKED);
    let places = alone.filter_map(|(row, _)| all.iter().position(|one| one == row));
    places.filter(|at| before.map.leverage[*at] < UNCHECKED).collect()
}

/// Largest change of an unknown when any one row is left out (the closed form of the leave-one-out fit).
fn row_influence(fit: &Fit, unknown: usize) -> f64 {
    let weights = fit.map.row_weights(unknown);
    let shifts = weights.iter().zip(&fit.residuals).zip(&fit.map.leverage).map(|((w, r), h)| (w * r / (1.0 - h).max(1e-9)).abs());
    shifts.fold(0.0, f64::max)
}

/// Columns that are not 0 in every row, because a series need not use every component of its table.
fn used_columns(rows: &[Vec<f64>]) -> Vec<usize> {
    let columns = rows.first().map_or(0, Vec::len);
    (0..columns).filter(|j| rows.iter().any(|row| row[*j] != 0.0)).collect()
}

/// Variance of single readings around the mean of their neighbours in time, which excludes slow drifts.
fn within(readings: &[Sample], rounds: u32) -> Option<f64> {
    let block_rounds = (rounds / 32).max(2);
    let (mut squares, mut dof) = (0.0, 0.0);
    let usable: Vec<Sample> = readings.iter().filter(|sample| sample.is_used()).copied().collect();
    for chunk in usable.chunk_by(|a, b| a.round / block_rounds == b.round / block_rounds) {
        let weight = total_weight(chunk);
        if chunk.len() > 1 && weight > 1.0 {
            let sum = |value: &dyn Fn(&Sample) -> f64| chunk.iter().map(|sample| f64::from(sample.weight) * value(sample)).sum::<f64>();
            let mean = sum(&|sample| sample.ticks) / weight;
            squares += sum(&|sample| (sample.ticks - mean).powi(2));
            dof += weight - 1.0;
        }
    }
    (dof > 0.0).then(|| squares / dof)
}

/// Variance of each row's location. It is at least a tenth of the typical variance, and at least that of rounding, because a
/// row whose readings happen to be equal is not infinitely certain.
fn location_variances(grouped: &Grouped, reading_variance: &[Option<f64>]) -> Vec<f64> {
    let raw: Vec<f64> = grouped
        .readings
        .iter()
        .zip(reading_variance)
        .map(|(readings, variance)| variance.unwrap_or(f64::NAN) / total_weight(readings).max(1.0))
        .collect();
    let mut known: Vec<f64> = raw.iter().copied().filter(|v| v.is_finite()).collect();
    let typical = if known.is_empty() { 1.0 } else { median(&mut known) };
    let largest = grouped.readings.iter().flatten().map(|sample| sample.ticks.abs()).fold(0.0, f64::max);
    let floor = (typical / 10.0).max((largest * 1e-9).powi(2)).max((grouped.quantum * 1e-6).powi(2)).max(1e-24);
    let rounding = grouped.readings.iter().map(|readings| rounding(grouped) / total_weight(readings).max(1.0));
    raw.iter().zip(rounding).map(|(v, rounding)| if v.is_finite() { v.max(floor) } else { typical.max(floor) }.max(rounding)).collect()
}

/// Variances of the same mean, each as many times as large as the row has evaluations: those that are slow come at random. A row that met none of
/// them shows a small variance, and would draw the line to the time without them.
fn by_evaluations(variances: &[f64], rows: &[&Row]) -> Vec<f64> {
    let evaluations: Vec<f64> = rows.iter().map(|row| row.counts.iter().sum::<f64>().max(1.0)).collect();
    let one = variances.iter().sum::<f64>() / evaluations.iter().sum::<f64>();
    evaluations.iter().map(|number| number * one).collect()
}

/// Variance of a reading by the quantum alone, where that is stated: two roundings at phases that are evenly distributed. A row whose few
/// readings happen to be equal has no smaller one, and would else draw the line to its whole number of quanta.
fn rounding(grouped: &Grouped) -> f64 {
    if grouped.is_quantum_known { grouped.quantum * grouped.quantum / 6.0 } else { 0.0 }
}

/// Variance of each row's location by rounding to the quantum that more rounds do not reduce. Rounds that are measured beside a reference chain
/// begin at random phases. Readings between whole quanta were not rounded to this quantum.
fn stuck(grouped: &Grouped, table: &Observations, reading_variance: &[Option<f64>]) -> f64 {
    let known: Vec<f64> = reading_variance.iter().flatten().copied().collect();
    let square = grouped.quantum * grouped.quantum;
    if table.origin.reference.is_some() || known.is_empty() || square <= 0.0 {
        return 0.0;
    }
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    unaveraged(mean / square).filter(|_| are_whole(grouped, table)).map_or(0.0, |variance| variance * square)
}

/// Whether readings of a row differ by whole numbers of quanta, but for the digits that a file may have cut. They themselves need not be whole:
/// a constant may be subtracted from them.
fn are_whole(grouped: &Grouped, table: &Observations) -> bool {
    let mut firsts: HashMap<RowId, Option<f64>> = grouped.rows.iter().map(|row| (*row, None)).collect();
    let (mut whole, mut all) = (0_usize, 0_usize);
    for reading in table.readings().iter().filter(|reading| !reading.flags.any()) {
        let Some(first) = firsts.get_mut(&reading.row) else { continue };
        let quanta = (reading.ticks - *first.get_or_insert(reading.ticks)) / grouped.quantum;
        whole += usize::from((quanta - quanta.round()).abs() < BETWEEN_QUANTA);
        all += 1;
    }
    whole as f64 >= MOSTLY_WHOLE * all as f64
}
