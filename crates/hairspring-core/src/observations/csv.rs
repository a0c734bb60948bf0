//! The observation file: CSV that a microcontroller can print and a spreadsheet can open (spec/observations.md).

mod bounded;
mod units;

use super::{
    ClockSpread, CoreClock, Flags, Observations, Occupancy, Origin, Pauses, Rate, Role, Row, USABLE_NUMBERS, Unit, Uses, Variant, is_usable,
};
use crate::error::{Error, Result, counted};
use bounded::Bounded;
use std::collections::BTreeSet;
use std::io::{BufRead, Read, Write};
use std::num::NonZeroU32;
use units::{add_occupancy, add_uses};

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
/// Rounds of each series, for each reading, that a file may have beyond a few millions: memory and time follow the rounds.
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
/// [`Error::BadObservation`] with the line number for a missing column, a value that is not a number, a negative or
/// infinite count, a wrong number of fields, or a line longer than 1 MiB. [`Error::BadTable`] for a file without a header
/// or rows, or a header that names a series without rows.
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
        return Err(Error::BadTable("the file has a header but no rows: it needs at least two rows with different counts".into()));
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
        "the highest round is {last}, and there are only {readings} readings: number the rounds without gaps, from 0"
    )))
}

/// Checks that each series has readings that count.
fn check_excluded(table: &Observations) -> Result<()> {
    let mut counts = vec![false; table.series_names().len()];
    for reading in table.readings().iter().filter(|reading| !reading.flags.contains(Flags::EXCLUDED)) {
        counts[table.rows()[reading.row as usize].series as usize] = true;
    }
    match table.series_names().iter().zip(counts).find(|(_, counts)| !counts) {
        Some((name, _)) => Err(Error::BadTable(format!(
            "all readings of the series `{name}` have the flag `x`, which leaves them out: remove the series, or the flag of those that count"
        ))),
        None => Ok(()),
    }
}

/// Checks that the series named in the head exist; otherwise a misspelled name would go unnoticed.
fn check_names(table: &Observations) -> Result<()> {
    let origin = &table.origin;
    let controls = origin.controls.iter().map(|(name, _)| ("control", name));
    let chains = [("reference", &origin.reference), ("shadow", &origin.fenced_chain)];
    let chains = chains.into_iter().filter_map(|(key, chain)| Some((key, &chain.as_ref()?.0))).chain(controls);
    let variants = origin.variants.iter().flat_map(|variant| [("variant", &variant.series), ("variant", &variant.of)]);
    let unoptimised = origin.unoptimised.iter().map(|name| ("unoptimised", name));
    let occupancy = origin.occupancy.iter().map(|(name, occupancy)| (occupancy.key(), name));
    let uses = origin.uses.iter().map(|(name, _)| ("uses", name));
    match chains.chain(variants).chain(unoptimised).chain(occupancy).chain(uses).find(|(_, name)| table.find_series(name).is_none()) {
        Some((key, name)) => Err(Error::BadTable(format!("`{key}` names the series `{name}`, which has no rows"))),
        None => check_serving(table),
    }
}

/// Checks that the components that serve exist, and that one is left whose time is asked for.
fn check_serving(table: &Observations) -> Result<()> {
    let (serving, components) = (&table.origin.serving, table.components());
    match serving.iter().find(|name| !components.contains(name)) {
        Some(name) => Err(Error::BadTable(format!("`serves` names the component `{name}`, which has no column"))),
        None if components.iter().all(|name| serving.contains(name)) => {
            Err(Error::BadTable("`serves` names every component: leave out the one whose time is asked for".into()))
        }
        None => Ok(()),
    }
}

/// Keys of the head that have one value.
const SINGLE_KEYS: [&str; 14] = [
    "clock",
    "rate_hz",
    "rate_uncertainty_ppm",
    "rate_provenance",
    "granularity",
    "reading_bound",
    "clock_spread",
    "core_clock",
    "reference",
    "shadow",
    "pauses",
    "layouts",
    "crossover",
    "threads",
];

