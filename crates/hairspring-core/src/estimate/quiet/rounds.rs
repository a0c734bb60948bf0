//! The rounds in which nobody else used the core, where the clock is too coarse for guards of single readings.
//!
//! A neighbour lengthens a guard by ten or twenty core cycles. A clock with steps of some tens of cycles does not show that in one
//! guard, but the mean over the guards of some rounds does: the steps average out, because readings begin anywhere between two
//! of them. A neighbour mostly stays for much longer than these rounds.
//!
//! The means of windows of rounds are distributed about the undisturbed guard with a known standard error, and those with a
//! neighbour lie above. The lowest peak of the means is the undisturbed guard, if its left flank is as wide as the standard error.
//! If it is longer than the one that earlier runs on the machine show ([`quiet_guard`]), somebody else was there throughout.
//!
//! [`quiet_guard`]: crate::observations::Origin::quiet_guard

use super::clock::Rates;
use super::guard_cycles;
use crate::estimate::location::median;
use crate::observations::{Observations, Reading};

/// Standard error of the mean guard of a window, in core cycles: a fraction of what a neighbour adds.
const WINDOW_ERROR: f64 = 1.5;
/// Guards that scatter less than this share of a quantum begin at few places between two steps: their mean shows no more than one of
/// them.
const LEAST_SCATTER: f64 = 0.1;
/// Longest window in rounds: some milliseconds. A neighbour comes and goes within a longer one, which a coarser clock would need.
const LONGEST_WINDOW: u32 = 64;
/// Fewest windows that do not overlap, for a peak to show.
const FEWEST_WINDOWS: u32 = 12;
/// Fewest steps of the clock in a guard. Guards within one step are missing, and those that cross one all seem equal.
const FEWEST_STEPS: f64 = 2.0;
/// Guards longer than this many times their median contain an interrupt, and show nothing about the neighbour.
const INTERRUPTED: f64 = 2.0;
/// The search for the lowest peak starts at this quantile of the means ...
const START: f64 = 0.01;
/// ... and moves to the mean of all means within this many standard errors, until it stays.
const REACH: f64 = 1.5;
/// Rounds count as quiet up to this many standard errors above the peak.
const ABOVE: f64 = 1.0;
/// Rounds are surely disturbed from this many standard errors above the peak.
const SURELY: f64 = 4.0;
/// If the left flank of the lowest peak is wider than this many standard errors, more than chance moves the guards there, and the peak
/// is not the undisturbed guard: for example a neighbour that comes and goes within a window.
const WIDEST_FLANK: f64 = 1.5;
/// A peak that is longer by this share than the guard that earlier runs show is that of a neighbour who was there throughout. The
/// guards of quiet runs differ by half a percent.
const LONGER: f64 = 0.015;

/// The rounds in which nobody else used the core.
#[derive(Debug, Clone)]
pub struct QuietRounds {
    /// For each round; all false if the guards show no undisturbed ones.
    pub is_quiet: Vec<bool>,
    /// The lowest peak of the mean guards, in core cycles: that without a neighbour, if he was gone for a while. `None` if its flank is
    /// wide.
    pub guard: Option<f64>,
    /// Share of the rounds that are surely disturbed.
    pub disturbed: f64,
    /// Share of the quiet rounds among those whose core clock is known. By the symmetry of the peak: quiet rounds that lie above the
    /// limit by chance count as quiet.
    pub share: f64,
    /// By which share the peak is longer than the guard of earlier runs, if that is too much for undisturbed ones.
    pub longer: Option<f64>,
}

