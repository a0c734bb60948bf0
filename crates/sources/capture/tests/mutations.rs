//! The corpora of `fuzz/`, changed at random, for a bounded number of times: no panic and no runaway, whatever comes.

use hairspring_capture::read::{Format, Request};
use hairspring_capture::{Input, Options, capture, read_edges};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::io::Cursor;
use std::path::Path;

/// Changed files for each file of a corpus.
const TRIALS: usize = 400;

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus").join(name);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Bytes set, taken out, doubled, or cut off.
fn mutated(bytes: &[u8], random: &mut Pcg64) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.random_range(1..6) {
        if bytes.is_empty() {
            break;
        }
        let at = random.random_range(0..bytes.len());
        match random.random_range(0..5) {
            0 => bytes[at] = random.random(),
            1 => bytes[at] = [0, 0xff, 0x7f, 0x80, b'#', b'\n'][random.random_range(0..6)],
            2 => drop(bytes.remove(at)),
            3 => bytes.splice(at..at, bytes[at..(at + 20).min(bytes.len())].to_vec()).for_each(drop),
            _ => bytes.truncate(at),
        }
    }
    bytes
}

#[test]
fn changed_files_are_survived() {
    let mut random = Pcg64::seed_from_u64(21);
    let mut read = 0;
    for (name, format) in Format::NAMES {
        for seed in corpus(name) {
            for _ in 0..TRIALS {
                let bytes = mutated(&seed, &mut random);
                let request = Request { channel: Some("1".into()), ..Request::default() };
                let input = || Input::File(Box::new(Cursor::new(bytes.clone())));
                let edges = read_edges(input(), Some(format), &request, &mut |edge| assert!(edge.at.is_finite()));
                read += usize::from(edges.is_ok());
                let options = Options { request, ..Options::default() };
                if let Err(error) = capture(input(), &options) {
                    assert!(!error.to_string().is_empty());
                }
            }
        }
    }
    // Many of them are still good files.
    assert!(read > TRIALS, "{read}");
}
