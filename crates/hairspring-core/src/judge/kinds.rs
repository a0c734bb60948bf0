//! The kinds of finding that the core's own checks raise, with their words.

use super::finding::{Description, Kind, Numbers, Value};
use super::words::{bound, in_percent, interval, rows_of, shortened};
use crate::estimate::Estimate;
use crate::numbers;

/// The codes of the kinds below, for those who treat one of them in a way of its own.
#[allow(missing_docs, reason = "each has the name of its kind")]
pub mod code {
    pub const NON_LINEAR: &str = "non_linear";
    pub const BEND_LEFT_OUT: &str = "bend_left_out";
    pub const OUTLIERS: &str = "outliers";
    pub const CLOCK_TOO_COARSE: &str = "clock_too_coarse";
    pub const FREQUENCY_STEPPED: &str = "frequency_stepped";
    pub const CORE_SHARED: &str = "core_shared";
    pub const OVERLAP: &str = "overlap";
    pub const FENCE_HIDES: &str = "fence_hides";
    pub const PREEMPTED: &str = "preempted";
    pub const BELOW_RESOLUTION: &str = "below_resolution";
    pub const RANK_DEFICIENT: &str = "rank_deficient";
    pub const METHODS_DEPART: &str = "methods_depart";
    pub const NEVER_RAN: &str = "never_ran";
    pub const PRECISION_MISSED: &str = "precision_missed";
    pub const WIDE_INTERVAL: &str = "wide_interval";
    pub const NEGATIVE: &str = "negative";
    pub const NOT_CHECKED: &str = "not_checked";
    pub const NO_CYCLES: &str = "no_cycles";
    pub const UNORDERED_CLOCK: &str = "unordered_clock";
}

/// What the checks of the core find, with its numbers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are named by what they hold; `describe` spells each out")]
pub enum FindingKind {
    /// The rows do not lie on a line (or plane).
    NonLinear { lack_of_fit_f: f64, departure_percent: f64 },
    /// Rows at few copies were left out because the line bends there.
    BendLeftOut { rows: usize },
    /// Rows far off the line were left out.
    Outliers { rows: usize },
    /// The clock's quantum is not averaged out by noise or dither.
    ClockTooCoarse { phase_spread: f64 },
    /// The core clock stepped during the run.
    FrequencyStepped { low_percent: f64, high_percent: f64 },
    /// A chain of known length, run as a control, came out wrong: something else used the core's execution units.
    CoreShared { control_cycles: f64, expected_cycles: f64 },
    /// Body and init overlap: the body is another time where the inits stand elsewhere, or behind fences. All three are
    /// times of the body.
    Overlap { at_end: Estimate, in_place: Option<Estimate>, fenced: Option<Estimate>, unit: String },
    /// A fence hides up to so many cycles of the code behind it: the interval cannot be narrower.
    FenceHides { cycles: f64 },
    /// Readings were disturbed by other work and left out.
    Preempted { share_percent: f64, stolen_ms: Option<f64> },
    /// The time cannot be told from zero; `bound` is the most that it can be.
    BelowResolution { component: String, bound: f64, unit: String },
    /// Some components cannot be told apart.
    RankDeficient { rank: usize, unknowns: usize, dependent: Vec<String> },
    /// Other methods than the line departed from it by more than their intervals and the line's allow.
    MethodsDepart { methods: Vec<String>, most_percent: f64 },
    /// Components that ran in no row.
    NeverRan { components: Vec<String> },
    /// The interval is wider than asked for.
    PrecisionMissed { reached_percent: f64, asked_percent: f64 },
    /// The interval is so wide that the value says little.
    WideInterval { component: String, half_width_percent: f64 },
    /// The value came out negative although its interval does not allow zero.
    Negative { component: String, value: f64, unit: String },
    /// There is no lack-of-fit check: too few rows or no repeats.
    NotChecked { rows: usize, unknowns: usize },
    /// Core cycles are not available.
    NoCycles { reason: String },
    /// The clock's read itself is not ordered against the code.
    UnorderedClock { clock: String },
}

