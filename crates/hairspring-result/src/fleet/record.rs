//! The time of one component in one document, in 40 bytes: a fleet has millions of them.

use crate::document::{BudgetEntry, Component, Unit};
use crate::runs::is_enough;
use hairspring_core::Estimate;
use hairspring_core::estimate::{Source, between_runs, coverage_factor};

/// The units that times of several machines are averaged in. Ticks are those of one clock.
pub const UNITS: [Unit; 2] = [Unit::Cycles, Unit::Nanoseconds];

/// A time, in both units. A unit that is missing is NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record {
    values: [f64; 2],
    halves: [f32; 2],
    /// The part of the half-widths that other machines may have alike.
    common: f32,
    /// The machine that it was measured on.
    pub machine: u32,
    /// Whether it is to be trusted.
    pub is_trusted: bool,
    /// Whether it is below resolution.
    pub is_below: bool,
}

/// The number of a unit; ticks have none.
pub fn place(unit: Unit) -> usize {
    usize::from(unit != Unit::Cycles)
}

impl Record {
    /// The time of a component with its budget, at the level of the fleet.
    pub fn new(
        component: &Component,
        budget: Option<&[BudgetEntry]>,
        machine: u32,
        level: f64,
    ) -> Record {
        let figure = &component.figure;
        let both = [figure.cycles, figure.time_ns.flatten()];
        Record {
            machine,
            is_trusted: component.trusted,
            is_below: figure.below_resolution,
            common: budget.map_or(1.0, common),
            ..Record::of(both.map(|time| time.map(|time| at_level(&time, level))), machine)
        }
    }

    fn of(times: [Option<Estimate>; 2], machine: u32) -> Record {
        Record {
            values: times.map(|time| time.map_or(f64::NAN, |time| time.value)),
            halves: times.map(|time| time.map_or(f32::NAN, |time| time.half_width() as f32)),
            common: 1.0,
            machine,
            is_trusted: true,
            is_below: false,
        }
    }

    /// The half-width that other machines may have alike.
    pub fn common(&self, unit: Unit) -> f64 {
        f64::from(self.common) * f64::from(self.halves[place(unit)])
    }

    /// Its time in a unit, if it has one with an interval.
    pub fn time(&self, unit: Unit, level: f64) -> Option<Estimate> {
        let (value, half) = (self.values[place(unit)], f64::from(self.halves[place(unit)]));
        let found = Estimate { value, low: value - half, high: value + half, level };
        (value.is_finite() && half.is_finite()).then_some(found)
    }

    /// Its time in a unit as a number of which there is a logarithm.
    pub fn positive(&self, unit: Unit) -> Option<f64> {
        let value = self.values[place(unit)];
        (value > 0.0 && value.is_finite() && !self.is_below).then_some(value)
    }

    /// Its half-width as a share of the time.
    pub fn relative(&self, unit: Unit) -> f64 {
        f64::from(self.halves[place(unit)]) / self.values[place(unit)].abs()
    }
}

/// Sources that are by chance in one machine, or belong to it alone.
const OWN: [Source; 8] = [
    Source::Noise,
    Source::Placement,
    Source::Runs,
    Source::CoreClock,
    Source::Rate,
    Source::Pauses,
    Source::Slow,
    Source::Settling,
];

/// The part of a half-width that is of other sources, which depend on the rows and the code.
fn common(budget: &[BudgetEntry]) -> f32 {
    let half = |entry: &BudgetEntry| entry.half_width_ns.or(entry.half_width_ticks).flatten();
    let sum = |entries: &mut dyn Iterator<Item = &BudgetEntry>| -> f64 {
        entries.map(|entry| half(entry).unwrap_or(f64::INFINITY)).sum()
    };
    let is_own = |entry: &&BudgetEntry| OWN.contains(&entry.source);
    let all = sum(&mut budget.iter());
    let others = sum(&mut budget.iter().filter(|entry| !is_own(entry)));
    if all > 0.0 && all.is_finite() { (others / all) as f32 } else { 1.0 }
}

/// The interval with the width that it has at another level, as that of a normal distribution.
fn at_level(time: &Estimate, level: f64) -> Estimate {
    if time.level == level {
        return *time;
    }
    let half = time.half_width() * coverage_factor(level) / coverage_factor(time.level);
    Estimate { value: time.value, low: time.value - half, high: time.value + half, level }
}

