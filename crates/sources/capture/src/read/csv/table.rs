//! The kind of a table's rows, and their edges.

use super::LEVEL_ROWS;
use super::head::{Head, Origin};
use super::idle::Idle;
use super::shape::{Row, Shape};
use super::times::{Digits, Times};
use super::volts::{Even, Volts};
use crate::edge::Edge;
use crate::error::{Error, Place, Result};
use crate::read::samples::Levels;
use crate::read::{Format, Recording, Remark, Request};

/// Largest time in seconds: 30,000 years, whose ticks are still finite.
const MOST_SECONDS: f64 = 1e12;

/// The kind of the rows.
enum Rows {
    /// Edges only: times.
    Times(Times),
    /// A time and levels: one row for each change.
    Changes(Times),
    /// Volts: one row for each sample, with a time or at the stated rate.
    Volts(Box<Volts>),
    /// Levels at even times.
    Samples,
}

/// The rows being read.
pub(super) struct Table<'a> {
    rows: Rows,
    channel: String,
    /// The stated rate, and whether it is a setting beside times.
    rate: Option<(f64, Origin)>,
    levels: Levels,
    /// Digits of the times.
    digits: Digits,
    last: Option<Last>,
    sink: &'a mut dyn FnMut(Edge),
}

/// The level that a row gives; `None` where it is not defined.
fn level(line: u64, value: f64) -> Result<Option<bool>> {
    match value {
        0.0 => Ok(Some(false)),
        1.0 => Ok(Some(true)),
        value if value.is_nan() => Ok(None),
        _ => Err(Error::line(line, format!("the level is {value}, expected 0 or 1"))),
    }
}

impl<'a> Table<'a> {
    /// A table of the kind that its first rows show.
    pub(super) fn new(
        head: &Head,
        request: &Request,
        shape: &Shape,
        channel: String,
        first: &[(u64, Row)],
        sink: &'a mut dyn FnMut(Edge),
    ) -> Result<Table<'a>> {
        let digits = Digits::of(first.iter().filter_map(|(_, row)| row.time));
        Ok(Table {
            rows: rows(head, request, shape, first)?,
            channel,
            rate: head.rate,
            levels: Levels::default(),
            digits,
            last: None,
            sink,
        })
    }

    /// Number of edges of levels so far.
    pub(super) fn edges(&self) -> u64 {
        self.levels.edges
    }

    /// The rate, if the head states it.
    pub(super) fn stated(&self) -> Option<f64> {
        match &self.rows {
            Rows::Samples | Rows::Volts(_) => self.rate.map(|(hz, _)| hz),
            Rows::Times(times) | Rows::Changes(times) => Some(times.hz),
        }
    }

    /// Takes a row.
    pub(super) fn row(&mut self, line: u64, row: Row) -> Result<()> {
        let mut last_at = f64::NEG_INFINITY;
        match &mut self.rows {
            Rows::Samples => match level(line, row.value)? {
                Some(level) => self.levels.push(level, self.sink),
                None => {
                    self.levels.lost(self.levels.samples as f64);
                    self.levels.samples += 1;
                }
            },
            Rows::Changes(times) => {
                let at = ticks(times, line, &row, self.last.as_ref(), &mut self.digits)?;
                last_at = at;
                match level(line, row.value)? {
                    Some(level) => self.levels.change(level, at, self.sink),
                    None => self.levels.lost(at),
                }
            }
            Rows::Times(times) => {
                let at = ticks(times, line, &row, self.last.as_ref(), &mut self.digits)?;
                not_at_once(times, line, at, self.last.as_ref())?;
                last_at = at;
                (self.sink)(Edge { at, rising: self.levels.edges % 2 == 0 });
                self.levels.edges += 1;
            }
            Rows::Volts(volts) => volts.push(line, row, self.sink)?,
        }
        self.last = Some(Last { row, at: last_at });
        Ok(())
    }

    /// Takes rows that equal the first one except for their even times.
    pub(super) fn idle(&mut self, idle: Idle) -> Result<()> {
        let Some(row) = idle.last else { return Ok(()) };
        let mut at = f64::NEG_INFINITY;
        match &mut self.rows {
            // The level is that of the rows before.
            Rows::Samples => self.levels.samples += idle.rows,
            Rows::Volts(volts) => volts.repeat(idle.rows, row, self.sink)?,
            Rows::Times(times) | Rows::Changes(times) => {
                at = ticks(times, idle.line, &row, self.last.as_ref(), &mut self.digits)?;
            }
        }
        self.last = Some(Last { row, at });
        Ok(())
    }

    /// What was read; `cut` is the line of an incomplete row.
    pub(super) fn finish(self, cut: Option<u64>) -> Result<Recording> {
        let mut recording = Recording {
            format: Some(Format::Csv),
            edges: self.levels.edges,
            granularity: Some(self.granularity()),
            hz: self.stated(),
            channel: self.channel,
            ..Recording::default()
        };
        if let Rows::Volts(mut volts) = self.rows {
            volts.detector.finish(self.sink)?;
            let signal = volts.detector.signal();
            recording.edges = signal.edges;
            let is_setting = self.rate.is_some_and(|(_, origin)| origin == Origin::Setting);
            let rate = volts.rate(self.rate.map(|(hz, _)| hz), is_setting)?;
            (recording.hz, recording.rate_ppm) = (rate.hz, rate.ppm);
            (recording.signal, recording.granularity) = (Some(signal), None);
        }
        if self.levels.undefined.0 > 0 {
            let (times, first) = self.levels.undefined;
            recording.remarks.push(Remark::Undefined { times, first });
        }
        if let Some(line) = cut {
            recording.remarks.push(Remark::Truncated {
                place: Place::Line(line),
                reason: "the last line is a part of a row, and is not used".into(),
            });
        }
        Ok(recording)
    }

    /// Resolution of the edges in ticks: of times, that of their digits and of a stated rate.
    fn granularity(&self) -> f64 {
        let (Rows::Times(times) | Rows::Changes(times)) = &self.rows else { return 1.0 };
        if times.counts_samples() {
            return 1.0;
        }
        let digit = self.digits.coarsest() * 10f64.powi(times.power()) * times.hz;
        let sample = self.rate.map_or(0.0, |(hz, _)| times.hz / hz);
        digit.max(sample).max(1.0)
    }
}

