//! Archives of DSView and of the Power Profiler, and those that are only named.

use super::files::{Bits, Scope, archive};
use super::{assert_bits, assert_like_table, places, read};
use hairspring_capture::read::Remark;

pub fn dsview(bits: &Bits) -> Vec<u8> {
    let header = format!(
        "[version]\nversion = 3\n[header]\ndriver = DSLogic\ndevice mode = 0\ncapturefile = data\n\
         total samples = {}\ntotal probes = 2\ntotal blocks = 2\nsamplerate = 20 MHz\n\
         trigger time = 1600000000000\ntrigger pos = 0\nprobe1 = SCL\nprobe3 = PIN\n",
        bits.levels.len()
    );
    let (packed, none) = (bits.packed(), vec![0; bits.packed().len()]);
    let (first, second) = packed.split_at(11);
    archive(&[
        ("header", header.into_bytes()),
        ("decoders", b"{}".to_vec()),
        ("session", b"{}".to_vec()),
        ("L-1/0", none[..11].to_vec()),
        ("L-1/1", none[11..].to_vec()),
        ("L-3/0", first.to_vec()),
        ("L-3/1", second.to_vec()),
    ])
}

#[test]
fn logic_of_dsview_is_read() {
    let bits = Bits::pulses(20e6);
    assert_bits("dsview", &dsview(&bits), Some("PIN"), &bits);
    assert!(read(&dsview(&bits), Some("SCL")).unwrap().0.is_empty());
    assert!(read(&dsview(&bits), None).unwrap_err().contains("2 channels: SCL, PIN"));
}

/// An oscilloscope of DSView has greater numbers for lower volts.
pub fn dsview_scope(scope: &Scope, in_turn: bool) -> Vec<u8> {
    let header = format!(
        "[version]\nversion = 3\n[header]\ndriver = DSCope\ndevice mode = 1\ntotal samples = {}\n\
         total probes = 2\ntotal blocks = 1\nsamplerate = 1 MHz\nbits = 8\nref min = 0\n\
         ref max = 250\nprobe0 = CH0\n vDiv0 = 1000\n vFactor0 = 1\n vOffset0 = 128\n\
         probe1 = CH1\n vDiv1 = 1000\n vFactor1 = 1\n vOffset1 = 128\n",
        scope.codes.len()
    );
    let own_codes: Vec<u8> = scope.codes.iter().map(|code| 255 - code).collect();
    let other_codes = scope.other().codes;
    let header = ("header", header.into_bytes());
    if in_turn {
        let both = other_codes.iter().zip(&own_codes).flat_map(|(a, b)| [*a, *b]).collect();
        archive(&[header, ("O-0/0", both)])
    } else {
        archive(&[header, ("O-0/0", other_codes), ("O-1/0", own_codes)])
    }
}

#[test]
fn an_oscilloscope_of_dsview_is_read() {
    let scope = Scope::pulses(1e6, 40, 130);
    for in_turn in [false, true] {
        let file = dsview_scope(&scope, in_turn);
        assert_like_table("dsview", &file, Some("CH1"), &scope);
    }
}

#[test]
fn wrong_captures_of_dsview_are_refused() {
    let header =
        "version = 3\ndevice mode = 0\ntotal samples = 80\nsamplerate = 1 MHz\nprobe0 = A\n";
    let with = |from: &str, to: &str| {
        let header = header.replace(from, to).into_bytes();
        read(&archive(&[("header", header), ("L-0/0", vec![0xf0; 8])]), None)
    };
    assert!(with("version = 3", "version = 1").unwrap_err().contains("save it again"));
    assert!(with("1 MHz", "0 Hz").unwrap_err().contains("`samplerate` is `0 Hz`"));
    assert!(with("mode = 0", "mode = 5").unwrap_err().contains("`device mode` is `5`"));
    assert!(with("probe0", "probe2").unwrap_err().contains("has no `L-2/0`"));
    assert!(with("mode = 0", "mode = 1\nbits = 12").unwrap_err().contains("other than 8 bits"));
    let (edges, recording) = with("", "").unwrap();
    assert_eq!(places(&edges), (1..16).map(|n| 4.0 * f64::from(n)).collect::<Vec<_>>());
    let [Remark::Truncated { reason, .. }] = &recording.remarks[..] else { panic!() };
    assert_eq!(reason, "the header states 80 samples, the file has 64");
}

fn ppk2_of(states: &[u16]) -> Vec<u8> {
    let raw = states.iter().flat_map(|state| {
        let [a, b, c, d] = 1.5f32.to_le_bytes();
        // Channel 0 is low, channel 1 has the state, and the others are low.
        let [high, low] = (0x5551 | state << 2).to_be_bytes();
        [a, b, c, d, high, low]
    });
    let metadata =
        br#"{"metadata":{"samplesPerSecond":100000,"startSystemTime":1},"formatVersion":2}"#;
    archive(&[
        ("session.raw", raw.collect()),
        ("metadata.json", metadata.to_vec()),
        ("minimap.raw", vec![]),
    ])
}

pub fn ppk2(bits: &Bits) -> Vec<u8> {
    ppk2_of(&bits.levels.iter().map(|high| if *high { 2 } else { 1 }).collect::<Vec<_>>())
}

#[test]
fn digital_channels_of_the_power_profiler_are_read() {
    let bits = Bits::pulses(1e5);
    assert_bits("ppk2", &ppk2(&bits), Some("D1"), &bits);
    assert!(read(&ppk2(&bits), Some("D0")).unwrap().0.is_empty());
    assert!(read(&ppk2(&bits), Some("current")).unwrap_err().contains("no edge in"));
    // A sample of both levels has the edge, which the next sample shows.
    let (edges, recording) = read(&ppk2_of(&[1, 1, 3, 2, 2, 3, 1, 1]), Some("D1")).unwrap();
    assert_eq!((places(&edges), recording.remarks), (vec![3.0, 6.0], vec![]));
    // A pulse within a sample cannot be timed.
    let (edges, recording) = read(&ppk2_of(&[1, 1, 3, 1, 1, 2, 2]), Some("D1")).unwrap();
    assert_eq!(places(&edges), [5.0]);
    assert_eq!(recording.remarks, [Remark::Undefined { times: 1, first: 2.0 }]);
}

#[test]
fn archives_that_are_not_read_are_named() {
    let sal = archive(&[("meta.json", b"{}".to_vec()), ("digital-0.bin", b"<SALEAE>".to_vec())]);
    assert!(read(&sal, None).unwrap_err().contains("Saleae Logic 2 (.sal)"));
    let other_archive = archive(&[("notes.txt", vec![])]);
    assert!(
        read(&other_archive, None)
            .unwrap_err()
            .contains("no recording that is known, but notes.txt")
    );
    let none = archive(&[]);
    assert!(!read(&none, None).unwrap_err().is_empty());
    for (begin, format_name) in [
        (&b"22 serialization::archive 10"[..], "Saleae Logic 1"),
        (b"LLWFM 1234567", "old Tektronix"),
        (b"\x89HDF\r\n\x1a\n....", "HDF5"),
        (b"BZh91AY&SY", "bzip2"),
        (b"<?xml version=\"1.0\"?><Database>", "Rohde & Schwarz"),
    ] {
        let message = read(begin, None).unwrap_err();
        assert!(message.contains(format_name), "{message}");
    }
}
