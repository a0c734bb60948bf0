//! What holds for every format of the table, whatever the names hold. The labels are read back by
//! the format's own reader.

use super::*;
use expect_test::expect_file;
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

/// A result with a series for each of these names.
fn named(names: &[String], as_code: bool) -> ResultDocument {
    let mut result = samples::result(&samples::line());
    let one = result.results[0].clone();
    result.results = names
        .iter()
        .map(|name| {
            let mut series = one.clone();
            (series.name, series.code) =
                if as_code { ("code".into(), Some(name.clone())) } else { (name.clone(), None) };
            series
        })
        .collect();
    result
}

#[test]
fn formats_have_names_of_their_own_and_texts() {
    let mut names = HashSet::new();
    for format in FORMATS {
        for name in std::iter::once(&format.name).chain(format.aliases) {
            assert!(
                !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-'),
                "`{name}`"
            );
            assert!(names.insert(*name), "two formats have the name `{name}`");
            assert_eq!(find(name).map(|found| found.name), Some(format.name));
        }
        assert!(!format.help.ends_with('.'), "{}", format.name);
        for text in [format.purpose, format.help, format.interval] {
            assert!(!text.is_empty(), "{} has an empty text", format.name);
        }
    }
    assert!(find("fax").is_none());
}

#[test]
fn only_what_a_format_has_no_place_for_is_left_out_and_reported() {
    let (ticks, below) = (
        samples::result(&samples::rank_deficient()),
        samples::result(&samples::below_resolution()),
    );
    for format in FORMATS {
        let all = entries(&ticks).len();
        let Export { text, benchmarks, left_out } = export(&ticks, format);
        match format.holds {
            Holds::Everything(_) => {
                assert_eq!((benchmarks, left_out.len()), (all, 0), "{}", format.name)
            }
            _ => {
                assert_eq!((benchmarks, left_out.len()), (0, all), "{}", format.name);
                assert!(
                    left_out.iter().all(|reason| reason.contains("rate is unknown")),
                    "{left_out:?}"
                );
            }
        }
        assert_eq!((format.labels)(&text).len(), benchmarks, "{}", format.name);
        let plain = matches!(format.holds, Holds::PlainTimes(_));
        assert_eq!(export(&below, format).left_out.len(), usize::from(plain), "{}", format.name);
    }
}

#[test]
fn long_names_are_cut_and_stay_distinct() {
    let names = ["a", "b"].map(|end| "\u{4f60}".repeat(70_000) + end);
    for format in FORMATS {
        let labels = (format.labels)(&export(&named(&names, true), format).text);
        assert!(
            labels[0] != labels[1] && labels.iter().all(|label| label.contains('~')),
            "{labels:?}"
        );
        assert!(
            labels.iter().all(|label| label.chars().count() < LONGEST_LABEL + 40),
            "{labels:?}"
        );
    }
}

#[test]
fn json_keeps_hidden_characters_as_escapes() {
    let odd = "a\u{202e}b\u{e0041}\u{e9}";
    let text = json(&odd);
    assert_eq!(text, "\"a\\u202eb\\udb40\\udc41\u{e9}\"\n");
    assert_eq!(serde_json::from_str::<String>(&text).unwrap(), odd);
}

fn odd() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("a,\"b\"\r\n/c/d \\ 'e' % = - # \u{1b}[2J \u{2028} \u{85} \u{202e} \u{0}".to_owned()),
        Just("A\u{202e}B\u{2066}C\u{200b}\u{feff}\u{ad}\u{e0041}".to_owned()),
        Just("Unit ns/op better=higher\nBenchmarkX 1 1 ns/op".to_owned()),
        proptest::collection::vec(any::<char>(), 0..60)
            .prop_map(|chars| chars.into_iter().collect::<String>()),
        "[a-c,\"\\\\/\n\r\t ]{0,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_name_breaks_an_export(names in proptest::collection::vec(odd(), 1..6),
        as_code in any::<bool>()) {
        let result = named(&names, as_code);
        for format in FORMATS {
            let Export { text, benchmarks, left_out } = export(&result, format);
            prop_assert!(text.ends_with('\n') && text.chars().all(|c| c == '\n' || !is_hidden(c)),
                "{}: {text:?}", format.name);
            prop_assert!(benchmarks == names.len() && left_out.is_empty(), "{}: {left_out:?}",
                format.name);
            prop_assert!(!format.is_json() || serde_json::from_str::<Value>(&text).is_ok(),
                "{}: {text}", format.name);
            let labels = (format.labels)(&text);
            prop_assert_eq!(labels.len(), names.len(), "{}: {}", format.name, text);
            prop_assert!(labels.iter().all(|label| !label.is_empty()));
            prop_assert_eq!(labels.iter().collect::<HashSet<_>>().len(), names.len(), "{}: {:?}",
                format.name, labels);
        }
    }
}

const HEADING: &str = "## Formats of other tools\n";
const COLUMNS: &str =
    "| format | interval | names | left out, with a message |\n|---|---|---|---|\n";

/// The table of `spec/result.md`, a line for each format.
fn table() -> String {
    let line = |format: &&Format| {
        let names = match format.names {
            Names::Json => "JSON",
            Names::Escaped(how) => how,
        };
        format!("| `{}` | {} | {names} | {} |\n", format.name, format.interval, format.left_out())
    };
    COLUMNS.to_owned() + &FORMATS.iter().map(line).collect::<String>()
}

/// `UPDATE_EXPECT=1` writes the lines anew.
#[test]
fn the_documented_formats_are_those_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/result.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, section) = text
        .split_once(HEADING)
        .expect("spec/result.md has a section about formats of other tools");
    let (words, rest) = section.split_once(COLUMNS).expect("the section has a table");
    let after: String =
        rest.split_inclusive('\n').skip_while(|line| line.starts_with('|')).collect();
    expect_file![path].assert_eq(&format!("{before}{HEADING}{words}{}{after}", table()));
}
