//! Units in the names of columns, and which column holds the times.

use crate::error::shown;

/// Words for units of time, in lower case, and the power of ten of a second.
const UNITS: [(&[&str], i32); 6] = [
    (&["s", "sec", "secs", "second", "seconds", "sekunden"], 0),
    (&["ms", "msec", "msecs", "millisec", "milli", "millis", "millisecond", "milliseconds"], -3),
    (
        &[
            "us",
            "µs",
            "μs",
            "usec",
            "usecs",
            "microsec",
            "micro",
            "micros",
            "microsecond",
            "microseconds",
        ],
        -6,
    ),
    (&["ns", "nsec", "nsecs", "nanosec", "nano", "nanos", "nanosecond", "nanoseconds"], -9),
    (&["ps", "psec", "picos", "picosecond", "picoseconds"], -12),
    (&["fs", "fsec", "femtos", "femtosecond", "femtoseconds"], -15),
];
/// sigrok's name of the column of times below a femtosecond.
const ATTO: (&str, i32) = ("attoseconds", -18);
/// Prefixes of a second as words of one letter.
const PREFIXES: [&str; 7] = ["m", "u", "µ", "μ", "n", "p", "f"];
/// First words of the name of a column of numbers of samples, and words behind them.
const NUMBERS: [&str; 6] = ["sample", "samples", "index", "idx", "nr", "point"];
const BEHIND_NUMBERS: [&str; 6] = ["number", "num", "no", "nr", "index", "count"];
/// Words for units that are no power of ten of a second, or are none of time.
const OTHER_UNITS: [&str; 22] = [
    "tick", "ticks", "cycle", "cycles", "count", "counts", "clk", "clks", "clock", "clocks",
    "sample", "samples", "min", "mins", "minute", "minutes", "h", "hr", "hour", "hours", "day",
    "days",
];
/// Words for units of what is measured, in the line below the names.
const VALUE_UNITS: [&str; 17] = [
    "volt", "volts", "v", "mv", "uv", "kv", "a", "ma", "ua", "ampere", "amp", "value", "unknown",
    "logic", "bit", "w", "ohm",
];
/// First words of the name of a column of times, whatever follows.
const TIMES: [&str; 6] = ["time", "times", "timestamp", "timestamps", "timer", "timebase"];
/// The same where at most a unit follows.
const SHORT_TIMES: [&str; 6] = ["t", "ts", "zeit", "elapsed", "runtime", "uptime"];
/// Words behind a word for a time that say nothing of its unit.
const HARMLESS: [&str; 40] = [
    "in",
    "of",
    "the",
    "from",
    "since",
    "after",
    "before",
    "at",
    "to",
    "on",
    "start",
    "started",
    "boot",
    "begin",
    "beginning",
    "trigger",
    "trig",
    "reset",
    "power",
    "up",
    "run",
    "stamp",
    "base",
    "value",
    "values",
    "axis",
    "x",
    "relative",
    "rel",
    "absolute",
    "abs",
    "utc",
    "gmt",
    "local",
    "system",
    "elapsed",
    "date",
    "edge",
    "event",
    "code",
];

/// The power of ten of a second of a unit.
pub(super) fn unit(word: &str) -> Option<i32> {
    let word = word.trim().to_lowercase();
    let known = UNITS.iter().find(|(words, _)| words.contains(&&*word)).map(|(_, power)| *power);
    known.or_else(|| (word == ATTO.0).then_some(ATTO.1))
}

/// Whether a name is one that sigrok writes for a unit of its times.
pub(super) fn is_sigrok(name: &str) -> bool {
    let name = name.trim();
    name.ends_with("seconds") && unit(name).is_some()
}

/// The words of a name in lower case: between other characters, and where a capital begins one.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        // `uSec` is one word.
        let is_prefix = words.last().is_some_and(|word| PREFIXES.contains(&&**word));
        let begins = c.is_uppercase() && before.is_lowercase() && !is_prefix;
        if begins || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The text in brackets at the end of a name, as in `Zeit (us)`.
fn in_brackets(name: &str) -> Option<&str> {
    name.trim()
        .strip_suffix([')', ']'])?
        .rsplit_once(['(', '['])
        .map(|(_, unit)| unit.trim())
        // `micros()`
        .filter(|unit| !unit.is_empty())
}

