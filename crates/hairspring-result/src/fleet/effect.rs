//! How far each machine lies from its family, and which ones lie too far.

use super::record::{Record, UNITS, place};
use crate::document::Unit;
use hairspring_core::estimate::{extreme_deviates, median, robust_sd, student_factor};
use hairspring_core::math::ln;

/// Fewest machines of a family among which one can lie too far from the others.
pub const FEWEST_MACHINES: usize = 5;
/// Share of fleets of equal machines in which one is found to be odd.
pub const FALSE_ALARMS: f64 = 0.01;
/// Fewest machines with a series that is compared.
const FEWEST_TIMES: usize = 3;
/// From so many machines on, several of them may be odd: at most this part of them.
const MANY_MACHINES: usize = 15;
const MOST_ODD: usize = 5;

/// The middle of the machines of a family in one series: logarithms of the times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Middle {
    log: f64,
    /// Standard deviation, by the median of the distances.
    sd: f64,
    machines: usize,
}

impl Middle {
    /// The middle of these records in a unit.
    pub fn of(records: &[Record], unit: Unit) -> Option<Middle> {
        let mut logs: Vec<f64> = records.iter().filter_map(|record| log(record, unit)).collect();
        let log = median(&mut logs);
        let found = Middle { log, sd: robust_sd(&logs, log), machines: logs.len() };
        (logs.len() >= FEWEST_TIMES).then_some(found)
    }

    /// By how much a record is longer, as a logarithm.
    pub fn distance(&self, record: &Record, unit: Unit) -> Option<f64> {
        Some(log(record, unit)? - self.log)
    }

    /// Whether such a distance is too far for one of so many series of a machine.
    pub fn is_far(&self, distance: f64, series: usize) -> bool {
        let count = self.machines as f64;
        let level = 1.0 - FALSE_ALARMS / series.max(1) as f64;
        let most = student_factor(level, count - 2.0) * self.sd * (1.0 + 1.0 / count).sqrt();
        self.machines >= FEWEST_MACHINES && distance.abs() > most
    }
}

fn log(record: &Record, unit: Unit) -> Option<f64> {
    record.positive(unit).filter(|_| record.is_trusted).map(ln)
}

/// How far a machine lies from its family in one unit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effect {
    /// Sums over its series: logarithms of the ratios, and half-widths as shares.
    sum: f64,
    widths: f64,
    /// Number of its series.
    pub series: u32,
}

impl Effect {
    fn add(&mut self, distance: f64, width: f64) {
        (self.sum, self.widths, self.series) =
            (self.sum + distance, self.widths + width, self.series + 1);
    }

    /// The mean over its series, as a logarithm.
    pub fn mean(&self) -> Option<f64> {
        (self.series > 0).then(|| self.sum / f64::from(self.series))
    }

    fn width(&self) -> f64 {
        self.widths / f64::from(self.series.max(1))
    }
}

/// The effects of all machines, in each unit.
pub type Effects = Vec<[Effect; 2]>;

/// The middles of the records of one series and family, in each unit.
pub fn middles(records: &[Record]) -> [Option<Middle>; 2] {
    UNITS.map(|unit| Middle::of(records, unit))
}

/// Adds the records of one series and family to the effects of their machines.
pub fn add(effects: &mut Effects, records: &[Record], middles: &[Option<Middle>; 2]) {
    for unit in UNITS {
        let Some(middle) = middles[place(unit)] else { continue };
        for record in records {
            let width = record.relative(unit);
            let Some(distance) = middle.distance(record, unit).filter(|_| width.is_finite()) else {
                continue;
            };
            effects[record.machine as usize][place(unit)].add(distance, width);
        }
    }
}

/// The machines of a family that have an effect in a unit; `None` if they are too few.
pub fn members(effects: &Effects, machines: &[u32], unit: Unit) -> Option<Vec<u32>> {
    let has_effect = |at: &u32| effects[*at as usize][place(unit)].series > 0;
    let found: Vec<u32> = machines.iter().copied().filter(has_effect).collect();
    (found.len() >= FEWEST_MACHINES).then_some(found)
}

/// Those of the members that lie too far from the others, with this probability of a false alarm.
pub fn odd(effects: &Effects, members: &[u32], unit: Unit, alpha: f64) -> Vec<u32> {
    let of = |at: &u32| effects[*at as usize][place(unit)];
    let all: Vec<Effect> = members.iter().map(of).collect();
    let most = if all.len() < MANY_MACHINES { 1 } else { all.len() / MOST_ODD };
    let places = extreme_deviates(&shrunk(&all), alpha, most);
    places.into_iter().map(|at| members[at]).collect()
}

/// The distances from their middle. That of a machine whose intervals are wider than those of the
/// median machine is divided by as much as its interval makes it vary more than the others.
fn shrunk(effects: &[Effect]) -> Vec<f64> {
    let mut means: Vec<f64> = effects.iter().map(|effect| effect.mean().unwrap_or(0.0)).collect();
    let center = median(&mut means.clone());
    means.iter_mut().for_each(|mean| *mean -= center);
    let variances = || effects.iter().map(|effect| (effect.width() / 1.96).powi(2));
    let usual = median(&mut variances().collect::<Vec<f64>>());
    let all = robust_sd(&means, 0.0).powi(2).max(usual);
    let factor = |own: f64| if own > usual { (all / (all + own - usual)).sqrt() } else { 1.0 };
    means.iter().zip(variances()).map(|(mean, own)| mean * factor(own)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;

    #[test]
    fn a_wide_machine_is_not_odd_by_its_width() {
        let half = |at: u32| if at == 3 { 40.0 } else { 0.5 };
        let value = |at: u32| if at == 3 { 130.0 } else { 100.0 + 0.3 * f64::from(at % 4) };
        let times = |at| (value(at), half(at));
        let all: Vec<Record> = (0..12).map(|at| record(at, times(at), times(at))).collect();
        let mut effects = vec![[Effect::default(); 2]; 12];
        add(&mut effects, &all, &middles(&all));
        let machines: Vec<u32> = (0..12).collect();
        let members = members(&effects, &machines, Unit::Cycles).unwrap();
        assert!(odd(&effects, &members, Unit::Cycles, FALSE_ALARMS).is_empty());
        let mut narrow = vec![[Effect::default(); 2]; 12];
        let all: Vec<Record> =
            (0..12).map(|at| record(at, (value(at), 0.5), (value(at), 0.5))).collect();
        add(&mut narrow, &all, &middles(&all));
        assert_eq!(odd(&narrow, &members, Unit::Cycles, FALSE_ALARMS), [3]);
    }

    #[test]
    fn few_machines_have_no_odd_one() {
        let mut effects = vec![[Effect::default(); 2]; 4];
        let times = |at: u32| (10.0 + 90.0 * f64::from(at / 3), 0.1);
        let all: Vec<Record> = (0..4).map(|at| record(at, times(at), times(at))).collect();
        add(&mut effects, &all, &middles(&all));
        assert_eq!(members(&effects, &[0, 1, 2, 3], Unit::Cycles), None);
        assert_eq!(Middle::of(&all[..2], Unit::Cycles), None);
        assert_eq!(Middle::of(&[], Unit::Cycles), None);
    }
}
