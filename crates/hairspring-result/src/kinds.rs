//! Findings about whole results: several runs, or two results that are compared.

use hairspring_core::judge::words::shortened;
use hairspring_core::judge::{Description, Kind, Numbers};
use hairspring_core::numbers;

/// Findings about results.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum ResultFinding {
    /// Some of several processes were not to be trusted, and their answers were left out.
    RunsLeftOut { left_out: usize, runs: usize },
    /// A program that takes long ran in fewer processes than usual.
    FewerProcesses { processes: u32, usual: u32, took_s: f64 },
    /// Two results that are compared were not measured under the same circumstances.
    CircumstancesDiffer { what: String, old: String, new: String },
    /// Two results that are compared come from different builds of a program.
    OtherBuild { old: String, new: String },
    /// Series of a result that is compared are themselves not to be trusted.
    ComparedUntrusted { result: String, series: Vec<String>, reason: String },
    /// Two builds were measured one after the other, because a program takes no turns.
    NoTurns,
    /// Two builds are the same file.
    SameBuild,
}

impl Kind for ResultFinding {
    fn describe(self) -> Description {
        match self {
            ResultFinding::RunsLeftOut { left_out, runs } => Description {
                code: "runs_left_out",
                numbers: numbers! { left_out, runs },
                message: format!(
                    "{left_out} of {runs} processes were not to be trusted and are left out"
                ),
                remedy: "nothing to do; the JSON document has the answer of each process",
            },
            ResultFinding::FewerProcesses { processes, usual, took_s } => Description {
                code: "fewer_processes",
                numbers: numbers! { processes, usual, took_s },
                message: if processes == 1 {
                    format!(
                        "the program ran once, because it took {took_s:.0} s: the interval does \
                         not include how processes differ"
                    )
                } else {
                    format!(
                        "the program ran in {processes} processes instead of {usual}, because \
                         these took {took_s:.0} s"
                    )
                },
                remedy: "name the number of processes",
            },
            ResultFinding::CircumstancesDiffer { what, old, new } => Description {
                code: "circumstances_differ",
                message: format!("different {what}: {old} in the old result, {new} in the new one"),
                numbers: numbers! { what, old, new },
                remedy: "measure both under the same circumstances: the ratio includes this \
                         difference",
            },
            ResultFinding::OtherBuild { old, new } => Description {
                code: "other_build",
                message: "the two results are of different builds of the program: each build puts \
                          its code at other addresses, which can change the time of unchanged code \
                          by some percent, and neither interval includes that"
                    .into(),
                numbers: numbers! { old, new },
                remedy: "before you put a small difference down to a change, build both versions \
                         with the code at other addresses, too (for instance with \
                         -falign-functions=64), and compare again",
            },
            ResultFinding::ComparedUntrusted { result, series, reason } => Description {
                code: "compared_untrusted",
                message: format!(
                    "the {result} result of {} is not to be trusted: {reason}",
                    shortened(&series)
                ),
                numbers: numbers! { result, series, reason },
                remedy: "measure it again, then compare",
            },
            ResultFinding::NoTurns => no_turns(),
            ResultFinding::SameBuild => same_build(),
        }
    }
}

fn no_turns() -> Description {
    Description {
        code: "no_turns",
        numbers: Numbers::default(),
        message: "a program takes no turns, so whole processes alternate: what changes within a \
                  second does not cancel"
            .into(),
        remedy: "build both programs with the current version of the library; one that prints \
                 observations (C with the header alone) needs the installed library",
    }
}

fn same_build() -> Description {
    Description {
        code: "same_build",
        numbers: Numbers::default(),
        message: "base and head are the same program: any verdict but no difference is a false one"
            .into(),
        remedy: "nothing to do, if this is a test of the measurement",
    }
}