/// Splits a word such as `timestampms` into the word for a time and a unit.
fn fused(word: &str) -> Option<i32> {
    let rest = word.strip_prefix("time")?;
    let rest = rest.strip_prefix("stamp").or_else(|| rest.strip_prefix('r')).unwrap_or(rest);
    // `times` is a plural.
    unit(rest).filter(|_| rest != "s")
}

/// Whether a column has times by its name.
pub(super) fn is_time(name: &str) -> bool {
    let words = words(name);
    let Some((first, rest)) = words.split_first() else { return false };
    let has_unit = || rest.iter().any(|word| unit(word).is_some());
    let is_about = |word: &String| unit(word).is_some() || HARMLESS.contains(&&**word);
    let is_short = || {
        let is_short = SHORT_TIMES.contains(&&**first);
        is_short && (rest.is_empty() || has_unit() && rest.iter().all(is_about))
    };
    // `micros`, `usec` and `µs`, but not `us`, which may be any name.
    let is_unit = || rest.is_empty() && first.len() > 2 && unit(first).is_some();
    let is_rohde = || first == "in" && rest.len() == 1 && unit(&rest[0]).is_some();
    TIMES.contains(&&**first)
        || fused(first).is_some()
        || in_brackets(name).and_then(unit).is_some()
        || is_short()
        || is_unit()
        || is_rohde()
}

/// Whether a column has the numbers of samples by its name, such as `samples` of sigrok where it
/// knows no rate.
pub(super) fn is_number(name: &str) -> bool {
    let words = words(name);
    let behind = |rest: &[String]| rest.iter().all(|word| BEHIND_NUMBERS.contains(&&**word));
    words.split_first().is_some_and(|(first, rest)| NUMBERS.contains(&&**first) && behind(rest))
}

/// Power of ten of a second of the unit in the name of a column of times; `None` if it names none.
///
/// # Errors
/// A unit that is none of time, or two units.
pub(super) fn unit_of(name: &str) -> Result<Option<i32>, String> {
    let wrong = |defect: &str| {
        Err(format!(
            "the times of the column `{}` have {defect}: expected s, ms, us, ns, ps or fs, as in \
             `Time [us]`",
            shown(name)
        ))
    };
    if let Some(text) = in_brackets(name) {
        return match unit(text) {
            Some(power) => Ok(Some(power)),
            None => wrong("an unknown unit"),
        };
    }
    let words = words(name);
    let all_units: Vec<i32> =
        words.iter().filter_map(|word| unit(word).or_else(|| fused(word))).collect();
    let is_plain = |word: &String| OTHER_UNITS.contains(&&**word);
    if let Some(word) = not_understood(&words, !all_units.is_empty()) {
        return wrong(&format!("`{}` behind them, which is no known unit", shown(word)));
    }
    match all_units[..] {
        [] if words.iter().any(is_plain) => wrong("an unknown unit"),
        [] => Ok(None),
        [power, ref others @ ..] if others.iter().all(|other| *other == power) => Ok(Some(power)),
        _ => wrong("two units"),
    }
}

/// The first word behind one for a time that may be of a unit, but is none that is known: any that
/// is not harmless, or beside a unit only one that may be a factor, as in `time in 10ths of us`.
fn not_understood(words: &[String], has_unit: bool) -> Option<&str> {
    let (first, rest) = words.split_first()?;
    let is_time = |word: &str| TIMES.contains(&word) || SHORT_TIMES.contains(&word);
    if !is_time(first) && fused(first).is_none() {
        return None;
    }
    let is_known = |word: &str| {
        is_time(word)
            || unit(word).or_else(|| fused(word)).is_some()
            || HARMLESS.contains(&word)
            || OTHER_UNITS.contains(&word)
    };
    let is_factor = |word: &str| {
        let is_letter = word.chars().nth(1).is_none();
        is_letter || word.contains(|c: char| c.is_numeric()) || word.ends_with("ths")
    };
    rest.iter().map(String::as_str).find(|word| !is_known(word) && (!has_unit || is_factor(word)))
}

