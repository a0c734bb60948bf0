//! What is known of the pauses of the CPU: from the time in which the clock was watched, and from the readings of the chains. A chain is short, and
//! takes the same time again and again at one core clock, so a reading with a pause is longer by the pause alone.

use super::SHORTEST;
use crate::observations::Pauses;

/// Fewest pauses of the chains that show how short a pause may be.
const FEWEST_IN_CHAINS: usize = 20;
/// The quantile of the pauses that stands for the shortest one.
const SHORTEST_QUANTILE: f64 = 0.05;
/// Pauses of the chains count if they are so many times as frequent as those of the watch at most, and at least one in so many times as rare.
/// Otherwise something else lengthens the chains, or they are too few.
const AS_OFTEN: f64 = 2.0;

/// What is known of pauses, in ticks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// Time that the CPU runs from one pause to the next.
    pub apart: f64,
    /// Mean length of those that the watch saw.
    pub length: f64,
    /// A reading with a pause is longer by at least this, but for a few.
    pub shortest: f64,
    /// How many were seen.
    pub number: f64,
    /// The share of the pauses that is shorter than the shortest.
    shorter: f64,
}

impl Known {
    /// From the pauses that the watch saw, and the readings of each row of the chains, sorted by their times. Pauses that are much shorter than the
    /// mean are not seen in chains: fewer are then expected than there are, and more of the code's own readings count as not explained. `None` if
    /// the watch saw few.
    pub fn of<'r>(pauses: &Pauses, chains: impl Iterator<Item = &'r [(usize, f64)]>) -> Option<Known> {
        let (share, _) = pauses.share()?;
        let (watched, running) = (f64::from(pauses.number), pauses.lost / share);
        let length = pauses.lost / watched;
        let by_watch = Known { apart: running / watched, length, shortest: SHORTEST * length, number: watched, shorter: 0.0 };
        let (mut lengths, time) = in_chains(chains, SHORTEST * length);
        let factor = (lengths.len() as f64 / time) * by_watch.apart;
        if !(AS_OFTEN.recip()..=AS_OFTEN).contains(&factor) {
            return Some(by_watch);
        }
        lengths.sort_unstable_by(f64::total_cmp);
        let number = watched + lengths.len() as f64;
        let known = Known { apart: (running + time) / number, number, ..by_watch };
        let quantile = lengths[(SHORTEST_QUANTILE * lengths.len() as f64) as usize].min(length);
        let is_shown = lengths.len() >= FEWEST_IN_CHAINS;
        Some(if is_shown { Known { shortest: quantile, shorter: SHORTEST_QUANTILE, ..known } } else { known })
    }

    /// The share of the time that they have.
    pub fn share(&self) -> f64 {
        self.length / self.apart
    }

    /// The share of the readings of this length that have a pause.
    pub fn paused(&self, time: f64) -> f64 {
        1.0 - (-time / self.apart).exp()
    }

    /// What pauses that are shorter than the shortest add to a reading of this length, in the mean of all: they are not found.
    pub fn hidden(&self, time: f64) -> f64 {
        self.shorter * self.paused(time) * self.shortest
    }
}

/// The excess of the readings over the middle one of their row, where it is above `more`; and the time of all readings as the middle ones.
fn in_chains<'r>(chains: impl Iterator<Item = &'r [(usize, f64)]>, more: f64) -> (Vec<f64>, f64) {
    let (mut lengths, mut time) = (Vec::new(), 0.0);
    for row in chains {
        let Some((_, middle)) = row.get(row.len() / 2) else { continue };
        lengths.extend(row.iter().map(|(_, ticks)| ticks - middle).filter(|excess| *excess > more));
        time += middle * row.len() as f64;
    }
    (lengths, time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::simulated::with_pauses;
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    const APART: f64 = 100_000.0;

    /// The readings of a chain of 300 ticks beside pauses of 4,000 to 12,000 ticks, once in so many.
    fn chain(apart: f64, readings: usize) -> Vec<(usize, f64)> {
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let mut row: Vec<(usize, f64)> = (0..readings).map(|at| (at, with_pauses(300.0, apart, 8_000.0, &mut random))).collect();
        row.sort_by(|a, b| a.1.total_cmp(&b.1));
        row
    }

    /// So many pauses of the watch.
    fn watched(number: u32) -> Pauses {
        let pauses = f64::from(number);
        Pauses { watched: pauses * (APART + 8_000.0), lost: pauses * 8_000.0, number, longer: None }
    }

    fn known(pauses: &Pauses, row: &[(usize, f64)]) -> Known {
        Known::of(pauses, [row, &[]].into_iter()).unwrap()
    }

    #[test]
    fn chains_show_more_pauses_and_how_short_they_are() {
        let alone = known(&watched(30), &[]);
        assert_eq!((alone.apart, alone.number, alone.shortest, alone.hidden(1e6)), (APART, 30.0, 2_000.0, 0.0));
        let known = known(&watched(30), &chain(APART, 40_000));
        assert!((100.0..200.0).contains(&known.number) && (85_000.0..115_000.0).contains(&known.apart), "{known:?}");
        assert!((4_000.0..5_500.0).contains(&known.shortest) && known.length == 8_000.0, "{known:?}");
        assert!((180.0..280.0).contains(&known.hidden(1e6)), "{known:?}");
    }

    #[test]
    fn few_pauses_of_chains_do_not_show_how_short_they_are() {
        let known = known(&watched(30), &chain(APART, 5_000));
        assert!(known.number > 30.0 && known.number < 50.0 && known.shortest == 2_000.0, "{known:?}");
    }

    #[test]
    fn chains_that_something_else_lengthens_or_that_show_nothing_do_not_count() {
        for apart in [10_000.0, 1e9] {
            let known = known(&watched(30), &chain(apart, 40_000));
            assert_eq!((known.apart, known.number, known.shortest), (APART, 30.0, 2_000.0));
        }
        assert!(Known::of(&watched(4), std::iter::empty()).is_none());
    }
}