/// The records that are used: those that are to be trusted, if they are enough.
pub fn trusted(records: &[Record]) -> Vec<Record> {
    let good: Vec<Record> = records.iter().copied().filter(|record| record.is_trusted).collect();
    if is_enough(good.len(), records.len()) { good } else { records.to_vec() }
}

/// The one record of a machine: the mean of its documents, whose interval contains how they differ.
/// Also gives how many are left out because they are not to be trusted.
pub fn of_machine(records: &[Record], level: f64) -> (Record, usize) {
    if let [one] = records {
        return (*one, 0);
    }
    let used = trusted(records);
    let mean = |unit| {
        let times: Vec<Estimate> =
            used.iter().filter_map(|record| record.time(unit, level)).collect();
        match &times[..] {
            [one] => Some(*one),
            all => Some(between_runs(all)?.estimate(level)),
        }
    };
    let found = Record {
        is_trusted: used.iter().all(|record| record.is_trusted),
        is_below: used.iter().any(|record| record.is_below),
        common: used.iter().map(|record| record.common).sum::<f32>() / used.len() as f32,
        ..Record::of(UNITS.map(mean), records[0].machine)
    };
    (found, records.len() - used.len())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A record in cycles and nanoseconds, each with its half-width.
    pub fn record(machine: u32, cycles: (f64, f64), ns: (f64, f64)) -> Record {
        let time =
            |(value, half)| Estimate { value, low: value - half, high: value + half, level: 0.95 };
        Record::of([Some(time(cycles)), Some(time(ns))], machine)
    }

    #[test]
    fn a_record_is_small() {
        assert_eq!(size_of::<Record>(), 40);
    }

    /// The record of a machine all of whose uncertainty is by chance.
    pub fn by_chance(machine: u32, cycles: (f64, f64), ns: (f64, f64)) -> Record {
        Record { common: 0.0, ..record(machine, cycles, ns) }
    }

    #[test]
    fn what_rows_and_code_make_may_be_alike_on_other_machines() {
        let entry = |source, half| BudgetEntry {
            source,
            half_width_ns: Some(half),
            half_width_ticks: None,
        };
        let budget = [
            entry(Source::Noise, Some(2.0)),
            entry(Source::Departure, Some(1.0)),
            entry(Source::CoreClock, Some(1.0)),
        ];
        assert_eq!((common(&budget), common(&budget[..1]), common(&[])), (0.25, 0.0, 1.0));
        assert_eq!(common(&[entry(Source::Noise, None)]), 1.0);
    }

    #[test]
    fn documents_of_one_machine_are_one_value() {
        let of = |cycles| record(7, (cycles, 0.01), (cycles / 4.0, 0.01));
        let (found, left_out) = of_machine(&[of(100.0), of(102.0), of(104.0)], 0.95);
        let time = found.time(Unit::Cycles, 0.95).unwrap();
        assert!((time.value - 102.0).abs() < 1e-9 && time.half_width() > 4.0, "{time:?}");
        assert_eq!((found.machine, left_out), (7, 0));
        let doubted = Record { is_trusted: false, ..of(900.0) };
        let (found, left_out) = of_machine(&[of(100.0), doubted, of(102.0)], 0.95);
        assert!((found.time(Unit::Cycles, 0.95).unwrap().value - 101.0).abs() < 1e-9);
        assert_eq!((found.is_trusted, left_out), (true, 1));
        assert!(!of_machine(&[of(100.0), doubted], 0.95).0.is_trusted);
    }

    #[test]
    fn a_unit_that_one_document_has_is_that_of_the_machine() {
        let both = record(0, (100.0, 1.0), (25.0, 1.0));
        let ns = Record { values: [f64::NAN, 27.0], ..both };
        let (found, _) = of_machine(&[both, ns], 0.95);
        assert_eq!(found.time(Unit::Cycles, 0.95).map(|time| time.value), Some(100.0));
        assert_eq!(found.positive(Unit::Nanoseconds), Some(26.0));
    }

    #[test]
    fn another_level_is_that_of_the_fleet() {
        let wide =
            Estimate { value: 5.0, low: 5.0 - 2.575_829, high: 5.0 + 2.575_829, level: 0.99 };
        assert!((at_level(&wide, 0.95).half_width() - 1.959_964).abs() < 1e-4);
    }
}
