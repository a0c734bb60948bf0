//! What pauses of the CPU add to long readings. In a short reading a pause makes an outlier, which is left out. Of rows that are not much longer
//! than the time from one pause to the next, the readings with a pause are found and left out, too. In still longer ones every reading has
//! some, and their share is taken off the time.

use super::assessment::{Assessment, SeriesResult};
use super::{Finding, FindingKind, PausesAre, Severity};
use crate::estimate::{LITTLE_PAUSED, Paused, Source, paused_readings};
use crate::observations::{Flags, Observations, SeriesId};

/// Pauses in the longest row, in the mean, from which its readings without one are not surely found ...
const TOO_MANY: f64 = 0.5;
/// ... and from which the middle reading of a row has the share of pauses that all have in the mean, but for a part of a pause.
const ENOUGH: f64 = 2.5;
/// The middle of a Poisson distribution is within this part of a pause from its mean, and so the line of the rows within as much at both ends.
const OFF: f64 = 0.5;
/// Pauses of which more than this share of the time is unknown make a time untrusted. Below it the interval, which holds that share, says
/// enough: a comparison of code that takes 70 times as long must not be undecided because a short run saw few of the pauses.
const MUCH: f64 = 0.3;
/// Code that waits in more than this share of its readings, as for a timer or a disk, is not lengthened by all pauses.
const WAITS: f64 = 0.1;

/// The table without the readings in which the CPU paused, and what they are; `None` if there are none that can be told from others.
pub(super) fn unpaused(table: &Observations) -> Option<(Observations, Vec<Paused>)> {
    let (found, unknown) = paused_readings(table);
    if found.is_empty() {
        return None;
    }
    let mut rest = table.clone();
    rest.exclude_rounds(&unknown);
    found.iter().for_each(|paused| rest.exclude_readings(&paused.readings));
    Some((rest, found))
}

/// Takes pauses off the times of all series whose rows are so long that they matter, and adds a finding.
pub(super) fn without_pauses(found: &mut Assessment, table: &Observations, left_out: &[Paused]) {
    for series in &mut found.series {
        let Some(id) = table.find_series(&series.name) else { continue };
        let left_out = left_out.iter().find(|paused| paused.series == id);
        let Some((removed, finding)) = pauses_in(series, table, id, left_out) else {
            // Of short rows nothing is told.
            left_out.iter().for_each(|paused| series.bound_by(paused.unexplained, Source::Neighbour));
            continue;
        };
        if let Some(share) = removed.share {
            series.components.iter_mut().for_each(|component| component.time.scale(1.0 / (1.0 + share)));
        }
        series.bound_by(removed.bound, Source::Neighbour);
        series.findings.push(finding);
    }
}

/// What is done about pauses.
struct Removed {
    /// The share of the time that is taken off, if any.
    share: Option<f64>,
    /// By how much the rest may be off, as a share of it.
    bound: f64,
}

/// What is done about the pauses in a series, and the finding; `None` if its rows are short, or if pauses are rare.
fn pauses_in(series: &SeriesResult, table: &Observations, id: SeriesId, left_out: Option<&Paused>) -> Option<(Removed, Finding)> {
    let pauses = &table.origin.pauses;
    let ((share, apart), most) = (pauses.share()?, pauses.most_share()?);
    let rows = || series.solution.rows.iter().map(|row| row.location);
    let (shortest, longest) = (rows().fold(f64::INFINITY, f64::min), rows().fold(0.0, f64::max));
    if longest < TOO_MANY * apart || share < LITTLE_PAUSED {
        return None;
    }
    let length = pauses.lost / f64::from(pauses.number);
    let (are, removed) = match left_out {
        Some(paused) => (PausesAre::LeftOut, Removed { share: None, bound: paused.unexplained }),
        None if longest > ENOUGH * apart && longest > shortest && !waits(table, id) => {
            let bound = most - share + OFF * length / (longest - shortest);
            (PausesAre::Subtracted, Removed { share: Some(share), bound })
        }
        None => (PausesAre::InInterval, Removed { share: None, bound: most }),
    };
    let mean_us = table.origin.ns_per_unit().map(|ns| 1e-3 * ns * length);
    let (are, severity) = match are {
        _ if removed.bound > MUCH => (PausesAre::HardlyKnown, Severity::Untrusted),
        PausesAre::LeftOut | PausesAre::Subtracted => (are, Severity::Note),
        _ => (are, Severity::Warning),
    };
    // The share is of the time in which the CPU runs the thread; a reader thinks of all of it.
    let kind = FindingKind::Paused { share_percent: 100.0 * share / (1.0 + share), mean_us, in_longest: longest / apart, are };
    Some((removed, Finding::new(severity, kind)))
}

