//! Lines in the format of lmbench's reporting functions (Staelin and McVoy, appendix), for programs
//! that use its interface and scripts that read their output: name, number and unit come first, as
//! in lmbench, and the interval follows in brackets.
//!
//! ```text
//! lrand48(): 0.00551 microseconds [0.0054800 to 0.0055300; 98.8 %, 11 experiments]
//! 8423.51 MB/sec [8344 to 8460; 98.8 %, 11 experiments]
//! nothing: below resolution, at most 0.00027 microseconds [like an empty loop; 11 experiments]
//! ```

use hairspring_core::Estimate;
use hairspring_view::clean::clean;

/// Decimals beyond which no number is written.
const MOST_DECIMALS: i32 = 15;
/// Widths below this share of the number do not add decimals.
const FINEST_WIDTH: f64 = 1e-6;

/// The result of the experiments with a loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopTime {
    /// Time of all trips of one experiment, in nanoseconds, overheads subtracted. Its level is 0
    /// after a single experiment, which has no spread.
    pub interval_ns: Estimate,
    /// Number of experiments.
    pub experiments: usize,
    /// Upper bound of this time in nanoseconds, if it cannot be distinguished from zero.
    pub at_most_ns: Option<f64>,
}

/// The quantity in a line, with the number of operations or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopLine {
    /// Milliseconds for each operation.
    Milli(u64),
    /// Microseconds for each operation.
    Micro(u64),
    /// Nanoseconds for each operation.
    Nano(u64),
    /// Megabytes a second; a megabyte is 1,000,000 bytes.
    Mb(u64),
    /// Kilobytes a second; a kilobyte is 1000 bytes.
    Kb(u64),
}

/// How a quantity is computed: a time is the interval over a number, a rate is a number over the
/// interval.
struct Form {
    unit: &'static str,
    /// Decimals that lmbench prints.
    decimals: i32,
    of_interval: Of,
}

enum Of {
    Time { ns_per_unit: f64, operations: u64 },
    Rate { units: f64 },
}

impl LoopLine {
    fn form(self) -> Form {
        let time = |unit, decimals, ns_per_unit, operations| Form {
            unit,
            decimals,
            of_interval: Of::Time { ns_per_unit, operations },
        };
        let rate = |unit, decimals, units| Form { unit, decimals, of_interval: Of::Rate { units } };
        match self {
            LoopLine::Milli(operations) => time("milliseconds", 0, 1e6, operations),
            LoopLine::Micro(operations) => time("microseconds", 4, 1e3, operations),
            LoopLine::Nano(operations) => time("nanoseconds", 2, 1.0, operations),
            LoopLine::Mb(bytes) => rate("MB/sec", 2, bytes as f64 / 1e6),
            LoopLine::Kb(bytes) => rate("KB/sec", 0, bytes as f64 / 1e3),
        }
    }
}

impl Form {
    /// The quantity for a time of all trips, in nanoseconds.
    fn quantity(&self, interval_ns: f64) -> f64 {
        match self.of_interval {
            Of::Time { ns_per_unit, operations } => interval_ns / ns_per_unit / operations as f64,
            Of::Rate { units } => units / (interval_ns / 1e9),
        }
    }

    fn counts_nothing(&self) -> bool {
        match self.of_interval {
            Of::Time { operations, .. } => operations == 0,
            Of::Rate { units } => units == 0.0,
        }
    }

    fn is_rate(&self) -> bool {
        matches!(self.of_interval, Of::Rate { .. })
    }
}

/// One line, without a line end. The name may be empty, as for bandwidths.
///
/// A time that cannot be distinguished from zero is "below resolution" with its bound, never 0.
/// Numbers have more decimals than in lmbench if fewer than three digits would show.
pub fn lmbench(name: &str, line: LoopLine, time: &LoopTime) -> String {
    let (form, name) = (line.form(), clean(name));
    let head = if name.is_empty() { String::new() } else { format!("{name}: ") };
    if form.counts_nothing() {
        return format!(
            "{head}no result: the program says that 0 {} were made",
            if form.is_rate() { "bytes" } else { "operations" }
        );
    }
    let made_experiments = experiments(time.experiments);
    if let Some(most_ns) = time.at_most_ns {
        let side = if form.is_rate() { "at least" } else { "at most" };
        return format!(
            "{head}below resolution, {side} {} {} [like an empty loop; {made_experiments}]",
            number(form.quantity(most_ns), 0, 2),
            form.unit
        );
    }
    let shown = number(form.quantity(time.interval_ns.value), form.decimals, 3);
    format!(
        "{head}{shown} {} [{}]",
        form.unit,
        interval(&form, &time.interval_ns, &made_experiments)
    )
}

