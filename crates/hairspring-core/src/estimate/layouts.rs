//! Times of one code in several layouts, which placements take in turns: the mean over the layouts, and whether they differ.
//!
//! The layouts are the same in every run, so that the difference between them is not a variation that the next run draws anew: each layout
//! has a mean of its own, and what varies is the rest (analysis of variance with one fixed factor). Two codes are another matter: whether one
//! is faster than the other must not depend on which layouts were tried, so for their ratio the layouts are a sample.
//!
//! Some layouts differ only by the order of the alternatives in memory: each is once at the place of every other one. What a place adds is
//! then in the time of both, and leaves their ratio where it is averaged over these layouts (a crossover design).

use super::interval::{Contribution, Source};
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Layouts differ if chance explains their means with a smaller probability than this.
const DIFFERENT: f64 = 0.01;
/// Fewest placements beyond one of each layout: these show how placements of a layout differ.
const SPARE: usize = 1;

/// How a mean spreads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spreading {
    /// Its variance.
    pub variance: f64,
    /// The degrees of freedom of that.
    pub dof: f64,
    /// The values that it is the mean of.
    pub values: Vec<f64>,
}

impl Spreading {
    /// Half-width of the interval of the mean at a level.
    pub fn half_width(&self, level: f64) -> f64 {
        Contribution::standard(Source::Placement, self.variance.sqrt(), self.dof).half_width(level)
    }

    /// The one of two with the wider interval.
    pub fn or_wider(self, other: Spreading, level: f64) -> Spreading {
        if other.half_width(level) > self.half_width(level) { other } else { self }
    }
}

/// Layouts that differ by less than this share count as alike: nothing is said of them, and their readings stay as they are.
pub(crate) const MUCH: f64 = 0.01;

/// The times of several layouts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layouts {
    /// Whether they surely differ.
    pub differ: bool,
    /// The mean time of each.
    pub means: Vec<f64>,
    /// The placements' times without what the layouts differ by: each has the mean of all layouts instead of that of its own.
    pub evened: Vec<f64>,
    /// Variance of the mean of all layouts.
    pub variance: f64,
    /// Its degrees of freedom.
    pub dof: f64,
}

impl Layouts {
    /// The layouts of placements with these times; `None` if there are too few placements to tell.
    pub fn of(times: &[(usize, f64)], layouts: usize) -> Option<Layouts> {
        let (number, placements) = (layouts as f64, times.len() as f64);
        let counts = of_each(times, layouts, |_| 1.0);
        if layouts < 2 || counts.contains(&0.0) || times.len() < layouts + SPARE {
            return None;
        }
        let means: Vec<f64> = of_each(times, layouts, |time| time).iter().zip(&counts).map(|(sum, count)| sum / count).collect();
        let all = times.iter().map(|(_, time)| time).sum::<f64>() / placements;
        let (between_dof, dof) = (number - 1.0, placements - number);
        let between: f64 = means.iter().zip(&counts).map(|(mean, count)| count * (mean - all).powi(2)).sum::<f64>() / between_dof;
        let within: f64 = times.iter().map(|(layout, time)| (time - means[*layout]).powi(2)).sum::<f64>() / dof;
        let chance = |f: f64| FisherSnedecor::new(between_dof, dof).map_or(1.0, |law| law.sf(f));
        let mean = means.iter().sum::<f64>() / number;
        let variance = within * counts.iter().map(|count| 1.0 / count).sum::<f64>() / (number * number);
        let evened = times.iter().map(|(layout, time)| time - means[*layout] + mean).collect();
        // Where no placement of a layout differs from another one, any difference between the layouts counts.
        let differ = if within > 0.0 { chance(between / within) < DIFFERENT } else { between > 0.0 };
        Some(Layouts { differ, means, evened, variance, dof })
    }

    /// How the mean spreads where the layouts are those of every run: only by how the placements of each vary.
    pub fn as_all(&self) -> Spreading {
        Spreading { variance: self.variance, dof: self.dof, values: self.evened.clone() }
    }

    /// How the mean spreads if these layouts are a sample of all that the code may have. Each `crossover` neighbouring ones count as one. `None`
    /// if that leaves a single one.
    pub fn as_sample(&self, crossover: usize) -> Option<Spreading> {
        let values: Vec<f64> = self.means.chunks(crossover.max(1)).map(|some| some.iter().sum::<f64>() / some.len() as f64).collect();
        let (number, mean) = (values.len() as f64, self.mean());
        let squares: f64 = values.iter().map(|one| (one - mean).powi(2)).sum();
        (values.len() > 1).then(|| Spreading { variance: squares / (number - 1.0) / number, dof: number - 1.0, values })
    }

