//! The families DS1000B to DS1000E: microvolts of a division, and greater numbers for lower volts.

use super::super::bytes::Header;
use super::super::{Source, at_place};
use super::{Channel, Found, MIDDLE, falling};
use crate::error::Result;

/// Steps of the converter in a division of the screen.
const STEPS: f64 = 25.0;
/// Steps to the middle of the screen.
const OLD_MIDDLE: f64 = 125.0;
/// Where the samples begin on DS1000B.
const SAMPLES_B: u64 = 420;
/// Where they begin on DS1000C, without and with a gap, and on DS1000D and E.
const SAMPLES_C: [u64; 2] = [256, 272];
const SAMPLES_E: u64 = 276;
/// The trigger of two channels with times of their own.
const ALTERNATING: u8 = 4;

/// Source of a channel's settings.
struct Settings {
    probe: usize,
    is_on: usize,
    scale: usize,
}

impl Settings {
    fn is_on(&self, header: &Header) -> Result<bool> {
        Ok(header.u8(self.is_on)? != 0)
    }

    fn channel(
        &self,
        header: &Header,
        number: usize,
        place: u64,
        rate: usize,
        middle: f64,
    ) -> Result<Channel> {
        let sign = if header.u8(self.is_on + 1)? == 0 { 1.0 } else { -1.0 };
        let probe = Some(header.f32(self.probe)?).filter(|probe| *probe > 0.0).unwrap_or(1.0);
        let scale = sign * 1e-6 * f64::from(header.i32(self.scale)?) * probe / STEPS;
        let shift = f64::from(header.i16(self.scale + 4)?);
        Ok(Channel {
            name: format!("CH{}", number + 1),
            place,
            lane: 0,
            volts: falling(scale, middle, shift * scale),
            hz: header.rate(rate, header.f32(rate)?)?,
        })
    }
}

/// DS1000B: four channels at fixed places.
pub(super) fn ds1000b(stream: &mut dyn Source, _: u64) -> Result<Found> {
    let header = at_place(stream, 0)?.header(SAMPLES_B as usize, false)?;
    let samples = u64::from(header.u32(60)?);
    let mut channels = Vec::new();
    for number in 0..4 {
        let at = 68 + 24 * number;
        let settings = Settings { probe: at + 8, is_on: at + 14, scale: at + 16 };
        if settings.is_on(&header)? {
            let place = SAMPLES_B + number as u64 * samples;
            channels.push(settings.channel(&header, number, place, 180, MIDDLE)?);
        }
    }
    Ok(Found { samples, stride: 1, channels, second: None })
}

/// DS1000C, D and E: two channels one after the other, if they are on. The header is the same in
/// all, and the size of the file shows where the samples begin.
pub(super) fn ds1000e(stream: &mut dyn Source, size: u64) -> Result<Found> {
    let header = at_place(stream, 0)?.header(SAMPLES_C[0] as usize, false)?;
    let depth = u64::from(header.u32(28)?);
    let settings =
        [0, 1].map(|n| Settings { probe: 44 + 24 * n, is_on: 49 + 24 * n, scale: 52 + 24 * n });
    let is_on = [settings[0].is_on(&header)?, settings[1].is_on(&header)?];
    let number = is_on.iter().filter(|is_on| **is_on).count() as u64;
    let is_new = header.u8(0)? == 0xa5;
    let [without_gap, with_gap] = SAMPLES_C;
    let begin = match is_new {
        false => without_gap,
        true if with_gap + number * depth == size => with_gap,
        true => SAMPLES_E,
    };
    // Behind the end of a rolling signal there are numbers that are no samples.
    let rolled = match header.u32(20)? {
        stop if begin == SAMPLES_E && stop > 0 => u64::from(stop) + 2,
        _ => 0,
    };
    let Some(samples) = depth.checked_sub(rolled) else {
        let reason = format!("{rolled} of {depth} samples are behind the end of the signal");
        return Err(header.wrong(20, reason));
    };
    let whole = at_place(stream, 0)?.header(begin as usize, false)?;
    let has_two_rates = begin == SAMPLES_E && whole.u8(142)? == ALTERNATING;
    let mut channels = Vec::new();
    for (n, settings) in settings.iter().enumerate().filter(|(n, _)| is_on[*n]) {
        let rate = if has_two_rates && n == 1 { 252 } else { 100 };
        let place = begin + channels.len() as u64 * depth;
        channels.push(settings.channel(&whole, n, place, rate, OLD_MIDDLE)?);
    }
    Ok(Found { samples, stride: 1, channels, second: None })
}
