//! A session finds the CPU, the clock and the core cycle, once for all benchmarks of a program.

use crate::benchmark::{Benchmark, FLUSH, Group, Order, Row};
use crate::choose::{agreed, choose};
use crate::error::{Error, Result};
use crate::remedies::PROGRAM;
use crate::rows::{RowCode, Rows};
use crate::turns::{InTurns, Turns};
use hairspring_core::design::{FEWEST_ROWS, ROWS_BEHIND};
use hairspring_core::judge::Remedies;
use hairspring_core::observations::Role;
use hairspring_host::clock::{Clock, CountsWhen, RateMeter, Reading, default_clock, granularity};
use hairspring_host::fence::can_flush;
use hairspring_host::interference::StealMeter;
use hairspring_host::other_threads::OtherThreadsMeter;
use hairspring_measure::batches::InProcess;
use hairspring_measure::companions::companions;
use hairspring_measure::limits::{DEFAULT_PRECISION, LEAST_ROUNDS, runs_before};
use hairspring_measure::ruler::{Ruler, find_ruler};
use hairspring_measure::seating::{Home, Seated, Stopped, TimedThread, Watched, counts_alike};
use hairspring_measure::{Goal, Run, Seating, Table, until_precise};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time that is enough to measure the rate of a clock for a pilot.
const RATE_TIME: Duration = Duration::from_millis(2);

/// How to measure.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name of the clock; `None` is the best one here.
    pub clock: Option<String>,
    /// The CPU to run on; `None` is the last allowed one, or a quieter one if its core is used.
    pub cpu: Option<usize>,
    /// Time for measuring a group.
    pub budget: Duration,
    /// Whether the budget is kept even while something else uses the core.
    pub is_firm: bool,
    /// Half-width of the intervals at which the rounds end, as a share.
    pub precision: f64,
    /// Confidence level of all intervals.
    pub level: f64,
    /// Whether chains of known length run in the same rounds, to give times in core cycles.
    pub cycles: bool,
    /// Whether the thread stays on one CPU at a raised priority meanwhile.
    pub seating: Seating,
    /// Remedies of its findings.
    pub remedies: &'static Remedies,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            clock: None,
            cpu: None,
            budget: Duration::from_millis(500),
            is_firm: false,
            precision: DEFAULT_PRECISION,
            level: 0.95,
            cycles: true,
            seating: Seating::Pinned,
            remedies: &PROGRAM,
        }
    }
}

/// The result of measuring a group.
#[derive(Debug)]
pub struct MeasuredGroup {
    /// The rounds.
    pub run: Run,
    /// Names of the series of the benchmarks in it, in the order of the group.
    pub names: Vec<String>,
    /// Where the thread was, and which other threads ran.
    pub seated: Seated,
}

/// A clock with its resolution and its rate.
#[derive(Debug)]
pub(crate) struct Timing {
    pub(crate) clock: Clock,
    pub(crate) granularity: Reading,
    pub(crate) meter: RateMeter,
}

impl Timing {
    fn new(clock: Clock) -> Timing {
        let meter = RateMeter::start(clock);
        Timing { clock, granularity: granularity(&clock), meter }
    }
}

/// CPU, clock and reference chain, for all benchmarks of a program.
#[derive(Debug)]
pub struct Session {
    pub(crate) settings: Settings,
    /// The clock that was named, or the best one for a thread that is seated as asked.
    first: Timing,
    /// The best clock for everything, if that is another one.
    steady: Option<Timing>,
    /// Whether code turned out to need the best clock for everything: it runs other threads, or
    /// wraps the first one.
    is_steady: AtomicBool,
    /// Core cycles of the reference chain, or the reason why there are none.
    ruler: std::result::Result<Ruler, String>,
    home: Home,
    /// Turns with other processes, if some are measured at the same time.
    turns: Option<Turns>,
}

impl Session {
    /// Finds the CPU, the clock and the core cycle; takes some 50 ms. Waits for its turn before
    /// that, if other processes are measured in [turns](crate::turns) with this one.
    ///
    /// # Errors
    /// An unavailable clock or CPU.
    pub fn new(settings: &Settings) -> Result<Session> {
        let turns = Turns::begin();
        let clock = settings.seating.named_clock(settings.clock.as_deref())?;
        let others = OtherThreadsMeter::start();
        let mut home = find_home(settings, turns.as_ref())?;
        let seat = home.seat()?;
        let begin = Instant::now();
        let first = Timing::new(clock);
        let steady = (settings.clock.is_none() && clock.counts != CountsWhen::Always)
            .then(|| Timing::new(default_clock()));
        let wanted = settings.cycles && settings.seating != Seating::Threads;
        let ruler = if wanted {
            find_ruler(settings.seating.clock())
        } else {
            Err("they were not asked for".to_owned())
        };
        while clock.nominal_hz.is_none() && begin.elapsed() < RATE_TIME {
            std::hint::spin_loop();
        }
        drop(seat);
        home.usual = others.taken().share();
        Ok(Session {
            settings: settings.clone(),
            first,
            steady,
            is_steady: AtomicBool::new(false),
            ruler,
            home,
            turns,
        })
    }

