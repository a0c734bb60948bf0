//! Fences of AArch64.
//!
//! A fence needs two instructions (Arm ARM, B2.3). `isb` alone keeps later instructions from being
//! fetched before earlier ones are resolved, but it does not wait for their loads and stores: an
//! init that misses the caches would continue in the time of the body. `dsb ish` alone waits for
//! these, but later instructions that only use registers, and reads of the counter, may run before
//! it is done.
//!
//! The read of the clock has `isb` alone on both sides ([`crate::clock::arch`] says why).

super::fences! {
    "aarch64", "__aarch64__",
    syntax: [],
    order: "dsb ish\n\tisb",
    full: "dsb sy\n\tisb",
    flush_line: ["dc civac, {0}"],
    link: "mul {0}, {0}, {0}",
    scratch: ["x9", "x9"],
    c_float: "w",
}
