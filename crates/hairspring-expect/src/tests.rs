//! The language as a whole: the figures of the paper, units, errors with their places, and both
//! propagations beside each other.

use super::*;
use proptest::prelude::*;

fn value(text: &str) -> Quantity {
    evaluate(text).unwrap_or_else(|fault| panic!("{fault}"))
}

#[track_caller]
fn is_close(value: f64, wanted_value: f64) {
    assert!(
        (value - wanted_value).abs() <= 1e-9 * wanted_value.abs().max(1e-300),
        "{value} is not {wanted_value}"
    );
}

/// The message and the character that it points at.
fn fault(text: &str) -> (String, usize) {
    let fault = evaluate(text).map(|value| value.to_string()).unwrap_err();
    (fault.message, fault.at)
}

#[test]
fn figure_17_subtracts_readings() {
    let systematic = value("14 +- 2 us systematic - 10 +- 2 us systematic");
    assert_eq!(
        (systematic.value, systematic.stochastic, systematic.systematic),
        (4_000.0, 0.0, 4_000.0)
    );
    let stochastic = value("14 +- 2 us - 10 +- 2 us");
    assert_eq!((stochastic.value, stochastic.systematic), (4_000.0, 0.0));
    // The paper gives 2.8 us.
    assert_eq!(format!("{:.1}", stochastic.stochastic / 1e3), "2.8");
    let both = value("14 us +- 2 us systematic - (10 us +- 2 us)");
    assert_eq!((both.stochastic, both.systematic), (2_000.0, 2_000.0));
}

#[test]
fn figure_12_adds_instructions_and_accesses() {
    assert_eq!(value("(10+50+20+10+10) * 5 ns + 6 * 190 ns").value, 1_640.0);
    assert_eq!(
        value("(10 + 50 + 20 + 10 + 10) * 5 ns + (1 + 2 + 1 + 1 + 1) * 190 ns").to_string(),
        "1640 ns"
    );
    // Figure 9: a cache line after 22 cycles and 8 words of 2 cycles, at 200 MHz.
    assert_eq!(value("(22 + 8 * 2) cycles / 200 MHz").to_string(), "190 ns");
}

#[test]
fn operators_bind_as_in_arithmetic() {
    for (text, wanted_value) in [
        ("2 + 3 * 4", 14.0),
        ("2 - 3 - 4", -5.0),
        ("12 / 2 / 3", 2.0),
        ("2 ^ 3 ^ 2", 512.0),
        ("-2 ^ 2", -4.0),
        ("2 ^ -1", 0.5),
        ("2 * -3", -6.0),
        ("10 + -2", 8.0),
        ("--2", 2.0),
        ("((2))", 2.0),
        ("1e3 + .5", 1_000.5),
        ("50 %", 0.5),
        ("(1 + 2) * (3 + 4)", 21.0),
    ] {
        is_close(value(text).value, wanted_value);
    }
}

#[test]
fn units_convert_and_combine() {
    for (text, wanted_value, dimension) in [
        ("1 s", 1e9, Dimension::TIME),
        ("3 ms + 2 us + 1 ns + 500 ps", 3_002_001.5, Dimension::TIME),
        ("5 \u{b5}s + 5 \u{3bc}s", 10_000.0, Dimension::TIME),
        ("3 cycles / 3 GHz", 1.0, Dimension::TIME),
        ("24 ticks / 24 MHz", 1_000.0, Dimension::TIME),
        ("10 ns * 3.5 cycles/ns", 35.0, Dimension::CYCLES),
        ("1 / 5 ns", 0.2, Dimension::FREQUENCY),
        ("500 Hz * 10 us", 0.005, Dimension::NUMBER),
        ("64 bytes / (16 bytes/cycle)", 4.0, Dimension::CYCLES),
        ("2 KiB / 1 kB", 2.048, Dimension::NUMBER),
        ("(2 + 3) us", 5_000.0, Dimension::TIME),
        ("(9 * ns^2) ^ 0.5", 3.0, Dimension::TIME),
        ("100 counts * 5 ns", 500.0, Dimension::TIME),
    ] {
        let result = value(text);
        is_close(result.value, wanted_value);
        assert_eq!(result.dimension, dimension, "{text}");
    }
}

#[test]
fn half_width_is_of_the_sum_before_it() {
    assert_eq!(value("(10+50+20) * 5 ns +- 2 ns").stochastic, 2.0);
    is_close(value("(5 +- 1 ns) * 80").stochastic, 80.0);
    is_close(value("5 ns +- 10 %").stochastic, 0.5);
    is_close(value("100 ns + 20 ns +- 10 %").stochastic, 12.0);
    is_close(value("50 % +- 2 %").stochastic, 0.02);
    is_close(value("1000 +- 10 %").stochastic, 100.0);
    is_close(value("14 \u{b1} 2 us").stochastic, 2_000.0);
    is_close(value("-14 +- 2 us").stochastic, 2_000.0);
    is_close(value("(14 +- 2 systematic) us").systematic, 2_000.0);
}

