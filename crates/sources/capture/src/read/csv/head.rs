//! Everything before the first row: comments, names of columns, units below them, and the settings
//! of oscilloscopes (Rigol, Siglent, Tektronix, Keysight, PicoScope and others), which stand before
//! the samples, or beside them.

use super::cells::{Separator, names, number, owned, time, value};
use super::lines::{Lines, is_comment};
use super::settings::{Setting, setting};
use super::units::{are_units, is_number, is_time, unit, unit_below};
use crate::error::{Error, Result, shown};
use std::collections::VecDeque;

/// A result whose error has no line yet.
type Fitted<T> = std::result::Result<T, String>;

/// Most lines of a head.
const MOST_LINES: u32 = 100;
/// Longest comment with names of columns, in bytes.
const MOST_NOTED: usize = 1 << 14;

/// Where a rate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// sigrok, whose times are numbers of samples.
    Sigrok,
    /// A setting of another recorder, for samples at even times.
    Setting,
}

/// Contents of the lines before the first row.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// Names of the columns.
    pub(super) names: Vec<String>,
    /// Units of the columns, from a line of their own.
    units: Vec<String>,
    /// The last comments without settings.
    comments: VecDeque<String>,
    /// The last line that gave names in the place of others, and why it is no row.
    pub(super) not_row: Option<(u64, String)>,
    /// Names of the columns in a comment.
    noted: Option<String>,
    /// Samples per second, and who states them.
    pub(super) rate: Option<(f64, Origin)>,
    /// Distance of samples in the unit of the times, and its line.
    in_time_unit: Option<(f64, u64)>,
    /// Unit of the times by a setting.
    time_unit: Option<String>,
    /// Channels, from sigrok's comments or an oscilloscope's settings.
    pub(super) channels: Vec<String>,
    /// Version of libsigrok that wrote the file.
    pub(super) version: Option<(u32, u32)>,
    /// Whether the first column numbers the samples.
    pub(super) is_numbered: bool,
    /// Columns before the first that counts, which some oscilloscopes fill with their settings.
    pub(super) skipped: usize,
    lines: u32,
}

impl Head {
    /// Reads up to the first row, which is returned with its line.
    pub(super) fn read(&mut self, lines: &mut Lines) -> Result<Option<(u64, String)>> {
        let first = self.first_row(lines)?;
        let has_time =
            |text: &String| names(text).iter().chain(&words(text)).any(|name| is_time(name));
        self.noted = std::mem::take(&mut self.comments).into_iter().rev().find(has_time);
        if let Some((distance, line)) = self.in_time_unit.take() {
            let power = match &self.time_unit {
                Some(text) => unit(text).ok_or_else(|| Error::line(line, wrong_unit(text)))?,
                None => 0,
            };
            let setting = Setting::Distance(distance * 10f64.powi(power));
            self.set(setting, Origin::Setting, line)?;
        }
        Ok(first)
    }

    /// Reads up to the first row.
    fn first_row(&mut self, lines: &mut Lines) -> Result<Option<(u64, String)>> {
        while let Some(text) = lines.next_line()? {
            let text = text.to_owned();
            if is_comment(&text) {
                self.comment(&text, lines.number)?;
            } else if self.is_row(&text) {
                return Ok(Some((lines.number, text)));
            } else if self.lines >= MOST_LINES {
                return Err(Error::line(lines.number, self.no_row(&text)));
            } else if self.line(&text, lines.number)? {
                return Ok(Some((lines.number, text)));
            }
        }
        Ok(None)
    }

    /// Whether a line is a row: all of its cells are values, or the one below the name of the times
    /// is a time.
    fn is_row(&self, text: &str) -> bool {
        let separator = Separator::of_row(text);
        let cells = owned(separator.cells(text));
        let of_values = || cells.iter().all(|cell| is_value(cell, separator));
        let by_names = || {
            self.time_by_name().is_some_and(|at| {
                let timed = cells.get(at).is_some_and(|cell| time(cell, separator).is_some());
                timed && cells.len() == self.names.len()
            })
        };
        let begins = cells.first().is_some_and(|cell| time(cell, separator).is_some());
        begins && of_values() || by_names()
    }

    /// The first cell of a line that keeps it from being a row.
    fn no_row(&self, text: &str) -> String {
        let separator = Separator::of_row(text);
        let wrong = separator.cells(text).find(|cell| !is_value(cell, separator));
        super::cells::no_number(wrong.unwrap_or_default())
    }

