//! Whether a body and its init overlap, so that the pair takes less time than the sum of the two,
//! and the measured body is too short. The rows' departure from their plane cannot show this, so
//! rows with the same counts in another arrangement are compared.

use crate::estimate::{Entry, Estimate, Source};
use crate::finding::words::interval;
use crate::finding::{Finding, Severity, code, with_unit};
use crate::limit::{HALF_PRECISION, SURELY_APART, WIDE_SHARE};
use crate::math::hypot;
use crate::observations::{Role, SeriesId};
use crate::stages::fence::FenceBias;
use crate::stages::{Did, Stage, State, need};

pub(crate) const STAGE: Stage = Stage {
    name: "overlap",
    question: "Do body and init overlap in the core?",
    needs: &[need::VARIANTS],
    limits: &[],
    source: Some(Source::Overlap),
    says,
};

/// A body in other arrangements of the same counts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Overlap {
    at_end: Estimate,
    in_place: Option<Estimate>,
    fenced: Option<Estimate>,
    is_severe: bool,
}

/// A body solved from rows in which nothing can overlap: its time as measured after the fence, and
/// what the fence hides.
#[derive(Debug, Clone, Copy)]
struct Alone {
    measured: Estimate,
    fence_bias: FenceBias,
}

impl Alone {
    /// The time including what the fence may have hidden, between nothing and the whole bias of
    /// fences.
    fn time(&self) -> Estimate {
        let (low, high) =
            (self.measured.low + self.fence_bias.least, self.measured.high + self.fence_bias.most);
        Estimate { low, high, ..self.unbiased() }
    }

    /// The same, but without the bound that the bias is off by in its interval.
    fn unbiased(&self) -> Estimate {
        self.measured.shifted(self.fence_bias.middle())
    }
}

/// Compares each body with its time in other arrangements. One that overlaps with its init gets an
/// interval that reaches to its time in the other order, as rows in either arrangement are sums
/// that the core does not add up in the same way. One that is indistinguishable from zero gets the
/// upper bound that it has from a standing start.
pub(crate) fn reach(state: &mut State) -> Did {
    let mut done = Vec::new();
    for series in state.subjects() {
        let Some(body) = state
            .solution(series)
            .and_then(|solution| solution.components.first())
            .map(|body| body.unknown)
        else {
            continue;
        };
        let Some(time) = state.solution(series).map(|solution| {
            solution.uncertain(body, state.options.level).estimate(state.options.level)
        }) else {
            continue;
        };
        let undone = state.undone[usize::from(series)].as_ref().map_or(0.0, |undone| undone.value);
        let in_place = body_of(state, series, Role::InPlace).map(|body| body.shifted(-undone));
        let fenced = body_of(state, series, Role::Fenced).map(|body| body.shifted(-undone));
        let alone = fenced
            .zip(state.fence_bias)
            .map(|(measured, fence_bias)| Alone { measured, fence_bias });
        let overlap = overlap(time, in_place, alone.as_ref());
        let higher = alone
            .map(|alone| alone.time().high - time.high)
            .filter(|missing| time.low <= 0.0 && *missing > 0.0);
        let other_order =
            overlap.as_ref().and(in_place).map(|other| (other.value - time.value).abs());
        if let Some(solution) = state.solution_mut(series) {
            other_order
                .into_iter()
                .chain(higher)
                .for_each(|bound| solution.add(body, Entry::bound(Source::Overlap, bound)));
        }
        done.extend(
            overlap.is_some().then(|| {
                (series, "the interval reaches to the time in the other order".to_owned())
            }),
        );
        state.overlaps[usize::from(series)] = overlap;
    }
    Did::each(done, "the body takes the same time in all arrangements")
}

/// The body of the series that runs the code of another one in this arrangement.
fn body_of(state: &State, series: SeriesId, role: Role) -> Option<Estimate> {
    let solution = state.arranged(series, role)?;
    Some(
        solution
            .uncertain(solution.components.first()?.unknown, state.options.level)
            .estimate(state.options.level),
    )
}

