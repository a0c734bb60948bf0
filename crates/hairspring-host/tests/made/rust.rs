//! The table as macros, and its copy.

use super::WIDTH;
use hairspring_core::design::table::{BLOCKS, CHECKS, CLOSURE_COPIES, LINE, PLANE};

/// Macros that call another one for each row.
pub fn each() -> String {
    let closure: Vec<u32> = LINE.into_iter().filter(|copies| *copies <= CLOSURE_COPIES).collect();
    let row_numbers = |rows: &[u32]| rows.iter().map(u32::to_string).collect::<Vec<_>>();
    let two =
        |rows: &[(u32, u32)]| rows.iter().map(|(a, b)| format!("{a}, {b}")).collect::<Vec<_>>();
    [
        comment(
            "//!",
            "The rows of the table for code that is repeated straight-line by macros. Generated \
             from `table.rs`: change it there.",
        ),
        each_of(
            "for_line",
            "rows without an init, called with the number of bodies",
            &row_numbers(&LINE),
        ),
        each_of(
            "for_closure_line",
            "the rows of [`for_line`](crate::for_line) that closures use",
            &row_numbers(&closure),
        ),
        each_of(
            "for_blocks",
            "rows without an init that run a block several times, called with the copies in the \
             block",
            &row_numbers(&BLOCKS),
        ),
        each_of(
            "for_plane",
            "rows with an init, called with the numbers of bodies and of further inits",
            &two(&PLANE),
        ),
        each_of(
            "for_checks",
            "rows that check an init, called with the numbers of bodies and of inits before each",
            &two(&CHECKS),
        ),
    ]
    .concat()
}

fn each_of(name: &str, purpose: &str, rows: &[String]) -> String {
    let calls: Vec<String> = rows.iter().map(|row| format!("        $row!({row}),\n")).collect();
    let calls = calls.concat();
    let says =
        comment("///", &format!("An array of the results of the macro `$row` for {purpose}."));
    format!(
        "\n{says}#[macro_export]\n#[rustfmt::skip]\nmacro_rules! {name} {{\n    \
         ($row:ident) => {{ [\n{calls}    ] }};\n}}\n"
    )
}

/// A comment in lines that are not too long.
fn comment(mark: &str, text: &str) -> String {
    let mut lines = vec![mark.to_owned()];
    for word in text.split(' ') {
        if lines.last().is_some_and(|line| line.len() + 1 + word.len() > WIDTH) {
            lines.push(mark.to_owned());
        }
        if let Some(line) = lines.last_mut() {
            *line += &format!(" {word}");
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The table itself, for a crate that does not depend on its own.
pub fn copy(table: &str) -> String {
    let head = "//! A copy of `crates/hairspring-core/src/design/table.rs`: change it there.\n\
                #![allow(dead_code, reason = \"other users of the table need the rest\")]\n";
    let body: String = table
        .lines()
        .skip_while(|line| line.starts_with("//!"))
        .map(|line| format!("{line}\n"))
        .collect();
    format!("{head}{body}")
}
