//! `hairspring period`: a cyclic task measured by two clocks, or the partner that answers its
//! frames.

mod arguments;

use crate::misuse::Misuse;
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, interrupt, output};
use arguments::PeriodArguments;
use hairspring_core::judge::{Finding, Remedies, Severity};
use hairspring_host::clock::{Clock, default_clock, find};
use hairspring_host::thread::{RealTime, prepare_thread};
use hairspring_instruments::period::PeriodFinding;
use hairspring_instruments::period::measure::{MeasuredTask, PRIORITY, Priority, Request, measure};
use hairspring_instruments::period::partner::{listen, respond};
use hairspring_instruments::period::recorder::{CsvRecorder, Notes};
use hairspring_instruments::period::system::DUE_CLOCK;
use hairspring_instruments::period::tally::Bins;
use hairspring_instruments::period::task::{Limit, Recorder, Stop};
use hairspring_instruments::period::{PeriodReport, document, text};
use hairspring_program::circumstances::here;
use hairspring_result::json;
use std::io::IsTerminal;
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(1);
const DURATION: Duration = Duration::from_secs(2);
/// Fewest periods of a run whose length is not given.
const PERIODS: u32 = 20;

/// The verb.
pub const VERB: Verb = Verb::of::<PeriodArguments>().with_remedies(REMEDIES);

