//! Barriers for the compiler that cost no instruction.
#![allow(unsafe_code, reason = "barriers are empty assembly; values pass through it bit by bit")]
#![allow(asm_sub_register, reason = "no instruction names the registers")]

use hairspring_host::fence::CACHE_LINE;
#[cfg(all(
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64",
        all(target_arch = "arm", target_abi = "eabihf")
    ),
    not(miri)
))]
use std::arch::asm;
#[cfg(all(
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64",
        all(target_arch = "arm", target_abi = "eabihf")
    ),
    not(miri)
))]
use std::mem::{ManuallyDrop, MaybeUninit, transmute_copy};

/// Returns the value, but hides it from the compiler, which can no longer assume anything about it.
///
/// An integer, a floating-point number, a pointer, a reference, or any other value that fits two
/// registers stays in them: this costs no instruction, and a chain of copies does not become longer
/// (`std::hint::black_box` goes through memory and makes it 4 or 5 cycles longer). The compiler
/// sees only the address of any other value. Memory behind a reference counts as read and written;
/// memory behind a raw pointer does not.
///
/// ```
/// assert_eq!(hairspring::opaque(3u64) + 1, 4);
/// assert_eq!(hairspring::opaque("text").len(), 4);
/// ```
#[inline(always)]
pub fn opaque<T>(value: T) -> T {
    imp::opaque(value)
}

/// Makes the value count as used: the compiler must compute it, in its register or, if it does not
/// fit two registers, in memory. All memory that the compiler does not know to be private counts as
/// read and written.
///
/// ```
/// let sum: u64 = (1..=4).sum();
/// hairspring::keep(&sum);
/// ```
#[inline(always)]
pub fn keep<T>(value: &T) {
    imp::keep(value);
}

/// All memory that a pointer could lead to counts as read and written.
#[inline(always)]
pub fn memory() {
    imp::memory();
}

/// Aligns the following code to a cache line, so that rows do not differ by their alignment.
#[inline(always)]
pub fn align() {
    imp::align();
}

/// Whether the crate that calls this compiles its code without optimisation: then the call of a
/// closure that does nothing is still there. On processors where that is not known it counts as
/// optimised.
#[inline(never)]
pub fn is_unoptimised(nothing: impl Fn()) -> bool {
    imp::length_of(nothing) > 0
}

/// Reads one byte of each cache line, so that the first flush finds what the later ones find.
pub fn touch<T: ?Sized>(value: &T) {
    let start = std::ptr::from_ref(value).cast::<u8>();
    for at in (0..size_of_val(value)).step_by(CACHE_LINE) {
        // SAFETY: within a live value; bytes of any kind may be copied as bytes that may be
        // uninitialised.
        keep(&unsafe { start.add(at).cast::<std::mem::MaybeUninit<u8>>().read() });
    }
}

#[cfg(all(
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64",
        all(target_arch = "arm", target_abi = "eabihf")
    ),
    not(miri)
))]
mod imp {
    use super::{ManuallyDrop, MaybeUninit, asm, transmute_copy};

    /// Whether all values of the type are valid: integers and what is made of them, but no
    /// reference.
    #[cfg(target_pointer_width = "64")]
    #[inline(always)]
    const fn has_no_niche<T>() -> bool {
        size_of::<Option<T>>() > size_of::<T>()
    }

    /// Whether the type is this floating-point one. The compiler knows the answer; a wrong one
    /// would cost a move between registers and nothing else.
    #[inline(always)]
    fn is_named<T>(name: &str) -> bool {
        std::any::type_name::<T>() == name
    }

    /// Passes the bits of a value through a register of this class.
    macro_rules! through {
        ($value:ident, $type:ty, $class:ident, $register:ty $(, $option:ident)?) => {{
            // SAFETY: both have the same size, and bits of any kind are valid inside of
            // `MaybeUninit`.
            let mut bits: MaybeUninit<$register> = unsafe {
                transmute_copy(&ManuallyDrop::new($value)) };
            // SAFETY: no instruction.
            unsafe { asm!("/* {0} */", inout($class) bits,
                options(nostack, preserves_flags $(, $option)?)) };
            // SAFETY: the very bits of the value, which was not dropped.
            unsafe { transmute_copy::<MaybeUninit<$register>, $type>(&bits) }
        }};
    }

    /// Shows the bits of a value in a register of this class.
    macro_rules! show {
        ($value:ident, $class:ident, $register:ty) => {{
            // SAFETY: both have the same size, and bits of any kind are valid inside of
            // `MaybeUninit`.
            let bits: MaybeUninit<$register> = unsafe { transmute_copy($value) };
            // SAFETY: no instruction.
            unsafe { asm!("/* {0} */", in($class) bits, options(nostack, preserves_flags)) };
        }};
    }

