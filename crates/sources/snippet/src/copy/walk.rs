//! Follows the code of a row from its first instruction through its copies.

mod unfollowed;

use super::image::Image;
use super::library::pure;
use super::state::{Cell, Cells, State};
use super::step::{Stepper, bits, full, writes};
use super::value::{Origins, Place, Sum, Unknown, Value, add, untouched};
use crate::copied::Work;
use iced_x86::{
    CpuidFeature, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory,
    Mnemonic, OpKind, Register, RflagsBits,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of instructions followed.
const MOST_STEPS: usize = 20_000;
/// Two states of so many origins are joined in the time of a step. Without a price, branches that
/// call each other, as in `std::sort`, took ten seconds before the steps were used up.
const SIZE_OF_A_STEP: usize = 64;
/// Maximum number of memory cells.
const MOST_CELLS: usize = 400;
/// Maximum depth of nested calls.
const MOST_DEPTH: usize = 8;
const TOO_LONG: &str = "the code is too long to be followed";

/// What happens at an address between two instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A variable of the request is in a register: its number, and the register.
    Variable(usize, Register),
    /// A copy begins (or, for the last one, ends).
    Boundary,
}

/// Events with the number of their copy, by address, in order.
pub type Events = BTreeMap<u64, Vec<(usize, Event)>>;

/// The dependences from one copy to the next.
#[derive(Debug, Default)]
pub struct Carried {
    /// For each place what its value at the end of the copy depends on at its start.
    pub edges: BTreeMap<Place, Origins>,
    /// Registers that held variables at the start or the end: they are named after these.
    pub taken: BTreeSet<Register>,
    /// Why copies may be chained where no edge shows it.
    pub doubt: Option<String>,
    /// A serialising instruction, if there is one.
    pub fence: Option<String>,
    /// Addresses of the instructions of the copy itself, and of what it calls.
    pub own_addresses: BTreeSet<u64>,
    /// Registers that the copy changes.
    pub written: BTreeSet<Register>,
    /// Operations of the copy.
    pub work: Work,
    /// Registers at the end, with their numbers, for the names of addresses.
    pub numbers: Vec<(Register, Sum)>,
    /// Variables that take their next value from memory, at an address that depends on the one
    /// before: what they point to is walked.
    pub walked: BTreeSet<usize>,
    /// Variables on whose values at the start of the copy it depends where it loads from.
    pub indexes: BTreeSet<usize>,
    /// Variables on whose values at the start of the copy it depends which way a branch goes.
    pub decides: BTreeSet<usize>,
    /// Functions of other libraries that the copy calls, with the places of the calls.
    pub calls: BTreeSet<(u64, String)>,
    /// Names of the memory in the edges.
    pub cell_names: BTreeMap<usize, String>,
}

/// Return addresses, and the address itself.
type Point = (Vec<u64>, u64);

pub struct Walk<'i> {
    image: &'i Image,
    events: &'i Events,
    pub cells: Cells,
    factory: InstructionInfoFactory,
    steps: usize,
    visited: BTreeSet<Point>,
    pub carried: Carried,
    /// Whether what is carried is recorded: only in the last copy.
    last: bool,
    /// Whether a compiler made its code.
    compiled: bool,
}

