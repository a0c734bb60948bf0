//! Running the rows: interleaved rounds, each with all rows in a fresh random order, at a dithered
//! phase of the clock. Doubtful readings are flagged; readings are never altered.

mod dither;
mod gap;
mod loops;
mod watch;

pub use dither::Dither;
pub use gap::Shortest;
pub use loops::Loops;
pub use watch::pauses;

use crate::limits::affordable;
use fastrand::Rng;
use hairspring_core::observations::{Flags, Pauses};
use hairspring_host::chains::RowFn;
use hairspring_host::clock::{Clock, CounterWatch, CountsWhen, ReadFn, Width};
use hairspring_host::interference::{Switches, voluntary_switches};
use hairspring_host::thread::current_cpu;
use hairspring_host::thread::floating::{denormals, forget_denormals};
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

/// A set of rows that can be run.
pub trait Rig {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Runs a row and returns its reading in ticks.
    fn run(&mut self, row: usize) -> u64;
    /// Whether a row failed: its reading and all later ones are invalid.
    fn has_failed(&self) -> bool {
        false
    }
    /// Times that a row runs before it is measured; see [`crate::limits::runs_before`].
    fn runs_before(&self, _row: usize) -> u32 {
        1
    }
    /// The rounds that follow belong to the placement of this number: what a row can move by
    /// itself, such as its data, it moves now.
    fn place(&mut self, _placement: u32) {}
}

/// Functions that read the clock themselves.
#[derive(Debug, Clone)]
pub struct Functions {
    /// The clock that they read.
    pub now: ReadFn,
    /// One function for each row.
    pub rows: Vec<RowFn>,
}

impl Rig for Functions {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn run(&mut self, row: usize) -> u64 {
        (self.rows[row])(self.now)
    }
}

/// One raw reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Raw {
    /// Ticks between the two clock reads.
    pub ticks: u64,
    /// Flags of the reading.
    pub flags: Flags,
    /// Its guard in ticks: see [`hairspring_core::observations::Reading::guard`].
    pub guard: Option<NonZeroU32>,
}

impl Raw {
    /// A reading without a guard.
    pub fn new(ticks: u64, flags: Flags) -> Raw {
        Raw { ticks, flags, guard: None }
    }

    /// The ticks as stored in a table: negative if a 64-bit counter went backwards.
    pub fn signed(&self) -> f64 {
        self.ticks as i64 as f64
    }
}

/// A row is run as a warm-up before it is measured, unless it took longer than this many ticks.
const MOST_WARM_TICKS: u64 = 3_000_000;
/// A row that took longer than this many ticks is run once: what is decoded is a small part of its
/// time.
const MOST_HOT_TICKS: u64 = 30_000;
/// Involuntary switches are counted per row for rows longer than this many ticks, and per round for
/// shorter ones.
const SINGLE_WATCH_TICKS: u64 = 60_000;

/// Runs rounds over the rows of a rig.
#[derive(Debug)]
pub struct Rounds {
    order: Vec<usize>,
    shortest: Vec<Shortest>,
    /// Shortest run of each row in a warm-up, with what precedes its first reading.
    costs: Vec<Duration>,
    random: Rng,
    dither: Dither,
    switches: Switches,
    width: Width,
    /// Whether every CPU has its own clock.
    per_cpu: bool,
    /// Sees whether something else took a counter that programs share with perf.
    counter: Option<CounterWatch>,
    /// A counter of the thread, which reads 0 while something else has it.
    of_thread: Option<ReadFn>,
    guard: Option<ReadFn>,
    /// Quantum of the clock in ticks.
    quantum: u64,
    /// Pauses of the CPU that were seen since they were taken.
    pauses: Pauses,
}

impl Rounds {
    /// Rounds over a number of rows, with a clock of this quantum in ticks. The same seed gives the
    /// same orders.
    pub fn new(rows: usize, seed: u64, dither: Dither, quantum: u64) -> Rounds {
        let random = Rng::with_seed(seed);
        Rounds {
            order: (0..rows).collect(),
            shortest: vec![Shortest::new(quantum); rows],
            costs: vec![Duration::MAX; rows],
            random,
            dither,
            switches: Switches::start(),
            width: Width::FULL,
            per_cpu: false,
            counter: None,
            of_thread: None,
            guard: None,
            quantum,
            pauses: Pauses::default(),
        }
    }

