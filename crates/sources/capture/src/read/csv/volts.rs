//! Rows of volts: one for each sample.

use super::cells::Time;
use super::shape::Row;
use super::times::{Digits, Times};
use crate::edge::{Detector, Edge};
use crate::error::{Error, Result};
use crate::read::Request;

/// Largest distance of a sample of volts from its even time, in samples.
const UNEVEN_DISTANCE: f64 = 0.5;
/// Largest share of the recording's length that a digit of its times may be.
const COARSE_SHARE: f64 = 0.01;
/// Largest difference of a stated rate and that of the times beyond what their digits leave open.
const OTHER_RATE: f64 = 1e-3;
/// Fewest rows at exactly the same distance that show how their times were made.
const FEWEST_EXACT: u64 = 64;

/// Times at even distances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Even {
    first: Time,
    last: Time,
    /// Distance of two rows, in the unit of the times.
    step: f64,
    digits: Digits,
    /// The distance of every two rows so far, where it is exactly the same.
    exact: Option<f64>,
}

impl Even {
    /// The distance of these first rows; `None` if they have no times or run backwards.
    pub(super) fn of(rows: &[Row]) -> Option<Even> {
        let times: Vec<Time> = rows.iter().filter_map(|row| row.time).collect();
        let (first, last) = (*times.first()?, *times.last()?);
        let step = last.at.minus(first.at) / (times.len() - 1).max(1) as f64;
        let exact = times.get(1).map(|second| second.at.minus(first.at));
        let digits = Digits::of(times.into_iter());
        let even = Even { first, last: first, step, digits, exact };
        (step >= 0.0 && step.is_finite()).then_some(even)
    }

    /// By how many samples a row is not where it should be behind another one, beyond what the
    /// digits of its time leave open.
    pub(super) fn off(&self, before: &Row, row: &Row) -> Option<f64> {
        let (before, now) = before.time.zip(row.time)?;
        let off = now.at.minus(before.at) - self.step;
        let open = self.digits.resolution(&now).max(self.digits.resolution(&before));
        let is_off = off.is_nan() || off.abs() > UNEVEN_DISTANCE * self.step + 1.001 * open;
        is_off.then_some(off / self.step.max(open))
    }

    /// Takes the next row.
    fn push(&mut self, before: Option<Row>, time: Time) {
        let step = before.and_then(|row| row.time).map(|before| time.at.minus(before.at));
        self.exact = self.exact.filter(|exact| step.is_none_or(|step| step == *exact));
        self.last = time;
        self.digits.push(&time);
    }

    /// Standard uncertainty of the rate by the digits of the times, in parts per million, of which
    /// they leave a share open. Times that are exact multiples of one distance have it from a rate:
    /// it is exact if one of both is a round number, and rounded to a digit otherwise.
    fn uncertainty_ppm(&self, n: u64, open: f64) -> f64 {
        // Two roundings, each evenly distributed within a digit.
        let by_ends = 1e6 * open / 6f64.sqrt();
        match self.exact.filter(|_| n >= FEWEST_EXACT) {
            Some(step) if is_round(step) || is_round(1.0 / step) => 0.0,
            Some(step) => by_ends.max(1e6 * 0.5 * self.digits.smallest() / step / 3f64.sqrt()),
            None => by_ends,
        }
    }

    /// Samples per second by the times of the first and the last of n rows, which are the farthest
    /// apart, and the share of it that their digits leave open.
    fn rate(&self, times: &Times, n: u64) -> (f64, f64) {
        let length = times.between(&self.first, &self.last);
        let digit = self.digits.resolution(&self.last).max(self.digits.resolution(&self.first));
        (n.saturating_sub(1) as f64 / length, digit * 10f64.powi(times.power()) / length)
    }
}

/// Whether a number has two digits at most.
fn is_round(number: f64) -> bool {
    let digits = format!("{number:.9e}");
    let mantissa = digits.split('e').next().unwrap_or_default();
    mantissa.trim_end_matches('0').trim_end_matches('.').len() <= 3
}

