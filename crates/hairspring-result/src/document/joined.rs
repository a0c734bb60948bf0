//! Joins several documents.

use super::{ResultDocument, Run};

/// Joins the documents of one run: results and comparisons are concatenated, circumstances are
/// those of the first. `None` if there is no document.
pub fn joined(documents: impl IntoIterator<Item = ResultDocument>) -> Option<ResultDocument> {
    documents.into_iter().reduce(|mut all, one| {
        all.results.extend(one.results);
        all.comparisons.extend(one.comparisons);
        all.methods.extend(one.methods);
        all.run = joined_runs(all.run, one.run);
        all
    })
}

/// The mean of two shares, each of so many rounds; the one that is known if the other is not.
fn mean_by_rounds(shares: (Option<f64>, Option<f64>), rounds: (u32, u32)) -> Option<f64> {
    let (all, one) = (f64::from(rounds.0.max(1)), f64::from(rounds.1.max(1)));
    let both = shares.0.zip(shares.1).map(|shares| (shares.0 * all + shares.1 * one) / (all + one));
    both.or(shares.0).or(shares.1)
}

/// Sums rounds and times; keeps the stop reason if both have the same. The share of the run in
/// which the core was quiet is the mean by rounds.
pub fn joined_runs(all: Option<Run>, one: Option<Run>) -> Option<Run> {
    let (Some(all), Some(one)) = (&all, &one) else { return all.or(one) };
    let sum = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a + b);
    Some(Run {
        rounds: all.rounds.saturating_add(one.rounds),
        measured_ms: sum(all.measured_ms, one.measured_ms),
        budget_spent_ms: all.budget_spent_ms.zip(one.budget_spent_ms).map(|(all, one)| all + one),
        elapsed_ms: sum(all.elapsed_ms, one.elapsed_ms),
        stop: if all.stop == one.stop {
            all.stop.clone()
        } else {
            "differs between benchmarks".to_owned()
        },
        stolen_ms: sum(all.stolen_ms, one.stolen_ms),
        quiet_percent: mean_by_rounds(
            (all.quiet_percent, one.quiet_percent),
            (all.rounds, one.rounds),
        ),
        processes: all.processes,
        placements: all.placements.zip(one.placements).map(|(all, one)| all.saturating_add(one)),
    })
}
