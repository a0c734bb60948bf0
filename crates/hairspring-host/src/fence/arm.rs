//! Fences of 32-bit ARM, from ARMv7-A on.
//!
//! The instructions are those of AArch64, for the same reasons. Only the system may flush a cache
//! line: the instructions are privileged.

super::fences! {
    "arm", "__ARM_ARCH_7A__",
    syntax: [],
    order: "dsb ish\n\tisb",
    full: "dsb sy\n\tisb",
    flush_line: [],
    link: "mul {0}, {0}, {0}",
    scratch: ["r12", "r12"],
    c_float: "w",
}
