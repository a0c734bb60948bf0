//! Findings about a clock.

use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Findings about a clock.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum ClockFinding {
    /// It went backwards, between two reads or from one CPU to another.
    ClockBackward { clock: String, times: u64, readings: u64, worst_ns: Option<f64> },
    /// A read costs far more than a read of the fastest ordered clock: it traps to a hypervisor, or
    /// enters the kernel.
    CostlyRead { clock: String, read_ns: f64, fastest: String, fastest_ns: f64 },
}

impl Kind for ClockFinding {
    fn describe(self) -> Description {
        match self {
            ClockFinding::ClockBackward { clock, times, readings, worst_ns } => Description {
                code: "clock_backward",
                message: format!(
                    "clock `{clock}` went backwards {times} times in {readings} readings{}",
                    worst_ns.map_or_else(String::new, |ns| format!(", by at most {ns:.0} ns"))
                ),
                numbers: numbers! { clock, times, readings, worst_ns },
                remedy: "its differences are not to be trusted: bind the measurement to one CPU, \
                         or use an ordered clock that is never set, such as monotonic",
            },
            ClockFinding::CostlyRead { clock, read_ns, fastest, fastest_ns } => Description {
                code: "costly_read",
                message: format!(
                    "a read of `{clock}` takes {read_ns:.0} ns, {:.0} times as long as one of \
                     `{fastest}`: it traps to the hypervisor or enters the kernel",
                    read_ns / fastest_ns
                ),
                numbers: numbers! { clock, read_ns, fastest, fastest_ns },
                remedy: "use it only to compare with published figures, not to measure",
            },
        }
    }
}
