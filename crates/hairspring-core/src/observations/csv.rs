//! The observation file: CSV that a microcontroller can print and a spreadsheet can open
//! (spec/observations.md).

mod bounded;
mod head;
mod units;
mod write;

use super::{Flags, Observations, Occupancy, Origin, USABLE_NUMBERS, Unit, Uses, is_usable};
use crate::error::{Error, Result, counted};
use bounded::Bounded;
use head::read_head;
use std::io::{BufRead, Read};
use std::num::NonZeroU32;
pub use write::{write_counted_csv, write_csv};

/// Most components that a file may have; a file with more counts as damaged.
pub const MAX_COMPONENTS: usize = 10_000;
/// Most series that a file may have.
pub const MAX_SERIES: usize = 1_000;
/// Most layouts of the code that a file may have.
const MAX_LAYOUTS: u32 = 1_000;
/// Most placements that a file may have.
const MAX_PLACEMENTS: usize = 100_000;
/// Highest round number.
const MAX_ROUND: u32 = 1 << 30;
/// Rounds of each series, for each reading, that a file may have beyond a few millions: memory and
/// time follow the rounds.
const ROUNDS_OF_READING: usize = 16;
const FREE_ROUNDS: usize = 1 << 22;
/// Longest line that is read, in bytes.
const MAX_LINE: u64 = 1 << 20;
/// Most bytes before the header.
const MAX_HEAD: u64 = 16 << 20;
/// Most readings: 2.4 GB of memory.
const MAX_READINGS: usize = 100_000_000;

/// Reads an observation file from a stream.
///
/// # Errors
/// [`Error::BadObservation`] with the line number for a missing column, a value that is not a
/// number, a negative or infinite count, a wrong number of fields, or a line longer than 1 MiB.
/// [`Error::BadTable`] for a file without a header or rows, or a header that names a series without
/// rows.
///
/// ```
/// let text = "# rate_hz: 1e6\nbody,ticks\n1,108\n2,208\n3,308\n";
/// let table = hairspring_core::observations::read_csv(text.as_bytes()).unwrap();
/// assert_eq!(table.components(), ["body"]);
/// assert_eq!(table.readings().len(), 3);
/// ```
pub fn read_csv(stream: impl Read) -> Result<Observations> {
    let mut lines = std::io::BufReader::with_capacity(1 << 18, stream);
    let (origin, header, header_line) = read_head(&mut lines)?;
    let layout = Layout::from_header(&header, header_line)?;
    let mut table = Observations::new(layout.component_names(&header));
    table.origin = Origin { unit: layout.unit, ..origin };
    read_rows(lines, &layout, header_line, &mut table)?;
    if table.readings().is_empty() {
        return Err(Error::BadTable(
            "the file has a header but no rows: it needs at least two rows with different counts"
                .into(),
        ));
    }
    check_names(&table)?;
    check_excluded(&table)?;
    check_rounds(&table)?;
    Ok(table)
}

/// Checks that most rounds have readings.
fn check_rounds(table: &Observations) -> Result<()> {
    let (readings, rounds) = (table.readings().len(), table.rounds());
    if rounds as usize * table.series_names().len() <= ROUNDS_OF_READING * readings + FREE_ROUNDS {
        return Ok(());
    }
    let last = rounds - 1;
    Err(Error::BadTable(format!(
        "the highest round is {last}, and there are only {readings} readings: number the rounds \
         without gaps, from 0"
    )))
}

/// Checks that each series has readings that count.
pub(super) fn check_excluded(table: &Observations) -> Result<()> {
    let mut counts = vec![false; table.series_names().len()];
    for reading in
        table.readings().iter().filter(|reading| !reading.flags.contains(Flags::EXCLUDED))
    {
        counts[table.rows()[reading.row as usize].series as usize] = true;
    }
    match table.series_names().iter().zip(counts).find(|(_, counts)| !counts) {
        Some((name, _)) => Err(Error::BadTable(format!(
            "all readings of the series `{name}` have the flag `x`, which leaves them out: remove \
             the series, or the flag of those that count"
        ))),
        None => Ok(()),
    }
}

/// Checks that the series named in the head exist; otherwise a misspelled name would go unnoticed.
fn check_names(table: &Observations) -> Result<()> {
    let origin = &table.origin;
    let controls = origin.controls.iter().map(|(name, _)| ("control", name));
    let chains = [("reference", &origin.reference), ("shadow", &origin.fenced_chain)];
    let chains = chains
        .into_iter()
        .filter_map(|(key, chain)| Some((key, &chain.as_ref()?.0)))
        .chain(controls);
    let variants = origin
        .variants
        .iter()
        .flat_map(|variant| [("variant", &variant.series), ("variant", &variant.of)]);
    let unoptimised = origin.unoptimised.iter().map(|name| ("unoptimised", name));
    let occupancy = origin.occupancy.iter().map(|(name, occupancy)| (occupancy.key(), name));
    let uses = origin.uses.iter().map(|(name, _)| ("uses", name));
    match chains
        .chain(variants)
        .chain(unoptimised)
        .chain(occupancy)
        .chain(uses)
        .find(|(_, name)| table.find_series(name).is_none())
    {
        Some((key, name)) => {
            Err(Error::BadTable(format!("`{key}` names the series `{name}`, which has no rows")))
        }
        None => check_serving(table),
    }
}

