//! The child process: limits itself, loads the compiled rows, and runs them on command. If the code
//! under test misbehaves, it never returns a wrong number: it reports what happened, or it dies and
//! the parent reports that.

mod crash;
#[cfg(target_os = "linux")]
mod filter;
mod library;
mod limits;

pub use crash::NO_ADDRESS;
pub(crate) use limits::as_limit;
pub use limits::{MOST_MEMORY_BYTES, memory_of};

use crate::host::limits::Output;
use crate::protocol::{Command, Ended, Load, Ready, Received, Reply, receive, send};
use hairspring_host::clock::{Clock, RateMeter, Reading, default_clock, granularity};
use hairspring_host::interference::StealMeter;
use hairspring_host::other_threads::OtherThreadsMeter;
use hairspring_host::thread::lock_memory;
use hairspring_measure::batches::run_batch;
use hairspring_measure::companions::rows_of;
use hairspring_measure::limits::Batch;
use hairspring_measure::rounds::{Dither, Functions, Raw, Rig, Rounds};
use hairspring_measure::ruler::find_ruler;
use hairspring_measure::seating::{Home, TimedThread, counts_alike};
use std::mem::ManuallyDrop;
use std::time::Instant;

/// The hidden first argument that runs the command as a host.
pub const ARGUMENT: &str = "__host";

/// What the host is doing, for its crash report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Phase {
    /// The instrument's own code.
    Instrument = 0,
    /// Loading the library, which runs constructors.
    Loading = 1,
    /// The setup.
    Setup = 2,
    /// A row.
    Row = 3,
}

/// Exit status of a host whose pipes are gone.
pub const PIPES_GONE: i32 = 74;

/// Serves one parent over standard input and output; returns the exit status.
pub fn main() -> i32 {
    let Ok((commands, replies)) = limits::take_pipes() else { return PIPES_GONE };
    // Never closed here: the code may have closed them, and closing a descriptor twice aborts the
    // process.
    let (mut commands, mut replies) = (ManuallyDrop::new(commands), ManuallyDrop::new(replies));
    let served = serve(&mut commands, &mut replies);
    let refused = served.map_or_else(
        |message| send(&mut *replies, &Reply::Refused(message)).map(|()| 1),
        |()| Ok(0),
    );
    refused.unwrap_or(PIPES_GONE)
}

fn serve(commands: &mut std::fs::File, replies: &mut std::fs::File) -> Result<(), String> {
    let Received::Message(Command::Load(load)) = receive(commands).map_err(|e| e.to_string())?
    else {
        return Ok(());
    };
    limits::limit(load.most_seconds)?;
    if load.is_pilot {
        limits::refuse_calls()?;
    }
    crash::watch(replies);
    crash::end_at_fork();
    let mut bench = ManuallyDrop::new(Bench::load(&load, replies)?);
    send(replies, &Reply::Ready(bench.ready.clone())).map_err(|e| e.to_string())?;
    loop {
        match receive(commands).map_err(|e| e.to_string())? {
            Received::Message(Command::Run { rows, batch }) => {
                let readings = bench.run(&rows, batch);
                bench.thread.has_changed();
                let pauses = bench.rounds.take_pauses();
                send(replies, &Reply::Batch(readings, bench.thread.seated(), pauses))
                    .map_err(|e| e.to_string())?;
            }
            Received::Message(Command::End) => {
                return send(replies, &Reply::Ended(bench.ended())).map_err(|e| e.to_string());
            }
            _ => return Ok(()),
        }
    }
}

/// Where the code runs.
fn home_of(load: &Load) -> Result<Home, String> {
    let home =
        Home::find(load.seating, load.cpu, load.seating.clock()).map_err(|e| e.to_string())?;
    Ok(Home { is_asked: load.is_asked, ..home })
}

/// Runs some rows once.
fn run_first(rig: &mut Watched, rows: &[u32]) -> Result<(), String> {
    rows.iter().for_each(|row| {
        rig.run_row(*row as usize);
    });
    Ok(())
}

/// The loaded rows with their clock.
struct Bench {
    ready: Ready,
    thread: TimedThread,
    rig: Watched,
    output: Output,
    meter: RateMeter,
    steal: Option<StealMeter>,
    seed: u64,
    clock: Clock,
    dither: Dither,
    rounds: Rounds,
    _library: libloading::Library,
}

