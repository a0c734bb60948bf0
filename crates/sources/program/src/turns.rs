//! Turns with other processes: `hairspring ab` keeps the builds that it compares alive at the same
//! time, and lets one of them work at a time.
//!
//! The environment variable [`VARIABLE`] holds the path of a socket. The program connects to it
//! before anything else and waits for its turn. It gives the turn back before each batch of rounds,
//! by a byte, and goes on when it gets one: `s` at the start of a group of benchmarks, `r` between
//! batches. The first line that it reads may name the CPU on which all of them run. When the other
//! end goes away, the program works on without turns.

use hairspring_measure::batches::{Batches, InProcess};
use hairspring_measure::limits::Batch;
use hairspring_measure::rounds::Rig;
use hairspring_measure::table::Table;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The environment variable with the path of the socket.
pub const VARIABLE: &str = "HAIRSPRING_TURNS";
/// What is said at the start of a group of benchmarks, before its first round.
pub const START: u8 = b's';
/// What is said when a turn is over.
pub const OVER: u8 = b'r';

/// Longest turn; one round may take longer. It is about a placement.
const TURN: Duration = Duration::from_millis(5);
/// A round that takes longer than this warms up its own code and data.
const LONG_ROUND: Duration = Duration::from_millis(1);
/// The longest line that names a CPU.
const LONGEST_LINE: u64 = 32;

/// The other end of the socket.
#[derive(Debug)]
pub(crate) struct Turns {
    stream: UnixStream,
    /// The CPU on which all processes run.
    pub(crate) cpu: Option<usize>,
    is_alone: AtomicBool,
    /// Time that was spent waiting, in nanoseconds.
    waited: AtomicU64,
}

impl Turns {
    /// Connects to the socket of the environment, if there is one, and waits for the first turn.
    pub(crate) fn begin() -> Option<Turns> {
        std::env::var_os(VARIABLE).and_then(|path| Turns::connect(Path::new(&path)))
    }

    fn connect(path: &Path) -> Option<Turns> {
        let stream = UnixStream::connect(path).ok()?;
        let mut line = String::new();
        BufReader::with_capacity(1, &stream).take(LONGEST_LINE).read_line(&mut line).ok()?;
        let cpu = line.trim().parse().ok();
        Some(Turns { stream, cpu, is_alone: AtomicBool::new(false), waited: AtomicU64::new(0) })
    }

    /// Gives the turn back and waits for the next one.
    fn pass(&self, place: u8) {
        if self.is_alone.load(Ordering::Relaxed) {
            return;
        }
        let begin = Instant::now();
        let mut answer = [0];
        let (mut writer, mut reader) = (&self.stream, &self.stream);
        let passed = writer.write_all(&[place]).and_then(|()| reader.read_exact(&mut answer));
        self.is_alone.store(passed.is_err(), Ordering::Relaxed);
        let waited = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.waited.fetch_add(waited, Ordering::Relaxed);
    }

    /// Time that was spent waiting so far.
    pub(crate) fn waited(&self) -> Duration {
        Duration::from_nanos(self.waited.load(Ordering::Relaxed))
    }
}

/// Batches that are run in turns, if there are others.
#[derive(Debug)]
pub(crate) struct InTurns<'t, R> {
    pub(crate) batches: InProcess<R>,
    turns: Option<&'t Turns>,
    has_begun: bool,
    /// How long a round takes.
    round: Duration,
}

impl<'t, R: Rig> InTurns<'t, R> {
    pub(crate) fn new(batches: InProcess<R>, turns: Option<&'t Turns>) -> InTurns<'t, R> {
        InTurns { batches, turns, has_begun: false, round: Duration::ZERO }
    }

    /// Waits for the turn, and warms up what the others have replaced meanwhile.
    fn wait(&mut self, turns: &Turns) {
        turns.pass(if self.has_begun { OVER } else { START });
        if self.has_begun && self.round < LONG_ROUND {
            self.batches.warm_up();
        }
        self.has_begun = true;
    }

    /// A turn's part of a batch. Gives the number of its rounds.
    fn part(
        &mut self,
        batch: Batch,
        elapsed: &dyn Fn() -> Duration,
        table: &mut Table,
    ) -> Result<u32, <InProcess<R> as Batches>::Error> {
        let (begin, before) = (elapsed(), table.rounds());
        let part = Batch { time: batch.time.min(TURN), fewest: 1, most: batch.most };
        self.batches.run(part, elapsed, table)?;
        let rounds = table.rounds().saturating_sub(before).max(1);
        self.round = elapsed().saturating_sub(begin) / rounds;
        Ok(rounds)
    }
}

impl<R: Rig> Batches for InTurns<'_, R> {
    type Error = <InProcess<R> as Batches>::Error;

