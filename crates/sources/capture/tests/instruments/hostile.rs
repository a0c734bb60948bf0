//! Damaged files of every kind: an error or a remark, and no panic.

use super::analysers::{ols, saleae_changes, saleae_volts};
use super::archives::{dsview, dsview_scope, ppk2};
use super::files::{Bits, Scope};
use super::scopes::{
    LeCroy, isf, lecroy, records, rigol_model, rigol_old, rigol_z, siglent, siglent_6, tektronix,
};
use super::{read, read_file};

/// A file of every kind, with a channel.
fn all() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let (scope, bits) = (Scope::pulses(1e6, 40, 130), Bits::pulses(1e5));
    let template = |name| LeCroy { name, big: false, wide: true, segments: 1 };
    let both_scopes = [scope.other(), scope.clone()];
    vec![
        ("saleae digital 0", saleae_changes(0), "1"),
        ("saleae digital 1", saleae_changes(1), "1"),
        ("saleae analog 0", saleae_volts(0, &both_scopes[..1]), "1"),
        ("saleae analog 1", saleae_volts(1, &both_scopes), "2"),
        ("ols", ols(&bits), "CH2"),
        ("dsview", dsview(&bits), "PIN"),
        ("dsview scope", dsview_scope(&scope, true), "CH1"),
        ("ppk2", ppk2(&bits), "D1"),
        ("lecroy 1", lecroy(&template("LECROY_1_0"), &scope), "1"),
        ("lecroy 2", lecroy(&template("LECROY_2_3"), &scope), "1"),
        ("isf", isf(&scope, true, "LSB"), "1"),
        ("wfm 1", tektronix(1, true, &scope), "1"),
        ("wfm 3", tektronix(3, false, &scope), "1"),
        ("AG10", records("AG10", &both_scopes, None), "2"),
        ("RG03", records("RG03", &both_scopes, Some(&bits)), "D3"),
        ("DS1000B", rigol_old('B', &scope), "2"),
        ("DS1000C", rigol_old('C', &scope), "2"),
        ("DS1000E", rigol_old('E', &scope), "2"),
        ("DS1000Z", rigol_z(&[&both_scopes[0], &both_scopes[1]], 9), "2"),
        ("DS2000", rigol_model("DS2072A", &scope, false), "1"),
        ("DS4000", rigol_model("DS4024", &scope, false), "1"),
        ("siglent 1", siglent(1, false, &scope), "2"),
        ("siglent 3", siglent(3, false, &scope), "2"),
        ("siglent 4", siglent(4, true, &scope), "2"),
        ("siglent 6", siglent_6(&scope), "2"),
    ]
}

/// Bytes of the beginning that are damaged.
const HEAD: usize = 1000;

#[test]
fn every_file_is_read_as_it_is() {
    for (name, file, channel) in all() {
        let (edges, recording) = read(&file, Some(channel)).unwrap();
        assert!(edges.len() > 6 && recording.remarks.is_empty(), "{name}: {:?}", recording.remarks);
    }
}

#[test]
fn a_cut_file_gives_fewer_edges_or_an_error() {
    for (name, file, channel) in all() {
        let whole = read(&file, Some(channel)).unwrap().0.len();
        let ends = (0..file.len().min(HEAD)).chain((HEAD..file.len()).step_by(97));
        for end in ends {
            if let Ok((edges, _)) = read_file(&file[..end], Some(channel)) {
                assert!(edges.len() <= whole + 1, "{name}, {end}: {} edges", edges.len());
            }
        }
    }
}

#[test]
fn a_cut_within_the_samples_is_reported() {
    for (name, file, channel) in all() {
        let is_archive = file.starts_with(b"PK");
        let end = file.len() - 20;
        match read(&file[..end], Some(channel)) {
            Ok((_, recording)) => assert!(!recording.remarks.is_empty(), "{name}"),
            Err(message) => assert!(is_archive, "{name}: {message}"),
        }
    }
}

#[test]
fn a_wrong_byte_of_a_header_is_no_panic() {
    for (_, file, channel) in all() {
        for (first, value) in [(0, 0xff), (3, 0x7f), (6, 0), (1, 0xff)] {
            for at in (first..file.len().min(HEAD)).step_by(8) {
                let mut file = file.clone();
                file[at] = value;
                let _ = read_file(&file, Some(channel));
            }
        }
    }
}

#[test]
fn wrong_numbers_of_a_header_are_no_panic() {
    let nan = f64::NAN.to_le_bytes();
    let values = [&[0xff; 8][..], &[0; 8], &[0x7f; 4], &[0, 0, 0, 0x80], &nan];
    for (_, file, channel) in all() {
        for (first, value) in values.iter().enumerate() {
            for at in (4 * first % 16..file.len().min(HEAD)).step_by(16) {
                let mut file = file.clone();
                let end = file.len().min(at + value.len());
                file[at..end].copy_from_slice(&value[..end - at]);
                let _ = read_file(&file, Some(channel));
            }
        }
    }
}