    /// Sets the clock that the rows read. They subtract in 64 bits, and its width corrects the
    /// difference if the counter wrapped: a row must take less than half of the counter's period.
    /// If every CPU has its own clock, a reading that begins and ends on different CPUs is flagged,
    /// and so are the readings of a round in which something else, such as perf, took the counter
    /// from its module or from the thread.
    #[must_use]
    pub fn with_clock(mut self, clock: &Clock) -> Rounds {
        self.width = clock.width;
        self.per_cpu = clock.counts == CountsWhen::WhileCoreRuns;
        self.counter = self.per_cpu.then(CounterWatch::start).flatten();
        self.of_thread = (clock.counts == CountsWhen::WhileThreadRuns).then_some(clock.read);
        self
    }

    /// Takes a guard with every short reading, by this clock.
    #[must_use]
    pub fn with_guards(mut self, now: ReadFn) -> Rounds {
        self.guard = Some(now);
        self
    }

    /// Begins a batch: ignores switches of the thread since the last round.
    pub(crate) fn resume(&mut self) {
        self.switches.since_last();
        self.is_counter_lost();
    }

    /// Watches for pauses of the CPU for a time, if there is a clock for guards.
    pub fn watch(&mut self, time: Duration, elapsed: &dyn Fn() -> Duration) {
        let seen_pauses =
            self.guard.map(|now| watch::pauses(now, self.width, self.quantum, time, elapsed));
        self.pauses.add(seen_pauses.unwrap_or_default());
    }

    /// The pauses that were seen since the last call.
    pub fn take_pauses(&mut self) -> Pauses {
        std::mem::take(&mut self.pauses)
    }

    /// Whether something else used the counter since the last call.
    fn is_counter_lost(&mut self) -> bool {
        self.counter.as_mut().is_some_and(|counter| !counter.is_intact())
            || self.of_thread.is_some_and(|read| read() == 0)
    }

    /// Runs every row once, in random order, and returns the readings in the order of the rows.
    pub fn round(&mut self, rig: &mut impl Rig) -> Vec<Raw> {
        self.random.shuffle(&mut self.order);
        let mut readings = vec![Raw::new(0, Flags::NONE); self.order.len()];
        let mut watched_singly = false;
        for at in 0..self.order.len() {
            let row = self.order[at];
            let long = self.warm(rig, row) > SINGLE_WATCH_TICKS;
            readings[row] = self.reading(rig, row, long);
            watched_singly |= long;
        }
        // A switch in a round of short rows also disturbs the rows after it.
        let is_switched = !watched_singly && self.switches.since_last() > 0;
        if self.is_counter_lost() || is_switched {
            readings
                .iter_mut()
                .for_each(|reading| reading.flags = reading.flags.with(Flags::SWITCHED));
        }
        readings
    }

    /// Runs a row before it is measured, and returns about how many ticks it takes.
    fn warm(&mut self, rig: &mut impl Rig, row: usize) -> u64 {
        let known_ticks = self.shortest[row].ticks();
        let runs = match known_ticks {
            Some(MOST_WARM_TICKS..) => 0,
            Some(MOST_HOT_TICKS..) => 1,
            _ => rig.runs_before(row),
        };
        let (mut shortest, mut run) = (None, 0);
        while run < runs.min(affordable(self.costs[row])) {
            let begin = Instant::now();
            let ticks = self.width.signed(0, rig.run(row));
            self.costs[row] = self.costs[row].min(begin.elapsed());
            shortest = Some(shortest.map_or(ticks, |shortest: i64| shortest.min(ticks)));
            run += 1;
        }
        known_ticks
            .unwrap_or_else(|| shortest.and_then(|ticks| u64::try_from(ticks).ok()).unwrap_or(0))
    }

