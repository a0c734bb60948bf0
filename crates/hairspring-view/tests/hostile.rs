//! Names from users and files never break the report: no panic, no control character, no line above
//! 80 columns.

mod samples;

use hairspring_core::judge::methods::methods;
use hairspring_result::{Mode, ResultDocument, json};
use hairspring_view::{Style, text};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("\u{1b}[2J\u{1b}]0;owned\u{7}\r\n\t\u{202e}\u{feff}".to_owned()),
        Just("x".repeat(5_000)),
        Just("\u{4f60}".repeat(300)),
        proptest::collection::vec(any::<char>(), 0..120)
            .prop_map(|chars| chars.into_iter().collect::<String>()),
        "\\PC{0,200}",
    ]
}

fn sound(text: &str) -> Result<(), TestCaseError> {
    for line in text.lines() {
        prop_assert!(line.width() <= 80, "{} columns: {line:?}", line.width());
        prop_assert!(!line.chars().any(char::is_control), "{line:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn names_are_harmless(a in hostile(), b in hostile(), ascii in any::<bool>()) {
        let mut observations = samples::table(&[&a, &b], &[(&b, grid()), (&a, grid())], 1.0);
        observations.origin.notes.push((a.clone(), b.clone()));
        let mut document = samples::timed(&observations,
            vec![samples::subject(&a, &b, Mode::Latency),
            samples::subject(&b, &a, Mode::Throughput)]);
        document.command.clone_from(&a);
        document.environment.compiler = Some(b.clone());
        document.environment = document.environment.with_reference(Err(a.clone()));
        document.environment.cpu.as_mut().unwrap().model.clone_from(&b);
        document.environment.clock.as_mut().unwrap().description.clone_from(&a);
        document.run.as_mut().unwrap().stop.clone_from(&b);
        document.methods = methods(&observations, &document.assessment);
        document.methods.iter_mut().for_each(|table| table.rows[0].technique.clone_from(&b));
        sound(&text::report(&ResultDocument::new(&document),
            &Style { ascii, ..Style::default() }))?;
        let printed = json::print(&ResultDocument::new(&document));
        prop_assert!(serde_json::from_str::<serde_json::Value>(&printed).is_ok());
        document.assessment.series.truncate(1);
        sound(&text::report(&ResultDocument::new(&document),
            &Style { ascii, ..Style::default() }))?;
    }

    #[test]
    fn numbers_are_harmless(value in any::<f64>(), half in any::<f64>(),
        factor in proptest::option::of(any::<f64>())) {
        let mut document = samples::line();
        let series = &mut document.assessment.series[0];
        series.components[0].time.ns.as_mut().unwrap().value = value;
        series.solution.residual_sd = half;
        series.solution.rows[3].location = value;
        series.solution.rows[4].residual = half;
        document.assessment.core_hz = Some(hairspring_core::Estimate { value, low: value - half,
            high: value + half, level: 0.95 });
        document.ns_per_unit = factor;
        document.methods[0].rows[0].sd = half;
        document.methods[0].rows[0].distance_percent = value;
        sound(&text::report(&ResultDocument::new(&document), &Style::default()))?;
        let printed = json::print(&ResultDocument::new(&document));
        prop_assert!(serde_json::from_str::<serde_json::Value>(&printed).is_ok());
    }
}

fn grid() -> samples::Rows {
    (0..12)
        .map(|i| {
            (vec![f64::from(i % 4), f64::from(i / 4)], f64::from(3 * (i % 4) + 5 * (i / 4) + 20))
        })
        .collect()
}
