//! A counter in the background: it works whenever the CPU has nothing else to do, and so shows how
//! much of the CPU the switches take.

use super::end::End;
use super::line::{ThreadId, place};
use super::partner::ARGUMENT;
use super::side::units;
use hairspring_host::process::Group;
use hairspring_host::shared::Shared;
use hairspring_host::thread::run_when_idle;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The role of this process among the hidden arguments.
pub const ROLE: &str = "count";
/// Time in which the counter must count.
const READY_TIME: Duration = Duration::from_secs(10);

/// A background counter that ends when this is dropped.
#[derive(Debug)]
pub struct Background {
    shared: Arc<Shared>,
    process: u32,
    group: Option<Group>,
    thread: Option<JoinHandle<()>>,
    end: End,
}

impl Background {
    /// Starts a counter on the CPU of the calling thread, as a process if `program` is given.
    ///
    /// # Errors
    /// What could not be started, in words.
    pub fn start(program: Option<&Path>) -> Result<Background, String> {
        let cannot =
            |error: &dyn std::fmt::Display| format!("cannot start the background counter: {error}");
        let shared = Arc::new(Shared::new().map_err(|error| cannot(&error))?);
        let end = End::default();
        let (process, group, thread) = match program {
            Some(program) => process(program, &shared, &end)
                .map(|(process, group, thread)| (process, Some(group), thread)),
            None => in_thread(&shared, &end).map(|thread| (std::process::id(), None, thread)),
        }
        .map_err(|error| cannot(&error))?;
        let counter = Background { shared, process, group, thread: Some(thread), end };
        let begin = Instant::now();
        while counter.count() == 0 {
            if let Some(end) = counter.why_gone() {
                return Err(format!("{end} before it counted"));
            }
            if begin.elapsed() > READY_TIME {
                return Err("the background counter does not count: the CPU is never idle".into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(counter)
    }

    /// Why the counter is gone, if it is.
    pub fn why_gone(&self) -> Option<String> {
        self.end.reason()
    }

    /// Units of work so far.
    pub fn count(&self) -> u64 {
        self.shared.numbers().counts[place::WORK].0.load(Ordering::SeqCst)
    }

    /// How often another thread took the CPU from it so far; `None` if the system does not say.
    pub fn interruptions(&self) -> Option<u64> {
        let thread = self.shared.numbers().counts[place::THREAD].0.load(Ordering::SeqCst);
        let status =
            std::fs::read_to_string(format!("/proc/{}/task/{thread}/status", self.process)).ok()?;
        status
            .lines()
            .find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?
            .trim()
            .parse()
            .ok()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.shared.numbers().words[place::END].0.store(1, Ordering::SeqCst);
        drop(self.group.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn process(
    program: &Path,
    shared: &Shared,
    end: &End,
) -> std::io::Result<(u32, Group, JoinHandle<()>)> {
    let leader = ThreadId::of_this_thread();
    let words = [
        ARGUMENT.to_owned(),
        ROLE.to_owned(),
        shared.descriptor().to_string(),
        "0".to_owned(),
        leader.process.to_string(),
        leader.thread.to_string(),
    ];
    let (mut child, group) =
        Group::spawn(Command::new(program).args(words).stdin(Stdio::null()).stdout(Stdio::null()))?;
    let (number, end) = (child.id(), end.clone());
    let thread = std::thread::Builder::new().name("counter's end".into()).spawn(move || {
        let how = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        ended(&end, &how);
    })?;
    Ok((number, group, thread))
}

fn in_thread(shared: &Arc<Shared>, end: &End) -> std::io::Result<JoinHandle<()>> {
    let (shared, end) = (Arc::clone(shared), end.clone());
    std::thread::Builder::new().name("counter".into()).spawn(move || {
        let how = count(&shared).map_or_else(|error| error, |()| "it was told to".into());
        ended(&end, &how);
    })
}

fn ended(end: &End, how: &str) {
    end.tell(format!("the background counter ended ({how})"));
}

/// Counts units of work until it is told to end.
///
/// # Errors
/// If it may not run at idle priority: it would take a share of the CPU from the switches.
pub fn count(shared: &Shared) -> Result<(), String> {
    run_when_idle().map_err(|error| error.to_string())?;
    let numbers = shared.numbers();
    numbers.counts[place::THREAD]
        .0
        .store(ThreadId::of_this_thread().thread as u64, Ordering::SeqCst);
    let mut done = 0_u64;
    while numbers.words[place::END].0.load(Ordering::Relaxed) == 0 {
        units(1);
        done += 1;
        numbers.counts[place::WORK].0.store(done, Ordering::Relaxed);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_counts_until_it_is_dropped() {
        let shared = {
            let counter = match Background::start(None) {
                Ok(counter) => counter,
                Err(reason) => {
                    return assert!(reason.contains("the CPU is never idle"), "{reason}");
                }
            };
            assert!(
                counter.count() > 0
                    && counter.interruptions().is_some()
                    && counter.why_gone().is_none()
            );
            Arc::clone(&counter.shared)
        };
        assert_eq!(Arc::strong_count(&shared), 1, "the thread has ended");
    }

    #[test]
    fn a_program_that_does_not_count_is_named_with_its_end() {
        let error = Background::start(Some(Path::new("/bin/false"))).unwrap_err();
        assert_eq!(error, "the background counter ended (exit status: 1) before it counted");
        let missing = Background::start(Some(Path::new("/no/such/program"))).unwrap_err();
        assert!(missing.contains("cannot start the background counter"), "{missing}");
    }
}
