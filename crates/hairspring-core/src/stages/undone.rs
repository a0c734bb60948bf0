//! An init that undoes what a body left, such as `clear()` behind insertions, takes longer behind a
//! body than behind another init. Rows of bodies and inits cannot tell this time from the body's:
//! in all of them an init follows every body, and only further inits find nothing to undo. Rows
//! whose first init follows a body, and rows whose first init follows an init, differ by just this
//! time.

use crate::estimate::{Component, Contribution, Entry, Solution, Source, Uncertain, variance};
use crate::finding::words::interval;
use crate::finding::{Finding, Severity, code, with_unit};
use crate::limit::{FEWEST_MEANS, SLIGHT_SHARE, SURELY_APART};
use crate::observations::{Role, SeriesId};
use crate::stages::{Did, Stage, State, need};

pub(crate) const STAGE: Stage = Stage {
    name: "undone",
    question: "Does the init undo what a body left?",
    needs: &[need::VARIANTS],
    limits: &[],
    source: Some(Source::Undone),
    says,
};

/// Moves this time from the bodies to the inits.
pub(crate) fn move_undone_time_to_init(state: &mut State) -> Did {
    let mut done = Vec::new();
    for series in state.subjects() {
        let Some(undone) = undone_by_init(state, series) else { continue };
        let level = state.options.level;
        let Some(solution) = state.solution_mut(series) else { continue };
        let Some((body, init)) =
            body_and_init(solution).filter(|of| matters(&undone, solution, *of, level))
        else {
            continue;
        };
        for (unknown, sign) in [(body, -1.0), (init, 1.0)] {
            solution.shift(unknown, sign * undone.value);
            undone.budget.iter().for_each(|entry| solution.add(unknown, signed(entry, sign)));
        }
        state.undone[usize::from(series)] = Some(undone);
        done.push((series, "its time is moved to the init".to_owned()));
    }
    Did::each(done, "it takes the same time behind a body and behind an init")
}

/// What is added to the init is taken off the body.
fn signed(entry: &Contribution, sign: f64) -> Entry {
    match entry.spread {
        crate::estimate::Spread::Standard { sd, dof } => {
            Entry::standard(Source::Undone, sign * sd, dof).shared()
        }
        crate::estimate::Spread::Bound(bound) => {
            Entry::bound(Source::Undone, sign * bound).shared()
        }
    }
}

/// The time that the init of a series takes longer behind a body than behind an init, by rows of
/// the same counts.
fn undone_by_init(state: &State, series: SeriesId) -> Option<Uncertain> {
    let behind_init = state.arranged(series, Role::BehindInit)?;
    let row_behind_init =
        |counts: &[f64]| behind_init.rows.iter().find(|row| row.counts == counts && row.used > 0);
    let used = state.arranged(series, Role::BehindBody)?.rows.iter().filter(|row| row.used > 0);
    let longer: Vec<f64> = used
        .filter_map(|row| Some(row.location - row_behind_init(&row.counts)?.location))
        .collect();
    if longer.len() < FEWEST_MEANS as usize {
        return None;
    }
    let count = longer.len() as f64;
    let sd = (variance(&longer) / count).sqrt();
    Some(Uncertain {
        value: longer.iter().sum::<f64>() / count,
        budget: vec![Contribution::standard(Source::Undone, sd, count - 1.0)],
    })
}

impl State<'_> {
    /// The solution of the series that runs the code of another one in this arrangement.
    pub(crate) fn arranged(&self, series: SeriesId, role: Role) -> Option<&Solution> {
        let name = &self.table.series_names()[usize::from(series)];
        self.solution(self.table.find_series(self.table.origin.variant(name, role)?)?)
    }
}

/// Whether this time is certain, and matters to the body.
fn matters(undone: &Uncertain, solution: &Solution, (body, _): (usize, usize), level: f64) -> bool {
    let least_effect = (SLIGHT_SHARE * solution.vector.values[body].abs())
        .max(SURELY_APART * undone.estimate(level).half_width());
    undone.value.abs() > least_effect
}

