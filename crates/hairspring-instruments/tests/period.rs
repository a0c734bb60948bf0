//! Reports of a cyclic task from made-up wake-ups: golden texts, and JSON against its schema.
//! `UPDATE_EXPECT=1` rewrites both.

#[path = "../../hairspring-view/tests/samples/mod.rs"]
mod samples;

use expect_test::expect_file;
use hairspring_core::judge::{Finding, Severity};
use hairspring_core::observations::Rate;
use hairspring_host::clock::{Clock, Reading, Width, fake};
use hairspring_instruments::period::exchange::Answers;
use hairspring_instruments::period::frame::{Frame, Kind};
use hairspring_instruments::period::partner::Responded;
use hairspring_instruments::period::summary::{Ended, Exchange, summarise};
use hairspring_instruments::period::system::Known;
use hairspring_instruments::period::tally::{Bins, Tally, Tick, Wake};
use hairspring_instruments::period::task::{Limit, Stop};
use hairspring_instruments::period::{PeriodFinding, PeriodReport};
use hairspring_instruments::period::{document, text};
use hairspring_result::json;
use hairspring_view::Style;
use serde_json::Value;
use std::path::Path;

const PERIOD: u64 = 100_000;

fn tick(ns: f64) -> Tick {
    Tick { ns, width: Width::FULL }
}

fn rates() -> [Rate; 2] {
    let rate =
        |hz, uncertainty_ppm, how: &str| Rate { hz, uncertainty_ppm, provenance: how.into() };
    [
        rate(2.5e9, 0.02, "measured against a quartz over 211 ms"),
        rate(1e9, 0.0, "defined by the interface"),
    ]
}

fn ended(stop: Stop, limit: Option<Limit>) -> Ended {
    let reading = Reading {
        quantum: 1,
        back_to_back_min: 20,
        back_to_back_mean: 20.0,
        steps: 100,
        backward: 0,
    };
    let known_clock = |name, nominal_hz| Known {
        clock: Clock { nominal_hz, ..Clock::new(name, "", fake::read) },
        reading,
    };
    Ended {
        period_ns: PERIOD,
        known: [known_clock("tsc", None), known_clock("monotonic", Some(1e9))],
        rates: rates(),
        stop,
        limit,
        level: 0.95,
    }
}

/// Wake-ups between 4 and 6 us late; every 50th is later by `late_ns`, and skips the cycles that it
/// misses.
fn tally(cycles: u64, late_ns: u64) -> Tally {
    let (mut noise, mut cycle) = (samples::Noise(3), 0);
    let mut tally = Tally::new([0.4, 1.0].map(tick), &Bins::for_period(PERIOD));
    while cycle < cycles {
        let more = if cycle % 50 == 49 { late_ns } else { 0 };
        let latency = (5_000.0 + 1_000.0 * noise.next()) as u64 + more;
        let due_ns = 1_000_000 + cycle * PERIOD;
        let wake_ns = due_ns + latency;
        tally.push(Wake {
            cycle,
            due_ns,
            wake_ns,
            ticks: [wake_ns * 5 / 2 + (20.0 * noise.next()) as u64, wake_ns],
        });
        cycle += 1 + latency / PERIOD;
    }
    tally.finish(cycles);
    tally
}

/// A hundred frames: every tenth is lost, every eleventh answered late, one answered twice.
fn exchange() -> Exchange {
    let mut answers = Answers::new(1, tick(0.4), &Bins::for_period(PERIOD));
    for cycle in 0..100 {
        answers.sent(cycle, 0, PERIOD);
        let late = cycle % 11 == 10;
        let bytes = Frame { kind: Kind::Answer, session: 1, number: cycle }.bytes();
        for _ in 0..u64::from(cycle % 10 != 9) + u64::from(cycle == 50) {
            answers.received(
                &bytes,
                if late { 300_000 } else { 60_000 + 100 * cycle },
                if late { PERIOD + 1 } else { PERIOD / 2 },
            );
        }
    }
    Exchange::new(&answers, "192.0.2.7:47110".into(), 0.95, &rates()[0])
}

fn report(tally: &Tally, exchange: Option<Exchange>, ended_run: &Ended) -> PeriodReport {
    let clock = |at: usize| {
        let clock = hairspring_result::Clock::named(ended_run.known[at].clock.name, "");
        clock.with_rate(&ended_run.rates[at]).with_reading(1, 20.0)
    };
    let mut environment = samples::environment();
    environment.clock = Some(clock(0));
    (environment.compiler, environment.compiler_flags) = (None, None);
    environment =
        environment.with_reference(Err("a period is measured in time, not in core cycles".into()));
    PeriodReport {
        summary: summarise(tally, exchange, ended_run).unwrap(),
        environment,
        second_clock: clock(1),
        real_time: Ok(80),
        least_cycle_ns: 3_200,
        elapsed_ms: 200.0,
        stolen_ms: Some(0.0),
        switches: 1,
    }
}

