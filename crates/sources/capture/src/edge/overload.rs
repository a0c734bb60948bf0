//! Clipping before the converter, below its full scale.
//!
//! Linear effects (a wire, a filter, AC coupling, added hum) leave all steps of a pin equally high. If some steps are
//! lower than others and the signal always stops at the same level, it was clipped there.

/// Maximum number of edges checked.
const MOST: usize = 1 << 16;
/// Share of the height of a step by which it may be lower than the others.
const LOWER: f64 = 0.1;
/// Share and minimum number of edges that must be lower.
const ENOUGH: (f64, usize) = (0.02, 4);
/// Largest distance from the highest (or lowest) level, as a share of a step, and the share of the lower steps within it.
const SAME: (f64, f64) = (0.02, 0.5);

/// Levels before and after the edges.
#[derive(Debug, Clone, Default)]
pub(super) struct Overload {
    /// Place, lower and higher level of each step without another one nearby.
    steps: Vec<(f64, f64, f64)>,
}

impl Overload {
    /// Takes a step; the samples before and after it, the nearest first.
    pub(super) fn push(&mut self, at: f64, before: [f64; 2], after: [f64; 2]) {
        let height = after[0] - before[0];
        // Another edge nearby, ringing, or a slow edge.
        let settled = |[near, far]: [f64; 2]| (near - far).abs() < 0.05 * height.abs();
        if self.steps.len() < MOST && settled(before) && settled(after) {
            self.steps.push((at, before[0].min(after[0]), before[0].max(after[0])));
        }
    }

    /// Number of steps that are lower than others because the signal stops at a level, and the place of the first.
    pub(super) fn found(&self) -> Option<(u64, f64)> {
        if self.steps.len() < ENOUGH.1 {
            return None;
        }
        let quantile = |of: &dyn Fn(&(f64, f64, f64)) -> f64, share: f64| {
            let mut values: Vec<f64> = self.steps.iter().map(of).collect();
            let at = ((values.len() - 1) as f64 * share) as usize;
            *values.select_nth_unstable_by(at, f64::total_cmp).1
        };
        let height = quantile(&|step| step.2 - step.1, 0.9);
        let lower = || self.steps.iter().filter(|step| step.2 - step.1 < (1.0 - LOWER) * height);
        let enough = lower().count() >= ENOUGH.1.max((ENOUGH.0 * self.steps.len() as f64) as usize);
        let (top, bottom) = (quantile(&|step| step.2, 0.95), quantile(&|step| step.1, 0.05));
        let near = |level: f64, limit: f64| (level - limit).abs() <= SAME.0 * height;
        let stops =
            |at: &dyn Fn(&(f64, f64, f64)) -> bool| lower().filter(|step| at(step)).count() as f64 >= SAME.1 * lower().count() as f64;
        let cut = stops(&|step| near(step.2, top)) || stops(&|step| near(step.1, bottom));
        (enough && cut).then(|| (lower().count() as u64, lower().next().map_or(0.0, |step| step.0)))
    }
}
