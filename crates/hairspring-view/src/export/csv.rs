//! A table for spreadsheets: one line for each component, values with their intervals, an empty field for an unavailable value.
//!
//! A text field is quoted where it must be (RFC 4180). Control characters, line breaks among them, are written as escapes of
//! Rust and C (`\n`, `\u{1b}`), and a backslash is doubled, so every benchmark stays on one line.

use super::Entry;
use hairspring_result::Mode;

const HEADER: &str = "benchmark,series,component,mode,time_ns,time_ns_low,time_ns_high,cycles,cycles_low,cycles_high,\
                      ticks,ticks_low,ticks_high,level,below_resolution";

/// The table with its header.
pub(super) fn text(entries: &[Entry]) -> String {
    let lines = entries.iter().map(line).collect::<String>();
    format!("{HEADER}\n{lines}")
}

fn line(entry: &Entry) -> String {
    let figure = entry.figure;
    let level = figure.time().or(figure.cycles).map(|estimate| estimate.level);
    let mut fields: Vec<String> =
        [entry.label.as_str(), &entry.series.name, entry.component, entry.mode.map_or("", Mode::word)].map(quoted).to_vec();
    for estimate in [figure.time_ns.flatten(), figure.cycles, figure.ticks.flatten()] {
        fields.extend(numbers(estimate));
    }
    fields.push(level.map(|level| level.to_string()).unwrap_or_default());
    fields.push(figure.below_resolution.to_string());
    fields.join(",") + "\n"
}

fn numbers(estimate: Option<hairspring_core::Estimate>) -> [String; 3] {
    let number = |pick: fn(&hairspring_core::Estimate) -> f64| {
        estimate.map(|estimate| pick(&estimate)).and_then(super::finite).map(|number| number.to_string()).unwrap_or_default()
    };
    [number(|e| e.value), number(|e| e.low), number(|e| e.high)]
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\"\""),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    let plain = !out.is_empty() && out == out.trim() && !out.contains([',', '"']);
    if plain { out } else { format!("\"{out}\"") }
}
