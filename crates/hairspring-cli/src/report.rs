//! `hairspring report`: a saved result in the formats that other tools' dashboards read.

use crate::{AnyError, Outcome, compare, output};
use clap::{Args, ValueEnum};
use hairspring_view::export::{Format, export};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hairspring time 'x * x' --let 'int x = 3' --json > result.json
  hairspring report result.json --format bencher
  hairspring time 'x * x' --let 'int x = 3' --json | hairspring report - --format benchstat >> new.txt

A benchmark is called by its code, or by the name of its series where there is none; other components than the first stand
behind it after a slash.";

/// Options of `report`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct SavedReportArguments {
    /// The saved result: what `time --json` or `fit --json` printed; - for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The format
    #[arg(long, value_enum)]
    pub format: ReportFormat,
}

/// Formats by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Bencher Metric Format: JSON, with the interval
    #[value(alias = "bmf")]
    Bencher,
    /// Lines of Go's benchmarks, for benchstat
    Benchstat,
    /// A line for each component, with the interval
    Csv,
    /// The JSON of Google Benchmark; the interval in user counters
    GoogleBenchmark,
    /// The JSON of hyperfine
    Hyperfine,
}

/// Runs the verb. What the format cannot hold is told on standard error; if nothing is left, it fails.
pub fn run(arguments: &SavedReportArguments) -> Result<Outcome, AnyError> {
    let result = compare::read(&arguments.file)?;
    let found = export(
        &result,
        match arguments.format {
            ReportFormat::Bencher => Format::Bencher,
            ReportFormat::Benchstat => Format::Benchstat,
            ReportFormat::Csv => Format::Csv,
            ReportFormat::GoogleBenchmark => Format::GoogleBenchmark,
            ReportFormat::Hyperfine => Format::Hyperfine,
        },
    );
    found.left_out.iter().for_each(|reason| output::complain(reason));
    if found.benchmarks == 0 {
        return Err("nothing is left to report in this format".into());
    }
    output::print(&found.text)?;
    Ok(Outcome::Done)
}
