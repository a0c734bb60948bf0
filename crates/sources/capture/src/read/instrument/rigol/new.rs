//! The families DS1000Z, DS2000 and DS4000: volts of a division as floats, and greater numbers for
//! higher volts.

use super::super::bytes::Header;
use super::super::{Source, at_place};
use super::{Channel, Found, rising};
use crate::error::{Result, shown};

/// Steps of the converter in a division of the screen.
const STEPS: f64 = 25.0;
const STEPS_Z: f64 = 20.0;
const STEPS_4000: f64 = 32.0;
/// Source of a channel's settings, from the first of them on.
const SCALE: usize = 8;
const SHIFT: usize = 12;
const FLAGS: usize = 16;
/// Bytes of a channel's settings.
const SETTINGS: usize = 28;

/// Volts of a channel whose settings begin at a place.
fn volts(header: &Header, at: usize, flag: usize, steps: f64) -> Result<super::Volts> {
    let sign = if header.u8(at + flag)? == 0 { 1.0 } else { -1.0 };
    Ok(rising(sign * header.f32(at + SCALE)? / steps, header.f32(at + SHIFT)?))
}

/// DS1000Z: samples of all channels take turns, the last channel first.
pub(super) fn ds1000z(stream: &mut dyn Source, _: u64) -> Result<Found> {
    let header = at_place(stream, 0)?.header(280, false)?;
    if header.u32(108)? != 0 || header.bytes(236, 12)?.iter().any(|byte| *byte != 0) {
        return Err(header.wrong(
            108,
            "the waveform was saved with the logic analyser on, which is not read: switch its \
             channels off, or export as CSV",
        ));
    }
    let mask = header.u8(88)?;
    let on: Vec<usize> = (0..4).filter(|n| mask >> n & 1 == 1).collect();
    // Three channels have the places of four.
    let stride = if on.len() == 3 { 4 } else { on.len().max(1) };
    let lane = |nth: usize, number: usize| match stride {
        4 => 3 - number,
        _ => stride - 1 - nth,
    };
    let place = u64::from(header.u32(260)?) + u64::from(header.u32(256)?);
    let hz = header.rate(120, 1e9 * header.f32(120)?)?;
    let mut channels = Vec::new();
    for (nth, number) in on.iter().enumerate() {
        channels.push(Channel {
            name: format!("CH{}", number + 1),
            place,
            lane: lane(nth, *number),
            volts: volts(&header, 124 + SETTINGS * number, FLAGS, STEPS_Z)?,
            hz,
        });
    }
    Ok(Found {
        samples: u64::from(header.u32(116)?) / stride as u64,
        stride,
        channels,
        second: None,
    })
}

/// The families whose files begin with the name of the model.
pub(super) fn by_model(stream: &mut dyn Source, size: u64) -> Result<Found> {
    let header = at_place(stream, 0)?.header(272, false)?;
    let model = header.text(4, 20)?.to_uppercase();
    match model.trim_start_matches(|c: char| c.is_ascii_alphabetic()).chars().next() {
        Some('2') => ds2000(&header, size),
        Some('4') => ds4000(&header),
        _ => Err(header.wrong(
            4,
            format!(
                "the model is `{}`; waveforms of DS2000 and DS4000 are read: export as CSV",
                shown(&model)
            ),
        )),
    }
}

/// DS2000: one channel alone may have the memory of two, with every second sample in each.
fn ds2000(header: &Header, _: u64) -> Result<Found> {
    let is_interwoven = header.u8(65)? & 1 == 1;
    let (skip, length) = (u64::from(header.u32(248)?), u64::from(header.u32(252)?));
    let hz = header.rate(96, header.f32(96)?)?;
    let mask = header.u8(64)?;
    let mut places = Vec::new();
    for n in 0..4 {
        places.push(u64::from(header.u32(68 + 4 * n)?));
    }
    let first = places.first().copied().unwrap_or(0) + skip;
    let mut channels = Vec::new();
    for number in (0..4).filter(|n| mask >> n & 1 == 1) {
        let at = 120 + SETTINGS * number;
        // Newer firmware has the unit before the flag of inversion.
        let flag = if header.u8(at)? == 1 { FLAGS } else { FLAGS + 1 };
        let place = if is_interwoven { first } else { places[number] + skip };
        let (name, volts) = (format!("CH{}", number + 1), volts(header, at, flag, STEPS)?);
        channels.push(Channel { name, place, lane: 0, volts, hz });
    }
    let second = is_interwoven.then(|| places.get(1).copied().unwrap_or(0) + skip);
    let samples = if is_interwoven { length / 2 * 2 } else { length };
    Ok(Found { samples, stride: 1, channels, second })
}

/// DS4000: each channel at a place of its own.
fn ds4000(header: &Header) -> Result<Found> {
    let hz = header.rate(100, header.f32(100)?)?;
    let mask = header.u8(64)?;
    let mut channels = Vec::new();
    for number in (0..4).filter(|n| mask >> n & 1 == 1) {
        channels.push(Channel {
            name: format!("CH{}", number + 1),
            place: header.u32(68 + 4 * number)?.into(),
            lane: 0,
            volts: volts(header, 124 + SETTINGS * number, FLAGS, STEPS_4000)?,
            hz,
        });
    }
    Ok(Found { samples: header.u32(268)?.into(), stride: 1, channels, second: None })
}
