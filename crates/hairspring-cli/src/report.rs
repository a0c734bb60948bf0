//! `hairspring report`: converts a saved result to the formats that other tools read.

use crate::{AnyError, Outcome, compare, output};
use clap::{Args, ValueEnum};
use hairspring_view::export::{Format, export};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hairspring time 'x * x' --let 'int x = 3' --json > result.json
  hairspring report result.json --format bencher
  hairspring time 'x * x' --let 'int x = 3' --json | hairspring report - --format benchstat >> new.txt

A benchmark is named after its code, or after its series where there is no code. Components other than the first are
appended after a slash.";

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

/// Runs the verb. What the format cannot hold is reported on standard error; it fails if nothing is left.
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
        return Err("no benchmark can be reported in this format".into());
    }
    output::print(&found.text)?;
    Ok(Outcome::Done)
}
