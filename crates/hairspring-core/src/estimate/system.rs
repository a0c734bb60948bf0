//! Weighted least squares over the locations of rows, with the rows' departure from the line as a
//! variance component of its own (DerSimonian and Laird's moment estimator for random effects).

use super::interval::f_tail;
use super::linear::LinearMap;
use super::rank::{Rank, exact_rank, spanned};
use super::solution::LackOfFit;

/// The system of a series: one entry for each row.
#[derive(Debug)]
pub(crate) struct System {
    /// Names of the columns that are not 0 in every row; the last one is the overhead.
    pub columns: Vec<String>,
    pub rank: Rank,
    /// Counts of the pivot columns.
    pub design: Vec<Vec<f64>>,
    pub location: Vec<f64>,
    /// Variance of each row's location among the other rows of the same rounds.
    pub variance: Vec<f64>,
    /// Independent values that show it.
    pub repeats: f64,
}

/// A fit of some rows.
#[derive(Debug)]
pub(crate) struct Fit {
    pub map: LinearMap,
    pub unknowns: Vec<f64>,
    pub residuals: Vec<f64>,
    pub lack_of_fit: Option<LackOfFit>,
    /// Variance of the rows' systematic departure.
    pub tau2: f64,
}

impl System {
    /// A system of rows with these counts of the table's components.
    pub fn new(components: &[String], counts: &[&[f64]]) -> System {
        let full: Vec<Vec<f64>> =
            counts.iter().map(|row| row.iter().copied().chain([1.0]).collect()).collect();
        let used: Vec<usize> = (0..full.first().map_or(0, Vec::len))
            .filter(|j| full.iter().any(|row| row[*j] != 0.0))
            .collect();
        let full: Vec<Vec<f64>> =
            full.iter().map(|row| used.iter().map(|j| row[*j]).collect()).collect();
        let names: Vec<&str> = components.iter().map(String::as_str).chain(["overhead"]).collect();
        let rank = exact_rank(&full);
        let design = full.iter().map(|row| rank.pivots.iter().map(|j| row[*j]).collect()).collect();
        let columns = used.iter().map(|j| names[*j].to_owned()).collect();
        System { columns, rank, design, location: Vec::new(), variance: Vec::new(), repeats: 0.0 }
    }

    /// The same, with the location of each row, its variance, and the number of independent values
    /// that show it.
    #[must_use]
    pub fn with(self, location: Vec<f64>, variance: Vec<f64>, repeats: f64) -> System {
        System { location, variance, repeats, ..self }
    }

    pub fn unknowns(&self) -> usize {
        self.rank.pivots.len()
    }

    /// Weighted least squares over these rows; `None` if they are singular. Departures with a
    /// larger probability by chance than `alpha` do not count; else a second pass has them in the
    /// weights.
    pub fn fit(&self, rows: &[usize], alpha: f64) -> Option<Fit> {
        let pick =
            |of_all_rows: &[f64]| -> Vec<f64> { rows.iter().map(|i| of_all_rows[*i]).collect() };
        let design: Vec<Vec<f64>> = rows.iter().map(|i| self.design[*i].clone()).collect();
        let (values, variances) = (pick(&self.location), pick(&self.variance));
        let weights: Vec<f64> = variances.iter().map(|v| 1.0 / v).collect();
        let map = LinearMap::new(&design, &weights)?;
        let residuals = map.residuals(&values, &map.solve(&values));
        let dof = rows.len() - self.unknowns();
        let chi2: f64 = residuals.iter().zip(&weights).map(|(r, w)| r * r * w).sum();
        // Moment estimator: E[chi2] = dof + tau2 * sum(w * (1 - leverage)).
        let sensitivity: f64 = weights.iter().zip(&map.leverage).map(|(w, h)| w * (1.0 - h)).sum();
        let lack = (dof > 0).then(|| self.lack_of_fit(chi2, dof));
        let departs = lack.is_some_and(|lack| lack.p < alpha);
        let tau2 = if departs { ((chi2 - dof as f64) / sensitivity).max(0.0) } else { 0.0 };
        let (map, unknowns) = self.weighted(rows, tau2)?;
        let residuals = map.residuals(&values, &unknowns);
        let lack_of_fit = lack.map(|lack| LackOfFit { sd: tau2.sqrt(), ..lack });
        Some(Fit { map, unknowns, residuals, lack_of_fit, tau2 })
    }

    /// The least squares over these rows, with this variance of departure in the weights.
    pub fn weighted(&self, rows: &[usize], tau2: f64) -> Option<(LinearMap, Vec<f64>)> {
        let design: Vec<Vec<f64>> = rows.iter().map(|row| self.design[*row].clone()).collect();
        let weights: Vec<f64> = rows.iter().map(|row| 1.0 / (self.variance[*row] + tau2)).collect();
        let map = LinearMap::new(&design, &weights)?;
        let unknowns = map.solve(&rows.iter().map(|row| self.location[*row]).collect::<Vec<f64>>());
        Some((map, unknowns))
    }

    fn lack_of_fit(&self, chi2: f64, dof: usize) -> LackOfFit {
        let f = chi2 / dof as f64;
        LackOfFit { f, dof, p: f_tail(f, dof as f64, self.repeats), sd: 0.0 }
    }

    /// What a row takes by a fit.
    pub fn fitted(&self, row: usize, fit: &Fit) -> f64 {
        self.design[row].iter().zip(&fit.unknowns).map(|(n, t)| n * t).sum()
    }

    /// Whether each of some rows is a sum of others.
    pub fn spanned(&self, other_rows: &[usize], rows: &[usize]) -> Vec<bool> {
        let designs =
            |rows: &[usize]| rows.iter().map(|row| self.design[*row].clone()).collect::<Vec<_>>();
        spanned(&designs(other_rows), &designs(rows))
    }
}

/// Variance of each row's location, from the means of the rows in blocks: a factor that all rows of
/// a block share, as a step of the core clock, takes none of them off the line. `NAN` where too few
/// blocks show it; and the number of independent values.
pub(crate) fn location_variances(
    means: &[Vec<f64>],
    weights: &[f64],
    location: &[f64],
) -> (Vec<f64>, f64) {
    let square: f64 = location.iter().map(|one| one * one).sum();
    let factor = |block: &Vec<f64>| {
        if square > 0.0 {
            block.iter().zip(location).map(|(mean, one)| mean * one).sum::<f64>() / square
        } else {
            1.0
        }
    };
    let factors: Vec<f64> = means.iter().map(factor).collect();
    let effective = 1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>();
    let variance = |(row, location_of_row): (usize, &f64)| {
        let squares: f64 = means
            .iter()
            .zip(&factors)
            .zip(weights)
            .map(|((block, factor), weight)| {
                weight * (block[row] - location_of_row * factor).powi(2)
            })
            .sum();
        let independent =
            1.0 - if square > 0.0 { location_of_row * location_of_row / square } else { 0.0 };
        if independent > 0.01 && effective > 1.0 {
            squares / independent / (effective - 1.0)
        } else {
            f64::NAN
        }
    };
    let all = location.iter().enumerate().map(variance).collect();
    (all, (effective - 1.0) * (location.len() as f64 - 1.0).max(1.0))
}
