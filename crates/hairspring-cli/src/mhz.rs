//! `hairspring mhz`: the core clock.

use crate::arguments::ReportArguments;
use crate::verb::{Runs, Verb};
use crate::{AnyError, Outcome, output};
use clap::Args;
use hairspring_core::judge::{Remedies, Severity};
use hairspring_core::observations::{ClockSpread, CoreClock as KnownClock, Pauses};
use hairspring_host::clock::seated_clock;
use hairspring_host::clock_history::with_run;
use hairspring_host::thread::{allowed_cpus, prepare_thread};
use hairspring_instruments::mhz::classic::{self, ClassicResult, classic};
use hairspring_instruments::mhz::{CoreClock, Options, measure};
use hairspring_instruments::mhz::{document, text};
use hairspring_measure::cpu::quiet_cpu;
use hairspring_measure::rounds;
use hairspring_program::circumstances::here;
use hairspring_program::values::duration;
use hairspring_result::{Environment, json};
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  hairspring mhz                 core clock of one CPU, with the proof
  hairspring mhz --all           of every CPU
  hairspring mhz -c              a bare number for scripts: core MHz; -t the clock's tick rate; -i \
whole MHz
  hairspring mhz --watch 0.5     every half second, until Ctrl-C
  hairspring mhz --classic       also by the method of the paper, which takes seconds";

/// Measure the core clock, without counters, privileges or a table of processors
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct MhzArguments {
    /// Print only the core clock in MHz
    #[arg(short = 'c', long, conflicts_with_all = ["ticks", "json", "classic"])]
    pub core: bool,
    /// Print only the rate of the clock (the time stamp counter) in MHz
    #[arg(short = 't', long, conflicts_with_all = ["json", "classic"])]
    pub ticks: bool,
    /// Print only whole MHz, of the core or with -t of the clock
    #[arg(short = 'i', long, conflicts_with_all = ["json", "classic"])]
    pub integer: bool,
    /// The CPU to run on (default: the last one, or a quieter one)
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub cpu: Option<usize>,
    /// Measure every CPU that this process may use, one after the other
    #[arg(short = 'a', long)]
    pub all: bool,
    /// Repeat the measurement in this period until Ctrl-C; with --json one document per line
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "1s",
        value_parser = duration, conflicts_with_all = ["all", "classic"])]
    pub watch: Option<Duration>,
    /// End --watch after N measurements
    #[arg(short = 'n', long, value_name = "N", requires = "watch",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Measuring time of one try, from 5ms to 10s; a doubtful result is tried again, up to four
    /// times in all
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = try_time)]
    pub time: Duration,
    /// Also run the method of the paper (Staelin and McVoy, 1998), to compare
    #[arg(long)]
    pub classic: bool,
    /// Time for --classic; the paper itself takes up to five minutes
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = classic_budget,
        requires = "classic")]
    pub budget: Duration,
    #[command(flatten)]
    pub report: ReportArguments,
}

/// The verb.
pub const VERB: Verb = Verb::of::<MhzArguments>().with_remedies(REMEDIES);

impl Runs for MhzArguments {
    const NAME: &'static str = "mhz";

    fn run(&self) -> Result<Outcome, AnyError> {
        run(self)
    }
}

/// The budget of --classic: nine expressions cannot be timed in less than 100 ms.
fn classic_budget(text: &str) -> Result<Duration, String> {
    let budget = duration(text)?;
    if budget >= Duration::from_millis(100) {
        Ok(budget)
    } else {
        Err("too short for nine expressions: give 100ms or more".into())
    }
}

/// The time of a try: shorter ones have too few rounds for an interval.
fn try_time(text: &str) -> Result<Duration, String> {
    let time = duration(text)?;
    let possible = Duration::from_millis(5)..=Duration::from_secs(10);
    if possible.contains(&time) { Ok(time) } else { Err("must be from 5ms to 10s".into()) }
}

impl MhzArguments {
    fn bare(&self) -> bool {
        self.core || self.ticks || self.integer
    }

    /// The CPU that is asked for, or the last one, or another one if somebody else uses its core
    /// all the time.
    fn one_cpu(&self) -> Option<usize> {
        self.cpu.or_else(|| quiet_cpu(seated_clock()))
    }
}

/// Remedies by the code of a finding (`spec/result.md`); they name options of this verb. A finding
/// that is not listed keeps the neutral remedy of its kind.
const REMEDIES: Remedies = Remedies {
    by_code: &[
        ("core_shared", "measure again; choose another CPU (--cpu)"),
        ("disturbed", "choose a quieter CPU (--cpu) or give each try more time (--time)"),
    ],
    more_rows: "give each try more time (--time) or choose a quieter CPU (--cpu)",
};

