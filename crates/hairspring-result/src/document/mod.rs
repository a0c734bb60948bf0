//! The document of a measurement: the one model of a result, for writing and for reading.

mod beside;
mod build;
mod environment;
mod expectation;
mod figure;
mod fit;
mod joined;
mod origin;
mod time;

pub use beside::{FigureEntry, figure_budget};
pub use build::part_budget;
pub use environment::{Clock, Cpu, Environment, Reference};
pub use expectation::{Expectation, Scheduling, Wanted};
pub use figure::{Figure, Scale, Unit, finite, present};
pub use fit::{Fit, LackOfFit, Row, Stage};
pub use joined::{joined, joined_runs};
pub use origin::{Measures, ToolOrigin};
pub use time::{Standing, standing};

use crate::compare::CompareDocument;
use crate::complexity::Complexity;
use crate::throughput::Throughput;
use hairspring_core::estimate::{Estimate, Source};
use hairspring_core::judge::{Finding, Looks, Severity, Verdict, code, excludes, verdict_in_doubt};
use hairspring_core::named::Named;
use hairspring_core::pipeline::BY_REQUEST;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ResultSchema {
    /// Second version. The first one had other names of sources and findings ([`crate::read`]), and
    /// no stages.
    #[serde(rename = "hairspring/result/2", alias = "hairspring/result/1")]
    V2,
}

/// A measurement. Numbers are always finite; an unavailable figure is `null`, with the reason in
/// `..._reason`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring result"))]
pub struct ResultDocument {
    /// Name and version of this format.
    pub schema: ResultSchema,
    /// The verb that made it: `time` or `fit`.
    pub command: String,
    /// The tool that wrote the result; left out of those of Hairspring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<ToolOrigin>>,
    /// Circumstances.
    #[serde(default)]
    pub environment: Environment,
    /// One entry for each piece of code, or series of the observations.
    pub results: Vec<Series>,
    /// Comparisons of every further result with the first.
    #[serde(default)]
    pub comparisons: Vec<Comparison>,
    /// The comparison with a baseline, if one was given.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<CompareDocument>>,
    /// The measurement beside what was expected of it, if an expectation was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expectation: Option<Box<Expectation>>,
    /// How the times grow with an argument, if that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complexity: Vec<Complexity>,
    /// Work in a second, if the work of one execution was stated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throughput: Vec<Throughput>,
    /// Other methods beside the line fit, if they were requested.
    #[serde(default)]
    pub methods: Vec<MethodTable>,
    /// How the run went; `null` where the observations come from a file.
    pub run: Option<Run>,
}

impl ResultDocument {
    /// Gives the core cycles also in nanoseconds at a stated core clock, in Hz. Unlike the measured
    /// nanoseconds they do not change with the clock of the day. Only what the core does is
    /// proportional to its clock: memory and devices are not.
    #[must_use]
    pub fn at_clock(mut self, hz: f64) -> ResultDocument {
        self.environment.stated_clock_hz = Some(hz);
        for (_, component) in self.results.iter_mut().flat_map(|series| &mut series.components) {
            let figure = &mut component.figure;
            figure.stated_clock_ns = figure
                .cycles
                .filter(|_| !figure.below_resolution)
                .map(|cycles| cycles.scaled(1e9 / hz));
        }
        self
    }
}

/// The result of one piece of code, or of one series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// Name of the series.
    pub name: String,
    /// The code that was timed.
    pub code: Option<String>,
    /// What the times are; left out of series of Hairspring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measures: Option<Measures>,
    /// Hash of the code ([`crate::identity::code_hash`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_hash: Option<String>,
    /// Machine code for one copy, in bytes.
    pub bytes_per_copy: Option<f64>,
    /// The instructions of one copy, if they were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disassembly: Option<Vec<String>>,
    /// Time of each component, or of each combination that can be told apart (`B4 + B6`), in the
    /// order of the columns.
    pub components: Named<Component>,
    /// The time that all rows have in common.
    pub overhead: Option<Figure>,
    /// Why there is no overhead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead_reason: Option<String>,
    /// How the rows lie on the line (or plane).
    #[serde(default)]
    pub fit: Fit,
    /// The error budget of each component.
    #[serde(default)]
    pub budget: Named<Vec<BudgetEntry>>,
    /// What each stage of the estimator did, in their order; of several processes in the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// Findings, most severe first.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Whether every time that is asked for can be trusted: those of the components that do not
    /// only serve.
    #[serde(default = "yes")]
    pub trusted: bool,
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Component {
    /// Its time.
    #[serde(flatten)]
    pub figure: Figure,
    /// Whether its time can be trusted: no finding with severity `untrusted` is about it, or about
    /// the whole result.
    #[serde(default = "yes")]
    pub trusted: bool,
    /// Whether it only serves the others, such as an init: the verdict of the result does not
    /// depend on it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub serves: bool,
    /// What the slope means; `null` if that is unknown.
    pub mode: Option<Mode>,
    /// Why it is this mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode_reason: Option<String>,
    /// Largest change when any one row is left out, in nanoseconds; `null` if that was not
    /// computed.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub row_influence_ns: Option<Option<f64>>,
    /// As the field before, in ticks.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub row_influence_ticks: Option<Option<f64>>,
    /// The result of each process, if there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<RunValue>>,
}

