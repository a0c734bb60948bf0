//! The measuring side: windows between two reads of the clock, and windows that a background
//! counter measures.

use super::background::Background;
use super::design::{Pilot, Turn, Window};
use super::line::{Line, place};
use super::lost::{Period, timed};
use super::mechanism::Mechanism;
use super::partner::{Order, Partner, Wanted};
use super::side::Work;
use crate::timer::{least_slack, now_ns, sleep_until};
use hairspring_core::observations::Flags;
use hairspring_host::chains::RowFn;
use hairspring_host::clock::{Clock, ReadFn};
use hairspring_host::interference::all_switches;
use hairspring_measure::Table;
use hairspring_measure::batches::{Batches, run_batch};
use hairspring_measure::limits::Batch;
use hairspring_measure::rounds::{Dither, Raw, Rig, Rounds};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Both sides of a line, seen from the one that measures.
#[derive(Debug)]
pub struct Pair {
    wanted_pair: Wanted,
    now: ReadFn,
    line: Line,
    partner: Partner,
    work: Work,
    failure: Option<String>,
}

/// What a side has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counted {
    switches: u64,
    waits: u64,
}

impl Counted {
    fn since(self, before: Counted) -> Counted {
        Counted {
            switches: self.switches.wrapping_sub(before.switches),
            waits: self.waits.wrapping_sub(before.waits),
        }
    }
}

impl Pair {
    /// Starts the partner. The calling thread must be bound to the CPU.
    ///
    /// # Errors
    /// What could not be started, in words.
    pub fn start(wanted_pair: &Wanted, now: ReadFn) -> Result<Pair, String> {
        let (partner, line) = Partner::start(wanted_pair)?;
        Ok(Pair {
            wanted_pair: wanted_pair.clone(),
            now,
            line,
            partner,
            work: Work::new(wanted_pair.bytes),
            failure: None,
        })
    }

    /// Takes a fresh partner, and fresh memory for both working sets.
    ///
    /// # Errors
    /// What could not be started, in words.
    pub fn renew(&mut self) -> Result<(), String> {
        let (partner, line) = Partner::start(&self.wanted_pair)?;
        (self.partner, self.line, self.work) = (partner, line, Work::new(self.wanted_pair.bytes));
        Ok(())
    }

    /// Why no more windows can be run.
    pub fn failure(&self) -> String {
        self.failure.clone().unwrap_or_else(|| "a window failed".into())
    }

    fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Runs a window; the reading, and whether exactly its switches happened. Every failure is
    /// kept.
    fn window(&mut self, window: Window) -> (u64, bool) {
        let ran = match window {
            Window::Switches { pairs, turn } => self.switched(pairs, turn),
            Window::Calls { times } => self.undisturbed(|pair| pair.calls(times)),
            Window::Turns { times, turn } => self.undisturbed(|pair| Ok(pair.turns(times, turn))),
        };
        self.kept(ran)
    }

    /// The reading of a window; a failure is kept, and all later windows are invalid.
    fn kept<T: Default>(&mut self, ran: std::io::Result<(T, bool)>) -> (T, bool) {
        ran.unwrap_or_else(|error| {
            let gone = self.why_gone(&error).map(|end| format!("{end} during the measurement"));
            self.failure.get_or_insert_with(|| {
                gone.unwrap_or_else(|| format!("a system call failed: {error}"))
            });
            (T::default(), false)
        })
    }

