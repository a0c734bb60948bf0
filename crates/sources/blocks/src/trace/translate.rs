//! Makes the instrumented copy of a function: the same instructions elsewhere, and code at its
//! branches that logs where they go.
//!
//! Neither flags nor stack nor registers differ from those of the original, nor do return
//! addresses: a call pushes the original one. What cannot be copied is an exit, a breakpoint at
//! which the tracer goes on with the original instruction.

use super::assembly::Assembly;
use super::room::{Room, TARGETS};
use crate::binary::{Code, Flow, is_padding};
use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind, Register};
use std::collections::{BTreeSet, HashMap};

/// What the copy logs, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A branch went to a target.
    Branch(u64, u64),
    /// An indirect jump was reached; its target follows.
    Jump(u64),
    /// The target of an indirect jump.
    Target(u64),
    /// The end of a partial run was reached, not by a branch.
    Place(u64),
}

/// The function that is copied, at the addresses where it runs.
#[derive(Debug, Clone, Copy)]
pub struct Original<'a> {
    /// Its code.
    pub code: &'a Code,
    /// Its entry.
    pub entry: u64,
    /// Its landing pads.
    pub handlers: &'a BTreeSet<u64>,
}

impl Original<'_> {
    /// Whether control may enter the function at an address from outside.
    fn is_watched(&self, at: u64) -> bool {
        at == self.entry || self.handlers.contains(&at)
    }
}

/// Where an address of the function is in the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Copied {
    /// For control that comes there by a branch.
    by_branch: u64,
    /// For control that comes there without one.
    by_flow: u64,
}

/// A place in the copy that is not known yet.
#[derive(Debug, Clone, Copy)]
struct Open {
    at: usize,
    to: u64,
    by_branch: bool,
}

/// The copy, as far as it was made. It is the same for all processes that have the function and the
/// room at the same addresses.
#[derive(Debug)]
pub struct Translation {
    room: Room,
    entry: u64,
    ends: BTreeSet<u64>,
    assembly: Assembly,
    copied: HashMap<u64, Copied>,
    open: Vec<Open>,
    queue: Vec<u64>,
    events: Vec<Event>,
    /// Exits by their address in the copy.
    exits: HashMap<u64, u64>,
    /// Where the copy of each instruction begins.
    origins: Vec<(u64, u64)>,
    /// Return addresses of calls.
    returns: BTreeSet<u64>,
    /// Those to which a call has returned.
    returned: BTreeSet<u64>,
    /// Targets of indirect jumps: their place in the table, the target, and the code for it.
    targets: Vec<(u64, u64, u64)>,
}

/// Registers that the code for indirect jumps uses, by the words that keep them.
const RCX: u64 = 0;
const RAX: u64 = 1;
const RDX: u64 = 2;
const GOAL: u64 = 3;

impl Translation {
    /// An empty copy; partial runs end at `ends`.
    pub fn new(room: Room, entry: u64, ends: BTreeSet<u64>) -> Translation {
        Translation {
            room,
            entry,
            ends,
            assembly: Assembly::at(room.code().start),
            copied: HashMap::new(),
            open: Vec::new(),
            queue: Vec::new(),
            events: Vec::new(),
            exits: HashMap::new(),
            origins: Vec::new(),
            returns: BTreeSet::new(),
            returned: BTreeSet::new(),
            targets: Vec::new(),
        }
    }

