//! The copies of each series: a chain for every pair of operands, and independent copies for the
//! throughput.

use crate::arrangement::Arrangement;
use crate::encode::encode;
use crate::form::{Element, Form, Operand, Shape, Slot};
use crate::helper::{Helper, Needs, after_root, path, path_to_address};
use crate::memory::{BASE, OTHER_BASE, ZERO, buffer, in_line, plain_move, with_base};
use crate::register::{File, changing, constant, further};
use crate::values::{DIVISOR, Values, registers};
use hairspring_host::chains::{Buffer, Registers, Vectors};
use iced_x86::{Code, EncodingKind, Instruction};
use std::rc::Rc;

/// The way of a value through an instruction, from the operand that is read to the one that is
/// written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// Name of the form.
    pub form: String,
    /// Label of the operand that is read.
    pub from: String,
    /// Label of the operand that is written.
    pub to: String,
}

/// What a series measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quantity {
    /// The latencies of these edges, one after the other; the first is that of the form itself.
    Latency(Vec<Edge>),
    /// The cycles of a copy among independent ones. The names are those of instructions that each
    /// copy needs besides.
    Throughput(Vec<String>),
}

/// A series of rows: copies of the same instructions on rotating registers.
#[derive(Debug, Clone)]
pub struct Series {
    /// Name of the form.
    pub form: String,
    /// What it measures.
    pub quantity: Quantity,
    /// The values in the registers.
    pub values: Values,
    /// Where its operands in memory are.
    pub arrangement: Arrangement,
    /// Machine code of the copies in turn.
    pub copies: Vec<Vec<u8>>,
    /// Values of the registers.
    pub registers: Rc<Registers>,
    /// Vector registers that need values.
    pub vectors: Vectors,
    /// The buffer, for a form with an operand in memory.
    pub buffer: Option<Buffer>,
}

impl Series {
    /// Machine code of this many copies.
    pub fn code(&self, copies: u32) -> Vec<u8> {
        self.copies.iter().cycle().take(copies as usize).flatten().copied().collect()
    }
}

/// Registers of each file that helpers use.
const HELPERS: usize = 2;

/// What the copies of a series are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Each copy needs the result of the one before. Registers for helpers are set aside.
    Chain,
    /// No copy needs the result of another one. They need all registers: with ten, copies of four
    /// cycles that run two at a time come to 0.52 cycles for 0.50.
    Independent,
}

/// All series of a form.
///
/// # Errors
/// An instruction that cannot be encoded.
pub fn series(form: &Form) -> Result<Vec<Series>, String> {
    let chains = pairs(form)
        .into_iter()
        .filter_map(|pair| chain(form, pair, Values::Ordinary, Arrangement::Usual).transpose());
    chains.chain([throughput(form, Arrangement::Usual)]).collect()
}

/// The series of a form that use memory in another way, for what may depend on it: whether a load
/// follows a store through the same register, whether a load finds what was just stored, and how
/// stores share lines.
///
/// # Errors
/// As [`series`].
pub fn arranged(form: &Form) -> Result<Vec<Series>, String> {
    let Some(memory) = form.memory() else { return Ok(Vec::new()) };
    let mut all_series = Vec::new();
    let mut add = |pair, arrangement| {
        chain(form, pair, Values::Ordinary, arrangement).map(|series| all_series.extend(series))
    };
    for (from, to) in pairs(form) {
        if to == memory && (from == memory || !form.loads()) {
            add((from, to), Arrangement::OtherBase)?;
        }
        if form.operands[from].slot == Slot::Base && is_plain_load(form) {
            add((from, to), Arrangement::JustStored)?;
        }
    }
    if form.stores() && !form.loads() {
        all_series.push(throughput(form, Arrangement::OneLine)?);
    }
    Ok(all_series)
}

/// Whether a form does nothing but load, and there is a store for it.
fn is_plain_load(form: &Form) -> bool {
    let needs = Needs::new(form);
    let plain = |file| plain_move(File::Memory, file, needs.bytes, needs.vex) == Some(form.code);
    plain(File::General) || plain(File::Vector)
}

/// The chain of the form's first pair of operands of the same file, with other values; `None` if it
/// has no such pair.
///
/// # Errors
/// As [`series`].
pub fn with_values(form: &Form, values: Values) -> Result<Option<Series>, String> {
    // Integers in memory are addresses.
    if form.memory().is_some() && form.element == Element::Integer {
        return Ok(None);
    }
    let pair = pairs(form)
        .into_iter()
        .find(|(from, to)| form.operands[*from].file == form.operands[*to].file);
    pair.map_or(Ok(None), |pair| chain(form, pair, values, Arrangement::Usual))
}

