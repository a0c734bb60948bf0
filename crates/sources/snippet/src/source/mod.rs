//! Generates the file that holds the rows: straight-line copies between two reads of the clock.

mod assembly;
mod compiled;
mod ordinary;

pub use ordinary::first_values;

use crate::request::{Language, Request};
use hairspring_core::design::table::Order;
use hairspring_host::fence;

/// One row to be generated: how often body, init and flush run in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSpec {
    /// Index of the request's alternative.
    pub subject: usize,
    /// Order of bodies and inits.
    pub order: Order,
    /// Copies of the body.
    pub bodies: u32,
    /// Runs of the init.
    pub inits: u32,
    /// Flushes.
    pub flushes: u32,
    /// How often all of these run, one time after the other; more than once only without flushes.
    pub runs: u32,
}

impl RowSpec {
    /// Inits before each body, and inits at the end of the row.
    pub fn inits_before_and_after(&self) -> (u32, u32) {
        match self.order {
            Order::InPlace => (self.inits / self.bodies.max(1), self.inits % self.bodies.max(1)),
            _ => (1, self.inits.saturating_sub(self.bodies)),
        }
    }

    /// Whether fences surround every init. Without an init only the flush has fences.
    pub fn fenced(&self, request: &Request) -> bool {
        let is_fenced_chain = self.order == Order::FencedChain && request.init.is_some();
        let as_the_others = self.is_behind() && crate::plan::main_order(request) == Order::Fenced;
        is_fenced_chain || self.order == Order::Fenced || as_the_others
    }

    /// Whether an init and a body run before the first reading.
    pub fn is_behind(&self) -> bool {
        matches!(self.order, Order::BehindBody | Order::BehindInit)
    }

    /// The row's counts in the order of [`Request::components`].
    pub fn counts(&self, request: &Request) -> Vec<f64> {
        let of_all_runs = |count: u32| f64::from(count) * f64::from(self.runs);
        let mut counts = vec![of_all_runs(self.bodies)];
        counts.extend(request.init.as_ref().map(|_| of_all_runs(self.inits)));
        counts.extend((!request.cold.is_empty()).then_some(f64::from(self.flushes)));
        counts
    }

    /// Largest count of any component; bounds the size of the source.
    pub fn evaluations(&self) -> u32 {
        self.inits.max(self.bodies).max(self.flushes)
    }
}

/// What a note in the machine code marks. Notes are in a section that is not loaded; they add no
/// instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoteId {
    /// The row.
    pub row: usize,
    /// The copy that begins there; the number of copies where the last one ends.
    pub copy: usize,
    /// Whether the init of the copy has run.
    pub in_body: bool,
    /// The variable whose location it records; `None` for the border of the copy itself.
    pub what: Option<usize>,
}

impl NoteId {
    /// Variables that have notes; further ones have none. Compilers print numbers of 32 bits only.
    const MOST_VARIABLES: u64 = 1 << 10;
    /// Copies that notes can distinguish.
    const MOST_COPIES: u64 = 1 << 5;
    /// The copy number of notes that apply to all copies.
    pub const FOR_ALL: usize = Self::MOST_COPIES as usize - 1;

    /// The note for a variable.
    pub fn for_variable(self, at: usize) -> Option<NoteId> {
        (at as u64 + 1 < Self::MOST_VARIABLES).then_some(NoteId { what: Some(at), ..self })
    }

    /// Its number.
    pub fn number(self) -> u64 {
        let copy =
            (self.row as u64 * Self::MOST_COPIES + self.copy as u64) * 2 + u64::from(self.in_body);
        copy * Self::MOST_VARIABLES + self.what.map_or(0, |what| what as u64 + 1)
    }

    /// The note of a number.
    #[cfg(any(target_arch = "x86_64", test))]
    pub fn from_number(number: u64) -> NoteId {
        let (copy, variable) = (number / Self::MOST_VARIABLES, number % Self::MOST_VARIABLES);
        NoteId {
            row: (copy / 2 / Self::MOST_COPIES) as usize,
            copy: (copy / 2 % Self::MOST_COPIES) as usize,
            in_body: copy % 2 == 1,
            what: variable.checked_sub(1).map(|what| what as usize),
        }
    }
}

/// Name of the function that runs a row.
pub fn symbol(row: usize) -> String {
    format!("hs_row_{row}")
}

/// Keeps the compiler from merging rows with equal code, whose sizes would then be unknown.
fn mark(row: usize) -> String {
    format!("__asm__ volatile(\"/* row {row} */\");\n")
}

/// What stands at the borders of a row's copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Borders {
    /// Barriers alone, as in rows that are measured.
    Plain,
    /// Notes in a section that is not loaded.
    Notes,
    /// Comments that stay in the compiler's assembly text. The function begins where a row of any
    /// layout may.
    Comments,
}

/// Name of the function that runs the setup.
pub const SETUP_SYMBOL: &str = "hs_setup";

