//! Sound files: every container and depth, wrong headers, truncated files.

use hairspring_capture::edge::{Edge, Method};
use hairspring_capture::pattern::Orientation;
use hairspring_capture::read::{Format, Recording, Remark, Request, read_sound};
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
    file.extend(
        tag.to_le_bytes().into_iter().chain(channels.to_le_bytes()).chain(hz.to_le_bytes()),
    );
    file.extend(
        (hz * u32::from(align))
            .to_le_bytes()
            .into_iter()
            .chain(align.to_le_bytes())
            .chain(bits.to_le_bytes()),
    );
    file.extend(b"data".iter().copied().chain(size.to_le_bytes()).chain(data.iter().copied()));
    file
}

fn bytes(tag: u16, bits: u16) -> Vec<u8> {
    let integer = |value: f32, full: f64| (f64::from(value) * full) as i32;
    let bytes_of = |value: f32| match (tag, bits) {
        (1, 8) => vec![(integer(value, 127.0) + 128) as u8],
        (1, 16) => integer(value, 32767.0).to_le_bytes()[..2].to_vec(),
        (1, 24) => integer(value, 8_388_607.0).to_le_bytes()[..3].to_vec(),
        (1, 32) => integer(value, 2_147_483_647.0).to_le_bytes().to_vec(),
        (3, 32) => value.to_le_bytes().to_vec(),
        _ => f64::from(value).to_le_bytes().to_vec(),
    };
    samples().into_iter().flat_map(bytes_of).collect()
}

fn read(file: &[u8], channel: Option<&str>) -> Result<(Vec<Edge>, Recording), String> {
    let mut edges = Vec::new();
    let request = Request {
        channel: channel.map(str::to_owned),
        method: Method::BandLimited,
        ..Request::default()
    };
    let recording = read_sound(file, &request, &mut |edge| edges.push(edge))
        .map_err(|error| error.to_string())?;
    Ok((edges, recording))
}

/// A whole file of 24 bits.
fn whole() -> Vec<u8> {
    let data = bytes(1, 24);
    wav(1, 24, 1, 192_000, data.len() as u32, &data)
}

fn right(edges: &[Edge], tolerance: f64) {
    let known_edges = pin().edges;
    assert_eq!(edges.len(), known_edges.len());
    for (edge, known_edge) in edges.iter().zip(&known_edges) {
        assert!(
            edge.rising == known_edge.rising && (edge.at - known_edge.at).abs() < tolerance,
            "{edge:?} {known_edge:?}"
        );
    }
}

#[test]
fn every_depth_is_read() {
    for (tag, bits, tolerance) in [
        (1, 8, 0.05),
        (1, 16, 0.005),
        (1, 24, 0.005),
        (1, 32, 0.005),
        (3, 32, 0.005),
        (3, 64, 0.005),
    ] {
        let data = bytes(tag, bits);
        let (edges, recording) =
            read(&wav(tag, bits, 1, 192_000, data.len() as u32, &data), None).unwrap();
        right(&edges, tolerance);
        assert_eq!((recording.hz, recording.remarks.len()), (Some(192_000.0), 0), "{tag} {bits}");
    }
}

#[test]
fn extensible_formats_and_other_chunks_are_read() {
    let data = bytes(1, 24);
    let mut file = whole()[..12].to_vec();
    file.extend(b"LIST\x03\x00\x00\x00abc\x00fmt \x28\x00\x00\x00\xfe\xff\x01\x00");
    file.extend(
        192_000u32
            .to_le_bytes()
            .into_iter()
            .chain(576_000u32.to_le_bytes())
            .chain([3, 0, 24, 0, 22, 0, 24, 0, 4, 0, 0, 0, 1, 0]),
    );
    file.extend([0u8; 14]);
    file.extend(
        b"data"
            .iter()
            .copied()
            .chain((data.len() as u32).to_le_bytes())
            .chain(data.iter().copied()),
    );
    right(&read(&file, None).unwrap().0, 0.005);
}

