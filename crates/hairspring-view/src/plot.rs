//! Plots of characters: the rows as marks over a line of dots, in braille or in plain ASCII.

use hairspring_result::document::Row;

/// A point of a plot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// x coordinate.
    pub x: f64,
    /// y coordinate.
    pub y: f64,
    /// Whether it is shown as a row in use (`o`) or left out (`x`).
    pub used: bool,
}

/// A plot: points, a line and the ranges of both axes.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The points.
    pub points: Vec<Point>,
    /// Ends of a straight line.
    pub line: [(f64, f64); 2],
    /// Range of the x axis.
    pub x: (f64, f64),
    /// Range of the y axis.
    pub y: (f64, f64),
}

/// Residuals below this share of the longest row are rounding errors.
pub const ROUNDING: f64 = 1e-12;

/// Location against the copies of the only component, with the fitted line; both axes start at
/// zero. `None` if there is nothing to see. `factor` converts the unit of the document to that of
/// the axis.
pub fn line_plot(rows: &[Row], slope: f64, overhead: f64, factor: f64) -> Option<Plot> {
    let points: Vec<Point> = rows
        .iter()
        .map(|row| Point {
            x: row.counts[0],
            y: row.location() * factor,
            used: row.left_out.is_none(),
        })
        .filter(|point| point.x.is_finite() && point.y.is_finite())
        .collect();
    let right = points.iter().map(|point| point.x).fold(0.0, f64::max);
    let at = |x: f64| factor * (slope * x + overhead);
    let ends = [(0.0, at(0.0)), (right, at(right))];
    let heights = || points.iter().map(|point| point.y).chain(ends.map(|end| end.1));
    let y = (heights().fold(0.0, f64::min), heights().fold(0.0, f64::max));
    let seen = points.len() >= 2 && right > 0.0 && y.1 > y.0 && y.1.is_finite() && y.0.is_finite();
    seen.then_some(Plot { points, line: ends, x: (0.0, right), y })
}

/// Residuals around a zero line: against the copies where there is one component, else against the
/// fitted values. The factors are those of the two axes. Left-out rows beyond the edge are drawn on
/// it.
pub fn residual_plot(rows: &[Row], across: f64, up: f64) -> Option<Plot> {
    let one = rows.iter().all(|row| row.counts.len() == 1);
    let x =
        |row: &Row| if one { row.counts[0] } else { (row.location() - row.residual()) * across };
    let point =
        |row: &Row| Point { x: x(row), y: row.residual() * up, used: row.left_out.is_none() };
    let points: Vec<Point> =
        rows.iter().map(point).filter(|point| point.x.is_finite() && point.y.is_finite()).collect();
    let reach =
        points.iter().filter(|point| point.used).map(|point| point.y.abs()).fold(0.0, f64::max);
    let least = if one { 0.0 } else { f64::INFINITY };
    let x = (
        points.iter().map(|p| p.x).fold(least, f64::min),
        points.iter().map(|p| p.x).fold(f64::NEG_INFINITY, f64::max),
    );
    let largest = rows
        .iter()
        .filter(|row| row.left_out.is_none())
        .map(|row| row.location().abs())
        .fold(0.0, f64::max);
    let seen = points.len() >= 2 && x.1 > x.0 && reach > ROUNDING * largest * up;
    seen.then_some(Plot { points, line: [(x.0, 0.0), (x.1, 0.0)], x, y: (-reach, reach) })
}

impl Plot {
    /// Draws the plot as `lines` of `columns` characters.
    pub fn draw(&self, columns: usize, lines: usize, ascii: bool) -> Vec<String> {
        self.draw_with(&[], columns, lines, ascii)
    }

    /// The same with further lines.
    pub fn draw_with(
        &self,
        further: &[[(f64, f64); 2]],
        columns: usize,
        lines: usize,
        ascii: bool,
    ) -> Vec<String> {
        let mut canvas = Canvas::new(columns, lines, ascii);
        for [(x0, y0), (x1, y1)] in std::iter::once(&self.line).chain(further) {
            let steps = 8 * columns;
            for step in 0..=steps {
                let t = step as f64 / steps as f64;
                canvas.dot(share(x0 + t * (x1 - x0), self.x), share(y0 + t * (y1 - y0), self.y));
            }
        }
        for (used, mark) in [(true, 'o'), (false, 'x')] {
            for point in self.points.iter().filter(|point| point.used == used) {
                canvas.mark(share(point.x, self.x), share(point.y, self.y), mark);
            }
        }
        canvas.lines()
    }
}

/// The position of a number in a range, from 0 to 1.
fn share(number: f64, (low, high): (f64, f64)) -> f64 {
    ((number - low) / (high - low)).clamp(0.0, 1.0)
}

/// A grid of characters, each with two by four dots.
struct Canvas {
    columns: usize,
    rows: usize,
    ascii: bool,
    dots: Vec<u8>,
    marks: Vec<Option<char>>,
}

/// Bits of a braille character, by column and by row from the top.
const BRAILLE: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

impl Canvas {
    fn new(columns: usize, rows: usize, ascii: bool) -> Canvas {
        Canvas {
            columns,
            rows,
            ascii,
            dots: vec![0; columns * rows],
            marks: vec![None; columns * rows],
        }
    }

    /// The place of a share on a grid of `steps`.
    fn place(share: f64, steps: usize) -> usize {
        ((share * steps as f64) as usize).min(steps - 1)
    }

    fn dot(&mut self, x: f64, y: f64) {
        let (column, row) = (Self::place(x, 2 * self.columns), Self::place(1.0 - y, 4 * self.rows));
        self.dots[row / 4 * self.columns + column / 2] |= BRAILLE[column % 2][row % 4];
    }

    fn mark(&mut self, x: f64, y: f64, mark: char) {
        let (column, row) = (Self::place(x, self.columns), Self::place(1.0 - y, self.rows));
        self.marks[row * self.columns + column] = Some(mark);
    }

    fn cell(&self, at: usize) -> char {
        match (self.marks[at], self.dots[at]) {
            (Some(mark), _) => mark,
            (None, 0) => ' ',
            (None, _) if self.ascii => '.',
            (None, bits) => char::from_u32(0x2800 + u32::from(bits)).unwrap_or('.'),
        }
    }

    fn lines(&self) -> Vec<String> {
        let line = |row: usize| {
            (0..self.columns)
                .map(|column| self.cell(row * self.columns + column))
                .collect::<String>()
        };
        (0..self.rows).map(|row| line(row).trim_end().to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(copies: f64, location: f64, residual: f64) -> Row {
        Row {
            counts: vec![copies],
            location_ns: Some(Some(location)),
            residual_ns: Some(Some(residual)),
            ..Row::default()
        }
    }

    #[test]
    fn a_line_runs_from_corner_to_corner() {
        let plot = line_plot(&[row(1.0, 1.0, 0.0), row(4.0, 4.0, 0.0)], 1.0, 0.0, 1.0).unwrap();
        assert_eq!(plot.draw(8, 4, true), ["      .o", "    ...", "  ...", "..o"]);
    }

    #[test]
    fn empty_plots_are_not_drawn() {
        assert!(line_plot(&[row(1.0, f64::NAN, 0.0), row(2.0, 1.0, 0.0)], 1.0, 0.0, 1.0).is_none());
        assert!(residual_plot(&[row(1.0, 1.0, 0.0), row(2.0, 2.0, 0.0)], 1.0, 1.0).is_none());
        assert!(residual_plot(&[row(1.0, 1.0, 1e-16), row(2.0, 2.0, -1e-16)], 1.0, 1.0).is_none());
    }
}
