//! Instructions that carry a value from one register file back to another, so that a chain closes.

use crate::form::{Form, Shape, Slot};
use crate::memory::{BASE, ZERO, plain_move, with_base};
use crate::register::{File, constant};
use iced_x86::{Code, EncodingKind, Instruction, RflagsBits};

/// A step of a chain from a register to another one.
#[derive(Debug, Clone)]
pub struct Helper {
    /// Its form.
    pub form: Form,
    /// The operand that it reads the value from, and the one that it writes it to, as indexes.
    pub operands: (usize, usize),
    /// The register of other operands that are general; `None` for one that keeps its value.
    other_register: Option<u8>,
    /// The register that points to the place in memory.
    pub base: u8,
}

/// What the helpers of a form depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Whether vectors are in the encoding with VEX.
    pub vex: bool,
    /// The flags that the form defines.
    pub flags: u32,
    /// Bytes of the operand in memory.
    pub bytes: usize,
}

impl Needs {
    /// Those of a form.
    pub fn new(form: &Form) -> Needs {
        Needs {
            vex: form.code.encoding() != EncodingKind::Legacy,
            flags: form.defined_flags(),
            bytes: form.memory_bytes(),
        }
    }
}

/// The steps from one file to another. Empty if there is no way.
pub fn path(from: File, to: File, needs: Needs) -> Vec<Helper> {
    let step = |from, to| step(from, to, needs);
    if let Some(direct) = step(from, to) {
        return vec![direct];
    }
    match (step(from, File::General), step(File::General, to)) {
        (Some(first), Some(second)) => vec![first, second],
        _ => Vec::new(),
    }
}

/// The steps from a file to the register of an address, which the value does not change: it is made
/// zero and added. Both take as long as they are measured to take with other values.
pub fn path_to_address(from: File, needs: Needs) -> Vec<Helper> {
    let mut helpers =
        if from == File::General { Vec::new() } else { path(from, File::General, needs) };
    if from != File::General && helpers.is_empty() {
        return helpers;
    }
    helpers.extend(integer(Code::And_r64_rm64, (0, 0), Some(ZERO)));
    helpers.extend(integer(Code::Add_r64_rm64, (1, 0), None));
    helpers
}

/// The step that keeps roots of roots from coming to one, of which some cores take a root sooner
/// than of others: a product with a number above one. They come to its square. `None` for a form
/// that takes no root, or whose operands these are not.
pub fn after_root(form: &Form, from: usize, to: usize) -> Option<Helper> {
    let (code, operands) = match form.code {
        Code::Sqrtsd_xmm_xmmm64 => (Code::Mulsd_xmm_xmmm64, (0, 0)),
        Code::Sqrtss_xmm_xmmm32 => (Code::Mulss_xmm_xmmm32, (0, 0)),
        Code::Sqrtpd_xmm_xmmm128 => (Code::Mulpd_xmm_xmmm128, (0, 0)),
        Code::Sqrtps_xmm_xmmm128 => (Code::Mulps_xmm_xmmm128, (0, 0)),
        Code::VEX_Vsqrtpd_ymm_ymmm256 => (Code::VEX_Vmulpd_ymm_ymm_ymmm256, (1, 0)),
        Code::VEX_Vsqrtps_ymm_ymmm256 => (Code::VEX_Vmulps_ymm_ymm_ymmm256, (1, 0)),
        Code::VEX_Vsqrtsd_xmm_xmm_xmmm64 => (Code::VEX_Vmulsd_xmm_xmm_xmmm64, (1, 0)),
        Code::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er => {
            (Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er, (1, 0))
        }
        _ => return None,
    };
    let is_root = form.shape == Shape::Registers && to == 0 && from + 1 == form.operands.len();
    let form = Form::new(code, Shape::Registers, "").ok().filter(|_| is_root)?;
    Some(Helper { form, operands, other_register: None, base: BASE })
}

fn integer(code: Code, operands: (usize, usize), other_register: Option<u8>) -> Option<Helper> {
    Some(Helper {
        form: Form::new(code, Shape::Registers, "").ok()?,
        operands,
        other_register,
        base: BASE,
    })
}

fn step(from: File, to: File, needs: Needs) -> Option<Helper> {
    let Needs { vex, flags, bytes } = needs;
    let code = match (from, to) {
        (File::Memory, _) | (_, File::Memory) => {
            return through_memory(plain_move(from, to, bytes, vex)?, from, to);
        }
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
        (File::Flags, File::General) => conditional_move(flags)?,
        _ => return None,
    };
    let form = Form::new(code, Shape::Registers, "").ok()?;
    let place = |wanted_file: File, is_target: bool| {
        form.operands.iter().position(|operand| {
            operand.file == wanted_file && if is_target { operand.writes } else { operand.reads }
        })
    };
    // A conditional move reads its target too, but the value comes from the flags.
    let operands = (place(from, false)?, place(to, true)?);
    let operands = if from == to {
        (form.operands.iter().position(|operand| operand.reads && !operand.writes)?, operands.1)
    } else {
        operands
    };
    Some(Helper { form, operands, other_register: None, base: BASE })
}

/// A store or a load.
fn through_memory(code: Code, from: File, to: File) -> Option<Helper> {
    let form = Form::new(code, Shape::Memory, "").ok()?;
    let place = |wanted_file: File| {
        form.operands
            .iter()
            .position(|operand| operand.file == wanted_file && operand.slot != Slot::Base)
    };
    let operands = (place(from)?, place(to)?);
    Some(Helper { form, operands, other_register: None, base: BASE })
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
    /// Whether the value stays in its register.
    pub fn is_in_place(&self) -> bool {
        self.operands.0 == self.operands.1
    }

    /// The instruction that carries the value from one register or place to another.
    pub fn place(&self, from: u8, to: u8) -> Instruction {
        let numbers: Vec<u8> = (0..self.form.operands.len())
            .map(|at| {
                if at == self.operands.1 {
                    to
                } else if at == self.operands.0 {
                    from
                } else {
                    self.other_register
                        .or(constant(self.form.operands[at].file).first().copied())
                        .unwrap_or(0)
                }
            })
            .collect();
        with_base(self.form.place(&numbers), self.base)
    }

    /// The file that the value arrives in.
    pub fn target(&self) -> File {
        self.form.operands[self.operands.1].file
    }
}
