//! An init that undoes what a body left, such as `clear()` behind insertions, takes longer behind a body than behind another init. Rows of
//! bodies and inits cannot tell this time from the body's: in all of them an init follows every body, and only further inits find nothing
//! to undo. Rows whose first init follows a body, and rows whose first init follows an init, differ by just this time.

use super::{Context, Finding, FindingKind, Severity};
use crate::estimate::{Component, Contribution, Estimate, Solution, Source, Uncertain, variance};

/// Fewest pairs of rows: their spread is the only measure of the difference's error.
const FEWEST_PAIRS: usize = 3;
/// Share of the body from which on the time is moved to the init. Less is within what other code on the core does to the first init.
const LEAST_SHARE: f64 = 0.02;
/// Half-widths from which on it is: chance alone does not move the time of a body.
const SURE: f64 = 2.0;

/// The time that an init takes longer behind a body than behind an init, by rows of the same counts.
pub(super) fn undone(behind_body: &Solution, behind_init: &Solution) -> Option<Uncertain> {
    let other = |counts: &[f64]| behind_init.rows.iter().find(|row| row.counts == counts && row.used > 0);
    let used = behind_body.rows.iter().filter(|row| row.used > 0);
    let longer: Vec<f64> = used.filter_map(|row| Some(row.location - other(&row.counts)?.location)).collect();
    if longer.len() < FEWEST_PAIRS {
        return None;
    }
    let count = longer.len() as f64;
    let mean = longer.iter().sum::<f64>() / count;
    let sd = (variance(&longer) / count).sqrt();
    Some(Uncertain { value: mean, budget: vec![Contribution::standard(Source::Ends, sd, count - 1.0)] })
}

/// Whether this time is certain, and matters to the body.
pub(super) fn matters(undone: &Uncertain, main: &Solution, level: f64) -> bool {
    let least = |(body, _): (usize, usize)| LEAST_SHARE * main.components[body].ticks.value.abs();
    let least = body_and_init(main).map_or(f64::INFINITY, least).max(SURE * undone.estimate(level).half_width());
    undone.value.abs() > least
}

/// Moves this time from the body to the init.
pub(super) fn move_to_init(solution: &mut Solution, undone: &Uncertain, level: f64) {
    let Some((body, init)) = body_and_init(solution) else { return };
    for (at, sign) in [(body, -1.0), (init, 1.0)] {
        let component = &mut solution.components[at];
        let value = component.uncertain.value + sign * undone.value;
        let with = Uncertain { value, budget: component.uncertain.budget.clone() };
        component.replace(undone.budget.iter().copied().fold(with, Uncertain::with), level);
    }
}

/// The body of a solution without this time, if it has one.
pub(super) fn without(body: Estimate, undone: Option<&Uncertain>) -> Estimate {
    undone.map_or(body, |undone| body.shifted(-undone.value))
}

/// The finding that says so.
pub(super) fn finding(undone: &Uncertain, context: &Context, level: f64) -> Finding {
    let longer = undone.estimate(level).scaled(context.factor);
    Finding::new(Severity::Note, FindingKind::InitUndoes { longer, unit: context.unit.to_owned() })
}

/// The first two components, if each is one by itself.
fn body_and_init(solution: &Solution) -> Option<(usize, usize)> {
    let is_alone = |component: &Component, column: &String| matches!(&component.parts[..], [(part, one)] if part == column && *one == 1.0);
    let find = |column: &String| solution.components.iter().position(|component| is_alone(component, column));
    Some((find(solution.columns.first()?)?, find(solution.columns.get(1)?)?))
}

#[cfg(test)]
mod tests {
    use crate::judge::{Question, SeriesResult, assess, code};
    use crate::observations::{Observations, Role, Variant};

    /// A body of 60 cycles whose init takes 12, and `undone` more behind a body.
    fn found(undone: f64) -> SeriesResult {
        let mut table = Observations::new(vec!["body".into(), "init".into()]);
        let series = ["code", "behind a body", "behind an init", "ruler"].map(|name| table.series(name));
        for round in 0..48u32 {
            for n in [1, 2, 4, 6] {
                for further in [0, 2, 4] {
                    let (bodies, all) = (f64::from(n), f64::from(n + further));
                    let wobble = f64::from((round * 7 + n * 13 + further * 5) % 11) / 10.0 - 0.5;
                    let full = 40.0 + bodies * (60.0 + undone) + all * 12.0 + wobble;
                    let row = table.row(series[0], &[bodies, all]);
                    table.push(row, round, full);
                    let chain = table.row(series[3], &[bodies, 0.0]);
                    table.push(chain, round, 40.0 + 3.0 * bodies + wobble);
                    if further == 0 {
                        let behind = [1, 2].map(|at| table.row(series[at], &[bodies, bodies]));
                        table.push(behind[0], round, full);
                        table.push(behind[1], round, full - undone + wobble);
                    }
                }
            }
        }
        table.origin.reference = Some(("ruler".into(), 3.0));
        let variant = |series: &str, role| Variant { series: series.into(), role, of: "code".into() };
        table.origin.variants = vec![variant("behind a body", Role::BehindBody), variant("behind an init", Role::BehindInit)];
        table.origin.serving = vec!["init".into()];
        let found = assess(&table, &Question::default()).unwrap();
        assert_eq!(found.series.len(), 1);
        found.series.into_iter().next().unwrap()
    }

    fn cycles(found: &SeriesResult) -> [f64; 2] {
        [0, 1].map(|at| found.components[at].time.cycles.as_ref().unwrap().value)
    }

    #[test]
    fn what_an_init_undoes_is_time_of_the_init() {
        let found = found(90.0);
        let [body, init] = cycles(&found);
        assert!((body - 60.0).abs() < 1.0 && (init - 102.0).abs() < 1.0, "{body} {init}");
        assert!(found.findings.iter().any(|finding| finding.is(code::INIT_UNDOES)), "{:?}", found.findings);
    }

    #[test]
    fn an_init_that_takes_the_same_time_everywhere_changes_nothing() {
        let found = found(0.0);
        let [body, init] = cycles(&found);
        assert!((body - 60.0).abs() < 0.3 && (init - 12.0).abs() < 0.3, "{body} {init}");
        assert!(!found.findings.iter().any(|finding| finding.is(code::INIT_UNDOES)));
    }
}
