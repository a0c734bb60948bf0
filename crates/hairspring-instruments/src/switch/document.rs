//! The document of `switch`.

use super::mechanism::Mechanism;
use super::result::{Cache, Check, Cost, Part, Placed, Scatter, Switched};
use hairspring_core::Estimate;
use hairspring_core::load::Load;
use hairspring_result::document::{BudgetEntry, part_budget};
use hairspring_result::{Environment, Finding};
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SwitchSchema {
    /// Second version: sources of the budget have other names than in the first.
    #[serde(rename = "hairspring/switch/2")]
    V2,
}

/// Who alternates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sides {
    /// Two processes.
    Processes,
    /// Two threads of a process.
    Threads,
}

/// The cost of a context switch.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring context switch"))]
pub struct SwitchDocument {
    /// Name and version of this format.
    pub schema: SwitchSchema,
    /// The verb that made it.
    pub command: String,
    /// Circumstances.
    pub environment: Environment,
    /// The CPU that both sides share.
    pub cpu: usize,
    /// Who alternates.
    pub sides: Sides,
    /// Bytes of the working set of each side; `null` without one.
    pub working_set_bytes: Option<usize>,
    /// One entry for each mechanism.
    pub results: Vec<SwitchedJson>,
}

/// The cost of a switch by a mechanism.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwitchedJson {
    /// `futex`, `pipe`, `eventfd`, `signal` or `yield`.
    pub mechanism: String,
    /// The system calls of one side for one switch.
    pub calls: String,
    /// Why there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What a switch costs in all, by the state of the caches.
    pub costs: Vec<CostJson>,
    /// The components of the windows.
    pub components: Vec<PartJson>,
    /// The second method; `null` with the finding `no_second_method`.
    pub check: Option<CheckJson>,
    /// Why there is no second method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_reason: Option<String>,
    /// What the switches take of the CPU at some rates, for each of the costs.
    pub overhead: Vec<OverheadJson>,
    /// How far the placements differ; `null` with fewer than two.
    pub placements: Option<PlacedJson>,
    /// How the runs on this machine scatter, which the costs include; `null` with few earlier runs.
    pub earlier_runs: Option<ScatterJson>,
    /// Rounds of all windows.
    pub rounds: Option<u32>,
    /// Total time, in milliseconds.
    pub elapsed_ms: Option<f64>,
    /// Findings, the most severe first.
    pub findings: Vec<Finding>,
}

/// What a switch costs in all.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostJson {
    /// `warm`, `refilled` or `flushed`.
    pub cache: String,
    /// What that state is.
    pub meaning: String,
    /// Time in nanoseconds.
    pub time_ns: Option<Estimate>,
    /// The error budget of the time.
    pub time_budget: Vec<BudgetEntry>,
    /// Time in core cycles, where a reference chain ran in the same rounds.
    pub cycles: Option<Estimate>,
}

/// A component.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartJson {
    /// Its name.
    pub name: String,
    /// Time of one, in nanoseconds. A negative one is a result: it is a difference of windows.
    pub time_ns: Option<Estimate>,
    /// Time in core cycles.
    pub cycles: Option<Estimate>,
    /// Upper bound in nanoseconds, where the time is indistinguishable from zero.
    pub bound_ns: Option<f64>,
}

/// The second method.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckJson {
    /// Time of a switch with its calls in nanoseconds, from the work that a background counter
    /// lost.
    pub time_ns: Option<Estimate>,
    /// Its error budget.
    pub time_budget: Vec<BudgetEntry>,
    /// The same by the clock, in the same windows: beside a counter that waits for the CPU.
    pub by_clock_ns: Option<Estimate>,
    /// Its error budget.
    pub by_clock_budget: Vec<BudgetEntry>,
    /// By how much that is longer than in windows without a counter, in percent; `null` within both
    /// intervals.
    pub longer_percent: Option<f64>,
    /// Largest rate of switches in a window, per second.
    pub most_per_second: f64,
    /// Rounds of its windows.
    pub rounds: u32,
    /// Whether both methods agree within their intervals, in the same windows.
    pub agrees: bool,
}

/// A row of the overhead table (Muller, Figure 21).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverheadJson {
    /// Switches per second.
    pub per_second: f64,
    /// State of the caches.
    pub cache: String,
    /// Time of the switches of a second, in milliseconds.
    pub time_ms: Option<Estimate>,
    /// The same as a share of the CPU, in percent.
    pub share_percent: Option<Estimate>,
}

/// How far the placements differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacedJson {
    /// Number of partners in turn.
    pub number: usize,
    /// Lowest cost of a warm switch, in nanoseconds.
    pub lowest_ns: f64,
    /// Highest cost of a warm switch, in nanoseconds.
    pub highest_ns: f64,
    /// Their distance in percent of the median.
    pub spread_percent: f64,
}

/// How the runs on this machine scatter.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScatterJson {
    /// Number of earlier runs.
    pub number: usize,
    /// Standard deviation of the costs of a warm switch, in percent of their mean.
    pub sd_percent: f64,
}

/// What the verb was asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The CPU.
    pub cpu: usize,
    /// Who alternates.
    pub sides: Sides,
    /// Bytes of the working sets; 0 for none.
    pub bytes: usize,
    /// Rates of the overhead table.
    pub rates: Vec<f64>,
}

