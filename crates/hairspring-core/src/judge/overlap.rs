//! Checks whether a body and its init overlap, so that the pair takes less time than the sum of the two, and the measured
//! body is too short. The rows' departure from their plane cannot show this, so rows with the same counts in another
//! arrangement are compared.

use super::{Context, Finding, FindingKind, Severity};
use crate::estimate::{Contribution, Estimate, Solution, Source, Uncertain};

/// Differences between two arrangements, as shares of the body, above which the severity is warning, and untrusted.
const APART: [f64; 2] = [0.005, 0.05];
/// Half-widths of their difference that two times must be apart: about three standard deviations, so that false alarms are
/// rare.
const SURE: f64 = 1.5;

/// What fences do to the time of the code between them, in the table's unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shadow {
    /// Limits of the time that the fences hide, one of which is 0; the lower one is negative on a core on which code takes longer to
    /// begin after a fence than the next fence does.
    least: f64,
    most: f64,
    /// Cost of a fence with nothing before or after it. 0 if it is unknown.
    fence: f64,
}

impl Shadow {
    /// Time that the fences hide, and how far it may be off: nothing or all of it applies to the code.
    fn middle(&self) -> f64 {
        (self.least + self.most) / 2.0
    }

    fn half(&self) -> f64 {
        (self.most - self.least) / 2.0
    }
}

/// A body solved from rows in which nothing can overlap.
pub(super) struct Alone {
    /// Its time as measured after the fence, in the table's unit, without what the fence hides.
    pub measured: Estimate,
    /// What the fence hides.
    pub shadow: Shadow,
}

impl Alone {
    /// The time including what the fence may have hidden, between nothing and the whole shadow.
    pub fn time(&self) -> Estimate {
        let (low, high) = (self.measured.low + self.shadow.least, self.measured.high + self.shadow.most);
        Estimate { low, high, ..self.unbiased() }
    }

    /// The same, but without the bound that the shadow is off by in its interval.
    fn unbiased(&self) -> Estimate {
        self.measured.shifted(self.shadow.middle())
    }
}

/// The fence's shadow: how much longer a chain of known length is than its measured time between fences, which is negative if fences
/// lengthen it. It is a property of the core, and hardly of the code: it was the same for integer chains of 3 to 100 cycles. Code that
/// needs longer to begin after a fence differs by more: on AMD's Zen 5, fences lengthen an integer chain by 2.5 cycles and a
/// floating-point one by 9, where a fence costs 11.
pub(super) fn shadow(expected: &Estimate, measured: &Estimate, further: Option<&Estimate>) -> Shadow {
    let chance = expected.half_width().hypot(measured.half_width());
    let hidden = expected.value - measured.value;
    // A further init of these rows is two fences without anything between them.
    let fence = further.map_or(0.0, |pair| pair.value.max(0.0) / 2.0);
    Shadow { least: (hidden - chance).min(0.0), most: (hidden + chance).max(0.0), fence }
}

/// Adds the shadow to a time measured after a fence. The part of the shadow that applies to the code is unknown, between
/// nothing and all: half of it is added to the value, and half is a bound in the budget.
fn out_of_shadow(measured: &Uncertain, shadow: Shadow) -> Uncertain {
    let value = measured.value + shadow.middle();
    Uncertain { value, budget: measured.budget.clone() }.with(Contribution::bound(Source::Fence, shadow.half()))
}

/// A finding if a body differs from its time in other arrangements of the same counts.
pub(super) fn overlap(main: &Solution, in_place: Option<Estimate>, alone: Option<&Alone>, context: &Context) -> Option<Finding> {
    let body = main.components.first()?.ticks;
    let fenced = alone.map(Alone::time);
    let in_order = in_place.map_or(0.0, |other| apart(&body, &other, 0.0));
    let from_start = |further: f64| alone.map_or(0.0, |alone| apart(&body, &alone.unbiased(), alone.shadow.half() + further));
    let sure = in_order.max(from_start(0.0));
    // A fence can hardly shift more than it costs. A smaller difference may be the time that the code needs to begin after it. A body that takes
    // less time from a standing start is not hidden behind an init: what surrounds it in a stream slows it down, as it does in a loop.
    let hiding = alone.filter(|alone| alone.unbiased().value > body.value);
    let severe = in_order.max(hiding.map_or(0.0, |alone| from_start(alone.shadow.fence)));
    // A body that cannot be told from zero may be hidden completely, even if the fence also hides all of it.
    let hidden = body.low <= 0.0 && fenced.is_some_and(|fenced| fenced.high > 2.0 * body.high.max(0.0));
    let severity = if severe > APART[1] || hidden && sure > APART[1] { Severity::Untrusted } else { Severity::Warning };
    let kind = FindingKind::Overlap {
        at_end: body.scaled(context.factor),
        in_place: in_place.map(|time| time.scaled(context.factor)),
        fenced: fenced.map(|time| time.scaled(context.factor)),
        unit: context.unit.to_owned(),
    };
    (sure > APART[0] || hidden).then(|| Finding::new(severity, kind))
}

/// A body that overlaps with its init, with an interval that reaches to its time with all inits before the bodies. Rows in either arrangement
/// are sums that the core does not add up in the same way, and neither of the two is the time of the body alone.
fn in_either_order(body: &Uncertain, in_place: &Estimate) -> Uncertain {
    body.clone().with(Contribution::bound(Source::LackOfFit, (in_place.value - body.value).abs()))
}

/// Distance of two times as a share of the larger one; 0 if chance can explain it. What a fence may hide of the other time
/// is a bound, not a random contribution.
fn apart(body: &Estimate, other: &Estimate, bound: f64) -> f64 {
    let chance = SURE * body.half_width().hypot(other.half_width()) + bound;
    let distance = (other.value - body.value).abs();
    if distance > chance { distance / body.value.abs().max(other.value.abs()) } else { 0.0 }
}

