//! The unknowns that a design can tell apart, by exact elimination on the counts.
//!
//! Merging identical columns is not enough, because block counts have other exact dependencies, and
//! a numerical rank needs a tolerance. Elimination modulo a large prime needs none; the
//! coefficients are recovered as fractions.

use super::linear::LinearMap;
use crate::divisor::gcd;

/// The Mersenne prime 2^61 - 1. The rank modulo this prime is too low only if the prime divides a
/// minor of the counts.
const RANK_PRIME: u64 = (1 << 61) - 1;

/// A weighted sum of columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// Columns with their coefficients; no coefficient is 0.
    pub terms: Vec<(usize, f64)>,
}

/// The unknowns that the rows of a design can tell apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Rank {
    /// Independent columns that are solved for, ascending; their number is the rank.
    pub pivots: Vec<usize>,
    /// For each pivot the sum of times that can be identified: the pivot's own time, plus the times
    /// that cannot be told from it.
    pub identifiable: Vec<Combination>,
    /// Every other column, with its counts as a combination of the pivots' counts.
    pub dependent: Vec<(usize, Combination)>,
}

/// Finds the exact rank of the rows, which must all have the same length, and the dependencies of
/// the columns.
///
/// Cost: `rank^2 * columns` multiplications for the elimination and one pass over all rows for the
/// check.
pub fn exact_rank(rows: &[Vec<f64>]) -> Rank {
    let columns = rows.first().map_or(0, Vec::len);
    let mut basis = Basis { columns, rows: Vec::new() };
    // The rows for the first elimination are spread over the whole table.
    let order: Vec<usize> = spread(rows.len()).collect();
    let first = order.len().min(4 * columns + 50);
    for at in &order[..first] {
        if basis.rows.len() == columns {
            break;
        }
        basis.insert(to_residues(&rows[*at]));
    }
    for at in &order[first..] {
        if basis.rows.len() == columns {
            break;
        }
        let residues = to_residues(&rows[*at]);
        if !basis.spans(&residues) {
            basis.insert(residues);
        }
    }
    basis.finish(rows)
}

/// For each row of `candidates`, whether it is a linear combination of `rows`: without it they tell
/// as much as with it.
pub fn spanned(rows: &[Vec<f64>], candidates: &[Vec<f64>]) -> Vec<bool> {
    let mut basis = Basis { columns: rows.first().map_or(0, Vec::len), rows: Vec::new() };
    for row in rows {
        if basis.rows.len() == basis.columns {
            break;
        }
        basis.insert(to_residues(row));
    }
    candidates.iter().map(|row| basis.spans(&to_residues(row))).collect()
}

/// All indices below `n` once each; consecutive ones are far apart.
fn spread(n: usize) -> impl Iterator<Item = usize> {
    let mut stride = (n as f64 * 0.618) as usize | 1;
    while n > 1 && gcd(stride as u64, n as u64) != 1 {
        stride += 2;
    }
    (0..n).map(move |i| i * stride % n)
}

/// Rows in reduced echelon form, each with its leading column.
struct Basis {
    columns: usize,
    rows: Vec<(usize, Vec<u64>)>,
}

impl Basis {
    fn insert(&mut self, mut row: Vec<u64>) {
        for (lead, known) in &self.rows {
            let factor = row[*lead];
            subtract_multiple(&mut row, known, factor);
        }
        let Some(lead) = row.iter().position(|value| *value != 0) else { return };
        let inverse = power(row[lead], RANK_PRIME - 2);
        row.iter_mut().for_each(|value| *value = multiply(*value, inverse));
        for (_, known) in &mut self.rows {
            let factor = known[lead];
            subtract_multiple(known, &row, factor);
        }
        self.rows.push((lead, row));
    }

