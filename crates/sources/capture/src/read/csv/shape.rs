//! The columns of a table, and the row that a line holds.

use super::cells::{Separator, Time, no_number, time, value};
use super::head::{Head, Origin};
use super::units::is_time;
use crate::error::{Error, Result};
use crate::read::choose;

/// sigrok's last column that is no channel.
const TRIGGER: &str = "Trigger";

/// A row: what counts of its cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    /// Its time; 0 where there is no column of times.
    pub(super) time: Option<Time>,
    /// The channel's value; NaN where the level is not defined, or where there are only times.
    pub(super) value: f64,
}

/// The columns that count.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Shape {
    separator: Separator,
    /// Columns before the first that counts.
    skipped: usize,
    /// Number of columns.
    pub(super) columns: usize,
    /// The column of times.
    pub(super) time: Option<usize>,
    /// The column of the channel.
    pub(super) column: Option<usize>,
}

impl Shape {
    /// The columns of these first rows; the channel is not chosen yet.
    ///
    /// # Errors
    /// Names that do not fit the rows.
    pub(super) fn of(head: &mut Head, rows: &[(u64, String)]) -> Result<Shape> {
        let Some((line, first)) = rows.first() else { return Ok(Shape::default()) };
        let separator = Separator::of_row(first);
        let cells: Vec<&str> = separator.cells(first).skip(head.skipped).collect();
        let filled = cells.iter().rposition(|cell| !cell.is_empty()).map_or(1, |at| at + 1);
        let columns = filled.max(head.names.len().min(cells.len()));
        head.fit(separator, columns).map_err(|reason| Error::line(*line, reason))?;
        let shape = Shape { separator, skipped: head.skipped, columns, ..Shape::default() };
        let time = head.time_by_name().or_else(|| shape.time_by_others(head, rows));
        Ok(Shape { time, ..shape })
    }

    /// The column of times that has no name: that of sigrok, whose comments name one channel less,
    /// or one that increases by the stated distance of the samples.
    fn time_by_others(&self, head: &Head, rows: &[(u64, String)]) -> Option<usize> {
        // Rows of changes have the numbers of their samples.
        if let Some(numbers) = (0..self.columns).find(|at| head.is_number(*at)) {
            return Some(numbers);
        }
        let channels = head.channels.len();
        if head.names.is_empty() && channels > 0 && channels + 1 == self.columns {
            return Some(0);
        }
        let (hz, _) = head.rate.filter(|(_, origin)| *origin == Origin::Setting)?;
        if head.is_numbered || self.columns < 2 || rows.len() < 3 {
            return None;
        }
        let timed = Shape { time: Some(0), ..self.clone() };
        let times: Vec<f64> = rows
            .iter()
            .map_while(|(_, text)| timed.row(text).ok()?.time)
            .map(|time| time.at.to_f64())
            .collect();
        let even = |pair: &[f64]| ((pair[1] - pair[0]) * hz - 1.0).abs() < 0.01;
        (times.len() + 1 >= rows.len() && times.windows(2).all(even)).then_some(0)
    }

    /// The row in a line.
    ///
    /// # Errors
    /// Another number of cells, or one of those that count is not a number.
    pub(super) fn row(&self, text: &str) -> std::result::Result<Row, String> {
        let (mut count, mut filled) = (0, 0);
        let (mut time_cell, mut value_cell) = ("", "");
        for (at, cell) in self.separator.cells(text).skip(self.skipped).enumerate() {
            count = at + 1;
            if !cell.is_empty() {
                filled = count;
            }
            if self.time == Some(at) {
                time_cell = cell;
            }
            if self.column == Some(at) {
                value_cell = cell;
            }
        }
        // Empty cells behind the last column do not count.
        if count < self.columns || filled > self.columns {
            let count = count.max(filled);
            return Err(format!("has {count} fields, the first row has {}", self.columns));
        }
        let time_of = |_| time(time_cell, self.separator).ok_or_else(|| no_number(time_cell));
        let value_of = |_| value(value_cell, self.separator);
        Ok(Row {
            time: self.time.map(time_of).transpose()?,
            value: self.column.map_or(Ok(f64::NAN), value_of)?,
        })
    }

    /// Columns that are channels.
    fn channels(&self, head: &Head) -> Vec<usize> {
        let is_number = |at: usize| head.is_number(at) || head.is_numbered && at == 0;
        let is_channel = |at: &usize| Some(*at) != self.time && !is_number(*at);
        (0..self.columns).filter(is_channel).collect()
    }

    /// Chooses the channel; returns its name. Rows without one are edges.
    ///
    /// # Errors
    /// A missing channel, or several and none requested.
    pub(super) fn choose(&mut self, head: &Head, wanted_channel: Option<&str>) -> Result<String> {
        let is_list = self.columns == 1
            && head.rate.is_none()
            && head.names.first().is_none_or(|name| is_time(name) || self.time.is_some());
        if is_list {
            self.time = Some(0);
            return Ok("edges".into());
        }
        let columns = self.channels(head);
        let label = |at: &usize| head.names.get(*at).cloned();
        let labels: Vec<Option<String>> = columns.iter().map(label).collect();
        let numbered = |(n, label): (usize, &Option<String>)| {
            label.clone().unwrap_or_else(|| (n + 1).to_string())
        };
        let mut names: Vec<String> = labels.iter().enumerate().map(numbered).collect();
        let triggers = usize::from(names.last().is_some_and(|name| name == TRIGGER));
        if !head.channels.is_empty() && head.channels.len() + triggers == names.len() {
            names.splice(..head.channels.len(), head.channels.iter().cloned());
        }
        let at = choose(&names, wanted_channel)
            .or_else(|error| other_name(&names, &labels, &columns, wanted_channel).ok_or(error))?;
        self.column = columns.get(at).copied();
        Ok(names.get(at).cloned().unwrap_or_default())
    }
}

/// The channel by a name that nothing else has: that of its column beside sigrok's comments, one in
/// another case, the number of the only channel's column, or `ch1` where no name has a number.
fn other_name(
    names: &[String],
    labels: &[Option<String>],
    columns: &[usize],
    wanted_channel: Option<&str>,
) -> Option<usize> {
    let wanted_channel = wanted_channel?;
    let lower = wanted_channel.to_lowercase();
    let only = |is_meant: &dyn Fn(usize) -> bool| {
        let mut all = (0..names.len()).filter(|at| is_meant(*at));
        all.next().filter(|_| all.next().is_none())
    };
    let by_label = only(&|at| labels[at].as_deref() == Some(wanted_channel));
    let by_case = || only(&|at| names[at].to_lowercase() == lower);
    let by_column = || {
        let is_column =
            wanted_channel.parse::<usize>().ok()?.checked_sub(1) == columns.first().copied();
        (columns.len() == 1 && is_column).then_some(0)
    };
    let by_number = || {
        let number = lower.strip_prefix("ch")?.parse::<usize>().ok()?.checked_sub(1)?;
        let has_numbers = names.iter().any(|name| name.contains(|c: char| c.is_ascii_digit()));
        (number < names.len() && !has_numbers).then_some(number)
    };
    by_label.or_else(by_case).or_else(by_column).or_else(by_number)
}
