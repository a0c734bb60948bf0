//! The code between inits and bodies: fences, flushes of cache lines, and the chain that shows what
//! a fence hides.
//!
//! Every architecture has one file with its instructions. The functions here and the macros of
//! `hairspring.h` and of compiled snippets ([`c`]) are generated from it. An architecture without a
//! file has only compiler barriers, which are enough for an in-order core.

mod aarch64;
mod arm;
pub mod c;
mod riscv64;
mod x86_64;

use hairspring_core::design::table::FENCED_CHAIN_COPIES;

/// The instructions of an architecture. `{0}` is a register; the syntax is that of the GNU
/// assembler (AT&T on x86).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fences {
    /// Rust's name of the architecture.
    pub architecture: &'static str,
    /// The macro that C compilers define for the architecture.
    pub c_macro: &'static str,
    /// A fence: all earlier code completes before later code begins.
    pub order: &'static str,
    /// A fence that also makes all earlier stores visible to all CPUs.
    pub full: &'static str,
    /// Writes back the cache line of the address in `{0}`, and evicts it from all caches; `None`
    /// where only the system may do that.
    pub flush_line: Option<&'static str>,
    /// A multiplication of `{0}` by itself: a link of the chain in rows of the fenced chain.
    pub link: &'static str,
    /// A register for that chain in code that is all assembly, in AT&T and in Intel syntax.
    pub scratch: [&'static str; 2],
    /// The constraint of a register for floating-point numbers in C.
    pub c_float: &'static str,
}

/// All supported architectures.
pub const ALL: [Fences; 4] = [x86_64::FENCES, aarch64::FENCES, arm::FENCES, riscv64::FENCES];

/// The architecture of this build; `None` if it is not supported.
pub fn here() -> Option<Fences> {
    ALL.into_iter().find(|fences| fences.architecture == std::env::consts::ARCH)
}

/// Whether programs can evict data from the caches here.
///
/// # Errors
/// Why they cannot, with what to do.
pub fn can_flush() -> Result<(), String> {
    let flushes = here().is_some_and(|fences| fences.flush_line.is_some());
    let refused = || {
        format!(
            "programs cannot flush cache lines on {}: only the system may; read a larger array in \
             the init instead",
            std::env::consts::ARCH
        )
    };
    flushes.then_some(()).ok_or_else(refused)
}

/// The chain that replaces a body as lines of assembly, one for each multiplication; empty if the
/// architecture is not supported.
pub fn chain_lines(intel: bool) -> Vec<String> {
    let line = |fences: Fences| fences.link.replace("{0}", fences.scratch[usize::from(intel)]);
    here().map(line).map_or_else(Vec::new, |line| vec![line; FENCED_CHAIN_COPIES as usize])
}

/// Defines the instructions of an architecture, and the functions that run them on it.
macro_rules! fences {
    (
        $architecture:tt, $c_macro:literal, syntax: [$($syntax:ident)?], order: $order:literal,
            full: $full:literal,
        flush_line: [$($flush_line:literal)?], link: $link:literal, scratch: $scratch:expr,
        c_float: $c_float:literal,
    ) => {
        pub const FENCES: super::Fences = super::Fences {
            architecture: $architecture,
            c_macro: $c_macro,
            order: $order,
            full: $full,
            flush_line: super::first(&[$($flush_line)?]),
            link: $link,
            scratch: $scratch,
            c_float: $c_float,
        };

        #[cfg(target_arch = $architecture)]
        #[allow(unsafe_code, reason = "fences, flushes and chains are instructions that Rust has \
                                       no safe form for")]
        mod code {
            use std::arch::asm;

            #[inline(always)]
            pub fn order() {
                // SAFETY: waits, and touches nothing.
                unsafe { asm!($order, options(nostack, preserves_flags $(, $syntax)?)) };
            }

            #[inline(always)]
            pub fn full() {
                // SAFETY: waits, and touches nothing.
                unsafe { asm!($full, options(nostack, preserves_flags $(, $syntax)?)) };
            }

            $crate::fence::flush_function!([$($syntax)?] [$($flush_line)?]);

            #[inline(always)]
            pub fn chain() {
                const COPIES: u32 = hairspring_core::design::table::FENCED_CHAIN_COPIES;
                // LLVM counts some bytes for each line, and places constants within the few bytes
                // that a load of 32-bit ARM reaches. So it needs a line that it counts as the bytes
                // of all copies; the assembler leaves this line out.
                const BYTES: u32 = 4 * COPIES;
                // SAFETY: changes one register, whose value does not matter, and the flags.
                unsafe {
                    asm!(".if 0", ".space {bytes}", ".endif", ".rept {copies}", $link, ".endr",
                        out(reg) _,
                        bytes = const BYTES, copies = const COPIES,
                            options(nostack, nomem $(, $syntax)?))
                };
            }
        }
        #[cfg(target_arch = $architecture)]
        pub use code::{chain, flush_line, full, order};
    };
}
use fences;

