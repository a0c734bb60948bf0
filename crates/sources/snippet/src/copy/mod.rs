//! One copy of the compiled code: whether it waits for the previous copy, its operations, and its
//! disassembly.
//!
//! The pilot's source leaves notes at the borders of the copies ([`crate::source::NoteId`]). From
//! the first instruction of a row everything is followed ([`walk`]): registers, flags and memory
//! ([`state`]), instruction by instruction ([`step`]), through calls within the library. What a
//! place holds at the end of a copy depends on what places held at its start; a cycle of such
//! dependences is a chain.

mod depends;
mod image;
mod judge;
mod library;
mod show;
mod state;
mod step;
mod value;
mod walk;
mod work;

use crate::copied::Copy;
use crate::mode::{Judged, fenced};
use crate::registers::{name, register};
use crate::request::{Language, Request};
use crate::source::{NoteId, RowSpec};
use iced_x86::Register;
use image::{Image, Note};
use state::Cells;
use std::collections::BTreeSet;
use std::path::Path;
use value::{Place, Unknown};
use walk::{Carried, Event, Events, Walk};

/// The variable of the C library by which headers choose a faster way, such as that of `shared_ptr`
/// without atomic counts.
const SINGLE_THREADED: &str = "__libc_single_threaded";

/// Functions of the C library that lock their stream only in a process that has started a thread.
const LOCKED_FUNCTIONS: [&str; 12] = [
    "putc", "fputc", "putchar", "getc", "fgetc", "getchar", "puts", "fputs", "fwrite", "fread",
    "_IO_putc", "_IO_getc",
];

/// A row's notes, and the row itself.
struct Row<'a> {
    image: &'a Image,
    request: &'a Request,
    notes: Vec<(NoteId, &'a Note)>,
}

/// Looks at one copy of each alternative in a library whose rows carry notes.
pub fn look(request: &Request, library: &Path, rows: &[RowSpec]) -> Vec<Copy> {
    let image = Image::read(library);
    let of = |subject: usize| {
        let longest = (0..rows.len())
            .filter(|row| rows[*row].subject == subject)
            .max_by_key(|row| rows[*row].bodies)?;
        Some(Row::new(image.as_ref().ok()?, request, longest).copy())
    };
    let missing = || Copy::unknown(Judged::unknown("the compiled rows cannot be read"));
    (0..request.codes.len()).map(|subject| of(subject).unwrap_or_else(missing)).collect()
}

