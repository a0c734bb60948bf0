//! Where parts of a call begin, if they are timed in place of the whole call.
//!
//! An interpreter runs one call for as long as its program takes. Whole calls of it are few, too
//! long, and alike. Parts of them are short, and differ: they begin at different trips of its loop,
//! evenly over the call, and each is ended at the blocks that it comes to.

use crate::error::{Error, Result};
use crate::graph::Graph;

/// Parts that begin at arrivals that follow each other.
const OF_ONE_PLACE: u64 = 4;
/// Most arrivals at a place that the program is stopped at on the way: each stop takes some
/// microseconds. Where the block that runs most often has more, a rarer one may run at the
/// beginning of the call only.
const MOST_STOPS: u64 = 100_000;
/// Fewest arrivals at a block at which parts begin.
const FEWEST_ARRIVALS: u64 = 8;

/// Most arrivals for one at the block that is counted: parts do not come to a rarer one often
/// enough to be long.
const RAREST_ARRIVALS: u64 = 32;

/// Multiples of it are spread evenly between whole numbers.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// Parts of a call that begin one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The arrival at the rarer block after which they are looked for.
    pub after: u64,
    /// How many arrivals at the block where parts begin are left out then.
    pub skip: u64,
    /// How many parts there are.
    pub parts: u64,
}

/// Where parts of a call begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The block where they begin.
    pub block: usize,
    /// A block that runs less often, by which the program is taken near to them; the same one if it
    /// does not run too often.
    pub rarer: usize,
    /// A block that runs once in some arrivals there, or the same one where there is none: parts
    /// are also ended at later arrivals at it, so that some of them are long.
    pub counted: usize,
    /// The parts in their order.
    pub windows: Vec<Window>,
}

/// Where `parts` parts of a call begin whose blocks ran that often: at `block`, or at the one that
/// ran most often.
///
/// # Errors
/// A block that ran too rarely.
pub fn plan(graph: &Graph, ran: &[u64], block: Option<usize>, parts: u64) -> Result<Plan> {
    let inside = |at: &usize| *at != graph.entry;
    // The first of several that ran equally often.
    let busiest = (0..ran.len()).filter(inside).rev().max_by_key(|at| ran[*at]);
    let too_few = |arrivals: u64| {
        let reason = format!(
            "the block where they would begin runs {arrivals} times in the call, and \
             {FEWEST_ARRIVALS} times is the least: leave --parts out, or give another block \
             (--from)"
        );
        Error::system("take parts of the call", reason)
    };
    let block = block.or(busiest).ok_or_else(|| too_few(0))?;
    if ran[block] < FEWEST_ARRIVALS {
        return Err(too_few(ran[block]));
    }
    let number = parts.div_ceil(OF_ONE_PLACE);
    let is_rarer =
        |at: &usize| inside(at) && (number..=MOST_STOPS.min(ran[block])).contains(&ran[*at]);
    let rarer = if ran[block] <= MOST_STOPS {
        block
    } else {
        (0..ran.len()).filter(is_rarer).rev().max_by_key(|at| ran[*at]).unwrap_or(block)
    };
    let all_stops = ran[rarer].min(MOST_STOPS);
    // Evenly, but not at equal distances, which would meet a call that does two things in turns in
    // one of them only. Trips of a loop are alike: further windows begin at further places in them.
    let window = |at: u64| Window {
        after: 1
            + ((at as f64 + (0.5 + at as f64 * GOLDEN).fract()) / number as f64
                * (all_stops - 1) as f64) as u64,
        skip: at * OF_ONE_PLACE,
        parts: OF_ONE_PLACE.min(parts - at * OF_ONE_PLACE),
    };
    let is_counted = |at: &usize| {
        inside(at)
            && (FEWEST_ARRIVALS.max(ran[block] / RAREST_ARRIVALS)..=ran[block] / 2)
                .contains(&ran[*at])
    };
    let counted =
        (0..ran.len()).filter(is_counted).rev().max_by_key(|at| ran[*at]).unwrap_or(block);
    Ok(Plan { block, rarer, counted, windows: (0..number).map(window).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::graph;

    fn of(ran: &[u64], block: Option<usize>, parts: u64) -> Result<Plan> {
        plan(&graph(ran.len(), &[(0, Some(1))]), ran, block, parts)
    }

    #[test]
    fn parts_begin_at_the_busiest_block_evenly_over_the_call() {
        let plan = of(&[1, 90, 90, 30], None, 10).unwrap();
        assert_eq!((plan.block, plan.rarer, plan.counted), (1, 1, 3));
        let windows: Vec<(u64, u64, u64)> =
            plan.windows.iter().map(|one| (one.after, one.skip, one.parts)).collect();
        assert_eq!(windows, [(15, 0, 4), (34, 4, 4), (82, 8, 2)]);
        assert_eq!(of(&[1, 90, 90, 30], Some(3), 10).unwrap().block, 3);
    }

    #[test]
    fn parts_meet_both_of_two_things_that_a_call_does_in_turns() {
        for period in [2_500, 5_000, 10_000] {
            let plan = of(&[1, 50_000, 50_000], None, 40).unwrap();
            let first =
                plan.windows.iter().filter(|window| window.after % period < period / 2).count();
            assert!((2..=8).contains(&first), "{period}: {first} of {}", plan.windows.len());
        }
    }

    #[test]
    fn arrivals_are_counted_where_parts_begin_if_all_trips_are_alike() {
        assert_eq!(of(&[1, 900, 899, 899, 12], None, 10).unwrap().counted, 1);
        assert_eq!(of(&[1, 900, 899, 300, 600], None, 10).unwrap().counted, 3);
    }

    #[test]
    fn a_block_that_runs_too_often_is_found_by_a_rarer_one() {
        let parts = of(&[1, 400_000, 15_000, 9_000, 2], None, 40).unwrap();
        assert_eq!((parts.block, parts.rarer), (1, 2));
        assert!(parts.windows.last().unwrap().after > 13_500);
        // None is rarer: the parts are those of the beginning.
        let parts = of(&[1, 400_000, 2], None, 40).unwrap();
        assert_eq!((parts.block, parts.rarer), (1, 1));
        assert!(parts.windows.iter().all(|one| one.after <= MOST_STOPS));
    }

    #[test]
    fn a_call_without_a_loop_has_no_parts() {
        let error = of(&[1, 1, 7], None, 40).unwrap_err().to_string();
        assert!(error.contains("runs 7 times in the call, and 8 times is the least"), "{error}");
    }
}
