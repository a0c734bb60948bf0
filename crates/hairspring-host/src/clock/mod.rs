//! Clocks: how to read ticks, and their properties.
//!
//! A [`Clock`] has a name and a plain function that returns ticks. Every row of every language
//! calls this function before and after the code under test. Resolution and rate are measured
//! ([`granularity`], [`RateMeter`]), never taken from a table.
//!
//! A counter may be narrower than 64 bits and wrap ([`Width`]), may have to be enabled in the
//! thread that reads it ([`Clock::ready`]), or may exist without counting ([`stands_still`]), as on
//! some ARM cores.

pub mod arch;
mod catalogue;
mod choice;
mod granularity;
mod highest;
mod module;
mod os;
mod rate;
mod ready;
mod watch;
mod width;

pub mod fake;

pub use catalogue::{catalogue, find};
pub use choice::{Choice, choice, default_clock, seated_clock};
pub use granularity::{Reading, granularity};
pub use highest::highest_hz;
pub use module::CounterWatch;
pub use rate::{RateMeter, wall_name};
pub use ready::stands_still;
pub use watch::CoreWatch;
pub use width::{Counter, Width};

/// Reads a clock: ticks since a fixed moment, ordered according to the clock's [`Ordering`].
pub type ReadFn = extern "C" fn() -> u64;

/// What orders a read with respect to the code around it. Where it is `None`, the core may run both
/// at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ordering {
    /// What completes all earlier instructions before the read.
    pub before: Option<&'static str>,
    /// What delays all later instructions until after the read.
    pub after: Option<&'static str>,
}

impl Ordering {
    /// No ordering on either side.
    pub const NONE: Ordering = Ordering { before: None, after: None };

    /// The same ordering on both sides.
    pub const fn both(by: &'static str) -> Ordering {
        Ordering { before: Some(by), after: Some(by) }
    }
}

/// When a clock counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CountsWhen {
    /// Always.
    #[default]
    Always,
    /// While the core that reads it runs: every core has its own clock, which may stop while the
    /// core sleeps.
    WhileCoreRuns,
    /// While the thread that reads it runs: every thread has its own clock.
    WhileThreadRuns,
    /// While threads of the process run: with two running threads it is twice as fast.
    WhileProcessRuns,
}

/// A clock of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Name by which users select it.
    pub name: &'static str,
    /// Description in one sentence.
    pub description: &'static str,
    /// Reads it.
    pub read: ReadFn,
    /// Ticks per second if the interface defines it (clock_gettime counts nanoseconds); `None` if
    /// it must be measured.
    pub nominal_hz: Option<f64>,
    /// The step in ticks that the system states, if it is coarse: too few steps are seen of a clock
    /// that moves with the kernel's tick.
    pub stated_step: Option<u64>,
    /// Width of the counter: narrower ones wrap.
    pub width: Width,
    /// What orders a read.
    pub ordering: Ordering,
    /// When it counts.
    pub counts: CountsWhen,
    /// Enables it in the calling thread, if that is needed before a read; the error is the reason
    /// why this is not possible.
    pub enable: Option<fn() -> Result<(), String>>,
}

impl Clock {
    /// A 64-bit counter of unknown rate that always counts, with unordered reads.
    pub const fn new(name: &'static str, description: &'static str, read: ReadFn) -> Clock {
        Clock {
            name,
            description,
            read,
            nominal_hz: None,
            stated_step: None,
            width: Width::FULL,
            ordering: Ordering::NONE,
            counts: CountsWhen::Always,
            enable: None,
        }
    }
}