/// A body that differs from its time in other arrangements of the same counts.
fn overlap(body: Estimate, in_place: Option<Estimate>, alone: Option<&Alone>) -> Option<Overlap> {
    let fenced = alone.map(Alone::time);
    let in_order = in_place.map_or(0.0, |other| apart(&body, &other, 0.0));
    let from_start = |further: f64| {
        alone
            .map_or(0.0, |alone| apart(&body, &alone.unbiased(), alone.fence_bias.half() + further))
    };
    let sure = in_order.max(from_start(0.0));
    // A fence can hardly shift more than it costs. A smaller difference may be the time that the
    // code needs to begin after it. A body that takes less time from a standing start is not hidden
    // behind an init: what surrounds it in a stream slows it down, as it does in a loop.
    let hiding = alone.filter(|alone| alone.unbiased().value > body.value);
    let severe = in_order.max(hiding.map_or(0.0, |alone| from_start(alone.fence_bias.fence)));
    // A body that is indistinguishable from zero may be hidden completely, even if the fence also
    // hides all of it.
    let hidden =
        body.low <= 0.0 && fenced.is_some_and(|fenced| fenced.high > 2.0 * body.high.max(0.0));
    let is_severe = severe > WIDE_SHARE || hidden && sure > WIDE_SHARE;
    (sure > HALF_PRECISION || hidden).then_some(Overlap {
        at_end: body,
        in_place,
        fenced,
        is_severe,
    })
}

