//! The clock speed by the paper's own method (Staelin and McVoy, "mhz: Anatomy of a micro-benchmark", 1998), to compare
//! with the modern one.
//!
//! Nine expressions, whose lengths nobody knows, are timed by the harness of the paper; the period of the core is the greatest
//! common divisor of their times. Everything is as published: the expressions, the regression with the weighted chi
//! squared, the vote of all subsets, the minimum against the next larger value, three tries, and then "system too
//! busy". It gives whole MHz and no confidence interval, and a neighbour that takes an even share of every interval goes
//! unnoticed; none of this is mended here. Two things had to be added: a modern compiler folds some expressions, which are
//! then guarded ([`hairspring_host::chains::expressions`]), and a budget may shorten the intervals.
//!
//! Time: a try takes 99 intervals, 0.6 s at 5 ms. Where no interval passes the check of [`Harness::enough`], as on a noisy
//! machine, the paper takes a second for each, 99 s for a try and 297 s for three; the budget of 5 s that [`Options`] has
//! by default makes it 7 ms, so that three tries fit even where a neighbour takes half of the processor.

pub mod gcd;
pub mod vote;

mod collect;
mod guard;
mod result;
#[cfg(test)]
mod tests;

pub use result::{Attempt, ClassicResult, ExpressionResult, GuardTrial, Mhz, Outcome, Times};

use guard::choose_guards;
use hairspring_core::design::enough::{ACCURACY, resolution_window_ns};
use hairspring_core::estimate::Estimate;
use hairspring_host::chains::expressions::{Expression, expressions};
use hairspring_host::clock::{Clock, RateMeter, granularity};
use hairspring_measure::harness::Harness;
use std::time::{Duration, Instant};

/// Limits of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Time for the whole, 100 ms at least; `None` for as long as the paper's harness asks, which may be five minutes. An
    /// interval that has begun is finished.
    pub budget: Option<Duration>,
    /// Measurements of each expression in a try, 2 to 1000; the paper has 11.
    pub measurements: u32,
    /// Tries before the system is called too busy, 1 to 100; the paper has 3.
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
    /// An option is out of its limits; the message names it.
    fn check(&self) -> Result<(), String> {
        const LEAST: Duration = Duration::from_millis(100);
        if let Some(budget) = self.budget.filter(|budget| *budget < LEAST) {
            return Err(format!("a budget of {budget:?} is too short for nine expressions: give {LEAST:?} or more"));
        }
        if !(2..=1_000).contains(&self.measurements) {
            return Err(format!("{} measurements of each expression: give 2 to 1000, the paper has 11", self.measurements));
        }
        if !(1..=100).contains(&self.tries) {
            return Err(format!("{} tries: give 1 to 100, the paper has 3", self.tries));
        }
        if !(0.5..=0.9999).contains(&self.level) {
            return Err(format!("a confidence level of {}: give 0.5 to 0.9999", self.level));
        }
        Ok(())
    }

    /// The longest interval that the rest of the budget allows for all tries at their full length.
    fn longest_window_ns(&self, spent_ns: f64, expressions: usize) -> f64 {
        let intervals = f64::from(self.tries) * f64::from(self.measurements) * expressions as f64;
        self.budget.map_or(f64::INFINITY, |budget| ((budget.as_nanos() as f64 - spent_ns) / intervals / MARGIN).max(1.0))
    }

    /// Refuses a clock so coarse that the budget cannot give 1 %: without a budget, the paper's second is all there is.
    fn check_clock(&self, quantum_ns: f64, expressions: usize) -> Result<(), String> {
        let (needed, allowed) = (resolution_window_ns(quantum_ns, ACCURACY), self.longest_window_ns(0.0, expressions));
        if needed <= allowed {
            return Ok(());
        }
        let whole = needed / allowed * self.budget.map_or(0.0, |budget| budget.as_secs_f64());
        Err(format!(
            "the clock steps by {:.3} ms, so intervals of {:.0} ms are needed for 1 %, and the budget allows {:.1} ms: use a finer \
             clock, or a budget of {whole:.0} s",
            quantum_ns / 1e6,
            needed / 1e6,
            allowed / 1e6
        ))
    }

    fn is_spent(&self, spent_ns: f64) -> bool {
        self.budget.is_some_and(|budget| spent_ns >= budget.as_nanos() as f64)
    }
}

