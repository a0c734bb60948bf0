use super::*;
use crate::analysis::tests::of_one_path;

#[test]
fn one_thing_is_singular() {
    assert_eq!(
        (many(1, "block"), many(0, "block"), many(1_200, "input")),
        ("1 block".into(), "0 blocks".into(), "1,200 inputs".into())
    );
}

#[test]
fn coefficients_of_sums_have_three_digits() {
    assert_eq!(
        [0.499_985_884_080_065_5, -1.0 / 3.0, 0.999_99, 1_234.0].map(rounded),
        [0.5, -0.333, 1.0, 1_234.0]
    );
    let parts = [("B1", 1.0), ("B2", 1.0), ("B3", 0.499_985_884_080_065_5)]
        .map(|(name, coefficient)| (name.to_owned(), coefficient));
    assert_eq!(grouped(&parts, &HashMap::from([("B1", 0), ("B2", 0)])), "(B1 B2) + 0.5 B3");
}

#[test]
fn groups_that_run_together_are_one_item() {
    let group = |blocks: &[usize], once| Missing::Inseparable { blocks: blocks.to_vec(), once };
    let said = messages_and_remedies(&[
        group(&[0, 3], true),
        group(&[1, 2], false),
        group(&[4, 5], false),
    ]);
    assert_eq!(said.len(), 2);
    assert_eq!(said[1].0, "run equally often in every whole call: B2 B3; B5 B6");
}

#[test]
fn the_call_is_without_the_overhead_or_says_that_it_is_with_it() {
    let text_of_call = call(&of_one_path(true), Some(0.25));
    assert!(
        text_of_call.starts_with("19.")
            && text_of_call.contains(" ns on average; timing overhead left out: 80"),
        "{text_of_call}"
    );
    let unknown = call(&of_one_path(false), Some(0.25));
    assert!(
        unknown
            .starts_with("39.5 ns on average with the timing overhead, which cannot be separated"),
        "{unknown}"
    );
    let none = call(&Analysis { mean_call: 70.0, ..of_one_path(true) }, None);
    assert!(none.starts_with("no longer than the timing overhead: 80"), "{none}");
}

fn model_of(explained: Option<f64>, departure: Option<f64>, carried: Option<bool>) -> String {
    model(&Quality {
        explained,
        departure,
        spare: 1,
        carried,
        negative: carried == Some(false) && departure.is_none_or(|share| share < 0.01),
    })
    .0
}

#[test]
fn shares_round_down_and_are_not_negative() {
    assert!(model_of(Some(0.999_999), Some(0.001), Some(true)).contains("explains 99.99 % of"));
    assert!(model_of(Some(-1e-10), Some(0.2), Some(false)).contains("explains nothing of"));
    let alike = model_of(None, Some(1.3e-16), Some(true));
    assert!(
        alike.contains("departs from them by below 0.01 %") && !alike.contains("add up"),
        "{alike}"
    );
}

#[test]
fn an_unchecked_sum_does_not_claim_to_add_up() {
    let text = model_of(None, None, None);
    assert!(text.contains("NOTHING CHECKS THE SUM") && !text.contains("add up"), "{text}");
    assert!(model_of(Some(0.98), Some(0.03), Some(true)).contains("add up, roughly"));
    assert!(model_of(Some(0.5), Some(0.3), Some(false)).contains("DO NOT ADD UP"));
    assert!(model_of(None, None, Some(false)).contains("came out negative"));
    assert!(
        model_of(Some(0.999), Some(0.005), Some(false))
            .contains("DO NOT ADD UP: a time came out negative")
    );
}
