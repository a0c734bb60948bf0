//! Opening perf's counter of core cycles, and why the kernel may refuse it.

use super::Page;
use crate::clock::arch::open_cycles;
use crate::clock::module::{DEVICE as MODULE, keeps_from_perf};
use std::cell::Cell;
use std::sync::{Once, OnceLock};

/// Bytes of the page that are mapped: the smallest page size of the supported machines.
const PAGE_BYTES: usize = 4096;

/// The attributes in their first published form (PERF_ATTR_SIZE_VER0), which every kernel accepts.
#[repr(C)]
pub struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample: u64,
    format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
}

/// PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES.
const HARDWARE: u32 = 0;
const CYCLES: u64 = 0;
/// `pinned`: always on a hardware counter; `exclude_kernel`, `exclude_hv`: without these an
/// unprivileged user may not count.
const PINNED_USER_ONLY: u64 = 1 << 2 | 1 << 5 | 1 << 6;

/// On arm64, bit 1 of `config1` asks for a counter that user code may read, and bit 0 for one of 64
/// bits, which not all have.
const CONFIG1: &[u64] = if cfg!(target_arch = "aarch64") { &[3, 2] } else { &[0] };

const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

thread_local! {
    /// This thread's counter, for all clocks that read it: a second event would find the cycle
    /// counter taken by the first one.
    static KEPT_COUNTER: Cell<Option<i32>> = const { Cell::new(None) };
}

/// Gives up what this thread keeps. The file of a child process is that of its parent's counter.
pub fn give_up() {
    if let Some(file) = KEPT_COUNTER.take() {
        // SAFETY: closes what `open_file` opened; nothing else uses it, because it is not kept any
        // longer.
        unsafe { libc::close(file) };
    }
}

/// The counter that this thread keeps open.
#[cfg(not(target_arch = "x86_64"))]
pub fn kept() -> Option<i32> {
    KEPT_COUNTER.get()
}

/// An open counter of this thread. It is closed when this is dropped, unless the thread keeps it.
pub struct Opened(i32);

impl Opened {
    /// Leaves the counter open for the life of the process, and not in the children that it forks.
    pub fn keep(&self) {
        static GIVES_UP: Once = Once::new();
        // SAFETY: the function lives as long as the process, and calls async-signal-safe functions
        // only.
        GIVES_UP.call_once(|| unsafe {
            libc::pthread_atfork(None, None, Some(super::give_up_in_child));
        });
        KEPT_COUNTER.set(Some(self.0));
    }

    /// Whether the counter counts for this thread.
    ///
    /// # Errors
    /// The kernel has no hardware counter for it. It opens a pinned event also then, and reads of
    /// it give nothing.
    pub fn counting(&self) -> Result<(), String> {
        const HELD_COUNTER: &str = if cfg!(target_arch = "x86_64") {
            "other perf events hold all counters that can count cycles"
        } else {
            "another perf event holds the cycle counter"
        };
        let held_counters = || {
            format!(
                "{HELD_COUNTER}, so this thread's counts nothing: end what uses perf (perf, a \
                 watchdog), or choose another clock"
            )
        };
        count(self.0).map(drop).ok_or_else(held_counters)
    }
}

/// The number of cycles by a system call; `None` while the kernel has no hardware counter for it.
pub fn count(file: i32) -> Option<u64> {
    let mut count = 0u64;
    // SAFETY: writes at most 8 bytes to a live number; a file that is not open is an error.
    let bytes = unsafe { libc::read(file, (&raw mut count).cast(), size_of::<u64>()) };
    (bytes == size_of::<u64>() as isize).then_some(count)
}

impl Drop for Opened {
    fn drop(&mut self) {
        if KEPT_COUNTER.get() != Some(self.0) {
            // SAFETY: closes what `open_file` opened; nothing else uses it, because it is not kept.
            unsafe { libc::close(self.0) };
        }
    }
}

/// A counter of core cycles in user code for this thread: the one that it keeps, or a new one.
///
/// # Errors
/// Why the kernel refuses it, and the setting that this depends on.
pub fn open_file() -> Result<Opened, String> {
    if let Some(file) = KEPT_COUNTER.get() {
        return Ok(Opened(file));
    }
    // An event of perf would take the counter from the module, even if it is closed at once, and
    // the permission from all programs.
    if std::path::Path::new(MODULE).exists() {
        return Err(keeps_from_perf(open_cycles().is_some()));
    }
    is_free_for_perf()?;
    let mut last = None;
    for config1 in CONFIG1 {
        match open_with(*config1) {
            Ok(opened) => return Ok(opened),
            Err(error) => last = Some(error),
        }
    }
    Err(refused(&last.unwrap_or_else(std::io::Error::last_os_error)))
}

/// Whether perf takes no permission from programs if it opens the counter: somebody's module may
/// let them read it.
///
/// # Errors
/// What to do instead.
fn is_free_for_perf() -> Result<(), String> {
    /// Whether the counter that programs may read counts. It is asked once, because it takes 60 ms
    /// for one that does not.
    static COUNTS: OnceLock<Option<bool>> = OnceLock::new();
    let instead = match COUNTS.get_or_init(|| open_cycles().map(|clock| clock.ready().is_ok())) {
        None => return Ok(()),
        Some(true) => "use that clock, or unload the module that gives it",
        Some(false) => "it is off, so unload the module that gives it",
    };
    Err(format!(
        "programs may read the cycle counter (`pmccntr`), and perf would take the permission away: \
         {instead}"
    ))
}

