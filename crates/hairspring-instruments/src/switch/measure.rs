//! The whole measurement: prepares the thread, runs the windows of every mechanism in several
//! placements, and checks the time by the second method.

use super::design::{components, rows};
use super::lost::{
    COUNTER, PASSED_TIME, Period, SWITCHES, TIMED_SERIES, lost_ns, periods, timed, timed_ns,
};
use super::mechanism::Mechanism;
use super::partner::Wanted;
use super::result::{Check, Switched, switched};
use super::rig::{Pair, Periods, Row, WindowBatches};
use super::{MOST_BYTES, Measured, Request};
use hairspring_core::Estimate;
use hairspring_core::estimate::Options;
use hairspring_core::judge::{Finding, Question, Severity};
use hairspring_core::observations::{ClockSpread, Rate};
use hairspring_host::clock::{Clock, RateMeter, granularity};
use hairspring_host::interference::StealMeter;
use hairspring_host::run_history::with_value;
use hairspring_host::{Error, Result};
use hairspring_measure::companions::{Companion, companions};
use hairspring_measure::cpu::prepare_thread_where_quiet;
use hairspring_measure::limits::{Batch, DEFAULT_PRECISION, FEWEST_ROUNDS, LEAST_ROUNDS};
use hairspring_measure::ruler::find_ruler;
use hairspring_measure::run::clock_spread;
use hairspring_measure::{Goal, Table, until_precise};
use std::time::{Duration, Instant};

/// Share of a mechanism's budget for the windows; the rest is for the second method.
const FOR_WINDOWS: f64 = 0.6;

/// Measures on a thread of its own, so that the calling thread stays as it is.
///
/// # Errors
/// A CPU that may not be used, a clock that is not ready, a working set that is too large, a thread
/// that the system refuses, or a panic.
pub fn measure(request: &Request) -> Result<Measured> {
    let refused =
        |refused_part: &str, reason: String| Error::Refused { what: refused_part.into(), reason };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("leader".into())
            .spawn_scoped(scope, || on_this_thread(request));
        let ended_thread = thread
            .map_err(|error| refused("cannot start the measuring thread", error.to_string()))?
            .join();
        ended_thread.map_err(|_| refused("the measuring thread", "it panicked".into()))?
    })
}

fn on_this_thread(request: &Request) -> Result<Measured> {
    check_bytes(request.bytes)?;
    let thread = prepare_thread_where_quiet(request.cpu, request.clock)?;
    let meter = RateMeter::start(request.clock);
    let ruler = find_ruler(request.clock);
    let session = Session {
        request,
        cpu: thread.cpu,
        quantum: granularity(&request.clock).quantum,
        companions: ruler.as_ref().map_or_else(|_| Vec::new(), companions),
        meter,
    };
    let results = request
        .mechanisms
        .iter()
        .map(|mechanism| (*mechanism, session.mechanism(*mechanism, thread.priority_raised)));
    let results = results.collect();
    Ok(Measured { results, thread, ruler, rate: session.meter.rate(), quantum: session.quantum })
}

/// Refuses a working set that no measurement is good for.
fn check_bytes(bytes: usize) -> Result<()> {
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let refused_set = format!("a working set of {bytes} bytes");
    let reason = format!(
        "at most {MOST_BYTES} bytes: a window passes over it several times, and must end between \
         two interrupts"
    );
    Err(Error::Refused { what: refused_set, reason })
}

/// Clock, CPU and chains for all mechanisms.
struct Session<'a> {
    request: &'a Request,
    cpu: usize,
    quantum: u64,
    companions: Vec<Companion>,
    meter: RateMeter,
}

