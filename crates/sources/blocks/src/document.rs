//! The document of `blocks`: the function's graph, what each part takes, and what is missing.

use crate::MeasuredFunction;
use crate::analysis::{Analysis, Missing, Place, Quality, Unknowns, by_line};
use crate::graph::{EdgeKind, block_name};
use crate::text::rounded;
use hairspring_core::estimate::Contribution;
use hairspring_result::Environment;
use hairspring_result::Figure;
use hairspring_result::Finding;
use hairspring_result::document::finite;
use hairspring_result::document::{BudgetEntry, Stage};
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BlocksSchema {
    /// Second version: sources of the budget have other names than in the first.
    #[serde(rename = "hairspring/blocks/2")]
    V2,
}

/// Times of the parts of a function.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring blocks"))]
pub struct BlocksDocument {
    /// Name and version of this format.
    pub schema: BlocksSchema,
    /// The verb that made it.
    pub command: String,
    /// Circumstances.
    pub environment: Environment,
    /// The function.
    pub function: FunctionJson,
    /// The inputs.
    pub inputs: InputsJson,
    /// How the function was followed.
    pub trace: TraceJson,
    /// Rounds over all rows.
    pub rounds: u32,
    /// Time that the rounds took, in milliseconds.
    pub measured_ms: Option<f64>,
    /// What was solved for: `blocks` or `edges`.
    pub unknowns: String,
    /// Edges whose counts do not follow from those of the blocks.
    pub undetermined_edges: Vec<String>,
    /// How well the parts add up.
    pub model: ModelJson,
    /// Mean time of a whole call over the rows, including the timing overhead; shares are of the
    /// time without it, where it is known.
    pub mean_call_ticks: Option<f64>,
    /// The blocks by address.
    pub blocks: Vec<BlockJson>,
    /// The edges.
    pub edges: Vec<EdgeJson>,
    /// The source lines, those with the largest share first.
    pub lines: Vec<LineJson>,
    /// Where to find the time of each block or edge.
    pub parts: Vec<PlaceJson>,
    /// Times of whole calls by their path, those with the most time first; known also where the
    /// parts do not add up.
    pub paths: Vec<PathJson>,
    /// Times, or sums and differences of times, that the counts can tell apart.
    pub components: Vec<BlockComponentJson>,
    /// The time that all rows have in common; `null` if it cannot be separated from a part.
    pub overhead: Option<Figure>,
    /// Parts that always run as often as a sum of others, in words.
    pub dependencies: Vec<String>,
    /// Coarser parts.
    pub loops: Vec<LoopJson>,
    /// What is missing, and what would help.
    pub missing: Vec<MissingJson>,
    /// What each stage of the estimator did, in their order; moves and widths are of the first
    /// component.
    pub stages: Vec<Stage>,
    /// Doubts.
    pub findings: Vec<Finding>,
}

/// The function.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FunctionJson {
    /// Its name.
    pub name: String,
    /// The file that contains it.
    pub object: String,
    /// Address of its entry in the file, such as `0x1149`.
    pub entry: String,
    /// Bytes of code.
    pub bytes: u64,
}

/// The inputs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InputsJson {
    /// Inputs given.
    pub given: usize,
    /// Whole calls that were timed.
    pub calls: usize,
    /// Calls that were ended early.
    pub partial: usize,
    /// The place inside of the function where calls are begun; `null` for whole calls.
    pub from: Option<String>,
    /// Inputs left out, with the reason.
    pub skipped: Vec<SkippedJson>,
}

/// An input that was left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkippedJson {
    /// Its number, from 1.
    pub input: usize,
    /// The line.
    pub text: String,
    /// Why.
    pub reason: String,
}

