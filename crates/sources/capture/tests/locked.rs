//! Oscilloscopes without a filter before the converter: the bias of an edge depends on its place
//! between two samples. It averages out if the places differ, and is in the interval if they do
//! not.

use hairspring_capture::{Captured, Input, Options, capture};
use hairspring_core::judge::{Question, Severity, assess};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::fmt::Write;
use std::io::Cursor;

const COPIES: u32 = 8;
const ROUNDS: u32 = 12;
const OVERHEAD: f64 = 25.3;
const GAP: f64 = 150.0;

/// Samples of a pin behind a resistor and a capacitor of `time` samples, at even times, rounded to
/// 8 bits.
fn samples(edges: &[f64], time: f64) -> Vec<f64> {
    let end = (edges.last().unwrap() + 2.0 * GAP) as u32;
    let (mut next, mut level, mut pin, mut at) = (edges.iter().peekable(), 0.0, 0.0, 0.0);
    let mut all_samples = Vec::new();
    for sample in (0..end).map(f64::from) {
        while let Some(edge) = next.next_if(|edge| **edge <= sample) {
            level = pin + (level - pin) * f64::exp((at - edge) / time);
            (pin, at) = (1.0 - pin, *edge);
        }
        let volts = pin + (level - pin) * f64::exp((at - sample) / time);
        all_samples.push((volts * 160.0).round() / 160.0);
    }
    all_samples
}

/// The error of a copy in samples, its half-width, and the severity of `phase_locked`. Rounds begin
/// up to `dither` samples later.
fn measured(copy: f64, time: f64, dither: f64) -> (f64, f64, Option<Severity>) {
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let (mut at, mut edges) = (3.0 * GAP, Vec::new());
    for _ in 0..ROUNDS {
        for copies in 1..=COPIES {
            let width = copy * f64::from(copies) + OVERHEAD;
            edges.extend([at, at + width]);
            at = (at + width + GAP).ceil() + random.random::<f64>() * dither;
        }
    }
    let mut table = String::from("Time [s],Channel 0\n");
    for (n, volts) in samples(&edges, time).into_iter().enumerate() {
        writeln!(table, "{:.6},{volts:.5}", n as f64 / 1e6).unwrap();
    }
    let ks = (1..=COPIES).map(f64::from).collect();
    let options = Options { rate_ppm: Some(0.0), ks: Some(ks), ..Options::default() };
    let Captured { table, .. } =
        capture(Input::File(Box::new(Cursor::new(table.into_bytes()))), &options).unwrap();
    let assessment = assess(&table, &Question::default()).unwrap();
    let component = &assessment.series[0].components[0].time.ticks;
    let locked = assessment.series[0].findings.iter().find(|finding| finding.is("phase_locked"));
    (component.value - copy, component.half_width(), locked.map(|finding| finding.severity))
}

#[test]
fn the_bias_of_edges_at_one_place_is_in_the_interval() {
    for time in [0.2, 0.3, 1.0, 2.5] {
        for n in 0..10u8 {
            let copy = 40.0 + 0.1 * f64::from(n) + 0.03;
            let (error, half, locked) = measured(copy, time, 0.0);
            assert!(error.abs() <= half, "{time} {copy}: {error} +- {half}");
            // The quantum of edges within a sample covers them, wherever they are.
            let expected = if time < 0.5 { Severity::Note } else { Severity::Warning };
            assert!(locked >= Some(expected), "{time} {copy}: {locked:?}");
        }
    }
}

#[test]
fn the_bias_of_edges_at_all_places_averages_out() {
    let mut held_intervals = 0;
    for n in 0..20u8 {
        let copy = 40.0 + 0.05 * f64::from(n) + 0.03;
        let (error, half, locked) = measured(copy, 1.0, 8.0);
        assert!(half < 0.02 && locked != Some(Severity::Warning), "{copy}: +- {half}, {locked:?}");
        held_intervals += u32::from(error.abs() <= half);
    }
    assert!(held_intervals >= 17, "{held_intervals}");
}
