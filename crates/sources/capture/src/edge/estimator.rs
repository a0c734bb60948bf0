//! The place of an edge between samples.
//!
//! All estimators look at first differences: a step of a band-limited signal is a peak there, free
//! of the level, of hum and of a slow drift. The peak is the point of inflection (Moreno and
//! Fischmeister, section 6).

use super::kernel::Kernel;

/// Largest distance of the top from the largest difference.
const SPAN: f64 = 2.0;

/// How the place of an edge is found between the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Maximum of the slope behind a Gaussian low pass (the zero crossing of Marr and Hildreth,
    /// 1980), which is below half the sample rate: it interpolates, and it takes away the ringing
    /// that the converter has at the end of its band, in which other edges would lie. Interval
    /// between two edges: below 0.001 us at 192 kHz, without noise, from 9 samples on.
    #[default]
    BandLimited,
    /// Zero crossing of the second derivative by a straight line through two of its points, which
    /// is the top of a parabola through three slopes. Intervals: 0.4 to 0.5 us at 192 kHz.
    Inflection,
    /// Zero crossing of a parabola through three points of the second derivative: the method of the
    /// report (section 6). Intervals: 0.4 to 1.2 us at 192 kHz.
    ThreePoint,
}

impl Method {
    /// All methods with their names.
    pub const NAMES: [(&str, Method); 3] = [
        ("band-limited", Method::BandLimited),
        ("inflection", Method::Inflection),
        ("three-point", Method::ThreePoint),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }

    /// Size of its bias in samples, which neither noise nor dither averages out. For the
    /// band-limited method it is at most 0.0001 for single edges, and 0.0003 for two that are 9
    /// samples apart, with converters that pass 0.45 or 0.5 of the sample rate; 0.0006 with one
    /// that passes 0.4.
    pub fn quantum(self) -> f64 {
        match self {
            Method::BandLimited => 0.0005,
            Method::Inflection => 0.1,
            Method::ThreePoint => 0.25,
        }
    }

    /// Smallest distance in samples at which two edges do not move each other by more than the
    /// method's quantum.
    pub fn apart(self) -> f64 {
        match self {
            Method::BandLimited => 9.0,
            Method::Inflection | Method::ThreePoint => 5.0,
        }
    }

    /// Place of the peak relative to the middle difference, in samples, within -2 and 2.
    ///
    /// `slopes` is an odd number of first differences times the sign of the edge, the largest in
    /// the middle; the kernel's reach and two more on either side of it.
    pub fn offset(self, slopes: &[f64], kernel: &Kernel) -> f64 {
        let offset = match self {
            Method::BandLimited => band_limited(slopes, kernel),
            Method::Inflection => inflection(slopes),
            Method::ThreePoint => three_point(slopes),
        };
        if offset.is_finite() { offset.clamp(-SPAN, SPAN) } else { 0.0 }
    }
}

fn inflection(slopes: &[f64]) -> f64 {
    let middle = slopes.len() / 2;
    let [before, top, after] = [slopes[middle - 1], slopes[middle], slopes[middle + 1]];
    let bend = before - 2.0 * top + after;
    if bend < 0.0 { (before - after) / (2.0 * bend) } else { 0.0 }
}

/// Second derivatives lie between the slopes; the crossing lies between the two around the middle,
/// and the third point is the one on the side where the crossing is nearer.
fn three_point(slopes: &[f64]) -> f64 {
    let middle = (slopes.len() / 2) as isize;
    let second = |at: isize| {
        let left = (middle + at) as usize;
        slopes[left + 1] - slopes[left]
    };
    // Points at -0.5 and 0.5, and at -1.5 or 1.5, seen from the largest slope.
    let (rise, fall) = (second(-1), second(0));
    let third = if rise.abs() < fall.abs() { -1.5 } else { 1.5 };
    let value = if third < 0.0 { second(-2) } else { second(1) };
    let line = if rise > fall { -0.5 + rise / (rise - fall) } else { return 0.0 };
    // Newton's form: a straight line through the two, and the bend that the third adds.
    let straight = |x: f64| rise + (fall - rise) * (x + 0.5);
    let bend = (value - straight(third)) / ((third + 0.5) * (third - 0.5));
    let mut x = line;
    for _ in 0..8 {
        let (y, slope) = (straight(x) + bend * (x + 0.5) * (x - 0.5), fall - rise + 2.0 * bend * x);
        if slope.abs() < f64::MIN_POSITIVE {
            return line;
        }
        x -= y / slope;
    }
    if (-0.6..=0.6).contains(&x) { x } else { line }
}

/// Root of the derivative behind the kernel, by regula falsi from the two sides of the peak.
fn band_limited(slopes: &[f64], kernel: &Kernel) -> f64 {
    let middle = (slopes.len() / 2) as f64;
    let derivative = |x: f64| kernel.bend(slopes, middle + x);
    let (mut low, mut high) = (-SPAN, SPAN);
    let (mut at_low, mut at_high) = (derivative(low), derivative(high));
    if !(at_low > 0.0 && at_high < 0.0) {
        return inflection(slopes);
    }
    let mut last = 0.0;
    for step in 0..40 {
        let secant = low + (high - low) * at_low / (at_low - at_high);
        // An occasional bisection step keeps both ends moving.
        let x = if step % 4 == 3 { 0.5 * (low + high) } else { secant };
        let y = derivative(x);
        if y > 0.0 {
            (low, at_low) = (x, y)
        } else {
            (high, at_high) = (x, y)
        }
        if (x - last).abs() < 1e-7 || y == 0.0 {
            return x;
        }
        last = x;
    }
    0.5 * (low + high)
}
