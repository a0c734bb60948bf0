//! Times of rows as ticks.

use super::NANO;
use super::cells::Time;
use super::decimal::Decimal;
use super::head::{Head, Origin};
use super::stamps::{Stamps, scale};
use super::units::{is_number, is_sigrok};
use crate::error::shown;

/// Largest first time in seconds that is kept: behind it doubles of nanoseconds have steps above
/// 2 ps, and times count from the first one.
const MOST_KEPT: f64 = 8192.0;
/// Fewest decimals of times without a unit that are taken for seconds.
const DECIMALS_OF_SECONDS: i32 = 4;

/// How times become ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Times {
    /// Ticks per second.
    pub(super) hz: f64,
    /// Power of ten of a second of the times.
    power: i32,
    /// Times that count as 0, in nanoseconds.
    origin: Decimal,
    /// The same in seconds.
    origin_seconds: f64,
    /// The rule of times that are numbers of samples.
    stamps: Option<Stamps>,
}

impl Times {
    /// The times of a column, of which these are the first.
    ///
    /// # Errors
    /// A unit that is not known, or that nothing tells; times that do not fit sigrok's rate.
    pub(super) fn new(head: &Head, column: usize, first: &[Time]) -> Result<Times, String> {
        let name = head.names.get(column).map(String::as_str);
        let bare: Vec<Decimal> =
            first.iter().filter(|time| !time.in_seconds).map(|time| time.at).collect();
        let are_numbers = name.is_some_and(is_number);
        let is_free = bare.is_empty() || are_numbers;
        let stated = if is_free { Some(0) } else { head.unit_of_times(column)? };
        let times = Times {
            hz: NANO,
            power: stated.unwrap_or(0),
            origin: Decimal::ZERO,
            origin_seconds: 0.0,
            stamps: None,
        };
        let whole: Option<Vec<u64>> = bare.iter().map(|time| time.whole()).collect();
        if let (true, Some((hz, _)), Some(_)) = (are_numbers, head.rate, &whole) {
            return Ok(Times { hz, stamps: Some(Stamps::numbers(hz)), ..times });
        }
        let of_sigrok = head.rate.filter(|(_, origin)| *origin == Origin::Sigrok);
        if let (Some((hz, _)), Some(whole), false) = (of_sigrok, &whole, bare.is_empty()) {
            let is_unit = stated.is_none_or(|power| 10f64.powi(-power) == scale(hz));
            if is_unit {
                let stamps = Stamps::of(hz, whole, head.version)?;
                return Ok(Times { hz, stamps: Some(stamps), ..times });
            }
        }
        certain(name, stated, &bare)?;
        let start = first.first().map_or(Decimal::ZERO, |time| times.nanoseconds(time));
        let is_far = start.to_f64().abs() > MOST_KEPT * NANO;
        let origin = if is_far { start } else { Decimal::ZERO };
        Ok(Times { origin, origin_seconds: origin.shifted(-9).to_f64(), ..times })
    }

    fn nanoseconds(&self, time: &Time) -> Decimal {
        time.at.shifted(9 + if time.in_seconds { 0 } else { self.power })
    }

    /// A time in seconds.
    pub(super) fn seconds(&self, time: &Time) -> f64 {
        self.nanoseconds(time).shifted(-9).to_f64()
    }

    /// Ticks in seconds.
    pub(super) fn seconds_of(&self, ticks: f64) -> f64 {
        ticks / self.hz + self.origin_seconds
    }

    /// Seconds between two times.
    pub(super) fn between(&self, from: &Time, to: &Time) -> f64 {
        let origin = self.nanoseconds(from).shifted(-9);
        self.nanoseconds(to).shifted(-9).minus(origin)
    }

    /// A time as ticks, exact but for the rounding of a double.
    ///
    /// # Errors
    /// A time that does not fit sigrok's rate.
    pub(super) fn ticks(&mut self, time: &Time) -> Result<f64, String> {
        match &mut self.stamps {
            Some(stamps) => stamps.sample(time.at.whole()),
            None => Ok(self.nanoseconds(time).minus(self.origin)),
        }
    }

