//! What the rows of two saved results depart from their lines by in the same way: it is in both
//! times, and not in their ratio.
//!
//! Copies of code one after the other are predicted, aligned and overlapped as their number has it,
//! so that rows depart from the line by more than noise. A time carries that in its interval, as
//! nothing says what the rows that there are not would show. But the rows of equal code depart by
//! the same: what that does to a time it does to both, and their ratio is off only by what differs
//! between them. Within one run the rows themselves say it; of two documents their residuals are
//! left.

use super::Unit;
use crate::document::{RunValue, Series};
use hairspring_core::Estimate;
use hairspring_core::estimate::between_runs;
use std::collections::BTreeMap;

/// Fewest rows with the same counts in both beyond the unknowns, and the least share of all rows.
const FEWEST_SPARE: usize = 3;
const LEAST_SHARE: f64 = 0.75;
/// Rows that differ by a larger share may be alike by chance.
const MOST_DIFFERING: f64 = 0.5;

/// The mean departure of the rows with each count, in times of the component.
#[derive(Debug, Clone, PartialEq, Default)]
struct Departures(BTreeMap<Vec<u64>, f64>);

impl Departures {
    /// Of rows with these counts and residuals, and a time in the unit of the residuals.
    fn new<'r>(rows: impl IntoIterator<Item = (&'r [f64], f64)>, time: f64) -> Departures {
        let mut sums: BTreeMap<Vec<u64>, (f64, f64)> = BTreeMap::new();
        for (counts, residual) in rows {
            let sum = sums.entry(counts.iter().map(|count| count.to_bits()).collect()).or_default();
            *sum = (sum.0 + residual / time, sum.1 + 1.0);
        }
        Departures(sums.into_iter().map(|(counts, (sum, number))| (counts, sum / number)).collect())
    }

    /// The share of the departures that differs from those of another fit of as many unknowns: the
    /// root mean square of the differences over that of both together, which is about 1 where the
    /// two have nothing to do with each other. 1 where it is more than a half, as few rows may be
    /// alike by chance, or where too few rows have the same counts.
    fn differing(&self, other: &Departures, unknowns: usize) -> f64 {
        let shared: Vec<(f64, f64)> = self
            .0
            .iter()
            .filter_map(|(counts, departure)| Some((*departure, *other.0.get(counts)?)))
            .collect();
        let all = self.0.len().max(other.0.len()) as f64;
        if shared.len() < unknowns + FEWEST_SPARE || (shared.len() as f64) < LEAST_SHARE * all {
            return 1.0;
        }
        let squares = |of: &dyn Fn(&(f64, f64)) -> f64| {
            shared.iter().map(|pair| of(pair).powi(2)).sum::<f64>()
        };
        let both = squares(&|pair| pair.0) + squares(&|pair| pair.1);
        let share = (squares(&|pair| pair.1 - pair.0) / both).sqrt();
        if share <= MOST_DIFFERING { share } else { 1.0 }
    }
}

/// Of the departures of the rows of two results, the share that differs between them: 1 where they
/// have nothing in common, or too few rows.
pub fn differing(old: &Series, new: &Series) -> f64 {
    let unknowns = old.fit.rank.max(new.fit.rank);
    departures(old).zip(departures(new)).map_or(1.0, |(old, new)| old.differing(&new, unknowns))
}

/// An interval of a series' first component in this unit, in which only this share of the rows'
/// departure counts. One that reaches to zero stays as it is.
pub fn with_share(interval: Estimate, series: &Series, unit: Unit, share: f64) -> Estimate {
    let Some((name, component)) = series.body() else { return interval };
    match &component.runs {
        None => series.departures(name).map_or(interval, |parts| narrowed(interval, &parts, share)),
        Some(runs) => between(runs, unit, share)
            .map_or(interval, |half| within(interval, |old| old.min(half))),
    }
}

