//! Calls of functions that are not followed.

use super::{Next, Walk};
use crate::copy::library::{Signature, never_returns, pure};
use crate::copy::state::State;
use crate::copy::value::{Doubt, Origins, Value, add, add_missing, doubted, worked};
use iced_x86::Register;

impl Walk<'_> {
    pub(super) fn imported(&mut self, state: &mut State, name: &str, place: u64) -> Next {
        if never_returns(name) {
            return Next::Ends;
        }
        self.carried.calls.insert((place, name.to_owned()));
        match pure(name) {
            Some(signature) => self.pure_call(state, signature),
            None => {
                let name = if name.is_empty() { "a function" } else { name };
                self.doubt(|| format!("{name} may keep state or modify the data passed to it"));
                self.unknown_call(state);
            }
        }
        Next::On
    }

    /// A call of a function that depends on its arguments only.
    pub(super) fn pure_call(&mut self, state: &mut State, signature: Signature) {
        let mut from = Origins::new();
        let arguments =
            INTEGERS[..signature.integers].iter().copied().chain((0..signature.floats).map(vector));
        arguments.for_each(|register| add(&mut from, &state.register(register).origins));
        if signature.reads_memory {
            let stored = state.cells.values().filter(|held| held.stored);
            stored.for_each(|held| {
                add_missing(&mut from, &doubted(&held.value.origins, Doubt::Memory))
            });
        }
        let from = worked(from);
        self.scratch(state, &Origins::new());
        let results: &[Register] = match signature {
            Signature { gives_float: true, .. } => &[Register::ZMM0],
            Signature { gives_pair: true, .. } => &[Register::RAX, Register::RDX],
            _ => &[Register::RAX],
        };
        for register in results {
            state.registers.insert(*register, Value::new(from.clone(), None));
        }
    }

    /// A call of a function that was not followed: only its calling convention is known.
    pub(super) fn unknown_call(&mut self, state: &mut State) {
        let mut from = Origins::new();
        let arguments = INTEGERS.into_iter().chain((0..8).map(vector));
        arguments.for_each(|register| add(&mut from, &state.register(register).origins));
        state.cells.values().for_each(|held| add(&mut from, &held.value.origins));
        let from = worked(doubted(&from, Doubt::Call));
        self.scratch(state, &Origins::new());
        for register in [Register::RAX, Register::RDX, Register::ZMM0, Register::ZMM1] {
            state.registers.insert(register, Value::new(from.clone(), None));
        }
        for (cell, held_cell) in &mut state.cells {
            let address = &self.cells.get(*cell).address;
            let private = address.terms.iter().any(|(term, _)| self.cells.frames.contains(term))
                && !self.cells.frame_leaks;
            let constant =
                address.number().is_some_and(|address| self.image.is_constant(address as u64));
            if !private && !constant {
                held_cell.value.origins = doubted(&held_cell.value.origins, Doubt::Call);
                add_missing(&mut held_cell.value.origins, &from);
                held_cell.value.number = None;
                held_cell.stored = true;
            }
        }
    }

    /// Registers that a function may change.
    fn scratch(&mut self, state: &mut State, origins: &Origins) {
        let general = [
            Register::RAX,
            Register::RCX,
            Register::RDX,
            Register::RSI,
            Register::RDI,
            Register::R8,
            Register::R9,
            Register::R10,
            Register::R11,
        ];
        for register in general.into_iter().chain((0..32).map(vector)) {
            state.registers.insert(register, Value::new(origins.clone(), None));
        }
        state.flags.values_mut().for_each(|flag| *flag = Value::new(origins.clone(), None));
        self.carried.written.extend(general);
        self.carried.work.calls = true;
    }
}

const INTEGERS: [Register; 6] =
    [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];

fn vector(number: usize) -> Register {
    Register::ZMM0 + number as u32
}
