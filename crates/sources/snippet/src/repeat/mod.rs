//! Rows of many copies from the compiler's text of a few: the copies between the borders of a
//! sample row are shown to be the same, and the assembler repeats them. A compiler takes a second
//! for some thousand copies, an assembler a few milliseconds.
//!
//! [`samples`] says which short rows are compiled beside those of the pilot. [`Repeated::read`]
//! finds them in the compiler's assembly text, and [`Repeated::rows`] writes others. What is not
//! shown to be the same has no text here, and is compiled: labels that other copies use, data of a
//! copy, code that differs from copy to copy.

mod file;
mod line;
mod shape;

use crate::plan;
use crate::request::{Language, Request};
use crate::source::RowSpec;
use file::File;
use hairspring_core::design::Pilot;
pub use line::BORDER;
use shape::Shape;

/// Copies in the two samples of a kind, by which its other rows are made: compilers use the
/// registers of longer rows from about ten copies on. Where two kinds of copies come in turns, one
/// sample is for even numbers of copies, and one for odd ones.
const SAMPLES: [u32; 2] = [12, 13];
/// Copies of rows that are no repetition, and are samples themselves.
const SHORT_SAMPLES: [u32; 2] = [1, 2];
/// Most evaluations in the samples: from there on they take a compiler as long as they save.
const MOST_EVALUATIONS: u32 = 400;

/// The text of all samples.
#[derive(Debug, Clone)]
pub struct Repeated {
    file: File,
    samples: Vec<(usize, RowSpec)>,
}

/// What rows have in common whose texts differ by the number of copies alone.
type Kind = (usize, u32);

fn kind(row: &RowSpec) -> Kind {
    (row.subject, row.runs)
}

/// The short rows to compile beside those of the pilot, for all rows that its design may have.
pub fn samples(request: &Request) -> Vec<RowSpec> {
    // Flushes are loops. Behind an init or a flush rows are short and of many kinds. Assembly is
    // repeated by the assembler as it is.
    let is_plain =
        request.language != Language::Asm && request.cold.is_empty() && request.init.is_none();
    if !cfg!(target_arch = "x86_64") || !is_plain || !is_optimised(&request.flags) {
        return Vec::new();
    }
    let mut samples: Vec<RowSpec> = Vec::new();
    for row in designs(request) {
        let is_new = !samples.iter().any(|sample| kind(sample) == kind(&row));
        let short: &[u32] = if row.runs == 1 { &SHORT_SAMPLES } else { &[] };
        let sized =
            |copies: &u32| RowSpec { bodies: *copies, inits: *copies, flushes: *copies, ..row };
        samples.extend(short.iter().chain(&SAMPLES).map(sized).filter(|_| is_new));
    }
    let evaluations: u32 = samples.iter().map(RowSpec::evaluations).sum();
    if evaluations <= MOST_EVALUATIONS { samples } else { Vec::new() }
}

/// Whether flags ask for optimisation. Without it clang's own assembler makes jumps longer than
/// they have to be.
fn is_optimised(flags: &str) -> bool {
    let level = flags.split_whitespace().rfind(|word| word.starts_with("-O"));
    level.is_some_and(|level| level != "-O0")
}

/// Rows of every kind that a design may have: long straight ones, and blocks.
fn designs(request: &Request) -> Vec<RowSpec> {
    const FAST_NS: f64 = 3.0;
    let pilot = Pilot { copy_ns: FAST_NS, copy_bytes: 16.0, quantum_ns: 1.0, assembled: false };
    let of =
        |in_blocks: bool| plan::rows(request, &vec![pilot; request.codes.len()], true, in_blocks);
    [of(false), of(true)].concat()
}

impl Repeated {
    /// Finds the samples, of which the first has this number, in the assembly text of a compiler;
    /// `None` if it is not understood.
    pub fn read(text: &str, first: usize, samples: &[RowSpec]) -> Option<Repeated> {
        let samples: Vec<(usize, RowSpec)> =
            samples.iter().copied().enumerate().map(|(at, row)| (first + at, row)).collect();
        Some(Repeated { file: File::read(text)?, samples }).filter(|all| !all.samples.is_empty())
    }

    /// The assembly text with these rows, in this order, in place of all others; the functions with
    /// the copies begin at multiples of `alignment`. `None` if the text of one of them is not
    /// known.
    pub fn rows(&self, rows: &[(usize, &RowSpec)], alignment: u32) -> Option<String> {
        let mut shapes: Vec<(Kind, [Shape<'_>; 2])> = Vec::new();
        let (mut inner, mut outer) = (String::new(), String::new());
        for (number, row) in rows {
            let kind = kind(row);
            if !shapes.iter().any(|(known, _)| *known == kind) {
                shapes.push((kind, self.shapes(kind)?));
            }
            let (_, [even, odd]) = shapes.iter().find(|(known, _)| *known == kind)?;
            let shape = if row.bodies % 2 == 0 { even } else { odd };
            let sample = self.samples.iter().find(|(_, sample)| sample == *row);
            inner += &match sample {
                Some((sample, _)) => shape.sample(*sample, *number, alignment)?,
                None => shape.row(*number, row.bodies, alignment)?,
            };
            outer += &shape.outer(*number);
        }
        Some(self.file.with(&inner, &outer))
    }

    /// The shapes of the two samples of a kind, if they agree.
    fn shapes(&self, kind: Kind) -> Option<[Shape<'_>; 2]> {
        let mut mine = self
            .samples
            .iter()
            .filter(|(_, row)| self::kind(row) == kind && SAMPLES.contains(&row.bodies));
        let mut shape =
            || mine.next().and_then(|(number, row)| Shape::of(&self.file, *number, row.bodies));
        let shapes = [shape()?, shape()?];
        shapes[0].agrees(&shapes[1]).then_some(shapes)
    }
}
