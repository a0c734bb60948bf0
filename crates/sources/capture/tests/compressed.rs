//! Compressed recordings, of every format, as files and from a pipe.

use hairspring_capture::edge::Edge;
use hairspring_capture::read::{Recording, Remark, Request};
use hairspring_capture::{Input, read_edges};
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    lzma_rs::xz_compress(&mut &bytes[..], &mut output).unwrap();
    output
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

type Pack = fn(&[u8]) -> Vec<u8>;
const PACKERS: [(&str, Pack); 3] = [("gzip", gzip), ("xz", xz), ("zstd", zstd)];

fn from(input: Input, channel: &str) -> Result<(Vec<Edge>, Recording), String> {
    let mut edges = Vec::new();
    let request = Request { channel: Some(channel.into()), ..Request::default() };
    read_edges(input, None, &request, &mut |edge| edges.push(edge))
        .map(|recording| (edges, recording))
        .map_err(|error| error.to_string())
}

fn read(bytes: &[u8]) -> Result<(Vec<Edge>, Recording), String> {
    let file = from(Input::File(Box::new(Cursor::new(bytes.to_vec()))), "1");
    assert_eq!(file, from(Input::Pipe(Box::new(Cursor::new(bytes.to_vec()))), "1"));
    file
}

fn dump() -> Vec<u8> {
    let mut text = "$timescale 1 ns $end $var wire 1 ! pin $end $enddefinitions $end\n".to_owned();
    for n in 0..20_000u32 {
        text += &format!("#{}\n{}!\n", n * 137 + n % 7, n % 2);
    }
    text.into_bytes()
}

fn session() -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let metadata = b"[device 1]\ncapturefile=logic-1\nsamplerate=1 MHz\nprobe1=A\nunitsize=1\n";
    for (name, bytes) in [("metadata", &metadata[..]), ("logic-1", &[0, 0, 1, 1, 1, 0, 0, 1])] {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn a_compressed_recording_is_as_it_is_without() {
    let table: Vec<u8> = b"Time [s],A\n0,0\n1e-6,1\n3e-6,0\n7e-6,1\n".to_vec();
    for plain in [dump(), table, session()] {
        let expected = read(&plain).unwrap();
        assert!(expected.0.len() > 2);
        for (name, pack) in PACKERS {
            assert_eq!(read(&pack(&plain)).as_ref(), Ok(&expected), "{name}");
            assert_eq!(read(&gzip(&pack(&plain))).as_ref(), Ok(&expected), "{name} in gzip");
        }
    }
    let thrice = gzip(&gzip(&gzip(&dump())));
    assert!(read(&thrice).unwrap_err().contains("compressed more than 2 times"));
}

#[test]
fn parts_that_follow_each_other_are_one_file() {
    let plain = dump();
    let expected = read(&plain).unwrap();
    let (first, second) = plain.split_at(1000);
    for (name, pack) in PACKERS {
        assert_eq!(read(&[pack(first), pack(second)].concat()).as_ref(), Ok(&expected), "{name}");
    }
    // A frame to be skipped, as pzstd writes before each one.
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd(&plain)].concat();
    assert_eq!(read(&skipped), Ok(expected));
    // Thousands of frames need no more memory than one.
    let many: Vec<u8> = plain.chunks(16).flat_map(zstd).collect();
    assert_eq!(read(&many).map(|(edges, _)| edges.len()), Ok(19_999));
}

#[test]
fn a_cut_file_is_read_up_to_there() {
    let plain = dump();
    let whole = read(&plain).unwrap().0;
    for (name, pack) in PACKERS {
        // A block of Zstandard is whole or nothing.
        let packed: Vec<u8> = plain.chunks(20_000).flat_map(pack).collect();
        let (edges, recording) = read(&packed[..packed.len() * 2 / 3]).unwrap();
        assert!(edges.len() < whole.len() && edges[..] == whole[..edges.len()], "{name}");
        let is_told = |remark: &Remark| {
            matches!(remark, Remark::Truncated { reason, .. }
                if reason.starts_with("the compressed data are cut or damaged there"))
        };
        assert!(recording.remarks.iter().any(is_told), "{name}: {:?}", recording.remarks);
        for end in 0..40 {
            assert_ne!(read(&packed[..end]), Err(String::new()), "{name} {end}");
        }
    }
}

#[test]
fn wrong_bytes_are_no_panic() {
    for (_, pack) in PACKERS {
        let packed = pack(&dump()[..3000]);
        for at in 0..packed.len() {
            for value in [0, 0x55, 0xff] {
                let mut wrong = packed.clone();
                wrong[at] = value;
                let _ = read(&wrong);
            }
        }
    }
}

/// A stream of as many equal bytes as are asked for.
struct Endless;

impl Read for Endless {
    fn read(&mut self, block: &mut [u8]) -> std::io::Result<usize> {
        block.fill(b'\n');
        Ok(block.len())
    }
}

#[test]
fn a_large_archive_in_a_pipe_is_refused() {
    let start = Cursor::new(session()).chain(Endless);
    let message = from(Input::Pipe(Box::new(start)), "1").unwrap_err();
    assert!(message.contains("more than 67108864 bytes from a pipe"), "{message}");
}
