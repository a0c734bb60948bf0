//! What a report is made of: plain data that the caller fills.

use hairspring_core::estimate::{Contribution, Uncertain};
use hairspring_core::judge::{Assessment, Comparison, Finding, SeriesResult, Severity};
use hairspring_core::observations::{Origin, Rate, Unit};
use hairspring_core::{Estimate, judge};
use hairspring_host::chains::{RULER, name};
use hairspring_host::environment::Machine;
use hairspring_instruments::verify::Certificate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All that a report of one measurement says.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The verb that made it: `time` or `fit`.
    pub command: String,
    /// Circumstances.
    pub environment: Environment,
    /// What was found.
    pub assessment: Assessment,
    /// Nanoseconds for one unit of the table (`Origin::ns_per_unit`); `None` where the clock's rate is unknown.
    pub ns_per_unit: Option<f64>,
    /// What is known of the series beyond the numbers, by the name of the series.
    pub subjects: Vec<Subject>,
    /// Other methods beside the line fit, where they were asked for.
    pub methods: Vec<MethodTable>,
    /// How the run went, where there was one.
    pub run: Option<Run>,
}

/// Where and with what the measurement was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Environment {
    /// The machine that was measured; `None` where the observations come from a file, which can be from anywhere.
    pub machine: Option<Machine>,
    /// The clock, as far as it is known.
    pub clock: Option<ClockInfo>,
    /// The reference chain that core cycles are counted with, or why there is none.
    pub ruler: Result<Ruler, String>,
    /// Compiler and version.
    pub compiler: Option<String>,
    /// Flags given to the compiler.
    pub compiler_flags: Option<String>,
    /// CPU that the measuring thread was bound to.
    pub pinned_cpu: Option<usize>,
    /// Whether the thread's priority could be raised.
    pub priority_raised: Option<bool>,
    /// Whether the memory could be locked.
    pub memory_locked: Option<bool>,
}

impl Environment {
    /// Circumstances of observations from elsewhere: nothing is known but why there are no core cycles.
    pub fn unknown(no_cycles: &str) -> Environment {
        Environment {
            machine: None,
            clock: None,
            ruler: Err(no_cycles.to_owned()),
            compiler: None,
            compiler_flags: None,
            pinned_cpu: None,
            priority_raised: None,
            memory_locked: None,
        }
    }

    /// The same with clock and reference chain as the observations state them.
    #[must_use]
    pub fn with_origin(mut self, origin: &Origin) -> Environment {
        let clock = origin.clock.clone().or_else(|| origin.rate.as_ref().map(|_| "not named".to_owned()));
        self.clock = clock.map(|name| ClockInfo {
            name,
            description: String::new(),
            rate: origin.rate.clone().filter(|_| origin.unit == Unit::Ticks),
            granularity_ticks: origin.granularity.filter(|_| origin.unit == Unit::Ticks),
            read_cost_ticks: None,
        });
        if let Some((series, cycles)) = &origin.reference {
            self.ruler = Ok(Ruler { cycles: *cycles, provenance: format!("series `{series}` of the observations") });
        }
        self
    }
}

/// A clock.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockInfo {
    /// Name by which it is asked for.
    pub name: String,
    /// What it is, in a sentence; may be empty.
    pub description: String,
    /// Ticks per second.
    pub rate: Option<Rate>,
    /// Quantum in ticks.
    pub granularity_ticks: Option<f64>,
    /// Cost of one read in ticks.
    pub read_cost_ticks: Option<f64>,
}

/// The reference chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruler {
    /// Core cycles of one copy.
    pub cycles: f64,
    /// How that is known, in words.
    pub provenance: String,
}

impl From<hairspring_measure::ruler::Ruler> for Ruler {
    fn from(ruler: hairspring_measure::ruler::Ruler) -> Ruler {
        Ruler { cycles: f64::from(ruler.cycles), provenance: ruler.provenance }
    }
}

/// What the slope of the line means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Every copy waits for the one before: a latency.
    Latency,
    /// The copies may overlap: a reciprocal throughput.
    Throughput,
}

impl Mode {
    /// The mode as a word.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Latency => "latency",
            Mode::Throughput => "throughput",
        }
    }
}

/// What is known of a series beyond its numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Subject {
    /// Name of the series in the assessment.
    pub name: String,
    /// The code that was timed.
    pub code: Option<String>,
    /// What the slope means.
    pub mode: Option<Mode>,
    /// Why, in words, as `chained through x`; may be empty.
    pub mode_reason: String,
    /// Machine code for one copy, in bytes.
    pub bytes_per_copy: Option<f64>,
    /// Findings beyond those of the assessment.
    pub findings: Vec<Finding>,
}

/// Several methods side by side (Moreno and Fischmeister, Table 1).
#[derive(Debug, Clone, PartialEq)]
pub struct MethodTable {
    /// Name of the series.
    pub subject: String,
    /// One row for each method.
    pub rows: Vec<MethodRow>,
}

/// One method's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodRow {
    /// The method, as `line fit 16x-256x`.
    pub technique: String,
    /// Time of one execution, in the table's unit.
    pub value: Estimate,
    /// Standard deviation of a single such measurement, in the table's unit; not a number where it is unknown.
    pub sd: f64,
    /// Distance from the line fit, in percent of it.
    pub distance_percent: f64,
}

