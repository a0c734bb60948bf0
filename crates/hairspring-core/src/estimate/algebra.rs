//! Dense linear algebra for normal equations: a matrix, weighted sums of outer products, Cholesky
//! factors.

use std::ops::{Index, IndexMut};

/// Rows that are summed at once: this many rows of 200 values fit in the first-level cache.
const DEEP_ROWS: usize = 16;
/// Side of the squares that are summed in registers.
const SQUARE_SIDE: usize = 4;

/// A matrix, stored by rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// All zeros.
    pub fn zeros(rows: usize, columns: usize) -> Matrix {
        Matrix { columns, values: vec![0.0; rows * columns] }
    }

    /// The value at each row and column.
    pub fn from_fn(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Matrix {
        let values = (0..rows)
            .flat_map(|i| (0..columns).map(move |j| (i, j)))
            .map(|(i, j)| value(i, j))
            .collect();
        Matrix { columns, values }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// Adds another matrix of the same size.
    #[must_use]
    pub fn plus(mut self, other: &Matrix) -> Matrix {
        self.values.iter_mut().zip(&other.values).for_each(|(sum, value)| *sum += value);
        self
    }

    /// The matrix times a column.
    pub fn times(&self, column: &[f64]) -> Vec<f64> {
        (0..self.rows()).map(|i| dot(self.row(i), column)).collect()
    }

    /// `sum of w x x'` over rows `x` of this width with weights `w`.
    pub fn gram<'r>(width: usize, rows: impl Iterator<Item = (&'r [f64], f64)>) -> Matrix {
        let padded = width.next_multiple_of(SQUARE_SIDE);
        let (mut sum, mut plain, mut weighted, mut filled) = (
            vec![0.0; padded * padded],
            vec![0.0; padded * DEEP_ROWS],
            vec![0.0; padded * DEEP_ROWS],
            0,
        );
        for (row, weight) in rows.filter(|(_, weight)| *weight != 0.0) {
            let at = filled * padded;
            plain[at..at + width].copy_from_slice(&row[..width]);
            weighted[at..at + width]
                .iter_mut()
                .zip(row)
                .for_each(|(slot, value)| *slot = value * weight);
            filled += 1;
            if filled == DEEP_ROWS {
                add_products(&mut sum, &plain, &weighted, padded);
                filled = 0;
            }
        }
        add_products(&mut sum, &plain[..filled * padded], &weighted[..filled * padded], padded);
        Matrix::from_fn(width, width, |i, j| sum[i.min(j) * padded + i.max(j)])
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.values[row * self.columns + column]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f64 {
        &mut self.values[row * self.columns + column]
    }
}

/// Adds `left' right` to the upper half of a sum, square by square.
fn add_products(sum: &mut [f64], left: &[f64], right: &[f64], width: usize) {
    for i in (0..width).step_by(SQUARE_SIDE) {
        for j in (i..width).step_by(SQUARE_SIDE) {
            let mut square = [[0.0; SQUARE_SIDE]; SQUARE_SIDE];
            for (left, right) in left.chunks_exact(width).zip(right.chunks_exact(width)) {
                add_square(&mut square, &left[i..i + SQUARE_SIDE], &right[j..j + SQUARE_SIDE]);
            }
            for (at, line) in square.iter().enumerate() {
                let begin = (i + at) * width + j;
                sum[begin..begin + SQUARE_SIDE]
                    .iter_mut()
                    .zip(line)
                    .for_each(|(sum, value)| *sum += value);
            }
        }
    }
}

#[inline]
fn add_square(square: &mut [[f64; SQUARE_SIDE]; SQUARE_SIDE], left: &[f64], right: &[f64]) {
    for (line, left) in square.iter_mut().zip(left) {
        line.iter_mut().zip(right).for_each(|(slot, right)| *slot += left * right);
    }
}

/// Sum of products of two rows, in several partial sums that do not wait for each other.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let (mut sums, left, right) = ([0.0; LANES], a.chunks_exact(LANES), b.chunks_exact(LANES));
    let ends = left.remainder().iter().zip(right.remainder());
    for (a, b) in left.zip(right) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum::<f64>() + ends.map(|(a, b)| a * b).sum::<f64>()
}

/// The lower factor `L` of a symmetric positive definite matrix `L L'`, and its transpose, so that
/// both are read by rows.
#[derive(Debug, Clone)]
pub struct Cholesky {
    lower: Matrix,
    upper: Matrix,
}

impl Cholesky {
    /// Factors a matrix, of which the lower half is read; `None` where it is not positive definite.
    pub fn new(matrix: &Matrix) -> Option<Cholesky> {
        let width = matrix.columns;
        let mut lower = Matrix::zeros(width, width);
        for i in 0..width {
            for j in 0..=i {
                let rest = matrix[(i, j)] - dot(&lower.row(i)[..j], &lower.row(j)[..j]);
                lower[(i, j)] = match i == j {
                    true if rest > 0.0 => rest.sqrt(),
                    true => return None,
                    false => rest / lower[(j, j)],
                };
            }
        }
        let upper = Matrix::from_fn(width, width, |i, j| lower[(j, i)]);
        Some(Cholesky { lower, upper })
    }