    /// Whether they surely differ, and the longest time exceeds the shortest by this share.
    pub fn differ_by(&self, share: f64) -> bool {
        let (least, most) = self.range();
        self.differ && most > (1.0 + share) * least
    }

    /// The mean of all layouts.
    pub fn mean(&self) -> f64 {
        self.means.iter().sum::<f64>() / self.means.len() as f64
    }

    /// The least and the largest time of a layout.
    pub fn range(&self) -> (f64, f64) {
        self.means.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), mean| (least.min(*mean), most.max(*mean)))
    }
}

/// The sum over the placements of each layout.
fn of_each(times: &[(usize, f64)], layouts: usize, of: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; layouts];
    times.iter().for_each(|(layout, time)| sums[*layout] += of(*time));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    const LAYOUTS: [f64; 4] = [36.0, 41.0, 46.0, 45.0];

    /// Placements in which the layouts take turns, and whose times vary by this standard deviation.
    fn times(layouts: &[f64], placements: usize, sd: f64, random: &mut Pcg64Mcg) -> Vec<(usize, f64)> {
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        (0..placements).map(|at| (at % layouts.len(), layouts[at % layouts.len()] + sd * normal())).collect()
    }

    #[test]
    fn the_mean_is_that_of_the_layouts_however_many_placements_each_has() {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for placements in 8..20 {
            let found = Layouts::of(&times(&LAYOUTS, placements, 0.0, &mut random), 4).unwrap();
            assert!(
                found.differ && (found.mean() - 42.0).abs() < 1e-9 && found.range() == (36.0, 46.0) && found.variance == 0.0,
                "{found:?}"
            );
            assert!(found.evened.iter().all(|time| (time - 42.0).abs() < 1e-9));
        }
        for few in [0, 3, 4] {
            assert_eq!(Layouts::of(&times(&LAYOUTS, few, 0.1, &mut random), 4), None, "{few} placements");
        }
        assert_eq!(Layouts::of(&[(0, 1.0), (0, 2.0), (0, 1.5)], 1), None);
        assert!(!Layouts::of(&times(&[42.0; 4], 16, 0.0, &mut random), 4).unwrap().differ, "a coarse clock has equal readings");
    }

    #[test]
    fn intervals_hold_the_mean_of_the_layouts() {
        const RUNS: u32 = 2_000;
        let mut random = Pcg64Mcg::seed_from_u64(2);
        for placements in [5, 7, 11, 16] {
            let is_held = |found: Layouts| (found.mean() - 42.0).abs() <= found.as_all().half_width(0.95);
            let held = (0..RUNS).filter(|_| is_held(Layouts::of(&times(&LAYOUTS, placements, 0.5, &mut random), 4).unwrap())).count();
            assert!((1_860..=1_940).contains(&held), "{held} of {RUNS}");
        }
    }

    #[test]
    fn layouts_that_are_close_together_by_chance_do_not_narrow_the_interval() {
        const RUNS: u32 = 2_000;
        let mut random = Pcg64Mcg::seed_from_u64(4);
        let mut runs = || (0..RUNS).map(|_| Layouts::of(&times(&[42.0; 8], 16, 0.5, &mut random), 8).unwrap()).collect::<Vec<Layouts>>();
        let narrow = |found: &Layouts| found.as_sample(2).unwrap().or_wider(found.as_all(), 0.95);
        let (all, sd) = (runs(), 0.5 / 16f64.sqrt());
        // Four means of two layouts can lie within a tenth of what the placements scatter by.
        assert!(all.iter().any(|found| found.as_sample(2).unwrap().half_width(0.95) < 0.5 * sd));
        assert!(all.iter().all(|found| narrow(found).half_width(0.95) >= 0.5 * sd));
        let held = all.iter().filter(|found| (found.mean() - 42.0).abs() <= narrow(found).half_width(0.95)).count();
        assert!(held >= 1_900, "{held} of {RUNS}");
    }

    #[test]
    fn layouts_that_are_alike_seldom_count_as_different() {
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let found = (0..2_000).filter(|_| Layouts::of(&times(&[42.0; 4], 16, 0.5, &mut random), 4).unwrap().differ).count();
        assert!((5..=40).contains(&found), "{found} of 2000");
    }
}
