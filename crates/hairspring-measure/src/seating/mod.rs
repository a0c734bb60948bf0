//! Where the timed thread runs. Most code is timed on one CPU at a raised priority. Threads that
//! the code starts would inherit the CPU, and a thread that waits for others would keep them from
//! running, so code that runs other threads is timed as the process runs it: on all its CPUs, at
//! its priority.
//!
//! Other threads are found by their processor time, which is also known of threads that have ended.
//! The code runs before the timed thread takes its [`Seat`], so that a pool of threads is made for
//! all CPUs, and most threads are found then: once, and again where other threads worked so little
//! that it is not clear whose they are.

mod finding;
mod watched;

pub use finding::{Seated, SeatingFinding, Threads, code};
pub use watched::{Stopped, Watched};

use crate::cpu::quiet_cpu;
use hairspring_host::clock::{Clock, CountsWhen, default_clock, find, seated_clock};
use hairspring_host::error::{Error, Result};
use hairspring_host::other_threads::{OtherThreadsMeter, OtherThreadsTime, ThreadList};
use hairspring_host::seat::Seat;
use hairspring_host::thread::{allowed_cpus, check_cpu, pin};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Part of the processor time that other threads take from which the code is taken to run them. It
/// is not their share of the time that passed: beside busy processes a thread waits for a CPU for a
/// hundred times as long as it works.
const MUCH_SHARE: f64 = 0.01;
/// The least processor time of other threads that counts: a thread that starts and ends takes more.
const LEAST_TIME: Duration = Duration::from_micros(10);
/// The system takes processor time in the name of a thread for a moment after others know that it
/// has ended.
const ENDING_TIME: Duration = Duration::from_millis(2);
/// Other threads of a program may work all the time without the code's doing: they must take so
/// many times as much as before.
const CLEARLY_MORE: f64 = 2.0;
/// How long to wait at most for a thread that has been joined and is not counted yet. A virtual CPU
/// may be taken away meanwhile.
const LONG_ENDING: Duration = Duration::from_millis(20);
/// How often the code runs at most before the thread takes its seat, while it is not clear whose
/// the other threads are.
const FIRST_RUNS: usize = 10;
/// The code is not repeated when its runs have taken this long together.
const FIRST_TIME: Duration = Duration::from_millis(200);

/// How the timed thread is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Seating {
    /// Bound to one CPU at a raised priority, unless the code turns out to run other threads.
    #[default]
    Pinned,
    /// At a raised priority on the CPUs of the process.
    Unpinned,
    /// The code runs other threads: nothing is changed.
    Threads,
}

impl Seating {
    /// The best clock for a thread that runs in this way.
    pub fn clock(self) -> Clock {
        match self {
            Seating::Pinned => seated_clock(),
            Seating::Unpinned | Seating::Threads => default_clock(),
        }
    }

    /// The clock of that name, or the best one for a thread that runs in this way.
    ///
    /// # Errors
    /// If the clock is not available, or as [`counts_alike`] for a thread that is not bound to a
    /// CPU.
    pub fn named_clock(self, name: Option<&str>) -> Result<Clock> {
        let Some(name) = name else { return Ok(self.clock()) };
        let clock = find(name)?;
        if self == Seating::Pinned { Ok(clock) } else { counts_alike(&clock).map(|()| clock) }
    }
}

/// Whether a clock can time a thread that is not bound to a CPU: it is the same on all of them.
///
/// # Errors
/// If every CPU has its own.
pub fn counts_alike(clock: &Clock) -> Result<()> {
    let failure = || format!("clock `{}` cannot be used", clock.name);
    let reason = "every CPU has its own, and the thread is not bound to one: name another clock, \
                  or a CPU for code that runs other threads";
    match clock.counts {
        CountsWhen::WhileCoreRuns => Err(Error::Refused { what: failure(), reason: reason.into() }),
        CountsWhen::Always | CountsWhen::WhileThreadRuns | CountsWhen::WhileProcessRuns => Ok(()),
    }
}

/// The CPU of a measurement, and what is known before the code runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Home {
    /// How the timed thread is to run.
    pub seating: Seating,
    /// The CPU, if it is to be bound to one.
    pub cpu: Option<usize>,
    /// Whether the CPU was asked for: then the thread stays there even if the code runs other
    /// threads.
    pub is_asked: bool,
    /// Number of CPUs of the process.
    pub cpus: usize,
    /// Processor time that other threads take while the code does not run, as a share of the time
    /// that passes.
    pub usual: f64,
}

impl Home {
    /// The given CPU, or the one that [`quiet_cpu`] chooses by this clock; none if the thread is
    /// not to be bound.
    ///
    /// # Errors
    /// If the CPU does not exist or may not be used, if the thread is not to be bound to any, or if
    /// the clock cannot be read there.
    pub fn find(seating: Seating, cpu: Option<usize>, clock: Clock) -> Result<Home> {
        cpu.map_or(Ok(()), check_cpu)?;
        let (is_asked, cpus) = (cpu.is_some(), allowed_cpus().len());
        let chosen = match (seating, cpu) {
            (Seating::Pinned, cpu) => cpu.or_else(|| quiet_cpu(clock)),
            (_, None) => None,
            (_, Some(cpu)) => return Err(not_both(cpu)),
        };
        chosen.map_or(Ok(()), |cpu| ready_on(cpu, &clock))?;
        Ok(Home { seating, cpu: chosen, is_asked, cpus, usual: 0.0 })
    }

