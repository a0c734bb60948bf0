//! Just enough of assembly to know its syntax, the registers it touches and whether a copy feeds the next.

use crate::declaration::Declaration;

/// Whether the text is in Intel syntax: AT&T marks every register with `%` and every constant with `$`. Text that names
/// `--let` operands only (`%[x]`) is taken as compilers take it, as AT&T.
pub fn is_intel(code: &str) -> bool {
    let marked = code.contains('$') || code.replace("%[", "").contains('%');
    let bare_registers = code.split(|c: char| !c.is_alphanumeric()).any(|word| whole_register(&word.to_lowercase()).is_some());
    cfg!(target_arch = "x86_64") && !marked && (bare_registers || !code.contains("%["))
}

/// One instruction with its operands in Intel order (destination first).
#[derive(Debug)]
struct Instruction {
    mnemonic: String,
    operands: Vec<String>,
}

fn instructions(code: &str) -> Vec<Instruction> {
    let intel = is_intel(code);
    let lines = code.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '.', '/']));
    lines
        .filter(|line| !line.ends_with(':'))
        .map(|line| {
            let (mnemonic, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let mut operands = split_operands(rest);
            if !intel {
                operands.reverse();
            }
            Instruction { mnemonic: mnemonic.to_lowercase(), operands }
        })
        .collect()
}

/// Operands at top-level commas; those inside an address stay together.
fn split_operands(text: &str) -> Vec<String> {
    let mut operands = vec![String::new()];
    let mut depth = 0i32;
    for c in text.chars() {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        // A `%[name]` operand of inline assembly is no address: its brackets balance all the same.
        match operands.last_mut() {
            Some(last) if c != ',' || depth > 0 => last.push(c),
            _ => operands.push(String::new()),
        }
    }
    operands.into_iter().map(|operand| operand.trim().to_lowercase()).filter(|operand| !operand.is_empty()).collect()
}

/// The register (or `--let` operand) through which a copy of the code waits for the one before.
pub fn chained_register(code: &str, lets: &[Declaration]) -> Option<String> {
    // For every place written so far: the places live at the start of the copy that its value depends on.
    let mut origins: Vec<(String, Vec<String>)> = Vec::new();
    for instruction in instructions(code) {
        let Some(destination) = instruction.operands.first() else { continue };
        let mut sources: Vec<String> = instruction.operands[1..].iter().flat_map(|operand| places(operand, lets)).collect();
        let is_address = destination.contains(['(', '[']) && !destination.starts_with("%[");
        if is_address || reads_destination(&instruction) {
            sources.extend(places(destination, lets));
        }
        if writes_nothing(&instruction.mnemonic) || is_address {
            continue;
        }
        let mut from: Vec<String> = Vec::new();
        for source in sources {
            match origins.iter().find(|(place, _)| *place == source) {
                Some((_, known)) => from.extend(known.iter().cloned()),
                None => from.push(source),
            }
        }
        for place in places(destination, lets) {
            origins.retain(|(known, _)| *known != place);
            origins.push((place, from.clone()));
        }
    }
    origins.into_iter().find(|(place, from)| from.contains(place)).map(|(place, _)| place)
}

fn writes_nothing(mnemonic: &str) -> bool {
    ["cmp", "test", "nop", "j", "prefetch", "lfence", "mfence", "clflush", "ucomis", "comis"]
        .iter()
        .any(|start| mnemonic.starts_with(start))
}

/// Two-operand arithmetic reads its destination; moves and the like, and forms with a separate destination, do not.
fn reads_destination(instruction: &Instruction) -> bool {
    let fresh = ["mov", "lea", "popcnt", "lzcnt", "tzcnt", "sqrt", "cvt", "set", "pop", "bsf", "bsr", "rdtsc", "andn", "pdep", "pext"];
    let m = instruction.mnemonic.as_str();
    let fused =
        m.starts_with("vfmadd") || m.starts_with("vfmsub") || m.starts_with("vfnm") || m.starts_with("shld") || m.starts_with("shrd");
    match instruction.operands.len() {
        1 => true,
        2 => !fresh.iter().any(|start| m.starts_with(start)) || m.starts_with("cmov"),
        _ => fused,
    }
}

