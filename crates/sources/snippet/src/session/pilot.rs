//! The pilot: about how long each alternative takes and how large its copies are, and what their
//! machine code shows.

use super::compiled::copy_bytes;
use super::load;
use crate::child::{Child, HostProgram};
use crate::compile::{Job, compile_pilot, compile_plain};
use crate::copied::Copy;
use crate::copy::look;
use crate::error::Result;
use crate::plan;
use crate::protocol::Load;
use crate::quick::ticks;
use crate::repeat::{Repeated, samples};
use crate::request::{Language, Request};
use crate::source::RowSpec;
use hairspring_core::design::Pilot;
use hairspring_core::design::table::Order;
use hairspring_host::chains::{RULER, name};
use hairspring_host::thread::allowed_cpus;
use hairspring_measure::limits::Batch;
use hairspring_measure::ruler::Ruler;
use hairspring_measure::seating::Seated;
use std::time::Duration;

/// Does two things at the same time if there is more than one CPU for them, and the second only if
/// the first wants it otherwise.
fn beside<T, P: Send>(
    is_wanted: bool,
    first: impl FnOnce() -> T,
    second: impl FnOnce() -> P + Send,
) -> (T, Option<P>) {
    if !is_wanted || allowed_cpus().len() < 2 {
        return (first(), None);
    }
    std::thread::scope(|scope| {
        let second = scope.spawn(second);
        (first(), second.join().ok())
    })
}

/// One copy of each alternative without optimisation; `None` if that does not compile.
pub(super) fn plain(job: &Job) -> Option<Vec<Copy>> {
    let request = job.request;
    let plain = Request { flags: format!("{} -O0", request.flags), ..request.clone() };
    let row = |subject| RowSpec {
        subject,
        order: Order::AtEnd,
        bodies: 1,
        inits: 1,
        flushes: 1,
        runs: 1,
    };
    let rows: Vec<RowSpec> = (0..request.codes.len()).map(row).collect();
    let library = compile_plain(&Job { request: &plain, ..*job }, &rows).ok()?;
    Some(look(&plain, &library.paths[0], &rows))
}

/// What the pilot found.
#[derive(Clone)]
pub(crate) struct Piloted {
    pub(super) pilots: Vec<Pilot>,
    /// Core cycles of the reference chain, or the reason why there are none.
    pub(crate) ruler: std::result::Result<Ruler, String>,
    /// The CPU of the measurement.
    pub(crate) cpu: Option<usize>,
    /// Where the thread was, and what is known of other threads.
    pub(super) seated: Seated,
    /// Whether the code comes with arrays.
    pub(super) holds_arrays: bool,
    /// About the time of a core cycle; 0 if it is not known.
    pub(super) cycle_ns: f64,
    /// The compiler's text of few copies.
    pub(super) repeated: Option<Repeated>,
    /// The code without optimisation, if it was compiled at the same time.
    pub(super) plain: Option<Option<Vec<Copy>>>,
}

