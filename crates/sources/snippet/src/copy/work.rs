//! The multiplications and divisions of a copy, counted in its machine code.

use super::image::Image;
use super::step::{extends, moves, writes};
use crate::copied::{LOAD, STORE, Work};
use hairspring_core::observations::Uses;
use iced_x86::{
    Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register, UsedMemory,
};

impl Work {
    /// Counts an instruction; `on_values` means that none of its operands is a constant.
    pub fn count(&mut self, i: &Instruction, on_values: bool) {
        let count = match () {
            () if is_multiplication(i) => &mut self.multiplications,
            () if is_division(i) => &mut self.divisions,
            () => return,
        };
        count.all += lanes(i);
        count.of_values += if on_values && !has_immediate(i) { lanes(i) } else { 0 };
        self.wide |= is_multiplication(i) && i.op_count() == 1;
    }
}

/// Whether a copy has instructions, and only such that move registers, constants and what the
/// compiler keeps on the stack.
pub fn only_moves(image: &Image, all: &[Instruction]) -> bool {
    !all.is_empty() && all.iter().all(|one| keeps(one) && !reads_variable(image, one))
}

/// Whether instructions write memory other than the stack: calls write their return addresses, and
/// compilers keep values there.
pub fn stores(instructions: &[Instruction]) -> bool {
    let is_stack = |base: Register| matches!(base, Register::RSP | Register::RBP);
    let mut factory = InstructionInfoFactory::new();
    instructions.iter().any(|instruction| {
        factory
            .info(instruction)
            .used_memory()
            .iter()
            .any(|used| writes(used.access()) && !is_stack(used.base()))
    })
}

/// What an instruction takes from another library.
pub fn import<'i>(image: &'i Image, i: &Instruction) -> Option<&'i str> {
    i.is_ip_rel_memory_operand().then(|| image.import(i.ip_rel_memory_address())).flatten()
}

/// The kinds of units that instructions use, by the names that chains have for them, and how many
/// instructions use each.
pub fn uses(instructions: &[Instruction]) -> Uses {
    let (mut uses, mut factory) = (Uses::new(), InstructionInfoFactory::new());
    for unit in instructions.iter().flat_map(|one| units(one, &mut factory)) {
        match uses.iter_mut().find(|(known, _)| known == unit) {
            Some((_, number)) => *number += 1,
            None => uses.push((unit.to_owned(), 1)),
        }
    }
    uses
}

/// The kinds of units that an instruction uses.
fn units(i: &Instruction, factory: &mut InstructionInfoFactory) -> Vec<&'static str> {
    use OpAccess::{CondRead, Read, ReadCondWrite, ReadWrite};
    let accesses: Vec<OpAccess> =
        factory.info(i).used_memory().iter().map(UsedMemory::access).collect();
    let stores = accesses.iter().any(|access| writes(*access));
    let loads =
        accesses.iter().any(|access| matches!(access, Read | CondRead | ReadWrite | ReadCondWrite));
    let is_vector = (0..i.op_count())
        .any(|at| i.op_kind(at) == OpKind::Register && is_float(i.op_register(at)));
    let computes = match () {
        () if is_division(i) || is_root(i) => Some("divide"),
        () if is_vector => Some("float"),
        () if is_multiplication(i) => Some("multiply"),
        // Instructions that only move to or from memory need its units alone.
        () if i.mnemonic() == Mnemonic::Nop || moves(i) && (stores || loads) => None,
        () => Some("simple"),
    };
    computes.into_iter().chain(loads.then_some(LOAD)).chain(stores.then_some(STORE)).collect()
}

fn is_float(register: Register) -> bool {
    register.is_vector_register() || register.is_st() || register.is_mm()
}

fn is_root(i: &Instruction) -> bool {
    format!("{:?}", i.mnemonic()).contains("sqrt")
}

/// Whether an instruction reads memory at a known address that the code can write to. A copy of
/// memory consists of such reads and of stores, and does its work in each copy.
fn reads_variable(image: &Image, i: &Instruction) -> bool {
    let has_address =
        matches!(i.memory_base(), Register::None | Register::RIP) && i.memory_displacement64() > 0;
    let reads = (1..i.op_count()).any(|at| i.op_kind(at) == OpKind::Memory);
    reads && has_address && !image.is_constant(i.memory_displacement64())
}

/// Whether an instruction computes nothing, and reads no memory but at known addresses and on the
/// stack.
fn keeps(i: &Instruction) -> bool {
    let zeroes = matches!(
        i.mnemonic(),
        Mnemonic::Xor | Mnemonic::Pxor | Mnemonic::Xorps | Mnemonic::Vpxor | Mnemonic::Vxorps
    ) && i.op_register(0) == i.op_register(1);
    let is_base =
        matches!(i.memory_base(), Register::None | Register::RIP | Register::RSP | Register::RBP);
    (moves(i) || extends(i) || zeroes || matches!(i.mnemonic(), Mnemonic::Cdqe | Mnemonic::Nop))
        && is_base
        && i.memory_index() == Register::None
}

fn has_immediate(i: &Instruction) -> bool {
    i.op_count() > 0 && !matches!(i.op_kind(i.op_count() - 1), OpKind::Register | OpKind::Memory)
}

fn is_multiplication(i: &Instruction) -> bool {
    use Mnemonic::*;
    let name = || format!("{:?}", i.mnemonic());
    matches!(
        i.mnemonic(),
        Imul | Mul
            | Mulx
            | Mulss
            | Mulsd
            | Mulps
            | Mulpd
            | Vmulss
            | Vmulsd
            | Vmulps
            | Vmulpd
            | Pmulld
            | Vpmulld
            | Pmullw
            | Vpmullw
            | Pmuludq
            | Vpmuludq
            | Pmuldq
            | Vpmuldq
            | Vpmullq
    ) || name().starts_with("Vfm")
        || name().starts_with("Vfnm")
}

fn is_division(i: &Instruction) -> bool {
    use Mnemonic::*;
    matches!(
        i.mnemonic(),
        Div | Idiv | Divss | Divsd | Divps | Divpd | Vdivss | Vdivsd | Vdivps | Vdivpd
    )
}

/// How many numbers an instruction works on at once.
fn lanes(i: &Instruction) -> u32 {
    let name = format!("{:?}", i.mnemonic()).to_lowercase();
    let register = (0..i.op_count())
        .find(|at| i.op_kind(*at) == OpKind::Register)
        .map_or(Register::None, |at| i.op_register(at));
    let bytes = if register.is_vector_register() { register.size() as u32 } else { 0 };
    match () {
        () if bytes == 0 || name.ends_with("ss") || name.ends_with("sd") => 1,
        () if name.ends_with("pd") || name.ends_with('q') => bytes / 8,
        () if name.ends_with('w') => bytes / 2,
        () => bytes / 4,
    }
}
