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
    /// The unit of the times.
    TimeUnit(String),
    /// A rate or distance that is no number above 0, as text.
    Unclear(String),
}

/// The setting in a line such as `Sample Rate: 200 kHz`, `XInc:,5.0E-06` or `Sample Rate 48000`.
pub(super) fn setting(text: &str) -> Option<Setting> {
    let text = text.trim_start_matches(['"', ' ']);
    let separator = text.find([',', ';', ':', '=', '\t']);
    let at = separator.or_else(|| text.find(|c: char| c.is_ascii_digit()))?;
    let (name, value) = text.split_at(at);
    let (name, own_unit) = match name.split_once(['(', '[']) {
        Some((name, unit)) => (name, unit.trim_matches([')', ']', '"', ' '])),
        None => (name, ""),
    };
    let name: String = name.chars().filter(|c| c.is_alphabetic()).collect();
    let name = name.to_lowercase();
    let value = value.trim_start_matches(['"', ',', ';', ':', '=', '\t', ' ']);
    let value = value.split([',', ';', '\t', '"']).next().unwrap_or_default().trim();
    // Siglent names the kind of channel before the number: `Analog:5.0E-05`.
    let value = value.rsplit(':').next().unwrap_or_default().trim();
    if TIME_UNITS.contains(&&*name) {
        return Some(Setting::TimeUnit(value.to_owned()));
    }
    let is_rate = RATES.contains(&&*name);
    if !is_rate && !DISTANCES.contains(&&*name) {
        return None;
    }
    let number = if is_rate { rate(value, own_unit) } else { distance(value, own_unit) };
    let number = number.filter(|number| *number > 0.0 && number.is_finite());
    Some(match number {
        Some(number) if is_rate => Setting::Rate(number),
        Some(number) => Setting::Distance(number),
        None => Setting::Unclear(value.to_owned()),
    })
}

/// The number at the beginning of a text and the rest.
fn number(text: &str) -> Option<(Decimal, &str)> {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
    let mut end = text.find(|c| !is_number(c)).unwrap_or(text.len());
    let behind = text[end..].strip_prefix(['e', 'E']);
    if let Some(exponent) = behind.filter(|rest| rest.starts_with(is_number)) {
        end += 1 + exponent.find(|c| !is_number(c)).unwrap_or(exponent.len());
    }
    Some((Decimal::parse(&text[..end])?, text[end..].trim()))
}

/// A rate with its unit, or with that of its name.
fn rate(text: &str, own_unit: &str) -> Option<f64> {
    const NAMES: [&str; 10] =
        ["hz", "sa/s", "s/s", "sps", "samples/s", "samples/sec", "sa", "sample/s", "pts/s", ""];
    let (value, unit) = number(text)?;
    let unit = if unit.is_empty() { own_unit } else { unit };
    let is_name = |unit: &str| NAMES.contains(&&*unit.trim().to_lowercase());
    let power = if is_name(unit) {
        0
    } else {
        let (prefix, power) = PREFIXES.iter().find(|(prefix, _)| unit.starts_with(*prefix))?;
        is_name(unit.strip_prefix(*prefix)?).then_some(*power)?
    };
    Some(value.shifted(power).to_f64())
}

/// A distance in seconds with its unit, or with that of its name.
fn distance(text: &str, own_unit: &str) -> Option<f64> {
    let (value, unit) = number(text)?;
    let unit = if unit.is_empty() { own_unit } else { unit };
    let power = if unit.is_empty() { 0 } else { units::unit(unit)? };
    Some(value.shifted(power).to_f64())
}

/// A frequency such as `1 MHz`.
pub(in crate::read) fn frequency(text: &str) -> Option<f64> {
    rate(text.trim(), "").filter(|hz| hz.is_finite())
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
        ] {
            near(text, hz, true);
        }
        for (text, seconds) in [
            ("XInc:,5.0000000E-06", 5e-6),
            ("Sampling Period,4.0000e-07", 4e-7),
            ("Sample Interval,Analog:4.000000E-09,", 4e-9),
            ("XIncrement=1e-6", 1e-6),
            ("tInc = 4.000e-09s", 4e-9),
            ("HResolution,1.0E-7", 1e-7),
            ("Time Interval: 10 ns", 1e-8),
            ("dt [us],2", 2e-6),
        ] {
            near(text, seconds, false);
        }
        assert_eq!(setting("XUnits:,Second"), Some(Setting::TimeUnit("Second".into())));
        for (text, value) in [("Samplerate: 1 parsec", "1 parsec"), ("Sample rate: 0 Hz", "0 Hz")] {
            assert_eq!(setting(text), Some(Setting::Unclear(value.into())));
        }
        for text in
            ["", "Sample rate", "Time,CH1", "Record Length,1000", "1,2", "1 2", "Channels 1"]
        {
            assert_eq!(setting(text), None, "{text}");
        }
    }
}
