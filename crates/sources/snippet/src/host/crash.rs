//! Crash reports: a handler for fatal signals reports the signal and its place to the parent, then
//! lets the process die of it.
#![allow(
    unsafe_code,
    reason = "signal handlers and their stack have no safe form; the handler calls \
              async-signal-safe functions only"
)]

use super::Phase;
use crate::protocol::CRASH;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

static PIPE: AtomicI32 = AtomicI32::new(-1);
static PHASE: AtomicU64 = AtomicU64::new(0);
static ROW: AtomicU64 = AtomicU64::new(0);

const FATAL_SIGNALS: [i32; 9] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGSYS,
    libc::SIGXFSZ,
    libc::SIGXCPU,
];
/// The handler must run when the ordinary stack is used up.
const STACK_BYTES: usize = 64 * 1024;

/// Records what is running now, for the crash report.
pub fn enter(phase: Phase, row: u64) {
    ROW.store(row, Ordering::Relaxed);
    PHASE.store(phase as u64, Ordering::Relaxed);
}

/// Installs the handlers; crash reports are written to this pipe.
pub fn watch(replies: &File) {
    PIPE.store(replies.as_raw_fd(), Ordering::Relaxed);
    let stack = Box::leak(vec![0u8; STACK_BYTES].into_boxed_slice());
    // SAFETY: the stack is leaked and lives as long as the process; the action is fully
    // initialised; the handler below is async-signal-safe. SA_RESETHAND makes the second occurrence
    // of the signal fatal.
    unsafe {
        let alternate =
            libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_BYTES };
        libc::sigaltstack(&raw const alternate, std::ptr::null_mut());
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction =
            report_crash as extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESETHAND;
        libc::sigemptyset(&raw mut action.sa_mask);
        for signal in FATAL_SIGNALS {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// The reason of a signal that the kernel sends of itself: the processor refused an instruction,
/// and names no address.
const SI_KERNEL: i32 = 0x80;
/// In place of the address in a report: there is none.
pub const NO_ADDRESS: u64 = u64::MAX;

/// Place of the number of a refused call in a siginfo, in words of 32 bits.
const CALL: usize = if cfg!(target_pointer_width = "64") { 6 } else { 4 };

extern "C" fn report_crash(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo. For SIGSYS the call's address is in place of the
    // address field, and the number of the call follows it; only that number is used.
    let address = unsafe {
        match signal {
            libc::SIGSYS => u64::from(info.cast::<u32>().add(CALL).read()),
            libc::SIGSEGV | libc::SIGBUS if (*info).si_code == SI_KERNEL => NO_ADDRESS,
            _ => (*info).si_addr() as u64,
        }
    };
    report(signal, address);
    // SAFETY: a faulting instruction faults again after the return; other signals are raised again
    // here.
    unsafe {
        libc::raise(signal);
    }
}

/// Writes the report of a signal into the pipe.
fn report(signal: i32, address: u64) {
    let numbers = [
        signal as u64,
        PHASE.load(Ordering::Relaxed),
        ROW.load(Ordering::Relaxed),
        address,
        memory_bytes(),
    ];
    let mut message = [0u8; 44];
    message[..4].copy_from_slice(&CRASH.to_le_bytes());
    for (at, number) in numbers.iter().enumerate() {
        message[4 + at * 8..12 + at * 8].copy_from_slice(&number.to_le_bytes());
    }
    // SAFETY: writes from a live buffer to an open descriptor.
    unsafe {
        libc::write(PIPE.load(Ordering::Relaxed), message.as_ptr().cast(), message.len());
    }
}

/// Ends this process as the filter of the pilot would, should the code fork later on: the copy
/// would go on as a second host, and write replies of its own.
pub fn end_at_fork() {
    // SAFETY: the function lives as long as the process, and is safe in a process with several
    // threads, because it does not return.
    unsafe {
        libc::pthread_atfork(Some(refuse_fork), None, None);
    }
}

extern "C" fn refuse_fork() {
    #[allow(clippy::unnecessary_cast, reason = "a `c_long`, which has 32 bits on some processors")]
    report(libc::SIGSYS, libc::SYS_clone as u64);
    // SAFETY: ends the process.
    unsafe {
        libc::_exit(128 + libc::SIGSYS);
    }
}

/// Size of the address space, read with system calls only.
pub fn memory_bytes() -> u64 {
    let mut text = [0u8; 32];
    // SAFETY: open, read and close are async-signal-safe; the buffer is live.
    let read = unsafe {
        let file = libc::open(c"/proc/self/statm".as_ptr(), libc::O_RDONLY);
        let read = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        read
    };
    let digits = text[..read.max(0) as usize].iter().take_while(|byte| byte.is_ascii_digit());
    digits
        .fold(0u64, |pages, digit| pages.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
        .wrapping_mul(4096)
}
