//! Limits on the code under test: it cannot outlive its parent, start or harm processes, use up
//! memory or time, write without limit, or use the instrument's pipes.
#![allow(unsafe_code, reason = "taking over descriptors 0 and 1 as files")]

#[cfg(target_os = "linux")]
pub use super::filter::refuse_calls;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit, rlim_t, setrlimit};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};

/// Address space that the code may take. A process of 32 bits has 4 GiB at most, some of it for the
/// system.
pub const MOST_MEMORY_BYTES: u64 =
    if cfg!(target_pointer_width = "32") { 2 << 30 } else { 4 << 30 };
/// Bytes that the code may write to any one file, and to its output between two checks.
pub const MOST_FILE_BYTES: u64 = 16 << 20;

/// Moves the pipes to other descriptors and replaces standard input by an empty file.
pub fn take_pipes() -> std::io::Result<(File, File)> {
    let commands = duplicate(std::io::stdin().as_fd())?;
    let replies = duplicate(std::io::stdout().as_fd())?;
    let nothing = File::open("/dev/null")?;
    nix::unistd::dup2_stdin(&nothing)?;
    // The parent opened a file as descriptor 2; the code's output goes there and is counted.
    nix::unistd::dup2_stdout(std::io::stderr())?;
    Ok((commands, replies))
}

fn duplicate(descriptor: std::os::fd::BorrowedFd) -> std::io::Result<File> {
    const FIRST_DESCRIPTOR: i32 = 200;
    let copy = fcntl(descriptor, FcntlArg::F_DUPFD_CLOEXEC(FIRST_DESCRIPTOR))?;
    // SAFETY: the descriptor was made on the line above, and nothing else owns it.
    let owned = unsafe { OwnedFd::from_raw_fd(copy) };
    fcntl(&owned, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(File::from(owned))
}

/// The file that receives the code's output: the beginning is kept, the rest is counted and
/// dropped.
#[derive(Debug)]
pub struct Output {
    file: Option<File>,
    /// Bytes dropped so far.
    pub dropped: u64,
}

impl Output {
    /// The file at descriptor 2, under another descriptor.
    pub fn new() -> Output {
        Output { file: duplicate(std::io::stderr().as_fd()).ok(), dropped: 0 }
    }

    /// Drops all but the beginning once the file is large.
    pub fn trim(&mut self) {
        const MUCH_BYTES: u64 = MOST_FILE_BYTES / 16;
        const KEPT_BYTES: u64 = 4096;
        let Some((file, written)) =
            self.file.as_mut().and_then(|file| file.stream_position().ok().map(|at| (file, at)))
        else {
            return;
        };
        if written > MUCH_BYTES
            && file
                .set_len(KEPT_BYTES)
                .and_then(|()| file.seek(SeekFrom::Start(KEPT_BYTES)))
                .is_ok()
        {
            self.dropped += written - KEPT_BYTES;
        }
    }
}

/// Address space of a process in bytes, from /proc; 0 if unavailable.
pub fn memory_of(process: u32) -> u64 {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    text.split(' ')
        .next()
        .and_then(|pages| pages.parse::<u64>().ok())
        .map_or(0, |pages| pages * PAGE)
}

/// A limit as the system takes it: of 32 bits on some processors, where a larger number is no
/// limit.
#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_fallible_conversions,
    reason = "the type depends on the processor"
)]
pub fn as_limit(most_units: u64) -> rlim_t {
    rlim_t::try_from(most_units).unwrap_or(RLIM_INFINITY)
}

/// Sets all limits for the rest of this process's life, which takes so many seconds at most.
pub fn limit(most_seconds: u64) -> Result<(), String> {
    let set = |resource, most_units: u64| {
        // The inherited limit may already be lower.
        let most_allowed = getrlimit(resource)
            .map_or(as_limit(most_units), |(_, hard)| as_limit(most_units).min(hard));
        setrlimit(resource, most_allowed, most_allowed)
            .map_err(|e| format!("a limit could not be set: {e}"))
    };
    set(Resource::RLIMIT_AS, MOST_MEMORY_BYTES)?;
    set(Resource::RLIMIT_FSIZE, MOST_FILE_BYTES)?;
    set(Resource::RLIMIT_CORE, 0)?;
    #[cfg(not(target_os = "linux"))]
    set(Resource::RLIMIT_CPU, most_seconds)?;
    #[cfg(target_os = "linux")]
    die_with_parent(most_seconds)?;
    Ok(())
}

/// Ends this process with its parent, and after this time should the code have undone that. A limit
/// on processor time would do so too, but with one the kernel keeps a running sum of the times of
/// all threads, and the code reads its processor time in half of the time that other programs need.
#[cfg(target_os = "linux")]
fn die_with_parent(most_seconds: u64) -> Result<(), String> {
    use nix::sys::signal::{SigEvent, SigevNotify, Signal};
    use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
    use nix::time::ClockId;
    use std::time::Duration;
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)
        .map_err(|e| format!("cannot be tied to its parent: {e}"))?;
    let event = SigEvent::new(SigevNotify::SigevSignal { signal: Signal::SIGKILL, si_value: 0 });
    let timer = Timer::new(ClockId::CLOCK_MONOTONIC, event).and_then(|mut timer| {
        timer.set(
            Expiration::OneShot(Duration::from_secs(most_seconds).into()),
            TimerSetTimeFlags::empty(),
        )?;
        Ok(timer)
    });
    // It runs as long as the process.
    timer.map(std::mem::forget).map_err(|e| format!("a timer could not be set: {e}"))
}

#[cfg(not(target_os = "linux"))]
pub fn refuse_calls() -> Result<(), String> {
    Ok(())
}