/// Reads the comments and the header line, which may follow empty lines and a byte order mark.
fn read_head(lines: &mut impl BufRead) -> Result<(Origin, Vec<String>, u64)> {
    let mut origin = Origin::default();
    let mut text = Vec::new();
    let (mut bytes, mut given) = (0, BTreeSet::new());
    for number in 1.. {
        text.clear();
        let read = lines.by_ref().take(MAX_LINE).read_until(b'\n', &mut text).map_err(|e| bad(number, &format!("cannot be read: {e}")))?;
        if read == 0 {
            break;
        }
        if read as u64 == MAX_LINE {
            return Err(bad(number, &format!("is longer than {MAX_LINE} bytes: this is not an observation file")));
        }
        bytes += read as u64;
        if bytes > MAX_HEAD {
            return Err(bad(number, &format!("no header within {MAX_HEAD} bytes: this is not an observation file")));
        }
        let line = std::str::from_utf8(&text).map_err(|_| bad(number, "is not UTF-8 text"))?;
        let line = one_line(line.trim_start_matches('\u{feff}').trim());
        match line.strip_prefix('#') {
            Some(comment) => note(&mut origin, &mut given, comment, number)?,
            None if line.is_empty() => {}
            None => {
                // An uncertainty or provenance without a rate is meaningless.
                origin.rate = origin.rate.filter(|rate| rate.hz.is_finite());
                return Ok((origin, names(&line), number));
            }
        }
    }
    Err(Error::BadTable("the file is empty: expected a header such as `body,ticks` and one row per line".into()))
}

/// The names in a header line; names may be quoted.
fn names(line: &str) -> Vec<String> {
    let mut reader = ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line.as_bytes());
    let mut record = ::csv::StringRecord::new();
    let read = reader.read_record(&mut record).unwrap_or(false);
    if read { record.iter().map(|name| name.trim().to_owned()).collect() } else { Vec::new() }
}

/// Adds a `# key: value` comment to the origin, and its key to those that are `given`.
fn note(origin: &mut Origin, given: &mut BTreeSet<String>, comment: &str, line: u64) -> Result<()> {
    let Some((key, value)) = comment.split_once(':') else { return Ok(()) };
    let (key, value) = (key.trim(), value.trim());
    if SINGLE_KEYS.contains(&key) && !given.insert(key.to_owned()) {
        return Err(bad(line, &format!("`{key}` is given a second time: which of the two holds?")));
    }
    match key {
        "clock" => origin.clock = Some(value.to_owned()),
        "rate_hz" => rate_of(origin).hz = positive(value, key, line)?,
        "rate_uncertainty_ppm" => rate_of(origin).uncertainty_ppm = not_negative(value, key, line)?,
        "rate_provenance" => value.clone_into(&mut rate_of(origin).provenance),
        "granularity" => origin.granularity = Some(positive(value, key, line)?),
        "reading_bound" => origin.reading_bound = Some(positive(value, key, line)?),
        "clock_spread" => origin.clock_spread = Some(clock_spread(value, key, line)?),
        "core_clock" => origin.core_clock = Some(core_clock(value, key, line)?),
        "reference" => origin.reference = Some(further_chain(origin, value, key, line)?),
        "control" => origin.controls.push(further_chain(origin, value, key, line)?),
        "shadow" => origin.fenced_chain = Some(chain(value, key, line)?),
        "variant" => origin.variants.push(variant(value, line)?),
        "unoptimised" => origin.unoptimised.push(value.to_owned()),
        "waits" => add_occupancy(origin, value, Occupancy::Waits, line)?,
        "fills" => add_occupancy(origin, value, Occupancy::Fills, line)?,
        "uses" => add_uses(origin, value, line)?,
        "placement" => add_placement(&mut origin.placements, value, line)?,
        "pauses" => origin.pauses = pauses(value, line)?,
        "layouts" => origin.layouts = layouts(value, key, line)?,
        "crossover" => origin.crossover = layouts(value, key, line)?,
        "threads" => origin.threads = threads(value, line)?,
        "serves" => origin.serving.push(value.to_owned()),
        _ => origin.notes.push((key.to_owned(), value.to_owned())),
    }
    Ok(())
}

