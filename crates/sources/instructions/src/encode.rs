//! Machine code of instructions, checked by decoding it again.

use iced_x86::{Decoder, DecoderOptions, Encoder, Instruction};

/// Where code is encoded for: no instruction depends on its address.
const ADDRESS: u64 = 0x1000;

/// The machine code of instructions.
///
/// # Errors
/// An instruction that cannot be encoded, or that is decoded as another one.
pub fn encode(instructions: &[Instruction]) -> Result<Vec<u8>, String> {
    let mut encoder = Encoder::new(64);
    for instruction in instructions {
        encoder
            .encode(instruction, ADDRESS)
            .map_err(|error| format!("{:?}: {error}", instruction.code()))?;
    }
    let bytes = encoder.take_buffer();
    let decoded: Vec<Instruction> =
        Decoder::with_ip(64, &bytes, ADDRESS, DecoderOptions::NONE).iter().collect();
    let differs =
        |at: &usize| decoded.get(*at).is_none_or(|decoded| !is_same(decoded, &instructions[*at]));
    match (0..instructions.len()).find(differs) {
        Some(at) => Err(format!(
            "{:?} is decoded as {:?}",
            instructions[at].code(),
            decoded.get(at).map(Instruction::code)
        )),
        None if decoded.len() > instructions.len() => {
            Err("more instructions are decoded than were encoded".into())
        }
        None => Ok(bytes),
    }
}

/// Whether two instructions have the same code and the same operands.
fn is_same(a: &Instruction, b: &Instruction) -> bool {
    let operand = |one: &Instruction, at: u32| (one.op_kind(at), one.op_register(at));
    let address = |instruction: &Instruction| {
        (
            instruction.memory_base(),
            instruction.memory_index(),
            instruction.memory_index_scale(),
            instruction.memory_displacement64(),
        )
    };
    a.code() == b.code()
        && a.op_count() == b.op_count()
        && (0..a.op_count()).all(|at| operand(a, at) == operand(b, at))
        && address(a) == address(b)
}
