//! Rows of assembly: one extended asm block for each, repeated by the assembler.

use super::ordinary::Ordinary;
use super::{Borders, NoteId, RowSpec, SETUP_SYMBOL, mark, symbol};
use crate::asm::is_intel;
use crate::declaration::Declaration;
use crate::registers::registers;
use crate::request::Request;
use hairspring_core::design::table::Order;
use hairspring_host::fence;
use std::fmt::Write;
use std::path::Path;

pub fn rows(
    text: &mut String,
    request: &Request,
    rows: &[(usize, &RowSpec)],
    borders: &dyn Fn(usize) -> Borders,
) {
    let _ = writeln!(text, "HS_EXPORT void {SETUP_SYMBOL}(void);\nvoid {SETUP_SYMBOL}(void) {{ }}");
    for &(at, row) in rows {
        let name = symbol(at);
        let _ = writeln!(
            text,
            "HS_EXPORT HS_ROW uint64_t {name}(hs_read hs_now);\nuint64_t {name}(hs_read hs_now) {{"
        );
        for declaration in &request.lets {
            let _ = writeln!(text, "{};", declaration.text);
        }
        text.push_str(&mark(at));
        let lines = lines(request, row);
        let ordinary = Ordinary::for_code(&lines.join("\n"));
        text.extend(ordinary.map(|ordinary| registers_set(&ordinary.lines(), ordinary)));
        text.push_str("uint64_t hs_start = hs_now();\n");
        let notes = if borders(at) == Borders::Notes && cfg!(target_arch = "x86_64") {
            Some(at)
        } else {
            None
        };
        block(text, request, &lines, notes);
        text.push_str("uint64_t hs_ticks = hs_now() - hs_start;\n");
        let upper = ordinary.filter(|ordinary| ordinary.leaves_upper_parts());
        text.extend(upper.map(|ordinary| registers_set(&["vzeroupper".to_owned()], ordinary)));
        text.push_str("return hs_ticks; }\n");
    }
}

/// Instructions outside of the timed part, which set the vector registers.
fn registers_set(lines: &[String], ordinary: Ordinary) -> String {
    let quoted: String = lines.iter().map(|line| format!("{}\\n\\t", quoted(line))).collect();
    format!("__asm__ volatile(\"{quoted}\" : : : \"memory\"{});\n", clobbers(&ordinary.clobbered()))
}

/// Registers for the end of a clobber list. Compilers only accept the upper vector registers where
/// they use them themselves.
fn clobbers(registers: &[String]) -> String {
    let above_15 = |register: &str| {
        register
            .strip_prefix("xmm")
            .and_then(|number| number.parse().ok())
            .is_some_and(|number: u32| number > 15)
    };
    let clobber_of = |register: &String| match above_15(register) {
        true => format!(" HS_ABOVE_15(\"{register}\")"),
        false => format!(", \"{register}\""),
    };
    registers.iter().map(clobber_of).collect()
}

/// The setup gives the registers their first values; it runs once at the start of each row and is
/// part of the overhead.
fn lines(request: &Request, row: &RowSpec) -> Vec<String> {
    let init = init(request, row);
    let (before, after) = row.inits_before_and_after();
    let mut lines: Vec<String> = request.setup.iter().cloned().collect();
    if row.runs > 1 {
        lines.extend(calls(row.runs, is_intel(&request.codes[row.subject])));
    }
    lines.push(format!(".rept {}", row.bodies));
    lines.push(BORDER.to_owned());
    (0..before).for_each(|_| lines.extend(init.iter().cloned()));
    lines.push(BODY.to_owned());
    lines.extend(body(request, row));
    lines.push(".endr".to_owned());
    lines.push(BORDER.to_owned());
    if after > 0 && !init.is_empty() {
        lines.push(format!(".rept {after}"));
        lines.extend(init);
        lines.push(".endr".to_owned());
    }
    if row.runs > 1 {
        lines.extend(["ret".to_owned(), format!("{BEHIND_LABEL}:")]);
    }
    lines
}

/// Labels of a block of copies and of what is behind it.
const BLOCK: u32 = 771;
const BEHIND_LABEL: u32 = 772;

/// Calls of the block that follows: unlike a loop, they need no register and leave the flags as
/// they are. What the compiler keeps below the stack pointer is skipped.
fn calls(runs: u32, is_intel: bool) -> Vec<String> {
    const RED_ZONE: i32 = 128;
    let moved = |bytes: i32| {
        if is_intel {
            format!("lea rsp, [rsp + {bytes}]")
        } else {
            format!("lea {bytes}(%rsp), %rsp")
        }
    };
    let call = [format!(".rept {runs}"), format!("call {BLOCK}f"), ".endr".to_owned()];
    let after = [
        moved(RED_ZONE),
        format!("jmp {BEHIND_LABEL}f"),
        ".p2align 6".to_owned(),
        format!("{BLOCK}:"),
    ];
    [moved(-RED_ZONE)].into_iter().chain(call).chain(after).collect()
}

