//! The mean of machines: of one series and component.

use super::document::Merged;
use super::floor::Spread;
use super::record::{Record, UNITS, trusted};
use crate::document::{FigureEntry, Unit, figure_budget, finite};
use hairspring_core::Estimate;
use hairspring_core::estimate::{Contribution, Source, between_machines};
use std::collections::HashSet;

/// How machines are averaged.
#[derive(Debug)]
pub struct Means {
    /// The level of all intervals.
    pub level: f64,
    /// Machines that lie too far from the others.
    pub odd: HashSet<u32>,
    /// Whether these are left out.
    pub without_odd: bool,
}

/// A mean with its budget.
type Mean = (Estimate, Vec<Contribution>);

impl Means {
    /// The mean over these machines, without its names, and its spread.
    pub fn merged(&self, records: &[Record]) -> (Merged, Option<Spread>) {
        let Some(unit) = unit(records, self.level) else {
            return (without_time(records), None);
        };
        let (with, untrusted) = self.used(records, unit);
        let without: Vec<Record> =
            with.iter().copied().filter(|one| !self.odd.contains(&one.machine)).collect();
        let differ = without.len() < with.len() && !without.is_empty();
        let (used, other) =
            if self.without_odd && differ { (&without, &with) } else { (&with, &without) };
        let (mean, spread) = (self.mean(used, unit), self.spread(used, unit));
        let other = self.mean(other, unit).filter(|_| differ).and_then(|mean| mean.0.if_finite());
        let merged = Merged {
            unit: Some(unit),
            time: mean.as_ref().and_then(|mean| mean.0.if_finite()),
            time_reason: mean.is_none().then(|| "the mean is not a finite number".into()),
            below_resolution: used.iter().any(|one| one.is_below)
                || mean.as_ref().is_some_and(|mean| mean.0.contains(0.0)),
            machines: used.len(),
            untrusted,
            without_unit: records.len() - self.timed(records, unit).len(),
            spread_percent: spread.and_then(|spread| finite(100.0 * spread.relative)),
            budget: mean.map_or_else(Vec::new, |mean| budget(&mean.1, self.level)),
            without_odd: other.filter(|_| !self.without_odd),
            with_odd: other.filter(|_| self.without_odd),
            ..Merged::default()
        };
        (merged, spread)
    }

    fn timed(&self, records: &[Record], unit: Unit) -> Vec<Record> {
        records.iter().copied().filter(|one| one.time(unit, self.level).is_some()).collect()
    }

    /// The records that are averaged, and how many are left out as not to be trusted.
    fn used(&self, records: &[Record], unit: Unit) -> (Vec<Record>, usize) {
        let all = self.timed(records, unit);
        let used = trusted(&all);
        let left_out = all.len() - used.len();
        (used, left_out)
    }

    fn mean(&self, records: &[Record], unit: Unit) -> Option<Mean> {
        let time = |one: &Record| Some((one.time(unit, self.level)?, one.common(unit)));
        let (times, common): (Vec<Estimate>, Vec<f64>) = records.iter().filter_map(time).unzip();
        mean(&times, &common, self.level).filter(|mean| mean.0.value.is_finite())
    }

    fn spread(&self, records: &[Record], unit: Unit) -> Option<Spread> {
        let values = || records.iter().filter_map(|one| Some(one.time(unit, self.level)?.value));
        let count = values().count() as f64;
        let mean = values().sum::<f64>() / count;
        let squares = values().map(|value| (value - mean).powi(2)).sum::<f64>();
        let relative = (squares / (count - 1.0)).sqrt() / mean.abs();
        relative.is_finite().then_some(Spread { relative, machines: records.len() })
    }
}

/// The mean of these times, of whose half-widths these parts may be common to all; of one it is the
/// time itself.
pub fn mean(times: &[Estimate], common: &[f64], level: f64) -> Option<Mean> {
    if let [one] = times {
        return Some((*one, Vec::new()));
    }
    let uncertain = between_machines(times, common)?;
    Some((uncertain.estimate(level), uncertain.budget))
}

/// The budget of a mean for a document.
pub fn budget(entries: &[Contribution], level: f64) -> Vec<FigureEntry> {
    let mut all = figure_budget(entries, level, &[]);
    for entry in all.iter_mut().filter(|entry| entry.source == Source::Departure) {
        entry.note = Some("what the intervals of all machines may have alike".into());
    }
    all
}