    /// Power of ten of a second of a digit of the times.
    pub(super) fn power(&self) -> i32 {
        self.power
    }

    /// Whether times are the numbers of samples.
    pub(super) fn are_numbers(&self) -> bool {
        self.stamps.is_some_and(|stamps| stamps.are_numbers())
    }

    /// Whether ticks are samples.
    pub(super) fn counts_samples(&self) -> bool {
        self.stamps.is_some()
    }
}

/// Refuses times whose unit nothing tells.
fn certain(name: Option<&str>, stated: Option<i32>, times: &[Decimal]) -> Result<(), String> {
    let is_whole = times.iter().all(|time| time.whole().is_some());
    let decimals = times.iter().map(|time| -time.last_digit()).max().unwrap_or(0);
    let Some(name) = name else {
        return if times.is_empty() || decimals >= DECIMALS_OF_SECONDS {
            Ok(())
        } else {
            Err(format!(
                "the times have {} decimals, too few for seconds, and no name tells their unit: \
                 name it in a first line, as in `Time [us]`",
                decimals.max(0)
            ))
        };
    };
    let reason = match stated {
        _ if is_number(name) => "has numbers of samples and no rate is stated".to_owned(),
        Some(_) if is_sigrok(name) && is_whole => {
            "has whole numbers and no comment `; Samplerate:`: sigrok cuts the period of a sample \
             to whole units, 41 ns at 24 MHz"
                .to_owned()
        }
        Some(_) => return Ok(()),
        None if is_whole => "has whole numbers and no unit".to_owned(),
        None if decimals < DECIMALS_OF_SECONDS => {
            format!("has no unit, and {decimals} decimals, too few for seconds")
        }
        None => return Ok(()),
    };
    let advice = match name {
        _ if is_number(name) => "state it in a first line such as `; Samplerate: 1 MHz`",
        _ if name == "Time" || is_sigrok(name) => {
            "save with sigrok's option header=true, or name the unit as in `Time [us]`"
        }
        _ => "name the unit as in `Time [us]`",
    };
    Err(format!("the column `{}` {reason}; {advice}", shown(name)))
}

/// The digits with which times are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Digits {
    /// Power of ten of the last digit of all.
    last: i32,
    /// Most digits of a time.
    significant: i32,
    /// Power of ten above the first digit of the largest.
    size: i32,
}

impl Digits {
    pub(super) fn of(times: impl Iterator<Item = Time>) -> Digits {
        let mut digits = Digits { last: i32::MAX, significant: 0, size: i32::MIN };
        times.for_each(|time| digits.push(&time));
        digits
    }

    pub(super) fn push(&mut self, time: &Time) {
        self.last = self.last.min(time.at.last_digit());
        let significant = time.at.significant();
        self.significant = self.significant.max(significant);
        if significant > 0 {
            self.size = self.size.max(time.at.last_digit() + significant);
        }
    }

    /// Smallest difference of times near this one: that of the last decimal, or of the last of a
    /// fixed number of digits.
    pub(super) fn resolution(&self, near: &Time) -> f64 {
        let size = near.at.last_digit() + near.at.significant();
        let by_digits = if near.at.significant() > 0 { size - self.significant } else { self.last };
        10f64.powi(self.last.max(by_digits).clamp(-300, 300))
    }

    /// Smallest difference of the largest times.
    pub(super) fn coarsest(&self) -> f64 {
        let by_digits = self.size.saturating_sub(self.significant);
        10f64.powi(self.last.max(by_digits).clamp(-300, 300))
    }

