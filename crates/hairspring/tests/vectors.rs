//! The vectors that every language must pass, through the crate that Rust programs use:
//! spec/vectors.

use hairspring::{Assessment, Estimate, fit, read_csv};
use std::fs::{File, read_to_string};
use std::path::PathBuf;

/// Numbers may differ in their last digits.
const CLOSE_SHARE: f64 = 1e-9;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors")
}

/// The estimate of a component in a unit, and whether it is below resolution.
fn estimate_of(
    assessment: &Assessment,
    series: &str,
    component: &str,
    unit: &str,
    level: f64,
) -> Option<(Estimate, bool)> {
    let series = assessment.series.iter().find(|one| one.name == series)?;
    let time = &series.components.iter().find(|part| part.name == component)?.time;
    let estimate = match unit {
        "ns" => time.ns.as_ref()?.estimate(level),
        "cycles" => time.cycles.as_ref()?.estimate(level),
        _ => time.ns.is_none().then_some(time.ticks)?,
    };
    Some((estimate, time.bound.is_some()))
}

#[test]
fn every_expected_estimate_is_found() {
    let text = read_to_string(folder().join("expected.csv")).unwrap();
    let mut checked_estimates = 0;
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let &[file, level, series, component, unit, value, low, high, below] = fields.as_slice()
        else {
            panic!("{line}")
        };
        let table = read_csv(File::open(folder().join(file)).unwrap()).unwrap();
        let level = level.parse().unwrap();
        let (estimate, below_resolution) =
            estimate_of(&fit(&table).unwrap(), series, component, unit, level)
                .unwrap_or_else(|| panic!("{line}"));
        let expected = [value, low, high].map(|text| text.parse::<f64>().unwrap());
        for (value, expected) in
            [estimate.value, estimate.low, estimate.high].into_iter().zip(expected)
        {
            assert!(
                (value - expected).abs() <= CLOSE_SHARE * expected.abs().max(1e-3),
                "{line}: {estimate:?}"
            );
        }
        assert_eq!(below_resolution, below == "1", "{line}");
        checked_estimates += 1;
    }
    assert!(checked_estimates > 12, "{checked_estimates}");
}
