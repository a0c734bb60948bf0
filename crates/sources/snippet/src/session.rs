//! Measures a request: pilot, design, compilation, and rounds until the interval is narrow enough.

use crate::cache::Cache;
use crate::child::{Child, HostProgram, Printed};
use crate::compile::{Compiler, Job, Library, compile_in_layouts, compile_in_turns, compile_pilot, compile_plain, find};
use crate::copied::{Copy, Lost};
use crate::copy::look;
use crate::error::{Error, Result, io};
use crate::few::in_few_places;
use crate::mode::Mode;
use crate::occupied::occupied;
use crate::placed::Placed;
use crate::plan;
use crate::protocol::{Ended, Load, Ready};
use crate::quick::ticks;
use crate::repeat::{Repeated, samples};
use crate::request::{Language, Request};
use crate::source::RowSpec;
use crate::table;
use hairspring_core::design::Pilot;
use hairspring_core::design::table::Order;
use hairspring_core::judge::Assessment;
use hairspring_host::chains::{RULER, name};
use hairspring_host::process::Folder;
use hairspring_host::thread::allowed_cpus;
use hairspring_measure::companions::{Companion, companions};
use hairspring_measure::limits::{self, Batch, LEAST_ROUNDS_OF_SPARE_ROWS};
use hairspring_measure::ruler::Ruler;
use hairspring_measure::seating::{Seated, Stopped, Threads};
use hairspring_measure::until::Ended as Stopping;
use hairspring_measure::{Goal, Run, Seating, Table, until_precise};
use std::time::{Duration, Instant};

/// The result of a session.
#[derive(Debug)]
pub struct MeasuredCode {
    /// The rounds.
    pub run: Run,
    /// The analysis of the machine code of each alternative: its mode, its disassembly.
    pub copies: Vec<Copy>,
    /// Operations that the compiler removed from each alternative's copies.
    pub lost: Vec<Vec<Lost>>,
    /// Core cycles of each alternative in a loop with few copies, if it stores and loads.
    pub few: Vec<Option<f64>>,
    /// Variables that walk through memory or decide branches, whose values went on from row to row.
    pub walks: Vec<String>,
    /// Alternatives whose copies are other code in the rows than in those that were looked at, with the bytes of a copy in these and in the rows.
    pub other_code: Vec<(usize, f64, f64)>,
    /// Code size of one copy of each alternative in bytes, if known.
    pub copy_bytes: Vec<Option<f64>>,
    /// The compiler.
    pub compiler: Compiler,
    /// Circumstances at the start.
    pub ready: Ready,
    /// Where the thread was, and which other threads ran.
    pub seated: Seated,
    /// Core cycles of the reference chain and where the number comes from, or the reason why there are none.
    pub ruler: std::result::Result<Ruler, String>,
    /// Circumstances at the end.
    pub ended: Ended,
    /// The code's output, if any.
    pub printed: Option<Printed>,
}

/// Names of the series of a request: `code` for a single alternative, letters for several.
pub fn series_names(request: &Request) -> Vec<String> {
    let letter = |at: usize| char::from(b'a' + at as u8).to_string();
    if request.codes.len() == 1 { vec!["code".into()] } else { (0..request.codes.len()).map(letter).collect() }
}

/// Measures a request.
///
/// # Errors
/// An invalid request, code that does not compile or that ended its process, or an unavailable clock or CPU.
pub fn measure(request: &Request, host: &HostProgram) -> Result<MeasuredCode> {
    measure_watched(request, host, &mut |_| ())
}

/// As [`measure`]; `look` sees what is found whenever the readings have doubled.
///
/// # Errors
/// As [`measure`].
pub fn measure_watched(request: &Request, host: &HostProgram, look: &mut dyn FnMut(&Assessment)) -> Result<MeasuredCode> {
    let mut copies = Vec::new();
    measure_unexplained(request, host, &mut copies, look).map_err(|error| {
        let changed: Vec<String> = copies.iter().flat_map(|copy| copy.written.clone()).collect();
        crate::registers::explain(request, &changed, error)
    })
}

