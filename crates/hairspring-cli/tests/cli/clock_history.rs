//! The history of the core clock: intervals in nanoseconds hold for runs at other clocks.

use crate::command::{Hairspring, fit, needs, time};
use crate::document::Document;
use crate::place::Place;
use std::fs::{read_dir, read_to_string, write};
use std::path::{Path, PathBuf};

fn measured() -> Hairspring {
    time("imul %rcx, %rax").option("--lang", "asm")
}

fn history(folder: &Path) -> Vec<PathBuf> {
    read_dir(folder)
        .map(|files| files.map(|file| file.unwrap().path()).collect())
        .unwrap_or_default()
}

/// Makes a history of a run into one of eight, in which the clock moves by 20 % to both sides.
fn move_clock(file: &Path) {
    let text = read_to_string(file).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    let (time, hz): (u64, f64) = (words[0].parse().unwrap(), words[1].parse().unwrap());
    // Lines of the same moment would be one run.
    let line =
        |(at, factor): (usize, &f64)| format!("{} {}\n", time - 60 * (8 - at as u64), hz * factor);
    let runs: String = [0.8, 1.2].repeat(4).iter().enumerate().map(line).collect();
    write(file, runs).unwrap();
}

#[test]
fn interval_in_nanoseconds_includes_the_clocks_of_earlier_runs() {
    let place = Place::new();
    let folder = place.work().join("history");
    measured().variable("HAIRSPRING_HISTORY", &folder).succeeds();
    let [file] = &history(&folder)[..] else { panic!("{:?}", history(&folder)) };
    move_clock(file);
    let ended = measured()
        .variable("HAIRSPRING_HISTORY", &folder)
        .option("--save", "saved.csv")
        .with("--json")
        .succeeds();
    let saved = ended.file("saved.csv");
    for document in [Document::result(&ended.output), fit(saved).document()] {
        let half = |figure: &str| {
            let at = |end: &str| document.body()[figure][end].as_f64().unwrap();
            (at("high") - at("low")) / 2.0 / at("value")
        };
        assert!(half("time_ns") > 0.3, "{:#}", document.body());
        assert!(
            half("cycles") < 0.3,
            "core cycles do not move with the clock: {:#}",
            document.body()
        );
    }
    assert_eq!(read_to_string(file).unwrap().lines().count(), 9);
}

#[test]
fn nothing_is_kept_if_the_history_is_off() {
    let place = Place::new();
    measured()
        .variable("HAIRSPRING_HISTORY", "off")
        .variable("XDG_STATE_HOME", place.work())
        .succeeds();
    assert_eq!(history(&place.work()), [] as [PathBuf; 0]);
    measured()
        .variable("HAIRSPRING_HISTORY", "")
        .variable("XDG_STATE_HOME", place.work())
        .succeeds();
    assert_eq!(history(&place.work()), [place.work().join("hairspring")]);
}

/// A program in C with the header alone shows no core clock, so its times hold for all that the
/// machine has shown.
#[test]
fn times_without_a_reference_chain_include_the_clocks_of_earlier_runs() {
    needs("cc");
    let source = "#include \"hairspring.h\"\nHAIRSPRING_BENCHMARK(multiply, (uint64_t x = 3, c = \
                  5; HAIRSPRING_OPAQUE(c)), x *= c; HAIRSPRING_OPAQUE(x));\n\
                  HAIRSPRING_MAIN({.benchmark = &multiply})\n";
    let place = Place::new();
    let folder = place.work().join("history");
    let half_width = || {
        let program = Hairspring::new()
            .with("run")
            .beside("bench.c", source)
            .with("bench.c")
            .option("--processes", "1");
        let document = program.variable("HAIRSPRING_HISTORY", &folder).document();
        let time = &document.body()["time_ns"];
        (time["high"].as_f64().unwrap() - time["low"].as_f64().unwrap())
            / 2.0
            / time["value"].as_f64().unwrap()
    };
    let mut alone = half_width();
    // A core that is busy may not show its clock at once.
    for _ in 0..10 {
        if history(&folder).is_empty() {
            alone = half_width();
        }
    }
    let [file] = &history(&folder)[..] else { panic!("{:?}", history(&folder)) };
    move_clock(file);
    assert!(half_width() > alone + 0.3, "{alone}");
}
