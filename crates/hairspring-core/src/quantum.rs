//! The step of a clock that nobody states, from its times: all of them are multiples of it.
//!
//! A list of changes states its times with more digits than the recorder resolves: a nanosecond
//! where samples are 8 to 1,000 ns apart. A table of readings may come from a counter that moves by
//! 64 ticks at a time. The digits would make readings that are one step apart look like outliers,
//! and readings that are all alike look exact.

mod feasible;

use crate::divisor::gcd;
use crate::math::pow;
use crate::observations::{Observations, Reading, Unit};
use feasible::{Length, least_sure, within};
use std::collections::HashMap;

/// Times that are looked at.
const MOST_TIMES: usize = 4096;
/// A period is believed if chance would give it in fewer than this share of all recordings.
const BY_CHANCE: f64 = 1e-9;
/// Finest and coarsest digit of times, in ticks, as powers of ten.
const DIGITS: std::ops::RangeInclusive<i32> = -6..=9;
/// What stands for the last digit of times such as 41.66666667, which are written with more digits
/// than [`DIGITS`] or rounded as numbers.
const NO_LAST_DIGIT: f64 = 1e-5;
/// Rounding of times of which each has the same number of digits, such as `1.041666667e-03`, as a
/// share of the time.
const OF_TEN_DIGITS: f64 = 1e-9;
/// Largest digit of such times, as a share of their period.
const FINE_DIGIT: f64 = 1e-3;
/// Rounding of the numbers themselves, as a share of a digit and of a tick.
const ROUNDING: f64 = 0.01;
/// Most parts into which the shortest time is divided in the search for a period that is no whole
/// number of digits, and its least length in digits.
const MOST_PARTS: u32 = 100_000;
const LEAST_DIGITS: f64 = 4.0;
/// A period that is no whole number of digits is believed if chance would give it in fewer than
/// this share of all recordings: one that is too long makes an interval wide, and one that is too
/// short makes it wrong.
const BY_CHANCE_OF_MANY: f64 = 1e-5;
/// The same for a usual rate, of which there are few.
const BY_CHANCE_OF_USUAL: f64 = 0.02;
/// Most lengths that are looked at in the search for a period.
const MOST_LENGTHS: usize = 4 * MOST_TIMES;
/// The step of readings is believed if chance would give it in fewer than this share of all tables:
/// a step that is too large makes an interval wide, and one that is too small makes it wrong.
const BY_CHANCE_IN_READINGS: f64 = 2e-3;
/// The same where the readings are rounded, and many steps are tried.
const BY_CHANCE_OF_ROUNDED: f64 = 1e-7;

/// Collects times of one clock.
#[derive(Debug, Clone, Default)]
pub struct Lattice {
    /// Times since the first edge, in ticks.
    times: Vec<f64>,
    first: Option<f64>,
}

impl Lattice {
    /// Takes a time, such as that of an edge.
    pub fn push(&mut self, at: f64) {
        let first = *self.first.get_or_insert(at);
        if self.times.len() < MOST_TIMES && at > first {
            self.times.push(at - first);
        }
    }

    /// The greatest period of which all times are multiples, as far as their digits tell, or else
    /// their last digit, which is hardly too coarse: fewer edges make an interval wider. `None`
    /// without edges. `hz` is the number of ticks per second: where a period is no whole number
    /// of digits, the usual sample rates are tried first.
    ///
    /// ```
    /// use hairspring_core::quantum::Lattice;
    /// let mut lattice = Lattice::default();
    /// // Samples at 24 MHz, written in whole nanoseconds.
    /// (0..100).for_each(|n| lattice.push((f64::from(n * (7 * n + 2)) * 1e9 / 24e6).round()));
    /// assert!((lattice.period(1e9).unwrap() - 1e9 / 24e6).abs() < 0.01);
    /// ```
    pub fn period(&self, hz: f64) -> Option<f64> {
        let digit = self.digit().or((!self.times.is_empty()).then_some(NO_LAST_DIGIT))?;
        let exact = self
            .greatest(digit)
            .filter(|period| self.is_believed(*period, digit, 0.0, BY_CHANCE_OF_MANY));
        let distinct = self.distinct(digit);
        let chance = |period: f64| pow((3.0 * digit / period).min(1.0), distinct);
        // Nothing is fitted to a usual rate: every distance is evidence.
        let is_usual = |period: &f64| {
            *period > 2.0 * digit
                && self.is_believed(*period, digit, digit, BY_CHANCE_OF_USUAL)
                && chance(*period) * (3.0 * digit / period).powi(2) < BY_CHANCE_OF_USUAL
        };
        let is_sure = |period: f64, tried: f64| tried * chance(period) < BY_CHANCE_OF_MANY;
        // A usual period may be a part of the true one.
        let rounded = || {
            let fitted = self
                .rounded(digit, least_sure(digit, distinct, BY_CHANCE_OF_MANY), is_sure)
                .filter(|period| self.is_of_recorder(*period, digit, hz));
            usual(hz).find(is_usual).into_iter().chain(fitted).reduce(f64::max)
        };
        // Times of thirds of a digit may all be odd, so that two digits are no sign of a period.
        exact
            .filter(|period| *period >= LEAST_DIGITS * digit)
            .or_else(rounded)
            .or_else(|| self.significant(digit, hz))
            .or(exact)
            .or(Some(digit).filter(|digit| *digit > NO_LAST_DIGIT))
    }

