//! Options of `clocks`.

use crate::arguments::ReportArguments;
use clap::Args;
use hairspring_program::values::duration;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hairspring clocks                            every clock: ordering, step, cost of a read, rate, \
CPUs
  hairspring clocks tsc perf                   all details of two of them
  hairspring clocks --latency monotonic tsc    reads in a row, and after pauses
  hairspring clocks --compare monotonic tsc    percent difference over spans from 0.1 us to 1 ms
  hairspring clocks --overhead                 what a stopwatch reads for no work";

/// Measure the clocks of this machine, and the stopwatch made of them
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct ClocksArguments {
    /// Show everything about these clocks; with --latency and --overhead, measure these
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Three experiments on the latency of a read: in a row, a pair every second, a pair every 1
    /// and 5 seconds in turn
    #[arg(long, conflicts_with_all = ["compare", "overhead"])]
    pub latency: bool,
    /// Factor on the pauses of --latency: 1 waits for more than an hour
    #[arg(long, value_name = "FACTOR", default_value = "0.001", value_parser = scale,
        requires = "latency")]
    pub scale: f64,
    /// Differences in each experiment of --latency
    #[arg(long, value_name = "N", default_value_t = 1_000,
        value_parser = clap::value_parser!(u32).range(2..=1_000_000), requires = "latency")]
    pub count: u32,
    /// Compare two clocks over the same spans
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["names", "overhead"])]
    pub compare: Option<Vec<String>>,
    /// Measure the overhead of a stopwatch: in total, of the clock, and its own
    #[arg(long)]
    pub overhead: bool,
    /// Runs of --overhead, in each of five repetitions
    #[arg(long, value_name = "N", default_value_t = 10_000,
        value_parser = clap::value_parser!(u32).range(100..=10_000_000), requires = "overhead")]
    pub runs: u32,
    /// Fail if the priority cannot be raised for --overhead (otherwise it is tried, and the outcome
    /// is reported)
    #[arg(long, requires = "overhead")]
    pub priority: bool,
    /// Show everything about every clock
    #[arg(long, short)]
    pub verbose: bool,
    /// Time for the survey (rates are measured over all of it), or for --compare
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub budget: Duration,
    /// The CPU to run on (default: the last one allowed)
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    #[command(flatten)]
    pub report: ReportArguments,
}

/// A factor on pauses of 1 s and 5 s.
fn scale(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(factor) if (1e-6..=100.0).contains(&factor) => Ok(factor),
        Ok(_) => Err("must be from 0.000001 to 100: it multiplies pauses of 1 s and 5 s; 0.001 \
                      makes them 1 ms and 5 ms"
            .into()),
        Err(_) => Err("expected a number such as 0.001".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::scale;

    #[test]
    fn factors_are_in_range() {
        assert_eq!((scale("1"), scale("0.001")), (Ok(1.0), Ok(0.001)));
        for text in ["0", "-1", "nan", "inf", "1e9", "fast", ""] {
            assert!(scale(text).is_err(), "{text}");
        }
    }
}