#[test]
fn sizes_of_streams_and_of_large_files_are_read() {
    let data = bytes(1, 24);
    for size in [0, 0xffff_ffff, 0xffff_fff0] {
        let (edges, recording) = read(&wav(1, 24, 1, 192_000, size, &data), None).unwrap();
        right(&edges, 0.005);
        assert_eq!(
            recording.remarks,
            [Remark::WrongSizes { stated: u64::from(size), actual: data.len() as u64 }]
        );
    }
    // RF64 has its size in a separate chunk.
    let mut file =
        b"RF64\xff\xff\xff\xffWAVEds64\x1c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00".to_vec();
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
        assert_eq!(
            recording.remarks,
            [Remark::WrongSizes { stated: u64::from(stated), actual: data.len() as u64 }]
        );
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
    assert!(
        message.contains("no edge in 85 samples")
            && message.contains("the file is cut, byte 300: its header promises"),
        "{message}"
    );
}

#[test]
fn channels_are_numbers() {
    let silent: Vec<u8> =
        bytes(1, 16).chunks_exact(2).flat_map(|sample| [0, 0, sample[0], sample[1]]).collect();
    let file = wav(1, 16, 2, 48_000, silent.len() as u32, &silent);
    right(&read(&file, Some("2")).unwrap().0, 0.005);
    right(&read(&file, Some("right")).unwrap().0, 0.005);
    let message = read(&file, None).unwrap_err();
    assert!(
        message.contains("no edge") && message.contains("channel 1 of 2 was read"),
        "{message}"
    );
    assert!(message.contains("channel 1 0.0000, channel 2 0.5"), "{message}");
    assert!(
        read(&file, Some("3"))
            .unwrap_err()
            .contains("there is no channel `3`; the file has 2 channels: 1, 2")
    );
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
    assert!(
        changed(12, b"junk\xff\xff\xff\x7f").contains("the chunk `junk` claims 2147483647 bytes")
    );
    assert!(changed(12, b"junk").contains("before their format"));
    for length in 0..44 {
        let message = read(&file[..length], None).unwrap_err();
        assert!(
            message.contains("the file ends within") || message.contains("not a WAV file"),
            "{length}: {message}"
        );
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
    let message =
        read_sound(header.chain(&mut nothing), &Request::default(), &mut |_| ()).unwrap_err();
    assert!(message.to_string().contains("no edge in the first"), "{message}");
    assert!(nothing.0 > 0);
}

/// The bytes of samples with the highest byte first.
fn big(tag: u16, bits: u16) -> Vec<u8> {
    bytes(tag, bits)
        .chunks_exact(usize::from(bits / 8))
        .flat_map(|sample| sample.iter().rev().copied().collect::<Vec<u8>>())
        .collect()
}

fn au(encoding: u32, size: u32, data: &[u8]) -> Vec<u8> {
    let head = [28, size, encoding, 192_000, 1].into_iter().flat_map(u32::to_be_bytes);
    b".snd".iter().copied().chain(head).chain(*b"text").chain(data.iter().copied()).collect()
}

/// An AIFF file, or an AIFF-C file with the name of an encoding.
fn aiff(encoding: Option<&[u8; 4]>, bits: u16, data: &[u8]) -> Vec<u8> {
    let mut common = vec![0, 1, 0, 0, 0, 0];
    common.extend(bits.to_be_bytes());
    // 192,000 as a float of 80 bits.
    common.extend([0x40, 0x10, 0xbb, 0x80, 0, 0, 0, 0, 0, 0]);
    common.extend(encoding.iter().flat_map(|name| name.iter().copied().chain([0, 0])));
    let chunk =
        |name: &[u8; 4], data: &[u8]| [name, &(data.len() as u32).to_be_bytes()[..], data].concat();
    let kind = if encoding.is_some() { b"AIFC" } else { b"AIFF" };
    let samples = [&[0u8; 8][..], data].concat();
    [
        &b"FORM\0\0\0\0"[..],
        kind,
        &chunk(b"ANNO", b"text"),
        &chunk(b"COMM", &common),
        &chunk(b"SSND", &samples),
    ]
    .concat()
}

fn caf(flags: u32, bits: u32, size: i64, data: &[u8]) -> Vec<u8> {
    let description = [flags, bits / 8, 1, 1, bits].into_iter().flat_map(u32::to_be_bytes);
    let mut file = b"caff\0\x01\0\0desc\0\0\0\0\0\0\0\x20".to_vec();
    file.extend(192_000f64.to_be_bytes().into_iter().chain(*b"lpcm").chain(description));
    file.extend(b"free\0\0\0\0\0\0\0\x04abcd".iter().chain(b"data"));
    file.extend(size.to_be_bytes().into_iter().chain([0; 4]).chain(data.iter().copied()));
    file
}

fn w64(bits: u16, data: &[u8]) -> Vec<u8> {
    let name = |name: &[u8; 4]| {
        [&name[..], &[0xf3, 0xac, 0xd3, 0x11, 0x8c, 0xd1, 0x00, 0xc0, 0x4f, 0x8e, 0xdb, 0x8a]]
            .concat()
    };
    let format = &wav(1, bits, 1, 192_000, 0, &[])[20..36];
    let size = |bytes: usize| (bytes as u64 + 24).to_le_bytes();
    let head = [&b"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\0\0"[..], &[0; 8], &name(b"wave")]
        .concat();
    let other_chunk = [&name(b"junk")[..], &size(3), b"abc\0\0\0\0\0"].concat();
    [
        &head[..],
        &other_chunk,
        &name(b"fmt "),
        &size(16),
        format,
        &name(b"data"),
        &size(data.len()),
        data,
    ]
    .concat()
}

/// Bits, the highest first.
#[derive(Default)]
struct Bits(Vec<u8>, u32);

impl Bits {
    fn push(&mut self, value: u64, bits: u32) {
        for at in (0..bits).rev() {
            if self.1 % 8 == 0 {
                self.0.push(0);
            }
            *self.0.last_mut().unwrap() |= ((value >> at & 1) as u8) << (7 - self.1 % 8);
            self.1 += 1;
        }
    }

    /// Adds the check of all bytes: a remainder of this many bits.
    fn check(&mut self, bits: u32, polynomial: u32) {
        let top = 1u32 << (bits - 1);
        let step = |sum: u32| {
            (if sum & top == 0 { sum << 1 } else { sum << 1 ^ polynomial }) & (2 * top - 1)
        };
        let sum = self.0.iter().fold(0, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte) << (bits - 8), |sum, _| step(sum))
        });
        self.push(u64::from(sum), bits);
    }
}