    /// Smallest difference of all times.
    pub(super) fn smallest(&self) -> f64 {
        10f64.powi(self.last.clamp(-300, 300))
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::{Separator, time};
    use super::*;

    fn of(names: &[&str], rate: Option<f64>, texts: &[&str]) -> Result<Times, String> {
        let mut head = Head::default();
        head.names = names.iter().map(|name| (*name).to_owned()).collect();
        head.rate = rate.map(|hz| (hz, Origin::Sigrok));
        Times::new(&head, 0, &read(texts))
    }

    fn read(texts: &[&str]) -> Vec<Time> {
        texts.iter().map(|text| time(text, Separator::Comma).unwrap()).collect()
    }

    #[test]
    fn times_without_a_certain_unit_are_refused() {
        let power = |name: &str, texts: &[&str]| of(&[name], None, texts).map(|times| times.power);
        let whole = power("nanoseconds", &["41", "82"]).unwrap_err();
        assert!(whole.contains("no comment `; Samplerate:`"), "{whole}");
        let bare = power("Time", &["41", "82"]).unwrap_err();
        assert!(bare.contains("`Time` has whole numbers and no unit"), "{bare}");
        let few = power("timestamp", &["0.00", "1105.02"]).unwrap_err();
        assert!(few.contains("2 decimals, too few for seconds"), "{few}");
        assert_eq!(power("Time", &["0", "0.0005"]), Ok(0));
        assert_eq!(power("nanoseconds", &["41.5", "82"]), Ok(-9));
        assert_eq!(power("Time [us]", &["1", "2"]), Ok(-6));
        assert_eq!(power("second", &["1", "2"]), Ok(0));
        assert_eq!(power("Time [lightyears]", &["1 ms", "2 ms"]), Ok(0));
        assert_eq!(of(&[], None, &["1.0000", "2.5"]).map(|times| times.power), Ok(0));
        for few in [["1", "2"], ["1600000", "1700000"], ["10.5", "20.125"]] {
            let message = of(&[], None, &few).unwrap_err();
            assert!(message.contains("too few for seconds"), "{message}");
        }
    }

    #[test]
    fn times_of_sigrok_count_samples() {
        let ticks = |names: &[&str], rate, texts: &[&str], last: &str| {
            let mut times = of(names, Some(rate), texts).unwrap();
            (times.hz, times.ticks(&read(&[last])[0]).unwrap())
        };
        assert_eq!(ticks(&["nanoseconds"], 24e6, &["41", "82"], "4100"), (24e6, 100.0));
        assert_eq!(ticks(&["nanoseconds"], 24e6, &["0", "41", "83"], "4166"), (24e6, 100.0));
        assert_eq!(ticks(&[], 1e6, &["1", "7"], "7"), (1e6, 7.0));
        // Exact times of another writer.
        assert_eq!(ticks(&["nanoseconds"], 24e6, &["41.67"], "83.33"), (1e9, 83.33));
        assert_eq!(ticks(&["Time [s]"], 24e6, &["0", "1"], "1"), (1e9, 1e9));
    }

    #[test]
    fn large_times_keep_their_digits() {
        let texts = ["1600000000.000001", "1600000000.000002"];
        let mut times = of(&["Time [s]"], None, &texts).unwrap();
        let read = read(&texts);
        assert_eq!(times.ticks(&read[0]), Ok(0.0));
        assert_eq!(times.ticks(&read[1]), Ok(1000.0));
        assert_eq!(times.between(&read[0], &read[1]), 1e-6);
    }

    #[test]
    fn the_resolution_follows_from_decimals_or_digits() {
        let of = |texts: &[&str]| Digits::of(read(texts).into_iter());
        let near = |digits: Digits, text: &str| digits.resolution(&read(&[text])[0]);
        let fixed = of(&["0", "0.000001", "12.000001"]);
        assert_eq!((near(fixed, "0.1"), near(fixed, "0")), (1e-6, 1e-6));
        let floating = of(&["9.99E-03", "1.00E-02"]);
        assert_eq!((near(floating, "9.99E-03"), near(floating, "1.00E-02")), (1e-5, 1e-4));
        assert_eq!((fixed.coarsest(), floating.coarsest()), (1e-6, 1e-4));
        assert_eq!(near(of(&["5e-06", "1e-05", "1.5e-05"]), "1e-05"), 1e-6);
    }
}