/// Distance of two times as a share of the larger one; 0 if chance can explain it. What a fence may
/// hide of the other time is a bound, not a random contribution.
fn apart(body: &Estimate, other: &Estimate, bound: f64) -> f64 {
    let chance = SURELY_APART * hypot(body.half_width(), other.half_width()) + bound;
    let distance = (other.value - body.value).abs();
    if distance > chance { distance / body.value.abs().max(other.value.abs()) } else { 0.0 }
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let (factor, unit) = state.shown_unit();
    let told = |overlap: &Overlap| {
        let shown = |time: Option<Estimate>| time.map(|time| time.scaled(factor));
        let (at_end, in_place, fenced) =
            (overlap.at_end.scaled(factor), shown(overlap.in_place), shown(overlap.fenced));
        let message = format!(
            "body and init overlap in the core: the body takes {} with the further inits at the \
             end of the row{}{}",
            interval(&at_end, unit),
            in_place
                .map(|time| format!(", {} with the inits before each body", interval(&time, unit)))
                .unwrap_or_default(),
            fenced
                .map(|time| format!(", {} from a standing start", interval(&time, unit)))
                .unwrap_or_default()
        );
        let severity = if overlap.is_severe { Severity::Untrusted } else { Severity::Warning };
        let numbers = with_unit(
            unit,
            [("at_end", at_end.into()), ("in_place", in_place.into()), ("fenced", fenced.into())],
        );
        let remedy = "measure every evaluation from a standing start, with fences around it; \
                      without fences the time is what one evaluation adds to a stream of them";
        Finding::of(severity, code::OVERLAP, message, numbers, remedy)
    };
    state.overlaps[usize::from(series)].iter().map(told).collect()
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
    fn fenced_table(body: f64, init: f64, hidden: f64, bias: [f64; 2]) -> Observations {
        let mut table = Observations::new(vec!["body".into(), "init".into()]);
        let series = ["code", "code in place", "code fenced", "shadow", "ruler"]
            .map(|name| table.series(name));
        for round in 0..48u32 {
            for (n, m) in [(1, 1), (1, 2), (2, 2), (2, 4), (4, 4), (4, 8)] {
                let (bodies, inits) = (f64::from(n), f64::from(m));
                let wobble = f64::from((round * 7 + n * 13 + m * 5) % 11) / 10.0 - 0.5;
                let times = [
                    bodies * (body + init - hidden) + (inits - bodies) * init,
                    bodies * body + inits * init - inits * hidden,
                    bodies * (body - bias[0]) + inits * (init + FENCES),
                    bodies * (48.0 - bias[1]) + inits * FENCES,
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
        table.origin.fenced_chain = Some(("shadow".into(), 48.0));
        let variant =
            |series: &str, role| Variant { series: series.into(), role, of: "code".into() };
        table.origin.variants =
            vec![variant("code in place", Role::InPlace), variant("code fenced", Role::Fenced)];
        table
    }

    fn series_of_ruler() -> u16 {
        4
    }

    fn findings(table: &Observations) -> Vec<Severity> {
        let assessment = assess(table, &Question::default()).unwrap();
        let code = assessment.series.iter().find(|series| series.name == "code").unwrap();
        let overlaps = code.findings.iter().filter(|finding| finding.is(code::OVERLAP));
        overlaps.map(|finding| finding.severity).collect()
    }

    #[test]
    fn overlap_is_reported_and_plain_sums_are_not() {
        assert_eq!(findings(&table(30.0, 120.0, 0.0)), []);
        assert_eq!(findings(&table(200.0, 15.0, 15.0)), [Severity::Untrusted]);
        // Too little for the fenced rows, whose bias is two cycles; the rows in place show it.
        assert_eq!(findings(&table(100.0, 15.0, 2.5)), [Severity::Warning]);
        // A completely hidden body: the rows in place do not show it.
        let mut hidden = table(30.0, 120.0, 30.0);
        hidden.origin.variants.remove(0);
        assert_eq!(findings(&hidden), [Severity::Untrusted]);
    }

    #[test]
    fn an_interval_beside_an_overlap_holds_the_body_in_either_order() {
        let assessment = assess(&table(100.0, 15.0, 2.5), &Question::default()).unwrap();
        let body = assessment.series[0].components[0].time.ticks;
        // At the end of the row the bodies take 97.5, and in place 100.
        assert!(body.contains(97.5) && body.contains(100.0) && body.relative() < 0.04, "{body:?}");
    }

    #[test]
    fn fences_that_lengthen_code_are_no_overlap() {
        // As on AMD's Zen 5: an integer body.
        assert_eq!(findings(&fenced_table(30.0, 120.0, 0.0, [-2.5, -2.1])), []);
        // A floating-point body needs longer to begin. Such a difference may as well be an overlap,
        // but it is smaller than a fence.
        assert_eq!(findings(&fenced_table(30.0, 120.0, 0.0, [-8.7, -2.1])), [Severity::Warning]);
        assert_eq!(
            findings(&fenced_table(200.0, 120.0, 25.0, [-2.5, -2.1])),
            [Severity::Untrusted]
        );
    }

    #[test]
    fn a_body_that_a_stream_slows_down_is_no_hidden_one() {
        // A sort of 16 integers: 150 cycles in a loop, 125 between fences.
        assert_eq!(findings(&fenced_table(150.0, 10.0, 0.0, [27.0, 2.0])), [Severity::Warning]);
        assert_eq!(findings(&fenced_table(150.0, 10.0, 0.0, [-60.0, 2.0])), [Severity::Untrusted]);
    }

    #[test]
    fn bias_of_either_sign_is_taken_off_a_fenced_body() {
        let mut table = fenced_table(30.0, 120.0, 0.0, [-2.1; 2]);
        table.origin.variants = vec![Variant {
            series: "code fenced".into(),
            role: Role::Fenced,
            of: "code fenced".into(),
        }];
        let assessment = assess(&table, &Question::default()).unwrap();
        let fenced = assessment.series.iter().find(|series| series.name == "code fenced").unwrap();
        let cycles = fenced.components[0].time.cycles.as_ref().unwrap().estimate(0.95);
        assert!(
            (cycles.value - 31.0).abs() < 0.4
                && (1.0..1.6).contains(&cycles.half_width())
                && cycles.low <= 30.0,
            "{cycles:?}"
        );
    }

    #[test]
    fn bias_is_added_to_a_fenced_body_with_a_bound() {
        let mut table = table(30.0, 120.0, 0.0);
        table.origin.variants = vec![Variant {
            series: "code fenced".into(),
            role: Role::Fenced,
            of: "code fenced".into(),
        }];
        let assessment = assess(&table, &Question::default()).unwrap();
        let fenced = assessment.series.iter().find(|series| series.name == "code fenced").unwrap();
        let cycles = fenced.components[0].time.cycles.as_ref().unwrap().estimate(0.95);
        assert!(
            (cycles.value - 29.0).abs() < 0.4
                && (1.0..1.6).contains(&cycles.half_width())
                && cycles.high >= 30.0,
            "{cycles:?}"
        );
    }
}
