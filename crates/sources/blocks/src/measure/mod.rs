//! Measures a request: every input is followed twice, all are timed in rounds, followed again, and
//! the table is solved.

mod again;
mod arms;
mod calls;
mod counting;
mod overhead;
mod parts;
mod prepare;
mod rounds;
mod until;

use crate::analysis::{
    Analysis, BlocksFinding, CountRow, Counted, PAGE_CHAIN, SERIES, Structure, Unknowns, analyse,
    counter_name, depends_on_data, missing, rest,
};
use crate::binary::{Code, Disassembly, Flow, Image, Lines, callee};
use crate::error::{Error, Result};
use crate::graph::{Block, Graph, block_name};
use crate::result::{
    FunctionInfo, ListedFunction, MeasuredFunction, Progress, Request, Skipped, Wanted,
};
use crate::trace::Target;
use hairspring_core::estimate::{Options, Repeats, exact_rank};
use hairspring_core::judge::{Finding, Question, Severity};
use hairspring_core::observations::{Observations, Origin, Rate};
use hairspring_host::clock::{RateMeter, find, granularity};
use hairspring_measure::companions::{Companion, companions};
use hairspring_measure::cpu::prepare_thread_where_quiet;
use hairspring_measure::ruler::find_ruler;
use hairspring_measure::{Run, Stop};
use iced_x86::Instruction;
use overhead::{OWN_FUNCTIONS, Overhead};
use prepare::{Prepared, Session};
use rounds::{Readings, Timing};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Follows, times and solves.
///
/// # Errors
/// A program or function that cannot be traced, no usable input, or fewer rows than unknowns.
pub fn measure(request: &Request) -> Result<MeasuredFunction> {
    let clock = find("tsc")?;
    let thread = prepare_thread_where_quiet(request.cpu, clock)?;
    let quantum = granularity(&clock).quantum;
    let meter = RateMeter::start(clock);
    let ruler = find_ruler(clock);
    let (mut session, mut prepared) = prepared_calls(request, thread.cpu, quantum)?;
    let chains = ruler.as_ref().map_or_else(|_| Vec::new(), companions);
    let begin = Instant::now();
    let timing = Timing::of(request, clock, quantum, &chains);
    let mut readings = timing.run(&mut prepared, &session.program);
    let measured_call = timing.whole_calls(&mut session.whole_calls, &session.program);
    let measuring = begin.elapsed();
    (request.progress)(Progress::Solving);
    session.follow_again(&mut prepared, &mut readings.lost);
    let prepared = session.keep(prepared, &mut readings)?;
    let graph = session.annotated_graph();
    // Whole calls of which parts were taken have counts, and no readings in the table.
    let mut rows = count_rows(prepared.iter().chain(&session.whole_calls));
    let structure = Structure::from_graph(&graph);
    let function = Function { graph: &graph, structure: &structure };
    let origin = origin(clock.name, meter.rate(), quantum);
    let solve = |rows: &[CountRow], readings: &Readings| {
        solved(request, function, rows, measured_call, readings, &chains, &origin)
    };
    let mut solved = solve(&rows, &readings);
    if session.chosen.is_some()
        && !solved.as_ref().is_ok_and(|(_, analysis)| analysis.quality.is_carried())
    {
        // Ends that nobody asked for must not spoil what is known without them: the time of the
        // calls.
        readings.keep_whole(&mut rows);
        session.chosen = None;
        solved = solve(&rows, &readings);
    }
    let (table, mut analysis) = solved?;
    add_doubts(&mut analysis, &session, &graph, &rows, readings.rounds);
    Ok(MeasuredFunction {
        missing: missing(&graph, &rows, &structure, request.parts.is_some()),
        function: session.function(),
        parts: request.parts.is_some(),
        from: session.begun_at(&graph).or_else(|| request.from.clone()),
        inputs: request.inputs.len(),
        notes: session.notes(&graph, &rows),
        graph,
        skipped: session.skipped,
        rows,
        traced: session.traced,
        run: finished(table, readings.rounds, measuring),
        analysis,
        thread,
        ruler,
    })
}

