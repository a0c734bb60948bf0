//! What one instruction does to the state: the decoder says what it reads and writes.

use super::state::{Cell, Cells, State};
use super::value::{Doubt, Origins, Sum, Unknown, Value, add, add_missing, doubted, worked};
use iced_x86::{
    Instruction, InstructionInfo, InstructionInfoFactory, MemorySize, Mnemonic, OpAccess, OpKind,
    Register, UsedMemory,
};

/// Where instructions are followed.
pub struct Stepper<'c> {
    pub cells: &'c mut Cells,
    pub factory: &'c mut InstructionInfoFactory,
    /// Whether nothing writes to a constant address.
    pub is_constant: &'c dyn Fn(i64) -> bool,
    /// Whether the instruction was followed before: its earlier result has the same name.
    pub again: bool,
    /// Whether a compiler made the code: then a write of a part of a register defines the whole
    /// value, and a value stays the same when it is spilled to the stack and reloaded, or extended.
    pub compiled: bool,
}

/// The operands of an instruction.
#[derive(Debug, Default)]
pub struct Step {
    /// Whether two of its operands depend on something, or its only one does.
    pub on_values: bool,
}

/// The full register that a part belongs to.
pub fn full(register: Register) -> Register {
    register.full_register()
}

/// The bits of a set of flags.
pub fn bits(flags: u32) -> impl Iterator<Item = u32> {
    (0..32).map(|bit| 1 << bit).filter(move |bit| flags & bit != 0)
}

