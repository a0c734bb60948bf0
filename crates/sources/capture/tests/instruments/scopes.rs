//! Files of oscilloscopes.

use super::files::{Bits, Head, Scope};
use super::{assert_bits, assert_like_table, places, read};
use hairspring_capture::read::Remark;

/// A template of LeCroy: places of its numbers.
pub struct LeCroy {
    pub name: &'static str,
    pub big: bool,
    pub wide: bool,
    pub segments: u32,
}

/// Numbers with a sign, in the order of a file.
fn signed(scope: &Scope, wide: bool, big: bool) -> Vec<u8> {
    let narrow = |code: &u8| code.wrapping_sub(128);
    let sample = |code: &u8| {
        let value = i16::from(narrow(code) as i8) * 256;
        if big { value.to_be_bytes() } else { value.to_le_bytes() }
    };
    if wide {
        scope.codes.iter().flat_map(sample).collect()
    } else {
        scope.codes.iter().map(narrow).collect()
    }
}

pub fn lecroy(file: &LeCroy, scope: &Scope) -> Vec<u8> {
    let is_old = file.name == "LECROY_1_0";
    let mut head = Head { big: file.big, ..Head::new(if is_old { 320 } else { 346 }) };
    let size = head.bytes.len() as u32;
    let samples = signed(scope, file.wide, file.big);
    head.put(0, b"WAVEDESC").put(16, file.name.as_bytes()).u16(32, file.wide.into());
    head.u16(34, (!file.big).into()).u32(36, size).u32(40, 7);
    let gain = (scope.scale / if file.wide { 256.0 } else { 1.0 }) as f32;
    let offset = -(scope.offset + 128.0 * scope.scale) as f32;
    let (interval, count) = ((1.0 / scope.hz) as f32, scope.codes.len() as u32);
    if is_old {
        head.u32(48, samples.len() as u32).u32(92, count).u32(108, file.segments);
        head.f32(120, gain).f32(134, interval).f32(290, offset).u16(296, 3);
    } else {
        head.u32(60, samples.len() as u32).u32(116, count).u32(144, file.segments);
        head.f32(156, gain).f32(160, offset).f32(176, interval).u16(344, 2);
    }
    head.with(&[b"comment", &samples[..]].concat())
}

#[test]
fn waveforms_of_lecroy_are_read_in_all_templates() {
    let scope = Scope::pulses(2e9, 40, 130);
    for name in ["LECROY_1_0", "LECROY_2_2", "LECROY_2_3"] {
        for (big, wide) in [(false, false), (false, true), (true, false), (true, true)] {
            let file = lecroy(&LeCroy { name, big, wide, segments: 1 }, &scope);
            assert_like_table(name, &file, Some("C3"), &scope);
            let by_scpi = [b"#9000001234", &file[..]].concat();
            assert_like_table(name, &by_scpi, None, &scope);
        }
    }
}

#[test]
fn a_segment_of_lecroy_is_chosen() {
    let scope = Scope::pulses(2e9, 40, 130);
    let both_segments =
        Scope { codes: [scope.other().codes, scope.codes.clone()].concat(), ..scope.clone() };
    let template = LeCroy { name: "LECROY_2_3", big: false, wide: true, segments: 2 };
    let file = lecroy(&template, &both_segments);
    assert_like_table("segment", &file, Some("C3 segment 2"), &scope);
    assert!(read(&file, None).unwrap_err().contains("2 channels: C3 segment 1, C3 segment 2"));
}