/// Registers and `--let` operands in an operand, under one name for all their widths.
fn places(operand: &str, lets: &[Declaration]) -> Vec<String> {
    let mut found = Vec::new();
    for word in operand.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
        if let Some(declaration) = lets.iter().find(|declaration| declaration.name.to_lowercase() == word) {
            found.push(declaration.name.clone());
        } else if let Some(register) = whole_register(word) {
            found.push(register);
        }
    }
    found
}

/// The full register that a name is part of: `rax` for `eax`, `xmm3` for `ymm3`; `None` for other words.
pub fn whole_register(word: &str) -> Option<String> {
    const CLASSIC: [(&str, &[&str]); 8] = [
        ("rax", &["rax", "eax", "ax", "al", "ah"]),
        ("rbx", &["rbx", "ebx", "bx", "bl", "bh"]),
        ("rcx", &["rcx", "ecx", "cx", "cl", "ch"]),
        ("rdx", &["rdx", "edx", "dx", "dl", "dh"]),
        ("rsi", &["rsi", "esi", "si", "sil"]),
        ("rdi", &["rdi", "edi", "di", "dil"]),
        ("rbp", &["rbp", "ebp", "bp", "bpl"]),
        ("rsp", &["rsp", "esp", "sp", "spl"]),
    ];
    if let Some((whole, _)) = CLASSIC.iter().find(|(_, names)| names.contains(&word)) {
        return Some((*whole).to_owned());
    }
    if let Some(number) = ["xmm", "ymm", "zmm"].iter().find_map(|start| word.strip_prefix(start)) {
        return number.parse::<u8>().ok().filter(|n| *n < 32).map(|n| format!("xmm{n}"));
    }
    let number = word.strip_prefix('r')?.trim_end_matches(['d', 'w', 'b']);
    number.parse::<u8>().ok().filter(|n| (8..16).contains(n)).map(|n| format!("r{n}"))
}

/// Registers that the text names, for the list of what it changes.
pub fn registers(code: &str) -> Vec<String> {
    let words = code.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let mut found: Vec<String> = words.filter_map(|word| whole_register(&word)).filter(|register| register != "rsp").collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_seen_in_both_syntaxes() {
        let chained = |code: &str| chained_register(code, &[]);
        for code in [
            "imul rax, rcx",
            "imul %rcx, %rax",
            "mov (%rdx), %rdx",
            "mov rdx, [rdx]",
            "popcnt rax, rax",
            "mulsd xmm0, xmm1",
            "xor eax, ecx; imul rax, rdx",
            "mov rbx, rax\nadd rbx, rcx\nmov rax, rbx",
            "inc rax",
            "vaddpd ymm0, ymm0, ymm1",
        ] {
            assert!(chained(code).is_some(), "{code}");
        }
        for code in [
            "mov rax, rcx",
            "popcnt rax, rcx",
            "lea rax, [rcx + rdx]",
            "nop",
            "mov rax, 3; imul rax, rcx",
            "cmp rax, rcx",
            "sqrtsd xmm0, xmm1",
            "mov [rdx], rax",
            "vaddpd ymm0, ymm1, ymm2",
        ] {
            assert_eq!(chained(code), None, "{code}");
        }
        let lets = [Declaration::parse("uint64_t x = 3").unwrap(), Declaration::parse("uint64_t c = 3").unwrap()];
        assert_eq!(chained_register("imul %[c], %[x]", &lets), Some("x".into()));
    }

    #[test]
    fn registers_are_named_whole() {
        assert_eq!(registers("xor %eax, %r8d\nvmovapd %ymm3, (%rsp)"), ["r8", "rax", "xmm3"]);
        assert!(!is_intel("imul %rcx, %rax") && is_intel("imul rax, rcx") && is_intel("nop"));
        assert!(!is_intel("imul %[x], %[c]") && is_intel("imul rax, %[c]"));
    }
}
