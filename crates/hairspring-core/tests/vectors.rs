//! The test vectors of spec/vectors, which every language must pass.

use hairspring_core::estimate::{Estimate, Options};
use hairspring_core::judge::{Assessment, Question, Time, assess};
use hairspring_core::observations::read_csv;
use std::path::PathBuf;

/// Numbers may differ in their last digits.
const CLOSE_SHARE: f64 = 1e-9;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors")
}

fn assessed(file: &str) -> Assessment {
    let table = read_csv(std::fs::File::open(folder().join(file)).unwrap()).unwrap();
    let options = Options { level: 0.95, ..Options::default() };
    assess(&table, &Question { options, ..Question::default() }).unwrap()
}

fn in_unit(time: &Time, unit: &str) -> Option<Estimate> {
    match unit {
        "ns" => time.ns.as_ref().map(|ns| ns.estimate(0.95)),
        "cycles" => time.cycles.as_ref().map(|cycles| cycles.estimate(0.95)),
        _ => time.ns.is_none().then_some(time.ticks),
    }
}

#[test]
fn every_expected_estimate_is_found() {
    let mut lines = csv::Reader::from_path(folder().join("expected.csv")).unwrap();
    let mut checked_estimates = 0;
    for line in lines.records().map(Result::unwrap) {
        let [file, level, series, component, unit, value, low, high, below] =
            std::array::from_fn(|at| &line[at]);
        assert_eq!(level, "0.95");
        let assessment = assessed(file);
        let series = assessment
            .series
            .iter()
            .find(|one| one.name == series)
            .unwrap_or_else(|| panic!("{line:?}"));
        let part = series
            .components
            .iter()
            .find(|part| part.name == component)
            .unwrap_or_else(|| panic!("{line:?}"));
        let estimate = in_unit(&part.time, unit).unwrap_or_else(|| panic!("{line:?}"));
        let expected = [value, low, high].map(|text| text.parse::<f64>().unwrap());
        for (value, expected) in
            [estimate.value, estimate.low, estimate.high].into_iter().zip(expected)
        {
            assert!(
                (value - expected).abs() <= CLOSE_SHARE * expected.abs().max(1e-3),
                "{line:?}: {estimate:?}"
            );
        }
        assert_eq!(part.time.bound.is_some(), below == "1", "{line:?}");
        checked_estimates += 1;
    }
    assert!(checked_estimates > 12, "{checked_estimates}");
}
