//! The bench: one file that is open, and the answers about it.

use crate::ask::{self, Reading, Solving};
use crate::contents::Contents;
use crate::file::{File, Pieces};
use crate::open::{Opened, Table, open};
use crate::points::Points;
use crate::solve::{solve, used};
use hairspring_core::observations::write_csv;
use hairspring_core::pipeline::{Weighed, weighed, write_weighed};
use hairspring_page::{Extras, Fragment, result_fragment};
use hairspring_result::{ResultDocument, json};
use hairspring_view::export::{export, find};
use hairspring_view::{Style, text};
use std::cell::RefCell;
use std::ops::Range;
use std::time::SystemTime;

/// Columns of the text in a page.
const WIDTH: usize = 80;
/// Most readings of which static plots are drawn: they are solved once more for that.
const MOST_DRAWN: usize = 1_000_000;
const NO_FILE: &str = "no file is open: choose one";
const NO_READINGS: &str = "the file is a result, which has no readings: give the observations";

/// One file that is open, and its last solution.
#[derive(Debug, Default)]
pub struct Bench {
    opened: Option<Opened>,
    solved: Option<ResultDocument>,
    /// What was done to each reading by the last question that a plot asked.
    weighed: RefCell<Option<(String, Vec<Weighed>)>>,
}

impl Bench {
    /// Opens a file and says what it holds, as JSON. `how` is JSON, too: `{}` finds out what the
    /// file is.
    ///
    /// # Errors
    /// What is wrong with the file or with `how`.
    pub fn open(&mut self, pieces: Box<dyn Pieces>, how: &str) -> Result<String, String> {
        *self = Bench::default();
        let how: Reading = ask::parsed(how)?;
        let opened = open(File::new(pieces), &how)?;
        let contents = Contents::of(&opened);
        self.opened = Some(opened);
        serde_json::to_string(&contents).map_err(|error| error.to_string())
    }

    /// The document of the file, as JSON: its readings are solved as `asked`, also JSON; a result
    /// is given as it is.
    ///
    /// # Errors
    /// No file is open, the options are wrong, or the readings cannot be solved.
    pub fn solve(&mut self, asked: &str, created: Option<SystemTime>) -> Result<String, String> {
        let asked: Solving = ask::parsed(asked)?;
        let document = match self.opened.as_ref().ok_or(NO_FILE)? {
            Opened::Table(table) => solve(table, &asked, created)?,
            Opened::Result(document, _) => (**document).clone(),
        };
        let printed = json::print(&document);
        self.solved = Some(document);
        Ok(printed)
    }

    /// The last document.
    pub(crate) fn solved(&self) -> Result<&ResultDocument, String> {
        self.solved.as_ref().ok_or_else(|| NO_FILE.to_owned())
    }

    /// The last document as text, as the command prints it.
    ///
    /// # Errors
    /// Nothing was solved yet.
    pub fn report(&self) -> Result<String, String> {
        Ok(text::report(self.solved()?, &style()))
    }

    /// What each stage did to it (`--explain`).
    ///
    /// # Errors
    /// Nothing was solved yet.
    pub fn explain(&self) -> Result<String, String> {
        Ok(text::explain(self.solved()?, &style()))
    }

    /// The last document as HTML with its plots, with headings from a level on. The readings are
    /// drawn if there are not too many.
    ///
    /// # Errors
    /// Nothing was solved yet.
    pub fn fragment(&self, asked: &str, level: u8) -> Result<Fragment, String> {
        let asked: Solving = ask::parsed(asked)?;
        let table = self.table().ok().filter(|all| all.observations.readings().len() <= MOST_DRAWN);
        let used = table.map(|table| used(table, &asked)).transpose()?;
        let extras = Extras { table: used.as_deref(), ..Extras::default() };
        result_fragment(self.solved()?, &extras, level)
    }

    /// The raw readings of a row, or of all rows, between two places.
    ///
    /// # Errors
    /// The file has no readings, or they cannot be solved.
    pub fn points(
        &self,
        asked: &str,
        row: Option<u32>,
        places: Range<f64>,
    ) -> Result<Points, String> {
        let table = self.table()?;
        let mut known = self.weighed.borrow_mut();
        if known.as_ref().is_none_or(|(question, _)| question != asked) {
            *known = None;
            *known = Some((asked.to_owned(), all_weighed(table, asked)?));
        }
        let all = known.as_ref().map(|(_, all)| &all[..]).unwrap_or_default();
        Ok(Points::of(&table.observations, all, row, &places))
    }

    /// The times of the last document as CSV.
    ///
    /// # Errors
    /// Nothing was solved yet.
    pub fn times(&self) -> Result<String, String> {
        let format = find("csv").ok_or("there is no format `csv`")?;
        Ok(export(self.solved()?, format).text)
    }

    /// The readings as an observation file, with the flag `x` on those that the page leaves out:
    /// the command says the same of it.
    ///
    /// # Errors
    /// The file has no readings, or none would be left.
    pub fn observations(&self, asked: &str) -> Result<String, String> {
        let (table, asked) = (self.table()?, ask::parsed(asked)?);
        let mut bytes = Vec::new();
        write_csv(used(table, &asked)?.as_ref(), &mut bytes).map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }

    /// Every reading with the stage that left it out, as CSV (`fit --readings`).
    ///
    /// # Errors
    /// The file has no readings, or they cannot be solved.
    pub fn readings(&self, asked: &str) -> Result<String, String> {
        let asked: Solving = ask::parsed(asked)?;
        let used = used(self.table()?, &asked)?;
        let mut bytes = Vec::new();
        let all = weighed(&used, &asked.options()?).map_err(|error| error.to_string())?;
        write_weighed(&used, &all, &mut bytes).map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }

    fn table(&self) -> Result<&Table, String> {
        match self.opened.as_ref().ok_or(NO_FILE)? {
            Opened::Table(table) => Ok(table),
            Opened::Result(..) => Err(NO_READINGS.into()),
        }
    }
}

/// What was done to each reading of a table.
fn all_weighed(table: &Table, asked: &str) -> Result<Vec<Weighed>, String> {
    let asked: Solving = ask::parsed(asked)?;
    weighed(used(table, &asked)?.as_ref(), &asked.options()?).map_err(|error| error.to_string())
}

fn style() -> Style {
    Style { color: false, width: WIDTH, ascii: false }
}

#[cfg(test)]
mod tests;
