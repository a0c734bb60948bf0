//! The kernel module that gives programs the cycle counter of ARM (`probe/linux/`): whether
//! something else, such as perf, uses or has changed the counter meanwhile. The module says so in
//! its device, a line for each CPU.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

/// The module's device.
pub const DEVICE: &str = "/dev/hairspring_cycles";
/// What the line of a CPU says whose counter can be read.
const COUNTER_ON: &str = ": on,";

/// What the line of a CPU says last: how often the core lost its settings.
const POWERED_DOWN: &str = ", powered down";

/// What happened to a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Something else, such as perf, took or changed it.
    Taken,
    /// The core was switched off: in a deep idle state, or as a CPU that went offline.
    PoweredDown,
}

/// Watches the counter of the CPU that the thread is on.
#[derive(Debug)]
pub struct CounterWatch {
    device: File,
    seen_line: Option<String>,
}

impl CounterWatch {
    /// Begins to watch; `None` without the module.
    pub fn start() -> Option<CounterWatch> {
        CounterWatch::of(Path::new(DEVICE))
    }

    pub(crate) fn of(device: &Path) -> Option<CounterWatch> {
        let mut watch = CounterWatch { device: File::open(device).ok()?, seen_line: None };
        watch.seen_line = watch.line();
        Some(watch)
    }

    /// Whether the counter was on, and nobody else's, since the last call or the start.
    pub fn is_intact(&mut self) -> bool {
        self.loss().is_none()
    }

    /// What happened to the counter since the last call or the start.
    pub fn loss(&mut self) -> Option<Loss> {
        let now = self.line();
        let before = std::mem::replace(&mut self.seen_line, now);
        match (before, self.seen_line.as_deref()) {
            (Some(before), Some(now)) if now.contains(COUNTER_ON) => changed(&before, now),
            _ => Some(Loss::Taken),
        }
    }

    /// What the module says about this CPU, after it has looked.
    fn line(&mut self) -> Option<String> {
        look(&self.device);
        let mut text = String::new();
        self.device.rewind().and_then(|()| self.device.read_to_string(&mut text)).ok()?;
        let own = format!("cpu {}: ", crate::thread::current_cpu());
        text.lines().find(|line| line.starts_with(&own)).map(str::to_owned)
    }
}

/// What happened between two lines of a CPU, of which the second one says that the counter is on.
fn changed(before: &str, now: &str) -> Option<Loss> {
    let disturbed = |line| {
        str::split_once(line, POWERED_DOWN).map_or(line, |(disturbed, _)| disturbed).to_owned()
    };
    if before == now {
        None
    } else if disturbed(before) == disturbed(now) {
        Some(Loss::PoweredDown)
    } else {
        Some(Loss::Taken)
    }
}

/// Cycles of the core for one tick of the counter: 1 without the module, which may divide them
/// by 64.
pub fn cycles_of_a_tick() -> f64 {
    std::fs::read_to_string(DEVICE).map_or(1.0, |text| divisor(&text))
}

/// The divisor in the first line of the module's device.
fn divisor(text: &str) -> f64 {
    let stated =
        text.strip_prefix("one tick in ").and_then(|rest| rest.split(' ').next()?.parse().ok());
    stated.filter(|cycles| *cycles >= 1.0).unwrap_or(1.0)
}

/// Why the counter cannot be used although programs may read it: something else has it.
///
/// # Errors
/// The reason, with what the module says.
#[cfg(any(target_arch = "aarch64", target_arch = "arm"))]
pub fn is_free() -> Result<(), String> {
    CounterWatch::start().and_then(|watch| watch.seen_line).map_or(Ok(()), |line| free(&line))
}

#[cfg(any(test, target_arch = "aarch64", target_arch = "arm"))]
fn free(line: &str) -> Result<(), String> {
    if line.contains(COUNTER_ON) {
        Ok(())
    } else {
        Err(format!(
            "the module gives the cycle counter to nobody now ({line}): end what uses perf"
        ))
    }
}

/// Whether the module is loaded.
#[cfg(any(target_arch = "aarch64", target_arch = "arm"))]
pub fn is_loaded() -> bool {
    Path::new(DEVICE).exists()
}

/// What to do where programs may not read the cycle counter; `perf` is the clock that perf offers
/// instead.
#[cfg(any(target_arch = "aarch64", target_arch = "arm"))]
pub fn remedy(perf: &str) -> String {
    no_access(is_loaded(), perf)
}