pub fn reads(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

pub fn writes(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

impl Stepper<'_> {
    /// Follows one instruction that neither jumps nor calls.
    pub fn step(&mut self, state: &mut State, i: &Instruction) -> Step {
        if ignored(i) {
            return Step::default();
        }
        let info = self.factory.info(i).clone();
        if moves(i) || self.compiled && extends(i) {
            self.moved(state, i, &info);
            return Step::default();
        }
        if i.mnemonic() == Mnemonic::Xchg
            && i.op0_kind() == OpKind::Register
            && i.op1_kind() == OpKind::Register
            && i.op0_register() == full(i.op0_register())
        {
            let (a, b) = (i.op0_register(), i.op1_register());
            let (of_a, of_b) = (state.register(a), state.register(b));
            state.registers.extend([(a, of_b), (b, of_a)]);
            return Step::default();
        }
        self.worked(state, i, &info)
    }

    /// Moves the value of a register or memory cell unchanged.
    fn moved(&mut self, state: &mut State, i: &Instruction, info: &InstructionInfo) {
        let source = if i.mnemonic() == Mnemonic::Push { 0 } else { 1 };
        let source_is_memory = i.mnemonic() == Mnemonic::Pop || i.op_kind(source) == OpKind::Memory;
        let mut value = if source_is_memory {
            self.loaded(state, i, info)
        } else if i.op_kind(source) == OpKind::Register {
            state.register(full(i.op_register(source)))
        } else {
            Value::new(Origins::new(), Some(Sum::constant(i.immediate(source) as i64)))
        };
        let stack = self.stack_after(state, i);
        if i.op_count() > 1 && i.op_kind(source) == OpKind::Register {
            value.origins = value.bytes(i.op_register(source).size());
        }
        value.rest = None;
        let destination = (i.mnemonic() != Mnemonic::Push && i.op0_kind() == OpKind::Register)
            .then(|| i.op0_register());
        if let Some(register) = destination {
            let whole = register.size() >= 8 && !extends(i)
                || value
                    .number
                    .as_ref()
                    .and_then(Sum::number)
                    .is_some_and(|n| (0..=i64::from(u32::MAX)).contains(&n));
            if !whole {
                value.number = Some(self.made(state, i, full(register)));
            }
            state.registers.insert(full(register), value);
        } else {
            self.stored(state, i, info, &value);
        }
        if let Some(stack) = stack.filter(|_| destination != Some(Register::RSP)) {
            state.registers.insert(Register::RSP, stack);
        }
    }

    /// Everything that is written depends on everything that is read.
    fn worked(&mut self, state: &mut State, i: &Instruction, info: &InstructionInfo) -> Step {
        let clears = clears(i);
        let mut sources = Origins::new();
        let mut operands = Vec::new();
        for (register, bytes) in self.registers_read(i, info) {
            let origins = state.register(register).bytes(bytes);
            // The upper half of the dividend is computed from the lower half, or is 0.
            let upper =
                register == Register::RDX && matches!(i.mnemonic(), Mnemonic::Div | Mnemonic::Idiv);
            operands.extend((!upper).then_some(!origins.is_empty()));
            add(&mut sources, &origins);
        }
        if info.used_memory().iter().any(|memory| reads(memory.access()))
            && i.mnemonic() != Mnemonic::Lea
        {
            let origins = self.loaded(state, i, info).origins;
            operands.push(!origins.is_empty());
            add(&mut sources, &origins);
        }
        for flag in bits(i.rflags_read()) {
            add(&mut sources, &state.flag(flag).origins);
        }
        let sources = if clears { Origins::new() } else { worked(sources) };
        let number = self.number(state, i, clears);
        let stack = self.stack_after(state, i);
        self.stored(state, i, info, &Value::new(sources.clone(), None));
        self.flags(state, i, &sources);
        for (register, part) in written(info) {
            self.write(state, i, register, part.filter(|_| !clears), &sources, &number);
        }
        if let Some(stack) = stack {
            state.registers.insert(Register::RSP, stack);
        }
        Step { on_values: operands.iter().all(|operand| *operand) && !operands.is_empty() }
    }

    fn write(
        &mut self,
        state: &mut State,
        i: &Instruction,
        register: Register,
        part: Option<usize>,
        sources: &Origins,
        number: &Option<Sum>,
    ) {
        let (mut origins, old) = (sources.clone(), state.register(register));
        let keeps_rest = part.filter(|bytes| *bytes > 0 && self.compiled);
        let rest = keeps_rest.map(|bytes| (bytes, worked(old.bytes(8))));
        if part.is_some() && rest.is_none() {
            add(&mut origins, &worked(old.bytes(8)));
        } else if waits_on_some(i) && !self.compiled {
            add_missing(&mut origins, &worked(doubted(&old.origins, Doubt::Processor)));
        }
        let is_first = i.op_count() > 0
            && i.op0_kind() == OpKind::Register
            && full(i.op0_register()) == register;
        let number = number
            .clone()
            .filter(|_| is_first && part.is_none())
            .unwrap_or_else(|| self.made(state, i, register));
        // The stack pointer carries no dependence: its updates are done early by the processor.
        let origins = if register == Register::RSP { Origins::new() } else { origins };
        if register == Register::RSP
            && number.terms.iter().any(|(unknown, _)| matches!(unknown, Unknown::Made(..)))
        {
            number.terms.iter().for_each(|(unknown, _)| self.cells.frames.push(*unknown));
        }
        state.registers.insert(register, Value { origins, rest, number: Some(number) });
    }

    fn flags(&mut self, state: &mut State, i: &Instruction, sources: &Origins) {
        let constant = i.rflags_cleared() | i.rflags_set();
        // A shift by a register that holds 0 leaves the flags as they are.
        let keeps = matches!(
            i.mnemonic(),
            Mnemonic::Shl
                | Mnemonic::Shr
                | Mnemonic::Sar
                | Mnemonic::Sal
                | Mnemonic::Rol
                | Mnemonic::Ror
                | Mnemonic::Rcl
                | Mnemonic::Rcr
                | Mnemonic::Shld
                | Mnemonic::Shrd
        ) && i.op_kind(i.op_count() - 1) == OpKind::Register;
        let number = self.made(state, i, Register::RIP);
        for flag in bits(i.rflags_modified()) {
            let mut origins = if constant & flag != 0 { Origins::new() } else { sources.clone() };
            if keeps {
                add(&mut origins, &worked(state.flag(flag).origins));
            }
            state.flags.insert(flag, Value::new(origins, Some(number.clone())));
        }
    }

    /// Registers whose values go into the result: not those that only make the address of what is
    /// written.
    fn registers_read(&self, i: &Instruction, info: &InstructionInfo) -> Vec<(Register, usize)> {
        let loads = info.used_memory().iter().any(|memory| reads(memory.access()))
            || i.mnemonic() == Mnemonic::Lea;
        let named = |register: Register| {
            (0..i.op_count()).any(|at| {
                i.op_kind(at) == OpKind::Register
                    && full(i.op_register(at)) == register
                    && reads(info.op_access(at))
            })
        };
        let in_address = |register: Register| {
            info.used_memory()
                .iter()
                .any(|memory| full(memory.base()) == register || full(memory.index()) == register)
        };
        let mut read: Vec<(Register, usize)> = Vec::new();
        for used in info.used_registers().iter().filter(|used| reads(used.access())) {
            let register = full(used.register());
            let address_only = in_address(register) && !named(register) && !loads;
            let part = (register, used.register().size());
            if !address_only
                && !register.is_segment_register()
                && !register.is_st()
                && !read.contains(&part)
            {
                read.push(part);
            }
        }
        read
    }

    /// What the instruction reads from memory, with what its address depends on.
    pub fn loaded(&mut self, state: &mut State, i: &Instruction, info: &InstructionInfo) -> Value {
        let mut sum_of_cells: Option<Value> = None;
        for memory in info.used_memory().iter().filter(|memory| reads(memory.access())) {
            let cell = self.cell(state, i, memory);
            let constant = self
                .cells
                .get(cell)
                .address
                .number()
                .is_some_and(|address| (self.is_constant)(address));
            let fresh = Unknown::Made(i.ip(), Register::None);
            if self.again {
                state.forget(fresh, self.cells);
            }
            let mut value = match constant {
                true => Value::new(Origins::new(), None),
                false => state.load(cell, self.cells, fresh),
            };
            // Spilled values are at known stack addresses.
            let laid_aside = self.compiled && self.cells.in_frame(cell);
            if !laid_aside {
                self.address_origins(state, memory, &mut value.origins);
                value.origins = worked(value.origins);
            }
            if memory.memory_size().size() != 8 && !constant {
                value.number = None;
            }
            match &mut sum_of_cells {
                Some(first) => add(&mut first.origins, &value.origins),
                None => sum_of_cells = Some(value),
            }
        }
        sum_of_cells.unwrap_or(Value::new(Origins::new(), None))
    }

    fn address_origins(&self, state: &State, memory: &UsedMemory, to: &mut Origins) {
        for register in [memory.base(), memory.index()]
            .into_iter()
            .filter(|register| *register != Register::None && !register.is_ip())
        {
            add(to, &state.register(full(register)).origins);
        }
    }

    fn stored(
        &mut self,
        state: &mut State,
        i: &Instruction,
        info: &InstructionInfo,
        value: &Value,
    ) {
        for memory in info.used_memory().iter().filter(|memory| writes(memory.access())) {
            let cell = self.cell(state, i, memory);
            let mut value = value.clone();
            if matches!(memory.access(), OpAccess::CondWrite | OpAccess::ReadCondWrite)
                || i.has_rep_prefix()
                || i.has_repne_prefix()
            {
                let old = state.load(cell, self.cells, Unknown::Made(i.ip(), Register::None));
                add(&mut value.origins, &old.origins);
            }
            state.store(cell, value, self.cells);
        }
    }

    /// The cell that an operand names.
    fn cell(&mut self, state: &mut State, i: &Instruction, memory: &UsedMemory) -> usize {
        let address = self.address(state, i, memory);
        let known_size = if i.has_rep_prefix() || i.has_repne_prefix() {
            0
        } else {
            memory.memory_size().size()
        };
        // Unknown length: assume the largest store of an instruction.
        let bytes = if known_size == 0 || memory.memory_size() == MemorySize::Unknown {
            1 << 12
        } else {
            known_size as i64
        };
        self.cells.number(Cell { address, bytes })
    }

    fn address(&mut self, state: &mut State, i: &Instruction, memory: &UsedMemory) -> Sum {
        let mut address = Sum::constant(memory.displacement() as i64);
        if matches!(memory.segment(), Register::FS | Register::GS) {
            address = address.plus(&Sum::unknown(Unknown::Entry(memory.segment())));
        }
        for (register, scale) in [(memory.base(), 1), (memory.index(), memory.scale() as i64)] {
            if register != Register::None && !register.is_ip() {
                address = address.plus(&self.known(state, i, full(register)).times(scale));
            }
        }
        address
    }

    /// The number in a register; an unknown one gets a name.
    fn known(&mut self, state: &mut State, i: &Instruction, register: Register) -> Sum {
        let mut value = state.register(register);
        if let Some(number) = value.number {
            return number;
        }
        let unknown = Unknown::Used(i.ip(), register);
        state.forget(unknown, self.cells);
        value.number = Some(Sum::unknown(unknown));
        state.registers.insert(register, value);
        Sum::unknown(unknown)
    }

    fn made(&mut self, state: &mut State, i: &Instruction, register: Register) -> Sum {
        let unknown = Unknown::Made(i.ip(), register);
        if self.again {
            state.forget(unknown, self.cells);
        }
        Sum::unknown(unknown)
    }

    /// The stack pointer after instructions that change it implicitly.
    fn stack_after(&mut self, state: &mut State, i: &Instruction) -> Option<Value> {
        let moved = i.stack_pointer_increment();
        if i.mnemonic() == Mnemonic::Leave {
            let frame = self.known(state, i, Register::RBP);
            return Some(Value::new(Origins::new(), Some(frame.offset(8))));
        }
        let number = (moved != 0).then(|| self.known(state, i, Register::RSP))?;
        Some(Value::new(Origins::new(), Some(number.offset(i64::from(moved)))))
    }

    /// The number that the first operand gets, if known.
    fn number(&mut self, state: &mut State, i: &Instruction, clears: bool) -> Option<Sum> {
        if i.op_count() == 0 || i.op0_kind() != OpKind::Register {
            return None;
        }
        if clears {
            return matches!(i.mnemonic(), Mnemonic::Xor | Mnemonic::Sub).then(|| Sum::constant(0));
        }
        let register = i.op0_register();
        if register.size() != 8 || !register.is_gpr() {
            return None;
        }
        let second = |this: &mut Self, state: &mut State| match i.op1_kind() {
            OpKind::Register => Some(this.known(state, i, full(i.op1_register()))),
            OpKind::Memory => None,
            _ => Some(Sum::constant(i.immediate(1) as i64)),
        };
        match i.mnemonic() {
            Mnemonic::Lea => Some(self.lea(state, i)),
            Mnemonic::Add => Some(self.known(state, i, register).plus(&second(self, state)?)),
            Mnemonic::Sub => {
                Some(self.known(state, i, register).plus(&second(self, state)?.times(-1)))
            }
            Mnemonic::Inc => Some(self.known(state, i, register).offset(1)),
            Mnemonic::Dec => Some(self.known(state, i, register).offset(-1)),
            Mnemonic::Shl if i.op1_kind() == OpKind::Immediate8 && i.immediate8() < 32 => {
                Some(self.known(state, i, register).times(1 << i.immediate8()))
            }
            _ => None,
        }
    }

    fn lea(&mut self, state: &mut State, i: &Instruction) -> Sum {
        if i.is_ip_rel_memory_operand() {
            return Sum::constant(i.ip_rel_memory_address() as i64);
        }
        let mut sum = Sum::constant(i.memory_displacement64() as i64);
        for (register, scale) in
            [(i.memory_base(), 1), (i.memory_index(), i64::from(i.memory_index_scale()))]
        {
            if register != Register::None {
                sum = sum.plus(&self.known(state, i, full(register)).times(scale));
            }
        }
        sum
    }
}

/// Registers that are written, with the number of bytes written if the rest keeps its value,
/// otherwise 0.
pub fn written(info: &InstructionInfo) -> Vec<(Register, Option<usize>)> {
    let mut all_registers: Vec<(Register, Option<usize>)> = Vec::new();
    for used in info.used_registers().iter().filter(|used| writes(used.access())) {
        let register = used.register();
        let at_times = matches!(used.access(), OpAccess::CondWrite | OpAccess::ReadCondWrite);
        let high = matches!(register, Register::AH | Register::BH | Register::CH | Register::DH);
        let part = match () {
            () if at_times || high => Some(0),
            () if register.is_gpr8() || register.is_gpr16() => Some(register.size()),
            () => None,
        };
        if !all_registers.iter().any(|(other, _)| *other == full(register))
            && !register.is_segment_register()
            && !register.is_st()
        {
            all_registers.push((full(register), part));
        }
    }
    all_registers
}

fn ignored(i: &Instruction) -> bool {
    matches!(
        i.mnemonic(),
        Mnemonic::Nop
            | Mnemonic::Endbr64
            | Mnemonic::Endbr32
            | Mnemonic::Pause
            | Mnemonic::Prefetcht0
            | Mnemonic::Prefetcht1
            | Mnemonic::Prefetcht2
            | Mnemonic::Prefetchnta
            | Mnemonic::Prefetchw
            | Mnemonic::Clflush
            | Mnemonic::Clflushopt
            | Mnemonic::Clwb
            | Mnemonic::Mfence
            | Mnemonic::Lfence
            | Mnemonic::Sfence
    )
}

/// Whether an instruction only moves a whole value.
pub fn moves(i: &Instruction) -> bool {
    use Mnemonic::*;
    let whole = || {
        (0..i.op_count()).all(|at| {
            i.op_kind(at) != OpKind::Register
                || i.op_register(at).size() >= 4
                    && (i.op_register(at).is_gpr() || i.op_register(at).is_vector_register())
        })
    };
    // A move to a register of another kind takes cycles, which a chain of such moves shows.
    let crosses = || i.op0_register().is_gpr() != i.op1_register().is_gpr();
    let register_pair = || i.op0_kind() == OpKind::Register && i.op1_kind() == OpKind::Register;
    match i.mnemonic() {
        Push | Pop => i.op0_kind() != OpKind::Memory && whole(),
        Mov => {
            whole()
                && (i.op0_kind() != OpKind::Memory
                    || i.memory_size().size() >= 4
                        && !(i.op1_kind() == OpKind::Register && i.op1_register().size() < 4))
        }
        Movaps | Movapd | Movups | Movupd | Movdqa | Movdqu | Movq | Movd | Vmovaps | Vmovapd
        | Vmovups | Vmovupd | Vmovdqa | Vmovdqu | Vmovq | Vmovd | Vmovdqa32 | Vmovdqa64
        | Vmovdqu32 | Vmovdqu64 => i.op_mask() == Register::None && !(register_pair() && crosses()),
        Movss | Movsd | Vmovss | Vmovsd => {
            i.op_count() == 2
                && i.op_mask() == Register::None
                && !register_pair()
                && !i.is_string_instruction()
        }
        _ => false,
    }
}

/// Whether an instruction extends an integer.
pub fn extends(i: &Instruction) -> bool {
    matches!(i.mnemonic(), Mnemonic::Movsxd | Mnemonic::Movsx | Mnemonic::Movzx)
        && i.op0_register().size() >= 4
}

/// Zeroing idioms such as `xor eax, eax`: processors know that the result does not depend on the
/// register.
fn clears(i: &Instruction) -> bool {
    use Mnemonic::*;
    let clearing = matches!(
        i.mnemonic(),
        Xor | Sub
            | Xorps
            | Xorpd
            | Pxor
            | Psubb
            | Psubw
            | Psubd
            | Psubq
            | Pcmpeqb
            | Pcmpeqw
            | Pcmpeqd
            | Pcmpeqq
            | Pcmpgtb
            | Pcmpgtw
            | Pcmpgtd
            | Pcmpgtq
            | Vxorps
            | Vxorpd
            | Vpxor
            | Vpxord
            | Vpxorq
            | Vpsubb
            | Vpsubw
            | Vpsubd
            | Vpsubq
            | Vpcmpeqb
            | Vpcmpeqw
            | Vpcmpeqd
            | Vpcmpeqq
            | Vpcmpgtb
            | Vpcmpgtw
            | Vpcmpgtd
            | Vpcmpgtq
    );
    let last = i.op_count().saturating_sub(1);
    let registers =
        last >= 1 && i.op_kind(last) == OpKind::Register && i.op_kind(last - 1) == OpKind::Register;
    clearing
        && registers
        && i.op_register(last) == i.op_register(last - 1)
        && i.op_register(last).size() >= 4
        && i.op_mask() == Register::None
}

/// Bit-counting instructions that wait for their destination register on some processors only.
fn waits_on_some(i: &Instruction) -> bool {
    matches!(i.mnemonic(), Mnemonic::Popcnt | Mnemonic::Lzcnt | Mnemonic::Tzcnt)
}
