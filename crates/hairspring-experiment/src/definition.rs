//! The file of an experiment (TOML).

use hairspring_core::alike::nearest;
use hairspring_core::named::Named;
use hairspring_expect::Fault;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt::Formatter;

/// Largest file, in bytes.
pub const MOST_BYTES: usize = 256 << 10;

/// The seven steps as they are written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// A short name.
    pub name: String,
    /// Step 1: what we need to know, and for what.
    pub need: String,
    /// Step 2: the quantity to be measured.
    pub quantity: String,
    /// Step 3: the required accuracy.
    pub accuracy: Accuracy,
    /// Step 4A: the circumstances by name.
    #[serde(default)]
    pub circumstances: Named<String>,
    /// Step 4B: the expectation.
    pub expectation: Model,
    /// Step 4C: the set-up.
    pub setup: Setup,
    /// Step 5: contributions to the error budget that no measurement shows.
    #[serde(default)]
    pub error: Vec<Contribution>,
    /// Step 7: a second, independent method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Setup>,
}

/// The required accuracy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Accuracy {
    /// Half-width of the interval: a share or a value with a unit.
    pub required: String,
    /// Confidence level of all intervals; 95 % without this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence_level: Option<String>,
}

/// A model of what is expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The expression.
    pub model: String,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Named values; each may use those before it.
    #[serde(default)]
    pub with: Named<Input>,
}

