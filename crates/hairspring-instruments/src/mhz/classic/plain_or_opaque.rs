//! The choice between the plain and the opaque loop of each expression: if the plain one takes less
//! time, the compiler folded copies, and the opaque one is used.

use super::result::LoopChoice;
use super::{Options, Subject};
use hairspring_core::estimate::experiments::Minimum;
use hairspring_host::chains::expressions::COPIES;
use hairspring_measure::harness::{Harness, Settings};

/// Interval of one timing, in nanoseconds. It is short because noise only makes it longer, and the
/// minimum is used.
const WINDOW_NS: f64 = 100_000.0;
/// Timings of each loop.
const TIMINGS: u32 = 4;
/// A plain loop below this share of the opaque one was folded.
const FOLDED_SHARE: f64 = 0.95;

/// Times the plain and the opaque loop of every expression, and chooses one of them.
pub fn choose_loops(
    harness: &Harness,
    subject: &mut impl Subject,
    options: &Options,
) -> Result<Vec<LoopChoice>, String> {
    (0..subject.names().len())
        .map(|expression| {
            let opaque_ns = fastest(harness, subject, expression, true, options)?;
            // A loop that the compiler folded as a whole cannot fill an interval with any number of
            // trips.
            let plain_ns = fastest(harness, subject, expression, false, options).ok();
            let opaque = plain_ns.is_none_or(|plain| plain.value < FOLDED_SHARE * opaque_ns.value);
            Ok(LoopChoice { opaque, plain_ns, opaque_ns })
        })
        .collect()
}

fn fastest(
    harness: &Harness,
    subject: &mut impl Subject,
    expression: usize,
    opaque: bool,
    options: &Options,
) -> Result<Minimum, String> {
    let window_ns = options
        .budget
        .map_or(WINDOW_NS, |budget| WINDOW_NS.min(budget.as_nanos() as f64 / 10_000.0));
    let settings = Settings { experiments: TIMINGS, ..Settings::for_window(window_ns) };
    let experiment = harness
        .bench(&settings, &mut |trips| subject.run(expression, opaque, trips))
        .map_err(|e| e.to_string())?;
    let trip = experiment.trip_ns.minimum().ok_or("a loop was timed less than twice")?;
    let copies = f64::from(COPIES);
    Ok(Minimum { value: trip.value / copies, next: trip.next / copies })
}
