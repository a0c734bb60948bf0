//! Recordings of frames: k = 1 to 20 of 100 us with 8.5 us of overhead.

use crate::text;
use hairspring_capture::pattern::{Kind, Orientation};
use hairspring_capture::simulate::{Converter, Pin};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::io::{BufWriter, Write};

/// Samples per second.
pub const HZ: f64 = 192_000.0;
/// Time of one copy, and overhead, in seconds.
pub const COPY: f64 = 100e-6;
pub const OVERHEAD: f64 = 8.5e-6;
/// Copies of the longest pulse.
pub const COPIES: u8 = 20;

/// Frames with dithered gaps; times in ticks at a rate in Hz.
pub fn frames(number: usize, hz: f64, random: &mut Pcg64) -> Pin {
    let mut pin = Pin::new(100e-6 * hz, Orientation::Rising);
    let widths: Vec<f64> = (1..=COPIES).map(|k| (COPY * f64::from(k) + OVERHEAD) * hz).collect();
    for _ in 0..number {
        pin.frame(&Kind::progression(1, 1, COPIES), &widths, &mut || random.random());
    }
    pin.wait(600e-6 * hz);
    pin
}

/// A sound as a stream: ten seconds of frames, repeated.
pub fn wav(seconds: u64) -> Result<(), String> {
    let mut random = Pcg64::seed_from_u64(1);
    let pin = frames(230, HZ, &mut random);
    let samples = Converter::new(0.5)
        .sample(&pin.edges, pin.now as usize, &mut || 1e-4 * (random.random::<f64>() - 0.5));
    let block: Vec<u8> = samples
        .iter()
        .flat_map(|value| ((value * 8_388_607.0) as i32).to_le_bytes()[..3].to_vec())
        .collect();
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    let mut header = b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    header.extend((HZ as u32).to_le_bytes());
    header.extend((HZ as u32 * 3).to_le_bytes());
    header.extend(b"\x03\0\x18\0data\xff\xff\xff\xff");
    out.write_all(&header).map_err(text)?;
    let mut left = seconds * HZ as u64 * 3;
    while left > 0 {
        let part = left.min(block.len() as u64);
        out.write_all(&block[..part as usize]).map_err(text)?;
        left -= part;
    }
    out.flush().map_err(text)
}

/// A value change dump of a chip with 1 MHz that also toggles other pins, in ticks of 10 ns.
pub fn vcd(number: usize) -> Result<(), String> {
    let mut random = Pcg64::seed_from_u64(2);
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    out.write_all(
        b"$version simulated $end\n$timescale 10 ns $end\n$scope module chip $end\n\
          $var wire 1 ! PB7 $end\n$var wire 8 \" PORTA [7:0] $end\n",
    )
    .map_err(text)?;
    out.write_all(
        b"$var wire 1 # PB6 $end\n$upscope $end\n$enddefinitions $end\n#0\n$dumpvars\n0!\nb0 \"\n\
          0#\n$end\n",
    )
    .map_err(text)?;
    let pin = frames(number, 1e8, &mut random);
    let (mut time, mut other) = (0u64, 0u64);
    for edge in &pin.edges {
        let at = edge.at.round() as u64;
        // Another pin and a port change in between.
        while time + 2_000 < at {
            time += 2_000;
            other += 1;
            writeln!(out, "#{time}\n{}#\nb{:b} \"", other % 2, other % 256).map_err(text)?;
        }
        time = time.max(at);
        writeln!(out, "#{time}\n{}!", u8::from(edge.rising)).map_err(text)?;
    }
    out.flush().map_err(text)
}