/// Whether the code of a series waits by itself.
fn waits(table: &Observations, series: SeriesId) -> bool {
    let mine = || table.readings().iter().filter(|reading| table.rows()[reading.row as usize].series == series);
    let waited = mine().filter(|reading| reading.flags.contains(Flags::WAITED)).count();
    waited as f64 > WAITS * mine().count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::simulated::with_pauses;
    use crate::judge::{Question, assess};
    use crate::observations::{Pauses, Rate};
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    const APART: f64 = 10_000.0;

    /// Rows of up to 8 copies of a body of so many ticks, on a CPU that pauses once in 10,000 ticks for a time of this mean. So many pauses
    /// were seen.
    fn assessed(body: f64, length: f64, number: u32, flags: Flags, seed: u64) -> Assessment {
        assess(&table(body, length, number, flags, seed), &Question::default()).unwrap()
    }

    fn table(body: f64, length: f64, number: u32, flags: Flags, seed: u64) -> Observations {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("code");
        for round in 0..200_u32 {
            for copies in 1..=8_u32 {
                let row = table.row(series, &[f64::from(copies)]);
                let run = body * f64::from(copies) + 40.0 + f64::from((round * 7 + copies * 13) % 11);
                let ticks = if number > 0 { with_pauses(run, APART, length, &mut random) } else { run };
                table.push_flagged(row, round, ticks, flags);
            }
        }
        table.origin.rate = Some(Rate { hz: 2e9, uncertainty_ppm: 1.0, provenance: "test".into() });
        let number = f64::from(number);
        table.origin.pauses = Pauses { watched: (APART + length) * number, lost: length * number, number: number as u32, longer: None };
        table
    }

    fn finding(found: &Assessment) -> Option<&Finding> {
        found.series[0].findings.iter().find(|finding| finding.is(crate::judge::code::PAUSED))
    }

    #[test]
    fn times_of_long_rows_are_without_pauses_and_their_intervals_hold() {
        for (body, text, most) in [(2_000.0, "are left out", 0.004), (8_000.0, "is subtracted", 0.03), (40_000.0, "is subtracted", 0.02)] {
            for seed in 0..20 {
                let found = assessed(body, 400.0, 400, Flags::NONE, seed);
                let time = found.series[0].components[0].time.ticks;
                // The times without pauses have a pattern that is 0.005 % of the slope.
                assert!((time.value - body).abs() < time.half_width() + 1e-4 * body && time.relative() < most, "{body}: {time:?}");
                let paused = finding(&found).unwrap();
                assert!(paused.severity == Severity::Note && paused.message.ends_with(text), "{paused:?}");
                assert!(paused.message.contains("3.8 %") || paused.message.contains("3.7 %"), "{}", paused.message);
            }
        }
    }

    #[test]
    fn pauses_in_ticks_need_no_rate() {
        let mut table = table(8_000.0, 400.0, 400, Flags::NONE, 1);
        table.origin.rate = None;
        let found = assess(&table, &Question::default()).unwrap();
        let paused = finding(&found).unwrap();
        assert!(paused.message.contains("of the time, and nothing counts it"), "{}", paused.message);
        assert!(found.series[0].components[0].time.ticks.contains(8_000.0));
    }

    #[test]
    fn pauses_that_are_hardly_known_make_a_time_untrusted() {
        let found = assessed(8_000.0, 4_000.0, 12, Flags::NONE, 1);
        let paused = finding(&found).unwrap();
        assert!(paused.severity == Severity::Untrusted && paused.remedy.contains("more time"), "{paused:?}");
        assert!(found.series[0].components[0].time.ticks.relative() > 0.1);
    }

    #[test]
    fn pauses_of_which_few_were_seen_are_in_the_interval_without_a_doubt() {
        let found = assessed(8_000.0, 700.0, 12, Flags::NONE, 1);
        assert!(finding(&found).unwrap().severity < Severity::Untrusted, "{:?}", found.series[0].findings);
        let time = found.series[0].components[0].time.ticks;
        assert!(time.contains(8_000.0) && time.relative() > 0.03, "{time:?}");
    }

    #[test]
    fn code_that_waits_has_the_pauses_in_its_interval() {
        let found = assessed(8_000.0, 400.0, 400, Flags::WAITED, 2);
        let paused = finding(&found).unwrap();
        assert!(paused.severity == Severity::Warning && paused.message.contains("the interval holds"), "{paused:?}");
        assert!(found.series[0].components[0].time.ticks.contains(8_000.0));
    }

    #[test]
    fn short_rows_and_rare_pauses_are_no_doubt() {
        for (body, length, number) in [(500.0, 400.0, 100), (5_000.0, 10.0, 100), (5_000.0, 400.0, 4), (5_000.0, 0.0, 0)] {
            let found = assessed(body, length, number, Flags::NONE, 3);
            assert!(finding(&found).is_none(), "{body} {length} {number}");
        }
    }
}