/// Checks that the components that serve exist, and that one is left whose time is asked for.
fn check_serving(table: &Observations) -> Result<()> {
    let (serving, components) = (&table.origin.serving, table.components());
    match serving.iter().find(|name| !components.contains(name)) {
        Some(name) => Err(Error::BadTable(format!(
            "`serves` names the component `{name}`, which has no column"
        ))),
        None if components.iter().all(|name| serving.contains(name)) => Err(Error::BadTable(
            "`serves` names every component: leave out the one whose time is asked for".into(),
        )),
        None => Ok(()),
    }
}

/// What a line with too many fields may have.
const DECIMAL_COMMAS: &str = "; numbers are written with a point (208.5), not with a comma";

/// The meaning of each field of a line.
#[derive(Debug)]
struct Layout {
    fields: Vec<Field>,
    unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Field {
    Component,
    Reading,
    Round,
    Flags,
    Series,
    Guard,
}

impl Layout {
    fn from_header(header: &[String], line: u64) -> Result<Layout> {
        if header.len() > MAX_COMPONENTS {
            return Err(bad(
                line,
                &format!("the header has {} columns, the limit is {MAX_COMPONENTS}", header.len()),
            ));
        }
        let unit =
            if header.iter().any(|name| name == "time_ns") { Unit::TimeNs } else { Unit::Ticks };
        let fields: Vec<Field> = header.iter().map(|name| Field::from_name(name)).collect();
        for (at, name) in header.iter().enumerate() {
            if name.is_empty() {
                return Err(bad(line, &format!("column {} has no name", at + 1)));
            }
            if header[..at].contains(name) && header.len() <= 2_000 {
                return Err(bad(line, &format!("column `{name}` appears twice")));
            }
        }
        match fields.iter().filter(|field| **field == Field::Reading).count() {
            1 => {}
            0 => return Err(bad(line, &no_reading(header))),
            _ => return Err(bad(line, "the header has both `ticks` and `time_ns`: keep one")),
        }
        if !fields.contains(&Field::Component) {
            return Err(bad(
                line,
                "no component: the header names one column per component, as in `body,ticks`",
            ));
        }
        Ok(Layout { fields, unit })
    }

    fn component_names(&self, header: &[String]) -> Vec<String> {
        let named = header.iter().zip(&self.fields);
        named
            .filter(|(_, field)| **field == Field::Component)
            .map(|(name, _)| name.clone())
            .collect()
    }
}

/// Why a header has no reading: columns may be separated by something else than commas.
fn no_reading(header: &[String]) -> String {
    let other_separators = [(';', "semicolons"), ('\t', "tabs"), ('|', "bars"), (' ', "blanks")];
    let is_reading = |name: &str| Field::from_name(name.trim()) == Field::Reading;
    let is_in = |name: &String, by: char| name.contains(by) && name.split(by).any(is_reading);
    let found_separator = other_separators
        .iter()
        .find(|(separator, _)| header.iter().any(|name| is_in(name, *separator)));
    match found_separator {
        Some((_, separators)) => format!(
            "no column `ticks` (or `time_ns`): the columns are separated by {separators}; \
             separate them by commas, and write numbers with a point, as in `body,ticks` and \
             `2,208.5`"
        ),
        None => "no column `ticks` (or `time_ns`): the header names one column per component and \
                 then `ticks`"
            .into(),
    }
}

impl Field {
    fn from_name(name: &str) -> Field {
        match name {
            "ticks" | "time_ns" => Field::Reading,
            "round" => Field::Round,
            "flags" => Field::Flags,
            "series" => Field::Series,
            "guard" => Field::Guard,
            _ => Field::Component,
        }
    }
}

/// Reads all lines after the header. Without a `round` column the n-th reading of a row belongs to
/// round n - 1.
fn read_rows(
    stream: impl BufRead,
    layout: &Layout,
    header_line: u64,
    table: &mut Observations,
) -> Result<()> {
    let mut reader = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .comment(Some(b'#'))
        .flexible(true)
        .from_reader(Bounded::new(stream));
    let mut record = ::csv::ByteRecord::new();
    let mut readings_of_rows: Vec<u32> = Vec::new();
    let mut counts = vec![0.0; table.components().len()];
    loop {
        let more = reader.read_byte_record(&mut record);
        let line = header_line + record.position().map_or(0, ::csv::Position::line);
        if !more.map_err(|e| bad(line, &e.to_string()))? {
            break;
        }
        reader.get_mut().end_row();
        if record.len() == 1 && record[0].trim_ascii().is_empty() {
            continue;
        }
        let parsed = parse_line(&record, layout, &mut counts, line)?;
        if table.series_names().len() > MAX_SERIES {
            return Err(bad(
                line,
                &format!(
                    "begins series number {}, the limit is {MAX_SERIES}",
                    table.series_names().len()
                ),
            ));
        }
        if table.readings().len() >= MAX_READINGS {
            return Err(bad(
                line,
                &format!("is reading number {}, the limit is {MAX_READINGS}", MAX_READINGS + 1),
            ));
        }
        let series = table.series(parsed.series.filter(|name| !name.is_empty()).unwrap_or("main"));
        let row = table.row(series, &counts);
        let round = parsed.round.unwrap_or_else(|| next_round(&mut readings_of_rows, row));
        table.push_guarded(row, round, parsed.ticks, parsed.flags, parsed.guard);
    }
    Ok(())
}

fn next_round(readings_of_rows: &mut Vec<u32>, row: u32) -> u32 {
    let at = row as usize;
    if readings_of_rows.len() <= at {
        readings_of_rows.resize(at + 1, 0);
    }
    readings_of_rows[at] += 1;
    readings_of_rows[at] - 1
}

struct Line<'a> {
    ticks: f64,
    round: Option<u32>,
    flags: Flags,
    series: Option<&'a str>,
    guard: Option<NonZeroU32>,
}

