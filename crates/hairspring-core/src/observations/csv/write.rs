//! Writes a table as a file that is read back as an equal table.

use super::{one_line, quoted};
use crate::observations::{Observations, Pauses, Role, Row, Unit, Uses, Variant};
use std::io::Write;

/// Writes the table as an observation file that [`read_csv`](super::read_csv) reads back as an
/// equal table.
///
/// # Errors
/// Errors of the stream.
pub fn write_csv(table: &Observations, stream: impl Write) -> std::io::Result<()> {
    write_columns(table, &vec![true; table.components().len()], stream)
}

/// As [`write_csv`], without the columns of components that no row counts, of which the readings
/// say nothing. A large function of which few blocks ran has hundreds of them.
///
/// # Errors
/// Errors of the stream.
pub fn write_counted_csv(table: &Observations, stream: impl Write) -> std::io::Result<()> {
    let is_counted = |at: usize| table.rows().iter().any(|row| row.counts[at] != 0.0);
    let is_kept =
        |(at, name): (usize, &String)| is_counted(at) || table.origin.serving.contains(name);
    write_columns(
        table,
        &table.components().iter().enumerate().map(is_kept).collect::<Vec<bool>>(),
        stream,
    )
}

/// Writes the table with those of its components that are kept.
fn write_columns(
    table: &Observations,
    is_kept: &[bool],
    stream: impl Write,
) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(stream);
    write_head(table, is_kept, &mut out)?;
    let guarded = has_guards(table);
    let begin = |row: &Row| -> String {
        let counts = row
            .counts
            .iter()
            .zip(is_kept)
            .filter(|(_, is_kept)| **is_kept)
            .map(|(count, _)| format!("{count},"));
        format!(
            "{},{}",
            quoted(&table.series_names()[row.series as usize]),
            counts.collect::<String>()
        )
    };
    let begins: Vec<String> = table.rows().iter().map(begin).collect();
    for reading in table.readings() {
        write!(
            out,
            "{}{},{},",
            begins[reading.row as usize],
            reading.round,
            reading.flags.letters()
        )?;
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
    let mut add =
        |key: &str, value: Option<String>| lines.extend(value.map(|value| (key.to_owned(), value)));
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
    origin
        .occupancy
        .iter()
        .for_each(|(series, occupancy)| add(occupancy.key(), Some(series.clone())));
    let listed = |uses: &Uses| {
        uses.iter().map(|(unit, number)| format!("{unit} {number}")).collect::<Vec<_>>().join(", ")
    };
    origin
        .uses
        .iter()
        .for_each(|(series, uses)| add("uses", Some(format!("{series} = {}", listed(uses)))));
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
    let kept_components = table.components().iter().zip(is_kept).filter(|(_, is_kept)| **is_kept);
    let components: String =
        kept_components.map(|(name, _)| format!("{},", quoted(name))).collect();
    let guard = if has_guards(table) { "guard," } else { "" };
    writeln!(out, "series,{components}round,flags,{guard}{unit}")
}