    /// Whether a period may be that of a recorder. Its samples are at multiples of the period from
    /// time 0 on, or its rate is a whole number of kHz (of 10 Hz below 100 kHz) in its own time.
    /// The cycle of a slow chip is a lattice, too, but of another crystal, and begins anywhere.
    fn is_of_recorder(&self, period: f64, digit: f64, hz: f64) -> bool {
        let (rate, longest) = (hz / period, self.times.iter().copied().fold(0.0, f64::max));
        let grid = if rate < 1e5 { 10.0 } else { 1e3 };
        let known_error = 4.0 * rate * digit / longest;
        known_error > 0.25 * grid
            || off(rate, grid) <= known_error + 1e-3 * grid
            || self.begins_at_0(period, digit, longest)
    }

    /// Whether the times themselves, and not just their distances, may be multiples of a period
    /// that the longest distance shows.
    fn begins_at_0(&self, period: f64, digit: f64, longest: f64) -> bool {
        let first = self.first.unwrap_or(0.0).abs();
        let known_error = period * digit / longest;
        let mut absolute: Vec<Length> =
            self.times.iter().map(|time| length(first + time, digit)).collect();
        absolute.sort_unstable_by(|a, b| a.length.total_cmp(&b.length));
        // Where the first edge is so late that the period does not tell, it may be so.
        first * known_error > 0.25 * period * period
            || !within(&absolute, (period - known_error, period + known_error)).is_empty()
    }

    /// How many distances of neighbours differ by more than their digits, but for the first ones,
    /// which give the period. A chip that repeats the same pulses shows nothing new with each.
    fn distinct(&self, digit: f64) -> f64 {
        let mut distances = self.distances();
        distances.sort_unstable_by(f64::total_cmp);
        let distinct = distances.windows(2).filter(|pair| pair[1] - pair[0] > 2.0 * digit).count();
        (distinct as f64 - 1.0).max(0.0)
    }