/// A CPU with its core clock, or why it was not found.
type Found = (usize, Result<CoreClock, String>);

/// Runs the verb; a CPU whose clock could not be found ends it with 1.
fn run(arguments: &MhzArguments) -> Result<Outcome, AnyError> {
    if let Some(pause) = arguments.watch {
        return watch(arguments, pause);
    }
    let cpu = if arguments.all { None } else { arguments.one_cpu() };
    let cpus: Vec<Option<usize>> =
        if arguments.all { allowed_cpus().into_iter().map(Some).collect() } else { vec![cpu] };
    let results: Vec<Found> =
        cpus.into_iter().map(|cpu| measure_cpu(arguments, cpu)).collect::<Result<_, _>>()?;
    if arguments.bare() {
        return Ok(print_bare(arguments, &results)?.0);
    }
    let results = beside_other_runs(results);
    let paper = if arguments.classic { Some(paper(arguments, cpu)?) } else { None };
    let circumstances = circumstances();
    arguments.report.print.print(
        || json::print(&document::mhz(&results, paper.as_ref(), &circumstances)),
        || Ok(text::mhz(&results, paper.as_ref(), &circumstances, &output::style())),
    )?;
    Ok(if results.iter().all(|(_, results)| results.is_ok()) {
        Outcome::Done
    } else {
        Outcome::Failed
    })
}

/// The core clock of one CPU beside those of the other runs on this machine, whose history it
/// joins. CPUs of one machine may have different clocks, so several of them do not.
fn beside_other_runs(results: Vec<Found>) -> Vec<Found> {
    if results.len() > 1 {
        return results;
    }
    let beside = |clock: CoreClock| {
        let spread = with_clock(&clock);
        clock.beside_other_runs(spread)
    };
    results.into_iter().map(|(cpu, clock)| (cpu, clock.map(beside))).collect()
}

/// Adds a core clock to the history of this machine; returns how the clock moved between its runs,
/// if there are enough of them.
fn with_clock(clock: &CoreClock) -> Option<ClockSpread> {
    with_run(|| Some(clock.core_hz.value))
}

/// By how much a core clock may have moved between two measurements that are equal, as a share of
/// it: it moves by steps of about this size.
const UNSEEN_STEP: f64 = 0.003;

/// What the core clock of a CPU was while something else ran on it.
pub struct Beside<T> {
    /// What it gave.
    pub answer: T,
    /// The mean of the clocks before and after it; `None` if one of them cannot be measured.
    pub clock: Option<KnownClock>,
    /// How the core clock moved between the runs on this machine, of which this is the latest.
    /// `None` if too few are known.
    pub spread: Option<ClockSpread>,
    /// Pauses of the CPU that were seen before and after it, in ticks of the clock.
    pub pauses: Pauses,
}

/// How long pauses are watched for, before and after.
const WATCH_TIME: Duration = Duration::from_millis(4);

/// Pauses of this CPU.
fn pauses() -> Pauses {
    let (clock, begin) = (seated_clock(), Instant::now());
    rounds::pauses(clock.read, clock.width, 1, WATCH_TIME, &|| begin.elapsed())
}

/// The core clock of the CPU that this thread is bound to, if it can be measured.
fn core_clock(cpu: usize) -> Option<CoreClock> {
    measure(seated_clock(), cpu, &Options::default()).ok()
}

/// Runs a closure on any CPU, beside the history of the core clock alone.
///
/// # Errors
/// The thread that measures the clock cannot be bound.
pub fn on_any_cpu<T>(run: impl FnOnce() -> T) -> Result<Beside<T>, AnyError> {
    let answer = run();
    let clock = run_on(None, core_clock)?;
    Ok(Beside {
        answer,
        clock: None,
        spread: clock.as_ref().and_then(with_clock),
        pauses: Pauses::default(),
    })
}

/// Runs a closure on a new thread that is bound to a CPU, and measures the core clock there before
/// and after it.
///
/// # Errors
/// The thread cannot be bound.
pub fn beside_core_clock<T: Send>(
    cpu: Option<usize>,
    run: impl FnOnce() -> T + Send,
) -> Result<Beside<T>, AnyError> {
    run_on(cpu, |cpu| {
        let (before, mut pauses_seen) = (core_clock(cpu), pauses());
        let answer = run();
        pauses_seen.add(pauses());
        let after = core_clock(cpu);
        let spread = after.as_ref().and_then(with_clock);
        let clock = before.zip(after).map(|(before, after)| {
            let (before, after) = (before.core_hz.value, after.core_hz.value);
            let hz = f64::midpoint(before, after);
            KnownClock { hz, sd: ((after - before).abs() / 2.0 / hz).max(UNSEEN_STEP) }
        });
        Beside { answer, clock, spread, pauses: pauses_seen }
    })
}