#[test]
fn slopes_are_those_of_calculus() {
    is_close(value("(10 +- 1) ^ 2").stochastic, 20.0);
    is_close(value("100 / (10 +- 1)").stochastic, 1.0);
    is_close(value("(10 +- 3) * (4 +- 1)").stochastic, (12.0f64.powi(2) + 10.0f64.powi(2)).sqrt());
    is_close(value("(10 +- 3 systematic) * (4 +- 1 systematic)").systematic, 22.0);
}

#[test]
fn named_value_is_the_same_value_everywhere() {
    let mut model = Model::default();
    model.define("x", "10 +- 1 ns").unwrap();
    let difference = model.evaluate("x - x").unwrap();
    assert_eq!((difference.value, difference.stochastic), (0.0, 0.0));
    assert_eq!(model.evaluate("x + x").unwrap().stochastic, 2.0);
    assert_eq!(model.define("ns", "1").unwrap_err().at, 0);
    assert!(
        model.define("systematic", "1").is_err()
            && model.define("1x", "1").is_err()
            && model.define("", "1").is_err()
    );
    assert!(model.evaluate("x + y").unwrap_err().message.contains("unknown name `y`"));
    assert!(model.evaluate("3 x").unwrap_err().message.contains("operator before `x`"));
    for number in 0..MOST_NAMES - 1 {
        model.define(&format!("name{number}"), "1").unwrap();
    }
    assert!(model.define("another", "1").unwrap_err().message.contains("too many"));
}

#[test]
fn errors_point_at_the_character() {
    for (text, part, at) in [
        ("3 ns + 2 m", "unknown unit `m`", 9),
        ("3 ns + 2 cycles", "core cycles cannot be added to a time", 5),
        ("3 ns - 2", "a plain number cannot be subtracted from a time", 5),
        ("1 / 0", "division by zero", 2),
        ("10 / (1 +- 2)", "contains zero", 3),
        ("10 / (1 ns +- 2 ns systematic - 0.5 ns)", "contains zero", 3),
        ("(1 +- 2) ^ -1", "contains zero", 9),
        ("(1 + 2", "never closed", 0),
        ("1 + 2)", "never opened", 5),
        ("(1 2)", "expected an operator", 3),
        ("", "is empty", 0),
        ("  ", "is empty", 0),
        ("1 +", "missing at the end", 3),
        ("* 2", "missing before `*`", 0),
        ("1 + * 2", "missing before `*`", 4),
        ("()", "missing before this parenthesis", 1),
        ("2 ^ (1 ns)", "an exponent is a plain number, not a time", 2),
        ("5 ns^2", "two meanings", 4),
        ("(2 ns) ^ 0.5", "whole exponents", 7),
        ("2 ^ (1 +- 1)", "cannot be uncertain", 2),
        ("(0 - 2) ^ 0.5", "no finite value", 8),
        ("1e300 * 1e300", "no finite value", 6),
        ("10 +- -2", "cannot be negative", 6),
        ("10 ns +- 2 cycles", "the half-width is core cycles, and the value is a time", 6),
        ("10 +- (2 +- 1)", "uncertain itself", 6),
        ("+- 2", "a value is missing", 0),
        ("10 systematic", "`systematic` stands behind a half-width", 3),
        ("systematic", "stands behind a half-width", 0),
        ("3 cycels", "did you mean `cycles`", 2),
        ("3 ns systematic", "`systematic` stands behind a half-width", 5),
        ("(3 ns stochastic)", "`stochastic` stands behind a half-width", 6),
        ("14 +- 2 us systematc", "did you mean `systematic`", 11),
        ("3,5 ns", "the decimal separator is a point", 1),
        ("3 \u{4f60}", "unknown unit", 2),
        ("3 ns \u{0}", "unexpected character", 5),
    ] {
        let (message, found) = fault(text);
        assert!(message.contains(part) && found == at, "{text:?}: {found}: {message}");
    }
}

#[test]
fn huge_and_deep_texts_are_refused() {
    assert!(fault(&"1+".repeat(5_000)).0.contains("at most 4096"));
    assert!(
        fault(&format!("{}1{}", "(".repeat(1_000), ")".repeat(1_000)))
            .0
            .contains("nested too deeply")
    );
    assert!(fault(&format!("2{}", "^2".repeat(1_000))).0.contains("nested too deeply"));
    assert!(fault(&format!("1{}", " +- 1".repeat(100))).0.contains("too many uncertain values"));
    assert_eq!(value(&format!("1{}", "+1".repeat(2_000))).value, 2_001.0);
    assert_eq!(value(&format!("{}1", "-".repeat(4_000))).value, 1.0);
    let mut model = Model::default();
    let long = format!("1{}", "+1".repeat(2_000));
    model.define("a", &long).unwrap();
    assert!(model.define("b", &long).unwrap_err().message.contains("too long"));
}