/// Placeholder lines for notes; removed where there is no note.
const BORDER: &str = "\0border";
const BODY: &str = "\0body";

/// The assembler's directives for a note.
fn note(note: NoteId, operand: &str) -> String {
    format!(
        "661: .pushsection .hairspring,\"\"; .quad 661b; .asciz \"{} {operand}\"; .popsection",
        note.number()
    )
}

/// Lines with the notes filled in, and notes that record where the variables are.
fn with_notes(request: &Request, lines: &[String], row: Option<usize>) -> Vec<String> {
    let id = |copy, in_body| row.map(|row| NoteId { row, copy, in_body, what: None });
    let variables = (0..request.lets.len()).filter_map(|at| {
        let operand = format!("%[{}]", request.lets[at].name);
        Some(note(id(NoteId::FOR_ALL, false)?.for_variable(at)?, &operand))
    });
    let line = |line: &String| match line.as_str() {
        BORDER => id(0, false).map(|id| note(id, "")),
        BODY => id(0, true).map(|id| note(id, "")),
        _ => Some(line.clone()),
    };
    variables.chain(lines.iter().filter_map(line)).collect()
}

fn init(request: &Request, row: &RowSpec) -> Vec<String> {
    let fence = fence::here().filter(|_| row.fenced(request)).map(|fences| fences.order.to_owned());
    let init = request.init.clone().filter(|_| row.order != Order::FencedChain);
    fence.iter().cloned().chain(init).chain(fence.clone()).collect()
}

fn body(request: &Request, row: &RowSpec) -> Vec<String> {
    if row.order != Order::FencedChain {
        return vec![request.codes[row.subject].clone()];
    }
    // Repeated here because some assemblers expand nested repetitions in the wrong order.
    fence::chain_lines(is_intel(&request.codes[row.subject]))
}

fn block(text: &mut String, request: &Request, lines: &[String], row: Option<usize>) {
    let own_lines: Vec<String> =
        lines.iter().filter(|line| !line.starts_with('\0')).cloned().collect();
    let (own_text, whole_text) = (own_lines.join("\n"), with_notes(request, lines, row).join("\n"));
    // The first line shares its number with the directive, so that line numbers match the user's.
    let wrapped = if is_intel(&own_text) {
        format!(".intel_syntax noprefix; {whole_text}\n.att_syntax prefix")
    } else {
        whole_text.clone()
    };
    let quoted: String = wrapped.lines().map(|line| format!("{}\\n\\t", quoted(line))).collect();
    let operands: Vec<String> = request.lets.iter().map(operand).collect();
    let clobbers = clobbers(&registers(&own_text));
    let _ = writeln!(
        text,
        "__asm__ volatile(\"{quoted}\" : {} : : \"memory\", \"cc\"{clobbers});",
        operands.join(", ")
    );
}

/// Quotes `%`, and on x86 `{`, `|` and `}`, which have a special meaning in the extended form; only
/// that of `%[name]` is kept.
fn quoted(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '%' if rest.peek() == Some(&'[') => out.push('%'),
            '%' => out.push_str("%%"),
            // Elsewhere compilers know no dialects, and take these as they are.
            '{' | '|' | '}' if cfg!(target_arch = "x86_64") => out.extend(['%', c]),
            '"' | '\\' => out.extend(['\\', c]),
            '\t' => out.push_str("\\t"),
            _ => out.push(c),
        }
    }
    out
}

fn operand(declaration: &Declaration) -> String {
    let words = declaration.declarator.split_whitespace().collect::<Vec<_>>();
    let floating = !declaration.declarator.contains('*')
        && words.iter().any(|word| matches!(*word, "float" | "double"));
    let constraint = if floating { "\"+\" HS_FLOATING_REGISTER" } else { "\"+r\"" };
    format!("[{0}] {constraint}({0})", declaration.name)
}

/// Every piece once. The assembler reports lines of the generated block, so each piece has its own
/// block.
pub fn checked(text: &mut String, request: &Request, folder: &Path) {
    let folder = folder.display();
    text.push_str("void hs_check(void);\nvoid hs_check(void) {\n");
    for (line, declaration) in request.lets.iter().enumerate() {
        let _ = writeln!(text, "#line {} \"{folder}/--let\"\n{};", line + 1, declaration.text);
    }
    let parts =
        request.codes.iter().enumerate().map(|(at, code)| (super::code_name(at), code.clone()));
    let other_parts = [("--setup", &request.setup), ("--init", &request.init)];
    let other_parts = other_parts
        .into_iter()
        .filter_map(|(name, part)| part.clone().map(|part| (name.to_owned(), part)));
    for (name, part) in other_parts.chain(parts) {
        for (line, code_line) in part.lines().enumerate() {
            let _ = writeln!(text, "#line {} \"{folder}/{name}\"", line + 1);
            block(text, request, &[code_line.to_owned()], None);
        }
    }
    text.push_str("}\n");
}
