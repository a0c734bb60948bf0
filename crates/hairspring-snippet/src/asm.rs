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

/// The register (or `--let` operand) through which a copy of the code, with its init before it, waits for the one
/// before; and, where none is seen, why there may be one all the same.
pub fn chained_register(init: &str, code: &str, lets: &[Declaration]) -> (Option<String>, Option<String>) {
    // For every place written so far: the places live at the start of the copy that its value depends on.
    let mut origins: Vec<(String, Vec<String>)> = Vec::new();
    let all = instructions(&format!("{init}\n{code}"));
    for instruction in &all {
        let (written, sources) = effects(instruction, lets);
        let mut from: Vec<String> = Vec::new();
        for source in sources {
            match origins.iter().find(|(place, _)| *place == source) {
                Some((_, known)) => from.extend(known.iter().cloned()),
                None => from.push(source),
            }
        }
        for place in written {
            origins.retain(|(known, _)| *known != place);
            origins.push((place, from.clone()));
        }
    }
    let touched: Vec<String> = instructions(code).iter().flat_map(|instruction| effects(instruction, lets).0).collect();
    let chained = origins.into_iter().find(|(place, from)| from.contains(place) && touched.contains(place)).map(|(place, _)| place);
    (chained, hidden_chain(&all))
}

/// Places that an instruction writes, and those that it reads.
fn effects(instruction: &Instruction, lets: &[Declaration]) -> (Vec<String>, Vec<String>) {
    let Some(destination) = instruction.operands.first() else { return (Vec::new(), Vec::new()) };
    let widening = matches!(instruction.mnemonic.trim_end_matches(['b', 'w', 'l', 'q']), "mu" | "mul" | "imu" | "imul" | "div" | "idiv");
    if widening && instruction.operands.len() == 1 {
        let pair = vec!["rax".to_owned(), "rdx".to_owned()];
        let divides = instruction.mnemonic.contains("div");
        let sources = places(destination, lets).into_iter().chain(pair[..1 + usize::from(divides)].iter().cloned()).collect();
        return (pair, sources);
    }
    let mut sources: Vec<String> = instruction.operands[1..].iter().flat_map(|operand| places(operand, lets)).collect();
    if is_address(destination) || reads_destination(instruction) {
        sources.extend(places(destination, lets));
    }
    if clears(instruction) {
        sources.clear();
    }
    let written = if writes_nothing(&instruction.mnemonic) || is_address(destination) { Vec::new() } else { places(destination, lets) };
    (written, sources)
}

fn is_address(operand: &str) -> bool {
    operand.contains(['(', '[']) && !operand.starts_with("%[")
}

/// `xor eax, eax` and its kin: the result is zero whatever the register held, and processors know it.
fn clears(instruction: &Instruction) -> bool {
    let clearing = ["xor", "sub", "pxor", "vpxor", "vxorp", "psub", "vpsub"];
    let all_same = instruction.operands.len() >= 2
        && instruction.operands.iter().rev().take(2).all(|operand| *operand == instruction.operands[instruction.operands.len() - 1]);
    all_same && clearing.iter().any(|start| instruction.mnemonic.starts_with(start))
}

/// Why copies may be chained although no named register is: through memory, the flags or registers not named.
fn hidden_chain(instructions: &[Instruction]) -> Option<String> {
    const UNNAMED: [&str; 17] = [
        "cpuid", "rep", "movs", "stos", "lods", "scas", "cmps", "cmpxchg", "xchg", "xadd", "push", "pop", "call", "cqo", "cdq", "cwd",
        "lock",
    ];
    // Moves and compares of values, which are not the string instructions that their names begin as.
    const MOVES: [&str; 11] = ["movss", "movsd", "movsx", "movsxd", "movshdup", "movsldup", "movslq", "movsbl", "movswl", "cmpss", "cmpsd"];
    const FLAGS: [&str; 6] = ["adc", "sbb", "rcl", "rcr", "adox", "adcx"];
    let starts = |list: &[&str], m: &str| list.iter().any(|start| m.starts_with(start));
    let named = |i: &Instruction| !i.operands.is_empty() && MOVES.contains(&i.mnemonic.as_str());
    let unnamed = |i: &&Instruction| starts(&UNNAMED, &i.mnemonic) && !named(i);
    if let Some(found) = instructions.iter().find(unnamed) {
        return Some(format!("{} uses registers or memory that it does not name", found.mnemonic));
    }
    if let Some(found) = instructions.iter().find(|i| starts(&FLAGS, &i.mnemonic)) {
        return Some(format!("{} reads the flags", found.mnemonic));
    }
    let stores = |i: &Instruction| i.operands.first().is_some_and(|d| is_address(d)) && !writes_nothing(&i.mnemonic);
    let loads = |i: &Instruction| i.operands[1..].iter().any(|o| is_address(o)) || stores(i) && reads_destination(i);
    let through_memory =
        instructions.iter().any(stores) && instructions.iter().any(|i| !i.operands.is_empty() && i.mnemonic != "lea" && loads(i));
    through_memory.then(|| "a store may feed a load of the next copy".to_owned())
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
        let chained = |code: &str| chained_register("", code, &[]).0;
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
            "xor eax, eax; imul rax, rax",
            "pxor xmm0, xmm0; addsd xmm0, xmm1",
        ] {
            assert_eq!(chained(code), None, "{code}");
        }
        let lets = [Declaration::parse("uint64_t x = 3").unwrap(), Declaration::parse("uint64_t c = 3").unwrap()];
        assert_eq!(chained_register("", "imul %[c], %[x]", &lets).0, Some("x".into()));
    }

    #[test]
    fn registers_that_are_not_named_and_those_of_the_init_alone() {
        let chained = |init: &str, code: &str| chained_register(init, code, &[]);
        assert_eq!(chained("", "mul rcx"), (Some("rax".into()), None));
        assert_eq!(chained("imul rdx, rcx", "mov rax, rdx"), (None, None));
        assert_eq!(chained("mov rax, 3", "imul rax, rcx"), (None, None));
        assert_eq!(chained("", "movsd xmm0, [rdx]"), (None, None));
        for code in [
            "cpuid",
            "add [rdx], rcx",
            "add qword ptr [rdx], 1",
            "mov [rdx], rax; mov rax, [rdx]",
            "adc rax, rcx; xor eax, eax",
            "push rax; pop rax",
        ] {
            let (register, hidden) = chained("", code);
            assert!(register.is_none() && hidden.is_some(), "{code} {register:?} {hidden:?}");
        }
    }

    #[test]
    fn registers_are_named_whole() {
        assert_eq!(registers("xor %eax, %r8d\nvmovapd %ymm3, (%rsp)"), ["r8", "rax", "xmm3"]);
        assert!(!is_intel("imul %rcx, %rax") && is_intel("imul rax, rcx") && is_intel("nop"));
        assert!(!is_intel("imul %[x], %[c]") && is_intel("imul rax, %[c]"));
    }
}
