//! Reads of counters that the system may forbid. A forbidden read is an illegal instruction, which
//! would end the process; the handler here passes over it, so a counter can be tried out.
//!
//! The handler knows the instructions of these reads. Any other illegal instruction goes to the
//! handler that was there before.

use crate::clock::ReadFn;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Only one thread tries a counter at a time.
static TURN: Mutex<()> = Mutex::new(());
/// The thread that tries a counter; 0 if there is none.
static TRYING: AtomicI32 = AtomicI32::new(0);
/// Forbidden reads of that thread.
static FORBIDDEN: AtomicU32 = AtomicU32::new(0);
/// What handled the signal before.
static EARLIER_HANDLER: AtomicPtr<libc::sigaction> = AtomicPtr::new(std::ptr::null_mut());

/// What a process says if a counter that it uses is forbidden meanwhile.
const LOST_COUNTER: &[u8] = b"hairspring: the system has forbidden the cycle counter while it was \
                              in use (its module was unloaded, perf has taken the counter, \
                              kernel.perf_user_access was set to 0, or programs may read it on \
                              some CPUs only): measure again, or choose another clock with \
                              --clock\n";

/// Whether this function may be called here: it reads counters, and ends at a read that the system
/// forbids.
pub fn is_permitted(read: ReadFn) -> bool {
    attempt(|| read()).is_some()
}

/// Does work that reads counters in this thread only; `None` if the system forbade one of its
/// reads, or refuses the handler. Permission can end during the work: the thread comes to another
/// CPU, or perf takes the counter.
pub fn attempt<T>(work: impl FnOnce() -> T) -> Option<T> {
    if is_trying() {
        let before = FORBIDDEN.load(Ordering::Relaxed);
        let done = work();
        return (FORBIDDEN.load(Ordering::Relaxed) == before).then_some(done);
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let before = install()?;
    let _unblocked = Unblocked::new();
    FORBIDDEN.store(0, Ordering::Relaxed);
    TRYING.store(thread(), Ordering::SeqCst);
    let done = work();
    TRYING.store(0, Ordering::SeqCst);
    restore(&before);
    (FORBIDDEN.load(Ordering::Relaxed) == 0).then_some(done)
}

/// From now on a read that is forbidden ends the process with a message, and not with a signal.
///
/// # Errors
/// If the system refuses the handler.
pub fn explain_loss() -> Result<(), String> {
    if is_trying() {
        return Ok(()); // its reads are passed over
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    install()
        .map(|_| ())
        .ok_or_else(|| "the system refuses a handler for illegal instructions".to_owned())
}

/// Whether this thread tries a counter now, so that it holds the turn.
fn is_trying() -> bool {
    TRYING.load(Ordering::SeqCst) == thread()
}

/// Installs the handler; returns what was there before, or `None` if the system refuses. If the
/// handler is there already it keeps what it has replaced.
fn install() -> Option<libc::sigaction> {
    let handler = on_illegal_instruction
        as extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) as usize;
    // SAFETY: both actions are live and initialised; the handler calls async-signal-safe functions
    // only.
    unsafe {
        let (mut action, mut before): (libc::sigaction, libc::sigaction) =
            (std::mem::zeroed(), std::mem::zeroed());
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        if libc::sigaction(libc::SIGILL, &raw const action, &raw mut before) != 0 {
            return None;
        }
        if before.sa_sigaction != handler {
            // Never freed: the handler of another thread may be reading it.
            EARLIER_HANDLER.store(Box::into_raw(Box::new(before)), Ordering::SeqCst);
        }
        Some(before)
    }
}

fn restore(before: &libc::sigaction) {
    // SAFETY: the action is the one that the system returned.
    unsafe { libc::sigaction(libc::SIGILL, std::ptr::from_ref(before), std::ptr::null_mut()) };
}

fn thread() -> i32 {
    nix::unistd::gettid().as_raw()
}

/// Lets the signal through to this thread until it is dropped: where it is blocked, an illegal
/// instruction ends the process.
struct Unblocked(libc::sigset_t);

impl Unblocked {
    fn new() -> Unblocked {
        // SAFETY: both sets are live and initialised.
        unsafe {
            let (mut set, mut before): (libc::sigset_t, libc::sigset_t) =
                (std::mem::zeroed(), std::mem::zeroed());
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGILL);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, &raw mut before);
            Unblocked(before)
        }
    }
}

impl Drop for Unblocked {
    fn drop(&mut self) {
        // SAFETY: the set is the one that the system returned.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut())
        };
    }
}

extern "C" fn on_illegal_instruction(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid context; the instruction was just fetched from this
    // address.
    unsafe {
        let counter = program_counter(context.cast());
        if !is_read(instruction(*counter as usize)) {
            // It happens again after the return, and goes to what was there before.
            let before = EARLIER_HANDLER.load(Ordering::SeqCst);
            libc::sigaction(libc::SIGILL, before, std::ptr::null_mut());
            return;
        }
        if TRYING.load(Ordering::SeqCst) == libc::syscall(libc::SYS_gettid) as i32 {
            FORBIDDEN.fetch_add(1, Ordering::Relaxed);
            *counter += 4;
            return;
        }
        libc::write(2, LOST_COUNTER.as_ptr().cast(), LOST_COUNTER.len());
        libc::_exit(1);
    }
}

