//! Messages between parent and child: length-prefixed, over pipes.

use hairspring_core::observations::{Pauses, Rate};
use hairspring_measure::Seating;
use hairspring_measure::limits::Batch;
use hairspring_measure::rounds::Raw;
use hairspring_measure::ruler::Ruler;
use hairspring_measure::seating::Seated;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// From parent to child.
#[derive(Debug, Serialize, Deserialize)]
pub enum Command {
    /// Load a library and get ready; answered by [`Reply::Ready`].
    Load(Load),
    /// Run rounds over these rows; answered by [`Reply::Batch`].
    Run {
        /// Rows to run, by index; reference rows follow the library's.
        rows: Vec<u32>,
        /// How many rounds.
        batch: Batch,
    },
    /// Report the circumstances of the run; answered by [`Reply::Ended`], and the child exits.
    End,
}

/// What to load.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Load {
    /// One library for each layout of the code; the placements take them in turns.
    pub libraries: Vec<String>,
    /// Number of rows in each.
    pub rows: u32,
    /// Clock by name.
    pub clock: Option<String>,
    /// How the timed thread is to run.
    pub seating: Seating,
    /// CPU to run on.
    pub cpu: Option<usize>,
    /// Whether the user asked for this CPU.
    pub is_asked: bool,
    /// Rows that run once before the thread takes its seat: the shortest of each alternative.
    pub first: Vec<u32>,
    /// Number of the placement: code, data and stack of the rows have other addresses in each, and
    /// the orders another seed.
    pub placement: u32,
    /// Rows of built-in chains to run in the same rounds: name of the chain and copies.
    pub chains: Vec<(String, u32)>,
    /// Times that each row of the library runs before it is measured.
    pub runs_before: u32,
    /// Whether the code runs for the first time: the reference chain's length is proved before, and
    /// system calls that reach out of the process are refused. The filter makes every system call a
    /// third longer, so the processes that time the code do without.
    pub is_pilot: bool,
    /// Whether it starts a thread first.
    pub multithreaded: bool,
    /// Seconds after which the kernel ends the child if the parent is gone.
    pub most_seconds: u64,
}

impl Load {
    /// The library of this placement.
    pub fn library(&self) -> &str {
        self.libraries
            .get(self.placement as usize % self.libraries.len().max(1))
            .map_or("", String::as_str)
    }

    /// Bytes by which memory of this placement is moved within a page: a multiple of 16, as stacks
    /// and allocators need it.
    pub fn offset(&self) -> usize {
        // 89 is odd, so that 256 placements have different offsets.
        self.placement as usize * 89 % 256 * 16
    }
}

/// From child to parent.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// The instrument is prepared; the code is loaded next, then [`Reply::Ready`] is sent.
    Prepared,
    /// Loaded.
    Ready(Ready),
    /// The readings of some rounds, round by round, each in the order of the requested rows; and
    /// where the thread is now. Also the pauses of the CPU that were seen behind the batch.
    Batch(Vec<Raw>, Seated, Pauses),
    /// The end of the run.
    Ended(Ended),
    /// The engine's refusal with its message.
    Refused(String),
}

/// Circumstances at the start of the run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ready {
    /// The CPU of the measurement, even if the thread is not bound to it; `None` if it is not to be
    /// bound.
    pub cpu: Option<usize>,
    /// Where the thread is.
    pub seated: Seated,
    /// Whether the memory could be locked.
    pub memory_locked: bool,
    /// Name and description of the clock.
    pub clock: (String, String),
    /// Quantum of the clock in ticks, 0 if it never moved.
    pub quantum: u64,
    /// Mean of back to back reads in ticks.
    pub read_cost: f64,
    /// The proved reference chain, or the reason why there is none.
    pub ruler: Option<Result<Ruler, String>>,
}

/// Circumstances at the end of the run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ended {
    /// Rate of the clock over the run.
    pub rate: Rate,
    /// Time stolen by the hypervisor.
    pub stolen_ms: Option<f64>,
    /// Size of the address space.
    pub memory_bytes: u64,
    /// Bytes of the code's output that were dropped to keep its file small.
    pub dropped_bytes: u64,
}

