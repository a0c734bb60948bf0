//! Settings before the rows: the rate or the distance of the samples under the names that
//! oscilloscopes and other recorders use.

use super::decimal::Decimal;
use super::units;

/// Names of a rate of samples, of letters alone.
const RATES: [&str; 12] = [
    "samplerate",
    "samplingrate",
    "samplefrequency",
    "samplingfrequency",
    "samplefreq",
    "samplingfreq",
    "samplesrate",
    "samplespersecond",
    "acquisitionrate",
    "adcrate",
    "samplerateofdata",
    "metasamplerate",
];
/// Names of a distance of samples.
const DISTANCES: [&str; 24] = [
    "sampleinterval",
    "samplinginterval",
    "sampleperiod",
    "samplingperiod",
    "sampledistance",
    "sampletime",
    "samplingtime",
    "xinc",
    "xincr",
    "xincrement",
    "xdelta",
    "deltax",
    "xstep",
    "deltat",
    "dt",
    "tinc",
    "tincr",
    "tincrement",
    "timeincrement",
    "timeinterval",
    "timestep",
    "timedelta",
    "hresolution",
    "horizontalresolution",
];
/// Names of the unit of the times.
const TIME_UNITS: [&str; 5] = ["xunits", "xunit", "horizontalunits", "horizontalunit", "hunit"];
/// Names of a distance in the unit of the times, if it has none of its own.
const IN_TIME_UNIT: [&str; 1] = ["hresolution"];
/// What ends the name of a setting.
const SEPARATORS: [char; 5] = [',', ';', ':', '=', '\t'];
/// Longest name of a setting in bytes.
const MOST_NAME: usize = 80;
/// Most letters of a unit in a cell of its own.
const LONGEST_UNIT: usize = 5;
/// Powers of ten of prefixes.
const PREFIXES: [(char, i32); 10] = [
    ('G', 9),
    ('M', 6),
    ('k', 3),
    ('K', 3),
    ('m', -3),
    ('u', -6),
    ('µ', -6),
    ('μ', -6),
    ('n', -9),
    ('p', -12),
];

/// What a line states.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Setting {
    /// Samples per second.
    Rate(f64),
    /// Seconds between samples.
    Distance(f64),
    /// Distance of samples in the unit of the times.
    InTimeUnit(f64),
    /// The unit of the times.
    TimeUnit(String),
    /// A rate or distance that is no number above 0, as text.
    Unclear(String),
}

/// The setting in a line such as `Sample Rate: 200 kHz`, `XInc:,5.0E-06` or `Sample Rate 48000`.
pub(super) fn setting(text: &str) -> Option<Setting> {
    let text = text.trim_start_matches(['"', ' ']);
    let separator = text.find(SEPARATORS);
    let first_digit = || text.find(|c: char| c.is_ascii_digit());
    let at = separator.or_else(first_digit).filter(|at| *at <= MOST_NAME)?;
    let (name, rest) = text.split_at(at);
    let (name, own_unit) = known_name(name)?;
    let (value, next) = value_cells(rest);
    if TIME_UNITS.contains(&&*name) {
        return Some(Setting::TimeUnit(value.to_owned()));
    }
    let is_rate = RATES.contains(&&*name);
    let number = value_with_unit(value, next, &own_unit, is_rate);
    let number = number.filter(|number| *number > 0.0 && number.is_finite());
    let is_alone = next.is_empty() || Decimal::parse(next).is_some();
    let unit_is_open = own_unit.is_empty() && is_alone && Decimal::parse(value).is_some();
    Some(match number {
        Some(number) if is_rate => Setting::Rate(number),
        Some(number) if unit_is_open && IN_TIME_UNIT.contains(&&*name) => {
            Setting::InTimeUnit(number)
        }
        Some(number) => Setting::Distance(number),
        None if next.is_empty() => Setting::Unclear(value.to_owned()),
        None => Setting::Unclear(format!("{value},{next}")),
    })
}

/// The letters of a name that is one of a setting, and the unit in brackets or in the last word
/// behind it, as in `sample_rate_hz`.
fn known_name(name: &str) -> Option<(String, String)> {
    let (name, unit) = match name.split_once(['(', '[']) {
        Some((name, unit)) => (name, unit.trim_matches([')', ']', '"', ' '])),
        None => (name, ""),
    };
    let letters = |text: &str| {
        let letters: String = text.chars().filter(|c| c.is_alphabetic()).collect();
        letters.to_lowercase()
    };
    let is_known = |name: &str| {
        RATES.contains(&name) || DISTANCES.contains(&name) || TIME_UNITS.contains(&name)
    };
    let whole = letters(name);
    if is_known(&whole) {
        return Some((whole, unit.to_owned()));
    }
    let (first, last) = name.trim().trim_end_matches('"').rsplit_once(['_', ' ', '-'])?;
    let first = letters(first.trim_end().trim_end_matches("_in").trim_end_matches(" in"));
    let is_unit = |unit: &str| {
        if RATES.contains(&&*first) {
            unit.to_lowercase().ends_with("hz") || unit.to_lowercase().ends_with("sps")
        } else {
            DISTANCES.contains(&&*first) && units::unit(unit).is_some()
        }
    };
    (unit.is_empty() && is_unit(last)).then(|| (first.clone(), last.to_owned()))
}

