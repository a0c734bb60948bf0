//! The points of a series over commits, with their intervals, and the levels between its steps.

use super::Plot;
use super::chart::{Chart, Ink, Titles, circle, cross, polyline, segment};
use super::scale::Span;
use hairspring_view::format::count;

/// A point of a history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Its number.
    pub at: usize,
    /// Its value.
    pub value: f64,
    /// Its interval; not finite without one.
    pub ends: [f64; 2],
    /// Whether it is used.
    pub used: bool,
}

/// A level: its first and its last point, and its mean.
pub type Stretch = (usize, usize, f64);

/// More points are drawn without their intervals.
const MOST_INTERVALS: usize = 500;

/// Points in their order. Those left out that lie beyond the edge are drawn on it. `None` without a
/// point in use.
pub fn history(
    (name, series): (&str, &str),
    unit: &str,
    points: &[Moment],
    levels: &[Stretch],
) -> Option<Plot> {
    let used = || points.iter().filter(|point| point.used);
    let x = Span::of(points.iter().map(|point| point.at as f64))?;
    let with_ends = points.len() <= MOST_INTERVALS;
    let ends = used().flat_map(|point| point.ends.into_iter().filter(|_| with_ends));
    let y = Span::of(used().map(|point| point.value).chain(ends))?.padded(0.08);
    let steps = levels.len().saturating_sub(1);
    let titles = Titles {
        name,
        title: format!("History of {series}"),
        about: format!(
            "{} points in the order of their commits, with their intervals; {steps} steps between \
             the levels, which are lines. Crosses are points that are left out; those beyond the \
             edge are drawn on it.",
            count(points.len())
        ),
        x: "point".into(),
        y: format!("value ({unit})"),
    };
    let mut chart = Chart::new(titles, x, y, 170.0);
    if with_ends {
        let lines: String = used().filter_map(|point| whisker(&chart, point)).collect();
        chart.draw(Ink::Interval, lines);
    }
    let lines: String = levels.iter().map(|level| stretch(&chart, level)).collect();
    chart.draw_with_key(Ink::Line, lines, "level");
    let marks = |used: bool| -> Vec<(f64, f64)> {
        let chosen = points.iter().filter(|point| point.used == used && point.value.is_finite());
        chosen.map(|point| (chart.x.at(point.at as f64), chart.y.at(point.value))).collect()
    };
    let (inside, out) = (marks(true), marks(false));
    chart.draw_with_key(
        Ink::Used,
        inside.iter().map(|(x, y)| circle(*x, *y, 2.0)).collect(),
        "point",
    );
    if !out.is_empty() {
        let crosses = out.iter().map(|(x, y)| cross(*x, *y, 3.0)).collect();
        chart.draw_with_key(Ink::Out, crosses, "left out");
    }
    Some(chart.finish())
}

fn whisker(chart: &Chart, point: &Moment) -> Option<String> {
    let x = chart.x.at(point.at as f64);
    let ends = point.ends.iter().all(|end| end.is_finite());
    ends.then(|| segment((x, chart.y.at(point.ends[0])), (x, chart.y.at(point.ends[1]))))
}

fn stretch(chart: &Chart, (from, to, mean): &Stretch) -> String {
    let y = chart.y.at(*mean);
    polyline([(chart.x.at(*from as f64) - 2.0, y), (chart.x.at(*to as f64) + 2.0, y)])
}