    fn reading(&mut self, rig: &mut impl Rig, row: usize, watch: bool) -> Raw {
        let mut waits = 0;
        if watch {
            self.switches.since_last();
            waits = voluntary_switches();
        }
        self.dither.wait(self.random.u32(..));
        let cpu = self.per_cpu.then(current_cpu);
        forget_denormals();
        let (ticks, guard) = match self.guard.filter(|_| !watch) {
            Some(now) => guarded(now, self.width, || rig.run(row)),
            None => (rig.run(row), None),
        };
        let met = met();
        let ticks = self.width.wrapped(ticks);
        let moved = cpu.is_some_and(|cpu| cpu != current_cpu());
        let switched = if moved || watch && self.switches.since_last() > 0 {
            Flags::SWITCHED
        } else {
            Flags::NONE
        };
        let waited =
            if watch && voluntary_switches() > waits { Flags::WAITED } else { Flags::NONE };
        Raw {
            ticks,
            flags: switched
                .with(waited)
                .with(met)
                .with(self.shortest[row].check(ticks, self.width)),
            guard,
        }
    }
}

/// The denormals that the row before met.
fn met() -> Flags {
    let met = denormals();
    let operands = if met.operands { Flags::DENORMAL_OPERAND } else { Flags::NONE };
    if met.results { operands.with(Flags::DENORMAL_RESULT) } else { operands }
}

