//! What an instruction reads and writes.

use super::{Instruction, is_address, places};
use crate::declaration::Declaration;

/// The carry flag, which some instructions write or read by itself, and the other flags.
pub const CARRY: &str = "the carry flag";
pub const FLAGS: &str = "the flags";

/// Places that an instruction writes with what it reads, and likewise the flags.
#[derive(Debug, Default)]
pub struct Effects {
    pub written: Vec<String>,
    pub sources: Vec<String>,
    /// What it reads on some processors and not on others: their counts of bits wait for the destination.
    pub at_times: Vec<String>,
    /// Flags that it gives new values.
    pub flags: Vec<&'static str>,
}

pub fn effects(instruction: &Instruction, lets: &[Declaration]) -> Effects {
    let (written, mut sources) = named_effects(instruction, lets);
    sources.extend(flags_read(&instruction.mnemonic).into_iter().map(str::to_owned));
    let counts_bits = is_one_of(&instruction.mnemonic, &["popcnt", "lzcnt", "tzcnt"]);
    let at_times = if counts_bits { written.clone() } else { Vec::new() };
    Effects { written, sources, at_times, flags: flags_written(instruction) }
}

fn named_effects(instruction: &Instruction, lets: &[Declaration]) -> (Vec<String>, Vec<String>) {
    let Some(destination) = instruction.operands.first() else { return (Vec::new(), Vec::new()) };
    let m = instruction.mnemonic.as_str();
    let widening = ["mul", "imul", "div", "idiv"].iter().any(|name| is(m, name));
    if widening && instruction.operands.len() == 1 {
        let pair = vec!["rax".to_owned(), "rdx".to_owned()];
        let divides = m.contains("div");
        let sources = places(destination, lets).into_iter().chain(pair[..1 + usize::from(divides)].iter().cloned()).collect();
        return (pair, sources);
    }
    let mut sources: Vec<String> = instruction.operands[1..].iter().flat_map(|operand| places(operand, lets)).collect();
    if is(m, "mulx") {
        sources.push("rdx".to_owned());
        return (instruction.operands[..2.min(instruction.operands.len())].iter().flat_map(|o| places(o, lets)).collect(), sources);
    }
    if is_address(destination) || reads_destination(instruction) || writes_nothing(instruction) {
        sources.extend(places(destination, lets));
    }
    if clears(instruction) {
        sources.clear();
    }
    let written = if writes_nothing(instruction) || is_address(destination) { Vec::new() } else { places(destination, lets) };
    (written, sources)
}

/// Whether a mnemonic is that name, with or without AT&T's letter for the size.
fn is(mnemonic: &str, name: &str) -> bool {
    mnemonic.strip_prefix(name).is_some_and(|rest| matches!(rest, "" | "b" | "w" | "l" | "q"))
}

fn is_one_of(mnemonic: &str, names: &[&str]) -> bool {
    names.iter().any(|name| is(mnemonic, name))
}

fn starts(mnemonic: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| mnemonic.starts_with(beginning))
}

/// `xor eax, eax` and its kin: the result is the same whatever the register held, and processors know it.
fn clears(instruction: &Instruction) -> bool {
    const PACKED: [&str; 17] = [
        "xorps", "xorpd", "pxor", "pxord", "pxorq", "psubb", "psubw", "psubd", "psubq", "pcmpeqb", "pcmpeqw", "pcmpeqd", "pcmpeqq",
        "pcmpgtb", "pcmpgtw", "pcmpgtd", "pcmpgtq",
    ];
    let m = instruction.mnemonic.as_str();
    let clearing = is_one_of(m, &["xor", "sub"]) || PACKED.contains(&m.strip_prefix('v').unwrap_or(m));
    let same = matches!(instruction.operands.as_slice(), [a, b] | [_, a, b] if a == b);
    clearing && same && !instruction.operands.first().is_some_and(|destination| is_narrow(destination))
}

