//! The values that the follower tracks: what each depends on, and its number if known.

use iced_x86::Register;
use std::collections::BTreeMap;

/// Something that holds a value from one copy to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A variable of the request, by its number.
    Variable(usize),
    /// A full register.
    Register(Register),
    /// One bit of the flags, as in `iced_x86::RflagsBits`.
    Flag(u32),
    /// Bytes of memory, by the number of their cell.
    Memory(usize),
}

/// Why a dependence is uncertain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// It depends on a branch.
    Condition,
    /// Two addresses may or may not be the same.
    Memory,
    /// It exists only on some processors.
    Processor,
    /// It depends on a function that was not followed.
    Call,
}

/// All that a value depends on: places as they were at the start of a copy, and whether an
/// instruction computed with the value since (a value that is only moved adds no latency). Each has
/// the reason why the dependence is uncertain; `None` if it exists on every path.
pub type Origins = BTreeMap<(Place, bool), Option<Doubt>>;

/// The value of a place itself, untouched.
pub fn untouched(place: Place) -> Origins {
    Origins::from([((place, false), None)])
}

/// Adds what a second operand depends on.
pub fn add(to: &mut Origins, from: &Origins) {
    for (origin, doubt) in from {
        to.entry(*origin).and_modify(|old| *old = old.and(*doubt)).or_insert(*doubt);
    }
}

/// Adds the origins that are missing.
pub fn add_missing(to: &mut Origins, from: &Origins) {
    for (origin, doubt) in from {
        to.entry(*origin).or_insert(*doubt);
    }
}

/// The origins after an instruction computed with the value.
pub fn worked(origins: Origins) -> Origins {
    let mut all_origins = Origins::new();
    origins.into_iter().for_each(|((place, _), doubt)| {
        add(&mut all_origins, &Origins::from([((place, true), doubt)]))
    });
    all_origins
}

/// The origins made uncertain for this reason.
pub fn doubted(origins: &Origins, reason: Doubt) -> Origins {
    origins.iter().map(|(origin, doubt)| (*origin, doubt.or(Some(reason)))).collect()
}

/// The origins of a value after one of two paths: only origins on both paths are certain.
pub fn either(a: &Origins, b: &Origins) -> Origins {
    if a == b {
        return a.clone();
    }
    let is_sure = |origins: &Origins, place| {
        [false, true].iter().any(|worked| origins.get(&(place, *worked)) == Some(&None))
    };
    let mut all_origins = Origins::new();
    for (from, other_origins) in [(a, b), (b, a)] {
        for ((place, worked), doubt) in from {
            let doubt = doubt.or((!is_sure(other_origins, *place)).then_some(Doubt::Condition));
            // An origin that is doubtful on one path is doubtful.
            all_origins
                .entry((*place, *worked))
                .and_modify(|old| *old = old.or(doubt))
                .or_insert(doubt);
        }
    }
    all_origins
}

/// An unknown number under a name; equal names mean equal numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unknown {
    /// A register when the function began.
    Entry(Register),
    /// The value that the instruction at an address left in a register, or read from memory
    /// (`Register::None`).
    Made(u64, Register),
    /// The value of a register that the instruction at an address used as an address.
    Used(u64, Register),
}

/// A number as a sum of unknown numbers and a constant, as addresses are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Sum {
    /// Each unknown number once, in order, with its factor.
    pub terms: Vec<(Unknown, i64)>,
    /// The constant.
    pub constant: i64,
}

impl Sum {
    pub fn constant(constant: i64) -> Sum {
        Sum { terms: Vec::new(), constant }
    }

    /// Whether it is what was read from memory, unchanged.
    pub fn is_from_memory(&self) -> bool {
        matches!(self.terms[..], [(Unknown::Made(_, Register::None), 1)]) && self.constant == 0
    }

    pub fn unknown(unknown: Unknown) -> Sum {
        Sum { terms: vec![(unknown, 1)], constant: 0 }
    }

    pub fn plus(&self, other_sum: &Sum) -> Sum {
        let mut terms: BTreeMap<Unknown, i64> = self.terms.iter().copied().collect();
        for (unknown, factor) in &other_sum.terms {
            let sum = terms.entry(*unknown).or_insert(0);
            *sum = sum.wrapping_add(*factor);
        }
        Sum {
            terms: terms.into_iter().filter(|(_, factor)| *factor != 0).collect(),
            constant: self.constant.wrapping_add(other_sum.constant),
        }
    }

    pub fn times(&self, factor: i64) -> Sum {
        let scaled = self.terms.iter().map(|(unknown, by)| (*unknown, by.wrapping_mul(factor)));
        Sum {
            terms: scaled.filter(|(_, by)| *by != 0).collect(),
            constant: self.constant.wrapping_mul(factor),
        }
    }

    pub fn offset(&self, by: i64) -> Sum {
        Sum { terms: self.terms.clone(), constant: self.constant.wrapping_add(by) }
    }

    pub fn mentions(&self, unknown: Unknown) -> bool {
        self.terms.iter().any(|(term, _)| *term == unknown)
    }

    /// The number if it is a constant.
    pub fn number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }
}

/// The value in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// What it depends on.
    pub origins: Origins,
    /// After a write of only the lower bytes of a register: their number, and what the rest depends
    /// on.
    pub rest: Option<(usize, Origins)>,
    /// Its number; `None` where paths or rounds of a loop left several.
    pub number: Option<Sum>,
}

impl Value {
    /// A value that fills its place.
    pub fn new(origins: Origins, number: Option<Sum>) -> Value {
        Value { origins, rest: None, number }
    }

    /// What the lower `bytes` bytes depend on.
    pub fn bytes(&self, bytes: usize) -> Origins {
        let mut origins = self.origins.clone();
        if let Some((_, rest)) = self.rest.as_ref().filter(|(written, _)| *written < bytes) {
            add(&mut origins, rest);
        }
        origins
    }

    /// Whether two values are certainly equal: they have the same known number and the same
    /// origins.
    pub fn same_as(&self, other: &Value) -> bool {
        self.number.is_some() && self == other
    }
}
