//! The clock speed by the paper's own method (Staelin and McVoy, "mhz: Anatomy of a
//! micro-benchmark", 1998), for comparison with the modern one.
//!
//! Nine expressions of unknown length are timed with the harness of the paper; the period of the
//! core is the greatest common divisor of their times. Everything is as published: the expressions,
//! the regression with the weighted chi squared, the vote of all subsets, the minimum against the
//! next larger value, three tries, and then "system too busy". The method gives whole MHz and no
//! confidence interval, and it does not notice another process that takes the same share of every
//! interval; this is not changed here. Two things had to be added: opaque loops for the expressions
//! that a modern compiler folds ([`hairspring_host::chains::expressions`]), and a budget that may
//! shorten the intervals.
//!
//! Time: a try has 99 intervals and takes 0.6 s if they are 5 ms long. If no interval passes the
//! check of [`Harness::enough`], as on a noisy machine, the paper takes a second for each, which is
//! 99 s for a try and 297 s for three. The default budget of 5 s limits the intervals to 7 ms, so
//! that three tries fit even if another process takes half of the processor.

pub mod gcd;
pub mod vote;

mod collect;
mod plain_or_opaque;
mod result;
#[cfg(test)]
mod tests;

pub use result::{Attempt, ClassicResult, ExpressionResult, LoopChoice, Mhz, Outcome, Times};

use hairspring_core::design::enough::{ACCURACY, resolution_window_ns};
use hairspring_core::estimate::Estimate;
use hairspring_host::chains::expressions::{Expression, expressions};
use hairspring_host::clock::{Clock, RateMeter, granularity};
use hairspring_measure::harness::Harness;
use plain_or_opaque::choose_loops;
use std::time::{Duration, Instant};

/// Limits of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Time for everything, at least 100 ms; `None` for the time that the paper's harness takes, up
    /// to five minutes. An interval that has begun is finished.
    pub budget: Option<Duration>,
    /// Measurements of each expression in a try, 2 to 1000; 11 in the paper.
    pub measurements: u32,
    /// Tries before the system counts as too busy, 1 to 100; 3 in the paper.
    pub tries: u32,
    /// Confidence level of the intervals of the expressions' times.
    pub level: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options { budget: Some(Duration::from_secs(5)), measurements: 11, tries: 3, level: 0.95 }
    }
}

impl Options {
    /// An option that is out of its limits; the message names it.
    fn check(&self) -> Result<(), String> {
        const LEAST_BUDGET: Duration = Duration::from_millis(100);
        if let Some(budget) = self.budget.filter(|budget| *budget < LEAST_BUDGET) {
            return Err(format!(
                "a budget of {budget:?} is too short for nine expressions: give {LEAST_BUDGET:?} \
                 or more"
            ));
        }
        if !(2..=1_000).contains(&self.measurements) {
            return Err(format!(
                "{} measurements of each expression: give 2 to 1000, the paper has 11",
                self.measurements
            ));
        }
        if !(1..=100).contains(&self.tries) {
            return Err(format!("{} tries: give 1 to 100, the paper has 3", self.tries));
        }
        if !(0.5..=0.9999).contains(&self.level) {
            return Err(format!("a confidence level of {}: give 0.5 to 0.9999", self.level));
        }
        Ok(())
    }

    /// The longest interval with which the rest of the budget suffices for all tries at their full
    /// length.
    fn longest_window_ns(&self, spent_ns: f64, expressions: usize) -> f64 {
        let intervals = f64::from(self.tries) * f64::from(self.measurements) * expressions as f64;
        self.budget.map_or(f64::INFINITY, |budget| {
            ((budget.as_nanos() as f64 - spent_ns) / intervals / MARGIN).max(1.0)
        })
    }

    /// Refuses a clock that is too coarse for 1 % within the budget. Without a budget, the limit is
    /// the paper's second.
    fn check_clock(&self, quantum_ns: f64, expressions: usize) -> Result<(), String> {
        let (needed, allowed) =
            (resolution_window_ns(quantum_ns, ACCURACY), self.longest_window_ns(0.0, expressions));
        if needed <= allowed {
            return Ok(());
        }
        let whole = needed / allowed * self.budget.map_or(0.0, |budget| budget.as_secs_f64());
        Err(format!(
            "the clock steps by {:.3} ms, so intervals of {:.0} ms are needed for 1 %, and the \
             budget allows {:.1} ms: use a finer clock, or a budget of {whole:.0} s",
            quantum_ns / 1e6,
            needed / 1e6,
            allowed / 1e6
        ))
    }

    fn is_spent(&self, spent_ns: f64) -> bool {
        self.budget.is_some_and(|budget| spent_ns >= budget.as_nanos() as f64)
    }
}

