//! Chains of known length that ran in the same rounds: what they miss of their lengths, times of
//! code may miss too. A process on the other hardware thread slows some chains and not others. A
//! chain of the code waits as they do; independent copies fill units of the core, of which the
//! chains need few, and are slowed by much more.

use crate::estimate::{Entry, Estimate, LayoutsAre, Solution, Source, combined};
use crate::finding::{Finding, Severity, code};
use crate::limit::{Basis, HALF_PRECISION, limits};
use crate::numbers;
use crate::observations::{Occupancy, SeriesId, Uses};
use crate::stages::{Did, Stage, State, need};

limits! {
    /// Who slows one kind of units slows all code, as if it used them for this share of its time.
    LEAST_SHARE = 0.25, "share of the time", Basis::Seen("with a tenth 94 and 96 % of the \
                                                          intervals of chains hold, with a \
                                                          quarter 96 and 97 %; AMD family 25, \
                                                          November 2026");
    /// So much of a chain's distance from its length is chance.
    BY_CHANCE = 0.5, "half-widths",
        Basis::Derived("some of several chains are always off by chance");
}

pub(crate) const STAGE: Stage = Stage {
    name: "controls",
    question: "Do chains of known length have their lengths?",
    needs: &[need::REFERENCE, need::CONTROLS],
    limits: &[LIMITS],
    source: Some(Source::Controls),
    says,
};

/// The measured length of a control chain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Control {
    /// Its series.
    pub name: String,
    /// Core cycles of one copy, as measured.
    pub cycles: Estimate,
    /// Core cycles of one copy, as known.
    pub length: f64,
}

impl Control {
    fn off(&self) -> f64 {
        (self.cycles.value - self.length).abs()
    }

    /// The distance from its length as a bound for the times of code, as a share: less what it may
    /// be off by chance.
    fn distance(&self) -> f64 {
        ((self.off() - BY_CHANCE * self.cycles.half_width()) / self.length).max(0.0)
    }

    /// Whether it surely does not have its length, by so much that it matters to code that uses its
    /// units for this share of the time.
    fn is_doubted(&self, share: f64) -> bool {
        self.off() > self.cycles.half_width() && share * self.off() / self.length > HALF_PRECISION
    }

    /// The largest share of the time of a series in which it uses the units of the control, one
    /// instruction after the other. All of it, if nothing tells what units they are.
    fn share(&self, state: &State, series: SeriesId) -> f64 {
        let uses = state.table.origin.uses_of(&self.name).zip(watched(state, series));
        let (Some((own_uses, uses_of_code)), Some(cycles)) = (uses, cycles_of(state, series))
        else {
            return 1.0;
        };
        let number = |uses: &Uses, unit: &str| {
            uses.iter().find(|(name, _)| name == unit).map_or(0.0, |(_, number)| f64::from(*number))
        };
        let taken_time = |(unit, of_copy): &(String, u32)| {
            number(uses_of_code, unit) / f64::from((*of_copy).max(1)) * self.length
        };
        (own_uses.iter().map(taken_time).fold(0.0, f64::max) / cycles).clamp(LEAST_SHARE, 1.0)
    }
}

/// The units that a chain uses, if chains watch all of them: code that fills units is slowed by
/// more than they are, and of other units nobody knows.
fn watched<'s>(state: &'s State, series: SeriesId) -> Option<&'s Uses> {
    let origin = &state.table.origin;
    let is_watched = |(unit, _): &(String, u32)| {
        let of_chains = origin.chains().filter_map(|(chain, _)| origin.uses_of(chain)).flatten();
        of_chains.into_iter().any(|(watched, _)| watched == unit)
    };
    let is_chain = state.occupancy(series) == Some(Occupancy::Waits);
    origin.uses_of(state.name(series)).filter(|uses| is_chain && uses.iter().all(is_watched))
}

/// The first time of a series in core cycles.
fn cycles_of(state: &State, series: SeriesId) -> Option<f64> {
    let cycles = state.solution(series)?.vector.values[0] * cycles_per_tick(state)?.1;
    (cycles.is_finite() && cycles > 0.0).then_some(cycles)
}

/// The reference chain, and the core cycles of a tick by it.
fn cycles_per_tick<'s>(state: &'s State) -> Option<(&'s Solution, f64)> {
    let (reference, length) = state.reference()?;
    let ruler = state.solution(reference)?;
    Some((ruler, length / ruler.vector.values[0]))
}