    /// Whether a row is a linear combination of the known rows: its dependent columns must follow
    /// from its pivots.
    fn spans(&self, row: &[u64]) -> bool {
        let leads: Vec<bool> = self.lead_marks();
        (0..self.columns).filter(|j| !leads[*j]).all(|j| {
            let sum = self
                .rows
                .iter()
                .fold(0, |sum, (lead, known)| add(sum, multiply(row[*lead], known[j])));
            sum == row[j]
        })
    }

    fn lead_marks(&self) -> Vec<bool> {
        let mut marks = vec![false; self.columns];
        self.rows.iter().for_each(|(lead, _)| marks[*lead] = true);
        marks
    }

    fn finish(mut self, rows: &[Vec<f64>]) -> Rank {
        self.rows.sort_by_key(|(lead, _)| *lead);
        let pivots: Vec<usize> = self.rows.iter().map(|(lead, _)| *lead).collect();
        let leads = self.lead_marks();
        let mut identifiable: Vec<Combination> =
            pivots.iter().map(|lead| Combination { terms: vec![(*lead, 1.0)] }).collect();
        let mut dependent = Vec::new();
        for column in (0..self.columns).filter(|j| !leads[*j]) {
            let coefficients = self.coefficients(column, &pivots, rows);
            let terms: Vec<(usize, f64)> =
                pivots.iter().copied().zip(coefficients).filter(|(_, c)| *c != 0.0).collect();
            for (pivot, coefficient) in &terms {
                let at = pivots.binary_search(pivot).unwrap_or(0);
                identifiable[at].terms.push((column, *coefficient));
            }
            dependent.push((column, Combination { terms }));
        }
        Rank { pivots, identifiable, dependent }
    }

    /// Coefficients of a dependent column as fractions, or by least squares where the fractions are
    /// too long (counts such as 0.1).
    fn coefficients(&self, column: usize, pivots: &[usize], rows: &[Vec<f64>]) -> Vec<f64> {
        let exact: Option<Vec<f64>> =
            self.rows.iter().map(|(_, row)| fraction(row[column])).collect();
        exact.unwrap_or_else(|| {
            let sample: Vec<&Vec<f64>> =
                spread(rows.len()).take(4 * self.columns + 50).map(|at| &rows[at]).collect();
            let design: Vec<Vec<f64>> =
                sample.iter().map(|row| pivots.iter().map(|j| row[*j]).collect()).collect();
            let values: Vec<f64> = sample.iter().map(|row| row[column]).collect();
            let fit =
                LinearMap::new(&design, &vec![1.0; design.len()]).map(|map| map.solve(&values));
            fit.unwrap_or_else(|| vec![0.0; pivots.len()])
                .into_iter()
                .map(|c| if c.abs() < 1e-9 { 0.0 } else { c })
                .collect()
        })
    }
}

fn subtract_multiple(row: &mut [u64], other: &[u64], factor: u64) {
    if factor != 0 {
        let minus = RANK_PRIME - factor;
        row.iter_mut()
            .zip(other)
            .for_each(|(value, known)| *value = add(*value, multiply(*known, minus)));
    }
}

fn to_residues(row: &[f64]) -> Vec<u64> {
    row.iter().map(|value| residue(*value)).collect()
}

/// A finite non-negative count modulo the prime. Every such number is an integer times a power of
/// two.
fn residue(value: f64) -> u64 {
    if value == value.trunc() && value.abs() < 9e15 {
        return (value as i64).rem_euclid(RANK_PRIME as i64) as u64;
    }
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i64;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    let two = if exponent < 0 { power(2, RANK_PRIME - 2) } else { 2 };
    multiply(mantissa % RANK_PRIME, power(two, exponent.unsigned_abs()))
}

fn add(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= RANK_PRIME { sum - RANK_PRIME } else { sum }
}

fn multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let folded = (product as u64 & RANK_PRIME) + (product >> 61) as u64;
    if folded >= RANK_PRIME { folded - RANK_PRIME } else { folded }
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base);
        }
        base = multiply(base, base);
        exponent >>= 1;
    }
    result
}

