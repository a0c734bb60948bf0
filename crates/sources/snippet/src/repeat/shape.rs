//! The function of a row as what is before its copies, the first copy, those between, and the last one with what is behind it.

use super::file::{File, Function};
use super::line::{Border, first_word, label, labels_in, may_be_repeated, row_of, with_labels};
use std::collections::HashSet;
use std::fmt::Write;

/// Stands around the number of a label that a copy defines.
const OWN: char = '\u{1}';

/// Copies of which those between the first and the last are the same in turns.
#[derive(Debug)]
struct Part {
    first: Vec<String>,
    /// The second one and those that differ from it: one, or two in turns, as compilers change the order of operands from copy to copy.
    turns: Vec<Vec<String>>,
    /// The last copy, and what is behind it up to the next part.
    last: Vec<String>,
}

/// A row of any number of copies.
#[derive(Debug)]
pub struct Shape<'a> {
    file: &'a File,
    /// The row of the sample.
    row: usize,
    section: &'a str,
    before: Vec<String>,
    bodies: Part,
    inits: Option<Part>,
}

/// A row with its numbers of bodies and of further inits.
pub type Counted = (usize, u32, u32);

impl<'a> Shape<'a> {
    /// The shape of a sample; `None` if its copies are not shown to be the same.
    pub fn of(file: &'a File, (row, bodies, inits): Counted) -> Option<Shape<'a>> {
        let function = file.inner(row)?;
        let pieces = Pieces::of(function, bodies as usize, inits as usize)?;
        let (bodies, inits) = (part(&pieces.bodies)?, if inits > 0 { Some(part(&pieces.inits)?) } else { None });
        let shape = Shape { file, row, section: &function.section, before: pieces.before, bodies, inits };
        shape.is_closed(function).then_some(shape)
    }

    /// The parts, each with its number of copies and a letter.
    fn parts(&self, bodies: u32, inits: u32) -> impl Iterator<Item = (&Part, u32, char)> {
        std::iter::once((&self.bodies, bodies, 'b')).chain(self.inits.iter().map(move |part| (part, inits, 'i')))
    }

    /// Copies after which the same ones come again.
    pub fn turns(&self) -> u32 {
        self.parts(0, 0).map(|(part, ..)| part.turns.len() as u32).max().unwrap_or(1)
    }

    /// Whether another sample has the same copies, and the same functions that call the one with them. What is around the copies may use other
    /// registers.
    pub fn agrees(&self, other: &Shape) -> bool {
        let turns = |shape: &Shape| {
            let of_part = |part: &Part| part.turns.iter().map(|lines| shape.anonymous(lines)).collect::<Vec<_>>();
            shape.parts(0, 0).map(|(part, ..)| of_part(part)).collect::<Vec<_>>()
        };
        let outer = |shape: &Shape| shape.file.outer(shape.row).map(|other| shape.anonymous(&text_of(other))).collect::<Vec<_>>();
        turns(self) == turns(other) && outer(self) == outer(other)
    }

    /// Whether no part names a label that a copy defines for itself.
    fn is_closed(&self, function: &Function) -> bool {
        let all: HashSet<&str> = function.lines.iter().filter_map(|(_, line)| label(line)).collect();
        let outside = || self.before.iter().chain(self.parts(0, 0).flat_map(|(part, ..)| &part.last));
        let stay: HashSet<&str> = outside().filter_map(|line| label(line)).collect();
        let copies = self.parts(0, 0).flat_map(|(part, ..)| part.first.iter().chain(part.turns.iter().flatten()));
        let mut named = outside().chain(copies).flat_map(|line| labels_in(line));
        named.all(|label| stay.contains(label.as_str()) || !all.contains(label.as_str()))
    }

    /// The function with so many copies, which begins at a multiple of `alignment`; `None` if there are too few.
    pub fn row(&self, row: usize, bodies: u32, inits: u32, alignment: u32) -> Option<String> {
        let (mut text, start) = self.begin(&self.before, self.row, row, alignment)?;
        self.write(&mut text, &self.before[start..], self.row, row);
        for (part, copies, letter) in self.parts(bodies, inits) {
            self.repeat(&mut text, part, (row, copies.checked_sub(2)?), letter);
        }
        Some(text)
    }

    /// A sample as it is, under the name of another row.
    pub fn sample(&self, sample: usize, row: usize, alignment: u32) -> Option<String> {
        let lines = text_of(self.file.inner(sample)?);
        let (mut text, start) = self.begin(&lines, sample, row, alignment)?;
        self.write(&mut text, &lines[start..], sample, row);
        Some(text)
    }

    /// The beginning of a function, and the number of the lines in it.
    fn begin(&self, lines: &[String], sample: usize, row: usize, alignment: u32) -> Option<(String, usize)> {
        let mut text = format!("{}\n", self.section);
        let start = lines.iter().position(|line| first_word(line) == ".type")?;
        self.write(&mut text, &lines[..start], sample, row);
        let _ = writeln!(text, ".balign {alignment}");
        Some((text, start))
    }

    /// The functions that call the one with the copies.
    pub fn outer(&self, row: usize) -> String {
        let mut text = String::new();
        for function in self.file.outer(self.row) {
            text.extend([&function.section, "\n"]);
            self.write(&mut text, &text_of(function), self.row, row);
        }
        text
    }

    /// Lines of a sample as those of another row, with labels of its own.
    fn write(&self, text: &mut String, lines: &[String], sample: usize, row: usize) {
        for line in lines {
            let named = with_labels(line, &mut |label| self.file.is_of_function(label).then(|| format!("{label}.r{row}")));
            let _ = writeln!(text, "{}", of_row(&named, sample, row));
        }
    }

    /// The first copy, so many between it and the last, and the last. Copies with labels are written out, each with its own.
    fn repeat(&self, text: &mut String, part: &Part, (row, between): (usize, u32), letter: char) {
        let turns = part.turns.len() as u32;
        let write =
            |text: &mut String, lines: &[String], at: u32| self.write(text, &named(lines, &format!("{row}{letter}{at}")), self.row, row);
        write(text, &part.first, 0);
        let has_labels = part.turns.iter().flatten().any(|line| line.contains(OWN));
        let repeated = if has_labels { 0 } else { between / turns };
        if repeated > 0 {
            let _ = writeln!(text, ".rept {repeated}");
            part.turns.iter().for_each(|lines| write(text, lines, 0));
            text.push_str(".endr\n");
        }
        (repeated * turns..between).for_each(|at| write(text, &part.turns[(at % turns) as usize], at + 1));
        self.write(text, &part.last, self.row, row);
    }

    /// Lines whose own labels are numbered, in which data stands for the labels of data, and which name no row.
    fn anonymous(&self, lines: &[String]) -> Vec<String> {
        let mut known: Vec<String> = Vec::new();
        let mut of = |label: &str| {
            if let Some(data) = self.file.data_at(label) {
                return Some(format!("{{{data}}}"));
            }
            let at = known.iter().position(|known| known == label).unwrap_or(known.len());
            if at == known.len() {
                known.push(label.to_owned());
            }
            Some(at.to_string())
        };
        lines.iter().map(|line| of_row(&with_labels(line, &mut of), self.row, 0)).collect()
    }
}

/// The lines of a function without its borders.
fn text_of(function: &Function) -> Vec<String> {
    function.lines.iter().map(|(_, line)| line.clone()).filter(|line| !line.is_empty()).collect()
}

/// The lines of a copy, with names for the labels that it defines.
fn named(lines: &[String], prefix: &str) -> Vec<String> {
    let label = |number: &str| format!(".Lhs{prefix}_{number}");
    let line =
        |line: &String| line.split(OWN).enumerate().map(|(at, text)| if at % 2 == 1 { label(text) } else { text.to_owned() }).collect();
    lines.iter().map(line).collect()
}

/// The lines of a copy, with numbers in place of the labels that it defines.
fn own(lines: &[String]) -> Vec<String> {
    let labels: Vec<&str> = lines.iter().filter_map(|line| label(line)).collect();
    let mut of = |name: &str| labels.iter().position(|label| *label == name).map(|at| format!("{OWN}{at}{OWN}"));
    lines.iter().map(|line| with_labels(line, &mut of)).collect()
}

/// A line with the name of another row.
fn of_row(line: &str, sample: usize, row: usize) -> String {
    match row_of(line) {
        Some((found, _)) if found == sample => line.replace(&format!("hs_row_{sample}"), &format!("hs_row_{row}")),
        _ => line.to_owned(),
    }
}

/// The lines of a row's function between the borders.
struct Pieces {
    before: Vec<String>,
    bodies: Vec<Vec<String>>,
    inits: Vec<Vec<String>>,
}

impl Pieces {
    /// The pieces; `None` if there are not so many.
    fn of(function: &Function, bodies: usize, inits: usize) -> Option<Pieces> {
        let mut pieces = Pieces { before: Vec::new(), bodies: Vec::new(), inits: Vec::new() };
        for (border, line) in &function.lines {
            match border {
                Some(Border::Body) if !pieces.inits.is_empty() => return None,
                Some(Border::Body) => pieces.bodies.push(Vec::new()),
                Some(Border::Init) => pieces.inits.push(Vec::new()),
                None => {}
            }
            let Pieces { before, bodies, inits } = &mut pieces;
            let open = inits.last_mut().or(bodies.last_mut()).unwrap_or(before);
            open.extend((!line.is_empty()).then(|| line.clone()));
        }
        ((pieces.bodies.len(), pieces.inits.len()) == (bodies, inits)).then_some(pieces)
    }
}

/// The part that these copies are; `None` if they are not the same in turns, or may not be repeated.
fn part(copies: &[Vec<String>]) -> Option<Part> {
    let [first, between @ .., last] = copies else { return None };
    let between: Vec<Vec<String>> = between.iter().map(|copy| own(copy)).collect();
    let is_period =
        |period: &usize| between.len() > 2 * period && between.iter().skip(*period).zip(&between).all(|(one, other)| one == other);
    let period = (1..=MOST_TURNS).find(is_period)?;
    let part = Part { first: own(first), turns: between[..period].to_vec(), last: last.clone() };
    part.turns.iter().flatten().chain(&part.first).all(|line| may_be_repeated(&line.replace(OWN, ".L"))).then_some(part)
}

/// Most copies that differ and come in turns.
const MOST_TURNS: usize = 2;
