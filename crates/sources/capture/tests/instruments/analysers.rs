//! Saleae's exports and captures of the Logic Sniffer.

use super::files::{Bits, Head, Scope};
use super::{assert_bits, assert_like_table, places, read};
use hairspring_capture::read::{Format, Remark};

fn saleae(version: u32, kind: u32) -> Head {
    let mut head = Head::new(16);
    head.put(0, b"<SALEAE>").u32(8, version).u32(12, kind);
    head
}

/// A part of an export of changes from a time on.
fn chunk(bits: &Bits, version: u32, begin: f64) -> Vec<u8> {
    let time = |n: f64| begin + n / bits.hz;
    let mut head = Head::default();
    head.u32(0, bits.levels[0].into());
    let at = if version == 0 { 4 } else { 12 };
    if version > 0 {
        head.f64(4, bits.hz);
    }
    let changes = bits.changes();
    head.f64(at, begin).f64(at + 8, time(bits.levels.len() as f64));
    head.u64(at + 16, changes.len() as u64);
    let times: Vec<u8> = changes.iter().flat_map(|n| time(*n).to_le_bytes()).collect();
    head.with(&times)
}

pub fn changes(version: u32, chunks: &[Vec<u8>]) -> Vec<u8> {
    let number = (chunks.len() as u64).to_le_bytes();
    let number = if version == 0 { &number[..0] } else { &number[..] };
    saleae(version, 0).with(&[number, &chunks.concat()].concat())
}

pub fn saleae_changes(version: u32) -> Vec<u8> {
    changes(version, &[chunk(&Bits::pulses(24e6), version, 0.25)])
}

pub fn saleae_volts(version: u32, scopes: &[Scope]) -> Vec<u8> {
    let mut file = saleae(version, 1).bytes;
    if version > 0 {
        file.extend((scopes.len() as u64).to_le_bytes());
    }
    for scope in scopes {
        let mut head = Head::default();
        // Every fifth sample of the converter.
        if version == 0 {
            head.f64(0, 0.5).u64(8, (5.0 * scope.hz) as u64).u64(16, 5);
            head.u64(24, scope.codes.len() as u64);
        } else {
            head.f64(0, 0.5).f64(8, 0.6).f64(16, 5.0 * scope.hz).u64(24, 5);
            head.u64(32, scope.codes.len() as u64);
        }
        file.extend(head.with(&scope.floats()));
    }
    file
}

#[test]
fn changes_of_saleae_are_read_in_both_versions() {
    let bits = Bits::pulses(24e6);
    assert_bits("version 1", &saleae_changes(1), None, &bits);
    assert_eq!(Format::detect(&saleae_changes(0)), Some(Format::Instrument));
    // Version 0 has no rate: ticks are nanoseconds.
    let (edges, recording) = read(&saleae_changes(0), None).unwrap();
    let expected = bits.changes().into_iter().map(|n| 1e9 * (0.25 + n / 24e6));
    assert!(places(&edges).iter().zip(expected).all(|(at, expected)| (at - expected).abs() < 1e-4));
    assert_eq!((edges.len(), recording.hz), (8, Some(1e9)));
    assert!(edges[0].rising && !edges[1].rising);
}

#[test]
fn a_gap_in_an_export_is_no_edge() {
    let low = Bits { hz: 1e6, levels: [vec![false; 10], vec![true; 10]].concat() };
    let high = Bits { hz: 1e6, levels: [vec![false; 7], vec![true; 10]].concat() };
    let file = changes(1, &[chunk(&low, 1, 0.0), chunk(&high, 1, 1e-3)]);
    let (edges, recording) = read(&file, None).unwrap();
    assert_eq!(places(&edges), [10.0, 1007.0]);
    assert_eq!(recording.remarks, [Remark::Undefined { times: 1, first: 1000.0 }]);
    let faster = Bits { hz: 2e6, ..high };
    let message = read(&changes(1, &[chunk(&low, 1, 0.0), chunk(&faster, 1, 1e-3)]), None);
    assert!(message.unwrap_err().contains("changes from 1000000 to 2000000 Hz"));
}

#[test]
fn volts_of_saleae_are_read_in_both_versions() {
    let scope = Scope::pulses(1e6, 40, 130);
    for version in [0, 1] {
        let file = saleae_volts(version, std::slice::from_ref(&scope));
        assert_like_table("saleae", &file, None, &scope);
    }
    let two = saleae_volts(1, &[scope.other(), scope.clone()]);
    assert_like_table("saleae", &two, Some("waveform 2"), &scope);
    assert!(read(&two, None).unwrap_err().contains("2 channels: waveform 1, waveform 2; choose"));
}

#[test]
fn wrong_exports_of_saleae_are_refused() {
    let with = |at: usize, bytes: &[u8]| {
        let mut file = saleae_changes(1);
        file[at..at + bytes.len()].copy_from_slice(bytes);
        read(&file, None).unwrap_err()
    };
    assert!(with(8, &[2]).contains("byte 8: a Saleae export of version 2 and type 0"));
    assert!(with(28, &0f64.to_le_bytes()).contains("the sample rate is 0e0 Hz"));
    assert!(with(28, &f64::NAN.to_le_bytes()).contains("the sample rate is NaN Hz"));
    assert!(with(36, &1f64.to_le_bytes()).contains("begins at 1e0 s and ends at 2.5"));
    assert!(with(76, &0f64.to_le_bytes()).contains("byte 76: the time 0e0 s follows 2.5"));
    let whole = saleae_changes(1);
    let (edges, recording) = read(&whole[..whole.len() - 9], None).unwrap();
    assert_eq!(edges.len(), 6);
    let [Remark::Truncated { reason, .. }] = &recording.remarks[..] else { panic!() };
    assert_eq!(reason, "the header states 8 changes, the file has 6");
}

pub fn ols(bits: &Bits) -> Vec<u8> {
    let changes = bits.changes();
    let mut text = format!(
        ";Size: {}\n;Rate: {}\n;Channels: 32\n;EnabledChannels: 255\n;Compressed: true\n\
         ;AbsoluteLength: {}\n;CursorEnabled: false\n00000000@0\n",
        changes.len() + 1,
        bits.hz,
        bits.levels.len()
    );
    for (n, at) in changes.iter().enumerate() {
        text += &format!("{:08x}@{at}\n", if n % 2 == 0 { 4 } else { 0 });
    }
    text.into_bytes()
}

#[test]
fn captures_of_the_logic_sniffer_are_read() {
    let bits = Bits::pulses(100e6);
    assert_bits("ols", &ols(&bits), Some("CH2"), &bits);
    assert!(read(&ols(&bits), Some("CH1")).unwrap().0.is_empty());
    assert!(read(&ols(&bits), None).unwrap_err().contains("8 channels: CH0, CH1"));
    let text = String::from_utf8(ols(&bits)).unwrap();
    assert_bits("ols", text.replace('\n', "\r\n").as_bytes(), Some("CH2"), &bits);
    let (_, recording) = read(text.split_at(text.len() - 12).0.as_bytes(), Some("CH2")).unwrap();
    let [Remark::Truncated { reason, .. }] = &recording.remarks[..] else { panic!() };
    assert_eq!(reason, "the file states 9 changes and has 8");
    let states = text.replace(";Rate: 100000000", ";Rate: -1");
    assert!(read(states.as_bytes(), Some("CH2")).unwrap_err().contains("line 2: Rate is `-1`"));
    let back = text.replace("@43", "@4");
    assert!(read(back.as_bytes(), Some("CH2")).unwrap_err().contains("sample 4 follows sample 33"));
}
