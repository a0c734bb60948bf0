//! The certificate of the instrument: chains whose lengths must be integers, pairs of init and body, the clock, and the
//! coverage of the intervals over repeated short runs.

pub mod coverage;

pub mod document;
pub mod kinds;
pub mod text;
pub mod trust;

use crate::lines::{InCycles, Line, core_hz, lines};
use coverage::Coverage;
use hairspring_core::estimate::Estimate;
use hairspring_core::estimate::ratio::of_first;
use hairspring_core::judge::{Finding, Severity, code};
use hairspring_core::observations::{Observations, Rate};
use hairspring_host::chains::{InitBody, RULER, chains, name, pairs};
use hairspring_host::clock::{Clock, Reading, granularity};
use hairspring_measure::lattice::{Lattice, lattice};
use hairspring_measure::sampling::Sampling;
use kinds::CertificateFinding;
use std::time::Duration;

/// What to spend on the certificate.
#[derive(Debug, Clone, PartialEq)]
pub struct Effort {
    /// Measuring time of each chain and of each pair.
    pub per_chain: Duration,
    /// Short runs for the coverage of the intervals; 0 leaves it out.
    pub coverage_runs: u32,
    /// Measuring time of each chain in a short run.
    pub per_short_run: Duration,
    /// Confidence level.
    pub level: f64,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { per_chain: Duration::from_millis(50), coverage_runs: 40, per_short_run: Duration::from_millis(8), level: 0.95 }
    }
}

/// A chain on the lattice.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainResult {
    /// Name of the chain.
    pub name: String,
    /// Length in core cycles; that of the ruler is exact by definition.
    pub cycles: Estimate,
    /// The integer it is closest to.
    pub integer: u32,
    /// Distance from the integer, in percent of it.
    pub distance_percent: f64,
    /// Short runs whose interval contained the integer; `None` for the ruler, and where there were no short runs.
    pub coverage: Option<Coverage>,
}

/// An init and body pair.
#[derive(Debug, Clone, PartialEq)]
pub struct PairResult {
    /// Name of the pair.
    pub name: String,
    /// Body in core cycles and its true length.
    pub body: (Estimate, f64),
    /// Init in core cycles and its true length.
    pub init: (Estimate, f64),
}

/// The certificate.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// Name of the clock.
    pub clock: String,
    /// Its resolution and read cost.
    pub reading: Reading,
    /// Its rate.
    pub rate: Rate,
    /// Overhead of a row: the cost of the two reads as the line shows it, in ticks.
    pub overhead_ticks: Estimate,
    /// Core clock in Hz.
    pub core_hz: Estimate,
    /// Chains.
    pub chains: Vec<ChainResult>,
    /// Pairs.
    pub pairs: Vec<PairResult>,
    /// Short runs that were refused, because somebody else used the core most of the time.
    pub refused: u32,
    /// Factor on the half-widths of the short runs' intervals with which they would hold as often as their level says; `None`
    /// where there were no short runs.
    pub widening: Option<f64>,
    /// Findings.
    pub findings: Vec<Finding>,
}

/// Short runs that may be refused for each one that is made.
const REFUSED_FOR_ONE: u32 = 3;
/// Distance from the integer up to which a chain counts as on the lattice, in percent.
pub const ON_LATTICE_PERCENT: f64 = 0.5;
/// Distance of a body behind an init that is accepted, in percent.
pub const PAIR_PERCENT: f64 = 1.0;

impl Certificate {
    /// Messages about failed checks; empty if the instrument measures correctly.
    pub fn failures(&self) -> Vec<String> {
        let off = self
            .chains
            .iter()
            .filter(|chain| chain.distance_percent.abs() > ON_LATTICE_PERCENT)
            .map(|chain| format!("chain {} is {:+.2} % off its integer {}", chain.name, chain.distance_percent, chain.integer));
        let wrong = self
            .pairs
            .iter()
            .filter(|pair| (pair.body.0.value / pair.body.1 - 1.0).abs() > PAIR_PERCENT / 100.0)
            .map(|pair| format!("{}: body {:.2} cycles instead of {}", pair.name, pair.body.0.value, pair.body.1));
        let made = self.covered().first().map_or(0, |(_, coverage)| coverage.runs);
        let refused = (self.refused > REFUSED_FOR_ONE * made)
            .then(|| format!("{} short runs were refused, because something else used the core, and {made} were made", self.refused));
        off.chain(wrong).chain(refused).chain(coverage::judge(&self.covered(), self.core_hz.level).failures).collect()
    }