/// The unknowns of the first two components, if each is one by itself.
fn body_and_init(solution: &Solution) -> Option<(usize, usize)> {
    let is_alone = |component: &Component, column: &String| {
        matches!(&component.parts[..],
        [(part, one)] if part == column && *one == 1.0)
    };
    let find = |column: &String| {
        solution
            .components
            .iter()
            .find(|component| is_alone(component, column))
            .map(|component| component.unknown)
    };
    Some((find(solution.columns.first()?)?, find(solution.columns.get(1)?)?))
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let (factor, unit) = state.shown_unit();
    let told = |undone: &Uncertain| {
        let longer = undone.estimate(state.options.level).scaled(factor);
        let message = if longer.value < 0.0 {
            let less = interval(&longer.scaled(-1.0), unit);
            format!(
                "behind a body the init takes {less} less than behind another init: the time of \
                 the init is that behind a body"
            )
        } else {
            let more = interval(&longer, unit);
            format!(
                "behind a body the init takes {more} longer than behind another init, because it \
                 undoes what the body left: this time is counted to the init"
            )
        };
        let remedy = "nothing to do; where init and body belong together, their sum is known \
                      better than each of the two";
        Finding::of(
            Severity::Note,
            code::INIT_UNDOES,
            message,
            with_unit(unit, [("longer", longer.into())]),
            remedy,
        )
    };
    state.undone[usize::from(series)].iter().map(told).collect()
}
#[cfg(test)]
mod tests {
    use crate::judge::{Question, SeriesResult, assess, code};
    use crate::observations::{Observations, Role, Variant};

    /// A body of 60 cycles whose init takes 12, and `undone` more behind a body.
    fn found(undone: f64) -> SeriesResult {
        let mut table = Observations::new(vec!["body".into(), "init".into()]);
        let series =
            ["code", "behind a body", "behind an init", "ruler"].map(|name| table.series(name));
        for round in 0..48u32 {
            for n in [1, 2, 4, 6] {
                for further in [0, 2, 4] {
                    let (bodies, inits) = (f64::from(n), f64::from(n + further));
                    let wobble = f64::from((round * 7 + n * 13 + further * 5) % 11) / 10.0 - 0.5;
                    let full = 40.0 + bodies * (60.0 + undone) + inits * 12.0 + wobble;
                    let row = table.row(series[0], &[bodies, inits]);
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
        let variant =
            |series: &str, role| Variant { series: series.into(), role, of: "code".into() };
        table.origin.variants = vec![
            variant("behind a body", Role::BehindBody),
            variant("behind an init", Role::BehindInit),
        ];
        table.origin.serving = vec!["init".into()];
        let assessment = assess(&table, &Question::default()).unwrap();
        assert_eq!(assessment.series.len(), 1);
        assessment.series.into_iter().next().unwrap()
    }

    fn cycles(result: &SeriesResult) -> [f64; 2] {
        [0, 1].map(|at| result.components[at].time.cycles.as_ref().unwrap().value)
    }

    #[test]
    fn what_an_init_undoes_is_time_of_the_init() {
        let found = found(90.0);
        let [body, init] = cycles(&found);
        assert!((body - 60.0).abs() < 1.0 && (init - 102.0).abs() < 1.0, "{body} {init}");
        assert!(
            found.findings.iter().any(|finding| finding.is(code::INIT_UNDOES)),
            "{:?}",
            found.findings
        );
    }

    #[test]
    fn an_init_that_takes_the_same_time_everywhere_changes_nothing() {
        let found = found(0.0);
        let [body, init] = cycles(&found);
        assert!((body - 60.0).abs() < 0.3 && (init - 12.0).abs() < 0.3, "{body} {init}");
        assert!(!found.findings.iter().any(|finding| finding.is(code::INIT_UNDOES)));
    }
}
