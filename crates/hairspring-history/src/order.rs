//! The order of runs: that of their commits, as far as git knows them, else that of their times.

use crate::store::Run;
use std::collections::HashMap;

/// Runs in their order, and how many of them have a commit that is not among those of git.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ordered {
    /// Places of the runs.
    pub order: Vec<usize>,
    /// Runs whose commit git does not know.
    pub unknown: usize,
    /// Runs without a commit.
    pub without: usize,
}

/// The runs in order. `commits` are those of git, the oldest first; empty without a repository.
/// A run that git does not know comes behind the last known one that is no younger.
pub fn ordered(runs: &[Run], commits: &[String]) -> Ordered {
    let places: HashMap<&str, usize> =
        commits.iter().enumerate().map(|(at, commit)| (commit.as_str(), at)).collect();
    let place = |run: &Run| places.get(run.commit.as_deref()?).copied();
    let mut known: Vec<usize> = (0..runs.len()).filter(|at| place(&runs[*at]).is_some()).collect();
    known.sort_by_key(|at| (place(&runs[*at]), runs[*at].made, runs[*at].id));
    let mut others: Vec<usize> = (0..runs.len()).filter(|at| place(&runs[*at]).is_none()).collect();
    others.sort_by_key(|at| (runs[*at].made, runs[*at].id));
    let without = others.iter().filter(|at| runs[**at].commit.is_none()).count();
    Ordered { unknown: others.len() - without, without, order: merged(runs, &known, &others) }
}

fn merged(runs: &[Run], known: &[usize], others: &[usize]) -> Vec<usize> {
    // How many known ones come before each of the others.
    let before = |other: &usize| {
        let is_older = |at: &usize| runs[*at].made <= runs[*other].made;
        known.iter().rposition(is_older).map_or(0, |at| at + 1)
    };
    let mut all: Vec<(usize, usize, usize)> =
        known.iter().enumerate().map(|(at, run)| (at + 1, 0, *run)).collect();
    all.extend(others.iter().enumerate().map(|(at, run)| (before(run), at + 1, *run)));
    all.sort_unstable();
    all.into_iter().map(|(_, _, run)| run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(commit: Option<&str>, made: i64) -> Run {
        Run { commit: commit.map(str::to_owned), made, ..Run::default() }
    }

    #[test]
    fn commits_come_before_times() {
        let commits = ["a", "b", "c"].map(str::to_owned);
        let runs = [run(Some("c"), 1), run(Some("a"), 5), run(Some("b"), 3), run(Some("b"), 2)];
        assert_eq!(ordered(&runs, &commits).order, [1, 3, 2, 0]);
        assert_eq!(ordered(&runs, &[]).order, [0, 3, 2, 1]);
        assert_eq!(ordered(&runs, &[]).unknown, 4);
    }

    #[test]
    fn what_git_does_not_know_lies_where_its_time_is() {
        let commits = ["a", "b"].map(str::to_owned);
        let runs = [run(Some("a"), 10), run(Some("b"), 20), run(Some("x"), 15), run(None, 5)];
        let found = ordered(&runs, &commits);
        assert_eq!((found.order, found.unknown, found.without), (vec![3, 0, 2, 1], 1, 1));
        assert_eq!(ordered(&[], &commits), Ordered::default());
    }
}