#[test]
fn wrong_waveforms_of_lecroy_are_refused() {
    let scope = Scope::pulses(2e9, 40, 130);
    let file = lecroy(&LeCroy { name: "LECROY_2_3", big: false, wide: false, segments: 1 }, &scope);
    let with = |at: usize, bytes: &[u8]| {
        let mut file = file.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        read(&file, None).unwrap_err()
    };
    assert!(with(16, b"LECROY_9").contains("the template is `LECROY_9_3`"));
    assert!(with(32, &[5]).contains("byte 32: the type of samples is 5"));
    assert!(with(316, &[6]).contains("by peak detection"));
    assert!(with(136, &[4]).contains("only one of 4 samples"));
    assert!(with(176, &0f32.to_le_bytes()).contains("the distance of the samples is 0e0 s"));
    assert!(with(156, &0f32.to_le_bytes()).contains("0e0 V for a step"));
    assert!(with(40, &(-5i32).to_le_bytes()).contains("byte 40: a size of -5"));
    let (edges, recording) = read(&file[..file.len() - 100], None).unwrap();
    assert!(edges.len() > 4);
    let [Remark::Truncated { reason, .. }] = &recording.remarks[..] else { panic!() };
    assert!(reason.contains("states 585 samples, the file has 485"), "{reason}");
}

pub fn isf(scope: &Scope, short: bool, format: &str) -> Vec<u8> {
    let big = format.contains("MSB");
    let samples = signed(scope, true, big);
    let (points, interval) = (scope.codes.len(), 1.0 / scope.hz);
    let scale = scope.scale / 256.0;
    let zero = scope.offset + 128.0 * scope.scale;
    let text = if short {
        format!(
            ":WFMP:NR_P {points};BYT_N 2;BIT_N 16;ENC BIN;BN_F RI;BYT_O {format};PT_F Y;XUN \"s\";\
             XIN {interval:E};PT_O 0;YUN \"V\";YMU {scale:E};YOF 0.0E0;YZE {zero:E};:CURV "
        )
    } else {
        format!(
            ":WFMPRE:BYT_NR 2;BIT_NR 16;ENCDG BINARY;BN_FMT RI;BYT_OR {format};\
             WFID \"Ch2, DC coupling; #1, 1.0V/div, {points} points, Sample mode\";NR_PT {points};\
             PT_FMT Y;XUNIT \"s\";XINCR {interval:E};XZERO 0.0E0;PT_OFF 0;YUNIT \"V\";\
             YMULT {scale:E};YOFF -25.6E2;YZERO {:E};:CURVE ",
            zero - 2560.0 * scale
        )
    };
    let size = samples.len().to_string();
    [text.as_bytes(), b"#", size.len().to_string().as_bytes(), size.as_bytes(), &samples, b"\n"]
        .concat()
}

#[test]
fn text_waveforms_of_tektronix_are_read() {
    let scope = Scope::pulses(5e6, 40, 130);
    for (short, format) in [(true, "MSB"), (true, "LSB"), (false, "MSB"), (false, "LSB")] {
        assert_like_table("isf", &isf(&scope, short, format), None, &scope);
    }
    assert!(read(&isf(&scope, false, "MSB"), Some("CH2")).is_ok());
    let with = |from: &str, to: &str| {
        let file = isf(&scope, true, "MSB");
        let end = file.windows(4).position(|part| part == b"CURV").unwrap();
        let text = String::from_utf8(file[..end].to_vec()).unwrap().replace(from, to);
        read(&[text.as_bytes(), &file[end..]].concat(), None).unwrap_err()
    };
    assert!(with("PT_F Y", "PT_F ENV").contains("PT_FMT ENV"));
    assert!(with("ENC BIN", "ENC ASC").contains("ENCDG ASCII"));
    assert!(with("XIN 2E-7", "XIN 0").contains("XINCR: the distance of the samples is 0e0 s"));
    assert!(with("YMU", "YXX").contains("no setting YMU"));
    assert!(with("BYT_N 2", "BYT_N 3").contains("samples of 3 bytes"));
}