/// A row and its ticks.
#[derive(Debug, Clone, Copy)]
struct Last {
    row: Row,
    at: f64,
}

/// The ticks of a row's time, which must not be before that of the row before.
fn ticks(
    times: &mut Times,
    line: u64,
    row: &Row,
    last: Option<&Last>,
    digits: &mut Digits,
) -> Result<f64> {
    let Some(time) = &row.time else { return Err(Error::line(line, "has no time")) };
    let at = times.ticks(time).map_err(|reason| Error::line(line, reason))?;
    let seconds = times.seconds_of(at);
    if seconds.is_nan() || seconds.abs() > MOST_SECONDS {
        let seconds = times.seconds(time);
        return Err(Error::line(
            line,
            format!("the time is {seconds:e} s, the limit is {MOST_SECONDS:e} s"),
        ));
    }
    let before = last.filter(|last| at < last.at).and_then(|last| last.row.time);
    if let Some(before) = before {
        let (before, now) = (before.at.to_f64(), time.at.to_f64());
        return Err(Error::line(line, format!("the time goes backwards, from {before} to {now}")));
    }
    digits.push(time);
    Ok(at)
}

/// Refuses an edge at the time of the one before.
fn not_at_once(times: &Times, line: u64, at: f64, last: Option<&Last>) -> Result<()> {
    match last.filter(|last| last.at == at) {
        Some(_) => Err(Error::line(
            line,
            format!(
                "the time equals that of the edge before, {} s: no two edges happen at once",
                times.seconds_of(at)
            ),
        )),
        None => Ok(()),
    }
}

/// The kind of the rows that begin with these.
fn rows(head: &Head, request: &Request, shape: &Shape, first: &[(u64, Row)]) -> Result<Rows> {
    let line = first.first().map_or(0, |(line, _)| *line);
    let at_line = |reason: String| Error::line(line, reason);
    let all_rows: Vec<Row> = first.iter().map(|(_, row)| *row).collect();
    let times_of = |column: usize| {
        let times: Vec<_> = all_rows.iter().filter_map(|row| row.time).collect();
        Times::new(head, column, &times).map_err(at_line)
    };
    let of_levels =
        all_rows.iter().all(|row| row.value == 0.0 || row.value == 1.0 || row.value.is_nan());
    match (shape.time, shape.column) {
        (Some(time), None) => Ok(Rows::Times(times_of(time)?)),
        (Some(time), Some(_)) if of_levels => Ok(Rows::Changes(times_of(time)?)),
        (Some(time), Some(_)) => {
            let times = times_of(time)?;
            let even = Even::of(&all_rows[..all_rows.len().min(LEVEL_ROWS)]);
            let reason = "the times of the samples do not increase, so there is no rate";
            let even = even.ok_or_else(|| at_line(reason.into()))?;
            Ok(Rows::Volts(Box::new(Volts::new(request, &all_rows, Some((even, times))))))
        }
        (None, _) if head.rate.is_none() => {
            let reason = "neither a column of times nor a stated rate of the samples gives the \
                          times of the rows: save the recording with times, or add a first line \
                          such as `; Samplerate: 1 MHz`";
            Err(at_line(reason.into()))
        }
        (None, _) if of_levels => Ok(Rows::Samples),
        (None, _) => Ok(Rows::Volts(Box::new(Volts::new(request, &all_rows, None)))),
    }
}