/// Rough time and size of one evaluation of every alternative, on the best clock of the machine.
pub(super) fn pilot(job: &Job, host: &HostProgram, copies: &mut Vec<Copy>) -> Result<Piloted> {
    let request = job.request;
    const TIME: Duration = Duration::from_millis(5);
    let rows = plan::pilot_rows(request);
    // A finding must not depend on how many CPUs there are: on a single one, this is compiled once
    // it is known to be needed.
    let (compiled, plain) = beside(
        request.language != Language::Asm,
        || compile_pilot(job, &rows, &samples(request)),
        || plain(job),
    );
    let (library, repeated) = compiled?;
    *copies = look(request, &library.paths[0], &rows);
    let lengths = lengths_of_reference();
    let chains = lengths.iter().map(|copies| (name(RULER).to_owned(), *copies)).collect();
    let (mut child, ready) =
        Child::start(host, Load { chains, ..load(request, &library, &rows) }, request.timeout)?;
    let singles: Vec<u32> =
        (0..rows.len() as u32).filter(|row| rows[*row as usize].bodies == 1).collect();
    let first = ticks(&mut child, &singles, Batch { time: TIME, fewest: 1, most: 20 })?;
    // A clock whose rate is not known yet ticks at least once a nanosecond, so a tick counts as a
    // nanosecond.
    let tick_ns = request.seating.clock().nominal_hz.map_or(1.0, |hz| 1e9 / hz);
    let longest = tick_ns * first.iter().copied().fold(0.0, f64::max);
    let times = if longest < plan::LONG_NS {
        let all_rows = (0..(rows.len() + lengths.len()) as u32).collect::<Vec<_>>();
        ticks(&mut child, &all_rows, Batch { time: 2 * TIME, fewest: 1, most: 2_000 })?
    } else {
        Vec::new()
    };
    let ended_process = child.end()?;
    let ns = 1e9 / ended_process.rate.hz;
    let (quantum_ns, assembled) = (quantum_ns(request, ns)?, request.language == Language::Asm);
    let pilot = |subject: usize| match copy_ticks(&rows, subject, &first, &times) {
        None => Pilot { copy_ns: 1.0, copy_bytes: 16.0, quantum_ns, assembled },
        Some(ticks) => {
            let copy_bytes = copy_bytes(&rows, &library, subject).unwrap_or(16.0).max(1.0);
            Pilot { copy_ns: (ticks * ns).max(0.05), copy_bytes, quantum_ns, assembled }
        }
    };
    let pilots = (0..request.codes.len()).map(pilot).collect();
    let ruler = ready.ruler.unwrap_or_else(|| Err("not looked for".into()));
    let cycle_ns = ns * cycle_ticks(times.get(rows.len()..), &lengths, &ruler);
    Ok(Piloted {
        pilots,
        ruler,
        cpu: ready.cpu,
        seated: child.seated(),
        holds_arrays: library.holds_arrays,
        cycle_ns,
        repeated,
        plain,
    })
}

/// The fewest and the most copies of the reference chain, which tells how long a core cycle is.
fn lengths_of_reference() -> Vec<u32> {
    let reference = hairspring_host::chains::chains().into_iter().find(|chain| chain.role == RULER);
    reference
        .iter()
        .flat_map(|chain| [chain.rows.first(), chain.rows.last()])
        .flatten()
        .map(|row| row.0)
        .collect()
}

/// Ticks of a copy of an alternative: by the times of all its rows, or by the `first` one where
/// these were not taken.
fn copy_ticks(rows: &[RowSpec], subject: usize, first: &[f64], times: &[f64]) -> Option<f64> {
    let mine: Vec<usize> = (0..rows.len()).filter(|row| rows[*row].subject == subject).collect();
    let [one_copy, .., many_copies] = *mine else { return None };
    let by_rows = || {
        (times[many_copies] - times[one_copy])
            / f64::from(rows[many_copies].bodies - rows[one_copy].bodies)
    };
    Some(if times.is_empty() { first[subject] } else { by_rows() })
}

/// Ticks of a core cycle by the times of the reference chain; 0 if these are not known.
fn cycle_ticks(
    times: Option<&[f64]>,
    lengths: &[u32],
    ruler: &std::result::Result<Ruler, String>,
) -> f64 {
    match (times, lengths, ruler) {
        (Some([short, long]), [few, many], Ok(ruler)) => {
            (long - short) / f64::from((many - few) * ruler.cycles)
        }
        _ => 0.0,
    }
}

/// Quantum of the requested clock in nanoseconds, if a tick takes `ns`.
fn quantum_ns(request: &Request, ns: f64) -> Result<f64> {
    let clock = request
        .clock
        .as_deref()
        .map_or_else(|| Ok(request.seating.clock()), hairspring_host::clock::find)?;
    Ok(hairspring_host::clock::granularity(&clock).quantum as f64 * ns)
}
