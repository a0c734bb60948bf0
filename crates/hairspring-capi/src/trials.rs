//! A C program's own loops, timed step by step by the engine's harness. The harness gives the
//! number of trips to run, the program runs them between two reads of the clock, and the harness
//! ends the trials when there are enough.
//!
//! The clock's quantum and rate, the time of a read and the time of the loop itself do not change
//! from one loop to the next: they are measured once for the process and kept.

use crate::assessment::Estimate;
use crate::clocks::chosen;
use crate::sized::{Growing, input, output};
use crate::wall::{
    Answer, Refusal, Status, exclusive, free, hand_out, level, locked, shared, wall,
};
use hairspring_core::design::enough::{ACCURACY, WINDOWS_NS, resolution_window_ns};
use hairspring_core::design::loops::LoopRow;
use hairspring_core::estimate;
use hairspring_core::judge::upper_bound;
use hairspring_host::clock::{Clock, RateMeter, ReadFn, granularity};
use hairspring_measure::harness::{
    Bench, Harness, LoopOverhead, LoopWatch, Overheads, Settings, Trials, experiments_for,
};
use std::ffi::c_char;
use std::mem::offset_of;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Longest interval that may be requested, in microseconds: a quarter of an hour.
const MOST_WINDOW_US: f64 = 9e8;
/// Largest overhead that may be given, in microseconds.
const MOST_OVERHEAD_US: f64 = 1e6;
/// Most experiments.
const MOST_EXPERIMENTS: u32 = 10_001;
/// Time over which the rate of a clock is measured well enough to size loops; it is measured again
/// for the result.
const RATE_TIME: Duration = Duration::from_millis(5);
/// Interval by which the time of a read is measured.
const READ_WINDOW_NS: f64 = 1e6;
/// Level of the intervals of overheads.
const LEVEL: f64 = 0.95;
/// Shortest period of a counter that wraps, in intervals.
const WRAP_MARGIN: f64 = 4.0;

/// A loop with zero, one or two copies of some expression, as the program's compiler translates it.
type Empty = unsafe extern "C" fn(copies: u32, trips: u64);

/// Experiments with a loop.
#[derive(Debug)]
pub struct TrialsHandle(Mutex<Running>);

#[derive(Debug)]
struct Running {
    trials: Trials,
    harness: Harness,
    clock: Clock,
    meter: RateMeter,
    window_ns: f64,
    /// The program's empty loop, timed again with each experiment.
    empty: Option<(Empty, LoopWatch)>,
    loop_is_given: bool,
    /// Trips that the program was asked to run, and when.
    out: Option<(u64, Instant)>,
}

/// How to measure a loop. All fields but the size may be 0.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct TrialsPlan {
    /// Size of this struct in bytes.
    pub size: usize,
    /// Name of the clock; null means the best one here.
    pub clock: *const c_char,
    /// Shortest length of each timed interval in microseconds, at most 9e8; 0 means what the clock
    /// needs for 1 %, but at least 5 ms.
    pub window_us: f64,
    /// Number of experiments; 0 means eleven, or one if the interval is longer than 100 ms.
    pub experiments: u32,
    /// 1 if `timing_us` is given; 0 if it is to be measured.
    pub timing_is_given: u32,
    /// Time of a read of the clock, in microseconds.
    pub timing_us: f64,
    /// 1 if `loop_us` is given; 0 if it is to be measured with `empty_loop`.
    pub loop_is_given: u32,
    /// Time that the loop adds to a trip, in microseconds.
    pub loop_us: f64,
    /// Runs the same loop for `trips` trips with 0, 1 or 2 copies of some expression in it. If
    /// null, the time of the loop stays in the result.
    pub empty_loop: Option<unsafe extern "C" fn(copies: u32, trips: u64)>,
}

// SAFETY: `repr(C)`, the size first, and all its fields may be 0.
unsafe impl Growing for TrialsPlan {
    const LEAST_BYTES: usize = size_of::<usize>();
}

/// The result of the experiments with a loop.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct TripTime {
    /// Size of this struct in bytes.
    pub size: usize,
    /// Time of one trip in nanoseconds, overheads subtracted, never clamped. After a single
    /// experiment the level is 0: the interval then includes no spread, only the uncertainty of the
    /// clock and of the overheads.
    pub trip_ns: Estimate,
    /// 1 if the time cannot be distinguished from zero; `bound_ns` is then its upper bound.
    pub below_resolution: u32,
    /// The bound in nanoseconds; 0 if the time is not below resolution.
    pub bound_ns: f64,
    /// Number of experiments made.
    pub experiments: u32,
    /// Number of trips in the median experiment.
    pub trips: u64,
    /// Required length of each interval, in nanoseconds.
    pub window_ns: f64,
    /// The time of a read of the clock, subtracted once from each interval.
    pub timing_ns: Estimate,
    /// The time of the loop itself, subtracted once for each trip.
    pub loop_ns: Estimate,
}

