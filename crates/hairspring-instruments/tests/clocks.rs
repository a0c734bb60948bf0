//! Compares reports on clocks with the texts in `golden/`, and checks their documents against the
//! schemas. No clock is read.

#[path = "../../hairspring-view/tests/samples/mod.rs"]
mod samples;

use expect_test::expect_file;
use hairspring_core::Estimate;
use hairspring_core::estimate::{Contribution, Source, Uncertain};
use hairspring_core::judge::{Finding, Question, SeriesResult, Severity, assess};
use hairspring_core::observations::Rate;
use hairspring_host::clock::{Choice, Clock, CountsWhen, Ordering, Reading, Width, fake};
use hairspring_instruments::clocks::*;
use hairspring_instruments::clocks::{document, text};
use hairspring_measure::stopwatch::{EmptyRun, Overhead};
use hairspring_result::json;
use hairspring_view::Style;
use serde_json::Value;
use std::path::Path;

/// Compares a text with the golden file of that name, or writes it.
fn matches(name: &str, text: &str) {
    for line in text.lines() {
        assert!(
            unicode_width::UnicodeWidthStr::width(line) <= 80 && !line.ends_with(' '),
            "{line:?}"
        );
    }
    expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"))]
        .assert_eq(text);
}

fn keeps_to(schema: &str, document: &str) -> Value {
    let document: Value = serde_json::from_str(document).unwrap();
    let schemas = document::clock_schemas();
    let (_, schema) = schemas.iter().find(|(name, _)| *name == schema).unwrap();
    let errors: Vec<String> = jsonschema::validator_for(schema)
        .unwrap()
        .iter_errors(&document)
        .map(|e| format!("{}: {e}", e.instance_path))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    document
}

fn rate(hz: f64, uncertainty_ppm: f64) -> Rate {
    Rate { hz, uncertainty_ppm, provenance: "measured against a quartz over 1000 ms".into() }
}

fn cost(slope: f64) -> Result<SeriesResult, String> {
    let table = samples::table(&["read"], &[("read", samples::rows(slope, 60.0))], 2.0);
    Ok(assess(&table, &Question::default()).unwrap().series.remove(0))
}

fn measured(quantum: u64, slope: f64, rate: RateSeen, across: Across) -> MeasuredClock {
    let reading = Reading {
        quantum,
        back_to_back_min: 52,
        back_to_back_mean: 70.5,
        steps: 2_000,
        backward: 0,
    };
    MeasuredClock { reading, cost: cost(slope), rate, across }
}

fn pair(violations: u64) -> Across {
    let worst_ticks = if violations > 0 { 54 } else { 0 };
    Across::Tried(vec![HandOver {
        cpus: (1, 0),
        handovers: 338_304,
        violations,
        worst_ticks,
        least_ticks: (104, 52),
    }])
}

fn clock(name: &'static str, description: &'static str, ordering: Ordering) -> Clock {
    Clock { ordering, ..Clock::new(name, description, fake::read) }
}

fn narrow() -> Clock {
    Clock {
        width: Width::bits(32),
        enable: Some(|| Ok(())),
        ..clock("narrow", "an invented counter of 32 bits", Ordering::both("isb"))
    }
}

/// A clock of the system in nanoseconds.
fn of_system(name: &'static str, description: &'static str, ordering: Ordering) -> Clock {
    Clock { nominal_hz: Some(1e9), ..clock(name, description, ordering) }
}

type Surveyed = (Clock, Result<MeasuredClock, String>);

/// Clocks that instructions read.
fn counters() -> Vec<Surveyed> {
    vec![
        (
            clock("tsc", "an ordered counter", Ordering::both("lfence")),
            Ok(measured(26, 65.0, RateSeen::Measured(rate(2.596_132e9, 0.02)), pair(0))),
        ),
        (
            clock("rdtsc", "one that is not", Ordering::NONE),
            Ok(measured(26, 25.0, RateSeen::Measured(rate(2.596_132e9, 0.02)), pair(4_182))),
        ),
        (narrow(), Ok(measured(1, 30.0, RateSeen::Measured(rate(1e9, 3.0)), pair(0)))),
    ]
}

