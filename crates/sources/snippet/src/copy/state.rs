//! The contents of registers, flags and memory at one place of the code.

use super::value::{
    Doubt, Origins, Place, Sum, Unknown, Value, add, add_missing, doubted, either, untouched,
    worked,
};
use iced_x86::Register;
use std::collections::BTreeMap;

/// Bytes of memory at one address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    pub address: Sum,
    pub bytes: i64,
}

/// How two pieces of memory overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    Same,
    Part,
    None,
    Perhaps,
}

/// All memory cells accessed so far with their numbers, and the known properties of the function's
/// stack frame.
#[derive(Debug, Default)]
pub struct Cells {
    cells: Vec<Cell>,
    numbers: BTreeMap<Cell, usize>,
    /// Whether addresses in the function's frame escape.
    pub frame_leaks: bool,
    /// Numbers that addresses in the frame begin with.
    pub frames: Vec<Unknown>,
    /// Address ranges of named objects: cells in different objects do not overlap.
    pub objects: Vec<(i64, i64)>,
}

impl Cells {
    pub fn new(frame_leaks: bool, objects: Vec<(i64, i64)>) -> Cells {
        Cells { frame_leaks, objects, ..Cells::default() }
    }

    pub fn number(&mut self, cell: Cell) -> usize {
        let next = self.cells.len();
        *self.numbers.entry(cell.clone()).or_insert_with(|| {
            self.cells.push(cell);
            next
        })
    }

    pub fn get(&self, number: usize) -> &Cell {
        &self.cells[number]
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether a cell is in the function's stack frame.
    pub fn in_frame(&self, cell: usize) -> bool {
        self.is_framed(&self.cells[cell])
    }

    fn is_framed(&self, cell: &Cell) -> bool {
        cell.address.terms.iter().any(|(term, _)| self.frames.contains(term))
    }

    fn object(&self, cell: &Cell) -> Option<usize> {
        self.objects.iter().position(|(start, end)| (*start..*end).contains(&cell.address.constant))
    }

    /// How two cells overlap.
    pub fn overlap(&self, a: usize, b: usize) -> Overlap {
        let (a, b) = (&self.cells[a], &self.cells[b]);
        if a.address.terms == b.address.terms {
            let distance = b.address.constant.wrapping_sub(a.address.constant);
            return match () {
                () if distance == 0 && a.bytes == b.bytes => Overlap::Same,
                () if distance < a.bytes && distance > -b.bytes => Overlap::Part,
                () => Overlap::None,
            };
        }
        let (in_frame, static_object) =
            ((self.is_framed(a), self.is_framed(b)), self.object(a).zip(self.object(b)));
        let apart = match in_frame {
            (true, true) => false,
            (true, false) | (false, true) => {
                !self.frame_leaks || a.address.terms.is_empty() || b.address.terms.is_empty()
            }
            (false, false) => static_object.is_some_and(|(a, b)| a != b),
        };
        if apart { Overlap::None } else { Overlap::Perhaps }
    }
}

/// Memory that was read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub value: Value,
    /// Whether the code wrote it.
    pub stored: bool,
}

/// The value in every place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    pub registers: BTreeMap<Register, Value>,
    pub flags: BTreeMap<u32, Value>,
    pub cells: BTreeMap<usize, Held>,
    /// Values that were stored at addresses that are no longer known.
    pub lost: Origins,
    /// The conditions of the branches on the way here.
    pub conditions: Origins,
}

impl State {
    /// The value in a register, which is unknown at the start of the function.
    pub fn register(&self, register: Register) -> Value {
        let entry = || Value::new(Origins::new(), Some(Sum::unknown(Unknown::Entry(register))));
        self.registers.get(&register).cloned().unwrap_or_else(entry)
    }

    /// One bit of the flags.
    pub fn flag(&self, flag: u32) -> Value {
        let entry =
            || Value::new(Origins::new(), Some(Sum::unknown(Unknown::Entry(Register::RIP))));
        self.flags.get(&flag).cloned().unwrap_or_else(entry)
    }

