//! The copies of each series: a chain for every pair of operands, and independent copies for the throughput.

use crate::encode::encode;
use crate::form::{Form, Shape, Slot};
use crate::helper::{Helper, path};
use crate::register::{File, changing, constant};
use crate::values::{DIVISOR, Values, registers};
use hairspring_host::chains::{Registers, Vectors};
use iced_x86::{Code, EncodingKind, Instruction};
use std::rc::Rc;

/// The way of a value through an instruction, from the operand that is read to the one that is written.
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
    /// The cycles of a copy among independent ones. The names are those of instructions that each copy needs besides.
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
    /// Machine code of the copies in turn.
    pub copies: Vec<Vec<u8>>,
    /// Values of the registers.
    pub registers: Rc<Registers>,
    /// Vector registers that need values.
    pub vectors: Vectors,
}

impl Series {
    /// Machine code of this many copies.
    pub fn code(&self, copies: u32) -> Vec<u8> {
        self.copies.iter().cycle().take(copies as usize).flatten().copied().collect()
    }
}

/// Registers of each file that helpers use.
const HELPERS: usize = 2;

/// All series of a form.
///
/// # Errors
/// An instruction that cannot be encoded.
pub fn series(form: &Form) -> Result<Vec<Series>, String> {
    let chains = pairs(form).into_iter().filter_map(|pair| chain(form, pair, Values::Ordinary).transpose());
    chains.chain([throughput(form)]).collect()
}

/// The chain of the form's first pair of operands of the same file, with other values; `None` if it has no such pair.
///
/// # Errors
/// As [`series`].
pub fn with_values(form: &Form, values: Values) -> Result<Option<Series>, String> {
    let pair = pairs(form).into_iter().find(|(from, to)| form.operands[*from].file == form.operands[*to].file);
    pair.map_or(Ok(None), |pair| chain(form, pair, values))
}

/// The pairs of operands, as indexes, for which there is a chain.
fn pairs(form: &Form) -> Vec<(usize, usize)> {
    let operands = &form.operands;
    let all = (0..operands.len()).flat_map(|to| (0..operands.len()).map(move |from| (from, to)));
    let possible: Vec<(usize, usize)> = all.filter(|(from, to)| operands[*from].reads && operands[*to].writes).collect();
    match form.shape {
        Shape::Same => possible.into_iter().filter(|(_, to)| operands[*to].file != File::Flags).take(1).collect(),
        _ => possible.into_iter().filter(|pair| is_possible(form, *pair)).collect(),
    }
}

fn is_possible(form: &Form, (from, to): (usize, usize)) -> bool {
    let (source, target) = (&form.operands[from], &form.operands[to]);
    if form.divides_integers() {
        return source.label == "rax" && target.label == "rax";
    }
    // An exchange leaves nothing of a register in that register.
    if from == to && (form.code == Code::Xchg_rm64_r64 || form.code == Code::Xadd_rm64_r64 && source.label == "2") {
        return false;
    }
    // A quotient of quotients leaves the range of ordinary numbers.
    let is_legacy_division =
        matches!(form.code, Code::Divsd_xmm_xmmm64 | Code::Divss_xmm_xmmm32 | Code::Divpd_xmm_xmmm128 | Code::Divps_xmm_xmmm128);
    if is_legacy_division && from != to {
        return false;
    }
    // A source that is written as well carries the value by itself, whatever the flags do.
    target.file != File::Flags || source.file == File::Flags || !source.writes && form.defined_flags() != 0
}

/// The chain from one operand to another.
fn chain(form: &Form, (from, to): (usize, usize), values: Values) -> Result<Option<Series>, String> {
    let (source, target) = (&form.operands[from], &form.operands[to]);
    let helpers = if is_direct(form, from, to) {
        Vec::new()
    } else {
        let vex = form.code.encoding() != EncodingKind::Legacy;
        let helpers = path(target.file, source.file, vex, form.defined_flags());
        if helpers.is_empty() {
            return Ok(None);
        }
        helpers
    };
    let copies: Vec<Vec<Instruction>> = (0..period(form)).map(|copy| chained(form, (from, to), &helpers, copy)).collect();
    let edge = |form: &Form, from: usize, to: usize| Edge {
        form: form.name.clone(),
        from: form.operands[from].label.clone(),
        to: form.operands[to].label.clone(),
    };
    let own = [edge(form, from, to)].into_iter();
    let edges = own.chain(helpers.iter().map(|helper| edge(&helper.form, helper.operands.0, helper.operands.1))).collect();
    made(form, Quantity::Latency(edges), values, &copies).map(Some)
}

