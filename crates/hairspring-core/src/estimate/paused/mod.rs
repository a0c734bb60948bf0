//! Readings in which the CPU paused.
//!
//! Pauses that nothing counts, as of a hypervisor, lengthen some readings of a row by some microseconds. In rows that are not much longer
//! than the time from one pause to the next, many readings have none: they lie in a narrow peak below the others, and the number of the others
//! is what the pauses make expect that were seen while the clock was watched, and in the chains ([`known`]). Then the others are left out, and
//! what neither the number nor the time of the pauses explains is in the interval. Where more of them are long, or the peak is wide, the time of
//! the code itself varies, and nothing is left out.

mod known;

use super::quiet::{Rates, rates};
use crate::observations::{Flags, Observations, Reading, SeriesId};
use known::Known;
use std::ops::Range;

/// Pauses with a smaller share of the time are of no interest.
pub const LITTLE: f64 = 0.002;
/// Pauses in the longest row, in the mean, below which a paused reading is an outlier like others ...
const FEWEST: f64 = 0.05;
/// ... and above which too few readings have none.
const MOST: f64 = 2.5;
/// Readings without a pause are a share of all that falls with the number of pauses as that of a Poisson distribution. This part of them is
/// below the value that stands for their peak ...
const MIDDLE: f64 = 0.35;
/// ... and this part below the value that stands for its left end.
const LEFT: f64 = 0.05;
/// A reading that is longer than the peak by this part of a mean pause had one, if the chains do not show how short pauses are.
const SHORTEST: f64 = 0.25;
/// The peak is narrow if its left half is so many times shorter than that.
const NARROW: f64 = 1.5;
/// Of a peak that is just as narrow as that, its right end is left out, and this part of its left half taken off its mean.
const CUT: f64 = 0.15;
/// Of the paused readings that are expected, up to this many times as many may be there ...
const MORE: f64 = 1.6;
/// ... and this share of all readings further: other outliers.
const OTHERS: f64 = 0.03;
/// Most that one reading counts for, in mean pauses: longer ones are outliers of another kind.
const LONGEST: f64 = 4.0;

/// The readings of a series in which the CPU paused.
#[derive(Debug, Clone, PartialEq)]
pub struct Paused {
    /// The series.
    pub series: SeriesId,
    /// Their places in the table.
    pub readings: Vec<usize>,
    /// By how much they lengthen the longest row beyond what pauses explain, by their time or by their number, as a share of it. The code
    /// itself may take that time. A paused reading may well be longer than the pause: the code finds cold caches behind it.
    pub unexplained: f64,
}

/// The paused readings of every series, but for the chains, if they can be told from the others in all alternatives; and the rounds of
/// which this is not known, because the core clock changed in them. None if pauses are few.
///
/// # Cost
/// About 100 ns for each reading, where there are pauses.
pub fn paused_readings(table: &Observations) -> (Vec<Paused>, Vec<Range<u32>>) {
    let origin = &table.origin;
    if origin.pauses.share().is_none_or(|(share, _)| share < LITTLE) {
        return (Vec::new(), Vec::new());
    }
    let reference = origin.reference.as_ref().and_then(|(name, cycles)| Some((table.find_series(name)?, *cycles)));
    let rates = reference.and_then(|(series, cycles)| rates(table, series, cycles));
    let chains: Vec<SeriesId> = origin.chains().filter_map(|(name, _)| table.find_series(name)).collect();
    let rows = rows_of(table, &chains, rates.as_ref());
    let of_chains = rows.iter().zip(table.rows()).filter(|(_, row)| chains.contains(&row.series)).map(|(row, _)| &row[..]);
    let Some(known) = Known::of(&origin.pauses, of_chains) else { return (Vec::new(), Vec::new()) };
    let of = |series| of_series(series, table.rows_of(series).map(|(row, _)| &*rows[row as usize]), known);
    let is_further = |series: &SeriesId| origin.is_auxiliary(&table.series_names()[usize::from(*series)]);
    let all = (0..table.series_names().len() as SeriesId).filter(|series| !chains.contains(series));
    let (further, subjects): (Vec<SeriesId>, Vec<SeriesId>) = all.partition(is_further);
    // Alternatives are compared, so that what is done with one is done with all.
    let Some(found) = subjects.into_iter().map(of).collect::<Option<Vec<Option<Paused>>>>() else { return (Vec::new(), Vec::new()) };
    let found: Vec<Paused> = found.into_iter().chain(further.into_iter().filter_map(of)).flatten().collect();
    if found.is_empty() {
        return (Vec::new(), Vec::new());
    }
    (found, rates.map_or_else(Vec::new, |rates| unknown(&rates, table.rounds())))
}

