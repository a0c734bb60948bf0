//! Points far from their neighbours on both sides: one or two runs that something disturbed.
//! No step makes one, since a step has the points behind it on its side.

use super::scale::Scaled;
use super::student::Student;
use std::ops::Range;

/// The smallest distance of an odd point, in standard deviations of a normal variable: one in
/// 15,000 is as far away by chance, and then from both sides.
const FAR: f64 = 4.0;
/// Neighbours on each side, of which the middle one counts: one of them may be odd itself.
const NEIGHBOURS: usize = 3;
/// A level on one side that is further from the other one than this is another level.
const SAME: f64 = 3.0;

/// Which points are odd. The last one never is: nothing is behind it yet.
pub fn odd(points: &[Scaled], variances: &[f64], student: &Student) -> Vec<bool> {
    let far = student.widened(FAR);
    let n = points.len();
    let is_odd = |at: usize| {
        let left = level(at.saturating_sub(NEIGHBOURS)..at, points, variances);
        let right = level(at + 1..(at + 1 + NEIGHBOURS).min(n), points, variances);
        let from = |side| distance(at, points, variances, side);
        match (left, right) {
            (Some(before), Some(after)) => {
                let apart = (before.0 - after.0).abs() / (before.1 + after.1).sqrt();
                let (one, other) = (from(before), from(after));
                let least = one.abs().min(other.abs());
                one * other > 0.0 && least > far && (apart < SAME || least > 3.0 * apart)
            }
            // The first one, before at least two more.
            (None, Some(after)) => n > 2 && from(after).abs() > far && agree(points, variances),
            _ => false,
        }
    };
    (0..n).map(|at| at + 1 < n && is_odd(at)).collect()
}

/// Whether the second and the third point are on one level.
fn agree(points: &[Scaled], variances: &[f64]) -> bool {
    (points[1].x - points[2].x).abs() / (variances[1] + variances[2]).sqrt() < SAME
}

/// The middle one of some points, and its variance.
fn level(of: Range<usize>, points: &[Scaled], variances: &[f64]) -> Option<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> = of.map(|at| (points[at].x, variances[at])).collect();
    sorted.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    match sorted.len() {
        0 => None,
        2 => Some((0.5 * (sorted[0].0 + sorted[1].0), 0.25 * (sorted[0].1 + sorted[1].1))),
        count => Some(sorted[count / 2]),
    }
}

fn distance(at: usize, points: &[Scaled], variances: &[f64], (level, variance): (f64, f64)) -> f64 {
    (points[at].x - level) / (variances[at] + variance).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: &[f64]) -> Vec<usize> {
        let points: Vec<Scaled> = values.iter().map(|x| Scaled { x: *x, sd: 1.0 }).collect();
        let odd = odd(&points, &vec![1.0; values.len()], &Student::new(f64::INFINITY));
        (0..values.len()).filter(|at| odd[*at]).collect()
    }

    #[test]
    fn a_single_point_is_odd_and_a_step_is_not() {
        assert_eq!(found(&[0.0, 0.1, 20.0, 0.0, -0.1, 0.2]), [2]);
        assert_eq!(found(&[20.0, 0.1, 0.0, 0.0]), [0]);
        assert_eq!(found(&[0.0, 0.1, 20.0, 0.0, 30.0, 0.2, 0.0]), [2, 4]);
        assert_eq!(found(&[0.0, 0.1, 0.0, 20.0, 20.1, 20.0]), [0_usize; 0]);
        assert_eq!(found(&[0.0, 0.1, 0.0, 20.0, 20.1, 0.0, 0.1]), [3, 4]);
        assert_eq!(found(&[0.0, 0.1, 0.0, 0.1, 20.0]), [0_usize; 0]);
        assert_eq!(found(&[0.0, 0.1, 0.0, 10.0, 20.0, 20.1]), [0_usize; 0]);
        assert_eq!(found(&[20.0]), [0_usize; 0]);
        assert_eq!(found(&[]), [0_usize; 0]);
    }
}
