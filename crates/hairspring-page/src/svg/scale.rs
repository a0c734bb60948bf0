//! Scales: from the numbers of an axis to places on the paper, and the ticks at round numbers.

use hairspring_view::format::{fixed, significant};

/// Numbers beyond this are drawn at it, so that no difference of two of them overflows.
const LARGEST: f64 = 1e300;

/// The ends of an axis: finite, the low one below the high one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The low end.
    pub low: f64,
    /// The high end.
    pub high: f64,
}

impl Span {
    /// The least span with all these numbers that are finite; `None` without one. Where all are
    /// equal, it reaches to both sides.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Span> {
        let finite = numbers.into_iter().filter(|number| number.is_finite());
        let bounded = finite.map(|number| number.clamp(-LARGEST, LARGEST));
        let ends = bounded.fold(None, |ends: Option<(f64, f64)>, number| {
            Some(ends.map_or((number, number), |(low, high)| (low.min(number), high.max(number))))
        });
        ends.map(|(low, high)| Span { low, high }.opened())
    }

    /// The span with a number in it.
    #[must_use]
    pub fn with(self, number: f64) -> Span {
        Span::of([self.low, self.high, number]).unwrap_or(self)
    }

    /// The span with a share of its length added at both ends.
    #[must_use]
    pub fn padded(self, share: f64) -> Span {
        let more = share * (self.high - self.low);
        Span { low: self.low - more, high: self.high + more }
    }

    fn opened(self) -> Span {
        if self.high > self.low {
            return self;
        }
        let reach = if self.low == 0.0 { 1.0 } else { 0.5 * self.low.abs() };
        Span { low: self.low - reach, high: self.high + reach }
    }
}

/// A scale of an axis, linear or logarithmic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    span: Span,
    from: f64,
    to: f64,
    is_log: bool,
}

impl Scale {
    /// A linear scale from one place to another.
    pub fn linear(span: Span, from: f64, to: f64) -> Scale {
        Scale { span, from, to, is_log: false }
    }

    /// A logarithmic scale; the span is above zero.
    pub fn log(span: Span, from: f64, to: f64) -> Scale {
        let low = span.low.max(f64::MIN_POSITIVE);
        Scale { span: Span { low, high: span.high.max(2.0 * low) }, from, to, is_log: true }
    }

    /// The place of a number; those beyond the ends are at the ends.
    pub fn at(&self, number: f64) -> f64 {
        let length = |number: f64| if self.is_log { number.log10() } else { number };
        let (low, high) = (length(self.span.low), length(self.span.high));
        let inside = number.clamp(self.span.low, self.span.high);
        let share = (length(inside) - low) / (high - low);
        let share = if share.is_finite() { share } else { 0.0 };
        self.from + share * (self.to - self.from)
    }

    /// Ticks with their labels, about this many.
    pub fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        let all = if self.is_log { decades(self.span) } else { ticks(self.span, about) };
        all.into_iter().map(|(number, label)| (self.at(number), label)).collect()
    }

    /// The ends in numbers.
    pub fn span(&self) -> Span {
        self.span
    }
}

/// Round numbers in a span, at most `most` and one more, with their labels.
pub fn ticks(span: Span, most: usize) -> Vec<(f64, String)> {
    let step = step(span, most);
    let (first, last) = ((span.low / step).ceil(), (span.high / step).floor());
    if !(step > 0.0 && first.is_finite() && last - first < 1e3) {
        return Vec::new();
    }
    let places = -(step.log10() + 1e-9).floor() as i32;
    let all = (0..=(last - first) as usize).map(|at| (first + at as f64) * step);
    all.map(|number| (number, label(number, places))).collect()
}

/// The least of 1, 2 and 5 times a power of ten with at most this many steps in the span.
fn step(span: Span, most: usize) -> f64 {
    let rough = (span.high - span.low) / most.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= rough * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

fn label(number: f64, places: i32) -> String {
    if number.abs() >= 1e9 || places > 9 { significant(number, 3) } else { fixed(number, places) }
}

/// Powers of ten in a span.
fn decades(span: Span) -> Vec<(f64, String)> {
    let (first, last) = (span.low.log10().ceil() as i32, span.high.log10().floor() as i32);
    let step = usize::try_from((last - first) / 6 + 1).unwrap_or(1);
    let all = (first..=last).step_by(step).map(|power| 10f64.powi(power));
    all.map(|number| (number, significant(number, 2))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, most: usize) -> Vec<String> {
        ticks(Span { low, high }, most).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_at_round_numbers() {
        assert_eq!(labels(0.0, 10.0, 5), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(-0.013, 0.021, 4), ["-0.01", "0.00", "0.01", "0.02"]);
        assert_eq!(labels(0.8, 1.3, 5), ["0.8", "0.9", "1.0", "1.1", "1.2", "1.3"]);
        assert_eq!(labels(0.0, 76_000.0, 4), ["0", "20,000", "40,000", "60,000"]);
        assert_eq!(labels(1e15, 3e15, 2), ["1.00e15", "2.00e15", "3.00e15"]);
    }

    #[test]
    fn there_are_few_ticks_at_any_size() {
        for power in -300..300 {
            for low in [0.0, 0.37, -2.9] {
                let size = 10f64.powi(power);
                let span = Span { low: low * size, high: (low + 3.3) * size };
                let count = ticks(span, 5).len();
                assert!((2..=6).contains(&count), "{span:?}: {count}");
            }
        }
    }

    #[test]
    fn spans_take_what_is_finite() {
        let all = [f64::NAN, 1.0, f64::INFINITY, 3.0, f64::NEG_INFINITY];
        assert_eq!(Span::of(all), Some(Span { low: 1.0, high: 3.0 }));
        assert_eq!(Span::of([f64::NAN]), None);
        assert_eq!(Span::of([4.0]), Some(Span { low: 2.0, high: 6.0 }));
        let huge = Span::of([f64::MAX, f64::MIN]).unwrap();
        assert!((huge.high - huge.low).is_finite());
    }

    #[test]
    fn places_stay_on_the_paper() {
        let scale = Scale::linear(Span { low: 0.0, high: 2.0 }, 10.0, 110.0);
        let places = [0.0, 1.0, 5.0, -1.0, f64::NAN].map(|number| scale.at(number));
        assert_eq!(places, [10.0, 60.0, 110.0, 10.0, 10.0]);
        let log = Scale::log(Span { low: 1.0, high: 100.0 }, 0.0, 2.0);
        assert_eq!([0.0, 10.0].map(|number| log.at(number)), [0.0, 1.0]);
        assert_eq!(log.ticks(3).len(), 3);
    }
}
