//! The table of observations.

use crate::sized::{Growing, input};
use crate::wall::{
    Answer, Refusal, Status, elements, exclusive, free, hand_out, locked, shared, text, wall,
};
use hairspring_core::judge::Finding;
use hairspring_core::observations::{
    Flags, Observations, Rate, USABLE_NUMBERS, Unit, is_usable, read_csv, write_csv,
};
use std::ffi::c_char;
use std::fs::File;
use std::sync::Mutex;

/// Most components, series and rounds of a table: those of an observation file.
const MOST_COMPONENTS: usize = 10_000;
const MOST_SERIES: usize = 1_000;
const MOST_ROUND: u32 = 1 << 30;
/// Columns of an observation file that are not components.
const RESERVED_COLUMNS: [&str; 5] = ["ticks", "time_ns", "round", "flags", "series"];

/// A table of observations.
#[derive(Debug)]
pub struct ObservationsHandle {
    table: Mutex<Observations>,
    findings: Vec<Finding>,
}

impl ObservationsHandle {
    /// Works with the table while no other thread does.
    pub fn with<T>(&self, work: impl FnOnce(&mut Observations) -> T) -> T {
        work(&mut locked(&self.table))
    }

    /// A handle to a table.
    pub fn new(table: Observations) -> ObservationsHandle {
        ObservationsHandle { table: Mutex::new(table), findings: Vec::new() }
    }

    /// Adds what is known of the measurement beside its readings, for the assessment.
    #[must_use]
    pub fn with_findings(self, findings: impl IntoIterator<Item = Finding>) -> ObservationsHandle {
        ObservationsHandle { findings: findings.into_iter().collect(), ..self }
    }

    /// What is known of the measurement beside its readings.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// What is known of the clock that made a table's readings.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClockOfTable {
    /// Size of this struct in bytes.
    pub size: usize,
    /// Ticks per second; 0 if unknown.
    pub rate_hz: f64,
    /// Standard uncertainty of the rate, in parts per million.
    pub rate_uncertainty_ppm: f64,
    /// Quantum of the readings in their unit; 0 if unknown.
    pub quantum: f64,
    /// 0 if the readings are ticks, 1 if they are nanoseconds.
    pub in_nanoseconds: u32,
}

// SAFETY: `repr(C)`, the size first, and all its fields may be 0.
unsafe impl Growing for ClockOfTable {
    const LEAST_BYTES: usize = size_of::<usize>();
}

fn bad(text: impl Into<String>) -> Refusal {
    Refusal::new(Status::BadValue, text)
}

/// A new table whose rows count these components: `count` names, 1 to 10,000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_observations_new(
    components: *const *const c_char,
    count: usize,
    out: *mut *mut ObservationsHandle,
) -> Status {
    wall(|| {
        if !(1..=MOST_COMPONENTS).contains(&count) {
            return Err(bad(format!("{count} components: a table has 1 to {MOST_COMPONENTS}")));
        }
        // SAFETY: passed on to the caller.
        let pointers = unsafe { elements(components, count, "the array of components") }?;
        // SAFETY: passed on to the caller.
        let names = pointers
            .iter()
            .map(|name| unsafe { text(*name, "the name of a component") }.map(str::to_owned));
        let names = check_names(names.collect::<Answer<Vec<String>>>()?)?;
        // SAFETY: passed on to the caller.
        unsafe { hand_out(out, ObservationsHandle::new(Observations::new(names))) }
    })
}

fn check_names(names: Vec<String>) -> Answer<Vec<String>> {
    for (at, name) in names.iter().enumerate() {
        if name.trim().is_empty()
            || name.trim() != name
            || RESERVED_COLUMNS.contains(&name.as_str())
        {
            return Err(bad(format!(
                "`{name}` cannot be the name of a component: it is empty, begins or ends with \
                 blanks, or means another column"
            )));
        }
        if names[..at].contains(name) {
            return Err(bad(format!("component `{name}` appears twice")));
        }
    }
    Ok(names)
}

/// Frees a table; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_observations_free(table: *mut ObservationsHandle) {
    // SAFETY: passed on to the caller.
    unsafe { free(table) }
}

/// Describes the clock that made the readings; `name` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_observations_set_clock(
    table: *const ObservationsHandle,
    name: *const c_char,
    clock: *const ClockOfTable,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let (table, clock) = unsafe { (shared(table, "the table")?, input(clock, "the clock")?) };
        // SAFETY: passed on to the caller.
        let name = if name.is_null() {
            None
        } else {
            Some(unsafe { text(name, "the clock's name") }?.to_owned())
        };
        let usable = |number: f64| is_usable(number) && number >= 0.0;
        if ![clock.rate_hz, clock.rate_uncertainty_ppm, clock.quantum].into_iter().all(usable)
            || clock.in_nanoseconds > 1
        {
            return Err(bad(format!(
                "rate, uncertainty and quantum must be finite and not negative, and in_nanoseconds \
                 0 or 1; {USABLE_NUMBERS}"
            )));
        }
        let rate = Rate {
            hz: clock.rate_hz,
            uncertainty_ppm: clock.rate_uncertainty_ppm,
            provenance: "stated by the program".into(),
        };
        table.with(|table| {
            table.origin.unit = if clock.in_nanoseconds == 1 { Unit::TimeNs } else { Unit::Ticks };
            table.origin.clock = name;
            table.origin.rate = (clock.rate_hz > 0.0).then_some(rate);
            table.origin.granularity = (clock.quantum > 0.0).then_some(clock.quantum);
        });
        Ok(())
    })
}

