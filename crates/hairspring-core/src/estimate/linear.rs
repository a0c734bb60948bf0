//! Weighted least squares as a linear map from row locations to unknowns.

use super::algebra::{Cholesky, Matrix, dot};

/// Ratio of the smallest to the largest pivot below which the columns count as dependent.
const SINGULAR_PIVOTS: f64 = 1e-7;

/// The least-squares solution of `X b = y` with given row weights, as matrices that can be applied
/// to many `y`.
#[derive(Debug, Clone)]
pub struct LinearMap {
    /// Unknowns by rows: `b = map * y`.
    pub map: Matrix,
    /// The design matrix, rows by unknowns.
    pub design: Matrix,
    /// Leverage of each row.
    pub leverage: Vec<f64>,
}

impl LinearMap {
    /// Solves the normal equations of the scaled system; `None` if they are singular.
    ///
    /// The columns must be independent (see [`super::rank`]); each is scaled to a largest entry of
    /// 1 first.
    pub fn new(design: &[Vec<f64>], weights: &[f64]) -> Option<LinearMap> {
        let (rows, unknowns) = (design.len(), design.first()?.len());
        let scale: Vec<f64> = (0..unknowns)
            .map(|j| design.iter().map(|row| row[j].abs()).fold(0.0, f64::max))
            .collect();
        if rows < unknowns || scale.contains(&0.0) {
            return None;
        }
        let root: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let scaled = Matrix::from_fn(rows, unknowns, |i, j| design[i][j] / scale[j] * root[i]);
        let factor =
            Cholesky::new(&Matrix::gram(unknowns, (0..rows).map(|i| (scaled.row(i), 1.0))))?;
        let smallest = factor.diagonal().fold(f64::INFINITY, f64::min);
        if smallest < SINGULAR_PIVOTS * factor.diagonal().fold(0.0, f64::max) {
            return None;
        }
        let inverse: Vec<Vec<f64>> =
            (0..rows).map(|i| factor.solve(scaled.row(i).to_vec())).collect();
        let leverage = (0..rows).map(|i| dot(scaled.row(i), &inverse[i])).collect();
        let map = Matrix::from_fn(unknowns, rows, |j, i| inverse[i][j] * root[i] / scale[j]);
        Some(LinearMap {
            map,
            design: Matrix::from_fn(rows, unknowns, |i, j| design[i][j]),
            leverage,
        })
    }

    /// The unknowns for one vector of row values.
    pub fn solve(&self, values: &[f64]) -> Vec<f64> {
        self.map.times(values)
    }

    /// The row values minus the fitted plane.
    pub fn residuals(&self, values: &[f64], unknowns: &[f64]) -> Vec<f64> {
        values
            .iter()
            .enumerate()
            .map(|(i, value)| value - dot(self.design.row(i), unknowns))
            .collect()
    }

    /// The product of the leverages of two rows on each other; 0 if they tell of different
    /// unknowns.
    pub fn shared(&self, a: usize, b: usize) -> f64 {
        let on = |of: usize, by: usize| -> f64 {
            self.design.row(of).iter().enumerate().map(|(j, count)| count * self.map[(j, by)]).sum()
        };
        on(a, b) * on(b, a)
    }

    /// The weights of the row values in one unknown.
    pub fn row_weights(&self, unknown: usize) -> Vec<f64> {
        self.map.row(unknown).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equations 4 and 5 of Moreno and Fischmeister, literally.
    fn paper_line(x: &[f64], y: &[f64]) -> (f64, f64) {
        let m = x.len() as f64;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(p, q)| p * q).sum::<f64>();
        let sum = |a: &[f64]| a.iter().sum::<f64>();
        let d = m * dot(x, x) - sum(x).powi(2);
        ((m * dot(x, y) - sum(x) * sum(y)) / d, (dot(x, x) * sum(y) - sum(x) * dot(x, y)) / d)
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_the_closed_form(y in proptest::collection::vec(-1e3f64..1e3, 3..40)) {
            let x: Vec<f64> = (1..=y.len()).map(|k| k as f64).collect();
            let design: Vec<Vec<f64>> = x.iter().map(|k| vec![*k, 1.0]).collect();
            let fit = LinearMap::new(&design, &vec![1.0; y.len()]).unwrap().solve(&y);
            let (a, b) = paper_line(&x, &y);
            proptest::prop_assert!((fit[0] - a).abs() < 1e-8 * (1.0 + a.abs()));
            proptest::prop_assert!((fit[1] - b).abs() < 1e-8 * (1.0 + b.abs()));
        }
    }

    #[test]
    fn singular_system_has_no_solution() {
        assert!(
            LinearMap::new(&[vec![1.0, 1.0], vec![2.0, 2.0], vec![3.0, 3.0]], &[1.0; 3]).is_none()
        );
        assert!(LinearMap::new(&[vec![1.0, 0.0], vec![2.0, 0.0]], &[1.0; 2]).is_none());
        assert!(LinearMap::new(&[vec![1.0, 1.0]], &[1.0]).is_none());
    }
}