/// A register of 8 or 16 bits: writing it leaves the rest of the whole register as it was.
fn is_narrow(operand: &str) -> bool {
    let name = operand.trim_start_matches('%');
    const CLASSIC: [&str; 20] =
        ["al", "ah", "ax", "bl", "bh", "bx", "cl", "ch", "cx", "dl", "dh", "dx", "si", "sil", "di", "dil", "bp", "bpl", "sp", "spl"];
    let numbered = name.strip_prefix('r').and_then(|rest| rest.strip_suffix(['b', 'w'])).is_some_and(|n| n.parse::<u8>().is_ok());
    CLASSIC.contains(&name) || numbered
}

/// Whether an instruction only compares, jumps or hints.
pub fn writes_nothing(instruction: &Instruction) -> bool {
    let m = instruction.mnemonic.as_str();
    let tests = is_one_of(m, &["cmp", "test", "bt"]) || starts(m, &["ptest", "vptest", "vtestp", "ucomis", "comis", "vucomis", "vcomis"]);
    tests || starts(m, &["nop", "j", "prefetch", "lfence", "mfence", "sfence", "clflush", "clwb"])
}

/// Whether the new value of the destination is made of the old one: arithmetic with two operands reads it; moves and the
/// like do not, unless they leave a part of the register as it was; nor do forms with a destination of their own.
pub fn reads_destination(instruction: &Instruction) -> bool {
    const FRESH: [&str; 22] = [
        "mov", "lea", "popcnt", "lzcnt", "tzcnt", "sqrt", "cvt", "pop", "rdtsc", "andn", "pdep", "pext", "rcpp", "rsqrtp", "pabs", "pmov",
        "lddqu", "phminpos", "bls", "rdrand", "rdseed", "pshuf",
    ];
    const SCALAR: [&str; 10] =
        ["cvtsi2s", "cvtpi2ps", "cvtss2sd", "cvtsd2ss", "sqrtss", "sqrtsd", "rcpss", "rsqrtss", "roundss", "roundsd"];
    const HALVES: [&str; 6] = ["movhps", "movlps", "movhpd", "movlpd", "movhlps", "movlhps"];
    const THIRD: [&str; 22] = [
        "insert",
        "shufp",
        "palignr",
        "pinsr",
        "blend",
        "pblend",
        "cmp",
        "dpp",
        "mpsadbw",
        "pclmul",
        "gf2p8affine",
        "sha1",
        "shld",
        "shrd",
        "vfmadd",
        "vfmsub",
        "vfnm",
        "vpternlog",
        "vpdp",
        "vpermi2",
        "vpermt2",
        "vpmadd52",
    ];
    let m = instruction.mnemonic.as_str();
    let destination = instruction.operands.first().map_or("", String::as_str);
    let masked = destination.contains("{%k") || destination.contains("{k");
    if is_narrow(destination) || masked && !destination.contains("{z}") || m.starts_with("vgather") || m.starts_with("vpgather") {
        return true;
    }
    // A move of one number between registers leaves the upper part.
    let from_register = instruction.operands.get(1).is_some_and(|source| !is_address(source));
    let part = starts(m, &SCALAR) || starts(m, &HALVES) || matches!(m, "movss" | "movsd") && from_register;
    match instruction.operands.len() {
        0 | 1 => !is(m, "pop"),
        2 => part || m.starts_with("cmov") || !starts(m, &FRESH) && !m.starts_with('v'),
        _ => part || starts(m, &THIRD),
    }
}

fn flags_written(instruction: &Instruction) -> Vec<&'static str> {
    const ALL: [&str; 23] = [
        "add", "sub", "adc", "sbb", "and", "or", "xor", "cmp", "test", "neg", "mul", "imul", "bsf", "bsr", "popcnt", "lzcnt", "tzcnt",
        "andn", "blsi", "blsr", "blsmsk", "bextr", "bzhi",
    ];
    const SHIFTS: [&str; 6] = ["shl", "sal", "shr", "sar", "shld", "shrd"];
    const CARRIES: [&str; 13] = ["clc", "stc", "cmc", "adcx", "bt", "bts", "btr", "btc", "rol", "ror", "rcl", "rcr", "sahf"];
    let m = instruction.mnemonic.as_str();
    // A shift by a register that holds 0 leaves the flags.
    let by_constant = !instruction.operands.last().is_some_and(|count| count.ends_with("cl"));
    if is_one_of(m, &ALL) || starts(m, &["ptest", "vptest", "vtestp", "ucomis", "comis", "vucomis", "vcomis"]) {
        return vec![CARRY, FLAGS];
    }
    match m {
        _ if is_one_of(m, &SHIFTS) && by_constant => vec![CARRY, FLAGS],
        _ if is_one_of(m, &CARRIES) && by_constant => vec![CARRY],
        _ if is_one_of(m, &["inc", "dec", "adox"]) => vec![FLAGS],
        _ => Vec::new(),
    }
}