/// The cell behind a name and the one behind that. A comma between digits ends a cell only where
/// one stands behind the name.
fn value_cells(rest: &str) -> (&str, &str) {
    let mut value = rest;
    loop {
        let trimmed = value.trim_start_matches(SEPARATORS).trim_start_matches(' ');
        // A quote that ends the name.
        let closed = trimmed.strip_prefix('"').filter(|rest| rest.starts_with(SEPARATORS));
        let trimmed = closed.unwrap_or(trimmed);
        if trimmed.len() == value.len() {
            break;
        }
        value = trimmed;
    }
    let by_commas = rest[..rest.len() - value.len()].contains(',');
    let (first, behind) = match value.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
        None => value.split_at(end_of_cell(value, by_commas)),
    };
    let behind = behind.trim_start_matches(['"', ' ']);
    let behind = behind.strip_prefix([',', ';', '\t']).unwrap_or_default();
    let behind = behind.trim_start_matches([' ', '"']);
    let next = behind.split([',', ';', '\t', '"']).next().unwrap_or_default().trim();
    // Siglent names the kind of channel before the number: `Analog:5.0E-05`.
    (first.rsplit(':').next().unwrap_or_default().trim(), next)
}

/// Where the first cell ends.
fn end_of_cell(text: &str, by_commas: bool) -> usize {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let ends = |(at, c): &(usize, char)| match c {
        ';' | '\t' | '"' => true,
        ',' => {
            let (before, behind) = (text[..*at].chars().next_back(), text[at + 1..].chars().next());
            by_commas || !(is_digit(before) && is_digit(behind))
        }
        _ => false,
    };
    text.char_indices().find(ends).map_or(text.len(), |(at, _)| at)
}

/// The number in a cell with its unit, with that in the next cell, or with that of its name;
/// `None` if it is unclear.
fn value_with_unit(value: &str, next: &str, own_unit: &str, is_rate: bool) -> Option<f64> {
    let (number, unit) = number(value)?;
    let power = |unit: &str| if is_rate { rate_power(unit) } else { distance_power(unit) };
    if !unit.is_empty() {
        return Some(number.shifted(power(unit)?).to_f64());
    }
    match meaning_of_next(value, next) {
        Next::Other => Some(number.shifted(power(own_unit)?).to_f64()),
        Next::Unit => {
            let stated = power(next)?;
            let agrees = own_unit.is_empty() || power(own_unit) == Some(stated);
            agrees.then(|| number.shifted(stated).to_f64())
        }
        Next::Digits => None,
    }
}

/// What the cell behind a number without a unit is.
enum Next {
    /// Its unit, or what stands in its place.
    Unit,
    /// Maybe further digits of it, as in `1,000` or `1,5 MHz` between commas.
    Digits,
    /// Nothing of it.
    Other,
}

fn meaning_of_next(value: &str, next: &str) -> Next {
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = Decimal::parse(next).is_some();
    let is_group = value.len() <= 3 && next.len() == 3 && are_digits(value) && are_digits(next);
    let begins = next.starts_with(|c: char| c.is_ascii_digit());
    match next {
        "" => Next::Other,
        _ if is_group || begins && !is_number => Next::Digits,
        _ if is_number || next.chars().count() > LONGEST_UNIT => Next::Other,
        _ => Next::Unit,
    }
}

/// The number at the beginning of a text and the rest.
fn number(text: &str) -> Option<(Decimal, &str)> {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+');
    let mut end = text.find(|c| !is_number(c)).unwrap_or(text.len());
    let behind = text[end..].strip_prefix(['e', 'E']);
    if let Some(exponent) = behind.filter(|rest| rest.starts_with(is_number)) {
        end += 1 + exponent.find(|c| !is_number(c)).unwrap_or(exponent.len());
    }
    Some((Decimal::parse(&without_commas(&text[..end])?)?, text[end..].trim()))
}

/// A number with a point. Several commas part groups of three digits, and so does one before a
/// point; one alone is a decimal comma, unless three digits stand behind it: then it may be both.
fn without_commas(text: &str) -> Option<String> {
    let mut parts = text.split(',');
    let first = parts.next()?;
    let groups: Vec<&str> = parts.collect();
    let Some(last) = groups.last() else { return Some(text.to_owned()) };
    let is_group =
        |group: &str| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
    let has_point = last.contains('.');
    let (whole, _) = last.split_once('.').unwrap_or((last, ""));
    let are_groups = (1..=3).contains(&first.trim_start_matches(['-', '+']).len())
        && !first.contains('.')
        && groups[..groups.len() - 1].iter().all(|group| is_group(group))
        && is_group(whole);
    let is_zero = first.trim_start_matches(['-', '+', '0']).is_empty();
    match groups[..] {
        [_] if has_point => are_groups.then(|| text.replace(',', "")),
        [_] if are_groups && !is_zero => None,
        [_] => Some(text.replace(',', ".")),
        _ => are_groups.then(|| text.replace(',', "")),
    }
}