/// The fraction with small numerator and denominator that a residue represents (half-extended
/// Euclid).
fn fraction(residue: u64) -> Option<f64> {
    const LIMIT: i128 = 1 << 24;
    let (mut r0, mut r1, mut t0, mut t1) =
        (i128::from(RANK_PRIME), i128::from(residue), 0i128, 1i128);
    while r1 > LIMIT {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (t0, t1) = (t1, t0 - quotient * t1);
    }
    (t1 != 0 && t1.abs() <= LIMIT).then(|| r1 as f64 / t1 as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_rank_design_has_no_dependent_columns() {
        let rank = exact_rank(&[vec![1.0, 1.0, 1.0], vec![1.0, 2.0, 1.0], vec![2.0, 3.0, 1.0]]);
        assert_eq!(rank.pivots, [0, 1, 2]);
        assert!(rank.dependent.is_empty());
    }

    #[test]
    fn equal_columns_and_sums_are_found_exactly() {
        // The last column is the first plus half of the second; the third equals the first.
        let rows: Vec<Vec<f64>> = (0..500)
            .map(|i| {
                let (a, b) = (f64::from(i % 7), f64::from(i % 5));
                vec![a, b, a, a + b / 2.0]
            })
            .collect();
        let rank = exact_rank(&rows);
        assert_eq!(rank.pivots, [0, 1]);
        assert_eq!(rank.identifiable[0].terms, [(0, 1.0), (2, 1.0), (3, 1.0)]);
        assert_eq!(rank.identifiable[1].terms, [(1, 1.0), (3, 0.5)]);
    }

    #[test]
    fn single_late_row_is_used() {
        let mut rows = vec![vec![1.0, 1.0]; 10_000];
        rows[9_876] = vec![1.0, 2.0];
        assert_eq!(exact_rank(&rows).pivots, [0, 1]);
    }

    #[test]
    fn fractional_counts_are_supported() {
        let rows: Vec<Vec<f64>> = (1..30)
            .map(|i| {
                let a = f64::from(i) * 0.5;
                vec![a, 3.0 * a, 1.0]
            })
            .collect();
        let rank = exact_rank(&rows);
        assert_eq!(rank.pivots, [0, 2]);
        assert_eq!(rank.identifiable[0].terms, [(0, 1.0), (1, 3.0)]);
    }

    #[test]
    fn fractions_round_trip() {
        for (n, d) in [(3i64, 7u64), (-5, 2), (1, 1), (1_000, 999), (0, 1)] {
            let residue =
                multiply(n.rem_euclid(RANK_PRIME as i64) as u64, power(d, RANK_PRIME - 2));
            assert_eq!(fraction(residue), Some(n as f64 / d as f64));
        }
    }

    proptest::proptest! {
        /// Oracle: the rank of small integer matrices by floating-point Gauss with full pivoting.
        #[test]
        fn agrees_with_gauss(rows in proptest::collection::vec(proptest::collection::vec(0u8..4, 4),
            1..8)) {
            let rows: Vec<Vec<f64>> = rows.into_iter()
                .map(|r| r.into_iter().map(f64::from).collect()).collect();
            let mut m = rows.clone();
            let mut rank = 0;
            loop {
                let best = (rank..m.len()).flat_map(|i| (0..4).map(move |j| (i, j))).max_by(|a,
                    b| m[a.0][a.1].abs().total_cmp(&m[b.0][b.1].abs()));
                let Some((i, j)) = best.filter(|(i, j)| m[*i][*j].abs() > 1e-9) else { break };
                m.swap(rank, i);
                let pivot = m[rank].clone();
                for row in m.iter_mut().skip(rank + 1) {
                    let f = row[j] / pivot[j];
                    (0..4).for_each(|c| row[c] -= f * pivot[c]);
                }
                rank += 1;
            }
            proptest::prop_assert_eq!(exact_rank(&rows).pivots.len(), rank);
        }
    }
}
