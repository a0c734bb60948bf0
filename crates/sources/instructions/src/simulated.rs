//! For tests: a core that runs the machine code of a series by its dependencies alone, and a check
//! of all addresses.

use crate::design::Series;
use crate::memory::ZERO;
use hairspring_host::chains::{BUFFER_LINES, LINE_BYTES};
use iced_x86::{
    Code, Decoder, DecoderOptions, Instruction, InstructionInfo, InstructionInfoFactory, OpAccess,
    Register, UsedMemory,
};
use std::collections::HashMap;

/// Where the value that an instruction depends on comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A register of data, or the flags.
    Data,
    /// The register of an address from which is loaded.
    Address,
    /// What is in memory.
    Memory,
}

fn decoded(code: &[u8]) -> Vec<Instruction> {
    Decoder::with_ip(64, code, 0, DecoderOptions::NONE).iter().collect()
}

fn reads(access: OpAccess) -> bool {
    !matches!(access, OpAccess::Write | OpAccess::NoMemAccess | OpAccess::None)
}

fn writes(access: OpAccess) -> bool {
    !matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess | OpAccess::None)
}

/// The places that an instruction reads or writes, not those whose address it computes.
fn accessed(info: &InstructionInfo) -> impl Iterator<Item = &UsedMemory> {
    info.used_memory().iter().filter(|place| reads(place.access()) || writes(place.access()))
}

fn displacement(memory: &UsedMemory) -> i64 {
    memory.displacement() as i64
}

/// Displacements of all places that some code uses.
pub fn places(code: &[u8]) -> Vec<i64> {
    let mut factory = InstructionInfoFactory::new();
    decoded(code)
        .iter()
        .flat_map(|one| accessed(factory.info(one)).map(displacement).collect::<Vec<_>>())
        .collect()
}

/// When everything becomes known: a register, the flags (no register), or a place.
#[derive(Debug, Default)]
struct Ready {
    registers: HashMap<Register, u32>,
    places: HashMap<i64, u32>,
}

impl Ready {
    /// When the result of an instruction is known.
    fn result(
        &self,
        instruction: &Instruction,
        info: &InstructionInfo,
        latency: &impl Fn(&Instruction, Source) -> u32,
    ) -> u32 {
        let memory: Vec<&UsedMemory> = accessed(info).collect();
        let loads = memory.iter().any(|place| reads(place.access()));
        // A write of a part of a general register keeps the rest.
        let merges = |register: Register| register.is_gpr8() || register.is_gpr16();
        let used = info
            .used_registers()
            .iter()
            .filter(|used| reads(used.access()) || merges(used.register()));
        let mut sources: Vec<(u32, Source)> = Vec::new();
        for register in used.map(|used| used.register().full_register()) {
            let is_base = memory.iter().any(|place| place.base().full_register() == register);
            // The address of a store is no part of the value that is stored.
            if is_base && !loads {
                continue;
            }
            let source = if is_base { Source::Address } else { Source::Data };
            sources.push((self.registers.get(&register).copied().unwrap_or(0), source));
        }
        if instruction.rflags_read() != 0 {
            sources.push((self.registers.get(&Register::None).copied().unwrap_or(0), Source::Data));
        }
        for place in memory.iter().filter(|place| reads(place.access())) {
            sources.push((
                self.places.get(&displacement(place)).copied().unwrap_or(0),
                Source::Memory,
            ));
        }
        sources
            .into_iter()
            .map(|(ready, source)| ready + latency(instruction, source))
            .max()
            .unwrap_or_else(|| latency(instruction, Source::Data))
    }
}

/// Cycles until all results of so many copies are known, on a core of any width.
pub fn cycles(series: &Series, copies: u32, latency: impl Fn(&Instruction, Source) -> u32) -> u32 {
    let (mut ready, mut factory, mut longest) =
        (Ready::default(), InstructionInfoFactory::new(), 0);
    for instruction in decoded(&series.code(copies)) {
        let info = factory.info(&instruction);
        let result = ready.result(&instruction, info, &latency);
        for used in info.used_registers().iter().filter(|used| writes(used.access())) {
            ready.registers.insert(used.register().full_register(), result);
        }
        for place in accessed(info).filter(|place| writes(place.access())) {
            ready.places.insert(displacement(place), result);
        }
        if instruction.rflags_modified() != 0 {
            ready.registers.insert(Register::None, result);
        }
        longest = longest.max(result);
    }
    longest
}

/// What is known of a value: enough to follow addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    /// The address of the buffer.
    Address,
    Zero,
    Other,
}

