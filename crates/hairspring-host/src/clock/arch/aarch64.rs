//! The counters of AArch64: the virtual counter, and the cycle counter where the system lets
//! programs read it.
//!
//! The processor may read a counter before earlier instructions are done: the Arm ARM requires an
//! `isb` in between, as in Linux. There is no `dsb`: loads and stores still in progress at a
//! reading are the same in all rows of a benchmark, so they are part of the overhead, and waiting
//! for them would add the variation of the store buffer to every reading. The fences between init
//! and body do wait for them (see [`crate::fence`]).

use super::{CounterInC, Place};

/// The ordered read, for C and for Rust.
macro_rules! ordered_read {
    () => {
        "isb\n\tmrs {0}, cntvct_el0\n\tisb"
    };
}

/// The rate of the counter, for C and for Rust.
macro_rules! rate {
    () => {
        "mrs {0}, cntfrq_el0"
    };
}

/// The read for C.
pub const IN_C: CounterInC = CounterInC {
    c_macro: "__aarch64__",
    name: "cntvct",
    read: ordered_read!(),
    place: Place::Register,
    rate: Some(rate!()),
    fence: "isb",
};

#[cfg(target_arch = "aarch64")]
pub use here::{clocks, open_cycles};

#[cfg(target_arch = "aarch64")]
#[allow(
    unsafe_code,
    reason = "the instructions that read the counters have no safe form in Rust; none of them \
              accesses memory"
)]
mod here {
    use crate::clock::arch::{cycles_permission, explain_loss, permission};
    use crate::clock::{Clock, CountsWhen, Ordering};
    use std::arch::asm;

    /// The counters, the finest first; those that the system forbids have the reason.
    pub fn clocks() -> Vec<(Clock, Result<(), String>)> {
        let virtual_counter = Clock {
            ordering: Ordering::both("isb"),
            ..Clock::new(
                "cntvct",
                "virtual counter of the generic timer (CNTVCT_EL0), isb before and after",
                cntvct,
            )
        };
        let cntvct_here = permission(cntvct, "the virtual counter (CNTKCTL_EL1)");
        let nominal_hz = cntvct_here.is_ok().then(cntfrq).filter(|hz| *hz > 0.0);
        vec![(cycles(), may_read()), (Clock { nominal_hz, ..virtual_counter }, cntvct_here)]
    }

    /// The cycle counter of the core.
    fn cycles() -> Clock {
        Clock {
            ordering: Ordering::both("isb"),
            counts: CountsWhen::WhileCoreRuns,
            enable: Some(enable),
            ..Clock::new(
                "pmccntr",
                "cycle counter of the core (PMCCNTR_EL0), read by programs where a module allows \
                 it",
                pmccntr,
            )
        }
    }

    fn may_read() -> Result<(), String> {
        cycles_permission(pmccntr, "the cycle counter (PMUSERENR_EL0)", "perf")
    }

    /// The system may have forbidden it since, or on this CPU. A read that it forbids later ends
    /// the process with a message.
    fn enable() -> Result<(), String> {
        may_read()?;
        explain_loss()
    }

    /// The cycle counter, if the system lets programs read it.
    pub fn open_cycles() -> Option<Clock> {
        may_read().is_ok().then(cycles)
    }

    // No block has the option `nomem`: the compiler must not move memory accesses across a read.

    extern "C" fn cntvct() -> u64 {
        let ticks: u64;
        // SAFETY: offered only where it is permitted; writes one register.
        unsafe { asm!(ordered_read!(), out(reg) ticks, options(nostack, preserves_flags)) };
        ticks
    }

    extern "C" fn pmccntr() -> u64 {
        let ticks: u64;
        // SAFETY: offered only where it is permitted; writes one register.
        unsafe {
            asm!("isb", "mrs {0}, pmccntr_el0", "isb", out(reg) ticks,
                options(nostack, preserves_flags))
        };
        ticks
    }

    /// The rate that the firmware has set; permitted where the counter is.
    fn cntfrq() -> f64 {
        let hz: u64;
        // SAFETY: writes one register.
        unsafe { asm!(rate!(), out(reg) hz, options(nostack, preserves_flags, nomem)) };
        hz as f64
    }
}
