//! Writers of the files.

use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;

/// Numbers at places of a header, which grows as needed.
#[derive(Default)]
pub struct Head {
    pub bytes: Vec<u8>,
    pub big: bool,
}

impl Head {
    pub fn new(size: usize) -> Head {
        Head { bytes: vec![0; size], big: false }
    }

    pub fn put(&mut self, at: usize, bytes: &[u8]) -> &mut Head {
        let end = at + bytes.len();
        self.bytes.resize(self.bytes.len().max(end), 0);
        self.bytes[at..end].copy_from_slice(bytes);
        self
    }

    /// A number in the order of the file.
    pub fn number<const N: usize>(&mut self, at: usize, mut little: [u8; N]) -> &mut Head {
        if self.big {
            little.reverse();
        }
        self.put(at, &little)
    }

    pub fn u16(&mut self, at: usize, value: u16) -> &mut Head {
        self.number(at, value.to_le_bytes())
    }

    pub fn u32(&mut self, at: usize, value: u32) -> &mut Head {
        self.number(at, value.to_le_bytes())
    }

    pub fn u64(&mut self, at: usize, value: u64) -> &mut Head {
        self.number(at, value.to_le_bytes())
    }

    pub fn f32(&mut self, at: usize, value: f32) -> &mut Head {
        self.number(at, value.to_le_bytes())
    }

    pub fn f64(&mut self, at: usize, value: f64) -> &mut Head {
        self.number(at, value.to_le_bytes())
    }

    pub fn with(&self, samples: &[u8]) -> Vec<u8> {
        [&self.bytes[..], samples].concat()
    }
}

/// A signal of an oscilloscope: numbers of an 8-bit converter.
#[derive(Clone)]
pub struct Scope {
    pub hz: f64,
    pub codes: Vec<u8>,
    pub scale: f64,
    pub offset: f64,
}

impl Scope {
    /// Pulses of growing width, which rise and fall over three samples.
    pub fn pulses(hz: f64, low: u8, high: u8) -> Scope {
        let (mut codes, middle) = (vec![low; 60], (low / 2) + (high / 2));
        for width in [40, 57, 33, 80, 45] {
            codes.push(middle);
            codes.extend(std::iter::repeat_n(high, width));
            codes.push(middle);
            codes.extend(std::iter::repeat_n(low, 52));
        }
        Scope { hz, codes, scale: 0.04, offset: -1.6 }
    }

    pub fn volts(&self) -> Vec<f64> {
        self.codes.iter().map(|code| f64::from(*code) * self.scale + self.offset).collect()
    }

    pub fn floats(&self) -> Vec<u8> {
        self.volts().iter().flat_map(|volts| (*volts as f32).to_le_bytes()).collect()
    }

    /// A signal that would show if a reader took the wrong channel.
    pub fn other(&self) -> Scope {
        let mut codes = self.codes.clone();
        codes.reverse();
        codes.rotate_left(17);
        Scope { codes, ..self.clone() }
    }
}

/// A signal of a logic analyser.
pub struct Bits {
    pub hz: f64,
    pub levels: Vec<bool>,
}

impl Bits {
    pub fn pulses(hz: f64) -> Bits {
        let mut levels = vec![false; 33];
        for width in [10, 24, 17, 41] {
            levels.extend(std::iter::repeat_n(true, width));
            levels.extend(std::iter::repeat_n(false, 29));
        }
        Bits { hz, levels }
    }

    /// Samples at which the level is a new one.
    pub fn changes(&self) -> Vec<f64> {
        let is_new = |n: &usize| self.levels[*n] != self.levels[*n - 1];
        (1..self.levels.len()).filter(is_new).map(|n| n as f64).collect()
    }

    /// A bit of a sample for each, the first in the lowest bit of a byte.
    pub fn packed(&self) -> Vec<u8> {
        let byte =
            |bits: &[bool]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
        self.levels.chunks(8).map(byte).collect()
    }
}

pub fn archive(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}