/// How the function was followed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceJson {
    /// Instructions of the function.
    pub instructions: u64,
    /// Time in seconds.
    pub seconds: Option<f64>,
    /// Times that programs were stopped.
    pub stops: u64,
    /// Calls that were followed again after the rounds, on the same path unless they are left out.
    /// Before the rounds, each is followed twice.
    pub followed_again: usize,
    /// Calls that were followed from breakpoint to breakpoint, because no instrumented copy of the
    /// function could run.
    pub stepped: usize,
    /// Why not, for the last of them.
    pub why_stepped: Option<String>,
}

/// How well a sum describes the rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelJson {
    /// Share of the variation between rows that the sum explains; `null` if rows hardly vary, or if
    /// nothing checks the sum.
    pub explained: Option<f64>,
    /// Root mean square of the residuals, as a share of that of the rows; `null` if nothing checks
    /// the sum.
    pub departure: Option<f64>,
    /// Rows of different counts beyond the number of unknowns.
    pub spare_rows: usize,
    /// Whether times of single parts can be believed; if not, or if nothing checks the sum
    /// (`null`), they are `null`.
    pub carried: Option<bool>,
    /// Why times of single parts are `null`.
    pub reason: Option<String>,
}

/// A block.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockJson {
    /// Its name.
    pub name: String,
    /// Address of its first instruction in the file.
    pub address: String,
    /// Address after its last instruction.
    pub end: String,
    /// Instructions.
    pub instructions: u32,
    /// Source file.
    pub file: Option<String>,
    /// Lowest line.
    pub line: Option<u32>,
    /// Highest line.
    pub last_line: Option<u32>,
    /// Functions that it calls; its time includes theirs.
    pub calls: Vec<String>,
    /// How often it ran in all whole calls.
    pub runs: f64,
    /// Its share of all runs of blocks.
    pub count_share: Option<f64>,
    /// Its share of all instructions of the function that ran.
    pub instruction_share: Option<f64>,
    /// Its instructions that are likely to cost most, with their number.
    pub hottest: Vec<InstructionJson>,
    /// Its instructions in their order.
    pub code: Vec<StepJson>,
}

/// An instruction with its place in the source.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepJson {
    /// Its address in the file.
    pub address: String,
    /// The disassembly.
    pub text: String,
    /// Source file.
    pub file: Option<String>,
    /// Source line.
    pub line: Option<u32>,
}

/// A source line of the function.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineJson {
    /// Source file.
    pub file: String,
    /// Its number.
    pub line: u32,
    /// Its text; empty if the file cannot be read.
    pub text: String,
    /// Its instructions in the function.
    pub instructions: u32,
    /// Its share of all instructions of the function that ran.
    pub instruction_share: Option<f64>,
    /// Its time in a call; `null` where a block has several lines or no time of its own.
    pub time: Option<Figure>,
    /// Share of the time of all whole calls, without the timing overhead where that is known;
    /// `null` as `time`.
    pub share: Option<f64>,
}

/// An instruction of a block.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstructionJson {
    /// Its name.
    pub name: String,
    /// How many of the block's instructions have it.
    pub number: u32,
}

/// Calls with the same counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathJson {
    /// How often each block ran; blocks that did not are left out.
    pub blocks: Vec<TermJson>,
    /// Number of calls.
    pub calls: usize,
    /// Their mean time in ticks, without the overhead where that is known.
    pub ticks: Option<f64>,
    /// The same in core cycles.
    pub cycles: Option<f64>,
    /// Time of the shortest call in ticks.
    pub low_ticks: Option<f64>,
    /// Time of the longest call in ticks.
    pub high_ticks: Option<f64>,
}

/// An edge.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EdgeJson {
    /// Its name.
    pub name: String,
    /// The block that it leaves.
    pub from: String,
    /// The block that it enters; `null` if it leaves the function.
    pub to: Option<String>,
    /// `fallthrough`, `jump`, `taken`, `indirect` or `leave`.
    pub kind: String,
    /// How often it ran in all whole calls.
    pub runs: f64,
}

/// Where to find the time of a part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceJson {
    /// The block or edge.
    pub name: String,
    /// `alone`, `merged` with parts that always run equally often, `together` with parts whose
    /// counts vary with its own, `combined` with others, `common` to all calls, or `never_ran`.
    pub place: String,
    /// Name of the component.
    pub component: Option<String>,
}

