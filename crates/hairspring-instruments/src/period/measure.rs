//! The whole measurement: prepares the thread, checks machine and clocks, runs the task and
//! summarizes it.

use super::PeriodFinding;
use super::partner::{Line, Master};
use super::schedule::Schedule;
use super::summary::{Ended, Exchange, FEWEST_PERIODS, Summary, summarise};
use super::system::{Known, System, check_period, least_cycle_ns};
use super::tally::{Bins, Tally, Tick};
use super::task::{Limit, Machine, Partner, Recorder, Task};
use hairspring_core::judge::{Finding, Severity};
use hairspring_core::observations::Rate;
use hairspring_host::clock::{Clock, CoreWatch, RateMeter};
use hairspring_host::interference::{StealMeter, Switches};
use hairspring_host::thread::{PreparedThread, RealTime, lock_memory, prepare_thread};
use hairspring_host::{Error, Result};
use std::sync::atomic::AtomicBool;

/// Default real-time priority: above most threads, and below the threads that serve interrupts on a
/// well configured real-time kernel.
pub const PRIORITY: i32 = 80;

/// The priority that the task runs at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// A real-time priority, if that is allowed.
    AsAllowed(i32),
    /// A real-time priority, or an error.
    Required(i32),
    /// No real-time priority.
    Normal,
}

/// The request for a measurement.
#[derive(Debug, Clone)]
pub struct Request {
    /// The period.
    pub period_ns: u64,
    /// Number of cycles.
    pub cycles: u64,
    /// The two clocks.
    pub clocks: [Clock; 2],
    /// Width of the histograms.
    pub bins: Bins,
    /// Limit of the latency.
    pub limit: Option<Limit>,
    /// The CPU to run on; by default the last one allowed.
    pub cpu: Option<usize>,
    /// The priority.
    pub priority: Priority,
    /// The partner that a frame is exchanged with in every cycle.
    pub partner: Option<String>,
    /// Confidence level.
    pub level: f64,
}

/// A measurement with its circumstances.
#[derive(Debug, Clone)]
pub struct MeasuredTask {
    /// Estimates and findings.
    pub summary: Summary,
    /// How the thread was prepared.
    pub thread: PreparedThread,
    /// The real-time priority, or why there was none.
    pub real_time: std::result::Result<i32, String>,
    /// The properties of the clocks, measured before the run.
    pub known: [Known; 2],
    /// Their rates, measured before the run.
    pub rates: [Rate; 2],
    /// Shortest time that a cycle takes here.
    pub least_cycle_ns: u64,
    /// Time that the hypervisor took, if the system reports it.
    pub stolen_ms: Option<f64>,
    /// Involuntary context switches of the task.
    pub switches: i64,
    /// From the first due time to the end.
    pub elapsed_ms: f64,
}

/// Runs the task on this thread.
///
/// # Errors
/// CPU, priority, clocks, period or partner are unavailable, or the run ended too early.
pub fn measure(
    request: &Request,
    recorder: Option<&mut dyn Recorder>,
    stop: &AtomicBool,
) -> Result<MeasuredTask> {
    let mut thread = prepare_thread(request.cpu)?;
    // programs may be allowed to read them on some CPUs only
    request.clocks.iter().try_for_each(Clock::ready)?;
    let (_guard, real_time) = take_priority(request.priority)?;
    let mut system = System::new(request.clocks);
    let least_cycle_ns = least_cycle_ns(&mut system);
    check_period(request.period_ns, least_cycle_ns)?;
    let known_clocks = request.clocks.map(Known::measure);
    let meters = request.clocks.map(RateMeter::start);
    let rates = check_clocks(&mut system, request, &known_clocks, &meters)?;
    let ticks = [0, 1].map(|at| tick(&rates[at], &request.clocks[at]));
    let mut line = open_line(request, ticks[0])?;
    let mut tally = Tally::new(ticks, &request.bins);
    // Memory that was allocated since then is locked too.
    thread.memory_locked = lock_memory();
    let (steal, mut switches) = (StealMeter::start(thread.cpu), Switches::start());
    warm_up(&mut system, &tally, request, stop);
    let schedule = schedule(&mut system, request);
    let watches = request.clocks.map(|clock| (clock.name, CoreWatch::start(&clock)));
    let mut master =
        line.as_mut().map(|line| Master { line, machine: System::new(request.clocks) });
    let partner = master.as_mut().map(|master| master as &mut dyn Partner);
    let recorder = recorder.map(|recorder| recorder as &mut dyn Recorder);
    let end = Task { machine: &mut system, partner, recorder, limit: request.limit, stop }
        .run(&schedule, &mut tally);
    let elapsed_ms = system.now_ns().saturating_sub(schedule.start_ns) as f64 * 1e-6;
    let switches = switches.since_last();
    let taken_findings = taken(watches);
    let exchange = line.map(|line| exchanged(line, &mut system, request.level, &rates[0]));
    let ended_run = Ended {
        period_ns: request.period_ns,
        known: known_clocks.clone(),
        rates: rates.clone(),
        stop: end,
        limit: request.limit,
        level: request.level,
    };
    let mut summary = summarise(&tally, exchange, &ended_run).ok_or_else(|| too_short(&tally))?;
    add_findings(&mut summary, not_prepared(&thread, &real_time).into_iter().chain(taken_findings));
    Ok(MeasuredTask {
        summary,
        thread,
        real_time,
        known: known_clocks,
        rates,
        least_cycle_ns,
        stolen_ms: steal.stolen_ms(),
        switches,
        elapsed_ms,
    })
}

