//! Options that several verbs have.

use clap::Args;
use hairspring_program::values::level;

// Options of every verb that reports. A doc comment here would become the help of the verbs.
#[derive(Debug, Clone, Args)]
pub struct ReportArguments {
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Confidence level of all intervals
    #[arg(long, value_name = "LEVEL", default_value = "95%", value_parser = level, allow_hyphen_values = true)]
    pub confidence_level: f64,
}