// SAFETY: `repr(C)`, the size first, and all its fields may be 0.
unsafe impl Growing for TripTime {
    const LEAST_BYTES: usize = offset_of!(TripTime, experiments);
}

/// A clock with its properties, and the loops measured with it.
struct Instrument {
    clock: Clock,
    quantum: u64,
    meter: RateMeter,
    timing_ns: Option<estimate::Estimate>,
    loops: Vec<(Empty, LoopOverhead)>,
}

static INSTRUMENTS: Mutex<Vec<Instrument>> = Mutex::new(Vec::new());

impl Instrument {
    fn new(clock: Clock) -> Instrument {
        let (meter, begin) = (RateMeter::start(clock), Instant::now());
        let quantum = granularity(&clock).quantum;
        while clock.nominal_hz.is_none() && begin.elapsed() < RATE_TIME {
            std::hint::spin_loop();
        }
        Instrument { clock, quantum, meter, timing_ns: None, loops: Vec::new() }
    }

    fn harness(&self) -> Harness {
        Harness::new(self.clock, self.meter.rate().hz, self.quantum)
    }

    fn overheads(&mut self, plan: &TrialsPlan) -> Answer<Overheads> {
        let harness = self.harness();
        let timing_ns = match (plan.timing_is_given, self.timing_ns) {
            (0, Some(known)) => known,
            (0, None) => measured_read(&harness)?,
            _ => given(plan.timing_us, "the time of a read (TIMING_O)")?,
        };
        if plan.timing_is_given == 0 {
            self.timing_ns = Some(timing_ns);
        }
        let loop_ns = match (plan.loop_is_given, plan.empty_loop) {
            (0, None) => Overheads::none().loop_ns,
            (0, Some(empty)) => self.loop_of(empty)?.estimate(),
            _ => given(plan.loop_us, "the time of the loop (LOOP_O)")?,
        };
        Ok(Overheads { timing_ns, loop_ns })
    }

    /// The time of a loop; it is measured at the first call.
    fn loop_of(&mut self, empty: Empty) -> Answer<LoopOverhead> {
        if let Some((_, known_overhead)) =
            self.loops.iter().find(|(of, _)| std::ptr::fn_addr_eq(*of, empty))
        {
            return Ok(*known_overhead);
        }
        let overhead = self.harness().loop_overhead(&self.clock, LEVEL, &mut running(empty))?;
        self.loops.push((empty, overhead));
        Ok(overhead)
    }

    /// The watch for that loop during experiments.
    fn watch(&mut self, empty: Empty, timing_ns: f64) -> Answer<(Empty, LoopWatch)> {
        let alone_ns = self.loop_of(empty)?.alone_ns.value;
        Ok((empty, LoopWatch::new(&self.harness(), alone_ns, timing_ns)))
    }
}

/// The program's loop as the engine runs it.
fn running(empty: Empty) -> impl FnMut(LoopRow) {
    // SAFETY: the caller's function, which takes any number of copies and trips.
    move |row: LoopRow| unsafe { empty(row.copies, row.trips) }
}

fn measured_read(harness: &Harness) -> Answer<estimate::Estimate> {
    let overhead = harness.timing_overhead(READ_WINDOW_NS)?;
    overhead.trip_ns.median(LEVEL).ok_or_else(|| {
        Refusal::new(Status::Internal, "the time of a read was measured less than twice")
    })
}

/// An overhead in nanoseconds that the program gives; it counts as exact.
fn given(us: f64, quantity: &str) -> Answer<estimate::Estimate> {
    if !(0.0..=MOST_OVERHEAD_US).contains(&us) {
        let text = format!(
            "{quantity} is given as {us:?} us: it must be a number from 0 to {MOST_OVERHEAD_US}"
        );
        return Err(Refusal::new(Status::BadValue, text));
    }
    let ns = 1e3 * us;
    Ok(estimate::Estimate { value: ns, low: ns, high: ns, level: 1.0 })
}

