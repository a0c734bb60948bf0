//! Tables of logic analysers: sigrok's (one line a sample), Saleae's (one line a change, or volts
//! at even times), and plain lists of edges.
//!
//! Lines are read by hand because the crate `csv` does not report a truncated last line, supports
//! one comment character while these files have two, and does not limit lines.

use super::fields::{Fields, is_blank};
use super::idle::{self, Idle};
use super::samples::Levels;
use super::times::{Times, is_time};
use super::{Recording, Remark, Request, choose, scope};
use crate::edge::{Detector, Edge};
use crate::error::{Error, Place, Result, shown};
use std::io::{BufRead, BufReader, Read};

/// Longest line.
const MOST_LINE: u64 = 1 << 20;
/// Bytes without an edge after which reading stops.
const MOST_SILENCE: u64 = 1 << 30;
/// Number of rows by which levels and volts are distinguished.
pub(super) const LEVEL_ROWS: usize = 64;
/// Largest distance of a sample of volts from its even time, in samples.
pub(super) const UNEVEN_DISTANCE: f64 = 0.5;
/// Largest time in seconds: 30,000 years, whose ticks are still finite.
const MOST_SECONDS: f64 = 1e12;
/// sigrok's last column that is no channel.
const TRIGGER: &str = "Trigger";
/// Ticks per second of times that are written as decimals.
pub(super) const NANO: f64 = 1e9;

/// The lines of a file with their numbers.
pub(super) struct Lines<R> {
    stream: BufReader<R>,
    text: String,
    bytes: Vec<u8>,
    pub(super) number: u64,
    place: u64,
    /// Whether the last line had an end.
    pub(super) whole: bool,
    /// Whether the last line is an incomplete row.
    pub(super) cut: bool,
}

impl<R: Read> Lines<R> {
    pub(super) fn next(&mut self) -> Result<Option<&str>> {
        self.bytes.clear();
        let read = self
            .stream
            .by_ref()
            .take(MOST_LINE)
            .read_until(b'\n', &mut self.bytes)
            .map_err(|error| Error::stream(&error))?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.place += read as u64;
        self.whole = self.bytes.last() == Some(&b'\n');
        if read as u64 == MOST_LINE && !self.whole {
            return Err(Error::line(
                self.number,
                format!("is longer than {MOST_LINE} bytes: this is not a table of a recording"),
            ));
        }
        let text = std::str::from_utf8(&self.bytes)
            .map_err(|_| Error::line(self.number, "is not UTF-8 text"))?;
        text.trim().trim_start_matches('\u{feff}').clone_into(&mut self.text);
        // Keysight ends its tables with the time of a sample that is not there.
        let is_end = self.whole
            && is_blank(&self.text)
            && self.stream.fill_buf().map_err(|error| Error::stream(&error))?.is_empty();
        Ok((!is_end).then_some(&self.text))
    }

    /// Whether an invalid row is the end of a truncated file.
    pub(super) fn ends_within(&mut self, is_row: bool) -> bool {
        let cut = !self.whole && !is_row;
        self.cut |= cut;
        cut
    }

    /// The result of a line; an invalid row is not an error at the end of a truncated file.
    fn unless_cut(&mut self, line: u64, taken: Result<()>) -> Result<()> {
        if taken.is_err() && !self.whole && line == self.number {
            self.cut = true;
            return Ok(());
        }
        taken
    }

    /// Stops reading with an error after too long a stretch without an edge.
    pub(super) fn give_up_at_silence(&self) -> Result<()> {
        if self.place > MOST_SILENCE {
            return Err(Error::line(
                self.number,
                "no edge up to here, so the rest is not read: is it the right channel?",
            ));
        }
        Ok(())
    }
}

/// Contents of the lines before the first row.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// Names of the columns.
    pub(super) names: Vec<String>,
    /// Samples per second, from sigrok's comments or an oscilloscope's settings.
    pub(super) hz: Option<f64>,
    /// Channels, from sigrok's comments or an oscilloscope's settings.
    pub(super) channels: Vec<String>,
    /// Whether an oscilloscope states the distance of its samples, so that rounded times do not
    /// count.
    pub(super) even: bool,
    /// Lines that are neither comments nor rows.
    pub(super) lines: u32,
}

/// The kind of the rows.
enum Rows {
    /// Edges only: times.
    Times(Times),
    /// A time and levels: one row for each change.
    Changes { column: usize, times: Times },
    /// Volts: one row for each sample, with a time or at the stated rate.
    Volts(Volts),
    /// Levels at even times.
    Samples { column: usize },
}

/// Rows of volts.
struct Volts {
    column: usize,
    detector: Box<Detector>,
    /// Distance of the rows' times, if they have times.
    even: Option<Even>,
    /// Samples so far.
    n: u64,
}