fn parse_line<'a>(
    record: &'a ::csv::ByteRecord,
    layout: &Layout,
    counts: &mut [f64],
    line: u64,
) -> Result<Line<'a>> {
    if record.len() != layout.fields.len() {
        return Err(bad(
            line,
            &format!(
                "has {}, the header has {}{}",
                counted(record.len(), "field"),
                layout.fields.len(),
                if record.len() > layout.fields.len() { DECIMAL_COMMAS } else { "" }
            ),
        ));
    }
    let mut parsed =
        Line { ticks: f64::NAN, round: None, flags: Flags::NONE, series: None, guard: None };
    let mut component = 0;
    for (bytes, field) in record.iter().zip(&layout.fields) {
        let text = std::str::from_utf8(bytes).map_err(|_| bad(line, "is not UTF-8 text"))?.trim();
        match field {
            Field::Component => {
                counts[component] = not_negative(text, "a count", line)?;
                component += 1;
            }
            Field::Reading => parsed.ticks = finite(text, "the reading", line)?,
            Field::Round => parsed.round = Some(round_number(text, line)?),
            Field::Flags => {
                parsed.flags = Flags::from_letters(text).map_err(|letter| {
                    bad(
                        line,
                        &format!(
                            "flag `{letter}` is unknown: the flags are s, g, b, c, x, d, u and w"
                        ),
                    )
                })?
            }
            Field::Series if text.contains(['\n', '\r']) => {
                return Err(bad(line, "the name of a series has a line break"));
            }
            Field::Series => parsed.series = Some(text),
            Field::Guard => parsed.guard = guard(text, line)?,
        }
    }
    Ok(parsed)
}

fn round_number(text: &str, line: u64) -> Result<u32> {
    let number = text.parse().ok().filter(|round| *round <= MAX_ROUND);
    number.ok_or_else(|| {
        bad(line, &format!("round `{}` is not a whole number from 0 to {MAX_ROUND}", shown(text)))
    })
}

/// A guard; empty if it was not taken.
fn guard(text: &str, line: u64) -> Result<Option<NonZeroU32>> {
    let wrong = |_| {
        bad(line, &format!("guard `{}` is not a whole number from 1 to {}", shown(text), u32::MAX))
    };
    if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(wrong) }
}

fn finite(text: &str, quantity: &str, line: u64) -> Result<f64> {
    let number: f64 = text.parse().map_err(|_| {
        bad(line, &format!("{quantity} is `{}`, which is not a number", shown(text)))
    })?;
    if !number.is_finite() {
        return Err(bad(
            line,
            &format!("{quantity} is `{}`, which is not a finite number", shown(text)),
        ));
    }
    if is_usable(number) {
        Ok(number)
    } else {
        Err(bad(line, &format!("{quantity} is `{}`: {USABLE_NUMBERS}", shown(text))))
    }
}

fn not_negative(text: &str, quantity: &str, line: u64) -> Result<f64> {
    let number = finite(text, quantity, line)?;
    if number < 0.0 {
        Err(bad(line, &format!("{quantity} is {}, which is negative", shown(text))))
    } else {
        Ok(number)
    }
}

fn positive(text: &str, quantity: &str, line: u64) -> Result<f64> {
    let number = finite(text, quantity, line)?;
    if number > 0.0 {
        Ok(number)
    } else {
        Err(bad(line, &format!("{quantity} is {}, but it must be above 0", shown(text))))
    }
}

/// The first 40 characters of a field, without control characters, for a message.
fn shown(text: &str) -> String {
    let short: String =
        text.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().count() > 40 { format!("{short}...") } else { short }
}

fn bad(line: u64, reason: &str) -> Error {
    Error::BadObservation { line, reason: reason.to_owned() }
}

/// The text with spaces in place of line breaks, which would end a comment or a name.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// A name as one field, quoted if necessary.
pub(crate) fn quoted(name: &str) -> String {
    let name = one_line(name);
    if name.contains([',', '"', '#']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name }
}

#[cfg(test)]
mod tests;
