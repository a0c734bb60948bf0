//! A pin over time: its edges, and the sampled signal around one of them.

use super::Plot;
use super::chart::{Chart, Ink, Titles, polyline, segment};
use super::readings::stairs;
use super::scale::Span;

/// Edges and samples that are drawn.
const MOST: usize = 1200;

/// The level of a pin over time, from its edges: the time of each in `unit`, and whether the level
/// is high after it. The first ones, if there are many. `None` for fewer than two.
pub fn edges(name: &str, pin: &str, edges: &[(f64, bool)], unit: &str) -> Option<Plot> {
    let shown = &edges[..edges.len().min(MOST)];
    let x = Span::of(shown.iter().map(|(time, _)| *time)).filter(|_| shown.len() > 1)?;
    let part = if shown.len() < edges.len() { "the first " } else { "" };
    let titles = Titles {
        name,
        title: format!("Level of {pin} over time"),
        about: format!("{part}{} edges of {pin}.", shown.len()),
        x: format!("time ({unit})"),
        y: format!("level of {pin}"),
    };
    let mut chart = Chart::new(titles, x, Span { low: -0.15, high: 1.15 }, 70.0);
    let before = shown.first().map(|(time, is_high)| (*time, !is_high));
    let all = before.into_iter().chain(shown.iter().copied());
    let level = |is_high: bool| f64::from(u8::from(is_high));
    let points: Vec<(f64, f64)> =
        all.map(|(time, is_high)| (chart.x.at(time), chart.y.at(level(is_high)))).collect();
    chart.draw(Ink::Line, polyline(stairs(points.into_iter())));
    Some(chart.finish())
}

/// A sampled signal with the place of the edge that was found in it, both in samples; `every` is
/// the time of a sample in `unit`.
pub fn signal(
    name: &str,
    samples: &[f64],
    edge: Option<f64>,
    every: f64,
    unit: &str,
) -> Option<Plot> {
    let samples = &samples[..samples.len().min(MOST)];
    let y = Span::of(samples.iter().copied()).filter(|_| samples.len() > 1)?.padded(0.05);
    let x = Span { low: 0.0, high: (samples.len() - 1) as f64 * every };
    let x = Span::of([x.low, x.high])?;
    let titles = Titles {
        name,
        title: "Signal around an edge".into(),
        about: format!("{} samples around an edge, which the dashed line shows.", samples.len()),
        x: format!("time ({unit})"),
        y: "sample".into(),
    };
    let mut chart = Chart::new(titles, x, y, 120.0);
    let point = |(at, sample): (usize, &f64)| (chart.x.at(at as f64 * every), chart.y.at(*sample));
    let finite = samples.iter().enumerate().filter(|(_, sample)| sample.is_finite());
    let path = polyline(finite.map(point));
    chart.draw_with_key(Ink::Line, path, "samples");
    if let Some(at) = edge.filter(|at| at.is_finite()) {
        let x = chart.x.at(at * every);
        chart.draw_with_key(Ink::Guide, segment((x, chart.top()), (x, chart.bottom())), "edge");
    }
    Some(chart.finish())
}
