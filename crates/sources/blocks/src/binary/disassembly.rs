//! The disassembly of a function, in the syntax of its compilers.

use super::code::Code;
use super::image::Image;
use super::lines::Lines;
use crate::graph::{Block, Step, block_name};
use iced_x86::{Formatter, GasFormatter, Instruction, SymbolResolver, SymbolResult};
use std::rc::Rc;

/// Writes instructions, with the names of blocks and functions in place of addresses.
pub struct Disassembly {
    formatter: GasFormatter,
}

impl Disassembly {
    /// For a function with these blocks.
    pub fn new(image: Rc<Image>, blocks: &[Block]) -> Disassembly {
        let names = Names { image, starts: blocks.iter().map(|block| block.start).collect() };
        let mut formatter = GasFormatter::with_options(Some(Box::new(names)), None);
        formatter.options_mut().set_space_after_operand_separator(true);
        formatter.options_mut().set_rip_relative_addresses(false);
        Disassembly { formatter }
    }

    /// The instructions of a block, with their source lines.
    pub fn steps(&mut self, code: &Code, addresses: &[u64], lines: &Lines) -> Vec<Step> {
        let decoded = addresses.iter().filter_map(|address| code.decode(*address));
        let step = |instruction: Instruction| {
            let mut text = String::new();
            self.formatter.format(&instruction, &mut text);
            Step { address: instruction.ip(), text, place: lines.at(instruction.ip()) }
        };
        decoded.map(step).collect()
    }
}

/// Names of blocks of this function and of other functions.
struct Names {
    image: Rc<Image>,
    /// Where blocks begin, in their order.
    starts: Vec<u64>,
}

impl SymbolResolver for Names {
    fn symbol(
        &mut self,
        instruction: &Instruction,
        _: u32,
        _: Option<u32>,
        address: u64,
        _: u32,
    ) -> Option<SymbolResult<'_>> {
        let is_branch = instruction.near_branch_target() == address && address != 0;
        let block = self
            .starts
            .binary_search(&address)
            .ok()
            .filter(|_| is_branch && !instruction.is_call_near());
        let function = || if is_branch { super::callee(&self.image, instruction) } else { None };
        Some(SymbolResult::with_string(address, block.map(block_name).or_else(function)?))
    }
}
