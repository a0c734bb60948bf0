//! FST, the compressed dumps of GTKWave's library, which Verilator, Icarus Verilog, GHDL, nvc and
//! others write.
//!
//! Written by hand because the crate `fst-reader` has assertions that a damaged file reaches, and
//! decompresses all signals of a block; here are the changes of one signal and of one block in
//! memory at a time. All numbers have their highest byte first or are of 7 bits a byte. A dump is
//! a list of blocks, each with its kind and its length; that of the names is written last. The time
//! offset of the header is left out, as that of a VCD is: it moves all times together.

mod block;
mod fastlz;
mod file;
mod header;
mod hierarchy;
mod index;
mod reader;
mod signal;
mod tracker;

use super::dump::{Origin, recording};
use super::{Format, Recording, Remark, Request};
use crate::edge::Edge;
use crate::error::{Error, Place, Result};
use block::read_changes;
use file::{File, Packing, Part};
use header::{Blocks, CONVERT};
use signal::Signal;
use std::io::{Cursor, Read, Seek};
use tracker::Tracker;

/// Beginning of a header block: its kind and its length.
const HEADER: &[u8] = b"\0\0\0\0\0\0\0\x01\x49";
/// Kind of a block that has a whole dump, compressed by gzip behind two numbers.
const WRAPPER: u8 = 254;
const GZIP: &[u8] = b"\x1f\x8b";
const FRONT: u64 = 16;

/// Whether a file begins as a dump does.
pub(super) fn begins(head: &[u8]) -> bool {
    let is_wrapped = || head.first() == Some(&WRAPPER) && head.get(17..19) == Some(GZIP);
    head.starts_with(HEADER) || is_wrapped()
}

/// Reads an FST dump; edges come in the order of their times.
///
/// # Errors
/// A dump that was not closed, a damaged one, a missing channel; with the place.
pub fn read_fst(
    mut stream: impl Read + Seek,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let mut file = File::new(&mut stream)?;
    match unwrapped(&mut file)? {
        Some(bytes) => read(&mut File::new(&mut Cursor::new(bytes))?, request, sink),
        None => read(&mut file, request, sink),
    }
}

/// The dump within a wrapper.
fn unwrapped(file: &mut File) -> Result<Option<Vec<u8>>> {
    let name_of_part = "the dump compressed as a whole";
    let whole = Part { place: 0, length: file.length, what: name_of_part };
    if file.length == 0 {
        return Err(Error::Unusable("the file is empty".into()));
    }
    let mut start = file.plain(whole)?;
    if start.byte()? != WRAPPER {
        return Ok(None);
    }
    let (length, unpacked) = (start.u64()?, start.u64()?);
    drop(start);
    if length == 0 {
        return Err(Error::Unusable(
            "the dump is not yet compressed as a whole: wait until its writer has ended".into(),
        ));
    }
    let packed = Part { place: 1, length, what: name_of_part }.behind(FRONT)?;
    file.unpack(packed, Packing::Gzip, unpacked).map(Some)
}

fn read(file: &mut File, request: &Request, sink: &mut dyn FnMut(Edge)) -> Result<Recording> {
    let blocks = Blocks::find(file)?;
    let mut origin = Origin::new(request.sample_hz);
    let header = &blocks.header;
    let words =
        |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    for text in [&header.version, &header.date] {
        origin.version(&words(text).iter().map(String::as_str).collect::<Vec<_>>());
    }
    let Some(((packing, names), geometry)) = blocks.hierarchy.zip(blocks.geometry) else {
        return Err(Error::Unusable(format!("the dump has no widths of its signals: {CONVERT}")));
    };
    let names = hierarchy::names(file, packing, names, &mut origin)?;
    let wanted_channel = request.channel.as_deref();
    let Some((chosen, bit)) = names.choose(wanted_channel)? else {
        return Err(Error::Unusable("the dump has no variable".into()));
    };
    let name = wanted_channel.map_or_else(|| chosen.name.clone(), str::to_owned);
    let signal = Signal::find(file, geometry, chosen, bit)?;
    drop(names);
    request.stated.set(Some(header.hz));
    let mut tracker = Tracker::read(file, blocks.blackouts)?;
    for block in &blocks.changes {
        read_changes(file, *block, &signal, &mut tracker, request, sink)?;
    }
    tracker.finish(sink);
    let mut recording = recording(Format::Fst, &name, Some(header.hz), &origin, &tracker.levels);
    let found_blocks = blocks.changes.len() as u64;
    if found_blocks < header.blocks {
        let reason =
            format!("the header states {} blocks of changes, found {found_blocks}", header.blocks);
        recording.remarks.push(Remark::Truncated { place: Place::Byte(file.length), reason });
    }
    Ok(recording)
}