/// A time that the counts can tell apart.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockComponentJson {
    /// The part, or the combination spelled out.
    pub name: String,
    /// The parts, with the coefficient of each.
    pub parts: Vec<TermJson>,
    /// Its time; `null` if the model does not hold.
    pub time: Option<Figure>,
    /// Share of the time of all whole calls, without the timing overhead where that is known;
    /// `null` for a difference of times, and where nothing is left of the calls.
    pub share: Option<f64>,
    /// What its uncertainty consists of; `ends` is what calls begin and end with.
    pub budget: Vec<BudgetEntry>,
}

/// A part with its coefficient.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TermJson {
    /// The part.
    pub name: String,
    /// Its coefficient in the combination.
    pub coefficient: f64,
}

/// A loop.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoopJson {
    /// The block where a trip begins.
    pub header: String,
    /// Its blocks.
    pub blocks: Vec<String>,
    /// Trips in all whole calls.
    pub trips: f64,
    /// Time of a trip, without the trips of inner loops.
    pub time: Figure,
    /// How well a sum of trips describes the rows.
    pub model: ModelJson,
}

/// What is missing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingJson {
    /// `not_reached`, `inseparable`, `not_separated` or `not_varied`; of parts of calls
    /// `in_no_part` or `equal_in_parts`.
    pub kind: String,
    /// What is missing, in words.
    pub message: String,
    /// What would help.
    pub remedy: String,
}

/// The document.
pub fn blocks(measured: &MeasuredFunction, circumstances: &Environment) -> BlocksDocument {
    let analysis = &measured.analysis;
    let whole = measured.rows.iter().filter(|row| row.is_whole()).count();
    BlocksDocument {
        schema: BlocksSchema::V2,
        command: "blocks".into(),
        environment: circumstances.clone().with_core_clock(analysis.assessment.core_hz.as_ref()),
        function: FunctionJson {
            name: measured.function.name.clone(),
            object: measured.function.object.display().to_string(),
            entry: format!("{:#x}", measured.function.entry),
            bytes: measured.function.bytes,
        },
        inputs: InputsJson {
            given: measured.inputs,
            calls: whole,
            partial: measured.rows.len() - whole,
            from: measured.from.clone(),
            skipped: measured.skipped.iter().map(skipped).collect(),
        },
        trace: TraceJson {
            instructions: measured.traced.instructions,
            seconds: finite(measured.traced.seconds),
            stops: measured.traced.stops,
            followed_again: measured.traced.again,
            stepped: measured.traced.stepped,
            why_stepped: measured.traced.why_stepped.map(str::to_owned),
        },
        rounds: measured.run.rounds,
        measured_ms: finite(measured.run.measuring.as_secs_f64() * 1e3),
        unknowns: if analysis.unknowns == Unknowns::Blocks { "blocks" } else { "edges" }.to_owned(),
        undetermined_edges: analysis.undetermined.clone(),
        model: model(&analysis.quality),
        mean_call_ticks: finite(analysis.mean_call),
        blocks: block_list(measured),
        edges: edge_list(measured),
        lines: line_list(measured, circumstances),
        parts: analysis
            .names
            .iter()
            .zip(&analysis.places)
            .map(|(name, place)| placed(name, *place, analysis))
            .collect(),
        paths: analysis.paths.iter().map(|path| path_json(path, measured)).collect(),
        components: (0..analysis.series().components.len())
            .map(|at| component(at, measured, circumstances))
            .collect(),
        overhead: analysis
            .series()
            .overhead
            .as_ref()
            .map(|time| figure(time, measured, circumstances)),
        dependencies: dependencies(analysis),
        loops: loops(measured, circumstances),
        missing: measured.missing.iter().map(missing).collect(),
        stages: analysis.series().stages.iter().map(Stage::from).collect(),
        findings: analysis.findings.clone(),
    }
}

