//! Checks whether a body and its init overlap, so that the pair takes less time than the sum of the two, and the measured
//! body is too short. The rows' departure from their plane cannot show this, so rows with the same counts in another
//! arrangement are compared.

use super::{Context, Finding, FindingKind, Severity};
use crate::estimate::{Component, Contribution, Estimate, Solution, Source, Uncertain};

/// Differences between two arrangements, as shares of the body, above which the severity is warning, and untrusted.
const APART: [f64; 2] = [0.005, 0.05];
/// Half-widths of their difference that two times must be apart: about three standard deviations, so that false alarms are
/// rare.
const SURE: f64 = 1.5;

/// A body solved from rows in which nothing can overlap.
pub(super) struct Alone {
    /// Its time as measured after the fence, in the table's unit, without what the fence hides.
    pub measured: Estimate,
    /// The most that the fence hides.
    pub shadow: f64,
}

impl Alone {
    /// The time including what the fence may have hidden, between nothing and the whole shadow.
    pub fn time(&self) -> Estimate {
        let (low, high) = (self.measured.low, self.measured.high + self.shadow);
        Estimate { value: self.measured.value + self.shadow / 2.0, low, high, level: self.measured.level }
    }
}

/// The fence's shadow: the time of a chain of known length that fences before and after it hide, in the table's unit. It
/// is a property of the core, not of the code: it was the same for chains of 3 to 60 cycles. Never negative: all time
/// that a fence adds is in its own component.
pub(super) fn shadow(expected: &Uncertain, measured: &Component) -> f64 {
    (expected.value - measured.ticks.value).max(0.0)
}

/// Adds the shadow to a time measured after a fence. The part of the shadow that applies to the code is unknown, between
/// nothing and all: half of it is added to the value, and half is a bound in the budget.
pub(super) fn out_of_shadow(measured: &Uncertain, shadow: f64) -> Uncertain {
    let half = shadow / 2.0;
    Uncertain { value: measured.value + half, budget: measured.budget.clone() }.with(Contribution::bound(Source::Fence, half))
}

/// A finding if a body differs from its time in other arrangements of the same counts.
pub(super) fn overlap(main: &Solution, in_place: Option<&Solution>, alone: Option<&Alone>, context: &Context) -> Option<Finding> {
    let body = main.components.first()?.ticks;
    let in_place = in_place.and_then(|solution| solution.components.first()).map(|other| other.ticks);
    let fenced = alone.map(Alone::time);
    let compared = [in_place.map(|other| apart(&body, &other, 0.0)), alone.map(|alone| apart(&body, &alone.time(), alone.shadow))];
    let sure = compared.into_iter().flatten().filter(|apart| *apart > APART[0]).fold(0.0, f64::max);
    // A body that cannot be told from zero may be hidden completely, even if the fence also hides all of it.
    let hidden = body.low <= 0.0 && fenced.is_some_and(|fenced| fenced.high > 2.0 * body.high.max(0.0));
    let severity = if sure > APART[1] { Severity::Untrusted } else { Severity::Warning };
    let kind = FindingKind::Overlap {
        at_end: body.scaled(context.factor),
        in_place: in_place.map(|time| time.scaled(context.factor)),
        fenced: fenced.map(|time| time.scaled(context.factor)),
        unit: context.unit.to_owned(),
    };
    (sure > 0.0 || hidden).then(|| Finding::new(severity, kind))
}

/// Distance of two times as a share of the larger one; 0 if chance can explain it. What a fence may hide of the other time
/// is a bound, not a random contribution.
fn apart(body: &Estimate, other: &Estimate, bound: f64) -> f64 {
    let chance = SURE * body.half_width().hypot(other.half_width() - bound / 2.0) + bound / 2.0;
    let distance = (other.value - body.value).abs();
    if distance > chance { distance / body.value.abs().max(other.value.abs()) } else { 0.0 }
}

