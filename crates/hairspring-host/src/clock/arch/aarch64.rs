//! The virtual counter of AArch64.
//!
//! The processor may read the counter before earlier instructions are done: the Arm ARM requires an `isb` in between, as in
//! Linux. There is no `dsb`: loads and stores still in progress at a reading are the same in all rows of a benchmark, so
//! they are part of the overhead, and waiting for them would add the variation of the store buffer to every reading. The
//! fences between init and body do wait for them (see [`crate::fence`]).

use super::{CounterInC, Place};

/// The read for C.
pub const IN_C: CounterInC = CounterInC {
    c_macro: "__aarch64__",
    name: "cntvct",
    read: "isb\n\tmrs {0}, cntvct_el0\n\tisb",
    place: Place::Register,
    rate: Some("mrs {0}, cntfrq_el0"),
    fence: "isb",
};