fn skipped(skipped: &crate::Skipped) -> SkippedJson {
    SkippedJson { input: skipped.input, text: skipped.text.clone(), reason: skipped.reason.clone() }
}

fn model(quality: &Quality) -> ModelJson {
    ModelJson {
        explained: quality.explained.and_then(finite),
        departure: quality.departure.and_then(finite),
        spare_rows: quality.spare,
        carried: quality.carried,
        reason: quality.refusal().map(str::to_owned),
    }
}

fn level(measured: &MeasuredFunction) -> f64 {
    measured.analysis.series().components.first().map_or(0.95, |part| part.time.ticks.level)
}

fn figure(
    time: &hairspring_core::judge::Time,
    measured: &MeasuredFunction,
    circumstances: &Environment,
) -> Figure {
    let no_cycles = circumstances
        .reference_reason
        .as_deref()
        .unwrap_or("the reference chain could not be measured");
    Figure::new(time, level(measured), no_cycles)
}

fn runs(measured: &MeasuredFunction, count: impl Fn(&crate::graph::Counts) -> u64) -> f64 {
    measured.rows.iter().filter(|row| row.is_whole()).map(|row| count(&row.counts) as f64).sum()
}

fn block_list(measured: &MeasuredFunction) -> Vec<BlockJson> {
    let all_runs: f64 = runs(measured, |counts| counts.blocks.iter().sum());
    let block = |(at, block): (usize, &crate::graph::Block)| {
        let runs = runs(measured, |counts| counts.blocks[at]);
        BlockJson {
            name: block_name(at),
            address: format!("{:#x}", block.start),
            end: format!("{:#x}", block.end),
            instructions: block.instructions,
            file: block.source.as_ref().map(|source| source.file.clone()),
            line: block.source.as_ref().map(|source| source.line),
            last_line: block.source.as_ref().map(|source| source.last_line),
            calls: block.calls.clone(),
            runs,
            count_share: finite(runs / all_runs),
            instruction_share: finite(measured.block_instruction_share(at)),
            code: block.code.iter().map(step).collect(),
            hottest: block
                .hottest
                .iter()
                .map(|(name, number)| InstructionJson { name: name.clone(), number: *number })
                .collect(),
        }
    };
    measured.graph.blocks.iter().enumerate().map(block).collect()
}

fn step(step: &crate::graph::Step) -> StepJson {
    let (file, line) = step.place.clone().unzip();
    StepJson { address: format!("{:#x}", step.address), text: step.text.clone(), file, line }
}

fn line_list(measured: &MeasuredFunction, circumstances: &Environment) -> Vec<LineJson> {
    let lines = by_line(&measured.graph, &measured.rows, &measured.analysis);
    let text =
        |at: &crate::analysis::At| measured.graph.statements.get(at).cloned().unwrap_or_default();
    let line = |line: crate::analysis::Line| LineJson {
        text: text(&line.at),
        file: line.at.0,
        line: line.at.1,
        instructions: line.instructions,
        instruction_share: finite(line.instruction_share),
        time: line.time.as_ref().map(|(time, _)| figure(time, measured, circumstances)),
        share: line.time.and_then(|(_, share)| finite(share)),
    };
    lines.into_iter().map(line).collect()
}

fn path_json(path: &crate::analysis::Path, measured: &MeasuredFunction) -> PathJson {
    let ran = path.blocks.iter().enumerate().filter(|(_, count)| **count > 0);
    PathJson {
        blocks: ran
            .map(|(at, count)| TermJson { name: block_name(at), coefficient: *count as f64 })
            .collect(),
        calls: path.calls,
        ticks: finite(path.mean),
        cycles: measured.cycles_per_tick().and_then(|factor| finite(path.mean * factor)),
        low_ticks: finite(path.low),
        high_ticks: finite(path.high),
    }
}