/// Whether a control is off that matters to a series.
pub(crate) fn is_disturbed(state: &State) -> bool {
    let doubts = |series| {
        state.controls.iter().any(|control| control.is_doubted(control.share(state, series)))
    };
    state.subjects().into_iter().any(doubts)
}

/// Adds what each control misses of its length to the times of code that uses its units, for its
/// share of the time. It is an error that all times have that use them, so that it cancels in a
/// ratio. Where nothing tells which units the code uses, the largest counts.
pub(crate) fn widen(state: &mut State) -> Did {
    state.controls = state
        .table
        .origin
        .controls
        .iter()
        .filter_map(|(name, length)| control(state, name, *length))
        .collect();
    let bounds: Vec<_> =
        state.subjects().into_iter().map(|series| (series, bounds(state, series))).collect();
    let mut done = Vec::new();
    for (series, bounds) in bounds.into_iter().filter(|(_, bounds)| !bounds.is_empty()) {
        let sum: f64 = bounds.iter().map(|(_, bound)| bound).sum();
        done.push((
            series,
            format!("the units that the code uses are off by up to {:.3} %", 100.0 * sum),
        ));
        let Some(solution) = state.solution_mut(series) else { continue };
        for unknown in 0..solution.vector.values.len() {
            let value = solution.vector.values[unknown];
            bounds.iter().for_each(|(control, bound)| {
                solution.add(
                    unknown,
                    Entry::bound(Source::Controls, bound * value).shared_as(*control),
                );
            });
        }
    }
    Did::each(done, "they have")
}

/// The bounds of a series by the controls, with the number of each.
fn bounds(state: &State, series: SeriesId) -> Vec<(u8, f64)> {
    let bound = |(at, control): (usize, &Control)| {
        (at as u8, control.share(state, series) * control.distance())
    };
    let all_bounds = state.controls.iter().enumerate().map(bound).filter(|(_, bound)| *bound > 0.0);
    if watched(state, series).is_some() {
        all_bounds.collect()
    } else {
        all_bounds.max_by(|a, b| a.1.total_cmp(&b.1)).into_iter().collect()
    }
}

fn control(state: &State, name: &str, length: f64) -> Option<Control> {
    let (chain, (ruler, per_tick)) =
        (state.solution(state.table.find_series(name)?)?, cycles_per_tick(state)?);
    let cycles = chain.vector.values[0] * per_tick;
    let parts = [chain.part(0, per_tick), ruler.part(0, -cycles / ruler.vector.values[0])];
    let cycles = combined(cycles, &parts, state.options.level, LayoutsAre::Fixed)
        .estimate(state.options.level);
    Some(Control { name: name.to_owned(), cycles, length })
}

/// The finding about the control that is off by most for a series. The interval holds what it
/// misses, and code that waits misses no more. Where the code fills units of the core, it may have
/// been slowed by more than a chain, unless rounds show its time in which they were its own.
fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let occupancy = state.occupancy(series);
    let is_shown = state.ports[usize::from(series)].is_some_and(|shared| shared.has_floor);
    let finding = |control: &Control| {
        let share = control.share(state, series);
        let severity = match occupancy {
            Some(Occupancy::Fills) if !is_shown => Severity::Untrusted,
            _ => Severity::Warning,
        };
        control.is_doubted(share).then(|| {
            (
                share * control.distance(),
                shared_finding(severity, control.cycles.value, control.length),
            )
        })
    };
    let most = state.controls.iter().filter_map(finding).max_by(|a, b| a.0.total_cmp(&b.0));
    most.map(|(_, finding)| finding).into_iter().collect()
}

/// The finding that something else used the core, by a chain of this length.
pub fn shared_finding(severity: Severity, control_cycles: f64, expected_cycles: f64) -> Finding {
    let unit = if expected_cycles == 1.0 { "cycle" } else { "cycles" };
    let message = format!(
        "a control chain of {expected_cycles} {unit} was measured as {control_cycles:.3}: \
         something else used the core (for example a process on its other hardware thread), or \
         slowed one chain and not the other"
    );
    let remedy = "measure again, on another CPU or a quieter machine";
    Finding::of(
        severity,
        code::CORE_SHARED,
        message,
        numbers! { control_cycles, expected_cycles },
        remedy,
    )
}

