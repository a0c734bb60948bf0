//! What the copies of each alternative do to the core: whether they wait or fill its units, and
//! which units they use.

use crate::child::Child;
use crate::copied::Copy;
use crate::error::Result;
use crate::plan::main_order;
use crate::quick::ticks;
use crate::request::Request;
use crate::source::RowSpec;
use hairspring_core::observations::{Occupancy, Uses};
use hairspring_measure::companions::Companion;
use hairspring_measure::limits::Batch;
use std::time::Duration;

/// Time for the rows of an alternative and of the reference chain: ten times or more each, unless a
/// row takes longer.
const BATCH: Batch = Batch { time: Duration::from_millis(1), fewest: 3, most: 100 };

/// What an alternative does to the core, and the units that a chain uses; `None` where neither is
/// known.
pub type Occupied = (Option<Occupancy>, Option<Uses>);

/// What each alternative does to the core. An init breaks chains, and fences let nothing overlap.
/// Code that is no chain may wait for what its instructions do not show.
///
/// # Errors
/// As [`Child::run_rows`].
pub fn occupied(
    request: &Request,
    rows: &[RowSpec],
    copies: &[Copy],
    chains: &[Companion],
    child: &mut Child,
) -> Result<Vec<Occupied>> {
    let is_bare = request.init.is_none() && crate::mode::fenced(request).is_none();
    let reference = reference(chains, rows.len()).filter(|_| is_bare);
    let Some(reference) = reference else { return Ok(vec![(None, None); copies.len()]) };
    let of = |(subject, copy): (usize, &Copy)| {
        let measured = |_| cycles(request, rows, subject, &reference, child);
        let cycles = copy.may_wait().then_some(()).map(measured).transpose()?.flatten();
        let occupancy = copy.occupancy(cycles);
        let uses = Some(copy.uses.clone())
            .filter(|uses| occupancy == Some(Occupancy::Waits) && !uses.is_empty());
        Ok((occupancy, uses))
    };
    copies.iter().enumerate().map(of).collect()
}

/// The shortest and the longest row of something, and its copies in them.
pub type Rows = [(u32, f64); 2];

/// Rows of the reference chain behind those of the code, and the cycles in them.
pub fn reference(chains: &[Companion], first: usize) -> Option<Rows> {
    let before: usize =
        chains.iter().take_while(|chain| !chain.is_reference).map(|chain| chain.copies.len()).sum();
    let chain = chains.iter().find(|chain| chain.is_reference)?;
    let row =
        |at: usize| ((first + before + at) as u32, f64::from(chain.copies[at] * chain.cycles));
    Some([row(0), row(chain.copies.len().checked_sub(1)?)])
}

/// Core cycles of a copy of an alternative, from its shortest and its longest row; `None` if it has
/// one row only.
pub fn cycles(
    request: &Request,
    rows: &[RowSpec],
    subject: usize,
    reference: &Rows,
    child: &mut Child,
) -> Result<Option<f64>> {
    let mine = || {
        rows.iter()
            .enumerate()
            .filter(|(_, row)| row.subject == subject && row.order == main_order(request))
    };
    let copies = |row: &RowSpec| f64::from(row.bodies * row.runs);
    let of = |(at, row): (usize, &RowSpec)| (at as u32, copies(row));
    let short = mine().min_by(|(_, one), (_, other)| copies(one).total_cmp(&copies(other))).map(of);
    let long = mine().max_by(|(_, one), (_, other)| copies(one).total_cmp(&copies(other))).map(of);
    let (Some(short), Some(long)) = (short, long) else { return Ok(None) };
    let all_rows = [short, long, reference[0], reference[1]];
    let ticks = ticks(child, &all_rows.map(|(row, _)| row), BATCH)?;
    let slope = |at: usize| (ticks[at + 1] - ticks[at]) / (all_rows[at + 1].1 - all_rows[at].1);
    Ok(Some(slope(0) / slope(2)).filter(|cycles| cycles.is_finite()))
}
