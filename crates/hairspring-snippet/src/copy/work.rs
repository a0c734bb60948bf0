//! How much a copy does, counted in its machine code.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// What stands in a copy of straight-line code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Multiplications of two values of which neither is a constant.
    pub products: u32,
    /// All multiplications.
    pub multiplications: u32,
    /// Divisions by values that are no constants.
    pub quotients: u32,
    /// All divisions.
    pub divisions: u32,
    /// Whether it branches: then what stands there need not run, or runs more than once.
    pub branches: bool,
    /// Whether it calls what was not followed.
    pub calls: bool,
}

impl Work {
    /// Counts an instruction; `on_values` tells that no operand of it is a constant.
    pub fn count(&mut self, i: &Instruction, on_values: bool) {
        if is_multiplication(i) {
            self.multiplications += lanes(i);
            self.products += if on_values && !has_immediate(i) { lanes(i) } else { 0 };
        } else if is_division(i) {
            self.divisions += lanes(i);
            self.quotients += if on_values { lanes(i) } else { 0 };
        }
    }
}

fn has_immediate(i: &Instruction) -> bool {
    i.op_count() > 0 && !matches!(i.op_kind(i.op_count() - 1), OpKind::Register | OpKind::Memory)
}

fn is_multiplication(i: &Instruction) -> bool {
    use Mnemonic::*;
    let name = || format!("{:?}", i.mnemonic());
    matches!(
        i.mnemonic(),
        Imul | Mul | Mulx | Mulss | Mulsd | Mulps | Mulpd | Vmulss | Vmulsd | Vmulps | Vmulpd | Pmulld | Vpmulld | Pmullw | Vpmullw | Pmuludq | Vpmuludq | Pmuldq | Vpmuldq | Vpmullq
    ) || name().starts_with("Vfm") || name().starts_with("Vfnm")
}

fn is_division(i: &Instruction) -> bool {
    use Mnemonic::*;
    matches!(i.mnemonic(), Div | Idiv | Divss | Divsd | Divps | Divpd | Vdivss | Vdivsd | Vdivps | Vdivpd)
}

/// How many numbers an instruction works on at once.
fn lanes(i: &Instruction) -> u32 {
    let name = format!("{:?}", i.mnemonic()).to_lowercase();
    let register = (0..i.op_count()).find(|at| i.op_kind(*at) == OpKind::Register).map_or(Register::None, |at| i.op_register(at));
    let bytes = if register.is_vector_register() { register.size() as u32 } else { 0 };
    match () {
        () if bytes == 0 || name.ends_with("ss") || name.ends_with("sd") => 1,
        () if name.ends_with("pd") || name.ends_with('q') => bytes / 8,
        () if name.ends_with('w') => bytes / 2,
        () => bytes / 4,
    }
}
