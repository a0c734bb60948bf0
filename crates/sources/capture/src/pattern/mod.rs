//! The k of each pulse: by the pattern on the pin (spec/capture.md), or by a list of counts.

mod decoder;
mod payload;

pub use decoder::{Decoder, Frame, Item, Orientation, Problem, Pulse, Trouble};
pub use payload::{Kind, MOST_PULSES, VERSION, check, encode, parse, payload_bytes};

/// Pulses and gaps of the preamble in turn, in units.
pub const PREAMBLE: [f64; 6] = [4.0, 1.0, 1.0, 3.0, 3.0, 1.0];
/// Gap before the end of a frame, in units, without its dither.
pub const END_GAP: f64 = 5.0;
/// Least idle time between frames, in units.
pub const IDLE_UNITS: f64 = 6.0;

/// Units of the gap before pulse `i`, without its dither.
pub fn gap_units(i: usize) -> f64 {
    2.0 + (i % 3) as f64
}
