//! The rows of a series over their copies with the fitted line, and what they depart by.

use super::Plot;
use super::chart::{Chart, Ink, Titles, circle, cross, segment};
use super::scale::Span;
use hairspring_view::plot::{Plot as Points, Point};

/// Rows over copies with the fitted line; the times are in `unit`.
/// [`hairspring_view::plot::line_plot`] makes the points.
pub fn line(name: &str, series: &str, points: &Points, unit: &str) -> Plot {
    let titles = Titles {
        name,
        title: format!("Rows and fitted line of {series}"),
        about: format!(
            "Time of each of {} rows over its copies, with the fitted line. Circles are rows in \
             use, crosses rows left out.",
            points.points.len()
        ),
        x: "copies".into(),
        y: format!("time of a row ({unit})"),
    };
    let mut chart = Chart::new(titles, span(points.x), span(points.y), 170.0);
    let end = |(x, y): (f64, f64)| (chart.x.at(x), chart.y.at(y));
    let path = segment(end(points.line[0]), end(points.line[1]));
    chart.draw_with_key(Ink::Line, path, "fitted line");
    rows(&mut chart, &points.points);
    chart.finish()
}

/// Residuals of the rows; those left out beyond the edge are drawn on it.
/// [`hairspring_view::plot::residual_plot`] makes the points.
pub fn residuals(name: &str, series: &str, points: &Points, across: &str, unit: &str) -> Plot {
    let titles = Titles {
        name,
        title: format!("Residuals of the rows of {series}"),
        about: format!(
            "What each of {} rows departs by from the fitted times. Rows left out that lie beyond \
             the edge are drawn on it.",
            points.points.len()
        ),
        x: across.into(),
        y: format!("row minus fit ({unit})"),
    };
    let mut chart = Chart::new(titles, span(points.x), span(points.y).padded(0.06), 120.0);
    let (span, zero) = (chart.x.span(), chart.y.at(0.0));
    let path = segment((chart.x.at(span.low), zero), (chart.x.at(span.high), zero));
    chart.draw_with_key(Ink::Guide, path, "on the line");
    rows(&mut chart, &points.points);
    chart.finish()
}

fn span((low, high): (f64, f64)) -> Span {
    Span::of([low, high]).unwrap_or(Span { low: 0.0, high: 1.0 })
}

fn rows(chart: &mut Chart, points: &[Point]) {
    let place = |point: &&Point| (chart.x.at(point.x), chart.y.at(point.y));
    let used = points.iter().filter(|point| point.used);
    let used: String = used.map(|point| place(&point)).map(|(x, y)| circle(x, y, 3.0)).collect();
    let out = points.iter().filter(|point| !point.used);
    let out: String = out.map(|point| place(&point)).map(|(x, y)| cross(x, y, 3.5)).collect();
    chart.draw_with_key(Ink::Used, used, "row in use");
    chart.draw_with_key(Ink::Out, out, "row left out");
}