fn measure_unexplained(
    request: &Request,
    host: &HostProgram,
    copies: &mut Vec<Copy>,
    look: &mut dyn FnMut(&Assessment),
) -> Result<MeasuredCode> {
    request.check()?;
    if let Some(name) = &request.clock {
        hairspring_host::clock::find(name)?;
    }
    let compiler = find(request)?;
    let folder = Folder::new().map_err(io("making a temporary folder"))?;
    let cache = request.is_cached.then(Cache::open).flatten();
    let job = Job { request, compiler: &compiler, folder: folder.path(), repeated: None, cache: cache.as_ref() };
    let mut piloted = pilot(&job, host, copies)?;
    let early = piloted.plain.take();
    let lost = lost(request, copies, if request.language != Language::Asm { early.unwrap_or_else(|| plain(&job)) } else { None });
    let going = Request { walks: walks(request, copies), ..request.clone() };
    let few = match piloted.seated.threads {
        None => in_few_places(&Job { request: &going, ..job }, host, copies, &piloted),
        Some(_) => Vec::new(),
    };
    let goes_on = |look: &mut dyn FnMut(&Assessment)| {
        let job = Job { request: &going, ..job };
        timed(&job, host, &Piloted { repeated: None, ..piloted.clone() }, copies, look)
    };
    let walked = if going.walks.is_empty() { None } else { Some(goes_on(look)) };
    let (measured, walks) = match walked {
        // A walk that comes to an end begins anew in each row.
        None | Some(Err(Error::CodeFailed(_))) => (timed(&job, host, &piloted, copies, look)?, Vec::new()),
        Some(found) => (found?, going.walks),
    };
    drop(folder);
    Ok(MeasuredCode { copies: std::mem::take(copies), lost, few, walks, ..measured })
}

/// Variables that go on from row to row, as they do in a loop: those that walk from place to place in memory, and those by which branches go, whose
/// values a predictor would learn. Where alternatives have some, each needs the same start.
fn walks(request: &Request, copies: &[Copy]) -> Vec<String> {
    let is_one = copies.len() == 1 && request.language != Language::Asm && request.init.is_none();
    let going = |copy: &Copy| [&copy.walked[..], &copy.decides, &copy.indexes].concat();
    copies.iter().filter(|_| is_one).flat_map(going).collect()
}

/// A measurement behind its pilot; what the machine code shows is left out.
fn timed(job: &Job, host: &HostProgram, piloted: &Piloted, copies: &[Copy], look: &mut dyn FnMut(&Assessment)) -> Result<MeasuredCode> {
    let Piloted { pilots, ruler, cpu, seated, holds_arrays, cycle_ns, repeated, .. } = piloted;
    let request = job.request;
    let chains = ruler.is_ok() && seated.no_cycles().is_none();
    let is_straight = copies.iter().all(Copy::is_straight);
    // Behind an init, straight code keeps its straight rows.
    let in_blocks = if request.init.is_some() { !is_straight } else { gets_faster(copies, pilots, *cycle_ns) };
    let mut rows = plan::rows(request, pilots, chains, in_blocks);
    // Straight code without arrays takes the same time wherever it lies. How branches are predicted and decoded depends on their addresses, and
    // accesses of arrays on theirs.
    let compile = if is_straight && !holds_arrays { compile_in_turns } else { compile_in_layouts };
    let job_of_rows = Job { repeated: repeated.as_ref(), ..*job };
    let mut library = compile(&job_of_rows, &rows)?;
    // Compilers give up on long functions: blocks are shorter.
    if !in_blocks && !other_code(request, (&rows, &library), pilots).is_empty() {
        rows = plan::rows(request, pilots, chains, true);
        library = compile(&job_of_rows, &rows)?;
    }
    // In long functions, code that takes references loads and stores what they refer to.
    let mut is_in_memory = false;
    if !other_code(request, (&rows, &library), pilots).is_empty() {
        let in_memory = Request { in_memory: true, ..request.clone() };
        let other = compile(&Job { request: &in_memory, repeated: None, ..*job }, &rows)?;
        let bytes = |library: &Library| library.row_bytes.iter().sum::<u64>();
        is_in_memory = bytes(&other) < bytes(&library);
        library = if is_in_memory { other } else { compile(&job_of_rows, &rows)? };
    }
    let work = Work { request, host, rows: &rows, library: &library, copies, round: round_of(&rows, pilots) };
    // A process that is started anew makes its pools of threads for all CPUs.
    let in_time = |threads: Threads| Threads { late: false, ..threads };
    let mut threads = seated.threads.map(in_time);
    let (Measured { table, ready, ended, printed, stopped, seated }, ruler) = loop {
        let ruler = expected(request, threads).no_cycles().map_or_else(|| ruler.clone(), |reason| Err(reason.to_owned()));
        match rounds(&work, *cpu, threads, &ruler, look)? {
            Ok(measured) => break (measured, ruler),
            Err(late) => threads = Some(in_time(late)),
        }
    };
    Ok(MeasuredCode {
        run: Run::new(table, stopped, ended.rate.clone(), ended.stolen_ms),
        copies: Vec::new(),
        lost: Vec::new(),
        few: Vec::new(),
        walks: Vec::new(),
        other_code: if is_in_memory { Vec::new() } else { other_code(request, (&rows, &library), pilots) },
        copy_bytes: (0..request.codes.len()).map(|subject| copy_bytes(&rows, &library, subject)).collect(),
        compiler: job.compiler.clone(),
        printed,
        seated,
        ready,
        ruler,
        ended,
    })
}

