//! The virtual counter of AArch64.
//!
//! The processor may read the counter early, before instructions that stand before it: the Arm ARM asks for an `isb` in
//! between, and Linux has one there as well. There is no `dsb`. Loads and stores that are still under way at a reading are
//! the same in all rows of a benchmark, and so belong to the overhead; to wait for them would add the spread of the store
//! buffer to every reading. Between init and body it is otherwise: see the fences of this architecture.

use super::{CounterInC, Place};

/// How C reads it.
pub const IN_C: CounterInC = CounterInC {
    c_macro: "__aarch64__",
    name: "cntvct",
    read: "isb\n\tmrs {0}, cntvct_el0\n\tisb",
    place: Place::Register,
    rate: Some("mrs {0}, cntfrq_el0"),
    fence: "isb",
};
