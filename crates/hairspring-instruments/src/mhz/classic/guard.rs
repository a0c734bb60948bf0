//! Which expressions must be guarded from the compiler: both loops are timed, and where the plain one is shorter, the
//! compiler saw through the copies.

use super::result::GuardTrial;
use super::{Options, Subject};
use hairspring_core::estimate::experiments::Minimum;
use hairspring_host::chains::expressions::COPIES;
use hairspring_measure::harness::{Harness, Settings};

/// Interval of one timing, in nanoseconds; noise only makes it longer, so the minimum of a few serves.
const WINDOW_NS: f64 = 100_000.0;
/// Timings of each loop.
const TIMINGS: u32 = 4;
/// A plain loop below this share of the guarded one was folded.
const FOLDED: f64 = 0.95;

/// Times plain and guarded loops of all expressions.
pub fn choose_guards(harness: &Harness, subject: &mut impl Subject, options: &Options) -> Result<Vec<GuardTrial>, String> {
    (0..subject.names().len())
        .map(|expression| {
            let guarded_ns = fastest(harness, subject, expression, true, options)?;
            // A loop that the compiler folded as a whole cannot fill an interval with any number of trips.
            let plain_ns = fastest(harness, subject, expression, false, options).ok();
            let guarded = plain_ns.is_none_or(|plain| plain.value < FOLDED * guarded_ns.value);
            Ok(GuardTrial { guarded, plain_ns, guarded_ns })
        })
        .collect()
}

fn fastest(harness: &Harness, subject: &mut impl Subject, expression: usize, guarded: bool, options: &Options) -> Result<Minimum, String> {
    let window_ns = options.budget.map_or(WINDOW_NS, |budget| WINDOW_NS.min(budget.as_nanos() as f64 / 10_000.0));
    let settings = Settings { experiments: TIMINGS, ..Settings::of(window_ns) };
    let found = harness.bench(&settings, &mut |trips| subject.run(expression, guarded, trips)).map_err(|e| e.to_string())?;
    let trip = found.trip_ns.minimum().ok_or("a loop was timed less than twice")?;
    let copies = f64::from(COPIES);
    Ok(Minimum { value: trip.value / copies, next: trip.next / copies })
}
