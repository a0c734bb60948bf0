//! Evaluations that the code itself makes slow at times: a container that grows, a buffer that is
//! refilled, a rare branch.
//!
//! A reading that is far longer than its neighbours in time is taken for one that something else
//! disturbed, and left out. Something else disturbs the chains of known length as often as the
//! code, in the same time. Where the readings of the code are far longer much more often than those
//! of the chains, they are its own, and the mean of the code needs them. The chains run for a small
//! part of the time of longer code; then the time in which the clock was watched shows how often
//! the CPU does not run the thread. A co-runner on the core slows code that uses the whole core and
//! not the chains, but hardly ever to more than twice its time.

use crate::estimate::Source;
use crate::finding::words::in_percent;
use crate::finding::{Finding, Severity, code};
use crate::laws::{chi2_within, more_events};
use crate::limit::{Basis, HARDLY_CHANCE, SLIGHT_SHARE, USUAL_PRECISION, WIDE_SHARE, limits};
use crate::numbers;
use crate::observations::{Flags, Pauses, RowId, SeriesId};
use crate::sheet::Sample;
use crate::stages::{Did, Stage, State, need};
use std::collections::BTreeSet;

limits! {
    /// A reading is far longer if it is this many times as long as the middle one of its row.
    FAR_LONGER = 3.0, "", Basis::Seen("a co-runner on the core makes code up to twice as long; \
                                       AMD family 25 and 26, November 2026");
    /// The code's own slow evaluations count if its readings are far longer this many times as
    /// often as those of the chains, in the same time ...
    MORE_OFTEN = 10.0, "", Basis::Derived("a tenth of them is then somebody else's");
    /// Otherwise they may be as frequent as the upper end of the interval of their rate, by
    /// Poisson's law, at this level.
    LIKELY_RATE = 0.975, "probability", Basis::Derived("the upper end of an interval of 95 %");
    /// Most pauses are shorter than this many times the mean pause.
    LONGEST_PAUSE = 10.0, "", Basis::Derived("exponential lengths: all but one in 20,000");
    /// Readings that are longer than the longest disturbance of the chains need not be far longer,
    /// but this many times as long.
    LONG_READING = 1.5, "", Basis::Derived("several pauses in one reading do not add up to that");
}

pub(crate) const STAGE: Stage = Stage {
    name: "slow",
    question: "Is the code slow at times by its own doing?",
    needs: &[need::REFERENCE, need::SINGLE_READINGS],
    limits: &[LIMITS],
    source: Some(Source::Slow),
    says,
};

/// Slow evaluations of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SlowEvaluations {
    pub series: SeriesId,
    /// Share of its readings that are far longer than usual.
    pub share: f64,
    /// By how much they make the mean of the rows longer, as a share of it without them.
    pub longer: f64,
    /// Whether they are so clearly the code's own, and so long, that the mean needs them. Otherwise
    /// they are left out, and the mean may be longer by this share: from run to run it may fall on
    /// either side of the limits.
    pub counts: bool,
}

/// Uses the slow evaluations that are the code's own.
pub(crate) fn restore(state: &mut State) -> Did {
    state.slow = slow_evaluations(state);
    let series_with_own: Vec<SeriesId> =
        state.slow.iter().filter(|slow| slow.counts).map(|slow| slow.series).collect();
    let is_own = |row: RowId| series_with_own.contains(&state.table.rows()[row as usize].series);
    let out: Vec<usize> = perhaps_own(state)
        .into_iter()
        .filter(|(row, _)| is_own(*row))
        .map(|(_, one)| one.at)
        .collect();
    state.are_cells_old |= !out.is_empty();
    out.into_iter().for_each(|at| state.sheet.restore(at));
    let text = |slow: &SlowEvaluations| match slow.counts {
        true => "readings that are far longer are used again",
        false => {
            "readings that are far longer stay left out, and the interval reaches to the mean with \
             them"
        }
    };
    let done = state.slow.iter().map(|slow| (slow.series, text(slow).to_owned())).collect();
    Did::each(done, "the code is not longer at times more often than the chains")
}

