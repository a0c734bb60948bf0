//! Prepares every input: runs it up to the function, follows the call, and makes it repeatable.

use super::until::{Ends, resolve};
use super::{code_of_file, instructions, is_general};
use crate::analysis::CountRow;
use crate::binary::{Code, Flow, Image, Lines, Observed, cut};
use crate::count::{Counter, Cut};
use crate::error::{Error, Result};
use crate::graph::{Counts, Graph};
use crate::inputs::Input;
use crate::result::{Progress, Request, Skipped, Traced};
use crate::trace::{
    Call, Followed, Follower, Guard, Journey, Own, Partial, Process, Program, Snapshot, Started, Stub, Target, Undo, put_back,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Maximum number of rows with equal counts that end at the same block: more add no information.
const MOST_ALIKE: usize = 3;
/// Maximum number of rows: above it the engine treats rows as a sample, not as a design.
const MOST_ROWS: usize = 2_000;

/// A row of a process.
#[derive(Debug)]
pub struct Row {
    /// The call.
    pub call: Call,
    /// What runs in it.
    pub counts: CountRow,
    /// What undoes it.
    undo: Undo,
    /// The registers that its first repeat left.
    left: Option<[u64; 13]>,
    branches: Branches,
}

/// The branches from which the counts of a row are computed, at addresses of the file.
#[derive(Debug, Clone)]
struct Branches {
    all: BTreeMap<(u64, u64), u64>,
    entries: u64,
    /// The path after the last branch of a partial run: its start and its end.
    end: Option<(u64, u64)>,
}

/// A process that is ready to be timed.
#[derive(Debug)]
pub struct Prepared {
    /// Number of the input, from 0.
    pub input: usize,
    /// The process.
    pub process: Process,
    /// The timing code in it.
    pub stub: Stub,
    /// What it runs.
    pub rows: Vec<Row>,
    /// The path of the whole call, and whether it reads what differs from time to time.
    path: u64,
    reads_outside: bool,
    /// Time that following it takes.
    pub took: Duration,
    /// Whether repeats left different registers.
    pub varies: bool,
    /// Offset from addresses of the file to those of the process.
    bias: u64,
    /// The row that ran last.
    last: usize,
}

impl Prepared {
    /// Runs one of its rows `repeats` times from the initial state of the call; returns ticks.
    ///
    /// # Errors
    /// The process ends or does not return.
    pub fn run(&mut self, row: usize, repeats: usize, seed: u64) -> Result<Vec<u64>> {
        self.change_to(row)?;
        let ticks = self.stub.run(&mut self.process, &self.rows[row].call, repeats, seed)?;
        self.varies |= *self.rows[row].left.get_or_insert(self.stub.left) != self.stub.left;
        Ok(ticks)
    }

    fn change_to(&mut self, row: usize) -> Result<()> {
        if self.last != row {
            // A row restores only what it writes itself, so a change of rows restores the rest first.
            put_back(&mut self.process, self.stub.code(), &self.rows[self.last].undo)?;
            self.last = row;
        }
        Ok(())
    }

    /// Follows the whole call again, as it is repeated.
    ///
    /// # Errors
    /// Its path is another one, or the process ends or does not return.
    pub fn follow_again(&mut self, program: &Program, target: &Target) -> Result<()> {
        self.change_to(0)?;
        program.deadline(&self.process);
        let target = target.moved_to(self.bias);
        let again = repeated(program, (&mut self.process, &mut self.stub), &target, &self.rows[0].call, self.reads_outside)?;
        program.watchdog.watch(None);
        same_path(self.path, again.path)
    }

    /// Runs a function of the page `repeats` times from the state of the whole call.
    ///
    /// # Errors
    /// The process ends or does not return.
    pub fn run_own(&mut self, own: Own, repeats: usize, seed: u64) -> Result<Vec<u64>> {
        put_back(&mut self.process, self.stub.code(), &self.rows[self.last].undo)?;
        self.last = 0;
        let call = self.stub.own(&self.rows[0].call, own);
        self.stub.run(&mut self.process, &call, repeats, seed)
    }
}

/// A process at the beginning of its call, with the timing code in it.
struct Ready {
    started: Started,
    stub: Stub,
}

/// The result of following a call.
struct Traces {
    followed: Followed,
    /// Memory before the call.
    snapshot: Snapshot,
    /// What undoes the call.
    undo: Undo,
    /// Time that following took.
    took: Duration,
}

/// The state that grows with each input.
#[derive(Debug)]
pub struct Session<'a> {
    /// The request.
    pub request: &'a Request,
    /// The program.
    pub program: Program,
    /// The function, once an input has reached it.
    pub target: Option<Target>,
    /// Its file.
    pub image: Option<Rc<Image>>,
    /// Its code at the addresses of the file.
    pub code: Code,
    /// The graph known so far.
    pub graph: Graph,
    /// Inputs left out.
    pub skipped: Vec<Skipped>,
    /// Statistics of following the calls.
    pub traced: Traced,
    /// What calls read that differs from time to time.
    pub sources: BTreeSet<String>,
    /// Whether the call that was prepared last does.
    reads_outside: bool,
    /// Inputs whose path differs from one repeat to the next.
    pub differ: BTreeSet<usize>,
    observed: Observed,
    ends: Ends,
    alike: HashMap<(u64, Vec<u64>), usize>,
    partial_rows: usize,
    spread: u64,
    /// Memory of the calls that wait to be timed, in bytes.
    held: u64,
}

