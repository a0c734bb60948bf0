//! The seat of the measuring thread: a CPU of its own at a raised priority, for a measurement
//! inside a program that continues afterwards. Threads that the measured code starts inherit the
//! CPU; the seat gives them back what the thread had before.

use crate::error::{Error, Result};
use crate::other_threads::numbers;
use crate::thread::{
    HIGHEST_PRIORITY, RaisedPriority, allowed_cpus, check_cpu, nice_of, pin, set_nice,
    thread_number,
};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Threads that have a seat: they are bound on purpose.
static SEATED: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// Pins the calling thread to one CPU at raised priority until this is dropped.
#[derive(Debug)]
pub struct Seat {
    /// The CPU; `None` if the thread may move.
    pub cpu: Option<usize>,
    before: Option<CpuSet>,
    priority: Option<RaisedPriority>,
    /// Threads that were there before, or that were seen to.
    known_threads: BTreeSet<i32>,
    number: i32,
    /// Makes the type `!Send`: it applies to one thread.
    thread: std::marker::PhantomData<*const ()>,
}

impl Seat {
    /// Takes a CPU (the last allowed one by default). Raises the priority if allowed.
    ///
    /// # Errors
    /// If the CPU does not exist or may not be used.
    pub fn take(cpu: Option<usize>) -> Result<Seat> {
        let cpu = cpu.or(allowed_cpus().last().copied()).unwrap_or(0);
        check_cpu(cpu)?;
        let mut seat = Seat::anywhere();
        (seat.cpu, seat.before) = (Some(cpu), sched_getaffinity(Pid::from_raw(0)).ok());
        pin(cpu).map_err(|reason| Error::Refused {
            what: format!("cannot run on CPU {cpu}"),
            reason,
        })?;
        Ok(seat)
    }

    /// Raises the priority if allowed, and leaves the thread on the CPUs that it may use.
    pub fn anywhere() -> Seat {
        let number = thread_number() as i32;
        seated().push(number);
        let priority = RaisedPriority::raise().ok();
        Seat {
            cpu: None,
            before: None,
            priority,
            known_threads: numbers(),
            number,
            thread: std::marker::PhantomData,
        }
    }

    /// Whether the priority could be raised.
    pub fn priority_raised(&self) -> bool {
        self.priority.is_some()
    }

    /// Gives up the raised priority, and keeps the CPU.
    pub fn lower_priority(&mut self) {
        self.priority = None;
    }

    /// Gives every thread that was started since, and that has the CPU or the priority of this
    /// seat, what the calling thread had before; returns the number of them. A thread that was
    /// bound by itself to other CPUs stays there.
    pub fn free_others(&mut self) -> usize {
        let (now, seated) = (numbers(), seated().clone());
        let freed = now
            .difference(&self.known_threads)
            .filter(|number| !seated.contains(number) && self.free(**number))
            .count();
        self.known_threads = now;
        freed
    }

    /// Whether a thread had something of this seat, which it has no longer.
    fn free(&self, number: i32) -> bool {
        let moved = self
            .cpu
            .zip(self.before.as_ref())
            .is_some_and(|(cpu, before)| give_back_cpus(number, cpu, before));
        let nice = nice_of(number as libc::id_t);
        let before = self.priority.as_ref().map_or(nice, RaisedPriority::before);
        // What a thread of raised priority starts has the nice value 0, whatever it was before.
        let lowered = nice != before
            && matches!(nice, HIGHEST_PRIORITY | 0)
            && set_nice(number as libc::id_t, before);
        moved || lowered
    }
}

/// Whether a thread was bound to this CPU alone, and may now use those of before.
fn give_back_cpus(number: i32, cpu: usize, before: &CpuSet) -> bool {
    let mut alone = CpuSet::new();
    let bound = alone.set(cpu).is_ok()
        && alone != *before
        && sched_getaffinity(Pid::from_raw(number)) == Ok(alone);
    bound && sched_setaffinity(Pid::from_raw(number), before).is_ok()
}

fn seated() -> std::sync::MutexGuard<'static, Vec<i32>> {
    SEATED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Seat {
    fn drop(&mut self) {
        // If the system refuses, the thread stays on the CPU: nothing else can be done here.
        let _ = self.before.map(|before| sched_setaffinity(Pid::from_raw(0), &before));
        let mut seated = seated();
        if let Some(at) = seated.iter().rposition(|number| *number == self.number) {
            seated.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::alone;
    use std::sync::mpsc::{Receiver, Sender, channel};

    fn nice() -> i32 {
        nice_of(thread_number())
    }

    /// A thread that says where it may run and at which nice value, each time that it is asked.
    fn asked() -> (Sender<()>, Receiver<(Vec<usize>, i32)>) {
        let ((ask, asked), (answer, answers)) = (channel(), channel());
        std::thread::spawn(move || {
            while asked.recv().is_ok() && answer.send((allowed_cpus(), nice())).is_ok() {}
        });
        (ask, answers)
    }

    #[test]
    fn dropped_seat_restores_the_allowed_cpus() {
        let _alone = alone();
        let before = allowed_cpus();
        let seat = Seat::take(None).unwrap();
        assert_eq!(Some(allowed_cpus()), seat.cpu.map(|cpu| vec![cpu]));
        drop(seat);
        assert_eq!(allowed_cpus(), before);
        assert!(Seat::take(Some(100_000)).unwrap_err().to_string().contains("100000"));
        assert_eq!(allowed_cpus(), before);
    }

    #[test]
    fn threads_of_a_seated_thread_get_back_what_it_had() {
        let _alone = alone();
        let before = (allowed_cpus(), nice());
        let mut seat = Seat::take(None).unwrap();
        let (ask, answers) = asked();
        ask.send(()).unwrap();
        assert_eq!(answers.recv().unwrap().0, allowed_cpus(), "a thread inherits the CPU");
        let seat_of_other = std::thread::scope(|scope| {
            scope.spawn(|| Seat::take(None).map(|seat| (allowed_cpus(), seat.cpu))).join().unwrap()
        });
        assert!(seat_of_other.is_ok_and(|(cpus, cpu)| cpus.len() == 1 && cpu == Some(cpus[0])));
        seat.free_others();
        ask.send(()).unwrap();
        assert_eq!(answers.recv().unwrap(), before);
        assert_eq!(seat.free_others(), 0, "each is freed once");
        seat.lower_priority();
        assert!(nice() == before.1 && !seat.priority_raised());
    }

    #[test]
    fn a_thread_with_a_seat_of_its_own_keeps_it() {
        let _alone = alone();
        let mut seat = Seat::take(None).unwrap();
        let ((told, tell), (end, ended)) = (channel(), channel::<()>());
        let other_thread = std::thread::spawn(move || {
            let mine = Seat::take(None).unwrap();
            told.send(()).unwrap();
            ended.recv().unwrap_err();
            (mine.cpu.map(|cpu| vec![cpu]), allowed_cpus())
        });
        tell.recv().unwrap();
        seat.free_others();
        drop(end);
        let (mine, allowed) = other_thread.join().unwrap();
        assert_eq!(mine, Some(allowed));
    }

    #[test]
    fn a_seat_anywhere_leaves_the_cpus() {
        let _alone = alone();
        let before = allowed_cpus();
        let seat = Seat::anywhere();
        assert!(seat.cpu.is_none() && allowed_cpus() == before);
        assert_eq!(seat.priority_raised(), nice() == HIGHEST_PRIORITY);
    }
}