/// Sets `row` to the row of a series with these counts, one for each component; adds the row if the
/// table does not have it. A null `series` means `main`. Counts are not negative, and those other
/// than 0 lie between 1e-30 and 1e30.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_observations_row(
    table: *const ObservationsHandle,
    series: *const c_char,
    counts: *const f64,
    count: usize,
    row: *mut u32,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let (table, counts, row) = unsafe {
            (
                shared(table, "the table")?,
                elements(counts, count, "the counts")?,
                exclusive(row, "the pointer for the row")?,
            )
        };
        // SAFETY: passed on to the caller.
        let series = if series.is_null() {
            "main"
        } else {
            unsafe { text(series, "the name of the series") }?
        };
        *row = table.with(|table| add_row(table, series, counts))?;
        Ok(())
    })
}

fn add_row(table: &mut Observations, series: &str, counts: &[f64]) -> Answer<u32> {
    let wanted_counts = table.components().len();
    if counts.len() != wanted_counts {
        return Err(bad(format!(
            "{} counts where the table has {wanted_counts} components",
            counts.len()
        )));
    }
    if let Some(count) = counts.iter().find(|count| !is_usable(**count) || **count < 0.0) {
        return Err(bad(format!("a count of {count}: counts are not negative; {USABLE_NUMBERS}")));
    }
    if series.trim() != series || series.is_empty() {
        return Err(bad(format!(
            "`{series}` cannot be the name of a series: it is empty, or begins or ends with blanks"
        )));
    }
    if table.find_series(series).is_none() && table.series_names().len() >= MOST_SERIES {
        return Err(bad(format!(
            "series number {}: a table has at most {MOST_SERIES}",
            MOST_SERIES + 1
        )));
    }
    let series = table.series(series);
    Ok(table.row(series, counts))
}

/// Adds a reading of a row, in the table's unit. Readings of one round are taken within a short
/// time. Those other than 0 lie between 1e-30 and 1e30 on either side of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_observations_push(
    table: *const ObservationsHandle,
    row: u32,
    round: u32,
    reading: f64,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let table = unsafe { shared(table, "the table") }?;
        table.with(|table| {
            if row as usize >= table.rows().len() {
                return Err(bad(format!("row {row}: the table has {} rows", table.rows().len())));
            }
            if round > MOST_ROUND || !is_usable(reading) {
                return Err(bad(format!(
                    "round {round}, reading {reading}: rounds go to {MOST_ROUND}; {USABLE_NUMBERS}"
                )));
            }
            table.push_flagged(row, round, reading, Flags::NONE);
            Ok(())
        })
    })
}

/// The number of readings in a table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_observations_count(
    table: *const ObservationsHandle,
    readings: *mut usize,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let (table, readings) = unsafe {
            (shared(table, "the table")?, exclusive(readings, "the pointer for the count")?)
        };
        *readings = table.with(|table| table.readings().len());
        Ok(())
    })
}

fn file_error(action: &str, path: &str, error: &std::io::Error) -> Refusal {
    Refusal::new(Status::InputOutput, format!("{path} cannot be {action}: {error}"))
}

/// Reads an observation file (CSV).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_observations_read_csv(
    path: *const c_char,
    out: *mut *mut ObservationsHandle,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let path = unsafe { text(path, "the path") }?;
        let file = File::open(path).map_err(|error| file_error("opened", path, &error))?;
        let table = read_csv(file)?;
        // SAFETY: passed on to the caller.
        unsafe { hand_out(out, ObservationsHandle::new(table)) }
    })
}

/// Reads observations from the text of an observation file, `length` bytes long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_observations_parse_csv(
    bytes: *const u8,
    length: usize,
    out: *mut *mut ObservationsHandle,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let table = read_csv(unsafe { elements(bytes, length, "the text") }?)?;
        // SAFETY: passed on to the caller.
        unsafe { hand_out(out, ObservationsHandle::new(table)) }
    })
}

/// Writes a table as an observation file, which `hairspring fit` reads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_observations_write_csv(
    table: *const ObservationsHandle,
    path: *const c_char,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let (table, path) = unsafe { (shared(table, "the table")?, text(path, "the path")?) };
        let file = File::create(path).map_err(|error| file_error("created", path, &error))?;
        table
            .with(|table| write_csv(table, file))
            .map_err(|error| file_error("written", path, &error))
    })
}
