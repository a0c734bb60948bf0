//! What the machine code of a copy shows. The types are the same on every architecture; `copy`
//! finds out what it can.

use crate::mode::{Judged, Mode};
use hairspring_core::observations::{Occupancy, Uses};

/// Core cycles of an instruction from which a chain leaves half of the units of the core free or
/// more: a narrow core runs three in a cycle. A chain of simple instructions with a copy of its
/// value beside each two takes 0.67 cycles for one; two chains side by side take 0.5.
const LEAST_CYCLES: f64 = 0.6;

/// The kinds of units that instructions use which read and write memory.
pub(crate) const LOAD: &str = "load";
pub(crate) const STORE: &str = "store";

/// What the machine code of one alternative shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Copy {
    /// Latency or throughput.
    pub judged: Judged,
    /// The instructions of one copy.
    pub disassembly: Vec<String>,
    /// Operations of one copy; `None` if it could not be followed.
    pub work: Option<Work>,
    /// Registers that one copy changes and that hold no variable, in lower case.
    pub written: Vec<String>,
    /// Its instructions whose time depends on their values, by name.
    pub on_values: Vec<String>,
    /// The variables that take their next values from memory, at the addresses that they hold.
    pub walked: Vec<String>,
    /// The variables that each copy computes from their values before, and that decide which way a
    /// branch goes.
    pub decides: Vec<String>,
    /// The variables that each copy computes from their values before, and that choose where it
    /// loads from, if it stores nothing.
    pub indexes: Vec<String>,
    /// Whether it only moves registers and constants: what it computes was computed before.
    pub only_moves: bool,
    /// The kinds of units that its instructions use.
    pub uses: Uses,
    /// Functions of other libraries that it calls, one entry for each place of a call.
    pub calls: Vec<String>,
    /// Whether it writes memory other than its own stack.
    pub stores: bool,
    /// Whether it looks whether the process has one thread only, and is faster then.
    pub asks_for_threads: bool,
}

impl Copy {
    /// A copy that cannot be looked at.
    pub(crate) fn unknown(judged: Judged) -> Copy {
        Copy {
            judged,
            disassembly: Vec::new(),
            work: None,
            written: Vec::new(),
            on_values: Vec::new(),
            walked: Vec::new(),
            decides: Vec::new(),
            indexes: Vec::new(),
            only_moves: false,
            uses: Uses::new(),
            calls: Vec::new(),
            stores: false,
            asks_for_threads: false,
        }
    }

    /// What the compiler removed compared with the same code without optimisation.
    pub fn lost(&self, plain: &Copy) -> Vec<Lost> {
        let works = self.work.zip(plain.work);
        let operations = works.map_or_else(Vec::new, |(work, plain)| work.lost(&plain));
        let calls = works.map_or_else(Vec::new, |_| crate::calls::lost(self, plain));
        operations.into_iter().chain(calls).collect()
    }

    /// Whether its code shows a chain, and nothing that has a time of its own, as branches do.
    pub(crate) fn may_wait(&self) -> bool {
        self.is_straight() && self.judged.mode == Some(Mode::Latency)
    }

    /// What it does to the core, where its code and the core cycles of a copy show it.
    pub(crate) fn occupancy(&self, cycles: Option<f64>) -> Option<Occupancy> {
        let is_slow = |cycles: f64| cycles > LEAST_CYCLES * self.disassembly.len() as f64;
        match self.judged.mode.filter(|_| self.is_straight())? {
            Mode::Latency if is_slow(cycles?) => Some(Occupancy::Waits),
            // Several chains beside each other fill units as independent copies do.
            Mode::Latency | Mode::Throughput => Some(Occupancy::Fills),
        }
    }

    /// Whether it both writes and reads memory.
    pub fn stores_and_loads(&self) -> bool {
        [STORE, LOAD].iter().all(|unit| self.uses.iter().any(|(used, _)| used == unit))
    }

    /// Whether it could be followed, and has neither branches nor calls.
    pub(crate) fn is_straight(&self) -> bool {
        self.work.is_some_and(|work| work.is_straight())
    }
}

/// The operations in one copy of straight-line code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    pub(crate) multiplications: Count,
    pub(crate) divisions: Count,
    /// Whether it branches: then an instruction may run never or several times.
    pub branches: bool,
    /// Whether it calls a function that was not followed.
    pub calls: bool,
    /// Whether a multiplication gives a result of twice the width: without optimisation it may be
    /// made of several.
    pub(crate) wide: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Count {
    /// Operations without a constant operand: those with one may be part of an address, or be done
    /// by shifts.
    pub of_values: u32,
    pub all: u32,
}

/// Operations that occur less often in the compiled copy than in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Their name.
    pub operation: String,
    /// How many there are in the copy.
    pub copy: u32,
    /// How many there are in the source.
    pub source: u32,
}

impl Work {
    /// Whether every instruction runs, and runs once.
    pub fn is_straight(&self) -> bool {
        !self.branches && !self.calls
    }

    /// What the compiler removed compared with the same code without optimisation. Only
    /// straight-line code is compared, where every instruction runs once.
    pub fn lost(&self, plain: &Work) -> Vec<Lost> {
        if !self.is_straight() || !plain.is_straight() || plain.wide {
            return Vec::new();
        }
        let of = |operation: &str, copy: Count, source: Count| Lost {
            operation: operation.to_owned(),
            copy: copy.all,
            source: source.of_values,
        };
        let both_operations = [
            of("multiplication", self.multiplications, plain.multiplications),
            of("division", self.divisions, plain.divisions),
        ];
        both_operations.into_iter().filter(|lost| lost.copy < lost.source).collect()
    }
}