    #[cfg(target_arch = "x86_64")]
    macro_rules! by_class {
        ($macro:ident, byte, $($rest:tt)*) => { $macro!($($rest)*, reg_byte, u8) };
        ($macro:ident, half, $($rest:tt)*) => { $macro!($($rest)*, reg, u16) };
        ($macro:ident, single, $($rest:tt)*) => { $macro!($($rest)*, xmm_reg, f32) };
        ($macro:ident, double, $($rest:tt)*) => { $macro!($($rest)*, xmm_reg, f64) };
    }

    #[cfg(target_arch = "aarch64")]
    macro_rules! by_class {
        ($macro:ident, byte, $($rest:tt)*) => { $macro!($($rest)*, reg, u8) };
        ($macro:ident, half, $($rest:tt)*) => { $macro!($($rest)*, reg, u16) };
        ($macro:ident, single, $($rest:tt)*) => { $macro!($($rest)*, vreg, f32) };
        ($macro:ident, double, $($rest:tt)*) => { $macro!($($rest)*, vreg, f64) };
    }

    #[cfg(target_arch = "riscv64")]
    macro_rules! by_class {
        ($macro:ident, byte, $($rest:tt)*) => { $macro!($($rest)*, reg, u8) };
        ($macro:ident, half, $($rest:tt)*) => { $macro!($($rest)*, reg, u16) };
        ($macro:ident, single, $($rest:tt)*) => { $macro!($($rest)*, freg, f32) };
        ($macro:ident, double, $($rest:tt)*) => { $macro!($($rest)*, freg, f64) };
    }

    #[cfg(target_arch = "arm")]
    macro_rules! by_class {
        ($macro:ident, byte, $($rest:tt)*) => { $macro!($($rest)*, reg, u8) };
        ($macro:ident, half, $($rest:tt)*) => { $macro!($($rest)*, reg, u16) };
        ($macro:ident, single, $($rest:tt)*) => { $macro!($($rest)*, sreg, f32) };
        ($macro:ident, double, $($rest:tt)*) => { $macro!($($rest)*, dreg_low16, f64) };
    }

    /// Half of a value in two registers.
    #[cfg(target_pointer_width = "64")]
    type Half = u64;
    #[cfg(target_pointer_width = "32")]
    type Half = u32;

    /// Bytes and largest alignment of a value in two registers.
    const PAIR: usize = 2 * size_of::<Half>();
    const ALIGNED_BYTES: usize = 8;

    #[inline(always)]
    pub fn opaque<T>(value: T) -> T {
        match size_of::<T>() {
            0 => value,
            1 => by_class!(through, byte, value, T),
            2 => by_class!(through, half, value, T),
            4 if is_named::<T>("f32") => by_class!(through, single, value, T),
            4 => through!(value, T, reg, u32),
            8 if is_named::<T>("f64") => by_class!(through, double, value, T),
            #[cfg(target_pointer_width = "64")]
            8 if has_no_niche::<T>() => through!(value, T, reg, u64, nomem),
            #[cfg(target_pointer_width = "64")]
            8 => through!(value, T, reg, u64),
            PAIR if align_of::<T>() <= ALIGNED_BYTES => pair(value),
            _ => shown(value),
        }
    }

    /// `opaque` for a value in two registers.
    #[inline(always)]
    fn pair<T>(value: T) -> T {
        // SAFETY: both have the same size, and bits of any kind are valid inside of `MaybeUninit`.
        let [mut low, mut high]: [MaybeUninit<Half>; 2] =
            unsafe { transmute_copy(&ManuallyDrop::new(value)) };
        // SAFETY: no instruction.
        unsafe {
            asm!("/* {0} {1} */", inout(reg) low, inout(reg) high,
                options(nostack, preserves_flags))
        };
        // SAFETY: the very bits of the value, which was not dropped.
        unsafe { transmute_copy::<[MaybeUninit<Half>; 2], T>(&[low, high]) }
    }

    /// `opaque` for a value in memory, by its address.
    #[inline(always)]
    fn shown<T>(mut value: T) -> T {
        // SAFETY: no instruction.
        unsafe { asm!("/* {0} */", in(reg) &raw mut value, options(nostack, preserves_flags)) };
        value
    }

    #[inline(always)]
    pub fn keep<T>(value: &T) {
        match size_of::<T>() {
            0 => memory(),
            1 => by_class!(show, byte, value),
            2 => by_class!(show, half, value),
            4 if is_named::<T>("f32") => by_class!(show, single, value),
            4 => show!(value, reg, u32),
            8 if is_named::<T>("f64") => by_class!(show, double, value),
            #[cfg(target_pointer_width = "64")]
            8 => show!(value, reg, u64),
            PAIR if align_of::<T>() <= ALIGNED_BYTES => keep_pair(value),
            // SAFETY: no instruction.
            _ => unsafe {
                asm!("/* {0} */", in(reg) std::ptr::from_ref(value),
                    options(nostack, preserves_flags))
            },
        }
    }

