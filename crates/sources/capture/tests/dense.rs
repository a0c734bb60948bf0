//! Pulses without the pattern between gaps so short that no edge stands alone: nothing shows the
//! step response of the recorder, so what edges do to each other is in the interval, and rows that
//! it moves far are left out.

mod recorder;

use hairspring_capture::pattern::Orientation;
use hairspring_capture::simulate::Pin;
use hairspring_capture::{Captured, Input, Options, capture};
use hairspring_core::judge::{Finding, Question, assess};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use recorder::{Recorder, behind_rc, linear_phase, minimum_phase, step_of, wav};
use std::io::Cursor;

/// Recordings of one recorder for each range of gaps.
const RECORDINGS_EACH: u64 = 6;

/// What was measured: the error of a copy and its half-width in samples.
#[derive(Debug)]
struct Found {
    error: f64,
    half: f64,
    trusted: bool,
    findings: Vec<Finding>,
}

/// Thirty rounds of 1 to `copies` copies.
fn measured(recorder: &Recorder, gap: f64, seed: u64) -> Result<Found, String> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let (copy, copies): (f64, u8) = (random.random_range(7.0..25.0), random.random_range(6..20));
    let overhead = random.random_range(1.0..20.0f64).max(14.0 - copy);
    let jitter = [0.0, 0.3, 0.02][seed as usize % 3];
    let mut pin = Pin::new(40.0, Orientation::Rising);
    pin.wait(500.0);
    for k in (0..30).flat_map(|_| 1..=copies) {
        pin.pulse(copy * f64::from(k) + overhead);
        pin.wait(gap + jitter * random.random::<f64>());
    }
    pin.wait(500.0);
    let samples = recorder.sample(&pin, &mut random);
    let options = Options {
        ks: Some((1..=copies).map(f64::from).collect()),
        rate_ppm: Some(0.0),
        ..Options::default()
    };
    let Captured { table, .. } =
        capture(Input::File(Box::new(Cursor::new(wav(&samples)))), &options)
            .map_err(|error| error.to_string())?;
    let assessment = assess(&table, &Question::default()).map_err(|error| error.to_string())?;
    let series = &assessment.series[0];
    let time = &series.components[0].time.ticks;
    let (error, half) = (time.value - copy, time.half_width());
    Ok(Found { error, half, trusted: series.is_trusted(), findings: series.findings.clone() })
}

/// Intervals that hold, all intervals, and the median half-width, over gaps of this range. Each is
/// trusted, and none is far off.
fn hold(name: &str, recorder: &Recorder, gaps: std::ops::Range<f64>) -> (usize, usize, f64) {
    let outcome_of = |seed: u64| {
        let gap = Pcg64Mcg::seed_from_u64(1000 + seed).random_range(gaps.clone());
        let measurement = measured(recorder, gap, seed)
            .unwrap_or_else(|error| panic!("{name}, gap of {gap:.1}: {error}"));
        assert!(
            measurement.trusted && measurement.error.abs() < 3.0 * measurement.half,
            "{name}, gap of {gap:.1}: {measurement:?}"
        );
        measurement
    };
    let outcomes: Vec<Found> = (0..RECORDINGS_EACH).map(outcome_of).collect();
    let mut halves: Vec<f64> = outcomes.iter().map(|found| found.half).collect();
    halves.sort_unstable_by(f64::total_cmp);
    (
        outcomes.iter().filter(|found| found.error.abs() <= found.half).count(),
        outcomes.len(),
        halves[halves.len() / 2],
    )
}

#[test]
fn intervals_hold_where_no_edge_stands_alone() {
    let linear = |band| Recorder::new(&linear_phase(band, 60.0));
    let shortest = |band| Recorder::new(&minimum_phase(&linear_phase(band, 60.0)));
    let plain = linear_phase(0.4535, 32.0);
    let rc = |tau| Recorder::new(&behind_rc(&plain, tau));
    let rise = |tau| Recorder { rising: step_of(&behind_rc(&plain, tau)), ..Recorder::new(&plain) };
    let recorders = [
        ("full band", linear(0.4535), 0.0005),
        ("upsampled, 0.25", linear(0.25), 0.005),
        ("upsampled, 0.12", linear(0.12), 0.01),
        ("minimum phase, 0.45", shortest(0.4535), 0.0005),
        ("minimum phase, 0.25", shortest(0.25), 0.005),
        ("minimum phase, 0.13", shortest(0.13), 0.06),
        ("minimum phase, 0.10", shortest(0.1), 0.2),
        ("RC of 2 samples", rc(2.0), 0.002),
        ("RC of 8 samples", rc(8.0), 0.02),
        ("rise of 4 samples", rise(4.0), 0.005),
        ("rise of 8 samples", rise(8.0), 0.01),
    ];
    let (mut held_intervals, mut all_intervals) = (0, 0);
    for (name, recorder, widest) in &recorders {
        for gaps in [11.5..17.0, 17.0..36.0, 38.0..58.0] {
            let (held_of_case, of, half) = hold(name, recorder, gaps);
            assert!(half < *widest, "{name}: a median half-width of {half} samples");
            (held_intervals, all_intervals) = (held_intervals + held_of_case, all_intervals + of);
        }
    }
    assert!(100 * held_intervals >= 95 * all_intervals, "{held_intervals} of {all_intervals}");
}

#[test]
fn edges_that_move_each_other_unseen_are_reported() {
    let recorder = Recorder::new(&behind_rc(&linear_phase(0.4535, 32.0), 12.0));
    let found_outcomes: Vec<Found> =
        (0..RECORDINGS_EACH).filter_map(|seed| measured(&recorder, 30.0, seed).ok()).collect();
    let said = |outcome: &Found| {
        outcome
            .findings
            .iter()
            .any(|finding| finding.is("neighbours_unknown") || finding.is("pulses_too_short"))
    };
    assert!(!found_outcomes.is_empty() && found_outcomes.iter().all(said), "{found_outcomes:?}");
}