/// The interval in nanoseconds: the requested one, or the one that a clock of this quantum needs
/// for 1 %, at least 5 ms. The paper's search mistakes noise for a coarse clock; here the quantum
/// is measured.
fn window_ns(asked_us: f64, harness: &Harness) -> Answer<f64> {
    if !(0.0..=MOST_WINDOW_US).contains(&asked_us) {
        let text = format!(
            "an interval (enough) of {asked_us:?} us: it must be a number from 0 to \
             {MOST_WINDOW_US}; 0 is what the clock needs"
        );
        return Err(Refusal::new(Status::BadValue, text));
    }
    let needed = resolution_window_ns(harness.quantum_ns, ACCURACY).max(WINDOWS_NS[0]);
    Ok(if asked_us > 0.0 { 1e3 * asked_us } else { needed })
}

impl Running {
    fn new(clock: Clock, plan: &TrialsPlan) -> Answer<Running> {
        let mut known_instruments = locked(&INSTRUMENTS);
        let at = known_instruments
            .iter()
            .position(|one| one.clock.name == clock.name)
            .unwrap_or_else(|| {
                known_instruments.push(Instrument::new(clock));
                known_instruments.len() - 1
            });
        let instrument = &mut known_instruments[at];
        let harness = instrument.harness();
        let window_ns = window_ns(plan.window_us, &harness)?;
        if clock
            .width
            .period()
            .is_some_and(|ticks| ticks * harness.ns_per_tick < WRAP_MARGIN * window_ns)
        {
            let text = format!(
                "an interval of {:.0} us is too long for clock `{}`, which wraps",
                window_ns / 1e3,
                clock.name
            );
            return Err(Refusal::new(Status::BadValue, text));
        }
        let experiments =
            if plan.experiments == 0 { experiments_for(window_ns) } else { plan.experiments };
        if experiments > MOST_EXPERIMENTS {
            return Err(Refusal::new(
                Status::BadValue,
                format!("{experiments} experiments: {MOST_EXPERIMENTS} are the most"),
            ));
        }
        let overheads = instrument.overheads(plan)?;
        let empty = plan
            .empty_loop
            .map(|empty| instrument.watch(empty, overheads.timing_ns.value))
            .transpose()?;
        let trials = Trials::new(&harness, &Settings { window_ns, experiments, overheads });
        let (meter, loop_is_given) = (instrument.meter, plan.loop_is_given != 0);
        let mut running =
            Running { trials, harness, clock, meter, window_ns, empty, loop_is_given, out: None };
        running.look();
        Ok(running)
    }

    /// Times the empty loop.
    fn look(&mut self) {
        let Some((empty, watch)) = &mut self.empty else { return };
        watch.look(&self.harness, &mut running(*empty));
    }

    /// Whether a trip can be distinguished from one of the empty loop.
    fn tells(&self, bench: &Bench) -> bool {
        let least_ns = bench.least_ns(self.trials.overheads().timing_ns.value);
        self.empty.as_ref().is_none_or(|(_, watch)| watch.tells(least_ns))
    }

    /// Takes the time of the trips that the program ran, and returns the number of trips to run
    /// next; 0 at the end.
    fn next(&mut self, ticks: u64, trips_ran: u64) -> Answer<u64> {
        let now = Instant::now();
        if let Some((trips, begin)) = self.out.take() {
            if trips_ran != trips {
                let text = format!(
                    "the loop ended after {trips_ran} of {trips} trips: its body must not leave it"
                );
                return Err(Refusal::new(Status::Refused, text));
            }
            let ticks = if self.clock.width.wraps() {
                self.clock.width.wrapped(ticks) as i64
            } else {
                ticks as i64
            };
            let before = self.trials.done();
            self.trials
                .ran(ticks as f64 * self.harness.ns_per_tick, (now - begin).as_nanos() as f64)?;
            if self.trials.done() > before {
                self.look();
            }
        }
        self.out = self.trials.trips().map(|trips| (trips, Instant::now()));
        Ok(self.out.map_or(0, |(trips, _)| trips))
    }

