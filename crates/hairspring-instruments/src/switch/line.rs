//! The system calls of each mechanism: one end of a line between two sides.

use super::mechanism::Mechanism;
use hairspring_host::shared::{Numbers, Shared};
use hairspring_host::thread::signal_thread;
use nix::sys::signal::{SigSet, Signal};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::thread::futex;
use std::io::Result;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// One of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The side that measures.
    Leader,
    /// The other one.
    Partner,
}

impl Side {
    /// The other side.
    pub fn other(self) -> Side {
        if self == Side::Leader { Side::Partner } else { Side::Leader }
    }

    /// The place of the word that says that it is this side's turn.
    fn word(self) -> usize {
        self as usize
    }

    /// The signal that wakes it.
    pub fn signal(self) -> Signal {
        if self == Side::Leader { Signal::SIGUSR2 } else { Signal::SIGUSR1 }
    }
}

/// Places of the shared numbers; the words of the two sides come first.
pub mod place {
    /// Word of calls that one side makes alone.
    pub const ALONE: usize = 2;
    /// Word: the partner is ready.
    pub const READY: usize = 3;
    /// Word: a partner without a mechanism that blocks it sleeps.
    pub const PARKED: usize = 4;
    /// Word: the partner has ended.
    pub const GONE: usize = 5;
    /// Word: the background counter ends.
    pub const END: usize = 6;
    /// Count: the order to the partner.
    pub const ORDER: usize = 0;
    /// Count: switches of the partner so far, as the kernel counts them.
    pub const SWITCHES: usize = 1;
    /// Count: waits of the partner so far.
    pub const WAITS: usize = 2;
    /// Count: number of the partner's thread.
    pub const THREAD: usize = 3;
    /// Count: the only CPU that the partner may use, plus 1; 0 if there are several.
    pub const CPU: usize = 4;
    /// Count: work of the background counter.
    pub const WORK: usize = 5;
}

/// Values of [`place::PARKED`]: no sleep, a sleep that is asked for, and one that has begun.
const AWAKE_STATE: u32 = 0;
/// The partner is to sleep.
pub const TO_SLEEP: u32 = 1;
const ASLEEP_STATE: u32 = 2;

/// A process and one of its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadId {
    /// The process.
    pub process: i32,
    /// The thread.
    pub thread: i32,
}

impl ThreadId {
    /// The calling thread.
    pub fn of_this_thread() -> ThreadId {
        ThreadId { process: nix::unistd::getpid().as_raw(), thread: nix::unistd::gettid().as_raw() }
    }
}

/// Two descriptors: what one writes, the other reads.
#[derive(Debug)]
pub struct Stream {
    /// Where this side reads.
    pub read: OwnedFd,
    /// Where this side writes.
    pub write: OwnedFd,
}

/// What a side needs to make the calls of a mechanism.
#[derive(Debug)]
pub enum Calls {
    /// Words in shared memory; the flag says whether they belong to one process.
    Futex(futex::Flags),
    /// Descriptors to the other side, and a pair to make the same calls alone.
    Stream { both: Stream, alone: Stream },
    /// Whom to signal, and which signals to wait for.
    Signal { to: ThreadId, own_signals: SigSet },
    /// Nothing.
    Yield,
}

/// One end of a line.
#[derive(Debug)]
pub struct Line {
    side: Side,
    shared: Arc<Shared>,
    calls: Calls,
    /// Times that this side waited, in calls: more than its turns if it was given the CPU out of
    /// turn.
    waits: u64,
}

/// Two ends of a stream of this mechanism.
///
/// # Errors
/// Errors of the system.
pub fn streams(mechanism: Mechanism) -> Result<(Stream, Stream)> {
    let way = || -> Result<(OwnedFd, OwnedFd)> {
        if mechanism == Mechanism::Eventfd {
            let end = eventfd(0, EventfdFlags::CLOEXEC)?;
            return Ok((end.try_clone()?, end));
        }
        Ok(pipe_with(PipeFlags::CLOEXEC)?)
    };
    let ((a, to_a), (b, to_b)) = (way()?, way()?);
    Ok((Stream { read: a, write: to_b }, Stream { read: b, write: to_a }))
}