    /// The clock in use.
    pub(crate) fn timing(&self) -> &Timing {
        let steady = self.steady.as_ref().filter(|_| self.is_steady.load(Ordering::Relaxed));
        steady.unwrap_or(&self.first)
    }

    /// Runs the setups of a group, chooses its rows, and runs them in rounds until every body
    /// reaches the requested precision or the budget is spent. Setups and a first run of every body
    /// come before the thread takes its seat. If the code turns out to run other threads only
    /// later, it is measured anew without a seat.
    ///
    /// # Errors
    /// An empty group, a benchmark with fewer than 4 rows, or one whose code failed.
    pub fn measure(&self, group: &mut Group) -> Result<MeasuredGroup> {
        let names = group.series_names();
        check_rows(group, &names)?;
        let setup = OtherThreadsMeter::start();
        group
            .benchmarks
            .iter_mut()
            .flat_map(|benchmark| &mut benchmark.setup)
            .for_each(|setup| setup());
        let mut thread = TimedThread::begin(self.home.clone(), &setup);
        let longest = thread.first_runs(|| self.first_run(group, &names))?;
        if self.first.clock.wraps_within(longest) {
            self.is_steady.store(true, Ordering::Relaxed);
        }
        thread.sit()?;
        loop {
            if let Some(run) = self.attempt(group, &names, &mut thread)? {
                return Ok(MeasuredGroup { run, names, seated: thread.seated() });
            }
        }
    }

    /// Runs every benchmark once.
    fn first_run(&self, group: &mut Group, names: &[String]) -> Result<()> {
        let once = |benchmark: &mut Benchmark| (benchmark.rows[0].run)(self.timing().clock.read);
        let failure = group.benchmarks.iter_mut().position(|benchmark| once(benchmark).is_none());
        failure.map_or(Ok(()), |at| Err(failed(names, at)))
    }

    /// One measurement from the start; `None` if other threads were seen for the first time.
    fn attempt(
        &self,
        group: &mut Group,
        names: &[String],
        thread: &mut TimedThread,
    ) -> Result<Option<Run>> {
        if thread.seated().cpu.is_none() {
            self.is_steady.store(true, Ordering::Relaxed);
            counts_alike(&self.timing().clock)?;
        }
        let ruler = self.ruler(&thread.seated());
        let Plan { mut table, rows } = self.plan(group, names, &ruler)?;
        if thread.has_changed().is_some() {
            return Ok(None);
        }
        table.observations_mut().origin.threads = thread.seated().threads.is_some();
        let steal = thread.seated().cpu.map(StealMeter::start);
        let Timing { clock, granularity, meter } = self.timing();
        let batches = InProcess::new(rows, clock, granularity.quantum, 1).with_placements();
        let batches = InTurns::new(batches, self.turns.as_ref());
        let mut watched = Watched { batches, thread };
        let (begin, before) = (Instant::now(), self.waited());
        let elapsed = || begin.elapsed().saturating_sub(self.waited().saturating_sub(before));
        match until_precise(&self.goal(), &mut table, &mut watched, &elapsed, &mut |_| ()) {
            Ok(ended) => Ok(Some(Run::new(
                table,
                ended,
                meter.rate(),
                steal.and_then(|meter| meter.stolen_ms()),
            ))),
            Err(Stopped::Changed(_)) => Ok(None),
            Err(Stopped::Failed(_)) => {
                Err(failed(names, watched.batches.batches.rig.failed().unwrap_or(names.len())))
            }
        }
    }

    /// The reference chain, or the reason why times on this seat are not given in core cycles.
    pub(crate) fn ruler(&self, seated: &Seated) -> std::result::Result<Ruler, String> {
        seated.no_cycles().map_or_else(|| self.ruler.clone(), |reason| Err(reason.to_owned()))
    }

    /// Time that was spent waiting for a turn.
    fn waited(&self) -> Duration {
        self.turns.as_ref().map_or(Duration::ZERO, Turns::waited)
    }

    /// When the rounds end. A body that takes a tenth of a second has only two rows. Processes that
    /// take turns have the same number of them: the budget alone ends the rounds.
    fn goal(&self) -> Goal {
        let Settings { precision, level, budget, is_firm, .. } = self.settings;
        let has_turns = self.turns.is_some();
        let (precision, is_firm) = (if has_turns { 0.0 } else { precision }, is_firm || has_turns);
        Goal { precision, level, budget, is_firm, least_rounds: LEAST_ROUNDS }
    }

