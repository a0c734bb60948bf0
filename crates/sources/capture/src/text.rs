//! A picture of a sampled signal around an edge.

use hairspring_view::format::significant;
use hairspring_view::page::{Page, Style, Tone};
use hairspring_view::plot::{Plot, Point};

/// Size of the picture in characters.
const SIZE: (usize, usize) = (60, 8);

/// The samples around an edge as `o`, and the edge as a line from bottom to top. `edge` is its
/// place in samples from the first.
pub fn signal(samples: &[f32], edge: f64, hz: Option<f64>, style: &Style) -> String {
    let points: Vec<Point> = samples
        .iter()
        .enumerate()
        .map(|(at, y)| Point { x: at as f64, y: f64::from(*y), used: true })
        .filter(|point| point.y.is_finite())
        .collect();
    let low = points.iter().map(|point| point.y).fold(f64::INFINITY, f64::min);
    let high = points.iter().map(|point| point.y).fold(f64::NEG_INFINITY, f64::max);
    let right = samples.len().saturating_sub(1) as f64;
    if points.len() < 2 || high <= low || !(0.0..=right).contains(&edge) {
        return String::new();
    }
    let plot = Plot { points, line: [(edge, low), (edge, high)], x: (0.0, right), y: (low, high) };
    let mut page = Page::new(*style);
    let (from, to) = match hz {
        Some(hz) => (
            format!("{} us", significant(-1e6 * edge / hz, 3)),
            format!("+{} us", significant(1e6 * (right - edge) / hz, 3)),
        ),
        None => (significant(-edge, 3), format!("+{} samples", significant(right - edge, 3))),
    };
    let lines = plot.draw(SIZE.0, SIZE.1, style.ascii);
    let ends = [significant(high, 3), significant(low, 3)];
    for (at, line) in lines.iter().enumerate() {
        let label = if at == 0 {
            &ends[0]
        } else if at + 1 == lines.len() {
            &ends[1]
        } else {
            ""
        };
        page.line(&format!("{label:>11} |{line}"), Tone::Quiet);
    }
    page.line(&format!("            +{}", "-".repeat(SIZE.0)), Tone::Quiet);
    let middle = "samples around the first edge";
    let space = SIZE.0.saturating_sub(from.len() + to.len());
    page.line(&format!("             {from}{middle:^space$}{to}"), Tone::Quiet);
    format!("\n{}", page.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_is_drawn_between_its_samples() {
        let samples: Vec<f32> = (0..21).map(|at| if at < 10 { -0.25 } else { 0.25 }).collect();
        let text =
            signal(&samples, 9.5, Some(192_000.0), &Style { ascii: true, ..Style::default() });
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), SIZE.1 + 2, "{text}");
        assert!(lines[0].starts_with("       0.25 |") && lines[0].ends_with('o'), "{text}");
        assert!(lines[SIZE.1 - 1].contains("-0.25 |o"), "{text}");
        assert!(text.contains("-49.5 us") && text.contains("+54.7 us"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let nothing = signal(&[0.0; 21], 9.5, None, &Style::default());
        assert_eq!(nothing, "");
    }
}
