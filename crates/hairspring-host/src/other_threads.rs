//! The other threads of this process: which there are, and how much processor time they take while the calling thread works.

use nix::time::{ClockId, clock_gettime};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Processor time that threads other than the calling one take, from some moment on. Threads that have ended count too.
#[derive(Debug, Clone, Copy)]
pub struct OthersMeter {
    begin: Instant,
    others: Option<Duration>,
}

/// What other threads took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OthersTime {
    /// Their processor time, all together.
    pub processor: Duration,
    /// The time that passed.
    pub elapsed: Duration,
}

impl OthersMeter {
    /// Begins now.
    pub fn start() -> OthersMeter {
        OthersMeter { begin: Instant::now(), others: time_of_others() }
    }

    /// What other threads have taken so far; nothing where the system does not say.
    pub fn taken(&self) -> OthersTime {
        let processor = time_of_others().zip(self.others).map_or(Duration::ZERO, |(now, before)| now.saturating_sub(before));
        OthersTime { processor, elapsed: self.begin.elapsed() }
    }
}

impl OthersTime {
    /// Processor time for each second that passed: 1 if one thread worked all the time.
    pub fn share(&self) -> f64 {
        let elapsed = self.elapsed.as_secs_f64();
        if elapsed > 0.0 { self.processor.as_secs_f64() / elapsed } else { 0.0 }
    }
}

/// Reads that are tried to get a pair without an interruption in between.
const TRIES: u32 = 4;
/// A pair of reads that takes longer was interrupted.
const LONGEST_PAIR: Duration = Duration::from_micros(5);

/// Processor time of the process without that of the calling thread.
fn time_of_others() -> Option<Duration> {
    let read = |clock| clock_gettime(clock).ok().map(Duration::from);
    let mut others = None;
    for _ in 0..TRIES {
        // In this order: the first call accounts the calling thread's time up to now, so that the second one contains it even
        // where the kernel accounts a process by timer tick, as it does under a limit on processor time.
        let own = read(ClockId::CLOCK_THREAD_CPUTIME_ID)?;
        let all = read(ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
        others = Some(all.saturating_sub(own));
        if read(ClockId::CLOCK_THREAD_CPUTIME_ID)?.saturating_sub(own) < LONGEST_PAIR {
            break;
        }
    }
    others
}

/// Numbers of the threads of this process other than the calling one.
pub(crate) fn numbers() -> BTreeSet<i32> {
    let number = |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    let mut all: BTreeSet<i32> = std::fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(number).collect();
    all.remove(&(crate::thread::thread_number() as i32));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(time: Duration) {
        let begin = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap();
        while clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap() < begin + time {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn time_of_a_thread_that_has_ended_is_counted() {
        const WORK: Duration = Duration::from_millis(20);
        let meter = OthersMeter::start();
        std::thread::spawn(|| work(WORK)).join().unwrap();
        let taken = meter.taken();
        assert!(taken.processor >= WORK && taken.share() > 0.0, "{taken:?}");
        assert!(taken.elapsed >= WORK, "{taken:?}");
    }

    #[test]
    fn share_is_that_of_one_processor() {
        let time = |ms: u64| Duration::from_millis(ms);
        assert!((OthersTime { processor: time(30), elapsed: time(20) }.share() - 1.5).abs() < 1e-12);
        assert!(OthersTime { processor: time(0), elapsed: time(0) }.share().abs() < 1e-12);
    }

    #[test]
    fn a_thread_is_listed_while_it_runs() {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let (told, tell) = std::sync::mpsc::channel();
        let waiting = std::thread::spawn(move || {
            told.send(crate::thread::thread_number() as i32).unwrap();
            receiver.recv().unwrap_err();
        });
        let number = tell.recv().unwrap();
        assert!(numbers().contains(&number));
        assert!(!numbers().contains(&(crate::thread::thread_number() as i32)));
        drop(sender);
        waiting.join().unwrap();
    }
}
