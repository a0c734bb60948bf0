//! A pair: three processes that are alive at the same time, and take turns.

use super::arm::{Arm, Setting, State};
use crate::AnyError;
use crate::run::arguments::RunArguments;
use crate::run::program::Program;
use hairspring_result::ResultDocument;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::Ordering;

/// Orders in which three processes begin, so that each comes first, second and third equally often.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1], [1, 0, 2]];
/// The environment grows by less than a page.
const PAGE: u64 = 4096;

/// The documents of a pair.
pub struct Measured {
    /// Of the base, the head, and the base again.
    pub documents: [ResultDocument; 3],
    /// Whether all processes took turns.
    pub in_turns: bool,
}

/// Measures the pair of this number; `None` if it was stopped.
///
/// # Errors
/// A program failed.
pub fn measure(
    base: &Program,
    head: &Program,
    setting: Setting,
    number: u32,
) -> Result<Option<Measured>, AnyError> {
    if base.observes() || head.observes() {
        return whole(base, head, setting, number);
    }
    let arm = |program| Arm::new(program, setting, padding(number));
    let mut arms = [arm(base)?, arm(head)?, arm(base)?];
    let order = ORDERS[number as usize % ORDERS.len()];
    for round in 0_u32.. {
        if arms.iter().all(|arm| arm.state == State::Ended) {
            break;
        }
        // A B B A: what drifts evenly meets all alike.
        let is_free = !arms.iter().any(is_behind);
        let places = if round % 2 == 0 { order } else { [order[2], order[1], order[0]] };
        for place in places {
            if setting.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if is_free || is_behind(&arms[place]) {
                arms[place].turn()?;
            }
        }
    }
    let documents = [arms[0].document()?, arms[1].document()?, arms[2].document()?];
    Ok(Some(Measured { documents, in_turns: arms.iter().all(|arm| arm.takes_turns) }))
}

/// Another size of the environment for each process.
fn padding(number: u32) -> usize {
    (RandomState::new().hash_one(number) % PAGE) as usize
}

/// A pair of programs of which one prints observations: they have no command line and take no
/// turns, so whole processes come one after the other.
fn whole(
    base: &Program,
    head: &Program,
    setting: Setting,
    number: u32,
) -> Result<Option<Measured>, AnyError> {
    let mut answers = [None, None, None];
    for place in ORDERS[number as usize % ORDERS.len()] {
        if setting.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let program = if place == 1 { head } else { base };
        let arguments = RunArguments { cpu: setting.cpu, ..setting.padded(padding(number)) };
        let answer = program.run(&arguments).map_err(|error| format!("{}: {error}", program.shown));
        answers[place] = Some(answer?.document);
    }
    let [Some(base), Some(head), Some(again)] = answers else { return Ok(None) };
    Ok(Some(Measured { documents: [base, head, again], in_turns: false }))
}

/// Whether a process is in a group of benchmarks: the others wait for it at the start of the next
/// one, so that all measure the same benchmarks.
fn is_behind(arm: &Arm) -> bool {
    matches!(arm.state, State::New | State::Between)
}
