//! `hairspring blocks`: the path that was counted is the path that is timed, and control may leave
//! the function and come back in any way.

use crate::blocks::{compile, json};
use serde_json::Value;
use std::process::Command;

const PATHS: &str = include_str!("programs/paths.c");
const WAYS_BACK: &str = include_str!("programs/ways_back.c");

fn finding<'a>(document: &'a Value, code: &str) -> &'a Value {
    document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["kind"] == code)
        .unwrap_or(&Value::Null)
}

fn lines(numbers: impl IntoIterator<Item = u32>) -> String {
    numbers.into_iter().map(|number| format!("{number}\n")).collect()
}

#[test]
fn calls_whose_path_differs_are_left_out_by_name() {
    let rig = compile(PATHS, &["-O1"]);
    // Loops on random numbers, on the clock and on the time stamp counter.
    for tens in [1, 2, 3] {
        let document = json(&rig.blocks(
            "spin",
            &lines((10 * tens..10 * tens + 10).chain(1..=9)),
            &["--json", "--until", "each"],
        ));
        let skipped = document["inputs"]["skipped"].as_array().unwrap();
        // By chance a loop on random numbers may take the same path several times.
        assert!(skipped.len() >= if tens == 1 { 6 } else { 10 }, "{tens}: {skipped:#?}");
        assert!(
            skipped
                .iter()
                .all(|skip| skip["reason"].as_str().unwrap().contains("its path differs")),
            "{skipped:#?}"
        );
        let found = finding(&document, "paths_differ");
        assert_eq!(found["inputs"].as_array().unwrap().len(), skipped.len(), "{found}");
        assert!(found["remedy"].as_str().unwrap().contains("random numbers"), "{found}");
        assert!(document["trace"]["followed_again"].as_u64().unwrap() > 0);
    }
}

#[test]
fn what_differs_from_time_to_time_is_named() {
    let rig = compile(PATHS, &["-O1"]);
    for (tens, expected) in [
        (4, "rdtsc in B"),
        (5, "the clock (by the vDSO)"),
        (6, "cpuid in B"),
        (7, "rdrand in B"),
        (9, "the system call clock_gettime"),
    ] {
        let document = json(&rig.blocks(
            "spin",
            &lines((10 * tens..10 * tens + 3).chain(1..=9)),
            &["--json", "--until", "each"],
        ));
        let found = finding(&document, "reads_outside");
        assert!(
            found["sources"][0].as_str().is_some_and(|source| source.contains(expected)),
            "{tens}: {found}"
        );
        assert_eq!(
            document["inputs"]["skipped"].as_array().unwrap().len(),
            0,
            "{}",
            document["inputs"]
        );
    }
    let document = json(&rig.blocks("spin", &lines(1..=9), &["--json"]));
    assert!(
        finding(&document, "reads_outside").is_null()
            && finding(&document, "paths_differ").is_null()
    );
}

/// Runs of the blocks of a function, in all calls with 1 to 61; none of them is left out.
fn runs(flags: &[&str], function: &str, strip: bool) -> Vec<u64> {
    let rig = compile(WAYS_BACK, flags);
    let mut name = function.to_owned();
    if strip {
        let listing =
            String::from_utf8(Command::new("nm").arg(&rig.program).output().unwrap().stdout)
                .unwrap();
        let line = listing
            .lines()
            .find(|line| line.ends_with(&format!(" T {function}")))
            .unwrap()
            .to_owned();
        name = format!("0x{}", line.split_whitespace().next().unwrap().trim_start_matches('0'));
        assert!(Command::new("strip").arg(&rig.program).status().unwrap().success());
    }
    let document = json(&rig.blocks(&name, &lines(1..=61), &["--json", "--budget", "50ms"]));
    assert_eq!(
        document["inputs"]["calls"], 61,
        "{flags:?} {function}: {}",
        document["inputs"]["skipped"]
    );
    document["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["runs"].as_f64().unwrap() as u64)
        .collect()
}

const THUNK: [&str; 3] = ["-O2", "-mindirect-branch=thunk", "-fno-jump-tables"];
const INLINE_THUNKS: [&str; 3] = ["-O2", "-mindirect-branch=thunk-inline", "-fcf-protection=none"];
const COLD_PARTITION: [&str; 2] = ["-O2", "-freorder-blocks-and-partition"];

#[test]
fn mutual_tail_calls_are_followed() {
    // even(n) is entered n / 2 + 1 times.
    for flags in [&["-O2"][..], &THUNK] {
        assert_eq!(
            runs(flags, "even", false)[0],
            (1..=61).map(|n| n / 2 + 1).sum::<u64>(),
            "{flags:?}"
        );
    }
}

#[test]
fn cold_parts_elsewhere_are_followed_or_counted_with_the_jump_to_them() {
    for strip in [false, true] {
        let all = runs(&COLD_PARTITION, "chilly", strip);
        let trips: u64 = (1..=61).sum();
        assert!(
            all.contains(&61) && all.iter().filter(|runs| **runs == trips).count() >= 2,
            "{strip} {all:?}"
        );
        // The cold part has a block of its own where the symbols tell that it belongs to the
        // function.
        assert_eq!(all.contains(&(1..=61).map(|n| n / 3).sum::<u64>()), !strip, "{strip} {all:?}");
    }
}

#[test]
fn retpolines_are_followed() {
    let items: u64 = (1..=61).sum();
    for flags in [&THUNK[..], &INLINE_THUNKS] {
        for (function, name) in [("run", "goto *"), ("table", "switch")] {
            let all = runs(flags, function, false);
            let each: u64 = if function == "run" { 630 } else { 631 };
            assert!(all.contains(&items) || function == "run", "{flags:?} {name} {all:?}");
            assert!(all.contains(&each), "{flags:?} {name} {all:?}");
        }
    }
}

#[test]
fn memory_that_the_call_frees_or_maps_comes_back() {
    let trips: u64 = (1..=61).sum();
    for function in ["freed", "grown"] {
        assert!(runs(&["-O1"], function, false).contains(&trips), "{function}");
    }
}

#[test]
fn a_sanitizer_may_reserve_terabytes() {
    let source = "#include <stdlib.h>\n#include <string.h>\n\
                  __attribute__((noinline)) int sum(unsigned char *p, int n) { int s = 0; for \
                  (int i = 0; i < n; i++) { s = s * 3 + p[i]; if (s & 1) p[i] ^= 3; } return s; \
                  }\nint main(int n, char **v) { n = atoi(v[1]); unsigned char *p = malloc(n + \
                  1); memset(p, n, n + 1); int s = sum(p, n); free(p); return s & 1; }";
    let rig = compile(source, &["-O1", "-fsanitize=address"]);
    let done = rig.blocks("sum", &lines(1..=8), &["--json"]);
    // Older kernels do not tell which pages are used.
    if done.status != 0 {
        assert!(
            done.stderr.contains("MiB can be compared") && done.stderr.contains("Linux 6.7"),
            "{}",
            done.stderr
        );
        return;
    }
    let document = json(&done);
    let blocks = document["blocks"].as_array().unwrap();
    assert_eq!(document["inputs"]["calls"], 8);
    assert!(blocks.iter().any(|block| block["runs"] == 36.0), "{blocks:?}");
}
