//! The counters of 32-bit ARM, from ARMv7-A on: the virtual counter of the generic timer, which
//! older cores do not have, and the cycle counter where the system lets programs read it. It has 32
//! bits, and wraps after 4.3 s at 1 GHz.
//!
//! C programs have no read here that could not end them: the system may forbid both.

pub use here::{clocks, open_cycles};

#[allow(
    unsafe_code,
    reason = "the instructions that read the counters have no safe form in Rust; none of them \
              accesses memory"
)]
mod here {
    use crate::clock::arch::{cycles_permission, explain_loss, permission};
    use crate::clock::{Clock, CountsWhen, Ordering, Width};
    use std::arch::asm;

    /// The counters, the finest first; those that the system forbids have the reason.
    pub fn clocks() -> Vec<(Clock, Result<(), String>)> {
        let virtual_counter = Clock {
            ordering: Ordering::both("isb"),
            ..Clock::new(
                "cntvct",
                "virtual counter of the generic timer (CNTVCT), isb before and after",
                cntvct,
            )
        };
        let cntvct_here =
            permission(cntvct, "the virtual counter (CNTKCTL), or the core has no generic timer");
        let nominal_hz = cntvct_here.is_ok().then(cntfrq).filter(|hz| *hz > 0.0);
        vec![(cycles(), may_read()), (Clock { nominal_hz, ..virtual_counter }, cntvct_here)]
    }

    /// The cycle counter of the core.
    fn cycles() -> Clock {
        Clock {
            ordering: Ordering::both("isb"),
            width: Width::bits(32),
            counts: CountsWhen::WhileCoreRuns,
            enable: Some(enable),
            ..Clock::new(
                "pmccntr",
                "cycle counter of the core (PMCCNTR), read by programs where a module allows it",
                pmccntr,
            )
        }
    }

    fn may_read() -> Result<(), String> {
        cycles_permission(pmccntr, "the cycle counter (PMUSERENR)", "perf_read")
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
        let (low, high): (u32, u32);
        // SAFETY: offered only where it is permitted; writes two registers.
        unsafe {
            asm!("isb", "mrrc p15, 1, {0}, {1}, c14", "isb", out(reg) low, out(reg) high,
                options(nostack, preserves_flags))
        };
        u64::from(high) << 32 | u64::from(low)
    }

    extern "C" fn pmccntr() -> u64 {
        let ticks: u32;
        // SAFETY: offered only where it is permitted; writes one register.
        unsafe {
            asm!("isb", "mrc p15, 0, {0}, c9, c13, 0", "isb", out(reg) ticks,
                options(nostack, preserves_flags))
        };
        u64::from(ticks)
    }

    /// The rate that the firmware has set; permitted where the counter is.
    fn cntfrq() -> f64 {
        let hz: u32;
        // SAFETY: writes one register.
        unsafe {
            asm!("mrc p15, 0, {0}, c14, c0, 0", out(reg) hz,
                options(nostack, preserves_flags, nomem))
        };
        f64::from(hz)
    }
}
