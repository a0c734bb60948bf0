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

/// Groups of steps by their level, fewest steps of a group, and the share of a step by which the groups must differ.
const GROUPS: usize = 8;
const OF_A_GROUP: usize = 6;
const DIFFER: f64 = 0.02;
/// Standard deviations of the groups' means by which they must differ.
const SURELY: f64 = 6.0;

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

    /// How much the heights of the steps differ, as a share of the largest: between the 5 % and the 95 % quantile.
    pub(super) fn spread(&self) -> f64 {
        let mut heights: Vec<f64> = self.steps.iter().map(|step| step.2 - step.1).collect();
        heights.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| heights[((heights.len() - 1) as f64 * share) as usize];
        if heights.len() < ENOUGH.1 || at(0.95) <= 0.0 { 0.0 } else { 1.0 - at(0.05) / at(0.95) }
    }

    /// Share of a step by which steps at other levels have other heights, as behind an input that saturates; 0 if none is sure.
    pub(super) fn bent(&self) -> f64 {
        let mut by_level: Vec<(f64, f64)> = self.steps.iter().map(|step| (0.5 * (step.1 + step.2), step.2 - step.1)).collect();
        let size = by_level.len() / GROUPS;
        if size < OF_A_GROUP {
            return 0.0;
        }
        by_level.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mean = |group: &[(f64, f64)]| group.iter().map(|step| step.1).sum::<f64>() / group.len() as f64;
        let scatter =
            |group: &[(f64, f64)]| group.iter().map(|step| (step.1 - mean(group)).powi(2)).sum::<f64>() / (group.len() - 1) as f64;
        let groups: Vec<&[(f64, f64)]> = by_level.chunks_exact(size).collect();
        let means = || groups.iter().map(|group| mean(group));
        let (low, high) = (means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max));
        let noise = (groups.iter().map(|group| scatter(group)).sum::<f64>() / groups.len() as f64 / size as f64).sqrt();
        if high - low > (DIFFER * high).max(SURELY * noise) { (high - low) / high } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of height 1 at levels that wander by 1, through an input with this output.
    fn steps(output: impl Fn(f64) -> f64) -> Overload {
        let mut overload = Overload::default();
        for n in 0..200 {
            let low = (f64::from(n) * 0.37).sin() - 0.5 + 1e-3 * f64::from(n % 7);
            let (before, after) = (output(low), output(low + 1.0));
            overload.push(f64::from(n), [before; 2], [after; 2]);
        }
        overload
    }

    #[test]
    fn heights_that_follow_the_level_show_an_input_that_saturates() {
        let straight = steps(|level| level);
        assert!(straight.bent() == 0.0 && straight.spread() < 1e-9 && straight.found().is_none());
        let soft = steps(|level| (0.5 * level).tanh());
        assert!(soft.bent() > 0.05 && soft.spread() > 0.05, "{} {}", soft.bent(), soft.spread());
        let hard = steps(|level| level.clamp(-1.2, 1.2));
        assert!(hard.bent() > 0.1 && hard.found().is_some(), "{}", hard.bent());
    }
}
