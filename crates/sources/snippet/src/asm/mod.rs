//! Just enough of assembly to know its syntax, the registers it touches and whether a copy feeds the next.

mod effects;

use crate::declaration::Declaration;
use crate::origins::{Origins, State, both, unsure};
use effects::{CARRY, FLAGS, effects, unnamed};

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
        .map(|line| line.split_once(':').map_or(line, |(label, rest)| if is_label(label) { rest.trim_start() } else { line }))
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

/// Whether the text before a colon names a place in the code, and is no segment register of an operand.
fn is_label(text: &str) -> bool {
    !text.contains(|c: char| c.is_whitespace() || matches!(c, '%' | '[' | '('))
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
    let all = instructions(&format!("{init}\n{code}"));
    let own: Vec<String> = instructions(code).iter().flat_map(|instruction| effects(instruction, lets).written).collect();
    let (state, stale) = followed(&all, lets, false);
    if let Some(place) = state.cycle(own.iter().map(String::as_str), true) {
        return (Some(place.to_owned()), None);
    }
    let on_some_cores = state.cycle(own.iter().map(String::as_str), false);
    let on_some_cores = on_some_cores.map(|place| format!("some processors wait for the old {place} before they write it"));
    let jumps = all.iter().any(|instruction| instruction.mnemonic.starts_with('j'));
    let skipped = followed(&all, lets, true).0.cycle(own.iter().map(String::as_str), false).filter(|_| jumps).map(str::to_owned);
    let skipped = skipped.map(|place| format!("a jump may leave {place} as the copy before left it"));
    (None, stale.or_else(|| unnamed(&all)).or(on_some_cores).or(skipped))
}

/// The origins of everything at the end of some instructions; and what reads flags that are older than these. With jumps
/// an instruction may be left out: then what it writes may still be as it was.
fn followed(instructions: &[Instruction], lets: &[Declaration], jumps: bool) -> (State, Option<String>) {
    let (mut state, mut stale) = (State::default(), None);
    for instruction in instructions {
        let effects = effects(instruction, lets);
        let from = effects.sources.iter().fold(Origins::new(), |from, source| both(from, &state.of(source)));
        let from = effects.at_times.iter().fold(from, |from, source| both(from, &unsure(&state.of(source))));
        let reads = [CARRY, FLAGS].into_iter().find(|flags| effects.sources.iter().any(|source| source == flags));
        if reads.is_some() && [CARRY, FLAGS].into_iter().any(|flags| from.contains_key(flags)) {
            stale.get_or_insert_with(|| format!("{} is chained through the flags that are left to it", instruction.mnemonic));
        }
        let before = jumps.then(|| state.clone());
        let flags = effects.flags.iter().map(|flags| (*flags).to_owned());
        effects.written.iter().cloned().chain(flags).for_each(|place| state.set(&place, from.clone()));
        if let Some(before) = before {
            state = state.or(&before);
        }
    }
    (state, stale)
}

fn is_address(operand: &str) -> bool {
    operand.contains(['(', '[']) && !operand.starts_with("%[")
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
            "sqrtsd xmm0, xmm1",
            "cvtsi2sd xmm0, rax",
            "cvtss2sd xmm0, xmm1",
            "cvtsd2ss xmm0, xmm1",
            "rcpss xmm0, xmm1",
            "roundsd xmm0, xmm1, 1",
            "movhps xmm0, [rdx]",
            "movlpd xmm0, [rdx]",
            "movsd xmm0, xmm1",
            "insertps xmm0, xmm1, 16",
            "shufps xmm0, xmm1, 3",
            "shufps $3, %xmm1, %xmm0",
            "palignr xmm0, xmm1, 4",
            "pinsrd xmm0, eax, 1",
            "blendps xmm0, xmm1, 1",
            "cmpps xmm0, xmm1, 2",
            "cmpltsd xmm0, xmm1",
            "subsd xmm0, xmm0",
            "bsf rax, rcx",
            "bsr rax, rcx",
            "mov al, cl",
            "movw %cx, %ax",
            "test rcx, rcx; setz al",
            "test rax, rax; setz cl; movzx eax, cl",
            "mov ecx, 0; vucomisd xmm0, xmm1; setz cl; vcvtsi2sd xmm0, xmm2, ecx",
            "mov r8, rax; lea rax, [rcx + 1]; lea rcx, [r8 + 1]",
            "vfmadd231pd ymm0, ymm1, ymm2",
            "vaddpd zmm0{k1}, zmm1, zmm2",
        ] {
            assert!(chained(code).is_some(), "{code}");
        }
        let lets = [Declaration::parse("uint64_t x = 3").unwrap(), Declaration::parse("uint64_t c = 3").unwrap()];
        assert_eq!(chained_register("", "imul %[c], %[x]", &lets).0, Some("x".into()));
    }

    #[test]
    fn what_is_written_whole_is_no_chain() {
        let chained = |code: &str| chained_register("", code, &[]).0;
        for code in [
            "mov rax, rcx",
            "popcnt rax, rcx",
            "lea rax, [rcx + rdx]",
            "nop",
            "mov rax, 3; imul rax, rcx",
            "cmp rax, rcx",
            "vsqrtsd xmm0, xmm1, xmm1",
            "sqrtpd xmm0, xmm1",
            "vcvtsi2sd xmm0, xmm1, rax",
            "vsqrtpd ymm0, ymm1",
            "vmovapd ymm0, ymm1",
            "vshufps xmm0, xmm1, xmm2, 3",
            "vcmpps ymm0, ymm1, ymm2, 2",
            "pshufd xmm0, xmm1, 3",
            "movzx eax, cl",
            "mov eax, ecx",
            "pcmpeqd xmm0, xmm0",
            "vpcmpeqb ymm0, ymm1, ymm1; vpaddb ymm1, ymm0, ymm2",
            "xor eax, eax; popcnt rax, rcx",
            "xor eax, eax; test rcx, rcx; setz al",
            "mov r8d, 3; inc r8; cmovz r8, rcx",
            "cmp rcx, rdx; cmc; xor eax, eax",
            "mov [rdx], rax",
            "vaddpd ymm0, ymm1, ymm2",
            "xor eax, eax; imul rax, rax",
            "pxor xmm0, xmm0; addsd xmm0, xmm1",
        ] {
            assert_eq!(chained(code), None, "{code}");
        }
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
            "cmc",
            "mov eax, 3; setc al",
            "popcnt rax, rcx",
            "clc; lea rax, [rcx]; jz 1f; nop; 1:",
            "fadd st, st(1)",
            "fld1",
            "cdqe",
            "test rcx, rcx; jz 1f; mov rax, 3; 1: imul rax, rdx",
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
