//! The comments and the header line that a file begins with.

use super::units::{add_occupancy, add_uses};
use super::{
    MAX_HEAD, MAX_LAYOUTS, MAX_LINE, MAX_PLACEMENTS, bad, not_negative, one_line, positive,
    round_number,
};
use crate::error::{Error, Result};
use crate::observations::{ClockSpread, CoreClock, Occupancy, Origin, Pauses, Rate, Role, Variant};
use std::collections::BTreeSet;
use std::io::{BufRead, Read};

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
pub(super) fn read_head(lines: &mut impl BufRead) -> Result<(Origin, Vec<String>, u64)> {
    let mut origin = Origin::default();
    let mut text = Vec::new();
    let (mut bytes, mut given_keys) = (0, BTreeSet::new());
    for number in 1.. {
        text.clear();
        let read = lines
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut text)
            .map_err(|e| bad(number, &format!("cannot be read: {e}")))?;
        if read == 0 {
            break;
        }
        if read as u64 == MAX_LINE {
            return Err(bad(
                number,
                &format!("is longer than {MAX_LINE} bytes: this is not an observation file"),
            ));
        }
        bytes += read as u64;
        if bytes > MAX_HEAD {
            return Err(bad(
                number,
                &format!("no header within {MAX_HEAD} bytes: this is not an observation file"),
            ));
        }
        let line = std::str::from_utf8(&text)
            .ok()
            .filter(|line| !line.contains('\0'))
            .ok_or_else(|| bad(number, no_text(&text)))?;
        let line = one_line(line.trim_start_matches('\u{feff}').trim());
        match line.strip_prefix('#') {
            Some(comment) => note(&mut origin, &mut given_keys, comment, number)?,
            None if line.is_empty() => {}
            None => {
                // An uncertainty or provenance without a rate is meaningless.
                origin.rate = origin.rate.filter(|rate| rate.hz.is_finite());
                return Ok((origin, names(&line), number));
            }
        }
    }
    Err(Error::BadTable(
        "the file is empty: expected a header such as `body,ticks` and one row per line".into(),
    ))
}

/// Why a line is not text of an observation file.
fn no_text(line: &[u8]) -> &'static str {
    let has_mark = line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff");
    if has_mark || line.contains(&0) {
        "is not UTF-8 text but perhaps UTF-16: save it as UTF-8 (`iconv -f UTF-16 -t UTF-8`)"
    } else {
        "is not UTF-8 text"
    }
}

/// The names in a header line; names may be quoted.
fn names(line: &str) -> Vec<String> {
    let mut reader =
        ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line.as_bytes());
    let mut record = ::csv::StringRecord::new();
    let read = reader.read_record(&mut record).unwrap_or(false);
    if read { record.iter().map(|name| name.trim().to_owned()).collect() } else { Vec::new() }
}

