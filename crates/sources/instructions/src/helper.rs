//! Instructions that carry a value from one register file back to another, so that a chain closes.

use crate::form::{Form, Shape};
use crate::register::{File, constant};
use iced_x86::{Code, Instruction, RflagsBits};

/// A step of a chain from a register to another one.
#[derive(Debug, Clone)]
pub struct Helper {
    /// Its form.
    pub form: Form,
    /// The operand that it reads the value from, and the one that it writes it to, as indexes.
    pub operands: (usize, usize),
}

/// The steps from one file to another, in the encoding of the form that they serve. `defined` are the flags that the form
/// defines. Empty if there is no way.
pub fn path(from: File, to: File, vex: bool, defined: u32) -> Vec<Helper> {
    let step = |from, to| step(from, to, vex, defined);
    if from == to || from == File::General || to == File::General {
        return step(from, to).into_iter().collect();
    }
    match (step(from, File::General), step(File::General, to)) {
        (Some(first), Some(second)) => vec![first, second],
        _ => Vec::new(),
    }
}

fn step(from: File, to: File, vex: bool, defined: u32) -> Option<Helper> {
    let code = match (from, to) {
        // It needs an execution unit, unlike a plain move.
        (File::General, File::General) => Code::Movsxd_r64_rm32,
        (File::Vector, File::Vector) if vex => Code::VEX_Vpshufd_xmm_xmmm128_imm8,
        (File::Vector, File::Vector) => Code::Pshufd_xmm_xmmm128_imm8,
        (File::General, File::Vector) if vex => Code::VEX_Vmovq_xmm_rm64,
        (File::General, File::Vector) => Code::Movq_xmm_rm64,
        (File::Vector, File::General) if vex => Code::VEX_Vmovq_rm64_xmm,
        (File::Vector, File::General) => Code::Movq_rm64_xmm,
        (File::General, File::Mask) => Code::VEX_Kmovq_kr_r64,
        (File::Mask, File::General) => Code::VEX_Kmovq_r64_kr,
        (File::General, File::Flags) => Code::Cmp_r64_rm64,
        (File::Flags, File::General) => conditional_move(defined)?,
        _ => return None,
    };
    let form = Form::new(code, Shape::Registers, "").ok()?;
    let place = |wanted: File, is_target: bool| {
        form.operands.iter().position(|operand| operand.file == wanted && if is_target { operand.writes } else { operand.reads })
    };
    // A conditional move reads its target too, but the value comes from the flags.
    let operands = (place(from, false)?, place(to, true)?);
    let operands =
        if from == to { (form.operands.iter().position(|operand| operand.reads && !operand.writes)?, operands.1) } else { operands };
    Some(Helper { form, operands })
}

/// The move on a flag that is defined.
fn conditional_move(defined: u32) -> Option<Code> {
    let moves = [
        (RflagsBits::CF, Code::Cmovb_r64_rm64),
        (RflagsBits::ZF, Code::Cmove_r64_rm64),
        (RflagsBits::OF, Code::Cmovo_r64_rm64),
        (RflagsBits::SF, Code::Cmovs_r64_rm64),
    ];
    moves.into_iter().find(|(flag, _)| defined & flag != 0).map(|(_, code)| code)
}

impl Helper {
    /// The instruction that carries the value from one register to another.
    pub fn place(&self, from: u8, to: u8) -> Instruction {
        let numbers: Vec<u8> = (0..self.form.operands.len())
            .map(|at| {
                if at == self.operands.1 {
                    to
                } else if at == self.operands.0 {
                    from
                } else {
                    constant(self.form.operands[at].file).first().copied().unwrap_or(0)
                }
            })
            .collect();
        self.form.place(&numbers)
    }

    /// The file that the value arrives in.
    pub fn target(&self) -> File {
        self.form.operands[self.operands.1].file
    }
}
