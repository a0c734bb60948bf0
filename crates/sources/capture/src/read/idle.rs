//! Rows of one level, whose kind is still open: levels in a list of changes never repeat at even
//! times, and volts of an idle pin may be exactly 0.

use super::csv::{LEVEL_ROWS, Lines, UNEVEN_DISTANCE};
use super::fields::Fields;
use crate::error::{Error, Result};

/// Rows that were skipped after the first ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Idle {
    /// Number of these rows.
    pub(super) rows: u64,
    /// Time of the last of them.
    pub(super) last: f64,
}

/// Skips rows while the column stays at 0 or 1, at even times if the rows are timed; the first
/// other row is added to `first`.
pub(super) fn pass<R: std::io::Read>(
    lines: &mut Lines<R>,
    fields: &mut Fields,
    column: usize,
    timed: bool,
    first: &mut Vec<(u64, Vec<f64>)>,
) -> Result<Idle> {
    let mut idle = Idle::default();
    let Some((step, level)) = steady(first, column, timed) else { return Ok(idle) };
    let columns = first[0].1.len();
    idle.last = first[first.len() - 1].1[0];
    while let Some(text) = lines.next()? {
        if text.is_empty() || text.starts_with([';', '#']) {
            continue;
        }
        let values = match fields.numbers(text) {
            Err(_) if lines.ends_within(false) => break,
            Ok(values) if lines.ends_within(values.len() == columns) => break,
            values => values.map_err(|reason| Error::line(lines.number, reason))?,
        };
        let is_uneven = timed && ((values[0] - idle.last) / step - 1.0).abs() > UNEVEN_DISTANCE;
        if values.len() != columns || values[column] != level || is_uneven {
            first.push((lines.number, values));
            break;
        }
        (idle.rows, idle.last) = (idle.rows + 1, values[0]);
        lines.give_up_at_silence()?;
    }
    Ok(idle)
}

/// Time between rows, if they are timed, and the level, if the first rows may be levels or volts.
fn steady(first: &[(u64, Vec<f64>)], column: usize, timed: bool) -> Option<(f64, f64)> {
    let (start, level) = (first[0].1[0], *first[0].1.get(column)?);
    let step = (first[first.len() - 1].1[0] - start) / (first.len() - 1).max(1) as f64;
    let even = first
        .windows(2)
        .all(|pair| ((pair[1].1[0] - pair[0].1[0]) / step - 1.0).abs() <= UNEVEN_DISTANCE);
    let same = first.iter().all(|row| row.1.get(column) == Some(&level));
    let in_time = !timed || column > 0 && step > 0.0 && even;
    (first.len() >= LEVEL_ROWS && in_time && same && (level == 0.0 || level == 1.0))
        .then_some((step, level))
}
