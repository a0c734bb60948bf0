//! Converts a saved result to the formats of other tools.
//!
//! Each format is a file of this folder, registered in the list below. Every benchmark gets one
//! label, the same in all formats and unlike any other of the result. Names come from users and may
//! hold anything: each format says how it keeps them from breaking its lines.

mod format;
#[cfg(test)]
#[path = "../../tests/samples/mod.rs"]
mod samples;
#[cfg(test)]
mod tests;

pub use format::{Format, Names};

use crate::clean::is_hidden;
use format::Holds;
use hairspring_core::Estimate;
use hairspring_core::hash::fnv;
use hairspring_result::document::{Row, finite};
use hairspring_result::{Figure, Mode, ResultDocument, Series};
use serde::Serialize;
use std::collections::HashSet;

/// Declares the modules of the formats, and the table of them, from one list of names.
macro_rules! formats {
    ($($name:ident,)*) => {
        $(mod $name;)*

        /// All formats.
        pub const FORMATS: &[&Format] = &[$(&$name::FORMAT,)*];
    };
}

formats! {
    bencher,
    benchstat,
    csv,
    custom_smaller_is_better,
    google_benchmark,
    hyperfine,
    open_metrics,
}

/// An export, and what was left out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The text, with a newline at its end.
    pub text: String,
    /// Benchmarks in it.
    pub benchmarks: usize,
    /// Why benchmarks were left out, one message each.
    pub left_out: Vec<String>,
}

/// Longest label in characters; a longer one is cut and ends in a checksum of the whole.
pub const LONGEST_LABEL: usize = 200;

/// The format of this name, which may be one of its aliases.
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.name == name || format.aliases.contains(&name))
}

/// Converts the result to another format. What the format has no place for is left out.
pub fn export(result: &ResultDocument, format: &Format) -> Export {
    let (entries, mut left_out) = (entries(result), Vec::new());
    let text = match format.holds {
        Holds::Everything(text) => text(&entries, &result.environment),
        Holds::Intervals(text) => text(&timed(&entries, &mut left_out), &result.environment),
        Holds::PlainTimes(text) => {
            text(&resolved(timed(&entries, &mut left_out), &mut left_out), &result.environment)
        }
    };
    Export { text, benchmarks: entries.len() - left_out.len(), left_out }
}

/// One component of one series.
struct Entry<'a> {
    /// The code or the name of the series; a component other than the first is appended after a
    /// slash.
    label: String,
    series: &'a Series,
    component: &'a str,
    mode: Option<Mode>,
    figure: &'a Figure,
    /// Its place among the components.
    at: usize,
}

impl Entry<'_> {
    /// Executions in the readings used, from the listed rows; at least one.
    fn executions(&self) -> f64 {
        let of_row = |row: &Row| row.counts.get(self.at).copied().unwrap_or(0.0) * row.used as f64;
        self.series
            .fit
            .rows_detail
            .iter()
            .filter(|row| row.left_out.is_none())
            .map(of_row)
            .sum::<f64>()
            .clamp(1.0, 9e15)
            .round()
    }
}

/// An entry with its time in nanoseconds.
type Timed<'e> = (&'e Entry<'e>, Estimate);

fn timed<'e>(entries: &'e [Entry<'e>], left_out: &mut Vec<String>) -> Vec<Timed<'e>> {
    let mut with_time = Vec::new();
    for entry in entries {
        match entry.figure.time_ns.flatten() {
            Some(time) if time.low.is_finite() || time.high.is_finite() => {
                with_time.push((entry, time))
            }
            Some(_) => left_out.push(format!("`{}` is left out: it has no interval", entry.label)),
            None => left_out.push(format!(
                "`{}` is left out: it has no time in nanoseconds, the clock's rate is unknown",
                entry.label
            )),
        }
    }
    with_time
}

/// Times above resolution: one below it would look like a plain time without its interval.
fn resolved<'e>(times: Vec<Timed<'e>>, left_out: &mut Vec<String>) -> Vec<Timed<'e>> {
    let (below, above): (Vec<_>, Vec<_>) =
        times.into_iter().partition(|(entry, _)| entry.figure.below_resolution);
    let why = |entry: &Entry| {
        format!(
            "`{}` is left out: it is below resolution, and the format has no place for its bound",
            entry.label
        )
    };
    left_out.extend(below.into_iter().map(|(entry, _)| why(entry)));
    above
}

fn entries(result: &ResultDocument) -> Vec<Entry<'_>> {
    let mut taken = HashSet::new();
    let mut all = Vec::new();
    for series in &result.results {
        for (at, (component, part)) in series.components.iter().enumerate() {
            let title = if series.title().trim().is_empty() { "unnamed" } else { series.title() };
            let wished =
                shortened(&if at == 0 { title.to_owned() } else { format!("{title}/{component}") });
            let mut numbered =
                (1..).map(|n| if n == 1 { wished.clone() } else { format!("{wished} ({n})") });
            let label = numbered.find(|label| taken.insert(label.clone())).unwrap_or_default();
            all.push(Entry { label, series, component, mode: part.mode, figure: &part.figure, at });
        }
    }
    all
}

/// A label of bounded length. A long one ends in a checksum (64-bit FNV-1a), so that labels with
/// the same start differ.
fn shortened(label: &str) -> String {
    let Some((end, _)) = label.char_indices().nth(LONGEST_LABEL) else { return label.to_owned() };
    let sum = fnv(label.bytes());
    format!("{}~{sum:016x}", &label[..end])
}

/// A JSON document in which characters that are not visible are escapes. They occur in strings
/// only, so a reader sees no difference.
fn json<T: Serialize>(document: &T) -> String {
    let mut out = String::new();
    for c in hairspring_result::json::print(document).chars() {
        match c {
            '\n' => out.push(c),
            c if is_hidden(c) => {
                out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")))
            }
            c => out.push(c),
        }
    }
    out
}
