//! Prepares every input: runs it up to the function, follows the call, and makes it repeatable.

mod count;
mod counted;
mod learn;
mod part;

use super::calls::Remarks;
use super::until::{Arrivals, Ends};
use super::{is_general, overhead};
use crate::analysis::CountRow;
use crate::binary::{Code, Image, Observed};
use crate::error::{Error, Result};
use crate::graph::{Counts, Graph};
use crate::result::{Progress, Request, Skipped, Traced};
use crate::trace::{
    Begin, COPY_PAYS_AFTER, Call, Followed, Follower, Guard, PageFunction, Partial, Process,
    Program, Snapshot, Started, Stub, Target, Undo, put_back,
};
use count::in_file;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Maximum number of rows with equal counts that end at the same block, and of parts one at each
/// place where they begin at the least: what has the same counts at another place of a call may
/// take another time.
const MOST_ALIKE: usize = 3;
/// Maximum number of rows, with those of the page's functions: the engine treats more as a sample,
/// not as a design.
const MOST_ROWS: usize = 2_000;
/// Arrivals at which parts are ended where arrivals are counted.
const LATER_ARRIVALS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

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
    registers_left: Option<[u64; 13]>,
    branches: Branches,
}

/// The branches from which the counts of a row are computed, at addresses of the file.
#[derive(Debug, Clone)]
struct Branches {
    counts_of_all: BTreeMap<(u64, u64), u64>,
    entries: u64,
    /// Where the call begins.
    begin: u64,
    /// Where arrivals are counted, how many there are, and whether each is counted twice.
    counted: Option<(u64, u64, bool)>,
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
    /// The call as it is followed again, and after how many branches that ends.
    again: Call,
    most_branches: Option<u64>,
    /// Time that following it takes.
    pub took: Duration,
    /// Whether repeats left different registers.
    pub varies: bool,
    /// Offset from addresses of the file to those of the process.
    bias: u64,
    /// Where its calls begin.
    begin: Begin,
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
        self.varies |=
            *self.rows[row].registers_left.get_or_insert(self.stub.left) != self.stub.left;
        Ok(ticks)
    }

    fn change_to(&mut self, row: usize) -> Result<()> {
        if self.last != row {
            // A row restores only what it writes itself, so a change of rows restores the rest
            // first.
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
        let again = repeated(
            program,
            &mut self.process,
            &mut self.stub,
            (&target, self.begin),
            &self.again,
            self.most_branches,
            self.reads_outside,
        )?;
        program.watchdog.watch(None);
        same_path(self.path, again.path)
    }

    /// Runs a function of the page `repeats` times from the state of the whole call.
    ///
    /// # Errors
    /// The process ends or does not return.
    pub fn run_own(
        &mut self,
        function: PageFunction,
        repeats: usize,
        seed: u64,
    ) -> Result<Vec<u64>> {
        put_back(&mut self.process, self.stub.code(), &self.rows[self.last].undo)?;
        self.last = 0;
        let call = self.stub.call_of_page(&self.rows[0].call, function);
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
    /// What is worth a message about the runs.
    pub remarks: Remarks,
    /// Statistics of following the calls.
    pub traced: Traced,
    /// What calls read that differs from time to time.
    pub sources: BTreeSet<String>,
    /// Whether the call that was prepared last does.
    pub reads_outside: bool,
    /// Inputs whose path differs from one repeat to the next.
    pub differ: BTreeSet<usize>,
    /// The place where rows begin, by its address in the file, and at which arrivals; `None` for
    /// the function's entry.
    pub from: Option<(u64, BTreeSet<u64>)>,
    observed: Observed,
    /// Where calls are ended early.
    pub ends: Ends,
    /// The same, where no request says it.
    pub chosen: Option<Ends>,
    /// Where they are ended in the graph that is known.
    arrivals: Option<Arrivals>,
    /// Whole calls of which parts are taken.
    pub whole_calls: Vec<Prepared>,
    /// Where parts are also ended at later arrivals, the best place first, and where they begin, by
    /// address in the file.
    pub counted_at: Vec<u64>,
    pub begun_at: BTreeSet<u64>,
    /// The place where parts begin now, and how many there are in a call.
    pub window: (usize, usize),
    /// Rows with equal counts, by the window and where they end, and rows that were not taken
    /// because there are enough of them.
    alike: HashMap<(usize, u64, Vec<u64>), usize>,
    enough_alike: usize,
    partial_rows: usize,
    /// Longest random wait before a repeat, in ticks.
    pub spread: u64,
    /// Memory of the calls that wait to be timed, in bytes.
    pub held: u64,
}

impl<'a> Session<'a> {
    /// A session before its first run.
    ///
    /// # Errors
    /// A program that cannot be traced.
    pub fn new(request: &'a Request, cpu: usize, quantum: u64) -> Result<Session<'a>> {
        Ok(Session {
            request,
            program: Program::new(
                &request.program,
                &request.debug_files,
                &request.function,
                cpu,
                request.timeout,
            )?,
            target: None,
            image: None,
            code: Code::new(Vec::new()),
            graph: Graph::default(),
            skipped: Vec::new(),
            remarks: Remarks::default(),
            traced: Traced::default(),
            sources: BTreeSet::new(),
            reads_outside: false,
            differ: BTreeSet::new(),
            from: None,
            observed: Observed::new(),
            ends: Ends::default(),
            chosen: None,
            arrivals: None,
            whole_calls: Vec::new(),
            counted_at: Vec::new(),
            begun_at: BTreeSet::new(),
            window: (0, 1),
            alike: HashMap::new(),
            enough_alike: 0,
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
        let mut all_prepared = Vec::new();
        for (at, input) in self.request.inputs.iter().enumerate() {
            (self.request.progress)(Progress::Following {
                input: at + 1,
                of: self.request.inputs.len(),
            });
            match self.prepare_calls(at, input, &mut all_prepared) {
                Err(error) if is_general(&error) => return Err(error),
                Err(error) => self.skip(at, None, &error),
                Ok(()) => {}
            }
        }
        let mut all_prepared = self.require_any(all_prepared)?;
        self.recount(&mut all_prepared)?;
        Ok(all_prepared)
    }

    /// Ends of calls that the request leaves open: where all calls ran alike, only calls that are
    /// ended in their loops tell parts apart.
    pub fn ends_to_choose(&self, all_prepared: &[Prepared]) -> Option<Ends> {
        let mut rows =
            all_prepared.iter().flat_map(|one| one.rows.iter().map(|row| &row.counts.counts));
        let first = rows.next()?;
        let is_open = self.request.until.is_empty()
            && self.request.parts.is_none()
            && rows.all(|counts| counts.blocks == first.blocks);
        is_open.then(|| Ends::in_loops(&self.graph, first)).flatten()
    }

    /// Checks that at least one process is left.
    ///
    /// # Errors
    /// [`Error::NoInput`] with the first skipped input.
    pub fn require_any(&self, all_prepared: Vec<Prepared>) -> Result<Vec<Prepared>> {
        match self.skipped.first() {
            Some(first) if all_prepared.is_empty() => {
                Err(Error::NoInput(format!("the first one ({}): {}", first.text, first.reason)))
            }
            _ => Ok(all_prepared),
        }
    }

    /// Follows a call and makes it repeatable.
    ///
    /// # Errors
    /// A call that cannot be repeated.
    pub fn prepare(&mut self, at: usize, started: Started, stub: Stub) -> Result<Prepared> {
        let mut ready = Ready { started, stub };
        self.program.deadline(&ready.started.process);
        let followed = self
            .follow(&mut ready, None)
            .map_err(|e| self.program.explain("follow the call", e))?;
        let rows = self
            .rows(&mut ready, &followed)
            .map_err(|e| self.program.explain("repeat the call", e))?;
        let again = rows[0].call;
        Ok(self.prepared(at, ready, &followed, again, None, rows))
    }

    fn prepared(
        &self,
        at: usize,
        ready: Ready,
        followed: &Traces,
        again: Call,
        most_branches: Option<u64>,
        rows: Vec<Row>,
    ) -> Prepared {
        self.program.watchdog.watch(None);
        let took = followed.took;
        let (path, bias, begin) =
            (followed.followed.path, ready.started.target.bias, ready.started.begin);
        Prepared {
            input: at,
            process: ready.started.process,
            stub: ready.stub,
            rows,
            path,
            reads_outside: self.reads_outside,
            again,
            most_branches,
            took,
            varies: false,
            bias,
            begin,
            last: 0,
        }
    }

    /// Follows the call, or some branches of it with an end at each block, and records what it
    /// wrote.
    fn follow(&mut self, ready: &mut Ready, most_branches: Option<u64>) -> Result<Traces> {
        let Ready { started, stub } = ready;
        const RED_ZONE: u64 = 128;
        let Started { process, target, begin } = started;
        let (entry, bias) = (target.entry(), target.bias);
        let is_inside = begin.at != entry;
        process.hold();
        process.hold_signals()?;
        stub.remember(process, begin.at, is_inside)?;
        if is_inside {
            process.write(begin.slot, &stub.back().to_ne_bytes())?;
        }
        stub.guard = Guard::protect(process, entry)?;
        let stack = if is_inside { process.stack()? - RED_ZONE } else { begin.slot + 8 };
        let snapshot = Snapshot::take(process, entry, stack, &stub.areas())?;
        let later = |at: u64| {
            if self.counted_at.contains(&at) {
                BTreeSet::from(LATER_ARRIVALS)
            } else {
                BTreeSet::from([1])
            }
        };
        let each = || {
            self.graph
                .blocks
                .iter()
                .map(|block| (block.start, later(block.start)))
                .collect::<Arrivals>()
        };
        let ends = match most_branches {
            None => self.arrivals.get_or_insert_with(|| self.ends.arrivals(&self.graph)),
            Some(_) => &each(),
        };
        let ends: Arrivals =
            ends.iter().map(|(end, numbers)| (end.wrapping_add(bias), numbers.clone())).collect();
        let begun = Instant::now();
        let follower = Follower::new(&self.program, process, target, *begin, &stub.guard, &ends);
        let followed = match most_branches {
            None => follower.in_copy(stub.room, COPY_PAYS_AFTER)?.run()?,
            // So few branches take less time from breakpoint to breakpoint than it takes to write a
            // copy.
            Some(most) => follower.up_to(most).run()?,
        };
        let took = begun.elapsed();
        self.traced.seconds += took.as_secs_f64();
        self.traced.stops += followed.stops;
        if followed.stepped.is_some() {
            (self.traced.stepped, self.traced.why_stepped) =
                (self.traced.stepped + 1, followed.stepped);
        }
        stub.guard.restrict(process, entry, &followed.system_calls)?;
        self.observe(&followed, bias);
        let undo = snapshot.undo(process, &stub.areas())?;
        Ok(Traces { followed, snapshot, undo, took })
    }

    /// The whole call, and its beginnings.
    fn rows(&mut self, ready: &mut Ready, traces: &Traces) -> Result<Vec<Row>> {
        self.program.deadline(&ready.started.process);
        let mut rows = vec![self.whole(ready, traces)?];
        let whole = rows[0].call;
        for partial in &traces.followed.partials {
            self.program.deadline(&ready.started.process);
            rows.extend(self.partial(ready, &traces.snapshot, &whole, partial)?);
        }
        let places: BTreeSet<u64> =
            rows.iter().filter_map(|row| Some(row.branches.counted?.0)).collect();
        for address in places {
            rows.extend(self.counted(&rows[0], address, ready.started.target.bias));
        }
        Ok(rows)
    }

    /// The whole call as a row, after a check that a repeated call takes the same path and leaves
    /// the same memory.
    fn whole(&mut self, ready: &mut Ready, traces: &Traces) -> Result<Row> {
        let Ready { started, stub } = ready;
        let Started { process, target, begin } = started;
        let Traces { followed, undo, snapshot, .. } = traces;
        let after = contents(process, &undo.memory);
        let call = stub.prepare(process, begin.at, undo)?;
        let mut sources = stub.watch(process, &call, begin.at)?;
        sources.extend(followed.sources.iter().cloned());
        let differs = contents(process, &undo.memory) != after;
        let again = repeated(
            &self.program,
            &mut *process,
            &mut *stub,
            (target, *begin),
            &call,
            None,
            !sources.is_empty(),
        )?;
        same_path(followed.path, again.path)?;
        self.after_repeats(process, stub, undo, snapshot, differs, sources)?;
        let bias = target.bias;
        let all_branches = in_file(&followed.branches, bias);
        let branches = Branches {
            counts_of_all: all_branches,
            entries: followed.entries,
            begin: begin.at.wrapping_sub(bias),
            counted: None,
            end: None,
        };
        Ok(Row {
            call,
            counts: CountRow { counts: Counts::default(), until: None, counted: None },
            undo: undo.clone(),
            registers_left: None,
            branches,
        })
    }

    /// A partial call as a row, if it adds information and can be run.
    fn partial(
        &mut self,
        ready: &mut Ready,
        snapshot: &Snapshot,
        whole: &Call,
        partial: &Partial,
    ) -> Result<Option<Row>> {
        let Ready { started, stub } = ready;
        let until = partial.until.wrapping_sub(started.target.bias);
        let branches = Self::branches_of(started, partial);
        let Some(counts) = self.count(&branches) else { return Ok(None) };
        let (window, windows) = self.window;
        let known_alike =
            self.alike.entry((window, until, counts.counts.blocks.clone())).or_insert(0);
        let whole_calls = self.request.inputs.len() * (self.request.calls as usize);
        let room = self.partial_rows + whole_calls + overhead::long().count() < MOST_ROWS;
        if *known_alike >= MOST_ALIKE.div_ceil(windows) {
            self.enough_alike += 1;
            return Ok(None);
        }
        if !room || !self.ends.can_end(&self.graph, &self.code, &counts.counts, until) {
            return Ok(None);
        }
        *known_alike += 1;
        self.partial_rows += 1;
        if partial.passes > 1 {
            stub.count_at(partial.until, &started.target.code)?;
        }
        stub.run(&mut started.process, &whole.up_to(partial.until, partial.passes), 1, 1)?;
        let undo = snapshot.undo(&started.process, &stub.areas())?;
        let call = stub
            .prepare(&mut started.process, started.begin.at, &undo)?
            .up_to(partial.until, partial.passes);
        put_back(&mut started.process, stub.code(), &undo)?;
        Ok(Some(Row { call, counts, undo, registers_left: None, branches }))
    }
}

/// Follows a call as it is repeated, or some branches of it; a call that reads the clock gets one
/// that hardly moves.
fn repeated(
    program: &Program,
    process: &mut Process,
    stub: &mut Stub,
    (target, begin): (&Target, Begin),
    call: &Call,
    most_branches: Option<u64>,
    reads_outside: bool,
) -> Result<Followed> {
    stub.begin(process, call, begin.at)?;
    let no_ends = Arrivals::new();
    let follower = Follower::new(program, process, target, begin, &stub.guard, &no_ends);
    let follower = match most_branches {
        None => follower.in_copy(stub.room, COPY_PAYS_AFTER)?,
        Some(most) => follower.up_to(most),
    };
    if reads_outside { follower.with_slow_clock()?.run() } else { follower.run() }
}

/// Checks that a repeated call took the path of the first one.
fn same_path(first: u64, again: u64) -> Result<()> {
    if first == again {
        return Ok(());
    }
    let reason = "its path differs from one repeat to the next, so its counts are those of no \
                  other call: it depends on the time, on random numbers or on another process; \
                  time a function that is given such values, or an input that does not use them";
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
