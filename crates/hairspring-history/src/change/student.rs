//! Multiples of an estimated standard deviation, exceeded as rarely as those of a known one.

use super::multiscale::outside;
use hairspring_core::laws::{normal_exceeded, root, t_above, t_density};
use hairspring_core::math::{exp, exp2, log2};
use std::collections::HashMap;
use std::rc::Rc;

/// Degrees of freedom from which on Student's variable is as good as normal.
const AS_NORMAL: f64 = 1e4;
/// Distance of two entries of the table, and their number.
const STEP: f64 = 0.125;
const ENTRIES: usize = 65;

/// Student's variable beside the normal one, as a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Student {
    dof: f64,
    table: Vec<f64>,
}

impl Student {
    /// That of a variance with these degrees of freedom, of at least one.
    pub fn new(dof: f64) -> Student {
        let dof = if dof.is_nan() { 1.0 } else { dof.max(1.0) };
        Student { dof, table: if dof >= AS_NORMAL { Vec::new() } else { table(dof) } }
    }

    /// The degrees of freedom.
    pub fn dof(&self) -> f64 {
        self.dof
    }

    /// The multiple that is exceeded as rarely as `z` of a known one. Beyond the table it rises as
    /// at its end.
    pub fn widened(&self, z: f64) -> f64 {
        if self.table.is_empty() {
            return z;
        }
        let place = z.max(0.0) / STEP;
        let below = (place as usize).min(ENTRIES - 2);
        let share = place - below as f64;
        self.table[below] + share * (self.table[below + 1] - self.table[below])
    }

    /// Half of an interval at a level, in standard deviations.
    pub fn factor(&self, level: f64) -> f64 {
        self.widened(normal_exceeded(0.5 * (1.0 - level)))
    }

    /// Probability of lying further from the middle, on either side.
    pub fn outside(&self, distance: f64) -> f64 {
        if self.table.is_empty() { outside(distance) } else { 2.0 * t_above(distance, self.dof) }
    }
}

/// The multiples of `z = 0, STEP, ...`, each searched from where the slope of the one before leads.
fn table(dof: f64) -> Vec<f64> {
    let density = t_density(dof);
    let normal = |z: f64| exp(-0.5 * z * z) / std::f64::consts::TAU.sqrt();
    let mut found = vec![0.0];
    for at in 1..ENTRIES {
        let (before, z) = (found[at - 1], at as f64 * STEP);
        let from = before + STEP * normal(z - STEP) / density(before);
        let chance = 0.5 * outside(z);
        found.push(root(from, |t| t_above(t, dof) / chance - 1.0, |t| density(t) / chance));
    }
    found
}

/// Variables that were made before. Degrees of freedom are rounded down to one of few numbers.
#[derive(Debug, Default)]
pub struct Students(HashMap<u64, Rc<Student>>);

impl Students {
    /// The variable of these degrees of freedom.
    pub fn of(&mut self, dof: f64) -> Rc<Student> {
        let rounded = rounded(dof);
        let new = || Rc::new(Student::new(rounded));
        Rc::clone(self.0.entry(rounded.to_bits()).or_insert_with(new))
    }
}

/// Numbers up to this are rounded to whole ones, larger ones to sixteen for each doubling.
const WHOLE: f64 = 32.0;

fn rounded(dof: f64) -> f64 {
    if dof >= AS_NORMAL || dof.is_nan() || dof <= WHOLE {
        return dof.clamp(1.0, AS_NORMAL).floor();
    }
    let unit = exp2(log2(dof / WHOLE).floor()) * (WHOLE / 16.0);
    (dof / unit).floor() * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_degrees_of_freedom_widen_an_interval() {
        let found = Student::new(10.0).factor(0.95);
        assert!((found - 2.228_139).abs() < 5e-3, "{found}");
        assert_eq!(Student::new(f64::INFINITY).widened(3.0), 3.0);
        assert_eq!(Student::new(f64::NAN).dof(), 1.0);
        assert!((Student::new(10.0).outside(2.228_139) - 0.05).abs() < 1e-6);
        for dof in [0.0, 1.0, 2.5, 30.0, 9_999.0] {
            let student = Student::new(dof);
            let all: Vec<f64> = (0..400).map(|at| student.widened(f64::from(at) * 0.05)).collect();
            assert!(all.windows(2).all(|pair| pair[1] > pair[0]), "{dof}");
            assert!(all.iter().enumerate().all(|(at, t)| *t >= at as f64 * 0.0499), "{dof}");
        }
    }

    #[test]
    fn the_table_is_that_of_the_distribution() {
        for dof in [1.0, 2.0, 7.0, 40.0, 900.0] {
            let student = Student::new(dof);
            for at in [1, 8, 24, 40, 64] {
                let found = student.outside(student.table[at]) / outside(at as f64 * STEP);
                assert!((found - 1.0).abs() < 1e-6, "{dof} {at} {found}");
            }
        }
    }

    #[test]
    fn few_variables_serve_all_degrees_of_freedom() {
        assert_eq!([0.3, 9.7, 1e9].map(rounded), [1.0, 9.0, 1e4]);
        for dof in [33.0, 64.0, 100.5, 9_000.0] {
            assert!(rounded(dof) <= dof && rounded(dof) > 0.93 * dof, "{dof}");
        }
    }
}