/// Defines the function that flushes a line, if programs may do that; else one that does nothing.
macro_rules! flush_function {
    ([$($syntax:ident)?] [$flush_line:literal]) => {
        #[inline(always)]
        pub fn flush_line(address: *const u8) {
            // SAFETY: the caller's address is that of a live value or lies in its first line; the
            // contents stay.
            unsafe { asm!($flush_line, in(reg) address,
                options(nostack, preserves_flags $(, $syntax)?)) };
        }
    };
    ([$($syntax:ident)?] []) => {
        #[inline(always)]
        pub fn flush_line(_: *const u8) {}
    };
}
#[allow(unused_imports, reason = "it is used on architectures with a file")]
pub(crate) use flush_function;

/// The first of a list, where a list stands for what an architecture may lack.
const fn first(list: &[&'static str]) -> Option<&'static str> {
    if list.is_empty() { None } else { Some(list[0]) }
}

#[cfg(target_arch = "aarch64")]
use aarch64 as arch;
#[cfg(target_arch = "arm")]
use arm as arch;
#[cfg(target_arch = "riscv64")]
use riscv64 as arch;
#[cfg(target_arch = "x86_64")]
use x86_64 as arch;

/// Compiler barriers only.
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "riscv64"
)))]
mod arch {
    use std::hint::black_box;
    use std::sync::atomic::{Ordering, compiler_fence};

    #[inline(always)]
    pub fn order() {
        compiler_fence(Ordering::SeqCst);
    }

    #[inline(always)]
    pub fn full() {
        compiler_fence(Ordering::SeqCst);
    }

    #[inline(always)]
    pub fn flush_line(_: *const u8) {}

    #[inline(always)]
    pub fn chain() {
        let mut link = black_box(3u64);
        (0..super::FENCED_CHAIN_COPIES).for_each(|_| link = black_box(link.wrapping_mul(link)));
    }
}

/// A fence: all earlier code completes before later code begins.
#[inline(always)]
pub fn order() {
    arch::order();
}

/// [`FENCED_CHAIN_COPIES`] dependent multiplications of the value that happens to be in a register.
#[inline(always)]
pub fn chain() {
    arch::chain();
}

/// Smallest cache line of the supported machines, in bytes. On a machine with longer lines some are
/// flushed twice, which does no harm.
pub const CACHE_LINE: usize = 64;

/// Writes back the cache lines of a value and evicts them from all caches, with fences before and
/// after. Where programs cannot do that ([`can_flush`]) there are only the fences.
#[inline(always)]
pub fn flush<T: ?Sized>(value: &T) {
    let start = std::ptr::from_ref(value).cast::<u8>();
    let before = start.addr() & (CACHE_LINE - 1);
    let first = start.wrapping_sub(before);
    arch::full();
    (0..before + size_of_val(value))
        .step_by(CACHE_LINE)
        .for_each(|at| arch::flush_line(first.wrapping_add(at)));
    arch::full();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_architecture_names_its_registers() {
        for fences in ALL {
            for text in fences.flush_line.into_iter().chain([fences.link]) {
                assert!(text.contains("{0}"), "{}: {text}", fences.architecture);
            }
            assert!(
                ALL.iter().filter(|other| other.architecture == fences.architecture).count() == 1
            );
        }
    }

    #[test]
    fn fences_and_flushes_do_not_change_values() {
        let words = vec![7u64; 100];
        flush(words.as_slice());
        flush(&words[3]);
        order();
        chain();
        assert!(words.iter().all(|word| *word == 7));
    }

    #[test]
    fn chain_in_assembly_has_its_length() {
        let lines = chain_lines(true);
        assert!(here().is_none() || lines.len() == FENCED_CHAIN_COPIES as usize);
        assert!(
            !cfg!(target_arch = "x86_64")
                || (lines[0] == "imul rax, rax" && chain_lines(false)[0] == "imul %rax, %rax")
        );
    }
}
