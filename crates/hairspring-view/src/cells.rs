//! Times in columns, aligned at the decimal point.

use crate::clean::{pad, width};
use crate::format::{Digits, bound, digits, significant, time_unit};
use hairspring_core::Estimate;
use hairspring_core::judge::upper_bound;
use hairspring_result::document::{Standing, standing};

/// A number in a column, split into the part before the decimal point, the fraction with its point,
/// and the text after it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    head: String,
    fraction: String,
    tail: String,
}

impl Cell {
    fn number(text: &str, tail: String) -> Cell {
        let (head, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
        Cell { head: head.to_owned(), fraction: fraction.to_owned(), tail }
    }

    /// A time with its half-width; below resolution its bound. It never shows a negative number.
    pub fn time(estimate: &Estimate, in_ns: bool) -> Cell {
        let size = estimate.value.abs().max(estimate.half_width());
        let (factor, unit) = if in_ns { time_unit(size) } else { (1.0, "ticks") };
        Cell::scaled(estimate, factor, unit)
    }

    /// A time below resolution, as its upper bound.
    pub fn below(most: f64, in_ns: bool) -> Cell {
        let (factor, unit) = if in_ns { time_unit(most) } else { (1.0, "ticks") };
        Cell::at_most(most * factor, &format!(" {unit}"))
    }

    /// Core cycles below resolution, as their upper bound.
    pub fn cycles_below(most: f64) -> Cell {
        Cell::at_most(most, " cycles")
    }

    fn at_most(most: f64, unit: &str) -> Cell {
        Cell::number(&format!("below {}", bound(most)), unit.to_owned())
    }

    /// A number of core cycles.
    pub fn cycles(estimate: &Estimate) -> Cell {
        Cell::scaled(estimate, 1.0, "cycles")
    }

    /// A number that is exact because it is the unit of the others.
    pub fn exact(number: f64) -> Cell {
        Cell::number(&significant(number, 7), " (unit)".into())
    }

    /// A ratio of two times.
    pub fn ratio(estimate: &Estimate) -> Cell {
        Cell::scaled(estimate, 1.0, "")
    }

    fn scaled(estimate: &Estimate, factor: f64, unit: &str) -> Cell {
        let scaled = estimate.scaled(factor);
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        match standing(&scaled) {
            Standing::BelowResolution => {
                Cell::at_most(upper_bound(&scaled, 0.0).unwrap_or(scaled.high), &unit)
            }
            Standing::Negative => Cell { head: "negative".into(), ..Cell::default() },
            Standing::Above => {
                let Digits { value, half } = digits(&scaled);
                Cell::number(&value, format!("{unit} +- {half}"))
            }
        }
    }

    /// The cell without alignment.
    pub fn text(&self) -> String {
        format!("{}{}{}", self.head, self.fraction, self.tail)
    }
}

/// The cells as texts of one width, aligned at the decimal points.
pub fn align(cells: &[Cell]) -> Vec<String> {
    let widest =
        |part: fn(&Cell) -> &str| cells.iter().map(|cell| width(part(cell))).max().unwrap_or(0);
    let (head, fraction) = (widest(|cell| &cell.head), widest(|cell| &cell.fraction));
    let line = |cell: &Cell| {
        let fraction = if cell.tail.is_empty() {
            cell.fraction.clone()
        } else {
            pad(&cell.fraction, fraction)
        };
        format!("{}{}{fraction}{}", " ".repeat(head - width(&cell.head)), cell.head, cell.tail)
    };
    let lines: Vec<String> = cells.iter().map(line).collect();
    let widest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
    lines.iter().map(|line| pad(line, widest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(value: f64, half: f64) -> Cell {
        Cell::time(&Estimate { value, low: value - half, high: value + half, level: 0.95 }, true)
    }

    #[test]
    fn decimal_points_are_aligned() {
        let lines =
            align(&[cell(0.8108, 0.0006), cell(22.7, 0.03), cell(0.001, 0.011), cell(-5.0, 1.0)]);
        assert_eq!(lines[0], "       0.81080 ns +- 0.00060");
        assert_eq!(lines[1], "      22.700   ns +- 0.030  ");
        assert_eq!(lines[2], " below 0.012   ns           ");
        assert_eq!(lines[3].trim_end(), "negative".to_owned());
    }

    #[test]
    fn long_times_change_their_unit() {
        assert_eq!(cell(2.5e6, 1e3).text(), "2500.0 us +- 1.0");
    }
}