/// The source of all rows, those of the alternative `first` before the others.
pub fn rows(
    request: &Request,
    rows: &[RowSpec],
    first: usize,
    borders: &dyn Fn(usize) -> Borders,
) -> String {
    let mut text = head(request);
    let rows = in_turn(rows, request.codes.len(), first);
    match request.language {
        Language::Asm => assembly::rows(&mut text, request, &rows, borders),
        Language::C | Language::Cpp => compiled::rows(&mut text, request, &rows, borders),
    }
    text
}

/// The rows with their numbers, all of one alternative after all of the one before, beginning with
/// the alternative `first`. Alternatives of equal code so have the places of each other in memory.
/// Rows without the code of an alternative are the last.
pub fn in_turn(rows: &[RowSpec], alternatives: usize, first: usize) -> Vec<(usize, &RowSpec)> {
    let mut all_rows: Vec<(usize, &RowSpec)> = rows.iter().enumerate().collect();
    let turn = |row: &RowSpec| {
        if row.order == Order::FencedChain {
            alternatives
        } else {
            (row.subject + alternatives - first) % alternatives
        }
    };
    all_rows.sort_by_key(|(_, row)| turn(row));
    all_rows
}

/// A source that contains each piece of the user's code once, under its own name, to get error
/// messages: repeated copies would repeat each message.
pub fn checked(request: &Request, folder: &std::path::Path) -> String {
    let mut text = head(request);
    match request.language {
        Language::Asm => assembly::checked(&mut text, request, folder),
        Language::C | Language::Cpp => compiled::checked(&mut text, request, folder),
    }
    text
}

/// Files with the user's pieces, so that the compiler can show the line of an error.
pub fn pieces(request: &Request) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> =
        request.codes.iter().enumerate().map(|(at, code)| (code_name(at), code.clone())).collect();
    files.extend(request.init.clone().map(|init| ("--init".to_owned(), init)));
    files.extend(request.setup.clone().map(|setup| ("--setup".to_owned(), setup)));
    let lets: Vec<String> =
        request.lets.iter().map(|declaration| declaration.text.clone()).collect();
    files.push(("--let".to_owned(), lets.join("\n")));
    files
}

fn code_name(at: usize) -> String {
    if at == 0 { "CODE".to_owned() } else { format!("--vs-{at}") }
}

fn head(request: &Request) -> String {
    let files = || request.files.iter().filter(|file| is_included(file, request.language));
    let mut text: String = files()
        .map(|file| library_choices(&std::fs::read_to_string(file).unwrap_or_default()))
        .collect();
    text += "#include <stddef.h>\n#include <stdint.h>\n";
    if request.language != Language::Asm {
        text += "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";
    }
    for header in &request.includes {
        let quoted =
            if header.starts_with(['<', '"']) { header.clone() } else { format!("<{header}>") };
        text += &format!("#include {quoted}\n");
    }
    text += &fence::c::macros("HS_");
    text += include_str!("prelude.h");
    // What a compiler takes in a file, it takes here, too.
    let lenient = request.language == Language::C;
    for file in files() {
        let included = format!("#include \"{}\"\n", file.display());
        text += &if lenient {
            format!("{LENIENT_PRAGMAS}{included}#pragma GCC diagnostic pop\n")
        } else {
            included
        };
    }
    text
}

const LENIENT_PRAGMAS: &str = "#pragma GCC diagnostic push\n\
                               #pragma GCC diagnostic warning \
                               \"-Wimplicit-function-declaration\"\n";

/// The lines at the beginning of a file by which it chooses what the C library's headers declare,
/// such as `#define _GNU_SOURCE`. They have to come before the first of these headers.
fn library_choices(text: &str) -> String {
    let is_choice = |name: &str| {
        name.starts_with('_') && (name.ends_with("_SOURCE") || name.ends_with("_BITS"))
            || name.starts_with("__STDC_WANT_")
    };
    let directive =
        |line: &'_ str| line.trim().strip_prefix('#').map(|rest| rest.trim_start().to_owned());
    let before = text
        .lines()
        .take_while(|line| !directive(line).is_some_and(|rest| rest.starts_with("include")));
    let name = |line: &str| {
        directive(line)?.strip_prefix("define")?.split_whitespace().next().map(str::to_owned)
    };
    before
        .filter(|line| name(line).is_some_and(|name| is_choice(&name)))
        .map(|line| format!("{}\n", line.trim()))
        .collect()
}

/// Whether a file is included: source of the same language is; anything else is a separate input of
/// the compiler.
pub fn is_included(file: &std::path::Path, language: Language) -> bool {
    let ending = file.extension().and_then(std::ffi::OsStr::to_str).unwrap_or("");
    language != Language::Asm && !matches!(ending, "o" | "a" | "so" | "s" | "S")
}

#[cfg(test)]
mod tests {
    use super::library_choices;

    #[test]
    fn a_file_chooses_what_headers_declare_before_its_first_header() {
        let file = "// x\n#define _GNU_SOURCE\n # define _FILE_OFFSET_BITS 64\n#define _FOO_H\n\
                    #define N 3\n#include <sched.h>\n#define _XOPEN_SOURCE 700\n";
        assert_eq!(library_choices(file), "#define _GNU_SOURCE\n# define _FILE_OFFSET_BITS 64\n");
        assert_eq!(library_choices("#define\n#\n\n# define  \nint x;"), "");
    }
}