impl<'a> Row<'a> {
    fn new(image: &'a Image, request: &'a Request, row: usize) -> Row<'a> {
        let mut notes: Vec<(NoteId, &Note)> = image
            .notes
            .iter()
            .map(|note| (NoteId::from_number(note.number), note))
            .filter(|(id, _)| id.row == row)
            .collect();
        if request.language == Language::Asm {
            // The assembler repeats the note with the copy, so copies are numbered by order.
            for in_body in [false, true] {
                let same =
                    notes.iter_mut().filter(|(id, _)| id.what.is_none() && id.in_body == in_body);
                same.enumerate().for_each(|(at, (id, _))| id.copy = at);
            }
        }
        Row { image, request, notes }
    }

    fn copy(&self) -> Copy {
        let whole = self.carried(false);
        let body = || self.request.init.as_ref().map(|_| self.carried(true)).transpose();
        let followed = || match &whole {
            Ok(whole) => judge::judge(self, whole, body),
            Err(why) => Judged::unknown(why),
        };
        let judged = fenced(self.request).unwrap_or_else(followed);
        let carried = whole.ok();
        let own_addresses: BTreeSet<u64> =
            carried.as_ref().map_or_else(BTreeSet::new, |carried| carried.own_addresses.clone());
        let instructions = show::instructions(self.image, &own_addresses, self.border());
        let stores = work::stores(&instructions);
        let calls: Vec<String> = carried
            .iter()
            .flat_map(|carried| carried.calls.iter().map(|(_, name)| name.clone()))
            .collect();
        Copy {
            judged,
            disassembly: show::disassembly(self.image, &instructions, self.request),
            on_values: depends::on_values(&instructions),
            only_moves: work::only_moves(self.image, &instructions),
            uses: work::uses(&instructions),
            walked: carried
                .iter()
                .flat_map(|carried| carried.walked.iter().filter_map(|at| self.restarted(at)))
                .collect(),
            decides: carried
                .as_ref()
                .map_or_else(Vec::new, |carried| self.computed(carried, &carried.decides)),
            indexes: carried
                .iter()
                .filter(|_| !stores)
                .flat_map(|carried| self.computed(carried, &carried.indexes))
                .collect(),
            stores,
            asks_for_threads: calls.iter().any(|name| LOCKED_FUNCTIONS.contains(&name.as_str()))
                || instructions
                    .iter()
                    .any(|one| work::import(self.image, one) == Some(SINGLE_THREADED)),
            calls,
            work: carried.as_ref().map(|carried| carried.work),
            written: carried.map_or_else(Vec::new, |carried| self.written(&carried)),
        }
    }

    /// Of these variables those that each copy computes from its value before.
    fn computed(&self, carried: &Carried, of: &BTreeSet<usize>) -> Vec<String> {
        let is_computed = |at: &&usize| {
            let place = Place::Variable(**at);
            carried.edges.get(&place).is_some_and(|origins| origins.contains_key(&(place, true)))
        };
        of.iter().filter(is_computed).filter_map(|at| self.restarted(at)).collect()
    }

    /// The name of a variable that only the start of a row sets; `None` if an init may set it
    /// again.
    fn restarted(&self, at: &usize) -> Option<String> {
        self.request
            .lets
            .get(*at)
            .filter(|_| self.request.init.is_none())
            .map(|declaration| declaration.name.clone())
    }

    /// Registers that the copy changes, but for those that hold variables.
    fn written(&self, carried: &Carried) -> Vec<String> {
        let holds_variable = |full: &Register| {
            self.notes.iter().any(|(_, note)| register(&note.operand) == Some(*full))
        };
        let mut names: Vec<String> = carried
            .written
            .iter()
            .filter(|register| !holds_variable(register))
            .map(|register| name(*register))
            .collect();
        names.sort();
        names
    }

    /// Index of the analysed copy: one in the middle if possible.
    fn looked_at(&self) -> Option<usize> {
        let last = self
            .notes
            .iter()
            .filter(|(id, _)| id.what.is_none() && !id.in_body)
            .map(|(id, _)| id.copy)
            .max()?;
        last.min(2).checked_sub(1)
    }

    /// Addresses between which the copy lies.
    fn border(&self) -> Option<(u64, u64)> {
        let at = self.looked_at()?;
        let address = |copy| {
            self.notes
                .iter()
                .find(|(id, _)| id.what.is_none() && !id.in_body && id.copy == copy)
                .map(|(_, note)| note.address)
        };
        Some((address(at)?, address(at + 1)?))
    }

    /// What one copy carries into the next: from its first instruction, or from the end of its
    /// init.
    fn carried(&self, from_body: bool) -> Result<Carried, String> {
        let lost = || "the copies cannot be found in the compiled code".to_owned();
        let copy = self.looked_at().ok_or_else(lost)?;
        let mut events = Events::new();
        for (id, note) in &self.notes {
            let at = match (id.copy, id.in_body) {
                (of, in_body) if of == copy && in_body == from_body => 0,
                (of, false) if of == copy + 1 => 1,
                _ => continue,
            };
            let event = match id.what {
                None => Some(Event::Boundary),
                Some(variable) => {
                    register(&note.operand).map(|register| Event::Variable(variable, register))
                }
            };
            events.entry(note.address).or_default().extend(event.map(|event| (at, event)));
        }
        let first = self.notes.first().map(|(_, note)| note.address).ok_or_else(lost)?;
        let entry = self.image.symbol(first).map(|(start, ..)| *start).ok_or_else(lost)?;
        let mut walk = Walk::new(
            self.image,
            &events,
            self.cells(entry),
            self.request.language != Language::Asm,
        );
        walk.follow(entry, 1)?;
        let mut carried = std::mem::take(&mut walk.carried);
        carried.name_cells(self, &walk.cells);
        Ok(carried)
    }

    /// Cells with the known properties of the row's frame and of the named objects.
    fn cells(&self, entry: u64) -> Cells {
        let end = self.image.symbol(entry).map_or(entry, |(_, end, _)| *end);
        let objects = self.image.objects().map(|(start, end)| (start as i64, end as i64)).collect();
        Cells::new(leaks(self.image, entry, end), objects)
    }
}

