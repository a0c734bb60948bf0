//! The truth table in Rust: dependent chains whose length in core cycles is known (xor 1, imul 3).
//! `chains.hpp` holds the same instructions for C++; keep the two alike.

#[cfg(not(target_arch = "x86_64"))]
compile_error!("these chains are x86-64 instructions");

use std::arch::asm;

pub const SEED: u64 = 0x0123_4567_89ab_cdef;
/// Never the same register as `x`: `xor r,r` would be a zero idiom.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

macro_rules! chain {
    ($name:ident, $text:literal) => {
        #[inline(always)]
        pub fn $name(mut x: u64) -> u64 {
            // SAFETY: arithmetic on two registers; no memory, no stack.
            unsafe { asm!($text, x = inout(reg) x, y = in(reg) ODD,
                options(att_syntax, nomem, nostack)) };
            x
        }
    };
}

chain!(chain_1, "xorq {y}, {x}");
chain!(chain_3, "imulq {y}, {x}");
chain!(chain_4, "xorq {y}, {x}\n imulq {y}, {x}");
chain!(chain_5, "xorq {y}, {x}\n imulq {y}, {x}\n xorq {y}, {x}");
chain!(chain_30, ".rept 10\n imulq {y}, {x}\n .endr");
chain!(init_120, ".rept 40\n imulq {y}, {x}\n .endr");

/// 10,000 imul, 30,000 cycles: so long that no tool's overhead shows. It gives the tool's own time
/// per cycle.
#[inline(always)]
pub fn anchor(mut x: u64) -> u64 {
    // SAFETY: as above; the loop ends when its own counter reaches zero.
    unsafe {
        asm!(
            "movl $10, {n:e}",
            "2:\n .rept 1000\n imulq {y}, {x}\n .endr",
            "decl {n:e}\n jnz 2b",
            x = inout(reg) x, n = out(reg) _, y = in(reg) ODD,
            options(att_syntax, nomem, nostack),
        )
    };
    x
}

/// The functions of `bench/languages/work.c`, which every language times.
pub mod work {
    unsafe extern "C" {
        fn work_nothing();
        fn work_fill();
        fn work_sort();
        fn work_network();
        fn work_chain_300();
        fn work_sort_these(these: *mut i32);
    }

    /// The 16 numbers, unsorted, as `work.c` has them.
    pub fn numbers() -> [i32; 16] {
        std::hint::black_box([9, 2, 15, 0, 7, 12, 4, 11, 1, 14, 6, 3, 13, 8, 10, 5])
    }

    #[inline(always)]
    pub fn sort_these(these: &mut [i32; 16]) {
        // SAFETY: it sorts 16 numbers, and these are 16.
        unsafe { work_sort_these(these.as_mut_ptr()) };
    }

    macro_rules! call {
        ($name:ident, $function:ident) => {
            #[inline(always)]
            pub fn $name() {
                // SAFETY: these use their own variables, and only one thread calls them.
                unsafe { $function() };
            }
        };
    }

    call!(nothing, work_nothing);
    call!(fill, work_fill);
    call!(sort, work_sort);
    call!(network, work_network);
    call!(chain_300, work_chain_300);
}
