//! The scale on which the points of a series are compared: logarithms where all values are above
//! zero, so that steps are shares, else the values themselves.

use super::Reading;
use hairspring_core::math::ln;

/// A point on its scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaled {
    /// Its value.
    pub x: f64,
    /// Standard deviation by its own interval; 0 where it has none.
    pub sd: f64,
}

/// The scale of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Logarithms: a step is a ratio.
    Log,
    /// The values: a step is a difference.
    Linear,
}

/// Wider intervals say nothing about the value.
const WIDEST_SHARE: f64 = 0.9;
/// Larger values would overflow when squared.
const LARGEST: f64 = 1e100;

/// Puts the points of a series on their scale. Points without a number, or with an interval that
/// says nothing, are `None`.
pub fn scaled(readings: &[Reading]) -> (Scale, Vec<Option<Scaled>>) {
    let usable = |one: &Reading| one.value.is_finite() && one.value.abs() <= LARGEST;
    let used = || readings.iter().filter(|one| usable(one));
    let is_log = used().next().is_some() && used().all(|one| one.value >= 1.0 / LARGEST);
    let mut last = (f64::NAN, f64::NAN);
    let mut factor = |reading: &Reading| {
        if last.0 != reading.level {
            last = (reading.level, reading.factor());
        }
        last.1
    };
    let mut one = |reading: &Reading| {
        let (half, factor) = (half(reading)?, factor(reading));
        if !usable(reading) {
            None
        } else if is_log {
            log(reading.value, half, factor)
        } else {
            (half <= LARGEST).then_some(Scaled { x: reading.value, sd: half / factor })
        }
    };
    let scale = if is_log { Scale::Log } else { Scale::Linear };
    (scale, readings.iter().map(&mut one).collect())
}

fn log(value: f64, half: f64, factor: f64) -> Option<Scaled> {
    let share = half / value;
    (share <= WIDEST_SHARE).then(|| Scaled { x: ln(value), sd: share / factor })
}

/// The half-width; `None` where it is endless. No interval has none.
fn half(reading: &Reading) -> Option<f64> {
    if reading.low.is_nan() || reading.high.is_nan() {
        return Some(0.0);
    }
    let half = 0.5 * (reading.high - reading.low);
    (half.is_finite() && half >= 0.0).then_some(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(value: f64, half: f64) -> Reading {
        Reading { value, low: value - half, high: value + half, level: 0.95 }
    }

    #[test]
    fn a_series_above_zero_is_on_the_scale_of_logarithms() {
        let (scale, points) = scaled(&[reading(100.0, 1.96), reading(200.0, 3.92)]);
        assert_eq!(scale, Scale::Log);
        let sd = points[0].unwrap().sd;
        assert!((sd - 0.01).abs() < 1e-5, "{sd}");
        assert!((points[1].unwrap().x - points[0].unwrap().x - 2.0_f64.ln()).abs() < 1e-12);
        assert_eq!(scaled(&[reading(1.0, 0.1), reading(-1.0, 0.1)]).0, Scale::Linear);
    }

    #[test]
    fn what_is_no_number_is_no_point() {
        let odd = [f64::NAN, f64::INFINITY, 1e200, -1e200];
        for value in odd {
            assert_eq!(scaled(&[reading(value, 0.1)]).1, [None], "{value}");
        }
        let open = Reading { value: 1.0, low: f64::NEG_INFINITY, high: 2.0, level: 0.95 };
        assert_eq!(scaled(&[open]).1, [None]);
        let none = Reading { value: 1.0, low: f64::NAN, high: f64::NAN, level: 0.95 };
        assert_eq!(scaled(&[none]).1[0].map(|point| point.sd), Some(0.0));
        assert_eq!(scaled(&[reading(1e30, 0.0)]).1[0].map(|point| point.sd), Some(0.0));
        assert!(scaled(&[]).1.is_empty());
    }
}
