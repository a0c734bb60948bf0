//! Code that counts the arrivals at an address and lets all but the last one pass.
//!
//! A jump at the address leads here. Neither flags nor stack are touched, and the instructions under the jump are run here, at another
//! address. What this takes is the time of an arrival that is counted, an unknown of its own.

use super::assembly::Assembly;
use crate::binary::{Code, Flow};
use crate::error::{Error, Result};
use iced_x86::{BlockEncoder, BlockEncoderOptions, Instruction, InstructionBlock};

/// Most bytes of this code.
pub const MOST_BYTES: u64 = 512;

/// Addresses that it uses.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// The number of arrivals that are left.
    pub count: u64,
    /// Where a register is kept.
    pub saved: u64,
    /// Where the call ends.
    pub back: u64,
}

/// The code for an address.
#[derive(Debug, Clone)]
pub struct Counter(Vec<u8>);

impl Counter {
    /// The code, to run at `place`, for arrivals at `address`.
    ///
    /// # Errors
    /// Instructions that cannot run elsewhere.
    pub fn new(address: u64, code: &Code, place: u64, words: Words) -> Result<Counter> {
        let (moved, next) = moved(address, code)?;
        let mut assembly = Assembly::at(place);
        // mov [saved], rcx; mov rcx, [count]; lea rcx, [rcx - 1]; mov [count], rcx
        assembly.relative(&[0x48, 0x89, 0x0d], words.saved);
        assembly.relative(&[0x48, 0x8b, 0x0d], words.count);
        assembly.raw(&[0x48, 0x8d, 0x49, 0xff]);
        assembly.relative(&[0x48, 0x89, 0x0d], words.count);
        // jrcxz, past the rest
        assembly.raw(&[0xe3, 0]);
        let short = assembly.bytes().len() - 1;
        assembly.relative(&[0x48, 0x8b, 0x0d], words.saved);
        let block = InstructionBlock::new(&moved, assembly.here());
        let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE);
        assembly.raw(&encoded.map_err(|e| failed(&format!("the instructions there cannot be moved ({e})")))?.code_buffer);
        assembly.relative(&[0xe9], next);
        if !assembly.close_short(short) {
            return Err(failed("the instructions there are too long"));
        }
        assembly.relative(&[0xe9], words.back);
        if assembly.bytes().len() as u64 > MOST_BYTES {
            return Err(failed("the instructions there are too long"));
        }
        Ok(Counter(assembly.bytes().to_vec()))
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

fn failed(reason: &str) -> Error {
    Error::system("count arrivals", reason)
}

/// The instructions under a jump at an address, and the address behind them.
fn moved(address: u64, code: &Code) -> Result<(Vec<Instruction>, u64)> {
    let (mut all, mut at) = (Vec::new(), address);
    while at < address + super::stub::JUMP as u64 {
        let instruction = code.decode(at).ok_or_else(|| failed("there is no instruction there"))?;
        all.push(instruction);
        at = instruction.next_ip();
        if matches!(code.flow(&instruction, u64::MAX), Flow::Jump(_) | Flow::Indirect | Flow::Return | Flow::Stop) {
            break;
        }
    }
    Ok((all, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::Mnemonic;

    #[test]
    fn the_instructions_under_the_jump_are_moved_with_their_targets() {
        // je +0x10; inc eax; ret
        let code = Code::new(vec![(0x1000, vec![0x74, 0x10, 0xff, 0xc0, 0xc3, 0x90])]);
        let words = Words { count: 0x9000, saved: 0x9008, back: 0x8000 };
        let counter = Counter::new(0x1000, &code, 0x7000, words).unwrap();
        let copy = Code::new(vec![(0x7000, counter.bytes().to_vec())]);
        let (mut at, mut all) = (0x7000, Vec::new());
        while let Some(instruction) = copy.decode(at) {
            at = instruction.next_ip();
            all.push(instruction);
        }
        let kinds: Vec<Mnemonic> = all.iter().map(Instruction::mnemonic).collect();
        use Mnemonic::{Inc, Je, Jmp, Jrcxz, Lea, Mov, Ret};
        assert_eq!(kinds, [Mov, Mov, Lea, Mov, Jrcxz, Mov, Je, Inc, Ret, Jmp, Jmp]);
        assert_eq!((all[0].ip_rel_memory_address(), all[1].ip_rel_memory_address()), (0x9008, 0x9000));
        assert_eq!((all[4].near_branch_target(), all[6].near_branch_target()), (all[10].ip(), 0x1012));
        assert_eq!((all[9].near_branch_target(), all[10].near_branch_target()), (0x1005, 0x8000));
        assert!(Counter::new(0x2000, &code, 0x7000, words).is_err());
    }
}
