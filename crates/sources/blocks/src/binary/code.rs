//! The bytes of a function at the addresses where they run, and the effect of each instruction on
//! the flow of control.

use iced_x86::{
    ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind,
};
use std::collections::BTreeSet;
use std::ops::Range;

/// Bytes of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    parts: Vec<(u64, Vec<u8>)>,
}

/// The effect of an instruction on the flow of control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Continues with the next instruction.
    Next,
    /// Calls a function and continues with the next instruction.
    Call,
    /// Jumps, always.
    Jump(u64),
    /// Jumps or continues; whether the flags alone decide.
    Conditional(u64),
    /// Jumps to a computed address.
    Indirect,
    /// Returns.
    Return,
    /// Never continues.
    Stop,
}

impl Code {
    /// Parts with the address of each.
    pub fn new(parts: Vec<(u64, Vec<u8>)>) -> Code {
        Code { parts }
    }

    /// The addresses of the parts, the one with the entry first.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.parts.iter().map(|(start, bytes)| *start..start + bytes.len() as u64)
    }

    /// Bytes of all parts.
    pub fn size(&self) -> u64 {
        self.parts.iter().map(|(_, bytes)| bytes.len() as u64).sum()
    }

    /// Whether an address is part of it.
    pub fn contains(&self, address: u64) -> bool {
        self.ranges().any(|range| range.contains(&address))
    }

    /// The bytes of a part.
    pub fn parts(&self) -> &[(u64, Vec<u8>)] {
        &self.parts
    }

    /// The byte at an address.
    pub fn byte(&self, address: u64) -> Option<u8> {
        self.parts
            .iter()
            .find_map(|(start, bytes)| {
                bytes.get(usize::try_from(address.checked_sub(*start)?).ok()?)
            })
            .copied()
    }

    /// The instruction at an address; `None` outside of the function and where bytes are no
    /// instruction.
    pub fn decode(&self, address: u64) -> Option<Instruction> {
        let (start, bytes) = self
            .parts
            .iter()
            .find(|(start, bytes)| (*start..start + bytes.len() as u64).contains(&address))?;
        let rest = &bytes[(address - start) as usize..];
        let instruction = Decoder::with_ip(64, rest, address, DecoderOptions::NONE).decode();
        (!instruction.is_invalid()).then_some(instruction)
    }

    /// Whether an instruction reads memory inside of the function, or takes an address there that
    /// is right behind a call: what is there may be data behind one that never returns. Other
    /// addresses that are taken are labels of computed jumps.
    pub fn has_data(&self, entry: u64) -> bool {
        let mut behind_call = false;
        let (mut returns, mut taken_addresses) = (BTreeSet::new(), BTreeSet::new());
        for (start, bytes) in &self.parts {
            for instruction in Decoder::with_ip(64, bytes, *start, DecoderOptions::NONE) {
                returns.extend(behind_call.then(|| instruction.ip()));
                // A system call returns.
                behind_call = instruction.mnemonic() == Mnemonic::Call
                    && self.flow(&instruction, entry) == Flow::Call;
                if instruction.is_ip_rel_memory_operand()
                    && self.contains(instruction.ip_rel_memory_address())
                {
                    if instruction.mnemonic() != Mnemonic::Lea {
                        return true;
                    }
                    taken_addresses.insert(instruction.ip_rel_memory_address());
                }
            }
        }
        taken_addresses.intersection(&returns).next().is_some()
    }

    /// The effect of an instruction of this function, which begins at `entry`, on the flow of
    /// control. A call into its own middle is a jump: compilers do that to jump to a computed
    /// address, or to learn where the code is.
    pub fn flow(&self, instruction: &Instruction, entry: u64) -> Flow {
        match flow(instruction) {
            Flow::Call if instruction.is_call_near() => match instruction.near_branch_target() {
                to if to != entry && self.contains(to) => Flow::Jump(to),
                _ => Flow::Call,
            },
            other => other,
        }
    }
}

/// The effect of an instruction on the flow of control.
pub fn flow(instruction: &Instruction) -> Flow {
    let near = matches!(
        instruction.op0_kind(),
        OpKind::NearBranch64 | OpKind::NearBranch32 | OpKind::NearBranch16
    );
    let target = instruction.near_branch_target();
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::Interrupt => Flow::Next,
        FlowControl::Call | FlowControl::IndirectCall => Flow::Call,
        FlowControl::UnconditionalBranch if near => Flow::Jump(target),
        FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => Flow::Indirect,
        FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => match near && target != 0
        {
            true => Flow::Conditional(target),
            false => Flow::Next,
        },
        FlowControl::Return => Flow::Return,
        FlowControl::Exception => Flow::Stop,
    }
}

