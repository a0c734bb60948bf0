//! The clock speed of the core, without privilege, performance counter or table of processors:
//! dependent chains in assembly run in short interleaved windows, their slopes come from the
//! engine, and the period of the core is the unit that makes all of them integers (Staelin and
//! McVoy, section 4: the greatest common divisor, with real tolerances).
//!
//! [`classic`] is the paper's own method, for comparison.

pub mod classic;
pub mod document;
mod kinds;
pub mod levels;
pub mod text;

pub use kinds::CoreClockFinding;
pub use levels::{Level, levels};

use crate::lines::{Line, core_hz, is_of_lattice, lengths, lines};
use hairspring_core::divisor::gcd;
use hairspring_core::estimate::ratio::moved;
use hairspring_core::estimate::{Contribution, Estimate, Source, Uncertain};
use hairspring_core::judge::{Finding, Severity, disturbed_finding, shared_finding};
use hairspring_core::observations::{ClockSpread, Observations, Rate};
use hairspring_host::chains::{ChainRole, RULER, chains, name, role_of};
use hairspring_host::clock::Clock;
use hairspring_measure::proof::{Fit, Length};
use hairspring_measure::sampling::Sampling;
use kinds::{FACTOR_UNKNOWN, OFF_LATTICE};
use std::time::{Duration, Instant};

/// Chains that are run: chains of one instruction, and sums of them, to check that they add up.
const CHAINS: [ChainRole; 6] = [
    ChainRole::Multiply,
    ChainRole::Simple,
    ChainRole::Load,
    ChainRole::FloatMultiply,
    ChainRole::SimpleMultiply,
    ChainRole::SimpleMultiplySimple,
];
/// The chains of one instruction: the length of none of them follows from the others.
const SINGLE_INSTRUCTIONS: [ChainRole; 4] =
    [ChainRole::Multiply, ChainRole::Simple, ChainRole::Load, ChainRole::FloatMultiply];
/// By how much a co-runner lengthens a chain at the most, as a share: the load chain of an AMD of
/// family 25 was seen to take 4.05 to 4.6 cycles for 4.
const MOST_LENGTHENED: f64 = 0.25;
/// So much shorter than its length a chain may be measured, as a share.
const SHORTENED_SHARE: f64 = 0.01;
/// Largest distance of a chain from its integer, as a share, at which the speed is computed from
/// it.
const ON_LATTICE: f64 = 0.003;
/// Half-width of the interval, as a share of the speed, above which the system counts as too busy.
const TOO_WIDE: f64 = 0.1;
/// Half-width, as a share of the speed, above which a warning says that the interval is wide.
const WIDE_SHARE: f64 = 0.005;

/// How far the speed may be off, as a share, if something else used the core.
const SHARED_BOUND: f64 = 0.005;
/// Half-width, as a share of the speed, at which no further try is made.
const PRECISE_SHARE: f64 = 0.001;

/// Limits of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Measuring time of a try.
    pub time: Duration,
    /// Most tries; no further one is made after a try without doubts.
    pub tries: u32,
    /// Confidence level of all intervals.
    pub level: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options { time: Duration::from_millis(20), tries: 4, level: 0.95 }
    }
}

/// A chain and its integer length.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainUnits {
    /// Name of the chain.
    pub name: String,
    /// Length of one copy in core cycles.
    pub cycles: Estimate,
    /// Its integer length; `None` for a chain off the lattice, which was left out.
    pub integer: Option<u32>,
}

/// The clock speed of one CPU.
#[derive(Debug, Clone, PartialEq)]
pub struct CoreClock {
    /// The CPU.
    pub cpu: usize,
    /// Core clock in Hz; if it stepped, the level with the longest time.
    pub core_hz: Estimate,
    /// Its error budget, in Hz.
    pub budget: Vec<Contribution>,
    /// Name of the clock that the chains were timed with.
    pub clock: String,
    /// Rate of that clock.
    pub rate: Rate,
    /// Chains with their integers.
    pub chains: Vec<ChainUnits>,
    /// Whether the integers show that the chains share no factor; if not, the speed is only known
    /// up to such a factor.
    pub factor_known: bool,
    /// Levels of the core clock during the run, in Hz, the most frequent first.
    pub levels: Vec<Level>,
    /// Rounds of all chains.
    pub rounds: u32,
    /// Time that it took.
    pub elapsed: Duration,
    /// The clock of other runs, if [`CoreClock::beside_other_runs`] knows it.
    pub of_runs: Option<OfRuns>,
    /// Findings.
    pub findings: Vec<Finding>,
}

