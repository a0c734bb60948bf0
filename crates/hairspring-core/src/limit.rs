//! Limits as data: every number that a stage compares something with has a name, a unit, and says
//! where it comes from.

use serde::Serialize;

/// Where the value of a limit comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// It follows from the model, or is that of a publication; how.
    Derived(&'static str),
    /// A simulation shows it; the name of the test.
    Simulated(&'static str),
    /// Experience; on which machines, and when.
    Seen(&'static str),
    /// The size of an algorithm: results hardly depend on it. What it trades.
    Size(&'static str),
}

impl Basis {
    /// The kind of basis, and its text.
    pub fn parts(&self) -> (&'static str, &'static str) {
        match self {
            Basis::Derived(how) => ("derived", how),
            Basis::Simulated(test) => ("simulated", test),
            Basis::Seen(place) => ("seen", place),
            Basis::Size(what) => ("size", what),
        }
    }
}

/// A limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Limit {
    /// Its name in the source.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// The unit of the value.
    pub unit: &'static str,
    /// What it decides.
    pub decides: &'static str,
    /// Where the value comes from.
    pub basis: Basis,
}

/// Declares the limits of a stage as constants, and the list `LIMITS` of them. The comment of each
/// says what it decides.
macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:expr, $unit:literal, $basis:expr;)*) => {
        $($(#[doc = $doc])+ pub const $name: f64 = $value;)*
        /// The limits of this file.
        pub(crate) const LIMITS: &[crate::limit::Limit] = &[$(crate::limit::Limit {
            name: stringify!($name),
            value: $value,
            unit: $unit,
            decides: concat!($($doc),+),
            basis: $basis,
        },)*];
    };
}

pub(crate) use limits;

limits! {
    /// Smaller effects are within the precision that is usually asked for.
    USUAL_PRECISION = 0.01, "share of the time",
        Basis::Derived("the precision that is usually asked for");
    /// A larger effect, or a wider interval, is a warning.
    WIDE_SHARE = 0.05, "share of the time", Basis::Derived("one digit and a half");
    /// A smaller effect matters to nobody.
    LITTLE_SHARE = 0.002, "share of the time",
        Basis::Derived("a fifth of the precision that is usually asked for");
    /// A value further from the others is no part of their scatter.
    FAR_SIGMAS = 5.0, "standard deviations", Basis::Derived("one normal value in two millions");
    /// A mean further from another one differs.
    FAR_ERRORS = 4.0, "standard errors", Basis::Derived("one false alarm in 30,000");
    /// Fewest values that show a middle and a spread.
    FEWEST_VALUES = 5.0, "values", Basis::Derived("the middle of four is a mean of two");
    /// A departure with a larger probability by chance is not reported.
    FALSE_ALARM = 0.001, "probability", Basis::Derived("one false alarm in 1,000 straight lines");
    /// A departure with a larger probability by chance is not looked for.
    RARELY_CHANCE = 0.005, "probability", Basis::Derived("one false alarm in 200");
    /// The same where many readings or runs are tested.
    HARDLY_CHANCE = 1e-6, "probability", Basis::Derived("one false alarm in a million");
    /// Fewest means that show how they vary.
    FEWEST_MEANS = 3.0, "means", Basis::Derived("Student's quantile is 12.7 with two");
    /// A value that is further from zero differs from it.
    SURELY_APART = 1.5, "half-widths", Basis::Derived("about three standard deviations");
    /// Differences up to this hardly matter: most users act on larger ones.
    SLIGHT_SHARE = 0.02, "share of the time",
        Basis::Derived("twice the precision that is usually asked for");
    /// An effect that is reported before it matters.
    HALF_PRECISION = 0.005, "share of the time",
        Basis::Derived("half of the precision that is usually asked for");
    /// At most this share of all is a few.
    FEW_OF_ALL = 0.2, "share", Basis::Derived("more are no exceptions, but another kind");
    /// At least this share of all is nearly all.
    NEARLY_ALL = 0.9, "share", Basis::Derived("some readings of a row are disturbed");
    /// Readings that are no further apart may be of the same time.
    TWO_ROUNDINGS = 1.5, "quanta of the clock", Basis::Derived("two roundings, and a margin");
}