/// A FLAC file of 16 bits whose blocks are not compressed.
fn flac(stated: u64, samples: &[i16]) -> Vec<u8> {
    const BLOCK: usize = 512;
    let mut head = Bits(b"fLaC".to_vec(), 32);
    for (value, bits) in
        [(0x80, 8), (34, 24), (BLOCK as u64, 16), (BLOCK as u64, 16), (0, 24), (0, 24)]
    {
        head.push(value, bits);
    }
    for (value, bits) in [(192_000, 20), (0, 3), (15, 5), (stated, 36), (0, 64), (0, 64)] {
        head.push(value, bits);
    }
    let block = |(number, samples): (usize, &[i16])| {
        let mut block = Bits::default();
        // Size and rate: 16 bits behind the number of the block, and 192 kHz; one channel of 16
        // bits.
        for (value, bits) in [
            (0xfff8, 16),
            (7, 4),
            (3, 4),
            (0, 4),
            (4, 3),
            (0, 1),
            (number as u64, 8),
            (samples.len() as u64 - 1, 16),
        ] {
            block.push(value, bits);
        }
        block.check(8, 0x07);
        block.push(0x02, 8);
        samples.iter().for_each(|sample| block.push(*sample as u16 as u64, 16));
        block.check(16, 0x8005);
        block.0
    };
    head.0.into_iter().chain(samples.chunks(BLOCK).enumerate().flat_map(block)).collect()
}

fn integers() -> Vec<i16> {
    bytes(1, 16).chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect()
}

/// A file of each container with 16 bits.
fn containers() -> Vec<(&'static str, Vec<u8>)> {
    let (data, integers) = (big(1, 16), integers());
    vec![
        ("AU", au(3, data.len() as u32, &data)),
        ("AIFF", aiff(None, 16, &data)),
        ("CAF", caf(0, 16, data.len() as i64 + 4, &data)),
        ("W64", w64(16, &bytes(1, 16))),
        ("FLAC", flac(integers.len() as u64, &integers)),
    ]
}