pub fn tektronix(version: u8, big: bool, scope: &Scope) -> Vec<u8> {
    let (volts, time, curve): (usize, usize, usize) = match version {
        1 => (166, 478, 790),
        2 => (168, 480, 792),
        _ => (168, 488, 808),
    };
    let mut head = Head { big, ..Head::new(curve + 30) };
    head.put(0, &if big { [0xf0; 2] } else { [0x0f; 2] });
    head.put(2, b":WFM#00").put(9, &[b'0' + version]).put(15, &[2]);
    let start = head.bytes.len() as u32;
    head.u32(16, start).put(40, b"pin 7").u32(122, 2);
    head.f64(volts, scope.scale / 256.0).f64(volts + 8, scope.offset + 128.0 * scope.scale);
    head.u32(volts + 72, 0).f64(time, 1.0 / scope.hz);
    // Four samples before and after those of the user.
    let samples = signed(scope, true, big);
    let all_bytes = samples.len() as u32 + 16;
    head.u32(curve + 14, 8).u32(curve + 18, all_bytes - 8).u32(curve + 26, all_bytes);
    head.with(&[&[0x7f; 8], &samples[..], &[0x7f; 8]].concat())
}

#[test]
fn binary_waveforms_of_tektronix_are_read_in_all_versions() {
    let scope = Scope::pulses(1.25e9, 40, 130);
    for (version, big) in [(1, false), (1, true), (2, false), (3, false), (3, true)] {
        assert_like_table("wfm", &tektronix(version, big, &scope), Some("pin 7"), &scope);
    }
    let bits = Bits::pulses(1.25e9);
    let packed: Vec<u8> = bits.levels.iter().map(|high| 0x81 | u8::from(*high) << 5).collect();
    let mut digital = tektronix(3, false, &scope)[..838].to_vec();
    digital[822..834].copy_from_slice(&[0, 0, 0, 0, packed.len() as u8, 0, 0, 0, 0, 0, 0, 0]);
    digital[834..838].copy_from_slice(&[packed.len() as u8, 0, 0, 0]);
    let settings = b"tekmeta!\x01\0\0\0\x02\0\0\0d0\x02\0\0\0\0";
    let named = [&digital[..], &packed, settings].concat();
    assert_bits("wfm", &named, Some("d5"), &bits);
    digital[122] = 6;
    assert_bits("wfm", &[&digital[..], &packed].concat(), Some("d5"), &bits);
    let with = |at: usize, value: u32| {
        let mut file = tektronix(3, false, &scope);
        file[at..at + 4].copy_from_slice(&value.to_le_bytes());
        read(&file, None).unwrap_err()
    };
    assert!(with(72, 9).contains("10 frames (FastFrame)"));
    assert!(with(122, 5).contains("type 5"));
    assert!(with(244, 1).contains("a least and a greatest value"));
    assert!(with(240, 6).contains("a sample has 2 bytes, but the format has 1"));
    assert!(with(822, 1 << 30).contains("begin at 1073741824 of the curve"));
}

/// Records of Keysight (`AG`) and Rigol (`RG`): a channel of volts, and one of bits.
pub fn records(version: &str, scopes: &[Scope], bits: Option<&Bits>) -> Vec<u8> {
    let is_long = version.ends_with('3');
    let number = (scopes.len() + usize::from(bits.is_some())) as u32;
    let mut file = Head::default();
    file.put(0, version.as_bytes());
    if is_long {
        file.u32(12, number)
    } else {
        file.u32(8, number)
    };
    let mut file = file.bytes;
    let mut record = |label: &str, logic: bool, hz: f64, samples: &[u8]| {
        let each = if logic { 1 } else { 4 };
        let mut head = Head::new(140);
        head.u32(0, 140).u32(4, if logic { 6 } else { 1 }).u32(8, 1);
        head.u32(12, samples.len() as u32 / each).f64(32, 1.0 / hz).put(112, label.as_bytes());
        let data = if is_long { 16 } else { 12 };
        head.u32(140, data).u16(144, if logic { 6 } else { 1 }).u16(146, each as u16);
        if is_long {
            head.u64(148, samples.len() as u64)
        } else {
            head.u32(148, samples.len() as u32)
        };
        file.extend(head.with(samples));
    };
    for (n, scope) in scopes.iter().enumerate() {
        record(&format!("CH{}", n + 1), false, scope.hz, &scope.floats());
    }
    if let Some(bits) = bits {
        let samples: Vec<u8> = bits.levels.iter().map(|high| 0x41 | u8::from(*high) << 3).collect();
        record("LA", true, bits.hz, &samples);
    }
    file
}

