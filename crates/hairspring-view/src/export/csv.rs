//! A table for spreadsheets: one line for each component, values with their intervals, an empty
//! field for an unavailable value.
//!
//! A text field is quoted where it must be (RFC 4180). Control and format characters, line breaks
//! among them, are written as escapes of Rust (`\n`, `\u{1b}`), and a backslash is doubled, so
//! every benchmark stays on one line.

use super::{Entry, Format, Holds, Names};
use crate::clean::is_hidden;
use hairspring_result::{Environment, Mode};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "csv",
    aliases: &[],
    purpose: "CSV",
    help: "A line for each component, with the interval",
    interval: "`..._low`, `..._high` of `time_ns`, `cycles`, `ticks`",
    names: Names::Escaped("control and format characters and `\\` as escapes"),
    holds: Holds::Everything(text),
    #[cfg(test)]
    labels: tests::labels,
};

const HEADER: &str = "benchmark,series,component,mode,time_ns,time_ns_low,time_ns_high,cycles,\
                      cycles_low,cycles_high,ticks,ticks_low,ticks_high,level,below_resolution";

/// The table with its header.
fn text(entries: &[Entry], _: &Environment) -> String {
    let lines = entries.iter().map(line).collect::<String>();
    format!("{HEADER}\n{lines}")
}

fn line(entry: &Entry) -> String {
    let figure = entry.figure;
    let level = figure.time().or(figure.cycles).map(|estimate| estimate.level);
    let mut fields: Vec<String> = [
        entry.label.as_str(),
        &entry.series.name,
        entry.component,
        entry.mode.map_or("", Mode::word),
    ]
    .map(quoted)
    .to_vec();
    for estimate in [figure.time_ns.flatten(), figure.cycles, figure.ticks.flatten()] {
        fields.extend(numbers(estimate));
    }
    fields.push(level.map(|level| level.to_string()).unwrap_or_default());
    fields.push(figure.below_resolution.to_string());
    fields.join(",") + "\n"
}

fn numbers(estimate: Option<hairspring_core::Estimate>) -> [String; 3] {
    let number = |pick: fn(&hairspring_core::Estimate) -> f64| {
        estimate
            .map(|estimate| pick(&estimate))
            .and_then(super::finite)
            .map(|number| number.to_string())
            .unwrap_or_default()
    };
    [number(|e| e.value), number(|e| e.low), number(|e| e.high)]
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\"\""),
            c if is_hidden(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    let plain = !out.is_empty() && out == out.trim() && !out.contains([',', '"']);
    if plain { out } else { format!("\"{out}\"") }
}

#[cfg(test)]
mod tests {
    use super::super::{export, samples};
    use super::*;

    /// Fields of one line of CSV (RFC 4180), as a spreadsheet reads them.
    fn fields(line: &str) -> Vec<String> {
        let (mut fields, mut quoted, mut chars) =
            (vec![String::new()], false, line.chars().peekable());
        while let Some(c) = chars.next() {
            match c {
                '"' if quoted && chars.peek() == Some(&'"') => {
                    fields.last_mut().unwrap().push(chars.next().unwrap())
                }
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(String::new()),
                c => fields.last_mut().unwrap().push(c),
            }
        }
        assert!(!quoted, "a quote is open: {line}");
        fields
    }

    pub fn labels(text: &str) -> Vec<String> {
        let label = |line: &str| {
            let fields = fields(line);
            assert_eq!(fields.len(), 15, "{line}");
            fields[0].clone()
        };
        text.lines().skip(1).map(label).collect()
    }

    #[test]
    fn every_line_has_all_columns() {
        let table = export(&samples::result(&samples::line()), &FORMAT).text;
        let counts: Vec<usize> = table.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(counts, [15, 15]);
    }

    #[test]
    fn times_below_resolution_are_marked() {
        assert!(
            export(&samples::result(&samples::below_resolution()), &FORMAT)
                .text
                .trim_end()
                .ends_with("true")
        );
    }

    #[test]
    fn hidden_characters_are_escapes() {
        assert_eq!(quoted("a\u{202e}b\n\\"), "a\\u{202e}b\\n\\\\");
    }
}
