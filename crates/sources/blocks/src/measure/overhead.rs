//! The overhead of a call, measured by itself: functions of known length that the page calls in
//! place of the program's, in the same rounds. What they have in common is the overhead, so that a
//! block that runs once in every call can be told apart from it.
//!
//! The overhead is not the same for all calls. A fence lets the first instructions of a call run
//! beside the end of the read before it, so the shortest functions take longer than the line
//! through the long ones; and a call that is ended early has no return. Both differences are
//! measured here, for calls of every length.

use super::arms::Arms;
use super::rounds::{Readings, undisturbed};
use crate::analysis::CountRow;
use crate::graph::{EdgeKind, Graph};
use crate::trace::PageFunction;
use hairspring_core::estimate::{Ending, Options, Repeats};
use hairspring_core::observations::{Observations, Reading, RowId};
use hairspring_core::pipeline::solve;
use hairspring_measure::companions::Companion;
use std::collections::HashMap;

const fn returning(copies: u32) -> PageFunction {
    PageFunction { copies, returns: true }
}

const fn ended_early(copies: u32) -> PageFunction {
    PageFunction { copies, returns: false }
}

/// The functions; those that end early come last, because they run only where calls do.
pub const OWN_FUNCTIONS: [PageFunction; 13] = [
    returning(0),
    returning(1),
    returning(2),
    returning(4),
    returning(8),
    returning(16),
    returning(24),
    returning(32),
    returning(64),
    ended_early(0),
    ended_early(16),
    ended_early(32),
    ended_early(64),
];
/// Fewest copies of a function that is surely longer than what a fence hides.
const LONG_COPIES: u32 = 16;

/// Copies by which a function of a program may begin sooner than one of the page: chains of known
/// length did by 0.9 to 1.6 (EPYC, family
/// 25) and by up to 2.4 (Intel, family 6, model 167), for reasons that are not known.
const SOONER_COPIES: f64 = 2.4;
/// Copies by which a call that is ended early may end later than a function of the page: what ran
/// beside its last chain of instructions, and cost nothing there, has to leave the core after it.
/// Ends behind the same chains differed by up to 0.63 (Intel, family 6, model 167).
const LATER_COPIES: f64 = 0.64;
/// The kind of all calls of the program: they may differ together from those of the page.
const ENTRY: u32 = u32::MAX;
/// Most scatter of the overhead, in copies: on a calm machine it is about this, and more is noise
/// of a loaded one, which the rounds of the calls themselves show.
const MOST_SCATTER: f64 = 0.3;
/// Copies by which calls that begin by the same branches, or end by the same one, may be off
/// together, in either direction; so two kinds differ by twice that. Calls of known length that
/// began by one branch took 0.97 longer than others, of which 0.36 may be noise, and calls that
/// ended by one were 0.36 shorter (Intel, family 6, model 167).
const ARM: f64 = 0.32;
/// Kinds from here on are calls that begin or end by the same branches.
const ARMS: u32 = 1 << 29;
/// Kinds from here on are calls with the same counts.
const PATHS: u32 = 1 << 30;

/// The places of the functions that show the overhead of long calls.
pub fn long() -> impl Iterator<Item = usize> {
    (0..OWN_FUNCTIONS.len())
        .filter(|at| OWN_FUNCTIONS[*at].returns && OWN_FUNCTIONS[*at].copies >= LONG_COPIES)
}

/// The overhead and how it differs between calls, in ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct Overhead {
    /// That of long calls that return.
    common: f64,
    /// The time of a copy.
    copy: f64,
    /// For the short functions: their time beyond the common overhead, and how much of it is not
    /// their own.
    hidden: Vec<(f64, f64)>,
    /// How much longer a call is that is ended early.
    early: f64,
    /// How the overhead of long functions differs from one to the other beyond their noise, as a
    /// standard deviation.
    scatter: f64,
}