    fn plan<'g, 'a: 'g>(
        &self,
        group: &'g mut Group<'a>,
        names: &[String],
        ruler: &std::result::Result<Ruler, String>,
    ) -> Result<Plan<'g>> {
        let second = group
            .benchmarks
            .iter()
            .find(|one| one.rows.iter().any(|row| row.inits > 0))
            .map(|one| one.second);
        let components = std::iter::once("body").chain(second).map(str::to_owned).collect();
        let Timing { clock, granularity, meter } = self.timing();
        let mut plan = Plan { table: Table::new(components), rows: Rows::new(clock.read) };
        let mut choices = Vec::new();
        for (at, benchmark) in group.benchmarks.iter_mut().enumerate() {
            let choice = choose(&mut benchmark.rows, clock, 1e9 / meter.rate().hz);
            choices.push(choice.ok_or_else(|| failed(names, at))?);
        }
        for ((at, benchmark), chosen) in
            group.benchmarks.iter_mut().enumerate().zip(agreed(choices))
        {
            if benchmark.second == FLUSH {
                // A flush has fences around it: nothing overlaps with the body, but the fence hides
                // the start of the body.
                plan.table.declare_arrangement(&names[at], Role::Fenced);
            }
            if benchmark.unoptimised {
                plan.table.declare_unoptimised(&names[at]);
            }
            plan.rows.places.extend(
                benchmark.place.iter_mut().map(|place| &mut **place as &mut dyn FnMut(u32)),
            );
            let rows =
                benchmark.rows.iter_mut().enumerate().filter(|(row, _)| chosen.contains(row));
            let added = add(&mut plan, ruler, at, names, rows.map(|(_, row)| row));
            if benchmark.second != FLUSH {
                add_behind(&mut plan, ruler, at, names, &added);
            }
        }
        if plan.rows.all.is_empty() {
            return Err(Error::Empty);
        }
        for companion in ruler.iter().flat_map(companions) {
            plan.table.add_companion(&companion);
            plan.rows.all.extend(companion.code().into_iter().map(RowCode::Chain));
        }
        plan.table.set_clock(clock.name, granularity.quantum);
        Ok(plan)
    }
}

/// Where the thread runs: beside processes with which it takes turns on their CPU, unless it may
/// not, or another one is asked for.
fn find_home(settings: &Settings, turns: Option<&Turns>) -> Result<Home> {
    let clock = settings.seating.clock();
    let of_turns = turns
        .and_then(|turns| turns.cpu)
        .filter(|_| settings.cpu.is_none() && settings.seating == Seating::Pinned)
        .and_then(|cpu| Home::find(settings.seating, Some(cpu), clock).ok());
    let Some(home) = of_turns else {
        return Ok(Home::find(settings.seating, settings.cpu, clock)?);
    };
    Ok(Home { is_asked: false, ..home })
}

/// An error if a benchmark has too few rows.
fn check_rows(group: &Group, names: &[String]) -> Result<()> {
    for (benchmark, name) in group.benchmarks.iter().zip(names) {
        let rows = benchmark.rows.iter().filter(|row| row.order == Order::AtEnd).count();
        if rows < FEWEST_ROWS {
            return Err(Error::TooFewRows { name: name.clone(), rows, least: FEWEST_ROWS });
        }
        if benchmark.second == FLUSH {
            can_flush().map_err(|reason| Error::NoFlush { name: name.clone(), reason })?;
        }
    }
    Ok(())
}

/// A row that answers: its place, its bodies and its inits.
type Added = (usize, u32, u32);

/// Adds the chosen rows of a benchmark; each order is a separate series, whose role the table
/// records. Returns those that answer.
fn add<'g, 'a: 'g>(
    plan: &mut Plan<'g>,
    ruler: &std::result::Result<Ruler, String>,
    at: usize,
    names: &[String],
    rows: impl Iterator<Item = &'g mut Row<'a>>,
) -> Vec<Added> {
    let mut added = Vec::new();
    let mut series: Vec<(Order, String)> = vec![(Order::AtEnd, names[at].clone())];
    // A table needs one series of fenced chains, and only if the length of its chain is known.
    let wants_fenced_chain =
        ruler.is_ok() && plan.table.observations().origin.fenced_chain.is_none();
    for row in rows.filter(|row| row.order != Order::FencedChain || wants_fenced_chain) {
        let known =
            series.iter().find(|(order, _)| *order == row.order).map(|(_, name)| name.clone());
        let name = known.unwrap_or_else(|| {
            let name = declare(&mut plan.table, ruler, row.order, &names[at], names);
            series.push((row.order, name.clone()));
            name
        });
        let counts = [f64::from(row.bodies), f64::from(row.inits)];
        let width = plan.table.observations().components().len();
        plan.table.add_row(&name, &counts[..width]);
        added.extend((row.order == Order::AtEnd).then_some((
            plan.rows.all.len(),
            row.bodies,
            row.inits,
        )));
        let copies = if row.runs > 1 { row.bodies / row.runs } else { 0 };
        plan.rows.all.push(RowCode::Benchmark(&mut *row.run, at, runs_before(copies)));
    }
    added
}

