//! A table of Markdown, and how much of it fits.

/// Where the text of a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// At the left: names and units.
    Left,
    /// At the right: numbers.
    Right,
}

/// A table. Its cells are Markdown already.
#[derive(Debug)]
pub struct Table {
    /// A line in front of it, or nothing.
    pub title: String,
    columns: Vec<(String, Side)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table of these columns.
    pub fn new(title: &str, columns: &[(&str, Side)]) -> Table {
        let columns = columns.iter().map(|(name, side)| ((*name).to_owned(), *side)).collect();
        Table { title: title.to_owned(), columns, rows: Vec::new() }
    }

    /// Adds a row: a cell for each column.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn head(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let rule = |side: &Side| if *side == Side::Left { "---" } else { "--:" };
        let rules: Vec<&str> = self.columns.iter().map(|(_, side)| rule(side)).collect();
        let title = if self.title.is_empty() { String::new() } else { self.title.clone() + "\n\n" };
        format!("{title}{}{}", line(&names), line(&rules))
    }

    /// The table as text of at most this many bytes; if rows are left out, a sentence says how
    /// many.
    pub fn text(&self, room: usize) -> String {
        let (mut out, room) = (self.head(), room.saturating_sub(SENTENCE));
        let mut shown = 0;
        for row in &self.rows {
            let text = line(row);
            if out.len() + text.len() > room {
                break;
            }
            out += &text;
            shown += 1;
        }
        match self.rows.len() - shown {
            0 => out,
            left => out + &left_out(left, self.rows.len()),
        }
    }
}

/// Room for the sentence about what is left out.
const SENTENCE: usize = 240;

fn left_out(left: usize, all: usize) -> String {
    use crate::format::count;
    format!(
        "\n_{} of {} lines are left out: a comment on GitHub has at most {} characters. The JSON \
         document (`--json`) has all of them._\n",
        count(left),
        count(all),
        count(super::MOST)
    )
}

fn line<T: AsRef<str>>(cells: &[T]) -> String {
    let mut out = String::from("|");
    for cell in cells.iter().map(AsRef::as_ref) {
        out += if cell.is_empty() { " |" } else { " " };
        if !cell.is_empty() {
            out += cell;
            out += " |";
        }
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_does_not_fit_says_what_is_missing() {
        let mut table = Table::new("", &[("name", Side::Left), ("time", Side::Right)]);
        (0..1000).for_each(|at| table.row(vec![format!("`f{at}`"), String::new()]));
        let whole = table.text(100_000);
        assert!(whole.starts_with("| name | time |\n| --- | --: |\n| `f0` | |\n"), "{whole}");
        assert!(!whole.contains("left out"));
        let cut = table.text(2000);
        assert!(cut.len() <= 2000 && cut.contains(" of 1,000 lines are left out"), "{cut}");
    }
}