/// The result of one of several processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunValue {
    /// In nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<Estimate>,
    /// In ticks, where the clock's rate is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticks: Option<Estimate>,
    /// In core cycles.
    pub cycles: Option<Estimate>,
    /// What the departure of the rows from their line adds to the half-width, each entry of the
    /// budget as a share of the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub departures: Option<Vec<f64>>,
    /// Whether it was left out because it was not to be trusted.
    pub left_out: bool,
}

impl RunValue {
    /// Its time in this unit.
    pub fn interval(&self, unit: Unit) -> Option<Estimate> {
        match unit {
            Unit::Cycles => self.cycles,
            Unit::Nanoseconds => self.time_ns,
            Unit::Ticks => self.ticks,
        }
    }
}

/// One entry of the error budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BudgetEntry {
    /// Its source.
    pub source: Source,
    /// Half-width from this source alone, in nanoseconds.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub half_width_ns: Option<Option<f64>>,
    /// As the field before, in ticks.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub half_width_ticks: Option<Option<f64>>,
}

/// Two results compared by their first component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The series compared ...
    pub a: String,
    /// ... and the one it is compared with.
    pub b: String,
    /// Time of `a` over time of `b`.
    pub ratio: Option<Estimate>,
    /// The interval of the ratio from which the verdict is read. It holds in 99 % at all looks
    /// together: the rounds may end at a look because of what it shows. Documents of earlier
    /// versions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_every_look: Option<Estimate>,
    /// Why there is no ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_reason: Option<String>,
    /// The conclusion from the interval; undecided if one of the times is not to be trusted.
    pub verdict: Verdict,
}

/// Several methods for one series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MethodTable {
    /// Name of the series.
    pub name: String,
    /// One row for each method.
    pub rows: Vec<Method>,
}

/// The result of one method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Method {
    /// The method.
    pub technique: String,
    /// Time of one execution, in nanoseconds.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub time_ns: Option<Option<Estimate>>,
    /// As the field before, in ticks.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub ticks: Option<Option<Estimate>>,
    /// Standard deviation of a single such measurement, in nanoseconds.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub sd_ns: Option<Option<f64>>,
    /// As the field before, in ticks.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub sd_ticks: Option<Option<f64>>,
    /// Distance from the line fit, in percent of it.
    pub distance_percent: Option<f64>,
}

/// How the run went.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Run {
    /// Rounds of all rows.
    pub rounds: u32,
    /// Time spent in rows, in milliseconds.
    pub measured_ms: Option<f64>,
    /// Time that counts towards the budget, in milliseconds: the rounds, the starts of their
    /// processes and the looks at them, not the compiler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_spent_ms: Option<f64>,
    /// Time of the whole run, in milliseconds.
    pub elapsed_ms: Option<f64>,
    /// Why it ended.
    pub stop: String,
    /// Time that the hypervisor took, in milliseconds.
    pub stolen_ms: Option<f64>,
    /// Share of the run, in percent, during which nobody else used the core, as far as reads of the
    /// clock beside the reference chain show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_percent: Option<f64>,
    /// Number of processes that ran one after the other, if there were several: times are the means
    /// of their results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
    /// Number of placements that shared the rounds, if there were several: fresh processes of a
    /// snippet, or offsets of the stack in a program. Intervals include how they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placements: Option<u32>,
}

