//! Measures a request: pilot, design, compilation, and rounds until the interval is narrow enough.

mod compiled;
mod pilot;

use crate::cache::Cache;
use crate::child::{HostProgram, Printed};
use crate::compile::{Compiler, Job, Library, find};
use crate::copied::{Copy, Lost};
use crate::error::{Error, Result, io};
use crate::few::in_few_places;
use crate::occupied::occupied;
use crate::placed::Placed;
use crate::protocol::{Ended, Load, Ready};
use crate::request::{Language, Request};
use crate::source::RowSpec;
use crate::table;
use compiled::{Compiled, compiled, copy_bytes};
use hairspring_core::design::Pilot;
use hairspring_core::judge::Assessment;
use hairspring_host::process::Folder;
use hairspring_measure::companions::{Companion, companions};
use hairspring_measure::limits::{self, LEAST_ROUNDS_OF_SPARE_ROWS};
use hairspring_measure::ruler::Ruler;
use hairspring_measure::seating::{Seated, Stopped, Threads};
use hairspring_measure::until::Ended as Stopping;
use hairspring_measure::{Goal, Run, Seating, Table, until_precise};
pub(crate) use pilot::Piloted;
use pilot::{pilot, plain};
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
    /// Alternatives whose copies are other code in the rows than in those that were looked at, with
    /// the bytes of a copy in these and in the rows.
    pub other_code: Vec<(usize, f64, f64)>,
    /// Code size of one copy of each alternative in bytes, if known.
    pub copy_bytes: Vec<Option<f64>>,
    /// The compiler.
    pub compiler: Compiler,
    /// Circumstances at the start.
    pub ready: Ready,
    /// Where the thread was, and which other threads ran.
    pub seated: Seated,
    /// Core cycles of the reference chain and where the number comes from, or the reason why there
    /// are none.
    pub ruler: std::result::Result<Ruler, String>,
    /// Circumstances at the end.
    pub ended_process: Ended,
    /// The code's output, if any.
    pub printed: Option<Printed>,
}

/// Names of the series of a request: `code` for a single alternative, letters for several.
pub fn series_names(request: &Request) -> Vec<String> {
    let places = &request.places;
    if request.codes.len() == 1 && places.is_empty() {
        return vec!["code".into()];
    }
    (0..request.codes.len()).map(|at| letter(places.get(at).copied().unwrap_or(at))).collect()
}

/// `a` to `z`, then `a1` to `z1`, and so on.
fn letter(place: usize) -> String {
    let letter = char::from(b'a' + (place % 26) as u8);
    let round = place / 26;
    if round == 0 { letter.to_string() } else { format!("{letter}{round}") }
}

/// Measures a request.
///
/// # Errors
/// An invalid request, code that does not compile or that ended its process, or an unavailable
/// clock or CPU.
pub fn measure(request: &Request, host: &HostProgram) -> Result<MeasuredCode> {
    measure_watched(request, host, &mut |_| ())
}

/// As [`measure`]; `look` sees what is found whenever the readings have doubled.
///
/// # Errors
/// As [`measure`].
pub fn measure_watched(
    request: &Request,
    host: &HostProgram,
    look: &mut dyn FnMut(&Assessment),
) -> Result<MeasuredCode> {
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
    let job = Job {
        request,
        compiler: &compiler,
        folder: folder.path(),
        repeated: None,
        cache: cache.as_ref(),
    };
    let mut piloted = pilot(&job, host, copies)?;
    let early = piloted.plain.take();
    let lost = lost(
        request,
        copies,
        if request.language != Language::Asm { early.unwrap_or_else(|| plain(&job)) } else { None },
    );
    let going = Request { walks: walks(request, copies), ..request.clone() };
    let few = match piloted.seated.threads {
        None => in_few_places(&Job { request: &going, ..job }, host, copies, &piloted),
        Some(_) => Vec::new(),
    };
    let (timed, walks) = walked(&job, host, &going, &piloted, copies, look)?;
    drop(folder);
    let Timed { compiled_rows, measured, ruler } = timed;
    let Measured { table, ready, ended_process, printed, stopped, seated } = measured;
    let run = Run::new(table, stopped, ended_process.rate.clone(), ended_process.stolen_ms);
    let copy_bytes = (0..request.codes.len())
        .map(|subject| copy_bytes(&compiled_rows.rows, &compiled_rows.library, subject))
        .collect();
    let (copies, other_code) = (std::mem::take(copies), compiled_rows.other_code);
    Ok(MeasuredCode {
        run,
        copies,
        lost,
        few,
        walks,
        other_code,
        copy_bytes,
        compiler,
        printed,
        seated,
        ready,
        ruler,
        ended_process,
    })
}