fn measure_cpu(arguments: &MhzArguments, cpu: Option<usize>) -> Result<Found, AnyError> {
    let options = Options {
        time: arguments.time,
        level: arguments.report.confidence_level,
        ..Options::default()
    };
    run_on(cpu, |cpu| {
        let clock = seated_clock();
        let ready = clock.ready().map_err(|error| error.to_string());
        (cpu, ready.and_then(|()| measure(clock, cpu, &options)).map(with_remedies))
    })
}

/// The core clock with the remedies of this verb.
fn with_remedies(mut found: CoreClock) -> CoreClock {
    REMEDIES.apply(&mut found.findings);
    found
}

/// Runs a closure on a new thread that is bound to a CPU, so that this thread stays unbound.
fn run_on<T: Send>(cpu: Option<usize>, run: impl FnOnce(usize) -> T + Send) -> Result<T, AnyError> {
    let bound = || prepare_thread(cpu).map(|thread| run(thread.cpu));
    let ended = std::thread::scope(|scope| scope.spawn(bound).join());
    Ok(ended.map_err(|_| "the measuring thread panicked")??)
}

fn paper(arguments: &MhzArguments, cpu: Option<usize>) -> Result<ClassicResult, AnyError> {
    let options = classic::Options {
        budget: Some(arguments.budget),
        level: arguments.report.confidence_level,
        ..classic::Options::default()
    };
    Ok(run_on(cpu, |_| classic(seated_clock(), &options))??)
}

/// Prints one number for each CPU; doubts and failures are reported on standard error. Returns the
/// outcome, and whether standard output still has a reader.
fn print_bare(arguments: &MhzArguments, all: &[Found]) -> Result<(Outcome, bool), AnyError> {
    let (mut outcome, mut read) = (Outcome::Done, true);
    for (cpu, found) in all {
        match found {
            Ok(found) => {
                read = output::print_while_read(&format!("{}\n", number(arguments, found)))?;
                found
                    .findings
                    .iter()
                    .filter(|doubt| doubt.severity > Severity::Note)
                    .for_each(|doubt| output::complain(&doubt.message));
            }
            Err(reason) => {
                outcome = Outcome::Failed;
                output::complain(&format!("CPU {cpu}: {reason}"));
            }
        }
    }
    Ok((outcome, read))
}

fn number(arguments: &MhzArguments, clock: &CoreClock) -> String {
    let mhz = if arguments.ticks { clock.rate.hz } else { clock.core_hz.value } / 1e6;
    match (arguments.integer, arguments.ticks) {
        (true, _) => format!("{mhz:.0}"),
        (false, true) => format!("{mhz:.4}"),
        (false, false) => format!("{mhz:.2}"),
    }
}

fn watch(arguments: &MhzArguments, pause: Duration) -> Result<Outcome, AnyError> {
    let (begin, mut outcome) = (Instant::now(), Outcome::Done);
    let cpu = arguments.one_cpu();
    let columns = !arguments.bare() && !arguments.report.print.json;
    if columns {
        output::print(&text::mhz_line(0.0, None))?;
    }
    for at in 1..=arguments.count.unwrap_or(u64::MAX) {
        let seconds = begin.elapsed().as_secs_f64();
        let result = measure_cpu(arguments, cpu)?;
        if result.1.is_err() {
            outcome = Outcome::Failed;
        }
        let read = if arguments.bare() {
            print_bare(arguments, &[result])?.1
        } else if columns {
            output::print_while_read(&text::mhz_line(seconds, Some(&result.1)))?
        } else {
            output::print_while_read(&json::line(&document::mhz(
                &[result],
                None,
                &circumstances(),
            )))?
        };
        if !read {
            break;
        }
        if arguments.count != Some(at) {
            // Counted from the start, so that the time of the measurements does not add up.
            let due = begin + pause.saturating_mul(u32::try_from(at).unwrap_or(u32::MAX));
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
    }
    Ok(outcome)
}

fn circumstances() -> Environment {
    here("the core clock itself is the result").with_core_clock(None)
}