/// The rounds, one after the other, in which the rate is not known.
fn unknown(rates: &Rates, rounds: u32) -> Vec<Range<u32>> {
    let all: Vec<u32> = (0..rounds).filter(|round| rates.at(*round).is_none()).collect();
    all.chunk_by(|before, after| before + 1 == *after).map(|some| some[0]..some[some.len() - 1] + 1).collect()
}

/// The readings of each row without a doubt, the shortest first: their places in the table and their times at the mean core clock. Those of chains
/// that somebody else may have lengthened are left out: there are enough others.
fn rows_of(table: &Observations, chains: &[SeriesId], rates: Option<&Rates>) -> Vec<Vec<(usize, f64)>> {
    let at_mean = |round: u32| rates.map_or(Some(1.0), |rates| rates.at(round).map(|rate| rates.mean / rate));
    let mut rows = vec![Vec::new(); table.rows().len()];
    let is_chain = |reading: &Reading| chains.contains(&table.rows()[reading.row as usize].series);
    let is_wanted =
        |(_, reading): &(usize, &Reading)| reading.is_clean_but_shared() && !(reading.flags.contains(Flags::SHARED) && is_chain(reading));
    for (at, reading) in table.readings().iter().enumerate().filter(is_wanted) {
        rows[reading.row as usize].extend(at_mean(reading.round).map(|factor| (at, reading.ticks * factor)));
    }
    rows.iter_mut().for_each(|row| row.sort_by(|a, b| a.1.total_cmp(&b.1)));
    rows
}

/// The paused readings of the rows of a series; none if the rows are so short that a paused reading is an outlier like others. `None` if they
/// cannot be told from the others.
fn of_series<'r>(series: SeriesId, rows: impl Iterator<Item = &'r [(usize, f64)]>, known: Known) -> Option<Option<Paused>> {
    let rows: Vec<&[(usize, f64)]> = rows.filter(|row| !row.is_empty()).collect();
    let peaks: Vec<Peak> = rows.iter().map(|row| Peak::of(row, known)).collect();
    let longest = peaks.iter().zip(&rows).max_by(|a, b| a.0.time.total_cmp(&b.0.time));
    let Some((longest, row)) = longest.filter(|(peak, _)| peak.time >= FEWEST * known.apart) else {
        return Some(None);
    };
    let is_clear = longest.time <= MOST * known.apart && peaks.iter().zip(&rows).all(|(peak, row)| peak.is_clear(row, known));
    let unexplained = (longest.excess(row, known) + known.hidden(longest.time) + CUT * longest.left) / longest.time;
    let readings = || peaks.iter().zip(&rows).flat_map(|(peak, row)| &row[peak.without..]).map(|(at, _)| *at).collect();
    is_clear.then(|| Some(Paused { series, readings: readings(), unexplained }))
}

/// The readings of a row without a pause.
#[derive(Debug, Clone, Copy)]
struct Peak {
    /// Their time.
    time: f64,
    /// How far they reach to the left of it.
    left: f64,
    /// Their number.
    without: usize,
}

impl Peak {
    /// The peak of a row that has readings, which are sorted by their times.
    fn of(row: &[(usize, f64)], known: Known) -> Peak {
        let at = |share: f64| row[((share * row.len() as f64) as usize).min(row.len() - 1)].1;
        let without = 1.0 - known.paused(at(LEFT));
        let time = at(MIDDLE * without);
        let place = row.partition_point(|(_, ticks)| *ticks <= time + known.shortest);
        Peak { time, left: time - at(LEFT * without), without: place }
    }

    /// What pauses do not explain of the time that the others take beyond it, in the mean of all readings.
    fn excess(&self, row: &[(usize, f64)], known: Known) -> f64 {
        let beyond = |from: usize| -> f64 {
            let all = row.iter().skip(from).map(|(_, ticks)| (ticks - self.time).min(LONGEST * known.length));
            all.sum::<f64>() / row.len() as f64
        };
        // Those that are more than pauses explain may be the longest. There may be fewer pauses than were seen, by a standard deviation.
        let explained = row.len() as f64 * known.paused(self.time) / (1.0 + known.number.sqrt().recip());
        let by_number = beyond(self.without + explained as usize);
        let by_time = (beyond(self.without) - known.share() * self.time).max(0.0);
        by_number.min(by_time)
    }