/// How much longer than asked for all intervals together may become: each up to a tenth for its rounded trips, once more for
/// finding them, and twice where a neighbour takes half of the processor.
const MARGIN: f64 = 2.3;

/// The loops that the method times: a hundred copies of each expression.
trait Subject {
    /// Names of the expressions.
    fn names(&self) -> Vec<&'static str>;
    /// Runs a number of trips of an expression's loop.
    fn run(&mut self, expression: usize, guarded: bool, trips: u64);
    /// Time since the start, in nanoseconds.
    fn spent_ns(&self) -> f64;
}

/// The nine expressions as this program was compiled.
struct Compiled {
    all: [Expression; 9],
    begin: Instant,
}

impl Subject for Compiled {
    fn names(&self) -> Vec<&'static str> {
        self.all.iter().map(|expression| expression.name).collect()
    }

    fn run(&mut self, expression: usize, guarded: bool, trips: u64) {
        let Expression { plain, guarded: hidden, .. } = self.all[expression];
        if guarded { hidden(trips) } else { plain(trips) }
    }

    fn spent_ns(&self) -> f64 {
        self.begin.elapsed().as_nanos() as f64
    }
}

/// Measures the clock speed by the paper's method, with a clock of this machine. A thread that is bound to one CPU gives
/// steadier answers.
///
/// # Errors
/// Options out of their limits, clocks too coarse for the budget, and clocks that no loop can fill an interval of. A machine that is
/// too busy is not an error but an [`Outcome`].
pub fn classic(clock: Clock, options: &Options) -> Result<ClassicResult, String> {
    /// Over this time the rate of the clock is measured, where its interface does not define it.
    const RATE_TIME: Duration = Duration::from_millis(20);
    options.check()?;
    let mut subject = Compiled { all: expressions(), begin: Instant::now() };
    let meter = RateMeter::start(clock);
    let quantum = granularity(&clock).quantum;
    if clock.nominal_hz.is_none() {
        std::thread::sleep(RATE_TIME);
    }
    let rate = meter.rate();
    let found = measure(&Harness::new(clock, rate.hz, quantum), &mut subject, options)?;
    Ok(ClassicResult { clock: clock.name.to_owned(), rate: Some(rate), ..found })
}

/// The method on a harness.
fn measure(harness: &Harness, subject: &mut impl Subject, options: &Options) -> Result<ClassicResult, String> {
    options.check()?;
    options.check_clock(harness.quantum_ns, subject.names().len())?;
    let guards = choose_guards(harness, subject, options)?;
    let timing_ns = timing_overhead(harness, options)?;
    let limit_ns = options.longest_window_ns(subject.spent_ns(), guards.len());
    // The paper leaves open which loop the check is made with; the first expression's is as good as any.
    let enough = harness.enough(limit_ns, &mut |trips| subject.run(0, guards[0].guarded, trips)).map_err(|e| e.to_string())?;
    let window_ns = enough.window_ns.min(options.longest_window_ns(subject.spent_ns(), guards.len()));
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut collected = Vec::new();
    let mut sampler = collect::Sampler::new(harness, window_ns, timing_ns.value, &guards);
    while attempts.len() < options.tries as usize && !options.is_spent(subject.spent_ns()) && !attempts.iter().any(|one| one.agreed) {
        collected = sampler.collect(subject, options)?;
        attempts.push(Attempt::new(&collected));
    }
    let mhz = attempts.last().and_then(Attempt::accepted);
    Ok(ClassicResult {
        outcome: result::outcome(&attempts, options),
        mhz,
        expressions: result::expressions(subject.names(), guards, &collected, mhz, options.level),
        attempts,
        window_ns,
        enough,
        timing_overhead_ns: timing_ns,
        seconds: subject.spent_ns() / 1e9,
        clock: String::new(),
        rate: None,
    })
}

/// The overhead of the timing, which a hundredth of the budget is spent on at the most.
fn timing_overhead(harness: &Harness, options: &Options) -> Result<Estimate, String> {
    const WINDOW_NS: f64 = 1e6;
    let window_ns = options.budget.map_or(WINDOW_NS, |budget| WINDOW_NS.min(budget.as_nanos() as f64 / 1_000.0));
    let found = harness.timing_overhead(window_ns).map_err(|e| e.to_string())?;
    found.trip_ns.median(options.level).ok_or_else(|| "the overhead of the timing was measured less than twice".to_owned())
}