    /// A seat here for the calling thread; `None` if it is to run as it is.
    ///
    /// # Errors
    /// If the CPU may no longer be used.
    pub fn seat(&self) -> Result<Option<Seat>> {
        match self.seating {
            Seating::Pinned => Seat::take(self.cpu).map(Some),
            Seating::Unpinned => Ok(Some(Seat::anywhere())),
            Seating::Threads => Ok(None),
        }
    }

    /// Whether other threads took clearly more than before the code ran. More than all CPUs have is
    /// time from before, which the system has only now counted.
    fn sees(&self, time_of_others: &OtherThreadsTime) -> bool {
        let share = time_of_others.share();
        let is_much =
            time_of_others.processor >= LEAST_TIME && time_of_others.share_of_work() > MUCH_SHARE;
        is_much && share > CLEARLY_MORE * self.usual && share <= self.cpus as f64
    }

    /// Whether other threads worked, and not so much that they are surely the code's.
    fn is_unclear(&self, time_of_others: &OtherThreadsTime) -> bool {
        self.seating != Seating::Threads
            && time_of_others.processor >= LEAST_TIME
            && !self.sees(time_of_others)
    }
}

/// Whether a clock can be read on a CPU: the system may allow that on some only.
///
/// # Errors
/// Those of [`Clock::ready`].
fn ready_on(cpu: usize, clock: &Clock) -> Result<()> {
    if clock.counts != CountsWhen::WhileCoreRuns {
        return Ok(());
    }
    // A thread of its own, because it is bound. One that cannot be bound is refused by the seat.
    let there = std::thread::scope(|scope| {
        scope.spawn(|| if pin(cpu).is_ok() { clock.ready() } else { Ok(()) }).join()
    });
    there.unwrap_or(Ok(()))
}

fn not_both(cpu: usize) -> Error {
    Error::Refused {
        what: format!("cannot run on CPU {cpu}"),
        reason: "the thread is not to be bound to a CPU, as asked: ask for one of the two".into(),
    }
}

/// The timed thread in one measurement, and the other threads meanwhile.
#[derive(Debug)]
pub struct TimedThread {
    home: Home,
    seat: Option<Seat>,
    meter: OtherThreadsMeter,
    threads: Option<Threads>,
}

impl TimedThread {
    /// The thread is not seated yet, and other threads are watched from now on. What ran since
    /// `setup` was started is not the code itself: its threads may run as they like.
    pub fn begin(home: Home, setup: &OtherThreadsMeter) -> TimedThread {
        if setup.taken().processor >= LEAST_TIME {
            std::thread::sleep(ENDING_TIME);
        }
        TimedThread { home, seat: None, meter: OtherThreadsMeter::start(), threads: None }
    }

    /// Runs the code before the thread takes its seat, and looks for other threads meanwhile.
    /// Returns the time of the longest run.
    ///
    /// # Errors
    /// Those of the code.
    pub fn first_runs<E>(
        &mut self,
        mut run: impl FnMut() -> std::result::Result<(), E>,
    ) -> std::result::Result<Duration, E> {
        let (first, mut longest, before) = (Instant::now(), Duration::ZERO, ThreadList::now());
        for _ in 0..FIRST_RUNS {
            let begin = Instant::now();
            run()?;
            longest = longest.max(begin.elapsed());
            let mut time_of_others = self.look(false);
            if time_of_others.processor < LEAST_TIME && self.threads.is_none() {
                before.wait_for_others(LONG_ENDING);
                time_of_others = self.look(false);
            }
            if !self.home.is_unclear(&time_of_others) || first.elapsed() > FIRST_TIME {
                break;
            }
        }
        Ok(longest)
    }

    /// Takes the seat, after the code has run; none if other threads ran meanwhile, unless the CPU
    /// was asked for.
    ///
    /// # Errors
    /// If the CPU may no longer be used.
    pub fn sit(&mut self) -> Result<()> {
        self.look(false);
        self.seat =
            if self.threads.is_some() && !self.home.is_asked { None } else { self.home.seat()? };
        self.lower();
        self.meter = OtherThreadsMeter::start();
        Ok(())
    }

    /// Frees threads that were started since the last call. Returns other threads if they ran for
    /// the first time: then the seat has been left, and what was measured before is not valid.
    pub fn has_changed(&mut self) -> Option<Threads> {
        if let Some(seat) = &mut self.seat {
            seat.free_others();
        }
        let were_known = self.threads.is_some();
        self.look(true);
        let first = self.threads.is_some() && !were_known;
        if first && !self.home.is_asked {
            self.seat = None;
        }
        self.lower();
        self.threads.filter(|_| first)
    }

    /// Looks at what other threads have taken since the last look, and watches again.
    fn look(&mut self, seated: bool) -> OtherThreadsTime {
        let time_of_others = std::mem::replace(&mut self.meter, OtherThreadsMeter::start()).taken();
        if self.home.seating != Seating::Threads && self.home.sees(&time_of_others) {
            let threads = self.threads.get_or_insert(Threads {
                share: 0.0,
                cpus: self.home.cpus,
                late: seated,
            });
            threads.share = threads.share.max(time_of_others.share());
        }
        time_of_others
    }

    /// Threads that wait for each other have the same priority, even if the timed one has a CPU.
    fn lower(&mut self) {
        if let (Some(seat), Some(_)) = (&mut self.seat, self.threads) {
            seat.lower_priority();
        }
    }

    /// Where the thread is, and what is known of other threads.
    pub fn seated(&self) -> Seated {
        Seated {
            seating: self.home.seating,
            cpu: self.seat.as_ref().and_then(|seat| seat.cpu),
            priority_raised: self.seat.as_ref().is_some_and(Seat::priority_raised),
            threads: self.threads,
        }
    }
}

#[cfg(test)]
mod tests;
