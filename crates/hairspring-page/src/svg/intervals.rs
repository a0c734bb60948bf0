//! Intervals below each other on one axis: ratios, levels, times of alternatives.

use super::chart::{Chart, Ink, Titles, interval, segment};
use super::scale::Span;
use super::{Plot, short};
use hairspring_core::Estimate;

/// A line of the plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Its name.
    pub name: String,
    /// Its interval, in the unit of the axis.
    pub estimate: Estimate,
}

/// Height of a line.
const LINE: f64 = 24.0;
/// Room for the names.
const NAMES: f64 = 140.0;
/// Most lines.
const MOST: usize = 24;
/// Times of the span of the values that the axis holds: an interval beyond it ends at its edge.
const REACH: f64 = 20.0;

/// Intervals on one axis, which has a guide at `at`, if there is one, named in the key. `None`
/// without a finite value.
pub fn intervals(
    (name, title): (&str, &str),
    axis: &str,
    all: &[Interval],
    guide: Option<(f64, &str)>,
) -> Option<Plot> {
    let all = &all[..all.len().min(MOST)];
    let span = span(all, guide.map(|(at, _)| at))?;
    let titles = Titles {
        name,
        title: title.to_owned(),
        about: about(all, axis),
        x: axis.to_owned(),
        y: String::new(),
    };
    let height = LINE * all.len() as f64;
    let mut chart = Chart::new(titles, span, span, height).with_names(NAMES);
    if let Some((at, text)) = guide {
        let x = chart.x.at(at);
        let path = segment((x, chart.top()), (x, chart.bottom()));
        chart.draw_with_key(Ink::Guide, path, text);
    }
    for (at, one) in all.iter().enumerate() {
        let y = chart.top() + LINE * (at as f64 + 0.5);
        chart.write(NAMES - 8.0, y + 4.0, "end", short(&one.name, 21));
        let place = |number: f64| chart.x.at(number);
        let Estimate { value, low, high, .. } = one.estimate;
        if value.is_finite() {
            let (line, mark) = interval(place(low), place(value), place(high), y);
            chart.draw(Ink::Interval, line);
            chart.draw(Ink::Used, mark);
        }
    }
    Some(chart.finish())
}

/// The span of the values and their intervals. Intervals that are much wider than the values differ
/// reach beyond it.
fn span(all: &[Interval], guide: Option<f64>) -> Option<Span> {
    let values = Span::of(all.iter().map(|one| one.estimate.value).chain(guide))?;
    let ends = || all.iter().flat_map(|one| [one.estimate.low, one.estimate.high]);
    let own = all.iter().map(|one| one.estimate.value).chain(guide);
    let distinct: Vec<f64> = own.filter(|value| value.is_finite()).collect();
    if distinct.iter().all(|value| *value == distinct[0]) {
        return Some(Span::of(ends().chain(distinct))?.padded(0.06));
    }
    let reach = REACH * (values.high - values.low);
    let bounded = ends().map(|end| end.clamp(values.low - reach, values.high + reach));
    Some(Span::of(bounded.chain([values.low, values.high]))?.padded(0.06))
}

fn about(all: &[Interval], axis: &str) -> String {
    let one = |one: &Interval| {
        format!("{} {}", one.name, hairspring_view::format::with_interval(&one.estimate))
    };
    let lines: Vec<String> = all.iter().map(one).collect();
    format!("Intervals of {axis}: {}.", lines.join("; "))
}