impl Overhead {
    /// The overhead by the readings of the page's functions; `None` without enough of them.
    pub fn new(readings: &Readings, chains: &[Companion], repeats: Repeats) -> Option<Overhead> {
        let mut table = Observations::new(vec!["copies".into()]);
        // The reference chain, which comes first, shows the core clock of the rounds.
        readings.add_chains(
            &mut table,
            &chains[..usize::from(chains.first().is_some_and(|chain| chain.is_reference))],
        );
        let (long_rows, all_rows) = (table.series("long"), table.series("all"));
        let mut ids = vec![None; OWN_FUNCTIONS.len()];
        for (at, own_function) in OWN_FUNCTIONS.iter().enumerate() {
            let mine: Vec<&Reading> =
                readings.own_readings.iter().filter(|reading| reading.row as usize == at).collect();
            if mine.is_empty() {
                continue;
            }
            let counts = [f64::from(own_function.copies)];
            let row = table.row_apart(all_rows, &counts);
            ids[at] = Some(row);
            let twice = (own_function.returns && own_function.copies >= LONG_COPIES)
                .then(|| table.row_apart(long_rows, &counts));
            for (reading, row) in mine.iter().flat_map(|reading| {
                [Some(row), twice].into_iter().flatten().map(move |row| (reading, row))
            }) {
                table.push_flagged(row, reading.round, reading.ticks, reading.flags);
            }
        }
        let options = Options { leave_rows_out: false, repeats, ..Options::default() };
        let line = solve(&table, long_rows, &options).ok()?;
        let (common, copy) = (line.overhead?.value, line.component("copies")?.ticks.value);
        let solution_of_all = solve(&table, all_rows, &options).ok()?;
        let time = |id: RowId| {
            solution_of_all
                .rows
                .iter()
                .find(|row| row.row == id && row.location.is_finite())
                .map(|row| row.location)
        };
        let times: Vec<Option<f64>> = ids.into_iter().map(|id| time(id?)).collect();
        let scatter = line.lack_of_fit.map_or(0.0, |lack| lack.sd).min(MOST_SCATTER * copy);
        Some(Overhead { scatter, ..Overhead::from_times(common, copy, &times) })
    }

    /// From the time of each function, the overhead of the long ones and the time of a copy.
    fn from_times(common: f64, copy: f64, times: &[Option<f64>]) -> Overhead {
        let beyond = |at: usize| {
            Some((
                times.get(at).copied().flatten()? - common,
                f64::from(OWN_FUNCTIONS[at].copies) * copy,
            ))
        };
        let functions_that = |returns: bool| {
            (0..OWN_FUNCTIONS.len()).filter(move |at| OWN_FUNCTIONS[*at].returns == returns)
        };
        let mut hidden: Vec<(f64, f64)> = functions_that(true)
            .filter_map(beyond)
            .map(|(time, own)| (time, (time - own).max(0.0)))
            .collect();
        // What is hidden does not grow with the length; readings that say so are noise.
        for at in (1..hidden.len()).rev() {
            hidden[at - 1].1 = hidden[at - 1].1.max(hidden[at].1);
        }
        let early: Vec<f64> = functions_that(false)
            .filter(|at| OWN_FUNCTIONS[*at].copies >= LONG_COPIES)
            .filter_map(beyond)
            .map(|(time, own)| time - own)
            .collect();
        let early =
            if early.is_empty() { 0.0 } else { early.iter().sum::<f64>() / early.len() as f64 };
        Overhead { common, copy, hidden, early, scatter: 0.0 }
    }

    /// How much of a call's time may be hidden at the most: as much as of a function that is not
    /// shorter. Functions below the hidden time all take the same, and a call between two functions
    /// counts as the shorter one.
    fn hidden(&self, ticks: f64) -> f64 {
        let beyond = ticks - self.common - self.copy;
        self.hidden.iter().find(|point| point.0 >= beyond).map_or(0.0, |point| point.1)
    }