#[test]
fn both_propagations_agree_where_the_model_is_straight() {
    for text in [
        "14 +- 2 us - 10 +- 2 us",
        "14 +- 2 us systematic - 10 +- 2 us systematic",
        "(10+50+20+10+10) * (5 +- 0.2 ns) + 6 * (190 +- 10 ns systematic)",
        "(100 +- 2) * (5 +- 0.1 ns systematic) / (3 +- 0.05)",
        "(10 +- 0.1) ^ 2 + (3 +- 0.1 systematic)",
        "1640 ns",
        "0 +- 1 ns",
    ] {
        let quantity = value(text);
        let half = quantity.stochastic + quantity.systematic;
        assert!(quantity.monte_carlo.agrees, "{text}: {quantity:?}");
        assert!(
            (quantity.monte_carlo.high - quantity.monte_carlo.low - 2.0 * half).abs() <= 0.1 * half,
            "{text}: {quantity:?}"
        );
        assert_eq!(quantity.expected(LEVEL, 1.0).above, quantity.expected(LEVEL, 1.0).below);
    }
}

#[test]
fn bent_model_has_the_ends_by_monte_carlo_on_either_side() {
    let bent_quantity = value("1 / (3 +- 2.9 systematic)");
    assert!(!bent_quantity.monte_carlo.agrees, "{bent_quantity:?}");
    // At the bounds the quotient is 1 / 5.9 and 1 / 0.1.
    let expected = bent_quantity.expected(0.95, 1.0);
    let interval = expected.interval(0.95);
    assert!(
        (interval.low - 1.0 / 5.9).abs() < 1e-9 && (interval.high - 10.0).abs() < 1e-9,
        "{expected:?}"
    );
    // No quotient is near 0: the wide side is not mirrored to the other one.
    let drawn = value("1000 cycles / (1 +- 0.8)").expected(0.95, 1.0).interval(0.95);
    assert!(drawn.low > 450.0 && drawn.low < 650.0 && drawn.high > 3_000.0, "{drawn:?}");
    // The lowest square is that of 0, and first order sees no uncertainty at all.
    let square = value("(0 +- 1 systematic) ^ 2 + (0 +- 2) ^ 2").expected(0.95, 1.0).interval(0.95);
    assert!(square.low == 0.0 && square.high > 1.0, "{square:?}");
    // A root of what may be negative has no bounds.
    let unbounded = value("(1 +- 2 systematic) ^ 0.5");
    assert_eq!(unbounded.expected(0.95, 1.0).above.systematic, f64::INFINITY);
}

#[test]
fn expectation_without_uncertainty_has_two_percent() {
    let expected = value("3 cycles").expected(0.95, 1.0);
    assert_eq!(
        (expected.value, expected.above.stochastic, expected.below.systematic),
        (3.0, 0.0, 0.06)
    );
    assert_eq!(value("3 +- 0 cycles").expected(0.95, 1.0).above.total(), 0.0);
    let wider = value("3 +- 1 us").expected(0.99, 1e3);
    assert!(
        (wider.value - 3.0).abs() < 1e-12 && (wider.above.stochastic - 1.3142).abs() < 1e-3,
        "{wider:?}"
    );
}

proptest! {
    #[test]
    fn quantities_round_trip(number in -1e12..1e12f64, half in 0.0..1e6f64,
        at in 0..unit::UNITS.len(), systematic: bool) {
        let unit = unit::UNITS[at].name;
        let kind = if systematic { "systematic" } else { "stochastic" };
        let first = value(&format!("({number:e} +- {half:e} {kind}) {unit}"));
        let again = value(&first.to_string());
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-14 * a.abs();
        prop_assert_eq!(first.dimension, again.dimension);
        prop_assert!(near(first.value, again.value) && near(first.stochastic, again.stochastic),
            "{} {}", first, again);
        prop_assert!(near(first.systematic, again.systematic) && first.is_stated == again.is_stated,
            "{} {}", first, again);
    }

    #[test]
    fn composed_units_round_trip(a in 0..unit::UNITS.len(), b in 0..unit::UNITS.len(),
        number in 1e-3..1e3f64) {
        let first = value(&format!("{number} * {}*{}/{}", unit::UNITS[a].name, unit::UNITS[b].name,
            unit::UNITS[b].name));
        let again = value(&first.to_string());
        prop_assert_eq!(first.dimension, again.dimension);
        prop_assert!((first.value - again.value).abs() <= 1e-12 * first.value.abs(), "{}", first);
    }

    #[test]
    fn any_text_ends_with_a_value_or_a_place(text in "[0-9a-z+*/^() .%-]{0,40}|\\PC{0,40}") {
        if let Err(fault) = evaluate(&text) {
            prop_assert!(fault.at <= text.len() && !fault.message.is_empty());
        }
    }
}
