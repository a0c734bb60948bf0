//! The best clocks of the machine, and why finer ones are not used.

use super::{Clock, CountsWhen, arch, os};
use std::sync::OnceLock;
use std::time::Duration;

/// A clock with whether it is available.
type Listed = (Clock, Result<(), String>);

/// The best clocks of the machine.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The best clock for everything: it counts always, and alike on all CPUs.
    pub steady: Clock,
    /// The best clock for code that stays on one CPU: the same one, or the cycle counter of the
    /// core.
    pub seated: Clock,
    /// Names of finer counters of the processor that are not used, with the reasons.
    pub passed_over: Vec<(&'static str, String)>,
}

/// The choice, made once in the life of the process.
///
/// # Cost
/// A few reads; 60 ms for each counter that exists without counting, and 8 ms for one that may stop
/// while the core sleeps.
pub fn choice() -> &'static Choice {
    static CHOICE: OnceLock<Choice> = OnceLock::new();
    CHOICE.get_or_init(|| choose(from_the_finest()))
}

/// All clocks: the counters of the core, what perf offers of them, and the timers of the processor.
/// perf is asked only if programs may read no counter, because it would take it. The system's
/// clocks are queried only if the processor has no timer, because querying some of them is
/// expensive.
fn from_the_finest() -> impl Iterator<Item = Listed> {
    let (counters, timers): (Vec<Listed>, Vec<Listed>) = arch::clocks()
        .into_iter()
        .partition(|(clock, _)| clock.counts == CountsWhen::WhileCoreRuns);
    let offered = if counters.iter().any(|(_, available)| available.is_ok()) {
        Vec::new()
    } else {
        os::counters()
    };
    counters
        .into_iter()
        .chain(offered)
        .chain(timers)
        .chain(std::iter::once_with(os::clocks).flatten())
}

/// The best clock of this machine: the ordered counter of the processor if it counts, else the
/// system's monotonic clock.
pub fn default_clock() -> Clock {
    choice().steady
}

/// The best clock for code that stays on one CPU.
pub fn seated_clock() -> Clock {
    choice().seated
}

/// Takes the first clocks that are suitable. They are listed from the finest to the coarsest.
fn choose(listed: impl IntoIterator<Item = Listed>) -> Choice {
    let (mut seated, mut passed_over) = (None, Vec::new());
    for (clock, available) in listed {
        if seated.is_some() && clock.counts != CountsWhen::Always {
            continue; // it is no finer
        }
        match available.and_then(|()| suitable(&clock)) {
            Err(reason) => passed_over.push((clock.name, reason)),
            Ok(()) if clock.counts == CountsWhen::Always => {
                return Choice { steady: clock, seated: seated.unwrap_or(clock), passed_over };
            }
            Ok(()) => seated = seated.or(Some(clock)),
        }
    }
    let wall = Clock {
        nominal_hz: Some(1e9),
        ..Clock::new("wall", "the system's monotonic clock", os::wall_ns)
    };
    Choice { steady: wall, seated: seated.unwrap_or(wall), passed_over }
}

/// Whether a clock can time any code on one CPU: it counts, and goes on while the code waits.
fn suitable(clock: &Clock) -> Result<(), String> {
    match clock.counts {
        CountsWhen::WhileThreadRuns | CountsWhen::WhileProcessRuns => {
            return Err(format!(
                "it does not count while the code waits; name it for code that only computes \
                 (--clock {})",
                clock.name
            ));
        }
        CountsWhen::Always | CountsWhen::WhileCoreRuns => {}
    }
    clock.ready().map_err(|error| error.to_string())?;
    if clock.counts == CountsWhen::Always {
        return Ok(());
    }
    let asleep = arch::attempt(|| counted_asleep(clock))?;
    let stops = || {
        format!(
            "it counts {:.0} % of the time while the core sleeps, so code that waits would be \
             timed too short; name it for code that does not (--clock {})",
            100.0 * asleep,
            clock.name
        )
    };
    if asleep >= ALMOST_ALL { Ok(()) } else { Err(stops()) }
}

/// Time for which the thread works and then sleeps.
const WORK_TIME: Duration = Duration::from_millis(2);
/// Ticks while the thread sleeps as a share of those while it works, from which the counter counts
/// as going on. The core may change its clock in between.
const ALMOST_ALL: f64 = 0.8;