#[test]
fn every_container_is_read() {
    for (name, file) in containers() {
        let (edges, recording) =
            read(&file, None).unwrap_or_else(|message| panic!("{name}: {message}"));
        right(&edges, 0.005);
        assert_eq!((recording.hz, &recording.remarks[..]), (Some(192_000.0), &[][..]), "{name}");
        assert!(
            Format::detect(&file[..64]) == Some(Format::Sound)
                && Format::detect(&file[..3]) == Some(Format::Sound),
            "{name}"
        );
    }
}

/// A tag of ID3v2 with 300 bytes, and with a footer behind it.
fn tagged(footer: bool, file: &[u8]) -> Vec<u8> {
    let head = [b"ID3\x04\x00", [if footer { 0x10 } else { 0 }, 0, 0, 2, 44].as_slice()].concat();
    let rest = if footer { [b"3DI".as_slice(), &head[3..]].concat() } else { Vec::new() };
    [head, vec![b'R'; 300], rest, file.to_vec()].concat()
}

#[test]
fn tags_before_a_file_are_skipped() {
    for (name, file) in containers().into_iter().chain([("WAV", whole())]) {
        for footer in [false, true] {
            let file = tagged(footer, &file);
            assert_eq!(Format::detect(&file[..64]), Some(Format::Sound), "{name}");
            right(
                &read(&file, None).unwrap_or_else(|message| panic!("{name}: {message}")).0,
                0.005,
            );
        }
    }
    assert!(
        read(&tagged(false, b"\xff\xfb\x90\x00"), None)
            .unwrap_err()
            .contains("an MP3 file, whose compression moves edges")
    );
    assert_eq!(
        read(&tagged(false, b"")[..200], None).unwrap_err(),
        "byte 200: the file ends within the ID3 tag"
    );
    // A table may have a column of this name.
    assert_eq!(Format::detect(b"ID3,Time\n"), Some(Format::Csv));
}

#[test]
fn every_encoding_of_a_container_is_read() {
    let signed = |bytes: Vec<u8>| bytes.into_iter().map(|byte| byte ^ 0x80).collect::<Vec<u8>>();
    let (eight, large) = (signed(bytes(1, 8)), u32::MAX);
    let files = [
        au(2, eight.len() as u32, &eight),
        au(4, large, &big(1, 24)),
        au(6, large, &big(3, 32)),
        au(7, large, &big(3, 64)),
        aiff(None, 8, &eight),
        aiff(Some(b"NONE"), 24, &big(1, 24)),
        aiff(Some(b"sowt"), 16, &bytes(1, 16)),
        aiff(Some(b"fl32"), 32, &big(3, 32)),
        aiff(Some(b"FL64"), 64, &big(3, 64)),
        caf(3, 32, -1, &bytes(3, 32)),
        caf(1, 64, -1, &big(3, 64)),
        caf(2, 24, -1, &bytes(1, 24)),
        w64(24, &bytes(1, 24)),
    ];
    for (at, file) in files.iter().enumerate() {
        right(&read(file, None).unwrap_or_else(|message| panic!("{at}: {message}")).0, 0.05);
    }
}

#[test]
fn truncated_containers_are_used_or_say_where_they_end() {
    for (name, file) in containers() {
        for length in 0..100.min(file.len()) {
            assert!(!read(&file[..length], None).unwrap_err().is_empty(), "{name} {length}");
        }
        let (edges, recording) = read(&file[..file.len() * 3 / 4], None)
            .unwrap_or_else(|message| panic!("{name}: {message}"));
        let is_cut =
            recording.remarks.iter().any(|remark| matches!(remark, Remark::Truncated { .. }));
        assert!(
            is_cut && (10..20).contains(&edges.len()),
            "{name} {} {:?}",
            edges.len(),
            recording.remarks
        );
    }
}

