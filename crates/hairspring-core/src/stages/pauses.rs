//! Pauses of the CPU that nothing counts, as of a hypervisor. In a short reading a pause makes an
//! outlier, which is left out as a spike. Of rows that are not much longer than the time from one
//! pause to the next, many readings have none: they lie in a narrow peak below the others, and the
//! others are about as many as the pauses make expect that were seen while the clock was watched.
//! Then the others are left out. In still longer rows every reading has some, and their share is
//! taken off the times.

use crate::estimate::{Entry, Source};
use crate::finding::{Finding, Severity, code};
use crate::limit::{Basis, FAR_SIGMAS, LITTLE_SHARE, TWO_ROUNDINGS, limits};
use crate::math::exp;
use crate::numbers;
use crate::observations::{Flags, RowId, SeriesId};
use crate::sheet::Sample;
use crate::stages::{Did, Stage, State, need};

limits! {
    /// Pauses in the longest row, in the mean, below which a paused reading is a spike like others
    /// ...
    FEWEST_PAUSES = 0.05, "pauses", Basis::Derived("one reading in twenty");
    /// ... and above which too few readings have none.
    MOST_PAUSES = 2.5, "pauses", Basis::Derived("one reading in twelve");
    /// The peak is narrow if it ends within this part of a mean pause.
    NARROW_PEAK = 0.25, "mean pauses",
        Basis::Derived("a fifth of exponential pauses are shorter, and take a fortieth of the \
                        time of all");
    /// Of the paused readings that are expected, up to this many times as many may be there ...
    MORE_PAUSED = 1.6, "", Basis::Seen("pauses of chains beside those of the watch; AMD family \
                                        26, Intel family 6, November 2026");
    /// ... and this share of all readings further: other outliers.
    OTHER_OUTLIERS = 0.03, "share of the readings",
        Basis::Seen("calm machines; all CPU models of docs/measured.md");
    /// Most that one reading counts for: longer ones are outliers of another kind.
    LONGEST_COUNTED = 4.0, "mean pauses", Basis::Derived("exponential pauses: all but one in 50");
    /// The middle reading of a row has the share of its pauses, but for this part of one pause.
    /// Where the longest row has more, pauses are told.
    HALF_A_PAUSE = 0.5, "pauses",
        Basis::Derived("the middle of a Poisson distribution is within half a pause of its mean");
    /// Pauses of which more than this share of the time is unknown make a time untrusted.
    MUCH_UNKNOWN = 0.3, "share of the time",
        Basis::Derived("less is in the interval, which says enough");
    /// Code that waits in more than this share of its readings is not lengthened by all pauses.
    WAITS_SHARE = 0.1, "share of the readings", Basis::Derived("one reading in ten");
}

pub(crate) const STAGE: Stage = Stage {
    name: "pauses",
    question: "Does the CPU pause within readings?",
    needs: &[need::PAUSES],
    limits: &[LIMITS],
    source: Some(Source::Pauses),
    says,
};

/// What is done about pauses in a series.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Are {
    /// The readings with a pause are left out.
    LeftOut,
    /// Every long reading has some, and their share of the time is subtracted.
    Subtracted,
    /// The interval holds the time with and without them.
    InInterval,
}

/// What is done about pauses in each series.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Paused(Vec<Option<(Are, Removed)>>);

/// By how much times may be off, as a share of them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Removed {
    bound: f64,
    /// Pauses in the longest row.
    in_longest: f64,
}

/// What is known of pauses, in ticks.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Time that the CPU runs from one pause to the next.
    apart: f64,
    /// Mean length.
    length: f64,
    /// How many were seen.
    number: f64,
    /// The share of the time that they have, and the largest that it may be.
    share: f64,
    most_share: f64,
}

impl Known {
    fn of(state: &State) -> Option<Known> {
        let pauses = &state.table.origin.pauses;
        let ((share, _), most_share, number) =
            (pauses.share()?, pauses.most_share()?, f64::from(pauses.number));
        let length = pauses.lost / number;
        Some(Known { apart: length / share, length, number, share, most_share })
    }

    /// The share of the readings of this length that have a pause.
    fn paused(&self, time: f64) -> f64 {
        1.0 - exp(-time / self.apart)
    }
}

