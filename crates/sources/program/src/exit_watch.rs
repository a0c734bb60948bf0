//! Reports code that ends the whole program while it is measured, which would hide the results and
//! which code it was.
#![allow(
    unsafe_code,
    reason = "atexit, _exit and handlers that see where a signal comes from have no safe form; \
              pointers go to functions that stay and to values that live"
)]

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Name of the running benchmark; empty for none.
static RUNNING: Mutex<String> = Mutex::new(String::new());
static IS_RUNNING: AtomicBool = AtomicBool::new(false);

/// The message of a crash, ready to be written: a handler must not take a lock or allocate memory.
static MESSAGE: [AtomicU8; LONGEST_TEXT] = [const { AtomicU8::new(0) }; LONGEST_TEXT];
static LENGTH: AtomicUsize = AtomicUsize::new(0);
const LONGEST_TEXT: usize = 256;

/// Signals of crashing code, and their previous handlers.
const CRASHES: [libc::c_int; 5] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];
static EARLIER_ACTIONS: OnceLock<[libc::sigaction; CRASHES.len()]> = OnceLock::new();

/// Watches for the end of the program while measured code runs: an exit is reported, and its status
/// becomes 1; a crash is reported before its signal is passed on.
pub struct ExitWatch(());

impl ExitWatch {
    /// Watches while the code of the named benchmark runs, until this is dropped.
    pub fn new(name: &str) -> ExitWatch {
        let mut installed = true;
        let before = EARLIER_ACTIONS.get_or_init(|| {
            installed = false;
            CRASHES.map(before)
        });
        if !installed {
            install(before);
        }
        name.clone_into(&mut RUNNING.lock().unwrap_or_else(PoisonError::into_inner));
        prepare_message(name);
        IS_RUNNING.store(true, Ordering::SeqCst);
        ExitWatch(())
    }
}

impl Drop for ExitWatch {
    fn drop(&mut self) {
        IS_RUNNING.store(false, Ordering::SeqCst);
    }
}

fn prepare_message(name: &str) {
    let text = crate::output::harmless(&format!("hairspring: benchmark `{name}` crashed\n"));
    // A long name is truncated, but the line end is kept.
    let bytes =
        text.bytes().take(LONGEST_TEXT - 1).chain((text.len() >= LONGEST_TEXT).then_some(b'\n'));
    LENGTH.store(0, Ordering::SeqCst);
    let length =
        bytes.zip(&MESSAGE).map(|(byte, place)| place.store(byte, Ordering::SeqCst)).count();
    LENGTH.store(length, Ordering::SeqCst);
}

/// The current action of a signal.
fn before(signal: libc::c_int) -> libc::sigaction {
    // SAFETY: a structure of numbers and of pointers that may be null; the call fills it and
    // changes nothing.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut before);
        before
    }
}

/// Installs the handlers of exits and crashes. A signal that the program handles reaches its
/// handler after the message; one that it ignores stays ignored.
fn install(before: &[libc::sigaction; CRASHES.len()]) {
    // SAFETY: both functions live as long as the program. The first one may run in any thread that
    // exits, the other one only does what a signal handler may do, and the kernel returned the mask
    // in the structure.
    unsafe {
        libc::atexit(left);
        for (signal, before) in CRASHES.iter().zip(before) {
            if before.sa_sigaction != libc::SIG_IGN {
                let flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                let action = libc::sigaction {
                    sa_sigaction: crashed as *const () as usize,
                    sa_flags: flags,
                    ..*before
                };
                libc::sigaction(*signal, &raw const action, std::ptr::null_mut());
            }
        }
    }
}

extern "C" fn left() {
    if IS_RUNNING.load(Ordering::SeqCst) {
        let name = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).clone();
        crate::output::complain(&format!(
            "benchmark `{name}` ended the program (exit): there are no results for it or for the \
             benchmarks before it"
        ));
        // SAFETY: ends the process at once; the remaining exit handlers need not run.
        unsafe { libc::_exit(1) }
    }
}

/// Reports the benchmark, and passes the signal to the previous handler.
extern "C" fn crashed(
    signal: libc::c_int,
    information: *mut libc::siginfo_t,
    _: *mut libc::c_void,
) {
    let mut message = [0u8; LONGEST_TEXT];
    let length = if IS_RUNNING.load(Ordering::SeqCst) { LENGTH.load(Ordering::SeqCst) } else { 0 };
    message.iter_mut().zip(&MESSAGE).for_each(|(byte, place)| *byte = place.load(Ordering::SeqCst));
    let place = CRASHES.iter().position(|known| *known == signal);
    // SAFETY: write, sigaction and raise are allowed in a handler, and the pointers are to live
    // values; the kernel provides `information`. A faulting instruction faults again when this
    // returns; any other signal is raised again.
    unsafe {
        libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), length);
        if let Some((before, place)) = EARLIER_ACTIONS.get().zip(place) {
            libc::sigaction(signal, &raw const before[place], std::ptr::null_mut());
        }
        if (*information).si_code <= 0 {
            libc::raise(signal);
        }
    }
}
