use super::*;

fn setup(figure: Option<&str>) -> Setup {
    let figure = figure.map(str::to_owned);
    Setup {
        verb: None,
        program: None,
        series: None,
        component: None,
        figure,
        unit: None,
        repeat: None,
        timeout: None,
    }
}

#[test]
fn figures_have_their_unit_and_the_spread_of_runs() {
    let document = |value: f64| {
        format!(
            r#"{{"x": {{"core_hz": {{"value": {value}, "low": 1.0, "high": 1e10, "level": 0.95}}, "n_ns": {value}}}}}"#
        )
    };
    let texts = [document(3e9), document(3.2e9)];
    let measurement = measured(&texts, &setup(Some("/x/n_ns")), Dimension::TIME, 0.95).unwrap();
    assert_eq!(
        (measurement.estimate.value, measurement.runs, measurement.trusted),
        (3.1e9, 2, true)
    );
    // Two runs: Student's quantile for one degree of freedom is 12.7.
    assert!(
        (measurement.estimate.half_width() / (12.706 * 0.1e9) - 1.0).abs() < 1e-3,
        "{measurement:?}"
    );
    let measurement =
        measured(&texts[..1], &setup(Some("/x/core_hz")), Dimension::FREQUENCY, 0.95).unwrap();
    assert!((measurement.estimate.value - 3.0).abs() < 1e-12, "{measurement:?}");
}