/// A body that cannot be told from zero, with an upper bound at least as high as that from a standing start.
pub(super) fn bounded_by(body: &Uncertain, alone: &Alone, level: f64) -> Option<Uncertain> {
    let (plain, fenced) = (body.estimate(level), alone.time());
    let missing = fenced.high - plain.high;
    (plain.low <= 0.0 && missing > 0.0).then(|| body.clone().with(Contribution::bound(Source::Fence, missing)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Question, assess, code};
    use crate::observations::{Observations, Role, Variant};

    /// A core on which body and init overlap by `hidden` cycles, and whose fence hides 2 cycles.
    fn table(body: f64, init: f64, hidden: f64) -> Observations {
        let mut table = Observations::new(vec!["body".into(), "init".into()]);
        let series = ["code", "code in place", "code fenced", "shadow", "ruler"].map(|name| table.series(name));
        for round in 0..48u32 {
            for (n, m) in [(1, 1), (1, 2), (2, 2), (2, 4), (4, 4), (4, 8)] {
                let (bodies, inits) = (f64::from(n), f64::from(m));
                let wobble = f64::from((round * 7 + n * 13 + m * 5) % 11) / 10.0 - 0.5;
                let times = [
                    bodies * (body + init - hidden) + (inits - bodies) * init,
                    bodies * body + inits * init - inits * hidden,
                    bodies * (body - 2.0) + inits * (init + 35.0),
                    bodies * (48.0 - 2.0) + inits * 35.0,
                    3.0 * bodies + 0.0 * inits,
                ];
                for (series, time) in series.iter().zip(times) {
                    let inits = if *series == series_of_ruler() { 0.0 } else { inits };
                    let row = table.row(*series, &[bodies, inits]);
                    table.push(row, round, time + 60.0 + wobble);
                }
            }
        }
        table.origin.reference = Some(("ruler".into(), 3.0));
        table.origin.shadow = Some(("shadow".into(), 48.0));
        let variant = |series: &str, role| Variant { series: series.into(), role, of: "code".into() };
        table.origin.variants = vec![variant("code in place", Role::InPlace), variant("code fenced", Role::Fenced)];
        table
    }

    fn series_of_ruler() -> u16 {
        4
    }

    fn findings(table: &Observations) -> Vec<Severity> {
        let found = assess(table, &Question::default()).unwrap();
        let code = found.series.iter().find(|series| series.name == "code").unwrap();
        let overlaps = code.findings.iter().filter(|finding| finding.is(code::OVERLAP));
        overlaps.map(|finding| finding.severity).collect()
    }

    #[test]
    fn overlap_is_reported_and_plain_sums_are_not() {
        assert_eq!(findings(&table(30.0, 120.0, 0.0)), []);
        assert_eq!(findings(&table(200.0, 15.0, 15.0)), [Severity::Untrusted]);
        // Too little for the fenced rows, whose shadow is two cycles; the rows in place show it.
        assert_eq!(findings(&table(100.0, 15.0, 2.5)), [Severity::Warning]);
        // A completely hidden body: the rows in place do not show it.
        let mut hidden = table(30.0, 120.0, 30.0);
        hidden.origin.variants.remove(0);
        assert_eq!(findings(&hidden), [Severity::Untrusted]);
    }

    #[test]
    fn shadow_is_added_to_a_fenced_body_with_a_bound() {
        let mut table = table(30.0, 120.0, 0.0);
        table.origin.variants = vec![Variant { series: "code fenced".into(), role: Role::Fenced, of: "code fenced".into() }];
        let found = assess(&table, &Question::default()).unwrap();
        let fenced = found.series.iter().find(|series| series.name == "code fenced").unwrap();
        let cycles = fenced.components[0].time.cycles.as_ref().unwrap().estimate(0.95);
        assert!((cycles.value - 29.0).abs() < 0.1 && cycles.half_width() > 1.0 && cycles.high >= 30.0, "{cycles:?}");
    }
}
