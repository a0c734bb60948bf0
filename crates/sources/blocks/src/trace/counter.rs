//! Code that counts the arrivals at an address and lets all but the last one pass.
//!
//! A jump at the address leads here. Neither flags nor stack are touched, and the instructions
//! under the jump are run here, at another address. What this takes is the time of an arrival that
//! is counted, an unknown of its own. Code that counts each arrival twice makes it known: calls
//! that differ in that alone differ by this time.

use super::assembly::Assembly;
use crate::binary::{Code, Flow};
use crate::error::{Error, Result};
use iced_x86::{BlockEncoder, BlockEncoderOptions, Instruction, InstructionBlock};

/// Most bytes of this code.
pub const MOST_BYTES: u64 = 512;

/// Addresses that it uses.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// The number of arrivals that are left, and where a register is kept.
    pub once: [u64; 2],
    /// The same for counting once more.
    pub again: [u64; 2],
    /// Where the call ends.
    pub back: u64,
}

/// The code for an address.
#[derive(Debug, Clone)]
pub struct Counter(Vec<u8>);

impl Counter {
    /// The code, to run at `place`, for arrivals at `address`, each of which is counted once or
    /// twice.
    ///
    /// # Errors
    /// Instructions that cannot run elsewhere.
    pub fn new(
        address: u64,
        code: &Code,
        place: u64,
        words: Words,
        twice: bool,
    ) -> Result<Counter> {
        let (moved, next) = moved(address, code)?;
        let mut assembly = Assembly::at(place);
        let short = count(&mut assembly, words.once);
        if twice {
            // As many jumps as the first time. The call does not end here, whatever the count is:
            // the distance of its jump is 0.
            assembly.raw(&JUMP_TO_NEXT);
            let _ = count(&mut assembly, words.again);
            assembly.raw(&JUMP_TO_NEXT);
        }
        let block = InstructionBlock::new(&moved, assembly.here());
        let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE);
        assembly.raw(
            &encoded
                .map_err(|e| failed(&format!("the instructions there cannot be moved ({e})")))?
                .code_buffer,
        );
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

const JUMP_TO_NEXT: [u8; 5] = [0xe9, 0, 0, 0, 0];

/// Counts; returns where the distance of the jump stands that is taken when none is left.
fn count(assembly: &mut Assembly, [count, saved]: [u64; 2]) -> usize {
    // mov [saved], rcx; mov rcx, [count]; lea rcx, [rcx - 1]; mov [count], rcx
    assembly.relative(&[0x48, 0x89, 0x0d], saved);
    assembly.relative(&[0x48, 0x8b, 0x0d], count);
    assembly.raw(&[0x48, 0x8d, 0x49, 0xff]);
    assembly.relative(&[0x48, 0x89, 0x0d], count);
    // jrcxz; mov rcx, [saved]
    assembly.raw(&[0xe3, 0]);
    let short = assembly.bytes().len() - 1;
    assembly.relative(&[0x48, 0x8b, 0x0d], saved);
    short
}

fn failed(reason: &str) -> Error {
    Error::system("count arrivals", reason)
}

/// The instructions under a jump at an address, and the address behind them.
fn moved(address: u64, code: &Code) -> Result<(Vec<Instruction>, u64)> {
    let (mut all_instructions, mut at) = (Vec::new(), address);
    while at < address + super::stub::JUMP as u64 {
        let instruction = code.decode(at).ok_or_else(|| failed("there is no instruction there"))?;
        all_instructions.push(instruction);
        at = instruction.next_ip();
        if matches!(
            code.flow(&instruction, u64::MAX),
            Flow::Jump(_) | Flow::Indirect | Flow::Return | Flow::Stop
        ) {
            break;
        }
    }
    Ok((all_instructions, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::Mnemonic;

    /// Instructions of a counter, one after the other, whether jumps lead over them or not.
    fn counter(twice: bool) -> Vec<Instruction> {
        // je +0x10; inc eax; ret
        let code = Code::new(vec![(0x1000, vec![0x74, 0x10, 0xff, 0xc0, 0xc3, 0x90])]);
        let words = Words { once: [0x9000, 0x9008], again: [0x9010, 0x9018], back: 0x8000 };
        let counter = Counter::new(0x1000, &code, 0x7000, words, twice).unwrap();
        let copy = Code::new(vec![(0x7000, counter.bytes().to_vec())]);
        let (mut at, mut all_instructions) = (0x7000, Vec::new());
        while let Some(instruction) = copy.decode(at) {
            at = instruction.next_ip();
            all_instructions.push(instruction);
        }
        assert!(Counter::new(0x2000, &code, 0x7000, words, twice).is_err());
        all_instructions
    }

    use Mnemonic::{Inc, Je, Jmp, Jrcxz, Lea, Mov, Ret};
    const COUNT: [Mnemonic; 6] = [Mov, Mov, Lea, Mov, Jrcxz, Mov];

    #[test]
    fn the_instructions_under_the_jump_are_moved_with_their_targets() {
        let all_instructions = counter(false);
        let kinds: Vec<Mnemonic> = all_instructions.iter().map(Instruction::mnemonic).collect();
        assert_eq!(kinds, [&COUNT[..], &[Je, Inc, Ret, Jmp, Jmp]].concat());
        assert_eq!(
            (
                all_instructions[0].ip_rel_memory_address(),
                all_instructions[1].ip_rel_memory_address()
            ),
            (0x9008, 0x9000)
        );
        assert_eq!(
            (all_instructions[4].near_branch_target(), all_instructions[6].near_branch_target()),
            (all_instructions[10].ip(), 0x1012)
        );
        assert_eq!(
            (all_instructions[9].near_branch_target(), all_instructions[10].near_branch_target()),
            (0x1005, 0x8000)
        );
    }

    #[test]
    fn counting_twice_runs_the_same_again_with_other_words_and_does_not_end_there() {
        let (once, twice) = (counter(false), counter(true));
        let kinds: Vec<Mnemonic> = twice.iter().map(Instruction::mnemonic).collect();
        assert_eq!(kinds, [&COUNT[..], &[Jmp], &COUNT, &[Jmp, Je, Inc, Ret, Jmp, Jmp]].concat());
        assert_eq!(twice.len() - once.len(), COUNT.len() + 2);
        assert_eq!(
            (twice[7].ip_rel_memory_address(), twice[8].ip_rel_memory_address()),
            (0x9018, 0x9010)
        );
        assert_eq!(
            (twice[6].near_branch_target(), twice[13].near_branch_target()),
            (twice[7].ip(), twice[14].ip())
        );
        assert_eq!(
            (twice[4].near_branch_target(), twice[11].near_branch_target()),
            (twice[18].ip(), twice[12].ip())
        );
    }
}
