//! The clock speed of the core, without privilege, performance counter or table of processors: dependent chains in
//! assembly run in short interleaved windows, their slopes come from the engine, and the period of the core is the unit
//! that makes all of them integers (Staelin and McVoy, section 4: the greatest common divisor, with real tolerances).
//!
//! [`classic`] is the paper's own method, to compare with.

pub mod classic;

use crate::lines::{Line, core_hz, lines};
use crate::sampling::Sampling;
use hairspring::clock::Clock;
use hairspring::estimate::lattice::lattice;
use hairspring::estimate::levels::{Level, levels};
use hairspring::estimate::ratio::ratio;
use hairspring::estimate::{Contribution, Estimate, Source};
use hairspring::judge::{Finding, FindingKind, Severity, interference_findings};
use hairspring::observations::{Observations, Rate};
use hairspring::reference::{RULER, chains};
use std::time::{Duration, Instant};

/// Chains that are run: of one instruction each, and sums of them, which show that the sums add up.
const CHAINS: [&str; 6] = ["imul", "xor", "load", "mulsd", "xor+imul", "xor+imul+xor"];
/// Those of one instruction: no length of theirs follows from another's.
const SINGLE: [&str; 4] = ["imul", "xor", "load", "mulsd"];
/// Chains that must lie on the lattice, so that chance cannot make one.
const NEEDED: usize = 4;
/// Distance of a chain from its integer up to which it takes part in the speed.
const ON_LATTICE: f64 = 0.003;
/// Half-width of the interval, as a share of the speed, from which on the system counts as too busy.
const TOO_WIDE: f64 = 0.005;

/// Half-width, as a share of the speed, at which no further try is made.
const PRECISE: f64 = 0.001;

/// What to spend.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Measuring time of the first try; each further one takes as much again on top.
    pub time: Duration,
    /// Tries before the system is called too busy.
    pub tries: u32,
    /// Confidence level of all intervals.
    pub level: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options { time: Duration::from_millis(40), tries: 4, level: 0.95 }
    }
}

/// A chain and the integer that it is.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainUnits {
    /// Name of the chain.
    pub name: String,
    /// Length of one copy in core cycles.
    pub cycles: Estimate,
    /// The integer it is; `None` for a chain that breaks the lattice and was left out.
    pub integer: Option<u32>,
}

/// The clock speed of one CPU.
#[derive(Debug, Clone, PartialEq)]
pub struct CoreClock {
    /// The CPU.
    pub cpu: usize,
    /// Core clock in Hz; where it stepped, of the level that it was on for the longest.
    pub core_hz: Estimate,
    /// Name of the clock that the chains were timed with.
    pub clock: String,
    /// Rate of that clock.
    pub rate: Rate,
    /// Chains with their integers.
    pub chains: Vec<ChainUnits>,
    /// Whether the integers exclude that all chains share a factor; if not, the speed is known up to that factor.
    pub factor_known: bool,
    /// Levels that the core clock was on during the run, in Hz, the most frequent first.
    pub levels: Vec<Level>,
    /// Rounds of all chains.
    pub rounds: u32,
    /// Time that it took.
    pub elapsed: Duration,
    /// Doubts.
    pub findings: Vec<Finding>,
}

/// Measures the clock speed of the CPU that the calling thread is bound to (see [`hairspring::acquire::settle`]).
///
/// # Errors
/// "System too busy" with what was seen, or that no chains are built for this architecture.
pub fn measure(clock: Clock, cpu: usize, options: &Options) -> Result<CoreClock, String> {
    let wanted: Vec<_> = chains().into_iter().filter(|chain| CHAINS.contains(&chain.name)).collect();
    if wanted.is_empty() {
        return Err(format!("no chains of known length are built for {}", std::env::consts::ARCH));
    }
    let begin = Instant::now();
    let mut best: Option<CoreClock> = None;
    let mut reason = String::new();
    for attempt in 1..=options.tries.max(1) {
        let sampling = wanted.iter().fold(Sampling::new(clock), Sampling::with_chain);
        let table = sampling.run(options.time * attempt, u64::from(attempt));
        match core_clock(&table, options.level) {
            Ok(found) if best.as_ref().is_none_or(|best| found.is_better_than(best)) => best = Some(found),
            Ok(_) => {}
            Err(why) => reason = why,
        }
        if best.as_ref().is_some_and(CoreClock::is_beyond_doubt) {
            break;
        }
    }
    let found =
        best.ok_or_else(|| format!("system too busy: {reason}, in {} tries; try again, or another CPU (--cpu)", options.tries.max(1)))?;
    Ok(CoreClock { cpu, clock: clock.name.to_owned(), elapsed: begin.elapsed(), ..found })
}

impl CoreClock {
    fn left_out(&self) -> usize {
        self.chains.iter().filter(|chain| chain.integer.is_none()).count()
    }

    /// Whether further tries could not show more.
    fn is_beyond_doubt(&self) -> bool {
        self.left_out() == 0 && self.factor_known && self.core_hz.relative() < PRECISE
    }

    fn is_better_than(&self, other: &CoreClock) -> bool {
        let rank = |found: &CoreClock| (!found.factor_known, found.left_out());
        match rank(self).cmp(&rank(other)) {
            std::cmp::Ordering::Equal => self.core_hz.relative() < other.core_hz.relative(),
            order => order.is_lt(),
        }
    }
}

