//! Clipping before the converter, below its full scale.
//!
//! Linear effects (a wire, a filter, AC coupling, added hum) leave all steps of a pin equally high.
//! If some steps are lower than others and the signal always stops at the same level, it was
//! clipped there.

use super::linearity::{Linearity, Shown};

/// Maximum number of edges checked.
const MOST_EDGES: usize = 1 << 16;
/// Share of the height of a step by which it may be lower than the others.
const LOWER_SHARE: f64 = 0.1;
/// Share and minimum number of edges that must be lower.
const ENOUGH_LOWER: (f64, usize) = (0.02, 4);
/// Largest distance from the highest (or lowest) level, as a share of a step, and the share of the
/// lower steps within it.
const SAME_LEVEL: (f64, f64) = (0.02, 0.5);

/// Groups of steps by their level, fewest steps of a group, and the share of a step by which the
/// groups must differ.
const GROUPS: usize = 8;
const OF_A_GROUP: usize = 6;
const DIFFERENT_SHARE: f64 = 0.005;
/// Range of the groups' levels, as a share of a step, below which the scatter of one level would
/// show in height and level alike.
const WANDERING_RANGE: f64 = 0.05;
/// Standard deviations of the groups' means by which they must differ.
const SURE_DEVIATIONS: f64 = 6.0;
/// Share of a step by which groups differ only if an input saturates.
const VERY_DIFFERENT_SHARE: f64 = 0.009;
/// Von Neumann's ratio of values in a random order is 2; that of eight is below this in one of 45
/// cases, while that of a parabola is 0.67.
const FOLLOWING_RATIO: f64 = 0.8;

/// Levels before and after the edges.
#[derive(Debug, Clone, Default)]
pub(super) struct Overload {
    /// Place, lower and higher level of each step without another one nearby.
    steps: Vec<(f64, f64, f64)>,
    /// Level before and height of these steps, where levels that move are followed up to the edge:
    /// falling and rising ones apart.
    heights: [Vec<(f64, f64)>; 2],
    linearity: Linearity,
    /// Place of the last edge, and its level and height if no edge was near before it.
    last: Option<(f64, Option<(f64, f64)>)>,
}

/// Distance from other edges at which a step's height is free of their ringing, in times of the
/// windows in which levels are taken.
const ALONE_DISTANCE: f64 = 36.0;

/// A level at two distances from an edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    pub near: f64,
    pub far: f64,
}

/// Distances of the two from the edge in samples: before it, and after it.
const BEFORE_EDGE: (f64, f64) = (5.0, 10.5);
const AFTER_EDGE: (f64, f64) = (6.5, 12.5);

impl Level {
    /// The level at the edge itself, if it moves evenly.
    fn at_edge(self, (near, far): (f64, f64)) -> f64 {
        self.near + (self.near - self.far) * near / (far - near)
    }

    /// A mean of both levels whose noise is not that of [`Level::at_edge`], if the noise of samples
    /// is independent.
    fn beside_edge(self, (near, far): (f64, f64)) -> f64 {
        let beyond = near / (far - near);
        // Levels before an edge are means of five and of six samples.
        let weight = (1.0 + beyond) / 5.0 / (beyond / 6.0);
        (self.near + weight * self.far) / (1.0 + weight)
    }
}

impl Overload {
    /// Takes a step; the levels before and after it, the nearest first.
    pub(super) fn push(&mut self, at: f64, wide: f64, before: Level, after: Level) {
        let height = after.near - before.near;
        // Another edge nearby, ringing, or a slow edge.
        let settled = |level: Level| (level.near - level.far).abs() < 0.05 * height.abs();
        if self.steps.len() < MOST_EDGES && settled(before) && settled(after) {
            self.steps.push((at, before.near.min(after.near), before.near.max(after.near)));
        }
        let far = self.last.is_none_or(|(last, _)| at - last > ALONE_DISTANCE * wide);
        if let Some((_, Some((level, step)))) =
            self.last.filter(|_| far && self.heights[0].len() + self.heights[1].len() < MOST_EDGES)
        {
            self.heights[usize::from(step > 0.0)].push((level, step.abs()));
        }
        // The farther level is a mean of an even number of samples, in which the ringing at the end
        // of a converter's band cancels.
        self.linearity.push(at, height > 0.0, far.then_some(before.far));
        let (from, to) = (before.at_edge(BEFORE_EDGE), after.at_edge(AFTER_EDGE));
        // The level before: that behind the edge has the tail of a slow one, which changes with its
        // place between the samples, so that a higher level would seem to come with a higher step.
        // So would its noise, if it were that of the step.
        let own_step = (far && settled(before) && settled(after))
            .then_some((before.beside_edge(BEFORE_EDGE), to - from));
        self.last = Some((at, own_step));
    }