/// A measurement in which variables of `going` go on from row to row, and which do.
fn walked(
    job: &Job,
    host: &HostProgram,
    going: &Request,
    piloted: &Piloted,
    copies: &[Copy],
    look: &mut dyn FnMut(&Assessment),
) -> Result<(Timed, Vec<String>)> {
    if going.walks.is_empty() {
        return Ok((timed(job, host, piloted, copies, look)?, Vec::new()));
    }
    match timed(
        &Job { request: going, ..*job },
        host,
        &Piloted { repeated: None, ..piloted.clone() },
        copies,
        look,
    ) {
        // A walk that comes to an end begins anew in each row.
        Err(Error::CodeFailed(_)) => Ok((timed(job, host, piloted, copies, look)?, Vec::new())),
        found => Ok((found?, going.walks.clone())),
    }
}

/// Variables that go on from row to row, as they do in a loop: those that walk from place to place
/// in memory, and those by which branches go, whose values a predictor would learn. Where
/// alternatives have some, each needs the same start.
fn walks(request: &Request, copies: &[Copy]) -> Vec<String> {
    let is_one = copies.len() == 1 && request.language != Language::Asm && request.init.is_none();
    let going = |copy: &Copy| [&copy.walked[..], &copy.decides, &copy.indexes].concat();
    copies.iter().filter(|_| is_one).flat_map(going).collect()
}

/// A measurement behind its pilot.
struct Timed {
    compiled_rows: Compiled,
    measured: Measured,
    ruler: std::result::Result<Ruler, String>,
}

fn timed(
    job: &Job,
    host: &HostProgram,
    piloted: &Piloted,
    copies: &[Copy],
    look: &mut dyn FnMut(&Assessment),
) -> Result<Timed> {
    let Piloted { pilots, ruler, cpu, seated, .. } = piloted;
    let request = job.request;
    let compiled_rows =
        compiled(job, piloted, copies, ruler.is_ok() && seated.no_cycles().is_none())?;
    let work = Work {
        request,
        host,
        rows: &compiled_rows.rows,
        library: &compiled_rows.library,
        copies,
        round: round_of(&compiled_rows.rows, pilots),
    };
    // A process that is started anew makes its pools of threads for all CPUs.
    let in_time = |threads: Threads| Threads { late: false, ..threads };
    let mut threads = seated.threads.map(in_time);
    let (measured, ruler) = loop {
        let ruler = expected(request, threads)
            .no_cycles()
            .map_or_else(|| ruler.clone(), |reason| Err(reason.to_owned()));
        match rounds(&work, *cpu, threads, &ruler, look)? {
            Ok(measured) => break (measured, ruler),
            Err(late) => threads = Some(in_time(late)),
        }
    };
    Ok(Timed { compiled_rows, measured, ruler })
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

/// The time of one round by the pilot: a reading of each row, and the runs before.
fn round_of(rows: &[RowSpec], pilots: &[Pilot]) -> Duration {
    let before = runs_before(rows);
    let of_row = |row: &RowSpec| {
        let once = Duration::from_nanos(
            (f64::from(row.runs * row.bodies.max(row.inits)) * pilots[row.subject].copy_ns) as u64,
        );
        once * (1 + before.min(limits::affordable(once)))
    };
    rows.iter().map(of_row).sum::<Duration>().min(Duration::from_secs(3_600))
}

/// The rounds of an attempt, and the circumstances of the processes that ran them.
struct Measured {
    table: Table,
    ready: Ready,
    ended_process: Ended,
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
    let occupied = occupied(request, work.rows, work.copies, &companions, placed.child())?;
    table.declare_occupancy(
        series_names(request).into_iter().zip(occupied.iter().map(|(occupancy, _)| *occupancy)),
    );
    table.declare_uses(
        series_names(request).into_iter().zip(occupied.into_iter().map(|(_, uses)| uses)),
    );
    match until_precise(&goal(request), &mut table, &mut placed, &|| begin.elapsed(), look) {
        Err(Stopped::Failed(error)) => Err(error),
        Err(Stopped::Changed(late)) => Ok(Err(late)),
        Ok(stopped) => {
            let seated = placed.seated();
            let seated =
                Seated { threads: seated.threads.or(threads), seating: request.seating, ..seated };
            let (ready, ended, printed) = placed.end()?;
            Ok(Ok(Measured { table, ready, ended_process: ended, printed, stopped, seated }))
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

/// What the compiler removed from each alternative, compared with `plain`, the code without
/// optimisation.
fn lost(request: &Request, copies: &[Copy], plain: Option<Vec<Copy>>) -> Vec<Vec<Lost>> {
    let of = |(copy, plain): (&Copy, Copy)| copy.lost(&plain);
    plain.map_or_else(
        || vec![Vec::new(); request.codes.len()],
        |plain| copies.iter().zip(plain).map(of).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_of_a_part_have_the_names_of_the_whole() {
        let names = |codes: usize, places: &[usize]| {
            let codes = vec![String::from("x"); codes];
            series_names(&Request { codes, places: places.to_vec(), ..Request::default() })
        };
        assert_eq!(names(1, &[]), ["code"]);
        assert_eq!(names(3, &[]), ["a", "b", "c"]);
        assert_eq!(names(3, &[0, 2, 26]), ["a", "c", "a1"]);
        assert_eq!(names(300, &[]).iter().collect::<std::collections::HashSet<_>>().len(), 300);
    }
}