/// The counts of all rows.
fn count_rows<'a>(prepared: impl Iterator<Item = &'a Prepared>) -> Vec<CountRow> {
    prepared.flat_map(|one| one.rows.iter().map(|row| row.counts.clone())).collect()
}

/// The clock of the readings.
fn origin(clock: &str, rate: Rate, quantum: u64) -> Origin {
    let granularity = (quantum > 0).then_some(quantum as f64);
    Origin { clock: Some(clock.to_owned()), rate: Some(rate), granularity, ..Origin::default() }
}

/// Adds what the rows, the rounds and the paths of the calls say against the times.
fn add_doubts(
    analysis: &mut Analysis,
    session: &Session,
    graph: &Graph,
    rows: &[CountRow],
    rounds: u32,
) {
    let in_parts = session.request.parts.and_then(|_| rest(analysis));
    let of_data = depends_on_data(graph, rows, &session.repeated(graph), analysis);
    let of_paths = session.doubts(graph, rows).into_iter().map(Some);
    [of_data, few_rounds(rounds), in_parts]
        .into_iter()
        .chain(of_paths)
        .for_each(|doubt| analysis.doubt(doubt));
}

/// The run. Only the budget ends its rounds: precision is limited by the inputs, not by the rounds.
fn finished(table: Observations, rounds: u32, measuring: Duration) -> Run {
    Run { table, rounds, measuring, elapsed: measuring, stop: Stop::Budget, stolen_ms: None }
}

/// A function as its blocks and as the structure of its counts.
#[derive(Clone, Copy)]
struct Function<'a> {
    graph: &'a Graph,
    structure: &'a Structure,
}

/// The table of the rows, and what it tells. The mean time of whole calls is given where they are
/// no rows with readings.
fn solved(
    request: &Request,
    function: Function<'_>,
    rows: &[CountRow],
    measured_call: Option<f64>,
    readings: &Readings,
    chains: &[Companion],
    origin: &Origin,
) -> Result<(Observations, Analysis)> {
    let Function { graph, structure } = function;
    let unknowns = choose(request, structure, rows);
    let table = tabulate(graph, rows, unknowns, readings, chains, origin.clone());
    let repeats = repeats(request);
    let overhead = Overhead::new(readings, chains, repeats);
    let mut ends =
        overhead.as_ref().map_or_else(Vec::new, |overhead| overhead.ends(graph, rows, readings));
    ends.extend(counting::ends(rows, &readings.function));
    let options = Options {
        level: request.level,
        departure_follows_counts: true,
        repeats,
        ends,
        overlapping: true,
        ..Options::default()
    };
    let question = Question { options, ..Question::default() };
    let analysis = analyse(graph, structure, rows, unknowns, &table, &question, measured_call)?;
    Ok((table, analysis))
}

/// The readings that count: parts of a call are so short that single branches that are mispredicted
/// matter.
fn repeats(request: &Request) -> Repeats {
    if request.parts.is_some() { Repeats::Quickest } else { Repeats::Calm }
}

/// All calls, ready to be timed. Where no request says where calls are ended early and their loops
/// ask for it, they are prepared once more with ends that are chosen.
fn prepared_calls(
    request: &Request,
    cpu: usize,
    quantum: u64,
) -> Result<(Session<'_>, Vec<Prepared>)> {
    /// Beyond this time the program is not run once more.
    const LONG_TIME: Duration = Duration::from_secs(5);
    let begin = Instant::now();
    let mut session = Session::new(request, cpu, quantum)?;
    let prepared = session.prepare_all()?;
    let Some(ends) = session.ends_to_choose(&prepared).filter(|_| begin.elapsed() < LONG_TIME)
    else {
        return Ok((session, prepared));
    };
    drop(prepared);
    let mut session = Session::new(request, cpu, quantum)?;
    session.chosen = Some(ends);
    let prepared = session.prepare_all()?;
    Ok((session, prepared))
}

/// In simulation with a co-runner that stays for some rounds, this many still gave intervals that
/// held in 92 of 100 cases, and this many hardly ever did.
const ENOUGH_ROUNDS: u32 = 24;
const TOO_FEW_ROUNDS: u32 = 16;