/// A copy in long rows is other code than one in short rows if it is so many times longer, and by so many bytes.
const OTHER_CODE: f64 = 1.5;
const OTHER_BYTES: f64 = 6.0;

/// Alternatives whose copies are other code in these rows than in the short ones of the pilot, with the bytes of a copy in both.
fn other_code(request: &Request, (rows, library): (&[RowSpec], &Library), pilots: &[Pilot]) -> Vec<(usize, f64, f64)> {
    let of = |subject: usize| Some((subject, pilots[subject].copy_bytes, copy_bytes(rows, library, subject)?));
    let is_other = |(_, short, long): &(usize, f64, f64)| long - short > OTHER_BYTES && *long > OTHER_CODE * short;
    let is_compiled = request.language != Language::Asm && request.init.is_none() && request.cold.is_empty();
    (0..request.codes.len()).filter(|_| is_compiled).filter_map(of).filter(is_other).collect()
}

/// What every attempt at a measurement has in common.
struct Work<'w> {
    request: &'w Request,
    host: &'w HostProgram,
    rows: &'w [RowSpec],
    library: &'w Library,
    /// What the machine code of each alternative shows.
    copies: &'w [Copy],
    /// About the time of one round.
    round: Duration,
}

/// Core cycles of an instruction below which a core may decode it more slowly than it runs it: at least one is decoded in a cycle.
const DENSE_CYCLES: f64 = 1.25;

/// Whether a core may take another time for copies that it has run a hundred times:
/// - those with branches and calls, whose targets it has to keep, and which it decodes in pieces: a sum of 64 integers takes 19 to 23 cycles from
///   one place in a loop, and 39 from 256 places in turn;
/// - those that it decodes more slowly than it runs them, but for a chain of one instruction, which takes at least a cycle for each;
/// - those that store and load. Golden Cove learns which load takes what a store has written, and passes it on at once: `inc` of a place on the
///   stack takes 1 cycle, and 7.3 before.
fn gets_faster(copies: &[Copy], pilots: &[Pilot], cycle_ns: f64) -> bool {
    let is_chain = |copy: &Copy| copy.disassembly.len() == 1 && copy.judged.mode == Some(Mode::Latency);
    let is_fast = |copy: &Copy, pilot: &Pilot| cycles_of_instruction(copy, pilot, cycle_ns) < DENSE_CYCLES;
    let gets_faster =
        |(copy, pilot): (&Copy, &Pilot)| !copy.is_straight() || copy.stores_and_loads() || !is_chain(copy) && is_fast(copy, pilot);
    copies.iter().zip(pilots).any(gets_faster)
}

