//! Clocks: how to read ticks, what is known of them, and how that is known.
//!
//! A [`Clock`] is a name and a plain function that returns ticks; the code under test calls that very function
//! before and after, so that one implementation serves every language and every row. Resolution and rate are found by
//! measurement ([`granularity`], [`RateMeter`]), never taken from a table.

mod arch;
mod catalogue;
mod granularity;
mod os;
mod rate;

pub mod fake;

pub use catalogue::{catalogue, default_clock, find};
pub use granularity::{Reading, granularity};
pub use rate::RateMeter;

/// Reads a clock: ticks since some fixed moment. Ordered: what stands before it in the program is done before the
/// read, and nothing after it starts earlier, unless the clock's description says otherwise.
pub type ReadFn = extern "C" fn() -> u64;

/// A clock of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Name by which users ask for it.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub description: &'static str,
    /// Reads it.
    pub read: ReadFn,
    /// Ticks per second where the interface defines it (clock_gettime counts nanoseconds); `None` where it must be
    /// measured.
    pub nominal_hz: Option<f64>,
}