    /// The chains that were tried in short runs.
    pub fn covered(&self) -> Vec<(&str, Coverage)> {
        self.chains.iter().filter_map(|chain| chain.coverage.map(|coverage| (chain.name.as_str(), coverage))).collect()
    }
}

/// Largest quantum of a clock that can show the chains, in nanoseconds: their longest rows take about a microsecond.
const COARSEST_NS: f64 = 10_000.0;

/// Whether a clock is fine enough for chains.
///
/// # Errors
/// The message names the quantum and the largest one allowed.
pub fn fine_enough(clock: &Clock) -> Result<(), String> {
    let quantum_ns = clock.nominal_hz.map_or(0.0, |hz| granularity(clock.read).quantum as f64 * 1e9 / hz);
    if quantum_ns <= COARSEST_NS {
        return Ok(());
    }
    Err(format!(
        "clock `{}` moves in steps of {} ms, and the chains take about a microsecond: verify with a clock that steps by less than {} us, such as {}",
        clock.name,
        (quantum_ns / 1e3).round() / 1e3,
        COARSEST_NS / 1e3,
        hairspring_host::clock::default_clock().name
    ))
}

/// Runs all chains until most of them lie on an integer lattice. On a busy machine a short run is disturbed too much, so each
/// further run takes twice the time of the one before.
fn proved_run(clock: Clock, effort: &Effort, chains: usize) -> Result<(Observations, Vec<Line>, Lattice), String> {
    const TRIES: u32 = 5;
    for attempt in 0..TRIES {
        let table = full_run(clock, &Effort { per_chain: effort.per_chain * (1 << attempt), ..*effort });
        let lines = lines(&table, effort.level)?;
        // Most chains must be integers; a chain that is not is reported, not rounded.
        if let Some(found) = in_references(&lines, effort.level).and_then(|lengths| lattice(&lengths, chains * 3 / 4)) {
            return Ok((table, lines, found));
        }
    }
    Err("the chains do not lie on an integer lattice: the machine is too busy, or its core renames them away".into())
}

/// The lengths of the chains as ratios to the reference chain, which do not change with the core clock.
fn in_references(lines: &[Line], level: f64) -> Option<Vec<Estimate>> {
    let reference = &lines.iter().find(|line| line.name == name(RULER))?.solution;
    lines.iter().map(|line| of_first(&line.solution, reference, level)).collect()
}

/// Makes the certificate.
///
/// # Errors
/// There are no chains for this architecture, or the chains lie on no lattice.
pub fn verify(clock: Clock, effort: &Effort) -> Result<Certificate, String> {
    let all = chains();
    if all.is_empty() {
        return Err(format!("no chains of known length are built for {}", std::env::consts::ARCH));
    }
    let (table, lines, found) = proved_run(clock, effort, all.len())?;
    let ruler = lines.iter().position(|line| line.name == name(RULER)).ok_or("the ruler chain is missing")?;
    let ruler_cycles = f64::from(found.integers[ruler].ok_or("the ruler chain is off the lattice")?);
    let measured = InCycles::new(&table, ruler_cycles, effort.level).ok_or("the ruler chain cannot be solved")?;
    let mut results = lines.iter().filter_map(|line| chain_result(&measured, line)).collect::<Vec<ChainResult>>();
    let (widening, refused) = cover(clock, effort, ruler_cycles, &mut results);
    let rate = table.origin.rate.clone().ok_or("the clock has no rate")?;
    let (overhead_ticks, core_hz) =
        (lines[ruler].solution.overhead.ok_or("no overhead")?, core_hz(&lines[ruler], ruler_cycles, &rate).estimate(effort.level));
    let mut certificate = Certificate {
        clock: clock.name.to_owned(),
        reading: granularity(&clock),
        overhead_ticks,
        core_hz,
        chains: results,
        pairs: pair_results(&measured, ruler_cycles)?,
        refused,
        widening,
        findings: findings(&measured),
        rate,
    };
    let seldom = seldom_covered(&certificate);
    certificate.findings.extend(seldom);
    Ok(certificate)
}

/// Findings about chains whose intervals hold in few short runs, by chance.
fn seldom_covered(certificate: &Certificate) -> Vec<Finding> {
    let low = coverage::judge(&certificate.covered(), certificate.core_hz.level).low_by_chance;
    let finding = |(name, coverage): (&str, Coverage)| {
        let kind = CertificateFinding::ChainSeldomCovered { chain: name.to_owned(), hits: coverage.hits, runs: coverage.runs };
        Finding::new(Severity::Note, kind)
    };
    low.into_iter().map(finding).collect()
}

