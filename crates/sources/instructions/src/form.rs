//! A form of an instruction: its operands, what it reads and writes, and how it is encoded.

use crate::memory::displacement;
use crate::register::{File, Size, place};
use hairspring_host::chains::Vectors;
use iced_x86::{
    Code, CpuidFeature, EncodingKind, Instruction, InstructionInfo, InstructionInfoFactory,
    MemorySize, OpAccess, OpCodeOperandKind as Kind, OpKind, Register, RflagsBits,
};

/// How the operands of a form are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A register for each operand.
    Registers,
    /// The same register for all operands.
    Same,
    /// A register and an address of one register, optionally another one times a scale, and a
    /// displacement.
    Address {
        /// Scale of the second register; `None` without one.
        scale: Option<u8>,
        /// The displacement.
        displacement: i8,
    },
    /// Registers, and one operand in memory at an address of one register and a displacement.
    Memory,
}

/// Where an operand is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// A register of this size as the operand of this number.
    Free(u32, Size),
    /// One register as the operand of this number.
    Fixed(u32, Register),
    /// A register that the instruction uses without naming it.
    Implicit(Register),
    /// First register of the address.
    Base,
    /// Second register of the address.
    Index,
    /// A place in memory of so many bytes as the operand of this number.
    Memory(u32, usize),
    /// The flags.
    Flags,
}

/// An operand that carries a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// Where it is.
    pub slot: Slot,
    /// Its name: its number from 1, the register, `flags`, `base` for the address, or `m` for what
    /// is in memory.
    pub label: String,
    /// Its register file.
    pub file: File,
    /// Whether it is read.
    pub reads: bool,
    /// Whether it is written.
    pub writes: bool,
}

impl Operand {
    /// The number of the register, if there is no choice.
    pub fn fixed(&self) -> Option<u8> {
        match self.slot {
            Slot::Fixed(_, register) | Slot::Implicit(register) => {
                place(register).map(|place| place.1)
            }
            _ => None,
        }
    }
}

/// What the numbers in a register are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
    /// Integers of any size.
    Integer,
    /// Numbers of 16 bits.
    Half,
    /// Numbers of 32 bits.
    Single,
    /// Numbers of 64 bits.
    Double,
}

/// A form of an instruction.
#[derive(Debug, Clone)]
pub struct Form {
    /// The decoder library's code.
    pub code: Code,
    /// How the operands are chosen.
    pub shape: Shape,
    /// Its name, such as `add r64, r64`.
    pub name: String,
    /// Name of its set.
    pub set: &'static str,
    /// Operands that carry values.
    pub operands: Vec<Operand>,
    /// What the numbers in its vector registers are.
    pub element: Element,
    immediates: Vec<(u32, OpKind, i32)>,
}

impl Form {
    /// The form of a code.
    ///
    /// # Errors
    /// The name of an operand kind that is not supported.
    pub fn new(code: Code, shape: Shape, set: &'static str) -> Result<Form, String> {
        let mut form = Form {
            code,
            shape,
            name: String::new(),
            set,
            operands: Vec::new(),
            element: element(code),
            immediates: Vec::new(),
        };
        let mut words = Vec::new();
        for number in 0..code.op_code().op_count() {
            words.push(form.add_explicit(number, code.op_code().op_kind(number))?);
        }
        let mnemonic = format!("{:?}", code.mnemonic()).to_lowercase();
        let same = if shape == Shape::Same { " (same)" } else { "" };
        form.name = format!("{mnemonic} {}{same}", words.join(", ")).trim_end().to_owned();
        form.set_access();
        Ok(form)
    }