/// About the core cycles of an instruction of a copy; infinite if they are not known.
fn cycles_of_instruction(copy: &Copy, pilot: &Pilot, cycle_ns: f64) -> f64 {
    pilot.copy_ns / (cycle_ns * copy.disassembly.len() as f64)
}

/// The time of one round by the pilot: a reading of each row, and the runs before.
fn round_of(rows: &[RowSpec], pilots: &[Pilot]) -> Duration {
    let before = runs_before(rows);
    let of_row = |row: &RowSpec| {
        let once = Duration::from_nanos((f64::from(row.runs * row.bodies.max(row.inits)) * pilots[row.subject].copy_ns) as u64);
        once * (1 + before.min(limits::affordable(once)))
    };
    rows.iter().map(of_row).sum::<Duration>().min(Duration::from_secs(3_600))
}

/// The rounds of an attempt, and the circumstances of the processes that ran them.
struct Measured {
    table: Table,
    ready: Ready,
    ended: Ended,
    printed: Option<Printed>,
    stopped: Stopping,
    seated: Seated,
}

/// How a thread is to be placed if these other threads are known of.
fn expected(request: &Request, threads: Option<Threads>) -> Seated {
    Seated { seating: request.seating, cpu: request.cpu, threads, ..Seated::default() }
}

/// Rounds in processes of their own; the other threads, if they were seen for the first time.
fn rounds(
    work: &Work,
    cpu: Option<usize>,
    threads: Option<Threads>,
    ruler: &std::result::Result<Ruler, String>,
    look: &mut dyn FnMut(&Assessment),
) -> Result<std::result::Result<Measured, Threads>> {
    let request = work.request;
    let is_free = threads.is_some() && request.cpu.is_none();
    let companions = ruler.as_ref().map_or_else(|_| Vec::new(), companions);
    let load = Load {
        chains: companions.iter().flat_map(Companion::names).collect(),
        is_pilot: false,
        seating: if is_free { Seating::Threads } else { request.seating },
        cpu: if is_free { None } else { cpu },
        clock: request.clock.clone(),
        ..load(request, work.library, work.rows)
    };
    // The budget is for what follows: what was compiled before does not count.
    let begin = Instant::now();
    let mut placed = match Placed::start(work.host, load, request, work.round) {
        Err(Stopped::Changed(late)) => return Ok(Err(late)),
        Err(Stopped::Failed(error)) => return Err(error),
        Ok(placed) => placed,
    };
    let mut table = table::new(request, work.rows, &companions, placed.ready(), work.library);
    table.observations_mut().origin.threads = threads.is_some();
    let occupied = occupied(request, (work.rows, work.copies), &companions, placed.child())?;
    table.declare_occupancy(series_names(request).into_iter().zip(occupied.iter().map(|(occupancy, _)| *occupancy)));
    table.declare_uses(series_names(request).into_iter().zip(occupied.into_iter().map(|(_, uses)| uses)));
    match until_precise(&goal(request), &mut table, &mut placed, &|| begin.elapsed(), look) {
        Err(Stopped::Failed(error)) => Err(error),
        Err(Stopped::Changed(late)) => Ok(Err(late)),
        Ok(stopped) => {
            let seated = placed.seated();
            let seated = Seated { threads: seated.threads.or(threads), seating: request.seating, ..seated };
            let (ready, ended, printed) = placed.end()?;
            Ok(Ok(Measured { table, ready, ended, printed, stopped, seated }))
        }
    }
}

/// Times that each row runs before it is measured.
fn runs_before(rows: &[RowSpec]) -> u32 {
    let most_copies = rows.iter().filter(|row| row.runs > 1).map(|row| row.bodies).max();
    limits::runs_before(most_copies.unwrap_or(0))
}

/// When the rounds end. The design has spare rows.
fn goal(request: &Request) -> Goal {
    let Request { precision, level, budget, is_firm, .. } = *request;
    Goal { precision, level, budget, is_firm, least_rounds: LEAST_ROUNDS_OF_SPARE_ROWS }
}