/// The pairs of operands, as indexes, for which there is a chain.
fn pairs(form: &Form) -> Vec<(usize, usize)> {
    let operands = &form.operands;
    let all_pairs =
        (0..operands.len()).flat_map(|to| (0..operands.len()).map(move |from| (from, to)));
    let possible: Vec<(usize, usize)> =
        all_pairs.filter(|(from, to)| operands[*from].reads && operands[*to].writes).collect();
    match form.shape {
        Shape::Same => possible
            .into_iter()
            .filter(|(_, to)| operands[*to].file != File::Flags)
            .take(1)
            .collect(),
        _ => possible.into_iter().filter(|pair| is_possible(form, *pair)).collect(),
    }
}

fn is_possible(form: &Form, (from, to): (usize, usize)) -> bool {
    let (source, target) = (&form.operands[from], &form.operands[to]);
    if form.divides_integers() {
        return source.label == "rax" && target.label == "rax";
    }
    // What is loaded from a place may be known before the address of the store is, so there is no
    // chain.
    if source.slot == Slot::Base && target.file == File::Memory {
        return false;
    }
    // An exchange leaves nothing of a register in that register.
    if from == to
        && (form.code == Code::Xchg_rm64_r64
            || form.code == Code::Xadd_rm64_r64 && source.label == "2")
    {
        return false;
    }
    // A quotient of quotients leaves the range of ordinary numbers.
    let is_legacy_division = matches!(
        form.code,
        Code::Divsd_xmm_xmmm64
            | Code::Divss_xmm_xmmm32
            | Code::Divpd_xmm_xmmm128
            | Code::Divps_xmm_xmmm128
    );
    if is_legacy_division && from != to {
        return false;
    }
    // A source that is written as well carries the value by itself, whatever the flags do.
    target.file != File::Flags
        || source.file == File::Flags
        || !source.writes && form.defined_flags() != 0
}

/// The chain from one operand to another.
fn chain(
    form: &Form,
    (from, to): (usize, usize),
    values: Values,
    arrangement: Arrangement,
) -> Result<Option<Series>, String> {
    let (source, target) = (&form.operands[from], &form.operands[to]);
    let mut helpers: Vec<Helper> = after_root(form, from, to).into_iter().collect();
    if !is_direct(form, from, to) {
        let needs = Needs::new(form);
        let is_address = form.shape == Shape::Memory && source.slot == Slot::Base;
        helpers = if is_address {
            path_to_address(target.file, needs)
        } else {
            path(target.file, source.file, needs)
        };
        if helpers.is_empty() {
            return Ok(None);
        }
    }
    if arrangement == Arrangement::OtherBase {
        helpers.iter_mut().for_each(|helper| helper.base = OTHER_BASE);
    }
    let copies: Vec<Vec<Instruction>> = (0..period(form, Purpose::Chain))
        .map(|copy| arranged_copy(form, arrangement, copy, chained(form, from, to, &helpers, copy)))
        .collect();
    let edge = |form: &Form, from: usize, to: usize| Edge {
        form: form.name.clone(),
        from: form.operands[from].label.clone(),
        to: form.operands[to].label.clone(),
    };
    let own_edge = [edge(form, from, to)].into_iter();
    let edges = own_edge
        .chain(
            helpers.iter().map(|helper| edge(&helper.form, helper.operands.0, helper.operands.1)),
        )
        .collect();
    made(form, Quantity::Latency(edges), values, arrangement, &copies).map(Some)
}

/// A copy of a chain that uses memory in this way.
fn arranged_copy(
    form: &Form,
    arrangement: Arrangement,
    copy: usize,
    mut instructions: Vec<Instruction>,
) -> Vec<Instruction> {
    match arrangement {
        // A form that reads what it wrote has no helper: its copies take turns.
        Arrangement::OtherBase if form.loads() && copy % 2 == 1 => {
            instructions.iter_mut().for_each(|one| *one = with_base(*one, OTHER_BASE));
        }
        Arrangement::JustStored => {
            let file = form
                .operands
                .iter()
                .find(|operand| operand.writes)
                .map_or(File::General, |operand| operand.file);
            let number = constant(file).first().copied().unwrap_or(0);
            let store = path(file, File::Memory, Needs::new(form))
                .first()
                .map(|store| store.place(number, reserved(form, File::Memory)[0]));
            instructions.splice(0..0, store);
        }
        _ => {}
    }
    instructions
}

