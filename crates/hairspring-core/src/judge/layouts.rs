//! Times of one code in several layouts, which placements take in turns: the mean over the layouts, and whether they differ.
//!
//! The layouts are the same in every run, so that the difference between them is not a variation that the next run draws anew: each layout
//! has a mean of its own, and what varies is the rest (analysis of variance with one fixed factor). Two codes are another matter: whether one
//! is faster than the other must not depend on which layouts were tried, so for their ratio the layouts are a sample.
//!
//! Some layouts differ only by the order of the alternatives in memory: each is once at the place of every other one. What a place adds is
//! then in the time of both, and leaves their ratio where it is averaged over these layouts (a crossover design).

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Layouts differ if chance explains their means with a smaller probability than this.
const DIFFERENT: f64 = 0.01;
/// Fewest placements of each layout: one shows nothing of how placements of a layout differ.
const FEWEST: usize = 2;

/// The times of several layouts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layouts {
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
        if layouts < 2 || counts.iter().any(|count| *count < FEWEST as f64) {
            return None;
        }
        let means: Vec<f64> = of_each(times, layouts, |time| time).iter().zip(&counts).map(|(sum, count)| sum / count).collect();
        let all = times.iter().map(|(_, time)| time).sum::<f64>() / placements;
        let (between_dof, dof) = (number - 1.0, placements - number);
        let between: f64 = means.iter().zip(&counts).map(|(mean, count)| count * (mean - all).powi(2)).sum::<f64>() / between_dof;
        let within: f64 = times.iter().map(|(layout, time)| (time - means[*layout]).powi(2)).sum::<f64>() / dof;
        let chance = FisherSnedecor::new(between_dof, dof).map_or(1.0, |law| law.sf(between / within));
        let mean = means.iter().sum::<f64>() / number;
        let variance = within * counts.iter().map(|count| 1.0 / count).sum::<f64>() / (number * number);
        let evened = times.iter().map(|(layout, time)| time - means[*layout] + mean).collect();
        // Where no placement of a layout differs from another one, any difference between the layouts counts.
        let differ = within == 0.0 && between > 0.0 || chance < DIFFERENT;
        Some(Layouts { differ, means, evened, variance, dof })
    }

    /// Variance of the mean and its degrees of freedom if these layouts are a sample of all that the code may have; and their means. Each
    /// `crossover` neighbouring ones count as one. `None` if that leaves a single one.
    pub fn as_sample(&self, crossover: usize) -> Option<(f64, f64, Vec<f64>)> {
        let means: Vec<f64> = self.means.chunks(crossover.max(1)).map(|some| some.iter().sum::<f64>() / some.len() as f64).collect();
        let (number, mean) = (means.len() as f64, self.mean());
        let squares: f64 = means.iter().map(|one| (one - mean).powi(2)).sum();
        (means.len() > 1).then(|| (squares / (number - 1.0) / number, number - 1.0, means))
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
    use crate::estimate::{Contribution, Source};
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
        for few in [0, 4, 7] {
            assert_eq!(Layouts::of(&times(&LAYOUTS, few, 0.1, &mut random), 4), None, "{few} placements");
        }
        assert_eq!(Layouts::of(&[(0, 1.0), (0, 2.0), (0, 1.5)], 1), None);
    }

    #[test]
    fn intervals_hold_the_mean_of_the_layouts() {
        const RUNS: u32 = 2_000;
        let mut random = Pcg64Mcg::seed_from_u64(2);
        for placements in [11, 16] {
            let is_held = |found: Layouts| {
                (found.mean() - 42.0).abs() <= Contribution::standard(Source::Placement, found.variance.sqrt(), found.dof).half_width(0.95)
            };
            let held = (0..RUNS).filter(|_| is_held(Layouts::of(&times(&LAYOUTS, placements, 0.5, &mut random), 4).unwrap())).count();
            assert!((1_860..=1_940).contains(&held), "{held} of {RUNS}");
        }
    }

    #[test]
    fn layouts_that_are_alike_seldom_count_as_different() {
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let found = (0..2_000).filter(|_| Layouts::of(&times(&[42.0; 4], 16, 0.5, &mut random), 4).unwrap().differ).count();
        assert!((5..=40).contains(&found), "{found} of 2000");
    }
}