/// The core clock that any run on this machine may have, not only this one.
#[derive(Debug, Clone, PartialEq)]
pub struct OfRuns {
    /// The core clock of this run in Hz, with the movement between runs in its interval.
    pub hz: Estimate,
    /// Its error budget, in Hz.
    pub budget: Vec<Contribution>,
    /// Runs that show the movement.
    pub runs: u32,
}

/// Measures the clock speed of the CPU that the calling thread is bound to (see
/// [`hairspring_host::thread::prepare_thread`]).
///
/// # Errors
/// The system is too busy, or there are no chains for this architecture.
pub fn measure(clock: Clock, cpu: usize, options: &Options) -> Result<CoreClock, String> {
    let wanted_chains: Vec<_> =
        chains().into_iter().filter(|chain| CHAINS.contains(&chain.role)).collect();
    if wanted_chains.is_empty() {
        return Err(format!("no chains of known length are built for {}", std::env::consts::ARCH));
    }
    let begin = Instant::now();
    let mut tries: Vec<CoreClock> = Vec::new();
    let mut reason = String::new();
    for attempt in 1..=options.tries.max(1) {
        let sampling = wanted_chains.iter().fold(Sampling::new(clock), Sampling::with_chain);
        match core_clock(&sampling.run(options.time, u64::from(attempt)), options.level) {
            Ok(found) => tries.push(found),
            Err(why) => reason = why,
        }
        if tries.last().is_some_and(CoreClock::is_beyond_doubt) {
            break;
        }
    }
    let shared = interference(&tries, reason.is_empty());
    let best =
        tries.into_iter().reduce(|best, next| if next.is_better_than(&best) { next } else { best });
    let busy = || {
        format!(
            "system too busy: {reason}, in {} tries; try again, or another CPU (--cpu)",
            options.tries.max(1)
        )
    };
    let found = best.ok_or_else(busy)?.doubted(shared);
    Ok(CoreClock { cpu, clock: clock.name.to_owned(), elapsed: begin.elapsed(), ..found })
}

/// The chain of the lattice that something else slowed most in any try, as its length in cycles and
/// its integer; `None` if there is no such chain. A chain that the core renames away has the same
/// length in every try, which shows only if no try failed (`all_ended`); a chain that something
/// else slows does not.
fn interference(tries: &[CoreClock], all_ended: bool) -> Option<(f64, f64)> {
    const SAME_LENGTH: f64 = 0.01;
    let last = tries.last().filter(|last| !last.is_beyond_doubt())?;
    let lengths = |name: &str| -> Vec<f64> {
        tries
            .iter()
            .flat_map(|found| &found.chains)
            .filter(|chain| chain.name == name)
            .map(|chain| chain.cycles.value)
            .collect()
    };
    let off = last.off_lattice();
    let unsteady = off.filter_map(|chain| {
        let (low, high) = lengths(&chain.name)
            .into_iter()
            .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
        let steady = all_ended && tries.len() > 1 && high / low - 1.0 < SAME_LENGTH;
        (!steady).then_some((high, low.round().max(1.0)))
    });
    unsteady.max_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)))
}

impl CoreClock {
    /// Adds the finding about something else on the core, and widens the interval: it may also have
    /// slowed the chains that are still on the lattice.
    fn doubted(mut self, shared: Option<(f64, f64)>) -> CoreClock {
        let Some((control_cycles, expected_cycles)) = shared else { return self };
        self.budget.push(Contribution::bound(Source::Controls, SHARED_BOUND * self.core_hz.value));
        self.core_hz = Uncertain { value: self.core_hz.value, budget: self.budget.clone() }
            .estimate(self.core_hz.level);
        self.findings.retain(|finding| !finding.is(OFF_LATTICE) && !finding.is(FACTOR_UNKNOWN));
        self.findings.insert(0, shared_finding(Severity::Warning, control_cycles, expected_cycles));
        self
    }

    /// Adds the clock of other runs, from how it moved between the runs on this machine.
    #[must_use]
    pub fn beside_other_runs(mut self, between: Option<ClockSpread>) -> CoreClock {
        self.of_runs = between.map(|between| {
            let own_clock = Uncertain { value: self.core_hz.value, budget: self.budget.clone() };
            let clock_of_runs = moved(own_clock.value, 0.0, Some(between))
                .into_iter()
                .fold(own_clock, Uncertain::with);
            OfRuns {
                hz: clock_of_runs.estimate(self.core_hz.level),
                budget: clock_of_runs.budget,
                runs: between.runs,
            }
        });
        self
    }

