//! Detects the syntax of assembly, which the generated block must state.

use crate::registers::register;

/// Whether the text is in Intel syntax: AT&T marks every register with `%` and every constant with
/// `$`. Text that only names `--let` operands (`%[x]`) counts as AT&T, as for compilers.
pub fn is_intel(code: &str) -> bool {
    let marked = code.contains('$') || code.replace("%[", "").contains('%');
    let bare_registers =
        code.split(|c: char| !c.is_alphanumeric()).any(|word| register(word).is_some());
    cfg!(target_arch = "x86_64") && !marked && (bare_registers || !code.contains("%["))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn syntax_is_detected_by_registers() {
        assert!(!is_intel("imul %rcx, %rax") && is_intel("imul rax, rcx") && is_intel("nop"));
        assert!(!is_intel("imul %[x], %[c]") && is_intel("imul rax, %[c]"));
    }
}
