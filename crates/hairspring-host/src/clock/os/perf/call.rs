//! perf's counter of core cycles, read by a system call: for machines whose kernel lets no program read the counter itself.

use super::open::{Opened, count, open_file};
use crate::clock::{Clock, CountsWhen, Ordering};
use std::cell::Cell;

thread_local! {
    /// This thread's counter. It remains open until the process ends, because the clock may be read until then.
    static FILE: Cell<Option<i32>> = const { Cell::new(None) };
}

/// The clock, and whether this thread may use it.
pub fn clock() -> (Clock, Result<(), String>) {
    const DESCRIPTION: &str =
        "core cycles of this thread in user code, by a system call on perf's counter; the call's own cycles are not counted";
    let clock = Clock {
        ordering: Ordering::both("syscall"),
        counts: CountsWhen::WhileThreadRuns,
        enable: Some(enable),
        ..Clock::new("perf_read", DESCRIPTION, read)
    };
    let available = if FILE.get().is_some() { Ok(()) } else { open_file().and_then(Opened::counting).map(drop) };
    (clock, available)
}

/// Core cycles of this thread; 0 where it was not enabled in this thread, or where something else holds the counter meanwhile.
extern "C" fn read() -> u64 {
    FILE.get().and_then(count).unwrap_or(0)
}

/// Opens the counter for this thread, unless it is already open.
fn enable() -> Result<(), String> {
    if FILE.get().is_none() {
        FILE.set(Some(open_file()?.counting()?.keep()));
    }
    Ok(())
}