    /// Whether it is narrow, and no more readings are beyond it than the pauses explain.
    fn is_clear(&self, row: &[(usize, f64)], known: Known) -> bool {
        let (all, beyond) = (row.len() as f64, (row.len() - self.without) as f64);
        let expected = all * known.paused(self.time);
        let by_chance = 3.0 * expected.sqrt();
        NARROW * self.left <= known.shortest && beyond <= MORE * expected + by_chance + OTHERS * all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::simulated::with_pauses;
    use crate::observations::Pauses;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    const APART: f64 = 140_000.0;
    const LENGTH: f64 = 8_000.0;

    /// Rows of one to four copies of a body, beside pauses; `own` is what an evaluation takes beyond it.
    fn table(body: f64, rounds: u32, mut own: impl FnMut(&mut Pcg64Mcg) -> f64) -> Observations {
        let mut random = Pcg64Mcg::seed_from_u64(5);
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("code");
        for round in 0..rounds {
            for copies in 1..=4_u32 {
                let row = table.row(series, &[f64::from(copies)]);
                let run = body * f64::from(copies) + 50.0 + 20.0 * random.random::<f64>() + own(&mut random);
                table.push(row, round, with_pauses(run, APART, LENGTH, &mut random));
            }
        }
        table.origin.pauses = Pauses { watched: 100.0 * (APART + LENGTH), lost: 100.0 * LENGTH, number: 100, longer: None };
        table
    }

    #[test]
    fn what_is_left_has_no_pause() {
        for body in [3_000.0, 20_000.0, 80_000.0] {
            let table = table(body, 400, |_| 0.0);
            let found = paused_readings(&table).0;
            let [paused] = &found[..] else { panic!("{body}: {found:?}") };
            for (at, reading) in table.readings().iter().enumerate() {
                let copies = table.rows()[reading.row as usize].counts[0];
                assert_eq!(reading.ticks > body * copies + 100.0, paused.readings.contains(&at), "{body}: {reading:?}");
            }
            assert!(paused.unexplained < 0.005, "{body}: {}", paused.unexplained);
        }
    }

    #[test]
    fn code_that_varies_by_itself_keeps_all_of_its_readings() {
        let half = |random: &mut Pcg64Mcg| if random.random::<f64>() < 0.5 { 6_000.0 } else { 0.0 };
        let slowly = |random: &mut Pcg64Mcg| 6_000.0 * random.random::<f64>();
        assert_eq!((paused_readings(&table(5_000.0, 400, half)).0, paused_readings(&table(20_000.0, 400, slowly)).0), (vec![], vec![]));
    }

    #[test]
    fn code_that_is_long_at_times_has_that_in_what_pauses_do_not_explain() {
        let at_times = |random: &mut Pcg64Mcg| if random.random::<f64>() < 0.1 { 20_000.0 } else { 0.0 };
        let (found, _) = paused_readings(&table(20_000.0, 400, at_times));
        // Each reading of the longest row takes 2,000 ticks more in the mean, 2.5 % of it.
        assert!(found.iter().all(|paused| (0.005..0.03).contains(&paused.unexplained)), "{found:?}");
    }

    #[test]
    fn pauses_explain_readings_that_are_longer_than_they_are() {
        // Behind a pause the code takes as long again as the pause.
        let mut cold = table(20_000.0, 400, |_| 0.0);
        let length = LENGTH / 2.0;
        cold.origin.pauses = Pauses { watched: 100.0 * (APART + length), lost: 100.0 * length, ..cold.origin.pauses };
        let (found, _) = paused_readings(&cold);
        // By their time it would be 2.8 %.
        assert!(found.iter().all(|paused| paused.unexplained < 0.015) && !found.is_empty(), "{found:?}");
    }

    #[test]
    fn chains_show_which_readings_are_too_short_for_a_pause() {
        const MORE: f64 = 2_800.0;
        let at_times = |random: &mut Pcg64Mcg| if random.random::<f64>() < 0.15 { MORE } else { 0.0 };
        let mut table = table(20_000.0, 400, at_times);
        let longer = |table: &Observations| {
            let (found, _) = paused_readings(table);
            let is_own = |at: &&usize| {
                let reading = &table.readings()[**at];
                reading.ticks < 20_000.0 * table.rows()[reading.row as usize].counts[0] + MORE + 100.0
            };
            found.iter().flat_map(|paused| &paused.readings).filter(is_own).count()
        };
        assert!(longer(&table) > 100, "a quarter of a mean pause may be one");
        let chain = table.series("chain");
        table.origin.controls.push(("chain".into(), 10_000.0));
        let mut random = Pcg64Mcg::seed_from_u64(6);
        for round in 0..400 {
            let row = table.row(chain, &[1.0]);
            table.push(row, round, with_pauses(10_000.0, APART, LENGTH, &mut random));
        }
        assert_eq!(longer(&table), 0);
    }

    #[test]
    fn short_rows_long_rows_and_rare_pauses_are_left_alone() {
        assert!(paused_readings(&table(1_000.0, 400, |_| 0.0)).0.is_empty());
        assert!(paused_readings(&table(200_000.0, 400, |_| 0.0)).0.is_empty());
        let mut rare = table(20_000.0, 400, |_| 0.0);
        rare.origin.pauses.watched *= 100.0;
        assert!(paused_readings(&rare).0.is_empty());
        rare.origin.pauses = Pauses::default();
        assert!(paused_readings(&rare).0.is_empty());
    }
}
