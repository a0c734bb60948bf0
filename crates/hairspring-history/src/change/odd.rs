//! Single points that lie far from their neighbours on both sides: a run that something disturbed.
//! No step makes one, since a step has the points behind it on its side.

use super::scale::Scaled;
use super::student::Student;

/// The smallest distance of an odd point, in standard deviations of a normal variable: one in
/// 15,000 is as far away by chance, and then from both sides.
const FAR: f64 = 4.0;
/// Neighbours on each side.
const NEIGHBOURS: usize = 2;
/// A level on one side that is further from the other one than this is another level.
const SAME: f64 = 3.0;

/// Which points are odd. The last one never is: nothing is behind it yet.
pub fn odd(points: &[Scaled], variances: &[f64], student: &Student) -> Vec<bool> {
    let far = student.widened(FAR);
    let n = points.len();
    let is_odd = |at: usize| {
        let left = (at.saturating_sub(NEIGHBOURS)..at).collect::<Vec<_>>();
        let right = (at + 1..(at + 1 + NEIGHBOURS).min(n)).collect::<Vec<_>>();
        let sides = [level(&left, points, variances), level(&right, points, variances)];
        match sides {
            [Some(before), Some(after)] => {
                let distances = [before, after].map(|side| distance(at, points, variances, side));
                let apart = (before.0 - after.0).abs() / (before.1 + after.1).sqrt();
                let least = distances[0].abs().min(distances[1].abs());
                least > far
                    && distances[0] * distances[1] > 0.0
                    && (apart < SAME || least > 3.0 * apart)
            }
            // The first one, before at least two that agree.
            [None, Some(after)] => {
                right.len() == NEIGHBOURS
                    && distance(at, points, variances, after).abs() > far
                    && apart(right[0], right[1], points, variances) < SAME
            }
            _ => false,
        }
    };
    (0..n).map(|at| at + 1 < n && is_odd(at)).collect()
}

/// Mean and variance of some points.
fn level(of: &[usize], points: &[Scaled], variances: &[f64]) -> Option<(f64, f64)> {
    let weight: f64 = of.iter().map(|at| 1.0 / variances[*at]).sum();
    let sum: f64 = of.iter().map(|at| points[*at].x / variances[*at]).sum();
    (weight > 0.0).then(|| (sum / weight, 1.0 / weight))
}

fn distance(at: usize, points: &[Scaled], variances: &[f64], (level, variance): (f64, f64)) -> f64 {
    (points[at].x - level) / (variances[at] + variance).sqrt()
}

fn apart(one: usize, other: usize, points: &[Scaled], variances: &[f64]) -> f64 {
    (points[one].x - points[other].x).abs() / (variances[one] + variances[other]).sqrt()
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
        assert_eq!(found(&[0.0, 0.1, 0.0, 20.0, 20.1, 20.0]), [0_usize; 0]);
        assert_eq!(found(&[0.0, 0.1, 0.0, 20.0, 20.1, 0.0, 0.1]), [0_usize; 0]);
        assert_eq!(found(&[0.0, 0.1, 0.0, 0.1, 20.0]), [0_usize; 0]);
        assert_eq!(found(&[0.0, 0.1, 0.0, 10.0, 20.0, 20.1]), [0_usize; 0]);
        assert_eq!(found(&[20.0]), [0_usize; 0]);
        assert_eq!(found(&[]), [0_usize; 0]);
    }
}