/// Clocks of the system, and one that programs may not read.
fn clocks_of_system() -> Vec<Surveyed> {
    let reason = "every thread has one of its own";
    vec![
        (
            of_system("monotonic", "nanoseconds", Ordering { before: Some("vdso"), after: None }),
            Ok(measured(
                10,
                85.0,
                RateSeen::Measured(rate(1.000_003e9, 0.03)),
                Across::NotTried("this process may use one CPU only, number 0".into()),
            )),
        ),
        (
            Clock {
                counts: CountsWhen::WhileThreadRuns,
                ..of_system("thread_cputime", "of a thread", Ordering::both("syscall"))
            },
            Ok(measured(
                10,
                1_500.0,
                RateSeen::NotApplicable(reason.into()),
                Across::NotTried(reason.into()),
            )),
        ),
        (
            of_system(
                "monotonic_raw",
                "nanoseconds, not steered",
                Ordering { before: Some("vdso"), after: None },
            ),
            Ok(MeasuredClock {
                cost: Err("no rows".into()),
                ..measured(0, 85.0, RateSeen::Reference, pair(0))
            }),
        ),
        (
            clock("perf", "core cycles of this thread", Ordering::both("lfence")),
            Err("not allowed (perf_event_paranoid is 4)".into()),
        ),
    ]
}

fn survey() -> Survey {
    let kind = ClockFinding::ClockBackward {
        clock: "rdtsc".into(),
        times: 4_182,
        readings: 340_304,
        worst_ns: Some(20.8),
    };
    Survey {
        clocks: counters()
            .into_iter()
            .chain(clocks_of_system())
            .map(|(clock, state)| Report { clock, state })
            .collect(),
        timed_by: "tsc".into(),
        against: "CLOCK_MONOTONIC_RAW".into(),
        choice: Choice {
            steady: clock("tsc", "an ordered counter", Ordering::both("lfence")),
            seated: narrow(),
            passed_over: vec![(
                "rdcycle",
                "the system does not let programs read the cycle counter".into(),
            )],
        },
        findings: vec![Finding::new(Severity::Note, kind)],
    }
}

#[test]
fn survey_matches_the_golden_files() {
    let (survey, circumstances) = (survey(), samples::environment());
    matches("clocks", &text::clock_survey(&survey, false, 0.95, &circumstances, &Style::default()));
    matches(
        "clocks-verbose",
        &text::clock_survey(&survey, true, 0.95, &circumstances, &Style::default()),
    );
    let document = keeps_to(
        "clocks.schema.json",
        &json::print(&document::clock_survey(&survey, 0.95, &circumstances)),
    );
    assert_eq!(document["clocks"][1]["ordered_before"], Value::Null);
    let off = &document["clocks"][3]["measured"]["rate_off_ppm"];
    assert!(
        (off["value"].as_f64().unwrap() - 3.0).abs() < 1e-3
            && off["low"].as_f64() < off["value"].as_f64(),
        "{off}"
    );
    assert_eq!(document["chosen"]["seated"], "narrow");
    assert_eq!(document["clocks"][6]["available_reason"], "not allowed (perf_event_paranoid is 4)");
}

#[test]
fn latency_matches_the_golden_file() {
    let values = |base: f64, step: f64| -> Vec<f64> {
        (0..1_000).map(|at| base + step * f64::from(at * at % 7 / 2)).collect()
    };
    let clock = |name: &str, base| ClockLatency {
        clock: name.into(),
        ns: Summary::new(&values(base, 10.0), 10.0, &rate(2.6e9, 1.0), 0.95),
        tick_ns: 0.385,
        quantum: 26,
    };
    let still = ClockLatency {
        clock: "times".into(),
        ns: Summary::new(&[0.0; 1_000], 1e7, &rate(1e2, 0.0), 0.95),
        tick_ns: 1e7,
        quantum: 1,
    };
    let experiment = |name: &str, pauses_ms: &[f64], base| Experiment {
        name: name.into(),
        pauses_ms: pauses_ms.to_vec(),
        clocks: vec![clock("monotonic", base), still.clone()],
    };
    let latency = Latency {
        plan: LatencyPlan { count: 1_000, scale: 1e-3, level: 0.95 },
        experiments: vec![
            experiment("consecutive", &[], 20.0),
            experiment("every_second", &[1.0], 30.0),
            experiment("every_1_and_5_seconds", &[1.0, 5.0], 40.0),
        ],
    };
    let text = text::clock_latency(&latency, &samples::environment(), &Style::default());
    assert!(text.contains("below"), "a clock that saw no step has a bound: {text}");
    matches("clock-latency", &text);
    keeps_to(
        "clock-latency.schema.json",
        &json::print(&document::clock_latency(&latency, &samples::environment())),
    );
}

fn percent(value: f64, sd: f64) -> Option<Uncertain> {
    Some(Uncertain { value, budget: vec![Contribution::standard(Source::Noise, sd, 19.0)] })
}

fn point(aimed_ns: f64, percent: Option<Uncertain>) -> SpanPoint {
    SpanPoint {
        aimed_ns,
        seen_ns: aimed_ns * 1.1,
        percent,
        sd_percent: 3.0,
        used: 4_000,
        left_out: 12,
    }
}

