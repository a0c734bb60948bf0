//! The machine that a cyclic task runs on, and its limits.

use super::task::Machine;
use crate::timer::{least_slack, now_ns, sleep_until};
use hairspring_core::observations::Rate;
use hairspring_host::clock::{Clock, Reading, default_clock, granularity};
use hairspring_host::{Error, Result};

/// Name of the clock of the due times.
pub const DUE_CLOCK: &str = "monotonic";

/// This machine, with the two clocks that measure.
#[derive(Debug)]
pub struct System {
    clocks: [Clock; 2],
}

impl System {
    /// A system with these clocks. If the system allows it, the calling thread's timers get the
    /// least slack.
    pub fn new(clocks: [Clock; 2]) -> System {
        least_slack();
        System { clocks }
    }
}

impl Machine for System {
    fn now_ns(&mut self) -> u64 {
        now_ns()
    }

    fn sleep_until(&mut self, due_ns: u64) {
        // A signal ends the sleep early; the task checks for that.
        sleep_until(due_ns);
    }

    fn read(&mut self) -> ([u64; 2], u64) {
        let ticks = [(self.clocks[0].read)(), (self.clocks[1].read)()];
        // The clock of the due times is not read again if it is one of the two.
        let now = self.clocks.iter().position(|clock| clock.name == DUE_CLOCK).map(|at| ticks[at]);
        (ticks, now.unwrap_or_else(|| self.now_ns()))
    }
}

/// Shortest time in nanoseconds that a cycle takes: requesting a wake-up, the shortest sleep, and
/// reading the clocks. It is the minimum of several tries, so that a busy machine is not taken for
/// a slow one.
pub fn least_cycle_ns(machine: &mut dyn Machine) -> u64 {
    const TRIES: usize = 300;
    let time_of_sleep = |_| {
        let before = machine.now_ns();
        machine.sleep_until(before + 1);
        let (_, after) = machine.read();
        after.max(machine.now_ns()).saturating_sub(before)
    };
    (0..TRIES).map(time_of_sleep).min().unwrap_or(0)
}

/// Refuses a period that is shorter than the machine's shortest cycle.
///
/// # Errors
/// The message names the shortest cycle.
pub fn check_period(period_ns: u64, least_ns: u64) -> Result<()> {
    if period_ns > least_ns {
        return Ok(());
    }
    Err(Error::Refused {
        what: format!("a period of {} cannot be kept here", time(period_ns as f64)),
        reason: format!(
            "a wake-up with its reads of the clocks takes at least {}; ask for a longer period \
             (--period)",
            time(least_ns as f64)
        ),
    })
}

/// A time for a message.
fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{} us", ns.round() / 1e3),
        ns => format!("{} ms", (ns / 1e3).round() / 1e3),
    }
}

/// The properties of a clock, measured before the run.
#[derive(Debug, Clone)]
pub struct Known {
    /// The clock.
    pub clock: Clock,
    /// Quantum and read cost.
    pub reading: Reading,
}

impl Known {
    /// Measures a clock's quantum and cost; up to 30 ms for a coarse one.
    pub fn measure(clock: Clock) -> Known {
        Known { clock, reading: granularity(&clock) }
    }

    /// Refuses a clock that cannot measure a period, because it is coarser than the period or
    /// stands still while the task sleeps. The clock counted these ticks during these nanoseconds
    /// of the clock of the due times.
    ///
    /// # Errors
    /// The message says which, with the numbers and what to do.
    pub fn check(&self, period_ns: u64, rate: &Rate, ticks: i64, elapsed_ns: u64) -> Result<()> {
        let refused = |reason: String| {
            Err(Error::Refused {
                what: format!("clock `{}` cannot measure this period", self.clock.name),
                reason,
            })
        };
        let ns = 1e9 / rate.hz;
        let quantum_ns = self.reading.quantum as f64 * ns;
        if self.reading.quantum == 0 || quantum_ns >= period_ns as f64 {
            let step = if self.reading.quantum == 0 {
                "did not move for 30 ms".to_owned()
            } else {
                format!("steps by {}", time(quantum_ns))
            };
            return refused(format!(
                "it {step}, the period is {}; choose a finer clock (--clock {})",
                time(period_ns as f64),
                default_clock().name
            ));
        }
        let counted = ticks as f64 * ns;
        if (counted - elapsed_ns as f64).abs() > 0.1 * elapsed_ns as f64 + quantum_ns {
            return refused(format!(
                "it counted {} while the task slept for {}; choose a clock that does not stop \
                 (--clock {})",
                time(counted),
                time(elapsed_ns as f64),
                default_clock().name
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::fake;

    fn known(quantum: u64) -> Known {
        fake::set(fake::Settings { quantum, per_read: 37, ..fake::Settings::default() });
        Known::measure(Clock { nominal_hz: Some(1e9), ..Clock::new("fake", "", fake::read) })
    }

    fn rate() -> Rate {
        Rate { hz: 1e9, uncertainty_ppm: 0.0, provenance: String::new() }
    }

    #[test]
    fn a_period_shorter_than_a_wake_up_is_refused_with_the_cost() {
        assert!(check_period(3_251, 3_250).is_ok());
        let message = check_period(950, 3_250).unwrap_err().to_string();
        for part in ["a period of 950 ns", "takes at least 3.25 us", "--period"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn a_counter_that_wraps_is_measured_as_well_as_a_wide_one() {
        fake::set(fake::Settings {
            quantum: 2,
            per_read: 37,
            start: u64::from(u32::MAX) - 5_000,
            bits: 32,
            ..fake::Settings::default()
        });
        let reading = Known::measure(fake::clock(32)).reading;
        assert_eq!((reading.quantum, reading.backward), (2, 0));
        assert!((reading.back_to_back_mean - 37.0).abs() < 0.1, "{reading:?}");
    }

    #[test]
    fn a_clock_coarser_than_the_period_is_refused() {
        let message =
            known(4_000).check(1_000, &rate(), 1_000_000, 1_000_000).unwrap_err().to_string();
        assert!(
            message.contains("`fake`")
                && message.contains("steps by 4 us")
                && message.contains("finer clock"),
            "{message}"
        );
        assert!(known(4_000).check(100_000, &rate(), 1_000_000, 1_000_000).is_ok());
    }

    #[test]
    fn a_clock_that_stands_still_while_the_task_sleeps_is_refused() {
        let message = known(1).check(1_000, &rate(), 3_000, 1_000_000).unwrap_err().to_string();
        assert!(message.contains("counted 3 us") && message.contains("does not stop"), "{message}");
    }
}
