//! A compiler's assembly text as the functions of rows, and the rest.

use super::line::{BORDER, first_word, label, labels_in, plain, row_of, section};
use std::collections::{HashMap, HashSet};

/// A function of a row.
#[derive(Debug, Clone)]
pub struct Function {
    /// The row.
    pub row: usize,
    /// Whether it holds the copies, and does not only call the function that does.
    pub is_inner: bool,
    /// The directive of the section in which it begins.
    pub section: String,
    /// Its lines without comments, each with whether a border stands before it.
    pub lines: Vec<(bool, String)>,
}

/// The text of a compiler.
#[derive(Debug, Clone)]
pub struct File {
    functions: Vec<Function>,
    /// The rest: before, between and behind the first functions of each kind.
    rest: String,
    /// Where the functions with the copies and the others begin in the rest, and the directive of
    /// the section there.
    places: [Option<(usize, String)>; 2],
    /// What follows each label of the rest: its data.
    data: HashMap<String, String>,
    /// The labels that the functions define.
    labels: HashSet<String>,
}

/// Directives that may stand before a function.
const LEADING_DIRECTIVES: [&str; 9] =
    [".p2align", ".align", ".globl", ".weak", ".hidden", ".protected", ".section", ".text", ""];

impl File {
    /// Reads the text; `None` if it is not understood.
    pub fn read(text: &str) -> Option<File> {
        let lines: Vec<&str> = text.lines().collect();
        let mut file = File {
            functions: Vec::new(),
            rest: String::new(),
            places: [None, None],
            data: HashMap::new(),
            labels: HashSet::new(),
        };
        let (mut at, mut now) = (0, ".text".to_owned());
        while at < lines.len() {
            let Some(range) = function_at(&lines, at)? else {
                now = section(plain(lines[at])).map_or(now, str::to_owned);
                file.add(lines[at]);
                at += 1;
                continue;
            };
            let function = Function::read(&lines[range.clone()], &now)?;
            let place = &mut file.places[usize::from(!function.is_inner)];
            if place.is_none() {
                *place = Some((file.rest.len(), now.clone()));
            }
            if let Some(last) =
                lines[range.clone()].iter().rev().find_map(|line| section(plain(line)))
            {
                now = last.to_owned();
                file.add(last);
            }
            file.labels.extend(
                function.lines.iter().filter_map(|(_, line)| Some(label(line)?.to_owned())),
            );
            file.functions.push(function);
            at = range.end;
        }
        file.find_data();
        file.is_separable().then_some(file)
    }

    fn add(&mut self, line: &str) {
        // Tables of the linker name functions that are no longer there.
        if !(first_word(line) == ".addrsig_sym" && row_of(line).is_some()) {
            self.rest += line;
            self.rest.push('\n');
        }
    }

    /// What follows each label of the rest, as far as it is data.
    fn find_data(&mut self) {
        let mut open: Option<String> = None;
        for line in self.rest.lines().map(plain).filter(|line| !line.is_empty()) {
            match (label(line), &open) {
                (Some(name), _) => {
                    open = Some(name.to_owned());
                    self.data.insert(name.to_owned(), String::new());
                }
                (None, Some(name)) if section(line).is_none() => {
                    self.data.entry(name.clone()).or_default().extend([line, "\n"])
                }
                _ => open = None,
            }
        }
    }

    /// Whether nothing outside of the functions needs them, and none needs a label of another one.
    fn is_separable(&self) -> bool {
        let mut owners: HashMap<&str, usize> = HashMap::new();
        for (at, function) in self.functions.iter().enumerate() {
            owners.extend(function.lines.iter().filter_map(|(_, line)| Some((label(line)?, at))));
        }
        let is_own = |at: usize| {
            let function = &self.functions[at];
            function
                .lines
                .iter()
                .flat_map(|(_, line)| labels_in(line))
                .all(|label| owners.get(label.as_str()).is_none_or(|owner| *owner == at))
        };
        let is_free = |line: &str| {
            row_of(line).is_none()
                && labels_in(line).iter().all(|label| !owners.contains_key(label.as_str()))
        };
        !self.functions.is_empty()
            && (0..self.functions.len()).all(is_own)
            && self.rest.lines().map(plain).all(is_free)
    }