impl Session<'_> {
    fn clock(&self) -> &Clock {
        &self.request.clock
    }

    /// Measures one mechanism.
    fn mechanism(
        &self,
        mechanism: Mechanism,
        priority_raised: bool,
    ) -> std::result::Result<Switched, String> {
        let begin = Instant::now();
        let bytes = self.request.bytes;
        let wanted_pair =
            Wanted { mechanism, program: self.request.program.clone(), bytes, cpu: self.cpu };
        let mut pair = Pair::start(&wanted_pair, self.clock().read)?;
        let pilot = pair.pilot(self.meter.rate().hz)?;
        let (mut table, rows) = self.design(mechanism, &rows(&pilot));
        let mut batches = WindowBatches::new(pair, rows, self.clock(), self.quantum);
        let steal = StealMeter::start(self.cpu);
        let budget = self.request.budget.mul_f64(FOR_WINDOWS);
        let level = self.request.level;
        let goal = Goal {
            precision: DEFAULT_PRECISION,
            level,
            budget,
            is_firm: true,
            least_rounds: LEAST_ROUNDS,
        };
        until_precise(&goal, &mut table, &mut batches, &|| begin.elapsed(), &mut |_| ())?;
        let mut table = table.finished(self.meter.rate());
        table.origin.clock_spread = clock_spread(&table);
        let options = Options { level, ..Options::default() };
        let question = Question { options, precision: None, stolen_ms: steal.stolen_ms() };
        let mut result = switched(mechanism, &table, &question, begin.elapsed())?;
        if !priority_raised {
            result
                .findings
                .push(Finding::new(Severity::Note, super::SwitchFinding::PriorityNotRaised {}));
        }
        let windows = result.warm().map(|cost| cost.ns).ok_or("a switch has no time")?;
        let check = self.check(
            batches.into_pair(),
            pilot.pair_ns,
            begin,
            windows,
            table.origin.clock_spread,
        );
        let result = self.compared_with_earlier(result.checked(check));
        Ok(Switched { elapsed: begin.elapsed(), ..result })
    }

    /// The result beside those of earlier runs; in core cycles if they are known, which do not move
    /// with the core clock.
    fn compared_with_earlier(&self, switched: Switched) -> Switched {
        let Some(warm) = switched.warm() else { return switched };
        let (value, unit) =
            warm.cycles.map_or((warm.ns.value, "ns"), |cycles| (cycles.value, "cycles"));
        let sides = if self.request.program.is_some() { "processes" } else { "threads" };
        let name = format!("switch-{}-{sides}-{}", switched.mechanism.name(), self.request.bytes);
        let of_check = |check: Check| {
            let earlier = with_value(&format!("{name}-counter-ns"), check.timed_ns.value);
            check.with_earlier(&earlier)
        };
        let switched =
            switched.with_earlier(&with_value(&format!("{name}-{unit}"), value), value, unit);
        Switched { check: switched.check.map(of_check), ..switched }
    }

    /// The table and what its rows run.
    fn design(
        &self,
        mechanism: Mechanism,
        design: &[(super::design::Window, Vec<f64>)],
    ) -> (Table, Vec<Row>) {
        let mut table = Table::new(components(self.request.bytes > 0));
        table.set_clock(self.clock().name, self.quantum);
        let mut rows = Vec::new();
        for (window, counts) in design {
            table.add_row(mechanism.name(), counts);
            rows.push(Row::Window(*window));
        }
        for companion in &self.companions {
            table.add_companion(companion);
            rows.extend(companion.code().into_iter().map(Row::Chain));
        }
        (table, rows)
    }

    /// The second method, in what is left of the budget.
    fn check(
        &self,
        pair: Pair,
        pair_ns: f64,
        begin: Instant,
        windows: Estimate,
        between: Option<ClockSpread>,
    ) -> std::result::Result<Check, String> {
        let periods = periods(pair_ns);
        let most_per_second = periods.iter().map(Period::rate).fold(0.0, f64::max);
        let mut table = Table::new(vec![PASSED_TIME.to_owned(), SWITCHES.to_owned()]);
        periods.iter().for_each(|period| table.add_row(COUNTER, &period.counts()));
        let mut clock = Table::new(vec![SWITCHES.to_owned()]);
        periods
            .iter()
            .filter_map(|period| timed(period, &periods))
            .for_each(|counts| clock.add_row(TIMED_SERIES, &counts));
        let time =
            self.request.budget.saturating_sub(begin.elapsed()).max(Duration::from_millis(50));
        let batch = Batch { time, fewest: FEWEST_ROUNDS / 4, most: table.room() };
        let begin = Instant::now();
        Periods::start(pair, periods)?.run(batch, &|| begin.elapsed(), &mut table, &mut clock)?;
        let rounds = table.rounds();
        let level = self.request.level;
        // The unit of the first table is work, so it has no rate.
        let timer = Rate { hz: 1e9, uncertainty_ppm: 0.0, provenance: "the timer".into() };
        let lost = lost_ns(&table.finished(timer.clone()), level)?;
        let timed = timed_ns(&clock.finished(timer), level)?;
        Ok(Check::new(&lost, &timed, windows, most_per_second, rounds).at_any_clock(between))
    }
}
