//! Clocks: how to read ticks, what is known of them, and how that is known.
//!
//! A [`Clock`] is a name and a plain function that returns ticks; the code under test calls that very function
//! before and after, so that one implementation serves every language and every row. Resolution and rate are found by
//! measurement ([`granularity`], [`RateMeter`]), never taken from a table.
//!
//! A counter may be narrower than 64 bits and wrap ([`Width`]), may have to be enabled in the thread that reads it
//! ([`Clock::ready`]), or may be there and not count ([`stands_still`]), as those of ARM's cores do.

pub mod arch;
mod catalogue;
mod granularity;
mod os;
mod rate;
mod ready;
mod width;

pub mod fake;

pub use catalogue::{catalogue, default_clock, find};
pub use granularity::{Reading, granularity};
pub use rate::{RateMeter, wall_name};
pub use ready::stands_still;
pub use width::{Counter, Width};

/// Reads a clock: ticks since some fixed moment. Ordered as the clock's [`Ordering`] says.
pub type ReadFn = extern "C" fn() -> u64;

/// What orders a read against the code around it; `None` where nothing does, and the core may run both at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ordering {
    /// What makes all earlier instructions done before the read.
    pub before: Option<&'static str>,
    /// What keeps all later instructions behind the read.
    pub after: Option<&'static str>,
}

impl Ordering {
    /// Nothing on either side.
    pub const NONE: Ordering = Ordering { before: None, after: None };

    /// The same on both sides.
    pub const fn both(by: &'static str) -> Ordering {
        Ordering { before: Some(by), after: Some(by) }
    }
}

/// While what a clock counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counts {
    /// Always.
    #[default]
    Always,
    /// While the thread that reads it runs: another thread reads another clock.
    WhileThreadRuns,
    /// While threads of the process run: twice as fast where two do.
    WhileProcessRuns,
}

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
    /// Width of the counter: narrower ones wrap.
    pub width: Width,
    /// What orders a read.
    pub ordering: Ordering,
    /// While what it counts.
    pub counts: Counts,
    /// What must be done before it counts, in the thread that reads it; says why it cannot be.
    pub enable: Option<fn() -> Result<(), String>>,
}

impl Clock {
    /// A full counter of unknown rate that always counts, whose read nothing orders.
    pub const fn new(name: &'static str, description: &'static str, read: ReadFn) -> Clock {
        Clock {
            name,
            description,
            read,
            nominal_hz: None,
            width: Width::FULL,
            ordering: Ordering::NONE,
            counts: Counts::Always,
            enable: None,
        }
    }
}
