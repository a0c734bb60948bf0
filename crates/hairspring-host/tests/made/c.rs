//! The generated part of `hairspring.h`.

use super::WIDTH;
use hairspring_core::design::table::{
    BLOCKS, CHECKS, COLD_ROWS, FEWEST_ROWS, LINE, Order, PLANE, RUNS_OF_A_BLOCK, SHORT_CHECK_COPIES,
};
use hairspring_host::{clock, fence};
use std::fmt::Write;

pub fn part() -> String {
    let mut text = String::new();
    text += "\n/* The finest counter of the processor, and the fence before and after a read of \
             the system's\n * clock. */\n";
    text += &narrow(&clock::arch::c::macros("HAIRSPRING_"));
    text += "\n/* HAIRSPRING_FENCE: earlier code completes before later code begins. \
             HAIRSPRING_FULL_FENCE: earlier\n";
    text += " * stores are also visible to all CPUs. HAIRSPRING_CHAIN: dependent multiplications, \
             which show what\n";
    text += " * a fence hides of the code after it. */\n";
    text += &narrow(&fence::c::macros("HAIRSPRING_"));
    text += "\n/* How a row orders its bodies and inits. */\n";
    for order in Order::ALL {
        let _ = writeln!(
            text,
            "#define HAIRSPRING_ORDER_{} {}",
            order.name().to_uppercase(),
            order.number()
        );
    }
    text += "\n/* Number of rows that are run however long they take, and most copies of such \
             rows that check an\n * init. */\n";
    let _ = writeln!(
        text,
        "#define HAIRSPRING_FEWEST_ROWS {FEWEST_ROWS}\n\
         #define HAIRSPRING_SHORT_CHECK_COPIES {SHORT_CHECK_COPIES}"
    );
    text += "\n/* How often a row runs its block of copies. */\n";
    let _ = writeln!(text, "#define HAIRSPRING_RUNS_OF_A_BLOCK {RUNS_OF_A_BLOCK}");
    text += "\n/* row(bodies, ...) for every row without an init; row(copies in the block, ...) \
             for every row\n";
    text += " * without an init that runs a block several times; row(bodies, further inits, ...) \
             for every row\n";
    text += " * with an init, and for every row with flushes; row(bodies, inits before each but \
             one, inits before\n";
    text += " * each, ...) for rows that check an init. */\n";
    text += &each("LINE", LINE.iter().map(u32::to_string));
    text += &each("BLOCKS", BLOCKS.iter().map(u32::to_string));
    text += &each("PLANE", PLANE.iter().map(|(bodies, further)| format!("{bodies}, {further}")));
    text += &each(
        "CHECKS",
        CHECKS.iter().map(|(bodies, each)| format!("{bodies}, {}, {each}", each - 1)),
    );
    text += &each("COLD", COLD_ROWS.iter().map(|(bodies, further)| format!("{bodies}, {further}")));
    text + "\n"
}

fn each(name: &str, rows: impl Iterator<Item = String>) -> String {
    let calls: Vec<String> = rows.map(|row| format!("row({row}, __VA_ARGS__)")).collect();
    let longest = calls.iter().map(String::len).max().unwrap_or(0);
    let in_a_line = ((WIDTH - "  \\".len()) / (longest + 1)).min(4);
    let lines: Vec<String> = calls.chunks(in_a_line).map(|calls| calls.join(" ")).collect();
    format!("#define HAIRSPRING_FOR_{name}(row, ...) \\\n  {}\n", lines.join(" \\\n  "))
}

/// Macros with lines that are not too long: the text of assembly is parted between instructions.
fn narrow(macros: &str) -> String {
    macros
        .lines()
        .map(|line| if line.len() > WIDTH { parted(line) } else { format!("{line}\n") })
        .collect()
}

fn parted(line: &str) -> String {
    const GOES_ON: &str = "\" \\\n";
    let indent = line.len() - line.trim_start().len() + 2;
    let (mut text, mut length) = (String::new(), 0);
    for instruction in line.split_inclusive("\\n\\t") {
        if length > 0 && length + instruction.len() + GOES_ON.len() > WIDTH {
            text += &format!("{GOES_ON}{:indent$}\"", "");
            length = indent + 1;
        }
        text += instruction;
        length += instruction.len();
    }
    text + "\n"
}