/// The readings that are left out only because they are long, with their rows.
fn perhaps_own(state: &State) -> Vec<(RowId, Sample)> {
    let (spikes, flags) =
        (state.number_of(&super::spikes::STAGE), state.number_of(&super::flags::STAGE));
    let is_long = |sample: &Sample| {
        state.sheet.mark(sample.at) == spikes
            || !state.sheet.reading(sample.at).flags.without(Flags::GAP).any()
    };
    state.sheet.left_out(&[spikes, flags]).filter(|(_, one)| is_long(one)).collect()
}

/// Widens the times by what was left out and may be the code's own.
pub(crate) fn widen(state: &mut State) -> Did {
    let left_out: Vec<SlowEvaluations> =
        state.slow.iter().copied().filter(|slow| !slow.counts).collect();
    left_out.iter().for_each(|slow| state.bound_all(slow.series, slow.longer, Source::Slow));
    let done = left_out
        .iter()
        .map(|slow| {
            (slow.series, format!("the mean may be longer by {}", in_percent(100.0 * slow.longer)))
        })
        .collect();
    Did::each(done, "nothing that may be the code's own was left out")
}

/// A reading that is longer than its neighbours, and not for a known reason.
#[derive(Debug, Clone, Copy)]
struct Excess {
    round: u32,
    /// What it takes beyond the mean of its row, and how many times as long as that it is.
    ticks: f64,
    times: f64,
}

/// Such readings.
#[derive(Debug)]
struct Long {
    excesses: Vec<Excess>,
    readings: usize,
    /// Time of all readings, each as the mean of its row.
    time: f64,
    /// The mean of the shortest row.
    shortest: f64,
}

impl Long {
    /// Those that are so many times as long, and longer by more than this.
    fn far(&self, times: f64, beyond: f64) -> Vec<Excess> {
        self.excesses
            .iter()
            .filter(|one| one.times > times && one.ticks > beyond)
            .copied()
            .collect()
    }
}

/// The rounds of readings, which count where chance is asked: something else that slows the core
/// for a while meets several in one round.
fn rounds(of: &[Excess]) -> usize {
    of.iter().map(|one| one.round).collect::<BTreeSet<u32>>().len()
}

/// The series whose readings are, or may be, far longer than usual by their own doing.
fn slow_evaluations(state: &State) -> Vec<SlowEvaluations> {
    let origin = &state.table.origin;
    let mut perhaps = vec![Vec::new(); state.sheet.rows().len()];
    perhaps_own(state).into_iter().for_each(|(row, one)| perhaps[row as usize].push(one));
    let long = |series: SeriesId| long_readings(state, series, &perhaps);
    let chains = origin.chains().filter_map(|(name, _)| state.table.find_series(name));
    let disturbances = Disturbances { chains: chains.map(long).collect(), pauses: origin.pauses };
    state
        .subjects()
        .into_iter()
        .filter_map(|series| own_evaluations(series, &long(series), &disturbances))
        .collect()
}

/// What shows how often something else disturbs the code.
struct Disturbances {
    chains: Vec<Long>,
    pauses: Pauses,
}

impl Disturbances {
    /// How often something lasted longer than this, and the time of the chains, and perhaps of the
    /// watch, in which it did.
    fn beyond(&self, ticks: f64) -> (usize, f64) {
        let time: f64 = self.chains.iter().map(|chain| chain.time).sum();
        let of_chains: usize = self.chains.iter().map(|chain| rounds(&chain.far(0.0, ticks))).sum();
        let (watched, pauses) =
            self.pauses.most_beyond(ticks).filter(|_| time > 0.0).unwrap_or_default();
        (of_chains + pauses as usize, time + watched)
    }

