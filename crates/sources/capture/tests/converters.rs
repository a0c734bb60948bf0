//! Recorders as engineers have them: upsampled, with a minimum phase, behind a resistor and a
//! capacitor, overloaded. The signals are made from impulse responses on a fine grid, which have
//! nothing in common with the simulator of the crate.

mod recorder;

use hairspring_capture::pattern::{Kind, Orientation};
use hairspring_capture::simulate::Pin;
use hairspring_capture::{Captured, Input, Options, capture};
use hairspring_core::judge::{Finding, Question, Severity, assess};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use recorder::{Recorder, behind_rc, linear_phase, minimum_phase, step_of, wav};
use std::io::Cursor;

/// What was measured: the error of a copy and the half-width in samples, and all findings.
#[derive(Debug)]
struct Found {
    error: f64,
    half: f64,
    findings: Vec<Finding>,
}

impl Found {
    fn has(&self, code: &str) -> bool {
        self.findings.iter().any(|finding| finding.is(code))
    }

    fn has_any(&self, codes: &[&str]) -> bool {
        codes.iter().any(|code| self.has(code))
    }
}

/// A recording of frames with 1 to `copies` copies.
fn measured(
    recorder: &Recorder,
    copy: f64,
    copies: u8,
    overhead: f64,
    seed: u64,
) -> Result<Found, String> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut pin =
        Pin::new(40.0, if seed % 2 == 0 { Orientation::Rising } else { Orientation::Falling });
    let widths: Vec<f64> = (1..=copies).map(|k| copy * f64::from(k) + overhead).collect();
    pin.wait(500.0);
    for _ in 0..12 {
        pin.frame(&Kind::progression(1, 1, copies), &widths, &mut || random.random());
    }
    pin.wait(500.0);
    let samples = recorder.sample(&pin, &mut random);
    let options = Options { rate_ppm: Some(0.0), ..Options::default() };
    let Captured { table, .. } =
        capture(Input::File(Box::new(Cursor::new(wav(&samples)))), &options)
            .map_err(|error| error.to_string())?;
    let assessment = assess(&table, &Question::default()).map_err(|error| error.to_string())?;
    let time = &assessment.series[0].components[0].time.ticks;
    Ok(Found {
        error: time.value - copy,
        half: time.half_width(),
        findings: assessment.series[0].findings.clone(),
    })
}

const COPIES: [(f64, u8, f64); 3] = [(19.2, 20, 1.6), (11.3, 20, 0.4), (60.7, 8, 3.0)];

/// Measures several recordings by each recorder, and returns the number of intervals that hold and
/// of all. A recording that is not trusted makes no claim.
fn hold(recorders: &[(&str, Recorder)], check: impl Fn(&str, &Found)) -> (u32, u32) {
    let (mut held_intervals, mut all_intervals) = (0, 0);
    for (name, recorder) in recorders {
        for (at, (copy, copies, overhead)) in COPIES.into_iter().enumerate() {
            for seed in [at as u64, at as u64 + 1] {
                let measurement = measured(recorder, copy, copies, overhead, seed)
                    .unwrap_or_else(|error| panic!("{name} {copy}: {error}"));
                check(name, &measurement);
                held_intervals += u32::from(
                    measurement.error.abs() <= measurement.half
                        || measurement
                            .findings
                            .first()
                            .is_some_and(|finding| finding.severity == Severity::Untrusted),
                );
                all_intervals += 1;
            }
        }
    }
    (held_intervals, all_intervals)
}

#[test]
fn a_narrow_band_and_minimum_phases_are_measured_and_corrected() {
    let narrow = |band| Recorder::new(&linear_phase(band, 60.0));
    let shortest = |band| Recorder::new(&minimum_phase(&linear_phase(band, 60.0)));
    let recorders = [
        ("0.35", narrow(0.35)),
        ("0.25", narrow(0.25)),
        ("0.22", narrow(0.22)),
        ("full", shortest(0.4535)),
        ("half", shortest(0.25)),
    ];
    let (held_intervals, all_intervals) = hold(&recorders, |name, measurement| {
        assert!(measurement.error.abs() < 0.0015, "{name} {measurement:?}");
        assert_eq!(
            measurement.has("narrow_band") || measurement.has("oversampled"),
            name != "full",
            "{name} {measurement:?}"
        );
        assert!(
            !measurement.has_any(&["overloaded", "saturated", "not_linear", "edges_differ"]),
            "{name} {measurement:?}"
        );
    });
    assert!(10 * held_intervals >= 9 * all_intervals, "{held_intervals} of {all_intervals}");
}