    /// How the partner ended, if it did. The pipe of a partner that has just ended breaks before
    /// the system reports the end.
    fn why_gone(&self, error: &std::io::Error) -> Option<String> {
        let reported = Instant::now() + REPORT_TIME;
        loop {
            let gone = self.partner.why_gone();
            if gone.is_some()
                || error.kind() != std::io::ErrorKind::BrokenPipe
                || Instant::now() > reported
            {
                return gone;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A window without switches. The first repetition is not timed, so that the window begins as
    /// it goes on.
    fn undisturbed(
        &mut self,
        run: impl FnOnce(&mut Pair) -> std::io::Result<u64>,
    ) -> std::io::Result<(u64, bool)> {
        let before = all_switches();
        let ticks = run(self)?;
        Ok((ticks, all_switches() == before))
    }

    fn calls(&mut self, times: u32) -> std::io::Result<u64> {
        self.line.alone()?;
        let start = (self.now)();
        for _ in 0..times {
            self.line.alone()?;
        }
        Ok((self.now)().wrapping_sub(start))
    }

    fn turns(&mut self, times: u32, turn: Turn) -> u64 {
        self.work.turn(turn);
        let start = (self.now)();
        for _ in 0..times {
            self.work.turn(turn);
        }
        (self.now)().wrapping_sub(start)
    }

    fn switched(&mut self, pairs: u32, turn: Turn) -> std::io::Result<(u64, bool)> {
        self.awake(|pair| {
            pair.order(Order::Turn(turn));
            pair.there_and_back(turn)?;
            let (before, own_counts) = (pair.reported()?, pair.own_counts());
            pair.order(Order::Turn(turn));
            let start = (pair.now)();
            for _ in 0..pairs {
                pair.there_and_back(turn)?;
            }
            let ticks = (pair.now)().wrapping_sub(start);
            Ok((ticks, pair.is_exact(pairs, own_counts, before)?))
        })
    }

    /// Runs something for which the partner must be awake.
    fn awake<T>(
        &mut self,
        run: impl FnOnce(&mut Pair) -> std::io::Result<T>,
    ) -> std::io::Result<T> {
        self.line.unpark_partner()?;
        let ran = run(self);
        self.line.park_partner()?;
        ran
    }

    /// Whether each side was switched out exactly once for each pair. The partner has one more
    /// switch, for its report.
    fn is_exact(
        &mut self,
        pairs: u32,
        own_counts: Counted,
        partner_counts: Counted,
    ) -> std::io::Result<bool> {
        let own_counts = self.own_counts().since(own_counts);
        let partner_counts = self.reported()?.since(partner_counts);
        let pairs = u64::from(pairs);
        Ok(own_counts == Counted { switches: pairs, waits: pairs }
            && partner_counts == Counted { switches: pairs + 1, waits: pairs + 1 })
    }

    /// Whether the partner sleeps where there is no window.
    fn sleeps(&self) -> bool {
        self.wanted_pair.mechanism == Mechanism::Yield
    }

    fn order(&self, order: Order) {
        self.line.numbers().counts[place::ORDER].0.store(order.encoded(), Ordering::SeqCst);
    }

    /// Gives the partner its turn, waits for this side's, and does it.
    #[inline]
    fn there_and_back(&mut self, turn: Turn) -> std::io::Result<()> {
        self.line.pass()?;
        self.line.wait()?;
        if self.line.numbers().words[place::GONE].0.load(Ordering::Relaxed) != 0 {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        self.work.turn(turn);
        Ok(())
    }

    fn own_counts(&self) -> Counted {
        Counted { switches: all_switches(), waits: self.line.waits() }
    }

    /// What the partner has counted.
    fn reported(&mut self) -> std::io::Result<Counted> {
        self.order(Order::Report);
        self.there_and_back(Turn::default())?;
        let counts = &self.line.numbers().counts;
        let of = |place: usize| counts[place].0.load(Ordering::SeqCst);
        Ok(Counted { switches: of(place::SWITCHES), waits: of(place::WAITS) })
    }

    /// Times of all parts in nanoseconds, each the shortest of some windows; `hz` is the rate of
    /// the clock.
    ///
    /// # Errors
    /// Why a window failed.
    pub fn pilot(&mut self, hz: f64) -> Result<Pilot, String> {
        const TRIES: u32 = 7;
        const PAIRS: u32 = 8;
        let has_set = self.wanted_pair.bytes > 0;
        let mut each = |window: Window, times: u32| -> Result<f64, String> {
            let shortest = (0..TRIES).map(|_| self.window(window).0).min().unwrap_or(0);
            if self.has_failed() {
                Err(self.failure())
            } else {
                Ok((shortest as f64 / hz * 1e9 / f64::from(times)).max(1.0))
            }
        };
        let units = Turn { units: PAIRS, ..Turn::default() };
        let touch = Turn { passes: 1, ..Turn::default() };
        let pair_ns = each(Window::Switches { pairs: PAIRS, turn: Turn::default() }, PAIRS)?;
        let calls_ns = each(Window::Calls { times: PAIRS }, PAIRS)?;
        let unit_ns = each(Window::Turns { times: 1, turn: units }, PAIRS)?;
        let (mut touch_ns, mut flush_ns) = (None, None);
        if has_set {
            touch_ns = Some(each(Window::Turns { times: 1, turn: touch }, 1)?);
            flush_ns =
                Some(each(Window::Turns { times: 1, turn: Turn { flush: true, ..touch } }, 1)?);
        }
        Ok(Pilot { pair_ns, calls_ns, unit_ns, touch_ns, flush_ns })
    }
}

/// A row of a round.
#[derive(Debug, Clone, Copy)]
pub enum Row {
    /// A window of the pair.
    Window(Window),
    /// A chain of known length.
    Chain(RowFn),
}

/// The rows, and which readings of the round had other switches than they should.
#[derive(Debug)]
struct Windows {
    pair: Pair,
    rows: Vec<Row>,
    inexact: Rc<RefCell<Vec<bool>>>,
}

impl Rig for Windows {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn run(&mut self, row: usize) -> u64 {
        if self.pair.has_failed() {
            return 0;
        }
        match self.rows[row] {
            Row::Chain(run) => {
                let before = all_switches();
                let ticks = run(self.pair.now);
                self.inexact.borrow_mut()[row] = all_switches() != before;
                ticks
            }
            Row::Window(window) => {
                let (ticks, exact) = self.pair.window(window);
                self.inexact.borrow_mut()[row] = !exact;
                ticks
            }
        }
    }

    fn has_failed(&self) -> bool {
        self.pair.has_failed()
    }
}

/// Time within which the end of a partner is reported after its pipe broke.
const REPORT_TIME: Duration = Duration::from_millis(500);
/// Shortest time for the rounds of a partner: starting one takes some milliseconds.
const SHORTEST_PLACEMENT: Duration = Duration::from_millis(60);

/// Rounds over windows; each placement has a partner of its own.
#[derive(Debug)]
pub struct WindowBatches {
    rig: Windows,
    rounds: Rounds,
    inexact: Rc<RefCell<Vec<bool>>>,
}

impl WindowBatches {
    /// Rounds with a clock of this quantum in ticks.
    pub fn new(pair: Pair, rows: Vec<Row>, clock: &Clock, quantum: u64) -> WindowBatches {
        let inexact = Rc::new(RefCell::new(vec![false; rows.len()]));
        let rounds = Rounds::new(rows.len(), 1, Dither::over(clock, quantum), quantum)
            .with_clock(clock)
            .with_guards(clock.read);
        WindowBatches { rig: Windows { pair, rows, inexact: Rc::clone(&inexact) }, rounds, inexact }
    }

    /// Both sides, when the rounds are done.
    pub fn into_pair(self) -> Pair {
        self.rig.pair
    }
}

impl Batches for WindowBatches {
    type Error = String;

    fn run(
        &mut self,
        batch: Batch,
        elapsed: &dyn Fn() -> Duration,
        table: &mut Table,
    ) -> Result<(), String> {
        let inexact = Rc::clone(&self.inexact);
        let ran = run_batch(&mut self.rounds, &mut self.rig, batch, elapsed, |round| {
            table.push(&flagged(round, &inexact.borrow()))
        });
        ran.map_err(|_| self.rig.pair.failure())
    }

    fn can_move(&self) -> bool {
        true
    }

    fn shortest_placement(&self) -> Duration {
        SHORTEST_PLACEMENT
    }

    fn move_rows(&mut self) -> Result<(), String> {
        self.rig.pair.renew()
    }
}

/// A round with its flags. The kernel counts some of the switches that are wanted as involuntary,
/// because a side that is woken may run at once, so only windows with other switches than they
/// should have are flagged.
fn flagged(round: &[Raw], inexact: &[bool]) -> Vec<Raw> {
    let flags = |raw: &Raw, inexact: bool| {
        let other_flags = raw.flags.without(Flags::SWITCHED);
        if inexact { other_flags.with(Flags::SWITCHED) } else { other_flags }
    };
    round
        .iter()
        .zip(inexact)
        .map(|(raw, inexact)| Raw { flags: flags(raw, *inexact), ..*raw })
        .collect()
}

/// Windows of the second method.
#[derive(Debug)]
pub struct Periods {
    pair: Pair,
    counter: Background,
    periods: Vec<Period>,
    random: Pcg64Mcg,
}

impl Periods {
    /// Starts the counter.
    ///
    /// # Errors
    /// Why it does not count.
    pub fn start(pair: Pair, periods: Vec<Period>) -> Result<Periods, String> {
        least_slack();
        let counter = Background::start(pair.wanted_pair.program.as_deref())?;
        Ok(Periods { pair, counter, periods, random: Pcg64Mcg::seed_from_u64(1) })
    }

    /// Runs rounds for some time: every window once, in random order. Adds the work of the counter
    /// to a table, and to another one the time of the switches by the clock, of the windows that
    /// have it. Readings of work are too small where something disturbed them, so the flags of long
    /// readings do not apply to them.
    ///
    /// # Errors
    /// Why a window failed.
    pub fn run(
        &mut self,
        batch: Batch,
        elapsed: &dyn Fn() -> Duration,
        table: &mut Table,
        clock: &mut Table,
    ) -> Result<(), String> {
        let is_timed: Vec<bool> =
            self.periods.iter().map(|period| timed(period, &self.periods).is_some()).collect();
        let mut order: Vec<usize> = (0..self.periods.len()).collect();
        let mut done = 0;
        while batch.goes_on(done, elapsed()) {
            order.shuffle(&mut self.random);
            let mut round = vec![(Raw::new(0, Flags::NONE), Raw::new(0, Flags::NONE)); order.len()];
            for at in &order {
                let ran = self.window(self.periods[*at]);
                let ((work, ns), exact) = self.pair.kept(ran);
                let flags = if exact { Flags::NONE } else { Flags::SWITCHED };
                round[*at] = (Raw::new(work, flags), Raw::new(ns, flags));
            }
            if let Some(end) = self.counter.why_gone() {
                return Err(format!("{end} during the measurement"));
            }
            if self.pair.has_failed() {
                return Err(self.pair.failure());
            }
            table.push(&round.iter().map(|(work, _)| *work).collect::<Vec<Raw>>());
            clock.push(
                &round
                    .iter()
                    .zip(&is_timed)
                    .filter(|(_, timed)| **timed)
                    .map(|((_, ns), _)| *ns)
                    .collect::<Vec<Raw>>(),
            );
            done += 1;
        }
        Ok(())
    }

    /// The work of the counter in a window, the time of the switches in nanoseconds, and whether
    /// nothing else ran.
    fn window(&mut self, period: Period) -> std::io::Result<((u64, u64), bool)> {
        /// Time in which the counter runs before a window.
        const BEFORE_NS: u64 = 100_000;
        /// This side takes the CPU from the counter when the window begins and when it ends.
        const INTERRUPTIONS: u64 = 2;
        if self.pair.has_failed() {
            return Ok(((0, 0), false));
        }
        let before = self.pair.awake(Pair::reported)?;
        let interrupted = self.counter.interruptions();
        self.pair.order(Order::Turn(Turn::default()));
        let due = now_ns() + BEFORE_NS;
        sleep_through(due);
        let work = self.counter.count();
        let (switched, ns) = self.pair.awake(|pair| {
            let (own_counts, start) = (pair.own_counts(), now_ns());
            for _ in 0..period.pairs {
                pair.there_and_back(Turn::default())?;
            }
            let ns = now_ns() - start;
            Ok((pair.own_counts().since(own_counts), ns))
        })?;
        sleep_through(due + period.ns);
        let work = self.counter.count().wrapping_sub(work);
        let other_interruptions = self
            .counter
            .interruptions()
            .zip(interrupted)
            .map(|(after, before)| after.wrapping_sub(before));
        let partner = self.pair.awake(Pair::reported)?.since(before);
        let pairs = u64::from(period.pairs);
        // A partner that sleeps between the windows has further switches.
        let partner_is_exact = self.pair.sleeps() || partner.switches == pairs + 1;
        let alone = other_interruptions.is_none_or(|others| others == INTERRUPTIONS);
        Ok((
            (work, ns),
            alone && partner_is_exact && switched == Counted { switches: pairs, waits: pairs },
        ))
    }
}

/// Sleeps until then; a signal does not end the sleep.
fn sleep_through(due_ns: u64) {
    while now_ns() < due_ns {
        sleep_until(due_ns);
    }
}

#[cfg(test)]
mod tests;
