//! A file of another source, as CSV: with the columns `form`, `quantity` and `cycles` as this
//! program writes it, or with the columns `form`, `latency` and `throughput`.

use super::{Figure, Quantity};
use std::collections::HashMap;
use std::io::Read;

/// Most bytes of a file: a table of all forms has fewer than one MiB, and a device such as
/// `/dev/zero` never ends.
const MOST_BYTES: u64 = 16 << 20;

/// Columns that are read.
const COLUMNS: [&str; 9] =
    ["form", "latency", "throughput", "quantity", "cycles", "from", "to", "with", "doubtful"];

/// Reads the figures of a file. Several latencies of one form, for pairs of operands, count as the
/// largest of them. What this program wrote as doubtful is left out.
///
/// # Errors
/// A file that is too long, has not these columns or one of them twice; with its line, another
/// number of columns, a number that is none, and a word in `doubtful` other than yes and no.
pub fn read(input: impl Read) -> Result<Vec<Figure>, String> {
    let bytes = limited(input)?;
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(&bytes[..]);
    let headers = reader.headers().map_err(|error| error.to_string())?.clone();
    each_once(&headers)?;
    let columns = Columns::of(&headers)?;
    let mut figures = Figures::default();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        if record.iter().all(str::is_empty) {
            continue;
        }
        let line = record.position().map_or(0, csv::Position::line);
        let taken_figures = check_columns(record.len(), headers.len())
            .and_then(|()| columns.take(&record, &mut figures));
        taken_figures.map_err(|reason| format!("line {line}: {reason}"))?;
    }
    Ok(figures.all_figures)
}

/// The columns of a file.
struct Columns<'h> {
    headers: &'h csv::StringRecord,
    form: usize,
    /// The columns `quantity` and `cycles` of a file with one figure in a line.
    long: Option<(usize, usize)>,
    /// The columns of a file with all figures of a form in a line.
    wide: Vec<(usize, Quantity)>,
}