impl<'a> Session<'a> {
    /// A session before its first run.
    ///
    /// # Errors
    /// A program that cannot be traced.
    pub fn new(request: &'a Request, cpu: usize, quantum: u64) -> Result<Session<'a>> {
        Ok(Session {
            request,
            program: Program::new(&request.program, &request.function, cpu, request.timeout)?,
            target: None,
            image: None,
            code: Code::new(Vec::new()),
            graph: Graph::default(),
            skipped: Vec::new(),
            traced: Traced::default(),
            sources: BTreeSet::new(),
            reads_outside: false,
            differ: BTreeSet::new(),
            observed: Observed::new(),
            ends: Ends::default(),
            alike: HashMap::new(),
            partial_rows: 0,
            spread: (3 * quantum).clamp(64, 4096),
            held: 0,
        })
    }

    /// Runs every input up to its calls; unusable inputs are recorded in `skipped`.
    ///
    /// # Errors
    /// An error that concerns all inputs, or no usable input.
    pub fn prepare_all(&mut self) -> Result<Vec<Prepared>> {
        let mut all = Vec::new();
        for (at, input) in self.request.inputs.iter().enumerate() {
            (self.request.progress)(Progress::Following { input: at + 1, of: self.request.inputs.len() });
            match self.prepare_calls(at, input, &mut all) {
                Err(error) if is_general(&error) => return Err(error),
                Err(error) => self.skip(at, None, &error),
                Ok(()) => {}
            }
        }
        let mut all = self.require_any(all)?;
        self.recount(&mut all)?;
        Ok(all)
    }

    /// Checks that at least one process is left.
    ///
    /// # Errors
    /// [`Error::NoInput`] with the first skipped input.
    pub fn require_any(&self, all: Vec<Prepared>) -> Result<Vec<Prepared>> {
        match self.skipped.first() {
            Some(first) if all.is_empty() => Err(Error::NoInput(format!("the first one ({}): {}", first.text, first.reason))),
            _ => Ok(all),
        }
    }

    /// Runs the program with an input once, and prepares its calls: each in a copy of the process, the last one in the process itself.
    fn prepare_calls(&mut self, at: usize, input: &Input, all: &mut Vec<Prepared>) -> Result<()> {
        let journey = Journey::begin(&mut self.program, input);
        let mut journey = journey.map_err(|e| self.program.explain("start the program", e))?;
        let (from, near) = (journey.from, journey.target.entry());
        let mappings = std::mem::take(&mut journey.mappings);
        let stub = Stub::install(journey.process(), &mappings, from, near, self.spread)?;
        self.learn(&journey)?;
        let wanted = self.wanted_calls(input)?;
        let (first, last) = (wanted[0], wanted[wanted.len() - 1]);
        for call in 1..=last {
            match journey.next_call(&self.program).map_err(|e| self.program.explain("reach the call", e)) {
                // An input may make fewer calls than requested.
                Err(_) if call > first => return Ok(()),
                reached => reached?,
            }
            if wanted.binary_search(&call).is_err() {
                continue;
            }
            let started = if call == last { return self.add(at, call, journey.end()?, stub, all) } else { journey.copy()? };
            self.add(at, call, started, stub.clone(), all)?;
        }
        Ok(())
    }

    /// The numbers of the calls to take: the first ones after those that are skipped, or a sample over the whole run, which is then made once
    /// more to count them.
    fn wanted_calls(&mut self, input: &Input) -> Result<Vec<u64>> {
        let Request { calls, skip, timeout, .. } = *self.request;
        if !self.request.sample {
            return Ok((skip + 1..=skip + calls).collect());
        }
        let mut journey = Journey::begin(&mut self.program, input).map_err(|e| self.program.explain("start the program", e))?;
        let (mut seen, begin) = (0, Instant::now());
        while begin.elapsed() < timeout {
            match journey.next_call(&self.program) {
                Ok(()) => seen += 1,
                Err(error) if seen == 0 => return Err(self.program.explain("reach the call", error)),
                Err(_) => break,
            }
        }
        Ok(evenly(calls, skip, seen.max(skip + 1)))
    }

    /// Prepares a call. One that cannot be repeated is left out.
    fn add(&mut self, at: usize, call: u64, started: Started, stub: Stub, all: &mut Vec<Prepared>) -> Result<()> {
        match self.prepare(at, started, stub) {
            Ok(prepared) => match self.room_for(&prepared, all) {
                Ok(()) => all.push(prepared),
                Err(error) => self.skip(at, (self.request.calls > 1).then_some(call), &error),
            },
            Err(error) if is_general(&error) => return Err(error),
            Err(error) => self.skip(at, (self.request.calls > 1).then_some(call), &error),
        }
        Ok(())
    }

    /// Checks that the memory of all calls that wait to be timed is within the limit.
    fn room_for(&mut self, prepared: &Prepared, all: &[Prepared]) -> Result<()> {
        let own = prepared.process.holds();
        if self.held + own > self.request.memory {
            // Copies share what they do not write, and hold less when one of them is gone.
            self.held = all.iter().map(|one| one.process.holds()).sum();
        }
        if self.held + own > self.request.memory {
            let mib = |bytes: u64| bytes.div_ceil(1 << 20);
            let reason = format!(
                "it holds {} MiB beside the {} MiB of the {} calls before it, and {} MiB is the limit: raise it (--memory), or take several calls of one run (--calls), which share memory",
                mib(own),
                mib(self.held),
                all.len(),
                mib(self.request.memory)
            );
            return Err(Error::system("keep the call for the rounds", reason));
        }
        self.held += own;
        Ok(())
    }

    /// Records an input, or a call of it, that is left out.
    fn skip(&mut self, at: usize, call: Option<u64>, error: &Error) {
        self.differ.extend(matches!(error, Error::PathDiffers(_)).then_some(at));
        let reason = call.map_or_else(|| error.to_string(), |call| format!("call {call}: {error}"));
        self.skipped.push(Skipped { input: at + 1, text: self.request.inputs[at].text.clone(), reason });
    }

    fn prepare(&mut self, at: usize, started: Started, stub: Stub) -> Result<Prepared> {
        let mut ready = Ready { started, stub };
        self.program.deadline(&ready.started.process);
        let followed = self.follow(&mut ready).map_err(|e| self.program.explain("follow the call", e))?;
        let rows = self.rows(&mut ready, &followed).map_err(|e| self.program.explain("repeat the call", e))?;
        self.program.watchdog.watch(None);
        let took = followed.took;
        let (path, bias) = (followed.followed.path, ready.started.target.bias);
        Ok(Prepared {
            input: at,
            process: ready.started.process,
            stub: ready.stub,
            rows,
            path,
            reads_outside: self.reads_outside,
            took,
            varies: false,
            bias,
            last: 0,
        })
    }

    /// Follows the call, and records what it wrote.
    fn follow(&mut self, ready: &mut Ready) -> Result<Traces> {
        let Ready { started, stub } = ready;
        let Started { process, target } = started;
        let (entry, bias) = (target.entry(), target.bias);
        process.hold();
        process.hold_signals()?;
        stub.remember(process, entry)?;
        stub.guard = Guard::protect(process, entry)?;
        let stack = process.stack()?;
        let snapshot = Snapshot::take(process, entry, stack + 8, &stub.areas())?;
        let ends: BTreeSet<u64> = self.ends.addresses(&self.graph).into_iter().map(|end| end.wrapping_add(bias)).collect();
        let begin = Instant::now();
        let followed = Follower::new(&self.program, process, target, &stub.guard, &ends).run()?;
        let took = begin.elapsed();
        self.traced.seconds += took.as_secs_f64();
        self.traced.stops += followed.stops;
        stub.guard.restrict(process, entry, &followed.system_calls)?;
        self.observe(&followed, bias);
        let undo = snapshot.undo(process, &stub.areas())?;
        Ok(Traces { followed, snapshot, undo, took })
    }

    /// The whole call, and its beginnings.
    fn rows(&mut self, ready: &mut Ready, traces: &Traces) -> Result<Vec<Row>> {
        self.program.deadline(&ready.started.process);
        let mut rows = vec![self.whole(ready, traces)?];
        for partial in &traces.followed.partials {
            self.program.deadline(&ready.started.process);
            rows.extend(self.partial(ready, &traces.snapshot, &rows[0].call.clone(), partial)?);
        }
        Ok(rows)
    }

    /// Takes the function and its file from the first process.
    fn learn(&mut self, journey: &Journey) -> Result<()> {
        if self.target.is_none() {
            self.code = code_of_file(&journey.target);
            self.graph = cut(&self.code, journey.target.function.entry, &self.observed);
            let lines = Lines::open(&journey.target.function.object);
            let mut annotated = self.graph.clone();
            lines.annotate(&mut annotated, |at| instructions(&self.code, self.graph.blocks[at].start, self.graph.blocks[at].end));
            self.ends = resolve(&self.request.until, &annotated)?;
            self.target = Some(journey.target.clone());
            self.image = Some(journey.image.clone());
        }
        Ok(())
    }

    /// Adds observed targets of branches that the disassembly cannot follow.
    fn observe(&mut self, followed: &Followed, bias: u64) {
        let before = self.observed.len();
        let entry = self.target.as_ref().map_or(0, |target| target.function.entry);
        for (site, to) in followed.branches.keys() {
            let (site, to) = (site.wrapping_sub(bias), to.wrapping_sub(bias));
            let is_known = self.code.decode(site).is_some_and(|instruction| match self.code.flow(&instruction, entry) {
                Flow::Conditional(taken) => to == taken || to == instruction.next_ip(),
                _ => false,
            });
            if !is_known || self.graph.block_at(site).is_none() {
                self.observed.insert((site, to));
            }
        }
        if self.observed.len() > before {
            self.graph = cut(&self.code, entry, &self.observed);
        }
    }

    /// The whole call as a row, after a check that a repeated call takes the same path and leaves the same memory.
    fn whole(&mut self, ready: &mut Ready, traces: &Traces) -> Result<Row> {
        let Ready { started, stub } = ready;
        let Started { process, target } = started;
        let Traces { followed, undo, snapshot, .. } = traces;
        let entry = target.entry();
        let after = contents(process, &undo.memory);
        let call = stub.prepare(process, entry, None, undo)?;
        let mut sources = stub.watch(process, &call, entry)?;
        sources.extend(followed.sources.iter().cloned());
        let differs = contents(process, &undo.memory) != after;
        let again = repeated(&self.program, (&mut *process, &mut *stub), target, &call, !sources.is_empty())?;
        same_path(followed.path, again.path)?;
        self.program.deadline(process);
        put_back(process, entry, undo)?;
        // What is written may differ, where it is written may not: each repeat must begin from the same state.
        if differs && snapshot.undo(process, &stub.areas())? != Undo::default() {
            let reason = "a repeated call writes to other memory than the first one: it depends on something outside its memory (the time, random numbers), or it runs code that it generates; time a later call (--calls), or a function that is given such values";
            return Err(Error::system("repeat the call", reason));
        }
        sources.extend((differs && sources.is_empty()).then(|| "something that changes what it leaves in memory".to_owned()));
        let bias = target.bias;
        let branches = Branches { all: in_file(&followed.branches, bias), entries: followed.entries, end: None };
        self.reads_outside = !sources.is_empty();
        self.sources.extend(sources);
        Ok(Row { call, counts: CountRow { counts: Counts::default(), until: None }, undo: undo.clone(), left: None, branches })
    }

    /// A partial call as a row, if it adds information and can be run.
    fn partial(&mut self, ready: &mut Ready, snapshot: &Snapshot, whole: &Call, partial: &Partial) -> Result<Option<Row>> {
        let Ready { started, stub } = ready;
        let bias = started.target.bias;
        let end = Some((partial.from.wrapping_sub(bias), partial.until.wrapping_sub(bias)));
        let branches = Branches { all: in_file(&partial.branches, bias), entries: partial.entries, end };
        let Some(counts) = self.count(&branches) else { return Ok(None) };
        let known = self.alike.entry((partial.until.wrapping_sub(bias), counts.counts.blocks.clone())).or_insert(0);
        let room = self.partial_rows + self.request.inputs.len() * (self.request.calls as usize) < MOST_ROWS;
        if *known >= MOST_ALIKE || !room || !self.ends.can_end(&self.graph, &self.code, &counts.counts, partial.until.wrapping_sub(bias)) {
            return Ok(None);
        }
        *known += 1;
        self.partial_rows += 1;
        let trial = whole.up_to(partial.until);
        stub.run(&mut started.process, &trial, 1, 1)?;
        let undo = snapshot.undo(&started.process, &stub.areas())?;
        let call = stub.prepare(&mut started.process, started.target.entry(), Some(partial.until), &undo)?;
        put_back(&mut started.process, stub.code(), &undo)?;
        Ok(Some(Row { call, counts, undo, left: None, branches }))
    }

    fn count(&self, branches: &Branches) -> Option<CountRow> {
        let last = |at: usize| {
            let block = &self.graph.blocks[at];
            instructions(&self.code, block.start, block.end).last().copied().unwrap_or(block.start)
        };
        let start_of = |address: u64| self.graph.blocks.iter().position(|block| block.start == address);
        let cut = match branches.end {
            Some((from, until)) => Some(Cut { from: start_of(from)?, until: start_of(until)? }),
            None => None,
        };
        let counts = Counter::new(&self.graph, last).count(&branches.all, branches.entries, cut)?;
        Some(CountRow { counts, until: cut.map(|cut| cut.until) })
    }

    /// The counts of all rows by the final graph.
    fn recount(&mut self, all: &mut [Prepared]) -> Result<()> {
        for row in all.iter_mut().flat_map(|one| one.rows.iter_mut()) {
            row.counts = self
                .count(&row.branches)
                .ok_or_else(|| Error::system("count the blocks", "a branch led to an address where no block begins"))?;
        }
        let whole = all.iter().flat_map(|one| &one.rows).filter(|row| row.counts.until.is_none());
        let instructions = |row: &Row| -> u64 {
            row.counts.counts.blocks.iter().zip(&self.graph.blocks).map(|(count, block)| count * u64::from(block.instructions)).sum()
        };
        self.traced.instructions = whole.map(instructions).sum();
        Ok(())
    }
}

/// Numbers of calls, evenly over those from `skip` to `seen`: the middle of each part.
fn evenly(calls: u64, skip: u64, seen: u64) -> Vec<u64> {
    let all = seen - skip;
    let parts = calls.min(all);
    (0..parts).map(|part| skip + 1 + (2 * part + 1) * all / (2 * parts)).collect()
}

/// Follows a call as it is repeated; a call that reads the clock gets one that hardly moves.
fn repeated(
    program: &Program,
    (process, stub): (&mut Process, &mut Stub),
    target: &Target,
    call: &Call,
    reads_outside: bool,
) -> Result<Followed> {
    stub.begin(process, call, target.entry())?;
    let no_ends = BTreeSet::new();
    let follower = Follower::new(program, process, target, &stub.guard, &no_ends);
    if reads_outside { follower.with_slow_clock()?.run() } else { follower.run() }
}

/// Checks that a repeated call took the path of the first one.
fn same_path(first: u64, again: u64) -> Result<()> {
    if first == again {
        return Ok(());
    }
    let reason = "its path differs from one repeat to the next, so its counts are those of no other call: it depends on the time, on random numbers or on another process; time a function that is given such values, or an input that does not use them";
    Err(Error::PathDiffers(reason.to_owned()))
}

/// The contents of memory that a call wrote.
fn contents(process: &Process, patches: &[(u64, Vec<u8>)]) -> Vec<Vec<u8>> {
    let read = |(address, before): &(u64, Vec<u8>)| {
        let mut now = vec![0; before.len()];
        process.read(*address, &mut now);
        now
    };
    patches.iter().map(read).collect()
}

fn in_file(branches: &BTreeMap<(u64, u64), u64>, bias: u64) -> BTreeMap<(u64, u64), u64> {
    branches.iter().map(|((site, to), times)| ((site.wrapping_sub(bias), to.wrapping_sub(bias)), *times)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_even_and_has_no_more_calls_than_there_are() {
        assert_eq!(evenly(4, 0, 20), [3, 8, 13, 18]);
        assert_eq!(evenly(4, 10, 20), [12, 14, 17, 19]);
        assert_eq!(evenly(9, 0, 3), [1, 2, 3]);
        assert_eq!(evenly(1, 5, 6), [6]);
        assert!((1..50).all(|seen| evenly(7, 0, seen).windows(2).all(|pair| pair[0] < pair[1])
            && evenly(7, 0, seen).iter().all(|at| (1..=seen).contains(at))));
    }
}
