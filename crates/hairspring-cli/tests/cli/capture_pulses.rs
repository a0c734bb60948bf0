//! `capture --pulses`: widths, periods and jitter of a pin without frames.

use crate::capture::{capture, vcd};
use crate::command::Hairspring;
use hairspring_capture::edge::Edge;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;
use std::fmt::Write;

/// Edges of a signal of 1 kHz with a duty cycle of 30 %, each off by noise of so many seconds, in
/// seconds.
fn edges(cycles: u32, jitter: f64, random: &mut Pcg64) -> Vec<Edge> {
    let mut noise = || jitter * ((0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0);
    let one = |n: u32| 1e-3 * (f64::from(n) + 1.123_456);
    (0..cycles)
        .flat_map(|n| {
            [
                Edge { at: one(n) + noise(), rising: true },
                Edge { at: one(n) + 0.3e-3 + noise(), rising: false },
            ]
        })
        .collect()
}

fn pulses(dump: String) -> Hairspring {
    capture("pin.vcd", dump).option("--channel", "PB7").with("--pulses")
}

fn scaled(edges: &[Edge], hz: f64) -> Vec<Edge> {
    edges.iter().map(|edge| Edge { at: edge.at * hz, ..*edge }).collect()
}

fn document(command: Hairspring) -> Value {
    serde_json::from_str(&command.with("--json").succeeds().output).unwrap()
}

/// A quantity of the document.
fn quantity<'d>(document: &'d Value, name: &str) -> &'d Value {
    let all = document["quantities"].as_array().unwrap();
    all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name} {document}"))
}

fn holds(estimate: &Value, truth: f64) -> bool {
    (estimate["low"].as_f64().unwrap()..=estimate["high"].as_f64().unwrap()).contains(&truth)
}

#[test]
fn periods_widths_and_jitter_hold_the_truth() {
    let mut held = 0;
    for seed in 0..20 {
        let mut random = Pcg64::seed_from_u64(seed);
        let dump = vcd(&scaled(&edges(3_000, 2e-6, &mut random), 1e8));
        let document = document(pulses(dump));
        let truths = [
            ("period", "mean", 1e6),
            ("high", "mean", 0.3e6),
            ("low", "mean", 0.7e6),
            ("duty_cycle", "mean", 0.3),
            ("high", "jitter", 2e3 * 2f64.sqrt()),
            ("period", "jitter", 2e3 * 2f64.sqrt()),
            ("cycle_to_cycle", "jitter", 2e3 * 6f64.sqrt()),
        ];
        held += truths
            .iter()
            .filter(|(name, what, truth)| holds(&quantity(&document, name)[what], *truth))
            .count();
        assert!(holds(&document["frequency_hz"], 1e3), "{document}");
        assert_eq!(quantity(&document, "high")["count"], 3_000);
    }
    // 95 % of 140, less twice the standard deviation.
    assert!(held >= 127, "{held} of 140");
}

#[test]
fn a_recorder_that_counts_samples_adds_its_step() {
    // 10 us without jitter, sampled at 3 MHz: one width of 30 samples, which may be off by one.
    let mut table = "Time [s],D0\n0.000000000,0\n".to_owned();
    for n in 0..2_000u32 {
        for (at, level) in [(40e-6 * f64::from(n), 1), (40e-6 * f64::from(n) + 10.1e-6, 0)] {
            let sample = ((at + 1e-5) * 3e6).ceil() / 3e6;
            writeln!(table, "{sample:.9},{level}").unwrap();
        }
    }
    let document = document(capture("pin.csv", table).with("--pulses").option("--rate-ppm", "0"));
    let high = quantity(&document, "high");
    assert!(holds(&high["mean"], 10.1e3), "{high}");
    assert!(high["jitter"]["low"].as_f64().unwrap() == 0.0, "{high}");
    assert!((document["step_ns"].as_f64().unwrap() - 1e3 / 3.0).abs() < 0.1, "{document}");
    let counts: u64 = high["histogram"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bin| bin["count"].as_u64().unwrap())
        .sum();
    assert_eq!(counts, 2_000);
}

#[test]
fn the_report_fits_80_columns_and_what_cannot_be_told_is_refused() {
    let dump = || vcd(&scaled(&edges(300, 2e-6, &mut Pcg64::seed_from_u64(3)), 1e8));
    let run = || pulses(dump());
    let text = run().succeeds().output;
    for words in ["period", "high", "low", "duty", "jitter", "Hz +-", "#####", "600 in"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    run().option("--k", "1..4").ends_with(2).complains("cannot be used with");
    run().option("--reference", "1ms").ends_with(2).complains("--reference-file");
    pulses(vcd(&[Edge { at: 5.0, rising: true }])).fails("no whole pulse");
}