/// The clock speed from a table of chains. Pure.
fn core_clock(table: &Observations, level: f64) -> Result<CoreClock, String> {
    let rate = table.origin.rate.clone().ok_or("the clock has no rate")?;
    let lines = lines(table, level)?;
    // In copies of the ruler: a step of the core clock moves all chains of a round alike, and cancels.
    let ruler = lines.iter().find(|line| line.name == RULER).ok_or("the ruler chain is missing")?;
    let in_rulers = |line: &Line| ratio(line.first(), ruler.first()).map(|ratio| ratio.estimate(level));
    let slopes: Vec<Estimate> = lines.iter().map(in_rulers).collect::<Option<_>>().ok_or_else(|| off_lattice(&lines))?;
    let found = lattice(&slopes, NEEDED).ok_or_else(|| off_lattice(&lines))?;
    // The unit as each chain has it; their median is not moved by one that something else slowed.
    let mut units: Vec<f64> = slopes.iter().zip(&found.integers).filter_map(|(s, n)| n.map(|n| s.value / f64::from(n))).collect();
    units.sort_by(f64::total_cmp);
    let unit = units[units.len() / 2];
    let fits = |at: usize| found.integers[at].filter(|n| (slopes[at].value / f64::from(*n) / unit - 1.0).abs() < ON_LATTICE);
    let chains: Vec<ChainUnits> = (0..lines.len())
        .map(|at| ChainUnits { name: lines[at].name.clone(), cycles: slopes[at].scaled(1.0 / unit), integer: fits(at) })
        .collect();
    if chains.iter().filter(|chain| chain.integer.is_some()).count() < NEEDED {
        return Err(off_lattice(&lines));
    }
    let (mean, levels) = speed(&lines, &chains, &rate, level).ok_or_else(|| off_lattice(&lines))?;
    let core_hz = if levels.len() > 1 { levels[0].value } else { mean };
    if core_hz.relative() > TOO_WIDE {
        return Err(format!("the speed is uncertain by {:.1} %", 100.0 * core_hz.relative()));
    }
    let factor_known = factor_known(&chains);
    Ok(CoreClock {
        cpu: 0,
        core_hz,
        clock: String::new(),
        findings: findings(&lines, &chains, factor_known),
        rate,
        chains,
        factor_known,
        levels,
        rounds: table.rounds(),
        elapsed: Duration::ZERO,
    })
}

fn off_lattice(lines: &[Line]) -> String {
    let times: Vec<String> = lines.iter().map(|line| format!("{} {:.3}", line.name, line.solution.components[0].ticks.value)).collect();
    format!("the chains do not lie on an integer lattice (ticks for one copy: {})", times.join(", "))
}

/// The mean speed and the levels, from the longest chain: the noise of a reading is the same for all. The other chains'
/// departure from it is in its budget.
fn speed(lines: &[Line], chains: &[ChainUnits], rate: &Rate, level: f64) -> Option<(Estimate, Vec<Level>)> {
    let used = || chains.iter().enumerate().filter_map(|(at, chain)| chain.integer.map(|n| (at, f64::from(n))));
    let (best, cycles) = used().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let mean = core_hz(&lines[best], cycles, rate);
    let others: Vec<f64> = used().map(|(at, n)| core_hz(&lines[at], n, rate).value - mean.value).collect();
    let spread = (others.iter().map(|other| other * other).sum::<f64>() / others.len() as f64).sqrt();
    let counted = Contribution::standard(Source::LackOfFit, spread / (others.len() as f64).sqrt(), others.len() as f64 - 1.0);
    let rated = Contribution::standard(Source::Rate, mean.value * rate.uncertainty_ppm * 1e-6, f64::INFINITY);
    let blocks: Vec<f64> = lines[best].solution.blocks.iter().map(|(_, unknowns)| cycles * rate.hz / unknowns[0]).collect();
    Some((mean.with(counted).with(rated).estimate(level), levels(&blocks, level)))
}

/// Whether the lengths cannot all have a common factor: two chains of one instruction have coprime lengths, and
/// neither is just the unit. (All may still be a multiple of something; then all would have to share that factor.)
fn factor_known(chains: &[ChainUnits]) -> bool {
    let singles: Vec<u32> =
        chains.iter().filter(|chain| SINGLE.contains(&chain.name.as_str())).filter_map(|chain| chain.integer).filter(|n| *n > 1).collect();
    singles.iter().enumerate().any(|(at, a)| singles[at + 1..].iter().any(|b| gcd(*a, *b) == 1))
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn findings(lines: &[Line], chains: &[ChainUnits], factor_known: bool) -> Vec<Finding> {
    let mut all = Vec::new();
    let off: Vec<String> =
        chains.iter().filter(|chain| chain.integer.is_none()).map(|c| format!("{} ({:.3} cycles)", c.name, c.cycles.value)).collect();
    if !off.is_empty() {
        all.push(Finding::new(Severity::Note, FindingKind::OffLattice { chains: off }));
    }
    if !factor_known {
        all.push(Finding::new(
            Severity::Warning,
            FindingKind::FactorUnknown { chains: chains.iter().filter(|c| c.integer.is_some()).count() },
        ));
    }
    let share = lines.iter().map(|line| line.solution.share_unused()).sum::<f64>() / lines.len() as f64;
    all.extend(interference_findings(share, None));
    all
}

#[cfg(test)]
mod tests;