    fn run(
        &mut self,
        batch: Batch,
        elapsed: &dyn Fn() -> Duration,
        table: &mut Table,
    ) -> Result<(), Self::Error> {
        let Some(turns) = self.turns else { return self.batches.run(batch, elapsed, table) };
        let (begin, mut done) = (elapsed(), 0);
        while batch.goes_on(done, elapsed().saturating_sub(begin)) {
            self.wait(turns);
            let time = batch.time.saturating_sub(elapsed().saturating_sub(begin));
            done +=
                self.part(Batch { time, ..batch.at_most(batch.most - done) }, elapsed, table)?;
        }
        Ok(())
    }

    fn can_move(&self) -> bool {
        self.batches.can_move()
    }

    fn shortest_placement(&self) -> Duration {
        self.batches.shortest_placement()
    }

    fn move_rows(&mut self) -> Result<(), Self::Error> {
        self.batches.move_rows()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::default_clock;
    use std::os::unix::net::UnixListener;

    /// A row that takes a tenth of a millisecond.
    struct Slow;

    impl Rig for Slow {
        fn rows(&self) -> usize {
            1
        }

        fn run(&mut self, _: usize) -> u64 {
            let (begin, read) = (Instant::now(), default_clock().read);
            let ticks = read();
            while begin.elapsed() < Duration::from_micros(100) {}
            read().wrapping_sub(ticks)
        }
    }

    fn table() -> Table {
        let mut table = Table::new(vec!["body".into()]);
        table.add_row("slow", &[1.0]);
        table
    }

    /// What a batch of this many rounds says to a partner that answers so often.
    fn said(rounds: u32, answers: usize) -> (Vec<u8>, Option<usize>, u32) {
        let name = format!("hairspring-turns-{}-{rounds}-{answers}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let listener = UnixListener::bind(&path).unwrap();
        let partner = std::thread::spawn(move || {
            let (mut stream, mut all) = (listener.accept().unwrap().0, Vec::new());
            stream.write_all(b"3\n").unwrap();
            for _ in 0..answers {
                let mut byte = [0];
                if stream.read_exact(&mut byte).is_err() {
                    break;
                }
                all.push(byte[0]);
                stream.write_all(b"g").unwrap();
            }
            all
        });
        let (turns, mut table) = (Turns::connect(&path).unwrap(), table());
        std::fs::remove_file(&path).unwrap();
        let batches = InProcess::new(Slow, &default_clock(), 1, 1);
        let begin = Instant::now();
        let elapsed = || begin.elapsed().saturating_sub(turns.waited());
        let mut in_turns = InTurns::new(batches, Some(&turns));
        let batch = Batch { time: Duration::ZERO, fewest: rounds, most: rounds };
        in_turns.run(batch, &elapsed, &mut table).unwrap();
        let cpu = turns.cpu;
        drop(turns);
        (partner.join().unwrap(), cpu, table.rounds())
    }

    #[test]
    fn a_turn_is_given_back_before_each_part_of_a_batch() {
        let (all, cpu, rounds) = said(10, 100);
        assert_eq!((all[0], cpu, rounds), (START, Some(3), 10));
        assert!(all[1..].iter().all(|said| *said == OVER) && all.len() == 10, "{all:?}");
    }

    #[test]
    fn a_partner_that_goes_away_does_not_end_the_measurement() {
        assert_eq!(said(10, 3).2, 10);
    }

    #[test]
    fn there_are_no_turns_without_a_socket() {
        assert!(Turns::connect(Path::new("/nowhere/turns")).is_none());
    }
}
