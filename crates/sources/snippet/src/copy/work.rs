//! The multiplications and divisions of a copy, counted in its machine code.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// The operations in one copy of straight-line code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    multiplications: Count,
    divisions: Count,
    /// Whether it branches: then an instruction may run never or several times.
    pub branches: bool,
    /// Whether it calls a function that was not followed.
    pub calls: bool,
    /// Whether a multiplication gives a result of twice the width: without optimisation it may be made of several.
    wide: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Count {
    /// Operations without a constant operand: those with one may be part of an address, or be done by shifts.
    of_values: u32,
    all: u32,
}

/// Operations that occur less often in the compiled copy than in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// Their name.
    pub operation: &'static str,
    /// How many there are in the copy.
    pub copy: u32,
    /// How many there are in the source.
    pub source: u32,
}

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

    /// Whether every instruction runs, and runs once.
    pub fn is_straight(&self) -> bool {
        !self.branches && !self.calls
    }

    /// What the compiler removed compared with the same code without optimisation. Only straight-line code is compared,
    /// where every instruction runs once.
    pub fn lost(&self, plain: &Work) -> Vec<Lost> {
        if !self.is_straight() || !plain.is_straight() || plain.wide {
            return Vec::new();
        }
        let of = |operation, copy: Count, source: Count| Lost { operation, copy: copy.all, source: source.of_values };
        let both = [of("multiplication", self.multiplications, plain.multiplications), of("division", self.divisions, plain.divisions)];
        both.into_iter().filter(|lost| lost.copy < lost.source).collect()
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
