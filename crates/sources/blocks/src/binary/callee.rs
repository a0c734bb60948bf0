//! Names of called functions.

use super::code::Code;
use super::image::Image;
use iced_x86::{FlowControl, Instruction, OpKind};

/// Longest stub of the procedure linkage table.
const STUB: u64 = 16;

/// Name of the function that a call, or a jump out of a function, leads to; `None` if the target is
/// computed.
///
/// Functions of other libraries are called through a slot that the loader fills: directly, or by a
/// stub that jumps through it.
pub fn callee(image: &Image, instruction: &Instruction) -> Option<String> {
    if let Some(slot) = slot(instruction) {
        return image.slot_name(slot).map(str::to_owned);
    }
    if !matches!(
        instruction.op0_kind(),
        OpKind::NearBranch64 | OpKind::NearBranch32 | OpKind::NearBranch16
    ) {
        return None;
    }
    let to = instruction.near_branch_target();
    let named = image.name_of(to).or_else(|| behind_stub(image, to).map(str::to_owned));
    Some(named.unwrap_or_else(|| format!("{to:#x}")))
}

/// The slot that an instruction jumps or calls through, if it is a fixed one.
fn slot(instruction: &Instruction) -> Option<u64> {
    let indirect = matches!(
        instruction.flow_control(),
        FlowControl::IndirectCall | FlowControl::IndirectBranch
    );
    (indirect && instruction.is_ip_rel_memory_operand())
        .then(|| instruction.ip_rel_memory_address())
}

/// The function that a stub jumps to: its first jump goes through a slot.
fn behind_stub(image: &Image, stub: u64) -> Option<&str> {
    let code = Code::new(vec![(stub, image.bytes(&(stub..stub.checked_add(STUB)?)).ok()?)]);
    let mut at = stub;
    while let Some(instruction) = code.decode(at) {
        match instruction.flow_control() {
            FlowControl::Next => at = instruction.next_ip(),
            _ => return image.slot_name(slot(&instruction)?),
        }
    }
    None
}
