//! Which rows to generate: a few for the pilot, then a design based on the pilot's result.

use crate::request::{Language, Request};
use crate::source::RowSpec;
use hairspring_core::design::table::{Order, RUNS_OF_A_BLOCK};
use hairspring_core::design::{
    Block, FEW_BEHIND, Pilot, RowKind, behind, blocks, cold, fits_short_blocks, line, pairs,
    rearranged, rearranged_short_blocks, row_kinds, short_blocks,
};
use hairspring_core::methods::METHODS;

/// Copies in the pilot rows of each alternative.
pub const PILOT: [u32; 3] = [1, 2, 4];
/// A copy that takes longer than this is timed only in the row of one copy: the overhead is
/// negligible, and longer rows of up to 16 alternatives would use up the budget.
pub const LONG_NS: f64 = 200_000.0;
/// Maximum number of evaluations in all rows together: compile time grows with them.
const MOST_EVALUATIONS: u32 = 6_000;

/// Rows of the pilot run.
pub fn pilot_rows(request: &Request) -> Vec<RowSpec> {
    let order = main_order(request);
    let each = |subject| {
        PILOT.map(|copies| RowSpec {
            subject,
            order,
            bodies: copies,
            inits: copies,
            flushes: copies,
            runs: 1,
        })
    };
    (0..request.codes.len()).flat_map(each).collect()
}

/// The order of bodies and inits from which the result comes.
pub fn main_order(request: &Request) -> Order {
    let fenced = request.fence || request.init.is_some() && !request.cold.is_empty();
    if fenced { Order::Fenced } else { Order::AtEnd }
}

/// Whether nothing can overlap with a body because its own fences or those of the flush surround
/// it.
pub fn stands_alone(request: &Request) -> bool {
    request.fence || !request.cold.is_empty()
}

/// Other orders of the same counts, as a check that bodies and inits add up.
pub fn checks(request: &Request) -> &'static [Order] {
    let overlap_possible = request.init.is_some() && !stands_alone(request);
    if overlap_possible { &[Order::InPlace, Order::Fenced] } else { &[] }
}

/// Rows of the measurement; `pilots` has one entry for each alternative, of one evaluation with its
/// init and flush. If chains of known length run (`chains`), rows that check the order are added.
/// Rows run blocks where they can, if that is wanted (`in_blocks`).
pub fn rows(request: &Request, pilots: &[Pilot], chains: bool, in_blocks: bool) -> Vec<RowSpec> {
    let share = slowest(pilots.iter());
    let kinds = if in_blocks && can_run_blocks(request) {
        kinds(request, pilots)
    } else {
        vec![RowKind::Straight; pilots.len()]
    };
    let many = slowest(
        pilots
            .iter()
            .zip(&kinds)
            .filter(|(_, kind)| **kind == RowKind::Blocks)
            .map(|(pilot, _)| pilot),
    );
    let of_subject = |subject: usize| match kinds[subject] {
        RowKind::Blocks => {
            of_blocks(subject, main_order(request), &of_copies(&blocks(many, RUNS_OF_A_BLOCK)))
        }
        RowKind::ShortBlocks => {
            of_blocks(subject, main_order(request), &short_blocks(request.init.is_some()))
        }
        RowKind::Straight => of_subject(request, subject, share),
    };
    let mut all_rows: Vec<RowSpec> = (0..request.codes.len()).flat_map(of_subject).collect();
    let evaluations: u32 = all_rows.iter().map(RowSpec::evaluations).sum();
    if evaluations > MOST_EVALUATIONS {
        let most_evaluations = most_copies(&all_rows, MOST_EVALUATIONS);
        all_rows.retain(|row| row.evaluations() <= most_evaluations || row.bodies <= 4);
    }
    if chains {
        all_rows.extend(check_rows(request, share, &kinds));
    }
    let copies =
        if runs_short_blocks(request, &kinds) { FEW_BEHIND.to_vec() } else { behind(share) };
    all_rows.extend(behind_rows(request, &copies));
    all_rows
}

/// The kind of rows of each alternative. With an init, all have rows of one kind: there are no long
/// blocks.
fn kinds(request: &Request, pilots: &[Pilot]) -> Vec<RowKind> {
    if request.init.is_none() {
        return row_kinds(pilots);
    }
    let kind = if pilots.iter().all(|pilot| fits_short_blocks(pilot, 1.0)) {
        RowKind::ShortBlocks
    } else {
        RowKind::Straight
    };
    vec![kind; pilots.len()]
}

