//! The pilot: which of a benchmark's rows are run.

use crate::benchmark::{Order, Row};
use hairspring_core::design::table::SHORT_CHECK_COPIES;
use hairspring_core::design::{
    FEWEST_ROWS, MOST_WINDOW_NS, Pilot, RowKind, SHORTEST_CHECK_SHARE, SHORTEST_SHARE,
    TARGET_WINDOW_NS, row_kinds, straight,
};
use hairspring_host::clock::{Clock, ReadFn};

/// A row that takes longer than this is run only once in the pilot: cold caches hardly lengthen a
/// run of this time.
const LONG_NS: f64 = 1e6;
/// With a body this long, two numbers of copies must suffice.
const VERY_LONG_NS: f64 = 1e8;
/// Rows that are kept however long they take.
const FEWEST_LONG_ROWS: usize = 2;
/// Runs of a short row.
const PILOT_RUNS: usize = 5;
/// Runs before them, to warm up caches, predictors and specialising interpreters.
const WARMING_RUNS: usize = 3;

/// The rows of a benchmark that can be run.
#[derive(Debug, PartialEq)]
pub(crate) struct Choice {
    /// Indices of the straight rows, and of the rows that check them.
    straight: Vec<usize>,
    /// Indices of the rows that run blocks.
    blocks: Vec<usize>,
    /// Time of a body in the longest straight row that was tried, with its share of the overhead.
    body_ns: f64,
}

/// Indices of the rows to run, for each benchmark of a group: those that run blocks, if there are
/// enough and its body is short.
pub(crate) fn agreed(choices: Vec<Choice>) -> Vec<Vec<usize>> {
    let body_ns = |choice: &Choice| {
        if choice.blocks.len() >= FEWEST_ROWS { choice.body_ns } else { f64::INFINITY }
    };
    let pilot = |choice| Pilot {
        copy_ns: body_ns(choice),
        copy_bytes: 0.0,
        quantum_ns: 0.0,
        assembled: false,
    };
    let kinds = row_kinds(&choices.iter().map(pilot).collect::<Vec<Pilot>>());
    let rows = |(choice, kind): (Choice, RowKind)| {
        if kind == RowKind::Blocks { choice.blocks } else { choice.straight }
    };
    choices.into_iter().zip(kinds).map(rows).collect()
}

/// The rows that can be run. Straight rows of the answer must be long compared with the clock's
/// quantum, short compared with the time between interrupts, and on a straight line; rows of the
/// checks must not be longer than these. `None` if the code failed.
pub(crate) fn choose(rows: &mut [Row], clock: &Clock, ns_per_tick: f64) -> Option<Choice> {
    let mut lengths: Vec<Option<f64>> = vec![None; rows.len()];
    let answer: Vec<usize> = (0..rows.len())
        .filter(|at| rows[*at].order == Order::AtEnd && rows[*at].runs == 1)
        .collect();
    let (mut taken, mut longest): (Vec<usize>, f64) = (Vec::new(), 0.0);
    for at in answer.iter().copied() {
        let per_copy = taken
            .last()
            .and_then(|last: &usize| Some(lengths[*last]? / f64::from(rows[*last].copies())));
        let expected = per_copy.map_or(0.0, |ns| ns * f64::from(rows[at].copies()));
        let fewest = if longest > VERY_LONG_NS {
            FEWEST_LONG_ROWS.max(1 + usize::from(rows[at].inits > 0) * 2)
        } else {
            FEWEST_ROWS
        };
        if taken.len() >= fewest && expected > MOST_WINDOW_NS {
            break;
        }
        let ns = length(&mut rows[at], clock, ns_per_tick, expected)?;
        (lengths[at], longest) = (Some(ns), longest.max(ns));
        taken.push(at);
        if ends_near_target(ns, &answer, taken.len(), rows) {
            break;
        }
    }
    let straight = straight_rows(&taken, rows, SHORTEST_SHARE);
    let chosen = if straight.len() > FEWEST_ROWS { straight } else { taken.clone() };
    let most = chosen.iter().map(|at| rows[*at].copies()).max().unwrap_or(0);
    let checks = checks(rows, most);
    let body_ns =
        taken.last().and_then(|last| Some(lengths[*last]? / f64::from(rows[*last].copies())));
    let blocks = (0..rows.len()).filter(|at| rows[*at].runs > 1).collect();
    Some(Choice {
        straight: chosen.into_iter().chain(checks).collect(),
        blocks,
        body_ns: body_ns.unwrap_or(f64::INFINITY),
    })
}

/// Whether the rows of the answer can end with the last of those that were taken (`taken` of them),
/// which takes so long, and no later end is closer to the target length. Rows of 16 copies can be
/// the longest, and then those of 128. Had the longest to reach the target, code of 94 ns would
/// have the rows up to 16 in one run, and in the next those up to 128, which take 12 us; a hash map
/// in Rust came to 386 cycles in one and to 470 in the other.
fn ends_near_target(ns: f64, answer: &[usize], taken: usize, rows: &[Row]) -> bool {
    let suffices =
        |count: usize| straight_rows(&answer[..count], rows, SHORTEST_SHARE).len() > FEWEST_ROWS;
    let copies = |count: usize| f64::from(rows[answer[count - 1]].copies());
    let next = (taken + 1..=answer.len()).find(|count| suffices(*count));
    let growth = next.map_or(1.0, |next| copies(next) / copies(taken));
    suffices(taken) && ns * growth.sqrt() >= TARGET_WINDOW_NS
}