/// Whether the target of one copy can be the source of the next.
fn is_direct(form: &Form, from: usize, to: usize) -> bool {
    let (source, target) = (&form.operands[from], &form.operands[to]);
    from == to || form.shape == Shape::Same || source.file == target.file && source.fixed().is_none() && target.fixed().is_none()
}

/// One copy of a chain.
fn chained(form: &Form, (from, to): (usize, usize), helpers: &[Helper], copy: usize) -> Vec<Instruction> {
    let mut numbers = rotated(form, copy);
    let rotating = rotation(form, to);
    let at = |copy: usize| rotating[copy % rotating.len().max(1)];
    let fixed = |operand: usize| form.operands[operand].fixed();
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
        instructions.push(form.place(&numbers));
        let mut value = fixed(to).unwrap_or(numbers[to]);
        for (step, helper) in helpers.iter().enumerate() {
            let target = if step + 1 == helpers.len() { source } else { reserved(form, helper.target())[1] };
            instructions.push(helper.place(value, target));
            value = target;
        }
    } else {
        instructions.push(form.place(&numbers));
    }
    instructions
}

/// Independent copies.
fn throughput(form: &Form) -> Result<Series, String> {
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
    let copy = |copy: usize| before.iter().copied().chain([form.place(&rotated(form, copy))]).collect();
    let copies: Vec<Vec<Instruction>> = (0..period(form)).map(copy).collect();
    made(form, Quantity::Throughput(names), Values::Ordinary, &copies)
}

fn placed(code: Code, numbers: &[u8]) -> Option<Instruction> {
    Form::new(code, Shape::Registers, "").ok().map(|form| form.place(numbers))
}