/// Leaves the readings with a pause out, if they can be told from the others in all alternatives:
/// what is done with one is done with all.
pub(crate) fn choose(state: &mut State) -> Did {
    state.paused = Paused(vec![None; state.solutions.len()]);
    let Some(known_pauses) =
        Known::of(state).filter(|known_pauses| known_pauses.share >= LITTLE_SHARE)
    else {
        return Did::nothing("they take little of the time");
    };
    if state.slow.iter().any(|slow| slow.counts) {
        return Did::nothing("the code's own slow evaluations are not told from them");
    }
    let chains: Vec<SeriesId> =
        state.table.origin.chains().filter_map(|(name, _)| state.table.find_series(name)).collect();
    let subjects = state.subjects();
    let peaks_of_series: Vec<(SeriesId, Option<Peaks>)> = state
        .all_series()
        .filter(|series| !chains.contains(series))
        .map(|series| (series, Peaks::of(state, series, known_pauses)))
        .collect();
    let are_all_clear = peaks_of_series
        .iter()
        .filter(|(series, _)| subjects.contains(series))
        .all(|(_, peaks)| peaks.as_ref().is_none_or(|peaks| peaks.is_clear));
    let mut out = 0;
    for (series, peaks) in peaks_of_series {
        let Some(peaks) =
            peaks.filter(|peaks| peaks.is_clear && (are_all_clear || !subjects.contains(&series)))
        else {
            continue;
        };
        let removed =
            Removed { bound: peaks.unexplained, in_longest: peaks.longest / known_pauses.apart };
        state.paused.0[usize::from(series)] = Some((Are::LeftOut, removed));
        out += peaks.mark(state);
        state.are_cells_old = true;
    }
    Did::left_out(out, "rows are short, or each reading has some")
}

/// The rows of a series, each with the peak of its readings without a pause.
struct Peaks {
    rows: Vec<(RowId, Peak)>,
    longest: f64,
    unexplained: f64,
    is_clear: bool,
}

impl Peaks {
    /// The peaks of a series; `None` if the rows are so short that a paused reading is a spike.
    fn of(state: &State, series: SeriesId, known_pauses: Known) -> Option<Peaks> {
        if state.cells[usize::from(series)]
            .totals()
            .all(|(_, mean, _)| mean < FEWEST_PAUSES / 2.0 * known_pauses.apart)
        {
            return None;
        }
        let sorted = |row: &RowId| {
            let mut ticks: Vec<f64> = state
                .sheet
                .row(*row)
                .filter(|one| is_judged(state, one))
                .map(|one| one.ticks)
                .collect();
            ticks.sort_by(f64::total_cmp);
            (*row, ticks)
        };
        let rows: Vec<(RowId, Vec<f64>)> = state
            .sheet
            .rows_of(series)
            .iter()
            .map(sorted)
            .filter(|(_, ticks)| !ticks.is_empty())
            .collect();
        let peaks: Vec<(RowId, Peak)> = rows
            .iter()
            .map(|(row, ticks)| (*row, Peak::of(ticks, known_pauses, state.quantum.step)))
            .collect();
        let at = (0..peaks.len()).max_by(|a, b| peaks[*a].1.time.total_cmp(&peaks[*b].1.time))?;
        let (longest, ticks) = (&peaks[at].1, &rows[at].1);
        let is_clear = longest.time <= MOST_PAUSES * known_pauses.apart
            && peaks
                .iter()
                .zip(&rows)
                .all(|((_, peak), (_, ticks))| peak.is_clear(ticks, known_pauses));
        let unexplained =
            (longest.excess(ticks, known_pauses) + longest.hidden(known_pauses)) / longest.time;
        let time = longest.time;
        (time >= FEWEST_PAUSES * known_pauses.apart).then_some(Peaks {
            rows: peaks,
            longest: time,
            unexplained,
            is_clear,
        })
    }

