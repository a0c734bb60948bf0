//! The certificate of the instrument: chains whose lengths must be integers, pairs of init and
//! body, the clock, and the coverage of the intervals over repeated short runs.

pub mod coverage;

pub mod document;
pub mod kinds;
mod short_runs;
pub mod standing;
pub mod text;
pub mod trust;
pub mod verdict;

pub use standing::Standing;
pub use verdict::{ON_LATTICE_PERCENT, PAIR_PERCENT, Verdict};

use crate::lines::{InCycles, Line, core_hz, lengths, lines};
use coverage::Coverage;
use hairspring_core::estimate::Estimate;
use hairspring_core::judge::{Finding, Severity, code};
use hairspring_core::observations::{Observations, Rate};
use hairspring_host::chains::{InitBody, RULER, chains, name, pairs};
use hairspring_host::clock::{Clock, Reading, granularity};
use hairspring_measure::proof::{Fit, Length};
use hairspring_measure::sampling::Sampling;
use kinds::CertificateFinding;
use short_runs::ShortRuns;
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
        Effort {
            per_chain: Duration::from_millis(50),
            coverage_runs: 40,
            per_short_run: Duration::from_millis(8),
            level: 0.95,
        }
    }
}

/// A chain.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainResult {
    /// Name of the chain.
    pub name: String,
    /// Length in core cycles; that of the ruler is exact by definition.
    pub cycles: Estimate,
    /// The shortest and the longest of its lengths in parts of the run and in short runs, but for a
    /// tenth of them on either side.
    pub parts: (f64, f64),
    /// The integer that it is proved to take, or the one it is closest to.
    pub integer: u32,
    /// Distance from the integer, in percent of it.
    pub distance_percent: f64,
    /// Whether it takes this integer here.
    pub standing: Standing,
    /// Short runs whose interval contained the integer; `None` for the ruler, and where there were
    /// no short runs.
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
    /// Short runs that were made.
    pub made: u32,
    /// Share of the readings that nobody else disturbed; `None` where the reads of the clock do not
    /// show it.
    pub quiet_share: Option<f64>,
    /// Factor on the half-widths of the short runs' intervals with which they would hold as often
    /// as their level says; `None` where there were no short runs.
    pub widening: Option<f64>,
    /// Findings.
    pub findings: Vec<Finding>,
}

/// Largest quantum of a clock that can show the chains, in nanoseconds: their longest rows take
/// about a microsecond.
const COARSEST_NS: f64 = 10_000.0;

/// Whether a clock is fine enough for chains.
///
/// # Errors
/// The message names the quantum and the largest one allowed.
pub fn fine_enough(clock: &Clock) -> Result<(), String> {
    let quantum_ns =
        clock.nominal_hz.map_or(0.0, |hz| granularity(clock.read).quantum as f64 * 1e9 / hz);
    if quantum_ns <= COARSEST_NS {
        return Ok(());
    }
    Err(format!(
        "clock `{}` moves in steps of {} ms, and the chains take about a microsecond: verify with \
         a clock that steps by less than {} us, such as {}",
        clock.name,
        (quantum_ns / 1e3).round() / 1e3,
        COARSEST_NS / 1e3,
        hairspring_host::clock::default_clock().name
    ))
}

/// Runs all chains until those of the lattice lie on it. On a busy machine a short run is disturbed
/// too much, so each further run takes twice the time of the one before.
fn proved_run(
    clock: Clock,
    effort: &Effort,
) -> Result<(Observations, Vec<Line>, Vec<Length>), String> {
    const TRIES: u32 = 5;
    for attempt in 0..TRIES {
        let table =
            full_run(clock, &Effort { per_chain: effort.per_chain * (1 << attempt), ..*effort });
        let lines = lines(&table, effort.level)?;
        let fit = if attempt + 1 == TRIES { Fit::Lengthened } else { Fit::Close };
        if let Some(found_lengths) = lengths(&lines, effort.level, fit) {
            return Ok((table, lines, found_lengths));
        }
    }
    Err("the chains do not lie on an integer lattice: the machine is too busy, or its core renames \
         them away".into())
}