/// Parses a core clock and its relative standard uncertainty, such as `4.1e9 0.003`.
fn core_clock(value: &str, key: &str, line: u64) -> Result<CoreClock> {
    let parts = value.split_once(' ');
    let (hz, sd) = parts.ok_or_else(|| bad(line, &format!("`{key}` needs a core clock in Hz and its standard uncertainty as a share")))?;
    Ok(CoreClock { hz: positive(hz, key, line)?, sd: not_negative(sd, key, line)? })
}

/// Parses a relative standard deviation and the number of runs that show it, such as `0.018 24`.
fn clock_spread(value: &str, key: &str, line: u64) -> Result<ClockSpread> {
    let parts = value.split_once(' ').and_then(|(sd, runs)| Some((sd, runs.trim().parse().ok().filter(|runs| *runs >= 2)?)));
    let (sd, runs) = parts.ok_or_else(|| {
        bad(
            line,
            &format!("`{key}` needs a standard deviation as a share and the number of runs that show it, at least 2, as in `0.018 24`"),
        )
    })?;
    Ok(ClockSpread { sd: not_negative(sd, key, line)?, runs })
}

/// Parses a series and the length of one copy of its chain, such as `reference 3`.
fn chain(value: &str, key: &str, line: u64) -> Result<(String, f64)> {
    let parts = value.rsplit_once(' ');
    let (name, cycles) =
        parts.ok_or_else(|| bad(line, &format!("`{key}` needs a series and its length in core cycles, as in `{key} 3`")))?;
    Ok((name.trim().to_owned(), positive(cycles, key, line)?))
}

/// The same for one that must not be a chain already: it cannot have two lengths, nor check itself.
fn further_chain(origin: &Origin, value: &str, key: &str, line: u64) -> Result<(String, f64)> {
    let (name, cycles) = chain(value, key, line)?;
    if origin.chains().any(|(known, _)| *known == name) {
        return Err(bad(
            line,
            &format!("`{key}` names the series `{name}`, which is the reference or a control already: leave one of them out"),
        ));
    }
    Ok((name, cycles))
}

/// Parses a series that checks another one, such as `code fenced = fenced of code`.
fn variant(value: &str, line: u64) -> Result<Variant> {
    let parts = value
        .split_once('=')
        .and_then(|(series, rest)| rest.trim().split_once(" of ").map(|(role, of)| (series.trim(), role.trim(), of.trim())));
    let found =
        parts.and_then(|(series, role, of)| Role::NAMES.iter().find(|(name, _)| *name == role).map(|(_, role)| (series, *role, of)));
    let (series, role, of) =
        found.ok_or_else(|| bad(line, "`variant` needs a series, `in_place` or `fenced`, and a series, as in `b = fenced of a`"))?;
    Ok(Variant { series: series.to_owned(), role, of: of.to_owned() })
}

/// Pauses of the CPU: the time in which they were seen, their time, their number, and perhaps how many more were too long for a pause.
fn pauses(value: &str, line: u64) -> Result<Pauses> {
    let needed = || {
        let what = "the time that was watched, the time of all pauses, their number, and perhaps that of longer ones";
        bad(line, &format!("`pauses` needs {what}, as in `520000 24000 12 0`"))
    };
    let mut parts = value.split_whitespace();
    let [Some(watched), Some(lost), Some(number), longer, None] = std::array::from_fn(|_| parts.next()) else { return Err(needed()) };
    let pauses = Pauses {
        watched: not_negative(watched, "pauses", line)?,
        lost: not_negative(lost, "pauses", line)?,
        number: number.parse().map_err(|_| needed())?,
        longer: longer.map(|longer| longer.parse().map_err(|_| needed())).transpose()?,
    };
    if pauses.lost > pauses.watched {
        return Err(bad(line, &format!("`pauses`: all pauses take {lost}, longer than the {watched} that were watched")));
    }
    Ok(pauses)
}