    /// Chains of the lattice that were left out. Others are no rulers then, and say nothing about
    /// those that are.
    fn off_lattice(&self) -> impl Iterator<Item = &ChainUnits> {
        self.chains.iter().filter(|chain| chain.integer.is_none() && is_of_lattice(&chain.name))
    }

    /// Whether no further try is needed.
    fn is_beyond_doubt(&self) -> bool {
        self.off_lattice().count() == 0
            && self.factor_known
            && self.core_hz.relative() < PRECISE_SHARE
    }

    fn is_better_than(&self, other: &CoreClock) -> bool {
        let rank = |clock: &CoreClock| (!clock.factor_known, clock.off_lattice().count());
        match rank(self).cmp(&rank(other)) {
            std::cmp::Ordering::Equal => self.core_hz.relative() < other.core_hz.relative(),
            order => order.is_lt(),
        }
    }
}

/// The clock speed from a table of chains. Pure.
fn core_clock(table: &Observations, level: f64) -> Result<CoreClock, String> {
    let solved = Solved::new(table, level)?;
    let rate = table.origin.rate.clone().ok_or("the clock has no rate")?;
    let (core_hz, levels) =
        speed(&solved, &rate, level).ok_or_else(|| off_lattice(&solved.lines))?;
    let wide = core_hz.estimate(level).relative();
    if wide > TOO_WIDE {
        return Err(format!("the speed is uncertain by {:.1} %", 100.0 * wide));
    }
    let factor_known = factor_known(&solved.chains);
    Ok(CoreClock {
        cpu: 0,
        core_hz: core_hz.estimate(level),
        budget: core_hz.budget,
        clock: String::new(),
        findings: findings(&solved, factor_known, wide),
        rate,
        chains: solved.chains,
        factor_known,
        levels,
        rounds: table.rounds(),
        elapsed: Duration::ZERO,
        of_runs: None,
    })
}

/// The chains with their lines and their integers.
struct Solved {
    lines: Vec<Line>,
    chains: Vec<ChainUnits>,
}

impl Solved {
    fn new(table: &Observations, level: f64) -> Result<Solved, String> {
        let lines = lines(table, level)?;
        let lengths = lengths(&lines, level, Fit::Close).ok_or_else(|| off_lattice(&lines))?;
        // The unit from each chain; the median is robust against a chain that was slowed.
        let unit_of = |length: &Length| {
            length.integer.map(|integer| length.cycles.value / f64::from(integer))
        };
        let mut units: Vec<f64> = lengths.iter().filter_map(unit_of).collect();
        units.sort_by(f64::total_cmp);
        let unit = units[units.len() / 2];
        let fits = |length: &Length| {
            unit_of(length).is_some_and(|own| (own / unit - 1.0).abs() < ON_LATTICE)
        };
        let chain = |(line, length): (&Line, &Length)| ChainUnits {
            name: line.name.clone(),
            cycles: length.cycles.scaled(1.0 / unit),
            integer: length.integer.filter(|_| fits(length)),
        };
        let chains: Vec<ChainUnits> = lines.iter().zip(&lengths).map(chain).collect();
        let solved = Solved { lines, chains };
        if solved.integer(RULER).is_some() { Ok(solved) } else { Err(off_lattice(&solved.lines)) }
    }

    fn integer(&self, role: ChainRole) -> Option<u32> {
        self.chains.iter().find(|chain| chain.name == name(role)).and_then(|chain| chain.integer)
    }

    /// The chains that the speed is computed from: those on the lattice whose parts are all on the
    /// lattice too.
    fn used(&self) -> impl Iterator<Item = (&Line, f64)> {
        let parts =
            |chain: &ChainUnits| role_of(&chain.name).map_or_else(Vec::new, ChainRole::parts);
        let sound = move |chain: &ChainUnits| {
            parts(chain).into_iter().all(|part| self.integer(part).is_some())
        };
        self.lines
            .iter()
            .zip(&self.chains)
            .filter(move |(_, chain)| sound(chain))
            .filter_map(|(line, chain)| Some((line, f64::from(chain.integer?))))
    }
}