impl Runs for PeriodArguments {
    const NAME: &'static str = "period";
    const HANDLES_SIGNALS: bool = true;

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// Remedies by the code of a finding (`spec/result.md`); they name options of this verb. A finding
/// that is not listed keeps the neutral remedy of its kind.
const REMEDIES: Remedies = Remedies {
    by_code: &[
        (
            "cycles_missed",
            "ask for a longer period, raise the priority (--priority), or use a CPU that has \
             nothing else to do (--cpu)",
        ),
        ("quantum_hides_spread", "use a finer clock (--clock); the mean is not affected"),
    ],
    more_rows: "let it run for longer (--duration)",
};

/// Runs the verb.
fn run(arguments: &PeriodArguments) -> Result<Outcome, AnyError> {
    match &arguments.respond {
        Some(address) => be_partner(arguments, address),
        None => run_task(arguments),
    }
}

fn be_partner(arguments: &PeriodArguments, address: &str) -> Result<Outcome, AnyError> {
    let stop = interrupt::stop_on_signals()?;
    let socket = listen(address)?;
    let address = socket.local_addr()?.to_string();
    prepare_thread(arguments.cpu)?;
    // With real-time priority, where it is allowed, no other thread delays an answer.
    let _guard = match arguments.priority {
        Some(0) => None,
        Some(priority) => Some(RealTime::fifo(priority)?),
        None => RealTime::fifo(PRIORITY).ok(),
    };
    eprintln!("answering at {address} (UDP); Ctrl-C ends it");
    let done = respond(&socket, arguments.duration, &stop)?;
    arguments.report.print.print(
        || json::print(&document::responder(&done, &address)),
        || Ok(text::responder(&done, &address, &output::style())),
    )?;
    Ok(Outcome::Done)
}

fn run_task(arguments: &PeriodArguments) -> Result<Outcome, AnyError> {
    let request = request(arguments)?;
    // Started before this thread is bound and raised: the writer must not inherit CPU and priority.
    let mut save = arguments.save.as_ref().map(|path| begin_saving(path, &request)).transpose()?;
    if std::io::stderr().is_terminal() {
        let seconds = request.period_ns as f64 * request.cycles as f64 * 1e-9;
        eprintln!("measuring for {seconds:.0} s; Ctrl-C ends it early, with a report ...");
    }
    let stop = interrupt::stop_on_signals()?;
    let recorder = save.as_mut().map(|save| &mut save.0 as &mut dyn Recorder);
    let mut measured = measure(&request, recorder, &stop)?;
    let saved = save.map(|(recorder, end)| recorder.finish(&end, rates(&measured))).transpose();
    if let Ok(Some(cycles @ 1..)) = saved {
        measured
            .summary
            .findings
            .push(Finding::new(Severity::Note, PeriodFinding::NotSaved { cycles }));
    }
    REMEDIES.apply(&mut measured.summary.findings);
    let report =
        PeriodReport::new(&measured, here("a period is measured in time, not in core cycles"));
    arguments.report.print.print(
        || json::print(&document::period(&report)),
        || Ok(text::period(&report, &output::style())),
    )?;
    saved.map_err(|error| format!("--save: {error}"))?;
    Ok(if measured.summary.limit_exceeded() || measured.summary.stop == Stop::LimitExceeded {
        Outcome::LimitMissed
    } else {
        Outcome::Done
    })
}

fn request(arguments: &PeriodArguments) -> Result<Request, AnyError> {
    let period = arguments.period.or(arguments.positional).unwrap_or(PERIOD);
    let period_ns = period.as_nanos() as u64;
    let mut bins = Bins::for_period(period_ns);
    if let Some(range) = arguments.histogram {
        bins =
            Bins { range_ns: range.as_nanos() as f64, ..Bins::for_period(range.as_nanos() as u64) };
    }
    if let Some(bin) = arguments.bin {
        bins.bin_ns = bin.as_nanos() as f64;
        if bins.bin_ns > bins.range_ns {
            return Err(Misuse(format!(
                "--bin {bin:?} is wider than the histogram, which ends at {} ns",
                bins.range_ns
            ))
            .into());
        }
    }
    let limit = arguments.limit.map(|limit| Limit {
        latency_ns: limit.as_nanos() as f64,
        ends_run: arguments.break_at_limit,
    });
    Ok(Request {
        period_ns,
        cycles: cycles(arguments, period)?,
        clocks: clocks(&arguments.clock)?,
        bins,
        limit,
        cpu: arguments.cpu,
        priority: match arguments.priority {
            None => Priority::AsAllowed(PRIORITY),
            Some(0) => Priority::Normal,
            Some(priority) => Priority::Required(priority),
        },
        partner: arguments.exchange.clone(),
        level: arguments.report.confidence_level,
    })
}

fn cycles(arguments: &PeriodArguments, period: Duration) -> Result<u64, Misuse> {
    const FEWEST_CYCLES: u64 = 3;
    if let Some(cycles) = arguments.cycles {
        return Ok(cycles);
    }
    let time = arguments.duration.unwrap_or_else(|| DURATION.max(period.saturating_mul(PERIODS)));
    let cycles = (time.as_nanos() / period.as_nanos()) as u64;
    if cycles < FEWEST_CYCLES {
        return Err(Misuse(format!(
            "a run of {time:?} has {cycles} cycles of {period:?}, at least {FEWEST_CYCLES} are \
             needed; give a longer --duration"
        )));
    }
    Ok(cycles)
}

/// The two clocks: those that were named, else the best one and the clock of the due times.
fn clocks(names: &[String]) -> Result<[Clock; 2], AnyError> {
    match names {
        [one, other] if one == other => {
            let why = format!(
                "--clock {one} --clock {other}: this is the same clock twice; name two, or one to \
                 use with {DUE_CLOCK}"
            );
            Err(Misuse(why).into())
        }
        [] => Ok([another_clock()?, find(DUE_CLOCK)?]),
        [one] if one == DUE_CLOCK => Ok([another_clock()?, find(DUE_CLOCK)?]),
        [one] => Ok([find(one)?, find(DUE_CLOCK)?]),
        [one, other] => Ok([find(one)?, find(other)?]),
        more => Err(Misuse(format!(
            "{} clocks were named with --clock; a period is measured by at most two",
            more.len()
        ))
        .into()),
    }
}

/// The best clock, or the unsteered one where that of the due times is the best.
fn another_clock() -> Result<Clock, AnyError> {
    let best = default_clock();
    if best.name == DUE_CLOCK { Ok(find("monotonic_raw")?) } else { Ok(best) }
}

type Saving = (CsvRecorder, std::sync::mpsc::SyncSender<Notes>);

fn begin_saving(path: &std::path::Path, request: &Request) -> Result<Saving, String> {
    let file =
        std::fs::File::create(path).map_err(|e| format!("--save {}: {e}", path.display()))?;
    let note = |key: &str, value: String| (key.to_owned(), value);
    let notes = vec![
        note("hairspring period observations", "1".into()),
        note("period_ns", request.period_ns.to_string()),
        note("due_clock", DUE_CLOCK.into()),
        note("first_clock", request.clocks[0].name.into()),
        note("second_clock", request.clocks[1].name.into()),
    ];
    Ok(CsvRecorder::start(file, notes))
}

/// The rates of the clocks, which are known only after the run.
fn rates(measured: &MeasuredTask) -> Notes {
    let notes = |name: &str, at: usize| {
        let rate = &measured.rates[at];
        [
            (format!("{name}_rate_hz"), rate.hz.to_string()),
            (format!("{name}_rate_uncertainty_ppm"), rate.uncertainty_ppm.to_string()),
        ]
    };
    notes("first", 0).into_iter().chain(notes("second", 1)).collect()
}