    /// Leaves out the readings beyond the peaks, and uses those within, whatever the filter of
    /// spikes made of them.
    fn mark(&self, state: &mut State) -> usize {
        let mut out = 0;
        for (row, peak) in &self.rows {
            let judged: Vec<Sample> =
                state.sheet.row(*row).filter(|one| is_judged(state, one)).collect();
            for sample in judged {
                state.sheet.restore(sample.at);
                if (sample.ticks - peak.time).abs() > peak.reach {
                    state.leave_out(sample.at);
                    out += 1;
                }
            }
        }
        out
    }
}

/// Whether a reading is used, or left out as a spike.
fn is_judged(state: &State, sample: &Sample) -> bool {
    sample.is_used || state.sheet.mark(sample.at) == state.number_of(&super::spikes::STAGE)
}

/// The readings of a row without a pause.
#[derive(Debug, Clone, Copy)]
struct Peak {
    /// Their middle.
    time: f64,
    /// How far they reach from it.
    reach: f64,
    /// Their number.
    without: usize,
}

impl Peak {
    /// The peak of readings in their order.
    fn of(ticks: &[f64], known_pauses: Known, quantum: f64) -> Peak {
        let at = |share: f64| ticks[((share * ticks.len() as f64) as usize).min(ticks.len() - 1)];
        let without = 1.0 - known_pauses.paused(at(0.05));
        let time = at(0.5 * without);
        // A normal distribution has 16 % of its values below one standard deviation from its
        // middle.
        let reach = FAR_SIGMAS * (time - at(0.16 * without)) + TWO_ROUNDINGS * quantum;
        Peak { time, reach, without: ticks.partition_point(|one| *one <= time + reach) }
    }

    /// What pauses do not explain of the time that the others take beyond it, in the mean of all
    /// readings.
    fn excess(&self, ticks: &[f64], known_pauses: Known) -> f64 {
        let beyond = |from: usize| -> f64 {
            let beyond_middle = ticks
                .iter()
                .skip(from)
                .map(|one| (one - self.time).min(LONGEST_COUNTED * known_pauses.length));
            beyond_middle.sum::<f64>() / ticks.len() as f64
        };
        // Those that are more than pauses explain may be the longest. There may be fewer pauses
        // than were seen, by a standard deviation.
        let explained = ticks.len() as f64 * known_pauses.paused(self.time)
            / (1.0 + known_pauses.number.sqrt().recip());
        let by_number = beyond(self.without + explained as usize);
        let by_time = (beyond(self.without) - known_pauses.share * self.time).max(0.0);
        by_number.min(by_time)
    }

    /// What pauses that are too short to be found add to a reading, in the mean of exponential
    /// ones.
    fn hidden(&self, known_pauses: Known) -> f64 {
        known_pauses.paused(self.time) * self.reach * self.reach / known_pauses.length / 2.0
    }

    /// Whether it is narrow, and no more readings are beyond it than the pauses explain.
    fn is_clear(&self, ticks: &[f64], known_pauses: Known) -> bool {
        let (all_readings, beyond) = (ticks.len() as f64, (ticks.len() - self.without) as f64);
        let expected = all_readings * known_pauses.paused(self.time);
        let by_chance = 3.0 * expected.sqrt();
        self.reach <= NARROW_PEAK * known_pauses.length
            && beyond <= MORE_PAUSED * expected + by_chance + OTHER_OUTLIERS * all_readings
    }
}

/// Takes the share of pauses off the times of series whose rows are so long that each reading has
/// some. Widens those of which it is not known.
pub(crate) fn subtract(state: &mut State) -> Did {
    let Some(known_pauses) =
        Known::of(state).filter(|known_pauses| known_pauses.share >= LITTLE_SHARE)
    else {
        return Did::nothing("they take little of the time");
    };
    let mut done = Vec::new();
    for series in state.subjects() {
        let left_out = state.paused.0.get(usize::from(series)).copied().flatten();
        let Some((are, removed)) = left_out.or_else(|| in_long_rows(state, series, known_pauses))
        else {
            continue;
        };
        if let Are::Subtracted = are {
            let share = known_pauses.most_share - known_pauses.share;
            if let Some(solution) = state.solution_mut(series) {
                solution.scale(1.0 / (1.0 + known_pauses.share));
                let entry = |value: f64| Entry::bound(Source::Pauses, share * value).shared();
                (0..solution.vector.values.len()).for_each(|unknown| {
                    solution.add(unknown, entry(solution.vector.values[unknown]))
                });
            }
            state.bound_all(series, removed.bound - share, Source::Pauses);
        } else {
            state.bound_all(series, removed.bound, Source::Pauses);
        }
        state.paused.0[usize::from(series)] = Some((are, removed));
        done.push((series, are.text(removed.bound).to_owned()));
    }
    Did::each(done, "rows are short")
}

