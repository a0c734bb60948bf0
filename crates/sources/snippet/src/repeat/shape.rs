//! The function of a row as what is before its copies, the first copy, those between, and the last
//! one with what is behind it.

use super::file::{File, Function};
use super::line::{first_word, label, labels_in, may_be_repeated, row_of, with_labels};
use std::collections::HashSet;
use std::fmt::Write;

/// Stands around the number of a label that a copy defines.
const OWN_LABEL: char = '\u{1}';

/// Copies of which those between the first and the last are the same in turns.
#[derive(Debug)]
struct Copies {
    first: Vec<String>,
    /// The second one and those that differ from it: one, or two in turns, as compilers change the
    /// order of operands from copy to copy.
    turns: Vec<Vec<String>>,
    /// The last copy, and what is behind it.
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
    copies: Copies,
}

impl<'a> Shape<'a> {
    /// The shape of a sample; `None` if its copies are not shown to be the same.
    pub fn of(file: &'a File, row: usize, copies: u32) -> Option<Shape<'a>> {
        let function = file.inner(row)?;
        let mut pieces = pieces(function).into_iter();
        let (before, between): (_, Vec<_>) = (pieces.next()?, pieces.collect());
        let copies = (between.len() == copies as usize).then(|| Copies::of(&between))??;
        let shape = Shape { file, row, section: &function.section, before, copies };
        shape.is_closed(function).then_some(shape)
    }

    /// Whether another sample has the same copies, and the same functions that call the one with
    /// them. What is around the copies may use other registers.
    pub fn agrees(&self, other: &Shape) -> bool {
        let turns = |shape: &Shape| {
            shape.copies.turns.iter().map(|lines| shape.anonymous(lines)).collect::<Vec<_>>()
        };
        let outer = |shape: &Shape| {
            shape
                .file
                .outer(shape.row)
                .map(|other| shape.anonymous(&text_of(other)))
                .collect::<Vec<_>>()
        };
        turns(self) == turns(other) && outer(self) == outer(other)
    }

    /// Whether no part names a label that a copy defines for itself.
    fn is_closed(&self, function: &Function) -> bool {
        let all_labels: HashSet<&str> =
            function.lines.iter().filter_map(|(_, line)| label(line)).collect();
        let outside = || self.before.iter().chain(&self.copies.last);
        let stay: HashSet<&str> = outside().filter_map(|line| label(line)).collect();
        let copies = self.copies.first.iter().chain(self.copies.turns.iter().flatten());
        let mut named = outside().chain(copies).flat_map(|line| labels_in(line));
        named.all(|label| stay.contains(label.as_str()) || !all_labels.contains(label.as_str()))
    }

    /// The function with so many copies, which begins at a multiple of `alignment`; `None` if there
    /// are too few.
    pub fn row(&self, row: usize, copies: u32, alignment: u32) -> Option<String> {
        let (mut text, start) = self.begin(&self.before, self.row, row, alignment)?;
        self.write(&mut text, &self.before[start..], self.row, row);
        self.repeat(&mut text, row, copies.checked_sub(2)?);
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
    fn begin(
        &self,
        lines: &[String],
        sample: usize,
        row: usize,
        alignment: u32,
    ) -> Option<(String, usize)> {
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
            let named = with_labels(line, &mut |label| {
                self.file.is_of_function(label).then(|| format!("{label}.r{row}"))
            });
            let _ = writeln!(text, "{}", of_row(&named, sample, row));
        }
    }

    /// The first copy, so many between it and the last, and the last. Copies with labels are
    /// written out, each with its own.
    fn repeat(&self, text: &mut String, row: usize, between: u32) {
        let Copies { first, turns: each, last } = &self.copies;
        let turns = each.len() as u32;
        let write = |text: &mut String, lines: &[String], at: u32| {
            self.write(text, &named(lines, &format!("{row}_{at}")), self.row, row)
        };
        write(text, first, 0);
        let has_labels = each.iter().flatten().any(|line| line.contains(OWN_LABEL));
        let repeated = if has_labels { 0 } else { between / turns };
        if repeated > 0 {
            let _ = writeln!(text, ".rept {repeated}");
            each.iter().for_each(|lines| write(text, lines, 0));
            text.push_str(".endr\n");
        }
        (repeated * turns..between)
            .for_each(|at| write(text, &each[(at % turns) as usize], at + 1));
        self.write(text, last, self.row, row);
    }

    /// Lines whose own labels are numbered, in which data stands for the labels of data, and which
    /// name no row.
    fn anonymous(&self, lines: &[String]) -> Vec<String> {
        let mut known_labels: Vec<String> = Vec::new();
        let mut of = |label: &str| {
            if let Some(data) = self.file.data_at(label) {
                return Some(format!("{{{data}}}"));
            }
            let at =
                known_labels.iter().position(|known| known == label).unwrap_or(known_labels.len());
            if at == known_labels.len() {
                known_labels.push(label.to_owned());
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
    let line = |line: &String| {
        line.split(OWN_LABEL)
            .enumerate()
            .map(|(at, text)| if at % 2 == 1 { label(text) } else { text.to_owned() })
            .collect()
    };
    lines.iter().map(line).collect()
}

/// The lines of a copy, with numbers in place of the labels that it defines.
fn with_numbered_labels(lines: &[String]) -> Vec<String> {
    let labels: Vec<&str> = lines.iter().filter_map(|line| label(line)).collect();
    let mut of = |name: &str| {
        labels
            .iter()
            .position(|label| *label == name)
            .map(|at| format!("{OWN_LABEL}{at}{OWN_LABEL}"))
    };
    lines.iter().map(|line| with_labels(line, &mut of)).collect()
}

/// A line with the name of another row.
fn of_row(line: &str, sample: usize, row: usize) -> String {
    match row_of(line) {
        Some((found_row, _)) if found_row == sample => {
            line.replace(&format!("hs_row_{sample}"), &format!("hs_row_{row}"))
        }
        _ => line.to_owned(),
    }
}

/// The lines of a row's function before the first border, and behind each.
fn pieces(function: &Function) -> Vec<Vec<String>> {
    let mut pieces = vec![Vec::new()];
    for (border, line) in &function.lines {
        pieces.extend(border.then(Vec::new));
        let open = pieces.last_mut().into_iter().filter(|_| !line.is_empty());
        open.for_each(|open| open.push(line.clone()));
    }
    pieces
}

impl Copies {
    /// These copies; `None` if they are not the same in turns, or may not be repeated.
    fn of(copies: &[Vec<String>]) -> Option<Copies> {
        let [first, between @ .., last] = copies else { return None };
        let between: Vec<Vec<String>> =
            between.iter().map(|copy| with_numbered_labels(copy)).collect();
        let is_period = |period: &usize| {
            between.len() > 2 * period
                && between.iter().skip(*period).zip(&between).all(|(one, other)| one == other)
        };
        let period = (1..=MOST_TURNS).find(is_period)?;
        let all_copies = Copies {
            first: with_numbered_labels(first),
            turns: between[..period].to_vec(),
            last: last.clone(),
        };
        all_copies
            .turns
            .iter()
            .flatten()
            .chain(&all_copies.first)
            .all(|line| may_be_repeated(&line.replace(OWN_LABEL, ".L")))
            .then_some(all_copies)
    }
}

/// Most copies that differ and come in turns.
const MOST_TURNS: usize = 2;