/// All chains and pairs in the same rounds.
fn full_run(clock: Clock, effort: &Effort) -> Observations {
    let (all, both) = (chains(), pairs());
    let sampling = all.iter().fold(Sampling::new(clock), Sampling::with_chain);
    let sampling = both.iter().fold(sampling, Sampling::with_pair);
    sampling.run(effort.per_chain * (all.len() + both.len()) as u32, 1)
}

fn chain_result(measured: &InCycles, line: &Line) -> Option<ChainResult> {
    let exact = |value: f64| Estimate { value, low: value, high: value, level: measured.level() };
    // The ruler is exact by definition.
    let cycles = if line.name == name(RULER) { exact(measured.cycles()) } else { measured.first(&line.name)? };
    let integer = (cycles.value.round() as u32).max(1);
    let distance_percent = 100.0 * (cycles.value / f64::from(integer) - 1.0);
    Some(ChainResult { name: line.name.clone(), cycles, integer, distance_percent, coverage: None })
}

fn pair_results(measured: &InCycles, ruler_cycles: f64) -> Result<Vec<PairResult>, String> {
    let result = |pair: &InitBody| {
        let components = measured.components(pair.name).ok_or("a pair cannot be solved")?;
        let part = |name: &str, units: u32| -> Result<(Estimate, f64), String> {
            let found = components.iter().find(|component| component.name == name).and_then(|component| component.time.cycles.as_ref());
            let cycles = found.ok_or("body and init cannot be separated")?.estimate(measured.level());
            Ok((cycles, f64::from(units) * ruler_cycles))
        };
        Ok(PairResult { name: pair.name.to_owned(), body: part("body", pair.units.0)?, init: part("init", pair.units.1)? })
    };
    pairs().iter().map(result).collect()
}

/// Repeats short runs, and counts for every chain how often its interval contains its integer. Runs that would not be trusted as
/// measurements, because somebody else used the core, are refused and made again. Returns the factor on the half-widths with which the
/// intervals of all chains would hold as often as their level says, and the number of runs that were refused.
fn cover(clock: Clock, effort: &Effort, ruler_cycles: f64, results: &mut [ChainResult]) -> (Option<f64>, u32) {
    let all = chains();
    let mut distances = vec![Vec::new(); results.len()];
    let (mut made, mut refused) = (0, 0);
    while made < effort.coverage_runs && refused <= REFUSED_FOR_ONE * effort.coverage_runs {
        let sampling = all.iter().fold(Sampling::new(clock), Sampling::with_chain);
        let table = sampling.run(effort.per_short_run * all.len() as u32, 100 + u64::from(made + refused));
        let measured = InCycles::new(&table, ruler_cycles, effort.level);
        if measured.as_ref().is_some_and(InCycles::is_disturbed) {
            refused += 1;
            continue;
        }
        made += 1;
        for (result, distances) in results.iter().zip(&mut distances) {
            distances.push(measured.as_ref().and_then(|measured| distance(measured, result)).unwrap_or(f64::INFINITY));
        }
    }
    let is_covered = |result: &ChainResult| result.name != name(RULER) && made > 0;
    for (result, distances) in results.iter_mut().zip(&distances).filter(|(result, _)| is_covered(result)) {
        let hits = distances.iter().filter(|distance| **distance <= 1.0).count() as u32;
        result.coverage = Some(Coverage { hits, runs: made });
    }
    let covered = results.iter().zip(distances).filter(|(result, _)| is_covered(result));
    (trust::widening(covered.flat_map(|(_, distances)| distances).collect(), effort.level), refused)
}

/// Distance of a chain from its integer in a short run, in half-widths of its interval.
fn distance(measured: &InCycles, chain: &ChainResult) -> Option<f64> {
    let cycles = measured.first(&chain.name)?;
    Some((cycles.value - f64::from(chain.integer)).abs() / cycles.half_width()).filter(|distance| !distance.is_nan())
}

/// What is said of the chains, each kind once: a step of the core clock, what disturbed readings, and what is serious.
fn findings(measured: &InCycles) -> Vec<Finding> {
    let is_told = |finding: &&Finding| match finding.severity {
        Severity::Note => [code::FREQUENCY_STEPPED, code::DISTURBED, code::CORE_SHARED].into_iter().any(|code| finding.is(code)),
        // Ticks follow the core clock; the chains are judged in core cycles.
        _ => !finding.is(code::WIDE_INTERVAL),
    };
    let mut all: Vec<Finding> = Vec::new();
    for finding in measured.findings().filter(is_told) {
        match all.iter_mut().find(|known| known.code == finding.code) {
            Some(known) if known.severity >= finding.severity => {}
            Some(known) => *known = finding.clone(),
            None => all.push(finding.clone()),
        }
    }
    all
}