fn compared(name: &str, rate: Rate, step_ns: f64, counts: CountsWhen) -> Compared {
    Compared { name: name.into(), rate, step_ns, counts }
}

fn defined() -> Rate {
    Rate { hz: 1e9, uncertainty_ppm: 0.0, provenance: "defined by the interface".into() }
}

fn fine_comparison() -> Comparison {
    Comparison {
        a: compared("monotonic", defined(), 10.0, CountsWhen::Always),
        b: compared("tsc", rate(2.6e9, 0.3), 10.0, CountsWhen::Always),
        least_span_ns: 170.0,
        points: vec![
            point(2e2, percent(-0.4, 0.9)),
            point(1e4, percent(0.02, 0.001)),
            point(1e6, percent(0.0, 1e-4)),
        ],
        too_short_ns: vec![1e2],
    }
}

fn coarse_comparison() -> Comparison {
    Comparison {
        a: compared("process_cputime", defined(), 4e6, CountsWhen::WhileProcessRuns),
        points: vec![
            point(1e2, percent(-100.0, 4_100.0)),
            SpanPoint { seen_ns: 0.0, sd_percent: f64::NAN, ..point(2e2, None) },
            SpanPoint { used: 0, ..point(1e3, None) },
            point(1e6, percent(12.0, 30.0)),
        ],
        too_short_ns: Vec::new(),
        ..fine_comparison()
    }
}

#[test]
fn comparison_matches_the_golden_files() {
    for (name, comparison) in
        [("clock-comparison", fine_comparison()), ("clock-comparison-coarse", coarse_comparison())]
    {
        matches(
            name,
            &text::clock_comparison(&comparison, 0.95, &samples::environment(), &Style::default()),
        );
        let document = keeps_to(
            "clock-comparison.schema.json",
            &json::print(&document::clock_comparison(&comparison, 0.95, &samples::environment())),
        );
        let told = |at: usize| document["spans"][at]["difference_percent"].is_object();
        let reason = |at: usize| document["spans"][at]["difference_reason"].as_str();
        assert!(
            (0..document["spans"].as_array().unwrap().len())
                .all(|at| told(at) != reason(at).is_some()),
            "{document:#}"
        );
        if name.ends_with("coarse") {
            assert!(
                document["spans"][0]["bound_percent"].as_f64().unwrap() > 4_000.0
                    && !told(0)
                    && told(3),
                "{document:#}"
            );
            assert_eq!(
                (reason(1), reason(2)),
                (Some("the second did not move"), Some("every span was disturbed"))
            );
        }
    }
}

#[test]
fn overhead_matches_the_golden_file() {
    let runs = |wide: i64| -> Vec<EmptyRun> {
        (0..1_000)
            .map(|at| EmptyRun { read: 52 + 26 * (at % 2), total: 78 + wide * (at % 3) })
            .collect()
    };
    let repetitions = [26, 13, 39].map(|wide| Overhead::from_runs(&runs(wide), 26)).to_vec();
    let clock = |name: &str| ClockOverhead {
        clock: name.into(),
        rate: rate(2.596_132e9, 0.3),
        quantum: 26,
        repetitions: repetitions.clone(),
    };
    let report = OverheadReport {
        runs: 1_000,
        clocks: vec![clock("tsc"), clock("rdtscp")],
        priority_raised: true,
    };
    matches(
        "stopwatch-overhead",
        &text::stopwatch_overhead(&report, 0.95, &samples::environment(), &Style::default()),
    );
    let document = keeps_to(
        "stopwatch-overhead.schema.json",
        &json::print(&document::stopwatch_overhead(&report, 0.95, &samples::environment())),
    );
    assert_eq!(document["clocks"][0]["steadiest"], 1);
    let total = &document["clocks"][0]["means"]["total_ticks"];
    assert!(total["low"].as_f64() < total["value"].as_f64(), "{total}");
    let coarse = OverheadReport {
        clocks: vec![ClockOverhead { quantum: 1_000, ..clock("times") }],
        ..report
    };
    let text = text::stopwatch_overhead(&coarse, 0.95, &samples::environment(), &Style::default());
    assert!(text.contains("times steps by"), "{text}");
}

#[test]
fn a_rate_keeps_its_interval() {
    let document =
        serde_json::to_value(document::clock_survey(&survey(), 0.95, &samples::environment()))
            .unwrap();
    let hz = &document["clocks"][0]["measured"]["rate_hz"];
    let estimate = Estimate {
        value: hz["value"].as_f64().unwrap(),
        low: hz["low"].as_f64().unwrap(),
        high: hz["high"].as_f64().unwrap(),
        level: 0.95,
    };
    assert!((estimate.relative() / (1.96 * 0.02e-6) - 1.0).abs() < 0.01, "{estimate:?}");
}