#[test]
fn records_of_keysight_and_rigol_are_read() {
    let (scope, bits) = (Scope::pulses(5e8, 40, 130), Bits::pulses(1e9));
    for version in ["AG01", "AG03", "AG10", "RG01", "RG03"] {
        let file = records(version, &[scope.other(), scope.clone()], Some(&bits));
        assert_like_table(version, &file, Some("CH2"), &scope);
        assert_bits(version, &file, Some("D3"), &bits);
        assert!(read(&file, None).unwrap_err().contains("10 channels: CH1, CH2, D0, D1"));
        let one_record = records(version, std::slice::from_ref(&scope), None);
        assert_like_table(version, &one_record, None, &scope);
        let (_, recording) = read(&[&one_record[..], &[1; 40]].concat(), None).unwrap();
        let stated = 4 * scope.codes.len() as u64;
        assert_eq!(recording.remarks, [Remark::WrongSizes { stated, actual: stated + 40 }]);
    }
}

#[test]
fn records_without_a_rate_or_with_pairs_are_refused() {
    let scope = Scope::pulses(5e8, 40, 130);
    let with = |at: usize, bytes: &[u8]| {
        let mut file = records("RG01", std::slice::from_ref(&scope), None);
        file[at..at + bytes.len()].copy_from_slice(bytes);
        read(&file, None).unwrap_err()
    };
    assert!(with(44, &0f64.to_le_bytes()).contains("the distance of the samples is 0e0 s"));
    assert!(with(20, &[2]).contains("byte"));
    assert!(with(12, &[9, 0]).contains("a waveform's header of 9 bytes"));
    assert!(with(156, &[2]).contains("floats (kind 1, 4 bytes)"));
    let file = records("RG01", std::slice::from_ref(&scope), None);
    let (_, recording) = read(&file[..file.len() - 40], None).unwrap();
    let [Remark::Truncated { reason, .. }] = &recording.remarks[..] else { panic!() };
    assert!(reason.contains("states 585 samples, the file has 575"), "{reason}");
}

/// Numbers of which greater ones are lower volts.
fn inverted(scope: &Scope) -> Vec<u8> {
    scope.codes.iter().map(|code| 250 - code).collect()
}

pub fn rigol_old(family: char, scope: &Scope) -> Vec<u8> {
    let (magic, size, settings, points): (&[u8], usize, [usize; 2], usize) = match family {
        'B' => (&[0xa5, 0xa5, 0xa4, 1], 420, [76, 100], 60),
        'C' => (&[0xa1, 0xa5, 0, 0], 256, [44, 68], 28),
        'G' => (&[0xa5, 0xa5, 0, 0], 272, [44, 68], 28),
        _ => (&[0xa5, 0xa5, 0, 0], 276, [44, 68], 28),
    };
    let mut head = Head::new(size);
    let count = scope.codes.len() as u32;
    head.put(0, magic).u32(points, count);
    head.f32(if family == 'B' { 180 } else { 100 }, scope.hz as f32);
    for at in settings {
        let is_on = if family == 'B' { at + 6 } else { at + 5 };
        head.f32(at, 10.0).put(is_on, &[1]).u32(at + 8, (25e6 * scope.scale / 10.0) as u32);
    }
    head.with(&[inverted(&scope.other()), inverted(scope)].concat())
}

#[test]
fn old_families_of_rigol_are_read() {
    let scope = Scope::pulses(1e6, 40, 130);
    for family in ['B', 'C', 'G', 'E'] {
        assert_like_table(&family.to_string(), &rigol_old(family, &scope), Some("CH2"), &scope);
    }
    // The numbers behind the end of a rolling signal are no samples.
    let mut rolled = rigol_old('E', &scope);
    rolled[20..24].copy_from_slice(&98u32.to_le_bytes());
    let kept = Scope { codes: scope.codes[..scope.codes.len() - 100].to_vec(), ..scope.clone() };
    assert_like_table("rolled", &rolled, Some("CH2"), &kept);
}