/// A stream whose reader is its writer.
///
/// # Errors
/// Errors of the system.
pub fn loopback(mechanism: Mechanism) -> Result<Stream> {
    let (one, other) = streams(mechanism)?;
    Ok(Stream { read: one.read, write: other.write })
}

impl Line {
    /// The end of a side.
    pub fn new(side: Side, shared: Arc<Shared>, calls: Calls) -> Line {
        Line { side, shared, calls, waits: 0 }
    }

    /// The shared numbers.
    pub fn numbers(&self) -> &Numbers {
        self.shared.numbers()
    }

    /// Times that this side has waited.
    pub fn waits(&self) -> u64 {
        self.waits
    }

    fn word(&self, side: Side) -> &AtomicU32 {
        &self.numbers().words[side.word()].0
    }

    /// Wakes the other side.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn pass(&mut self) -> Result<()> {
        let other_side = self.side.other();
        match &self.calls {
            Calls::Futex(flags) => {
                self.word(other_side).store(1, Ordering::SeqCst);
                futex::wake(self.word(other_side), *flags, 1)?;
            }
            Calls::Stream { both, .. } => write(&both.write)?,
            Calls::Signal { to, .. } => signal_thread(to.process, to.thread, other_side.signal())?,
            Calls::Yield => self.word(other_side).store(1, Ordering::SeqCst),
        }
        Ok(())
    }

    /// Waits for this side's turn. The call is made even if the turn has come already, so that
    /// every turn has the same calls.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn wait(&mut self) -> Result<()> {
        self.waits += 1;
        match &self.calls {
            Calls::Futex(flags) => {
                let flags = *flags;
                while wait_for(self.word(self.side), flags, 0)?
                    || self.word(self.side).swap(0, Ordering::SeqCst) == 0
                {
                    self.waits += 1;
                }
            }
            Calls::Stream { both, .. } => read(&both.read)?,
            Calls::Signal { own_signals, .. } => {
                own_signals.wait()?;
            }
            Calls::Yield => loop {
                self.park()?;
                nix::sched::sched_yield()?;
                if self.word(self.side).swap(0, Ordering::SeqCst) != 0 {
                    break;
                }
                self.waits += 1;
            },
        }
        Ok(())
    }

    /// Sleeps as long as the other side has no use for this one: a side that waits by giving up the
    /// CPU is always ready to run.
    fn park(&self) -> Result<()> {
        let parked = &self.numbers().words[place::PARKED].0;
        while self.side == Side::Partner && parked.load(Ordering::SeqCst) != AWAKE_STATE {
            // Says that it sleeps. If the other side has just woken it, this fails and so does the
            // wait.
            let _ =
                parked.compare_exchange(TO_SLEEP, ASLEEP_STATE, Ordering::SeqCst, Ordering::SeqCst);
            wait_for(parked, futex::Flags::empty(), ASLEEP_STATE)?;
        }
        Ok(())
    }

    /// Wakes a partner that sleeps because there is no window.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn unpark_partner(&self) -> Result<()> {
        if matches!(self.calls, Calls::Yield) {
            unpark(self.numbers())?;
        }
        Ok(())
    }

    /// Lets a partner sleep that would otherwise use half of the CPU while it waits.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn park_partner(&self) -> Result<()> {
        const MOST_SPINS: u32 = 1_000;
        if matches!(self.calls, Calls::Yield) {
            let parked = &self.numbers().words[place::PARKED].0;
            parked.store(TO_SLEEP, Ordering::SeqCst);
            // No more often than it takes: each could let something else run.
            for _ in 0..MOST_SPINS {
                if parked.load(Ordering::SeqCst) == ASLEEP_STATE {
                    break;
                }
                nix::sched::sched_yield()?;
            }
        }
        Ok(())
    }

    /// The calls of one turn, without a switch: nobody waits for what they send, and what they wait
    /// for is there.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn alone(&mut self) -> Result<()> {
        match &self.calls {
            Calls::Futex(flags) => {
                let word = &self.numbers().words[place::ALONE].0;
                word.store(1, Ordering::SeqCst);
                futex::wake(word, *flags, 1)?;
                wait_for(word, *flags, 0)?;
                word.swap(0, Ordering::SeqCst);
            }
            Calls::Stream { alone, .. } => {
                write(&alone.write)?;
                read(&alone.read)?;
            }
            Calls::Signal { own_signals, .. } => {
                let me = ThreadId::own_cached();
                signal_thread(me.process, me.thread, self.side.signal())?;
                own_signals.wait()?;
            }
            Calls::Yield => nix::sched::sched_yield()?,
        }
        Ok(())
    }
}

