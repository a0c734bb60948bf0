//! The vote of all subsets, and the test of the answer (Staelin and McVoy, section 7).

use super::gcd::greatest_common_divisor;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Times that differ from their median by more than this factor are obvious outliers; the paper
/// says "within a few multiples of each other".
const OUTLIER_FACTOR: f64 = 20.0;
/// Times count as different if they differ by more than this share of the shorter one.
const DIFFERENT_SHARE: f64 = 0.05;
/// Two answers agree within this share of the first ...
const AGREE_SHARE: f64 = 0.01;
/// ... or within this many MHz.
const AGREE_MHZ: f64 = 1.0;
/// Most times in a vote: each further time doubles the number of subsets.
const MOST_TIMES: usize = 16;
/// Answers that a ballot lists.
const LISTED_ANSWERS: usize = 12;

/// An answer and the subsets that gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// Clock speed, in whole MHz as the paper prints it.
    pub mhz: u32,
    /// Number of subsets that gave it.
    pub subsets: u32,
}

/// The vote of all subsets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ballot {
    /// The mode: the most common answer, or the lowest of equally common ones.
    pub mode: Vote,
    /// Number of valid subsets: those with two times that differ by more than 5 %.
    pub subsets: u32,
    /// Range of the middle half of the subsets' answers, in MHz.
    pub middle_half: (u32, u32),
    /// Up to twelve answers, the most common first.
    pub votes: Vec<Vote>,
}

