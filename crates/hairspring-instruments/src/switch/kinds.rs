//! Findings about context switches.

use hairspring_core::judge::words::in_percent;
use hairspring_core::judge::{Description, Kind, Numbers};
use hairspring_core::numbers;

/// Findings about switches between two sides.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum SwitchFinding {
    /// The kernel counted other switches than the two sides made.
    OtherSwitches { windows: usize, of: usize, share_percent: f64 },
    /// The placements differ by more than the limit.
    PlacementsDiffer {
        spread_percent: f64,
        limit_percent: f64,
        lowest_ns: f64,
        highest_ns: f64,
        placements: usize,
    },
    /// Not all placements have enough undisturbed windows for a cost of their own.
    PartnersUnknown { known: usize, placements: usize },
    /// The run is off from earlier ones on this machine by more than the limit.
    DiffersFromEarlier {
        runs: usize,
        earlier: f64,
        now: f64,
        unit: String,
        off_percent: f64,
        limit_percent: f64,
    },
    /// A time that is added to another is clearly negative.
    NegativePart { component: String, ns: f64 },
    /// The work that a background counter loses says another time than the clock in the same
    /// windows.
    MethodsDisagree { windows_ns: f64, lost_ns: f64, off_percent: f64 },
    /// The second method gave no time.
    NoSecondMethod { reason: String },
    /// The thread's priority could not be raised.
    PriorityNotRaised {},
}

/// Codes of these findings.
pub mod code {
    /// [`SwitchFinding::OtherSwitches`](super::SwitchFinding::OtherSwitches).
    pub const OTHER_SWITCHES: &str = "other_switches";
    /// [`SwitchFinding::PlacementsDiffer`](super::SwitchFinding::PlacementsDiffer).
    pub const PLACEMENTS_DIFFER: &str = "placements_differ";
    /// [`SwitchFinding::PartnersUnknown`](super::SwitchFinding::PartnersUnknown).
    pub const PARTNERS_UNKNOWN: &str = "partners_unknown";
    /// [`SwitchFinding::DiffersFromEarlier`](super::SwitchFinding::DiffersFromEarlier).
    pub const DIFFERS_FROM_EARLIER_RUNS: &str = "differs_from_earlier_runs";
    /// [`SwitchFinding::NegativePart`](super::SwitchFinding::NegativePart).
    pub const NEGATIVE_PART: &str = "negative_part";
    /// [`SwitchFinding::MethodsDisagree`](super::SwitchFinding::MethodsDisagree).
    pub const METHODS_DISAGREE: &str = "methods_disagree";
    /// [`SwitchFinding::NoSecondMethod`](super::SwitchFinding::NoSecondMethod).
    pub const NO_SECOND_METHOD: &str = "no_second_method";
    /// [`SwitchFinding::PriorityNotRaised`](super::SwitchFinding::PriorityNotRaised).
    pub const PRIORITY_NOT_RAISED: &str = "priority_not_raised";
}

impl Kind for SwitchFinding {
    fn describe(self) -> Description {
        match self {
            SwitchFinding::OtherSwitches { windows, of, share_percent } => {
                other_switches(windows, of, share_percent)
            }
            SwitchFinding::PlacementsDiffer {
                spread_percent,
                limit_percent,
                lowest_ns,
                highest_ns,
                placements,
            } => {
                placements_differ(spread_percent, limit_percent, lowest_ns, highest_ns, placements)
            }
            SwitchFinding::PartnersUnknown { known, placements } => {
                partners_unknown(known, placements)
            }
            SwitchFinding::DiffersFromEarlier {
                runs,
                earlier,
                now,
                unit,
                off_percent,
                limit_percent,
            } => differs_from_earlier(runs, earlier, now, unit, off_percent, limit_percent),
            SwitchFinding::NegativePart { component, ns } => Description {
                code: code::NEGATIVE_PART,
                message: format!(
                    "`{component}` is {ns:.0} ns, clearly below zero: the parts do not simply add \
                     up, so use the sums"
                ),
                numbers: numbers! { component, ns },
                remedy: "use the sums, which are measured as such",
            },
            SwitchFinding::MethodsDisagree { windows_ns, lost_ns, off_percent } => {
                methods_disagree(windows_ns, lost_ns, off_percent)
            }
            SwitchFinding::NoSecondMethod { reason } => Description {
                code: code::NO_SECOND_METHOD,
                message: format!("no second method: {reason}"),
                numbers: numbers! { reason },
                remedy: "give more time",
            },
            SwitchFinding::PriorityNotRaised {} => Description {
                code: code::PRIORITY_NOT_RAISED,
                message:
                    "the priority could not be raised: other threads of this CPU disturb more \
                     windows"
                        .into(),
                numbers: Numbers::default(),
                remedy: "run with the privilege to raise the priority, for steadier readings",
            },
        }
    }
}