fn off_lattice(lines: &[Line]) -> String {
    let times: Vec<String> = lines
        .iter()
        .map(|line| format!("{} {:.3}", line.name, line.solution.components[0].ticks.value))
        .collect();
    format!(
        "the chains do not lie on an integer lattice (ticks for one copy: {})",
        times.join(", ")
    )
}

/// The speed and the levels, from the longest chain, because the noise of a reading is the same for
/// all. The departure of the other chains from it is in its budget. If the core clock stepped, the
/// speed is that of its most frequent level.
fn speed(solved: &Solved, rate: &Rate, level: f64) -> Option<(Uncertain, Vec<Level>)> {
    let (best, cycles) = solved.used().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let mean = core_hz(best, cycles, rate);
    let distances: Vec<f64> =
        solved.used().map(|(line, n)| core_hz(line, n, rate).value - mean.value).collect();
    let spread =
        (distances.iter().map(|other| other * other).sum::<f64>() / distances.len() as f64).sqrt();
    let counted = Contribution::standard(
        Source::Departure,
        spread / (distances.len() as f64).sqrt(),
        (distances.len() as f64 - 1.0).max(1.0),
    );
    let rated = Contribution::rate(mean.value, rate);
    let blocks: Vec<f64> =
        best.solution.blocks.iter().map(|(_, unknowns)| cycles * rate.hz / unknowns[0]).collect();
    let levels = levels(&blocks, level);
    let time = match levels.as_slice() {
        [first, _, ..] => {
            let bound = Contribution::bound(Source::Noise, first.value.half_width());
            Uncertain { value: first.value.value, budget: vec![bound] }
        }
        _ => mean,
    };
    Some((time.with(counted).with(rated), levels))
}

/// Whether the lengths cannot have a common factor: two chains of one instruction have coprime
/// lengths above 1, whichever of the possible ones a chain has that something may slow. (The true
/// lengths could still be multiples of these; then all chains would share that factor.)
fn factor_known(chains: &[ChainUnits]) -> bool {
    let singles = chains.iter().filter(|chain| {
        role_of(&chain.name).is_some_and(|role| SINGLE_INSTRUCTIONS.contains(&role))
    });
    let possible: Vec<Vec<u32>> = singles
        .map(possible_lengths)
        .filter(|all| all.first().is_some_and(|least| *least > 1))
        .collect();
    let coprime = |a: &[u32], b: &[u32]| {
        a.iter().all(|a| b.iter().all(|b| gcd(u64::from(*a), u64::from(*b)) == 1))
    };
    possible.iter().enumerate().any(|(at, a)| possible[at + 1..].iter().any(|b| coprime(a, b)))
}

/// The whole numbers of cycles that a chain may have: its integer, or where it has none, all that a
/// co-runner may lengthen to what was measured.
fn possible_lengths(chain: &ChainUnits) -> Vec<u32> {
    let cycles = chain.cycles.value;
    let (least_length, most_length) = (
        (cycles / (1.0 + MOST_LENGTHENED)).ceil() as u32,
        (cycles * (1.0 + SHORTENED_SHARE)).floor() as u32,
    );
    chain.integer.map_or_else(|| (least_length..=most_length).collect(), |integer| vec![integer])
}

fn findings(solved: &Solved, factor_known: bool, wide: f64) -> Vec<Finding> {
    let chains = &solved.chains;
    let mut findings = Vec::new();
    let off: Vec<String> = chains
        .iter()
        .filter(|chain| chain.integer.is_none())
        .map(|c| format!("{} ({:.3} cycles)", c.name, c.cycles.value))
        .collect();
    if !off.is_empty() {
        findings.push(Finding::new(Severity::Note, CoreClockFinding::OffLattice { chains: off }));
    }
    if !factor_known {
        findings.push(Finding::new(
            Severity::Warning,
            CoreClockFinding::FactorUnknown {
                chains: chains.iter().filter(|c| c.integer.is_some()).count(),
            },
        ));
    }
    if wide > WIDE_SHARE {
        findings.push(Finding::new(
            Severity::Warning,
            CoreClockFinding::Wide {
                component: "core clock".into(),
                half_width_percent: 100.0 * wide,
            },
        ));
    }
    let share = solved.lines.iter().map(|line| line.solution.share_unused()).sum::<f64>()
        / solved.lines.len() as f64;
    findings.extend(disturbed_finding(share, share, false, None));
    findings
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod coverage;
#[cfg(test)]
mod tests;