impl Kind for FindingKind {
    fn describe(self) -> Description {
        use FindingKind::*;
        match self {
            NonLinear { lack_of_fit_f, departure_percent } => Description {
                code: code::NON_LINEAR,
                numbers: numbers! { lack_of_fit_f, departure_percent },
                message: format!(
                    "the rows do not lie on a straight line: lack of fit F = {lack_of_fit_f:.1}, departure {} of the longest row",
                    in_percent(departure_percent)
                ),
                remedy: "the totals are no sums of these parts: look for something that was not counted or that depends on another count, or observe rows of more equal size",
            },
            BendLeftOut { rows } => Description {
                code: code::BEND_LEFT_OUT,
                numbers: numbers! { rows },
                message: format!("{} with few copies left out: the line bends there", rows_of(rows)),
                remedy: "nothing to do: the remaining rows are straight",
            },
            Outliers { rows } => Description {
                code: code::OUTLIERS,
                numbers: numbers! { rows },
                message: format!("{} far off the line left out", rows_of(rows)),
                remedy: "look at these rows; measure again on a quieter machine if it happens again",
            },
            ClockTooCoarse { phase_spread } => Description {
                code: code::CLOCK_TOO_COARSE,
                numbers: numbers! { phase_spread },
                message: format!(
                    "repeated readings hardly vary ({phase_spread:.3} quanta of the clock): the quantum does not average out and is carried in the interval"
                ),
                remedy: "observe with a finer clock, or rows with larger counts",
            },
            FrequencyStepped { low_percent, high_percent } => Description {
                code: code::FREQUENCY_STEPPED,
                numbers: numbers! { low_percent, high_percent },
                message: format!("the core clock moved between {low_percent:+.1} % and {high_percent:+.1} % of its median during the run"),
                remedy: "compare core cycles, which do not change with it; the time in ns is the mean over the run",
            },
            CoreShared { control_cycles, expected_cycles } => Description {
                code: code::CORE_SHARED,
                numbers: numbers! { control_cycles, expected_cycles },
                message: format!(
                    "a control chain of {expected_cycles} {} came out as {control_cycles:.3}: something else used the core (a neighbour on its other hardware thread), or slowed one chain and not the other",
                    if expected_cycles == 1.0 { "cycle" } else { "cycles" }
                ),
                remedy: "measure again, on another CPU or a quieter machine",
            },
            Overlap { at_end, in_place, fenced, unit } => Description {
                code: code::OVERLAP,
                numbers: with_unit(&unit, [("at_end", at_end.into()), ("in_place", in_place.into()), ("fenced", fenced.into())]),
                message: format!(
                    "body and init overlap in the core: the body takes {} with the further inits at the end of the row{}{}",
                    interval(&at_end, &unit),
                    in_place.map(|time| format!(", {} with the inits before each body", interval(&time, &unit))).unwrap_or_default(),
                    fenced.map(|time| format!(", {} from a standing start", interval(&time, &unit))).unwrap_or_default()
                ),
                remedy: "observe every evaluation from a standing start, with fences around it; without them the time is what an evaluation adds to a stream of them",
            },
            FenceHides { cycles } => Description {
                code: code::FENCE_HIDES,
                numbers: numbers! { cycles },
                message: format!("a fence hides up to {cycles:.1} cycles of the code behind it: the interval cannot be narrower"),
                remedy: "time a longer piece of code, several evaluations in a row for instance; more time does not help",
            },
            Preempted { share_percent, stolen_ms } => Description {
                code: code::PREEMPTED,
                numbers: numbers! { share_percent, stolen_ms },
                message: match stolen_ms.filter(|ms| *ms > 0.0) {
                    Some(ms) => {
                        format!("{share_percent:.1} % of the readings were disturbed and left out; the hypervisor took {ms:.0} ms")
                    }
                    None => format!("{share_percent:.1} % of the readings were disturbed and left out"),
                },
                remedy: "measure again on a quieter CPU or machine, or for longer",
            },
            BelowResolution { component, bound: most, unit } => Description {
                code: code::BELOW_RESOLUTION,
                message: format!(
                    "{component} is below resolution: the time cannot be told from zero; it is at most {} {unit}",
                    bound(most)
                ),
                numbers: [("component".into(), component.into())].into_iter().chain(with_unit(&unit, [("bound", most.into())])).collect(),
                remedy: "observe rows in which it runs more often, or repeat the rows more often",
            },
            RankDeficient { rank, unknowns, dependent } => Description {
                code: code::RANK_DEFICIENT,
                message: format!(
                    "the counts tell {rank} of {unknowns} unknowns apart; always the same combination: {}",
                    shortened(&dependent)
                ),
                numbers: numbers! { rank, unknowns, dependent },
                remedy: "the combinations that can be told apart are reported; add rows in which the counts of the others change independently",
            },
            MethodsDepart { methods, most_percent } => Description {
                code: code::METHODS_DEPART,
                message: format!(
                    "{}: up to {most_percent:.2} % off the line, more than the intervals allow (marked ! in the table)",
                    shortened(&methods)
                ),
                remedy: if methods.iter().any(|method| method.starts_with("differential")) {
                    "believe the line: the clock's fence hides the first cycles of a short row, and so a part of the difference"
                } else {
                    "believe the line: the overhead stays in a direct measurement"
                },
                numbers: numbers! { methods, most_percent },
            },
            NeverRan { components } => Description {
                code: code::NEVER_RAN,
                message: format!("never ran, and so not in the result: {} (count 0 in every row)", shortened(&components)),
                numbers: numbers! { components },
                remedy: "add rows in which it runs, or leave its column away",
            },
            PrecisionMissed { reached_percent, asked_percent } => Description {
                code: code::PRECISION_MISSED,
                numbers: numbers! { reached_percent, asked_percent },
                message: format!("not to be trusted to the {asked_percent:.2} % asked for: the interval is +-{reached_percent:.2} %"),
                remedy: "repeat the rows more often, or observe rows with larger counts",
            },
            WideInterval { component, half_width_percent } => Description {
                code: code::WIDE_INTERVAL,
                message: format!("the interval of {component} is +-{half_width_percent:.0} %"),
                numbers: numbers! { component, half_width_percent },
                remedy: "repeat the rows more often, or observe rows with larger counts",
            },
            Negative { component, value, unit } => Description {
                code: code::NEGATIVE,
                message: format!("the solved value of {component} is negative ({value:.4} {unit}): the model does not hold for these rows"),
                numbers: [("component".into(), component.into())].into_iter().chain(with_unit(&unit, [("value", value.into())])).collect(),
                remedy: "the rows are not sums of their parts; see the lack of fit, and check the counts",
            },
            NotChecked { rows, unknowns } => Description {
                code: code::NOT_CHECKED,
                numbers: numbers! { rows, unknowns },
                message: format!(
                    "{} for {unknowns} unknowns, without enough repeats to spare: nothing checks the straight line",
                    rows_of(rows)
                ),
                remedy: "add rows with other counts, and repeat each of them",
            },
            NoCycles { reason } => Description {
                code: code::NO_CYCLES,
                message: format!("no core cycles: {reason}"),
                numbers: numbers! { reason },
                remedy: "the time stands by itself",
            },
            UnorderedClock { clock } => Description {
                code: code::UNORDERED_CLOCK,
                message: format!("clock `{clock}` is not ordered: the core may run the code and the read at the same time"),
                numbers: numbers! { clock },
                remedy: "observe with an ordered clock unless this is what you study",
            },
        }
    }
}

/// Numbers in one unit, which becomes the end of their names.
fn with_unit<const N: usize>(unit: &str, numbers: [(&str, Value); N]) -> Numbers {
    numbers.into_iter().map(|(name, value)| (format!("{name}_{unit}").into(), value)).collect()
}