/// Runs a row between two pairs of clock reads, and returns its reading with the time of both
/// pairs.
fn guarded(now: ReadFn, width: Width, run: impl FnOnce() -> u64) -> (u64, Option<NonZeroU32>) {
    let (first, second) = (now(), now());
    let ticks = run();
    let (third, fourth) = (now(), now());
    let ticks_of_both = width
        .wrapped(second.wrapping_sub(first))
        .saturating_add(width.wrapped(fourth.wrapping_sub(third)));
    (ticks, u32::try_from(ticks_of_both).ok().and_then(NonZeroU32::new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::fake;
    use hairspring_host::thread::{allowed_cpus, pin};

    /// Takes ten ticks a row number; row 0 goes backwards.
    struct Steady(Vec<usize>);

    impl Rig for Steady {
        fn rows(&self) -> usize {
            3
        }

        fn run(&mut self, row: usize) -> u64 {
            self.0.push(row);
            (row as u64 * 10).wrapping_sub(u64::from(row == 0))
        }
    }

    #[test]
    fn counter_that_wraps_within_a_row_does_not_go_backwards() {
        /// Begins just before a counter of 16 bits wraps, and ends just behind.
        struct Wrapping;
        impl Rig for Wrapping {
            fn rows(&self) -> usize {
                1
            }
            fn run(&mut self, _: usize) -> u64 {
                0x10u64.wrapping_sub(0xfff0)
            }
        }
        let readings =
            Rounds::new(1, 7, Dither::none(), 1).with_clock(&fake::clock(16)).round(&mut Wrapping);
        assert!(
            readings[0].ticks == 0x20 && !readings[0].flags.contains(Flags::BACKWARD),
            "{readings:?}"
        );
    }

    #[test]
    fn the_first_reading_of_code_that_waits_says_so() {
        /// Waits for a millisecond, and takes a long time.
        struct Waiting;
        impl Rig for Waiting {
            fn rows(&self) -> usize {
                1
            }
            fn run(&mut self, _: usize) -> u64 {
                std::thread::sleep(Duration::from_millis(1));
                10 * SINGLE_WATCH_TICKS
            }
        }
        let readings = Rounds::new(1, 7, Dither::none(), 1).round(&mut Waiting);
        assert!(readings[0].flags.contains(Flags::WAITED), "{readings:?}");
    }

    #[test]
    fn reading_on_two_cpus_is_flagged_if_each_has_its_own_clock() {
        /// Goes to the other CPU in every run.
        struct Moving([usize; 2]);
        impl Rig for Moving {
            fn rows(&self) -> usize {
                1
            }
            fn run(&mut self, _: usize) -> u64 {
                self.0.reverse();
                pin(self.0[0]).unwrap();
                100
            }
        }
        let (Some(first), Some(last)) =
            (allowed_cpus().first().copied(), allowed_cpus().last().copied())
        else {
            return;
        };
        // A thread of its own, because it is bound.
        let flags = |counts| {
            let clock = Clock { counts, ..fake::clock(64) };
            std::thread::spawn(move || {
                let (mut rounds, mut rig) = (
                    Rounds::new(1, 7, Dither::none(), 1).with_clock(&clock),
                    Moving([first, last]),
                );
                rounds.warm(&mut rig, 0);
                rounds.reading(&mut rig, 0, false).flags
            })
        };
        let of_core = flags(CountsWhen::WhileCoreRuns).join().unwrap();
        assert_eq!(of_core.contains(Flags::SWITCHED), first != last);
        assert!(!flags(CountsWhen::Always).join().unwrap().contains(Flags::SWITCHED));
    }

    #[test]
    fn readings_by_a_counter_of_the_thread_that_something_else_has_are_flagged() {
        extern "C" fn taken() -> u64 {
            0
        }
        let flagged = |clock: Clock| {
            let mut rounds = Rounds::new(3, 7, Dither::none(), 1)
                .with_clock(&Clock { counts: CountsWhen::WhileThreadRuns, ..clock });
            rounds.resume();
            rounds
                .round(&mut Steady(Vec::new()))
                .iter()
                .filter(|reading| reading.flags.contains(Flags::SWITCHED))
                .count()
        };
        assert_eq!(flagged(Clock::new("taken", "", taken)), 3);
        fake::set(fake::Settings { start: 1, ..fake::Settings::default() });
        assert!((0..10).any(|_| flagged(fake::clock(64)) == 0), "other flags come from the system");
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn readings_tell_which_rows_met_denormals() {
        /// Multiplies: row 0 ordinary numbers, row 1 a denormal, row 2 numbers whose product is too
        /// small.
        struct Products;
        impl Rig for Products {
            fn rows(&self) -> usize {
                3
            }
            fn run(&mut self, row: usize) -> u64 {
                let (a, b) = [(1.5, 1.1), (5e-324, 4.0), (1e-200, 1e-200)][row];
                std::hint::black_box(std::hint::black_box(a) * std::hint::black_box(b));
                100
            }
        }
        let mut rounds =
            Rounds::new(3, 7, Dither::none(), 1).with_guards(hairspring_host::clock::fake::read);
        for _ in 0..10 {
            let flags: Vec<Flags> = rounds
                .round(&mut Products)
                .iter()
                .map(|raw| raw.flags.without(Flags::SWITCHED))
                .collect();
            assert_eq!(flags, [Flags::NONE, Flags::DENORMAL_OPERAND, Flags::DENORMAL_RESULT]);
        }
    }

    #[test]
    fn rows_whose_data_take_long_to_make_are_run_less_often() {
        /// Takes a few ticks between its readings, and half a millisecond before.
        struct Prepared(u32);
        impl Rig for Prepared {
            fn rows(&self) -> usize {
                1
            }
            fn run(&mut self, _: usize) -> u64 {
                self.0 += 1;
                std::thread::sleep(Duration::from_micros(500));
                10
            }
            fn runs_before(&self, _: usize) -> u32 {
                40
            }
        }
        let mut rig = Prepared(0);
        Rounds::new(1, 7, Dither::none(), 1).round(&mut rig);
        assert_eq!(rig.0, 2);
    }

    #[test]
    fn readings_meet_slow_evaluations_as_often_as_warm_ups_do() {
        /// Every seventh run takes long.
        struct SlowAtTimes(u32);
        impl Rig for SlowAtTimes {
            fn rows(&self) -> usize {
                1
            }
            fn run(&mut self, _: usize) -> u64 {
                self.0 += 1;
                if !self.0.is_multiple_of(7) {
                    return 10;
                }
                let begin = Instant::now();
                while begin.elapsed() < crate::limits::MOST_WARM_TIME / 3 {}
                1_000
            }
            fn runs_before(&self, _: usize) -> u32 {
                40
            }
        }
        let (mut rounds, mut rig) = (Rounds::new(1, 7, Dither::none(), 1), SlowAtTimes(0));
        let slow = (0..210).filter(|_| rounds.round(&mut rig)[0].ticks == 1_000).count();
        // The first warm-up may be short, if something else takes the CPU meanwhile.
        assert!((28..=32).contains(&slow), "{slow} of 210");
    }

    #[test]
    fn every_row_is_warmed_up_and_the_order_changes() {
        let mut rig = Steady(Vec::new());
        let mut rounds = Rounds::new(3, 7, Dither::none(), 1);
        for _ in 0..40 {
            let readings = rounds.round(&mut rig);
            assert_eq!(readings[2].ticks, 20);
            assert!(readings[0].flags.contains(Flags::BACKWARD));
        }
        assert_eq!(rig.0.len(), 240);
        let firsts: std::collections::HashSet<usize> =
            rig.0.chunks(6).map(|round| round[0]).collect();
        assert_eq!(firsts.len(), 3);
    }
}
