//! perf's counter of core cycles, read by a system call: for machines whose kernel lets no program
//! read the counter itself.

use super::open::{count, kept, open_file};
use crate::clock::{Clock, CountsWhen, Ordering};

/// The clock, and whether this thread may use it.
pub fn clock() -> (Clock, Result<(), String>) {
    const DESCRIPTION: &str = "core cycles of this thread in user code, by a system call on \
                               perf's counter; the call's own cycles are not counted";
    let clock = Clock {
        ordering: Ordering::both("syscall"),
        counts: CountsWhen::WhileThreadRuns,
        enable: Some(enable),
        ..Clock::new("perf_read", DESCRIPTION, read)
    };
    (clock, open_file().and_then(|file| file.counting()))
}

/// Core cycles of this thread; 0 where it was not enabled in this thread, or where something else
/// holds the counter meanwhile.
extern "C" fn read() -> u64 {
    kept().and_then(count).unwrap_or(0)
}

/// Opens the counter for this thread, unless it is already open.
fn enable() -> Result<(), String> {
    let file = open_file()?;
    file.counting()?;
    file.keep();
    Ok(())
}
