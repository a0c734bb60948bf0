//! Zip archives of logic analysers: which program wrote one shows by the files in it.

use super::{Recording, Request, dsview, ppk2, sigrok};
use crate::edge::Edge;
use crate::error::{Error, Result, shown};
use std::io::{Read, Seek};
use zip::ZipArchive;

/// Names of an unknown archive that its error shows.
const SHOWN_NAMES: usize = 4;
/// Bytes that are read together.
const BLOCK: usize = 1 << 16;

/// Reads the recording in an archive: a sigrok session, a file of DSView or of Nordic's Power
/// Profiler.
///
/// # Errors
/// A damaged archive, one without a recording that is known, and what is wrong with the recording.
pub fn read_archive(
    stream: impl Read + Seek,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let mut archive = open(stream)?;
    let has = |name: &str| archive.index_for_name(name).is_some();
    if has("session.raw") && has("metadata.json") {
        return ppk2::read(&mut archive, request, sink);
    }
    if has("metadata") {
        return sigrok::read_session(&mut archive, request, sink);
    }
    if has("header") {
        return dsview::read(&mut archive, request, sink);
    }
    Err(Error::Unusable(unknown(&archive)))
}

/// Opens an archive.
pub(super) fn open<R: Read + Seek>(stream: R) -> Result<ZipArchive<R>> {
    ZipArchive::new(stream).map_err(|error| {
        let advice = "the list at the end of the archive cannot be read; the file is cut or is \
                      not a session";
        Error::Unusable(format!("this is not a complete sigrok session: {advice} ({error})"))
    })
}

/// What an archive without a known recording is, and what to do with it.
fn unknown<R: Read + Seek>(archive: &ZipArchive<R>) -> String {
    if archive.index_for_name("meta.json").is_some() {
        return "this is a capture of Saleae Logic 2 (.sal), whose format is not published: export \
                it by File > Export Raw Data, as binary or CSV"
            .into();
    }
    let names: Vec<String> = archive.file_names().take(SHOWN_NAMES).map(shown).collect();
    format!(
        "this zip archive holds no recording that is known, but {}: unpack it and give the \
         recording itself; a sigrok session has a file `metadata`, one of DSView a file `header`",
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    )
}

/// Reads a small text file of an archive.
pub(super) fn text<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    name: &str,
    most_bytes: u64,
) -> Result<String> {
    let wrong = |error: &dyn std::fmt::Display| Error::Unusable(format!("{name}: {error}"));
    let entry = archive.by_name(name).map_err(|error| wrong(&error))?;
    let mut bytes = Vec::new();
    entry.take(most_bytes).read_to_end(&mut bytes).map_err(|error| wrong(&error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Passes on the bytes of a file in whole units; returns a message if it is damaged, or ends within
/// a unit.
pub(super) fn piece<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    name: &str,
    unit: usize,
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<Option<String>> {
    let mut entry = archive
        .by_name(name)
        .map_err(|error| Error::Unusable(format!("{}: {error}", shown(name))))?;
    let mut block = vec![0u8; BLOCK / unit * unit];
    let mut held_bytes = 0;
    loop {
        match entry.read(&mut block[held_bytes..]) {
            Ok(0) => break,
            Ok(read) => held_bytes += read,
            Err(error) => return Ok(Some(format!("{} is damaged: {error}", shown(name)))),
        }
        if held_bytes == block.len() {
            take(&block)?;
            held_bytes = 0;
        }
    }
    take(&block[..held_bytes / unit * unit])?;
    Ok((held_bytes % unit != 0).then(|| {
        format!(
            "the last sample of the piece `{}` has {} of {unit} bytes, so the rest is not read",
            shown(name),
            held_bytes % unit
        )
    }))
}