pub(crate) fn load(request: &Request, library: &Library, rows: &[RowSpec]) -> Load {
    // This limit is for a host whose parent has died; the parent's own limits are tighter.
    let most_seconds = 600 + 10 * request.budget.as_secs() + 10 * request.timeout.as_secs();
    let shortest = |subject| {
        let mine = (0..rows.len()).filter(|at| rows[*at].subject == subject);
        mine.min_by_key(|at| rows[*at].bodies + rows[*at].inits).map(|at| at as u32)
    };
    Load {
        libraries: library.paths.iter().map(|path| path.display().to_string()).collect(),
        rows: rows.len() as u32,
        clock: None,
        seating: request.seating,
        cpu: request.cpu,
        is_asked: request.cpu.is_some(),
        first: (0..request.codes.len()).filter_map(shortest).collect(),
        placement: 0,
        chains: Vec::new(),
        runs_before: runs_before(rows),
        is_pilot: true,
        multithreaded: request.multithreaded,
        most_seconds,
    }
}

/// What the compiler removed from each alternative, compared with `plain`, the code without optimisation.
fn lost(request: &Request, copies: &[Copy], plain: Option<Vec<Copy>>) -> Vec<Vec<Lost>> {
    let of = |(copy, plain): (&Copy, Copy)| copy.lost(&plain);
    plain.map_or_else(|| vec![Vec::new(); request.codes.len()], |plain| copies.iter().zip(plain).map(of).collect())
}

/// Does two things at the same time if there is more than one CPU for them, and the second only if the first wants it otherwise.
fn beside<T, P: Send>(is_wanted: bool, first: impl FnOnce() -> T, second: impl FnOnce() -> P + Send) -> (T, Option<P>) {
    if !is_wanted || allowed_cpus().len() < 2 {
        return (first(), None);
    }
    std::thread::scope(|scope| {
        let second = scope.spawn(second);
        (first(), second.join().ok())
    })
}

/// One copy of each alternative without optimisation; `None` if that does not compile.
fn plain(job: &Job) -> Option<Vec<Copy>> {
    let request = job.request;
    let plain = Request { flags: format!("{} -O0", request.flags), ..request.clone() };
    let row = |subject| RowSpec { subject, order: Order::AtEnd, bodies: 1, inits: 1, flushes: 1, runs: 1 };
    let rows: Vec<RowSpec> = (0..request.codes.len()).map(row).collect();
    let library = compile_plain(&Job { request: &plain, ..*job }, &rows).ok()?;
    Some(look(&plain, &library.paths[0], &rows))
}

/// What the pilot found.
#[derive(Clone)]
pub(crate) struct Piloted {
    pilots: Vec<Pilot>,
    /// Core cycles of the reference chain, or the reason why there are none.
    pub(crate) ruler: std::result::Result<Ruler, String>,
    /// The CPU of the measurement.
    pub(crate) cpu: Option<usize>,
    /// Where the thread was, and what is known of other threads.
    seated: Seated,
    /// Whether the code comes with arrays.
    holds_arrays: bool,
    /// About the time of a core cycle; 0 if it is not known.
    cycle_ns: f64,
    /// The compiler's text of few copies.
    repeated: Option<Repeated>,
    /// The code without optimisation, if it was compiled at the same time.
    plain: Option<Option<Vec<Copy>>>,
}

