//! Runs all series in groups: the rows of a group and the chains of known length in the same
//! rounds.

mod rows;

use crate::design::{Edge, Quantity, Series};
use crate::result::ELIMINATED_CYCLES;
use hairspring_core::Estimate;
use hairspring_core::estimate::{Contribution, Options, Source, Uncertain};
use hairspring_core::judge::{Finding, Question, SeriesResult, Severity, assess, code};
use hairspring_host::chains::{RULER, chains};
use hairspring_host::clock::{Clock, RateMeter, default_clock, granularity};
use hairspring_host::interference::StealMeter;
use hairspring_measure::batches::InProcess;
use hairspring_measure::companions::{Companion, companions};
use hairspring_measure::cpu::prepare_thread_where_quiet;
use hairspring_measure::limits::LEAST_ROUNDS;
use hairspring_measure::ruler::{Ruler, find_ruler};
use hairspring_measure::{Goal, Table, until_precise};
use rows::Rows;
use std::time::{Duration, Instant};

/// Series in a group: so many that the chains of known length take a small part of the time, and so
/// few that a round is short.
const GROUP: usize = 12;
/// Copies that take less than this many cycles are likely to run nothing, and are grouped apart: a
/// time of nearly zero has no ratio by which a co-runner's effect on the group could be judged.
const NEARLY_NOTHING: f64 = 0.1;
/// Share of the budget of the first pass; the second one repeats what is in doubt.
const FIRST_PASS: f64 = 0.7;
/// Share of the budget in which the core cycle must be found.
const FOR_RULER: f64 = 0.3;
/// Half-width as a share of the cycles above which a series is repeated and in doubt: of a latency,
/// and of independent copies. Two sources agree within the same shares.
const TOO_WIDE: (f64, f64) = (0.01, 0.02);
/// Half-widths in cycles that are narrow enough for any latency, and for any copies: what takes
/// nearly no time needs no share of it.
const NARROW_WIDTHS: (f64, f64) = (0.01, 0.005);
/// Largest departure of independent copies from their time that comes from where their code lies,
/// as a share. A run has them in one place: in 27 % of 240 short runs of six instructions that take
/// one cycle each, intervals without it did not hold it, and were 0.3 % off.
const OF_PLACE: f64 = 0.005;
/// Half-width as a share of the cycles at which a group ends.
const PRECISION: f64 = 0.001;
/// Shortest time of a group.
const SHORTEST_TIME: Duration = Duration::from_millis(150);

/// What to measure.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The CPU; `None` for one whose core is quiet.
    pub cpu: Option<usize>,
    /// Time for all series.
    pub budget: Duration,
    /// Confidence level of all intervals.
    pub level: f64,
}

/// A measured series.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Its name of the form.
    pub form: String,
    /// What it measures.
    pub quantity: Quantity,
    /// The values in the registers.
    pub values: crate::Values,
    /// Where its operands in memory are.
    pub arrangement: crate::Arrangement,
    /// Core cycles of a copy, or why they are unknown.
    pub cycles: Result<Estimate, String>,
    /// Findings about the measurement.
    pub findings: Vec<Finding>,
}

impl Measured {
    /// Whether it has ordinary values and uses memory as usual.
    pub fn is_usual(&self) -> bool {
        self.values == crate::Values::Ordinary && self.arrangement == crate::Arrangement::Usual
    }

    /// Whether the measurement is in doubt: untrusted, unknown, or uncertain.
    pub fn is_doubtful(&self) -> bool {
        let widest = |cycles: f64| match self.quantity {
            Quantity::Latency(_) => (TOO_WIDE.0 * cycles).max(NARROW_WIDTHS.0),
            Quantity::Throughput(_) => (TOO_WIDE.1 * cycles).max(NARROW_WIDTHS.1),
        };
        self.is_untrusted()
            || self.cycles.as_ref().is_ok_and(|cycles| cycles.half_width() > widest(cycles.value))
    }

    /// Whether the cycles are unknown, or must not be trusted.
    pub fn is_untrusted(&self) -> bool {
        self.cycles.is_err()
            || self.findings.iter().any(|finding| finding.severity == Severity::Untrusted)
    }

    fn half_width(&self) -> f64 {
        self.cycles.as_ref().map_or(f64::INFINITY, Estimate::half_width)
    }

