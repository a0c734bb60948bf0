//! The rows of a measurement and their machine code, compiled anew where copies in long rows are
//! other code than in the short ones of the pilot.

use super::pilot::Piloted;
use crate::compile::{Job, Library, compile_in_layouts, compile_in_turns};
use crate::copied::Copy;
use crate::error::Result;
use crate::mode::Mode;
use crate::plan;
use crate::request::{Language, Request};
use crate::source::RowSpec;
use hairspring_core::design::Pilot;

/// Rows with their machine code.
pub(super) struct Compiled {
    pub rows: Vec<RowSpec>,
    pub library: Library,
    /// Alternatives whose copies are other code here than in the short rows of the pilot, with the
    /// bytes of a copy in these and in the rows.
    pub other_code: Vec<(usize, f64, f64)>,
}

/// The rows of a measurement, `with_chains` beside them.
pub(super) fn compiled(
    job: &Job,
    piloted: &Piloted,
    copies: &[Copy],
    with_chains: bool,
) -> Result<Compiled> {
    let Piloted { pilots, holds_arrays, cycle_ns, repeated, .. } = piloted;
    let request = job.request;
    let is_straight = copies.iter().all(Copy::is_straight);
    // Behind an init, straight code keeps its straight rows.
    let in_blocks =
        if request.init.is_some() { !is_straight } else { gets_faster(copies, pilots, *cycle_ns) };
    // Straight code without arrays takes the same time wherever it lies. How branches are predicted
    // and decoded depends on their addresses, and accesses of arrays on theirs.
    let compile = if is_straight && !holds_arrays { compile_in_turns } else { compile_in_layouts };
    let job_of_rows = Job { repeated: repeated.as_ref(), ..*job };
    let of = |in_blocks: bool| -> Result<Compiled> {
        let rows = plan::rows(request, pilots, with_chains, in_blocks);
        let library = compile(&job_of_rows, &rows)?;
        Ok(Compiled { other_code: other_code(request, &rows, &library, pilots), rows, library })
    };
    let mut compiled_rows = of(in_blocks)?;
    // Compilers give up on long functions: blocks are shorter.
    if !in_blocks && !compiled_rows.other_code.is_empty() {
        compiled_rows = of(true)?;
    }
    // In long functions, code that takes references loads and stores what they refer to.
    if !compiled_rows.other_code.is_empty() {
        let in_memory = Request { in_memory: true, ..request.clone() };
        let library =
            compile(&Job { request: &in_memory, repeated: None, ..*job }, &compiled_rows.rows)?;
        let bytes = |library: &Library| library.row_bytes.iter().sum::<u64>();
        compiled_rows = if bytes(&library) < bytes(&compiled_rows.library) {
            Compiled { library, other_code: Vec::new(), ..compiled_rows }
        } else {
            // The files of the rows have the same names in both.
            Compiled { library: compile(&job_of_rows, &compiled_rows.rows)?, ..compiled_rows }
        };
    }
    Ok(compiled_rows)
}

/// A copy in long rows is other code than one in short rows if it is so many times longer, and by
/// so many bytes.
const OTHER_CODE: f64 = 1.5;
const OTHER_BYTES: f64 = 6.0;

/// Alternatives whose copies are other code in these rows than in the short ones of the pilot, with
/// the bytes of a copy in both.
fn other_code(
    request: &Request,
    rows: &[RowSpec],
    library: &Library,
    pilots: &[Pilot],
) -> Vec<(usize, f64, f64)> {
    let of = |subject: usize| {
        Some((subject, pilots[subject].copy_bytes, copy_bytes(rows, library, subject)?))
    };
    let is_other = |(_, short, long): &(usize, f64, f64)| {
        long - short > OTHER_BYTES && *long > OTHER_CODE * short
    };
    let is_compiled =
        request.language != Language::Asm && request.init.is_none() && request.cold.is_empty();
    (0..request.codes.len()).filter(|_| is_compiled).filter_map(of).filter(is_other).collect()
}

/// Core cycles of an instruction below which a core may decode it more slowly than it runs it: at
/// least one is decoded in a cycle.
const DENSE_CYCLES: f64 = 1.25;

/// Whether a core may take another time for copies that it has run a hundred times:
/// - those with branches and calls, whose targets it has to keep, and which it decodes in pieces: a
///   sum of 64 integers takes 19 to 23 cycles from one place in a loop, and 39 from 256 places in
///   turn;
/// - those that it decodes more slowly than it runs them, but for a chain of one instruction, which
///   takes at least a cycle for each;
/// - those that store and load. Golden Cove learns which load takes what a store has written, and
///   passes it on at once: `inc` of a place on the stack takes 1 cycle, and 7.3 before.
fn gets_faster(copies: &[Copy], pilots: &[Pilot], cycle_ns: f64) -> bool {
    let is_chain =
        |copy: &Copy| copy.disassembly.len() == 1 && copy.judged.mode == Some(Mode::Latency);
    let is_fast =
        |copy: &Copy, pilot: &Pilot| cycles_of_instruction(copy, pilot, cycle_ns) < DENSE_CYCLES;
    let gets_faster = |(copy, pilot): (&Copy, &Pilot)| {
        !copy.is_straight() || copy.stores_and_loads() || !is_chain(copy) && is_fast(copy, pilot)
    };
    copies.iter().zip(pilots).any(gets_faster)
}

/// About the core cycles of an instruction of a copy; infinite if they are not known.
fn cycles_of_instruction(copy: &Copy, pilot: &Pilot, cycle_ns: f64) -> f64 {
    pilot.copy_ns / (cycle_ns * copy.disassembly.len() as f64)
}

/// Bytes per copy: the slope between the shortest and the longest row of the alternative. `None`
/// where the longest is the smaller function: a compiler may put code of all copies behind a call.
pub(super) fn copy_bytes(rows: &[RowSpec], library: &Library, subject: usize) -> Option<f64> {
    let mine = || {
        rows.iter()
            .zip(&library.row_bytes)
            .filter(|(row, _)| {
                row.subject == subject && row.inits <= row.bodies && row.flushes <= row.bodies
            })
            .filter(|(row, _)| row.order == rows[0].order)
    };
    let (short, long) =
        (mine().min_by_key(|(row, _)| row.bodies)?, mine().max_by_key(|(row, _)| row.bodies)?);
    let copies = f64::from(long.0.bodies - short.0.bodies);
    (copies > 0.0 && long.1 >= short.1 && *long.1 > 0).then(|| (*long.1 - *short.1) as f64 / copies)
}