impl Carried {
    /// Names the memory in the edges for the reader.
    fn name_cells(&mut self, row: &Row, cells: &Cells) {
        let numbers: Vec<usize> = self
            .edges
            .keys()
            .filter_map(
                |place| if let value::Place::Memory(cell) = place { Some(*cell) } else { None },
            )
            .collect();
        for number in numbers {
            let address = &cells.get(number).address;
            let by_symbol =
                || row.image.symbol(address.number()? as u64).map(|(_, _, name)| plain(name));
            let holder = self.numbers.iter().find(|(register, sum)| {
                *register != Register::RSP
                    && !address.terms.is_empty()
                    && sum.terms == address.terms
            });
            let by_register =
                || holder.map(|(register, _)| format!("the memory at {}", row.name_of(*register)));
            let in_frame = address.terms.iter().any(|(term, _)| cells.frames.contains(term))
                || address.terms == [(Unknown::Entry(Register::RSP), 1)];
            let on_stack = || in_frame.then(|| "a variable on the stack".to_owned());
            let name = by_symbol()
                .or_else(on_stack)
                .or_else(by_register)
                .unwrap_or_else(|| "memory".to_owned());
            self.cell_names.insert(number, name);
        }
    }
}

impl Row<'_> {
    /// The name of the variable in a register, else the register's own name.
    fn name_of(&self, full: Register) -> String {
        let held_variable = self
            .notes
            .iter()
            .find(|(id, note)| id.what.is_some() && register(&note.operand) == Some(full));
        let variable = held_variable.and_then(|(id, _)| self.request.lets.get(id.what?));
        variable.map_or_else(|| name(full), |declaration| declaration.name.clone())
    }
}

/// A variable's name without what compilers add to it.
fn plain(symbol: &str) -> String {
    let name = symbol.split('.').next().unwrap_or(symbol);
    let local =
        name.strip_prefix("_ZL").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    local.filter(|rest| !rest.is_empty()).unwrap_or(name).to_owned()
}

/// Whether addresses in a function's frame escape: a stack address goes into a register other than
/// the frame pointer.
fn leaks(image: &Image, start: u64, end: u64) -> bool {
    use iced_x86::{Decoder, DecoderOptions, Mnemonic, OpKind};
    let length = usize::try_from(end.saturating_sub(start)).unwrap_or(0);
    let code = image.code(start);
    let decoder =
        Decoder::with_ip(64, &code[..length.min(code.len())], start, DecoderOptions::NONE);
    let frame = |register: Register| matches!(register, Register::RSP | Register::RBP);
    decoder.into_iter().any(|i| {
        let to = i.op_count() > 0 && i.op0_kind() == OpKind::Register && !frame(i.op0_register());
        let address =
            i.mnemonic() == Mnemonic::Lea && (frame(i.memory_base()) || frame(i.memory_index()));
        let copied = i.mnemonic() == Mnemonic::Mov
            && i.op1_kind() == OpKind::Register
            && i.op1_register() == Register::RSP;
        to && (address || copied)
    })
}

#[cfg(test)]
mod tests;