    #[inline(always)]
    fn keep_pair<T>(value: &T) {
        // SAFETY: both have the same size, and bits of any kind are valid inside of `MaybeUninit`.
        let [low, high]: [MaybeUninit<Half>; 2] = unsafe { transmute_copy(value) };
        // SAFETY: no instruction.
        unsafe {
            asm!("/* {0} {1} */", in(reg) low, in(reg) high, options(nostack, preserves_flags))
        };
    }

    #[inline(always)]
    pub fn memory() {
        // SAFETY: no instruction.
        unsafe { asm!("", options(nostack, preserves_flags)) };
    }

    #[inline(always)]
    pub fn align() {
        // SAFETY: instructions that do nothing, as many as are needed.
        #[cfg(not(target_arch = "arm"))]
        unsafe {
            asm!(".p2align 6", options(nostack, preserves_flags, nomem))
        };
        // LLVM counts 4 bytes for a line of assembly, and places constants within the few bytes
        // that a load reaches. So it needs a line that it counts as the 60 bytes which the
        // alignment may add; the assembler leaves this line out.
        // SAFETY: as above.
        #[cfg(target_arch = "arm")]
        unsafe {
            asm!(
                ".if 0",
                ".space 60",
                ".endif",
                ".p2align 6",
                options(nostack, preserves_flags, nomem)
            )
        };
    }

    /// Bytes of the machine code of a call; 0 if it was optimised away, and where addresses in code
    /// cannot be taken.
    #[inline(always)]
    pub fn length_of(code: impl Fn()) -> usize {
        #[cfg(target_arch = "x86_64")]
        {
            let (begin, end): (usize, usize);
            // SAFETY: takes the address of the instruction behind it.
            unsafe {
                asm!("lea {}, [rip + 2f]", "2:", out(reg) begin,
                    options(nostack, preserves_flags, nomem))
            };
            code();
            // SAFETY: takes its own address.
            unsafe {
                asm!("2: lea {}, [rip + 2b]", out(reg) end,
                    options(nostack, preserves_flags, nomem))
            };
            end.saturating_sub(begin)
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            code();
            0
        }
    }
}

/// On other architectures: the standard library's barrier, through memory. Also under Miri, which
/// cannot run assembly but checks the code that uses the barriers.
#[cfg(any(
    miri,
    not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64",
        all(target_arch = "arm", target_abi = "eabihf")
    ))
))]
mod imp {
    use std::hint::black_box;
    use std::sync::atomic::{Ordering, compiler_fence};

    #[inline(always)]
    pub fn opaque<T>(value: T) -> T {
        black_box(value)
    }

    #[inline(always)]
    pub fn keep<T>(value: &T) {
        black_box(value);
    }

    #[inline(always)]
    pub fn memory() {
        compiler_fence(Ordering::SeqCst);
    }

    #[inline(always)]
    pub fn align() {}

    #[inline(always)]
    pub fn length_of(code: impl Fn()) -> usize {
        code();
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_pass_unchanged() {
        assert_eq!((opaque(7u8), opaque(-3i16), opaque('x'), opaque(true)), (7, -3, 'x', true));
        assert_eq!(
            (opaque(1.5f32), opaque(-2.25f64), opaque(u64::MAX), opaque(5u128)),
            (1.5, -2.25, u64::MAX, 5)
        );
        assert_eq!(
            (opaque("text"), opaque((1u8, 2u64)), opaque([1u16; 9])),
            ("text", (1, 2), [1; 9])
        );
        assert_eq!((opaque(Some(3u32)), opaque(None::<&u8>), opaque(())), (Some(3), None, ()));
        assert_eq!(opaque(vec![1, 2, 3]), [1, 2, 3]);
        assert_eq!(opaque(Box::new(9)), Box::new(9));
    }

    #[test]
    fn a_value_is_dropped_once() {
        let counted = std::rc::Rc::new(());
        for _ in 0..3 {
            keep(&opaque(counted.clone()));
            keep(&opaque((counted.clone(), 1u64)));
            keep(&opaque((counted.clone(), [0u64; 5])));
        }
        assert_eq!(std::rc::Rc::strong_count(&counted), 1);
    }

    #[test]
    fn a_call_that_is_left_shows_code_without_optimisation() {
        #[inline(never)]
        fn stays() {
            memory();
        }
        let is_seen = cfg!(all(target_arch = "x86_64", not(miri)));
        assert_eq!(is_unoptimised(stays), is_seen);
        // The profiles of this workspace optimise.
        assert!(!is_unoptimised(|| ()));
    }

    #[test]
    fn memory_behind_a_reference_may_have_changed() {
        let mut words = [1u64, 2, 3];
        opaque(&mut words)[1] = 7;
        touch(words.as_slice());
        assert_eq!(words, [1, 7, 3]);
    }
}