fn partners_unknown(known: usize, placements: usize) -> Description {
    let of = if known == 0 { "none of".to_owned() } else { format!("only {known} of") };
    let few = format!(
        "{of} {placements} partners had enough undisturbed windows for a cost of their own"
    );
    Description {
        code: code::PARTNERS_UNKNOWN,
        message: match (known, placements) {
            (_, 1) => {
                "there was time for one partner only: how partners differ is not in the interval"
                    .into()
            }
            (0 | 1, _) => format!("{few}: how partners differ is not in the interval"),
            _ => format!("{few}: the interval includes how these differ, and not the others"),
        },
        numbers: numbers! { known, placements },
        remedy: "give more time, or use a CPU that has nothing else to do",
    }
}

fn other_switches(windows: usize, of: usize, share_percent: f64) -> Description {
    Description {
        code: code::OTHER_SWITCHES,
        message: format!(
            "in {windows} of {of} windows ({}) the kernel counted other switches than the two \
             sides made: something else ran, or the sides did not alternate",
            in_percent(share_percent)
        ),
        numbers: numbers! { windows, of, share_percent },
        remedy: "use a CPU that has nothing else to do",
    }
}

fn placements_differ(
    spread_percent: f64,
    limit_percent: f64,
    lowest_ns: f64,
    highest_ns: f64,
    placements: usize,
) -> Description {
    Description {
        code: code::PLACEMENTS_DIFFER,
        message: format!(
            "{placements} partners in turn gave {lowest_ns:.0} to {highest_ns:.0} ns, a spread of \
             {}, and not all are within {} of their median: the next run may differ as much; the \
             interval includes it",
            in_percent(spread_percent),
            in_percent(limit_percent)
        ),
        numbers: numbers! { spread_percent, limit_percent, lowest_ns, highest_ns, placements },
        remedy: "give more time, or use a CPU that has nothing else to do",
    }
}

fn differs_from_earlier(
    runs: usize,
    earlier: f64,
    now: f64,
    unit: String,
    off_percent: f64,
    limit_percent: f64,
) -> Description {
    Description {
        code: code::DIFFERS_FROM_EARLIER_RUNS,
        message: format!(
            "a switch took {now:.0} {unit} in this run, and {earlier:.0} in the median of {runs} \
             earlier runs of the last week ({off_percent:+.1} %, limit {}): something on the \
             machine differs",
            in_percent(limit_percent)
        ),
        numbers: numbers! { runs, earlier, now, unit, off_percent, limit_percent },
        remedy: "repeat it: one of them is not what a switch costs here",
    }
}

fn methods_disagree(windows_ns: f64, lost_ns: f64, off_percent: f64) -> Description {
    Description {
        code: code::METHODS_DISAGREE,
        message: format!(
            "the clock says {windows_ns:.0} ns, the work that a background counter lost in the \
             same windows says {lost_ns:.0} ns ({off_percent:+.1} %): beyond both intervals"
        ),
        numbers: numbers! { windows_ns, lost_ns, off_percent },
        remedy: "take the difference as the uncertainty, or measure on a CPU that has nothing \
                 else to do",
    }
}