/// Copies after which the registers repeat.
fn period(form: &Form) -> usize {
    let written = |at: &usize| form.operands[*at].writes && form.operands[*at].fixed().is_none();
    let lengths: Vec<usize> =
        (0..form.operands.len()).filter(written).map(|at| rotation(form, at).len()).filter(|length| *length > 0).collect();
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

/// Register numbers of a copy whose written operands rotate, and whose other operands keep their values.
fn rotated(form: &Form, copy: usize) -> Vec<u8> {
    let mut used = Vec::new();
    let mut number = |at: usize| {
        let operand = &form.operands[at];
        let rotating = rotation(form, at);
        if form.shape == Shape::Same {
            let first = rotation(form, 0);
            let rotating = first.get(copy % first.len().max(1)).or(constant(operand.file).first());
            return rotating.copied().unwrap_or(0);
        }
        if let Some(number) = operand.fixed().or_else(|| rotating.get(copy % rotating.len().max(1)).copied()) {
            return number;
        }
        if form.divides_integers() {
            return DIVISOR;
        }
        let taken = used.iter().filter(|file| **file == operand.file).count();
        used.push(operand.file);
        let all = constant(operand.file);
        all.get(taken % all.len().max(1)).copied().unwrap_or(0)
    };
    (0..form.operands.len()).map(&mut number).collect()
}

/// The registers that a written operand rotates through; none if it has no choice or is not written. Operands of the same
/// file share the registers that are neither fixed nor reserved.
fn rotation(form: &Form, at: usize) -> Vec<u8> {
    let operand = &form.operands[at];
    if operand.file == File::Flags {
        return Vec::new();
    }
    let rotates = |other: &crate::form::Operand| other.writes && other.fixed().is_none() && other.file == operand.file;
    if !rotates(operand) {
        return Vec::new();
    }
    let free = free(form, operand.file);
    let free = &free[..free.len() - HELPERS];
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

/// Registers that change and that no operand is bound to.
fn free(form: &Form, file: File) -> Vec<u8> {
    let bound = |number: &u8| form.operands.iter().any(|operand| operand.file == file && operand.fixed() == Some(*number));
    let divisor = |number: &u8| form.divides_integers() && *number == DIVISOR;
    changing(file).iter().copied().filter(|number| !bound(number) && !divisor(number)).collect()
}

fn made(form: &Form, quantity: Quantity, values: Values, copies: &[Vec<Instruction>]) -> Result<Series, String> {
    let copies: Vec<Vec<u8>> =
        copies.iter().map(|copy| encode(copy)).collect::<Result<_, _>>().map_err(|error| format!("{}: {error}", form.name))?;
    let registers = Rc::new(registers(form, values));
    Ok(Series { form: form.name.clone(), quantity, values, copies, registers, vectors: form.vectors() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::all;
    use crate::helper::path;
    use iced_x86::{Decoder, DecoderOptions, InstructionInfoFactory, OpAccess, Register};
    use std::collections::HashMap;

    fn form(name: &str) -> Form {
        all().into_iter().find(|form| form.name == name).unwrap_or_else(|| panic!("no {name}"))
    }

    fn edges(series: &Series) -> Vec<String> {
        match &series.quantity {
            Quantity::Latency(edges) => edges.iter().map(|edge| format!("{} {}>{}", edge.form, edge.from, edge.to)).collect(),
            Quantity::Throughput(with) => vec![format!("throughput {}", with.join(", ")).trim_end().to_owned()],
        }
    }

    fn all_edges(name: &str) -> Vec<Vec<String>> {
        series(&form(name)).unwrap().iter().map(edges).collect()
    }

    #[test]
    fn every_form_has_a_throughput_and_all_its_series_can_be_encoded() {
        for form in all() {
            let all = series(&form).unwrap_or_else(|error| panic!("{error}"));
            assert!(all.iter().filter(|one| matches!(one.quantity, Quantity::Throughput(_))).count() == 1, "{}", form.name);
            assert!(all.iter().all(|one| !one.copies.is_empty() && one.copies.iter().all(|copy| !copy.is_empty())), "{}", form.name);
            for values in Values::special(form.element) {
                with_values(&form, *values).unwrap();
            }
        }
    }

    #[test]
    fn pairs_in_other_files_have_helpers_and_flags_are_apart() {
        assert_eq!(
            all_edges("add r64, r64"),
            [
                vec!["add r64, r64 1>1"],
                vec!["add r64, r64 2>1"],
                vec!["add r64, r64 2>flags", "cmovb r64, r64 flags>1"],
                vec!["throughput"]
            ]
        );
        assert_eq!(all_edges("movq xmm, r64"), [vec!["movq xmm, r64 2>1", "movq r64, xmm 2>1"], vec!["throughput"]]);
        assert_eq!(all_edges("vaddpd ymm, ymm, ymm").len(), 3);
        assert!(all_edges("adc r64, r64").contains(&vec!["adc r64, r64 flags>flags".to_owned()]));
        assert!(all_edges("adc r64, r64").contains(&vec!["throughput test r64, r64".to_owned()]));
        let compared = all_edges("comisd xmm, xmm");
        assert!(compared[0] == ["comisd xmm, xmm 1>flags", "cmovb r64, r64 flags>1", "movq xmm, r64 2>1"], "{compared:?}");
        assert_eq!(all_edges("div r64"), [vec!["div r64 rax>rax"], vec!["throughput mov r64, r64, mov r64, r64"]]);
        assert!(all_edges("shl r64, cl").contains(&vec!["shl r64, cl cl>1".to_owned(), "movsxd r64, r32 2>1".to_owned()]));
        assert!(path(File::Mask, File::Flags, true, 0).len() == 2 && path(File::Flags, File::Vector, true, 0).is_empty());
    }

    /// The longest way of values through the copies, by counting one for each instruction: what is read after it was written.
    fn longest_way(series: &Series, copies: u32) -> usize {
        let code = series.code(copies);
        let (mut depth, mut factory, mut longest) = (HashMap::new(), InstructionInfoFactory::new(), 0);
        for instruction in Decoder::with_ip(64, &code, 0, DecoderOptions::NONE).iter() {
            let info = factory.info(&instruction);
            // A write of a part of a general register keeps the rest.
            let merges = |register: Register| register.is_gpr8() || register.is_gpr16();
            let reads = |access| !matches!(access, OpAccess::Write | OpAccess::NoMemAccess | OpAccess::None);
            let read = info.used_registers().iter().filter(|used| reads(used.access()) || merges(used.register()));
            let read: Vec<Register> = read.map(|used| used.register().full_register()).collect();
            let before = read.iter().filter_map(|register| depth.get(register)).max().copied().unwrap_or(0);
            let before = if instruction.rflags_read() != 0 { before.max(*depth.get(&Register::None).unwrap_or(&0)) } else { before };
            for used in info.used_registers().iter().filter(|used| !matches!(used.access(), OpAccess::Read | OpAccess::CondRead)) {
                depth.insert(used.register().full_register(), before + 1);
            }
            if instruction.rflags_modified() != 0 {
                depth.insert(Register::None, before + 1);
            }
            longest = longest.max(before + 1);
        }
        longest
    }

    #[test]
    fn copies_of_a_chain_depend_on_each_other_and_independent_copies_do_not() {
        const COPIES: u32 = 44;
        for form in all().iter().filter(|form| form.shape != Shape::Same) {
            for series in series(form).unwrap() {
                let way = longest_way(&series, COPIES);
                match &series.quantity {
                    Quantity::Latency(edges) => assert!(way >= edges.len() * COPIES as usize, "{} {edges:?}: {way}", form.name),
                    // Written registers come back after several copies.
                    Quantity::Throughput(_) => assert!(way <= COPIES as usize / 4 + 3, "{}: {way}", form.name),
                }
            }
        }
    }
}
