//! Dense linear algebra for normal equations: a matrix, weighted sums of outer products, Cholesky factors. The work is nalgebra's.

use nalgebra::{DMatrix, DVector, Dyn};

/// A matrix that is read by rows: its transpose, whose columns lie one behind the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix(DMatrix<f64>);

impl Default for Matrix {
    fn default() -> Matrix {
        Matrix::zeros(0, 0)
    }
}

impl Matrix {
    /// All zeros.
    pub fn zeros(rows: usize, columns: usize) -> Matrix {
        Matrix(DMatrix::zeros(columns, rows))
    }

    /// The value at each row and column.
    pub fn from_fn(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Matrix {
        Matrix(DMatrix::from_fn(columns, rows, |column, row| value(row, column)))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.0.ncols()
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        let width = self.0.nrows();
        &self.0.as_slice()[row * width..(row + 1) * width]
    }

    /// Adds another matrix of the same size.
    #[must_use]
    pub fn plus(self, other: &Matrix) -> Matrix {
        Matrix(self.0 + &other.0)
    }

    /// The matrix times a column.
    pub fn times(&self, column: &[f64]) -> Vec<f64> {
        (0..self.rows()).map(|i| dot(self.row(i), column)).collect()
    }

    /// `sum of w x x'` over rows `x` of this width with weights `w`, none of them negative.
    pub fn gram<'r>(width: usize, rows: impl Iterator<Item = (&'r [f64], f64)>) -> Matrix {
        let weighted = rows.filter(|(_, weight)| *weight != 0.0).map(|(row, weight)| (&row[..width], weight.sqrt()));
        let values: Vec<f64> = weighted.flat_map(|(row, root)| row.iter().map(move |value| value * root)).collect();
        let rows = DMatrix::from_vec(width, values.len().checked_div(width).unwrap_or(0), values);
        Matrix(&rows * rows.transpose())
    }
}

impl std::ops::Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.0[(column, row)]
    }
}

/// Sum of products of two rows.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The lower factor `L` of a symmetric positive definite matrix `L L'`.
#[derive(Debug, Clone)]
pub struct Cholesky(nalgebra::Cholesky<f64, Dyn>);

impl Cholesky {
    /// Factors a symmetric matrix; `None` where it is not positive definite.
    pub fn new(matrix: &Matrix) -> Option<Cholesky> {
        nalgebra::Cholesky::new(matrix.0.clone()).map(Cholesky)
    }

    /// The pivots.
    pub fn diagonal(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        let factor = self.0.l_dirty();
        (0..factor.nrows()).map(move |at| factor[(at, at)])
    }

    /// `L⁻¹ right`.
    pub fn half(&self, right: Vec<f64>) -> Vec<f64> {
        let mut right = DVector::from_vec(right);
        self.0.l_dirty().solve_lower_triangular_mut(&mut right);
        right.data.into()
    }

    /// The solution of `L L' x = right`.
    pub fn solve(&self, right: Vec<f64>) -> Vec<f64> {
        self.0.solve(&DVector::from_vec(right)).data.into()
    }

    /// `(L L')⁻¹`.
    pub fn inverse(&self) -> Matrix {
        Matrix(self.0.inverse())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rows of one width with weights.
    fn rows() -> impl Strategy<Value = Vec<(Vec<f64>, f64)>> {
        (1usize..11).prop_flat_map(|width| prop::collection::vec((prop::collection::vec(-1.0..1.0, width), 0.0..2.0), 12..70))
    }

    fn gram(rows: &[(Vec<f64>, f64)]) -> Matrix {
        Matrix::gram(rows[0].0.len(), rows.iter().map(|(row, weight)| (&row[..], *weight)))
    }

    /// The same with a diagonal that keeps its condition number below a thousand.
    fn well_conditioned(rows: &[(Vec<f64>, f64)]) -> Matrix {
        let (width, plain) = (rows[0].0.len(), gram(rows));
        Matrix::from_fn(width, width, |i, j| plain[(i, j)] + if i == j { 1.0 } else { 0.0 })
    }

    fn near(a: f64, b: f64, scale: f64) -> bool {
        (a - b).abs() <= 1e-10 * scale
    }

    proptest! {
        #[test]
        fn gram_matrix_is_the_sum_of_outer_products(rows in rows()) {
            let (width, found) = (rows[0].0.len(), gram(&rows));
            for (i, j) in (0..width).flat_map(|i| (0..width).map(move |j| (i, j))) {
                let naive: f64 = rows.iter().map(|(row, weight)| weight * row[i] * row[j]).sum();
                prop_assert!(near(found[(i, j)], naive, 100.0), "{i} {j}: {} {naive}", found[(i, j)]);
            }
        }

        #[test]
        fn solution_satisfies_the_system(rows in rows()) {
            let matrix = well_conditioned(&rows);
            let right = rows[1].0.clone();
            let solution = Cholesky::new(&matrix).unwrap().solve(right.clone());
            for (product, right) in matrix.times(&solution).iter().zip(&right) {
                prop_assert!(near(*product, *right, 1.0), "{product} {right}");
            }
        }
    }

    #[test]
    fn matrix_that_is_not_positive_definite_has_no_factor() {
        let factor = |values: [f64; 4]| Cholesky::new(&Matrix::from_fn(2, 2, |i, j| values[2 * i + j]));
        assert!(factor([1.0, 2.0, 2.0, 1.0]).is_none());
        assert!(factor([1.0, 1.0, 1.0, 1.0]).is_none());
        assert!(factor([f64::NAN, 0.0, 0.0, 1.0]).is_none());
        assert!(factor([2.0, 1.0, 1.0, 2.0]).is_some());
    }
}
