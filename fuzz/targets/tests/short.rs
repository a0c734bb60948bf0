//! A short run of every fuzz target on any compiler: its corpus, and a fixed number of inputs
//! derived from it by random edits with a fixed seed. A failure is shrunk to few edits and printed
//! with the bytes.
//!
//! `HAIRSPRING_FUZZ_CASES=1000000` runs longer. proptest chooses the edits and shrinks a failure.
//! The edits themselves are written here because `mutatis`, the library for them, needs a newer
//! compiler than this project.

use hairspring_fuzz_targets::{TARGETS, Target, by_name};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// Words that are likely to break readers.
const WORDS: [&str; 40] = [
    "nan",
    "inf",
    "-1",
    "-0",
    "0",
    "1",
    "1e308",
    "1e-308",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "9007199254740993",
    "1e999",
    "\"",
    "'",
    "\\",
    "\n",
    "\r",
    "\t",
    "\0",
    " ",
    ",",
    ";",
    ":",
    "=",
    "#",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "null",
    "true",
    "\u{feff}",
    "\u{4f60}",
    "\u{1b}",
    "\u{e4}",
    "s",
    "%",
];

/// One change of the bytes.
#[derive(Debug, Clone)]
enum Edit {
    Set(u8),
    Flip(u8),
    Remove(usize),
    Repeat(usize),
    Cut,
    Word(&'static str),
    /// Replaces the rest by the end of another input.
    Cross(Index, Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        any::<u8>().prop_map(Edit::Set),
        (0u8..8).prop_map(Edit::Flip),
        (1usize..20).prop_map(Edit::Remove),
        (1usize..60).prop_map(Edit::Repeat),
        Just(Edit::Cut),
        select(&WORDS[..]).prop_map(Edit::Word),
        select(&WORDS[..]).prop_map(Edit::Word),
        (any::<Index>(), any::<Index>()).prop_map(|(other, from)| Edit::Cross(other, from)),
    ]
}

fn apply(bytes: &mut Vec<u8>, at: &Index, edit: &Edit, corpus: &[Vec<u8>]) {
    let at = at.index(bytes.len() + 1);
    let end = |length: usize| (at + length).min(bytes.len());
    match edit {
        Edit::Set(value) => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = *value),
        Edit::Flip(bit) => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << bit),
        Edit::Remove(length) => drop(bytes.drain(at..end(*length))),
        Edit::Repeat(length) => drop(bytes.splice(at..at, bytes[at..end(*length)].to_vec())),
        Edit::Cut => bytes.truncate(at),
        Edit::Word(word) => drop(bytes.splice(at..at, word.bytes())),
        Edit::Cross(other, from) => {
            let other = &corpus[other.index(corpus.len())];
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from.index(other.len() + 1)..]);
        }
    }
}

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(target)
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(folder(target))
        .unwrap_or_else(|error| panic!("the corpus of {target}: {error}"));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

fn cases(target: &Target) -> u32 {
    std::env::var("HAIRSPRING_FUZZ_CASES")
        .map_or(target.cases, |cases| cases.parse().expect("HAIRSPRING_FUZZ_CASES is a number"))
}

/// Runs the target, and returns how many of the edited inputs were accepted.
fn short_run(target: &Target) -> Result<u32, String> {
    let corpus = corpus(target.name);
    assert!(corpus.iter().any(|seed| (target.run)(seed)), "no seed of {} is accepted", target.name);
    let accepted = Cell::new(0);
    let config = Config {
        cases: cases(target),
        failure_persistence: None,
        max_shrink_iters: 1_000,
        ..Config::default()
    };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let edits = (any::<Index>(), vec((any::<Index>(), edit()), 1..4));
    let done = runner.run(&edits, |(seed, edits)| {
        let mut bytes = corpus[seed.index(corpus.len())].clone();
        edits.iter().for_each(|(at, edit)| apply(&mut bytes, at, edit, &corpus));
        let ran = quietly(|| (target.run)(&bytes))
            .map_err(|panic| TestCaseError::fail(format!("{panic}\n{}", bytes.escape_ascii())))?;
        accepted.set(accepted.get() + u32::from(ran));
        Ok(())
    });
    done.map_err(|error| error.to_string())?;
    Ok(accepted.get())
}

thread_local! {
    /// The last panic of this thread while panics are caught: shrinking causes hundreds, of which
    /// only the last matters.
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The function's result, or its panic message with the place, without printing it.
fn quietly<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let caught = CAUGHT.with_borrow_mut(|caught| {
                caught.as_mut().map(|caught| *caught = panic.to_string())
            });
            caught.unwrap_or_else(|| usual(panic));
        }));
    });
    CAUGHT.set(Some(String::new()));
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    let caught = CAUGHT.take().unwrap_or_default();
    ran.map_err(|_| caught)
}

/// Runs the target; some of the edited inputs must be accepted, or the run would only reach the
/// first lines of the reader.
fn survives(name: &str) {
    let target = by_name(name);
    let accepted = short_run(&target).unwrap_or_else(|failure| panic!("{name}: {failure}"));
    println!("{name}: {accepted} of {} edited inputs were accepted", cases(&target));
    assert!(
        accepted > cases(&target) / 200,
        "{name}: too few of the edited inputs were accepted: {accepted}"
    );
}

macro_rules! targets {
    ($($name:ident)*) => {
        const TESTED_READERS: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { survives(stringify!($name)); })*
    };
}

targets! {
    benchmark_dot_net compressed criterion csv declaration documents experiment expression frame
    fst go_bench google_benchmark inputs instructions instrument nanobench observations pattern
    program protocol results_of_tools saved sigrok sound values vcd
}

/// Every target has a corpus, a test above and a libFuzzer target, and there are no others.
#[test]
fn every_target_has_corpus_test_and_fuzzer() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    let names = |folder: &str| -> BTreeSet<String> {
        let entries =
            std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder))
                .unwrap();
        entries
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect()
    };
    assert_eq!(
        TESTED_READERS.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>(),
        targets
    );
    assert_eq!(names("corpus"), targets);
    assert_eq!(names("fuzz_targets"), targets);
    let manifest = include_str!("../../Cargo.toml");
    assert!(
        targets.iter().all(|name| manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")))
    );
}

/// The run can fail: it finds and shrinks a panic that needs a word that no seed contains.
#[test]
fn a_planted_panic_is_found() {
    let planted = Target {
        name: "values",
        run: |bytes| {
            assert!(!bytes.ends_with(b"nan"), "planted");
            true
        },
        cases: 20_000,
    };
    let failure = short_run(&planted).unwrap_err();
    assert!(failure.contains("planted") && failure.contains("nan"), "{failure}");
}