fn too_few_digits(samples: u64) -> String {
    format!(
        "the times have too few digits for {samples} samples: save them with more digits, or state \
         the rate in a first line such as `; Samplerate: 1 MHz`"
    )
}

/// Rows of volts.
pub(super) struct Volts {
    pub(super) detector: Box<Detector>,
    /// The rows' times, if they have some.
    times: Option<(Even, Times)>,
    /// The row before.
    before: Option<Row>,
    /// Samples so far.
    n: u64,
}

/// The rate of rows.
pub(super) struct Rate {
    pub(super) hz: Option<f64>,
    /// Standard uncertainty by the digits of the times.
    pub(super) ppm: Option<f64>,
}

impl Volts {
    /// For rows that begin with these.
    pub(super) fn new(request: &Request, rows: &[Row], times: Option<(Even, Times)>) -> Volts {
        let values = rows.iter().map(|row| row.value.abs());
        let floor = 1e-4 * values.fold(0.0, f64::max).max(1e-3);
        let detector = Box::new(Detector::for_volts(request.method, floor));
        Volts { detector, times, before: None, n: 0 }
    }

    /// Takes a row.
    pub(super) fn push(&mut self, line: u64, row: Row, sink: &mut dyn FnMut(Edge)) -> Result<()> {
        if let Some((even, _)) = &mut self.times {
            let off = self.before.and_then(|before| even.off(&before, &row));
            if let Some(off) = off {
                let reason = if even.step > 0.0 {
                    format!(
                        "the samples are not evenly spaced: this one is off by {off:.2} samples"
                    )
                } else {
                    too_few_digits(self.n)
                };
                return Err(Error::line(line, reason));
            }
            if let Some(time) = row.time {
                even.push(self.before, time);
            }
        }
        self.before = Some(row);
        self.n += 1;
        self.detector.push(&[row.value as f32], sink)
    }

    /// Takes rows that equal the one before except for their even times; `last` is the last of
    /// them.
    pub(super) fn repeat(
        &mut self,
        rows: u64,
        last: Row,
        sink: &mut dyn FnMut(Edge),
    ) -> Result<()> {
        let block = [last.value as f32; 4096];
        let mut rows_left = rows;
        while rows_left > 0 {
            let part = rows_left.min(block.len() as u64);
            self.detector.push(&block[..part as usize], sink)?;
            rows_left -= part;
        }
        if let (Some((even, _)), Some(time)) = (&mut self.times, last.time) {
            even.last = time;
        }
        self.before = Some(last);
        self.n += rows;
        Ok(())
    }

    /// The rate: as stated, or by the times. `is_setting` is whether the stated one is that of rows
    /// at times in seconds, which must agree with it.
    ///
    /// # Errors
    /// Times with too few digits, or with another rate than the stated one.
    pub(super) fn rate(&self, stated: Option<f64>, is_setting: bool) -> Result<Rate> {
        let Some((even, times)) = self.times.as_ref().filter(|_| self.n > 1) else {
            return Ok(Rate { hz: stated, ppm: None });
        };
        let (hz, open) = even.rate(times, self.n);
        if times.are_numbers() {
            // Rows may be each second or tenth sample.
            return Ok(Rate { hz: stated.map(|stated| stated * hz), ppm: None });
        }
        match stated {
            Some(stated) if !is_setting || (hz / stated - 1.0).abs() <= OTHER_RATE + 2.0 * open => {
                Ok(Rate { hz: Some(stated), ppm: None })
            }
            Some(stated) if open < COARSE_SHARE => Err(Error::Unusable(format!(
                "the head states {stated} samples per second, but the rows have {hz} by their \
                 times: leave out the line that is wrong"
            ))),
            Some(stated) => Ok(Rate { hz: Some(stated), ppm: None }),
            None if !hz.is_finite() || open > COARSE_SHARE => {
                Err(Error::Unusable(too_few_digits(self.n)))
            }
            None => Ok(Rate { hz: Some(hz), ppm: Some(even.uncertainty_ppm(self.n, open)) }),
        }
    }
}