/// Whether a conditional branch is taken, from the flags register; `None` if the flags alone do not
/// decide.
pub fn taken(instruction: &Instruction, flags: u64) -> Option<bool> {
    let bit = |at: u32| flags >> at & 1 == 1;
    let (carry, parity, zero, sign, overflow) = (bit(0), bit(2), bit(6), bit(7), bit(11));
    if !(instruction.is_jcc_short_or_near()) {
        return None;
    }
    Some(match instruction.condition_code() {
        ConditionCode::o => overflow,
        ConditionCode::no => !overflow,
        ConditionCode::b => carry,
        ConditionCode::ae => !carry,
        ConditionCode::e => zero,
        ConditionCode::ne => !zero,
        ConditionCode::be => carry || zero,
        ConditionCode::a => !carry && !zero,
        ConditionCode::s => sign,
        ConditionCode::ns => !sign,
        ConditionCode::p => parity,
        ConditionCode::np => !parity,
        ConditionCode::l => sign != overflow,
        ConditionCode::ge => sign == overflow,
        ConditionCode::le => zero || sign != overflow,
        ConditionCode::g => !zero && sign == overflow,
        ConditionCode::None => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(bytes: &[u8]) -> Instruction {
        Code::new(vec![(0x1000, bytes.to_vec())]).decode(0x1000).unwrap()
    }

    #[test]
    fn flows_are_classified() {
        assert_eq!(flow(&one(&[0x90])), Flow::Next);
        assert_eq!(flow(&one(&[0xe8, 0, 0, 0, 0])), Flow::Call);
        assert_eq!(flow(&one(&[0xeb, 0x10])), Flow::Jump(0x1012));
        assert_eq!(flow(&one(&[0x74, 0x10])), Flow::Conditional(0x1012));
        assert_eq!(flow(&one(&[0xff, 0xe0])), Flow::Indirect);
        assert_eq!(flow(&one(&[0xc3])), Flow::Return);
        assert_eq!(flow(&one(&[0x0f, 0x0b])), Flow::Stop);
        assert!(Code::new(vec![(0, vec![0xff, 0xff])]).decode(0).is_none());
    }

    #[test]
    fn data_among_the_instructions_is_noticed() {
        // mov eax, [rip + distance]; ret; four bytes of data.
        let load = |distance: u8| {
            Code::new(vec![(0x1000, vec![0x8b, 0x05, distance, 0, 0, 0, 0xc3, 1, 2, 3, 4])])
        };
        assert!(load(1).has_data(0x1000));
        assert!(!load(0x40).has_data(0x1000));
        // lea rax, [rip + distance]; nop; call far away; two bytes: the address behind the call may
        // be a table's, the nop's is a label's.
        let take = |distance: u8| {
            Code::new(vec![(
                0x1000,
                vec![0x48, 0x8d, 5, distance, 0, 0, 0, 0x90, 0xe8, 0, 1, 0, 0, 0x90, 0xc3],
            )])
        };
        assert!(take(6).has_data(0x1000));
        assert!(!take(0).has_data(0x1000));
    }

    #[test]
    fn conditions_follow_the_flags() {
        let (carry, zero, sign, overflow) = (1, 1 << 6, 1 << 7, 1 << 11);
        let cases: [(u8, u64, bool); 12] = [
            (0x74, zero, true),
            (0x74, 0, false),
            (0x75, zero, false),
            (0x77, 0, true),
            (0x77, carry, false),
            (0x76, zero, true),
            (0x7c, sign, true),
            (0x7c, sign | overflow, false),
            (0x7f, 0, true),
            (0x7f, zero, false),
            (0x7e, overflow, true),
            (0x73, carry, false),
        ];
        for (opcode, flags, expected) in cases {
            assert_eq!(taken(&one(&[opcode, 0]), flags), Some(expected), "{opcode:x} {flags:x}");
        }
        // jrcxz looks at a register.
        assert_eq!(taken(&one(&[0xe3, 0]), 0), None);
    }
}
