//! Sound files: every depth, wrong headers, truncated files.

use hairspring_capture::edge::{Edge, Method};
use hairspring_capture::pattern::Orientation;
use hairspring_capture::read::{Recording, Remark, Request, read_wav};
use hairspring_capture::simulate::{Converter, Pin};

/// Ten pulses of 100.25 samples.
fn pin() -> Pin {
    let mut pin = Pin::new(100.0, Orientation::Rising);
    for _ in 0..10 {
        pin.wait(150.4);
        pin.pulse(100.25);
    }
    pin.wait(200.0);
    pin
}

fn samples() -> Vec<f32> {
    let pin = pin();
    Converter::new(0.5).sample(&pin.edges, pin.now as usize, &mut || 0.0)
}

/// A file with a header of 44 bytes.
fn wav(tag: u16, bits: u16, channels: u16, hz: u32, size: u32, data: &[u8]) -> Vec<u8> {
    let align = bits / 8 * channels;
    let mut file = b"RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00".to_vec();
    file.extend(tag.to_le_bytes().into_iter().chain(channels.to_le_bytes()).chain(hz.to_le_bytes()));
    file.extend((hz * u32::from(align)).to_le_bytes().into_iter().chain(align.to_le_bytes()).chain(bits.to_le_bytes()));
    file.extend(b"data".iter().copied().chain(size.to_le_bytes()).chain(data.iter().copied()));
    file
}

fn bytes(tag: u16, bits: u16) -> Vec<u8> {
    let integer = |value: f32, full: f64| (f64::from(value) * full) as i32;
    let one = |value: f32| match (tag, bits) {
        (1, 8) => vec![(integer(value, 127.0) + 128) as u8],
        (1, 16) => integer(value, 32767.0).to_le_bytes()[..2].to_vec(),
        (1, 24) => integer(value, 8_388_607.0).to_le_bytes()[..3].to_vec(),
        (1, 32) => integer(value, 2_147_483_647.0).to_le_bytes().to_vec(),
        (3, 32) => value.to_le_bytes().to_vec(),
        _ => f64::from(value).to_le_bytes().to_vec(),
    };
    samples().into_iter().flat_map(one).collect()
}

fn read(file: &[u8], channel: Option<&str>) -> Result<(Vec<Edge>, Recording), String> {
    let mut edges = Vec::new();
    let request = Request { channel: channel.map(str::to_owned), method: Method::BandLimited, ..Request::default() };
    let recording = read_wav(file, &request, &mut |edge| edges.push(edge)).map_err(|error| error.to_string())?;
    Ok((edges, recording))
}

/// A whole file of 24 bits.
fn whole() -> Vec<u8> {
    let data = bytes(1, 24);
    wav(1, 24, 1, 192_000, data.len() as u32, &data)
}

fn right(edges: &[Edge], tolerance: f64) {
    let known = pin().edges;
    assert_eq!(edges.len(), known.len());
    for (found, known) in edges.iter().zip(&known) {
        assert!(found.rising == known.rising && (found.at - known.at).abs() < tolerance, "{found:?} {known:?}");
    }
}

#[test]
fn every_depth_is_read() {
    for (tag, bits, tolerance) in [(1, 8, 0.05), (1, 16, 0.005), (1, 24, 0.005), (1, 32, 0.005), (3, 32, 0.005), (3, 64, 0.005)] {
        let data = bytes(tag, bits);
        let (edges, recording) = read(&wav(tag, bits, 1, 192_000, data.len() as u32, &data), None).unwrap();
        right(&edges, tolerance);
        assert_eq!((recording.hz, recording.remarks.len()), (Some(192_000.0), 0), "{tag} {bits}");
    }
}

#[test]
fn extensible_formats_and_other_chunks_are_read() {
    let data = bytes(1, 24);
    let mut file = whole()[..12].to_vec();
    file.extend(b"LIST\x03\x00\x00\x00abc\x00fmt \x28\x00\x00\x00\xfe\xff\x01\x00");
    file.extend(192_000u32.to_le_bytes().into_iter().chain(576_000u32.to_le_bytes()).chain([3, 0, 24, 0, 22, 0, 24, 0, 4, 0, 0, 0, 1, 0]));
    file.extend([0u8; 14]);
    file.extend(b"data".iter().copied().chain((data.len() as u32).to_le_bytes()).chain(data.iter().copied()));
    right(&read(&file, None).unwrap().0, 0.005);
}