impl Ended {
    /// The circumstances of two processes that ran one after the other: the more exact rate, and
    /// the sums.
    #[must_use]
    pub fn joined(self, later: Ended) -> Ended {
        let rate = if later.rate.uncertainty_ppm < self.rate.uncertainty_ppm {
            later.rate
        } else {
            self.rate
        };
        Ended {
            rate,
            stolen_ms: self.stolen_ms.zip(later.stolen_ms).map(|(before, later)| before + later),
            memory_bytes: self.memory_bytes.max(later.memory_bytes),
            dropped_bytes: self.dropped_bytes.saturating_add(later.dropped_bytes),
        }
    }
}

/// Sent in place of a length: the child is dying of a signal, and the numbers of a [`CrashReport`]
/// follow.
pub const CRASH: u32 = u32::MAX;
/// Longest message: a greater length means a damaged stream.
const MOST_BYTES: u32 = 1 << 30;
const DAMAGED_REPLY: &str =
    "its reply is invalid: the code may have written into the instrument's memory or pipe";

/// The report of a child that is dying of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashReport {
    /// The signal.
    pub signal: u64,
    /// What was running: see [`crate::host::Phase`].
    pub phase: u64,
    /// The row, if one was running.
    pub row: u64,
    /// The address of a fault, or [`crate::host::NO_ADDRESS`], or the number of a refused system
    /// call.
    pub address: u64,
    /// Size of the address space in bytes.
    pub memory_bytes: u64,
}

/// What was received from the pipe.
#[derive(Debug)]
pub enum Received<T> {
    /// A message.
    Message(T),
    /// The report of a crash.
    Crash(CrashReport),
    /// The other side closed the pipe.
    Closed,
}

/// Writes a message.
///
/// # Errors
/// An error of the stream.
pub fn send(stream: &mut impl Write, message: &impl Serialize) -> std::io::Result<()> {
    let bytes = postcard::to_allocvec(message).map_err(std::io::Error::other)?;
    stream.write_all(&(bytes.len() as u32).to_le_bytes())?;
    stream.write_all(&bytes)?;
    stream.flush()
}

/// Reads a message.
///
/// # Errors
/// An error of the stream, or an invalid message.
pub fn receive<T: DeserializeOwned>(stream: &mut impl Read) -> std::io::Result<Received<T>> {
    let mut length = [0; 4];
    match stream.read_exact(&mut length) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            return Ok(Received::Closed);
        }
        other => other?,
    }
    let length = u32::from_le_bytes(length);
    if length == CRASH {
        let mut numbers = [0; 40];
        stream.read_exact(&mut numbers)?;
        let number =
            |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| numbers[at * 8 + byte]));
        return Ok(Received::Crash(CrashReport {
            signal: number(0),
            phase: number(1),
            row: number(2),
            address: number(3),
            memory_bytes: number(4),
        }));
    }
    if length > MOST_BYTES {
        return Err(std::io::Error::other(DAMAGED_REPLY));
    }
    let mut bytes = Vec::new();
    stream.take(u64::from(length)).read_to_end(&mut bytes)?;
    postcard::from_bytes(&bytes)
        .map(Received::Message)
        .map_err(|_| std::io::Error::other(DAMAGED_REPLY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_round_trip() {
        let mut pipe = Vec::new();
        send(&mut pipe, &Reply::Refused("why".into())).unwrap();
        assert!(matches!(receive(&mut &pipe[..]).unwrap(),
                Received::Message(Reply::Refused(why)) if why == "why"));
        assert!(matches!(receive::<Reply>(&mut &[][..]).unwrap(), Received::Closed));
        assert!(receive::<Reply>(&mut &[0, 0, 0, 0x70, 1][..]).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..64)) {
            let _ = receive::<Reply>(&mut &bytes[..]);
        }
    }
}
