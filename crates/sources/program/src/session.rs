//! A session: the thread settled, the clock found, the core cycle proved, once for all benchmarks of a program.

use crate::benchmark::{FLUSH, Group, Order, Row, SHADOW_COPIES, free_name};
use crate::choose::{FEWEST_ROWS, choose};
use crate::error::{Error, Result};
use crate::remedies::PROGRAM;
use crate::rounds::{Piece, Pieces, Plan, until_precise};
use hairspring_core::judge::Remedies;
use hairspring_core::observations::{Observations, Role, RowId, Variant};
use hairspring_host::clock::{Clock, RateMeter, Reading, default_clock, find, granularity};
use hairspring_host::interference::StealMeter;
use hairspring_host::thread::Seat;
use hairspring_measure::companions::{Beside, beside};
use hairspring_measure::ruler::{Ruler, find_ruler};
use std::time::{Duration, Instant};

/// Time over which the rate of a clock is known well enough for a pilot.
const RATE_TIME: Duration = Duration::from_millis(2);

/// How to measure.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name of the clock; `None` is the best one here.
    pub clock: Option<String>,
    /// The CPU to run on; `None` is the last one allowed.
    pub cpu: Option<usize>,
    /// Time for measuring a group.
    pub budget: Duration,
    /// Half-width of the intervals that ends the rounds, as a share.
    pub precision: f64,
    /// Confidence level of all intervals.
    pub level: f64,
    /// Whether chains of known length run beside the code, so that core cycles can be had.
    pub cycles: bool,
    /// Whether the thread keeps to one CPU at a raised priority meanwhile.
    pub seated: bool,
    /// What its findings tell the reader to do.
    pub remedies: &'static Remedies,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            clock: None,
            cpu: None,
            budget: Duration::from_millis(500),
            precision: 0.005,
            level: 0.95,
            cycles: true,
            seated: true,
            remedies: &PROGRAM,
        }
    }
}

/// Why the rounds of a group ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The precision asked for was reached.
    Precise,
    /// The budget was spent.
    Budget,
}

/// What comes of measuring a group.
#[derive(Debug)]
pub struct Measured {
    /// The raw table, the chains of known length included.
    pub table: Observations,
    /// Names of the series of the benchmarks in it, in the order of the group.
    pub names: Vec<String>,
    /// Rounds of all rows.
    pub rounds: u32,
    /// Time spent in the rounds.
    pub measuring: Duration,
    /// Why they ended.
    pub stop: Stop,
    /// Time that the hypervisor took meanwhile, where the system says.
    pub stolen_ms: Option<f64>,
}

/// Everything that the benchmarks of a program are measured with.
#[derive(Debug)]
pub struct Session {
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    pub(crate) granularity: Reading,
    pub(crate) meter: RateMeter,
    /// Core cycles of the reference chain, or why there are none.
    pub(crate) ruler: std::result::Result<Ruler, String>,
    pub(crate) seat: Option<Seat>,
}

impl Session {
    /// Settles the thread, finds the clock and proves the core cycle; takes some 50 ms. The thread goes back to where it was
    /// when the session is dropped.
    ///
    /// # Errors
    /// A clock or a CPU that is not there.
    pub fn new(settings: &Settings) -> Result<Session> {
        let clock = settings.clock.as_deref().map_or_else(|| Ok(default_clock()), find)?;
        let seat = settings.seated.then(|| Seat::take(settings.cpu)).transpose()?;
        let (meter, begin) = (RateMeter::start(clock), Instant::now());
        let granularity = granularity(&clock);
        let ruler = if settings.cycles { find_ruler(default_clock()) } else { Err("they were not asked for".to_owned()) };
        while clock.nominal_hz.is_none() && begin.elapsed() < RATE_TIME {
            std::hint::spin_loop();
        }
        Ok(Session { settings: settings.clone(), clock, granularity, meter, ruler, seat })
    }

    /// Runs the setups of a group, chooses its rows, and runs them in rounds until every body is known to the precision
    /// asked for or the budget is spent.
    ///
    /// # Errors
    /// An empty group, a benchmark with fewer than 4 rows, or one whose code failed.
    pub fn measure(&self, group: &mut Group) -> Result<Measured> {
        let names = group.series_names();
        let mut plan = self.plan(group, &names)?;
        let steal = self.seat.as_ref().map(|seat| StealMeter::start(seat.cpu));
        let begin = Instant::now();
        let (rounds, stop) = until_precise(&mut plan, self).map_err(|piece| failed(&names, piece))?;
        let mut table = plan.table;
        table.origin.rate = Some(self.meter.rate());
        Ok(Measured { table, names, rounds, measuring: begin.elapsed(), stop, stolen_ms: steal.and_then(|meter| meter.stolen_ms()) })
    }

