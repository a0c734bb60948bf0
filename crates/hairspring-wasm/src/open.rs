//! Reads a file as what it is.

use crate::ask::{Polarity, Reading};
use crate::file::File;
use crate::kind::{Kind, tool};
use hairspring_capture::arguments::{component, counts};
use hairspring_capture::calibrate::Reference;
use hairspring_capture::pattern::Orientation;
use hairspring_capture::read::{Input, Request};
use hairspring_capture::{Options as CaptureOptions, capture};
use hairspring_core::observations::{Observations, read_csv};
use hairspring_import::{Tool, head, results, unpack};
use hairspring_result::ResultDocument;
use hairspring_result::read::read as read_document;
use std::io::{Read, Seek};

/// Beginnings of compressions that the readers of recordings unpack and the others do not.
const COMPRESSED: [&[u8]; 2] = [b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"];

/// A file that was read.
#[derive(Debug)]
pub enum Opened {
    /// Readings that can be solved.
    Table(Box<Table>),
    /// A result, which is shown as it is, and what was left out of it.
    Result(Box<ResultDocument>, Vec<String>),
}

/// Readings that can be solved.
#[derive(Debug)]
pub struct Table {
    /// The readings.
    pub observations: Observations,
    /// What the file was.
    pub kind: Kind,
    /// What was left out of it.
    pub remarks: Vec<String>,
}

/// Reads a file.
///
/// # Errors
/// What is wrong with it, with the place, and what is expected.
pub fn open(mut file: File, how: &Reading) -> Result<Opened, String> {
    let mut beginning = Vec::new();
    (&mut file).take(COMPRESSED_HEAD).read_to_end(&mut beginning).map_err(said)?;
    file.rewind().map_err(said)?;
    if COMPRESSED.iter().any(|magic| beginning.starts_with(magic)) {
        return recording(file, how);
    }
    let is_archive = beginning.starts_with(b"PK");
    if is_archive || how.kind == Some(Kind::Recording) {
        return recording(file, how);
    }
    let (head, stream) = unpack(&mut file).and_then(head).map_err(said)?;
    match how.kind.unwrap_or_else(|| Kind::of(&head)) {
        Kind::Observations => observations(stream),
        Kind::Benchmark => benchmark(stream, tool(&head)),
        Kind::Result => result(stream),
        Kind::Recording => {
            drop(stream);
            file.rewind().map_err(said)?;
            recording(file, how)
        }
    }
}

/// Bytes by which a compression is detected.
const COMPRESSED_HEAD: u64 = 6;

fn table(observations: Observations, kind: Kind, remarks: Vec<String>) -> Opened {
    Opened::Table(Box::new(Table { observations, kind, remarks }))
}

fn observations(stream: impl Read) -> Result<Opened, String> {
    let observations = read_csv(stream).map_err(said)?;
    Ok(table(observations, Kind::Observations, Vec::new()))
}

fn benchmark(stream: impl Read, tool: Tool) -> Result<Opened, String> {
    let found = hairspring_import::read(stream, tool).map_err(said)?;
    Ok(table(found.table, Kind::Benchmark, found.remarks))
}

fn result(stream: impl Read) -> Result<Opened, String> {
    let mut bytes = Vec::new();
    results::read_bytes(stream, &mut bytes)?;
    let text = results::decode(&bytes)?;
    let Some(found) = results::read(&text) else {
        let document = read_document(&text).map_err(|error| format!("{error}; {OTHERS}"))?;
        return Ok(Opened::Result(Box::new(document), Vec::new()));
    };
    let found = found?;
    let remarks = found.remarks.clone();
    Ok(Opened::Result(Box::new(found.into_document()), remarks))
}

/// What else is read.
const OTHERS: &str = "observations (CSV with a column `ticks` or `time_ns`), recordings of a pin \
                      and results of other tools are read, too";

fn recording(file: File, how: &Reading) -> Result<Opened, String> {
    let captured = capture(Input::File(Box::new(file)), &options(how)?).map_err(said)?;
    Ok(table(captured.table, Kind::Recording, Vec::new()))
}

fn options(how: &Reading) -> Result<CaptureOptions, String> {
    let names = how.components.split(',').filter(|name| !name.trim().is_empty());
    Ok(CaptureOptions {
        request: Request { channel: how.channel.clone(), ..Request::default() },
        orientation: how.polarity.map(|polarity| match polarity {
            Polarity::Rising => Orientation::Rising,
            Polarity::Falling => Orientation::Falling,
        }),
        ks: how.k.as_deref().map_or(Ok(None), counts)?,
        trim: how.trim,
        components: names.map(component).collect::<Result<_, _>>()?,
        reference: how.reference.map(reference).transpose()?,
        exact_clock: how.exact_clock,
        ..CaptureOptions::default()
    })
}

fn reference(seconds: f64) -> Result<Reference, String> {
    if (1e-9..=1e6).contains(&seconds) {
        return Ok(Reference { seconds, uncertainty_ppm: 0.0 });
    }
    Err(format!("`reference` is {seconds}: it lies between 1e-9 and 1e6 seconds"))
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}