    /// The mean pause, if some were seen.
    fn mean_pause(&self) -> Option<f64> {
        (self.pauses.number > 0).then(|| self.pauses.lost / f64::from(self.pauses.number))
    }
}

/// The slow evaluations of a series, if they are or may be its own: all that are far longer, or
/// those that are longer than the longest disturbance of the chains, or than nearly all pauses.
fn own_evaluations(
    series: SeriesId,
    code: &Long,
    disturbances: &Disturbances,
) -> Option<SlowEvaluations> {
    // What makes a short reading of the code far longer may be little beside a long one of a chain,
    // where it counts all the same.
    let least_excess = (FAR_LONGER - 1.0) * code.shortest;
    let longest = disturbances
        .chains
        .iter()
        .flat_map(|chain| &chain.excesses)
        .map(|one| one.ticks)
        .fold(least_excess, f64::max);
    let beyond = std::iter::once(longest)
        .chain(disturbances.mean_pause().map(|mean| least_excess.max(LONGEST_PAUSE * mean)));
    let own_slow = |beyond: f64| {
        own_beyond(beyond, &code.far(LONG_READING, beyond), series, code, disturbances)
    };
    beyond.filter_map(own_slow).find(|slow| slow.counts).or_else(|| {
        own_beyond(least_excess, &code.far(FAR_LONGER, 0.0), series, code, disturbances)
    })
}

/// The same for these readings of the code, which are longer by more than this.
fn own_beyond(
    beyond: f64,
    far: &[Excess],
    series: SeriesId,
    code: &Long,
    disturbances: &Disturbances,
) -> Option<SlowEvaluations> {
    let (number, (of_chains, time)) = (rounds(far), disturbances.beyond(beyond));
    if time <= 0.0 || number == 0 {
        return None;
    }
    let chance = code.time / (code.time + time);
    if more_events(number as u64 - 1, (number + of_chains) as u64, chance) >= HARDLY_CHANCE {
        return None;
    }
    let share = far.len() as f64 / code.readings as f64;
    let longer = far.iter().map(|one| one.ticks).sum::<f64>() / code.time;
    // Half a reading more: none in the chains may be chance.
    let of_others = code.time * (of_chains as f64 + 0.5) / time;
    if longer > SLIGHT_SHARE && number as f64 > MORE_OFTEN * of_others {
        return Some(SlowEvaluations { series, share, longer, counts: true });
    }
    // So few are a poor sample: their rate may be as high as the upper end of its interval.
    let most_rounds = chi2_within(LIKELY_RATE, 2.0 * (number + 1) as f64) / 2.0;
    let longer = longer * (most_rounds - of_others) / number as f64;
    (longer > 0.0).then_some(SlowEvaluations { series, share, longer, counts: false })
}

fn long_readings(state: &State, series: SeriesId, perhaps: &[Vec<Sample>]) -> Long {
    let mut long_readings =
        Long { excesses: Vec::new(), readings: 0, time: 0.0, shortest: f64::INFINITY };
    for (row, mean, used) in state.cells[usize::from(series)].totals() {
        let long = perhaps[row as usize].iter().filter(|one| one.ticks > mean);
        let long: Vec<Excess> = long
            .map(|one| Excess {
                round: one.round,
                ticks: one.ticks - mean,
                times: one.ticks / mean,
            })
            .collect();
        let number = used + long.len();
        long_readings.excesses.extend(long);
        long_readings.readings += number;
        long_readings.time += mean * number as f64;
        long_readings.shortest = long_readings.shortest.min(mean);
    }
    long_readings
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    state.slow.iter().filter(|slow| slow.series == series).filter_map(told).collect()
}