/// The line for a missing result, with the reason.
pub fn lmbench_without_result(name: &str, why: &str) -> String {
    let (name, why) = (clean(name), clean(why));
    let head = if name.is_empty() { String::new() } else { format!("{name}: ") };
    format!(
        "{head}no result: {}",
        if why.is_empty() { "nothing was measured in this thread" } else { &why }
    )
}

/// Both ends of the interval, the lower first, with the level and the number of experiments.
fn interval(form: &Form, time_ns: &Estimate, made_experiments: &str) -> String {
    let (a, b) = (form.quantity(time_ns.low), form.quantity(time_ns.high));
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    // Three digits of the width, which is slightly increased so that rounding does not turn a power
    // of ten into less.
    let width = (high - low).max(high.abs() * FINEST_WIDTH).max(f64::MIN_POSITIVE);
    let decimals = (2 - (width.log10() + 1e-9).floor() as i32).clamp(0, MOST_DECIMALS) as usize;
    let ends = format!("{low:.decimals$} to {high:.decimals$}");
    match time_ns.level {
        0.0 => format!("{ends} by clock and overheads; {made_experiments}, no spread"),
        level => format!("{ends}; {:.1} %, {made_experiments}", 100.0 * level),
    }
}

fn experiments(count: usize) -> String {
    if count == 1 { "1 experiment".into() } else { format!("{count} experiments") }
}

/// A number with `decimals` decimals, or with more if fewer than `digits` digits would show.
fn number(value: f64, decimals: i32, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value:.*}", decimals as usize);
    }
    let needed = digits - 1 - value.abs().log10().floor() as i32;
    format!("{value:.*}", needed.max(decimals).clamp(0, MOST_DECIMALS) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(value: f64, half: f64, level: f64, experiments: usize) -> LoopTime {
        LoopTime {
            interval_ns: Estimate { value, low: value - half, high: value + half, level },
            experiments,
            at_most_ns: None,
        }
    }

    #[test]
    fn lines_begin_as_in_lmbench() {
        let interval = time(2e7, 1e5, 0.988, 11);
        let line = |line| lmbench("", line, &interval);
        assert_eq!(
            line(LoopLine::Milli(4)),
            "5.00 milliseconds [4.9750 to 5.0250; 98.8 %, 11 experiments]"
        );
        assert_eq!(
            line(LoopLine::Micro(20)),
            "1000.0000 microseconds [995.0 to 1005.0; 98.8 %, 11 experiments]"
        );
        assert_eq!(
            line(LoopLine::Nano(20_000)),
            "1000.00 nanoseconds [995.0 to 1005.0; 98.8 %, 11 experiments]"
        );
        assert_eq!(
            line(LoopLine::Mb(200_000_000)),
            "10000.00 MB/sec [9950 to 10050; 98.8 %, 11 experiments]"
        );
        assert_eq!(
            line(LoopLine::Kb(2_000)),
            "100 KB/sec [99.50 to 100.50; 98.8 %, 11 experiments]"
        );
    }

    #[test]
    fn small_times_get_more_decimals() {
        let line = lmbench("x", LoopLine::Micro(100_000_000), &time(2.7e6, 1e4, 0.988, 11));
        assert!(line.starts_with("x: 0.0000270 microseconds [0.000026900 to"), "{line}");
    }

    #[test]
    fn nothing_is_below_resolution_and_its_bandwidth_has_a_lower_bound() {
        let nothing = LoopTime { at_most_ns: Some(2.7e6), ..time(0.0, 2.7e6, 0.988, 11) };
        assert_eq!(
            lmbench("x", LoopLine::Micro(10_000_000), &nothing),
            "x: below resolution, at most 0.00027 microseconds [like an empty loop; 11 experiments]"
        );
        assert_eq!(
            lmbench("", LoopLine::Mb(27_000_000), &nothing),
            "below resolution, at least 10000 MB/sec [like an empty loop; 11 experiments]"
        );
    }

    #[test]
    fn the_line_of_a_single_experiment_says_that_it_has_no_spread() {
        let line = lmbench("x", LoopLine::Micro(1), &time(5e8, 1e3, 0.0, 1));
        assert!(line.ends_with("by clock and overheads; 1 experiment, no spread]"), "{line}");
    }

    #[test]
    fn zero_operations_and_control_characters_fit_one_line() {
        let of = time(1e6, 1e3, 0.988, 11);
        assert_eq!(
            lmbench("a\n\u{1b}[31m", LoopLine::Micro(0), &of),
            "a ?[31m: no result: the program says that 0 operations were made"
        );
        assert_eq!(
            lmbench("", LoopLine::Mb(0), &of),
            "no result: the program says that 0 bytes were made"
        );
        for line in [
            LoopLine::Mb(u64::MAX),
            LoopLine::Kb(u64::MAX),
            LoopLine::Micro(u64::MAX),
            LoopLine::Milli(1),
        ] {
            assert!(!lmbench("", line, &of).contains("inf"));
        }
    }
}
