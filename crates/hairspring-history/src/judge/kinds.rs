//! Findings about histories.

use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Findings about histories.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum HistoryFinding {
    /// Runs of commits that git does not know.
    CommitsUnknown { runs: usize },
    /// Runs that do not say of which commit they are.
    RunsWithoutCommit { runs: usize },
    /// The repository does not have all commits.
    CloneShallow,
    /// Series with too few points for any step.
    FewPoints { series: usize, fewest: usize },
    /// Single points far from their neighbours.
    OddPoints { points: usize },
    /// Points that could not be used.
    PointsUnused { points: usize },
}

impl Kind for HistoryFinding {
    fn describe(self) -> Description {
        match self {
            HistoryFinding::CommitsUnknown { runs } => Description {
                code: "commits_unknown",
                message: format!(
                    "{runs} runs are of commits that are not among those of the current branch: \
                     they lie where their times are"
                ),
                numbers: numbers! { runs },
                remedy: "run it in the repository, on the branch that the runs are of",
            },
            HistoryFinding::RunsWithoutCommit { runs } => Description {
                code: "runs_without_commit",
                message: format!("{runs} runs name no commit: they lie where their times are"),
                numbers: numbers! { runs },
                remedy: "measure in a git checkout, or give --commit when you add a file",
            },
            HistoryFinding::CloneShallow => Description {
                code: "clone_shallow",
                message: "this clone does not have all commits: earlier runs lie where their \
                          times are"
                    .into(),
                numbers: Default::default(),
                remedy: "git fetch --unshallow gets the others",
            },
            HistoryFinding::FewPoints { series, fewest } => Description {
                code: "few_points",
                message: format!(
                    "{series} series have fewer than {fewest} points, in which no step can be seen"
                ),
                numbers: numbers! { series, fewest },
                remedy: "add more runs",
            },
            HistoryFinding::OddPoints { points } => Description {
                code: "odd_points",
                message: format!(
                    "{points} points lie far from their neighbours on both sides and are left out: \
                     something disturbed these runs"
                ),
                numbers: numbers! { points },
                remedy: "nothing to do; `history show SERIES` marks them",
            },
            HistoryFinding::PointsUnused { points } => Description {
                code: "points_unused",
                message: format!(
                    "{points} points are not used: they are not to be trusted, are no numbers, or \
                     have an endless interval"
                ),
                numbers: numbers! { points },
                remedy: "look at the findings of their documents (`history export`)",
            },
        }
    }
}
