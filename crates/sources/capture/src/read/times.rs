//! The unit of a table's column of times.

use super::csv::NANO;
use crate::error::shown;

/// Names of the column in sigrok's tables with labels by unit, and their seconds. They count
/// samples if the rate is not known.
const SIGROK: [(&str, f64); 7] = [
    ("seconds", 1.0),
    ("milliseconds", 1e-3),
    ("microseconds", 1e-6),
    ("nanoseconds", 1e-9),
    ("picoseconds", 1e-12),
    ("femtoseconds", 1e-15),
    ("attoseconds", 1e-18),
];
/// Names of the column in tables of Keysight's and Siglent's oscilloscopes, and of Rohde &
/// Schwarz's.
const SECONDS: [&str; 2] = ["second", "in s"];
/// Units in names of other tools, such as `Time [ms]` or `time_us`.
const UNITS: [(&str, f64); 9] = [
    ("s", 1.0),
    ("sec", 1.0),
    ("second", 1.0),
    ("ms", 1e-3),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("μs", 1e-6),
    ("ns", 1e-9),
    ("ps", 1e-12),
];

/// How times become ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Times {
    /// Ticks per second.
    pub hz: f64,
    /// Seconds of one unit of the times.
    pub unit: f64,
    /// Times of one sample, where they are rounded numbers of samples: ticks are samples.
    period: Option<f64>,
}

impl Times {
    /// Times in seconds.
    pub fn seconds() -> Times {
        Times { hz: NANO, unit: 1.0, period: None }
    }

    /// Times in the unit of the column's name. Those of sigrok, whose comments state the rate, are
    /// numbers of samples times a period that is cut to a whole number of units: 41 ns at 24 MHz.
    /// So the number of the sample counts, not its time.
    ///
    /// # Errors
    /// A unit that is not known.
    pub fn new(name: Option<&str>, hz: Option<f64>, times: &[f64]) -> Result<Times, String> {
        let stated = name.map_or(Ok(None), unit_of)?;
        let Some(hz) = hz else {
            name.filter(|_| times.iter().all(|time| time.fract() == 0.0))
                .map_or(Ok(()), |name| certain(name, stated))?;
            return Ok(Times { unit: stated.unwrap_or(1.0), ..Times::seconds() });
        };
        let steps = steps_of(hz);
        let period = (steps / hz).floor();
        let counts_samples = period >= 1.0
            && times.iter().all(|time| time % period == 0.0)
            && stated.is_none_or(|unit| unit == 1.0 / steps);
        Ok(if counts_samples {
            Times { hz, unit: 1.0 / steps, period: Some(period) }
        } else {
            Times { unit: stated.unwrap_or(1.0), ..Times::seconds() }
        })
    }

    /// A time as ticks, without the rounding of its decimals: to a millionth of them.
    pub fn ticks(&self, time: f64) -> f64 {
        const FINE_STEPS: f64 = (1u64 << 20) as f64;
        self.period.map_or_else(
            || (time * (self.unit * NANO) * FINE_STEPS).round() / FINE_STEPS,
            |period| time / period,
        )
    }
}

/// Refuses the name of a column of whole numbers that leaves their unit open.
fn certain(name: &str, stated: Option<f64>) -> Result<(), String> {
    let is_sigrok = SIGROK.iter().any(|(sigrok, _)| *sigrok == name.trim().to_lowercase());
    let reason = match stated {
        None => "has whole numbers and no unit",
        Some(_) if is_sigrok => {
            "has whole numbers and no comment `; Samplerate:`: sigrok cuts the period of a sample \
             to whole units, 41 ns at 24 MHz"
        }
        Some(_) => return Ok(()),
    };
    Err(format!(
        "the column `{}` {reason}; save with sigrok's option header=true, or name the unit as in \
         `Time [us]`",
        shown(name)
    ))
}

/// Whether a column has times by its name.
pub(super) fn is_time(name: &str) -> bool {
    let name = name.to_lowercase();
    let by_unit =
        || in_brackets(&name).is_some_and(|unit| UNITS.iter().any(|(known, _)| *known == unit));
    name.starts_with("time")
        || SECONDS.contains(&&*name)
        || SIGROK.iter().any(|(sigrok, _)| *sigrok == name)
        || by_unit()
}

/// The unit in brackets at the end of a name, as in `Zeit (us)`.
fn in_brackets(name: &str) -> Option<&str> {
    name.strip_suffix([')', ']'])?.rsplit_once(['(', '[']).map(|(_, unit)| unit.trim())
}

