//! Sessions of sigrok.

use hairspring_capture::read::{Format, Recording, Remark, Request, read_sigrok};
use hairspring_capture::{Input, Options, capture};
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;

fn session(metadata: &str, files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in
        [("version", b"2".to_vec()), ("metadata", metadata.as_bytes().to_vec())].iter().chain(files)
    {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn sigrok(bytes: &[u8], channel: Option<&str>) -> Result<(Vec<f64>, Recording), String> {
    let mut edges = Vec::new();
    let request = Request { channel: channel.map(str::to_owned), ..Request::default() };
    let recording = read_sigrok(Cursor::new(bytes), &request, &mut |edge| edges.push(edge.at))
        .map_err(|error| error.to_string())?;
    Ok((edges, recording))
}

const METADATA: &str = "[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\n\
                        total probes=9\nsamplerate=1 MHz\nprobe1=D0\nprobe9=PB7\nunitsize=2\n";

/// Channel 9 is high from sample 10 to 29; in one file or in two.
fn samples(from: usize, to: usize) -> Vec<u8> {
    (from..to).flat_map(|n| [0, u8::from((10..30).contains(&n))]).collect()
}

#[test]
fn sessions_are_read_in_one_piece_or_several() {
    let one_piece = session(METADATA, &[("logic-1", samples(0, 100))]);
    let two = session(METADATA, &[("logic-1-1", samples(0, 20)), ("logic-1-2", samples(20, 100))]);
    for bytes in [one_piece, two] {
        assert_eq!(Format::detect(&bytes), Some(Format::Sigrok));
        let (edges, recording) = sigrok(&bytes, Some("PB7")).unwrap();
        assert_eq!((edges, recording.hz), (vec![10.0, 30.0], Some(1e6)));
    }
}

#[test]
fn samples_of_any_number_of_bytes_are_read() {
    for unit in [1, 3, 5, 6, 7, 8, 9, 64] {
        // The last bit of the last byte is high from sample 100,000 on, beyond the first blocks;
        // every other bit is high before that.
        let sample = |n: usize| {
            let (first, last) = if n < 100_000 { (0xff, 0x7f) } else { (0, 0x80) };
            [vec![first; unit - 1], vec![last]].concat()
        };
        let all_samples: Vec<u8> = (0..150_000).flat_map(sample).collect();
        let metadata = format!(
            "[device 1]\ncapturefile=logic-1\nsamplerate=1 MHz\nprobe1=A\nprobe{}=Z\n\
             unitsize={unit}\n",
            8 * unit
        );
        let (first_piece, second_piece) = all_samples.split_at(70_001 * unit);
        for pieces in [
            vec![("logic-1", all_samples.clone())],
            vec![("logic-1-1", first_piece.to_vec()), ("logic-1-2", second_piece.to_vec())],
        ] {
            let (edges, recording) = sigrok(&session(&metadata, &pieces), Some("Z")).unwrap();
            assert!(
                edges == [100_000.0] && recording.remarks.is_empty(),
                "{unit}: {edges:?} {:?}",
                recording.remarks
            );
        }
    }
}

#[test]
fn an_incomplete_sample_within_a_session_ends_it() {
    let odd = [samples(0, 20), vec![0]].concat();
    let (edges, recording) = sigrok(
        &session(METADATA, &[("logic-1-1", odd), ("logic-1-2", samples(20, 100))]),
        Some("PB7"),
    )
    .unwrap();
    assert_eq!(edges, [10.0]);
    let [Remark::Truncated { place, reason }] = &recording.remarks[..] else {
        panic!("{:?}", recording.remarks)
    };
    assert_eq!(place.to_string(), "at 0.000020 s");
    assert_eq!(
        reason,
        "the last sample of the piece `logic-1-1` has 1 of 2 bytes, so the rest is not read"
    );
}

#[test]
fn a_missing_piece_is_reported_with_its_place() {
    let pieces = [
        ("logic-1-1", samples(0, 20)),
        ("logic-1-3", samples(40, 60)),
        ("logic-1-4", samples(60, 100)),
    ];
    let (edges, recording) = sigrok(&session(METADATA, &pieces), Some("PB7")).unwrap();
    assert_eq!(edges, [10.0]);
    let [Remark::Truncated { place, reason }] = &recording.remarks[..] else {
        panic!("{:?}", recording.remarks)
    };
    assert_eq!(place.to_string(), "at 0.000020 s");
    assert_eq!(
        reason,
        "the piece `logic-1-2` is missing before `logic-1-3`, which with 1 more is not used"
    );
    let message = sigrok(&session(METADATA, &pieces[1..]), Some("PB7")).unwrap_err();
    assert!(message.contains("the piece `logic-1-1` is missing before `logic-1-3`"), "{message}");
}

#[test]
fn sessions_for_volts_go_through_the_detector() {
    let volts: Vec<u8> = (0..1000)
        .flat_map(|n| (if n / 100 % 2 == 1 { 3.3f32 } else { 0.0 }).to_le_bytes())
        .collect();
    let bytes = session(
        "[device 1]\nsamplerate=100 kHz\ntotal analog=1\nanalog1=A0\n",
        &[("analog-1-1-1", volts)],
    );
    let (edges, recording) = sigrok(&bytes, None).unwrap();
    assert!((edges.len(), recording.hz) == (9, Some(1e5)) && (edges[0] - 99.5).abs() < 0.01);
}

#[test]
fn invalid_sessions_are_refused_with_the_reason() {
    let whole = session(METADATA, &[("logic-1", samples(0, 100))]);
    assert!(sigrok(&whole, None).unwrap_err().contains("2 channels: D0, PB7"));
    assert!(
        sigrok(&whole[..whole.len() / 2], Some("PB7"))
            .unwrap_err()
            .contains("the file is cut or is not a session")
    );
    let wrong = |from: &str, to: &str| {
        sigrok(&session(&METADATA.replace(from, to), &[("logic-1", samples(0, 50))]), Some("PB7"))
            .unwrap_err()
    };
    assert!(wrong("1 MHz", "0 Hz").contains("missing or 0"));
    assert!(wrong("1 MHz", "fast").contains("line 7: metadata: the rate is `fast`"));
    for size in ["0", "65", "-1", "2.5", "18446744073709551617"] {
        let message = wrong("unitsize=2", &format!("unitsize={size}"));
        assert!(
            message.contains(&format!(
                "line 10: metadata: the unit size is `{size}`, but a sample of levels has 1 to 64 \
                 bytes"
            )),
            "{message}"
        );
    }
    assert!(wrong("unitsize=2", "unitsize=1").contains("beyond the unit size"));
    assert!(wrong("=logic-1", "=logic-7").contains("has no `logic-7`"));
    assert!(sigrok(&session("", &[]), None).unwrap_err().contains("missing or 0"));
}

#[test]
fn a_channel_that_toggles_at_every_sample_ends_early() {
    // 40 million edges; the archive is small. Reading all of them would take as long as the list
    // is.
    let clock: Vec<u8> = (0..40_000_000u32).map(|n| (n % 2) as u8).collect();
    let archive = session(
        "[device 1]\ncapturefile=logic-1\nsamplerate=100 MHz\nprobe1=CLK\nunitsize=1\n",
        &[("logic-1", clock)],
    );
    let refused = |options: &Options| {
        capture(Input::File(Box::new(Cursor::new(archive.clone()))), options)
            .unwrap_err()
            .to_string()
    };
    let message = refused(&Options::default());
    assert!(
        message.contains("no whole frame of the header pattern in the first 20000000 edges"),
        "{message}"
    );
    let message = refused(&Options { ks: Some(vec![1.0, 2.0]), ..Options::default() });
    assert!(message.contains("more than 4000000 pulses"), "{message}");
}