impl<'i> Walk<'i> {
    pub fn new(image: &'i Image, events: &'i Events, cells: Cells, compiled: bool) -> Walk<'i> {
        let (factory, carried) = (InstructionInfoFactory::new(), Carried::default());
        Walk {
            image,
            events,
            cells,
            factory,
            steps: MOST_STEPS,
            visited: BTreeSet::new(),
            carried,
            last: false,
            compiled,
        }
    }

    /// Follows from the entry to the boundary of the last copy; what is carried over it is then in
    /// `carried`.
    ///
    /// # Errors
    /// Why the code cannot be followed.
    pub fn follow(&mut self, entry: u64, last: usize) -> Result<(), String> {
        self.cells.frames.push(Unknown::Entry(Register::RSP));
        let mut points = vec![((Vec::new(), entry), State::default())];
        for copy in 0..=last {
            self.last = copy == last;
            let taken = std::mem::take(&mut self.carried.taken);
            self.carried = Carried { taken, ..Carried::default() };
            points = self.until(points, copy)?;
            if points.is_empty() {
                return Err("the end of a copy is not reached".into());
            }
        }
        Ok(())
    }

    /// # Errors
    /// If too few steps are left, or there are too many memory cells.
    fn take_steps(&mut self, steps: usize) -> Result<(), String> {
        self.steps = self
            .steps
            .checked_sub(steps)
            .filter(|_| self.cells.len() < MOST_CELLS)
            .ok_or(TOO_LONG)?;
        Ok(())
    }

    /// Follows all paths to the boundary of a copy.
    fn until(
        &mut self,
        from: Vec<(Point, State)>,
        copy: usize,
    ) -> Result<Vec<(Point, State)>, String> {
        let mut known_states: BTreeMap<Point, State> = BTreeMap::new();
        let mut ends: BTreeMap<Point, State> = BTreeMap::new();
        let mut open = from;
        while let Some((point, state)) = open.pop() {
            let state = match known_states.get(&point) {
                Some(before) => {
                    let joined = before.join(&state);
                    self.take_steps(joined.size() / SIZE_OF_A_STEP)?;
                    if joined == *before {
                        continue;
                    }
                    joined
                }
                None => state,
            };
            known_states.insert(point.clone(), state.clone());
            self.run(point, state, copy, &mut open, &mut ends)?;
        }
        for ((_, address), state) in &mut ends {
            self.boundary(state, *address);
        }
        Ok(ends.into_iter().collect())
    }

    /// Follows the instructions from a point to the next branch.
    fn run(
        &mut self,
        mut point: Point,
        mut state: State,
        copy: usize,
        open: &mut Vec<(Point, State)>,
        ends: &mut BTreeMap<Point, State>,
    ) -> Result<(), String> {
        let mut decoder = Decoder::new(64, &[], DecoderOptions::NONE);
        let mut at = None;
        loop {
            if self.happens(&point, &mut state, copy) {
                // After a boundary an address counts as not yet visited.
                let joined =
                    ends.get(&point).map_or_else(|| state.clone(), |other| other.join(&state));
                ends.insert(point, joined);
                return Ok(());
            }
            self.take_steps(1)?;
            if at != Some(point.1) {
                decoder =
                    Decoder::with_ip(64, self.image.code(point.1), point.1, DecoderOptions::NONE);
            }
            let i = decoder.decode();
            if i.is_invalid() {
                return Err(format!("the bytes at {:#x} are not an instruction", point.1));
            }
            let first = self.visited.insert(point.clone());
            self.carried.own_addresses.extend(point.0.is_empty().then_some(point.1));
            at = Some(i.next_ip());
            match self.one(&mut state, &i, !first, &mut point)? {
                Next::On => {}
                Next::Ends => return Ok(()),
                Next::Either(target) => {
                    self.carried.work.branches = true;
                    open.push(((point.0.clone(), target), state.clone()));
                    open.push((point, state));
                    return Ok(());
                }
            }
        }
    }

    /// Applies the events at an address; returns whether the copy ends there.
    fn happens(&mut self, point: &Point, state: &mut State, copy: usize) -> bool {
        let Some(events) = self.events.get(&point.1).filter(|_| point.0.is_empty()) else {
            return false;
        };
        for (of, event) in events.iter().filter(|(of, _)| *of == copy) {
            match event {
                Event::Boundary => return *of == copy,
                Event::Variable(variable, register) => {
                    let mut value = state.register(*register);
                    if self.last {
                        let is_loaded =
                            matches!(&value.number, Some(number) if number.is_from_memory());
                        if is_loaded
                            && value.origins.contains_key(&(Place::Variable(*variable), true))
                        {
                            self.carried.walked.insert(*variable);
                        }
                        let old = self
                            .carried
                            .edges
                            .insert(Place::Variable(*variable), value.origins.clone());
                        if let Some(old) = old {
                            let origins_of_both = super::value::either(&old, &value.origins);
                            self.carried.edges.insert(Place::Variable(*variable), origins_of_both);
                        }
                    }
                    self.carried.taken.insert(*register);
                    value.origins = untouched(Place::Variable(*variable));
                    value.rest = None;
                    state.registers.insert(*register, value);
                }
            }
        }
        false
    }

    /// At the end of a copy every place becomes an origin, in addition to the origins of its value.
    fn boundary(&mut self, state: &mut State, address: u64) {
        let last = self.last;
        let mut places: Vec<(Place, &mut Origins)> = Vec::new();
        state.flags = bits(ALL_FLAGS).map(|bit| (bit, state.flag(bit))).collect();
        for register in Register::values().filter(|register| {
            full(*register) == *register
                && (register.is_gpr64() || register.is_zmm() || register.is_k())
        }) {
            let value = state.register(register);
            state.registers.insert(register, value);
        }
        // Their numbers stay unknown, but are the same from here on.
        let registers = state.registers.iter_mut().map(|(register, value)| (*register, value));
        for (register, value) in
            registers.chain(state.flags.values_mut().map(|value| (Register::RIP, value)))
        {
            value.number.get_or_insert_with(|| Sum::unknown(Unknown::Used(address, register)));
        }
        self.carried.numbers.extend(
            state
                .registers
                .iter()
                .filter_map(|(register, value)| Some((*register, value.number.clone()?))),
        );
        places.extend(
            state
                .registers
                .iter_mut()
                .filter(|(register, _)| **register != Register::RSP)
                .map(|(register, value)| (Place::Register(*register), &mut value.origins)),
        );
        places.extend(
            state.flags.iter_mut().map(|(flag, value)| (Place::Flag(*flag), &mut value.origins)),
        );
        places.extend(
            state
                .cells
                .iter_mut()
                .map(|(cell, held)| (Place::Memory(*cell), &mut held.value.origins)),
        );
        for (place, origins) in places {
            if last {
                let edge = match self.carried.edges.get(&place) {
                    Some(other) => super::value::either(other, origins),
                    None => origins.clone(),
                };
                self.carried.edges.insert(place, edge);
            }
            origins.insert((place, false), None);
        }
        state.conditions.clear();
    }

    fn one(
        &mut self,
        state: &mut State,
        i: &Instruction,
        again: bool,
        point: &mut Point,
    ) -> Result<Next, String> {
        point.1 = i.next_ip();
        match i.flow_control() {
            FlowControl::Next => {
                self.plain(state, i, again);
                Ok(Next::On)
            }
            FlowControl::Interrupt => {
                self.doubt(|| "a system call may keep state".to_owned());
                self.unknown_call(state);
                Ok(Next::On)
            }
            FlowControl::UnconditionalBranch => self.jumped(state, i.near_branch_target(), point),
            FlowControl::ConditionalBranch => {
                self.decide(state, i, again);
                Ok(Next::Either(i.near_branch_target()))
            }
            FlowControl::Return => self.returned(state, point),
            FlowControl::Call => self.called(state, i.near_branch_target(), point),
            FlowControl::IndirectCall => {
                let slot = i.is_ip_rel_memory_operand().then(|| i.ip_rel_memory_address());
                match slot.and_then(|slot| self.image.import(slot)) {
                    Some(name) => Ok(self.imported(state, name, point.1)),
                    None => {
                        self.doubt(|| {
                            "a function called through a pointer may keep state".to_owned()
                        });
                        self.unknown_call(state);
                        Ok(Next::On)
                    }
                }
            }
            FlowControl::IndirectBranch => {
                let slot = i.is_ip_rel_memory_operand().then(|| i.ip_rel_memory_address());
                match slot.and_then(|slot| self.image.import(slot)) {
                    Some(name) => match self.imported(state, name, point.1) {
                        Next::On => self.returned(state, point),
                        ends => Ok(ends),
                    },
                    None => Err("a jump to a computed address cannot be followed".into()),
                }
            }
            FlowControl::Exception => Ok(Next::Ends),
            FlowControl::XbeginXabortXend => Err("a transaction cannot be followed".into()),
        }
    }

    /// A conditional branch: what it looks at decides which way it goes.
    fn decide(&mut self, state: &mut State, i: &Instruction, again: bool) {
        let mut looked_at = Origins::new();
        bits(i.rflags_read()).for_each(|flag| add(&mut looked_at, &state.flag(flag).origins));
        if !i.is_jcc_short_or_near() {
            add(&mut looked_at, &state.register(Register::RCX).origins);
            self.plain(state, i, again);
        }
        if self.last {
            self.carried.decides.extend(variables(&looked_at));
        }
        add(&mut state.conditions, &looked_at);
    }

    /// A jump to a function of another library is a call at the end of this one.
    fn jumped(
        &mut self,
        state: &mut State,
        target: u64,
        point: &mut Point,
    ) -> Result<Next, String> {
        point.1 = target;
        match self.imported_by(target) {
            None => Ok(Next::On),
            Some(name) => match self.imported(state, &name, target) {
                Next::On => self.returned(state, point),
                ends => Ok(ends),
            },
        }
    }

    fn returned(&mut self, state: &mut State, point: &mut Point) -> Result<Next, String> {
        let Some(back) = point.0.pop() else { return Ok(Next::Ends) };
        point.1 = back;
        let stack = state.register(Register::RSP);
        let number = stack.number.map(|number| number.offset(8));
        state.registers.insert(Register::RSP, Value::new(Origins::new(), number));
        Ok(Next::On)
    }

    fn called(
        &mut self,
        state: &mut State,
        target: u64,
        point: &mut Point,
    ) -> Result<Next, String> {
        if let Some(name) = self.imported_by(target) {
            return Ok(self.imported(state, &name, point.1));
        }
        let name = self.image.symbol(target).map(|(_, _, name)| name.clone());
        if let Some(signature) = name.as_deref().and_then(pure) {
            self.pure_call(state, signature);
            return Ok(Next::On);
        }
        if point.0.len() >= MOST_DEPTH || point.0.contains(&point.1) {
            self.doubt(|| {
                format!(
                    "{} nests calls too deeply to be followed",
                    name.as_deref().unwrap_or("a function")
                )
            });
            self.unknown_call(state);
            return Ok(Next::On);
        }
        point.0.push(point.1);
        point.1 = target;
        let stack = state.register(Register::RSP);
        let number = stack.number.map(|number| number.offset(-8));
        if let Some(address) = number.clone() {
            let cell = self.cells.number(Cell { address, bytes: 8 });
            state.store(cell, Value::new(Origins::new(), None), &self.cells);
        }
        state.registers.insert(Register::RSP, Value::new(Origins::new(), number));
        Ok(Next::On)
    }

    /// The imported function that a linker stub jumps to.
    fn imported_by(&self, target: u64) -> Option<String> {
        let mut decoder =
            Decoder::with_ip(64, self.image.code(target), target, DecoderOptions::NONE);
        let mut i = decoder.decode();
        if i.mnemonic() == Mnemonic::Endbr64 {
            i = decoder.decode();
        }
        let jumps = i.flow_control() == FlowControl::IndirectBranch
            && i.op0_kind() == OpKind::Memory
            && i.is_ip_rel_memory_operand();
        jumps.then(|| self.image.import(i.ip_rel_memory_address()).map(str::to_owned)).flatten()
    }

    /// Records the variables in the address that an instruction reads.
    fn load_from(&mut self, state: &State, i: &Instruction) {
        let reads = |used: &&iced_x86::UsedMemory| {
            matches!(used.access(), iced_x86::OpAccess::Read | iced_x86::OpAccess::ReadWrite)
        };
        let registers: Vec<Register> = self
            .factory
            .info(i)
            .used_memory()
            .iter()
            .filter(reads)
            .flat_map(|used| [used.base(), used.index()])
            .collect();
        let is_plain = |register: &Register| register.is_gpr() && full(*register) != Register::RSP;
        for register in registers.into_iter().filter(is_plain) {
            self.carried.indexes.extend(variables(&state.register(full(register)).origins));
        }
    }

    fn doubt(&mut self, why: impl FnOnce() -> String) {
        self.carried.doubt.get_or_insert_with(why);
    }

    fn plain(&mut self, state: &mut State, i: &Instruction, again: bool) {
        if is_x87(i) {
            let name = format!("{:?}", i.mnemonic()).to_lowercase();
            self.doubt(|| format!("{name} works on the x87 stack"));
        }
        if matches!(i.mnemonic(), Mnemonic::Lfence | Mnemonic::Serialize | Mnemonic::Cpuid) {
            self.carried.fence.get_or_insert_with(|| format!("{:?}", i.mnemonic()).to_lowercase());
        }
        if self.last {
            self.load_from(state, i);
        }
        let image = self.image;
        let is_constant = |address: i64| image.is_constant(address as u64);
        let mut stepper = Stepper {
            cells: &mut self.cells,
            factory: &mut self.factory,
            is_constant: &is_constant,
            again,
            compiled: self.compiled,
        };
        let step = stepper.step(state, i);
        if !again {
            self.carried.work.count(i, step.on_values);
        }
        let used =
            self.factory.info(i).used_registers().iter().filter(|used| writes(used.access()));
        self.carried.written.extend(used.map(|used| full(used.register())));
    }
}

/// The variables among the origins of a value.
fn variables(origins: &Origins) -> impl Iterator<Item = usize> {
    origins
        .keys()
        .filter_map(|(place, _)| if let Place::Variable(at) = place { Some(*at) } else { None })
}

/// Where control goes after an instruction.
enum Next {
    On,
    Ends,
    Either(u64),
}

/// The flags of arithmetic.
const ALL_FLAGS: u32 = RflagsBits::OF
    | RflagsBits::SF
    | RflagsBits::ZF
    | RflagsBits::AF
    | RflagsBits::CF
    | RflagsBits::PF
    | RflagsBits::DF;

fn is_x87(i: &Instruction) -> bool {
    i.cpuid_features().iter().any(|feature| {
        matches!(feature, CpuidFeature::FPU | CpuidFeature::FPU287 | CpuidFeature::FPU387)
    })
}
