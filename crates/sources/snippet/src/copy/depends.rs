//! Instructions whose time depends on the values that they work on.

use iced_x86::{Instruction, Mnemonic};
use std::collections::BTreeSet;

/// Names of such instructions in a copy, each once: divisions and roots, which stop early on some
/// cores when the digits of the result have run out.
pub fn on_values(all: &[Instruction]) -> Vec<String> {
    let names =
        all.iter().filter(|i| depends(i)).map(|i| format!("{:?}", i.mnemonic()).to_lowercase());
    names.collect::<BTreeSet<String>>().into_iter().collect()
}

fn depends(i: &Instruction) -> bool {
    use Mnemonic::*;
    let general =
        matches!(i.mnemonic(), Div | Idiv | Fdiv | Fdivp | Fdivr | Fdivrp | Fidiv | Fidivr | Fsqrt);
    let scalar = matches!(
        i.mnemonic(),
        Divss | Divsd | Vdivss | Vdivsd | Vdivsh | Sqrtss | Sqrtsd | Vsqrtss | Vsqrtsd | Vsqrtsh
    );
    let packed = matches!(
        i.mnemonic(),
        Divps | Divpd | Vdivps | Vdivpd | Vdivph | Sqrtps | Sqrtpd | Vsqrtps | Vsqrtpd | Vsqrtph
    );
    general || scalar || packed
}