#[test]
fn slow_edges_are_found_and_their_tails_corrected() {
    let (plain, slow) =
        (linear_phase(0.4535, 32.0), |tau| behind_rc(&linear_phase(0.4535, 32.0), tau));
    let slow_both_ways = |tau| Recorder::new(&slow(tau));
    let fall = |tau| Recorder { falling: step_of(&slow(tau)), ..Recorder::new(&plain) };
    let rise = |tau| Recorder { rising: step_of(&slow(tau)), ..Recorder::new(&plain) };
    let recorders = [
        ("both 4", slow_both_ways(4.0)),
        ("both 8", slow_both_ways(8.0)),
        ("fall 4", fall(4.0)),
        ("fall 16", fall(16.0)),
        ("rise 4", rise(4.0)),
        ("rise 16", rise(16.0)),
    ];
    let (held_intervals, all_intervals) = hold(&recorders, |name, measurement| {
        assert!(
            measurement.findings.iter().all(|finding| finding.severity != Severity::Untrusted),
            "{name} {measurement:?}"
        );
        assert!(
            measurement.half < 0.05
                && !measurement.has_any(&["overloaded", "saturated", "not_linear", "edges_differ"]),
            "{name} {measurement:?}"
        );
    });
    assert!(10 * held_intervals >= 9 * all_intervals, "{held_intervals} of {all_intervals}");
}

#[test]
fn slow_edges_at_levels_that_wander_are_no_saturated_input() {
    let coupled = |recorder| Recorder { coupling: Some(57_600.0), ..recorder };
    let slow = |tau| behind_rc(&linear_phase(0.4535, 32.0), tau);
    let rise = |tau| Recorder {
        rising: step_of(&slow(tau)),
        ..Recorder::new(&linear_phase(0.4535, 32.0))
    };
    let recorders = [
        ("both 1", coupled(Recorder::new(&slow(1.0)))),
        ("both 2", coupled(Recorder::new(&slow(2.0)))),
        ("rise 2", coupled(rise(2.0))),
        ("rise 8", coupled(rise(8.0))),
    ];
    hold(&recorders, |name, measurement| {
        assert!(
            !measurement.has_any(&["overloaded", "saturated", "not_linear", "edges_differ"]),
            "{name} {measurement:?}"
        );
    });
}

#[test]
fn overload_is_reported_and_in_the_interval() {
    let coupled = |input| Recorder {
        coupling: Some(2000.0),
        input,
        ..Recorder::new(&linear_phase(0.4535, 32.0))
    };
    let slow = || behind_rc(&linear_phase(0.4535, 32.0), 2.0);
    let behind_an_rc = |input| Recorder { coupling: Some(2000.0), input, ..Recorder::new(&slow()) };
    let recorders = [
        ("at full scale", coupled(|level| (level / 0.3).clamp(-2.0, 2.0))),
        ("below full scale", coupled(|level| level.clamp(-0.5, 0.5))),
        ("a little", coupled(|level| level.clamp(-0.6, 0.6))),
        ("soft", coupled(f64::tanh)),
        ("a little soft", coupled(|level| 4.0 * (0.25 * level).tanh())),
        ("cut at both ends", coupled(|level| level.clamp(-0.4, 0.4))),
        ("cut to less than half", coupled(|level| level.clamp(-0.2, 0.2))),
        ("cut behind an RC", behind_an_rc(|level| level.clamp(-0.4, 0.4))),
        ("soft behind an RC", behind_an_rc(|level| 2.0 * (0.5 * level).tanh())),
    ];
    let (held_intervals, all_intervals) = hold(&recorders, |name, measurement| {
        assert!(
            measurement.has_any(&[
                "clipped",
                "overloaded",
                "saturated",
                "not_linear",
                "edges_differ"
            ]),
            "{name} {measurement:?}"
        );
    });
    assert!(20 * held_intervals >= 19 * all_intervals, "{held_intervals} of {all_intervals}");
    let (held_intervals, all_intervals) =
        hold(&[("none", coupled(|level| level))], |_, measurement| {
            assert!(
                measurement.half < 5e-4
                    && !measurement.has_any(&[
                        "clipped",
                        "saturated",
                        "not_linear",
                        "edges_differ"
                    ]),
                "{measurement:?}"
            );
        });
    assert!(held_intervals + 1 >= all_intervals, "{held_intervals} of {all_intervals}");
}

#[test]
fn slow_edges_that_are_cut_to_one_height_differ_in_steepness() {
    let behind = |tau, coupling, input| Recorder {
        coupling: Some(coupling),
        input,
        ..Recorder::new(&behind_rc(&linear_phase(0.4535, 32.0), tau))
    };
    let cut: fn(f64) -> f64 = |level| level.clamp(-0.2, 0.2);
    let recorders = [
        ("2 samples", behind(2.0, 700.0, cut)),
        ("5 samples", behind(5.0, 2000.0, cut)),
        ("12 samples", behind(12.0, 2000.0, cut)),
        ("little coupled", behind(5.0, 20_000.0, cut)),
    ];
    let (held_intervals, all_intervals) = hold(&recorders, |name, measurement| {
        assert!(
            measurement.has_any(&["overloaded", "saturated", "not_linear", "edges_differ"]),
            "{name} {measurement:?}"
        );
    });
    assert!(held_intervals + 1 >= all_intervals, "{held_intervals} of {all_intervals}");
    hold(&[("linear", behind(5.0, 2000.0, |level| level))], |_, measurement| {
        assert!(
            measurement.half < 0.02
                && !measurement.has_any(&["overloaded", "saturated", "not_linear", "edges_differ"]),
            "{measurement:?}"
        );
    });
}