/// Whether a line has units of the columns alone: of time in the first, or of values.
pub(super) fn are_units(parts: &[String]) -> bool {
    let bare = |part: &String| part.trim_matches(['(', ')', '[', ']', ' ']).to_lowercase();
    let is_value = |part: &String| {
        let part = bare(part);
        part.is_empty() || VALUE_UNITS.contains(&&*part) || unit(&part).is_some()
    };
    parts.len() > 1 && parts.iter().all(is_value) && parts.iter().any(|part| !part.is_empty())
}

/// The power of ten of a second of a part of a line of units.
pub(super) fn unit_below(part: &str) -> Option<i32> {
    unit(part.trim_matches(['(', ')', '[', ']', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_from_names() {
        for (name, power) in [
            ("Time [s]", Some(0)),
            ("Time(ms)", Some(-3)),
            ("time_us", Some(-6)),
            ("Time (µs)", Some(-6)),
            ("TIME [ns]", Some(-9)),
            ("nanoseconds", Some(-9)),
            ("attoseconds", Some(-18)),
            ("Time", None),
            ("Times", None),
            ("timestamp", None),
            ("in s", Some(0)),
            ("Zeit (us)", Some(-6)),
            ("Zeit", None),
            ("t [ms]", Some(-3)),
            ("Timestamp(ms)", Some(-3)),
            ("timestamp_us", Some(-6)),
            ("timer (us)", Some(-6)),
            ("TimeMicros", Some(-6)),
            ("TimestampNanos", Some(-9)),
            ("t_ms", Some(-3)),
            ("t/µs", Some(-6)),
            ("ts_ns", Some(-9)),
            ("timeMs", Some(-3)),
            ("TIME_US", Some(-6)),
            ("timestampus", Some(-6)),
            ("timens", Some(-9)),
            ("Time in ms", Some(-3)),
            ("Time, usec", Some(-6)),
            ("time_seconds", Some(0)),
            ("elapsed_ns", Some(-9)),
            ("micros", Some(-6)),
            ("millis", Some(-3)),
            ("Time_us_since_boot", Some(-6)),
            ("usec", Some(-6)),
            ("uSec", Some(-6)),
            ("µs", Some(-6)),
            ("t_ms_since_boot", Some(-3)),
            ("runtime_ms", Some(-3)),
            ("uptime_us", Some(-6)),
            ("millis()", Some(-3)),
            ("micros()", Some(-6)),
            ("Time (microsec)", Some(-6)),
            ("Time_uSec", Some(-6)),
            ("Time_stamp", None),
            ("Time since trigger", None),
            ("Time since start [ps]", Some(-12)),
        ] {
            assert!(is_time(name), "{name}");
            assert_eq!(unit_of(name), Ok(power), "{name}");
        }
    }

    #[test]
    fn other_names_are_no_times_or_have_other_units() {
        for name in [
            "CH1 (V)",
            "us",
            "D0 ()",
            "in V",
            "t_on",
            "Channel 0",
            "",
            "tick_pin",
            "x ms",
            "TIMER0",
            "Timeout",
        ] {
            assert!(!is_time(name), "{name}");
        }
        for name in [
            "Time [fortnights]",
            "time_ticks",
            "Time (samples)",
            "timestamp cycles",
            "Time (min)",
            "time_ms_us",
            "Time [10 us]",
            "Timer Counts",
            "time_10us",
            "time_100ns",
            "timestamp_hns",
            "time_ks",
            "time_mus",
            "Time x 1us",
            "time*1e6",
            "time_usx10",
            "time_index",
            "Time_stamp_cnt",
            "timestamp_raw",
            "time_in_10ths_of_us",
            "time_us_x_10",
        ] {
            assert!(unit_of(name).unwrap_err().contains(name), "{name}");
        }
    }

    #[test]
    fn numbers_of_samples_have_names() {
        for name in ["samples", "Sample", "Sample Number", "Index", "nr", "sample_index"] {
            assert!(is_number(name) && !is_time(name), "{name}");
        }
        assert!(!is_number("Sample rate") && !is_number("CH1") && !is_number("Sample time"));
    }

    #[test]
    fn lines_of_units_are_recognised() {
        let of = |text: &str| are_units(&text.split(',').map(str::to_owned).collect::<Vec<_>>());
        assert!(of("Second,Volt,Volt") && of("(us),(V)") && of("s,V,") && of("second,Value"));
        assert!(!of("Time,CH1") && !of("Data:,Volt") && !of(",") && !of("volt"));
    }
}