    /// Whether it is a copy of this function at this place, with these ends.
    pub fn fits<'a>(&self, room: Room, entry: u64, ends: impl Iterator<Item = &'a u64>) -> bool {
        self.room == room && self.entry == entry && self.ends.iter().eq(ends)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.assembly.bytes()
    }

    /// What the numbers in the log mean.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The original address of an exit.
    pub fn exit(&self, at: u64) -> Option<u64> {
        self.exits.get(&at).copied()
    }

    /// The original address of the instruction to which an address of the copy belongs.
    pub fn origin(&self, at: u64) -> Option<u64> {
        let before = self.origins.partition_point(|(start, _)| *start <= at);
        let inside = self.room.code().start <= at && at < self.assembly.here();
        inside
            .then(|| self.origins.get(before.checked_sub(1)?))
            .flatten()
            .map(|(_, original)| *original)
    }

    /// Where an address of the function is in the copy, for control that comes there without a
    /// branch.
    pub fn by_flow(&self, address: u64) -> Option<u64> {
        self.copied.get(&address).map(|copied| copied.by_flow)
    }

    /// Return addresses of the calls in the copy.
    pub fn returns(&self) -> &BTreeSet<u64> {
        &self.returns
    }

    /// Notes that a call has returned to an address; returns whether that is new.
    pub fn note_return(&mut self, at: u64) -> bool {
        self.returned.insert(at)
    }

    /// Whether nothing but code is in these bytes behind a call, so that a jump may stand there.
    /// What follows a call that never returns, or an instruction that does not go on, may be data
    /// that the function reads.
    pub fn is_code(&self, original: Original<'_>, range: std::ops::Range<u64>) -> bool {
        let (mut at, mut goes_on) = (range.start, self.returned.contains(&range.start));
        while at < range.end {
            let Some(instruction) = original.code.decode(at) else { return false };
            if !goes_on && !self.copied.contains_key(&at) && !is_padding(&instruction) {
                return false;
            }
            goes_on = matches!(
                original.code.flow(&instruction, original.entry),
                Flow::Next | Flow::Conditional(_)
            );
            at = instruction.next_ip();
        }
        true
    }

    /// Targets of indirect jumps: their place in the table, the target, and the code for it.
    pub fn targets(&self) -> &[(u64, u64, u64)] {
        &self.targets
    }

    /// Where an address of the function is in the copy, for control that comes there by a branch:
    /// it is copied now if it was not before, with all that is known to follow. `None` if the room
    /// is full.
    pub fn by_branch(&mut self, original: Original<'_>, address: u64) -> Option<u64> {
        if !self.is_full() && !self.copied.contains_key(&address) {
            self.queue.push(address);
            self.copy_all(original);
        }
        self.copied.get(&address).filter(|_| !self.is_full()).map(|copied| copied.by_branch)
    }

    /// Lets indirect jumps find a target.
    pub fn add_target(&mut self, target: u64) {
        let (place, Some(copied)) = (target % TARGETS, self.copied.get(&target).copied()) else {
            return;
        };
        // Another target at the same place keeps it: this one takes a stop each time.
        if self.is_full() || self.targets.iter().any(|(taken, ..)| *taken == place) {
            return;
        }
        self.targets.push((place, target, self.assembly.here()));
        self.log(Event::Target(target));
        self.assembly.relative(&[0xe9], copied.by_branch);
    }

    /// Whether it does not fit into its room, or something more might not.
    fn is_full(&self) -> bool {
        const SPARE_BYTES: u64 = 256;
        self.assembly.here() + SPARE_BYTES > self.room.code().end
    }

    fn copy_all(&mut self, original: Original<'_>) {
        while let Some(address) = self.queue.pop() {
            if !self.copied.contains_key(&address) {
                self.copy_from(original, address);
            }
        }
        for open in std::mem::take(&mut self.open) {
            if let Some(copied) = self.copied.get(&open.to) {
                self.assembly
                    .close(open.at, if open.by_branch { copied.by_branch } else { copied.by_flow });
            }
        }
    }

    /// Copies instructions from an address on, up to one that does not go on.
    fn copy_from(&mut self, original: Original<'_>, address: u64) {
        let mut next = Some(address);
        while let Some(at) = next {
            if at != address && (original.is_watched(at) || !original.code.contains(at)) {
                return self.exit_to(at);
            }
            if self.copied.contains_key(&at) {
                return self.jump(at, false);
            }
            self.origins.push((self.assembly.here(), at));
            self.begin(at);
            let Some(instruction) = original.code.decode(at) else { return self.exit_to(at) };
            next = self.copy(original, &instruction);
        }
    }

    /// Notes that the copy of an address begins here.
    fn begin(&mut self, at: u64) {
        let by_flow = self.assembly.here();
        if self.ends.contains(&at) {
            self.log(Event::Place(at));
        }
        self.copied.insert(at, Copied { by_branch: self.assembly.here(), by_flow });
    }

    /// Copies one instruction; returns where the copy goes on.
    fn copy(&mut self, original: Original<'_>, instruction: &Instruction) -> Option<u64> {
        let next = instruction.next_ip();
        match original.code.flow(instruction, original.entry) {
            Flow::Next => return self.plain(original.code, instruction),
            Flow::Call => return self.call(instruction),
            Flow::Jump(to) if original.code.contains(to) => {
                if instruction.is_call_near() {
                    self.push(next);
                }
                return Some(to);
            }
            Flow::Conditional(to) => self.branch(original.code, instruction, to),
            Flow::Indirect if instruction.is_jmp_near_indirect() => self.indirect(instruction),
            _ => self.exit_to(instruction.ip()),
        }
        None
    }

    /// An instruction after which the next one follows.
    fn plain(&mut self, code: &Code, instruction: &Instruction) -> Option<u64> {
        let (at, next) = (instruction.ip(), instruction.next_ip());
        if instruction.is_ip_rel_memory_operand() {
            if !self.assembly.instruction(instruction) {
                self.exit_to(at);
                return None;
            }
        } else {
            let bytes: Vec<u8> = (at..next).filter_map(|at| code.byte(at)).collect();
            self.assembly.raw(&bytes);
        }
        if instruction.mnemonic() == Mnemonic::Syscall {
            // The system call leaves its return address in rcx: mov rcx, imm64.
            self.assembly.raw(&[0x48, 0xb9]);
            self.assembly.raw(&next.to_le_bytes());
        }
        Some(next)
    }

    /// A call: it returns to the original code, from where a jump leads back.
    fn call(&mut self, instruction: &Instruction) -> Option<u64> {
        let next = instruction.next_ip();
        if instruction.is_call_near() {
            self.push(next);
            self.assembly.jump_far(instruction.near_branch_target());
        } else if instruction.is_call_near_indirect() {
            self.keep(RCX, true);
            if !self.load_operand(instruction) {
                self.exit_to(instruction.ip());
                return None;
            }
            // mov [goal], rcx
            self.assembly.relative(&[0x48, 0x89, 0x0d], self.room.word(GOAL));
            self.keep(RCX, false);
            self.push(next);
            // jmp [goal]
            self.assembly.relative(&[0xff, 0x25], self.room.word(GOAL));
        } else {
            self.exit_to(instruction.ip());
            return None;
        }
        self.returns.insert(next);
        Some(next)
    }

    /// Pushes a word without a register: push [rip + 2], and a jump over the word.
    fn push(&mut self, word: u64) {
        self.assembly.raw(&[0xff, 0x35, 2, 0, 0, 0, 0xeb, 8]);
        self.assembly.raw(&word.to_le_bytes());
    }

    /// A branch with two targets.
    fn branch(&mut self, code: &Code, instruction: &Instruction, to: u64) {
        let (site, next) = (instruction.ip(), instruction.next_ip());
        let inside = code.contains(to) && code.contains(next);
        if inside && instruction.is_jcc_short_or_near() {
            // The same condition with a near distance.
            let taken_jump = self.assembly.open(&[0x0f, 0x80 | condition(instruction)]);
            self.went(site, next);
            let here = self.assembly.here();
            self.assembly.close(taken_jump, here);
            self.went(site, to);
        } else if inside
            && (instruction.is_jcx_short() || instruction.is_loop() || instruction.is_loopcc())
        {
            // These have a short distance only: over a near jump.
            let bytes: Vec<u8> = (site..next - 1).filter_map(|at| code.byte(at)).collect();
            self.assembly.raw(&bytes);
            self.assembly.raw(&[0]);
            let short = self.assembly.bytes().len() - 1;
            let near_jump = self.assembly.open(&[0xe9]);
            let fits = self.assembly.close_short(short);
            debug_assert!(fits, "one near jump");
            self.went(site, to);
            let here = self.assembly.here();
            self.assembly.close(near_jump, here);
            self.went(site, next);
        } else {
            self.exit_to(site);
        }
    }

    /// Logs a branch, and goes on at its target.
    fn went(&mut self, site: u64, to: u64) {
        self.log(Event::Branch(site, to));
        self.jump(to, true);
    }

    /// An indirect jump: its target is looked up in the table, with additions and `jrcxz`, which
    /// leave the flags alone.
    fn indirect(&mut self, instruction: &Instruction) {
        for register in [RCX, RAX, RDX] {
            self.keep(register, true);
        }
        if !self.load_operand(instruction) {
            return self.exit_to(instruction.ip());
        }
        // movzx edx, cx
        self.assembly.raw(&[0x0f, 0xb7, 0xd1]);
        // lea rax, [table]; lea rax, [rax + 8 * rdx]; mov rdx, [rax]; lea rcx, [rcx + rdx]; mov
        // rax, [rax + distance]
        self.assembly.relative(&[0x48, 0x8d, 0x05], self.room.table());
        self.assembly.raw(&[
            0x48, 0x8d, 0x04, 0xd0, 0x48, 0x8b, 0x10, 0x48, 0x8d, 0x0c, 0x11, 0x48, 0x8b, 0x80,
        ]);
        self.assembly.raw(&Room::distance().to_le_bytes());
        // mov [goal], rax; jrcxz
        self.assembly.relative(&[0x48, 0x89, 0x05], self.room.word(GOAL));
        self.assembly.raw(&[0xe3, 0]);
        let zero_jump = self.assembly.bytes().len() - 1;
        self.give_back();
        self.exit_to(instruction.ip());
        let fits = self.assembly.close_short(zero_jump);
        debug_assert!(fits, "three loads and an exit");
        self.give_back();
        self.log(Event::Jump(instruction.ip()));
        self.assembly.relative(&[0xff, 0x25], self.room.word(GOAL));
    }

    fn give_back(&mut self) {
        for register in [RCX, RAX, RDX] {
            self.keep(register, false);
        }
    }

    /// Saves a register to its word, or loads it.
    fn keep(&mut self, register: u64, saves: bool) {
        let operation = if saves { 0x89 } else { 0x8b };
        let operand = match register {
            RAX => 0x05,
            RDX => 0x15,
            _ => 0x0d,
        };
        self.assembly.relative(&[0x48, operation, operand], self.room.word(register));
    }

    /// Loads the operand of an indirect jump or call into rcx.
    fn load_operand(&mut self, instruction: &Instruction) -> bool {
        let mut load = *instruction;
        load.set_code(iced_x86::Code::Mov_r64_rm64);
        load.set_op1_kind(instruction.op0_kind());
        load.set_op1_register(if instruction.op0_kind() == OpKind::Register {
            instruction.op0_register()
        } else {
            Register::None
        });
        load.set_op0_kind(OpKind::Register);
        load.set_op0_register(Register::RCX);
        load.set_has_repne_prefix(false);
        self.assembly.instruction(&load)
    }

    /// Adds the number of an event to the log.
    fn log(&mut self, event: Event) {
        let number = self.events.len() as u32;
        self.events.push(event);
        let cursor = self.room.cursor();
        self.keep(RCX, true);
        // mov rcx, [cursor]; mov dword [rcx], number; lea rcx, [rcx + 4]; mov [cursor], rcx
        self.assembly.relative(&[0x48, 0x8b, 0x0d], cursor);
        self.assembly.raw(&[0xc7, 0x01]);
        self.assembly.raw(&number.to_le_bytes());
        self.assembly.raw(&[0x48, 0x8d, 0x49, super::room::EVENT as u8]);
        self.assembly.relative(&[0x48, 0x89, 0x0d], cursor);
        self.keep(RCX, false);
    }

    fn exit_to(&mut self, original: u64) {
        self.exits.insert(self.assembly.here(), original);
        self.assembly.raw(&[super::process::BREAKPOINT]);
    }

    /// Jumps to the copy of an address, which is made if it is not there.
    fn jump(&mut self, to: u64, by_branch: bool) {
        let at = self.assembly.open(&[0xe9]);
        self.open.push(Open { at, to, by_branch });
        self.queue.push(to);
    }
}

/// The number of a condition in the machine code of branches.
fn condition(instruction: &Instruction) -> u8 {
    match instruction.condition_code() {
        ConditionCode::o => 0,
        ConditionCode::no => 1,
        ConditionCode::b => 2,
        ConditionCode::ae => 3,
        ConditionCode::e => 4,
        ConditionCode::ne => 5,
        ConditionCode::be => 6,
        ConditionCode::a => 7,
        ConditionCode::s => 8,
        ConditionCode::ns => 9,
        ConditionCode::p => 10,
        ConditionCode::np => 11,
        ConditionCode::l => 12,
        ConditionCode::ge => 13,
        ConditionCode::le => 14,
        ConditionCode::None | ConditionCode::g => 15,
    }
}