impl<'h> Columns<'h> {
    fn of(headers: &'h csv::StringRecord) -> Result<Columns<'h>, String> {
        let column = |name: &str| column(headers, name);
        let form = column("form").ok_or(
            "there is no column `form`; expected the columns form, latency and throughput, or \
             form, quantity and cycles",
        )?;
        let long = column("quantity").zip(column("cycles"));
        let wide: Vec<(usize, Quantity)> =
            [("latency", Quantity::Latency), ("throughput", Quantity::Throughput)]
                .into_iter()
                .filter_map(|(name, quantity)| Some((column(name)?, quantity)))
                .collect();
        if long.is_none() && wide.is_empty() {
            return Err("there is neither a column `latency` or `throughput`, nor the columns \
                        `quantity` and `cycles`"
                .into());
        }
        Ok(Columns { headers, form, long, wide })
    }

    /// Adds what a line says to the figures.
    fn take(&self, record: &csv::StringRecord, figures: &mut Figures) -> Result<(), String> {
        let text = |at: usize| record.get(at).unwrap_or_default();
        let named = |name: &str| column(self.headers, name).map(text);
        let mut add = |quantity: Quantity, cell: &str| figures.add(text(self.form), quantity, cell);
        let Some((quantity, cycles)) = self.long else {
            return self.wide.iter().try_for_each(|(at, quantity)| add(*quantity, text(*at)));
        };
        let of_flags = ["from", "to"].iter().any(|name| named(name) == Some("flags"));
        let with_helpers = named("with").is_some_and(|helpers| !helpers.is_empty());
        match named("doubtful").unwrap_or("no") {
            "yes" => return Ok(()),
            "no" | "" => {}
            other => return Err(format!("`{other}` is neither yes nor no (column `doubtful`)")),
        }
        match text(quantity) {
            "latency" if !of_flags && !with_helpers => add(Quantity::Latency, text(cycles)),
            "throughput" => add(Quantity::Throughput, text(cycles)),
            "latency" => Ok(()),
            other => Err(format!("the quantity `{other}` is unknown; it is latency or throughput")),
        }
    }
}

fn column(headers: &csv::StringRecord, name: &str) -> Option<usize> {
    headers.iter().position(|header| header.eq_ignore_ascii_case(name))
}

/// The figures read so far, and where those of a form are.
#[derive(Default)]
struct Figures {
    all_figures: Vec<Figure>,
    places: HashMap<(String, Quantity), usize>,
}

impl Figures {
    /// Adds a cell, if it is not empty.
    fn add(&mut self, form: &str, quantity: Quantity, cell: &str) -> Result<(), String> {
        if cell.is_empty() {
            return Ok(());
        }
        let cycles = cell.parse::<f64>().ok().filter(|cycles| cycles.is_finite() && *cycles >= 0.0);
        let cycles = cycles.ok_or_else(|| format!("`{cell}` is no number of cycles"))?;
        let place =
            *self.places.entry((form.to_owned(), quantity)).or_insert(self.all_figures.len());
        match self.all_figures.get_mut(place) {
            Some(known) => known.cycles = known.cycles.max(cycles),
            None => self.all_figures.push(Figure { form: form.to_owned(), quantity, cycles }),
        }
        Ok(())
    }
}

/// Refuses a header with two columns of one name that is read: one of them would be ignored.
fn each_once(headers: &csv::StringRecord) -> Result<(), String> {
    let is_read = |name: &str| COLUMNS.iter().any(|read| read.eq_ignore_ascii_case(name));
    let is_before = |at: usize, name: &str| {
        headers.iter().take(at).any(|other| other.eq_ignore_ascii_case(name))
    };
    match headers.iter().enumerate().find(|(at, name)| is_read(name) && is_before(*at, name)) {
        Some((_, twice)) => Err(format!("there are two columns `{twice}`")),
        None => Ok(()),
    }
}

/// Refuses a line with another number of columns than the header.
fn check_columns(has: usize, wanted_columns: usize) -> Result<(), String> {
    let why = match has.cmp(&wanted_columns) {
        std::cmp::Ordering::Equal => return Ok(()),
        std::cmp::Ordering::Less => "is a quote open, or a comma missing",
        std::cmp::Ordering::Greater => "does a form with a comma lack its quotes",
    };
    Err(format!("it has {has} of {wanted_columns} columns: {why}?"))
}

/// All bytes of an input, which is given up beyond the limit: a record of a table may be as long as
/// the whole input.
fn limited(input: impl Read) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    input.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!(
            "is larger than {} MiB, the limit for a table to compare with",
            MOST_BYTES >> 20
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(text: &str) -> Vec<(String, Quantity, f64)> {
        read(text.as_bytes())
            .unwrap()
            .into_iter()
            .map(|one| (one.form, one.quantity, one.cycles))
            .collect()
    }

    #[test]
    fn both_shapes_of_tables_are_read() {
        let wide = figures("form,latency,throughput\nADD_R64_R64,1,0.2\nNOP,,0.17\n");
        assert_eq!(wide[0], ("ADD_R64_R64".into(), Quantity::Latency, 1.0));
        assert_eq!((wide.len(), wide[2].clone()), (3, ("NOP".into(), Quantity::Throughput, 0.17)));
        let long = "form,quantity,from,to,cycles,with\n\"add r64, r64\",latency,1,1,1,\n\
                    \"add r64, r64\",latency,2,1,2,\n\"add r64, r64\",latency,2,flags,9,\n\
                    \"add r64, r64\",latency,2,1,8,movq\n\"add r64, r64\",throughput,,,0.25,\n";
        let doubted = figures(
            "form,quantity,cycles,doubtful\nnop,throughput,0.17,no\n\
             \"add r64, r64\",latency,1.4,yes\n",
        );
        assert_eq!(doubted, [("nop".into(), Quantity::Throughput, 0.17)]);
        assert_eq!(
            figures(long),
            [
                ("add r64, r64".into(), Quantity::Latency, 2.0),
                ("add r64, r64".into(), Quantity::Throughput, 0.25)
            ]
        );
    }

    #[test]
    fn what_is_wrong_with_a_table_is_said() {
        let error = |text: &str| read(text.as_bytes()).unwrap_err();
        assert!(error("name,latency\nx,1\n").contains("`form`"));
        assert!(error("form,cycles\nx,1\n").contains("`quantity`"));
        assert!(error("form,latency\nx,fast\n").contains("line 2: `fast`"));
        assert!(
            error("form,latency\nx,-1\n").contains("`-1`")
                && error("form,latency\nx,NaN\n").contains("`NaN`")
        );
        assert!(error("form,quantity,cycles\nx,width,1\n").contains("`width`"));
        assert!(error("").contains("`form`"));
        assert!(error("form,form,latency\nx,y,1\n").contains("two columns `form`"));
        assert!(error("form,latency\nx\n").contains("line 2: it has 1 of 2 columns"));
        assert!(error("form,latency\nadd r64, r64,3\n").contains("lack its quotes"));
        assert_eq!(
            figures("form,latency,note,note\nnop,1,,\n  \n").len(),
            1,
            "blank lines and columns that are not read"
        );
        assert!(error("form,latency\n\"add r64, r64,3\n").contains("is a quote open"));
        assert!(error("form,quantity,cycles,doubtful\nx,latency,1,maybe\n").contains("`maybe`"));
    }

    #[test]
    fn an_input_without_end_is_given_up() {
        let head = &b"form,latency\nnop,1\n"[..];
        for byte in [0, b'\n', b'x'] {
            // Beyond this, a reader without a limit would fail in another way, and not fill the
            // memory of the test.
            let endless = head.chain(std::io::repeat(byte).take(4 * MOST_BYTES));
            assert_eq!(
                read(endless).unwrap_err(),
                "is larger than 16 MiB, the limit for a table to compare with"
            );
        }
        let blanks = std::io::repeat(b'\n').take(MOST_BYTES - head.len() as u64);
        assert_eq!(read(head.chain(blanks)).unwrap().len(), 1);
    }
}
