//! The circumstances of a measurement on this machine, as every document of a program or of the command begins.

use hairspring_host::environment::machine;
use hairspring_host::identity::{commit, fingerprint};
use hairspring_result::{Environment, Identity};
use std::time::SystemTime;

/// This machine, and when and where the document is made; `no_cycles` says why there are no core cycles, where there are none.
pub fn here(no_cycles: &str) -> Environment {
    Environment { identity: Some(identity()), ..Environment::unknown(no_cycles).on(&machine()) }
}

/// When and where the document is made.
pub fn identity() -> Identity {
    let folder = std::env::current_dir().ok();
    Identity::new(SystemTime::now(), Some(fingerprint()), folder.and_then(|folder| commit(&folder)))
}