    fn result(&self, level: f64) -> Answer<TripTime> {
        let too_early = || {
            Refusal::new(
                Status::Refused,
                "no experiment is done yet: ask for trips until there are 0",
            )
        };
        let mut trials = self.trials.clone();
        if let (Some((_, watch)), false) = (&self.empty, self.loop_is_given) {
            trials.saw_loop(watch.most_ns());
        }
        let bench = trials.bench().ok_or_else(too_early)?;
        let trip = bench.trip(level, self.meter.rate().uncertainty_ppm).ok_or_else(too_early)?;
        let bound = bound(&bench, &trip, self.tells(&bench));
        let trips = bench.median_experiment().map_or(0, |one| one.trips);
        let Overheads { timing_ns, loop_ns } = trials.overheads();
        Ok(TripTime {
            size: size_of::<TripTime>(),
            trip_ns: trip.into(),
            below_resolution: u32::from(bound.is_some()),
            bound_ns: bound.unwrap_or(0.0),
            experiments: bench.timed.len() as u32,
            trips,
            window_ns: self.window_ns,
            timing_ns: timing_ns.into(),
            loop_ns: loop_ns.into(),
        })
    }
}

/// Upper bound of the time of a trip that cannot be distinguished from zero or from an empty loop.
/// If the program gave overheads that are larger than the time, it is the time without subtraction.
fn bound(bench: &Bench, trip: &estimate::Estimate, tells: bool) -> Option<f64> {
    if trip.high <= 0.0 {
        return bench.median_experiment().map(|one| one.interval_ns / one.trips as f64);
    }
    upper_bound(trip, 0.0).or((!tells).then_some(trip.high))
}

/// Begins experiments with the caller's own loop. The caller reads the clock by `now` before and
/// after the loop, and gets the number of trips from `hairspring_trials_next`. `plan` may be null,
/// for the defaults. The first call in a process takes some 50 ms.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_trials_new(
    plan: *const TrialsPlan,
    now: *mut Option<extern "C" fn() -> u64>,
    out: *mut *mut TrialsHandle,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let plan = if plan.is_null() { PLAN } else { unsafe { input(plan, "the plan") }? };
        // SAFETY: passed on to the caller.
        unsafe { open(&plan, now, out) }
    })
}

/// A plan with all defaults.
pub(crate) const PLAN: TrialsPlan = TrialsPlan {
    size: size_of::<TrialsPlan>(),
    clock: std::ptr::null(),
    window_us: 0.0,
    experiments: 0,
    timing_is_given: 0,
    timing_us: 0.0,
    loop_is_given: 0,
    loop_us: 0.0,
    empty_loop: None,
};

/// The work of `hairspring_trials_new`.
pub(crate) unsafe fn open(
    plan: &TrialsPlan,
    now: *mut Option<ReadFn>,
    out: *mut *mut TrialsHandle,
) -> Answer<()> {
    // SAFETY: passed on to the caller.
    let now = unsafe { exclusive(now, "the pointer for the clock") }?;
    // SAFETY: passed on to the caller; looked at before anything is measured.
    unsafe { exclusive(out, "the pointer for the new handle") }?;
    // SAFETY: passed on to the caller.
    let clock = unsafe { chosen(plan.clock) }?;
    let running = Running::new(clock, plan)?;
    *now = Some(clock.read);
    // SAFETY: passed on to the caller.
    unsafe { hand_out(out, TrialsHandle(Mutex::new(running))) }
}

/// Frees experiments; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_trials_free(trials: *mut TrialsHandle) {
    // SAFETY: passed on to the caller.
    unsafe { free(trials) }
}

/// Reports the ticks that the last trips took and how many trips were run; the first call ignores
/// both. Sets `trips` to the number of trips to run next, 0 when there are enough. The body must
/// not leave the loop.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_trials_next(
    trials: *const TrialsHandle,
    ticks: u64,
    trips_ran: u64,
    trips: *mut u64,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let out = unsafe { exclusive(trips, "the pointer for the trips") }?;
        *out = 0;
        // SAFETY: passed on to the caller.
        *out = locked(&unsafe { shared(trials, "the experiments") }?.0).next(ticks, trips_ran)?;
        Ok(())
    })
}

/// Sets `result` to the result of the experiments made so far, at a confidence level (0 means
/// 0.95).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_trials_result(
    trials: *const TrialsHandle,
    confidence_level: f64,
    result: *mut TripTime,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let (trials, out) =
            unsafe { (shared(trials, "the experiments")?, output(result, "the result")?) };
        out.write(&result_of(trials, confidence_level)?);
        Ok(())
    })
}

/// The work of `hairspring_trials_result`.
pub(crate) fn result_of(trials: &TrialsHandle, confidence_level: f64) -> Answer<TripTime> {
    locked(&trials.0).result(level(if confidence_level == 0.0 { LEVEL } else { confidence_level })?)
}
