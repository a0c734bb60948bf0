//! Code that ends the whole program while it is measured: nobody would see what was measured before, or which code it was.
#![allow(unsafe_code, reason = "atexit and _exit have no safe form in the libraries used; no pointer goes to either but a function")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// Name of the benchmark that runs; empty for none.
static RUNNING: Mutex<String> = Mutex::new(String::new());
static IS_RUNNING: AtomicBool = AtomicBool::new(false);
static ONCE: Once = Once::new();

/// While this lives, the end of the program is the fault of the code that is measured: it is told, and ends with 1.
pub struct Guard(());

impl Guard {
    /// Before code is run.
    pub fn of(name: &str) -> Guard {
        ONCE.call_once(|| {
            // SAFETY: a function that stays; it is called on the way out, by whatever thread leaves.
            let _ = unsafe { libc::atexit(left) };
        });
        name.clone_into(&mut RUNNING.lock().unwrap_or_else(PoisonError::into_inner));
        IS_RUNNING.store(true, Ordering::SeqCst);
        Guard(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        IS_RUNNING.store(false, Ordering::SeqCst);
    }
}

extern "C" fn left() {
    if IS_RUNNING.load(Ordering::SeqCst) {
        let name = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).clone();
        crate::output::complain(&format!("benchmark `{name}` ended the program (exit): nothing can be said of it, nor of those before it"));
        // SAFETY: ends the process at once; what else waits for its end has no claim to run.
        unsafe { libc::_exit(1) }
    }
}
