//! Bars: an error budget, and histograms.

use super::chart::{Chart, Ink, Titles, bar};
use super::scale::Span;
use super::{Plot, short};

/// A part of a budget.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Its source.
    pub name: String,
    /// Its size, to compare with the others.
    pub size: f64,
    /// The size as text, with its unit.
    pub text: String,
}

/// Height of a line of bars.
const LINE: f64 = 20.0;
/// Room for the names at the left, and for the sizes at the right.
const NAMES: f64 = 150.0;
/// Most bars of a budget and of a histogram.
const MOST_PARTS: usize = 16;
const MOST_BINS: usize = 400;

/// An error budget: a bar for each source, with its half-width. `None` where nothing has a size.
pub fn budget(name: &str, title: &str, parts: &[Bar]) -> Option<Plot> {
    let parts = &parts[..parts.len().min(MOST_PARTS)];
    let span = Span::of(parts.iter().map(|part| part.size)).filter(|span| span.high > 0.0)?;
    let about: Vec<String> =
        parts.iter().map(|part| format!("{} {}", part.name, part.text)).collect();
    let titles = Titles {
        name,
        title: title.to_owned(),
        about: format!("Half-width that each source alone would give: {}.", about.join(", ")),
        x: String::new(),
        y: "half-width from each source alone".into(),
    };
    let whole = Span { low: 0.0, high: 1.35 * span.high };
    let height = LINE * parts.len() as f64;
    let mut chart = Chart::new(titles, whole, whole, height).without_axes(0.0).with_names(NAMES);
    for (at, part) in parts.iter().enumerate() {
        let y = chart.top() + LINE * (at as f64 + 0.5);
        let end = chart.x.at(if part.size.is_nan() { 0.0 } else { part.size });
        chart.write(NAMES - 8.0, y + 4.0, "end", short(&part.name, 24));
        chart.draw(Ink::Area, bar((NAMES, y - 6.0), (end, y + 6.0)));
        chart.write(end + 6.0, y + 4.0, "start", short(&part.text, 20));
    }
    Some(chart.finish())
}

/// A bin of a histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Its low end.
    pub low: f64,
    /// Its high end.
    pub high: f64,
    /// Values in it.
    pub count: f64,
}

/// Largest quotient of two counts of a histogram with a linear axis: beyond it the small ones could
/// not be seen.
const MOST_LINEAR: f64 = 60.0;

/// A histogram of values in `unit`; `None` without a value.
pub fn histogram(name: &str, title: &str, what: &str, bins: &[Bin]) -> Option<Plot> {
    let bins = joined(bins);
    let x = Span::of(bins.iter().flat_map(|bin| [bin.low, bin.high]))?;
    let (least, most) = (
        bins.iter().map(|bin| bin.count).fold(f64::INFINITY, f64::min),
        bins.iter().map(|bin| bin.count).fold(0.0, f64::max),
    );
    let is_log = most > MOST_LINEAR * least.max(1.0);
    let titles = Titles {
        name,
        title: title.to_owned(),
        about: format!("Number of values in each of {} bins of {what}.", bins.len()),
        x: what.to_owned(),
        y: if is_log { "count (logarithmic)".into() } else { "count".into() },
    };
    let y = Span { low: if is_log { 0.5 } else { 0.0 }, high: 1.05 * most };
    let chart = Chart::new(titles, x, y, 140.0);
    let mut chart = if is_log { chart.with_log_y() } else { chart };
    let floor = chart.bottom();
    let path = bins.iter().map(|bin| {
        bar((chart.x.at(bin.low), floor), (chart.x.at(bin.high), chart.y.at(bin.count)))
    });
    let path = path.collect();
    chart.draw(Ink::Area, path);
    Some(chart.finish())
}

/// The bins with values, neighbours together where there are too many.
fn joined(bins: &[Bin]) -> Vec<Bin> {
    let is_seen = |bin: &&Bin| bin.count > 0.0 && bin.low.is_finite() && bin.high.is_finite();
    let seen: Vec<Bin> = bins.iter().filter(is_seen).copied().collect();
    if seen.len() <= MOST_BINS {
        return seen;
    }
    let Some(span) = Span::of(seen.iter().flat_map(|bin| [bin.low, bin.high])) else {
        return Vec::new();
    };
    let wide = (span.high - span.low) / MOST_BINS as f64;
    let mut counts = vec![0.0; MOST_BINS];
    for bin in &seen {
        let at = ((f64::midpoint(bin.low, bin.high) - span.low) / wide) as usize;
        counts[at.min(MOST_BINS - 1)] += bin.count;
    }
    let bin = |(at, count): (usize, f64)| {
        let low = span.low + wide * at as f64;
        Bin { low, high: low + wide, count }
    };
    counts.into_iter().enumerate().map(bin).filter(|bin| bin.count > 0.0).collect()
}
