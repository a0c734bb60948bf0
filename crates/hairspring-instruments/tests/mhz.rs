//! Compares reports on the core clock with the texts in `golden/`, and checks the document against
//! the schema. Nothing is measured.

#[path = "../../hairspring-view/tests/samples/mod.rs"]
mod samples;

use expect_test::expect_file;
use hairspring_core::Estimate;
use hairspring_core::estimate::{Contribution, Source};
use hairspring_core::judge::{Finding, Severity};
use hairspring_core::observations::{ClockSpread, Rate};
use hairspring_instruments::mhz::levels::Level;
use hairspring_instruments::mhz::{ChainUnits, CoreClock, CoreClockFinding};
use hairspring_instruments::mhz::{document, text};
use hairspring_result::{Environment, json};
use hairspring_view::Style;
use std::path::Path;
use std::time::Duration;

fn estimate(value: f64, half: f64) -> Estimate {
    Estimate { value, low: value - half, high: value + half, level: 0.95 }
}

fn steady(cpu: usize) -> CoreClock {
    let chain = |name: &str, cycles, integer| ChainUnits {
        name: name.into(),
        cycles: estimate(cycles, 0.002),
        integer,
    };
    CoreClock {
        cpu,
        core_hz: estimate(3.694_81e9, 4.1e5),
        budget: vec![
            Contribution::bound(Source::Noise, 4e5),
            Contribution::bound(Source::Rate, 1e4),
        ],
        clock: "tsc".into(),
        rate: Rate {
            hz: 2.596_132_2e9,
            uncertainty_ppm: 0.5,
            provenance: "measured against a quartz over 40 ms".into(),
        },
        chains: vec![
            chain("imul", 3.0, Some(3)),
            chain("xor", 1.0003, Some(1)),
            chain("load", 3.9991, Some(4)),
        ],
        factor_known: true,
        levels: vec![Level { value: estimate(3.694_81e9, 4.1e5), share: 1.0 }],
        rounds: 1_096,
        elapsed: Duration::from_millis(43),
        of_runs: None,
        findings: Vec::new(),
    }
    .beside_other_runs(Some(ClockSpread { sd: 0.012, runs: 24 }))
}

fn stepping(cpu: usize) -> CoreClock {
    let mut clock = steady(cpu);
    clock.levels = vec![
        Level { value: estimate(3.7e9, 1e6), share: 0.72 },
        Level { value: estimate(3.3e9, 2e6), share: 0.28 },
    ];
    clock.chains[2] =
        ChainUnits { name: "load".into(), cycles: estimate(4.512, 0.01), integer: None };
    clock.factor_known = false;
    clock.findings = vec![
        Finding::new(Severity::Warning, CoreClockFinding::FactorUnknown { chains: 2 }),
        Finding::new(
            Severity::Note,
            CoreClockFinding::OffLattice { chains: vec!["load (4.512 cycles)".into()] },
        ),
    ];
    clock
}

fn circumstances() -> Environment {
    Environment { clock: None, pinned_cpu: None, ..samples::environment() }
}

#[test]
fn reports_match_the_golden_files() {
    let busy = Err("system too busy: the speed is uncertain by 3.1 %, in 4 tries; try again, or \
                    another CPU (--cpu)"
        .to_owned());
    let all_reports = [
        ("mhz", vec![(1, Ok(steady(1)))]),
        ("mhz-all", vec![(0, Ok(stepping(0))), (1, Ok(steady(1))), (2, busy)]),
    ];
    for (name, cpus) in all_reports {
        let report = text::mhz(&cpus, None, &circumstances(), &Style::default());
        assert!(report.lines().all(|line| line.chars().count() <= 80), "{report}");
        expect_file![
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"))
        ]
        .assert_eq(&report);
        let document =
            serde_json::from_str(&json::print(&document::mhz(&cpus, None, &circumstances())))
                .unwrap();
        let errors: Vec<String> =
            jsonschema::validator_for(&json::schema::<document::MhzDocument>())
                .unwrap()
                .iter_errors(&document)
                .map(|error| error.to_string())
                .collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn lines_of_a_watch_name_further_levels() {
    let line = text::mhz_line(1.25, Some(&Ok(stepping(0))));
    assert!(
        line.contains("1.25") && line.contains("3694.8") && line.trim_end().ends_with("also 3300"),
        "{line}"
    );
    assert!(text::mhz_line(0.0, Some(&Err("system too busy".into()))).contains("too busy"));
}
