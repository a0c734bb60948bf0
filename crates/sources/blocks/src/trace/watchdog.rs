//! The time limit of a program and all that it starts.

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Threads and processes that end together when a deadline passes. They leave it when they have
/// ended, because their numbers are then free for others.
#[derive(Debug, Clone, Default)]
pub struct Members(Arc<Mutex<BTreeSet<i32>>>);

impl Members {
    /// The first one.
    pub fn of(pid: Pid) -> Members {
        Members(Arc::new(Mutex::new(BTreeSet::from([pid.as_raw()]))))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<i32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one that was started.
    pub fn add(&self, pid: Pid) {
        self.lock().insert(pid.as_raw());
    }

    /// Removes one that has ended.
    pub fn remove(&self, pid: Pid) {
        self.lock().remove(&pid.as_raw());
    }

    /// Removes all of them.
    pub fn clear(&self) {
        self.lock().clear();
    }

    /// The lock is held meanwhile: one that has left must not be killed.
    fn kill(&self) {
        for pid in self.lock().iter() {
            let _ = nix::sys::signal::kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
    }
}

/// Kills a program that runs for too long, with all that it started.
#[derive(Debug, Clone)]
pub struct Watchdog {
    watched: Arc<Mutex<Option<(Members, Instant)>>>,
    expired: Arc<AtomicBool>,
}

impl Watchdog {
    /// Starts a watchdog; its thread ends with the last copy of this.
    pub fn start() -> Watchdog {
        const LOOK_INTERVAL: Duration = Duration::from_millis(20);
        let watchdog = Watchdog { watched: Arc::default(), expired: Arc::default() };
        let (watched, expired) = (Arc::downgrade(&watchdog.watched), watchdog.expired.clone());
        std::thread::spawn(move || {
            while let Some(watched) = watched.upgrade() {
                // The lock is held during the kill: a process that is no longer watched must not be
                // killed.
                let mut due = watched.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((members, _)) = due.take_if(|(_, deadline)| Instant::now() > *deadline)
                {
                    expired.store(true, Ordering::SeqCst);
                    members.kill();
                }
                drop(due);
                drop(watched);
                std::thread::sleep(LOOK_INTERVAL);
            }
        });
        watchdog
    }

    /// Watches some members until a deadline; `None` watches none.
    pub fn watch(&self, members: Option<(Members, Instant)>) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        *watched = members;
        if watched.is_some() {
            self.expired.store(false, Ordering::SeqCst);
        }
    }

    /// Whether it killed the last watched process.
    pub fn expired(&self) -> bool {
        self.expired.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    fn sleeper() -> (Child, Pid) {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_raw(child.id() as i32);
        (child, pid)
    }

    #[test]
    fn all_members_end_at_the_deadline_but_none_that_has_left() {
        let (mut first, mut second, mut removed_process) = (sleeper(), sleeper(), sleeper());
        let members = Members::of(first.1);
        members.add(second.1);
        members.add(removed_process.1);
        let watchdog = Watchdog::start();
        watchdog.watch(Some((members.clone(), Instant::now() + Duration::from_millis(50))));
        members.remove(removed_process.1);
        assert!(!first.0.wait().unwrap().success() && !second.0.wait().unwrap().success());
        assert!(watchdog.expired() && removed_process.0.try_wait().unwrap().is_none());
        removed_process.0.kill().unwrap();
        removed_process.0.wait().unwrap();
    }
}