#[test]
fn sizes_of_streams_and_of_large_files_are_read() {
    let data = bytes(1, 24);
    for size in [0, 0xffff_ffff, 0xffff_fff0] {
        let (edges, recording) = read(&wav(1, 24, 1, 192_000, size, &data), None).unwrap();
        right(&edges, 0.005);
        assert_eq!(recording.remarks, [Remark::WrongSizes { stated: u64::from(size), found: data.len() as u64 }]);
    }
    // RF64 has its size in a separate chunk.
    let mut file = b"RF64\xff\xff\xff\xffWAVEds64\x1c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00".to_vec();
    file.extend((data.len() as u64).to_le_bytes().into_iter().chain([0; 12]));
    file.extend(&wav(1, 24, 1, 192_000, 0xffff_ffff, &data)[12..]);
    file.extend(b"LIST\x04\x00\x00\x00abcd");
    let (edges, recording) = read(&file, None).unwrap();
    right(&edges, 0.005);
    assert_eq!(recording.remarks, []);
    // A header that was never updated, and samples beyond its size, which may end within a sample.
    for stated in [900, 901, 902] {
        let (edges, recording) = read(&wav(1, 24, 1, 192_000, stated, &data), None).unwrap();
        right(&edges, 0.005);
        assert_eq!(recording.remarks, [Remark::WrongSizes { stated: u64::from(stated), found: data.len() as u64 }]);
    }
    // A chunk after the samples, with the padding byte.
    let odd = &data[..data.len() / 6 * 6 - 3];
    let mut file = wav(1, 24, 1, 192_000, odd.len() as u32, odd);
    file.extend(b"\x00LIST\x04\x00\x00\x00abcd");
    let (edges, recording) = read(&file, None).unwrap();
    right(&edges, 0.005);
    assert_eq!(recording.remarks, []);
}

#[test]
fn a_truncated_file_is_used_with_a_remark() {
    let file = whole();
    let (edges, recording) = read(&file[..file.len() / 2], None).unwrap();
    assert!((5..20).contains(&edges.len()));
    assert!(matches!(recording.remarks[..], [Remark::Truncated { .. }]), "{:?}", recording.remarks);
}

#[test]
fn a_file_truncated_before_its_first_edge_is_refused() {
    let message = read(&whole()[..300], None).unwrap_err();
    assert!(message.contains("no edge in 85 samples") && message.contains("the file is cut, byte 300: its header promises"), "{message}");
}

#[test]
fn channels_are_numbers() {
    let silent: Vec<u8> = bytes(1, 16).chunks_exact(2).flat_map(|sample| [0, 0, sample[0], sample[1]]).collect();
    let file = wav(1, 16, 2, 48_000, silent.len() as u32, &silent);
    right(&read(&file, Some("2")).unwrap().0, 0.005);
    right(&read(&file, Some("right")).unwrap().0, 0.005);
    let message = read(&file, None).unwrap_err();
    assert!(message.contains("no edge") && message.contains("channel 1 of 2 was read"), "{message}");
    assert!(message.contains("channel 1 0.0000, channel 2 0.5"), "{message}");
    assert!(read(&file, Some("3")).unwrap_err().contains("there is no channel `3`; the file has 2 channels: 1, 2"));
}

#[test]
fn errors_give_the_byte() {
    let file = whole();
    let changed = |at: usize, bytes: &[u8]| {
        let mut file = file.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        read(&file, None).unwrap_err()
    };
    assert!(changed(24, &[0; 4]).starts_with("byte 24: the rate is 0"));
    assert!(changed(22, &[0; 2]).starts_with("byte 22: the file has 0 channels"));
    assert!(changed(20, &[0x55]).starts_with("byte 20: samples of format 0x0055"));
    assert!(changed(32, &[7]).contains("samples of 7 bytes"));
    assert!(changed(8, b"WAVX").contains("not a WAV file"));
    assert!(changed(16, &[3]).contains("the chunk `fmt ` has 3 bytes"));
    assert!(changed(12, b"junk\xff\xff\xff\x7f").contains("the chunk `junk` claims 2147483647 bytes"));
    assert!(changed(12, b"junk").contains("before their format"));
    for length in 0..44 {
        let message = read(&file[..length], None).unwrap_err();
        assert!(message.contains("the file ends within") || message.contains("not a WAV file"), "{length}: {message}");
    }
    assert!(read(&file[..44], None).unwrap_err().contains("no samples"));
}

/// An endless stream of zeros.
struct Nothing(u64);

impl std::io::Read for Nothing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = buffer.len().min(self.0 as usize);
        buffer[..n].fill(0);
        self.0 -= n as u64;
        Ok(n)
    }
}

#[test]
fn ten_gigabytes_of_silence_end_early() {
    use std::io::Read;
    let mut nothing = Nothing(10_000_000_000);
    let header = wav(1, 16, 1, 192_000, 0, &[]);
    let message = read_wav(header.chain(&mut nothing), &Request::default(), &mut |_| ()).unwrap_err();
    assert!(message.to_string().contains("no edge in the first"), "{message}");
    assert!(nothing.0 > 0);
}
