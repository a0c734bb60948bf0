//! Times in sigrok's tables, which are whole numbers of a unit and stand for numbers of samples.
//!
//! Up to libsigrok 0.5.2 a time is the number of the sample, from 1, times the period cut to a
//! whole unit: 41 ns at 24 MHz. Since 2020 it is the number of the sample, from 0, over the rate,
//! in doubles, cut to a whole unit.

/// How a time follows from the number of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// The number times the whole units of a period.
    Period(u64),
    /// The same where the period is a whole number of units, so that both rules are one but for
    /// the doubles, which may put a time one unit low.
    Exact(u64),
    /// The number over the rate.
    Quotient,
}

/// The numbers of samples of times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stamps {
    rate: f64,
    /// Units per second.
    scale: f64,
    style: Style,
    /// Number of the last sample.
    last: Option<u64>,
}

/// Largest number of a sample and largest time, which doubles hold exactly.
const MOST_EXACT: u64 = 1 << 53;

impl Stamps {
    /// The rule by which these first times were written; `version` is that of the writer, such as
    /// 0.5.2.
    ///
    /// # Errors
    /// Times that neither rule gives, or that both give for different samples.
    pub(super) fn of(
        rate: f64,
        times: &[u64],
        version: Option<(u32, u32)>,
    ) -> Result<Stamps, String> {
        let scale = scale(rate);
        let period = (scale / rate).floor() as u64;
        let new = |style| Stamps { rate, scale, style, last: None };
        let is_whole = period as f64 == scale / rate;
        let numbers = |mut stamps: Stamps| times.iter().all(|time| stamps.number(*time).is_some());
        if is_whole && period > 1 {
            let exact = new(Style::Exact(period));
            return Some(exact).filter(|_| numbers(exact)).ok_or_else(|| refusal(rate, NO_TIMES));
        }
        let (old, since) = (new(Style::Period(period.max(1))), new(Style::Quotient));
        let begins_at_0 = times.first() == Some(&0);
        match (numbers(old), numbers(since)) {
            (true, false) => Ok(old),
            (false, true) => Ok(since),
            (true, true) if begins_at_0 => Ok(since),
            (true, true) => match version {
                _ if is_whole => Ok(old),
                Some((0, ..6)) => Ok(old),
                Some(_) => Ok(since),
                None => Err(refusal(rate, "may be written by two rules of libsigrok")),
            },
            (false, false) => Err(refusal(rate, NO_TIMES)),
        }
    }

    /// Times that are the numbers of samples themselves.
    pub(super) fn numbers(rate: f64) -> Stamps {
        Stamps { rate, scale: 1.0, style: Style::Period(1), last: None }
    }

    /// Whether times are the numbers of samples.
    pub(super) fn are_numbers(&self) -> bool {
        self.scale == 1.0 && self.style == Style::Period(1)
    }

    /// The number of the sample of a time.
    fn number(&mut self, time: u64) -> Option<u64> {
        let number = match self.style {
            _ if time > MOST_EXACT => None,
            Style::Period(period) => Some(time / period).filter(|_| time % period == 0),
            Style::Exact(period) => {
                Some(time.div_ceil(period)).filter(|number| number * period - time <= 1)
            }
            Style::Quotient => {
                // Rounding of the doubles may put a time one unit low, so that the sample is near
                // the least whose exact time is not below the time.
                let near = (time as f64 * (self.rate / self.scale)).ceil() as u64;
                let least_number = self.last.map_or(0, |last| last + 1).max(near.saturating_sub(2));
                let found_number =
                    (least_number..=near + 1).find(|number| self.time(*number) == time);
                // A unit is a sample: a writer without doubles gives the number itself.
                found_number.or(Some(time).filter(|_| self.rate == self.scale))
            }
        };
        self.last = number.or(self.last);
        number
    }

    /// What libsigrok writes for a sample.
    fn time(&self, number: u64) -> u64 {
        (number as f64 / self.rate * self.scale) as u64
    }

    /// The number of the sample of a time.
    ///
    /// # Errors
    /// A time that the rule of the first rows does not give.
    pub(super) fn sample(&mut self, time: Option<u64>) -> Result<f64, String> {
        let number = time.and_then(|time| self.number(time));
        number.map(|number| number as f64).ok_or_else(|| refusal(self.rate, NO_TIMES))
    }
}

fn refusal(rate: f64, deviation: &str) -> String {
    format!(
        "the times {deviation} at the stated rate of {rate} Hz: save the recording as a session \
         (.sr), or without times (sigrok's option time=false)"
    )
}

const NO_TIMES: &str = "are no times of samples";

/// Units per second by which sigrok writes times: the first power of 1,000 that is not below the
/// rate.
pub(super) fn scale(rate: f64) -> f64 {
    let mut scale = 1.0;
    while scale < rate {
        scale *= 1e3;
    }
    scale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(stamps: Stamps, times: &[u64]) -> Vec<u64> {
        let mut stamps = stamps;
        times.iter().map(|time| stamps.number(*time).unwrap()).collect()
    }

    #[test]
    fn both_rules_of_libsigrok_give_the_samples() {
        // At 24 MHz a sample is 41.67 ns.
        let old = Stamps::of(24e6, &[41, 82, 4100], None).unwrap();
        assert_eq!(numbers(old, &[4100, 8200]), [100, 200]);
        let since = Stamps::of(24e6, &[0, 41, 83, 125], None).unwrap();
        assert_eq!(numbers(since, &[0, 41, 83, 125, 4166]), [0, 1, 2, 3, 100]);
        assert_eq!(numbers(Stamps::of(1e6, &[1, 2], None).unwrap(), &[1, 7]), [1, 7]);
        let message = Stamps::of(24e6, &[0, 50], None).unwrap_err();
        assert!(message.contains("24000000 Hz"), "{message}");
        // One row in doubles a unit low: 7 instead of 8.
        let mut low = Stamps::of(625e3, &[0, 1, 3, 4, 6], None).unwrap();
        assert_eq!(low.sample(Some(u64::MAX)).ok(), None);
        assert_eq!(low.sample(None).ok(), None);
        // At 1 MHz doubles put some times a unit low, so that they never give others.
        let of_unit = Stamps::of(1e6, &[0, 1, 2], None).unwrap();
        let all_samples: Vec<u64> = (0..20_000).collect();
        let given_samples: Vec<u64> =
            all_samples.iter().copied().filter(|n| of_unit.time(*n) == *n).collect();
        assert!(given_samples.len() < all_samples.len());
        let missed = all_samples
            .iter()
            .copied()
            .find(|n| !all_samples.iter().any(|m| of_unit.time(*m) == *n));
        let missed = missed.unwrap();
        assert_eq!(numbers(of_unit, &[missed - 2, missed]), [missed - 2, missed]);
        // A whole period, and a time a unit low.
        let exact = Stamps::of(200e3, &[0, 5, 10], None).unwrap();
        assert_eq!(numbers(exact, &[15, 19, 25]), [3, 4, 5]);
        assert!(Stamps::of(200e3, &[0, 5, 8], None).is_err());
    }

    #[test]
    fn the_version_decides_where_both_rules_fit() {
        // 1.6 units a sample: every number is a multiple of the cut period of 1.
        let times = [16, 32];
        assert_eq!(numbers(Stamps::of(625e3, &times, Some((0, 5))).unwrap(), &times), [16, 32]);
        assert_eq!(numbers(Stamps::of(625e3, &times, Some((0, 6))).unwrap(), &times), [10, 20]);
        assert!(Stamps::of(625e3, &times, None).unwrap_err().contains("two rules"));
    }
}
