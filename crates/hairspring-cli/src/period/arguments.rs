//! The command line of `period`.

use crate::arguments::ReportArguments;
use clap::Args;
use hairspring_program::values::duration;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Every cycle has a due time, fixed beforehand. A task that is not done when its next cycles are due \
skips them: they count as \
missed, and the next cycle is the first that is due in the future.

Examples:
  hairspring period                                1 ms for 2 s
  hairspring period 100us -D 60s -a 1              as with cyclictest
  hairspring period 1ms --limit 50us               exit with 3 if a wake-up was later than that
  hairspring period --respond                      on one machine, and on another:
  hairspring period 1ms --exchange 192.168.1.7     a frame to it and back in every cycle";

/// Measure a cyclic task: its period by two clocks, its wake-up latency, round trips to a partner
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct PeriodArguments {
    /// The period, as 100us or 1ms [default: 1ms]
    #[arg(value_name = "PERIOD", value_parser = period)]
    pub positional: Option<Duration>,
    /// The period, as an option
    #[arg(long, value_name = "PERIOD", value_parser = period, conflicts_with = "positional")]
    pub period: Option<Duration>,
    /// How long to run [default: 2s, or 20 periods where that is longer]
    #[arg(short = 'D', long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// How many cycles to run, instead of a time
    #[arg(short = 'l', long, value_name = "N", conflicts_with = "duration",
        value_parser = clap::value_parser!(u64).range(3..=100_000_000_000))]
    pub cycles: Option<u64>,
    /// The CPU to run on (default: the last one allowed)
    #[arg(short = 'a', long, value_name = "N")]
    pub cpu: Option<usize>,
    /// Real-time priority (SCHED_FIFO), 1 to 99; 0 for none [default: 80, if that is allowed]
    #[arg(short = 'p', long, value_name = "N",
        value_parser = clap::value_parser!(i32).range(0..=99))]
    pub priority: Option<i32>,
    /// A clock that measures the period, as tsc or monotonic (at most two)
    /// [default: the best one here, and monotonic]
    #[arg(long, value_name = "NAME")]
    pub clock: Vec<String>,
    /// Latencies up to this are counted in bins; later cycles are listed
    /// [default: the period, 1ms at most]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub histogram: Option<Duration>,
    /// Width of a bin, at least a 100,000th of the histogram
    /// [default: 1us, or less for a short histogram]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub bin: Option<Duration>,
    /// Exit with 3 if a wake-up was later than this
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub limit: Option<Duration>,
    /// End the run at the first wake-up that was later than the limit
    #[arg(long = "break", requires = "limit")]
    pub break_at_limit: bool,
    /// Write raw observations to a file (spec/period.md)
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Send a frame to a partner in every cycle and take its answer (UDP)
    #[arg(long, value_name = "HOST[:PORT]")]
    pub exchange: Option<String>,
    /// Be the partner: answer frames until Ctrl-C (or --duration) [default address: 0.0.0.0:47110]
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, default_missing_value = "0.0.0.0",
        conflicts_with_all = ["positional", "period", "cycles", "clock", "histogram", "bin",
            "limit", "save", "exchange"])]
    pub respond: Option<String>,
    #[command(flatten)]
    pub report: ReportArguments,
}

/// A period: a time with its unit. A bare number is refused: other tools read it as microseconds,
/// the options here as seconds.
fn period(text: &str) -> Result<Duration, String> {
    if text.trim().parse::<f64>().is_ok_and(|number| number != 0.0) {
        return Err(format!("give a unit: {text}us, {text}ms or {text}s"));
    }
    match duration(text) {
        Ok(time) if time.is_zero() => Err("must be 1ns or longer".into()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_need_a_unit() {
        assert_eq!(period("100us"), Ok(Duration::from_micros(100)));
        assert!(period("100").unwrap_err().contains("100us"));
        for text in ["0", "0us", "-1ms", "1e-3ns", "fast", ""] {
            assert!(period(text).is_err(), "{text}");
        }
    }
}