    /// A comment.
    fn comment(&mut self, text: &str, line: u64) -> Result<()> {
        let text = text.trim_start_matches([';', '#', '%', '/', ' ']);
        if let Some(version) = text.strip_prefix("CSV generated by libsigrok ") {
            let mut numbers = version.split(['.', '-', ' ']).map_while(|part| part.parse().ok());
            self.version = numbers.next().zip(numbers.next());
        } else if let Some(channels) =
            text.strip_prefix("Channels ").and_then(|rest| rest.split_once(':'))
        {
            self.channels = channels.1.split(',').map(|name| name.trim().to_owned()).collect();
        } else if let Some(setting) = setting(text) {
            let origin =
                if text.starts_with("Samplerate:") { Origin::Sigrok } else { Origin::Setting };
            self.set(setting, origin, line)?;
        } else if text.len() <= MOST_NOTED {
            // Which of them has names is looked for once, since there may be millions.
            if self.comments.len() == MOST_LINES as usize {
                self.comments.pop_front();
            }
            self.comments.push_back(text.to_owned());
        }
        Ok(())
    }

    /// Takes a setting.
    fn set(&mut self, setting: Setting, origin: Origin, line: u64) -> Result<()> {
        let hz = match setting {
            Setting::Rate(hz) => hz,
            Setting::Distance(seconds) => 1.0 / seconds,
            Setting::InTimeUnit(distance) => {
                self.in_time_unit = Some((distance, line));
                return Ok(());
            }
            Setting::TimeUnit(unit) => {
                self.time_unit = Some(unit);
                return Ok(());
            }
            Setting::Unclear(text) => {
                let text = shown(&text);
                return Err(Error::line(
                    line,
                    format!(
                        "the rate is `{text}`, expected one above 0 such as 1 MHz or 1.5 us: \
                         write it without groups of digits, with a point and a known unit"
                    ),
                ));
            }
        };
        match self.rate {
            Some((before, _)) if (hz / before - 1.0).abs() > 1e-3 => Err(Error::line(
                line,
                format!(
                    "states {hz} samples per second, and a line before it {before}: leave out the \
                     line that is wrong"
                ),
            )),
            // What is stated first has more digits as a rule: a rate before its rounded inverse.
            Some(_) => Ok(()),
            None => {
                self.rate = Some((hz, origin));
                Ok(())
            }
        }
    }

    /// Takes a line of the head. Whether it is also a row, as an old Tektronix writes it.
    fn line(&mut self, text: &str, line: u64) -> Result<bool> {
        self.lines += 1;
        let parts = names(text);
        let stated = setting(text);
        if self.is_beside_a_row(text) {
            // Not all settings beside the samples are of interest.
            if let Some(stated @ (Setting::Rate(_) | Setting::Distance(_))) = stated {
                self.set(stated, Origin::Setting, line)?;
            }
            self.skipped = 3;
            self.names = vec!["TIME".into(), "CH1".into()];
            self.units = vec!["s".into(), String::new()];
            return Ok(true);
        }
        if let Some(stated) = stated {
            let is_meta = text.starts_with("META ");
            let origin = if is_meta { Origin::Sigrok } else { Origin::Setting };
            self.set(stated, origin, line)?;
        } else if !self.special(&parts) {
            if !self.names.is_empty() {
                self.not_row = Some((line, self.no_row(text)));
            }
            self.title(parts, line)?;
        }
        Ok(false)
    }

    /// Whether samples stand in the fourth and fifth column of a line with a setting.
    fn is_beside_a_row(&self, text: &str) -> bool {
        let separator = Separator::of(text);
        let cells: Vec<&str> = separator.cells(text).collect();
        let is_number =
            |at: usize| cells.get(at).is_some_and(|cell| number(cell, separator).is_some());
        cells.len() <= 6
            && is_number(3)
            && is_number(4)
            && cells.get(2).is_some_and(|cell| cell.is_empty())
    }

