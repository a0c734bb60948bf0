//! The vectors that every language must pass, through `fit --json`: spec/vectors.

use crate::command::fit;
use std::path::PathBuf;

/// Numbers may differ in their last digits.
const CLOSE_SHARE: f64 = 1e-9;

#[test]
fn every_expected_estimate_is_found() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors");
    let text = std::fs::read_to_string(folder.join("expected.csv")).unwrap();
    let mut seen = 0;
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let &[file, level, series, component, unit, value, low, high, below] = fields.as_slice()
        else {
            panic!("{line}")
        };
        let document = fit(std::fs::read(folder.join(file)).unwrap()).document().0;
        let result =
            document["results"].as_array().unwrap().iter().find(|result| result["name"] == series);
        let figure = &result.unwrap_or_else(|| panic!("{line}"))["components"][component];
        let estimate = &figure[if unit == "ns" { "time_ns" } else { unit }];
        for (name, expected) in [("value", value), ("low", low), ("high", high), ("level", level)] {
            let expected: f64 = expected.parse().unwrap();
            let found = estimate[name]
                .as_f64()
                .unwrap_or_else(|| panic!("{line}: no {name} in {figure:#}"));
            assert!(
                (found - expected).abs() <= CLOSE_SHARE * expected.abs().max(1e-3),
                "{line}: {name} is {found}"
            );
        }
        assert_eq!(figure["below_resolution"], below == "1", "{line}");
        seen += 1;
    }
    assert!(seen > 12, "{seen}");
}