impl Bench {
    fn load(load: &Load, replies: &mut std::fs::File) -> Result<Bench, String> {
        let output = Output::new();
        if load.multithreaded {
            std::thread::spawn(|| ()).join().map_err(|_| "a thread could not be started")?;
        }
        let mut clock =
            load.seating.named_clock(load.clock.as_deref()).map_err(|e| e.to_string())?;
        let home = home_of(load)?;
        let seat = home.seat().map_err(|e| e.to_string())?;
        // On the CPU that the code runs on, and before its memory is locked. Without it, this
        // placement is less independent of the others.
        #[cfg(target_os = "linux")]
        let _ = hairspring_host::free_pages::mix();
        let memory_locked = lock_memory();
        let mut reading = granularity(&clock);
        // The reference chain is proved on the best clock available, regardless of the clock of the
        // measurement.
        let ruler = load.is_pilot.then(|| find_ruler(load.seating.clock()));
        drop(seat);
        send(replies, &Reply::Prepared).map_err(|e| e.to_string())?;
        library::move_heap(load.offset());
        let (cpu, setup) = (home.cpu, OtherThreadsMeter::start());
        let (library, mut rig) = loaded(load, &clock)?;
        let mut thread = TimedThread::begin(home, &setup);
        let longest = thread.first_runs(|| run_first(&mut rig, &load.first))?;
        thread.sit().map_err(|e| e.to_string())?;
        if load.clock.is_none() && (thread.seated().cpu.is_none() || clock.wraps_within(longest)) {
            (clock, reading) = rig.steady_clock();
        }
        if thread.seated().cpu.is_none() {
            counts_alike(&clock).map_err(|e| e.to_string())?;
        }
        let dither = Dither::over(&clock, reading.quantum);
        Ok(Bench {
            steal: thread.seated().cpu.map(StealMeter::start),
            ready: Ready {
                cpu,
                seated: thread.seated(),
                memory_locked,
                clock: (clock.name.into(), clock.description.into()),
                quantum: reading.quantum,
                read_cost: reading.back_to_back_mean,
                ruler,
            },
            thread,
            rig,
            output,
            meter: RateMeter::start(clock),
            seed: seed_of(load),
            clock,
            dither,
            rounds: Rounds::new(0, seed_of(load), dither, reading.quantum),
            _library: library,
        })
    }

    /// Runs rounds. If the rows are the same as before, their known properties are kept.
    fn run(&mut self, rows: &[u32], batch: Batch) -> Vec<Raw> {
        let chosen: Vec<usize> = rows
            .iter()
            .map(|row| *row as usize)
            .filter(|row| *row < self.rig.functions.rows.len())
            .collect();
        if chosen != self.rig.chosen {
            self.seed = self.seed.wrapping_add(1);
            self.rounds = Rounds::new(chosen.len(), self.seed, self.dither, self.ready.quantum)
                .with_clock(&self.clock)
                .with_guards(self.clock.read);
            self.rig.chosen = chosen;
        }
        let (begin, mut readings) = (Instant::now(), Vec::new());
        let ran = run_batch(&mut self.rounds, &mut self.rig, batch, &|| begin.elapsed(), |round| {
            readings.extend_from_slice(round);
            self.output.trim();
        });
        // A row that fails ends the process; the crash report names it.
        ran.unwrap_or_default();
        readings
    }

    fn ended(&self) -> Ended {
        library::flush_output();
        Ended {
            rate: self.meter.rate(),
            stolen_ms: self.steal.as_ref().and_then(StealMeter::stolen_ms),
            memory_bytes: crash::memory_bytes(),
            dropped_bytes: self.output.dropped,
        }
    }
}

/// The rows of a library and of the chains, behind the setup.
fn loaded(load: &Load, clock: &Clock) -> Result<(libloading::Library, Watched), String> {
    let (library, mut rows) = library::load(load.library(), load.rows)?;
    rows.extend(rows_of(load.chains.iter().cloned()));
    library::setup(&library)?;
    let functions = Functions { now: clock.read, rows };
    Ok((
        library,
        Watched {
            functions,
            chosen: Vec::new(),
            own_rows: load.rows as usize,
            runs_before: load.runs_before,
        },
    ))
}

/// Every placement has another sequence of orders.
fn seed_of(load: &Load) -> u64 {
    1 + u64::from(load.placement)
}

/// Rows that record which of them is running.
struct Watched {
    functions: Functions,
    chosen: Vec<usize>,
    /// Rows of the library, before those of the chains.
    own_rows: usize,
    /// Times that each of these runs before it is measured.
    runs_before: u32,
}

impl Watched {
    /// Reads the best clock for everything from now on.
    fn steady_clock(&mut self) -> (Clock, Reading) {
        let clock = default_clock();
        self.functions.now = clock.read;
        (clock, granularity(&clock))
    }

    fn run_row(&mut self, row: usize) -> u64 {
        crash::enter(Phase::Row, row as u64);
        let ticks = self.functions.run(row);
        crash::enter(Phase::Instrument, 0);
        ticks
    }
}

impl Rig for Watched {
    fn rows(&self) -> usize {
        self.chosen.len()
    }

    fn run(&mut self, row: usize) -> u64 {
        self.run_row(self.chosen[row])
    }

    fn runs_before(&self, row: usize) -> u32 {
        if self.chosen[row] < self.own_rows { self.runs_before } else { 1 }
    }
}

/// Name of a system call that affects other processes, by the number in the crash report of a host
/// that made it.
pub fn signals_others(number: u64) -> Option<&'static str> {
    #[cfg(target_os = "linux")]
    return filter::REACHING_OUT
        .iter()
        .find(|(call, _)| *call as u64 == number)
        .map(|(_, name)| *name);
    #[cfg(not(target_os = "linux"))]
    return None.filter(|_: &&str| number > 0);
}