fn open_with(config1: u64) -> Result<Opened, std::io::Error> {
    let attributes = Attributes {
        kind: HARDWARE,
        size: size_of::<Attributes>() as u32,
        config: CYCLES,
        period: 0,
        sample: 0,
        format: 0,
        flags: PINNED_USER_ONLY,
        wakeup: 0,
        breakpoint: 0,
        config1,
    };
    // SAFETY: the attributes live and have the size that they state; this thread, any CPU, no
    // group, closed on exec.
    let file = unsafe {
        libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, CLOSE_ON_EXEC)
    } as i32;
    if file < 0 { Err(std::io::Error::last_os_error()) } else { Ok(Opened(file)) }
}

/// A counter and its page.
pub struct Mapped {
    /// The page.
    pub page: &'static Page,
    /// Closed with it.
    pub file: Opened,
}

impl Mapped {
    /// Maps the page of a counter.
    ///
    /// # Errors
    /// As [`open_file`].
    pub fn new() -> Result<Mapped, String> {
        let file = open_file()?;
        // SAFETY: maps the first page of the counter that was just opened, for reading.
        let page = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                PAGE_BYTES,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.0,
                0,
            )
        };
        if page == libc::MAP_FAILED {
            return Err(refused(&std::io::Error::last_os_error()));
        }
        // SAFETY: the mapping is aligned to pages and longer than the structure; all that the
        // kernel changes is read through atomics. The reference leaves this type by `keep` only,
        // which never unmaps.
        Ok(Mapped { page: unsafe { &*page.cast::<Page>() }, file })
    }

    /// Leaves the counter open and the page mapped for the life of the process.
    pub fn keep(self) -> &'static Page {
        let page = self.page;
        self.file.keep();
        std::mem::forget(self);
        page
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: unmaps what `new` mapped; nothing else uses the page, because `keep` was not
        // called.
        unsafe { libc::munmap(std::ptr::from_ref(self.page).cast_mut().cast(), PAGE_BYTES) };
    }
}

/// Why the kernel refused, with the setting that it depends on.
fn refused(error: &std::io::Error) -> String {
    let paranoid =
        std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    explain(error, paranoid.trim())
}

fn explain(error: &std::io::Error, paranoid: &str) -> String {
    let why = match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "this CPU offers no cycle counter to the system, as in most virtual machines"
        }
        Some(libc::EACCES | libc::EPERM) => {
            "not allowed: lower kernel.perf_event_paranoid to 2, or give the program CAP_PERFMON"
        }
        Some(libc::ENOSYS) => {
            "the kernel is built without perf events, or a sandbox or an emulator forbids them"
        }
        Some(libc::EMFILE | libc::ENFILE) => "too many open files",
        _ => "unexpected",
    };
    let paranoid = if paranoid.is_empty() { "not readable" } else { paranoid };
    format!("{why} (perf_event_open: {error}; perf_event_paranoid is {paranoid})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_have_the_size_of_their_first_form() {
        assert_eq!(size_of::<Attributes>(), 64);
    }

    #[test]
    fn counter_that_something_else_holds_gives_nothing_and_says_so() {
        use std::io::{Seek, Write};
        use std::os::fd::{AsRawFd, IntoRawFd};
        let path = std::env::temp_dir().join(format!("hairspring-count-{}", std::process::id()));
        let mut file = std::fs::File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(count(file.as_raw_fd()), None);
        file.write_all(&7u64.to_ne_bytes()).unwrap();
        file.rewind().unwrap();
        assert_eq!(count(file.as_raw_fd()), Some(7));
        // The file has ended, as a pinned event without a counter has.
        let error = Opened(file.into_raw_fd()).counting().unwrap_err();
        assert!(error.contains("perf event") && error.contains("choose another clock"), "{error}");
    }

    #[test]
    fn child_does_not_read_the_counter_of_its_parent() {
        use std::os::fd::IntoRawFd;
        // A thread of its own, because a thread keeps one counter.
        let codes = std::thread::spawn(|| {
            let file = std::fs::File::open("/proc/self/stat").unwrap().into_raw_fd();
            Opened(file).keep();
            // SAFETY: the child calls async-signal-safe functions only, and ends.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: asks about a number of a file.
                let is_open = unsafe { libc::fcntl(file, libc::F_GETFD) } >= 0;
                // SAFETY: ends the child.
                unsafe {
                    libc::_exit(i32::from(KEPT_COUNTER.get().is_some()) + 2 * i32::from(is_open))
                };
            }
            let mut status = 0;
            // SAFETY: waits for the child that was just forked.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            let of_parent = KEPT_COUNTER.get() == Some(file);
            give_up();
            (libc::WEXITSTATUS(status), of_parent, KEPT_COUNTER.get())
        });
        assert_eq!(codes.join().unwrap(), (0, true, None));
    }

    #[test]
    fn reason_names_the_error_and_the_setting() {
        let text = explain(&std::io::Error::from_raw_os_error(libc::ENOENT), "2");
        assert!(
            text.contains("virtual machines") && text.contains("perf_event_paranoid is 2"),
            "{text}"
        );
        let text = explain(&std::io::Error::from_raw_os_error(libc::EACCES), "");
        assert!(text.contains("CAP_PERFMON") && text.contains("not readable"), "{text}");
    }
}