/// A body that cannot be told from zero, with an upper bound at least as high as that from a standing start.
fn bounded_by(body: &Uncertain, alone: &Alone, level: f64) -> Option<Uncertain> {
    let (plain, fenced) = (body.estimate(level), alone.time());
    let missing = fenced.high - plain.high;
    (plain.low <= 0.0 && missing > 0.0).then(|| body.clone().with(Contribution::bound(Source::Fence, missing)))
}

/// Adds back what the fences of a series hid of its body. A body that cannot be told from zero gets the upper bound that
/// it has from a standing start. One that overlaps with its init has an interval that reaches to its time `in_place`.
pub(super) fn correct(
    solution: &mut Solution,
    fenced: bool,
    shadow: Option<Shadow>,
    (alone, in_place): (Option<&Alone>, Option<Estimate>),
    level: f64,
) {
    let Some(body) = solution.components.first_mut() else { return };
    let better = match (fenced, shadow) {
        (true, Some(shadow)) => Some(out_of_shadow(&body.uncertain, shadow)),
        _ => alone.and_then(|alone| bounded_by(&body.uncertain, alone, level)),
    };
    if let Some(better) = better {
        body.replace(better, level);
    }
    if let Some(in_place) = in_place {
        body.replace(in_either_order(&body.uncertain, &in_place), level);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Question, assess, code};
    use crate::observations::{Observations, Role, Variant};

    /// Cycles that a pair of fences takes in these tables.
    const FENCES: f64 = 35.0;

    /// A core on which body and init overlap by `hidden` cycles, and whose fence hides 2 cycles.
    fn table(body: f64, init: f64, hidden: f64) -> Observations {
        fenced_table(body, init, hidden, [2.0; 2])
    }

    /// The same on a core whose fence hides so many cycles of the body and of the chain.
    fn fenced_table(body: f64, init: f64, hidden: f64, shadow: [f64; 2]) -> Observations {
        let mut table = Observations::new(vec!["body".into(), "init".into()]);
        let series = ["code", "code in place", "code fenced", "shadow", "ruler"].map(|name| table.series(name));
        for round in 0..48u32 {
            for (n, m) in [(1, 1), (1, 2), (2, 2), (2, 4), (4, 4), (4, 8)] {
                let (bodies, inits) = (f64::from(n), f64::from(m));
                let wobble = f64::from((round * 7 + n * 13 + m * 5) % 11) / 10.0 - 0.5;
                let times = [
                    bodies * (body + init - hidden) + (inits - bodies) * init,
                    bodies * body + inits * init - inits * hidden,
                    bodies * (body - shadow[0]) + inits * (init + FENCES),
                    bodies * (48.0 - shadow[1]) + inits * FENCES,
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
    fn an_interval_beside_an_overlap_holds_the_body_in_either_order() {
        let found = assess(&table(100.0, 15.0, 2.5), &Question::default()).unwrap();
        let body = found.series[0].components[0].time.ticks;
        // At the end of the row the bodies take 97.5, and in place 100.
        assert!(body.contains(97.5) && body.contains(100.0) && body.relative() < 0.04, "{body:?}");
    }

    #[test]
    fn fences_that_lengthen_code_are_no_overlap() {
        // As on AMD's Zen 5: an integer body.
        assert_eq!(findings(&fenced_table(30.0, 120.0, 0.0, [-2.5, -2.1])), []);
        // A floating-point body needs longer to begin. Such a difference may as well be an overlap, but it is smaller than a fence.
        assert_eq!(findings(&fenced_table(30.0, 120.0, 0.0, [-8.7, -2.1])), [Severity::Warning]);
        assert_eq!(findings(&fenced_table(200.0, 120.0, 25.0, [-2.5, -2.1])), [Severity::Untrusted]);
    }

    #[test]
    fn a_body_that_a_stream_slows_down_is_no_hidden_one() {
        // A sort of 16 integers: 150 cycles in a loop, 125 between fences.
        assert_eq!(findings(&fenced_table(150.0, 10.0, 0.0, [27.0, 2.0])), [Severity::Warning]);
        assert_eq!(findings(&fenced_table(150.0, 10.0, 0.0, [-60.0, 2.0])), [Severity::Untrusted]);
    }

    #[test]
    fn shadow_of_either_sign_is_taken_off_a_fenced_body() {
        let mut table = fenced_table(30.0, 120.0, 0.0, [-2.1; 2]);
        table.origin.variants = vec![Variant { series: "code fenced".into(), role: Role::Fenced, of: "code fenced".into() }];
        let found = assess(&table, &Question::default()).unwrap();
        let fenced = found.series.iter().find(|series| series.name == "code fenced").unwrap();
        let cycles = fenced.components[0].time.cycles.as_ref().unwrap().estimate(0.95);
        assert!((cycles.value - 31.0).abs() < 0.4 && (1.0..1.6).contains(&cycles.half_width()) && cycles.low <= 30.0, "{cycles:?}");
    }

    #[test]
    fn shadow_is_added_to_a_fenced_body_with_a_bound() {
        let mut table = table(30.0, 120.0, 0.0);
        table.origin.variants = vec![Variant { series: "code fenced".into(), role: Role::Fenced, of: "code fenced".into() }];
        let found = assess(&table, &Question::default()).unwrap();
        let fenced = found.series.iter().find(|series| series.name == "code fenced").unwrap();
        let cycles = fenced.components[0].time.cycles.as_ref().unwrap().estimate(0.95);
        assert!((cycles.value - 29.0).abs() < 0.4 && (1.0..1.6).contains(&cycles.half_width()) && cycles.high >= 30.0, "{cycles:?}");
    }
}
