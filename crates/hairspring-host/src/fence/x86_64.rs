//! Fences of x86-64.
//!
//! `lfence` waits until all earlier instructions are done, loads included, and no later one begins
//! before it is done (Intel SDM volume 2; on AMD's processors the kernel enables this). It does not
//! wait until stores are visible: that needs `mfence`.

super::fences! {
    "x86_64", "__x86_64__",
    syntax: [att_syntax],
    order: "lfence",
    full: "mfence\n\tlfence",
    flush_line: ["clflush ({0})"],
    link: "imul {0}, {0}",
    scratch: ["%rax", "rax"],
    c_float: "x",
}
