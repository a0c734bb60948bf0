//! Findings as data: a code, a severity, a message and its numbers. Each kind of finding is defined
//! next to the code that raises it; those of this crate in the files of its stages.

pub mod code;
pub mod words;

use crate::estimate::Estimate;
use crate::named::Named;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Severity {
    /// Worth knowing; the result is valid.
    Note,
    /// The result is valid, but less precise or more limited than requested.
    Warning,
    /// The result must not be trusted.
    Untrusted,
}

/// A doubt about a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Kind of the finding, in snake case, such as `non_linear`; readers must accept kinds that
    /// they do not know.
    #[serde(rename = "kind")]
    pub code: Cow<'static, str>,
    /// Its severity.
    pub severity: Severity,
    /// The finding in words, with its numbers.
    pub message: String,
    /// What to do about it: in neutral words, unless a front end has replaced them with its own
    /// ([`Remedies`](crate::judge::Remedies)).
    #[serde(default)]
    pub remedy: Cow<'static, str>,
    /// Whether that of a front end for this code would be wrong, because this finding has another
    /// cause.
    #[serde(skip)]
    pub keeps_remedy: bool,
    /// The numbers by name; each name ends in the unit of its number.
    #[serde(flatten)]
    pub numbers: Numbers,
}

/// The numbers of a finding by name, in the order in which they are reported.
pub type Numbers = Named<Value>;

/// One of the numbers of a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Value {
    /// An unknown value.
    Unknown,
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Count(u64),
    /// Any other number.
    Number(f64),
    /// A name or a reason.
    Text(String),
    /// A list of names.
    List(Vec<String>),
    /// A value with its interval.
    Estimate(Estimate),
}

/// A kind of finding, defined where it is raised.
pub trait Kind {
    /// Code, numbers, message and remedy of this finding.
    fn describe(self) -> Description;
}

/// Everything that a finding contains except its severity.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Kind of the finding, in snake case.
    pub code: &'static str,
    /// Its numbers.
    pub numbers: Numbers,
    /// The finding in words.
    pub message: String,
    /// What to do about it, in words that fit every front end: no names of options, arguments or
    /// functions.
    pub remedy: &'static str,
}

impl Finding {
    /// A finding with the description of its kind.
    pub fn new(severity: Severity, kind: impl Kind) -> Finding {
        let Description { code, numbers, message, remedy } = kind.describe();
        Finding {
            code: code.into(),
            severity,
            message,
            remedy: remedy.into(),
            keeps_remedy: false,
            numbers,
        }
    }

    /// A finding of this crate.
    pub(crate) fn of(
        severity: Severity,
        code: &'static str,
        message: String,
        numbers: Numbers,
        remedy: impl Into<Cow<'static, str>>,
    ) -> Finding {
        Finding {
            code: code.into(),
            severity,
            message,
            remedy: remedy.into(),
            keeps_remedy: false,
            numbers,
        }
    }

    /// Whether the finding has this code.
    pub fn is(&self, code: &str) -> bool {
        self.code == code
    }

    /// A number by its name; `None` if there is no such name or its value is not a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.numbers.get(name)? {
            Value::Number(number) => Some(*number),
            Value::Count(count) => Some(*count as f64),
            _ => None,
        }
    }

    /// A text by its name; `None` if there is no such name or its value is not a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.numbers.get(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The component that the finding is about; `None` if it is about the whole series.
    pub fn component(&self) -> Option<&str> {
        self.text("component")
    }

    /// Whether it makes this component untrusted.
    pub fn distrusts(&self, component: &str) -> bool {
        self.severity == Severity::Untrusted
            && self.component().is_none_or(|about| about == component)
    }

    /// A list of names by its name; `None` if there is no such name or its value is not a list.
    pub fn list(&self, name: &str) -> Option<&[String]> {
        match self.numbers.get(name)? {
            Value::List(names) => Some(names),
            _ => None,
        }
    }
}

/// Builds [`Numbers`] from variables: the name of each variable becomes the name of its number.
///
/// ```
/// use hairspring_core::judge::{Numbers, Value};
/// let (rows, reason) = (3_usize, "too few".to_owned());
/// let numbers: Numbers = hairspring_core::numbers! { rows, reason };
/// assert_eq!(numbers["rows"], Value::Count(3));
/// assert_eq!(numbers["reason"], Value::Text("too few".into()));
/// ```
#[macro_export]
macro_rules! numbers {
    ($($name:ident),* $(,)?) => {
        $crate::finding::Numbers::from([$((stringify!($name),
            $crate::finding::Value::from($name))),*])
    };
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Number(number)
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Value {
        Value::Count(count)
    }
}

impl From<u32> for Value {
    fn from(count: u32) -> Value {
        Value::Count(count.into())
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Value {
        Value::Count(count as u64)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<Vec<String>> for Value {
    fn from(names: Vec<String>) -> Value {
        Value::List(names)
    }
}

impl From<Estimate> for Value {
    fn from(estimate: Estimate) -> Value {
        Value::Estimate(estimate)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Unknown, Into::into)
    }
}

/// Numbers about a component, if there is one.
pub(crate) fn about(component: Option<&str>, numbers: Numbers) -> Numbers {
    component
        .map(|component| ("component".to_owned(), Value::Text(component.to_owned())))
        .into_iter()
        .chain(numbers)
        .collect()
}

/// Numbers in one unit; the unit is appended to their names.
pub(crate) fn with_unit<const N: usize>(unit: &str, numbers: [(&str, Value); N]) -> Numbers {
    numbers.into_iter().map(|(name, value)| (format!("{name}_{unit}"), value)).collect()
}