fn quiet() -> PeriodReport {
    report(
        &tally(2_000, 0),
        None,
        &ended(Stop::Done, Some(Limit { latency_ns: 50_000.0, ends_run: false })),
    )
}

fn all() -> Vec<(&'static str, PeriodReport)> {
    let limit = Some(Limit { latency_ns: 50_000.0, ends_run: true });
    let mut busy =
        report(&tally(2_000, 340_000), Some(exchange()), &ended(Stop::LimitExceeded, limit));
    busy.real_time =
        Err("cannot run at the real-time priority 80 (SCHED_FIFO): not permitted".into());
    let what = busy.real_time.clone().unwrap_err();
    busy.summary.findings.push(Finding::new(Severity::Note, PeriodFinding::NotPrepared { what }));
    let mut hopeless = tally(500, 0);
    hopeless.finish(2_000);
    vec![
        ("period", quiet()),
        ("period-busy", busy),
        ("period-untrusted", report(&hopeless, None, &ended(Stop::Interrupted, None))),
    ]
}

fn file(path: &str, text: &str) {
    expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join(path)].assert_eq(text);
}

fn keeps_to(schema: &Value, document: &str) -> Value {
    let document: Value = serde_json::from_str(document).unwrap();
    let errors: Vec<String> = jsonschema::validator_for(schema)
        .unwrap()
        .iter_errors(&document)
        .map(|e| e.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    document
}

#[test]
fn reports_match_the_golden_files_and_fit_the_page() {
    for (name, report) in all() {
        let text = text::period(&report, &Style::default());
        for line in text.lines() {
            assert!(line.chars().count() <= 80 && !line.ends_with(' '), "{line:?}");
        }
        file(&format!("tests/golden/{name}.txt"), &text);
    }
}

#[test]
fn the_published_schemas_are_the_generated_ones() {
    file(
        "../../spec/period.schema.json",
        &json::print(&json::schema::<document::PeriodDocument>()),
    );
    file(
        "../../spec/responder.schema.json",
        &json::print(&json::schema::<document::ResponderDocument>()),
    );
}

#[test]
fn every_document_keeps_to_its_schema() {
    for (_, report) in all() {
        let json = keeps_to(
            &json::schema::<document::PeriodDocument>(),
            &json::print(&document::period(&report)),
        );
        assert_eq!(json["schema"], "hairspring/period/2");
        let counted: u64 = json["latency"]["histogram"]["counts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|count| count.as_u64().unwrap())
            .sum();
        let above = json["latency"]["histogram"]["above"].as_u64().unwrap();
        assert_eq!(counted + above, json["cycles"].as_u64().unwrap());
        assert_eq!(
            above,
            json["outliers"].as_array().unwrap().len() as u64
                + json["outliers_not_listed"].as_u64().unwrap()
        );
    }
    let done = Responded { answered: 7, short: 1, foreign: 2, not_sent: 0 };
    let json = keeps_to(
        &json::schema::<document::ResponderDocument>(),
        &json::print(&document::responder(&done, "0.0.0.0:47110")),
    );
    assert_eq!((&json["answered"], &json["foreign"]), (&7.into(), &2.into()));
    assert!(text::responder(&done, "0.0.0.0:47110", &Style::default()).contains("7 frames"));
}

#[test]
fn non_finite_numbers_are_null() {
    let mut report = quiet();
    report.summary.latency.sd_ns = f64::NAN;
    report.summary.latency.mean_ns.high = f64::INFINITY;
    let json = keeps_to(
        &json::schema::<document::PeriodDocument>(),
        &json::print(&document::period(&report)),
    );
    assert_eq!(
        (&json["latency"]["sd_ns"], &json["latency"]["mean_ns"]["high"]),
        (&Value::Null, &Value::Null)
    );
    text::period(&report, &Style::default());
}

#[test]
fn the_lines_of_a_printed_histogram_count_every_cycle_once() {
    for (_, report) in all() {
        let text = text::period(&report, &Style::default());
        let shown_lines = text
            .lines()
            .skip_while(|line| !line.starts_with("  latency   from"))
            .take_while(|line| !line.is_empty());
        let number = |line: &str| {
            line.split_whitespace()
                .rfind(|word| !word.contains('#'))
                .unwrap()
                .replace(',', "")
                .parse::<u64>()
        };
        let sum: u64 = shown_lines.map(|line| number(line).unwrap()).sum();
        assert_eq!(sum, report.summary.cycles, "{text}");
    }
}

#[test]
fn a_run_that_missed_most_cycles_says_so_before_any_number() {
    let text = text::period(&all()[2].1, &Style::default());
    assert!(text.find("NOT TO BE TRUSTED").unwrap() < text.find("error by tsc").unwrap());
}
