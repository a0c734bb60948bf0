//! Why assembly may crash without a wrong address in it: an instruction changed a register that it does not name.

use crate::asm::{registers, whole_register};
use crate::error::Error;
use crate::request::{Language, Request};

/// Instructions that change registers without naming them (Intel's manual, volume 2), with the registers.
const IMPLICIT: [(&str, &[&str]); 12] = [
    ("cpuid", &["rax", "rbx", "rcx", "rdx"]),
    ("rdtscp", &["rax", "rcx", "rdx"]),
    ("rdtsc", &["rax", "rdx"]),
    ("rdpmc", &["rax", "rdx"]),
    ("xgetbv", &["rax", "rdx"]),
    ("syscall", &["rax", "rcx", "r11"]),
    ("idiv", &["rax", "rdx"]),
    ("div", &["rax", "rdx"]),
    ("mul", &["rax", "rdx"]),
    ("rep", &["rcx", "rsi", "rdi"]),
    ("cmpxchg16b", &["rax", "rdx"]),
    ("call", &["rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"]),
];

/// Adds to a crash of assembly which registers its instructions change without naming them.
pub fn explain(request: &Request, error: Error) -> Error {
    let Error::CodeFailed(mut failure) = error else { return error };
    let code: Vec<&str> = request.codes.iter().chain(&request.init).chain(&request.setup).map(String::as_str).collect();
    let unnamed = unnamed(&code.join("\n"));
    if request.language == Language::Asm && failure.what.contains("SIG") {
        failure.hint += if failure.hint.is_empty() { "" } else { "\n" };
        failure.hint += &hint(&unnamed);
    }
    Error::CodeFailed(failure)
}

fn hint(unnamed: &[(&str, Vec<&str>)]) -> String {
    const HOW: &str = "the compiler keeps values in registers that the code does not name";
    let Some((_, registers)) = unnamed.first() else {
        return format!("{HOW}: an address that the code follows must be one that it set up (--setup), and the stack must be as it was");
    };
    let changes: Vec<String> = unnamed.iter().map(|(word, registers)| format!("{word} changes {}", registers.join(", "))).collect();
    format!("{HOW}, and {}: name each of them in --setup, as in `xor {}, {}`", changes.join("; "), registers[0], registers[0])
}

/// Instructions in the code with the registers that they change and that stand nowhere in it.
fn unnamed(code: &str) -> Vec<(&'static str, Vec<&'static str>)> {
    let named = registers(code);
    let words: Vec<String> = code.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
    let used = |word: &str| words.iter().any(|other| other == word && whole_register(other).is_none());
    let lost = |all: &[&'static str]| all.iter().copied().filter(|register| !named.iter().any(|name| name == register)).collect();
    let found = IMPLICIT.iter().filter(|(word, _)| used(word)).map(|(word, all)| -> (_, Vec<&'static str>) { (*word, lost(all)) });
    found.filter(|(_, lost)| !lost.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_that_nobody_named_are_told() {
        assert_eq!(unnamed("cpuid"), [("cpuid", vec!["rax", "rbx", "rcx", "rdx"])]);
        assert_eq!(unnamed("xor eax, eax\ncpuid\nmov ecx, ebx"), [("cpuid", vec!["rdx"])]);
        assert_eq!(unnamed("imul rax, rcx"), []);
        assert_eq!(unnamed("mov eax, 5; mov edx, 0; div rcx"), []);
    }

    #[test]
    fn only_crashes_of_assembly_are_explained() {
        let failure = |what: &str| {
            Error::CodeFailed(crate::error::Failure { what: what.into(), place: "while it was measured".into(), hint: String::new() })
        };
        let request = |language| Request { codes: vec!["cpuid".into()], language, ..Request::default() };
        assert!(explain(&request(Language::Asm), failure("was ended by SIGSEGV")).to_string().contains("cpuid changes rax, rbx"));
        assert!(!explain(&request(Language::Asm), failure("did not return")).to_string().contains("cpuid"));
        assert!(!explain(&request(Language::C), failure("was ended by SIGSEGV")).to_string().contains("cpuid"));
    }
}