/// The half-width of the mean of several processes, if only this share of their rows' departure
/// counts. `None` where a process does not tell.
fn between(runs: &[RunValue], unit: Unit, share: f64) -> Option<f64> {
    let used = runs.iter().filter(|run| !run.left_out);
    let narrowed =
        |run: &RunValue| Some(narrowed(run.interval(unit)?, run.departures.as_ref()?, share));
    let all = used.map(narrowed).collect::<Option<Vec<Estimate>>>()?;
    let level = all.first()?.level;
    Some(between_runs(&all)?.estimate(level).half_width())
}

/// An interval with a share of the parts of its half-width that are by the rows' departure, which
/// are given as shares of the value.
fn narrowed(interval: Estimate, parts: &[f64], share: f64) -> Estimate {
    if interval.low <= 0.0 {
        return interval;
    }
    let (linear, square) = parts
        .iter()
        .fold((0.0, 0.0), |(linear, square), part| (linear + part, square + part * part));
    let size = interval.value.abs();
    // Whether they were added in quadrature is not in the document: what is left without them is
    // then the largest that it may be.
    within(interval, |half| {
        half.min((half * half - square * size * size).max(0.0).sqrt() + share * linear * size)
    })
}

/// An interval around the same value, with half-widths made of those to both sides.
fn within(interval: Estimate, half: impl Fn(f64) -> f64) -> Estimate {
    let Estimate { value, low, high, .. } = interval;
    Estimate { low: value - half(value - low), high: value + half(high - value), ..interval }
}