fn few_rounds(rounds: u32) -> Option<Finding> {
    let severity = if rounds < TOO_FEW_ROUNDS { Severity::Untrusted } else { Severity::Warning };
    (rounds < ENOUGH_ROUNDS).then(|| Finding::new(severity, BlocksFinding::FewRounds { rounds }))
}

/// Blocks, unless the counts of edges are independent of theirs and determine more unknowns with
/// these rows. Parts of calls are short and few: from each target of an indirect jump to each other
/// there are more edges than they can tell apart.
fn choose(request: &Request, structure: &Structure, rows: &[CountRow]) -> Unknowns {
    match request.unknowns {
        Wanted::Blocks => Unknowns::Blocks,
        Wanted::Edges => Unknowns::Edges,
        Wanted::Auto if request.parts.is_some() => Unknowns::Blocks,
        Wanted::Auto
            if structure.undetermined.is_empty()
                || rank_of_counts(Unknowns::Edges, rows)
                    <= rank_of_counts(Unknowns::Blocks, rows) =>
        {
            Unknowns::Blocks
        }
        Wanted::Auto => Unknowns::Edges,
    }
}

/// Number of unknowns that the counts can tell apart.
fn rank_of_counts(unknowns: Unknowns, rows: &[CountRow]) -> usize {
    let counts: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| unknowns.counts(&row.counts).into_iter().chain([1.0]).collect())
        .collect();
    exact_rank(&counts).pivots.len()
}

/// The engine's table: one component for each unknown, and the chains as separate series.
fn tabulate(
    graph: &Graph,
    rows: &[CountRow],
    unknowns: Unknowns,
    readings: &Readings,
    chains: &[Companion],
    origin: Origin,
) -> Observations {
    let names = unknowns.names(graph);
    let own_rows: Vec<usize> =
        if readings.own_readings.is_empty() { Vec::new() } else { overhead::long().collect() };
    let chain = (!own_rows.is_empty()).then(|| PAGE_CHAIN.to_owned());
    let mut counters: Vec<usize> = rows.iter().filter_map(|row| Some(row.counted?.block)).collect();
    counters.sort_unstable();
    counters.dedup();
    let columns =
        names.iter().cloned().chain(chain).chain(counters.iter().map(|block| counter_name(*block)));
    let mut table = Observations::new(columns.collect());
    table.origin = origin;
    let series = table.series(SERIES);
    let with_rest = |counts: Vec<f64>, copies: f64, counted: Option<Counted>| {
        let counting = counters.iter().map(|block| {
            counted.filter(|counted| counted.block == *block).map_or(0.0, Counted::times)
        });
        counts
            .into_iter()
            .chain((!own_rows.is_empty()).then_some(copies))
            .chain(counting)
            .collect::<Vec<f64>>()
    };
    let of_row = |row: &CountRow| with_rest(unknowns.counts(&row.counts), 0.0, row.counted);
    let ids: Vec<u32> = rows.iter().map(|row| table.row_apart(series, &of_row(row))).collect();
    let none = vec![0.0; names.len()];
    let of_own = |at: usize| with_rest(none.clone(), f64::from(OWN_FUNCTIONS[at].copies), None);
    let own_ids: Vec<(usize, u32)> =
        own_rows.iter().map(|at| (*at, table.row_apart(series, &of_own(*at)))).collect();
    for reading in &readings.function {
        table.push_flagged(ids[reading.row as usize], reading.round, reading.ticks, reading.flags);
    }
    for reading in &readings.own_readings {
        if let Some((_, id)) = own_ids.iter().find(|(at, _)| *at == reading.row as usize) {
            table.push_flagged(*id, reading.round, reading.ticks, reading.flags);
        }
    }
    readings.add_chains(&mut table, chains);
    table
}