    /// The edges of a chain.
    pub fn edges(&self) -> Option<&[Edge]> {
        match &self.quantity {
            Quantity::Latency(edges) => Some(edges),
            Quantity::Throughput(_) => None,
        }
    }
}

/// What was measured, and under which circumstances.
#[derive(Debug, Clone)]
pub struct Run {
    /// All series, in their order.
    pub series: Vec<Measured>,
    /// The CPU.
    pub cpu: usize,
    /// How the core cycle was found.
    pub provenance: String,
    /// Clock of the core in Hz, in the last group.
    pub core_hz: Option<Estimate>,
    /// Rounds of all groups.
    pub rounds: u64,
    /// Time of all rounds and their assessment.
    pub elapsed: Duration,
    /// Series that were measured twice.
    pub repeated: usize,
}

/// Measures all series. `progress` gets the share that is done.
///
/// # Errors
/// No core cycles on this machine, a CPU that may not be used, or memory that may not be run.
pub fn measure(
    all_series: &[Series],
    settings: &Settings,
    progress: &dyn Fn(f64),
) -> Result<Run, Box<dyn std::error::Error>> {
    let begin = Instant::now();
    let clock = default_clock();
    let thread = prepare_thread_where_quiet(settings.cpu, clock)?;
    let meter = RateMeter::start(clock);
    let ruler = patient_ruler(clock, begin + settings.budget.mul_f64(FOR_RULER))?;
    let session = Session {
        clock,
        quantum: granularity(&clock).quantum,
        meter,
        companions: companions(&ruler),
        settings,
        cpu: thread.cpu,
    };
    let cycles = session.trial(all_series, &ruler)?;
    let groups = groups(all_series, &cycles);
    let mut run = Run {
        series: all_series.iter().map(|one| unmeasured(one, "it was not run")).collect(),
        cpu: thread.cpu,
        provenance: ruler.provenance,
        core_hz: None,
        rounds: 0,
        elapsed: Duration::ZERO,
        repeated: 0,
    };
    let first = settings.budget.mul_f64(FIRST_PASS);
    for (at, group) in groups.iter().enumerate() {
        progress(FIRST_PASS * at as f64 / groups.len() as f64);
        session.add(
            all_series,
            &cycles,
            group,
            share(first, groups.len() - at, begin),
            &mut run,
        )?;
    }
    session.repeat(all_series, &cycles, begin, &mut run, progress)?;
    run.elapsed = begin.elapsed();
    progress(1.0);
    Ok(run)
}

/// The core cycle; where something else uses the core, tried again until a moment.
fn patient_ruler(clock: Clock, until: Instant) -> Result<Ruler, String> {
    loop {
        match find_ruler(clock) {
            Err(_) if Instant::now() < until => {}
            found => return found,
        }
    }
}

/// Time for one of `groups_left` groups.
fn share(budget: Duration, groups_left: usize, begin: Instant) -> Duration {
    (budget.saturating_sub(begin.elapsed()) / groups_left.max(1) as u32).max(SHORTEST_TIME)
}

/// Indexes of series that run together. A co-runner on the core lengthens independent copies by
/// much more than chains, so that they are not judged together.
fn groups(all_series: &[Series], cycles: &[f64]) -> Vec<Vec<usize>> {
    let kind = |at: &usize| match all_series[*at].quantity {
        _ if cycles[*at] < NEARLY_NOTHING => 2,
        Quantity::Throughput(_) => 1,
        Quantity::Latency(_) => 0,
    };
    (0..3)
        .flat_map(|wanted| {
            let of_kind: Vec<usize> =
                (0..all_series.len()).filter(|at| kind(at) == wanted).collect();
            of_kind.chunks(GROUP).map(<[usize]>::to_vec).collect::<Vec<_>>()
        })
        .collect()
}

fn unmeasured(series: &Series, reason: &str) -> Measured {
    Measured {
        form: series.form.clone(),
        quantity: series.quantity.clone(),
        values: series.values,
        arrangement: series.arrangement,
        cycles: Err(reason.to_owned()),
        findings: Vec::new(),
    }
}

/// Thread, clock and chains of known length for all groups.
struct Session<'a> {
    clock: Clock,
    quantum: u64,
    meter: RateMeter,
    companions: Vec<Companion>,
    settings: &'a Settings,
    cpu: usize,
}