#[test]
fn figures_that_are_not_there_are_refused_with_the_reason() {
    let texts = [r#"{"x": {"n_ns": 3e9}}"#.to_owned()];
    assert!(
        measured(&texts, &setup(Some("/x/none_ns")), Dimension::TIME, 0.95)
            .unwrap_err()
            .contains("nothing at /x/none_ns")
    );
    let none = r#"{"results": [{"check": null, "findings": [{"severity": "note", "message": "too few windows"}]}]}"#;
    let error =
        measured(&[none.into()], &setup(Some("/results/0/check/time_ns")), Dimension::TIME, 0.95)
            .unwrap_err();
    assert_eq!(
        error,
        "the document has nothing at /results/0/check/time_ns; its findings: too few windows"
    );
    let none = r#"{"results": [{"check": null, "check_reason": "the CPU is never idle", "findings": []}]}"#;
    let error =
        measured(&[none.into()], &setup(Some("/results/0/check/time_ns")), Dimension::TIME, 0.95)
            .unwrap_err();
    assert_eq!(
        error,
        "the document has nothing at /results/0/check/time_ns: the CPU is never idle"
    );
    assert!(
        measured(&["{".into()], &setup(Some("/x_ns")), Dimension::TIME, 0.95)
            .unwrap_err()
            .contains("no JSON document")
    );
    assert!(
        measured(&[r#"{"a_ns": "5"}"#.into()], &setup(Some("/a_ns")), Dimension::TIME, 0.95)
            .unwrap_err()
            .contains("expected a number")
    );
    let open = r#"{"a_ns": {"value": 1.0, "low": null, "high": 2.0, "level": 0.95}}"#;
    assert!(
        measured(&[open.into()], &setup(Some("/a_ns")), Dimension::TIME, 0.95)
            .unwrap_err()
            .contains("without an end")
    );
}

#[test]
fn figure_has_the_budget_that_stands_beside_it() {
    let estimate = |value: f64, half: f64| {
        format!(
            r#"{{"value": {value}, "low": {}, "high": {}, "level": 0.95}}"#,
            value - half,
            value + half
        )
    };
    let entries = |half: f64| {
        format!(
            r#"[{{"source": "stochastic", "half_width_ns": {half}}}, {{"source": "placement", "half_width_ns": 4.0}}]"#
        )
    };
    let document = |half: f64| {
        let (time, cycles) = (estimate(100.0, 5.0), estimate(300.0, 15.0));
        format!(
            r#"{{"a": {{"time_ns": {time}, "cycles": {cycles}, "time_budget": {}}}, "environment": {{}}}}"#,
            entries(half)
        )
    };
    let of = |texts: &[String], place: &str, dimension| {
        measured(texts, &setup(Some(place)), dimension, 0.95).unwrap()
    };
    let half = |found: &Measured, name: &str| {
        found.budget.iter().find(|entry| entry.source == name).map(|entry| entry.half_width)
    };
    let time = of(&[document(3.0)], "/a/time_ns", Dimension::TIME);
    assert_eq!(
        (half(&time, "noise"), half(&time, "placement"), half(&time, "lack of fit")),
        (Some(3.0), Some(4.0), Some(0.0))
    );
    assert_eq!(time.estimate.half_width(), 5.0);
    let cycles = of(&[document(3.0)], "/a/cycles", Dimension::CYCLES);
    assert!((half(&cycles, "placement").unwrap() - 12.0).abs() < 1e-9, "{cycles:?}");
    // Of several runs the mean of each line counts, and what they differ by.
    let of_both = of(&[document(3.0), document(1.0)], "/a/time_ns", Dimension::TIME);
    assert_eq!(
        (half(&of_both, "noise"), half(&of_both, "runs"), half(&of_both, "clock rate")),
        (Some(2.0), Some(0.0), Some(0.0))
    );
    assert!(
        of_both.budget.iter().find(|entry| entry.source == "noise").unwrap().note.is_none(),
        "{of_both:?}"
    );
}

#[test]
fn time_of_a_block_has_the_budget_of_its_component() {
    let time = r#"{"time_ns": {"value": 10.0, "low": 9.0, "high": 11.0, "level": 0.95}, "cycles": {"value": 30.0, "low": 27.0, "high": 33.0, "level": 0.95}}"#;
    let entries = r#"[{"source": "stochastic", "half_width_ns": 0.5}, {"source": "ends", "half_width_ns": 0.5}]"#;
    let text = format!(
        r#"{{"components": [{{"name": "B1", "time": {time}, "budget": {entries}}}], "environment": {{}}}}"#
    );
    let measurement =
        measured(&[text], &setup(Some("/components/0/time/cycles")), Dimension::CYCLES, 0.95)
            .unwrap();
    let half = |name: &str| {
        measurement.budget.iter().find(|entry| entry.source == name).map(|entry| entry.half_width)
    };
    assert_eq!(
        (half("noise"), half(source_name(Source::Ends)), half("interval of the document")),
        (Some(1.5), Some(1.5), None)
    );
}

#[test]
fn interval_without_parts_says_so_for_every_source() {
    let text = r#"{"a_ns": {"value": 1.0, "low": 0.5, "high": 1.5, "level": 0.95}}"#;
    let measurement =
        measured(&[text.to_owned()], &setup(Some("/a_ns")), Dimension::TIME, 0.95).unwrap();
    let names: Vec<&str> = measurement.budget.iter().map(|entry| entry.source.as_str()).collect();
    let six =
        ["clock resolution", "clock rate", "overhead", "noise", "lack of fit", "control chains"];
    assert_eq!(names, [&["interval of the document"][..], &six].concat());
    assert!(
        measurement.budget[1..].iter().all(|entry| entry.note.is_some())
            && (total(&measurement.budget) - 0.5).abs() < 1e-12,
        "{measurement:?}"
    );
}

#[test]
fn documents_without_a_result_give_their_reason() {
    let text = r#"{"results": [{"cpu": 0, "core_hz": null, "core_hz_reason": "system too busy"}, {"reason": "other"}]}"#;
    assert_eq!(reason(text).as_deref(), Some("system too busy"));
    assert_eq!(
        [reason(r#"{"results": [{"cpu": 0}]}"#), reason(r#"{"results": 5}"#), reason("mhz:")],
        [None, None, None]
    );
}

#[test]
fn untrusted_documents_are_not_trusted() {
    let text = r#"{"a_ns": {"value": 1.0, "low": 0.5, "high": 1.5, "level": 0.95}, "results": [{"findings": [{"severity": "untrusted", "message": "shared"}]}]}"#;
    let found = measured(&[text.to_owned()], &setup(Some("/a_ns")), Dimension::TIME, 0.95).unwrap();
    assert_eq!((found.trusted, found.findings), (false, vec!["shared".to_owned()]));
}

#[test]
fn accuracy_of_a_bare_number_is_known_from_several_runs_only() {
    let of = |texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        measured(&texts, &setup(Some("/a_ns")), Dimension::TIME, 0.95).unwrap()
    };
    let of_one = of(&[r#"{"a_ns": 5.0}"#]);
    assert!(
        !of_one.trusted && of_one.findings[0].contains("without an interval"),
        "{:?}",
        of_one.findings
    );
    assert!(of(&[r#"{"a_ns": 5.0}"#, r#"{"a_ns": 5.1}"#, r#"{"a_ns": 4.9}"#]).trusted);
}

#[test]
fn noise_of_the_core_clock_is_no_noise_of_cycles() {
    let entry = |kind, half| Entry::new("x", kind, half, None);
    let budget = vec![
        entry(ErrorKind::Stochastic, 3.0),
        entry(ErrorKind::Stochastic, 4.0),
        entry(ErrorKind::Systematic, 1.0),
    ];
    let estimate = Estimate { value: 100.0, low: 98.0, high: 102.0, level: 0.95 };
    assert!((total(&without_clock_steps(budget.clone(), &estimate)) - 2.0).abs() < 1e-12);
    let wide = Estimate { low: 50.0, high: 150.0, ..estimate };
    assert_eq!(without_clock_steps(budget.clone(), &wide), budget);
    let explained = explained(budget, &wide);
    assert!((total(&explained) - 50.0).abs() < 1e-12 && explained[3].source == "remainder");
}