#[cfg(any(test, target_arch = "aarch64", target_arch = "arm"))]
fn no_access(is_loaded: bool, perf: &str) -> String {
    if is_loaded {
        format!(
            "the module is loaded and gives programs no access (user=0): load it without user=0, \
             or unload it and use `{perf}`"
        )
    } else {
        format!("load the module, or use `{perf}`")
    }
}

/// Why perf is not asked for the counter while the module has it.
#[cfg(any(test, target_os = "linux"))]
pub fn keeps_from_perf(programs_may_read: bool) -> String {
    let instead = if programs_may_read {
        "use the clock `pmccntr`, or unload it"
    } else {
        "load it without user=0, or unload it"
    };
    format!(
        "the kernel module of {DEVICE} has the cycle counter, and perf would take it: {instead}"
    )
}

/// `HAIRSPRING_CYCLES_CHECK` of `probe/arm/page.h`: the module looks at the counter of this CPU
/// now.
#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "ioctl has no safe form in the libraries used; this request has no argument"
)]
fn look(device: &File) {
    use std::os::fd::AsRawFd;
    const CHECK: u32 = 0x6800;
    // SAFETY: the file is open, and the request reads and writes no memory. Another kind of file
    // refuses it.
    unsafe { libc::ioctl(device.as_raw_fd(), CHECK as _) };
}

/// There is no module for other systems.
#[cfg(not(target_os = "linux"))]
fn look(_: &File) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::{allowed_cpus, pin};

    #[test]
    fn counter_that_somebody_else_used_is_not_intact() {
        let _alone = crate::thread::alone();
        pin(allowed_cpus()[0]).unwrap();
        let cpu = allowed_cpus()[0];
        let path = std::env::temp_dir().join(format!("hairspring-module-{}", std::process::id()));
        let says = |counter_state: &str| {
            std::fs::write(
                &path,
                format!(
                    "one tick in 1 cycles, wraps added up every 1000 ms\n\
                     cpu {cpu}: {counter_state}\n"
                ),
            )
            .unwrap()
        };
        says("on, disturbed 0 times, powered down 0 times");
        let mut watch = CounterWatch::of(&path).unwrap();
        assert!(watch.is_intact() && watch.is_intact());
        says("on, disturbed 1 times, powered down 0 times");
        assert_eq!([watch.is_intact(), watch.is_intact()], [false, true]);
        says("taken by perf, disturbed 2 times, powered down 0 times");
        assert_eq!([watch.is_intact(), watch.is_intact()], [false, false]);
        says("on, disturbed 2 times, powered down 0 times");
        assert_eq!(watch.loss(), Some(Loss::Taken));
        says("on, disturbed 2 times, powered down 1 times");
        assert_eq!([watch.loss(), watch.loss()], [Some(Loss::PoweredDown), None]);
        says("on, disturbed 3 times, powered down 2 times");
        assert_eq!(watch.loss(), Some(Loss::Taken), "the graver cause");
        std::fs::write(&path, "").unwrap();
        assert!(!watch.is_intact());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn divided_counter_says_by_how_much() {
        assert_eq!(divisor("one tick in 64 cycles, wraps added up every 1000 ms\ncpu 0: on"), 64.0);
        assert_eq!(
            ["", "one tick in cycles", "one tick in 0 cycles", "cpu 0: on"].map(divisor),
            [1.0; 4]
        );
    }

    #[test]
    fn module_without_access_for_programs_is_not_advised() {
        assert_eq!(no_access(false, "perf"), "load the module, or use `perf`");
        assert!(
            no_access(true, "perf").contains("load it without user=0, or unload it and use `perf`")
        );
        assert!(keeps_from_perf(true).contains("use the clock `pmccntr`"));
        let closed = keeps_from_perf(false);
        assert!(
            closed.contains("perf would take it: load it without user=0")
                && !closed.contains("pmccntr"),
            "{closed}"
        );
    }

    #[test]
    fn taken_counter_is_refused_with_what_the_module_says() {
        assert_eq!(free("cpu 0: on, disturbed 0 times, powered down 0 times"), Ok(()));
        assert!(
            free("cpu 0: taken by perf, disturbed 1 times, powered down 0 times")
                .unwrap_err()
                .contains("taken by perf")
        );
        assert!(CounterWatch::of(Path::new("/nonexistent/module")).is_none());
    }
}
