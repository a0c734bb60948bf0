//! Code that stores and loads, in a loop with few copies. A core may pass a stored value on at once
//! to the load that takes it, where few places in the code do so: an increment in memory then takes
//! a cycle, and 7 where there are more places than it keeps.

use crate::child::{Child, HostProgram};
use crate::compile::{Job, compile_few};
use crate::copied::Copy;
use crate::mode::fenced;
use crate::occupied::{cycles, reference};
use crate::plan::main_order;
use crate::protocol::Load;
use crate::session::{Piloted, load};
use crate::source::RowSpec;
use hairspring_measure::companions::companions;

/// Copies in the loop, and how often the two rows run it.
const COPIES: u32 = 8;
const RUNS: [u32; 2] = [16, 48];

/// Core cycles of each alternative in such a loop; `None` for code that does not both store and
/// load, and where that cannot be measured.
pub fn in_few_places(
    job: &Job,
    host: &HostProgram,
    copies: &[Copy],
    piloted: &Piloted,
) -> Vec<Option<f64>> {
    let request = job.request;
    let is_bare = request.init.is_none() && fenced(request).is_none() && request.cold.is_empty();
    let subjects: Vec<usize> = (0..copies.len())
        .filter(|at| is_bare && copies[*at].stores_and_loads() && copies[*at].is_straight())
        .collect();
    let cycles_of_subjects =
        if subjects.is_empty() { None } else { measured(job, host, &subjects, piloted) };
    let of = |subject| {
        cycles_of_subjects.as_ref().and_then(|found| {
            subjects.iter().zip(found).find(|(at, _)| **at == subject)?.1.to_owned()
        })
    };
    (0..copies.len()).map(of).collect()
}

fn measured(
    job: &Job,
    host: &HostProgram,
    subjects: &[usize],
    piloted: &Piloted,
) -> Option<Vec<Option<f64>>> {
    let request = job.request;
    let row = |subject, runs| RowSpec {
        subject,
        order: main_order(request),
        bodies: COPIES,
        inits: COPIES,
        flushes: COPIES,
        runs,
    };
    let rows: Vec<RowSpec> =
        subjects.iter().flat_map(|subject| RUNS.map(|runs| row(*subject, runs))).collect();
    let library = compile_few(job, &rows).ok()?;
    let chains = companions(piloted.ruler.as_ref().ok()?);
    let names = chains.iter().flat_map(|chain| chain.names()).collect();
    let load =
        Load { chains: names, is_pilot: false, cpu: piloted.cpu, ..load(request, &library, &rows) };
    let (mut child, _) = Child::start(host, load, request.timeout).ok()?;
    let reference = reference(&chains, rows.len())?;
    let of =
        |subject: &usize| cycles(request, &rows, *subject, &reference, &mut child).ok().flatten();
    let cycles_of_subjects = subjects.iter().map(of).collect();
    child.end().ok()?;
    Some(cycles_of_subjects)
}