    fn plan<'g, 'a: 'g>(&self, group: &'g mut Group<'a>, names: &[String]) -> Result<Plan<'g>> {
        let second = group.benchmarks.iter().find(|one| one.rows.iter().any(|row| row.inits > 0)).map(|one| one.second);
        let components = std::iter::once("body").chain(second).map(str::to_owned).collect();
        let mut plan = Plan { table: Observations::new(components), rig: Pieces::new(self.clock.read), rows: Vec::new() };
        for (at, benchmark) in group.benchmarks.iter_mut().enumerate() {
            let answers = benchmark.rows.iter().filter(|row| row.order == Order::AtEnd).count();
            if answers < FEWEST_ROWS {
                return Err(Error::TooFewRows { name: names[at].clone(), rows: answers, least: FEWEST_ROWS });
            }
            benchmark.setup.iter_mut().for_each(|setup| setup());
            let chosen = choose(&mut benchmark.rows, &self.clock, 1e9 / self.meter.rate().hz);
            let chosen = chosen.ok_or_else(|| failed(names, at))?;
            if benchmark.second == FLUSH {
                // A flush has fences around it: nothing overlaps with the body, and the fence hides the body's beginning.
                plan.table.origin.variants.push(Variant { series: names[at].clone(), role: Role::Fenced, of: names[at].clone() });
            }
            let rows = benchmark.rows.iter_mut().enumerate().filter(|(row, _)| chosen.contains(row));
            self.add(&mut plan, (at, names), rows.map(|(_, row)| row));
        }
        if plan.rows.is_empty() {
            return Err(Error::Empty);
        }
        self.ruler.iter().flat_map(beside).for_each(|chain| add_chain(&mut plan, &chain));
        plan.table.origin.clock = Some(self.clock.name.to_owned());
        plan.table.origin.granularity = (self.granularity.quantum > 0).then_some(self.granularity.quantum as f64);
        Ok(plan)
    }

    /// Adds the chosen rows of a benchmark; each order is a series of its own, and the table says what it is.
    fn add<'g, 'a: 'g>(&self, plan: &mut Plan<'g>, (at, names): (usize, &[String]), rows: impl Iterator<Item = &'g mut Row<'a>>) {
        let mut series: Vec<(Order, String)> = vec![(Order::AtEnd, names[at].clone())];
        // What a fence hides is the same for all: one series of shadows is enough for a table.
        let has_shadow = plan.table.origin.shadow.is_some();
        for row in rows.filter(|row| row.order != Order::Shadow || !has_shadow) {
            let known = series.iter().find(|(order, _)| *order == row.order).map(|(_, name)| name.clone());
            let name = known.unwrap_or_else(|| {
                let name = self.declare(plan, row.order, &names[at], names);
                series.push((row.order, name.clone()));
                name
            });
            let id = row_of(&mut plan.table, &name, row.bodies, row.inits);
            plan.rows.push(id);
            plan.rig.rows.push(Piece::Code(&mut *row.run, at));
        }
    }

    /// Says in the table what a further series of a benchmark is, and how it is called.
    fn declare(&self, plan: &mut Plan, order: Order, of: &str, names: &[String]) -> String {
        let words = match order {
            Order::InPlace => "in place",
            Order::Shadow => "shadow",
            _ => "fenced",
        };
        let name = free_name(&format!("{of} {words}"), &[names, plan.table.series_names()].concat());
        if let Some(role) = order.role() {
            plan.table.origin.variants.push(Variant { series: name.clone(), role, of: of.to_owned() });
        } else if let Ok(ruler) = &self.ruler {
            plan.table.origin.shadow = Some((name.clone(), f64::from(SHADOW_COPIES * ruler.cycles)));
        }
        name
    }
}

fn row_of(table: &mut Observations, series: &str, bodies: u32, inits: u32) -> RowId {
    let counts = [f64::from(bodies), f64::from(inits)];
    let (id, width) = (table.series(series), table.components().len());
    table.row(id, &counts[..width])
}

fn add_chain(plan: &mut Plan, chain: &Beside) {
    let code = chain.code();
    if code.len() == chain.copies.len() {
        let role = if chain.is_ruler { "reference" } else { "control" };
        let name = free_name(&format!("{role} {}", chain.chain), plan.table.series_names());
        plan.rows.extend(chain.declare(&mut plan.table, &name));
        plan.rig.rows.extend(code.into_iter().map(Piece::Chain));
    }
}

fn failed(names: &[String], at: usize) -> Error {
    Error::Failed { name: names.get(at).cloned().unwrap_or_default() }
}
