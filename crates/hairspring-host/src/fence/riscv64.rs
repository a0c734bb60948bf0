//! Fences of 64-bit RISC-V.
//!
//! `fence` orders memory accesses and input and output, which includes reads of the time; cores
//! that wait for earlier loads in it are the ones that are measured. `fence.i` would also order the
//! fetching of instructions, but systems do not promise it to programs. Flushing a line needs an
//! extension that the system must enable.

super::fences! {
    "riscv64", "__riscv_float_abi_double",
    syntax: [],
    order: "fence iorw, iorw",
    full: "fence iorw, iorw",
    flush_line: [],
    link: "mul {0}, {0}, {0}",
    scratch: ["t0", "t0"],
    c_float: "f",
}
