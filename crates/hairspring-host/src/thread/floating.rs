//! Whether the floating-point code of this thread met denormals: numbers below the smallest normal
//! one.
//!
//! Many cores hand an instruction with a denormal operand or result to microcode, which takes 100
//! cycles and more. The processor notes both in sticky flags, which are cleared before a row and
//! read behind it, outside of its two reads of the clock.
//!
//! On x86-64 the flags are those of MXCSR, for all SSE and AVX instructions (Intel SDM volume 1,
//! 10.2.3 and 11.5.2). Three limits follow from its rules. The x87 instructions of `long double`
//! have flags of their own, which are not read. With underflow masked, as it is by default, a
//! denormal result is noted only if it is inexact; an exact one is seen when the next instruction
//! takes it as its operand. And a processor that flushes such results to zero notes them too,
//! although it takes no longer: they do not count.

/// What floating-point instructions met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Denormals {
    /// A denormal operand.
    pub operands: bool,
    /// A result too small for a normal number.
    pub results: bool,
}

/// Forgets all denormals so far. Modes of the thread, such as the rounding, stay.
#[inline(always)]
pub fn forget_denormals() {
    status::clear();
}

/// The denormals since they were last forgotten; none where the processor does not tell.
#[inline(always)]
pub fn denormals() -> Denormals {
    status::read()
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod status {
    use super::Denormals;
    use std::arch::asm;

    /// The sticky flags of all exceptions.
    const FLAGS: u32 = 0x3f;
    const DENORMAL_OPERAND: u32 = 1 << 1;
    const UNDERFLOW: u32 = 1 << 4;
    /// Denormal results become zero.
    const FLUSH_TO_ZERO: u32 = 1 << 15;

    #[inline(always)]
    fn mxcsr() -> u32 {
        let mut word = 0u32;
        // SAFETY: stores the register to a live word.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        word
    }

    #[inline(always)]
    pub fn clear() {
        let word = mxcsr();
        // Loading is slower than storing.
        if word & FLAGS != 0 {
            let word = word & !FLAGS;
            // SAFETY: clears the sticky flags, which may change in assembly that does not claim to
            // preserve them. All modes keep their values.
            unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, readonly)) };
        }
    }

    #[inline(always)]
    pub fn read() -> Denormals {
        denormals_of(mxcsr())
    }

    pub(super) fn denormals_of(word: u32) -> Denormals {
        Denormals {
            operands: word & DENORMAL_OPERAND != 0,
            results: word & UNDERFLOW != 0 && word & FLUSH_TO_ZERO == 0,
        }
    }
}

/// The status of other processors is not read.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod status {
    pub fn clear() {}

    pub fn read() -> super::Denormals {
        super::Denormals::default()
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;
    use std::hint::black_box;

    /// The product is computed here and now: its operands and its result are hidden from the
    /// compiler.
    fn product(a: f64, b: f64) -> f64 {
        black_box(black_box(a) * black_box(b))
    }

    fn met(a: f64, b: f64) -> Denormals {
        forget_denormals();
        product(a, b);
        denormals()
    }

    #[test]
    fn operands_and_results_are_told_apart() {
        let smallest = f64::MIN_POSITIVE;
        assert_eq!(met(1.5, 1.1), Denormals::default());
        assert_eq!(met(smallest / 2.0, 4.0), Denormals { operands: true, results: false });
        assert_eq!(met(smallest, 0.3), Denormals { operands: false, results: true });
        assert_eq!(met(1e-200, 1e-200), Denormals { operands: false, results: true });
    }

    #[test]
    fn exact_results_are_seen_as_operands() {
        assert_eq!(met(f64::MIN_POSITIVE, 0.5), Denormals::default());
        forget_denormals();
        product(product(f64::MIN_POSITIVE, 0.5), 4.0);
        assert!(denormals().operands);
    }

    #[test]
    fn flushed_results_do_not_count() {
        const UNDERFLOWED_WORD: u32 = 0x1fb0;
        assert!(status::denormals_of(UNDERFLOWED_WORD).results);
        assert!(!status::denormals_of(UNDERFLOWED_WORD | 1 << 15).results);
    }

    #[test]
    fn what_was_met_before_is_forgotten() {
        product(f64::MIN_POSITIVE, 0.3);
        assert_eq!(met(1.5, 1.1), Denormals::default());
    }
}