/// Which times are not obvious outliers (filter_data): those within a factor of twenty of the
/// median of the positive times.
pub fn plausible(times: &[f64]) -> Vec<bool> {
    let mut sorted: Vec<f64> =
        times.iter().copied().filter(|time| time.is_finite() && *time > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(median) = sorted.get(sorted.len() / 2).copied() else {
        return vec![false; times.len()];
    };
    times
        .iter()
        .map(|time| (median / OUTLIER_FACTOR..=median * OUTLIER_FACTOR).contains(time))
        .collect()
}

/// The mode of the greatest common divisors of all valid subsets of times, which are in
/// nanoseconds.
///
/// A subset is valid if two of its times differ by more than 5 % (classes): equal times would give
/// that time as the period. `None` if no subset is valid, or for more than 16 times.
pub fn vote(times_ns: &[f64]) -> Option<Ballot> {
    if times_ns.len() > MOST_TIMES {
        return None;
    }
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for chosen in 1..1u32 << times_ns.len() {
        let subset: Vec<f64> = times_ns
            .iter()
            .enumerate()
            .filter(|(at, _)| chosen >> at & 1 == 1)
            .map(|(_, time)| *time)
            .collect();
        if let Some(mhz) = valid(&subset).then(|| speed(&subset)).flatten() {
            *counts.entry(mhz).or_insert(0) += 1;
        }
    }
    ballot(&counts)
}

/// Whether two times of the subset differ by more than 5 %.
fn valid(subset: &[f64]) -> bool {
    let shortest = subset.iter().copied().fold(f64::INFINITY, f64::min);
    subset.iter().any(|time| *time > shortest * (1.0 + DIFFERENT_SHARE))
}

/// Clock speed in whole MHz; `None` if it is not finite and positive.
fn speed(times_ns: &[f64]) -> Option<u32> {
    let mhz = (1e3 / greatest_common_divisor(times_ns)?.period).round();
    (0.0..=f64::from(u32::MAX)).contains(&mhz).then_some(mhz as u32)
}

fn ballot(counts: &BTreeMap<u32, u32>) -> Option<Ballot> {
    let mut votes: Vec<Vote> =
        counts.iter().map(|(mhz, subsets)| Vote { mhz: *mhz, subsets: *subsets }).collect();
    let subsets = votes.iter().map(|vote| vote.subsets).sum();
    let middle_half =
        (at_share(&votes, subsets / 4)?, at_share(&votes, subsets - 1 - subsets / 4)?);
    // The sort is stable, so the lowest of equally common answers stays first.
    votes.sort_by_key(|vote| std::cmp::Reverse(vote.subsets));
    votes.truncate(LISTED_ANSWERS);
    Some(Ballot { mode: *votes.first()?, subsets, middle_half, votes })
}

/// The answer at a rank, from 0, when all subsets are sorted by their answers.
fn at_share(votes: &[Vote], rank: u32) -> Option<u32> {
    let mut seen_subsets = 0;
    let reached = |vote: &&Vote| {
        seen_subsets += vote.subsets;
        seen_subsets > rank
    };
    votes.iter().find(reached).map(|vote| vote.mhz)
}

/// Whether the answer from the minima and the one from the next larger values are the same within 1
/// % or 1 MHz.
pub fn agree(best_mhz: u32, next_mhz: u32) -> bool {
    let (best, apart) = (f64::from(best_mhz), f64::from(best_mhz.abs_diff(next_mhz)));
    apart < AGREE_SHARE * best || apart < AGREE_MHZ
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times in nanoseconds on a core of this speed.
    fn times(mhz: f64, cycles: &[f64]) -> Vec<f64> {
        cycles.iter().map(|cycles| cycles * 1e3 / mhz).collect()
    }

    fn noisy(mhz: f64, cycles: &[f64], share: f64) -> Vec<f64> {
        times(mhz, cycles)
            .iter()
            .enumerate()
            .map(|(at, time)| time * (1.0 + share * (at * 7 % 9) as f64 / 8.0))
            .collect()
    }

    /// Cycles of the nine expressions as they were found on a core of 4.1 GHz.
    const STUDY: [f64; 9] = [5.0, 2.0, 3.0, 1.0, 2.0, 2.0, 2.0, 3.0, 2.0];

    #[test]
    fn the_speed_is_the_mode_of_the_subsets() {
        let vote = vote(&noisy(4_100.0, &STUDY, 1e-4)).unwrap();
        assert!(vote.mode.mhz.abs_diff(4_100) <= 1, "{vote:?}");
        // 511 subsets minus those of equal lengths: 2^5 - 1 of 2 cycles, 3 of 3 cycles, one each of
        // 1 and 5.
        assert_eq!(vote.subsets, 511 - 31 - 3 - 1 - 1);
        assert!(vote.mode.subsets > vote.subsets / 4);
    }

    #[test]
    fn an_expression_that_the_compiler_folded_is_filtered() {
        let mut folded = times(4_100.0, &STUDY);
        (folded[1], folded[8]) = (0.0096, 0.0);
        let kept_expressions = plausible(&folded);
        assert_eq!(
            kept_expressions.iter().filter(|kept_expressions| !**kept_expressions).count(),
            2
        );
        assert!(!kept_expressions[1] && !kept_expressions[8]);
        assert_eq!(plausible(&[f64::NAN, -1.0]), [false, false]);
    }

    #[test]
    fn few_non_integer_lengths_are_outvoted() {
        // The core folds one addition into renaming.
        let vote =
            vote(&noisy(4_100.0, &[5.0, 2.0, 3.0, 1.0, 2.5, 2.0, 2.0, 3.0, 2.0], 1e-4)).unwrap();
        assert!(vote.mode.mhz.abs_diff(4_100) <= 2, "{vote:?}");
    }

    #[test]
    fn many_non_integer_lengths_win_the_vote() {
        // The core shortens a store-load pair to half a cycle, and additions of a constant to 0.17:
        // the method cannot detect it.
        let vote = vote(&noisy(4_100.0, &[0.5, 1.17, 2.17, 1.0, 1.5, 2.5, 0.53, 3.17, 2.34], 1e-4))
            .unwrap();
        assert!(vote.mode.mhz.abs_diff(4_100) > 41, "{vote:?}");
        // The range of the middle half shows the doubt that the mode hides.
        assert!(vote.middle_half.1 - vote.middle_half.0 > 410, "{vote:?}");
    }

    #[test]
    fn a_common_factor_of_all_lengths_divides_the_speed() {
        // Dependent operations never take less than two cycles.
        let vote =
            vote(&noisy(4_000.0, &[4.0, 2.0, 4.0, 2.0, 4.0, 4.0, 4.0, 6.0, 6.0], 1e-4)).unwrap();
        assert!(vote.mode.mhz.abs_diff(2_000) <= 1, "{vote:?}");
    }

    #[test]
    fn another_process_that_takes_an_even_share_is_not_noticed() {
        // 2715 MHz instead of 4100: all intervals, including the second shortest, are longer by the
        // same share.
        let best = vote(&noisy(2_715.0, &STUDY, 1e-4)).unwrap();
        let next = vote(&noisy(2_714.0, &STUDY, 2e-4)).unwrap();
        assert!(
            best.mode.mhz.abs_diff(2_715) <= 1 && agree(best.mode.mhz, next.mode.mhz),
            "{best:?} {next:?}"
        );
    }

    #[test]
    fn another_process_that_takes_uneven_shares_is_noticed() {
        let shares = [1.0, 1.3, 1.0, 1.5, 1.1, 1.0, 1.6, 1.2, 1.4];
        let loaded: Vec<f64> =
            times(4_100.0, &STUDY).iter().zip(shares).map(|(time, share)| time * share).collect();
        let (best, next) = (vote(&noisy(4_100.0, &STUDY, 1e-3)).unwrap(), vote(&loaded).unwrap());
        assert!(!agree(best.mode.mhz, next.mode.mhz), "{best:?} {next:?}");
    }

    #[test]
    fn no_valid_subset_gives_no_answer() {
        assert!(vote(&[]).is_none());
        assert!(vote(&[1.0]).is_none());
        assert!(vote(&[1.0, 1.04, 1.02]).is_none());
        assert!(vote(&[1.0; 40]).is_none());
    }

    #[test]
    fn answers_agree_within_one_percent_or_one_mhz() {
        assert!(agree(4_100, 4_140) && !agree(4_100, 4_142));
        assert!(agree(25, 25) && !agree(25, 26));
        assert!(!agree(0, 1));
    }

    #[test]
    fn the_lowest_of_equally_common_answers_is_the_mode() {
        let counts = BTreeMap::from([(300, 2), (100, 2), (200, 1)]);
        let found = ballot(&counts).unwrap();
        assert_eq!((found.mode.mhz, found.subsets, found.middle_half), (100, 5, (100, 300)));
    }
}