/// A named value of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Input {
    /// An expression.
    Expression(String),
    /// A circumstance that is measured before the run, such as the core clock.
    Measured(Box<Setup>),
}

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Input, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Input;

            fn expecting(&self, f: &mut Formatter) -> std::fmt::Result {
                f.write_str("a string, or a table with `verb` and `figure`")
            }

            fn visit_str<E>(self, text: &str) -> Result<Input, E> {
                Ok(Input::Expression(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Input, A::Error> {
                Setup::deserialize(MapAccessDeserializer::new(map))
                    .map(|setup| Input::Measured(Box::new(setup)))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// What is run, and which of its numbers is the quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// A verb of the command with its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verb: Option<Vec<String>>,
    /// A program that prints observations, with its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Vec<String>>,
    /// Name of the series; the first one without this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// Name of its component; the first one without this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// Place of a number in the JSON document (RFC 6901), in place of a series and its component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// Unit of that number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// How often it runs; once without this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    /// Time after which it is stopped; 600 s without this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

/// A contribution to the error budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Contribution {
    /// Its source.
    pub source: String,
    /// Whether it is stochastic or systematic.
    pub kind: ErrorKind,
    /// Its half-width: a share or a value with a unit.
    pub half_width: String,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// How a contribution adds to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// In quadrature.
    Stochastic,
    /// Linearly.
    Systematic,
}

impl ErrorKind {
    /// The kind as a word.
    pub fn word(self) -> &'static str {
        match self {
            ErrorKind::Stochastic => "stochastic",
            ErrorKind::Systematic => "systematic",
        }
    }
}

/// What a set-up runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work<'s> {
    /// A verb of the command with its arguments.
    Verb(&'s [String]),
    /// A program with its arguments.
    Program(&'s [String]),
}

impl Setup {
    /// What it runs.
    ///
    /// # Errors
    /// It names neither a verb nor a program, or both.
    pub fn work(&self) -> Result<Work<'_>, String> {
        match (&self.verb, &self.program) {
            (Some(words), None) if !words.is_empty() => Ok(Work::Verb(words)),
            (None, Some(words)) if !words.is_empty() => Ok(Work::Program(words)),
            (Some(_), Some(_)) => Err("has both `verb` and `program`: keep one".into()),
            _ => {
                Err("has neither `verb` nor `program`, such as verb = [\"time\", \"x = x * c\"]"
                    .into())
            }
        }
    }

    /// The set-up with this series and component.
    pub(crate) fn named(&self, (series, component): (String, String)) -> Setup {
        Setup { series: Some(series), component: Some(component), ..self.clone() }
    }

    /// How often it runs.
    pub fn times(&self) -> u32 {
        self.repeat.unwrap_or(1)
    }

    /// Whether it runs the same, as often, as another set-up. Then both take their figures from the
    /// same runs.
    pub fn runs_as(&self, other: &Setup) -> bool {
        (&self.verb, &self.program, self.times()) == (&other.verb, &other.program, other.times())
    }

    /// Whether it names the same number as another set-up.
    pub fn names_as(&self, other: &Setup) -> bool {
        (&self.figure, &self.series, &self.component)
            == (&other.figure, &other.series, &other.component)
    }
}

impl Definition {
    /// Reads the file of an experiment.
    ///
    /// # Errors
    /// What is wrong, with the line and a pointer at the character; for an unknown key the most
    /// similar known one.
    pub fn read(text: &str) -> Result<Definition, String> {
        if text.len() > MOST_BYTES {
            return Err(format!("has {} bytes: at most {MOST_BYTES}", text.len()));
        }
        if text.trim().is_empty() {
            return Err("is empty: `hairspring experiment new` prints a template".into());
        }
        toml::from_str(text).map_err(|error| explained(text, &error))
    }
}

/// Keys whose value has a unit, with an example.
const WITH_UNITS: [(&str, &str); 4] = [
    ("required", "2 %"),
    ("confidence_level", "95 %"),
    ("half_width", "0.1 %"),
    ("timeout", "600 s"),
];

/// How a number is written that stands where a text belongs: as this key is, or as it stands.
fn in_quotes(line: &str, value: &str) -> String {
    let key = line.split('=').next().unwrap_or_default().trim();
    match WITH_UNITS.iter().find(|(name, _)| key.ends_with(name)) {
        Some((_, example)) => format!("write it in quotes with its unit, such as \"{example}\""),
        None => format!("write it in quotes: \"{}\"", value.chars().take(40).collect::<String>()),
    }
}

/// The line of a place in the text, its number, and the bytes of the line before the place.
fn line_at(text: &str, at: usize) -> (&str, usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    (
        text[start..].lines().next().unwrap_or_default(),
        before.matches('\n').count() + 1,
        before.len() - start,
    )
}

/// The error with its place and a hint: the most similar of the keys that it lists, or how a value
/// of another type is written.
fn explained(text: &str, error: &toml::de::Error) -> String {
    let message = error.message();
    if error.span().is_some_and(|span| span.start == 0) && message.starts_with("missing field") {
        // The place would be the first line of the file.
        return format!("{message}: `hairspring experiment new` prints a template with all keys");
    }
    let similar_name = || {
        let (wrong, expected) = message.strip_prefix("unknown field `")?.split_once('`')?;
        nearest(wrong, expected.split('`').skip(1).step_by(2))
            .map(|name| format!("did you mean `{name}`?"))
    };
    let span = error.span().unwrap_or_default();
    let (line, number, at) = line_at(text, span.start);
    let typed = || match message {
        _ if message.contains("expected a string") => {
            Some(in_quotes(line, text.get(span.clone()).unwrap_or_default()))
        }
        _ if message.contains("expected a sequence") => {
            Some("write a list: [\"time\", \"x = x * c\"]".to_owned())
        }
        _ => None,
    };
    let fault = Fault {
        message: message.trim_end().to_owned(),
        text: line.to_owned(),
        at: at.min(line.len()),
    };
    let hint = similar_name().or_else(typed).map_or_else(String::new, |hint| format!("\n{hint}"));
    format!("line {number}: {fault}{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TEMPLATE;
    use proptest::prelude::*;

    #[test]
    fn template_is_read() {
        let template = Definition::read(TEMPLATE).unwrap();
        assert_eq!(template.name, "multiplication");
        assert_eq!(
            template.expectation.with.keys().collect::<Vec<_>>(),
            ["instructions", "latency"]
        );
        assert!(matches!(template.setup.work(), Ok(Work::Verb([verb, ..])) if verb == "time"));
    }

    #[test]
    fn keys_that_the_template_comments_out_are_known() {
        let uncommented: String = TEMPLATE
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(key)
                    if key.contains(" = ") && !key.starts_with("program")
                        || key.starts_with('[') =>
                {
                    key.to_owned() + "\n"
                }
                _ => line.to_owned() + "\n",
            })
            .collect();
        let definition =
            Definition::read(&uncommented).unwrap_or_else(|error| panic!("{error}\n{uncommented}"));
        assert_eq!(
            (definition.error.len(), definition.check.is_some(), definition.setup.repeat),
            (1, true, Some(3))
        );
    }

    #[test]
    fn long_lines_are_shown_in_part() {
        let error = Definition::read(
            &TEMPLATE.replace("name = ", &format!("name = 5 # {}\n# ", "x".repeat(10_000))),
        )
        .unwrap_err();
        assert!(
            error.lines().all(|line| line.len() < 120) && error.starts_with("line 8: "),
            "{error}"
        );
        let error = Definition::read("\u{4f60}").unwrap_err();
        assert!(error.starts_with("line 1: "), "{error}");
    }

    #[test]
    fn unknown_key_is_named_with_the_nearest_known_one() {
        let wrong = TEMPLATE.replace("required =", "requierd =");
        let error = Definition::read(&wrong).unwrap_err();
        assert!(
            error.contains("unknown field `requierd`")
                && error.contains("did you mean `required`?"),
            "{error}"
        );
        assert!(error.contains("line 18"), "{error}");
        let error = Definition::read(&TEMPLATE.replace("[setup]", "[elephant]")).unwrap_err();
        assert!(error.contains("`elephant`") && !error.contains("did you mean"), "{error}");
    }

    #[test]
    fn bad_files_are_refused_with_a_reason() {
        for (text, part) in [
            (String::new(), "is empty"),
            (" \n".to_owned(), "is empty"),
            ("x".repeat(MOST_BYTES + 1), "at most 262144"),
            (TEMPLATE[..TEMPLATE.len() / 2].to_owned(), "missing field"),
            ("name = ".to_owned(), "line 1"),
            (format!("{TEMPLATE}\n[setup]\n"), "duplicate"),
            (TEMPLATE.replace("\"multiplication\"", "5"), "write it in quotes: \"5\""),
            (
                TEMPLATE.replace("\"2 %\"", "2"),
                "expected a string\n  required = 2\n             ^\n\
                 write it in quotes with its unit, such as \"2 %\"",
            ),
            (
                TEMPLATE.replace("# confidence_level = \"95 %\"", "confidence_level = 95"),
                "such as \"95 %\"",
            ),
            (
                TEMPLATE.replace("instructions = \"1\"", "instructions = 1"),
                "write it in quotes: \"1\"",
            ),
            (
                TEMPLATE.replace(
                    "instructions = \"1\"",
                    "instructions = { verb = [\"mhz\"], figur = \"/x_hz\" }",
                ),
                "did you mean `figure`?",
            ),
            (TEMPLATE.replace("[\"time\", \"x = x * c\",", "\"time\" #"), "write a list"),
            (
                TEMPLATE[..TEMPLATE.find("\n[setup]").unwrap()].to_owned(),
                "missing field `setup`: `hairspring experiment new`",
            ),
            (format!("name = {}", "[".repeat(10_000)), "recursion"),
            (TEMPLATE.replace("\"2 %\"", "\"2 %"), "line"),
            ("name = \"\u{0}\"".to_owned(), "line 1"),
        ] {
            let error = Definition::read(&text).unwrap_err();
            assert!(error.contains(part), "{part}: {error}");
        }
        let setup_with_both = Setup {
            verb: Some(vec!["time".into()]),
            program: Some(vec!["x".into()]),
            ..Definition::read(TEMPLATE).unwrap().setup
        };
        assert!(setup_with_both.work().unwrap_err().contains("both"));
        assert!(
            Setup { verb: Some(Vec::new()), program: None, ..setup_with_both }
                .work()
                .unwrap_err()
                .contains("neither")
        );
    }

    proptest! {
        #[test]
        fn truncated_file_is_never_taken_for_a_whole_one(at in 0..TEMPLATE.find("# program")
            .unwrap()) {
            let text = TEMPLATE.get(..at).unwrap_or_default();
            prop_assert!(crate::Plan::read(text).is_err() || text.contains("uint64_t c = 5\"]"),
                "{}", at);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[a-z\\[\\]=\" .\n#{}0-9]{0,200}") {
            prop_assert!(Definition::read(&text).is_err());
        }
    }
}
