//! Series with steps of known place and size, for tests.

use super::Reading;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Normal noise from a seed.
pub struct Noise(Pcg64);

impl Noise {
    pub fn new(seed: u64) -> Noise {
        Noise(Pcg64::seed_from_u64(seed))
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.random::<f64>()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.random::<f64>()).cos()
    }

    /// A series around 100 with steps of these shares, each from a place on. A point has an
    /// interval of one to three times `own`, and `between` is added from run to run.
    pub fn series(
        &mut self,
        n: usize,
        own: f64,
        between: f64,
        steps: &[(usize, f64)],
    ) -> Vec<Reading> {
        (0..n)
            .map(|at| {
                let level: f64 = steps.iter().filter(|step| step.0 <= at).map(|step| step.1).sum();
                let sd = own * (1.0 + 2.0 * self.0.random::<f64>());
                let value = 100.0 * (level + sd.hypot(between) * self.normal()).exp();
                let half = 1.959_964 * sd * value;
                Reading { value, low: value - half, high: value + half, level: 0.95 }
            })
            .collect()
    }
}