    /// Lines that some oscilloscopes give a meaning of their own. Whether this is one.
    fn special(&mut self, parts: &[String]) -> bool {
        let first = parts.first().map(|part| part.to_lowercase()).unwrap_or_default();
        let other_parts = parts.iter().skip(1);
        match &first[..] {
            // Siglent and Yokogawa: channels by name in a line before.
            "source" | "tracename" => {
                self.channels = other_parts.filter(|part| !part.is_empty()).cloned().collect();
            }
            // Rigol: the first column counts samples, the distance of which stands behind the
            // channels.
            "sequence" => {
                let at = self.names.iter().position(|name| name == "Increment");
                let step = at.and_then(|at| parts.get(at)?.parse::<f64>().ok());
                if let Some(step) = step.filter(|step| *step > 0.0 && step.is_finite()) {
                    self.rate = Some((1.0 / step, Origin::Setting));
                }
                let end = self.names.iter().position(|name| name == "Start");
                self.names.truncate(end.unwrap_or(self.names.len()));
                self.is_numbered = true;
            }
            // Siglent: units below the channels of the line `Source`.
            _ if are_units(parts)
                && self.channels.len() + 1 == parts.len()
                && self.names.len() != parts.len() =>
            {
                self.units = parts.to_vec();
                self.names =
                    std::iter::once(parts[0].clone()).chain(self.channels.drain(..)).collect();
            }
            _ if are_units(parts) && self.names.len() == parts.len() => {
                self.units = parts.to_vec();
            }
            // A key whose value is of no interest, as Infiniium writes it; the time of the trigger.
            _ if first.ends_with(':') || other_parts.clone().any(|part| is_date(part)) => (),
            _ => return false,
        }
        true
    }

    /// Names of the columns, among which there may be settings: `CH1V,t0 = -0.001, tInc = 1e-09`.
    fn title(&mut self, parts: Vec<String>, line: u64) -> Result<()> {
        let is_setting = |part: &&String| part.contains('=');
        for part in parts.iter().filter(is_setting) {
            if let Some(stated) = setting(part) {
                self.set(stated, Origin::Setting, line)?;
            }
        }
        if parts.iter().any(|part| part.contains('=')) {
            self.names =
                parts.into_iter().filter(|part| !part.is_empty() && !part.contains('=')).collect();
        } else {
            self.names = parts;
        }
        self.units.clear();
        Ok(())
    }

    /// Fits the names to the number of columns.
    ///
    /// # Errors
    /// Names with times that are more or fewer than the columns.
    pub(super) fn fit(&mut self, separator: Separator, columns: usize) -> Fitted<()> {
        if self.names.len() == columns {
            return Ok(());
        }
        let is_timed = self.time_by_name().is_some();
        if is_timed && !self.is_numbered {
            return Err(format!(
                "has {columns} fields, the line of names above has {}: numbers with a decimal \
                 comma need semicolons or tabs between them",
                self.names.len()
            ));
        }
        if !self.is_numbered {
            self.names.clear();
            self.units.clear();
        }
        if let (true, Some(text)) = (self.names.is_empty(), &self.noted) {
            let by_blanks = || words(text);
            self.names = [owned(separator.cells(text)), names(text), by_blanks()]
                .into_iter()
                .find(|names| names.len() == columns)
                .unwrap_or_default();
        }
        Ok(())
    }

    /// The column whose name, or whose unit, is that of times.
    pub(super) fn time_by_name(&self) -> Option<usize> {
        if self.is_numbered {
            return None;
        }
        let by_unit = |at: usize| self.units.get(at).and_then(|part| unit_below(part)).is_some();
        (0..self.names.len()).find(|at| by_unit(*at) || is_time(&self.names[*at]))
    }

    /// Whether a column has the numbers of samples.
    pub(super) fn is_number(&self, column: usize) -> bool {
        self.names.get(column).is_some_and(|name| is_number(name))
    }

    /// The power of ten of a second of the times in a column.
    ///
    /// # Errors
    /// An unknown unit.
    pub(super) fn unit_of_times(&self, column: usize) -> Fitted<Option<i32>> {
        if let Some(power) = self.units.get(column).and_then(|part| unit_below(part)) {
            return Ok(Some(power));
        }
        let of_name =
            self.names.get(column).map_or(Ok(None), |name| super::units::unit_of(name))?;
        match (of_name, &self.time_unit) {
            (Some(power), _) => Ok(Some(power)),
            (None, Some(text)) => unit(text).map(Some).ok_or_else(|| wrong_unit(text)),
            (None, None) => Ok(None),
        }
    }
}

/// The error of a unit that is none of time.
fn wrong_unit(text: &str) -> String {
    format!("the unit of the times is `{}`, expected one such as s or us", shown(text))
}

/// Whether a cell is a number, a level, a time or empty.
fn is_value(cell: &str, separator: Separator) -> bool {
    cell.is_empty() || value(cell, separator).is_ok() || time(cell, separator).is_some()
}

/// Whether a cell is a date or a time of day, as no name of a column is.
fn is_date(cell: &str) -> bool {
    time(cell, Separator::Comma).is_some_and(|time| time.in_seconds) && cell.contains(':')
}

/// Names between blanks, with units in brackets behind them.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if word.starts_with(['(', '[']) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}