/// What the slope of the line means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl ResultDocument {
    /// The confidence level of all intervals.
    pub fn level(&self) -> f64 {
        let mut figures = self
            .results
            .iter()
            .flat_map(|series| series.components.values())
            .map(|component| &component.figure);
        figures.find_map(Figure::time).map_or(0.95, |time| time.level)
    }

    /// The stages that did not run because they were not to.
    pub fn without(&self) -> BTreeSet<&str> {
        let stages = self.results.iter().flat_map(|series| &series.stages);
        stages.filter(|stage| stage.did == BY_REQUEST).map(|stage| stage.stage.as_str()).collect()
    }

    /// The document with the verdicts of its comparisons, which follow from the findings of its
    /// series too: what is not to be trusted is not faster than anything, unless by a large factor.
    #[must_use]
    pub fn judged(mut self) -> ResultDocument {
        let trusted: Vec<bool> =
            self.comparisons.iter().map(|comparison| self.is_trusted(comparison)).collect();
        for (comparison, trusted) in self.comparisons.iter_mut().zip(trusted) {
            comparison.verdict = if trusted { comparison.verdict } else { comparison.in_doubt() };
        }
        self
    }

    /// Whether both times that are compared are to be trusted.
    pub fn is_trusted(&self, comparison: &Comparison) -> bool {
        self.series_of(comparison).all(|series| series.distrust().is_none())
    }

    /// The two series of a comparison.
    pub fn series_of<'d>(&'d self, comparison: &'d Comparison) -> impl Iterator<Item = &'d Series> {
        self.results.iter().filter(|series| [&comparison.a, &comparison.b].contains(&&series.name))
    }

    /// The comparison of a series with the first one, if there is one.
    pub fn comparison(&self, name: &str) -> Option<&Comparison> {
        self.comparisons.iter().find(|comparison| comparison.a == name)
    }
}

impl Comparison {
    /// The verdict if one of the times is not to be trusted.
    fn in_doubt(&self) -> Verdict {
        let verdict = |ratio| verdict_in_doubt(&ratio, Looks::Every);
        self.ratio.map_or(Verdict::Undecided, verdict)
    }

    /// The share by which the two differ at most, where no difference was found.
    pub fn excludes(&self) -> Option<f64> {
        self.at_every_look
            .or(self.ratio)
            .filter(|_| self.verdict == Verdict::NoDifference)
            .map(|ratio| excludes(&ratio))
    }
}

impl Series {
    /// Its title: the code, or the name of the series if there is no code.
    pub fn title(&self) -> &str {
        self.code.as_deref().unwrap_or(&self.name)
    }

    /// The first component, which is the one that is compared.
    pub fn body(&self) -> Option<(&str, &Component)> {
        self.components.first().map(|(name, component)| (name.as_str(), component))
    }

    /// What the departure of the rows from their line adds to the half-width of a component, each
    /// entry of the budget as a share of the time. `None` without a positive time.
    pub fn departures(&self, component: &str) -> Option<Vec<f64>> {
        let time = self.components.get(component)?.figure.time().filter(|time| time.value > 0.0)?;
        let entries =
            self.budget.get(component)?.iter().filter(|entry| entry.source == Source::Departure);
        Some(
            entries
                .filter_map(|entry| entry.half_width_ns.or(entry.half_width_ticks).flatten())
                .map(|half| half / time.value)
                .collect(),
        )
    }

    /// The findings that make a component untrusted, or the whole result.
    pub fn distrusts<'s>(&'s self, component: &'s str) -> impl Iterator<Item = &'s Finding> {
        self.findings.iter().filter(move |finding| finding.distrusts(component))
    }

    /// The first finding that makes the first component untrusted, if there is one.
    pub fn distrust(&self) -> Option<&Finding> {
        let (name, _) = self.components.first()?;
        self.distrusts(name).next()
    }

    /// Whether the code did not run in all of its layouts, which may make a small difference to
    /// another time.
    pub fn lacks_layouts(&self) -> bool {
        self.findings.iter().any(|finding| finding.is(code::LAYOUTS_UNTRIED))
    }

    /// Whether every time that is asked for can be trusted.
    pub fn is_trusted(&self) -> bool {
        let whole = self.findings.iter().any(|finding| {
            finding.severity == Severity::Untrusted && finding.component().is_none()
        });
        !whole
            && self
                .components
                .iter()
                .all(|(name, component)| component.serves || self.distrusts(name).next().is_none())
    }

    /// The series with its verdicts, which follow from its findings.
    #[must_use]
    pub fn judged(mut self) -> Series {
        let trusted: Vec<bool> =
            self.components.keys().map(|name| self.distrusts(name).next().is_none()).collect();
        for ((_, component), trusted) in (&mut self.components).into_iter().zip(&trusted) {
            component.trusted = *trusted;
        }
        self.trusted = self.is_trusted();
        self
    }
}

impl Method {
    /// Time of one execution in the unit of the document.
    pub fn time(&self) -> Option<Estimate> {
        self.time_ns.or(self.ticks).flatten()
    }

    /// Whether the intervals of this method and of the line fit do not overlap.
    pub fn departs(&self, line: &Method) -> bool {
        let (Some(own), Some(line)) = (self.time(), line.time()) else { return false };
        (own.value - line.value).abs() > own.half_width() + line.half_width()
    }
}
