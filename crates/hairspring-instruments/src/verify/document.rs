//! The document of `verify`: the instrument's certificate.

use crate::doctor::document::MachineJson;
use crate::verify::trust::Trust;
use crate::verify::{Certificate, ChainResult, PairResult, Standing, Verdict};
use hairspring_core::Estimate;
use hairspring_host::chains::{RULER, name};
use hairspring_result::Finding;
use hairspring_result::document::finite;
use hairspring_result::{Clock, Environment, Reference};
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CertificateSchema {
    /// First version.
    #[serde(rename = "hairspring/certificate/1")]
    V1,
}

/// The certificate that the instrument measures correctly on this machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring certificate"))]
pub struct CertificateDocument {
    /// Name and version of this format.
    pub schema: CertificateSchema,
    /// The verb that made it.
    pub command: String,
    /// Circumstances.
    pub environment: Environment,
    /// The clock.
    pub clock: Option<Clock>,
    /// Quantum of the clock in ticks; `null` where it never moved.
    pub granularity_ticks: Option<u64>,
    /// Mean time between two reads, in ticks.
    pub read_cost_ticks: Option<f64>,
    /// Times that the clock went backwards.
    pub backward: usize,
    /// Overhead of a row in ticks.
    pub overhead_ticks: Option<Estimate>,
    /// Core clock in Hz.
    pub core_hz: Option<Estimate>,
    /// Ticks per second.
    pub tick_hz: Option<Estimate>,
    /// Chains of instructions that depend on each other.
    pub chains: Vec<ChainJson>,
    /// Init and body pairs of known lengths.
    pub pairs: Vec<PairJson>,
    /// How far measurements can be trusted on this machine now, whether the checks passed or not.
    pub trust: TrustJson,
    /// What this machine can and cannot give; `null` where that was not measured.
    pub machine: Option<MachineJson>,
    /// Findings.
    pub findings: Vec<Finding>,
    /// Whether the instrument measures correctly, or does not, or something else kept it from being
    /// checked.
    pub verdict: Verdict,
    /// Checks that the instrument failed.
    pub failures: Vec<String>,
    /// Checks that say nothing about the instrument, because something else used the core or
    /// intervals were too wide.
    pub open: Vec<String>,
    /// Whether all checks passed.
    pub passed: bool,
}

/// The certificate in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrustJson {
    /// Largest distance of a chain from its integer, in percent, of those with a whole length that
    /// nothing slows.
    pub chains_within_percent: Option<f64>,
    /// Largest distance of a body behind an init from its true length, in percent.
    pub bodies_within_percent: Option<f64>,
    /// Share of the intervals of all chains in short runs that contained the integer; `null` where
    /// there were none.
    pub coverage: Option<f64>,
    /// Number of these intervals: chains times short runs.
    pub intervals: u32,
    /// Short runs that were refused and made again, because something else used the core most of
    /// the time: measurements would not be trusted then.
    pub refused_runs: u32,
    /// Factor on the half-widths with which that share would be the confidence level; `null` where
    /// there were no short runs, or no factor is enough because runs gave no interval.
    pub widening: Option<f64>,
}

impl From<Trust> for TrustJson {
    fn from(trust: Trust) -> Self {
        TrustJson {
            chains_within_percent: finite(trust.chains_percent),
            bodies_within_percent: trust.bodies_percent.and_then(finite),
            coverage: trust.coverage.and_then(|coverage| finite(coverage.share())),
            intervals: trust.coverage.map_or(0, |coverage| coverage.runs),
            refused_runs: trust.refused,
            widening: trust.widening.and_then(finite),
        }
    }
}

/// A chain.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChainJson {
    /// Its name.
    pub name: String,
    /// Length in core cycles.
    pub cycles: Option<Estimate>,
    /// The integer that it is proved to take, or the one it is closest to.
    pub integer: u32,
    /// Whether it takes this integer here.
    pub standing: Standing,
    /// The shortest and the longest of its lengths in parts of the run and in short runs, but for a
    /// tenth of them on either side.
    pub parts_cycles: (Option<f64>, Option<f64>),
    /// Distance from the integer, in percent of it.
    pub distance_percent: Option<f64>,
    /// Share of short runs whose interval contained the integer; `null` where that was not tried.
    pub coverage: Option<f64>,
}

