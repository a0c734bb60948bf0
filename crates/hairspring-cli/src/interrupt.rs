//! Ctrl-C and the other signals that end a process: no child is left running, and no temporary
//! folder is left behind.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Starts a thread that cleans up at the first such signal and ends the process with 128 + its
/// number.
///
/// # Errors
/// If the system refuses the thread.
pub fn clean_up_on_signals() -> Result<(), String> {
    // Without the handler the signals still end the process, but without the clean-up.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return Ok(()) };
    let waits = move || {
        if let Some(signal) = signals.forever().next() {
            hairspring_host::process::clean_up();
            std::process::exit(128 + signal);
        }
    };
    let thread = std::thread::Builder::new().name("signals".into()).spawn(waits);
    thread.map(drop).map_err(|error| {
        format!("cannot start a thread: {error}; the limit of processes is that of `ulimit -u`")
    })
}

/// A flag that is set by the first such signal, for verbs that then report what they have. The
/// second one ends the process with 128 + its number.
///
/// # Errors
/// If no handler can be set.
pub fn stop_on_signals() -> std::io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the flag is not set yet when the first signal asks whether to end.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