/// Units per second by which sigrok writes times: the first power of 1,000 that is not below the
/// rate.
fn steps_of(hz: f64) -> f64 {
    let mut steps = 1.0;
    while steps < hz {
        steps *= 1e3;
    }
    steps
}

/// Seconds of the unit in the name of a column; `None` if it names none.
fn unit_of(name: &str) -> Result<Option<f64>, String> {
    let name = name.trim().to_lowercase();
    if let Some((_, seconds)) = SIGROK.iter().find(|(sigrok, _)| *sigrok == name) {
        return Ok(Some(*seconds));
    }
    if SECONDS.contains(&&*name) {
        return Ok(Some(1.0));
    }
    let unit = name.strip_prefix("time").or_else(|| in_brackets(&name)).unwrap_or_default();
    let unit = unit.trim_matches(|c: char| !c.is_alphabetic());
    let known = SIGROK.iter().chain(&UNITS).find(|(known, _)| *known == unit);
    match known {
        Some((_, seconds)) => Ok(Some(*seconds)),
        None if unit.is_empty() => Ok(None),
        // A name such as `timestamp` has no unit.
        None if name.starts_with(&format!("time{unit}")) => Ok(None),
        None => Err(format!(
            "the times of the column `{}` have an unknown unit: expected s, ms, us, ns or ps",
            shown(&name)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_from_names() {
        for (name, seconds) in [
            ("Time [s]", Some(1.0)),
            ("Time(ms)", Some(1e-3)),
            ("time_us", Some(1e-6)),
            ("Time (µs)", Some(1e-6)),
            ("TIME [ns]", Some(1e-9)),
            ("nanoseconds", Some(1e-9)),
            ("Time", None),
            ("timestamp", None),
            ("in s", Some(1.0)),
            ("Zeit (us)", Some(1e-6)),
            ("t [ms]", Some(1e-3)),
        ] {
            assert_eq!(unit_of(name), Ok(seconds), "{name}");
        }
        assert!(is_time("Zeit (us)") && is_time("t [ms]") && is_time("in s"));
        assert!(!is_time("CH1 (V)") && !is_time("us") && !is_time("D0 ()") && !is_time("in V"));
        assert!(unit_of("Time [fortnights]").unwrap_err().contains("fortnights"));
    }

    #[test]
    fn whole_numbers_without_a_certain_unit_are_refused() {
        let of =
            |name: &str, times: &[f64]| Times::new(Some(name), None, times).map(|times| times.unit);
        assert!(
            of("nanoseconds", &[41.0, 82.0]).unwrap_err().contains("no comment `; Samplerate:`")
        );
        assert!(
            of("Time", &[41.0, 82.0]).unwrap_err().contains("`Time` has whole numbers and no unit")
        );
        assert_eq!(
            (of("nanoseconds", &[41.5, 82.0]), of("Time", &[0.0, 0.5])),
            (Ok(1e-9), Ok(1.0))
        );
        assert_eq!((of("Time [us]", &[1.0, 2.0]), of("second", &[1.0, 2.0])), (Ok(1e-6), Ok(1.0)));
        assert_eq!(Times::new(None, None, &[1.0, 2.0]).map(|times| times.unit), Ok(1.0));
    }

    #[test]
    fn times_of_sigrok_count_samples() {
        // At 24 MHz a sample is 41.67 ns, which sigrok writes as 41.
        let times = Times::new(Some("nanoseconds"), Some(24e6), &[41.0, 82.0, 4100.0]).unwrap();
        assert_eq!((times.hz, times.ticks(4100.0)), (24e6, 100.0));
        assert_eq!(
            Times::new(Some("microseconds"), Some(1e6), &[1.0, 7.0]).unwrap().ticks(7.0),
            7.0
        );
        assert_eq!(Times::new(None, Some(1e6), &[1.0, 7.0]).unwrap().hz, 1e6);
        // Exact times of another writer.
        let exact = Times::new(Some("nanoseconds"), Some(24e6), &[41.67, 83.33]).unwrap();
        assert!(exact.hz == 1e9 && (exact.ticks(83.33) - 83.33).abs() < 1e-6);
        let seconds = Times::new(Some("Time [s]"), Some(24e6), &[0.0, 1.0]).unwrap();
        assert_eq!((seconds.hz, seconds.ticks(1.0)), (1e9, 1e9));
    }
}