/// The instruction at an address, which may be aligned to two bytes only.
unsafe fn instruction(address: usize) -> u32 {
    let half = |at: usize| {
        // SAFETY: the caller's address is that of an instruction of four bytes.
        u32::from(unsafe { (at as *const u16).read() })
    };
    // Thumb instructions have their upper half first. Only one of the two orders is that of a read.
    let (first, second) = (half(address), half(address + 2));
    let word = second << 16 | first;
    if cfg!(target_arch = "arm") && !is_read(word) { first << 16 | second } else { word }
}

/// Whether an instruction reads one of the counters: the bits of the instruction without those of
/// its registers.
fn is_read(instruction: u32) -> bool {
    READS.iter().any(|(mask, bits)| instruction & mask == *bits)
}

/// The cycle counter, the virtual counter, its rate, and the 31 event counters, on one of which
/// perf may count cycles.
#[cfg(target_arch = "aarch64")]
const READS: [(u32, u32); 4] =
    [(!0x1f, 0xd53b_9d00), (!0x1f, 0xd53b_e040), (!0x1f, 0xd53b_e000), (!0x3ff, 0xd53b_e800)];
#[cfg(target_arch = "arm")]
const READS: [(u32, u32); 3] =
    [(0xffff_0fff, 0xee19_0f1d), (0xfff0_0fff, 0xec50_0f1e), (0xffff_0fff, 0xee1e_0f10)];
/// The cycle counter, the time, and the 30 counters after them, on one of which perf may count
/// cycles.
#[cfg(target_arch = "riscv64")]
const READS: [(u32, u32); 1] = [(0xfe0f_f07f, 0xc000_2073)];

#[cfg(target_arch = "aarch64")]
unsafe fn program_counter(context: *mut libc::ucontext_t) -> *mut u64 {
    // SAFETY: the caller's context is valid.
    unsafe { &raw mut (*context).uc_mcontext.pc }
}

#[cfg(target_arch = "arm")]
unsafe fn program_counter(context: *mut libc::ucontext_t) -> *mut libc::c_ulong {
    // SAFETY: the caller's context is valid.
    unsafe { &raw mut (*context).uc_mcontext.arm_pc }
}

#[cfg(target_arch = "riscv64")]
unsafe fn program_counter(context: *mut libc::ucontext_t) -> *mut libc::c_ulong {
    // SAFETY: the caller's context is valid; the first of its registers is the program counter.
    unsafe { &raw mut (*context).uc_mcontext.__gregs[0] }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn nothing() -> u64 {
        0
    }

    #[test]
    fn a_function_that_reads_nothing_is_permitted_and_the_handler_is_gone_again() {
        let handler = || {
            // SAFETY: asks for the action of a signal.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                libc::sigaction(libc::SIGILL, std::ptr::null(), &raw mut action);
                action.sa_sigaction
            }
        };
        let before = handler();
        assert!(is_permitted(nothing));
        assert_eq!(handler(), before);
    }

    extern "C" fn event_counter() -> u64 {
        let count: u64;
        // SAFETY: tried under the handler; writes one register.
        unsafe {
            #[cfg(target_arch = "aarch64")]
            std::arch::asm!("mrs {}, pmevcntr30_el0", out(reg) count, options(nostack));
            #[cfg(target_arch = "riscv64")]
            std::arch::asm!("csrr {}, 0xc1f", out(reg) count, options(nostack));
            #[cfg(target_arch = "arm")]
            {
                let low: u32;
                std::arch::asm!("mrc p15, 0, {}, c9, c13, 0", out(reg) low, options(nostack));
                count = u64::from(low);
            }
        }
        count
    }

    #[test]
    fn work_goes_on_after_a_forbidden_read_and_then_counts_for_nothing() {
        let ended = std::sync::atomic::AtomicU32::new(0);
        let read = attempt(|| {
            event_counter();
            ended.fetch_add(1, Ordering::Relaxed)
        });
        assert_eq!(ended.into_inner(), 1);
        // No system lets programs read this counter, but on 32-bit ARM it is the cycle counter.
        assert!(read.is_none() || cfg!(target_arch = "arm"));
        assert_eq!(attempt(|| 7), Some(7));
    }

    #[test]
    fn attempt_within_an_attempt_has_its_own_answer() {
        assert_eq!(attempt(|| (attempt(|| 7), explain_loss())), Some((Some(7), Ok(()))));
        let both = attempt(|| attempt(|| event_counter()).is_some());
        assert!(both.is_none() || cfg!(target_arch = "arm"));
    }

    #[test]
    fn other_instructions_are_no_reads_of_counters() {
        assert!(READS.iter().all(|(mask, bits)| is_read(*bits) && bits & mask == *bits));
        assert!(
            !is_read(0) && !is_read(0xd503_201f) && !is_read(0xe320_f000) && !is_read(0x0000_0013)
        );
    }
}