    /// The rows that may be longer than their parts. Those that leave the function by the same
    /// edge, or are ended at the same place, are of a kind.
    pub fn ends(&self, graph: &Graph, rows: &[CountRow], readings: &Readings) -> Vec<Ending> {
        let typical = typical(rows.len(), &readings.function);
        let mut kinds: HashMap<(Option<usize>, Vec<usize>), u32> = HashMap::new();
        let mut paths: HashMap<(Option<usize>, &Vec<u64>), u32> = HashMap::new();
        let (arms, mut begun): (Arms, HashMap<(bool, Vec<usize>), u32>) =
            (Arms::new(graph), HashMap::new());
        let mut endings = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let Some(ticks) = typical[at] else { continue };
            let (early, later) = if row.until.is_some() {
                (self.early, LATER_COPIES * self.copy)
            } else {
                (0.0, 0.0)
            };
            let (low, high) = (early.min(0.0), early.max(0.0) + self.hidden(ticks) + later);
            let leaves = |edge: &usize| {
                graph.edges[*edge].kind == EdgeKind::Leave && row.counts.edges[*edge] > 0
            };
            let exits = (0..graph.edges.len()).filter(leaves).collect();
            let next = kinds.len() as u32;
            let kind = *kinds.entry((row.until, exits)).or_insert(next);
            endings.push(Ending {
                row: at as u32,
                kind: ENTRY,
                low: -SOONER_COPIES * self.copy,
                high: 0.0,
                sd: 0.0,
            });
            if low < high {
                endings.push(Ending { row: at as u32, kind, low, high, sd: 0.0 });
            }
            let last = if row.is_whole() { arms.last(&row.counts.edges) } else { None };
            for branches in
                [(true, arms.first(&row.counts.edges)), (false, last.into_iter().collect())]
            {
                let next = ARMS + begun.len() as u32;
                let kind = *begun.entry(branches).or_insert(next);
                endings.push(Ending {
                    row: at as u32,
                    kind,
                    low: -ARM * self.copy,
                    high: ARM * self.copy,
                    sd: 0.0,
                });
            }
            let next = paths.len() as u32;
            let path = *paths.entry((row.until, &row.counts.blocks)).or_insert(next);
            endings.push(Ending {
                row: at as u32,
                kind: PATHS + path,
                low: 0.0,
                high: 0.0,
                sd: self.scatter,
            });
        }
        endings
    }
}

