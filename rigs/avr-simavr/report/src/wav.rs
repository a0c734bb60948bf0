//! A recording as a sound card's program would save it: WAV, 24 bits, one channel.

use crate::front_end::FrontEnd;
use crate::recording::{CHIP_HZ, transitions};
use crate::{AnyError, named};
use std::path::Path;

/// Records the edges of a file through the default front end into another file.
pub fn write(edges: &Path, file: &Path, seed: u64) -> Result<(), AnyError> {
    let front_end = FrontEnd::default();
    let mut data = Vec::new();
    front_end.record(&transitions(edges)?, CHIP_HZ, seed, &mut |samples| {
        for sample in samples {
            let number = (f64::from(*sample) * f64::from(1 << 23)) as i32;
            data.extend_from_slice(&number.to_le_bytes()[..3]);
        }
    });
    let mut bytes = header(u32::try_from(data.len())?, front_end.sample_hz as u32);
    bytes.extend(data);
    std::fs::write(file, bytes).map_err(|e| named(file, &e))
}

/// The header of 44 bytes before this many bytes of samples.
fn header(length: u32, rate: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let numbers = |bytes: &mut Vec<u8>, values: &[u32]| {
        values.iter().for_each(|value| bytes.extend(value.to_le_bytes()))
    };
    bytes.extend(b"RIFF");
    numbers(&mut bytes, &[36 + length]);
    bytes.extend(b"WAVEfmt ");
    // PCM, one channel; bytes a second; three bytes a sample, 24 bits.
    numbers(&mut bytes, &[16, 1 | 1 << 16, rate, 3 * rate, 3 | 24 << 16]);
    bytes.extend(b"data");
    numbers(&mut bytes, &[length]);
    bytes
}