/// Rough time and size of one evaluation of every alternative, on the best clock of the machine.
fn pilot(job: &Job, host: &HostProgram, copies: &mut Vec<Copy>) -> Result<Piloted> {
    let request = job.request;
    const TIME: Duration = Duration::from_millis(5);
    let rows = plan::pilot_rows(request);
    // A finding must not depend on how many CPUs there are: on a single one, this is compiled once it is known to be needed.
    let (compiled, plain) = beside(request.language != Language::Asm, || compile_pilot(job, &rows, &samples(request)), || plain(job));
    let (library, repeated) = compiled?;
    *copies = look(request, &library.paths[0], &rows);
    // The reference chain tells how long a core cycle is.
    let reference = hairspring_host::chains::chains().into_iter().find(|chain| chain.role == RULER);
    let lengths: Vec<u32> = reference.iter().flat_map(|chain| [chain.rows.first(), chain.rows.last()]).flatten().map(|row| row.0).collect();
    let chains = lengths.iter().map(|copies| (name(RULER).to_owned(), *copies)).collect();
    let (mut child, ready) = Child::start(host, Load { chains, ..load(request, &library, &rows) }, request.timeout)?;
    let singles: Vec<u32> = (0..rows.len() as u32).filter(|row| rows[*row as usize].bodies == 1).collect();
    let first = ticks(&mut child, &singles, Batch { time: TIME, fewest: 1, most: 20 })?;
    // A clock whose rate is not known yet ticks at least once a nanosecond, so a tick counts as a nanosecond.
    let tick_ns = request.seating.clock().nominal_hz.map_or(1.0, |hz| 1e9 / hz);
    let longest = tick_ns * first.iter().copied().fold(0.0, f64::max);
    let times = if longest < plan::LONG_NS {
        let all = (0..(rows.len() + lengths.len()) as u32).collect::<Vec<_>>();
        ticks(&mut child, &all, Batch { time: 2 * TIME, fewest: 1, most: 2_000 })?
    } else {
        Vec::new()
    };
    let ended = child.end()?;
    let ns = 1e9 / ended.rate.hz;
    let (quantum_ns, assembled) = (quantum_ns(request, ns)?, request.language == Language::Asm);
    let pilots = (0..request.codes.len())
        .map(|subject| {
            let mine: Vec<usize> = (0..rows.len()).filter(|row| rows[*row].subject == subject).collect();
            let [one, .., many] = *mine else { return Pilot { copy_ns: 1.0, copy_bytes: 16.0, quantum_ns, assembled } };
            let copy_ticks = if times.is_empty() {
                first[subject]
            } else {
                (times[many] - times[one]) / f64::from(rows[many].bodies - rows[one].bodies)
            };
            Pilot {
                copy_ns: (copy_ticks * ns).max(0.05),
                copy_bytes: copy_bytes(&rows, &library, subject).unwrap_or(16.0).max(1.0),
                quantum_ns,
                assembled,
            }
        })
        .collect();
    let ruler = ready.ruler.unwrap_or_else(|| Err("not looked for".into()));
    let cycle_ns = match (times.get(rows.len()..), &lengths[..], &ruler) {
        (Some([short, long]), [few, many], Ok(ruler)) => ns * (long - short) / f64::from((many - few) * ruler.cycles),
        _ => 0.0,
    };
    Ok(Piloted { pilots, ruler, cpu: ready.cpu, seated: child.seated(), holds_arrays: library.holds_arrays, cycle_ns, repeated, plain })
}

/// Quantum of the requested clock in nanoseconds, if a tick takes `ns`.
fn quantum_ns(request: &Request, ns: f64) -> Result<f64> {
    let clock = request.clock.as_deref().map_or_else(|| Ok(request.seating.clock()), hairspring_host::clock::find)?;
    Ok(hairspring_host::clock::granularity(&clock).quantum as f64 * ns)
}

/// Bytes per copy: the slope between the shortest and the longest row of the alternative. `None` where the longest is the smaller function: a
/// compiler may put code of all copies behind a call.
fn copy_bytes(rows: &[RowSpec], library: &Library, subject: usize) -> Option<f64> {
    let mine = || {
        rows.iter()
            .zip(&library.row_bytes)
            .filter(|(row, _)| row.subject == subject && row.inits <= row.bodies && row.flushes <= row.bodies)
            .filter(|(row, _)| row.order == rows[0].order)
    };
    let (short, long) = (mine().min_by_key(|(row, _)| row.bodies)?, mine().max_by_key(|(row, _)| row.bodies)?);
    let copies = f64::from(long.0.bodies - short.0.bodies);
    (copies > 0.0 && long.1 >= short.1 && *long.1 > 0).then(|| (*long.1 - *short.1) as f64 / copies)
}
