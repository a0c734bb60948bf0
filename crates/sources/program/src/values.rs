//! Values of options: times, percentages.

use std::time::Duration;

/// A time such as `1s`, `250ms`, `2m`, in whole nanoseconds; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    seconds(text).map(Duration::from_secs_f64)
}

/// A time as for [`duration`], in seconds and with all its digits: `29.5625us`, `4.5e-5s`.
pub fn seconds(text: &str) -> Result<f64, String> {
    // Units and how many of them, or of which parts, are a second: a quotient keeps the decimals
    // that a product would not.
    const UNITS: [(&str, f64, f64); 7] = [
        ("ns", 1.0, 1e9),
        ("us", 1.0, 1e6),
        ("ms", 1.0, 1e3),
        ("s", 1.0, 1.0),
        ("m", 60.0, 1.0),
        ("h", 3600.0, 1.0),
        ("", 1.0, 1.0),
    ];
    let digits = text.rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |at| at + 1);
    let (number, unit) = text.split_at_checked(digits).unwrap_or((text, ""));
    let known = UNITS.iter().find(|(name, ..)| *name == unit);
    match number
        .trim()
        .parse::<f64>()
        .ok()
        .zip(known)
        .map(|(number, (_, factor, parts))| number * factor / parts)
    {
        Some(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        Some(_) => Err("must be above 0 and at most a day".into()),
        None => Err("expected a time such as 1s, 250ms or 2m".into()),
    }
}

/// A frequency such as `3GHz`, `2.4GHz` or `16MHz`, in Hz.
pub fn frequency(text: &str) -> Result<f64, String> {
    const UNITS: [(&str, f64); 4] = [("ghz", 1e9), ("mhz", 1e6), ("khz", 1e3), ("hz", 1.0)];
    let lower = text.to_ascii_lowercase();
    let parts = UNITS
        .iter()
        .find_map(|(name, factor)| lower.strip_suffix(name).map(|number| (number.trim(), factor)));
    match parts
        .and_then(|(number, factor)| number.parse::<f64>().ok().map(|number| number * factor))
    {
        Some(hz) if (1e3..=1e11).contains(&hz) => Ok(hz),
        Some(_) => Err("must be from 1kHz to 100GHz".into()),
        None => Err("expected a frequency such as 3.5GHz or 16MHz".into()),
    }
}

/// A share given as `0.5%` or `0.005`.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, parts) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number < parts => Ok(number / parts),
        Ok(number) if parts == 1.0 && number > 1.0 && number < 100.0 => {
            Err(format!("must be below 1; for {number} percent write {number}%"))
        }
        Ok(_) => Err("must be above 0 and below 100 %".into()),
        Err(_) => Err("expected a percentage such as 0.5%".into()),
    }
}

/// A confidence level given as `95%` or `0.95`.
pub fn level(text: &str) -> Result<f64, String> {
    let level = share(text)?;
    if (0.5..=0.9999).contains(&level) {
        Ok(level)
    } else {
        Err("must be from 50% to 99.99%".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(duration("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("2"), Ok(Duration::from_secs(2)));
        assert_eq!(
            (seconds("29.5625us"), seconds("4.5e-5s"), seconds("0.3 ms")),
            (Ok(29.5625e-6), Ok(4.5e-5), Ok(0.3e-3))
        );
        assert_eq!(
            (seconds("1.5m"), seconds("2e3"), seconds("0.05ns")),
            (Ok(90.0), Ok(2_000.0), Ok(0.05e-9))
        );
        for text in
            ["", "s", "-1s", "0", "1x", "1e9h", "nan", "inf", "1e", "1e-", "1µs", "µ", "e5s", "1s5"]
        {
            assert!(duration(text).is_err() && seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn frequencies() {
        assert_eq!(
            (frequency("3.5GHz"), frequency("16 mhz"), frequency("8000hz")),
            (Ok(3.5e9), Ok(16e6), Ok(8e3))
        );
        for text in ["", "3", "GHz", "3GHzz", "-1GHz", "0Hz", "nanGHz", "infGHz", "1e300GHz", "1Hz"]
        {
            assert!(frequency(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares() {
        assert_eq!(share("0.5%"), Ok(0.005));
        assert_eq!((level("0.95"), level("95%")), (Ok(0.95), Ok(0.95)));
        for text in ["", "%", "0", "100%", "-1%", "nan", "x"] {
            assert!(share(text).is_err(), "{text}");
        }
        assert!(level("20%").is_err());
        assert!(share("5").is_err_and(|message| message.ends_with("write 5%")));
    }
}