/// The median time of each row; `None` for a row without readings.
fn typical(rows: usize, readings: &[Reading]) -> Vec<Option<f64>> {
    let median = |mut ticks: Vec<f64>| {
        let middle = ticks.len() / 2;
        (!ticks.is_empty()).then(|| *ticks.select_nth_unstable_by(middle, f64::total_cmp).1)
    };
    undisturbed(rows, readings.iter()).into_iter().map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Counts, tests::graph};

    /// Functions of 3 ticks a copy beside an overhead of 100 of which the fence hides up to 10, and
    /// early ends that cost 2.
    fn overhead() -> Overhead {
        let time = |own_function: &PageFunction| {
            let work = 3.0 * f64::from(own_function.copies);
            Some(if own_function.returns {
                (100.0 + work).max(110.0)
            } else {
                (102.0 + work).max(110.0)
            })
        };
        Overhead::from_times(100.0, 3.0, &OWN_FUNCTIONS.iter().map(time).collect::<Vec<_>>())
    }

    #[test]
    fn only_short_calls_may_hide_their_time() {
        let overhead = overhead();
        assert_eq!(
            (overhead.hidden(95.0), overhead.hidden(110.0), overhead.hidden(112.0)),
            (10.0, 10.0, 10.0)
        );
        assert_eq!(
            (overhead.hidden(117.0), overhead.hidden(200.0), overhead.hidden(1e6)),
            (0.0, 0.0, 0.0)
        );
        assert!((overhead.early - 2.0).abs() < 1e-9);
    }

    #[test]
    fn rows_that_end_alike_are_of_a_kind() {
        let mut graph = graph(3, &[(0, Some(1)), (0, None), (1, None)]);
        graph.edges.iter_mut().for_each(|edge| {
            edge.kind = if edge.to.is_none() { EdgeKind::Leave } else { edge.kind }
        });
        let row = |edges: [u64; 3], until| CountRow {
            counts: Counts { blocks: vec![1, edges[0], 0], edges: edges.to_vec() },
            until,
            counted: None,
        };
        let rows = [
            row([1, 0, 1], None),
            row([0, 1, 0], None),
            row([1, 0, 0], Some(1)),
            row([0, 1, 0], None),
        ];
        let reading = |(row, ticks)| Reading {
            row,
            round: 0,
            ticks,
            flags: hairspring_core::observations::Flags::default(),
            guard: None,
        };
        let function = [(0, 500.0), (1, 110.0), (2, 500.0), (3, 110.0)].map(reading).to_vec();
        let ends = overhead().ends(&graph, &rows, &Readings { function, ..Readings::default() });
        let of =
            |row: u32| ends.iter().find(|ending| ending.row == row && ending.kind < ARMS).copied();
        assert!(rows.iter().enumerate().all(|(at, _)| {
            ends.iter().any(|ending| ending.row as usize == at && ending.kind == ENTRY)
        }));
        let arms = |row: u32| -> Vec<u32> {
            let all_endings = ends
                .iter()
                .filter(|ending| ending.row == row && (ARMS..PATHS).contains(&ending.kind));
            all_endings.map(|ending| ending.kind).collect()
        };
        assert!(
            arms(0).len() == 2
                && arms(1) == arms(3)
                && arms(0)[0] == arms(2)[0]
                && arms(0)[0] != arms(1)[0]
        );
        assert!(
            of(0).is_none()
                && of(1).unwrap().kind == of(3).unwrap().kind
                && of(2).unwrap().kind != of(1).unwrap().kind
        );
        assert!(
            of(1).unwrap().high > 0.0
                && (of(2).unwrap().high - 2.0 - 3.0 * LATER_COPIES).abs() < 1e-9
        );
    }

    #[test]
    fn ends_that_are_later_than_others_do_not_make_an_interval_miss() {
        // A loop of a head that costs nothing beside the arm, and an arm of 24 ticks. Calls that
        // are ended between the two are later.
        let graph = graph(2, &[(0, Some(1)), (1, Some(0))]);
        let row = |head: u64, arm: u64, until| CountRow {
            counts: Counts { blocks: vec![head, arm], edges: vec![arm, arm] },
            until,
            counted: None,
        };
        let rows: Vec<CountRow> = (4..16)
            .flat_map(|trips| [row(trips, trips, Some(0)), row(trips + 1, trips, Some(1))])
            .collect();
        let mut table = Observations::new(vec!["head".into(), "arm".into()]);
        let series = table.series("function");
        let mut function = Vec::new();
        for (at, row) in (0u32..).zip(&rows) {
            let counts: Vec<f64> = row.counts.blocks.iter().map(|count| *count as f64).collect();
            let id = table.row_apart(series, &counts);
            let later = if row.until == Some(1) { 1.8 } else { 0.0 };
            for round in 0..32 {
                let ticks =
                    100.0 + 24.0 * counts[1] + later + f64::from((round * 7 + at * 13) % 11) / 20.0;
                table.push(id, round, ticks);
                function.push(Reading {
                    row: at,
                    round,
                    ticks,
                    flags: hairspring_core::observations::Flags::default(),
                    guard: None,
                });
            }
        }
        let ends = Overhead { early: 0.0, ..overhead() }.ends(
            &graph,
            &rows,
            &Readings { function, ..Readings::default() },
        );
        let off = |ends: Vec<Ending>| {
            let solution = solve(
                &table,
                series,
                &Options { ends, repeats: Repeats::Calm, ..Options::default() },
            )
            .unwrap();
            let arm = solution.component("arm").unwrap().ticks;
            (arm.value - 24.0).abs() / arm.half_width()
        };
        assert!(off(ends) < 1.0 && off(Vec::new()) > 2.0);
    }
}