impl Session<'_> {
    /// Drops inputs whose process was lost, with all their readings, which may be disturbed, too.
    fn keep(&mut self, prepared: Vec<Prepared>, readings: &mut Readings) -> Result<Vec<Prepared>> {
        let lost = std::mem::take(&mut readings.lost);
        if lost.is_empty() {
            return Ok(prepared);
        }
        let kept_rows =
            rows_of(&prepared).into_iter().map(|(process, _)| !lost.contains_key(&process));
        let mut next = 0..;
        let numbers: Vec<Option<u32>> =
            kept_rows.map(|kept| if kept { next.next() } else { None }).collect();
        readings.function.retain_mut(|reading| {
            numbers[reading.row as usize].map(|number| reading.row = number).is_some()
        });
        for (process, reason) in &lost {
            let input = prepared[*process].input;
            self.skipped.push(Skipped {
                input: input + 1,
                text: self.request.inputs[input].text.clone(),
                reason: reason.clone(),
            });
        }
        self.skipped.sort_by_key(|skipped| skipped.input);
        let prepared_left = prepared
            .into_iter()
            .enumerate()
            .filter(|(process, _)| !lost.contains_key(process))
            .map(|(_, one)| one)
            .collect();
        self.require_any(prepared_left)
    }

    /// The final graph with its source lines and the names of the functions that blocks call.
    fn annotated_graph(&self) -> Graph {
        let mut graph = self.graph.clone();
        let Some(image) = &self.image else { return graph };
        if let Some(start) = self.from.as_ref().and_then(|(place, _)| graph.block_at(*place)) {
            graph.entry = start;
        }
        let lines = Lines::open(image);
        let code = self.code.clone();
        let blocks = graph.blocks.clone();
        lines.annotate(&mut graph, |at| instructions(&code, blocks[at].start, blocks[at].end));
        let mut disassembly = Disassembly::new(image.clone(), &blocks);
        for block in &mut graph.blocks {
            block.calls = self.calls(block, image);
            block.hottest = hottest(&code, block);
            block.code =
                disassembly.steps(&code, &instructions(&code, block.start, block.end), &lines);
            for (file, line) in block.code.iter().filter_map(|step| step.place.clone()) {
                let text = lines.statement(&file, line).unwrap_or_default();
                graph.statements.insert((file, line), text);
            }
        }
        graph
    }

    /// The functions that a block calls; a jump out of the function counts as a call.
    fn calls(&self, block: &Block, image: &Image) -> Vec<String> {
        let all_instructions = instructions(&self.code, block.start, block.end)
            .into_iter()
            .filter_map(|address| self.code.decode(address));
        let entry = self.target.as_ref().map_or(0, |target| target.function.entry);
        let is_call = |instruction: &Instruction| match self.code.flow(instruction, entry) {
            Flow::Call => true,
            Flow::Jump(to) | Flow::Conditional(to) => !self.code.contains(to),
            Flow::Indirect => callee(image, instruction).is_some(),
            Flow::Next | Flow::Return | Flow::Stop => false,
        };
        let name = |instruction: Instruction| {
            callee(image, &instruction).unwrap_or_else(|| "computed address".to_owned())
        };
        all_instructions.filter(is_call).map(name).collect()
    }

    /// Blocks with a repeated string instruction, whose time depends on its operands.
    fn repeated(&self, graph: &Graph) -> Vec<usize> {
        let repeats = |at: &usize| {
            let addresses =
                instructions(&self.code, graph.blocks[*at].start, graph.blocks[*at].end);
            addresses.into_iter().filter_map(|address| self.code.decode(address)).any(
                |instruction| {
                    instruction.is_string_instruction()
                        && (instruction.has_rep_prefix() || instruction.has_repne_prefix())
                },
            )
        };
        (0..graph.blocks.len()).filter(repeats).collect()
    }

    /// Messages about the runs, and about places that match several blocks or none.
    fn notes(&self, graph: &Graph, rows: &[CountRow]) -> Vec<String> {
        let mut notes = self.remarks.notes();
        notes.extend(until::notes("--until", "calls end before", &self.request.until, graph));
        notes.extend(until::notes("--from", "calls begin at", self.request.from.as_slice(), graph));
        notes.extend(self.ends.unreached(graph, rows));
        notes.extend(self.chosen.as_ref().map(|_| {
            "all calls ran alike, so they were also ended at some arrivals in their loops, which \
             tells parts apart (--until says where instead)"
                .to_owned()
        }));
        notes
    }

    /// The blocks where parts of calls begin.
    fn begun_at(&self, graph: &Graph) -> Option<String> {
        let all_blocks =
            self.begun_at.iter().filter_map(|address| Some(block_name(graph.block_at(*address)?)));
        let names = all_blocks.collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then_some(names)
    }

    fn function(&self) -> FunctionInfo {
        let target = self.target.as_ref();
        let function = target.map(|target| target.function.clone());
        FunctionInfo {
            name: function.as_ref().map_or_else(String::new, |function| function.name.clone()),
            entry: function.as_ref().map_or(0, |function| function.entry),
            bytes: function.as_ref().map_or(0, |function| {
                function.ranges.iter().map(|range| range.end - range.start).sum()
            }),
            object: function.map(|function| function.object).unwrap_or_default(),
            has_lines: self.graph.blocks.iter().any(|block| block.source.is_some()),
        }
    }
}

