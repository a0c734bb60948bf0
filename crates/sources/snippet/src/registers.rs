//! Names of registers, and an explanation for crashes of assembly: an instruction changed a
//! register that the code does not name.

use crate::error::Error;
use crate::request::{Language, Request};
pub use names::{name, register};

/// Names of the registers of x86-64.
#[cfg(target_arch = "x86_64")]
mod names {
    use std::collections::HashMap;
    use std::sync::LazyLock;

    pub use iced_x86::Register;

    static NAMES: LazyLock<HashMap<String, Register>> = LazyLock::new(|| {
        let all_registers = Register::values()
            .filter(|register| register.is_gpr() || register.is_vector_register());
        // The lowest byte of r8 is r8b for an assembler.
        let name = |register: &Register| match format!("{register:?}").to_lowercase() {
            byte if register.is_gpr8() && byte.starts_with('r') => byte.replace('l', "b"),
            name => name,
        };
        all_registers.map(|register| (name(&register), register)).collect()
    });

    /// The full register that a word names, with or without `%`.
    pub fn register(word: &str) -> Option<Register> {
        NAMES
            .get(&word.trim_start_matches('%').to_lowercase())
            .map(|register| register.full_register())
    }

    /// A register's name; for a vector register that of its xmm part.
    pub fn name(register: Register) -> String {
        let name = format!("{register:?}").to_lowercase();
        name.strip_prefix("zmm").map_or(name.clone(), |number| format!("xmm{number}"))
    }
}

#[cfg(any(not(target_arch = "x86_64"), test))]
#[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "its tests run on every processor"))]
mod plain;
#[cfg(not(target_arch = "x86_64"))]
use plain as names;

/// Registers that assembly text names, for its clobber list.
pub fn registers(code: &str) -> Vec<String> {
    let words = code.split(|c: char| !c.is_alphanumeric());
    let mut found_registers: Vec<String> =
        words.filter_map(register).map(name).filter(|register| register != "rsp").collect();
    found_registers.sort();
    found_registers.dedup();
    found_registers
}

/// Adds to the error of crashed assembly which registers its instructions change without naming
/// them; `changed` are those that the compiled copies change.
pub fn explain(request: &Request, changed: &[String], error: Error) -> Error {
    let Error::CodeFailed(mut failure) = error else { return error };
    let code: Vec<&str> = request
        .codes
        .iter()
        .chain(&request.init)
        .chain(&request.setup)
        .map(String::as_str)
        .collect();
    // What ends in a breakpoint or in an instruction that the CPU lacks says so by itself.
    let is_about_values = failure.what.contains("SIG")
        && !["SIGTRAP", "SIGILL"].iter().any(|signal| failure.what.contains(signal));
    if request.language == Language::Asm && is_about_values {
        failure.hint += if failure.hint.is_empty() { "" } else { "\n" };
        let unnamed = unnamed(&code.join("\n"), changed);
        failure.hint += &match (failure.what.contains("SIGFPE"), unnamed.is_empty()) {
            (true, true) => DIVISION.to_owned(),
            (true, false) => format!("{DIVISION}; {}", hint(&unnamed)),
            (false, _) => hint(&unnamed),
        };
    }
    Error::CodeFailed(failure)
}

const DIVISION: &str = "a division by zero, or one whose quotient is too large for its register: \
                        a dividend of two registers needs both set up";

fn hint(unnamed: &[String]) -> String {
    const REASON_OF_REGISTERS: &str =
        "the compiler keeps values in registers that the code does not name";
    match unnamed.first() {
        None => format!(
            "{REASON_OF_REGISTERS}: an address that the code follows must be one that it set up \
             (--setup), and the stack must be as it was"
        ),
        Some(first) => {
            format!(
                "{REASON_OF_REGISTERS}, and the code changes {} without naming them: name each in \
                 --setup, as in `xor {first}, {first}`",
                unnamed.join(", ")
            )
        }
    }
}

/// Registers that the code changes but does not name.
fn unnamed(code: &str, changed: &[String]) -> Vec<String> {
    let named = registers(code);
    let general = |name: &&String| name.starts_with('r') && *name != "rsp";
    changed.iter().filter(general).filter(|name| !named.contains(name)).cloned().collect()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn parts_map_to_the_full_register() {
        assert_eq!(registers("xor %eax, %r8d\nvmovapd %ymm3, (%rsp)"), ["r8", "rax", "xmm3"]);
        for (word, whole) in [
            ("al", "rax"),
            ("ah", "rax"),
            ("sil", "rsi"),
            ("r9b", "r9"),
            ("r15w", "r15"),
            ("R10D", "r10"),
            ("zmm31", "xmm31"),
        ] {
            assert_eq!(register(word).map(name).as_deref(), Some(whole), "{word}");
        }
        assert!(
            ["none", "st0", "k1", "rex", "r16", "xmm", "cs"]
                .iter()
                .all(|word| register(word).is_none())
        );
    }

    #[test]
    fn unnamed_changed_registers_are_listed() {
        let changed: Vec<String> = ["rax", "rbx", "rcx", "rdx"].map(String::from).to_vec();
        assert_eq!(unnamed("cpuid", &changed), changed);
        assert_eq!(unnamed("xor eax, eax\ncpuid\nmov ecx, ebx", &changed), ["rdx"]);
        assert!(unnamed("imul rax, rcx", &changed[..1]).is_empty());
    }

    #[test]
    fn only_crashes_of_assembly_are_explained() {
        let failure = |event: &str| {
            Error::CodeFailed(crate::error::Failure {
                what: event.into(),
                place: "while it was measured".into(),
                hint: String::new(),
            })
        };
        let changed: Vec<String> = ["rax", "rbx"].map(String::from).to_vec();
        let request =
            |language| Request { codes: vec!["cpuid".into()], language, ..Request::default() };
        let explained =
            |language, what| explain(&request(language), &changed, failure(what)).to_string();
        assert!(explained(Language::Asm, "was ended by SIGSEGV").contains("changes rax, rbx"));
        assert!(!explained(Language::Asm, "did not return").contains("rax"));
        assert!(!explained(Language::Asm, "was ended by SIGTRAP").contains("rax"));
        let divided = explained(Language::Asm, "was ended by SIGFPE");
        assert!(
            divided.contains("division by zero") && divided.contains("changes rax, rbx"),
            "{divided}"
        );
        assert!(!explained(Language::C, "was ended by SIGSEGV").contains("rax"));
    }
}