/// Flags that an instruction reads.
fn flags_read(m: &str) -> Vec<&'static str> {
    if is_one_of(m, &["adc", "sbb", "rcl", "rcr", "adcx", "cmc"]) {
        return vec![CARRY];
    }
    if starts(m, &["lahf", "pushf", "loope", "loopne", "loopz", "loopnz"]) {
        return vec![CARRY, FLAGS];
    }
    if m == "adox" {
        return vec![FLAGS];
    }
    let jump = m.strip_prefix('j').filter(|rest| !matches!(*rest, "mp" | "mpq" | "cxz" | "ecxz" | "rcxz"));
    let condition = m.strip_prefix("cmov").or(m.strip_prefix("set")).or(jump);
    match condition.map(|condition| if condition.len() > 1 { condition.trim_end_matches(['w', 'q']) } else { condition }) {
        None => Vec::new(),
        Some("c" | "nc" | "b" | "nb" | "ae" | "nae" | "cl" | "ncl" | "bl" | "nbl" | "ael" | "nael") => vec![CARRY],
        Some(both) if both.starts_with('a') || both.starts_with("be") || both.starts_with("na") || both.starts_with("nbe") => {
            vec![CARRY, FLAGS]
        }
        Some(_) => vec![FLAGS],
    }
}

/// Why copies may be chained although no named register is: through memory or registers not named, or on the x87 stack.
pub fn unnamed(instructions: &[Instruction]) -> Option<String> {
    const UNNAMED: [&str; 33] = [
        "cpuid", "rep", "movs", "stos", "lods", "scas", "cmps", "cmpxchg", "xchg", "xadd", "push", "pop", "call", "cqo", "cdq", "cwd",
        "lock", "cdqe", "cltq", "cwtl", "cbw", "cbtw", "cqto", "cltd", "lahf", "sahf", "xlat", "loop", "enter", "leave", "pcmpest",
        "pcmpist", "syscall",
    ];
    // Moves and compares of values, and counts of bits, which are not what their names begin as.
    const NAMED: [&str; 18] = [
        "movss", "movsd", "movsx", "movsxd", "movshdup", "movsldup", "movslq", "movsbl", "movsbw", "movsbq", "movswl", "movswq", "cmpss",
        "cmpsd", "popcnt", "popcntl", "popcntq", "popcntw",
    ];
    let unnamed = |i: &&Instruction| starts(&i.mnemonic, &UNNAMED) && (i.operands.is_empty() || !NAMED.contains(&i.mnemonic.as_str()));
    if let Some(found) = instructions.iter().find(unnamed) {
        return Some(format!("{} uses registers or memory that it does not name", found.mnemonic));
    }
    if let Some(found) = instructions.iter().find(|i| i.mnemonic.starts_with('f')) {
        return Some(format!("{} works on the stack of the x87", found.mnemonic));
    }
    let stores = |i: &Instruction| i.operands.first().is_some_and(|d| is_address(d)) && !writes_nothing(i);
    let loads = |i: &Instruction| i.operands[1..].iter().any(|o| is_address(o)) || stores(i) && reads_destination(i);
    let through_memory =
        instructions.iter().any(stores) && instructions.iter().any(|i| !i.operands.is_empty() && !is(&i.mnemonic, "lea") && loads(i));
    through_memory.then(|| "a store may feed a load of the next copy".to_owned())
}