impl ThreadId {
    /// The calling thread, without a system call after the first time.
    fn own_cached() -> ThreadId {
        thread_local!(static THIS_THREAD: ThreadId = ThreadId::of_this_thread());
        THIS_THREAD.with(|id| *id)
    }
}

/// Waits while a word has this value; returns whether a signal ended the wait.
fn wait_for(word: &AtomicU32, flags: futex::Flags, value: u32) -> Result<bool> {
    match futex::wait(word, flags, value, None) {
        Ok(()) | Err(Errno::AGAIN) => Ok(false),
        Err(Errno::INTR) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Eight bytes, because an event descriptor takes no fewer.
fn write(to: &OwnedFd) -> Result<()> {
    rustix::io::write(to, &1_u64.to_ne_bytes())?;
    Ok(())
}

fn read(from: &OwnedFd) -> Result<()> {
    let mut bytes = [0; 8];
    loop {
        match rustix::io::read(from, &mut bytes) {
            Ok(8) => return Ok(()),
            Ok(_) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Ends the sleep of a partner without a mechanism that blocks it.
fn unpark(numbers: &Numbers) -> Result<()> {
    let parked = &numbers.words[place::PARKED].0;
    parked.store(AWAKE_STATE, Ordering::SeqCst);
    futex::wake(parked, futex::Flags::empty(), 1)?;
    Ok(())
}

/// Ends a side's wait, from any thread: for a partner that is to end, and for a leader whose
/// partner has ended.
#[derive(Debug)]
pub struct Knocker {
    /// The side that waits.
    pub side: Side,
    /// Its thread.
    pub thread: ThreadId,
    /// The shared numbers.
    pub shared: Arc<Shared>,
    /// How its words are waited for.
    pub flags: futex::Flags,
    /// Where it reads, if it reads.
    pub stream: Option<OwnedFd>,
    /// Whether it waits for signals.
    pub by_signal: bool,
}

impl Knocker {
    /// Ends its wait. A side that does not wait, or has ended, is not an error.
    pub fn knock(&self) {
        let word = &self.shared.numbers().words[self.side.word()].0;
        word.store(1, Ordering::SeqCst);
        let _ = futex::wake(word, self.flags, 1);
        if let Some(stream) = &self.stream {
            let _ = write(stream);
        }
        if self.by_signal {
            let _ = signal_thread(self.thread.process, self.thread.thread, self.side.signal());
        }
        if self.side == Side::Partner {
            let _ = unpark(self.shared.numbers());
        }
    }
}

/// The signals of a side, blocked for the calling thread and for all that it starts.
///
/// # Errors
/// Errors of the system.
pub fn block_signals() -> Result<()> {
    let mut both_signals = SigSet::empty();
    both_signals.add(Side::Leader.signal());
    both_signals.add(Side::Partner.signal());
    Ok(both_signals.thread_block()?)
}

/// The signal that a side waits for.
pub fn own_signals(side: Side) -> SigSet {
    let mut own_signal = SigSet::empty();
    own_signal.add(side.signal());
    own_signal
}