    /// The distances of neighbours.
    fn distances(&self) -> Vec<f64> {
        let mut times = self.times.clone();
        times.sort_unstable_by(f64::total_cmp);
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    /// The period of a usual sample rate, of times that have the same number of digits each.
    fn significant(&self, digit: f64, hz: f64) -> Option<f64> {
        let tolerance = |time: f64| OF_TEN_DIGITS * time + digit;
        let is_on =
            |period: f64| self.times.iter().all(|time| off(*time, period) <= tolerance(*time));
        let chance = |period: f64| {
            self.times
                .iter()
                .skip(2)
                .map(|time| (2.0 * tolerance(*time) / period).min(1.0))
                .product::<f64>()
        };
        // Times of a coarse digit would lie near many periods.
        usual(hz)
            .filter(|period| digit < FINE_DIGIT * period)
            .find(|period| is_on(*period) && chance(*period) < BY_CHANCE)
    }

    /// The last digit of the times: the greatest power of ten of which all are multiples.
    fn digit(&self) -> Option<f64> {
        let on = |time: f64, digit: f64| {
            time > digit / 2.0 && off(time, digit) <= (ROUNDING * digit.min(1.0)).max(1e-12 * time)
        };
        let all = |digit: f64| self.times.iter().all(|time| on(*time, digit));
        (!self.times.is_empty()).then_some(())?;
        DIGITS.rev().map(|power| 10f64.powi(power)).find(|digit| all(*digit))
    }

    /// The greatest common step of all times, as whole numbers of digits.
    fn greatest(&self, digit: f64) -> Option<f64> {
        (!self.times.is_empty()).then(|| self.common(digit))
    }

    /// The greatest multiple of a step of which all times are multiples, as whole numbers of steps.
    fn common(&self, step: f64) -> f64 {
        self.times.iter().map(|time| (time / step).round() as u64).reduce(gcd).unwrap_or(1) as f64
            * step
    }

    /// The greatest period of which all times are multiples but for their last digit, and that is
    /// sure enough as the `tried`th one.
    /// Shorter ones than `least_period` cannot be sure.
    fn rounded(
        &self,
        digit: f64,
        least_period: f64,
        is_sure: impl Fn(f64, f64) -> bool,
    ) -> Option<f64> {
        let lengths = self.lengths(digit);
        let shortest = lengths.first()?;
        (1..=MOST_PARTS)
            .map(|parts| {
                let of = f64::from(parts);
                let (low, high) =
                    (shortest.length - shortest.bound, shortest.length + shortest.bound);
                (of, low / of, high / of)
            })
            .take_while(|(_, _, high)| *high >= least_period.max(LEAST_DIGITS * digit))
            .filter_map(|(tried, low, high)| {
                let (low, high) =
                    *within(&lengths, (low.max(LEAST_DIGITS * digit), high)).first()?;
                Some((0.5 * (low + high), tried))
            })
            .find(|(period, tried)| is_sure(*period, *tried))
            .map(|(period, _)| period)
    }

    /// Lengths that are multiples of a period, in ascending order: the times, their distances, and
    /// the differences of these, which are the shortest and so begin the search.
    fn lengths(&self, digit: f64) -> Vec<Length> {
        let mut distances = self.distances();
        distances.sort_unstable_by(f64::total_cmp);
        let differences = distances.windows(2).map(|pair| length(pair[1] - pair[0], 2.0 * digit));
        let mut lengths: Vec<Length> = differences.collect();
        lengths.extend(self.times.iter().chain(&distances).map(|time| length(*time, digit)));
        lengths.retain(|length| length.length > LEAST_DIGITS * digit);
        lengths.sort_unstable_by(|a, b| a.length.total_cmp(&b.length));
        lengths.truncate(MOST_LENGTHS);
        lengths
    }

    /// Whether all times lie on multiples of a period, and chance would hardly put them there.
    fn is_believed(&self, period: f64, digit: f64, tolerance: f64, by_chance: f64) -> bool {
        let on = self.times.iter().all(|time| {
            off(*time, period) <= tolerance + (ROUNDING * digit.min(1.0)).max(1e-12 * time)
        });
        // Places of the digits within a period, and how many of them count as on the lattice.
        let places = (period / digit).max(1.0);
        let near = 2.0 * (tolerance / digit).floor() + 1.0;
        let chance = (near / places).min(1.0);
        // The first times gave the period. That of the digits themselves needs no belief.
        on && (places < 1.5 || pow(chance, self.times.len().saturating_sub(2) as f64) < by_chance)
    }
}

/// A length of which both ends are rounded to a digit.
fn length(length: f64, digit: f64) -> Length {
    Length { length, bound: digit + (ROUNDING * digit.min(1.0)).max(1e-12 * length) }
}

/// The step of the clock of a table by its readings, where the table does not state it and they
/// show one that is coarser than the unit.
///
/// Readings that lie exactly on a line are no evidence each: a chip that counts its cycles gives
/// `8 + 100 k`, all of them multiples of 4. Only the unknowns of the line, and what differs from
/// it, count.
///
/// ```
/// use hairspring_core::observations::read_csv;
/// use hairspring_core::quantum::step_of_readings;
/// // Copies of 100.3 ticks by a clock that moves by 64 ticks at a time.
/// let rows: String = (1..=12).map(|k| format!("{k},{}\n",
///     (f64::from(k) * 100.3 / 64.0).floor() * 64.0)).collect();
/// assert_eq!(step_of_readings(&read_csv(format!("body,ticks\n{rows}").as_bytes()).unwrap()),
///     Some(64.0));
/// assert_eq!(step_of_readings(&read_csv("body,ticks\n1,108\n2,208\n3,308\n4,408\n".as_bytes())
///     .unwrap()), None);
/// ```
pub fn step_of_readings(table: &Observations) -> Option<f64> {
    let used: Vec<&Reading> = table
        .readings()
        .iter()
        .filter(|reading| !reading.flags.any() && reading.ticks > 0.0)
        .take(MOST_TIMES)
        .collect();
    let lattice =
        Lattice { times: used.iter().map(|reading| reading.ticks).collect(), first: Some(0.0) };
    // Numbers such as 41.66666667 have no last digit.
    let digit = lattice.digit().unwrap_or(10f64.powi(*DIGITS.start()));
    let unit = digit.min(1.0);
    let chance = |places: f64, step: f64, fitted: f64| {
        pow(places, (evidence(table, &used, step) - fitted).max(0.0))
    };
    let exact = lattice.greatest(digit).filter(|step| {
        *step > 1.5 * unit && chance(unit / step, *step, 0.0) < BY_CHANCE_IN_READINGS
    });
    let is_sure = |step: f64, fitted| {
        step > LEAST_DIGITS * unit && chance(3.0 * unit / step, step, fitted) < BY_CHANCE_OF_ROUNDED
    };
    let of_ns = || {
        usual(1e9)
            .find(|step| is_sure(*step, 0.0) && lattice.is_believed(*step, unit, unit, BY_CHANCE))
    };
    // This step comes from the readings themselves, and is one of many that were tried.
    let least_sure_step = least_sure(unit, used.len() as f64 - 2.0, BY_CHANCE_OF_ROUNDED);
    // A finer step changes no result, and there are thousands to try.
    let finest = 10f64.powi(*DIGITS.start()) / FINE_DIGIT;
    let fitted =
        || lattice.rounded(unit, least_sure_step.max(finest), |step, _| is_sure(step, 2.0));
    // A usual rate may be a multiple of the clock's own.
    let whole = |step: f64| {
        Some(lattice.common(step)).filter(|common| is_sure(*common, 1.0)).unwrap_or(step)
    };
    let rounded =
        || (table.origin.unit == Unit::TimeNs).then(of_ns).flatten().or_else(fitted).map(whole);
    exact.or_else(rounded)
}

/// The last digit to which the readings of a table in nanoseconds are written, a nanosecond at
/// most: no reading is known better. 0 for readings without a last digit, and for those in ticks.
///
/// ```
/// use hairspring_core::observations::read_csv;
/// use hairspring_core::quantum::digit_of_readings;
/// let table = |reading: &str| format!("body,time_ns\n1,40\n2,{reading}\n");
/// let digit = |reading| digit_of_readings(&read_csv(table(reading).as_bytes()).unwrap());
/// assert_eq!((digit("71"), digit("71.25"), digit("71.3333333333")), (1.0, 0.01, 0.0));
/// ```
pub fn digit_of_readings(table: &Observations) -> f64 {
    if table.origin.unit != Unit::TimeNs {
        return 0.0;
    }
    let times = table
        .readings()
        .iter()
        .map(|reading| reading.ticks)
        .filter(|ticks| *ticks > 0.0)
        .take(MOST_TIMES)
        .collect();
    let lattice = Lattice { times, first: Some(0.0) };
    lattice.digit().map_or(0.0, |digit| digit.min(1.0))
}

/// How many independent multiples of a step the readings of a table hold.
fn evidence(table: &Observations, used: &[&Reading], step: f64) -> f64 {
    let mut rows: HashMap<u32, Vec<f64>> = HashMap::new();
    used.iter().for_each(|reading| {
        rows.entry(reading.row).or_default().push((reading.ticks / step).round())
    });
    let mut distinct = 0;
    for multiples in rows.values_mut() {
        multiples.sort_unstable_by(f64::total_cmp);
        multiples.dedup();
        distinct += multiples.len() - 1;
    }
    let unknowns = table.components().len() + 1;
    let beyond = rows.len().saturating_sub(unknowns);
    (distinct + unknowns.min(rows.len()) + if is_off_line(table, &rows) { beyond } else { 0 })
        as f64
}

/// Whether the smallest multiples of the rows of one component are not exactly on a line. Planes
/// are not looked at.
fn is_off_line(table: &Observations, rows: &HashMap<u32, Vec<f64>>) -> bool {
    let mut points: Vec<(f64, f64)> =
        rows.iter().map(|(row, all)| (table.rows()[*row as usize].counts[0], all[0])).collect();
    points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return false };
    let slope = (last.1 - first.1) / (last.0 - first.0);
    let off = |(count, multiple): &(f64, f64)| {
        (first.1 + slope * (count - first.0) - multiple).abs() > 1e-6
    };
    table.components().len() == 1 && points.iter().any(off)
}

/// Distance of a time from the nearest multiple of a step.
fn off(time: f64, step: f64) -> f64 {
    (time - (time / step).round() * step).abs()
}

/// Periods of the usual sample rates in ticks, the longest first.
fn usual(hz: f64) -> impl Iterator<Item = f64> {
    const RATES: [f64; 35] = [
        1.0, 1.105_92, 1.2, 1.25, 1.431_818, 1.474_56, 1.5, 1.6, 1.843_2, 1.92, 2.0, 2.211_84, 2.4,
        2.5, 3.0, 3.125, 3.2, 3.276_8, 3.579_545, 3.686_4, 3.84, 4.0, 4.41, 4.8, 5.0, 5.4, 6.0,
        6.25, 6.4, 7.372_8, 7.5, 8.0, 8.82, 9.0, 9.6,
    ];
    (2..10).flat_map(move |power| RATES.map(|rate| hz / (rate * 10f64.powi(power))))
}

#[cfg(test)]
mod tests;
