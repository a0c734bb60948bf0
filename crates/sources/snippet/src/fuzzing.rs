//! Entry points for the fuzz targets, which are another package; not part of the interface.

use crate::child::{check_memory, crash_failure};
use crate::protocol::{Received, Reply, receive};

/// Reads all answers in these bytes as the parent of a host does. Returns whether there was one.
pub fn replies(mut bytes: &[u8]) -> bool {
    let mut messages = 0;
    loop {
        match receive::<Reply>(&mut bytes) {
            Ok(Received::Message(reply)) => {
                messages += 1;
                if let Reply::Ended(ended) = &reply {
                    let _ = check_memory(ended);
                }
            }
            Ok(Received::Crash(report)) => {
                assert!(!crash_failure(report).what.is_empty());
                return true;
            }
            Ok(Received::Closed) | Err(_) => return messages > 0,
        }
    }
}
