//! Tables of logic analysers and oscilloscopes: sigrok's (one line a sample), Saleae's (one line a
//! change, or volts at even times), and plain lists of edges.
//!
//! Lines are read by hand because the crate `csv` does not report a truncated last line, supports
//! one comment character while these files have several, and does not limit lines.

mod cells;
mod decimal;
mod head;
mod idle;
mod lines;
mod settings;
mod shape;
mod stamps;
mod table;
mod times;
mod units;
mod volts;

use super::{Recording, Request};
use crate::edge::Edge;
use crate::error::{Error, Result};
use head::{Head, Origin};
use idle::Idle;
use lines::Lines;
pub(super) use lines::is_wide_text;
pub(super) use settings::frequency;
use shape::{Row, Shape};
use std::io::Read;
use table::Table;

/// Number of rows by which levels and volts are distinguished.
const LEVEL_ROWS: usize = 64;
/// Ticks per second of times that are written as decimals.
const NANO: f64 = 1e9;

/// Reads a table; edges are in samples if the rows are samples, else in nanoseconds.
///
/// # Errors
/// An invalid row, with its line; a missing channel; a rate of 0.
///
/// ```
/// use hairspring_capture::read::{Request, read_csv};
/// let text = "Time [s],Channel 0\n0.000000000,0\n0.000100000,1\n0.000208500,0\n";
/// let mut edges = Vec::new();
/// let recording = read_csv(text.as_bytes(), &Request::default(),
///     &mut |edge| edges.push(edge.at)).unwrap();
/// assert_eq!(recording.hz, Some(1e9));
/// assert!((edges[1] - edges[0] - 108_500.0).abs() < 1e-3);
/// ```
pub fn read_csv(
    stream: impl Read,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let mut lines = Lines::new(stream)?;
    let mut head = Head::default();
    let texts = first_lines(&mut lines, &mut head)?;
    head.rate = head.rate.or(request.sample_hz.map(|hz| (hz, Origin::Sigrok)));
    let mut shape = Shape::of(&mut head, &texts)?;
    let channel = shape.choose(&head, request.channel.as_deref())?;
    let mut first = first_rows(&mut lines, &shape, &texts)?;
    if shape.column.is_some() && head.rate.is_some() && are_at_once(&first) {
        // sigrok writes only zeros where it does not know the rate.
        shape.time = None;
        first.iter_mut().for_each(|(_, row)| row.time = None);
    }
    let idle = if shape.column.is_some() {
        idle::pass(&mut lines, &shape, &mut first)?
    } else {
        Idle::default()
    };
    let mut table = Table::new(&head, request, &shape, channel, &first, sink)?;
    request.stated.set(table.stated());
    take_first(&mut lines, &mut table, &first, idle)?;
    take_rows(&mut lines, &shape, request, &mut table)?;
    table.finish(lines.cut.then_some(lines.number))
}

/// Reads the head and the first lines of rows, which are kept until their kind is known.
fn first_lines(lines: &mut Lines, head: &mut Head) -> Result<Vec<(u64, String)>> {
    let Some(first) = head.read(lines)? else {
        let reason = match &head.not_row {
            _ if lines.number == 0 => "the file is empty".into(),
            Some((line, reason)) => format!("the file has no rows: line {line}: {reason}"),
            None => "the file has no rows".into(),
        };
        return Err(Error::Unusable(reason));
    };
    lines.rows_like(&first.1);
    let mut texts = vec![first];
    while texts.len() < LEVEL_ROWS {
        let Some(text) = lines.next_row()? else { break };
        let text = text.to_owned();
        texts.push((lines.number, text));
    }
    Ok(texts)
}

/// The first rows.
fn first_rows(
    lines: &mut Lines,
    shape: &Shape,
    texts: &[(u64, String)],
) -> Result<Vec<(u64, Row)>> {
    let mut rows = Vec::with_capacity(texts.len() + 1);
    for (line, text) in texts {
        let row = shape.row(text).map(|row| rows.push((*line, row)));
        lines.unless_cut(*line, row.map_err(|reason| Error::line(*line, reason)))?;
    }
    if rows.is_empty() {
        return Err(Error::Unusable("the file has no rows".into()));
    }
    Ok(rows)
}

/// Whether several rows have one time, which is 0.
fn are_at_once(rows: &[(u64, Row)]) -> bool {
    let is_zero = |row: &Row| row.time.is_some_and(|time| time.at == decimal::Decimal::ZERO);
    rows.len() > 1 && rows.iter().all(|(_, row)| is_zero(row))
}

/// Takes the first rows, with those of one level behind them.
fn take_first(
    lines: &mut Lines,
    table: &mut Table,
    first: &[(u64, Row)],
    idle: Idle,
) -> Result<()> {
    for (at, (line, row)) in first.iter().enumerate() {
        if at == LEVEL_ROWS {
            table.idle(idle)?;
        }
        let taken = table.row(*line, *row);
        lines.unless_cut(*line, taken)?;
    }
    if first.len() <= LEVEL_ROWS {
        table.idle(idle)?;
    }
    Ok(())
}

/// Takes all further rows.
fn take_rows(lines: &mut Lines, shape: &Shape, request: &Request, table: &mut Table) -> Result<()> {
    while let Some(text) = lines.next_row()? {
        let row = shape.row(text);
        let line = lines.number;
        let result =
            row.map_err(|reason| Error::line(line, reason)).and_then(|row| table.row(line, row));
        lines.unless_cut(line, result)?;
        request.go_on()?;
        if table.edges() == 0 {
            lines.give_up_at_silence()?;
        }
    }
    Ok(())
}
