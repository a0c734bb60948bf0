//! The disassembly of a copy.

use super::image::Image;
use crate::asm::is_intel;
use crate::request::{Language, Request};
use iced_x86::{
    Decoder, DecoderOptions, Formatter, GasFormatter, Instruction, IntelFormatter, SymbolResolver,
    SymbolResult,
};
use std::collections::BTreeSet;

/// Maximum number of instructions shown.
const MOST_LINES: usize = 1_000;

/// The instructions as text. Assembly is shown in the syntax that it is written in, compiled code
/// in that of its compilers.
pub fn disassembly(image: &Image, instructions: &[Instruction], request: &Request) -> Vec<String> {
    let mut lines = Lines { formatter: formatter(image, request), lines: Vec::new() };
    instructions.iter().take(MOST_LINES).for_each(|instruction| lines.push(instruction));
    if instructions.len() > MOST_LINES {
        lines.lines.push(format!("... and {} more instructions", instructions.len() - MOST_LINES));
    }
    lines.lines
}

/// The instructions that one copy runs, in the order of their addresses; where it could not be
/// followed, those between its borders.
pub fn instructions(
    image: &Image,
    own_addresses: &BTreeSet<u64>,
    border: Option<(u64, u64)>,
) -> Vec<Instruction> {
    let between = || border.map_or_else(Vec::new, |(start, end)| linear(image, start, end));
    if own_addresses.is_empty() {
        between()
    } else {
        own_addresses.iter().map(|address| at(image, *address)).collect()
    }
}

fn at(image: &Image, address: u64) -> Instruction {
    Decoder::with_ip(64, image.code(address), address, DecoderOptions::NONE).decode()
}

fn linear(image: &Image, start: u64, end: u64) -> Vec<Instruction> {
    let code = image.code(start);
    let length = usize::try_from(end.saturating_sub(start)).unwrap_or(0).min(code.len());
    Decoder::with_ip(64, &code[..length], start, DecoderOptions::NONE)
        .into_iter()
        .take(MOST_LINES + 1)
        .collect()
}

fn formatter(image: &Image, request: &Request) -> Box<dyn Formatter> {
    let names: Box<dyn SymbolResolver> = Box::new(Names(image.names()));
    let intel =
        request.language == Language::Asm && request.codes.iter().any(|code| is_intel(code));
    let mut formatter: Box<dyn Formatter> = if intel {
        Box::new(IntelFormatter::with_options(Some(names), None))
    } else {
        Box::new(GasFormatter::with_options(Some(names), None))
    };
    formatter.options_mut().set_space_after_operand_separator(true);
    formatter.options_mut().set_rip_relative_addresses(false);
    formatter
}

struct Lines {
    formatter: Box<dyn Formatter>,
    lines: Vec<String>,
}

impl Lines {
    fn push(&mut self, instruction: &Instruction) {
        let mut text = String::new();
        self.formatter.format(instruction, &mut text);
        self.lines.push(text);
    }
}

/// Names of functions and variables by their addresses.
struct Names(std::collections::BTreeMap<u64, String>);

impl SymbolResolver for Names {
    fn symbol(
        &mut self,
        _: &Instruction,
        _: u32,
        _: Option<u32>,
        address: u64,
        _: u32,
    ) -> Option<SymbolResult<'_>> {
        self.0.get(&address).map(|name| SymbolResult::with_str(address, name))
    }
}