/// How often the thread works: once it may hardly run, because something else has the CPU.
const TRIES: usize = 3;

/// Ticks for each nanosecond in a sleep, as a share of those while the thread works.
fn counted_asleep(clock: &Clock) -> f64 {
    let per_ns = |wait: &dyn Fn()| {
        let (begin, first) = (os::wall_ns(), (clock.read)());
        wait();
        let ticks = clock.width.between(first, (clock.read)());
        ticks as f64 / (os::wall_ns().saturating_sub(begin)).max(1) as f64
    };
    let work = || {
        let begin = os::wall_ns();
        while os::wall_ns().saturating_sub(begin) < WORK_TIME.as_nanos() as u64 {}
    };
    let working = (0..TRIES).map(|_| per_ns(&work)).fold(0.0, f64::max);
    let asleep = per_ns(&|| std::thread::sleep(WORK_TIME));
    asleep / working.max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::super::fake;
    use super::*;

    extern "C" fn stopped() -> u64 {
        7
    }

    /// Counts the processor time of the thread: it stops in a sleep, as the cycle counters of some
    /// cores do.
    extern "C" fn while_awake() -> u64 {
        nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID)
            .map_or(0, |time| time.tv_nsec() as u64)
    }

    fn counter(name: &'static str, read: super::super::ReadFn) -> Clock {
        Clock { counts: CountsWhen::WhileCoreRuns, ..Clock::new(name, "", read) }
    }

    fn monotonic() -> Listed {
        (Clock::new("monotonic", "", os::wall_ns), Ok(()))
    }

    #[test]
    fn a_counter_that_counts_is_used_where_the_code_stays_on_one_cpu() {
        let choice = choose([(counter("cycles", os::wall_ns), Ok(())), monotonic()]);
        assert_eq!((choice.seated.name, choice.steady.name), ("cycles", "monotonic"));
        assert!(choice.passed_over.is_empty());
        let other_counter = (counter("other", fake::read), Err("no module".to_owned()));
        let choice = choose([(counter("cycles", os::wall_ns), Ok(())), other_counter, monotonic()]);
        assert_eq!(
            (choice.seated.name, choice.passed_over.len()),
            ("cycles", 0),
            "one that is no finer is no loss"
        );
    }

    #[test]
    fn counters_that_do_not_count_are_passed_over_with_the_reason() {
        let forbidden = (counter("forbidden", fake::read), Err("no module".to_owned()));
        let choice = choose([
            forbidden,
            (counter("stopped", stopped), Ok(())),
            (counter("lazy", while_awake), Ok(())),
            monotonic(),
        ]);
        assert_eq!((choice.seated.name, choice.steady.name), ("monotonic", "monotonic"));
        let reasons: Vec<(&str, bool)> =
            [("forbidden", "no module"), ("stopped", "does not count"), ("lazy", "--clock lazy")]
                .iter()
                .zip(&choice.passed_over)
                .map(|((name, text), (passed, reason))| {
                    (*passed, name == passed && reason.contains(text))
                })
                .collect();
        assert_eq!(
            reasons,
            [("forbidden", true), ("stopped", true), ("lazy", true)],
            "{:?}",
            choice.passed_over
        );
    }

    #[test]
    fn a_clock_of_the_thread_is_no_default() {
        let thread =
            Clock { counts: CountsWhen::WhileThreadRuns, ..Clock::new("thread", "", os::wall_ns) };
        let choice = choose([(thread, Ok(())), monotonic()]);
        assert_eq!(choice.seated.name, "monotonic");
        assert!(
            choice.passed_over[0].1.contains("waits")
                && choice.passed_over[0].1.contains("--clock thread"),
            "{:?}",
            choice.passed_over
        );
    }

    #[test]
    fn without_any_clock_the_system_has_one() {
        let found = choose(Vec::new());
        assert_eq!((found.steady.name, found.seated.name), ("wall", "wall"));
    }

    #[test]
    fn counters_come_before_timers() {
        let counts: Vec<bool> =
            from_the_finest().map(|(clock, _)| clock.counts == CountsWhen::WhileCoreRuns).collect();
        assert!(
            counts.is_sorted_by(|one, next| one >= next) && counts.last() == Some(&false),
            "{counts:?}"
        );
    }

    #[test]
    fn the_choice_of_this_machine_counts() {
        choice().steady.ready().unwrap();
        choice().seated.ready().unwrap();
    }
}