impl From<&ChainResult> for ChainJson {
    fn from(chain: &ChainResult) -> Self {
        ChainJson {
            name: chain.name.clone(),
            cycles: chain.cycles.if_finite(),
            integer: chain.integer,
            standing: chain.standing,
            parts_cycles: (finite(chain.parts.0), finite(chain.parts.1)),
            distance_percent: finite(chain.distance_percent),
            coverage: chain.coverage.and_then(|coverage| finite(coverage.share())),
        }
    }
}

/// An init and body pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairJson {
    /// Its name.
    pub name: String,
    /// The body.
    pub body: PartJson,
    /// The init.
    pub init: PartJson,
}

impl From<&PairResult> for PairJson {
    fn from(pair: &PairResult) -> Self {
        PairJson { name: pair.name.clone(), body: part(&pair.body), init: part(&pair.init) }
    }
}

/// A component of known length.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartJson {
    /// Measured, in core cycles.
    pub cycles: Option<Estimate>,
    /// True length in core cycles.
    pub true_cycles: f64,
    /// Distance from the true length, in percent of it.
    pub distance_percent: Option<f64>,
}

fn part((measured, truth): &(Estimate, f64)) -> PartJson {
    PartJson {
        cycles: measured.if_finite(),
        true_cycles: *truth,
        distance_percent: finite(100.0 * (measured.value / truth - 1.0)),
    }
}

/// The JSON document of a certificate.
pub fn certificate(certificate: &Certificate, circumstances: &Environment) -> CertificateDocument {
    let (reading, failures) = (&certificate.reading, certificate.failures());
    let granularity_ticks = (reading.quantum > 0).then_some(reading.quantum);
    let circumstances = certified(certificate, circumstances);
    CertificateDocument {
        schema: CertificateSchema::V1,
        command: "verify".into(),
        environment: circumstances.clone(),
        clock: circumstances.clock,
        granularity_ticks,
        read_cost_ticks: finite(reading.back_to_back_mean),
        backward: reading.backward,
        overhead_ticks: certificate.overhead_ticks.if_finite(),
        core_hz: certificate.core_hz.if_finite(),
        tick_hz: Estimate::of_rate(&certificate.rate, certificate.core_hz.level).if_finite(),
        chains: certificate.chains.iter().map(ChainJson::from).collect(),
        pairs: certificate.pairs.iter().map(PairJson::from).collect(),
        trust: certificate.trust().into(),
        machine: None,
        findings: certificate.findings.clone(),
        verdict: certificate.verdict(),
        passed: certificate.verdict() == Verdict::Passed,
        open: certificate.open(),
        failures,
    }
}

/// The circumstances of a certificate, with clock and reference chain as the certificate found
/// them. Only the clock's description is taken from the circumstances.
pub(super) fn certified(certificate: &Certificate, circumstances: &Environment) -> Environment {
    let reading = &certificate.reading;
    let description =
        circumstances.clock.as_ref().map(|clock| clock.description.clone()).unwrap_or_default();
    let clock = Clock::named(certificate.clock.clone(), description)
        .with_rate(&certificate.rate)
        .with_reading(reading.quantum, reading.back_to_back_mean);
    let environment = Environment { clock: Some(clock), ..circumstances.clone() };
    let provenance = format!("{}, by the integer lattice of the chains", name(RULER));
    let reference = certificate.chains.iter().find(|chain| chain.name == name(RULER));
    let environment = match reference {
        Some(chain) => environment
            .with_reference(Ok(Reference { cycles: f64::from(chain.integer), provenance })),
        None => environment,
    };
    environment.with_core_clock(Some(&certificate.core_hz))
}
