//! Readings in the order of their rounds, and how the core clock moved meanwhile.

use super::Plot;
use super::chart::{Chart, Ink, Titles, cross, dot, polyline, segment};
use super::scale::Span;
use hairspring_view::format::count;
use std::collections::HashSet;

/// Side of the squares of the paper of which each shows one reading of a kind, in units of a plot.
/// What lies in the same square as another one cannot be told from it.
const SQUARE: f64 = 2.0;
/// Points of a line.
const MOST_POINTS: usize = 600;
/// Share of the span of the readings in use by which the field is higher than they are.
const MARGIN: f64 = 0.15;

/// A reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    /// Its round.
    pub round: f64,
    /// The reading less the mean of its row.
    pub beside: f64,
    /// Whether it is used.
    pub used: bool,
}

/// Readings over rounds. Those left out that lie beyond the edge are drawn on it. `None` without a
/// reading in use.
pub fn readings(name: &str, series: &str, spots: &[Spot], unit: &str) -> Option<Plot> {
    let used = || spots.iter().filter(|spot| spot.used);
    let x = Span::of(spots.iter().map(|spot| spot.round))?;
    let y = Span::of(used().map(|spot| spot.beside))?.with(0.0).padded(MARGIN);
    let out = spots.len() - used().count();
    let titles = Titles {
        name,
        title: format!("Readings of {series} over time"),
        about: format!(
            "{} readings, each less the mean of its row, in the order of their rounds; {} are \
             left out. One mark stands for all readings of a kind within a square of {SQUARE} \
             units. Readings left out beyond the edge are drawn on it.",
            count(spots.len()),
            count(out)
        ),
        x: "round".into(),
        y: format!("reading minus its row ({unit})"),
    };
    let mut chart = Chart::new(titles, x, y, 150.0);
    let zero = chart.y.at(0.0);
    let guide = segment((chart.x.at(x.low), zero), (chart.x.at(x.high), zero));
    chart.draw(Ink::Guide, guide);
    let (kept, left_out) = (squares(&chart, spots, true), squares(&chart, spots, false));
    let key = format!("{} left out", count(out));
    chart.draw_with_key(Ink::OutDots, marks(&left_out, small_cross), &key);
    let key = format!("{} used", count(spots.len() - out));
    chart.draw_with_key(Ink::Dots, marks(&kept, dot), &key);
    Some(chart.finish())
}

fn small_cross(x: f64, y: f64) -> String {
    cross(x, y, 1.5)
}

fn marks(places: &[(f64, f64)], mark: fn(f64, f64) -> String) -> String {
    places.iter().map(|(x, y)| mark(*x, *y)).collect()
}

/// The first place of each square of the paper with a reading of this kind.
fn squares(chart: &Chart, spots: &[Spot], used: bool) -> Vec<(f64, f64)> {
    let (mut taken, mut places) = (HashSet::new(), Vec::new());
    let chosen = spots.iter().filter(|spot| spot.used == used && !spot.beside.is_nan());
    for spot in chosen {
        let (x, y) = (chart.x.at(spot.round), chart.y.at(spot.beside));
        if taken.insert(((x / SQUARE) as i32, (y / SQUARE) as i32)) {
            places.push((x, y));
        }
    }
    places
}

/// The core clock over rounds, in percent of its mean: steps. `None` for fewer than two rounds.
pub fn core_clock(name: &str, clock: &[(f64, f64)]) -> Option<Plot> {
    let x = Span::of(clock.iter().map(|(round, _)| *round)).filter(|_| clock.len() > 1)?;
    let y = Span::of(clock.iter().map(|(_, percent)| *percent))?.padded(0.1);
    let titles = Titles {
        name,
        title: "Core clock during the run".into(),
        about: "Core clock of each round in percent of its mean, as the reference chain shows it."
            .into(),
        x: "round".into(),
        y: "core clock (% of its mean)".into(),
    };
    let mut chart = Chart::new(titles, x, y, 90.0);
    let (one, every) = (chart.y.at(100.0), clock.len().div_ceil(MOST_POINTS));
    let guide = segment((chart.x.at(x.low), one), (chart.x.at(x.high), one));
    let steps = clock.chunks(every).filter_map(<[_]>::first);
    let line =
        polyline(stairs(steps.map(|(round, percent)| (chart.x.at(*round), chart.y.at(*percent)))));
    chart.draw_with_key(Ink::Guide, guide, "mean");
    chart.draw_with_key(Ink::Line, line, "core clock");
    Some(chart.finish())
}

/// Each point, and before it the height of the one before at its place.
pub(super) fn stairs(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = Vec::new();
    for (x, y) in points {
        if let Some((_, before)) = all.last().copied().filter(|(_, before)| *before != y) {
            all.push((x, before));
        }
        all.push((x, y));
    }
    all
}