/// Each mechanism with its result, or why it has none.
pub type Results<'a> = &'a [(Mechanism, Result<Switched, String>)];

/// The document.
pub fn switch(
    results: Results,
    asked_settings: &Asked,
    circumstances: &Environment,
) -> SwitchDocument {
    SwitchDocument {
        schema: SwitchSchema::V2,
        command: "switch".into(),
        environment: circumstances.clone(),
        cpu: asked_settings.cpu,
        sides: asked_settings.sides,
        working_set_bytes: (asked_settings.bytes > 0).then_some(asked_settings.bytes),
        results: results
            .iter()
            .map(|(mechanism, found)| switched(*mechanism, found.as_ref(), asked_settings))
            .collect(),
    }
}

fn switched(
    mechanism: Mechanism,
    outcome: Result<&Switched, &String>,
    asked_settings: &Asked,
) -> SwitchedJson {
    let known_outcome = outcome.ok();
    SwitchedJson {
        mechanism: mechanism.name().into(),
        calls: mechanism.calls().into(),
        reason: outcome.err().cloned(),
        costs: known_outcome.map_or_else(Vec::new, |outcome| {
            outcome.costs.iter().map(|one| cost(one, asked_settings.bytes)).collect()
        }),
        components: known_outcome
            .map_or_else(Vec::new, |outcome| outcome.parts.iter().map(part).collect()),
        check: known_outcome.and_then(|outcome| outcome.check.as_ref().ok()).map(check),
        check_reason: known_outcome.and_then(|outcome| outcome.check.as_ref().err()).cloned(),
        overhead: known_outcome.map_or_else(Vec::new, |outcome| {
            outcome.costs.iter().flat_map(|cost| overheads(cost, asked_settings)).collect()
        }),
        placements: known_outcome.and_then(|outcome| outcome.placed.as_ref()).map(placed),
        earlier_runs: known_outcome.and_then(|outcome| outcome.scatter.as_ref()).map(scatter),
        rounds: known_outcome.map(|outcome| outcome.rounds),
        elapsed_ms: known_outcome.map(|outcome| outcome.elapsed.as_secs_f64() * 1e3),
        findings: known_outcome.map_or_else(Vec::new, |outcome| outcome.findings.clone()),
    }
}

fn cost(cost: &Cost, bytes: usize) -> CostJson {
    CostJson {
        cache: cost.cache.name().into(),
        meaning: cost.cache.meaning(bytes),
        time_ns: cost.ns.if_finite(),
        time_budget: part_budget(&cost.budget, true, cost.ns.level),
        cycles: cost.cycles.and_then(Estimate::if_finite),
    }
}

impl Cache {
    /// What the state of the caches is, and so what the cost includes.
    pub fn meaning(self, bytes: usize) -> String {
        match self {
            Cache::Warm => "the switch and its system calls, from warm caches".into(),
            Cache::Refilled => {
                format!("with the extra time of the first pass over {} after a switch", size(bytes))
            }
            Cache::Flushed => format!(
                "with the extra time of a pass over {} that each side flushed from all caches \
                 (clflush): the nearest to a disabled cache that user space can reach; the \
                 kernel's lines stay cached",
                size(bytes)
            ),
        }
    }
}

/// Bytes in the largest unit that divides them.
fn size(bytes: usize) -> String {
    match bytes {
        bytes if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
        bytes if bytes >= 1 << 10 && bytes % (1 << 10) == 0 => format!("{} KiB", bytes >> 10),
        1 => "1 byte".into(),
        bytes => format!("{bytes} bytes"),
    }
}

fn part(part: &Part) -> PartJson {
    PartJson {
        name: part.name.clone(),
        time_ns: part.ns.if_finite(),
        cycles: part.cycles.and_then(Estimate::if_finite),
        bound_ns: part.bound_ns.filter(|bound| bound.is_finite()),
    }
}

fn check(check: &Check) -> CheckJson {
    let Check { ns, timed_ns, longer_percent, most_per_second, rounds, agrees, .. } = *check;
    CheckJson {
        time_ns: ns.if_finite(),
        time_budget: part_budget(&check.budget, true, ns.level),
        by_clock_ns: timed_ns.if_finite(),
        by_clock_budget: part_budget(&check.timed_budget, true, timed_ns.level),
        longer_percent,
        most_per_second,
        rounds,
        agrees,
    }
}

fn overheads(cost: &Cost, asked_settings: &Asked) -> Vec<OverheadJson> {
    let row = |rate: &f64| {
        let load = Load::new(&cost.ns, *rate);
        OverheadJson {
            per_second: load.per_second,
            cache: cost.cache.name().into(),
            time_ms: load.ns_per_second.scaled(1e-6).if_finite(),
            share_percent: load.percent().if_finite(),
        }
    };
    asked_settings.rates.iter().map(row).collect()
}

fn scatter(scatter: &Scatter) -> ScatterJson {
    ScatterJson { number: scatter.earlier, sd_percent: 100.0 * scatter.sd }
}

fn placed(placed: &Placed) -> PlacedJson {
    PlacedJson {
        number: placed.placements,
        lowest_ns: placed.range_ns.0,
        highest_ns: placed.range_ns.1,
        spread_percent: placed.spread_percent,
    }
}
