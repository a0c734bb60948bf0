//! Periods of which given lengths are multiples, each within a bound.
//!
//! A length `t` known within `e` leaves the periods `(t - e)/m` to `(t + e)/m` for every whole `m`.
//! Lengths are taken in ascending order, so few intervals are left at any time, and the true period
//! is never lost: the bounds are those of rounding, not of a statistic.

use crate::math::pow;

/// Most intervals at a time. More are left only if the lengths say nothing about the period.
const MOST_INTERVALS: usize = 4096;

/// A length that is a multiple of the period within a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Length {
    pub(super) length: f64,
    pub(super) bound: f64,
}

/// An interval of periods.
pub(super) type Interval = (f64, f64);

/// The intervals of periods that all lengths allow, the longest period first; empty if there are
/// none, or too many to be of use. The lengths are ascending.
pub(super) fn within(lengths: &[Length], start: Interval) -> Vec<Interval> {
    let mut alone = start;
    for (at, length) in lengths.iter().enumerate() {
        let (first, last) = multiples(*length, alone);
        // Nearly all intervals that are tried end here, with nothing allocated.
        if first > last {
            return Vec::new();
        }
        if first < last {
            return of_several(&lengths[at..], alone);
        }
        alone = part(*length, alone, first);
        if alone.0 > alone.1 {
            return Vec::new();
        }
    }
    vec![alone]
}

/// The same where a length leaves several intervals.
fn of_several(lengths: &[Length], start: Interval) -> Vec<Interval> {
    let (mut intervals_left, mut next) = (vec![start], Vec::new());
    for length in lengths {
        next.clear();
        for interval in &intervals_left {
            if !narrow(*length, *interval, &mut next) {
                return Vec::new();
            }
        }
        std::mem::swap(&mut intervals_left, &mut next);
        if intervals_left.is_empty() {
            return intervals_left;
        }
    }
    intervals_left
}

/// The least and the largest number of periods of an interval that a length may have.
fn multiples(Length { length, bound }: Length, (low, high): Interval) -> (f64, f64) {
    (((length - bound) / high).ceil().max(0.0), ((length + bound) / low).floor())
}

/// What a length of so many periods leaves of an interval.
fn part(Length { length, bound }: Length, (low, high): Interval, multiple: f64) -> Interval {
    // A length within its bound of 0 says nothing.
    if multiple == 0.0 {
        return (low, high);
    }
    (((length - bound) / multiple).max(low), ((length + bound) / multiple).min(high))
}

/// The least period on which chance would put so many rounded times in fewer than a share of all
/// cases.
pub(super) fn least_sure(digit: f64, times: f64, by_chance: f64) -> f64 {
    if times > 0.0 { 3.0 * digit * pow(by_chance, -1.0 / times) } else { f64::INFINITY }
}

/// Appends what a length leaves of an interval; `false` if these are too many.
fn narrow(length: Length, interval: Interval, intervals_left: &mut Vec<Interval>) -> bool {
    let (first, last) = multiples(length, interval);
    if last - first > MOST_INTERVALS as f64 {
        return false;
    }
    let mut multiple = first;
    while multiple <= last {
        let (least_period, most_period) = part(length, interval, multiple);
        if least_period <= most_period {
            intervals_left.push((least_period, most_period));
        }
        multiple += 1.0;
    }
    intervals_left.len() <= MOST_INTERVALS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(of_lengths: &[f64], bound: f64) -> Vec<Length> {
        of_lengths.iter().map(|length| Length { length: *length, bound }).collect()
    }

    #[test]
    fn lengths_narrow_the_period() {
        let periods = within(&lengths(&[70.0, 211.0, 7001.0], 1.0), (60.0, 80.0));
        assert!(matches!(periods[..], [(low, high)] if low >= 70.0 && high < 70.03));
        assert_eq!(within(&lengths(&[70.0, 100.0], 1.0), (60.0, 80.0)), []);
    }

    #[test]
    fn lengths_that_say_nothing_leave_nothing() {
        assert_eq!(within(&lengths(&[1e15], 1.0), (3.0, 4.0)), []);
        assert_eq!(within(&[], (3.0, 4.0)), [(3.0, 4.0)]);
    }
}