pub fn rigol_z(scopes: &[&Scope], mask: u8) -> Vec<u8> {
    let number = scopes.len();
    let stride = if number == 3 { 4 } else { number };
    let mut head = Head::new(300);
    head.put(0, &[1, 0xff, 0xff, 0xff, 0xa5, 0xa5, 0x38, 0]).put(48, &[1]).put(84, &[0xd8]);
    head.put(88, &[mask]).u32(256, 20).u32(260, 280);
    head.u32(116, (stride * scopes[0].codes.len()) as u32).f32(120, (scopes[0].hz / 1e9) as f32);
    let on: Vec<usize> = (0..4).filter(|n| mask >> n & 1 == 1).collect();
    for n in &on {
        head.put(124 + 28 * n, &[1]).f32(132 + 28 * n, (20.0 * scopes[0].scale) as f32);
    }
    let mut samples = Vec::new();
    for at in 0..scopes[0].codes.len() {
        let mut lanes = vec![77; stride];
        for (nth, scope) in scopes.iter().enumerate() {
            let lane = if stride == 4 { 3 - on[nth] } else { stride - 1 - nth };
            lanes[lane] = scope.codes[at];
        }
        samples.extend(lanes);
    }
    head.with(&samples)
}

#[test]
fn channels_in_turn_of_rigol_are_read() {
    let scope = Scope::pulses(2.5e7, 40, 130);
    let other_scope = scope.other();
    for (mask, number, name) in
        [(1, 1, "CH1"), (9, 2, "CH4"), (13, 3, "CH3"), (7, 3, "CH3"), (15, 4, "CH4")]
    {
        let mut all_channels = vec![&other_scope; number];
        let at = (0..4).filter(|n| mask >> n & 1 == 1).position(|n| name == format!("CH{}", n + 1));
        all_channels[at.unwrap()] = &scope;
        assert_like_table(&mask.to_string(), &rigol_z(&all_channels, mask), Some(name), &scope);
    }
    let mut with_logic = rigol_z(&[&scope], 1);
    with_logic[108] = 1;
    assert!(read(&with_logic, None).unwrap_err().contains("the logic analyser on"));
}

pub fn rigol_model(model: &str, scope: &Scope, interwoven: bool) -> Vec<u8> {
    let mut head = Head::new(800);
    head.put(0, &[0xa5, 0xa5, 0x38, 0])
        .put(44, &[1])
        .put(4, model.as_bytes())
        .put(64, &[2, interwoven.into()]);
    let count = scope.codes.len() as u32;
    if model.contains("DS2") {
        head.f32(96, scope.hz as f32).u32(236, 456).u32(248, 3).u32(252, count);
        head.put(148, &[1]).f32(156, (25.0 * scope.scale) as f32);
        if interwoven {
            let half = |from: usize| scope.codes.iter().skip(from).step_by(2).copied().collect();
            let (even, odd): (Vec<u8>, Vec<u8>) = (half(0), half(1));
            head.u32(68, 800).u32(72, 803 + even.len() as u32);
            return head.with(&[&[0; 3][..], &even, &[0; 3], &odd].concat());
        }
        head.u32(72, 800);
        return head.with(&[&[0; 3][..], &scope.codes].concat());
    }
    head.f32(100, scope.hz as f32).u32(72, 800).u32(268, count);
    head.put(152, &[1]).f32(160, (32.0 * scope.scale) as f32);
    head.with(&scope.codes)
}

#[test]
fn families_by_model_of_rigol_are_read() {
    let mut scope = Scope::pulses(1e9, 40, 130);
    assert_like_table("DS4", &rigol_model("DS4024", &scope, false), Some("CH2"), &scope);
    assert_like_table("DS2", &rigol_model("DS2072A", &scope, false), None, &scope);
    scope.codes.push(40);
    assert_like_table("interwoven", &rigol_model("DS2072A", &scope, true), None, &scope);
    let message = read(&rigol_model("DS6104", &scope, false), None).unwrap_err();
    assert!(message.contains("the model is `DS6104`"), "{message}");
}

