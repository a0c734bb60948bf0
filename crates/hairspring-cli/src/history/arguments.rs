//! The command line of `history`.

use crate::arguments::PrintArguments;
use clap::{Args, Subcommand};
use hairspring_program::values::{level, share};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hairspring run ./benchmarks --json > now.json      at each commit
  hairspring history add now.json
  hairspring history check --threshold 2%     exit with 3 if something got slower by more than 2 %
  hairspring history show sum --html sum.html
  hairspring history import artefacts/history.db     the runs of another file, too

A step is where the level of a series changes. The noise of a point is its own interval and one \
variance between runs, which is estimated for each machine; the fit has the fewest levels that a \
multiscale test does not reject. Of all steps found, at most 5 % are expected to be false.

Without --db, the file is .hairspring/history.db in the git repository, beside the baselines: a \
history is one of a project, and a CI job can keep it by its path. Outside of a repository it is \
hairspring/history.db in the folder for data of the user (XDG_DATA_HOME, or ~/.local/share).";

/// Keep results over commits, and find where they step
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct HistoryArguments {
    #[command(subcommand)]
    pub verb: HistoryVerb,
}

#[derive(Debug, Clone, Subcommand)]
pub enum HistoryVerb {
    /// Add results: documents of any verb, and results of other tools
    Add(AddArguments),
    /// Show series with their steps, as plots
    Show(ShowArguments),
    /// Tell new steps; exit with 3 if one for the worse is past the threshold
    Check(CheckArguments),
    /// Add all runs of another history
    Import(ImportArguments),
    /// Write the documents of all runs to a folder
    Export(ExportArguments),
    /// Remove runs
    Prune(PruneArguments),
}

// A doc comment here would become the help of the verbs.
#[derive(Debug, Clone, Args)]
pub struct DatabaseArguments {
    /// The file of the history
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub struct AddArguments {
    /// What a verb printed with --json, or results of another tool (docs/results-of-tools.md);
    /// - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The commit that was measured, where the file does not say: any name that git knows
    /// (default: the current one)
    #[arg(long, value_name = "COMMIT")]
    pub commit: Option<String>,
    #[command(flatten)]
    pub database: DatabaseArguments,
}

// How steps are looked for. A doc comment here would become the help of the verbs.
#[derive(Debug, Clone, Args)]
pub struct StepArguments {
    /// Share of false steps among those found
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = share,
        allow_hyphen_values = true)]
    pub false_discoveries: f64,
    /// Confidence level of all intervals
    #[arg(long, value_name = "LEVEL", default_value = "95%", value_parser = level,
        allow_hyphen_values = true)]
    pub confidence_level: f64,
    /// A step for the worse is past the limit if it is certainly larger than this
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share,
        allow_hyphen_values = true)]
    pub threshold: f64,
    /// A step is new while its level has at most so many points
    #[arg(long, value_name = "POINTS", default_value_t = 10)]
    pub new: usize,
}

#[derive(Debug, Clone, Args)]
pub struct ShowArguments {
    /// Only series with this in their names
    #[arg(value_name = "SERIES")]
    pub series: Vec<String>,
    #[command(flatten)]
    pub steps: StepArguments,
    #[command(flatten)]
    pub database: DatabaseArguments,
    #[command(flatten)]
    pub print: PrintArguments,
}

#[derive(Debug, Clone, Args)]
pub struct CheckArguments {
    /// Only series with this in their names
    #[arg(value_name = "SERIES")]
    pub series: Vec<String>,
    #[command(flatten)]
    pub steps: StepArguments,
    /// Exit with 3 as well if a last point lies where it was not expected: a single point may be a
    /// disturbed run
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub database: DatabaseArguments,
    #[command(flatten)]
    pub print: PrintArguments,
}

#[derive(Debug, Clone, Args)]
pub struct ImportArguments {
    /// The other history
    #[arg(value_name = "DB")]
    pub other: PathBuf,
    #[command(flatten)]
    pub database: DatabaseArguments,
}

#[derive(Debug, Clone, Args)]
pub struct ExportArguments {
    /// The folder, which is made
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub database: DatabaseArguments,
}

#[derive(Debug, Clone, Args)]
#[command(group(clap::ArgGroup::new("which").required(true).multiple(true)))]
pub struct PruneArguments {
    /// Keep the last so many runs of each machine
    #[arg(long, value_name = "RUNS", group = "which")]
    pub keep: Option<usize>,
    /// Remove the runs of this commit; its first digits are enough
    #[arg(long, value_name = "COMMIT", group = "which")]
    pub commit: Vec<String>,
    /// Remove the runs of commits that are not among those of the current branch
    #[arg(long, group = "which")]
    pub unknown: bool,
    #[command(flatten)]
    pub database: DatabaseArguments,
}