/// Whether the target of one copy can be the source of the next.
fn is_direct(form: &Form, from: usize, to: usize) -> bool {
    let (source, target) = (&form.operands[from], &form.operands[to]);
    if form.shape == Shape::Memory && source.slot == Slot::Base {
        // The word in the buffer is its address.
        return form.code == Code::Mov_r64_rm64;
    }
    from == to
        || form.shape == Shape::Same
        || source.file == target.file && source.fixed().is_none() && target.fixed().is_none()
}

/// One copy of a chain.
fn chained(
    form: &Form,
    from: usize,
    to: usize,
    helpers: &[Helper],
    copy: usize,
) -> Vec<Instruction> {
    let mut numbers = rotated(form, Purpose::Chain, copy);
    let rotating = rotation(form, Purpose::Chain, to);
    let at = |copy: usize| rotating[copy % rotating.len().max(1)];
    let fixed = |operand: usize| form.operands[operand].fixed();
    // A form that also writes its place uses others in turn, so that no copy waits for the place of
    // the one before.
    if let Some(place) = form.memory().filter(|_| !(form.loads() && form.stores())) {
        numbers[place] = reserved(form, File::Memory)[0];
    }
    if form.shape == Shape::Same {
        numbers.fill(at(0));
    } else if from == to && fixed(to).is_none() && form.operands[to].file != File::Flags {
        numbers[to] = at(0);
    } else if helpers.is_empty() && from != to {
        (numbers[to], numbers[from]) = (at(copy), at(copy + rotating.len() - 1));
    }
    let mut instructions = Vec::new();
    if !helpers.is_empty() {
        let source = fixed(from).unwrap_or(reserved(form, form.operands[from].file)[0]);
        numbers[from] = source;
        if helpers.iter().all(Helper::is_in_place) {
            numbers[to] = source;
        }
        instructions.push(form.place(&numbers));
        let mut value = fixed(to).unwrap_or(numbers[to]);
        for (step, helper) in helpers.iter().enumerate() {
            let target = if helper.is_in_place() {
                value
            } else if step + 1 == helpers.len() {
                source
            } else {
                reserved(form, helper.target())[1]
            };
            instructions.push(helper.place(value, target));
            value = target;
        }
    } else {
        instructions.push(form.place(&numbers));
    }
    instructions
}

/// Independent copies.
fn throughput(form: &Form, arrangement: Arrangement) -> Result<Series, String> {
    let (mut before, mut names) = (Vec::new(), Vec::new());
    for operand in form.operands.iter().filter(|operand| operand.reads && operand.writes) {
        match (operand.slot, operand.fixed()) {
            (Slot::Flags, _) => {
                before.extend(placed(Code::Test_rm64_r64, &[15, 15, 0]));
                names.push("test r64, r64".to_owned());
            }
            (_, Some(number)) if operand.file == File::General => {
                let source = if number == 2 { 14 } else { 15 };
                before.extend(placed(Code::Mov_r64_rm64, &[number, source]));
                names.push("mov r64, r64".to_owned());
            }
            _ => {}
        }
    }
    let numbers = |copy: usize| {
        let mut numbers = rotated(form, Purpose::Independent, copy);
        if let Some(place) = form.memory().filter(|_| arrangement == Arrangement::OneLine) {
            numbers[place] = in_line(copy);
        }
        numbers
    };
    let copy = |copy: usize| before.iter().copied().chain([form.place(&numbers(copy))]).collect();
    let copies: Vec<Vec<Instruction>> = (0..period(form, Purpose::Independent)).map(copy).collect();
    made(form, Quantity::Throughput(names), Values::Ordinary, arrangement, &copies)
}

fn placed(code: Code, numbers: &[u8]) -> Option<Instruction> {
    Form::new(code, Shape::Registers, "").ok().map(|form| form.place(numbers))
}

/// Copies after which the registers repeat.
fn period(form: &Form, purpose: Purpose) -> usize {
    let lengths: Vec<usize> = (0..form.operands.len())
        .map(|at| rotation(form, purpose, at).len())
        .filter(|length| *length > 0)
        .collect();
    // Operands of different files may rotate through different numbers of registers.
    lengths.into_iter().fold(1, least_common_multiple)
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let mut multiple = a;
    while multiple % b != 0 {
        multiple += a;
    }
    multiple
}