/// How the run went.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Rounds of all rows.
    pub rounds: u32,
    /// Time spent in rows, in milliseconds.
    pub measured_ms: f64,
    /// Time of the whole run, in milliseconds.
    pub elapsed_ms: f64,
    /// Why it ended: `precision reached` or `budget spent`.
    pub stop: String,
    /// Time that the hypervisor took, in milliseconds, where the system says.
    pub stolen_ms: Option<f64>,
}

/// A series with all that is said of it.
pub(crate) struct Entry<'a> {
    pub result: &'a SeriesResult,
    pub subject: Option<&'a Subject>,
    /// Findings of the assessment and of the subject, the heaviest first.
    pub findings: Vec<&'a Finding>,
}

impl Entry<'_> {
    /// The code, or the name of the series where there is none.
    pub fn title(&self) -> &str {
        self.subject.and_then(|subject| subject.code.as_deref()).unwrap_or(&self.result.name)
    }

    /// Error budget of a component in the unit that its time is shown in.
    pub fn budget(&self, at: usize) -> &[Contribution] {
        match &self.result.components[at].time.ns {
            Some(ns) => &ns.budget,
            None => self.result.solution.components.get(at).map_or(&[], |component| &component.uncertain.budget),
        }
    }

    /// Whether any finding says that the numbers are not to be trusted.
    pub fn untrusted(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Untrusted)
    }
}

impl Document {
    /// Every series with its subject and findings.
    pub(crate) fn entries(&self) -> Vec<Entry<'_>> {
        let entry = |result| {
            let result: &SeriesResult = result;
            let subject = self.subjects.iter().find(|subject| subject.name == result.name);
            let own = subject.map_or(&[][..], |subject| &subject.findings);
            let mut findings: Vec<&Finding> = result.findings.iter().chain(own).collect();
            findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
            Entry { result, subject, findings }
        };
        self.assessment.series.iter().map(entry).collect()
    }

    /// The confidence level of all intervals.
    pub(crate) fn level(&self) -> f64 {
        let mut components = self.assessment.series.iter().flat_map(|series| &series.components);
        components.next().map_or(0.95, |component| component.time.ticks.level)
    }

    /// The comparison of a series with the first one, if it could be made.
    pub(crate) fn comparison(&self, name: &str) -> Option<&Comparison> {
        self.assessment.comparisons.iter().find(|comparison| comparison.a == name)
    }
}

/// The circumstances of a certificate, with clock and reference chain as the certificate found them.
pub(crate) fn certified(certificate: &Certificate, circumstances: &Environment) -> Environment {
    let ruler = certificate.chains.iter().find(|chain| chain.name == name(RULER));
    let provenance = format!("{}, by the integer lattice of the chains", name(RULER));
    let ruler = ruler.map(|chain| Ruler { cycles: f64::from(chain.integer), provenance });
    Environment {
        clock: Some(clock_info(certificate, circumstances)),
        ruler: ruler.map_or_else(|| circumstances.ruler.clone(), Ok),
        ..circumstances.clone()
    }
}

/// Only the description is taken from the circumstances.
fn clock_info(certificate: &Certificate, circumstances: &Environment) -> ClockInfo {
    let reading = &certificate.reading;
    ClockInfo {
        name: certificate.clock.clone(),
        description: circumstances.clock.as_ref().map(|clock| clock.description.clone()).unwrap_or_default(),
        rate: Some(certificate.rate.clone()),
        granularity_ticks: (reading.quantum > 0).then_some(reading.quantum as f64),
        read_cost_ticks: Some(reading.back_to_back_mean),
    }
}

/// Why two series have no ratio.
pub(crate) const NO_RATIO: &str = "the two share too few rounds, or the first one's time is not above zero";

/// How a time stands to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The interval lies above zero.
    Above,
    /// The interval contains zero.
    BelowResolution,
    /// The interval lies below zero.
    Negative,
}

/// Judges an estimate of a time.
pub(crate) fn standing(time: &Estimate) -> Standing {
    match (time.low > 0.0, time.high < 0.0) {
        (true, _) => Standing::Above,
        (_, true) => Standing::Negative,
        _ => Standing::BelowResolution,
    }
}

/// What a time is at the most in the unit that it is shown in; `None` where it can be told from zero.
pub(crate) fn bound(time: &judge::Time, level: f64) -> Option<f64> {
    time.bound.map(|bound| bound.shown).or_else(|| judge::upper_bound(&in_unit(time, level), 0.0))
}

/// Nanoseconds, where the rate is known, else the table's unit.
pub(crate) fn in_unit(time: &judge::Time, level: f64) -> Estimate {
    time.ns.as_ref().map_or(time.ticks, |ns| ns.estimate(level))
}

/// The rate of a clock with its interval.
pub(crate) fn rate_interval(rate: &Rate, level: f64) -> Estimate {
    Uncertain { value: rate.hz, budget: vec![Contribution::rate(rate.hz, rate)] }.estimate(level)
}