impl Session<'_> {
    /// About how many cycles a copy of each series takes.
    fn trial(&self, all_series: &[Series], ruler: &Ruler) -> Result<Vec<f64>, String> {
        let reference = chains()
            .into_iter()
            .find(|chain| chain.role == RULER)
            .ok_or("there is no reference chain")?;
        let (short, long) =
            (reference.rows.first().ok_or("no rows")?, reference.rows.last().ok_or("no rows")?);
        let shortest = |row: hairspring_host::chains::RowFn| {
            (0..30).map(|_| row(self.clock.read)).min().unwrap_or(0) as f64
        };
        let ticks = (shortest(long.1) - shortest(short.1)).max(1.0);
        let per_cycle = ticks / (f64::from(long.0 - short.0) * f64::from(ruler.cycles));
        Ok(rows::trial(all_series, self.clock.read)?
            .into_iter()
            .map(|ticks| ticks / per_cycle)
            .collect())
    }

    /// Repeats the series in doubt as long as there is time, the worst first.
    fn repeat(
        &self,
        all_series: &[Series],
        cycles: &[f64],
        begin: Instant,
        run: &mut Run,
        progress: &dyn Fn(f64),
    ) -> Result<(), String> {
        let mut doubtful: Vec<usize> =
            (0..all_series.len()).filter(|at| run.series[*at].is_doubtful()).collect();
        doubtful.sort_by_key(|at| !run.series[*at].is_untrusted());
        let chosen: Vec<Series> = doubtful.iter().map(|at| all_series[*at].clone()).collect();
        let of_chosen: Vec<f64> = doubtful.iter().map(|at| cycles[*at]).collect();
        let groups = groups(&chosen, &of_chosen);
        for (at, group) in groups.iter().enumerate() {
            if begin.elapsed() >= self.settings.budget {
                break;
            }
            progress(
                (begin.elapsed().as_secs_f64() / self.settings.budget.as_secs_f64())
                    .clamp(FIRST_PASS, 1.0),
            );
            let group: Vec<usize> = group.iter().map(|at| doubtful[*at]).collect();
            run.repeated += group.len();
            self.add(
                all_series,
                cycles,
                &group,
                share(self.settings.budget, groups.len() - at, begin),
                run,
            )?;
        }
        Ok(())
    }

    /// Measures a group, and keeps the better result of each series.
    fn add(
        &self,
        all_series: &[Series],
        cycles: &[f64],
        group: &[usize],
        time: Duration,
        run: &mut Run,
    ) -> Result<(), String> {
        let measured = self.group(all_series, cycles, group, time, run)?;
        for (at, measured) in group.iter().zip(measured) {
            let known_result = &run.series[*at];
            let rank = |one: &Measured| (one.is_untrusted(), one.half_width());
            if rank(&measured) < rank(known_result) {
                run.series[*at] = measured;
            }
        }
        Ok(())
    }

    /// The table of a group without readings, and its rows as code.
    fn rows(
        &self,
        all_series: &[Series],
        cycles: &[f64],
        group: &[usize],
    ) -> Result<(Table, Rows), String> {
        let mut table = Table::new(vec!["body".into()]);
        let (mut encoded, mut runs_before) = (Vec::new(), Vec::new());
        for at in group {
            for length in rows::lengths(&all_series[*at], cycles[*at]) {
                table.add_row(&at.to_string(), &[length.count()]);
                encoded.push(rows::row(&all_series[*at], length));
                runs_before.push(length.runs_before());
            }
        }
        let encoded = hairspring_host::chains::EncodedRows::new(&encoded)?;
        let mut rig = Rows { now: self.clock.read, encoded, runs_before, chains: Vec::new() };
        for companion in &self.companions {
            table.add_companion(companion);
            rig.chains.extend(companion.code());
        }
        table.set_clock(self.clock.name, self.quantum);
        Ok((table, rig))
    }

    fn group(
        &self,
        all_series: &[Series],
        cycles: &[f64],
        group: &[usize],
        time: Duration,
        run: &mut Run,
    ) -> Result<Vec<Measured>, String> {
        let (mut table, rig) = self.rows(all_series, cycles, group)?;
        let seed = 1 + run.rounds;
        let mut batches = InProcess::new(rig, &self.clock, self.quantum, seed);
        let steal = StealMeter::start(self.cpu);
        let begin = Instant::now();
        let goal = Goal {
            precision: PRECISION,
            level: self.settings.level,
            budget: time,
            is_firm: true,
            least_rounds: LEAST_ROUNDS,
        };
        until_precise(&goal, &mut table, &mut batches, &|| begin.elapsed(), &mut |_| ())
            .map_err(|error| error.to_string())?;
        run.rounds += u64::from(table.rounds());
        let table = table.finished(self.meter.rate());
        let options = Options { level: self.settings.level, ..Options::default() };
        let assessment = match assess(
            &table,
            &Question { options, precision: None, stolen_ms: steal.stolen_ms() },
        ) {
            Ok(found) => found,
            Err(error) => {
                return Ok(group
                    .iter()
                    .map(|at| unmeasured(&all_series[*at], &error.to_string()))
                    .collect());
            }
        };
        run.core_hz = assessment.core_hz.or(run.core_hz);
        let result = |at: &usize| match assessment
            .series
            .iter()
            .find(|series| series.name == at.to_string())
        {
            Some(series) => measured(series, &all_series[*at], self.settings.level),
            None => unmeasured(&all_series[*at], "it has no result"),
        };
        Ok(group.iter().map(result).collect())
    }
}