/// What is done about the pauses in a series from which no reading was left out for them; `None` if
/// its rows are short.
fn in_long_rows(state: &State, series: SeriesId, known_pauses: Known) -> Option<(Are, Removed)> {
    let rows = || {
        state
            .solution(series)
            .into_iter()
            .flat_map(|solution| &solution.rows)
            .map(|row| row.location)
    };
    let (shortest, longest) = (rows().fold(f64::INFINITY, f64::min), rows().fold(0.0, f64::max));
    let in_longest = longest / known_pauses.apart;
    let is_share_known = in_longest > MOST_PAUSES && longest > shortest && !waits(state, series);
    let (are, bound) = if is_share_known {
        (
            Are::Subtracted,
            known_pauses.most_share - known_pauses.share
                + HALF_A_PAUSE * known_pauses.length / (longest - shortest),
        )
    } else {
        (Are::InInterval, known_pauses.most_share)
    };
    (in_longest >= HALF_A_PAUSE).then_some((are, Removed { bound, in_longest }))
}

/// Whether the code of a series waits by itself.
fn waits(state: &State, series: SeriesId) -> bool {
    let waited = || {
        state.sheet.raw(series).filter(|(_, reading)| reading.flags.contains(Flags::WAITED)).count()
            as f64
    };
    state.sheet.flags.contains(Flags::WAITED)
        && waited() > WAITS_SHARE * state.sheet.number_in(series) as f64
}

impl Are {
    fn text(self, unknown: f64) -> &'static str {
        match self {
            _ if unknown > MUCH_UNKNOWN => "their share is hardly known",
            Are::LeftOut => "readings with a pause are left out",
            Are::Subtracted => "the time is without them: their share is subtracted",
            Are::InInterval => "the interval holds the time with and without them",
        }
    }

    fn remedy(self, unknown: f64) -> &'static str {
        const SHORTER_CODE: &str = "time a shorter piece of code, whose rows fit between two \
                                    pauses, or measure on another CPU or machine";
        const MORE_TIME: &str = "give it more time, in which more pauses are seen; else time a \
                                 shorter piece of code, whose rows fit between two pauses, or \
                                 measure on another CPU or machine";
        match self {
            _ if unknown > MUCH_UNKNOWN => MORE_TIME,
            Are::InInterval => SHORTER_CODE,
            _ => "nothing to do: the time is that in which the CPU runs the code",
        }
    }
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let paused = state.paused.0.get(usize::from(series)).copied().flatten();
    let Some(((are, removed), known_pauses)) = paused.zip(Known::of(state)) else {
        return Vec::new();
    };
    // Of short rows nothing is said.
    if removed.in_longest < HALF_A_PAUSE {
        return Vec::new();
    }
    let severity = match are {
        _ if removed.bound > MUCH_UNKNOWN => Severity::Untrusted,
        Are::InInterval => Severity::Warning,
        _ => Severity::Note,
    };
    // The share is of the time in which the CPU runs the thread; a reader thinks of all of it.
    let share_percent = 100.0 * known_pauses.share / (1.0 + known_pauses.share);
    let mean_us = state.table.origin.ns_per_unit().map(|ns| 1e-3 * ns * known_pauses.length);
    let in_longest = removed.in_longest;
    let each = mean_us.map(|us| format!(", for {us:.1} us each")).unwrap_or_default();
    let message = format!(
        "the CPU pauses for {share_percent:.1} % of the time{each}, and nothing counts it: the \
         longest row contains {in_longest:.1} pauses in the mean; {}",
        are.text(removed.bound)
    );
    vec![Finding::of(
        severity,
        code::PAUSED,
        message,
        numbers! { share_percent, mean_us, in_longest },
        are.remedy(removed.bound),
    )]
}

#[cfg(test)]
mod tests;
