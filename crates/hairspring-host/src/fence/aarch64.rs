//! Fences of AArch64.
//!
//! It takes two instructions (Arm ARM, B2.3). `isb` alone keeps later instructions from being fetched before earlier ones
//! are resolved, but it waits for no load or store of theirs: an init that misses the caches would go on in the body's
//! time. `dsb ish` alone waits for these, but later instructions that only work on registers, and reads of the counter,
//! may run before it is done.
//!
//! The read of the clock has `isb` alone on both sides ([`crate::clock::arch`] says why).

super::fences! {
    "aarch64", "__aarch64__",
    syntax: [],
    order: "dsb ish\n\tisb",
    full: "dsb sy\n\tisb",
    flush_line: "dc civac, {0}",
    link: "mul {0}, {0}, {0}",
    scratch: ["x9", "x9"],
    c_float: "w",
}
