//! What a stage is, and what it needs.

use super::State;
use crate::estimate::Source;
use crate::finding::Finding;
use crate::limit::Limit;
use crate::observations::SeriesId;

/// What a stage is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Leaves readings out.
    Choose,
    /// Changes how readings are read.
    Convert,
    /// Computes times.
    Solve,
    /// Moves times.
    Correct,
    /// Adds to the error budget.
    Widen,
    /// Makes views of the vector.
    Express,
    /// Looks, and says what it saw.
    Judge,
}

/// What a stage does at a place of the list.
#[derive(Clone, Copy)]
pub(crate) struct Step(pub Phase, pub &'static Stage, pub fn(&mut State) -> Did);

/// A stage: a file with a question.
pub struct Stage {
    /// Its name: one word, which is also the reason of readings that it leaves out.
    pub name: &'static str,
    /// What it asks.
    pub question: &'static str,
    /// What it needs to run.
    pub needs: &'static [Need],
    /// Its limits.
    pub limits: &'static [&'static [Limit]],
    /// The source of its entries in the budget.
    pub(crate) source: Option<Source>,
    /// What it says of a series, from what it left behind.
    pub(crate) says: fn(&State, SeriesId) -> Vec<Finding>,
}

/// Something that a stage needs.
pub struct Need {
    /// What is missing if it is not met, such as `a reference chain among the series`.
    pub what: &'static str,
    /// Whether a table has it.
    pub(crate) is_met: fn(&State) -> bool,
}

/// What a step did.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Did {
    /// It looked, and there was nothing to do; why.
    Nothing(String),
    /// It did something; what.
    Something(String),
    /// It did something in these series; what in each, and why not in the others.
    In(Vec<(SeriesId, String)>, String),
    /// It left so many readings of the table out; what is said of a series of which it left out
    /// none.
    LeftOut(usize, String),
}

impl Did {
    pub fn nothing(why: impl Into<String>) -> Did {
        Did::Nothing(why.into())
    }

    pub fn something(text: impl Into<String>) -> Did {
        Did::Something(text.into())
    }

    pub fn each(series: Vec<(SeriesId, String)>, otherwise: impl Into<String>) -> Did {
        Did::In(series, otherwise.into())
    }

    pub fn left_out(readings: usize, otherwise: impl Into<String>) -> Did {
        Did::LeftOut(readings, otherwise.into())
    }

    /// What is said of a series, and whether something was done.
    pub fn of(&self, series: SeriesId) -> (&str, bool) {
        match self {
            Did::Nothing(why) | Did::LeftOut(0, why) => (why, false),
            Did::Something(what) => (what, true),
            Did::In(done, otherwise) => done
                .iter()
                .find(|(one, _)| *one == series)
                .map_or((otherwise, false), |(_, what)| (what, true)),
            // How many there were in the end, the sheet knows.
            Did::LeftOut(..) => ("", false),
        }
    }
}

/// The needs that several stages have.
pub(crate) mod need {
    use super::Need;

    pub const REFERENCE: Need = Need {
        what: "a reference chain among the series",
        is_met: |state| state.reference().is_some(),
    };
    pub const GUARDS: Need = Need {
        what: "guards around the readings",
        is_met: |state| {
            state.table.readings().first().is_some_and(|reading| reading.guard.is_some())
        },
    };
    pub const PLACEMENTS: Need = Need {
        what: "three placements with rounds of their own",
        is_met: |state| state.grid.has_spans(),
    };
    pub const THREADS: Need = Need {
        what: "other threads that the code runs",
        is_met: |state| state.table.origin.threads,
    };
    pub const ALONE: Need = Need {
        what: "code that runs no other threads, which may be what slows it",
        is_met: |state| !state.table.origin.threads,
    };
    pub const PAUSES: Need = Need {
        what: "pauses that were watched",
        is_met: |state| state.table.origin.pauses.share().is_some(),
    };
    pub const CONTROLS: Need = Need {
        what: "control chains among the series",
        is_met: |state| !state.table.origin.controls.is_empty(),
    };
    pub const VARIANTS: Need = Need {
        what: "rows in another arrangement",
        is_met: |state| !state.table.origin.variants.is_empty(),
    };
    pub const FENCED_CHAIN: Need = Need {
        what: "a chain after fences",
        is_met: |state| state.table.origin.fenced_chain.is_some(),
    };
    pub const REPEATS: Need = Need {
        what: "readings of a row that were taken one after the other",
        is_met: |state| state.options.repeats.are_consecutive(),
    };
    pub const SINGLE_READINGS: Need = Need {
        what: "readings that were not taken one after the other",
        is_met: |state| !state.options.repeats.are_consecutive(),
    };
}
