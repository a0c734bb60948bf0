//! The context switch (Muller's running example): two processes or threads that alternate on one
//! CPU.
//!
//! [`design`], [`lost`] and [`result`] are pure; `rig` runs the windows on one side and `partner`
//! is the other side; `background` is the counter of the second method.
//!
//! - A **switch**: the CPU goes from one **side** to the other, without the system calls that make
//!   it do so. The **leader** is the side that measures, the **partner** the other one. The
//!   **mechanism** is how a side wakes the other one and waits.
//! - The **calls** are the system calls of one side for one switch. A **turn** is what a side does
//!   after a switch to it.
//! - A **window** runs between two reads of the clock: a known number of switches, calls and turns.
//! - The **working set** is memory that a side passes over in each turn; **refill** is what the
//!   first pass after a switch takes more.

pub mod design;
pub mod document;
pub mod lost;
pub mod mechanism;
pub mod result;
pub mod text;

mod kinds;

#[cfg(target_os = "linux")]
mod background;
#[cfg(target_os = "linux")]
mod end;
#[cfg(target_os = "linux")]
mod line;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
pub mod partner;
#[cfg(target_os = "linux")]
mod rig;
#[cfg(target_os = "linux")]
mod side;

pub use kinds::{SwitchFinding, code};
#[cfg(target_os = "linux")]
pub use measure::measure;

use hairspring_core::observations::Rate;
use hairspring_host::clock::Clock;
use hairspring_host::thread::PreparedThread;
use hairspring_measure::ruler::Ruler;
use mechanism::Mechanism;
use result::Switched;
use std::path::PathBuf;
use std::time::Duration;

/// Largest working set of a side, in bytes.
pub const MOST_BYTES: usize = 64 << 20;

/// What to measure.
#[derive(Debug, Clone)]
pub struct Request {
    /// The mechanisms, in their order.
    pub mechanisms: Vec<Mechanism>,
    /// The program that becomes the other process when it is started with [`partner::ARGUMENT`];
    /// `None` for threads.
    pub program: Option<PathBuf>,
    /// Bytes of the working set of each side; 0 for none.
    pub bytes: usize,
    /// The CPU; `None` for one whose core is quiet.
    pub cpu: Option<usize>,
    /// The clock.
    pub clock: Clock,
    /// Time for each mechanism.
    pub budget: Duration,
    /// Confidence level of all intervals.
    pub level: f64,
}

/// The results of all mechanisms, and their circumstances.
#[derive(Debug)]
pub struct Measured {
    /// Each mechanism with its result, or why it has none.
    pub results: Vec<(Mechanism, Result<Switched, String>)>,
    /// How the thread was prepared.
    pub thread: PreparedThread,
    /// The reference chain, or why there is none.
    pub ruler: Result<Ruler, String>,
    /// Rate of the clock.
    pub rate: Rate,
    /// Quantum of the clock in ticks.
    pub quantum: u64,
}

/// Refuses: only Linux has all of the mechanisms, and says how often a thread was switched.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn measure(_: &Request) -> hairspring_host::Result<Measured> {
    Err(refused(std::env::consts::OS))
}

/// The refusal on another system.
#[cfg(any(test, not(target_os = "linux")))]
fn refused(system: &str) -> hairspring_host::Error {
    hairspring_host::Error::Refused {
        what: "context switches are measured on Linux only".into(),
        reason: format!("this is {system}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_systems_are_refused_by_name() {
        let error = refused("plan9").to_string();
        assert!(error.contains("on Linux only") && error.contains("this is plan9"), "{error}");
    }
}