/// What the result of a series tells of it.
fn measured(series: &SeriesResult, of: &Series, level: f64) -> Measured {
    let time = series.components.first().and_then(|body| body.time.cycles.clone());
    let cycles = time.map(|cycles| in_any_place(cycles, &of.quantity).estimate(level));
    let cycles = cycles.ok_or("the core cycle could not be measured".to_owned());
    let is_nothing =
        cycles.as_ref().is_ok_and(|cycles: &Estimate| cycles.value.abs() < NEARLY_NOTHING);
    let findings =
        series.findings.iter().filter(|finding| is_about(finding, is_nothing)).cloned().collect();
    Measured { cycles, findings, ..unmeasured(of, "") }
}

/// The cycles with what the place of the code may change, which the rows of one place do not show.
/// Chains wait for results, wherever they lie, but for those that nothing executes.
fn in_any_place(cycles: Uncertain, quantity: &Quantity) -> Uncertain {
    let of_place = Contribution::bound(Source::Placement, OF_PLACE * cycles.value.abs());
    let waits = matches!(quantity, Quantity::Latency(_)) && cycles.value > ELIMINATED_CYCLES;
    if waits { cycles } else { cycles.with(of_place) }
}

/// Findings that matter here: a copy that takes no time is a result, and notes say nothing about a
/// single instruction.
fn is_about(finding: &Finding, is_nothing: bool) -> bool {
    const IRRELEVANT_CODES: [&str; 2] = [code::BELOW_RESOLUTION, code::FREQUENCY_STEPPED];
    const OF_NOTHING: [&str; 3] = [code::NEGATIVE, code::WIDE_INTERVAL, code::NON_LINEAR];
    let is_one_of = |codes: &[&str]| codes.iter().any(|code| finding.is(code));
    finding.severity > Severity::Note
        && !is_one_of(&IRRELEVANT_CODES)
        && !(is_nothing && is_one_of(&OF_NOTHING))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_too_wide_by_its_share_of_the_cycles() {
        let doubtful = |quantity, value: f64, half: f64| {
            let cycles = Ok(Estimate { value, low: value - half, high: value + half, level: 0.95 });
            let (form, findings) = (String::new(), Vec::new());
            Measured {
                form,
                quantity,
                values: Default::default(),
                arrangement: crate::Arrangement::Usual,
                cycles,
                findings,
            }
            .is_doubtful()
        };
        let latency = || Quantity::Latency(Vec::new());
        let copies = || Quantity::Throughput(Vec::new());
        assert!(!doubtful(latency(), 4.0, 0.039) && doubtful(latency(), 4.0, 0.041));
        assert!(!doubtful(latency(), 0.17, 0.009), "of an instruction that nothing runs");
        assert!(
            !doubtful(copies(), 0.333, 0.006) && doubtful(copies(), 0.345, 0.008),
            "2 % of a third of a cycle"
        );
        assert!(!doubtful(copies(), 0.01, 0.001));
    }
}