/// Makes the certificate.
///
/// # Errors
/// There are no chains for this architecture, or the chains lie on no lattice.
pub fn verify(clock: Clock, effort: &Effort) -> Result<Certificate, String> {
    if chains().is_empty() {
        return Err(format!("no chains of known length are built for {}", std::env::consts::ARCH));
    }
    let (table, lines, lengths) = proved_run(clock, effort)?;
    let ruler = lines
        .iter()
        .position(|line| line.name == name(RULER))
        .ok_or("the ruler chain is missing")?;
    let ruler_cycles =
        f64::from(lengths[ruler].integer.ok_or("the ruler chain is off the lattice")?);
    let measured = InCycles::new(&table, ruler_cycles, effort.level)
        .ok_or("the ruler chain cannot be solved")?;
    let short = ShortRuns::new(clock, effort, ruler_cycles);
    let runs = |line: &Line| short.lengths(&line.name);
    let of_chain = |(line, length): (&Line, Length)| {
        chain_result(&measured, line, length.beside_runs(&runs(line)))
    };
    let chains: Vec<ChainResult> = lines.iter().zip(lengths).filter_map(of_chain).collect();
    let chains: Vec<ChainResult> = chains.into_iter().map(|chain| short.covering(chain)).collect();
    let rate = table.origin.rate.clone().ok_or("the clock has no rate")?;
    let (overhead_ticks, core_hz) = (
        lines[ruler].solution.overhead.ok_or("no overhead")?,
        core_hz(&lines[ruler], ruler_cycles, &rate).estimate(effort.level),
    );
    let mut certificate = Certificate {
        clock: clock.name.to_owned(),
        reading: granularity(&clock),
        overhead_ticks,
        core_hz,
        widening: short.widening(&chains),
        chains,
        pairs: pair_results(&measured, ruler_cycles)?,
        refused: short.refused,
        made: short.made(),
        quiet_share: measured.quiet_share(),
        findings: findings(&measured),
        rate,
    };
    let further = [standing::findings(&certificate.chains), seldom_covered(&certificate)].concat();
    certificate.findings.extend(further);
    Ok(certificate)
}

/// Findings about chains whose intervals hold in few short runs, by chance.
fn seldom_covered(certificate: &Certificate) -> Vec<Finding> {
    let low = coverage::judge(&certificate.covered(), certificate.core_hz.level).low_by_chance;
    let finding = |(name, coverage): (&str, Coverage)| {
        let kind = CertificateFinding::ChainSeldomCovered {
            chain: name.to_owned(),
            hits: coverage.hits,
            runs: coverage.runs,
        };
        Finding::new(Severity::Note, kind)
    };
    low.into_iter().map(finding).collect()
}

/// All chains and pairs in the same rounds.
fn full_run(clock: Clock, effort: &Effort) -> Observations {
    let (all_chains, all_pairs) = (chains(), pairs());
    let sampling = all_chains.iter().fold(Sampling::new(clock), Sampling::with_chain);
    let sampling = all_pairs.iter().fold(sampling, Sampling::with_pair);
    sampling.run(effort.per_chain * (all_chains.len() + all_pairs.len()) as u32, 1)
}

fn chain_result(measured: &InCycles, line: &Line, length: Length) -> Option<ChainResult> {
    let exact = |value: f64| Estimate { value, low: value, high: value, level: measured.level() };
    // The ruler is exact by definition.
    let is_ruler = line.name == name(RULER);
    let cycles = if is_ruler { exact(measured.cycles()) } else { measured.first(&line.name)? };
    let length = Length { cycles, ..length };
    let integer = length.integer.unwrap_or((length.undisturbed.round() as u32).max(1));
    let distance_percent = 100.0 * (cycles.value / f64::from(integer) - 1.0);
    let standing = if is_ruler { Standing::Whole } else { Standing::of(&length) };
    Some(ChainResult {
        name: line.name.clone(),
        cycles,
        parts: length.parts,
        integer,
        distance_percent,
        standing,
        coverage: None,
    })
}

fn pair_results(measured: &InCycles, ruler_cycles: f64) -> Result<Vec<PairResult>, String> {
    let result = |pair: &InitBody| {
        let components = measured.components(pair.name).ok_or("a pair cannot be solved")?;
        let part = |name: &str, units: u32| -> Result<(Estimate, f64), String> {
            let component_cycles = components
                .iter()
                .find(|component| component.name == name)
                .and_then(|component| component.time.cycles.as_ref());
            let cycles = component_cycles
                .ok_or("body and init cannot be separated")?
                .estimate(measured.level());
            Ok((cycles, f64::from(units) * ruler_cycles))
        };
        Ok(PairResult {
            name: pair.name.to_owned(),
            body: part("body", pair.units.0)?,
            init: part("init", pair.units.1)?,
        })
    };
    pairs().iter().map(result).collect()
}

/// What is said of the chains, each kind once: a step of the core clock, what disturbed readings,
/// and what is serious.
fn findings(measured: &InCycles) -> Vec<Finding> {
    let is_told = |finding: &&Finding| match finding.severity {
        Severity::Note => [code::FREQUENCY_STEPPED, code::DISTURBED, code::CORE_SHARED]
            .into_iter()
            .any(|code| finding.is(code)),
        // Ticks follow the core clock; the chains are judged in core cycles.
        _ => !finding.is(code::WIDE_INTERVAL),
    };
    let mut findings: Vec<Finding> = Vec::new();
    for finding in measured.findings().filter(is_told) {
        match findings.iter_mut().find(|known| known.code == finding.code) {
            Some(known) if known.severity >= finding.severity => {}
            Some(known) => *known = finding.clone(),
            None => findings.push(finding.clone()),
        }
    }
    findings
}
