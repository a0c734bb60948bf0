//! Fences of x86-64.
//!
//! `lfence` waits until all earlier instructions are done, loads included, and no later one begins before it is done (Intel
//! SDM volume 2; on AMD's processors the kernel makes it so). It does not wait for stores to be seen: that takes `mfence`.

super::fences! {
    "x86_64", "__x86_64__",
    syntax: [att_syntax],
    order: "lfence",
    full: "mfence\n\tlfence",
    flush_line: "clflush ({0})",
    link: "imul {0}, {0}",
    scratch: ["%rax", "rax"],
    c_float: "x",
}