/// The instructions of a block by what they are likely to cost: their number, times a rough
/// latency. It orders a list, no more.
fn hottest(code: &Code, block: &Block) -> Vec<(String, u32)> {
    const SHOWN_NAMES: usize = 3;
    let mut known_lines: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for instruction in instructions(code, block.start, block.end)
        .into_iter()
        .filter_map(|address| code.decode(address))
    {
        let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
        let entry = known_lines.entry(name).or_insert((0, 0));
        *entry = (entry.0 + 1, entry.1 + likely_cycles(&instruction));
    }
    let mut all_lines: Vec<(String, (u32, u32))> = known_lines.into_iter().collect();
    all_lines.sort_by_key(|(_, (_, cycles))| std::cmp::Reverse(*cycles));
    all_lines.into_iter().take(SHOWN_NAMES).map(|(name, (number, _))| (name, number)).collect()
}

fn likely_cycles(instruction: &Instruction) -> u32 {
    use iced_x86::Mnemonic::{
        Call, Div, Divpd, Divps, Divsd, Divss, Idiv, Imul, Mul, Sqrtpd, Sqrtsd,
    };
    const MEMORY: u32 = 4;
    let memory = u32::from(
        (0..instruction.op_count()).any(|at| instruction.op_kind(at) == iced_x86::OpKind::Memory),
    ) * MEMORY;
    let repeated = instruction.has_rep_prefix() || instruction.has_repne_prefix();
    memory
        + match instruction.mnemonic() {
            _ if repeated => 30,
            Call => 30,
            Div | Idiv | Divsd | Divpd | Divss | Divps | Sqrtsd | Sqrtpd => 15,
            Imul | Mul => 3,
            _ if instruction.is_string_instruction() => 5,
            _ => 1,
        }
}

/// Addresses of the instructions in a range.
pub(crate) fn instructions(code: &Code, start: u64, end: u64) -> Vec<u64> {
    let mut addresses = Vec::new();
    let mut at = start;
    while at < end {
        addresses.push(at);
        let Some(instruction) = code.decode(at) else { break };
        at = instruction.next_ip();
    }
    addresses
}

/// A function's code at the addresses of its file.
fn code_of_file(target: &Target) -> Code {
    Code::new(
        target
            .code
            .parts()
            .iter()
            .map(|(start, bytes)| (start.wrapping_sub(target.bias), bytes.clone()))
            .collect(),
    )
}

/// Process and row indices of all rows.
fn rows_of(prepared: &[Prepared]) -> Vec<(usize, usize)> {
    prepared
        .iter()
        .enumerate()
        .flat_map(|(process, one)| (0..one.rows.len()).map(move |row| (process, row)))
        .collect()
}

/// The functions of a program or library: by its names, and by its unwind table if it is stripped.
///
/// # Errors
/// A file that is not a program for x86-64.
pub fn functions(program: &Path, debug_files: &Path) -> Result<Vec<ListedFunction>> {
    let all_functions = Image::open(program, debug_files)?.all_functions();
    Ok(all_functions
        .into_iter()
        .map(|(address, (bytes, name))| ListedFunction { address, bytes, name })
        .collect())
}

/// Whether an error concerns all inputs rather than one.
fn is_general(error: &Error) -> bool {
    matches!(
        error,
        Error::BadRequest(_)
            | Error::Function(_)
            | Error::Program { .. }
            | Error::Core(_)
            | Error::Host(_)
    )
}