/// Adds a `# key: value` comment to the origin, and its key to those that are `given_keys`.
fn note(
    origin: &mut Origin,
    given_keys: &mut BTreeSet<String>,
    comment: &str,
    line: u64,
) -> Result<()> {
    let Some((key, value)) = comment.split_once(':') else { return Ok(()) };
    let (key, value) = (key.trim(), value.trim());
    if SINGLE_KEYS.contains(&key) && !given_keys.insert(key.to_owned()) {
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
    let (hz, sd) = parts.ok_or_else(|| {
        bad(
            line,
            &format!("`{key}` needs a core clock in Hz and its standard uncertainty as a share"),
        )
    })?;
    Ok(CoreClock { hz: positive(hz, key, line)?, sd: not_negative(sd, key, line)? })
}

/// Parses a relative standard deviation and the number of runs that show it, such as `0.018 24`.
fn clock_spread(value: &str, key: &str, line: u64) -> Result<ClockSpread> {
    let parts = value
        .split_once(' ')
        .and_then(|(sd, runs)| Some((sd, runs.trim().parse().ok().filter(|runs| *runs >= 2)?)));
    let (sd, runs) = parts.ok_or_else(|| {
        bad(
            line,
            &format!(
                "`{key}` needs a standard deviation as a share and the number of runs that show \
                 it, at least 2, as in `0.018 24`"
            ),
        )
    })?;
    Ok(ClockSpread { sd: not_negative(sd, key, line)?, runs })
}

/// Parses a series and the length of one copy of its chain, such as `reference 3`.
fn chain(value: &str, key: &str, line: u64) -> Result<(String, f64)> {
    let parts = value.rsplit_once(' ');
    let (name, cycles) = parts.ok_or_else(|| {
        bad(line, &format!("`{key}` needs a series and its length in core cycles, as in `{key} 3`"))
    })?;
    Ok((name.trim().to_owned(), positive(cycles, key, line)?))
}

/// The same for one that must not be a chain already: it cannot have two lengths, nor check itself.
fn further_chain(origin: &Origin, value: &str, key: &str, line: u64) -> Result<(String, f64)> {
    let (name, cycles) = chain(value, key, line)?;
    if origin.chains().any(|(known, _)| *known == name) {
        return Err(bad(
            line,
            &format!(
                "`{key}` names the series `{name}`, which is the reference or a control already: \
                 leave one of them out"
            ),
        ));
    }
    Ok((name, cycles))
}

/// Parses a series that checks another one, such as `code fenced = fenced of code`.
fn variant(value: &str, line: u64) -> Result<Variant> {
    let parts = value.split_once('=').and_then(|(series, rest)| {
        rest.trim().split_once(" of ").map(|(role, of)| (series.trim(), role.trim(), of.trim()))
    });
    let known_parts = parts.and_then(|(series, role, of)| {
        Role::NAMES.iter().find(|(name, _)| *name == role).map(|(_, role)| (series, *role, of))
    });
    let (series, role, of) = known_parts.ok_or_else(|| {
        bad(
            line,
            "`variant` needs a series, `in_place` or `fenced`, and a series, as in `b = fenced of \
             a`",
        )
    })?;
    Ok(Variant { series: series.to_owned(), role, of: of.to_owned() })
}

/// Pauses of the CPU: the time in which they were seen, their time, their number, and perhaps how
/// many more were too long for a pause.
fn pauses(value: &str, line: u64) -> Result<Pauses> {
    let needed = || {
        let needed_numbers = "the time that was watched, the time of all pauses, their number, \
                              and perhaps that of longer ones";
        bad(line, &format!("`pauses` needs {needed_numbers}, as in `520000 24000 12 0`"))
    };
    let mut parts = value.split_whitespace();
    let [Some(watched), Some(lost), Some(number), longer, None] =
        std::array::from_fn(|_| parts.next())
    else {
        return Err(needed());
    };
    let pauses = Pauses {
        watched: not_negative(watched, "pauses", line)?,
        lost: not_negative(lost, "pauses", line)?,
        number: number.parse().map_err(|_| needed())?,
        longer: longer.map(|longer| longer.parse().map_err(|_| needed())).transpose()?,
    };
    if pauses.lost > pauses.watched {
        return Err(bad(
            line,
            &format!(
                "`pauses`: all pauses take {lost}, longer than the {watched} that were watched"
            ),
        ));
    }
    Ok(pauses)
}

/// A number of layouts.
fn layouts(value: &str, key: &str, line: u64) -> Result<u32> {
    let number = value.parse().ok().filter(|number| (1..=MAX_LAYOUTS).contains(number));
    number.ok_or_else(|| {
        bad(
            line,
            &format!(
                "gives {value:?} for `{key}`, which is a whole number from 1 to {MAX_LAYOUTS}"
            ),
        )
    })
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
        return Err(bad(
            line,
            &format!(
                "the placement that begins with round {first} must begin after round {before}"
            ),
        ));
    }
    if placements.len() >= MAX_PLACEMENTS {
        return Err(bad(
            line,
            &format!(
                "begins placement number {}, the limit is {MAX_PLACEMENTS}",
                MAX_PLACEMENTS + 1
            ),
        ));
    }
    placements.push(first);
    Ok(())
}

fn rate_of(origin: &mut Origin) -> &mut Rate {
    origin.rate.get_or_insert_with(|| Rate {
        hz: f64::NAN,
        uncertainty_ppm: 0.0,
        provenance: "stated in the file".into(),
    })
}
