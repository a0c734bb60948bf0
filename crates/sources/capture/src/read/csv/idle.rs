//! Rows of one level, whose kind is still open: levels in a list of changes never repeat at even
//! times, and volts of an idle pin may be exactly 0.

use super::LEVEL_ROWS;
use super::lines::Lines;
use super::shape::{Row, Shape};
use super::volts::Even;
use crate::error::{Error, Result};

/// Rows that were skipped after the first ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Idle {
    /// Number of these rows.
    pub(super) rows: u64,
    /// The last of them, and its line.
    pub(super) last: Option<Row>,
    pub(super) line: u64,
}

/// Skips rows while the channel stays at 0 or 1, at even times if the rows are timed; the first
/// other row is added to `first`.
pub(super) fn pass(lines: &mut Lines, shape: &Shape, first: &mut Vec<(u64, Row)>) -> Result<Idle> {
    let mut idle = Idle::default();
    let Some((even, level)) = steady(first, shape.time.is_some()) else { return Ok(idle) };
    let mut before = first.last().map(|(_, row)| *row);
    while let Some(text) = lines.next_row()? {
        let row = shape.row(text);
        if row.is_err() && lines.is_cut(lines.number) {
            lines.cut = true;
            break;
        }
        let row = row.map_err(|reason| Error::line(lines.number, reason))?;
        let is_even = |even: &Even| before.is_none_or(|before| even.off(&before, &row).is_none());
        if row.value != level || !even.as_ref().is_none_or(is_even) {
            first.push((lines.number, row));
            break;
        }
        before = Some(row);
        (idle.rows, idle.last, idle.line) = (idle.rows + 1, before, lines.number);
        lines.give_up_at_silence()?;
    }
    Ok(idle)
}

/// The distance of the rows, if they are timed, and the level, if the first rows may be levels or
/// volts.
fn steady(first: &[(u64, Row)], timed: bool) -> Option<(Option<Even>, f64)> {
    let level = first.first()?.1.value;
    let rows: Vec<Row> = first.iter().map(|(_, row)| *row).collect();
    let same = rows.iter().all(|row| row.value == level);
    if first.len() < LEVEL_ROWS || !same || !(level == 0.0 || level == 1.0) {
        return None;
    }
    let even = if timed { Some(Even::of(&rows)?) } else { None };
    let is_even = |even: &Even| rows.windows(2).all(|pair| even.off(&pair[0], &pair[1]).is_none());
    even.as_ref().is_none_or(is_even).then_some((even, level))
}