/// Finds the quiet rounds by the guards of these rows, in the order of their ids; `None` without guards, with too few rounds, or
/// if the clock is too coarse.
///
/// # Cost
/// About 20 ns for each reading.
pub fn quiet_rounds(table: &Observations, rates: &Rates, shows: &[bool]) -> Option<QuietRounds> {
    let guards = Guards::new(table, rates, shows)?;
    let rounds = guards.window();
    if rounds > LONGEST_WINDOW || table.rounds() < FEWEST_WINDOWS * rounds {
        return None;
    }
    let (means, error) = (guards.means(rounds), guards.error(rounds));
    let mut sorted: Vec<f64> = means.iter().copied().filter(|mean| mean.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let peak = lowest_peak(&sorted, error)?;
    let below = &sorted[..sorted.partition_point(|mean| *mean < peak)];
    let flank = (below.iter().map(|mean| (peak - mean).powi(2)).sum::<f64>() / below.len().max(1) as f64).sqrt();
    let longer = table.origin.quiet_guard.map(|known| peak / known - 1.0).filter(|longer| *longer > LONGER);
    let is_longer = longer.is_some();
    let is_wide = flank > WIDEST_FLANK * error;
    // The guards may differ for other reasons than a neighbour, so a wide flank without an earlier run proves nothing.
    if is_wide && !is_longer {
        return None;
    }
    // The peak is symmetrical, so as many undisturbed windows lie above it as below.
    let peaked = below.len() + sorted.partition_point(|mean| *mean <= peak);
    let share = if is_longer { 0.0 } else { (peaked as f64 / sorted.len() as f64).min(1.0) };
    let is_quiet = means.iter().map(|mean| !is_longer && *mean <= peak + ABOVE * error).collect();
    let far = sorted.len() - sorted.partition_point(|mean| *mean <= peak + SURELY * error);
    let disturbed = if is_longer { 1.0 } else { far as f64 / sorted.len() as f64 };
    Some(QuietRounds { is_quiet, guard: Some(peak).filter(|_| !is_wide), disturbed, share, longer })
}

/// The mean to which that of all values within reach moves, from the left.
fn lowest_peak(sorted: &[f64], error: f64) -> Option<f64> {
    const STEPS: usize = 100;
    let mut at = *sorted.get((sorted.len() as f64 * START) as usize)?;
    for _ in 0..STEPS {
        let near = |limit: f64| sorted.partition_point(|mean| *mean < limit);
        let within = &sorted[near(at - REACH * error)..near(at + REACH * error)];
        let next = within.iter().sum::<f64>() / within.len().max(1) as f64;
        if within.is_empty() || (next - at).abs() < 1e-3 * error {
            break;
        }
        at = next;
    }
    Some(at)
}

/// Sums of the guards of each round, in core cycles.
struct Guards {
    sums: Vec<f64>,
    counts: Vec<f64>,
    /// Standard deviation of one guard within its round.
    deviation: f64,
    /// Guards of a typical round.
    typical: f64,
}

impl Guards {
    fn new(table: &Observations, rates: &Rates, shows: &[bool]) -> Option<Guards> {
        let of_reading = |one: &Reading| {
            let usable = shows[one.row as usize] && one.is_clean_but_shared();
            Some((one.round as usize, guard_cycles(one.guard.filter(|_| usable)?.get(), rates.at(one.round)?)))
        };
        let guards: Vec<(usize, f64)> = table.readings().iter().filter_map(of_reading).collect();
        let middle = median(&mut guards.iter().map(|(_, guard)| *guard).collect::<Vec<f64>>());
        if middle < FEWEST_STEPS * table.origin.quantum() / rates.mean {
            return None;
        }
        let limit = INTERRUPTED * middle;
        let rounds = table.rounds() as usize;
        let (mut sums, mut squares, mut counts) = (vec![0.0; rounds], vec![0.0; rounds], vec![0.0; rounds]);
        for (round, guard) in guards.into_iter().filter(|(_, guard)| *guard <= limit) {
            sums[round] += guard;
            squares[round] += guard * guard;
            counts[round] += 1.0;
        }
        let many = |round: &usize| counts[*round] > 1.0;
        let variance = |round: usize| (squares[round] - sums[round] * sums[round] / counts[round]) / (counts[round] - 1.0);
        let variances: Vec<f64> = (0..rounds).filter(many).map(variance).collect();
        let typical = median(&mut (0..rounds).filter(many).map(|round| counts[round]).collect::<Vec<f64>>());
        // The mean, not the median: the variance of a coarse clock's guards differs from one core clock to the other.
        // Rounding leaves a variance just below 0 where all guards are equal.
        let deviation = (variances.iter().sum::<f64>() / variances.len() as f64).max(0.0).sqrt();
        let is_dithered = deviation > LEAST_SCATTER * table.origin.quantum() / rates.mean;
        (typical.is_finite() && is_dithered).then_some(Guards { sums, counts, deviation, typical })
    }

    /// Rounds of a window, an odd number.
    fn window(&self) -> u32 {
        let guards = (self.deviation / WINDOW_ERROR).powi(2);
        (guards / self.typical).ceil() as u32 | 1
    }

    /// Standard error of the mean of a window.
    fn error(&self, rounds: u32) -> f64 {
        self.deviation / (f64::from(rounds) * self.typical).sqrt()
    }

    /// The mean guard of the window about each round; NaN if the round has none, or the window less than half of them.
    fn means(&self, rounds: u32) -> Vec<f64> {
        let half = rounds as usize / 2;
        let (sums, counts) = (running(&self.sums), running(&self.counts));
        let mean = |at: usize| {
            let (from, to) = (at.saturating_sub(half), (at + half + 1).min(self.sums.len()));
            let count = counts[to] - counts[from];
            let enough = self.counts[at] > 0.0 && count >= 0.5 * f64::from(rounds) * self.typical;
            if enough { (sums[to] - sums[from]) / count } else { f64::NAN }
        };
        (0..self.sums.len()).map(mean).collect()
    }
}

/// The sum of the values before each place, and of all.
fn running(values: &[f64]) -> Vec<f64> {
    let add = |sum: &mut f64, value: &f64| {
        *sum += value;
        Some(*sum)
    };
    std::iter::once(0.0).chain(values.iter().scan(0.0, add)).collect()
}
