//! Converts a saved result to the formats of other tools.
//!
//! Every benchmark gets one label, the same in all formats and unlike any other of the result. Names come
//! from users and may hold anything: each format says how it keeps them from breaking its lines.

mod bencher;
mod benchstat;
mod csv;
mod google_benchmark;
mod hyperfine;

use hairspring_core::Estimate;
use hairspring_core::hash::fnv;
use hairspring_result::document::{Row, finite};
use hairspring_result::{Figure, Mode, ResultDocument, Series};
use std::collections::HashSet;

/// A format of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The JSON of Google Benchmark, version 1.
    GoogleBenchmark,
    /// The JSON of hyperfine.
    Hyperfine,
    /// Bencher Metric Format: JSON, with the interval.
    Bencher,
    /// One line for each component, with the interval: CSV.
    Csv,
    /// Lines of Go's benchmarks, for benchstat.
    Benchstat,
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

/// Converts the result to another format.
///
/// All formats but CSV hold only times: a component in ticks, whose clock's rate is unknown, is left out of them. Values
/// below resolution are kept, with their interval; benchstat has no place for an interval, so they are left out there.
pub fn export(result: &ResultDocument, format: Format) -> Export {
    let (entries, mut left_out) = (entries(result), Vec::new());
    let text = match format {
        Format::Csv => csv::text(&entries),
        Format::GoogleBenchmark => google_benchmark::text(&timed(&entries, &mut left_out), &result.environment),
        Format::Hyperfine => hyperfine::text(&timed(&entries, &mut left_out)),
        Format::Bencher => bencher::text(&timed(&entries, &mut left_out)),
        Format::Benchstat => benchstat::text(&timed(&entries, &mut left_out), &result.environment, &mut left_out),
    };
    Export { text, benchmarks: entries.len() - left_out.len(), left_out }
}

/// One component of one series.
struct Entry<'a> {
    /// The code or the name of the series; a component other than the first is appended after a slash.
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
        self.series.fit.rows_detail.iter().filter(|row| row.left_out.is_none()).map(of_row).sum::<f64>().clamp(1.0, 9e15).round()
    }
}

/// An entry with its time in nanoseconds.
type Timed<'e> = (&'e Entry<'e>, Estimate);

fn timed<'e>(entries: &'e [Entry<'e>], left_out: &mut Vec<String>) -> Vec<Timed<'e>> {
    let mut found = Vec::new();
    for entry in entries {
        match entry.figure.time_ns.flatten() {
            Some(time) => found.push((entry, time)),
            None => left_out.push(format!("`{}` is left out: it has no time in nanoseconds, the clock's rate is unknown", entry.label)),
        }
    }
    found
}

fn entries(result: &ResultDocument) -> Vec<Entry<'_>> {
    let mut taken = HashSet::new();
    let mut all = Vec::new();
    for series in &result.results {
        for (at, (component, part)) in series.components.iter().enumerate() {
            let title = if series.title().trim().is_empty() { "unnamed" } else { series.title() };
            let wished = shortened(&if at == 0 { title.to_owned() } else { format!("{title}/{component}") });
            let mut numbered = (1..).map(|n| if n == 1 { wished.clone() } else { format!("{wished} ({n})") });
            let label = numbered.find(|label| taken.insert(label.clone())).unwrap_or_default();
            all.push(Entry { label, series, component, mode: part.mode, figure: &part.figure, at });
        }
    }
    all
}

/// A label of bounded length. A long one ends in a checksum (64-bit FNV-1a), so that labels with the same start differ.
fn shortened(label: &str) -> String {
    let Some((end, _)) = label.char_indices().nth(LONGEST_LABEL) else { return label.to_owned() };
    let sum = fnv(label.bytes());
    format!("{}~{sum:016x}", &label[..end])
}