/// The departures of the rows; of several processes those of the first.
fn departures(series: &Series) -> Option<Departures> {
    let (_, component) = series.body()?;
    let used = series.fit.rows_detail.iter().filter(|row| row.left_out.is_none());
    let rows = used.filter_map(|row| {
        Some((&row.counts[..], row.residual_ns.or(row.residual_ticks).flatten()?))
    });
    Some(Departures::new(rows, component.figure.time().filter(|time| time.value > 0.0)?.value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A result of 10 ns +- 0.5 of which 0.4 are by the rows' departure, with these residuals at 1,
    /// 2, 3, ... copies.
    fn series(residuals: &[f64]) -> Series {
        let rows: Vec<_> = residuals
            .iter()
            .enumerate()
            .map(|(at, ns)| json!({ "counts": [at + 1], "residual_ns": ns, "left_out": null }))
            .collect();
        let time = json!({ "value": 10.0, "low": 9.5, "high": 10.5, "level": 0.95 });
        let entry = |source: &str, half: f64| json!({ "source": source, "half_width_ns": half });
        serde_json::from_value(json!({
            "name": "code", "code": "f()", "bytes_per_copy": null, "overhead": null,
            "components": { "body": { "time_ns": time, "cycles": null, "below_resolution": false,
            "mode": null } },
            "fit": { "columns": ["body"], "rank": 2, "rows_detail": rows },
            "budget": { "body": [entry("stochastic", 0.3), entry("lack_of_fit", 0.4)] },
        }))
        .unwrap()
    }

    const ROWS: [f64; 8] = [0.3, -0.2, 0.4, -0.5, 0.1, 0.2, -0.3, 0.25];

    fn half(other: &Series) -> f64 {
        let (one, interval) =
            (series(&ROWS), Estimate { value: 30.0, low: 28.5, high: 31.5, level: 0.95 });
        let found = with_share(interval, &one, Unit::Nanoseconds, differing(other, &one));
        assert!((found.high + found.low - 60.0).abs() < 1e-12);
        found.half_width()
    }

    #[test]
    fn rows_that_depart_alike_leave_the_rest_of_the_interval() {
        // The other sources have 0.3 of 10.
        assert!((half(&series(&ROWS)) - 0.9).abs() < 1e-12);
        let nearly = series(&ROWS.map(|ns| 0.9 * ns));
        assert!(
            (half(&nearly) - (0.9 + 1.2 * 0.1 / 1.81f64.sqrt())).abs() < 1e-9,
            "{}",
            half(&nearly)
        );
    }

    #[test]
    fn rows_that_depart_otherwise_or_are_too_few_leave_it_as_it_is() {
        assert_eq!(half(&series(&ROWS.map(|ns| -ns))), 1.5);
        assert_eq!(half(&series(&ROWS[..4])), 1.5);
        assert_eq!(half(&series(&[])), 1.5);
    }

    #[test]
    fn a_time_below_resolution_stays_as_it_is() {
        let below = Estimate { value: 30.0, low: 0.0, high: 60.0, level: 0.95 };
        assert_eq!(with_share(below, &series(&ROWS), Unit::Nanoseconds, 0.0), below);
    }

    /// Three processes of 30, 30.3 and 30.6 ns, each +-1.5, of which these shares of the time are
    /// by the rows' departure.
    fn several(departures: Option<&[f64]>) -> Series {
        let run = |value: f64| RunValue {
            time_ns: Some(Estimate { value, low: value - 1.5, high: value + 1.5, level: 0.95 }),
            ticks: None,
            cycles: None,
            departures: departures.map(<[f64]>::to_vec),
            left_out: false,
        };
        let mut several = series(&ROWS);
        several.components.get_mut("body").unwrap().runs =
            Some([30.0, 30.3, 30.6].map(run).to_vec());
        several
    }

    #[test]
    fn of_several_processes_the_spread_stays_and_what_their_rows_depart_by_goes() {
        let half = |departures: Option<&[f64]>, share: f64| {
            let interval = Estimate { value: 30.3, low: 28.6, high: 32.0, level: 0.95 };
            with_share(interval, &several(departures), Unit::Nanoseconds, share).half_width()
        };
        // The spread alone is 0.745.
        assert!(
            (half(Some(&[0.0495]), 0.0) - 0.745).abs() < 0.06,
            "{}",
            half(Some(&[0.0495]), 0.0)
        );
        assert!(half(Some(&[0.0495]), 0.5) > 0.9 && half(Some(&[0.0495]), 0.5) < 1.4);
        assert!((half(Some(&[]), 0.0) - 1.7).abs() < 0.03);
        assert!((half(None, 0.0) - 1.7).abs() < 1e-9);
    }

    fn rows_with(residuals: &[f64]) -> Departures {
        let counts: Vec<[f64; 1]> = (0..residuals.len()).map(|at| [at as f64]).collect();
        Departures::new(counts.iter().map(|row| &row[..]).zip(residuals.iter().copied()), 2.0)
    }

    #[test]
    fn rows_that_are_too_few_or_not_those_of_both_say_nothing() {
        let all = [0.3, -0.2, 0.4, -0.5, 0.1, 0.2, -0.3, 0.25, 0.1];
        assert_eq!(rows_with(&all[..5]).differing(&rows_with(&all[..5]), 2), 0.0);
        assert_eq!(rows_with(&all[..4]).differing(&rows_with(&all[..4]), 2), 1.0);
        assert_eq!(rows_with(&all[..5]).differing(&rows_with(&all[..5]), 3), 1.0);
        // Six of nine are less than three quarters.
        assert_eq!(rows_with(&all[..6]).differing(&rows_with(&all), 2), 1.0);
        assert_eq!(rows_with(&[0.0; 8]).differing(&rows_with(&[0.0; 8]), 2), 1.0);
        assert_eq!(rows_with(&[f64::NAN; 8]).differing(&rows_with(&[f64::NAN; 8]), 2), 1.0);
    }

    #[test]
    fn rows_with_equal_counts_count_by_their_mean() {
        let rows = [[1.0], [1.0], [2.0], [3.0], [4.0], [5.0]];
        let with = |residuals: [f64; 6]| {
            Departures::new(rows.iter().map(|row| &row[..]).zip(residuals), 1.0)
        };
        let (one, other) =
            (with([0.5, -0.1, 0.3, -0.4, 0.2, 0.1]), with([0.1, 0.3, 0.3, -0.4, 0.2, 0.1]));
        assert!(one.differing(&other, 2) < 1e-12);
    }
}