impl Volts {
    /// Takes a row, at a distance from the one before where the rows have times.
    fn push(
        &mut self,
        line: u64,
        values: &[f64],
        distance: f64,
        sink: &mut dyn FnMut(Edge),
    ) -> Result<()> {
        let off = self.even.as_ref().map_or(0.0, |even| distance / even.step - 1.0);
        if self.n > 0 && off.abs() > UNEVEN_DISTANCE {
            return Err(Error::line(
                line,
                format!("the samples are not evenly spaced: this one is off by {off:.2} samples"),
            ));
        }
        self.n += 1;
        self.detector.push(&[values[self.column] as f32], sink)
    }
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

/// Times at even distances.
struct Even {
    first: f64,
    step: f64,
    /// Seconds of one unit of the times.
    unit: f64,
}

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
    let stream = BufReader::with_capacity(1 << 18, stream);
    let mut lines = Lines {
        stream,
        text: String::new(),
        bytes: Vec::new(),
        number: 0,
        place: 0,
        whole: true,
        cut: false,
    };
    let (mut head, mut fields) = (Head::default(), Fields::default());
    let mut first = first_rows(&mut lines, &mut head, &mut fields)?;
    let channel = channel(&head, request, first[0].1.len())?;
    let idle = match &channel {
        Some((column, _)) => {
            let timed = head.timed(first[0].1.len());
            idle::pass(&mut lines, &mut fields, *column, timed, &mut first)?
        }
        None => Idle::default(),
    };
    let mut table = Table::new(&head, request, channel, &first, sink)?;
    request.stated.set(table.stated(&head));
    for (at, (line, values)) in first.iter().enumerate() {
        if at == LEVEL_ROWS {
            table.idle(idle, &first[0].1)?;
        }
        lines.unless_cut(*line, table.row(*line, values))?;
    }
    if first.len() <= LEVEL_ROWS {
        table.idle(idle, &first[0].1)?;
    }
    take_rows(&mut lines, &mut fields, request, &mut table)?;
    let cut = lines.cut.then_some(lines.number);
    table.finish(&head, cut)
}

/// Reads the head and the first rows, which are kept until their kind is known.
fn first_rows<R: Read>(
    lines: &mut Lines<R>,
    head: &mut Head,
    fields: &mut Fields,
) -> Result<Vec<(u64, Vec<f64>)>> {
    let mut first: Vec<(u64, Vec<f64>)> = Vec::new();
    while first.len() < LEVEL_ROWS {
        let Some(text) = lines.next()? else { break };
        let text = text.to_owned();
        match fields.numbers(&text) {
            _ if text.is_empty() => (),
            _ if text.starts_with([';', '#']) => head.comment(&text, lines.number)?,
            Ok(values)
                if lines.ends_within(
                    first.first().is_none_or(|(_, row)| row.len() == values.len()),
                ) =>
            {
                break;
            }
            Ok(values) => first.push((lines.number, values)),
            Err(_) if !first.is_empty() && lines.ends_within(false) => break,
            Err(_) if first.is_empty() && head.lines < scope::MOST_LINES => {
                if let Some(row) = scope::line(head, fields, &text) {
                    first.push((lines.number, row));
                }
            }
            Err(reason) => return Err(Error::line(lines.number, reason)),
        }
    }
    if first.is_empty() {
        return Err(Error::Unusable(
            if lines.number == 0 { "the file is empty" } else { "the file has no rows" }.into(),
        ));
    }
    Ok(first)
}

/// Takes all further rows.
fn take_rows<R: Read>(
    lines: &mut Lines<R>,
    fields: &mut Fields,
    request: &Request,
    table: &mut Table,
) -> Result<()> {
    while let Some(text) = lines.next()? {
        if !text.is_empty() && !text.starts_with([';', '#']) {
            let values = fields.numbers(text).map_err(|reason| Error::line(lines.number, reason));
            let taken = values.and_then(|values| table.row(lines.number, &values));
            lines.unless_cut(lines.number, taken)?;
        }
        request.go_on()?;
        if table.levels.edges == 0 {
            lines.give_up_at_silence()?;
        }
    }
    Ok(())
}

impl Head {
    /// A comment of sigrok's.
    fn comment(&mut self, text: &str, line: u64) -> Result<()> {
        let text = text.trim_start_matches([';', '#', ' ']);
        if let Some(rate) = text.strip_prefix("Samplerate:") {
            let hz = frequency(rate).filter(|hz| *hz > 0.0);
            let wrong = || {
                Error::line(
                    line,
                    format!(
                        "the rate is `{}`, expected one above 0 such as 1 MHz",
                        shown(rate.trim())
                    ),
                )
            };
            self.hz = Some(hz.ok_or_else(wrong)?);
        } else if let Some(channels) =
            text.strip_prefix("Channels ").and_then(|rest| rest.split_once(':'))
        {
            self.channels = channels.1.split(',').map(|name| name.trim().to_owned()).collect();
        }
        Ok(())
    }

