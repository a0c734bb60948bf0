//! The circumstances of a measurement on this machine, with which every document begins.

use hairspring_host::environment::machine;
use hairspring_host::identity::{commit, fingerprint};
use hairspring_host::thread::PreparedThread;
use hairspring_result::{Environment, Identity};
use std::time::SystemTime;

/// This machine, and the time and place of the document; `no_cycles` is the reason if there are no
/// core cycles.
pub fn here(no_cycles: &str) -> Environment {
    Environment { identity: Some(identity()), ..Environment::unknown(no_cycles).on(&machine()) }
}

/// The same for a thread that is bound to a CPU.
pub fn bound(thread: &PreparedThread, no_cycles: &str) -> Environment {
    Environment {
        pinned_cpu: Some(thread.cpu),
        priority_raised: Some(thread.priority_raised),
        memory_locked: Some(thread.memory_locked),
        ..here(no_cycles)
    }
}

/// The time and place of the document.
pub fn identity() -> Identity {
    let folder = std::env::current_dir().ok();
    Identity::new(SystemTime::now(), Some(fingerprint()), folder.and_then(|folder| commit(&folder)))
}