    /// The pivots.
    pub fn diagonal(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        (0..self.lower.columns).map(|j| self.lower[(j, j)])
    }

    /// `L⁻¹ right`.
    pub fn half(&self, mut right: Vec<f64>) -> Vec<f64> {
        for i in 0..right.len() {
            right[i] = (right[i] - dot(&self.lower.row(i)[..i], &right[..i])) / self.lower[(i, i)];
        }
        right
    }

    /// The solution of `L L' x = right`.
    pub fn solve(&self, right: Vec<f64>) -> Vec<f64> {
        let mut solution = self.half(right);
        for i in (0..solution.len()).rev() {
            let known = dot(&self.upper.row(i)[i + 1..], &solution[i + 1..]);
            solution[i] = (solution[i] - known) / self.lower[(i, i)];
        }
        solution
    }

    /// `(L L')⁻¹`.
    pub fn inverse(&self) -> Matrix {
        let width = self.lower.columns;
        let unit = |at: usize| (0..width).map(|i| f64::from(u8::from(i == at))).collect();
        let columns: Vec<Vec<f64>> = (0..width).map(|at| self.solve(unit(at))).collect();
        Matrix::from_fn(width, width, |i, j| columns[i.min(j)][i.max(j)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};
    use proptest::prelude::*;

    /// Rows of one width with weights.
    fn rows() -> impl Strategy<Value = Vec<(Vec<f64>, f64)>> {
        (1usize..11).prop_flat_map(|width| {
            prop::collection::vec((prop::collection::vec(-1.0..1.0, width), 0.0..2.0), 12..70)
        })
    }

    fn gram(rows: &[(Vec<f64>, f64)]) -> Matrix {
        Matrix::gram(rows[0].0.len(), rows.iter().map(|(row, weight)| (&row[..], *weight)))
    }

    /// One matrix for this module and for nalgebra. A diagonal is added to keep its condition
    /// number below a thousand.
    fn well_conditioned(rows: &[(Vec<f64>, f64)]) -> (Matrix, DMatrix<f64>) {
        let width = rows[0].0.len();
        let plain = gram(rows);
        let ours =
            Matrix::from_fn(width, width, |i, j| plain[(i, j)] + if i == j { 1.0 } else { 0.0 });
        let theirs = DMatrix::from_fn(width, width, |i, j| ours[(i, j)]);
        (ours, theirs)
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
                prop_assert!(near(found[(i, j)], naive, 100.0), "{i} {j}: {} {naive}",
                    found[(i, j)]);
            }
        }

        #[test]
        fn solution_satisfies_the_system(rows in rows()) {
            let (matrix, _) = well_conditioned(&rows);
            let right = rows[1].0.clone();
            let solution = Cholesky::new(&matrix).unwrap().solve(right.clone());
            for (product, right) in matrix.times(&solution).iter().zip(&right) {
                prop_assert!(near(*product, *right, 1.0), "{product} {right}");
            }
        }

        #[test]
        fn factors_agree_with_nalgebra(rows in rows()) {
            let (ours, theirs) = well_conditioned(&rows);
            let (ours, theirs) = (Cholesky::new(&ours).unwrap(), theirs.cholesky().unwrap());
            let right = rows[1].0.clone();
            let (found, expected) = (ours.solve(right.clone()),
                theirs.solve(&DVector::from_vec(right)));
            prop_assert!(found.iter().zip(&expected).all(|(a, b)| near(*a, *b, expected.amax())),
                "{found:?} {expected}");
            let (found, expected) = (ours.inverse(), theirs.inverse());
            for (i, j) in (0..expected.nrows()).flat_map(|i| (0..expected.ncols()).map(move |j| (i,
                j))) {
                prop_assert!(near(found[(i, j)], expected[(i, j)], expected.amax()));
            }
            prop_assert!(ours.diagonal().enumerate().all(|(j, pivot)| near(pivot,
                theirs.l_dirty()[(j, j)], pivot)));
        }
    }

    #[test]
    fn matrix_that_is_not_positive_definite_has_no_factor() {
        let factor =
            |values: [f64; 4]| Cholesky::new(&Matrix::from_fn(2, 2, |i, j| values[2 * i + j]));
        assert!(factor([1.0, 2.0, 2.0, 1.0]).is_none());
        assert!(factor([1.0, 1.0, 1.0, 1.0]).is_none());
        assert!(factor([f64::NAN, 0.0, 0.0, 1.0]).is_none());
        assert!(factor([2.0, 1.0, 1.0, 2.0]).is_some());
    }
}