/// The first access to memory that is not known to lie in the buffer, as text.
pub fn fault(series: &Series, copies: u32) -> Option<String> {
    let mut registers = HashMap::new();
    for number in (0..16u32).filter(|number| *number != 4) {
        let is_pointer = series.buffer.is_some_and(|buffer| buffer.pointers >> number & 1 == 1);
        let value = series.registers.general[number as usize];
        let value_or_address = if is_pointer && value == 0 { Value::Address } else { Value::Other };
        let is_zero = number == u32::from(ZERO) && !is_pointer && value == 0;
        registers
            .insert(Register::RAX + number, if is_zero { Value::Zero } else { value_or_address });
    }
    let content = series
        .buffer
        .filter(|buffer| buffer.holds_address && buffer.word == 0)
        .map_or(Value::Other, |_| Value::Address);
    let (mut places, mut factory) = (HashMap::new(), InstructionInfoFactory::new());
    for instruction in decoded(&series.code(copies)) {
        let info = factory.info(&instruction);
        for place in accessed(info) {
            let (start, half) = (displacement(place), (BUFFER_LINES / 2 * LINE_BYTES) as i64);
            let is_inside = start >= -half && start + place.memory_size().size() as i64 <= half;
            let base = registers.get(&place.base());
            if base != Some(&Value::Address) || place.index() != Register::None || !is_inside {
                return Some(format!("{instruction:?}: {base:?} + {start}"));
            }
        }
        let place = accessed(info).next().map(displacement);
        let register =
            |at| registers.get(&instruction.op_register(at)).copied().unwrap_or(Value::Other);
        let result = match instruction.code() {
            Code::Mov_r64_rm64 if place.is_some() => {
                place.and_then(|place| places.get(&place).copied()).unwrap_or(content)
            }
            Code::And_r64_rm64 if register(1) == Value::Zero => Value::Zero,
            Code::Add_r64_rm64 if register(1) == Value::Zero => register(0),
            Code::Mov_rm64_r64 => register(1),
            _ => Value::Other,
        };
        for used in info.used_registers().iter().filter(|used| writes(used.access())) {
            registers.insert(used.register().full_register(), result);
        }
        for written in accessed(info).filter(|place| writes(place.access())) {
            let start = displacement(written);
            // Places of other sizes may overlap this one.
            let end = start + written.memory_size().size() as i64;
            places.extend((start - 7..end).map(|other| (other, Value::Other)));
            places.insert(start, result);
        }
    }
    None
}

mod tests {
    use super::*;
    use crate::Arrangement;
    use crate::design::Quantity;
    use crate::forms::all;
    use crate::measure::{Measured, Settings};
    use crate::result::{Cycles, FormResult, Request, all_series, rows};
    use hairspring_core::Estimate;
    use iced_x86::Mnemonic;

    const LOAD: u32 = 5;
    const FORWARD_CYCLES: u32 = 4;
    const STORE: u32 = 1;

    /// Cycles of the operation itself.
    fn operation(instruction: &Instruction) -> u32 {
        match instruction.mnemonic() {
            Mnemonic::Mov | Mnemonic::Movsd | Mnemonic::Vmovups | Mnemonic::Vmovsd => 0,
            Mnemonic::Imul => 3,
            Mnemonic::Vaddpd => 4,
            Mnemonic::Movq | Mnemonic::Vmovq => 2,
            _ => 1,
        }
    }

    /// Loads take 5 cycles from the address and 4 from a store, stores 1.
    fn latency(instruction: &Instruction, source: Source) -> u32 {
        let mut factory = InstructionInfoFactory::new();
        let is_store = accessed(factory.info(instruction)).any(|place| writes(place.access()));
        let (load, store) = (
            if source == Source::Address { LOAD } else { FORWARD_CYCLES },
            if is_store { STORE } else { 0 },
        );
        operation(instruction) + store + if source == Source::Data { 0 } else { load }
    }

    /// The table of some forms as it would be measured on this core, whose copies take what their
    /// dependencies take.
    fn table(names: &[&str]) -> Vec<FormResult> {
        let forms: Vec<crate::form::Form> =
            all().into_iter().filter(|form| names.contains(&form.name.as_str())).collect();
        assert_eq!(forms.len(), names.len());
        let settings = Settings { cpu: None, budget: std::time::Duration::ZERO, level: 0.95 };
        let all_series =
            all_series(&Request { forms: forms.clone(), values: false, settings }).unwrap();
        let measured = all_series.into_iter().map(|one| {
            // Rows of two lengths, whose difference is free of the start.
            let value = f64::from(cycles(&one, 240, latency) - cycles(&one, 120, latency)) / 120.0;
            let value = if matches!(one.quantity, Quantity::Throughput(_)) { 0.5 } else { value };
            let cycles =
                Ok(Estimate { value, low: value - 0.004, high: value + 0.004, level: 0.95 });
            let Series { form, quantity, values, arrangement, .. } = one;
            Measured { form, quantity, values, arrangement, cycles, findings: Vec::new() }
        });
        rows(&forms, &measured.collect::<Vec<_>>())
    }

    /// Forms that use memory.
    const NAMES: [&str; 11] = [
        "mov r64, m64",
        "mov r32, m32",
        "add r64, m64",
        "imul r64, m64",
        "cmp r64, m64",
        "mov m64, r64",
        "add m64, r64",
        "inc m64",
        "vaddpd ymm, ymm, m256",
        "vmovups m256, ymm",
        "movsd xmm, m64",
    ];

    /// The latency of a form from an operand to another.
    fn find(table: &[FormResult], name: &str, from: &str, to: &str) -> Cycles {
        let row = table.iter().find(|row| row.name == name).unwrap();
        let latency = row.latencies.iter().find(|one| one.from == from && one.to == to);
        latency.unwrap_or_else(|| panic!("{name} {from} {to}")).cycles.clone()
    }

