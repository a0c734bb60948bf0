//! The counters of 64-bit RISC-V: the time, and the cycle counter, which newer kernels keep from
//! programs.
//!
//! `fence` keeps the read behind earlier accesses to memory and before later ones; the standard has
//! nothing that orders it with the instructions between registers.

pub use here::clocks;

#[allow(
    unsafe_code,
    reason = "the instructions that read the counters have no safe form in Rust; none of them \
              accesses memory"
)]
mod here {
    use crate::clock::arch::{ENABLE, permission};
    use crate::clock::{Clock, CountsWhen, Ordering};
    use std::arch::asm;

    /// The counters, the finest first; those that the system forbids have the reason.
    pub fn clocks() -> Vec<(Clock, Result<(), String>)> {
        let ordered = |clock| Clock { ordering: Ordering::both("fence"), ..clock };
        let cycles = Clock {
            counts: CountsWhen::WhileCoreRuns,
            enable: ENABLE,
            ..Clock::new(
                "rdcycle",
                "cycle counter of the core, read by programs where the kernel allows it",
                rdcycle,
            )
        };
        let time = Clock::new("rdtime", "the platform's timer, fence before and after", rdtime);
        vec![
            (
                ordered(cycles),
                permission(
                    rdcycle,
                    "the cycle counter: sysctl kernel.perf_user_access=2, or use `perf`",
                ),
            ),
            (ordered(time), permission(rdtime, "the time (scounteren)")),
        ]
    }

    // No block has the option `nomem`: the compiler must not move memory accesses across a read.

    extern "C" fn rdtime() -> u64 {
        let ticks: u64;
        // SAFETY: offered only where it is permitted; writes one register.
        unsafe {
            asm!("fence iorw, iorw", "rdtime {0}", "fence iorw, iorw", out(reg) ticks,
                options(nostack, preserves_flags))
        };
        ticks
    }

    extern "C" fn rdcycle() -> u64 {
        let ticks: u64;
        // SAFETY: offered only where it is permitted; writes one register.
        unsafe {
            asm!("fence iorw, iorw", "rdcycle {0}", "fence iorw, iorw", out(reg) ticks,
                options(nostack, preserves_flags))
        };
        ticks
    }
}