    /// Whether the first of this many columns is a time: by its name, or because sigrok's comments
    /// name one channel less.
    fn timed(&self, columns: usize) -> bool {
        let by_name = self.names.first().is_some_and(|name| is_time(name));
        by_name
            || self.names.is_empty()
                && !self.channels.is_empty()
                && self.channels.len() + 1 == columns
    }

    /// Names of the columns that are channels.
    fn channel_names(&self, columns: usize) -> Vec<String> {
        let skipped = usize::from(self.timed(columns));
        let width = columns - skipped;
        let has_trigger = self.names.last().is_some_and(|name| name == TRIGGER);
        if self.channels.len() + usize::from(has_trigger) == width {
            return self
                .channels
                .iter()
                .cloned()
                .chain(has_trigger.then(|| TRIGGER.to_owned()))
                .collect();
        }
        (0..width)
            .map(|n| self.names.get(n + skipped).cloned().unwrap_or_else(|| (n + 1).to_string()))
            .collect()
    }
}

/// The rows being read.
struct Table<'a> {
    rows: Rows,
    columns: usize,
    channel: String,
    levels: Levels,
    last: f64,
    sink: &'a mut dyn FnMut(Edge),
}

impl<'a> Table<'a> {
    fn new(
        head: &Head,
        request: &Request,
        channel: Option<(usize, String)>,
        first: &[(u64, Vec<f64>)],
        sink: &'a mut dyn FnMut(Edge),
    ) -> Result<Table<'a>> {
        let columns = first[0].1.len();
        let (rows, channel) = match channel {
            Some((column, channel)) => (row_kind(head, request, column, first)?, channel),
            None => {
                let times = first.iter().map(|(_, row)| row[0]).collect::<Vec<f64>>();
                (Rows::Times(times_of(head, first[0].0, &times)?), "edges".into())
            }
        };
        Ok(Table {
            rows,
            columns,
            channel,
            levels: Levels::default(),
            last: f64::NEG_INFINITY,
            sink,
        })
    }

    /// The rate, if the head states it.
    fn stated(&self, head: &Head) -> Option<f64> {
        match self.rows {
            Rows::Samples { .. } | Rows::Volts(_) => head.hz,
            Rows::Times(times) | Rows::Changes { times, .. } => Some(times.hz),
        }
    }

    /// Seconds of one unit of the rows' times, if they have times.
    fn unit(&self) -> Option<f64> {
        match &self.rows {
            Rows::Times(times) | Rows::Changes { times, .. } => Some(times.unit),
            Rows::Volts(volts) => volts.even.as_ref().map(|even| even.unit),
            Rows::Samples { .. } => None,
        }
    }

    fn row(&mut self, line: u64, values: &[f64]) -> Result<()> {
        if values.len() != self.columns {
            return Err(Error::line(
                line,
                format!("has {} fields, the first row has {}", values.len(), self.columns),
            ));
        }
        let (before, now) = (self.last, values[0]);
        let forward = || {
            if now >= before {
                Ok(())
            } else {
                Err(Error::line(line, format!("the time goes backwards, from {before} to {now}")))
            }
        };
        let seconds = self.unit().map_or(0.0, |unit| now * unit);
        if seconds.abs() > MOST_SECONDS {
            return Err(Error::line(
                line,
                format!("the time is {seconds:e} s, the limit is {MOST_SECONDS:e} s"),
            ));
        }
        match &mut self.rows {
            Rows::Samples { column } => match level(line, values[*column])? {
                Some(level) => self.levels.push(level, self.sink),
                None => {
                    self.levels.lost(self.levels.samples as f64);
                    self.levels.samples += 1;
                }
            },
            Rows::Changes { column, times } => {
                forward()?;
                match level(line, values[*column])? {
                    Some(level) => self.levels.change(level, times.ticks(now), self.sink),
                    None => self.levels.lost(times.ticks(now)),
                }
            }
            Rows::Times(times) => {
                forward()?;
                if now == before {
                    return Err(Error::line(
                        line,
                        format!(
                            "the time equals that of the edge before, {seconds} s: no two edges \
                             happen at once"
                        ),
                    ));
                }
                (self.sink)(Edge { at: times.ticks(now), rising: self.levels.edges % 2 == 0 });
                self.levels.edges += 1;
            }
            Rows::Volts(volts) => volts.push(line, values, now - before, self.sink)?,
        }
        self.last = now;
        Ok(())
    }

    /// Takes rows that equal the first one except for their even times.
    fn idle(&mut self, idle: Idle, first: &[f64]) -> Result<()> {
        if idle.rows == 0 {
            return Ok(());
        }
        if let Rows::Samples { .. } = &self.rows {
            // The level is that of the rows before.
            self.levels.samples += idle.rows;
        }
        if let Rows::Volts(volts) = &mut self.rows {
            let block = [first[volts.column] as f32; 4096];
            let mut left = idle.rows;
            while left > 0 {
                let part = left.min(block.len() as u64);
                volts.detector.push(&block[..part as usize], self.sink)?;
                left -= part;
            }
            volts.n += idle.rows;
        }
        self.last = idle.last;
        Ok(())
    }

    fn finish(self, head: &Head, cut: Option<u64>) -> Result<Recording> {
        let stated = self.stated(head);
        let mut recording = Recording {
            format: Some(super::Format::Csv),
            channel: self.channel,
            edges: self.levels.edges,
            granularity: Some(1.0),
            hz: stated,
            ..Recording::default()
        };
        match self.rows {
            Rows::Volts(Volts { mut detector, even, n, .. }) => {
                detector.finish(self.sink)?;
                let signal = detector.signal();
                recording.edges = signal.edges;
                // Without a stated rate it follows from the times of the first and the last sample,
                // which are the farthest apart.
                let by_times = |Even { first, step, unit }| {
                    if n > 1 {
                        (n - 1) as f64 / ((self.last - first) * unit)
                    } else {
                        1.0 / (step * unit)
                    }
                };
                recording.hz = head.hz.or(even.map(by_times));
                (recording.signal, recording.granularity) = (Some(signal), None);
            }
            Rows::Samples { .. } | Rows::Times(_) | Rows::Changes { .. } => (),
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
}

/// The channel's column and name; `None` if the rows are edges only.
fn channel(head: &Head, request: &Request, columns: usize) -> Result<Option<(usize, String)>> {
    if columns == 1 && head.hz.is_none() && (head.names.is_empty() || head.timed(columns)) {
        return Ok(None);
    }
    let names = head.channel_names(columns);
    let at = choose(&names, request.channel.as_deref())?;
    Ok(Some((at + columns - names.len(), names[at].clone())))
}

/// The unit of the times; `line` is that of the first row.
fn times_of(head: &Head, line: u64, times: &[f64]) -> Result<Times> {
    let name = head.names.first().map(String::as_str).filter(|name| is_time(name));
    Times::new(name, head.hz, times).map_err(|reason| Error::line(line, reason))
}

/// The kind of the rows.
fn row_kind(
    head: &Head,
    request: &Request,
    column: usize,
    first: &[(u64, Vec<f64>)],
) -> Result<Rows> {
    let levels = first.iter().all(|(_, row)| {
        row.get(column).is_none_or(|value| *value == 0.0 || *value == 1.0 || value.is_nan())
    });
    if !head.timed(first[0].1.len()) {
        return match (head.hz, levels) {
            (Some(_), true) => Ok(Rows::Samples { column }),
            (Some(_), false) => Ok(Rows::Volts(volts(column, request, first, None))),
            (None, _) => {
                let reason = "neither a column of times nor a `; Samplerate:` comment gives the \
                              times of the rows: save the recording with times";
                Err(Error::line(first[0].0, reason))
            }
        };
    }
    if head.even {
        return Ok(Rows::Volts(volts(column, request, first, None)));
    }
    let all: Vec<f64> = first.iter().map(|(_, row)| row[0]).collect();
    let times = times_of(head, first[0].0, &all)?;
    if levels {
        return Ok(Rows::Changes { column, times });
    }
    let first = &first[..first.len().min(LEVEL_ROWS)];
    let start = all[0];
    let step = (all[first.len() - 1] - start) / (first.len() - 1).max(1) as f64;
    if step <= 0.0 || step.is_nan() {
        return Err(Error::line(
            first[0].0,
            "the times of the samples do not increase, so there is no rate",
        ));
    }
    Ok(Rows::Volts(volts(
        column,
        request,
        first,
        Some(Even { first: start, step, unit: times.unit }),
    )))
}

fn volts(column: usize, request: &Request, first: &[(u64, Vec<f64>)], even: Option<Even>) -> Volts {
    let values = first.iter().filter_map(|(_, row)| row.get(column).map(|value| value.abs()));
    let floor = 1e-4 * values.fold(0.0, f64::max).max(1e-3);
    Volts { column, detector: Box::new(Detector::for_volts(request.method, floor)), even, n: 0 }
}

/// A frequency such as `1 MHz`.
pub(super) fn frequency(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 6] =
        [("GHz", 1e9), ("MHz", 1e6), ("kHz", 1e3), ("mHz", 1e-3), ("Hz", 1.0), ("", 1.0)];
    let text = text.trim();
    let (digits, factor) =
        UNITS.iter().find_map(|(name, factor)| Some((text.strip_suffix(name)?, factor)))?;
    digits.trim().parse::<f64>().ok().filter(|hz| hz.is_finite()).map(|hz| hz * factor)
}