/// Register numbers of a copy whose written operands rotate, and whose other operands keep their
/// values.
fn rotated(form: &Form, purpose: Purpose, copy: usize) -> Vec<u8> {
    let mut used = Vec::new();
    let mut number = |at: usize| {
        let operand = &form.operands[at];
        let rotating = rotation(form, purpose, at);
        if form.shape == Shape::Same {
            let first = rotation(form, purpose, 0);
            let rotating = first.get(copy % first.len().max(1)).or(constant(operand.file).first());
            return rotating.copied().unwrap_or(0);
        }
        if let Some(number) =
            operand.fixed().or_else(|| rotating.get(copy % rotating.len().max(1)).copied())
        {
            return number;
        }
        if form.divides_integers() {
            return DIVISOR;
        }
        if form.shape == Shape::Memory && operand.slot == Slot::Base {
            return BASE;
        }
        let taken_registers = used.iter().filter(|file| **file == operand.file).count();
        used.push(operand.file);
        let all = constant(operand.file);
        all.get(taken_registers % all.len().max(1)).copied().unwrap_or(0)
    };
    (0..form.operands.len()).map(&mut number).collect()
}

/// The registers that a written operand rotates through; none if it has no choice or is not
/// written. Operands of the same file share the registers that are neither fixed nor reserved.
/// Places in memory also rotate if they are only read.
fn rotation(form: &Form, purpose: Purpose, at: usize) -> Vec<u8> {
    let operand = &form.operands[at];
    if operand.file == File::Flags {
        return Vec::new();
    }
    let changes = |other: &Operand| other.writes || other.file == File::Memory;
    let rotates =
        |other: &Operand| changes(other) && other.fixed().is_none() && other.file == operand.file;
    if !rotates(operand) {
        return Vec::new();
    }
    let mut free = free(form, operand.file);
    match purpose {
        Purpose::Chain => free.truncate(free.len() - HELPERS),
        Purpose::Independent if form.code.encoding() == EncodingKind::EVEX => {
            free.extend(further(operand.file))
        }
        Purpose::Independent => {}
    }
    let sharing = form.operands.iter().filter(|other| rotates(other)).count();
    let before = form.operands[..at].iter().filter(|other| rotates(other)).count();
    let share = free.len() / sharing;
    free[before * share..(before + 1) * share].to_vec()
}

/// Two registers that helpers may use.
fn reserved(form: &Form, file: File) -> [u8; HELPERS] {
    let free = free(form, file);
    match free.len() {
        0 | 1 => [0; HELPERS],
        length => [free[length - 1], free[length - 2]],
    }
}

/// General registers whose use as a base is encoded with a displacement (RBP, R13), which makes an
/// address of two parts one of three: on some cores it takes a cycle more.
const DISPLACED_BASES: [u8; 2] = [5, 13];

/// Registers that change and that no operand is bound to.
fn free(form: &Form, file: File) -> Vec<u8> {
    let bound = |number: &u8| {
        form.operands.iter().any(|operand| operand.file == file && operand.fixed() == Some(*number))
    };
    let divisor = |number: &u8| form.divides_integers() && *number == DIVISOR;
    let pointer = |number: &u8| {
        form.shape == Shape::Memory && file == File::General && [ZERO, OTHER_BASE].contains(number)
    };
    let displaced = |number: &u8| {
        matches!(form.shape, Shape::Address { displacement: 0, .. })
            && DISPLACED_BASES.contains(number)
    };
    let is_free =
        |number: &u8| !(bound(number) || divisor(number) || pointer(number) || displaced(number));
    changing(file).iter().copied().filter(is_free).collect()
}

fn made(
    form: &Form,
    quantity: Quantity,
    values: Values,
    arrangement: Arrangement,
    copies: &[Vec<Instruction>],
) -> Result<Series, String> {
    let copies: Vec<Vec<u8>> = copies
        .iter()
        .map(|copy| encode(copy))
        .collect::<Result<_, _>>()
        .map_err(|error| format!("{}: {error}", form.name))?;
    let registers = Rc::new(registers(form, values));
    let (vectors, buffer) = (form.vectors(), buffer(form, values));
    Ok(Series {
        form: form.name.clone(),
        quantity,
        values,
        arrangement,
        copies,
        registers,
        vectors,
        buffer,
    })
}

#[cfg(test)]
mod tests;