fn edge_list(measured: &MeasuredFunction) -> Vec<EdgeJson> {
    let word = |kind| match kind {
        EdgeKind::Fallthrough => "fallthrough",
        EdgeKind::Jump => "jump",
        EdgeKind::Taken => "taken",
        EdgeKind::Indirect => "indirect",
        EdgeKind::Leave => "leave",
    };
    let edge = |(at, edge): (usize, &crate::graph::Edge)| EdgeJson {
        name: measured.graph.edge_name(edge),
        from: block_name(edge.from),
        to: edge.to.map(block_name),
        kind: word(edge.kind).to_owned(),
        runs: runs(measured, |counts| counts.edges[at]),
    };
    measured.graph.edges.iter().enumerate().map(edge).collect()
}

fn placed(name: &str, place: Place, analysis: &Analysis) -> PlaceJson {
    let (word, component) = match place {
        Place::NeverRan => ("never_ran", None),
        Place::Alone(at) => ("alone", Some(at)),
        Place::With(at) => ("merged", Some(at)),
        Place::Together(at) => ("together", Some(at)),
        Place::Combined(at) => ("combined", Some(at)),
        Place::Common => ("common", None),
    };
    let component = component.map(|at| analysis.series().components[at].name.clone());
    PlaceJson { name: name.to_owned(), place: word.to_owned(), component }
}

fn component(
    at: usize,
    measured: &MeasuredFunction,
    circumstances: &Environment,
) -> BlockComponentJson {
    let analysis = &measured.analysis;
    let part = &analysis.series().components[at];
    let carried = analysis.quality.is_carried();
    BlockComponentJson {
        name: part.name.clone(),
        parts: analysis.series().solution.components[at]
            .parts
            .iter()
            .map(|(name, coefficient)| TermJson { name: name.clone(), coefficient: *coefficient })
            .collect(),
        time: carried.then(|| figure(&part.time, measured, circumstances)),
        share: analysis.own_share(at).and_then(finite).filter(|_| carried),
        budget: budget(at, measured),
    }
}

fn budget(at: usize, measured: &MeasuredFunction) -> Vec<BudgetEntry> {
    let part = &measured.analysis.series().solution.components[at];
    let entry = |entry: &Contribution| {
        let half = finite(entry.half_width(part.ticks.level));
        BudgetEntry { source: entry.source, half_width_ns: None, half_width_ticks: Some(half) }
    };
    part.uncertain.budget.iter().map(entry).collect()
}

fn dependencies(analysis: &Analysis) -> Vec<String> {
    let solution = &analysis.series().solution;
    let name = |at: &usize| solution.columns[*at].clone();
    let spelled = |(column, sum): &(usize, hairspring_core::estimate::Combination)| {
        let terms: Vec<(String, f64)> =
            sum.terms.iter().map(|(at, coefficient)| (name(at), rounded(*coefficient))).collect();
        format!(
            "{} runs as often as {}",
            name(column),
            hairspring_core::estimate::solution::spell(&terms)
        )
    };
    solution.rank.dependent.iter().map(spelled).collect()
}

fn loops(measured: &MeasuredFunction, circumstances: &Environment) -> Vec<LoopJson> {
    let region = |region: &crate::analysis::Region| LoopJson {
        header: block_name(region.header),
        blocks: region.blocks.iter().map(|at| block_name(*at)).collect(),
        trips: region.trips,
        time: figure(&region.time.time, measured, circumstances),
        model: model(&region.quality),
    };
    measured.analysis.regions.iter().map(region).collect()
}

fn missing(missing: &Missing) -> MissingJson {
    let kind = match missing {
        Missing::NotReached { .. } => "not_reached",
        Missing::Inseparable { .. } => "inseparable",
        Missing::NotSeparated { .. } => "not_separated",
        Missing::NotVaried { .. } => "not_varied",
        Missing::InNoPart { .. } => "in_no_part",
        Missing::EqualInParts { .. } => "equal_in_parts",
    };
    MissingJson { kind: kind.to_owned(), message: missing.message(), remedy: missing.remedy() }
}