#[test]
fn damaged_blocks_of_flac_end_the_recording() {
    let (integers, known_edges) = (integers(), pin().edges.len());
    let whole = flac(integers.len() as u64, &integers);
    let mut damaged = whole.clone();
    let place = damaged.len() * 3 / 4;
    damaged[place] ^= 1;
    let (edges, recording) = read(&damaged, None).unwrap();
    assert!(edges.len() < known_edges && edges.len() > known_edges / 2, "{}", edges.len());
    assert!(
        matches!(&recording.remarks[..],
            [Remark::Truncated { reason, .. }] if reason.contains("CRC")),
        "{:?}",
        recording.remarks
    );
    let promised = read(&flac(1 << 20, &integers), None).unwrap().1.remarks;
    assert!(
        matches!(&promised[..], [Remark::Truncated { reason,
            .. }] if reason.contains("1048576 samples")),
        "{promised:?}"
    );
    assert!(read(&flac(0, &integers), None).unwrap().1.remarks.is_empty());
    let mut other_file = whole;
    other_file[4] = 0x84;
    assert!(read(&other_file, None).unwrap_err().contains("FLAC"));
}

#[test]
fn wrong_heads_of_containers_are_refused_with_the_byte() {
    let (data, changed) = (big(1, 16), |file: Vec<u8>, at: usize, bytes: &[u8]| {
        let mut file = file;
        file[at..at + bytes.len()].copy_from_slice(bytes);
        read(&file, None).unwrap_err()
    });
    let size = data.len() as u32;
    assert!(
        changed(au(3, size, &data), 15, &[1])
            .starts_with("byte 12: samples of encoding 1 are not supported")
    );
    assert!(changed(au(3, size, &data), 16, &[0; 4]).starts_with("byte 16: the rate is 0"));
    assert!(
        changed(au(3, size, &data), 20, &[0; 4]).starts_with("byte 20: the file has 0 channels")
    );
    assert!(changed(au(3, size, &data), 4, &[0, 0, 0, 8]).contains("the samples begin at byte 8"));
    assert!(changed(au(3, size, &data), 4, &[0xff; 4]).contains("claims 4294967295 bytes"));
    let named = || aiff(Some(b"NONE"), 16, &data);
    assert!(changed(named(), 50, b"ima4").contains("encoding `ima4` are not supported"));
    assert!(changed(named(), 40, &[0xff]).contains("the rate is -"));
    assert!(changed(named(), 8, b"AIFX").contains("AIFF or AIFC is missing"));
    assert!(changed(named(), 24, b"SSND").contains("the samples come before their format"));
    let core = || caf(0, 16, -1, &data);
    assert!(
        changed(core(), 28, b"aac ")
            .contains("encoding `aac `, 2 bytes a packet are not supported")
    );
    assert!(changed(core(), 4, &[9]).contains("the version of the CAF file is"));
    assert!(changed(core(), 20, &[0x7f, 0xf8]).contains("the rate is NaN"));
    assert!(changed(core(), 36, &[0x7f]).contains("are not supported"));
    assert!(changed(w64(16, &data), 24, b"rmp3").contains("`wave` is missing"));
    assert!(changed(w64(16, &data), 56, &[3, 0]).contains("no room for its own head"));
}

#[test]
fn floats_above_1_are_volts_and_not_clipped() {
    let read = |scale: f32| {
        let mut state = 7u32;
        let mut noisy = |value: &f32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            scale * (value + 1e-3 * ((state >> 8) as f32 / (1 << 24) as f32 - 0.5))
        };
        let data: Vec<u8> = samples().iter().map(&mut noisy).flat_map(f32::to_le_bytes).collect();
        read(&wav(3, 32, 1, 192_000, data.len() as u32, &data), None).unwrap()
    };
    let (quarter, volts) = (read(0.5), read(6.6));
    assert_eq!(volts.1.signal.as_ref().map(|signal| signal.clipped), Some(0));
    assert_eq!(volts.1.signal.as_ref().map(|signal| signal.cut_steps), Some(0));
    for (a, b) in quarter.0.iter().zip(&volts.0) {
        assert!((a.at - b.at).abs() < 1e-3, "{a:?} {b:?}");
    }
    right(&volts.0, 0.01);
}