/// What the slowest of some alternatives needs: all use the same design, so that they stay
/// comparable.
fn slowest<'p>(pilots: impl Iterator<Item = &'p Pilot> + Clone) -> Pilot {
    let most_of_pilots = |of: fn(&Pilot) -> f64| pilots.clone().map(of).fold(0.0, f64::max);
    Pilot {
        copy_ns: most_of_pilots(|pilot| pilot.copy_ns),
        copy_bytes: most_of_pilots(|pilot| pilot.copy_bytes),
        quantum_ns: most_of_pilots(|pilot| pilot.quantum_ns),
        assembled: pilots.clone().all(|pilot| pilot.assembled),
    }
}

/// Whether rows with inits are short blocks.
fn runs_short_blocks(request: &Request, kinds: &[RowKind]) -> bool {
    request.init.is_some() && kinds.contains(&RowKind::ShortBlocks)
}

fn check_rows(request: &Request, pilot: Pilot, kinds: &[RowKind]) -> Vec<RowSpec> {
    let straight = |(bodies, inits): (u32, u32)| Block { bodies, inits, runs: 1 };
    let blocks = if runs_short_blocks(request, kinds) {
        rearranged_short_blocks()
    } else {
        rearranged(pilot).into_iter().map(straight).collect()
    };
    let of_subject = |subject| {
        checks(request)
            .iter()
            .flat_map(|order| of_blocks(subject, *order, &blocks))
            .collect::<Vec<RowSpec>>()
    };
    (0..request.codes.len())
        .flat_map(of_subject)
        .chain(fenced_chain_rows(request, &blocks))
        .collect()
}

/// Rows that show whether an init takes longer behind a body than behind an init. Assembly has
/// none: each of its rows sets the registers anew.
fn behind_rows(request: &Request, copies: &[u32]) -> Vec<RowSpec> {
    if request.init.is_none() || !request.cold.is_empty() || request.language == Language::Asm {
        return Vec::new();
    }
    let row = |subject, order, bodies: &u32| RowSpec {
        subject,
        order,
        bodies: *bodies,
        inits: *bodies,
        flushes: *bodies,
        runs: 1,
    };
    let of_order = |subject, order| copies.iter().map(move |bodies| row(subject, order, bodies));
    let of_subject = |subject| {
        [Order::BehindBody, Order::BehindInit]
            .into_iter()
            .flat_map(move |order| of_order(subject, order))
    };
    (0..request.codes.len()).flat_map(of_subject).collect()
}

/// Rows with a chain of known length in place of the body, if there are fences; they vary every
/// other component's count.
fn fenced_chain_rows(request: &Request, blocks: &[Block]) -> Vec<RowSpec> {
    let (init, cold) = (request.init.is_some(), !request.cold.is_empty());
    let rows = of_blocks(0, Order::FencedChain, blocks);
    // Rows with equal counts are already among the first ones.
    let more_flushes = rows.iter().filter(|row| cold && (row.bodies < row.inits || !init));
    let more_flushes =
        more_flushes.map(|row| RowSpec { inits: row.bodies, flushes: row.inits, ..*row });
    rows.iter().copied().filter(|_| init).chain(more_flushes).collect()
}

/// Largest number of copies such that the rows up to it stay within the limit.
fn most_copies(rows: &[RowSpec], limit: u32) -> u32 {
    let mut sizes: Vec<u32> = rows.iter().map(RowSpec::evaluations).collect();
    sizes.sort_unstable();
    let mut sum = 0;
    sizes
        .into_iter()
        .take_while(|size| {
            sum += size;
            sum <= limit
        })
        .last()
        .unwrap_or(4)
}

/// Whether rows can run their copies again: those without a flush or a fence, and those that no
/// estimator needs as they are.
fn can_run_blocks(request: &Request) -> bool {
    let can_call = request.language != Language::Asm || cfg!(target_arch = "x86_64");
    can_call && request.cold.is_empty() && !request.fence && !request.all_methods
}

/// Blocks of so many copies each.
fn of_copies(copies: &[u32]) -> Vec<Block> {
    copies.iter().map(|n| Block { bodies: *n, inits: *n, runs: RUNS_OF_A_BLOCK }).collect()
}

fn of_blocks(subject: usize, order: Order, blocks: &[Block]) -> Vec<RowSpec> {
    let row = |block: &Block| {
        let Block { bodies, inits, runs } = *block;
        RowSpec { subject, order, bodies, inits, flushes: bodies, runs }
    };
    blocks.iter().map(row).collect()
}