/// Rows of the checks with at most `most` copies, if they suffice for a plane.
fn checks(rows: &[Row], most: u32) -> Vec<usize> {
    let of = |order| -> Vec<usize> {
        let short = |at: &usize| {
            rows[*at].order == order && rows[*at].copies() <= most.max(SHORT_CHECK_COPIES)
        };
        let mine: Vec<usize> = (0..rows.len()).filter(short).collect();
        let straight = straight_rows(&mine, rows, SHORTEST_CHECK_SHARE);
        let enough = [straight, mine].into_iter().find(|rows| rows.len() >= FEWEST_ROWS);
        enough.unwrap_or_default()
    };
    [Order::InPlace, Order::Fenced, Order::FencedChain].into_iter().flat_map(of).collect()
}

/// Time of the shortest of a few runs in nanoseconds; a long row is run once.
fn length(row: &mut Row, clock: &Clock, ns_per_tick: f64, expected_ns: f64) -> Option<f64> {
    let mut run =
        |read: ReadFn| (row.run)(read).map(|ticks| clock.width.wrapped(ticks) as f64 * ns_per_tick);
    let mut least = run(clock.read)?;
    let long = expected_ns > LONG_NS || least > LONG_NS;
    for _ in 1..if long { 1 } else { WARMING_RUNS + PILOT_RUNS } {
        least = least.min(run(clock.read)?);
    }
    Some(least)
}

/// The rows of `taken` that are long enough for a straight line.
fn straight_rows(taken: &[usize], rows: &[Row], share: u32) -> Vec<usize> {
    let bodies: Vec<u32> = taken.iter().map(|at| rows[*at].bodies).collect();
    straight(&bodies, share).into_iter().map(|at| taken[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::default_clock;

    /// Rows that return `ticks` a copy.
    fn rows(ticks: u64, inits: bool) -> Vec<Row<'static>> {
        let row = |n: u32| {
            Row::new(n, if inits { n } else { 0 }, Order::AtEnd, move |_| {
                Some(40 + ticks * u64::from(n))
            })
        };
        [1, 2, 3, 4, 8, 16, 32, 64, 96, 128, 192, 256].map(row).into()
    }

    fn chosen(ticks: u64) -> Vec<u32> {
        let mut rows = rows(ticks, false);
        choose(&mut rows, &default_clock(), 1.0)
            .unwrap()
            .straight
            .into_iter()
            .map(|at| rows[at].bodies)
            .collect()
    }

    #[test]
    fn rows_fit_the_clock_and_the_time_between_interrupts() {
        assert_eq!(chosen(1), [32, 64, 96, 128, 192, 256]);
        assert_eq!(chosen(100), [2, 3, 4, 8, 16]);
        assert_eq!([40, 90, 94].map(chosen), [[2, 3, 4, 8, 16]; 3]);
        assert_eq!(chosen(30), [16, 32, 64, 96, 128]);
        assert_eq!(chosen(1_000_000), [1, 2, 3, 4]);
        assert_eq!(chosen(1_000_000_000), [1, 2]);
    }

    #[test]
    fn short_code_runs_in_blocks_whatever_it_is_compared_with() {
        let choice = |ticks: u64, with_blocks: bool| {
            let mut rows = rows(ticks, false);
            let block = |n: u32| {
                Row::new(n, 0, Order::AtEnd, move |_| Some(45 + ticks * u64::from(n))).in_runs(8)
            };
            rows.extend([64, 96, 128, 256].map(block).into_iter().filter(|_| with_blocks));
            choose(&mut rows, &default_clock(), 1.0).unwrap()
        };
        let blocks = vec![12, 13, 14, 15];
        assert_eq!(
            agreed(vec![choice(3, true), choice(40, true)]),
            [blocks.clone(), blocks.clone()]
        );
        for straight in [choice(3, false), choice(200, true)] {
            let expected = [blocks.clone(), straight.straight.clone()];
            assert_eq!(agreed(vec![choice(3, true), straight]), expected);
        }
        // At the border, two of about the same length have rows of the same kind.
        assert_eq!(agreed(vec![choice(40, true), choice(60, true)]), [blocks.clone(), blocks]);
        assert_eq!(agreed(vec![choice(60, true)]), [choice(60, true).straight]);
    }

    #[test]
    fn code_that_fails_ends_the_pilot() {
        let mut rows = rows(1, false);
        rows[2].run = Box::new(|_| None);
        assert_eq!(choose(&mut rows, &default_clock(), 1.0), None);
    }

    #[test]
    fn checks_are_run_if_they_suffice_for_a_plane() {
        let mut rows = rows(100, true);
        let check = |order, n| Row::new(n, 2 * n, order, |_| Some(1));
        rows.extend([1, 2, 4, 8, 16, 32].map(|n| check(Order::InPlace, n)));
        rows.extend([1, 2, 64].map(|n| check(Order::Fenced, n)));
        let found = choose(&mut rows, &default_clock(), 1.0).unwrap();
        let orders: Vec<Order> = found.straight.iter().map(|at| rows[*at].order).collect();
        assert_eq!(orders.iter().filter(|order| **order == Order::InPlace).count(), 4);
        assert!(!orders.contains(&Order::Fenced));
    }
}
