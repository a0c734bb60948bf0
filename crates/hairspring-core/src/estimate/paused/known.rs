//! What is known of the pauses of the CPU: from the time in which the clock was watched, and from the readings of the chains. These are short
//! and always take the same time, so that one with a pause is longer by that pause alone.

use super::{LITTLE, SHORTEST};
use crate::estimate::location::{by_row, median};
use crate::observations::{Observations, SeriesId};

/// Fewest pauses of the chains that show how short a pause may be.
const FEWEST: usize = 20;
/// This part of them is shorter than what counts as the shortest one.
const SHORTER: f64 = 0.05;

/// What is known of pauses, in ticks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// Time that the CPU runs from one pause to the next.
    pub apart: f64,
    /// Mean length.
    pub length: f64,
    /// A reading with a pause is longer by at least this.
    pub shortest: f64,
    /// How many were seen.
    pub number: f64,
}

impl Known {
    /// The pauses of a table with these chains; `None` if they are few, or have a small share of the time.
    ///
    /// # Cost
    /// About 50 ns for each reading of the chains.
    pub fn of(table: &Observations, chains: &[SeriesId]) -> Option<Known> {
        let pauses = table.origin.pauses;
        let (share, _) = pauses.share().filter(|(share, _)| *share >= LITTLE)?;
        let watched = f64::from(pauses.number);
        let length = pauses.lost / watched;
        let (mut lengths, time) = in_chains(table, chains, SHORTEST * length);
        lengths.sort_unstable_by(f64::total_cmp);
        let shortest = lengths.get((SHORTER * lengths.len() as f64) as usize).filter(|_| lengths.len() >= FEWEST);
        let number = watched + lengths.len() as f64;
        let running = pauses.lost / share + time;
        Some(Known { apart: running / number, length, shortest: shortest.map_or(SHORTEST * length, |least| least.min(length)), number })
    }

    /// The share of the time that they have.
    pub fn share(&self) -> f64 {
        self.length / self.apart
    }

    /// The share of the readings of this length that have a pause.
    pub fn paused(&self, time: f64) -> f64 {
        1.0 - (-time / self.apart).exp()
    }
}

/// By how much readings of chains are longer than the middle ones of their rows, if by more than this; and the time of all without that.
fn in_chains(table: &Observations, chains: &[SeriesId], more: f64) -> (Vec<f64>, f64) {
    let (mut lengths, mut time) = (Vec::new(), 0.0);
    for row in chains.iter().flat_map(|chain| by_row(table, *chain).1) {
        let mut ticks: Vec<f64> = row.iter().filter(|one| one.is_clean_but_shared()).map(|one| one.ticks).collect();
        if ticks.is_empty() {
            continue;
        }
        let middle = median(&mut ticks);
        lengths.extend(ticks.iter().map(|ticks| ticks - middle).filter(|excess| *excess > more));
        time += middle * ticks.len() as f64;
    }
    (lengths, time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::simulated::with_pauses;
    use crate::observations::Pauses;
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    /// A chain of 300 ticks beside pauses of 4,000 to 12,000 ticks, once in so many. So many were seen while the clock was watched.
    fn table(apart: f64, rounds: u32, watched: u32) -> Observations {
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let mut table = Observations::new(vec!["body".into()]);
        let chain = table.series("chain");
        for round in 0..rounds {
            let row = table.row(chain, &[1.0]);
            table.push(row, round, with_pauses(300.0, apart, 8_000.0, &mut random));
        }
        let number = f64::from(watched);
        table.origin.pauses = Pauses { watched: number * (apart + 8_000.0), lost: number * 8_000.0, number: watched, longer: None };
        table
    }

    #[test]
    fn chains_show_more_pauses_and_how_short_they_are() {
        let table = table(100_000.0, 40_000, 30);
        let alone = Known::of(&table, &[]).unwrap();
        assert_eq!((alone.apart, alone.number, alone.shortest), (100_000.0, 30.0, 2_000.0));
        let known = Known::of(&table, &[table.find_series("chain").unwrap()]).unwrap();
        assert!((100.0..200.0).contains(&known.number) && (85_000.0..115_000.0).contains(&known.apart), "{known:?}");
        assert!((4_000.0..5_500.0).contains(&known.shortest) && known.length == 8_000.0, "{known:?}");
    }

    #[test]
    fn few_pauses_of_chains_do_not_show_how_short_they_are() {
        let table = table(100_000.0, 2_000, 30);
        let known = Known::of(&table, &[table.find_series("chain").unwrap()]).unwrap();
        assert!(known.number < 45.0 && known.shortest == 2_000.0, "{known:?}");
    }

    #[test]
    fn rare_pauses_are_not_looked_at() {
        assert!(Known::of(&table(10_000_000.0, 100, 30), &[]).is_none() && Known::of(&table(100_000.0, 100, 4), &[]).is_none());
    }
}
