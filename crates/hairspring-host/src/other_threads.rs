//! The other threads of this process: which there are, and how much processor time they take while
//! the calling thread works.

use nix::time::{ClockId, clock_gettime};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Processor time that threads other than the calling one take, from some moment on. Threads that
/// have ended count too.
#[derive(Debug, Clone, Copy)]
pub struct OtherThreadsMeter {
    begin: Instant,
    times: Option<Times>,
}

/// What other threads took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherThreadsTime {
    /// Their processor time, all together.
    pub processor: Duration,
    /// Processor time of the calling thread.
    pub own_time: Duration,
    /// The time that passed.
    pub elapsed: Duration,
}

impl OtherThreadsMeter {
    /// Begins now.
    pub fn start() -> OtherThreadsMeter {
        OtherThreadsMeter { begin: Instant::now(), times: times() }
    }

    /// What other threads have taken so far; nothing where the system does not say.
    pub fn taken(&self) -> OtherThreadsTime {
        let since = |(now, before): (Times, Times)| {
            (
                now.others_time.saturating_sub(before.others_time),
                now.own_time.saturating_sub(before.own_time),
            )
        };
        let (processor, own_time) = times().zip(self.times).map(since).unwrap_or_default();
        OtherThreadsTime { processor, own_time, elapsed: self.begin.elapsed() }
    }
}

impl OtherThreadsTime {
    /// Processor time for each second that passed: 1 if one thread worked all the time.
    pub fn share(&self) -> f64 {
        let elapsed = self.elapsed.as_secs_f64();
        if elapsed > 0.0 { self.processor.as_secs_f64() / elapsed } else { 0.0 }
    }

    /// Their part of the processor time of the process. It does not depend on how long a thread
    /// waited for a CPU.
    pub fn share_of_work(&self) -> f64 {
        let all = (self.processor + self.own_time).as_secs_f64();
        if all > 0.0 { self.processor.as_secs_f64() / all } else { 0.0 }
    }
}

/// Processor times up to now.
#[derive(Debug, Clone, Copy)]
struct Times {
    own_time: Duration,
    others_time: Duration,
}

/// Reads that are tried to get a pair without an interruption in between.
const TRIES: u32 = 4;
/// A pair of reads that takes longer was interrupted.
const LONGEST_PAIR: Duration = Duration::from_micros(5);

/// Processor time of the calling thread, and of the process without it.
fn times() -> Option<Times> {
    let read = |clock| clock_gettime(clock).ok().map(Duration::from);
    let mut times = None;
    for _ in 0..TRIES {
        // In this order: the first call accounts the calling thread's time up to now, so that the
        // second one contains it even where the kernel accounts a process by timer tick, as it does
        // under a limit on processor time.
        let own_time = read(ClockId::CLOCK_THREAD_CPUTIME_ID)?;
        let process_time = read(ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
        times = Some(Times { own_time, others_time: process_time.saturating_sub(own_time) });
        if read(ClockId::CLOCK_THREAD_CPUTIME_ID)?.saturating_sub(own_time) < LONGEST_PAIR {
            break;
        }
    }
    times
}

/// The threads of this process at some moment.
#[derive(Debug, Clone)]
pub struct ThreadList(BTreeSet<i32>);

impl ThreadList {
    /// Those of now.
    pub fn now() -> ThreadList {
        ThreadList(numbers())
    }

    /// Waits until no thread runs that was started since, for a time that is limited: a thread that
    /// has been joined may still be on its way out, and the system counts its processor time only
    /// then.
    pub fn wait_for_others(&self, longest_wait: Duration) {
        let begin = Instant::now();
        while !numbers().is_subset(&self.0) && begin.elapsed() < longest_wait {
            std::thread::sleep(POLL);
        }
    }
}

/// Time between looks at the threads that are on their way out.
const POLL: Duration = Duration::from_micros(100);

/// Numbers of the threads of this process other than the calling one.
pub(crate) fn numbers() -> BTreeSet<i32> {
    let number =
        |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    let mut thread_numbers: BTreeSet<i32> =
        std::fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(number).collect();
    thread_numbers.remove(&(crate::thread::thread_number() as i32));
    thread_numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(time: Duration) {
        let begin = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap();
        while clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap()
            < begin + time
        {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn time_of_a_thread_that_has_ended_is_counted() {
        const WORK: Duration = Duration::from_millis(20);
        let meter = OtherThreadsMeter::start();
        std::thread::spawn(|| work(WORK)).join().unwrap();
        let time_of_others = meter.taken();
        assert!(
            time_of_others.processor >= WORK && time_of_others.share() > 0.0,
            "{time_of_others:?}"
        );
        assert!(time_of_others.elapsed >= WORK, "{time_of_others:?}");
    }

    #[test]
    fn share_is_that_of_one_processor() {
        let time = |ms: u64| Duration::from_millis(ms);
        let time_of_others =
            OtherThreadsTime { processor: time(30), own_time: time(10), elapsed: time(20) };
        assert!(
            (time_of_others.share() - 1.5).abs() < 1e-12
                && (time_of_others.share_of_work() - 0.75).abs() < 1e-12
        );
        let nothing = OtherThreadsTime { processor: time(0), own_time: time(0), elapsed: time(0) };
        assert!(nothing.share().abs() < 1e-12 && nothing.share_of_work().abs() < 1e-12);
    }

    #[test]
    fn a_thread_that_is_joined_is_waited_for_and_one_that_stays_is_not() {
        const MOST_WAIT: Duration = Duration::from_millis(50);
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let before = ThreadList::now();
        let waiting = std::thread::spawn(move || receiver.recv());
        let begin = Instant::now();
        before.wait_for_others(MOST_WAIT);
        assert!(begin.elapsed() >= MOST_WAIT, "it runs all the time");
        drop(sender);
        assert!(waiting.join().unwrap().is_err());
        before.wait_for_others(Duration::from_secs(60));
        assert!(begin.elapsed() < Duration::from_secs(60), "it has ended");
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