    /// The data behind a label of the rest.
    pub fn data_at(&self, label: &str) -> Option<&str> {
        self.data.get(label).map(String::as_str)
    }

    /// Whether a label is defined in the function of a row.
    pub fn is_of_function(&self, label: &str) -> bool {
        self.labels.contains(label)
    }

    /// The function of a row with its copies; `None` if there is not one.
    pub fn inner(&self, row: usize) -> Option<&Function> {
        let mut inner_functions =
            self.functions.iter().filter(|function| function.row == row && function.is_inner);
        let (inner_function, None) = (inner_functions.next()?, inner_functions.next()) else {
            return None;
        };
        Some(inner_function)
    }

    /// The functions of a row that call the one with its copies.
    pub fn outer(&self, row: usize) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(move |function| function.row == row && !function.is_inner)
    }

    /// The text with other functions in place of all these.
    pub fn with(&self, inner: &str, outer: &str) -> String {
        let mut places: Vec<(usize, &str, &str)> = Vec::new();
        for (place, text) in self.places.iter().zip([inner, outer]) {
            places.extend(place.as_ref().map(|(at, section)| (*at, section.as_str(), text)));
        }
        places.sort_by_key(|(at, ..)| *at);
        let (mut text, mut done) =
            (String::with_capacity(self.rest.len() + inner.len() + outer.len()), 0);
        for (at, section, functions) in places {
            text += &self.rest[done..at];
            text += functions;
            text.extend([section, "\n"]);
            done = at;
        }
        text + &self.rest[done..]
    }
}

/// The lines of the function of a row that begins at this line; the outer `None` if it does not end
/// as expected.
#[allow(
    clippy::option_option,
    reason = "no function here is not the same as one that is not understood"
)]
fn function_at(lines: &[&str], at: usize) -> Option<Option<std::ops::Range<usize>>> {
    let is_before = |line: &&str| LEADING_DIRECTIVES.contains(&first_word(plain(line)));
    let ahead = lines[at..].iter().take_while(|line| is_before(line)).count();
    let symbol = |line: &str, directive: &str| {
        let line = plain(line);
        let names = line.strip_prefix(directive).filter(|_| row_of(line).is_some())?;
        names.split(',').next().map(|name| name.trim().to_owned())
    };
    let Some(name) = lines.get(at + ahead).and_then(|line| symbol(line, ".type")) else {
        return Some(None);
    };
    let body = &lines[at + ahead + 1..];
    let size =
        body.iter().position(|line| symbol(line, ".size").is_some_and(|other| other == name))?;
    // Parts of a function elsewhere, and others in its midst, are not understood.
    if body[..size].iter().any(|line| first_word(plain(line)) == ".type") {
        return None;
    }
    // clang says where a function ends, with its table of exceptions.
    let behind = &body[size + 1..];
    let next =
        behind.iter().position(|line| first_word(plain(line)) == ".type").unwrap_or(behind.len());
    let marked =
        behind[..next].iter().position(|line| line.contains("-- End function")).map(|at| at + 1);
    let length = marked
        .unwrap_or_else(|| behind.iter().take_while(|line| plain(line) == ".cfi_endproc").count());
    Some(Some(at..at + ahead + 1 + size + 1 + length))
}

impl Function {
    fn read(lines: &[&str], section: &str) -> Option<Function> {
        let (row, is_inner) = lines.iter().find_map(|line| row_of(plain(line)))?;
        let mut function =
            Function { row, is_inner, section: section.to_owned(), lines: Vec::new() };
        let mut border = false;
        for line in lines {
            let text = plain(line);
            if line.contains(BORDER) {
                // Two borders with nothing between them are a copy without code.
                function.lines.extend(border.then(|| (true, String::new())));
                border = true;
            } else if !text.is_empty() {
                function.lines.push((std::mem::take(&mut border), text.to_owned()));
            }
        }
        (!border).then_some(function)
    }
}
