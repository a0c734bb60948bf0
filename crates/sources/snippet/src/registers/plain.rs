//! Names of the registers of ARM and RISC-V, as compilers take them in a list of clobbers.

/// A register by its name in a list of clobbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register(String);

/// The register that a word names on the processor of this build.
pub fn register(word: &str) -> Option<Register> {
    full(std::env::consts::ARCH, &word.to_lowercase()).map(Register)
}

/// The register's name.
pub fn name(register: Register) -> String {
    register.0
}

/// The full register that a word names, in lower case; `None` if it names none, and for the stack
/// pointer and others that no code may change.
fn full(architecture: &str, word: &str) -> Option<String> {
    match architecture {
        "aarch64" => aarch64(word),
        "arm" => arm(word),
        "riscv64" => riscv64(word),
        _ => None,
    }
}

/// The number behind a prefix, if it is from `least_number` to `most_number` and written
/// without further digits.
fn numbered(word: &str, prefix: &str, least_number: u32, most_number: u32) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    let number: u32 = digits.parse().ok()?;
    ((least_number..=most_number).contains(&number) && number.to_string() == digits)
        .then_some(number)
}

fn aarch64(word: &str) -> Option<String> {
    let alias = match word {
        "lr" => Some(30),
        "fp" => Some(29),
        "ip0" => Some(16),
        "ip1" => Some(17),
        _ => None,
    };
    let general =
        alias.or_else(|| numbered(word, "x", 0, 30)).or_else(|| numbered(word, "w", 0, 30));
    let vector =
        || ["v", "q", "d", "s", "h", "b"].iter().find_map(|prefix| numbered(word, prefix, 0, 31));
    general
        .map(|number| format!("x{number}"))
        .or_else(|| vector().map(|number| format!("v{number}")))
}

fn arm(word: &str) -> Option<String> {
    let alias = match word {
        "sb" => Some(9),
        "sl" => Some(10),
        "fp" => Some(11),
        "ip" => Some(12),
        "lr" => Some(14),
        _ => None,
    };
    let arguments = || numbered(word, "a", 1, 4).map(|number| number - 1);
    let variables = || numbered(word, "v", 1, 8).map(|number| number + 3);
    let general = alias
        .or_else(|| numbered(word, "r", 0, 14))
        .or_else(arguments)
        .or_else(variables)
        .filter(|number| *number != 13);
    let floating = || {
        [("s", 31), ("d", 31), ("q", 15)]
            .iter()
            .find_map(|(prefix, most)| numbered(word, prefix, 0, *most))
    };
    general.map(|number| format!("r{number}")).or_else(|| floating().map(|_| word.to_owned()))
}

fn riscv64(word: &str) -> Option<String> {
    const NAMED_REGISTERS: [(&str, u32, u32); 9] = [
        ("x", 5, 31),
        ("t", 0, 6),
        ("s", 0, 11),
        ("a", 0, 7),
        ("f", 0, 31),
        ("ft", 0, 11),
        ("fs", 0, 11),
        ("fa", 0, 7),
        ("x", 1, 1),
    ];
    let is_known = ["ra", "fp"].contains(&word)
        || NAMED_REGISTERS
            .iter()
            .any(|(prefix, least, most)| numbered(word, prefix, *least, *most).is_some());
    is_known.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(architecture: &str, code: &str) -> Vec<String> {
        code.split(|c: char| !c.is_alphanumeric())
            .filter_map(|word| full(architecture, word))
            .collect()
    }

    #[test]
    fn parts_of_a_register_are_the_full_one() {
        assert_eq!(
            all("aarch64", "madd w3, w10, lr, x30; fadd v7.4s, v7.4s, q8; fmul d31, s0, d1"),
            ["x3", "x10", "x30", "x30", "v7", "v7", "v8", "v31", "v0", "v1"]
        );
        assert_eq!(
            all("arm", "mla r3, ip, lr, v1; vmul.f64 d7, d8, d15"),
            ["r3", "r12", "r14", "r4", "d7", "d8", "d15"]
        );
        assert_eq!(
            all("riscv64", "mul a0, t6, x31; fmul.d fa5, ft0, f3"),
            ["a0", "t6", "x31", "fa5", "ft0", "f3"]
        );
    }

    #[test]
    fn other_words_and_fixed_registers_are_none() {
        assert!(all("aarch64", "mov sp, xzr, x31, w31, v32, x03, 4s, mul, #5").is_empty());
        assert!(all("arm", "pc sp r13 r15 s32 d32 q16 a0 a5 v9 b1").is_empty());
        assert!(all("riscv64", "sp gp tp zero x0 x2 x3 x4 x32 a8 s12 fa8").is_empty());
        assert!(all("elsewhere", "r0 x0 rax").is_empty());
    }
}
