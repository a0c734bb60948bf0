//! Ctrl-C and its kin: nothing may be left running, and no folder left behind.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Starts a thread that cleans up at the first such signal and ends the process with 128 + its number.
pub fn clean_up_on_signals() {
    // Without the handler the signals still end the process; only the cleaning would be missing.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            hairspring_snippet::cleanup::now();
            std::process::exit(128 + signal);
        }
    });
}
