//! The signal of the channel: its width, and its level at the beginning.

use super::file::{File, Part};
use crate::error::Result;
use crate::read::dump::{Variable, level_of_port};

/// Width of a signal whose values have no fixed length.
const NO_WIDTH: u64 = 0xffff_ffff;
/// Bytes of a number in floating point, whose width is stated as 0.
const FLOAT: u64 = 8;

/// How values of the signal are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// One bit, together with its time.
    Bit,
    /// So many bits, the leftmost first, of which one is the channel.
    Vector {
        /// Number of bits.
        width: u64,
        /// The bit, counted from the left.
        at: u64,
    },
    /// The same of ports: a character for the state of each, and its strengths behind all of them.
    Port {
        /// Number of characters.
        width: u64,
        /// The bit, counted from the left.
        at: u64,
    },
}

/// The signal of the channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signal {
    /// Its number, from 0.
    pub number: u64,
    pub values: Values,
    /// Where its value is among those of all signals.
    place: u64,
}

impl Signal {
    /// The signal of a bit of a variable, the bit being counted from the right.
    ///
    /// # Errors
    /// A block of widths that is damaged, or has another width than the variable.
    pub fn find(file: &mut File, geometry: Part, chosen: &Variable, bit: usize) -> Result<Signal> {
        let handle = chosen.id.iter().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte));
        let number = handle.saturating_sub(1);
        let mut start = file.plain(geometry)?;
        start.skip(8)?;
        let (unpacked, signals, taken_bytes) = (start.u64()?, start.u64()?, start.taken());
        drop(start);
        let mut widths = file.zlib(geometry.behind(taken_bytes)?, unpacked)?;
        if number >= signals {
            return Err(widths.wrong(format!("has {signals} signals, the channel is {handle}")));
        }
        let mut place = 0u64;
        for _ in 0..number {
            let bytes = match widths.varint()? {
                0 => FLOAT,
                NO_WIDTH => 0,
                width => width,
            };
            place = place.checked_add(bytes).ok_or_else(|| widths.wrong("widths beyond 2^64"))?;
        }
        let (stated, width) = (widths.varint()?, u64::from(chosen.width));
        let at = width.saturating_sub(1 + bit as u64);
        let values = match stated {
            1 if width == 1 => Values::Bit,
            _ if stated == width && width > 1 => Values::Vector { width, at },
            _ if stated == 3 * width + 2 => Values::Port { width: stated, at },
            _ => {
                let reason =
                    format!("`{}` has {stated} bits here, {width} by its name", chosen.name);
                return Err(widths.wrong(reason));
            }
        };
        Ok(Signal { number, values, place })
    }

    /// The value of the channel in a frame, which has the values of all signals.
    pub fn in_frame(&self, file: &mut File, frame: Part, unpacked: u64) -> Result<u8> {
        let (width, at) = match self.values {
            Values::Bit => (1, 0),
            Values::Vector { width, at } | Values::Port { width, at } => (width, at),
        };
        let mut values = file.zlib(frame, unpacked)?;
        values.skip(self.place)?;
        let value = values.pick(width, at)?;
        Ok(if matches!(self.values, Values::Port { .. }) { level_of_port(&value) } else { value })
    }
}
