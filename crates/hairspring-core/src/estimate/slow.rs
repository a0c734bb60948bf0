//! Evaluations that the code itself makes slow at times: a container that grows, a buffer that is refilled, a rare branch.
//!
//! A reading that is far longer than its neighbours in time is taken for one that something else disturbed, and left out. Something else
//! disturbs the chains of known length as often as the code, in the same time. Where the readings of the code are far longer much more often
//! than those of the chains, they are its own, and the mean of the code needs them. The chains run for a small part of the time of longer code; then
//! the time in which the clock was watched shows how often the CPU does not run the thread. A neighbour on the core slows code that uses the whole
//! core and not the chains, but hardly ever to more than twice its time.

use super::location::{Sample, by_row, is_explained, mark_spikes, median, stated_quantum};
use crate::observations::{Observations, Pauses, SeriesId};
use statrs::distribution::{Binomial, DiscreteCDF};
use std::collections::BTreeSet;

/// A reading is far longer if it is this many times as long as the middle one of its row.
const FAR: f64 = 3.0;
/// The code's own slow evaluations count if its readings are far longer so many times as often as those of the chains, in the same time ...
const MORE_OFTEN: f64 = 10.0;
/// ... if chance explains that with a smaller probability than this, for any of the limits below and any code of a thousand runs ...
const CHANCE: f64 = 1e-6;
/// ... and if the mean is longer with them by this share.
const LONGER: f64 = 0.02;
/// They may also be as rare as what disturbs the chains, and longer. So only those beyond such a quantile of what the chains have are counted,
/// too, in both.
const QUANTILES: [f64; 4] = [0.5, 0.75, 0.9, 1.0];
/// Most pauses are shorter than so many times their mean.
const LONGEST_PAUSE: f64 = 10.0;
/// Such readings need not be far longer, but this many times as long: several pauses of the CPU in one reading do not add up to that.
const LONG: f64 = 1.5;

/// Slow evaluations of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slow {
    /// The series.
    pub series: SeriesId,
    /// Share of its readings that are far longer than the others.
    pub share: f64,
    /// By how much they make the mean of the rows longer, as a share of it without them.
    pub longer: f64,
    /// Whether they are so clearly the code's own, and so long, that the mean needs them. Otherwise they are left out, and the mean may be
    /// longer by this share: from run to run it may fall on either side of the limits.
    pub counts: bool,
}

/// A reading that is longer than its neighbours, and not for a known reason.
#[derive(Debug, Clone, Copy)]
struct Excess {
    round: u32,
    /// What it takes beyond the middle reading of its row, and how many times as long as that it is.
    ticks: f64,
    times: f64,
}

/// Such readings.
#[derive(Debug, Default)]
struct Long {
    excesses: Vec<Excess>,
    readings: usize,
    /// Time of all readings, each as the middle one of its row.
    time: f64,
    /// The middle reading of the shortest row.
    shortest: f64,
}

impl Long {
    /// Those that are so many times as long, and longer by more than this.
    fn far(&self, times: f64, beyond: f64) -> Vec<Excess> {
        self.excesses.iter().filter(|one| one.times > times && one.ticks > beyond).copied().collect()
    }
}

/// The rounds of readings, which count where chance is asked: something else that slows the core for a while meets several in one round.
fn rounds(of: &[Excess]) -> usize {
    of.iter().map(|one| one.round).collect::<BTreeSet<u32>>().len()
}

/// The series of a table whose readings are, or may be, far longer than usual by their own doing. None in a table without chains of known length.
///
/// # Cost
/// About 50 ns for each reading.
pub fn slow_evaluations(table: &Observations) -> Vec<Slow> {
    let origin = &table.origin;
    let chains = origin.chains().filter_map(|(name, _)| table.find_series(name));
    let chains: Vec<Long> = chains.map(|series| long_readings(table, series)).collect();
    let others = Others { chains, pauses: origin.pauses };
    let subjects = table.series_names().iter().enumerate().filter(|(_, name)| !origin.is_auxiliary(name));
    subjects.filter_map(|(at, _)| own(at as SeriesId, &long_readings(table, at as SeriesId), &others)).collect()
}