/// A number of layouts.
fn layouts(value: &str, key: &str, line: u64) -> Result<u32> {
    let number = value.parse().ok().filter(|number| (1..=MAX_LAYOUTS).contains(number));
    number.ok_or_else(|| bad(line, &format!("gives {value:?} for `{key}`, which is a whole number from 1 to {MAX_LAYOUTS}")))
}

fn threads(value: &str, line: u64) -> Result<bool> {
    match value {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(bad(line, &format!("gives {value:?} for `threads`, which is yes or no"))),
    }
}

/// Adds the first round of a placement, which must be after that of the one before.
fn add_placement(placements: &mut Vec<u32>, value: &str, line: u64) -> Result<()> {
    let first = round_number(value, line)?;
    let before = placements.last().copied().unwrap_or(0);
    if first <= before {
        return Err(bad(line, &format!("the placement that begins with round {first} must begin after round {before}")));
    }
    if placements.len() >= MAX_PLACEMENTS {
        return Err(bad(line, &format!("begins placement number {}, the limit is {MAX_PLACEMENTS}", MAX_PLACEMENTS + 1)));
    }
    placements.push(first);
    Ok(())
}

fn rate_of(origin: &mut Origin) -> &mut Rate {
    origin.rate.get_or_insert_with(|| Rate { hz: f64::NAN, uncertainty_ppm: 0.0, provenance: "stated in the file".into() })
}

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
            return Err(bad(line, &format!("the header has {} columns, the limit is {MAX_COMPONENTS}", header.len())));
        }
        let unit = if header.iter().any(|name| name == "time_ns") { Unit::TimeNs } else { Unit::Ticks };
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
            0 => return Err(bad(line, "no column `ticks` (or `time_ns`): the header names one column per component and then `ticks`")),
            _ => return Err(bad(line, "the header has both `ticks` and `time_ns`: keep one")),
        }
        if !fields.contains(&Field::Component) {
            return Err(bad(line, "no component: the header names one column per component, as in `body,ticks`"));
        }
        Ok(Layout { fields, unit })
    }

    fn component_names(&self, header: &[String]) -> Vec<String> {
        let named = header.iter().zip(&self.fields);
        named.filter(|(_, field)| **field == Field::Component).map(|(name, _)| name.clone()).collect()
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

/// Reads all lines after the header. Without a `round` column the n-th reading of a row belongs to round n - 1.
fn read_rows(stream: impl BufRead, layout: &Layout, header_line: u64, table: &mut Observations) -> Result<()> {
    let mut reader = ::csv::ReaderBuilder::new().has_headers(false).comment(Some(b'#')).flexible(true).from_reader(Bounded::new(stream));
    let mut record = ::csv::ByteRecord::new();
    let mut seen: Vec<u32> = Vec::new();
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
            return Err(bad(line, &format!("begins series number {}, the limit is {MAX_SERIES}", table.series_names().len())));
        }
        if table.readings().len() >= MAX_READINGS {
            return Err(bad(line, &format!("is reading number {}, the limit is {MAX_READINGS}", MAX_READINGS + 1)));
        }
        let series = table.series(parsed.series.filter(|name| !name.is_empty()).unwrap_or("main"));
        let row = table.row(series, &counts);
        let round = parsed.round.unwrap_or_else(|| next_round(&mut seen, row));
        table.push_guarded(row, round, parsed.ticks, parsed.flags, parsed.guard);
    }
    Ok(())
}

fn next_round(seen: &mut Vec<u32>, row: u32) -> u32 {
    let at = row as usize;
    if seen.len() <= at {
        seen.resize(at + 1, 0);
    }
    seen[at] += 1;
    seen[at] - 1
}

struct Line<'a> {
    ticks: f64,
    round: Option<u32>,
    flags: Flags,
    series: Option<&'a str>,
    guard: Option<NonZeroU32>,
}

