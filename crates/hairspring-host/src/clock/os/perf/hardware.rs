//! Reads of the counter that perf's page names, ordered as a clock: the number is that of the page
//! minus one.

use crate::clock::Ordering;

/// What orders a read.
pub const ORDERING: Ordering = here::ORDERING;
/// How the counter is read, for the description of the clock.
pub const HOW: &str = here::HOW;

/// Reads a counter. Only with the number of a page whose `cap_user_rdpmc` is set: anything else
/// ends the process.
pub use here::read;

#[cfg(target_arch = "x86_64")]
mod here {
    use crate::clock::Ordering;

    pub const ORDERING: Ordering = Ordering::both("lfence");
    pub const HOW: &str = "core cycles of this thread in user code, by rdpmc on perf's user page";

    pub fn read(number: u32) -> Option<u64> {
        let (low, high): (u32, u32);
        // SAFETY: the page allows this counter; writes eax and edx.
        unsafe {
            std::arch::asm!("lfence", "rdpmc", "lfence", in("ecx") number, out("eax") low,
                out("edx") high, options(nostack, preserves_flags));
        }
        Some(u64::from(high) << 32 | u64::from(low))
    }
}

/// A match of the number with an instruction for each counter: the number is part of the
/// instruction.
#[cfg(any(target_arch = "aarch64", target_arch = "riscv64"))]
macro_rules! by_number {
    ($number:ident, $read:ident) => {
        by_number!($number, $read,
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30)
    };
    ($number:ident, $read:ident, $($n:literal)*) => {
        match $number {
            $($n => $read!($n),)*
            _ => return None,
        }
    };
}

#[cfg(target_arch = "aarch64")]
mod here {
    use crate::clock::Ordering;

    pub const ORDERING: Ordering = Ordering::both("isb");
    pub const HOW: &str =
        "core cycles of this thread in user code, by PMCCNTR_EL0 on perf's user page";

    /// Number of the cycle counter.
    const CYCLES: u32 = 31;

    macro_rules! event_counter {
        ($n:literal) => {{
            let count: u64;
            // SAFETY: the page allows this counter; writes one register.
            unsafe {
                std::arch::asm!("isb", concat!("mrs {}, pmevcntr", $n, "_el0"), "isb",
                    out(reg) count, options(nostack, preserves_flags))
            };
            count
        }};
    }

    /// The cycle counter, or the event counter on which the kernel counts cycles.
    pub fn read(number: u32) -> Option<u64> {
        if number != CYCLES {
            return Some(by_number!(number, event_counter));
        }
        let count: u64;
        // SAFETY: the page allows this counter; writes one register.
        unsafe {
            std::arch::asm!("isb", "mrs {}, pmccntr_el0", "isb", out(reg) count,
                options(nostack, preserves_flags))
        };
        Some(count)
    }
}

#[cfg(target_arch = "riscv64")]
mod here {
    use crate::clock::Ordering;

    pub const ORDERING: Ordering = Ordering::both("fence");
    pub const HOW: &str =
        "core cycles of this thread in user code, by the counter's register on perf's user page";

    macro_rules! counter {
        ($n:literal) => {{
            let count: u64;
            // SAFETY: the page allows this counter; writes one register.
            unsafe {
                std::arch::asm!("fence iorw, iorw", "csrr {}, {}", "fence iorw, iorw",
                    out(reg) count, const 0xc00 + $n, options(nostack, preserves_flags))
            };
            count
        }};
    }

    /// Counter 0 is `cycle`; the kernel may count cycles on another one.
    pub fn read(number: u32) -> Option<u64> {
        Some(by_number!(number, counter))
    }
}

/// perf lets no program read a counter here.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
mod here {
    use crate::clock::Ordering;

    pub const ORDERING: Ordering = Ordering::NONE;
    pub const HOW: &str = "core cycles of this thread in user code, on perf's user page";

    pub fn read(_: u32) -> Option<u64> {
        None
    }
}