/// What shows how often something else disturbs the code.
struct Others {
    chains: Vec<Long>,
    pauses: Pauses,
}

impl Others {
    /// How often something lasted longer than this, and the time of the chains, and perhaps of the watch, in which it did.
    fn beyond(&self, ticks: f64) -> (usize, f64) {
        let time: f64 = self.chains.iter().map(|chain| chain.time).sum();
        let of_chains: usize = self.chains.iter().map(|chain| rounds(&chain.far(0.0, ticks))).sum();
        let (watched, pauses) = self.pauses.most_beyond(ticks).filter(|_| time > 0.0).unwrap_or_default();
        (of_chains + pauses as usize, time + watched)
    }

    /// The mean pause, if some were seen.
    fn mean_pause(&self) -> Option<f64> {
        (self.pauses.number > 0).then(|| self.pauses.lost / f64::from(self.pauses.number))
    }
}

/// The slow evaluations of a series, if they are or may be its own.
fn own(series: SeriesId, code: &Long, others: &Others) -> Option<Slow> {
    // What makes a short reading of the code far longer may be little beside a long one of a chain, where it counts all the same.
    let least = (FAR - 1.0) * code.shortest;
    let all = || others.chains.iter().flat_map(|chain| &chain.excesses).map(|one| one.ticks);
    let mut of_chains: Vec<f64> = all().filter(|excess| *excess > least).collect();
    of_chains.sort_unstable_by(f64::total_cmp);
    let place = |share: &f64| ((share * of_chains.len() as f64).ceil() as usize).checked_sub(1);
    let beyond = QUANTILES.iter().filter_map(|share| of_chains.get(place(share)?).copied());
    // Nothing makes the chains so much longer.
    let beyond = beyond.chain(of_chains.is_empty().then_some(least));
    let beyond = beyond.chain(others.mean_pause().map(|mean| least.max(LONGEST_PAUSE * mean)));
    let found = beyond.filter_map(|beyond| own_beyond((beyond, &code.far(LONG, beyond)), series, code, others)).find(|slow| slow.counts);
    found.or_else(|| own_beyond((least, &code.far(FAR, 0.0)), series, code, others))
}

/// The same for these readings of the code, which are longer by more than this.
fn own_beyond((beyond, far): (f64, &[Excess]), series: SeriesId, code: &Long, others: &Others) -> Option<Slow> {
    let (number, (of_chains, time)) = (rounds(far), others.beyond(beyond));
    if time <= 0.0 || number == 0 {
        return None;
    }
    let law = Binomial::new(code.time / (code.time + time), (number + of_chains) as u64).ok()?;
    if law.sf(number as u64 - 1) >= CHANCE {
        return None;
    }
    let share = far.len() as f64 / code.readings as f64;
    let longer = far.iter().map(|one| one.ticks).sum::<f64>() / code.time;
    // Half a reading more: none in the chains may be chance.
    let of_others = code.time * (of_chains as f64 + 0.5) / time;
    if longer > LONGER && number as f64 > MORE_OFTEN * of_others {
        return Some(Slow { series, share, longer, counts: true });
    }
    let longer = longer * (1.0 - of_others / number as f64);
    (longer > 0.0).then_some(Slow { series, share, longer, counts: false })
}