fn parse_line<'a>(record: &'a ::csv::ByteRecord, layout: &Layout, counts: &mut [f64], line: u64) -> Result<Line<'a>> {
    if record.len() != layout.fields.len() {
        return Err(bad(line, &format!("has {}, the header has {}", counted(record.len(), "field"), layout.fields.len())));
    }
    let mut parsed = Line { ticks: f64::NAN, round: None, flags: Flags::NONE, series: None, guard: None };
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
                parsed.flags = Flags::from_letters(text)
                    .map_err(|letter| bad(line, &format!("flag `{letter}` is unknown: the flags are s, g, b, c, x, d, u and w")))?
            }
            Field::Series if text.contains(['\n', '\r']) => return Err(bad(line, "the name of a series has a line break")),
            Field::Series => parsed.series = Some(text),
            Field::Guard => parsed.guard = guard(text, line)?,
        }
    }
    Ok(parsed)
}

fn round_number(text: &str, line: u64) -> Result<u32> {
    let number = text.parse().ok().filter(|round| *round <= MAX_ROUND);
    number.ok_or_else(|| bad(line, &format!("round `{}` is not a whole number from 0 to {MAX_ROUND}", shown(text))))
}

/// A guard; empty if it was not taken.
fn guard(text: &str, line: u64) -> Result<Option<NonZeroU32>> {
    let wrong = |_| bad(line, &format!("guard `{}` is not a whole number from 1 to {}", shown(text), u32::MAX));
    if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(wrong) }
}

fn finite(text: &str, what: &str, line: u64) -> Result<f64> {
    let number: f64 = text.parse().map_err(|_| bad(line, &format!("{what} is `{}`, which is not a number", shown(text))))?;
    if !number.is_finite() {
        return Err(bad(line, &format!("{what} is `{}`, which is not a finite number", shown(text))));
    }
    if is_usable(number) { Ok(number) } else { Err(bad(line, &format!("{what} is `{}`: {USABLE_NUMBERS}", shown(text)))) }
}

fn not_negative(text: &str, what: &str, line: u64) -> Result<f64> {
    let number = finite(text, what, line)?;
    if number < 0.0 { Err(bad(line, &format!("{what} is {}, which is negative", shown(text)))) } else { Ok(number) }
}

fn positive(text: &str, what: &str, line: u64) -> Result<f64> {
    let number = finite(text, what, line)?;
    if number > 0.0 { Ok(number) } else { Err(bad(line, &format!("{what} is {}, but it must be above 0", shown(text)))) }
}

/// The first 40 characters of a field, without control characters, for a message.
fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().count() > 40 { format!("{short}...") } else { short }
}

fn bad(line: u64, reason: &str) -> Error {
    Error::BadObservation { line, reason: reason.to_owned() }
}

/// Writes the table as an observation file that [`read_csv`] reads back as an equal table.
///
/// # Errors
/// Errors of the stream.
pub fn write_csv(table: &Observations, stream: impl Write) -> std::io::Result<()> {
    write_columns(table, &vec![true; table.components().len()], stream)
}

/// As [`write_csv`], without the columns of components that no row counts, of which the readings say nothing. A large function of which few
/// blocks ran has hundreds of them.
///
/// # Errors
/// Errors of the stream.
pub fn write_counted_csv(table: &Observations, stream: impl Write) -> std::io::Result<()> {
    let is_counted = |at: usize| table.rows().iter().any(|row| row.counts[at] != 0.0);
    let is_kept = |(at, name): (usize, &String)| is_counted(at) || table.origin.serving.contains(name);
    write_columns(table, &table.components().iter().enumerate().map(is_kept).collect::<Vec<bool>>(), stream)
}

/// Writes the table with those of its components that are kept.
fn write_columns(table: &Observations, is_kept: &[bool], stream: impl Write) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(stream);
    write_head(table, is_kept, &mut out)?;
    let guarded = has_guards(table);
    let begin = |row: &Row| -> String {
        let counts = row.counts.iter().zip(is_kept).filter(|(_, is_kept)| **is_kept).map(|(count, _)| format!("{count},"));
        format!("{},{}", quoted(&table.series_names()[row.series as usize]), counts.collect::<String>())
    };
    let begins: Vec<String> = table.rows().iter().map(begin).collect();
    for reading in table.readings() {
        write!(out, "{}{},{},", begins[reading.row as usize], reading.round, reading.flags.letters())?;
        if guarded {
            write!(out, "{},", reading.guard.map_or(String::new(), |guard| guard.to_string()))?;
        }
        writeln!(out, "{}", reading.ticks)?;
    }
    out.flush()
}

