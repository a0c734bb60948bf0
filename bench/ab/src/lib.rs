//! A chain of dependent multiplications.

/// So many multiplications, each of which needs the one before.
#[cfg(target_arch = "x86_64")]
#[macro_export]
macro_rules! chain {
    ($count:literal, $x:expr) => {{
        let (mut y, c): (u64, u64) = ($x, 0x5851_f42d_4c95_7f2d);
        // SAFETY: the instructions change the register of `y` and flags alone.
        unsafe {
            std::arch::asm!(
                concat!(".rept ", $count),
                "imul {y}, {c}",
                ".endr",
                y = inout(reg) y,
                c = in(reg) c,
                options(pure, nomem, nostack)
            );
        }
        y
    }};
}