fn long_readings(table: &Observations, series: SeriesId) -> Long {
    let quantum = stated_quantum(table);
    let mut all = Long { shortest: f64::INFINITY, ..Long::default() };
    for row in by_row(table, series).1 {
        let usable = row.into_iter().filter(|reading| !is_explained(reading));
        let mut samples: Vec<Sample> = usable.map(|one| Sample { round: one.round, weight: 1.0, ticks: one.ticks }).collect();
        samples.sort_by_key(|sample| sample.round);
        mark_spikes(&mut samples, quantum);
        let middle = median(&mut samples.iter().map(|sample| sample.ticks).collect::<Vec<f64>>());
        if samples.is_empty() {
            continue;
        }
        let long = samples.iter().filter(|sample| !sample.is_used() && sample.ticks > middle);
        let excess = |sample: &Sample| Excess { round: sample.round, ticks: sample.ticks - middle, times: sample.ticks / middle };
        all.excesses.extend(long.map(excess));
        all.readings += samples.len();
        all.time += middle * samples.len() as f64;
        all.shortest = all.shortest.min(middle);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::simulated::{self, CALM, Core, STALLS};
    use crate::estimate::{Options, solve};
    use crate::judge::{Assessment, Question, Severity, assess};
    use rand::{Rng, SeedableRng};

    /// The table with `longer` more ticks for every reading of the code in which an evaluation is slow: one in `every`, at random.
    fn with_slow(table: &Observations, every: f64, longer: f64) -> Observations {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(7);
        table.with_times(|name, row, reading| {
            let evaluations = if name == "code" { row.counts[0] as u32 } else { 0 };
            let slow = (0..evaluations).filter(|_| random.random::<f64>() < 1.0 / every).count();
            reading.ticks + longer * slow as f64
        })
    }

    fn cycles(table: &Observations) -> (Assessment, f64) {
        let found = assess(table, &Question::default()).unwrap();
        let cycles = found.series[0].components[0].time.cycles.as_ref().unwrap().value;
        (found, cycles)
    }

    #[test]
    fn the_mean_has_the_codes_own_slow_evaluations() {
        for (every, longer) in [(1_000.0, 4_000.0), (3_000.0, 9_000.0)] {
            let calm = CALM.table(1.0, 5);
            let per_cycle = cycles(&calm).0.series[0].components[0].time.ticks.value;
            let (found, cycles) = cycles(&with_slow(&calm, every, longer));
            let expected = 1.0 + longer / every / per_cycle;
            let half = found.series[0].components[0].time.cycles.as_ref().unwrap().estimate(0.95).half_width();
            assert!((cycles - expected).abs() < 1.5 * half && half < 0.3 * expected, "{cycles} +- {half} for {expected}");
            let finding = found.series[0].findings.iter().find(|finding| finding.code == "slow_evaluations").unwrap();
            assert_eq!(finding.severity, Severity::Warning, "{}", finding.message);
        }
    }

    /// The table on a CPU that pauses for this time, once in so many ticks.
    fn with_pauses(table: &Observations, apart: f64, length: f64) -> Observations {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(8);
        table.with_times(|_, _, reading| simulated::with_pauses(reading.ticks, apart, length, &mut random))
    }

    #[test]
    fn slow_evaluations_that_are_as_rare_as_pauses_and_longer_are_the_codes_own() {
        let calm = CALM.table(1.0, 5);
        let alone = slow_evaluations(&with_pauses(&calm, 30_000.0, 2_000.0));
        assert!(alone.iter().all(|slow| !slow.counts), "{alone:?}");
        let both = slow_evaluations(&with_pauses(&with_slow(&calm, 30_000.0, 20_000.0), 30_000.0, 2_000.0));
        assert!(both.iter().any(|slow| slow.counts && slow.longer > 0.2), "{both:?}");
    }

    #[test]
    fn slow_evaluations_of_code_beside_which_the_chains_hardly_run_are_seen_by_the_watch() {
        let long = CALM.table(1.0, 5).with_times(|name, _, reading| reading.ticks * if name == "code" { 300.0 } else { 1.0 });
        let mut table = with_slow(&long, 20_000.0, 6_000_000.0);
        assert!(slow_evaluations(&table).iter().all(|slow| !slow.counts), "the chains show too little");
        let time: f64 = table.readings().iter().map(|reading| reading.ticks).sum();
        table.origin.pauses = Pauses { watched: time / 3.0, lost: time / 300.0, number: 20, longer: Some(0) };
        let found = slow_evaluations(&table);
        assert!(found.iter().any(|slow| slow.counts && slow.longer > 0.5), "{found:?}");
        // As often as another process takes the CPU.
        table.origin.pauses.longer = Some(50);
        assert!(slow_evaluations(&table).iter().all(|slow| !slow.counts));
    }

    #[test]
    fn rows_that_met_no_slow_evaluation_do_not_draw_the_line() {
        // Few rounds, in most of whose rows no evaluation was slow.
        let calm = CALM.table(1.0, 5).in_rounds(&(0..24));
        let code = calm.find_series("code").unwrap();
        let body = |table: &Observations| {
            let options = Options { slow_evaluations: vec![code], ..Options::default() };
            solve(table, code, &options).unwrap().components[0].uncertain.value
        };
        let without = body(&calm);
        let longer = |seed: u64| {
            let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
            let slow = calm.with_times(|name, row, reading| {
                let evaluations = if name == "code" { row.counts[0] as u32 } else { 0 };
                let met = (0..evaluations).filter(|_| random.random::<f64>() < 1.0 / 20_000.0).count();
                reading.ticks + 100_000.0 * met as f64
            });
            body(&slow) - without
        };
        let mean = (0..200).map(longer).sum::<f64>() / 200.0;
        assert!((mean - 5.0).abs() < 1.0, "{mean} for 5");
    }

    #[test]
    fn pauses_of_long_rows_are_not_the_codes_own() {
        // Rows of up to 0.9 pauses in the mean, of a chain that is 300 times as long.
        let calm = CALM.table(1.0, 6);
        let long = calm.with_times(|name, _, reading| if name == "code" { 300.0 * reading.ticks } else { reading.ticks });
        let longest = long.readings().iter().map(|reading| reading.ticks).fold(0.0, f64::max);
        let found = slow_evaluations(&with_pauses(&long, longest / 0.9, longest / 20.0));
        assert!(found.iter().all(|slow| !slow.counts), "{found:?}");
    }

    #[test]
    fn slow_evaluations_that_are_left_out_are_in_the_interval() {
        let calm = CALM.table(1.0, 5);
        let per_cycle = cycles(&calm).0.series[0].components[0].time.ticks.value;
        let (every, longer) = (120_000.0, 1_500.0);
        let changed = with_slow(&calm, every, longer);
        let (found, cycles) = cycles(&changed);
        let share = longer / every / per_cycle;
        assert!((0.01..LONGER).contains(&share), "{share}");
        assert_eq!(slow_evaluations(&changed).iter().map(|slow| slow.counts).collect::<Vec<_>>(), [false]);
        let time = found.series[0].components[0].time.cycles.as_ref().unwrap().estimate(0.95);
        assert!(cycles < 1.002 && time.high > 1.0 + 0.6 * share && time.half_width() < 2.0 * share, "{time:?}");
        assert!(found.series[0].findings.iter().all(|finding| finding.code != "slow_evaluations"));
    }

    #[test]
    fn what_meets_many_readings_of_a_few_rounds_is_not_the_codes_own() {
        // As long as rows of the code run one after the other, by chance.
        let calm = CALM.table(1.0, 5);
        let last = calm.readings().iter().map(|reading| reading.round).max().unwrap();
        let beside =
            calm.with_times(|name, _, reading| reading.ticks + if name == "code" && reading.round > last - 8 { 300_000.0 } else { 0.0 });
        let found = slow_evaluations(&beside);
        assert!(found.iter().all(|slow| !slow.counts), "{found:?}");
    }

    #[test]
    fn what_disturbs_code_and_chains_alike_is_left_out() {
        for (core, seed) in [(CALM, 1), (CALM, 2), (STALLS, 3), (STALLS, 4), (Core { quantum: 26.0, ..CALM }, 5)] {
            let found = slow_evaluations(&core.table(1.0, seed));
            assert!(found.iter().all(|slow| !slow.counts && slow.longer < 0.001), "{found:?}");
        }
        // What hardly changes the mean, and readings of the code that a neighbour makes up to twice as long.
        for longer in [3.0, 60.0] {
            let found = slow_evaluations(&with_slow(&CALM.table(1.0, 6), 1_000.0, longer));
            assert!(found.iter().all(|slow| !slow.counts && slow.longer < 0.001), "{longer}: {found:?}");
        }
    }
}
