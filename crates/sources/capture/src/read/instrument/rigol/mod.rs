//! Waveforms of Rigol's oscilloscopes (`.wfm`): the families DS1000B, DS1000C, DS1000D and E,
//! DS1000Z, DS2000 and DS4000. Samples are numbers of a converter, each of a byte.

mod new;
mod old;

use super::bytes::Bytes;
use super::samples::{Code, Layout, Volts, read_volts, recording};
use super::{Source, at_place};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::read::{Recording, Request, choose};
use std::io::SeekFrom;

/// Steps of the converter from the lowest number to the middle of the screen, on most families.
const MIDDLE: f64 = 127.0;
/// Most bytes of the two halves of a waveform that lie in two places.
const MOST_INTERWOVEN: u64 = 64 << 20;

/// A reader of a family's header.
type ReadHeader = fn(&mut dyn Source, u64) -> Result<Found>;

/// The reader by the first bytes of a file.
fn family(head: &[u8]) -> Option<ReadHeader> {
    match head.get(..4)? {
        [0xa5, 0xa5, 0xa4, 0x01] => Some(old::ds1000b),
        [0xa1 | 0xa5, 0xa5, 0, 0] => Some(old::ds1000e),
        [0x01, 0xff, 0xff, 0xff] => Some(new::ds1000z),
        [0xa5, 0xa5, 0x38, 0] => Some(new::by_model),
        _ => None,
    }
}

/// Whether a file is of one of the families.
pub(super) fn begins(head: &[u8]) -> bool {
    family(head).is_some()
}

/// A channel of a file.
struct Channel {
    name: String,
    place: u64,
    lane: usize,
    volts: Volts,
    hz: f64,
}

/// What a header says.
struct Found {
    samples: u64,
    stride: usize,
    channels: Vec<Channel>,
    /// Where every second sample is, if one channel has the memory of two.
    second: Option<u64>,
}

/// Reads a waveform.
pub(super) fn read(
    stream: &mut dyn Source,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let size = stream.seek(SeekFrom::End(0)).map_err(|error| Error::stream(&error))?;
    let head = at_place(stream, 0)?.header(4, false)?;
    let family = family(head.bytes(0, 4)?)
        .ok_or_else(|| head.wrong(0, "this is no waveform of a Rigol oscilloscope"))?;
    let found_family = family(stream, size)?;
    let names: Vec<String> =
        found_family.channels.iter().map(|channel| channel.name.clone()).collect();
    let at = choose(&names, request.channel.as_deref())?;
    let Some(channel) = found_family.channels.get(at) else {
        return Err(Error::Unusable("no channel was on when the waveform was saved".into()));
    };
    let mut recording = recording(&channel.name, channel.hz, request);
    let layout =
        Layout { lane: channel.lane, stride: found_family.stride, samples: found_family.samples };
    let volts = channel.volts;
    if let Some(second) = found_family.second {
        let interwoven_channels =
            interwoven(stream, channel.place, second, found_family.samples / 2)?;
        let mut rest_of_channels = &interwoven_channels[..];
        let mut bytes = Bytes::new(&mut rest_of_channels, channel.place);
        read_volts(&mut bytes, layout, volts, request, &mut recording, sink)?;
    } else {
        let mut bytes = at_place(stream, channel.place)?;
        read_volts(&mut bytes, layout, volts, request, &mut recording, sink)?;
    }
    Ok(recording)
}

/// Samples that alternate between two places.
fn interwoven(stream: &mut dyn Source, first: u64, second: u64, half: u64) -> Result<Vec<u8>> {
    if half > MOST_INTERWOVEN / 2 {
        let reason = format!("the waveform has {half} samples in each half of the memory");
        return Err(Error::Unusable(format!("{reason}, the limit is {}", MOST_INTERWOVEN / 2)));
    }
    let even = at_place(stream, first)?.up_to(half)?;
    let odd = at_place(stream, second)?.up_to(half)?;
    Ok(even.into_iter().zip(odd).flat_map(|(even, odd)| [even, odd]).collect())
}

/// Volts where greater numbers are lower volts.
fn falling(scale: f64, middle: f64, offset: f64) -> Volts {
    Volts { code: Code::U8, big: false, scale: -scale, offset: scale * middle - offset }
}

/// Volts where greater numbers are higher volts.
fn rising(scale: f64, offset: f64) -> Volts {
    Volts { code: Code::U8, big: false, scale, offset: -scale * MIDDLE - offset }
}