/// Whether the file has a column for guards.
fn has_guards(table: &Observations) -> bool {
    table.readings().iter().any(|reading| reading.guard.is_some())
}

fn write_head(table: &Observations, is_kept: &[bool], out: &mut impl Write) -> std::io::Result<()> {
    let origin = &table.origin;
    let mut lines = vec![("hairspring observations".to_owned(), "1".to_owned())];
    let mut add = |key: &str, value: Option<String>| lines.extend(value.map(|value| (key.to_owned(), value)));
    add("clock", origin.clock.clone());
    add("rate_hz", origin.rate.as_ref().map(|rate| rate.hz.to_string()));
    add("rate_uncertainty_ppm", origin.rate.as_ref().map(|rate| rate.uncertainty_ppm.to_string()));
    add("rate_provenance", origin.rate.as_ref().map(|rate| rate.provenance.clone()));
    add("granularity", origin.granularity.map(|granularity| granularity.to_string()));
    add("reading_bound", origin.reading_bound.map(|bound| bound.to_string()));
    add("clock_spread", origin.clock_spread.map(|spread| format!("{} {}", spread.sd, spread.runs)));
    add("core_clock", origin.core_clock.map(|clock| format!("{} {}", clock.hz, clock.sd)));
    let chain = |(series, cycles): &(String, f64)| format!("{series} {cycles}");
    add("reference", origin.reference.as_ref().map(chain));
    origin.controls.iter().for_each(|control| add("control", Some(chain(control))));
    add("shadow", origin.fenced_chain.as_ref().map(chain));
    for Variant { series, role, of } in &origin.variants {
        let name = Role::NAMES.iter().find(|(_, known)| known == role).map_or("", |(name, _)| name);
        add("variant", Some(format!("{series} = {name} of {of}")));
    }
    origin.unoptimised.iter().for_each(|series| add("unoptimised", Some(series.clone())));
    origin.occupancy.iter().for_each(|(series, occupancy)| add(occupancy.key(), Some(series.clone())));
    let listed = |uses: &Uses| uses.iter().map(|(unit, number)| format!("{unit} {number}")).collect::<Vec<_>>().join(", ");
    origin.uses.iter().for_each(|(series, uses)| add("uses", Some(format!("{series} = {}", listed(uses)))));
    origin.placements.iter().for_each(|first| add("placement", Some(first.to_string())));
    let Pauses { watched, lost, number, longer } = origin.pauses;
    let longer = longer.map_or_else(String::new, |longer| format!(" {longer}"));
    add("pauses", (watched > 0.0).then(|| format!("{watched} {lost} {number}{longer}")));
    add("layouts", (origin.layouts > 1).then(|| origin.layouts.to_string()));
    add("crossover", (origin.crossover > 1).then(|| origin.crossover.to_string()));
    add("threads", origin.threads.then(|| "yes".to_owned()));
    origin.serving.iter().for_each(|component| add("serves", Some(component.clone())));
    lines.extend(origin.notes.iter().filter(|(key, _)| key != "hairspring observations").cloned());
    for (key, value) in lines {
        writeln!(out, "# {}: {}", one_line(&key), one_line(&value))?;
    }
    let unit = match origin.unit {
        Unit::Ticks => "ticks",
        Unit::TimeNs => "time_ns",
    };
    let kept = table.components().iter().zip(is_kept).filter(|(_, is_kept)| **is_kept);
    let components: String = kept.map(|(name, _)| format!("{},", quoted(name))).collect();
    let guard = if has_guards(table) { "guard," } else { "" };
    writeln!(out, "series,{components}round,flags,{guard}{unit}")
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