    /// Adds an operand, and returns its name in the name of the form.
    fn add_explicit(&mut self, number: u32, kind: Kind) -> Result<String, String> {
        if self.shape == Shape::Memory && may_be_memory(kind) {
            let bytes = self.code.op_code().memory_size().size();
            self.add(Slot::Base, "base".into(), File::General);
            self.add(Slot::Memory(number, bytes), "m".into(), File::Memory);
            return Ok(format!("m{}", 8 * bytes));
        }
        if let Some(size) = size(kind) {
            self.add(Slot::Free(number, size), (number + 1).to_string(), size.file());
            return Ok(size.name().to_owned());
        }
        if let Some(register) = fixed(kind) {
            let name = format!("{register:?}").to_lowercase();
            let file = place(register).map_or(File::General, |place| place.0);
            self.add(Slot::Fixed(number, register), name.clone(), file);
            return Ok(name);
        }
        if let Some((kind, value, name)) = immediate(kind, self.code) {
            self.immediates.push((number, kind, value));
            return Ok(name.to_owned());
        }
        let Shape::Address { scale, displacement } = self.shape else {
            return Err(format!("{:?}: operand {kind:?}", self.code));
        };
        self.add(Slot::Base, "base".into(), File::General);
        if scale.is_some() {
            self.add(Slot::Index, "index".into(), File::General);
        }
        let index = scale.map_or(String::new(), |scale| {
            if scale == 1 { "+r64".into() } else { format!("+r64*{scale}") }
        });
        Ok(format!("[r64{index}{}]", if displacement == 0 { "" } else { "+i8" }))
    }

    fn add(&mut self, slot: Slot, label: String, file: File) {
        self.operands.push(Operand { slot, label, file, reads: false, writes: false });
    }

    /// The number of a register of its own for each operand.
    fn distinct_registers(&self) -> Vec<u8> {
        let number = |(at, operand): (usize, &Operand)| {
            let number = [8, 9, 10, 11, 12][at.min(4)];
            if operand.file == File::Mask { number - 7 } else { number }
        };
        self.operands.iter().enumerate().map(number).collect()
    }

    /// Registers that the instruction reads or writes without naming them, where the operands have
    /// these registers.
    fn implicit(&self, info: &InstructionInfo, distinct: &[u8]) -> Vec<(Register, bool, bool)> {
        let mut implicit: Vec<(Register, bool, bool)> = Vec::new();
        for used in info.used_registers() {
            let (reads, writes) = access(used.access());
            // A write of a part of a general register keeps the rest.
            let reads =
                reads || writes && (used.register().is_gpr8() || used.register().is_gpr16());
            let full = used.register().full_register();
            let named = self.operands.iter().zip(distinct).any(|(operand, number)| {
                let number = operand.fixed().unwrap_or(*number);
                place(full) == Some((operand.file, number))
            });
            if named || place(full).is_none() || full == Register::RSP {
                continue;
            }
            match implicit.iter_mut().find(|known| known.0 == full) {
                Some(known) => (known.1, known.2) = (known.1 || reads, known.2 || writes),
                None => implicit.push((full, reads, writes)),
            }
        }
        implicit
    }

    /// Sets what is read and written, from the decoder library, and adds what the instruction uses
    /// without naming it.
    fn set_access(&mut self) {
        let distinct = self.distinct_registers();
        let instruction = self.place(&distinct);
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(&instruction);
        let implicit = self.implicit(info, &distinct);
        for operand in &mut self.operands {
            (operand.reads, operand.writes) = match operand.slot {
                Slot::Free(number, size) => {
                    let (reads, writes) = access(info.op_access(number));
                    (reads || writes && size.merges(), writes)
                }
                Slot::Fixed(number, _) | Slot::Memory(number, _) => access(info.op_access(number)),
                _ => (true, false),
            };
        }
        for (register, reads, writes) in implicit {
            let (file, label) = (
                place(register).map_or(File::General, |place| place.0),
                format!("{register:?}").to_lowercase(),
            );
            self.operands.push(Operand {
                slot: Slot::Implicit(register),
                label,
                file,
                reads,
                writes,
            });
        }
        let (reads, writes) =
            (instruction.rflags_read() & STATUS != 0, instruction.rflags_modified() & STATUS != 0);
        if reads || writes {
            self.operands.push(Operand {
                slot: Slot::Flags,
                label: "flags".into(),
                file: File::Flags,
                reads,
                writes,
            });
        }
    }