/// How many times longer than requested all intervals together may become: up to a tenth because
/// trips are rounded, another interval to find the trips, and twice the time if another process
/// takes half of the processor.
const MARGIN: f64 = 2.3;

/// The loops that the method times: a hundred copies of each expression.
trait Subject {
    /// Names of the expressions.
    fn names(&self) -> Vec<&'static str>;
    /// Runs a number of trips of an expression's loop.
    fn run(&mut self, expression: usize, opaque: bool, trips: u64);
    /// Time since the start, in nanoseconds.
    fn spent_ns(&self) -> f64;
}

/// The nine expressions as this program was compiled.
struct Compiled {
    all_expressions: [Expression; 9],
    begin: Instant,
}

impl Subject for Compiled {
    fn names(&self) -> Vec<&'static str> {
        self.all_expressions.iter().map(|expression| expression.name).collect()
    }

    fn run(&mut self, expression: usize, opaque: bool, trips: u64) {
        let Expression { plain, opaque: opaque_loop, .. } = self.all_expressions[expression];
        if opaque { opaque_loop(trips) } else { plain(trips) }
    }

    fn spent_ns(&self) -> f64 {
        self.begin.elapsed().as_nanos() as f64
    }
}

/// Measures the clock speed by the paper's method, with a clock of this machine. Results are
/// steadier if the thread is bound to one CPU.
///
/// # Errors
/// Options out of their limits, a clock that is too coarse for the budget, or a clock on which no
/// loop fills an interval. A machine that is too busy is not an error but an [`Outcome`].
pub fn classic(clock: Clock, options: &Options) -> Result<ClassicResult, String> {
    /// Time over which the rate of the clock is measured, unless its interface defines it.
    const RATE_TIME: Duration = Duration::from_millis(20);
    options.check()?;
    let mut subject = Compiled { all_expressions: expressions(), begin: Instant::now() };
    let meter = RateMeter::start(clock);
    let quantum = granularity(&clock).quantum;
    if clock.nominal_hz.is_none() {
        std::thread::sleep(RATE_TIME);
    }
    let rate = meter.rate();
    let outcome = measure(&Harness::new(clock, rate.hz, quantum), &mut subject, options)?;
    Ok(ClassicResult { clock: clock.name.to_owned(), rate: Some(rate), ..outcome })
}

/// The method on a harness.
fn measure(
    harness: &Harness,
    subject: &mut impl Subject,
    options: &Options,
) -> Result<ClassicResult, String> {
    options.check()?;
    options.check_clock(harness.quantum_ns, subject.names().len())?;
    let choices = choose_loops(harness, subject, options)?;
    let timing_ns = timing_overhead(harness, options)?;
    let limit_ns = options.longest_window_ns(subject.spent_ns(), choices.len());
    // The paper does not say which loop the check uses; any of them will do.
    let enough = harness
        .enough(limit_ns, &mut |trips| subject.run(0, choices[0].opaque, trips))
        .map_err(|e| e.to_string())?;
    let window_ns =
        enough.window_ns.min(options.longest_window_ns(subject.spent_ns(), choices.len()));
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut collected = Vec::new();
    let mut sampler = collect::Sampler::new(harness, window_ns, timing_ns.value, &choices);
    while attempts.len() < options.tries as usize
        && !options.is_spent(subject.spent_ns())
        && !attempts.iter().any(|one| one.agreed)
    {
        collected = sampler.collect(subject, options)?;
        attempts.push(Attempt::new(&collected));
    }
    let mhz = attempts.last().and_then(Attempt::accepted);
    Ok(ClassicResult {
        outcome: result::outcome(&attempts, options),
        mhz,
        expressions: result::expressions(subject.names(), choices, &collected, mhz, options.level),
        attempts,
        window_ns,
        enough,
        timing_overhead_ns: timing_ns,
        seconds: subject.spent_ns() / 1e9,
        clock: String::new(),
        rate: None,
    })
}

/// The timing overhead; at most a hundredth of the budget is spent on it.
fn timing_overhead(harness: &Harness, options: &Options) -> Result<Estimate, String> {
    const WINDOW_NS: f64 = 1e6;
    let window_ns = options
        .budget
        .map_or(WINDOW_NS, |budget| WINDOW_NS.min(budget.as_nanos() as f64 / 1_000.0));
    let read_overhead = harness.timing_overhead(window_ns).map_err(|e| e.to_string())?;
    read_overhead
        .trip_ns
        .median(options.level)
        .ok_or_else(|| "the overhead of the timing was measured less than twice".to_owned())
}