pub fn siglent(version: u32, wide: bool, scope: &Scope) -> Vec<u8> {
    let size = if version == 1 { 16 } else { 40 };
    let more = if version == 4 { 4 } else { 0 };
    let mut head = Head::new(if version == 4 { 0x1000 } else { 0x800 });
    // A number and its magnitude, here in thousandths.
    let scaled = |head: &mut Head, at: usize, value: f64| {
        head.f64(at, 1000.0 * value).u32(at + 8, 7);
    };
    let on = if version == 1 { 0 } else { 4 + more };
    let (volts, samples, rate) =
        if version == 1 { (0x10, 0xf4, 0xf8) } else { (0x14 + more, 0x1e8 + more, 0x1ec + more) };
    if version > 1 {
        head.u32(0, version).put(0x260 + more, &[wide.into()]);
    }
    if version == 4 {
        head.u32(4, 0x1000);
    }
    if version >= 3 {
        // Divisions of the screen.
        head.u32(0x268 + more, 10);
    }
    for n in [1, 2] {
        head.u32(on + 4 * n, 1);
        scaled(&mut head, volts + size * n, 30.0 * scope.scale);
        if version == 4 {
            // The volts of a division are those behind a probe of 10x.
            head.f64(0x244 + 8 * n, 10.0);
            scaled(&mut head, volts + size * n, 3.0 * scope.scale);
        }
        if version >= 3 {
            head.u32(0x26c + more + 4 * n, if wide { 30 * 256 } else { 30 });
        } else {
            scaled(&mut head, volts + size * n, 25.0 * scope.scale);
        }
    }
    head.u32(samples, scope.codes.len() as u32);
    scaled(&mut head, rate, scope.hz);
    let codes = |scope: &Scope| -> Vec<u8> {
        if wide {
            scope.codes.iter().flat_map(|code| [0, *code]).collect()
        } else {
            scope.codes.clone()
        }
    };
    head.with(&[codes(&scope.other()), codes(scope)].concat())
}

pub fn siglent_6(scope: &Scope) -> Vec<u8> {
    let mut file = Head::new(120);
    file.u32(0, 6).u16(4, 120).put(8, b"SDS3104X HD").u32(104, 2);
    let mut file = file.bytes;
    for (n, name, scope) in [(1, "C1", scope.other()), (2, "C2", scope.clone())] {
        let mut head = Head::new(270);
        head.u32(4, 270)
            .u16(14, n)
            .put(16, name.as_bytes())
            .f64(104, 1.0 / scope.hz)
            .f64(176, 128.0);
        head.f64(184, scope.scale).u32(240, 5).u64(248, scope.codes.len() as u64);
        head.u64(256, scope.codes.len() as u64);
        file.extend(head.with(&[&[9; 5], &scope.codes[..]].concat()));
    }
    file
}

#[test]
fn waveforms_of_siglent_are_read() {
    let scope = Scope::pulses(1e9, 40, 130);
    for (version, wide) in [(1, false), (2, false), (2, true), (3, false), (3, true), (4, true)] {
        let name = format!("version {version}, wide {wide}");
        assert_like_table(&name, &siglent(version, wide, &scope), Some("C3"), &scope);
    }
    assert_like_table("version 6", &siglent_6(&scope), Some("C2"), &scope);
    let mut off = siglent(3, false, &scope);
    off[8..16].fill(0);
    assert!(read(&off, None).unwrap_err().contains("no analog channel was on"));
    let mut flat = siglent(3, false, &scope);
    flat[0x1ec..0x1f4].fill(0);
    assert!(read(&flat, Some("C3")).unwrap_err().contains("the sample rate is 0e0 Hz"));
    let cut = siglent(3, false, &scope);
    let (edges, _) = read(&cut[..cut.len() - 60], Some("C3")).unwrap();
    assert!(places(&edges).len() > 6);
}