fn of_subject(request: &Request, subject: usize, pilot: Pilot) -> Vec<RowSpec> {
    let order = main_order(request);
    let row = |bodies, inits, flushes| RowSpec { subject, order, bodies, inits, flushes, runs: 1 };
    match (request.init.is_some(), request.cold.is_empty()) {
        (false, true) => {
            let mut copies = line(pilot);
            if request.all_methods {
                let longest = copies.last().copied().unwrap_or(1);
                copies.extend(
                    METHODS
                        .iter()
                        .flat_map(|method| method.copies)
                        .filter(|n| **n <= longest.max(20)),
                );
                copies.sort_unstable();
                copies.dedup();
            }
            copies.into_iter().map(|n| row(n, n, n)).collect()
        }
        (true, true) => pairs(pilot).into_iter().map(|(n, m)| row(n, m, n)).collect(),
        (false, false) => cold(pilot).into_iter().map(|(n, m)| row(n, n, m)).collect(),
        (true, false) => {
            let flushed = cold(pilot).into_iter().map(|(n, m)| row(n, n, m));
            let more_inits = cold(pilot)
                .into_iter()
                .filter(|(n, m)| n == m)
                .flat_map(|(n, _)| [row(n, n + 1, n), row(n, n + 2, n)]);
            flushed.chain(more_inits).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_core::estimate::exact_rank;

    #[test]
    fn short_code_runs_in_blocks_whatever_it_is_compared_with() {
        let runs = |pilots: &[(f64, f64)], in_blocks: bool, init: bool| -> Vec<u32> {
            let codes = vec!["f()".to_owned(); pilots.len()];
            let request =
                Request { codes, init: init.then(|| "h()".to_owned()), ..Request::default() };
            let pilot = |(copy_ns, copy_bytes): &(f64, f64)| Pilot {
                copy_ns: *copy_ns,
                copy_bytes: *copy_bytes,
                quantum_ns: 1.0,
                assembled: false,
            };
            let rows =
                rows(&request, &pilots.iter().map(pilot).collect::<Vec<_>>(), true, in_blocks);
            let main = main_order(&request);
            (0..pilots.len())
                .map(|subject| {
                    rows.iter()
                        .find(|row| row.subject == subject && row.order == main)
                        .unwrap()
                        .runs
                })
                .collect()
        };
        assert_eq!(
            runs(&[(3.0, 20.0), (5_000.0, 20.0), (60.0, 20.0), (3.0, 2_000.0)], true, false),
            [8, 1, 8, 1]
        );
        assert_eq!(runs(&[(3.0, 20.0), (5_000.0, 20.0)], false, false), [1, 1]);
        assert_eq!(runs(&[(20.0, 20.0), (300.0, 20.0)], true, true), [8, 8]);
        assert_eq!(runs(&[(3.0, 20.0), (300.0, 20.0)], true, true), [1, 1]);
        assert_eq!(runs(&[(3.0, 20.0), (5_000.0, 20.0)], true, true), [1, 1]);
    }

    #[test]
    fn designs_of_every_kind_of_request_have_full_rank() {
        for (init, cold) in [(false, false), (true, false), (false, true), (true, true)] {
            for copy_ns in [0.2, 30.0, 5_000.0, 1e8] {
                let request = Request {
                    codes: vec!["f()".into(), "g()".into()],
                    init: init.then(|| "h()".into()),
                    cold: if cold { vec!["x".into()] } else { vec![] },
                    ..Request::default()
                };
                let pilot = Pilot { copy_ns, copy_bytes: 20.0, quantum_ns: 10.0, assembled: false };
                let rows = rows(&request, &[pilot, pilot], true, false);
                assert!(
                    rows.iter().map(RowSpec::evaluations).sum::<u32>() <= MOST_EVALUATIONS + 400
                );
                let main = main_order(&request);
                let fenced_chain = (init || cold).then_some(&Order::FencedChain);
                for order in checks(&request).iter().chain([&main]).chain(fenced_chain) {
                    let subject = usize::from(*order != Order::FencedChain);
                    let mine =
                        rows.iter().filter(|row| row.subject == subject && row.order == *order);
                    let design: Vec<Vec<f64>> = mine
                        .map(|row| row.counts(&request).into_iter().chain([1.0]).collect())
                        .collect();
                    assert_eq!(
                        exact_rank(&design).pivots.len(),
                        request.components().len() + 1,
                        "init {init}, cold {cold}, {copy_ns} ns"
                    );
                }
            }
        }
    }
}
