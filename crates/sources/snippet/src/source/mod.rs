//! Generates the file that holds the rows: straight-line copies between two reads of the clock.

mod assembly;
mod compiled;

use crate::request::{Language, Request};
pub use hairspring_core::design::table::Order as Arrangement;
use hairspring_host::fence;

/// One row to be generated: how often body, init and flush run in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSpec {
    /// Which of the request's alternatives.
    pub subject: usize,
    /// In which order.
    pub arrangement: Arrangement,
    /// Copies of the body.
    pub bodies: u32,
    /// Runs of the init.
    pub inits: u32,
    /// Flushes.
    pub flushes: u32,
}

impl RowSpec {
    /// Inits before each body, and inits at the end of the row.
    pub fn inits_before_and_after(&self) -> (u32, u32) {
        match self.arrangement {
            Arrangement::InPlace => (self.inits / self.bodies.max(1), self.inits % self.bodies.max(1)),
            _ => (1, self.inits.saturating_sub(self.bodies)),
        }
    }

    /// Whether fences stand around every init. Where there is none, those of the flush are all there are.
    pub fn fenced(&self, request: &Request) -> bool {
        let shadow = self.arrangement == Arrangement::Shadow && request.init.is_some();
        shadow || self.arrangement == Arrangement::Fenced
    }

    /// The row's counts in the order of [`Request::components`].
    pub fn counts(&self, request: &Request) -> Vec<f64> {
        let mut counts = vec![f64::from(self.bodies)];
        counts.extend(request.init.as_ref().map(|_| f64::from(self.inits)));
        counts.extend((!request.cold.is_empty()).then_some(f64::from(self.flushes)));
        counts
    }

    /// Evaluations of any component, for bounding the size of the source.
    pub fn evaluations(&self) -> u32 {
        self.inits.max(self.bodies).max(self.flushes)
    }
}

/// What a note in the machine code stands at. Notes are left in a section that is not loaded; they cost no instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoteId {
    /// The row.
    pub row: usize,
    /// The copy that begins there; the number of copies where the last one ends.
    pub copy: usize,
    /// Whether the init of the copy has run.
    pub in_body: bool,
    /// The variable whose place it tells; `None` for the border of the copy itself.
    pub what: Option<usize>,
}

impl NoteId {
    /// Variables that notes can tell apart; further ones have no note. Compilers print numbers of 32 bits only.
    const MOST_VARIABLES: u64 = 1 << 10;
    /// Copies that notes can tell apart.
    const MOST_COPIES: u64 = 1 << 5;
    /// The copy of the notes that stand once for all copies.
    pub const FOR_ALL: usize = Self::MOST_COPIES as usize - 1;

    /// The note for a variable.
    pub fn for_variable(self, at: usize) -> Option<NoteId> {
        (at as u64 + 1 < Self::MOST_VARIABLES).then_some(NoteId { what: Some(at), ..self })
    }

    /// Its number.
    pub fn number(self) -> u64 {
        let copy = (self.row as u64 * Self::MOST_COPIES + self.copy as u64) * 2 + u64::from(self.in_body);
        copy * Self::MOST_VARIABLES + self.what.map_or(0, |what| what as u64 + 1)
    }

    /// The note of a number.
    pub fn of(number: u64) -> NoteId {
        let (copy, what) = (number / Self::MOST_VARIABLES, number % Self::MOST_VARIABLES);
        NoteId {
            row: (copy / 2 / Self::MOST_COPIES) as usize,
            copy: (copy / 2 % Self::MOST_COPIES) as usize,
            in_body: copy % 2 == 1,
            what: what.checked_sub(1).map(|what| what as usize),
        }
    }
}

/// Name of the function that runs a row.
pub fn symbol(row: usize) -> String {
    format!("hs_row_{row}")
}

/// Keeps the compiler from merging rows of equal code, whose sizes are then unknown.
fn mark(row: usize) -> String {
    format!("__asm__ volatile(\"/* row {row} */\");\n")
}

/// Name of the function that runs the setup.
pub const SETUP_SYMBOL: &str = "hs_setup";

/// The source of all rows; with notes at the borders of their copies, where these are wanted.
pub fn rows(request: &Request, rows: &[RowSpec], noted: bool) -> String {
    let mut text = head(request);
    match request.language {
        Language::Asm => assembly::rows(&mut text, request, rows, noted),
        Language::C | Language::Cpp => compiled::rows(&mut text, request, rows, noted),
    }
    text
}

/// The source in which every piece of the user's code stands once, under a name of its own, for the compiler to
/// complain about: repeated copies would repeat each complaint.
pub fn checked(request: &Request, folder: &std::path::Path) -> String {
    let mut text = head(request);
    match request.language {
        Language::Asm => assembly::checked(&mut text, request, folder),
        Language::C | Language::Cpp => compiled::checked(&mut text, request, folder),
    }
    text
}

/// Files that hold the user's pieces, so that the compiler can show the line it complains about.
pub fn pieces(request: &Request) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = request.codes.iter().enumerate().map(|(at, code)| (code_name(at), code.clone())).collect();
    files.extend(request.init.clone().map(|init| ("--init".to_owned(), init)));
    files.extend(request.setup.clone().map(|setup| ("--setup".to_owned(), setup)));
    let lets: Vec<String> = request.lets.iter().map(|declaration| declaration.text.clone()).collect();
    files.push(("--let".to_owned(), lets.join("\n")));
    files
}

fn code_name(at: usize) -> String {
    if at == 0 { "CODE".to_owned() } else { format!("--vs-{at}") }
}

fn head(request: &Request) -> String {
    let mut text = String::from("#include <stddef.h>\n#include <stdint.h>\n");
    if request.language != Language::Asm {
        text += "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";
    }
    for header in &request.includes {
        let quoted = if header.starts_with(['<', '"']) { header.clone() } else { format!("<{header}>") };
        text += &format!("#include {quoted}\n");
    }
    text += &fence::c::macros("HS_");
    text += include_str!("prelude.h");
    for file in request.files.iter().filter(|file| is_included(file, request.language)) {
        text += &format!("#include \"{}\"\n", file.display());
    }
    text
}

/// Source of the same language is included; anything else goes to the compiler by itself.
pub fn is_included(file: &std::path::Path, language: Language) -> bool {
    let ending = file.extension().and_then(std::ffi::OsStr::to_str).unwrap_or("");
    language != Language::Asm && !matches!(ending, "o" | "a" | "so" | "s" | "S")
}