/// The power of ten of a unit of a rate.
fn rate_power(unit: &str) -> Option<i32> {
    const NAMES: [&str; 10] =
        ["hz", "sa/s", "s/s", "sps", "samples/s", "samples/sec", "sa", "sample/s", "pts/s", ""];
    let is_name = |unit: &str| NAMES.contains(&&*unit.trim().to_lowercase());
    if is_name(unit) {
        return Some(0);
    }
    let (prefix, power) = PREFIXES.iter().find(|(prefix, _)| unit.starts_with(*prefix))?;
    let name = unit.strip_prefix(*prefix)?.trim();
    // `mhz` and `msps` may be meant as mega.
    (is_name(name) && (*prefix != 'm' || name == "Hz")).then_some(*power)
}

/// The power of ten of a unit of a distance.
fn distance_power(unit: &str) -> Option<i32> {
    if unit.is_empty() { Some(0) } else { units::unit(unit) }
}

/// A frequency such as `1 MHz`.
pub(in crate::read) fn frequency(text: &str) -> Option<f64> {
    value_with_unit(text.trim(), "", "", true).filter(|hz| hz.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_distances_have_many_names() {
        let near = |text: &str, expected: f64, is_rate: bool| match setting(text) {
            Some(Setting::Rate(found)) if is_rate => {
                assert!((found / expected - 1.0).abs() < 1e-12, "{text}: {found}")
            }
            Some(Setting::Distance(found)) if !is_rate => {
                assert!((found / expected - 1.0).abs() < 1e-12, "{text}: {found}")
            }
            other => panic!("{text}: {other:?}"),
        };
        for (text, hz) in [
            ("Sample rate: 200 KHz", 200e3),
            ("Samplerate: 24 MHz", 24e6),
            ("\"Sampling Frequency (Hz)=\",200000,", 200e3),
            ("Sample Rate,250000000.0", 250e6),
            ("Sampling Rate = 1.0MSa/s", 1e6),
            ("SampleRate;12.5 MS/s", 12.5e6),
            ("Sample rate (MHz),4", 4e6),
            ("Sample Rate\t500 mHz", 0.5),
            ("Sample Rate 48000", 48e3),
            ("samplerate 1 MHz", 1e6),
            ("Sample rate: 1,000,000 Hz", 1e6),
            ("Sample rate\",\"1,000,000\"", 1e6),
            ("Sample rate: 1,000.5 Hz", 1000.5),
            ("Samplerate: 1,5 MHz", 1.5e6),
            ("Samplerate: 0,500 MHz", 5e5),
            ("Sample rate;1,0 MHz", 1e6),
            ("Sample Rate,1,MHz", 1e6),
            ("Sample Rate,250000000,2", 250e6),
            ("Sample Rate: 1 MHz, 4 channels", 1e6),
            ("sample_rate_hz: 1000000", 1e6),
            ("sample_rate_khz: 1000", 1e6),
        ] {
            near(text, hz, true);
        }
        for (text, seconds) in [
            ("XInc:,5.0000000E-06", 5e-6),
            ("Sampling Period,4.0000e-07", 4e-7),
            ("Sample Interval,Analog:4.000000E-09,", 4e-9),
            ("XIncrement=1e-6", 1e-6),
            ("tInc = 4.000e-09s", 4e-9),
            ("Sample Interval,1.0,us", 1e-6),
            ("dt_us = 2", 2e-6),
            ("Time Interval: 10 ns", 1e-8),
            ("dt [us],2", 2e-6),
        ] {
            near(text, seconds, false);
        }
    }

    #[test]
    fn unclear_settings_are_told() {
        assert_eq!(setting("HResolution,1.0E-7"), Some(Setting::InTimeUnit(1e-7)));
        assert_eq!(setting("XUnits:,Second"), Some(Setting::TimeUnit("Second".into())));
        for (text, value) in [
            ("Samplerate: 1 parsec", "1 parsec"),
            ("Sample rate: 0 Hz", "0 Hz"),
            ("Sample rate: 1,000 kHz", "1,000 kHz"),
            ("Sample Interval: 1,000 ns", "1,000 ns"),
            ("Sample rate,1,000,000", "1,000"),
            ("Sample rate,1,5 MHz", "1,5 MHz"),
            ("Sample rate,1,bpm", "1,bpm"),
            ("Sample rate: 1 mhz", "1 mhz"),
            ("Sample rate: 1 msps", "1 msps"),
            ("Sample rate: 1.000.000 Hz", "1.000.000 Hz"),
            ("Sample rate (Hz),1,MHz", "1,MHz"),
        ] {
            assert_eq!(setting(text), Some(Setting::Unclear(value.into())));
        }
        for text in
            ["", "Sample rate", "Time,CH1", "Record Length,1000", "1,2", "1 2", "Channels 1"]
        {
            assert_eq!(setting(text), None, "{text}");
        }
    }
}