    /// The instruction with these numbers of registers and places, one for each operand; those of
    /// operands without a choice are not used.
    pub fn place(&self, numbers: &[u8]) -> Instruction {
        let mut instruction = Instruction::default();
        instruction.set_code(self.code);
        for (operand, number) in self.operands.iter().zip(numbers) {
            match operand.slot {
                Slot::Free(at, size) => {
                    instruction.set_op_kind(at, OpKind::Register);
                    instruction.set_op_register(at, size.register(*number));
                }
                Slot::Fixed(at, register) => {
                    instruction.set_op_kind(at, OpKind::Register);
                    instruction.set_op_register(at, register);
                }
                Slot::Base => self.set_address(&mut instruction, *number),
                Slot::Index => instruction.set_memory_index(Size::R64.register(*number)),
                Slot::Memory(at, bytes) => {
                    let offset = displacement(*number, bytes);
                    instruction.set_op_kind(at, OpKind::Memory);
                    instruction.set_memory_displacement64(i64::from(offset) as u64);
                    // The encoder takes four bytes where one is too few.
                    instruction.set_memory_displ_size(u32::from(offset != 0));
                }
                Slot::Implicit(_) | Slot::Flags => {}
            }
        }
        for (at, kind, value) in &self.immediates {
            instruction.set_op_kind(*at, *kind);
            instruction.set_immediate_i32(*at, *value);
        }
        instruction
    }

    fn set_address(&self, instruction: &mut Instruction, base: u8) {
        instruction.set_memory_base(Size::R64.register(base));
        let Shape::Address { scale, displacement } = self.shape else { return };
        instruction.set_op1_kind(OpKind::Memory);
        instruction.set_memory_index_scale(u32::from(scale.unwrap_or(1)));
        instruction.set_memory_displacement64(i64::from(displacement) as u64);
        instruction.set_memory_displ_size(u32::from(displacement != 0));
    }

    /// What the CPU must support.
    pub fn features(&self) -> &'static [CpuidFeature] {
        self.code.cpuid_features()
    }

    /// The extension that it belongs to, as its features in lower case.
    pub fn extension(&self) -> String {
        let names: Vec<String> =
            self.features().iter().map(|feature| format!("{feature:?}").to_lowercase()).collect();
        names.join("+")
    }

    /// The vector registers that must have values.
    pub fn vectors(&self) -> Vectors {
        let uses = |file| self.operands.iter().any(|operand| operand.file == file);
        match self.code.encoding() {
            EncodingKind::EVEX => Vectors::Avx512,
            EncodingKind::VEX if uses(File::Mask) => Vectors::Avx512,
            EncodingKind::VEX if uses(File::Vector) => Vectors::Avx,
            _ => Vectors::Sse,
        }
    }

    /// Whether other values than those of the first copy may make it fault.
    pub fn divides_integers(&self) -> bool {
        matches!(self.code, Code::Div_rm64 | Code::Div_rm32 | Code::Idiv_rm64 | Code::Idiv_rm32)
    }

    /// A flag that the result defines: 0 if it defines none.
    pub fn defined_flags(&self) -> u32 {
        let numbers: Vec<u8> = self
            .operands
            .iter()
            .map(|operand| if operand.file == File::Mask { 1 } else { 8 })
            .collect();
        self.place(&numbers).rflags_written() & STATUS
    }

    /// The operand in memory, as an index.
    pub fn memory(&self) -> Option<usize> {
        self.operands.iter().position(|operand| operand.file == File::Memory)
    }

    /// Bytes of the operand in memory; 0 without one.
    pub fn memory_bytes(&self) -> usize {
        self.operands
            .iter()
            .find_map(
                |operand| {
                    if let Slot::Memory(_, bytes) = operand.slot { Some(bytes) } else { None }
                },
            )
            .unwrap_or(0)
    }

    /// Whether it writes to memory.
    pub fn stores(&self) -> bool {
        self.operands.iter().any(|operand| operand.file == File::Memory && operand.writes)
    }

    /// Whether it reads memory.
    pub fn loads(&self) -> bool {
        self.operands.iter().any(|operand| operand.file == File::Memory && operand.reads)
    }

    /// The operand of the flags.
    pub fn flags(&self) -> Option<&Operand> {
        self.operands.iter().find(|operand| operand.slot == Slot::Flags)
    }
}

const STATUS: u32 = RflagsBits::OF
    | RflagsBits::SF
    | RflagsBits::ZF
    | RflagsBits::AF
    | RflagsBits::CF
    | RflagsBits::PF;

