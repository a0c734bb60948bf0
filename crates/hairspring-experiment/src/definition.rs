//! The file of an experiment (TOML).

use hairspring_core::alike::nearest;
use hairspring_core::named::Named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest file, in bytes.
pub const MOST_BYTES: usize = 256 << 10;

/// The seven steps as they are written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accuracy {
    /// Half-width of the interval: a share or a value with a unit.
    pub required: String,
    /// Confidence level of all intervals; 95 % without this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence_level: Option<String>,
}

/// A model of what is expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The expression.
    pub model: String,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Named values; each may use those before it.
    #[serde(default)]
    pub with: Named<String>,
}

/// What is run, and which of its numbers is the quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
            _ => Err("has neither `verb` nor `program`, such as verb = [\"time\", \"x = x * c\"]".into()),
        }
    }
}

impl Definition {
    /// Reads the file of an experiment.
    ///
    /// # Errors
    /// What is wrong, with the line and a pointer at the character; for an unknown key the most similar known one.
    pub fn read(text: &str) -> Result<Definition, String> {
        if text.len() > MOST_BYTES {
            return Err(format!("has {} bytes: at most {MOST_BYTES}", text.len()));
        }
        if text.trim().is_empty() {
            return Err("is empty: `hairspring experiment new` prints a template".into());
        }
        toml::from_str(text).map_err(|error| explained(&error))
    }
}

/// The error with a hint: the most similar of the keys that it lists, or how a value of another type is written.
fn explained(error: &toml::de::Error) -> String {
    let message = error.message();
    if error.span().is_some_and(|span| span.start == 0) && message.starts_with("missing field") {
        // The place would be the first line of the file.
        return format!("{message}: `hairspring experiment new` prints a template with all keys");
    }
    let alike = || {
        let (wrong, expected) = message.strip_prefix("unknown field `")?.split_once('`')?;
        nearest(wrong, expected.split('`').skip(1).step_by(2)).map(|name| format!("did you mean `{name}`?"))
    };
    let hints = [("expected a string", "write it in quotes: \"2 %\""), ("expected a sequence", "write a list: [\"time\", \"x = x * c\"]")];
    let typed = || hints.iter().find(|(part, _)| message.contains(part)).map(|(_, hint)| (*hint).to_owned());
    let text = error.to_string();
    let text = text.trim_end();
    alike().or_else(typed).map_or_else(|| text.to_owned(), |hint| format!("{text}\n{hint}"))
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
        assert_eq!(template.expectation.with.keys().collect::<Vec<_>>(), ["instructions", "latency"]);
        assert!(matches!(template.setup.work(), Ok(Work::Verb([verb, ..])) if verb == "time"));
    }

    #[test]
    fn keys_that_the_template_comments_out_are_known() {
        let uncommented: String = TEMPLATE
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(key) if key.contains(" = ") && !key.starts_with("program") || key.starts_with('[') => key.to_owned() + "\n",
                _ => line.to_owned() + "\n",
            })
            .collect();
        let all = Definition::read(&uncommented).unwrap_or_else(|error| panic!("{error}\n{uncommented}"));
        assert_eq!((all.error.len(), all.check.is_some(), all.setup.repeat), (1, true, Some(3)));
    }

    #[test]
    fn unknown_key_is_named_with_the_nearest_known_one() {
        let wrong = TEMPLATE.replace("required =", "requierd =");
        let error = Definition::read(&wrong).unwrap_err();
        assert!(error.contains("unknown field `requierd`") && error.contains("did you mean `required`?"), "{error}");
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
            (TEMPLATE.replace("\"multiplication\"", "5"), "expected a string\nwrite it in quotes"),
            (TEMPLATE.replace("[\"time\", \"x = x * c\",", "\"time\" #"), "expected a sequence\nwrite a list"),
            (TEMPLATE[..TEMPLATE.find("\n[setup]").unwrap()].to_owned(), "missing field `setup`: `hairspring experiment new`"),
            (format!("name = {}", "[".repeat(10_000)), "recursion"),
            (TEMPLATE.replace("\"2 %\"", "\"2 %"), "line"),
            ("name = \"\u{0}\"".to_owned(), "line 1"),
        ] {
            let error = Definition::read(&text).unwrap_err();
            assert!(error.contains(part), "{part}: {error}");
        }
        let both = Setup { verb: Some(vec!["time".into()]), program: Some(vec!["x".into()]), ..Definition::read(TEMPLATE).unwrap().setup };
        assert!(both.work().unwrap_err().contains("both"));
        assert!(Setup { verb: Some(Vec::new()), program: None, ..both }.work().unwrap_err().contains("neither"));
    }

    proptest! {
        #[test]
        fn truncated_file_is_never_taken_for_a_whole_one(at in 0..TEMPLATE.find("# program").unwrap()) {
            let text = TEMPLATE.get(..at).unwrap_or_default();
            prop_assert!(crate::Plan::read(text).is_err() || text.contains("uint64_t c = 5\"]"), "{}", at);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[a-z\\[\\]=\" .\n#{}0-9]{0,200}") {
            prop_assert!(Definition::read(&text).is_err());
        }
    }
}