#[cfg(test)]
mod tests {
    use super::LEAST_SHARE;
    use crate::estimate::Source;
    use crate::finding::Severity;
    use crate::judge::{Question, assess};
    use crate::observations::{Observations, Occupancy};
    use crate::result::Assessment;

    /// Code of 10 cycles and three chains: a reference, and controls of 1 and 4 cycles, the second
    /// of which is longer by this share.
    fn table(longer: f64) -> Observations {
        let mut table = Observations::new(vec!["body".into()]);
        for round in 0..200 {
            for (name, cycles) in [
                ("code", 10.0),
                ("reference", 3.0),
                ("simple", 1.0),
                ("load", 4.0 * (1.0 + longer)),
            ] {
                let series = table.series(name);
                for copies in [32.0, 64.0, 96.0, 128.0] {
                    let row = table.row(series, &[copies]);
                    let noise = f64::from((round * 7 + row * 3) % 11) / 11.0;
                    table.push(row, round, 40.0 + copies * cycles + noise);
                }
            }
        }
        table.origin.reference = Some(("reference".into(), 3.0));
        table.origin.controls = vec![("simple".into(), 1.0), ("load".into(), 4.0)];
        let uses = |unit: &str| (unit.to_owned(), vec![(unit.to_owned(), 1)]);
        table.origin.uses = vec![uses("simple"), uses("load")];
        table.origin.occupancy = vec![("code".into(), Occupancy::Waits)];
        table
    }

    fn assessed(table: &Observations) -> Assessment {
        assess(table, &Question::default()).unwrap()
    }

    /// The bound by the controls as a share, and the severity of what is said of them.
    fn found(table: &Observations) -> (f64, Option<Severity>) {
        let assessment = assessed(table);
        let code = &assessment.series[0];
        let cycles = code.components[0].time.cycles.as_ref().unwrap();
        let said =
            code.findings.iter().find(|finding| finding.is(crate::finding::code::CORE_SHARED));
        (cycles.part(Source::Controls, 0.95) / cycles.value, said.map(|finding| finding.severity))
    }

    #[test]
    fn a_control_bounds_code_by_the_share_of_its_units() {
        let mut table = table(0.1);
        let (bound, severity) = found(&table);
        assert!(
            (bound - 0.1).abs() < 0.005 && severity == Some(Severity::Warning),
            "all code, if nothing tells its units: {bound}"
        );
        for (uses, share) in [
            (vec![("load", 1), ("simple", 6)], 0.4),
            (vec![("load", 2)], 0.8),
            (vec![("load", 9)], 1.0),
        ] {
            table.origin.uses.truncate(2);
            table.origin.uses.push((
                "code".into(),
                uses.into_iter().map(|(unit, number)| (unit.to_owned(), number)).collect(),
            ));
            let (bound, severity) = found(&table);
            assert!(
                (bound - share * 0.1).abs() < 0.005 && severity == Some(Severity::Warning),
                "{share}: {bound}"
            );
        }
        table.origin.uses.truncate(2);
        table.origin.uses.push(("code".into(), vec![("simple".into(), 10)]));
        let (bound, _) = found(&table);
        assert!((bound - LEAST_SHARE * 0.1).abs() < 0.002, "code that does not load: {bound}");
        table.origin.uses[2].1.push(("store".into(), 1));
        assert!(found(&table).0 > 0.09, "no chain watches stores");
    }

    #[test]
    fn what_slows_code_by_more_than_a_chain_is_no_warning_alone() {
        let severity = |longer: f64, occupancy: Option<Occupancy>| {
            let mut table = table(longer);
            table.origin.occupancy =
                occupancy.map(|one| ("code".to_owned(), one)).into_iter().collect();
            found(&table).1
        };
        assert_eq!(severity(0.0, None), None);
        assert_eq!(severity(0.008, None), Some(Severity::Warning));
        assert_eq!(severity(0.05, None), Some(Severity::Warning));
        assert_eq!(severity(0.05, Some(Occupancy::Waits)), Some(Severity::Warning));
        // All rounds take the same time: the units were the code's own in all of them.
        assert_eq!(severity(0.05, Some(Occupancy::Fills)), Some(Severity::Warning));
    }
}