    /// Number of steps that are lower than others because the signal stops at a level, and the
    /// place of the first.
    pub(super) fn lower_steps(&self) -> Option<(u64, f64)> {
        if self.steps.len() < ENOUGH_LOWER.1 {
            return None;
        }
        let quantile = |of: &dyn Fn(&(f64, f64, f64)) -> f64, share: f64| {
            let mut values: Vec<f64> = self.steps.iter().map(of).collect();
            let at = ((values.len() - 1) as f64 * share) as usize;
            *values.select_nth_unstable_by(at, f64::total_cmp).1
        };
        let height = quantile(&|step| step.2 - step.1, 0.9);
        let lower =
            || self.steps.iter().filter(|step| step.2 - step.1 < (1.0 - LOWER_SHARE) * height);
        let enough = lower().count()
            >= ENOUGH_LOWER.1.max((ENOUGH_LOWER.0 * self.steps.len() as f64) as usize);
        let (top, bottom) = (quantile(&|step| step.2, 0.95), quantile(&|step| step.1, 0.05));
        let near = |level: f64, limit: f64| (level - limit).abs() <= SAME_LEVEL.0 * height;
        let stops = |at: &dyn Fn(&(f64, f64, f64)) -> bool| {
            lower().filter(|step| at(step)).count() as f64 >= SAME_LEVEL.1 * lower().count() as f64
        };
        let cut = stops(&|step| near(step.2, top)) || stops(&|step| near(step.1, bottom));
        (enough && cut).then(|| (lower().count() as u64, lower().next().map_or(0.0, |step| step.0)))
    }

    /// How much the heights of steps of one direction differ, as a share of the largest: between
    /// the 5 % and the 95 % quantile.
    pub(super) fn spread(&self) -> f64 {
        let spread = |steps: &Vec<(f64, f64)>| {
            let mut heights: Vec<f64> = steps.iter().map(|step| step.1).collect();
            heights.sort_unstable_by(f64::total_cmp);
            let at = |share: f64| heights[((heights.len() - 1) as f64 * share) as usize];
            if heights.len() < ENOUGH_LOWER.1 || at(0.95) <= 0.0 {
                0.0
            } else {
                1.0 - at(0.05) / at(0.95)
            }
        };
        self.heights.iter().map(spread).fold(0.0, f64::max)
    }

    /// What the levels between edges show of the input, whose converter has steps of this size,
    /// or 0.
    pub(super) fn shown(&self, quantum: f64) -> Shown {
        self.linearity.shown(quantum)
    }

    /// Share of a step by which steps at other levels have other heights, as behind an input that
    /// saturates; 0 if none is sure.
    pub(super) fn bent(&self) -> f64 {
        self.heights.iter().map(|steps| bent(steps.clone())).fold(0.0, f64::max)
    }
}

fn bent(mut steps: Vec<(f64, f64)>) -> f64 {
    let size = steps.len() / GROUPS;
    if size < OF_A_GROUP {
        return 0.0;
    }
    steps.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mean =
        |group: &[(f64, f64)]| group.iter().map(|step| step.1).sum::<f64>() / group.len() as f64;
    let scatter = |group: &[(f64, f64)]| {
        group.iter().map(|step| (step.1 - mean(group)).powi(2)).sum::<f64>()
            / (group.len() - 1) as f64
    };
    let groups: Vec<&[(f64, f64)]> = steps.chunks_exact(size).collect();
    let means = || groups.iter().map(|group| mean(group));
    let (low, high) = (means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max));
    let noise = (groups.iter().map(|group| scatter(group)).sum::<f64>()
        / groups.len() as f64
        / size as f64)
        .sqrt();
    let level =
        |group: &[(f64, f64)]| group.iter().map(|step| step.0).sum::<f64>() / group.len() as f64;
    let wanders = level(groups[groups.len() - 1]) - level(groups[0]);
    let differ = wanders > WANDERING_RANGE * high
        && high - low > (DIFFERENT_SHARE * high).max(SURE_DEVIATIONS * noise);
    let is_much = high - low > VERY_DIFFERENT_SHARE * high;
    if differ && (is_much || follow(&means().collect::<Vec<f64>>())) {
        (high - low) / high
    } else {
        0.0
    }
}

/// Whether values follow their order, by von Neumann's ratio. Steps of one frame share their place
/// between the samples: groups then differ by more than the scatter within them, but without an
/// order.
fn follow(values: &[f64]) -> bool {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let steps: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    steps < FOLLOWING_RATIO * values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
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
            let constant = |level| Level { near: level, far: level };
            overload.push(100.0 * f64::from(n), 1.0, constant(before), constant(after));
        }
        overload
    }

    #[test]
    fn heights_that_follow_the_level_show_an_input_that_saturates() {
        let straight = steps(|level| level);
        assert!(
            straight.bent() == 0.0 && straight.spread() < 1e-9 && straight.lower_steps().is_none()
        );
        let soft = steps(|level| (0.5 * level).tanh());
        assert!(soft.bent() > 0.05 && soft.spread() > 0.05, "{} {}", soft.bent(), soft.spread());
        let hard = steps(|level| level.clamp(-1.2, 1.2));
        assert!(hard.bent() > 0.1 && hard.lower_steps().is_some(), "{}", hard.bent());
    }
}
