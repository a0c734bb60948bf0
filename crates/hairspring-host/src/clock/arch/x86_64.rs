//! The time stamp counter, with several ways to order its reads.

use super::{CounterInC, Place};

/// The ordered read, for C and for Rust.
macro_rules! ordered_read {
    () => {
        "lfence\n\trdtsc\n\tlfence"
    };
}

/// The read for C.
pub const IN_C: CounterInC = CounterInC {
    c_macro: "__x86_64__",
    name: "tsc",
    read: ordered_read!(),
    place: Place::Halves(["=a", "=d"]),
    rate: None,
    fence: "lfence",
};

#[cfg(target_arch = "x86_64")]
pub use here::clocks;

#[cfg(target_arch = "x86_64")]
#[allow(
    unsafe_code,
    reason = "the instructions that read the counter have no safe form in Rust; none of them \
              accesses memory"
)]
mod here {
    use crate::clock::{Clock, Ordering};
    use std::arch::asm;
    use std::arch::x86_64::{__cpuid, __cpuid_count};

    /// All reads of the counter; those that this CPU does not offer have the reason.
    pub fn clocks() -> Vec<(Clock, Result<(), String>)> {
        let clock = |name, description, read, ordering| Clock {
            ordering,
            ..Clock::new(name, description, read)
        };
        let counter = offered(1, 3, 4, "time stamp counter (CPUID.1:EDX bit 4)");
        let rdtscp = offered(0x8000_0001, 3, 27, "rdtscp (CPUID.80000001h:EDX bit 27)");
        let serialize = offered(7, 3, 14, "serialize instruction (CPUID.7:EDX bit 14)");
        let by_rdtscp = Ordering { before: Some("rdtscp"), after: Some("lfence") };
        let old = "time stamp counter ordered by cpuid, as in the 2000s; in a virtual machine \
                   each read traps (microseconds)";
        vec![
            (
                clock(
                    "tsc",
                    "time stamp counter, lfence before and after",
                    tsc,
                    Ordering::both("lfence"),
                ),
                counter.clone(),
            ),
            (
                clock(
                    "rdtsc",
                    "time stamp counter, not ordered: neighbouring code moves across the read",
                    rdtsc,
                    Ordering::NONE,
                ),
                counter.clone(),
            ),
            (
                clock(
                    "rdtscp",
                    "time stamp counter by rdtscp, lfence after",
                    rdtscp_lfence,
                    by_rdtscp,
                ),
                rdtscp,
            ),
            (clock("tsc-cpuid", old, tsc_cpuid, Ordering::both("cpuid")), counter),
            (
                clock(
                    "tsc-serialize",
                    "time stamp counter ordered by serialize",
                    tsc_serialize,
                    Ordering::both("serialize"),
                ),
                serialize,
            ),
        ]
    }

    fn offered(leaf: u32, register: u8, bit: u8, feature: &str) -> Result<(), String> {
        has(leaf, register, bit).then_some(()).ok_or_else(|| format!("the CPU has no {feature}"))
    }

    /// Whether a feature bit of CPUID is set; registers are counted eax 0, ebx 1, ecx 2, edx 3.
    #[allow(unused_unsafe, reason = "reading CPUID is a safe function in newer compilers only")]
    fn has(leaf: u32, register: u8, bit: u8) -> bool {
        // SAFETY: every x86-64 CPU has the instruction; it only changes its result registers.
        let (base, answer) = unsafe { (__cpuid(leaf & 0x8000_0000).eax, __cpuid_count(leaf, 0)) };
        let value = [answer.eax, answer.ebx, answer.ecx, answer.edx][register as usize];
        leaf <= base && value >> bit & 1 == 1
    }

    // No block has the option `nomem`: the compiler must not move memory accesses across a read.

    extern "C" fn tsc() -> u64 {
        let (low, high): (u32, u32);
        // SAFETY: lfence waits until all earlier instructions are done, rdtsc writes eax and edx;
        // nothing else changes.
        unsafe {
            asm!(ordered_read!(), out("eax") low, out("edx") high,
                options(nostack, preserves_flags))
        };
        u64::from(high) << 32 | u64::from(low)
    }

    extern "C" fn rdtsc() -> u64 {
        let (low, high): (u32, u32);
        // SAFETY: rdtsc writes eax and edx only.
        unsafe {
            asm!("rdtsc", out("eax") low, out("edx") high, options(nostack, preserves_flags))
        };
        u64::from(high) << 32 | u64::from(low)
    }

    extern "C" fn rdtscp_lfence() -> u64 {
        let (low, high): (u32, u32);
        // SAFETY: offered only where CPUID reports it; rdtscp writes eax, edx and ecx.
        unsafe {
            asm!("rdtscp", "lfence", out("eax") low, out("edx") high, out("ecx") _,
                options(nostack, preserves_flags))
        };
        u64::from(high) << 32 | u64::from(low)
    }

    extern "C" fn tsc_cpuid() -> u64 {
        let (low, high): (u32, u32);
        // SAFETY: cpuid writes eax, ebx, ecx and edx; rbx is reserved by the compiler and is
        // restored.
        unsafe {
            asm!("mov {save:r}, rbx", "xor eax, eax", "cpuid", "rdtsc", "mov {low:e}, eax",
                "mov {high:e}, edx", "xor eax, eax", "cpuid", "mov rbx, {save:r}",
                save = out(reg) _, low = out(reg) low, high = out(reg) high, out("eax") _,
                    out("ecx") _, out("edx") _, options(nostack));
        }
        u64::from(high) << 32 | u64::from(low)
    }

    extern "C" fn tsc_serialize() -> u64 {
        let (low, high): (u32, u32);
        // SAFETY: offered only where CPUID reports it; the bytes are `serialize`, which older
        // assemblers do not know.
        unsafe {
            asm!(".byte 0x0f, 0x01, 0xe8", "rdtsc", ".byte 0x0f, 0x01, 0xe8", out("eax") low,
                out("edx") high, options(nostack, preserves_flags))
        };
        u64::from(high) << 32 | u64::from(low)
    }
}