    /// Forgets the number that had this name in an earlier round of a loop.
    pub fn forget(&mut self, unknown: Unknown, cells: &Cells) {
        let stale: Vec<usize> = self
            .cells
            .keys()
            .copied()
            .filter(|cell| cells.get(*cell).address.mentions(unknown))
            .collect();
        for cell in stale {
            if let Some(held) = self.cells.remove(&cell).filter(|held| held.stored) {
                add(&mut self.lost, &doubted(&held.value.origins, Doubt::Memory));
            }
        }
        for value in self
            .registers
            .values_mut()
            .chain(self.flags.values_mut())
            .chain(self.cells.values_mut().map(|held| &mut held.value))
        {
            value.number = value.number.take().filter(|number| !number.mentions(unknown));
        }
    }

    /// The value in memory.
    pub fn load(&mut self, cell: usize, cells: &Cells, fresh: Unknown) -> Value {
        if let Some(held) = self.cells.get(&cell) {
            return held.value.clone();
        }
        let mut origins = untouched(Place::Memory(cell));
        let mut parts = false;
        for (other_cell, held_cell) in &self.cells {
            match cells.overlap(*other_cell, cell) {
                Overlap::Part | Overlap::Same => {
                    parts = true;
                    add(&mut origins, &held_cell.value.origins);
                }
                Overlap::Perhaps if held_cell.stored => {
                    add(&mut origins, &doubted(&held_cell.value.origins, Doubt::Memory))
                }
                _ => {}
            }
        }
        add(&mut origins, &self.lost);
        let value = Value::new(origins, Some(Sum::unknown(fresh)));
        if !parts {
            self.cells.insert(cell, Held { value: value.clone(), stored: false });
        }
        value
    }

    /// Gives memory a value.
    pub fn store(&mut self, cell: usize, value: Value, cells: &Cells) {
        for (other_cell, held_cell) in &mut self.cells {
            let new = match cells.overlap(cell, *other_cell) {
                Overlap::Part => value.origins.clone(),
                Overlap::Perhaps => doubted(&value.origins, Doubt::Memory),
                _ => continue,
            };
            add(&mut held_cell.value.origins, &new);
            held_cell.value.number = None;
            held_cell.stored = true;
        }
        self.cells.insert(cell, Held { value, stored: true });
    }

    /// How many origins it holds: the time of a join grows with them.
    pub fn size(&self) -> usize {
        let values = self
            .registers
            .values()
            .chain(self.flags.values())
            .chain(self.cells.values().map(|held| &held.value));
        values.map(|value| value.origins.len()).sum()
    }

    /// The state at a place that is reached with this state or the other.
    pub fn join(&self, other_state: &State) -> State {
        let mut conditions = self.conditions.clone();
        add(&mut conditions, &other_state.conditions);
        let decided = worked(doubted(&conditions, Doubt::Condition));
        let join = |a: &Value, b: &Value| {
            if a.same_as(b) {
                return a.clone();
            }
            let together = |a: &Origins, b: &Origins| {
                let mut origins = either(a, b);
                add_missing(&mut origins, &decided);
                origins
            };
            let rest = a
                .rest
                .as_ref()
                .or(b.rest.as_ref())
                .map(|(written, _)| (*written, together(&a.bytes(8), &b.bytes(8))));
            Value {
                origins: together(&a.origins, &b.origins),
                rest,
                number: a.number.clone().filter(|_| a.number == b.number),
            }
        };
        let mut joined = State { lost: either(&self.lost, &other_state.lost), ..State::default() };
        for register in self.registers.keys().chain(other_state.registers.keys()) {
            joined.registers.insert(
                *register,
                join(&self.register(*register), &other_state.register(*register)),
            );
        }
        for flag in self.flags.keys().chain(other_state.flags.keys()) {
            joined.flags.insert(*flag, join(&self.flag(*flag), &other_state.flag(*flag)));
        }
        for cell in self.cells.keys().chain(other_state.cells.keys()) {
            let (a, b) = (self.held(*cell), other_state.held(*cell));
            // Memory that neither path wrote is the same on both.
            let value = if !a.stored && !b.stored {
                Value::new(
                    either(&a.value.origins, &b.value.origins),
                    a.value.number.clone().filter(|_| a.value.number == b.value.number),
                )
            } else {
                join(&a.value, &b.value)
            };
            joined.cells.insert(*cell, Held { value, stored: a.stored || b.stored });
        }
        State { conditions, ..joined }
    }

    fn held(&self, cell: usize) -> Held {
        let untouched =
            || Held { value: Value::new(untouched(Place::Memory(cell)), None), stored: false };
        self.cells.get(&cell).cloned().unwrap_or_else(untouched)
    }
}