/// Whether an access reads and writes. A write that may not happen leaves the old value, so it also
/// reads it.
fn access(access: OpAccess) -> (bool, bool) {
    match access {
        OpAccess::Read | OpAccess::CondRead => (true, false),
        OpAccess::Write => (false, true),
        OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
        _ => (false, false),
    }
}

/// Whether an operand of this kind can be in memory.
fn may_be_memory(kind: Kind) -> bool {
    let general =
        matches!(kind, Kind::r8_or_mem | Kind::r16_or_mem | Kind::r32_or_mem | Kind::r64_or_mem);
    general || matches!(kind, Kind::mem | Kind::xmm_or_mem | Kind::ymm_or_mem | Kind::zmm_or_mem)
}

fn size(kind: Kind) -> Option<Size> {
    Some(match kind {
        Kind::r8_or_mem | Kind::r8_reg | Kind::r8_opcode => Size::R8,
        Kind::r16_or_mem | Kind::r16_reg | Kind::r16_rm | Kind::r16_opcode => Size::R16,
        Kind::r32_or_mem | Kind::r32_reg | Kind::r32_rm | Kind::r32_opcode | Kind::r32_vvvv => {
            Size::R32
        }
        Kind::r64_or_mem | Kind::r64_reg | Kind::r64_rm | Kind::r64_opcode | Kind::r64_vvvv => {
            Size::R64
        }
        Kind::xmm_or_mem | Kind::xmm_reg | Kind::xmm_rm | Kind::xmm_vvvv | Kind::xmm_is4 => {
            Size::Xmm
        }
        Kind::ymm_or_mem | Kind::ymm_reg | Kind::ymm_rm | Kind::ymm_vvvv | Kind::ymm_is4 => {
            Size::Ymm
        }
        Kind::zmm_or_mem | Kind::zmm_reg | Kind::zmm_rm | Kind::zmm_vvvv => Size::Zmm,
        Kind::k_or_mem | Kind::k_reg | Kind::k_rm | Kind::k_vvvv => Size::Mask,
        _ => return None,
    })
}

fn fixed(kind: Kind) -> Option<Register> {
    Some(match kind {
        Kind::al => Register::AL,
        Kind::cl => Register::CL,
        Kind::ax => Register::AX,
        Kind::eax => Register::EAX,
        Kind::rax => Register::RAX,
        _ => return None,
    })
}

/// The kind, the value and the name of an immediate operand.
fn immediate(kind: Kind, code: Code) -> Option<(OpKind, i32, &'static str)> {
    /// Neither zero nor a power of two, small enough for counts and selectors.
    const VALUE: i32 = 5;
    /// Exclusive or of three values, as a table of its bits.
    const EXCLUSIVE_OR: i32 = 0x96;
    let is_table =
        matches!(code.mnemonic(), iced_x86::Mnemonic::Vpternlogd | iced_x86::Mnemonic::Vpternlogq);
    Some(match kind {
        Kind::imm8 => (OpKind::Immediate8, if is_table { EXCLUSIVE_OR } else { VALUE }, "imm8"),
        Kind::imm8_const_1 => (OpKind::Immediate8, 1, "1"),
        Kind::imm8sex16 => (OpKind::Immediate8to16, VALUE, "imm8"),
        Kind::imm8sex32 => (OpKind::Immediate8to32, VALUE, "imm8"),
        Kind::imm8sex64 => (OpKind::Immediate8to64, VALUE, "imm8"),
        Kind::imm16 => (OpKind::Immediate16, 0x1234, "imm16"),
        Kind::imm32 => (OpKind::Immediate32, 0x1234_5678, "imm32"),
        Kind::imm32sex64 => (OpKind::Immediate32to64, 0x1234_5678, "imm32"),
        _ => return None,
    })
}

/// What the vectors hold: from the type in memory, or from the last letters of the mnemonic.
fn element(code: Code) -> Element {
    match code.op_code().memory_size().element_type() {
        MemorySize::Float16 => Element::Half,
        MemorySize::Float32 => Element::Single,
        MemorySize::Float64 => Element::Double,
        _ => Element::Integer,
    }
}