/// Adds rows that show whether an init takes longer behind a body than behind an init: rows that
/// end with a body, run behind themselves, and behind one that ends with an init.
fn add_behind(
    plan: &mut Plan,
    ruler: &std::result::Result<Ruler, String>,
    at: usize,
    names: &[String],
    added: &[Added],
) {
    let Some((init, ..)) =
        added.iter().filter(|(_, bodies, inits)| inits > bodies).min_by_key(|(_, _, inits)| *inits)
    else {
        return;
    };
    let mut end_with_body: Vec<&Added> =
        added.iter().filter(|(_, bodies, inits)| inits == bodies).collect();
    end_with_body.sort_by_key(|(_, bodies, _)| *bodies);
    for order in [Order::BehindBody, Order::BehindInit] {
        let name = declare(&mut plan.table, ruler, order, &names[at], names);
        for (row, bodies, inits) in end_with_body.iter().take(ROWS_BEHIND) {
            plan.table.add_row(&name, &[f64::from(*bodies), f64::from(*inits)]);
            let before = if order == Order::BehindInit { *init } else { *row };
            plan.rows.all.push(RowCode::Behind { row: *row, before });
        }
    }
}

/// Records the role of a further series of a benchmark in the table; returns its name.
fn declare(
    table: &mut Table,
    ruler: &std::result::Result<Ruler, String>,
    order: Order,
    of: &str,
    names: &[String],
) -> String {
    match (order, order.role()) {
        (_, Some(role)) => table.declare_check(of, role, names),
        (Order::FencedChain, None) => {
            table.declare_fenced_chain(ruler.as_ref().map_or(0, |ruler| ruler.cycles), names)
        }
        (_, None) => of.to_owned(),
    }
}

/// A table, and the code of its rows.
struct Plan<'g> {
    table: Table,
    rows: Rows<'g>,
}

fn failed(names: &[String], at: usize) -> Error {
    Error::Failed { name: names.get(at).cloned().unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::assessed;

    /// Rows of a function that takes this product in every turn.
    fn products(a: f64, b: f64) -> Vec<Row<'static>> {
        let row = move |bodies: u32| {
            Row::new(bodies, 0, Order::AtEnd, move |now| {
                let begin = now();
                for _ in 0..bodies {
                    std::hint::black_box(std::hint::black_box(a) * std::hint::black_box(b));
                }
                Some(now().wrapping_sub(begin))
            })
        };
        [16, 32, 48, 64].map(row).into()
    }

    /// A measurement that is not bound to a CPU, with this budget.
    fn measured(benchmark: Benchmark, budget: Duration) -> MeasuredGroup {
        let settings = Settings {
            budget,
            is_firm: true,
            cycles: false,
            seating: Seating::Threads,
            ..Settings::default()
        };
        Session::new(&settings).unwrap().measure(&mut Group::from(benchmark)).unwrap()
    }

    /// Codes of the findings on a benchmark.
    fn findings(benchmark: Benchmark) -> Vec<String> {
        let measured = measured(benchmark, Duration::from_millis(5));
        let findings = assessed(&measured, 0.95, None).unwrap().series.remove(0).findings;
        findings.into_iter().map(|finding| finding.code.into_owned()).collect()
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn denormals_of_a_program_are_found() {
        assert!(
            findings(Benchmark::new("tiny", products(5e-324, 3.0)))
                .contains(&"denormals".to_owned())
        );
        assert!(
            !findings(Benchmark::new("ordinary", products(1.5, 3.0)))
                .contains(&"denormals".to_owned())
        );
    }

    /// Whether a measurement with this budget ran its rows at three offsets of the stack or more.
    fn has_several_offsets(budget: Duration) -> bool {
        let run = measured(Benchmark::new("product", products(1.5, 3.0)), budget).run;
        run.placements() >= Some(3)
    }

    /// The number of placements depends on how much of the budget the thread runs: a longer budget
    /// makes up for a loaded machine.
    #[test]
    fn rows_run_at_several_offsets_of_the_stack() {
        assert!(
            [60, 300, 1500, 7500].map(Duration::from_millis).into_iter().any(has_several_offsets)
        );
    }

    #[test]
    fn code_without_optimisation_is_reported() {
        let found = |unoptimised| {
            findings(Benchmark { unoptimised, ..Benchmark::new("product", products(1.5, 3.0)) })
        };
        assert!(found(true).contains(&"not_optimised".to_owned()));
        assert!(!found(false).contains(&"not_optimised".to_owned()));
    }
}