/// The way to the partner, if there is one.
fn open_line(request: &Request, tick: Tick) -> Result<Option<Line>> {
    request
        .partner
        .as_deref()
        .map(|name| Line::open(name, request.clocks[0], tick, &request.bins))
        .transpose()
}

/// What was exchanged with the partner, after answers that come late.
fn exchanged(mut line: Line, system: &mut System, level: f64, rate: &Rate) -> Exchange {
    line.await_late_answers(system);
    Exchange::new(&line.answers, line.to().to_string(), level, rate)
}

/// Adds findings to those of the summary, which begin with the most severe.
fn add_findings(summary: &mut Summary, findings: impl Iterator<Item = Finding>) {
    summary.findings.extend(findings);
    summary.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
}

/// The real-time priority, which is restored when dropped, and its number or the reason why it is
/// not raised.
type Taken = (Option<RealTime>, std::result::Result<i32, String>);

fn take_priority(wanted_priority: Priority) -> Result<Taken> {
    match wanted_priority {
        Priority::Normal => Ok((None, Err("not requested".into()))),
        Priority::Required(priority) => Ok((Some(RealTime::fifo(priority)?), Ok(priority))),
        Priority::AsAllowed(priority) => Ok(match RealTime::fifo(priority) {
            Ok(raised) => (Some(raised), Ok(priority)),
            Err(error) => (None, Err(error.to_string())),
        }),
    }
}

fn before_the_run(rate: Rate, clock: &Clock) -> Rate {
    match clock.nominal_hz {
        Some(_) => rate,
        None => Rate { provenance: format!("{} before the run", rate.provenance), ..rate },
    }
}

fn tick(rate: &Rate, clock: &Clock) -> Tick {
    Tick { ns: 1e9 / rate.hz, width: clock.width }
}

/// Sleeps for 200 ms, and returns the rates of the clocks over this time, for the whole run. Rates
/// from the run itself would make its mean right, and the clocks agree, by construction.
fn check_clocks(
    system: &mut System,
    request: &Request,
    known_clocks: &[Known; 2],
    meters: &[RateMeter; 2],
) -> Result<[Rate; 2]> {
    const ASLEEP_NS: u64 = 200_000_000;
    let before = system.read();
    system.sleep_until(before.1 + ASLEEP_NS);
    let after = system.read();
    let rates = [0, 1].map(|at| before_the_run(meters[at].rate(), &request.clocks[at]));
    for at in [0, 1] {
        let elapsed_ns = after.1.saturating_sub(before.1);
        let ticks = tick(&rates[at], &request.clocks[at]).distance(
            before.0[at],
            after.0[at],
            elapsed_ns as f64,
        );
        known_clocks[at].check(request.period_ns, &rates[at], ticks, elapsed_ns)?;
    }
    Ok(rates)
}

/// Runs a few cycles that are not counted: the first wake-ups are late because the loop is not in
/// the caches yet, and a late first wake-up would make all periods look short.
fn warm_up(system: &mut System, tally: &Tally, request: &Request, stop: &AtomicBool) {
    const CYCLES: u64 = 16;
    const LONGEST_NS: u64 = 1_000_000;
    let schedule = Schedule {
        period_ns: request.period_ns.min(LONGEST_NS),
        cycles: CYCLES,
        ..schedule(system, request)
    };
    Task { machine: system, partner: None, recorder: None, limit: None, stop }
        .run(&schedule, &mut tally.clone());
}

/// The due times; the first one is a short time from now.
fn schedule(system: &mut System, request: &Request) -> Schedule {
    const MOMENT_NS: u64 = 1_000_000;
    Schedule {
        start_ns: system.now_ns() + MOMENT_NS,
        period_ns: request.period_ns,
        cycles: request.cycles,
    }
}

fn too_short(tally: &Tally) -> Error {
    let needed = FEWEST_PERIODS + 1;
    Error::Refused {
        what: "the run ended too early".into(),
        reason: format!(
            "{} cycles ran, at least {needed} are needed; let it run for longer",
            tally.cycles
        ),
    }
}

/// Findings about counters of the core that something else took since the start of the run.
fn taken(watches: [(&'static str, Option<CoreWatch>); 2]) -> Vec<Finding> {
    let lost = |(name, watch): (&'static str, Option<CoreWatch>)| {
        Some((name.to_owned(), watch?.belongs().err()?))
    };
    let finding = |(clock, reason)| {
        Finding::new(Severity::Untrusted, PeriodFinding::CounterTaken { clock, reason })
    };
    watches.into_iter().filter_map(lost).map(finding).collect()
}

fn not_prepared(
    thread: &PreparedThread,
    real_time: &std::result::Result<i32, String>,
) -> Vec<Finding> {
    let memory =
        (!thread.memory_locked).then(|| "locking the memory (limit of `ulimit -l`)".to_owned());
    let refusal = real_time.as_ref().err().filter(|reason| *reason != "not requested");
    let reasons = refusal.cloned().into_iter().chain(memory);
    reasons.map(|what| Finding::new(Severity::Note, PeriodFinding::NotPrepared { what })).collect()
}