/// Core cycles if at least half of the machines that have a time have them, else nanoseconds.
fn unit(records: &[Record], level: f64) -> Option<Unit> {
    let has = |record: &Record, unit| record.time(unit, level).is_some();
    let count = |unit| records.iter().filter(|record| has(record, unit)).count();
    let any = records.iter().filter(|one| UNITS.iter().any(|unit| has(one, *unit))).count();
    let [cycles, ns] = UNITS.map(count);
    match any {
        0 => None,
        _ if 2 * cycles >= any || ns == 0 => Some(Unit::Cycles),
        _ => Some(Unit::Nanoseconds),
    }
}

fn without_time(records: &[Record]) -> Merged {
    Merged {
        without_unit: records.len(),
        time_reason: Some(
            "no machine has a time with an interval in core cycles or nanoseconds".into(),
        ),
        ..Merged::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;
    use crate::fleet::floor::floor_percent;

    fn means(odd: &[u32], without_odd: bool) -> Means {
        Means { level: 0.95, odd: odd.iter().copied().collect(), without_odd }
    }

    fn fleet() -> Vec<Record> {
        let times = |at: u32| (100.0 + f64::from(at) + if at == 5 { 50.0 } else { 0.0 }, 0.1);
        (0..6).map(|at| record(at, times(at), times(at))).collect()
    }

    #[test]
    fn the_mean_has_the_spread_of_the_machines_in_its_budget() {
        let (found, spread) = means(&[], false).merged(&fleet()[..5]);
        let time = found.time.unwrap();
        assert!((time.value - 102.0).abs() < 1e-9 && time.half_width() > 1.9, "{time:?}");
        assert_eq!((found.unit, found.machines), (Some(Unit::Cycles), 5));
        assert_eq!(found.budget[0].source, Source::Machines);
        let sd = 2.5_f64.sqrt() / 102.0;
        assert!((found.spread_percent.unwrap() - 100.0 * sd).abs() < 1e-9);
        // Two machines: 2.776 of 4 degrees of freedom, times the root of 2.
        let floor = floor_percent(&[spread.unwrap()], 0.95).unwrap();
        assert!((floor - 100.0 * sd * 2.776_445 * 2.0_f64.sqrt()).abs() < 1e-3, "{floor}");
    }

    #[test]
    fn odd_machines_stay_unless_they_are_to_be_left_out() {
        let (all, _) = means(&[5], false).merged(&fleet());
        let (without, _) = means(&[5], true).merged(&fleet());
        assert_eq!((all.machines, without.machines), (6, 5));
        assert_eq!(all.without_odd.map(|e| e.value), without.time.map(|e| e.value));
        assert_eq!(without.with_odd.map(|e| e.value), all.time.map(|e| e.value));
        assert_eq!((all.with_odd, without.without_odd), (None, None));
    }

    #[test]
    fn nanoseconds_stand_in_where_most_machines_have_no_cycles() {
        let nan = (f64::NAN, f64::NAN);
        let mut all = fleet();
        all.iter_mut().take(2).for_each(|one| *one = record(one.machine, nan, (9.0, 0.1)));
        let (found, _) = means(&[], false).merged(&all);
        assert_eq!((found.unit, found.machines, found.without_unit), (Some(Unit::Cycles), 4, 2));
        all.iter_mut().take(4).for_each(|one| *one = record(one.machine, nan, (9.0, 0.1)));
        let (found, _) = means(&[], false).merged(&all);
        assert_eq!((found.unit, found.machines), (Some(Unit::Nanoseconds), 6));
        let (found, spread) = means(&[], false).merged(&[record(0, nan, nan)]);
        assert!(found.time.is_none() && found.time_reason.is_some() && spread.is_none());
    }

    #[test]
    fn huge_and_zero_times_give_no_panic() {
        for value in [0.0, 1e30, 1e300, -5.0] {
            let all: Vec<Record> =
                (0..4).map(|at| record(at, (value, 1e30), (value, 0.0))).collect();
            let (found, spread) = means(&[0], true).merged(&all);
            assert_eq!(found.machines, 3, "{value}");
            let _ = floor_percent(&spread.into_iter().collect::<Vec<_>>(), 0.95);
        }
    }
}
