//! What stands between inits and bodies: fences, flushes of cache lines, and the chain that shows what a fence hides.
//!
//! Every architecture is one file, which says the text of its instructions once: the functions here and the macros of
//! `hairspring.h` and of compiled snippets ([`c`]) are made from it. An architecture without a file has barriers for the
//! compiler alone, which is enough for a core that runs in order.

mod aarch64;
pub mod c;
mod x86_64;

use hairspring_core::design::table::SHADOW_COPIES;

/// The instructions of an architecture. `{0}` stands for a register; the syntax is that of the GNU assembler (AT&T on x86).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fences {
    /// The architecture, as Rust calls it.
    pub architecture: &'static str,
    /// The macro by which a C compiler says that it compiles for it.
    pub c_macro: &'static str,
    /// All code before is done before code behind begins.
    pub order: &'static str,
    /// The same, and all stores before are seen by everybody.
    pub full: &'static str,
    /// Writes the cache line of the address in `{0}` back, and takes it out of all caches.
    pub flush_line: &'static str,
    /// A multiplication of `{0}` by itself: a link of the chain in rows of a fence's shadow.
    pub link: &'static str,
    /// A register for that chain in code that is all assembly, in AT&T and in Intel syntax.
    pub scratch: [&'static str; 2],
    /// The constraint of a register for floating-point numbers in C.
    pub c_float: &'static str,
}

/// All architectures that have a file.
pub const ALL: [Fences; 2] = [x86_64::FENCES, aarch64::FENCES];

/// The architecture that this is compiled for; `None` where it has no file.
pub fn here() -> Option<Fences> {
    ALL.into_iter().find(|fences| fences.architecture == std::env::consts::ARCH)
}

/// The chain in place of a body as lines of assembly, one for each multiplication; empty where the architecture has no file.
pub fn chain_lines(intel: bool) -> Vec<String> {
    let line = |fences: Fences| fences.link.replace("{0}", fences.scratch[usize::from(intel)]);
    here().map(line).map_or_else(Vec::new, |line| vec![line; SHADOW_COPIES as usize])
}

/// Defines the instructions of an architecture, and the functions that run them on it.
macro_rules! fences {
    (
        $architecture:tt, $c_macro:literal, syntax: [$($syntax:ident)?], order: $order:literal, full: $full:literal,
        flush_line: $flush_line:literal, link: $link:literal, scratch: $scratch:expr, c_float: $c_float:literal,
    ) => {
        pub const FENCES: super::Fences = super::Fences {
            architecture: $architecture,
            c_macro: $c_macro,
            order: $order,
            full: $full,
            flush_line: $flush_line,
            link: $link,
            scratch: $scratch,
            c_float: $c_float,
        };

        #[cfg(target_arch = $architecture)]
        #[allow(unsafe_code, reason = "fences, flushes and chains are instructions that Rust has no safe form for")]
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

            #[inline(always)]
            pub fn flush_line(address: *const u8) {
                // SAFETY: the caller's address is that of a live value or lies in its first line; the contents stay.
                unsafe { asm!($flush_line, in(reg) address, options(nostack, preserves_flags $(, $syntax)?)) };
            }

            #[inline(always)]
            pub fn chain() {
                const COPIES: u32 = hairspring_core::design::table::SHADOW_COPIES;
                // SAFETY: works on one register, whatever is in it, and on the flags.
                unsafe { asm!(".rept {copies}", $link, ".endr", out(reg) _, copies = const COPIES, options(nostack, nomem $(, $syntax)?)) };
            }
        }
        #[cfg(target_arch = $architecture)]
        pub use code::{chain, flush_line, full, order};
    };
}
use fences;

#[cfg(target_arch = "aarch64")]
use aarch64 as arch;
#[cfg(target_arch = "x86_64")]
use x86_64 as arch;

/// Barriers for the compiler alone.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
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
        (0..super::SHADOW_COPIES).for_each(|_| link = black_box(link.wrapping_mul(link)));
    }
}

/// All code before is done before code behind begins.
#[inline(always)]
pub fn order() {
    arch::order();
}

/// [`SHADOW_COPIES`] dependent multiplications of whatever is in a register.
#[inline(always)]
pub fn chain() {
    arch::chain();
}

/// Lines of 64 bytes are the smallest of the machines served; flushing one twice does no harm.
pub const CACHE_LINE: usize = 64;

/// Writes the bytes of a value back and takes them out of all caches, with fences around.
#[inline(always)]
pub fn flush<T: ?Sized>(value: &T) {
    let start = std::ptr::from_ref(value).cast::<u8>();
    let before = start.addr() & (CACHE_LINE - 1);
    let first = start.wrapping_sub(before);
    arch::full();
    (0..before + size_of_val(value)).step_by(CACHE_LINE).for_each(|at| arch::flush_line(first.wrapping_add(at)));
    arch::full();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_architecture_has_its_registers_in_its_texts() {
        for fences in ALL {
            for text in [fences.flush_line, fences.link] {
                assert!(text.contains("{0}"), "{}: {text}", fences.architecture);
            }
            assert!(ALL.iter().filter(|other| other.architecture == fences.architecture).count() == 1);
        }
    }

    #[test]
    fn values_are_as_they_were() {
        let words = vec![7u64; 100];
        flush(words.as_slice());
        flush(&words[3]);
        order();
        chain();
        assert!(words.iter().all(|word| *word == 7));
    }

    #[test]
    fn the_chain_in_assembly_has_its_length() {
        let lines = chain_lines(true);
        assert!(here().is_none() || lines.len() == SHADOW_COPIES as usize);
        assert!(!cfg!(target_arch = "x86_64") || (lines[0] == "imul rax, rax" && chain_lines(false)[0] == "imul %rax, %rax"));
    }
}