    #[test]
    fn latencies_of_a_simulated_core_are_found_from_its_chains() {
        let table = table(&NAMES);
        let alone = [
            ("mov r64, m64", "base", "1", LOAD),
            ("mov r32, m32", "base", "1", LOAD),
            ("add r64, m64", "base", "1", LOAD + 1),
            ("add r64, m64", "1", "1", 1),
            ("imul r64, m64", "base", "1", LOAD + 3),
            ("add m64, r64", "m", "m", FORWARD_CYCLES + 1 + STORE),
            ("inc m64", "m", "m", FORWARD_CYCLES + 1 + STORE),
            ("vaddpd ymm, ymm, m256", "2", "1", 4),
        ];
        for (name, from, to, truth) in alone {
            let latency = find(&table, name, from, to);
            let Cycles::Alone(found) = latency else { panic!("{name} {from} {to}: {latency:?}") };
            assert!((found.value - f64::from(truth)).abs() < 1e-6, "{name} {from} {to}: {found:?}");
        }
        let shown_latency = |name: &str| {
            let latency = table.iter().find(|row| row.name == name).unwrap().latency().unwrap();
            (latency.from.clone(), latency.cycles.at_most().unwrap().round())
        };
        assert_eq!(
            (shown_latency("add r64, m64"), shown_latency("vaddpd ymm, ymm, m256")),
            (("base".into(), 6.0), ("base".into(), 10.0))
        );
        assert_eq!(
            (shown_latency("mov m64, r64"), shown_latency("add m64, r64")),
            (("2".into(), 5.0), ("m".into(), 6.0))
        );
    }

    #[test]
    fn latencies_that_need_a_helper_are_found_with_it() {
        let table = table(&NAMES);
        // The move of a vector to a general register takes 2 cycles, of which nobody knows.
        let sums = [
            ("mov m64, r64", "2", "m", STORE + FORWARD_CYCLES, "mov r64, m64"),
            ("mov r64, m64", "m", "1", STORE + FORWARD_CYCLES, "mov m64, r64"),
            ("imul r64, m64", "m", "1", STORE + FORWARD_CYCLES + 3, "mov m64, r64"),
            ("add m64, r64", "2", "m", 1 + STORE + FORWARD_CYCLES, "mov r64, m64"),
            ("vmovups m256, ymm", "2", "m", STORE + FORWARD_CYCLES, "vmovups ymm, m256"),
            ("vaddpd ymm, ymm, m256", "base", "1", LOAD + 4 + 2, "vmovq r64, xmm"),
            ("movsd xmm, m64", "base", "1", LOAD + 2, "movq r64, xmm"),
            ("cmp r64, m64", "base", "flags", LOAD + 1 + 1, "cmovb r64, r64"),
        ];
        for (name, from, to, truth, with) in sums {
            let Cycles::Sum(sum, helpers) = find(&table, name, from, to) else {
                panic!("{name} {from} {to}")
            };
            assert!((sum.value - f64::from(truth)).abs() < 1e-6, "{name} {from} {to}: {sum:?}");
            assert!(
                helpers.len() == 1 && helpers[0].form == with,
                "{name} {from} {to}: {helpers:?}"
            );
        }
    }

    #[test]
    fn other_uses_of_memory_are_measured_with_the_chain_that_they_are_compared_with() {
        let table = table(&["mov r64, m64", "vmovups ymm, m256", "mov m64, r64", "add m64, r64"]);
        let chain = |row: usize, from: &str, wanted_arrangement: Arrangement| {
            let latency = table[row].latencies.iter().find(|one| one.from == from).unwrap();
            let found_arrangement = latency
                .arrangements
                .iter()
                .find(|one| one.0 == wanted_arrangement)
                .unwrap_or_else(|| panic!("{latency:?}"))
                .1;
            (found_arrangement.value, latency.chain.unwrap().value)
        };
        let name = |name: &str| table.iter().position(|row| row.name == name).unwrap();
        // What was stored is known long before it is loaded: the address decides.
        assert_eq!(
            chain(name("mov r64, m64"), "base", Arrangement::JustStored),
            (f64::from(LOAD), f64::from(LOAD))
        );
        let (stored, usual) = chain(name("vmovups ymm, m256"), "base", Arrangement::JustStored);
        assert_eq!((stored, usual), (f64::from(LOAD + 2 + 2), f64::from(LOAD + 2 + 2)));
        assert_eq!(chain(name("mov m64, r64"), "2", Arrangement::OtherBase), (5.0, 5.0));
        assert_eq!(chain(name("add m64, r64"), "m", Arrangement::OtherBase), (6.0, 6.0));
        assert!(table.iter().all(|row| {
            row.findings.iter().all(|finding| finding.code != crate::code::DEPENDS_ON_ADDRESSES)
        }));
        assert!(
            table[name("mov m64, r64")].throughput.one_line.is_some()
                && table[name("mov r64, m64")].throughput.one_line.is_none()
        );
    }
}