fn told(slow: &SlowEvaluations) -> Option<Finding> {
    let (share_percent, longer_percent) = (100.0 * slow.share, 100.0 * slow.longer);
    let share = in_percent(share_percent);
    let severity =
        if slow.counts || slow.longer > WIDE_SHARE { Severity::Warning } else { Severity::Note };
    let (message, remedy) = if slow.counts {
        (
            format!(
                "{share} of the readings are far longer than usual, and the chains of known length \
                 show hardly any such readings, so the code causes them; they are included: the \
                 mean is {longer_percent:.0} % longer"
            ),
            "nothing to do if the mean is what you ask for; else move occasional slow work (a \
             growing container, flushing a buffer) out of the timed code",
        )
    } else {
        (
            format!(
                "{share} of the readings of the code are far longer than usual, perhaps by its own \
                 doing; they are left out, and the interval reaches to the mean with them, up to \
                 {longer_percent:.1} % more"
            ),
            "move occasional slow work (flushing a buffer) out of the timed code, or give it more \
             time, which may show whether the code causes it",
        )
    };
    let left_out = !slow.counts;
    let numbers = numbers! { share_percent, longer_percent, left_out };
    (slow.counts || slow.longer > USUAL_PRECISION)
        .then(|| Finding::of(severity, code::SLOW_EVALUATIONS, message, numbers, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Options;
    use crate::judge::{Assessment, Question, assess};
    use crate::observations::Observations;
    use crate::simulated::{self, CALM, Core, STALLS};
    use rand::{Rng, SeedableRng};

    /// The table with `longer` more ticks for every reading of the code in which an evaluation is
    /// slow: one in `every`, at random.
    fn with_slow(table: &Observations, every: f64, longer: f64) -> Observations {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(7);
        table.with_times(|name, row, reading| {
            let evaluations = if name == "code" { row.counts[0] as u32 } else { 0 };
            let slow = (0..evaluations).filter(|_| random.random::<f64>() < 1.0 / every).count();
            reading.ticks + longer * slow as f64
        })
    }

    fn found_in(table: &Observations) -> Vec<SlowEvaluations> {
        crate::pipeline::state_of(table, &Options::default()).slow
    }

    fn cycles(table: &Observations) -> (Assessment, f64) {
        let assessment = assess(table, &Question::default()).unwrap();
        let cycles = assessment.series[0].components[0].time.cycles.as_ref().unwrap().value;
        (assessment, cycles)
    }

    #[test]
    fn the_mean_has_the_codes_own_slow_evaluations() {
        for (every, longer) in [(1_000.0, 4_000.0), (3_000.0, 9_000.0)] {
            let calm = CALM.table(1.0, 5);
            let per_cycle = cycles(&calm).0.series[0].components[0].time.ticks.value;
            let (found, cycles) = cycles(&with_slow(&calm, every, longer));
            let expected = 1.0 + longer / every / per_cycle;
            let half = found.series[0].components[0]
                .time
                .cycles
                .as_ref()
                .unwrap()
                .estimate(0.95)
                .half_width();
            assert!(
                (cycles - expected).abs() < 1.5 * half && half < 0.3 * expected,
                "{cycles} +- {half} for {expected}"
            );
            let finding = found.series[0]
                .findings
                .iter()
                .find(|finding| finding.code == "slow_evaluations")
                .unwrap();
            assert_eq!(finding.severity, Severity::Warning, "{}", finding.message);
        }
    }

    /// The table on a CPU that pauses for this time, once in so many ticks.
    fn with_pauses(table: &Observations, apart: f64, length: f64) -> Observations {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(8);
        table.with_times(|_, _, reading| {
            simulated::with_pauses(reading.ticks, apart, length, &mut random)
        })
    }

    #[test]
    fn slow_evaluations_that_are_as_rare_as_pauses_and_longer_are_the_codes_own() {
        let calm = CALM.table(1.0, 5);
        let alone = found_in(&with_pauses(&calm, 30_000.0, 2_000.0));
        assert!(alone.iter().all(|slow| !slow.counts), "{alone:?}");
        let both = found_in(&with_pauses(&with_slow(&calm, 30_000.0, 20_000.0), 30_000.0, 2_000.0));
        assert!(both.iter().any(|slow| slow.counts && slow.longer > 0.2), "{both:?}");
    }

    #[test]
    fn slow_evaluations_of_code_beside_which_the_chains_hardly_run_are_seen_by_the_watch() {
        let long = CALM.table(1.0, 5).with_times(|name, _, reading| {
            reading.ticks * if name == "code" { 300.0 } else { 1.0 }
        });
        let mut table = with_slow(&long, 20_000.0, 6_000_000.0);
        assert!(found_in(&table).iter().all(|slow| !slow.counts), "the chains show too little");
        let time: f64 = table.readings().iter().map(|reading| reading.ticks).sum();
        table.origin.pauses =
            Pauses { watched: time / 3.0, lost: time / 300.0, number: 20, longer: Some(0) };
        let findings = found_in(&table);
        assert!(findings.iter().any(|slow| slow.counts && slow.longer > 0.5), "{findings:?}");
        // As often as another process takes the CPU.
        table.origin.pauses.longer = Some(50);
        assert!(found_in(&table).iter().all(|slow| !slow.counts));
    }

    #[test]
    fn pauses_of_long_rows_are_not_the_codes_own() {
        // Rows of up to 0.9 pauses in the mean, of a chain that is 300 times as long.
        let calm = CALM.table(1.0, 6);
        let long =
            calm.with_times(
                |name, _, reading| {
                    if name == "code" { 300.0 * reading.ticks } else { reading.ticks }
                },
            );
        let longest = long.readings().iter().map(|reading| reading.ticks).fold(0.0, f64::max);
        let found = found_in(&with_pauses(&long, longest / 0.9, longest / 20.0));
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
        assert!((0.01..SLIGHT_SHARE).contains(&share), "{share}");
        assert_eq!(found_in(&changed).iter().map(|slow| slow.counts).collect::<Vec<_>>(), [false]);
        let time = found.series[0].components[0].time.cycles.as_ref().unwrap().estimate(0.95);
        assert!(
            cycles < 1.002 && time.high > 1.0 + 0.6 * share && time.half_width() < 2.0 * share,
            "{time:?}"
        );
        let finding = found.series[0]
            .findings
            .iter()
            .find(|finding| finding.code == "slow_evaluations")
            .unwrap();
        assert!(
            finding.severity == Severity::Note && finding.message.contains("left out"),
            "{finding:?}"
        );
    }

    #[test]
    fn what_meets_many_readings_of_a_few_rounds_is_not_the_codes_own() {
        // As long as rows of the code run one after the other, by chance.
        let calm = CALM.table(1.0, 5);
        let last = calm.readings().iter().map(|reading| reading.round).max().unwrap();
        let beside = calm.with_times(|name, _, reading| {
            reading.ticks + if name == "code" && reading.round > last - 8 { 300_000.0 } else { 0.0 }
        });
        let found = found_in(&beside);
        assert!(found.iter().all(|slow| !slow.counts), "{found:?}");
    }

    #[test]
    fn what_disturbs_code_and_chains_alike_is_left_out() {
        for (core, seed) in
            [(CALM, 1), (CALM, 2), (STALLS, 3), (STALLS, 4), (Core { quantum: 26.0, ..CALM }, 5)]
        {
            let found = found_in(&core.table(1.0, seed));
            assert!(found.iter().all(|slow| !slow.counts && slow.longer < 0.001), "{found:?}");
        }
        // What hardly changes the mean, and readings of the code that a co-runner makes up to twice
        // as long.
        for longer in [3.0, 60.0] {
            let findings = found_in(&with_slow(&CALM.table(1.0, 6), 1_000.0, longer));
            assert!(
                findings.iter().all(|slow| !slow.counts && slow.longer < 0.001),
                "{longer}: {findings:?}"
            );
        }
    }
}
