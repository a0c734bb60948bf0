//! The checks of a solution. Each checks one property and returns a finding or nothing.

use super::finding::{Finding, Severity};
use super::kinds::FindingKind;
use super::resolution::{component_floor, upper_bound};
use crate::estimate::{Estimate, LeftOut, Solution, Source};
use crate::observations::Observations;

/// The unit of the numbers in findings.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// Name of the unit: `ns` or `ticks`.
    pub unit: &'static str,
    /// Factor from the solution's unit to this unit.
    pub factor: f64,
    /// Components that only serve.
    pub serving: &'a [String],
}

impl<'a> Context<'a> {
    /// The context of a table: nanoseconds where the clock's rate is known, otherwise ticks.
    pub fn for_table(table: &'a Observations) -> Context<'a> {
        let factor = table.origin.ns_per_unit();
        Context { unit: if factor.is_some() { "ns" } else { "ticks" }, factor: factor.unwrap_or(1.0), serving: &table.origin.serving }
    }
}

/// Rows beyond the unknowns, and residual relative to the longest row, at which the rows check the line without repeats.
const EXACT: (usize, f64) = (3, 1e-9);
/// Departure from the line, relative to the longest row, above which there is a note.
const DEPARTURE_NOTED: f64 = 0.003;
/// Departure above which no time of the series can be trusted, because the rows are not sums of their parts.
const DEPARTURE_UNTRUSTED: f64 = 0.03;
/// Effects on a component, relative to its time, above which the severity for this component is warning, and untrusted.
const EFFECT: [f64; 2] = [0.01, 0.1];
/// A smaller departure of single readings gets a note if its probability by chance is below this.
const DEPARTURE_SURE: f64 = 1e-6;
/// Shares of disturbed readings above which the severity is note, warning, and untrusted.
const DISTURBED: [f64; 3] = [0.02, 0.15, 0.5];
/// Readings longer than this are rarely free of interrupts.
const LONG_NS: f64 = 1e6;
/// Half-widths relative to the value above which the severity is warning, and untrusted.
pub(super) const WIDE: [f64; 2] = [0.05, 0.25];
/// Repeated readings whose spread is below this many quanta do not average the quantum out.
const DITHERED: f64 = 0.05;
/// A core clock that varies by less than this share of its median did not step.
const STEADY: f64 = 0.01;

/// All checks of one solution. What is wrong with one component is a finding about this component.
pub fn check(solution: &Solution, context: &Context) -> Vec<Finding> {
    // A difference of times may legitimately be negative or close to zero.
    let per_component = solution.components.iter().filter(|component| !component.is_difference()).flat_map(|component| {
        match below_resolution(component, solution, context) {
            Some(below) => vec![below],
            None => [negative(component, context), wide_finding(&component.name, &component.ticks)].into_iter().flatten().collect(),
        }
    });
    [rank(solution), not_checked(solution), bend(solution), outliers(solution)]
        .into_iter()
        .flatten()
        .chain(non_linear(solution))
        .chain(coarse(solution))
        .chain(per_component)
        .chain(shifted(solution, context))
        .collect()
}

fn rank(solution: &Solution) -> Option<Finding> {
    let names = |terms: &[(usize, f64)]| -> String {
        let named: Vec<(String, f64)> = terms.iter().map(|(j, c)| (solution.columns[*j].clone(), *c)).collect();
        crate::estimate::solution::spell(&named)
    };
    if solution.rank.dependent.is_empty() {
        return None;
    }
    let dependent = solution
        .rank
        .dependent
        .iter()
        .map(|(column, sum)| format!("{} runs as often as {}", solution.columns[*column], names(&sum.terms)))
        .collect();
    let kind = FindingKind::RankDeficient { rank: solution.rank.pivots.len(), unknowns: solution.columns.len(), dependent };
    Some(Finding::new(Severity::Warning, kind))
}

fn not_checked(solution: &Solution) -> Option<Finding> {
    let (rows, _) = solution.rows_used();
    let unknowns = solution.rank.pivots.len();
    // Rows that lie exactly on the line check it without repeats.
    let exact = rows >= unknowns + EXACT.0 && solution.residual_sd <= EXACT.1 * solution.largest;
    let bare = solution.lack_of_fit.is_none() && !solution.rows.is_empty() && rows < unknowns + 10 && !exact;
    bare.then(|| Finding::new(Severity::Warning, FindingKind::NotChecked { rows, unknowns }))
}

/// The departure of the rows, for each component that it makes uncertain. Components share their rows but not the effect: a
/// departure of a thousandth of the longest row is nothing to the body that fills this row, and a lot to a small init.
fn non_linear(solution: &Solution) -> Vec<Finding> {
    let Some(lack) = solution.lack_of_fit.filter(|lack| lack.p < 0.001 && solution.largest != 0.0) else { return Vec::new() };
    let departure = lack.sd / solution.largest;
    let finding = |severity, about: Option<(&Part, f64)>| {
        let kind = FindingKind::NonLinear {
            component: about.map(|(component, _)| component.name.clone()),
            effect_percent: about.map(|(_, effect)| 100.0 * effect),
            lack_of_fit_f: lack.f,
            departure_percent: 100.0 * departure,
        };
        Finding::new(severity, kind)
    };
    if departure > DEPARTURE_UNTRUSTED {
        return vec![finding(Severity::Untrusted, None)];
    }
    let affected = solution.components.iter().map(|component| (component, effect_of_departure(component)));
    let all: Vec<Finding> =
        affected.filter_map(|(component, effect)| Some(finding(severity_of(effect)?, Some((component, effect))))).collect();
    let is_noted = departure > DEPARTURE_NOTED || lack.p < DEPARTURE_SURE && solution.blocks.is_empty();
    if all.is_empty() && is_noted { vec![finding(Severity::Note, None)] } else { all }
}

/// Half-width that the departure of the rows alone gives to a component, relative to its time; 0 for a time that cannot be
/// told from zero, whose bound includes it.
fn effect_of_departure(component: &Part) -> f64 {
    if component.ticks.contains(0.0) {
        return 0.0;
    }
    component.uncertain.part(Source::LackOfFit, component.ticks.level) / component.ticks.value.abs()
}

/// Severity of an effect on a component, given relative to its time.
fn severity_of(effect: f64) -> Option<Severity> {
    match effect {
        e if e > EFFECT[1] => Some(Severity::Untrusted),
        e if e > EFFECT[0] => Some(Severity::Warning),
        _ => None,
    }
}

/// The effect of a negative time of a component that serves on those that are asked for. The sum of the two is well known, so
/// what the one lacks the other may have too much.
fn shifted(solution: &Solution, context: &Context) -> Vec<Finding> {
    let serves = |component: &&Part| component.parts.iter().all(|(part, _)| context.serving.contains(part));
    let (serving, asked): (Vec<&Part>, Vec<&Part>) = solution.components.iter().partition(serves);
    let negative = |component: &&Part| component.ticks.high < 0.0;
    let Some(lowest) = serving.into_iter().filter(negative).min_by(|a, b| a.ticks.value.total_cmp(&b.ticks.value)) else {
        return Vec::new();
    };
    let finding = |component: &Part| {
        let effect = lowest.ticks.value.abs() / component.ticks.value.abs();
        let (component, negative) = (component.name.clone(), lowest.name.clone());
        Some(Finding::new(severity_of(effect)?, FindingKind::ShiftedByNegative { component, negative, effect_percent: 100.0 * effect }))
    };
    asked.into_iter().filter(|component| !component.ticks.contains(0.0)).filter_map(finding).collect()
}

fn left_out(solution: &Solution, reason: LeftOut) -> usize {
    solution.rows.iter().filter(|row| row.left_out == Some(reason)).count()
}

fn bend(solution: &Solution) -> Option<Finding> {
    let rows = left_out(solution, LeftOut::Bend);
    (rows > 0).then(|| Finding::new(Severity::Note, FindingKind::BendLeftOut { rows }))
}

fn outliers(solution: &Solution) -> Option<Finding> {
    let rows = left_out(solution, LeftOut::OffLine) + left_out(solution, LeftOut::Interference);
    let share = rows as f64 / solution.rows.len().max(1) as f64;
    let severity = if share > DISTURBED[1] { Severity::Warning } else { Severity::Note };
    (rows > 0).then(|| Finding::new(severity, FindingKind::Outliers { rows }))
}

/// A quantum that is not averaged out, for each component to which it matters.
fn coarse(solution: &Solution) -> Vec<Finding> {
    let Some(phase_spread) = solution.phase_spread.filter(|spread| *spread < DITHERED) else { return Vec::new() };
    let matters =
        |component: &&Part| component.uncertain.part(Source::Granularity, component.ticks.level) > 0.001 * component.ticks.value.abs();
    let affected = solution.components.iter().filter(matters).map(|component| (Severity::Warning, Some(component.name.clone())));
    let mut all: Vec<(Severity, Option<String>)> = affected.collect();
    if all.is_empty() {
        all.push((Severity::Note, None));
    }
    all.into_iter().map(|(severity, component)| Finding::new(severity, FindingKind::ClockTooCoarse { component, phase_spread })).collect()
}

type Part = crate::estimate::Component;

/// A finding for a time whose interval contains zero, or that adds less to the longest row than readings can show.
fn below_resolution(component: &Part, solution: &Solution, context: &Context) -> Option<Finding> {
    let bound = upper_bound(&component.ticks, component_floor(solution))?;
    Some(below_finding(&component.name, bound * context.factor, context.unit))
}

/// The finding that a component is below resolution, with the bound of its time.
pub fn below_finding(component: &str, bound: f64, unit: &str) -> Finding {
    Finding::new(Severity::Warning, FindingKind::BelowResolution { component: component.to_owned(), bound, unit: unit.to_owned() })
}

fn negative(component: &Part, context: &Context) -> Option<Finding> {
    let kind = FindingKind::Negative {
        component: component.name.clone(),
        value: component.ticks.value * context.factor,
        unit: context.unit.to_owned(),
    };
    (component.ticks.high < 0.0).then(|| Finding::new(Severity::Untrusted, kind))
}

/// A finding if the interval of a component's time is so wide that its value says little.
pub fn wide_finding(component: &str, time: &Estimate) -> Option<Finding> {
    let relative = time.relative();
    let severity = if relative > WIDE[1] { Severity::Untrusted } else { Severity::Warning };
    let kind = FindingKind::WideInterval { component: component.to_owned(), half_width_percent: 100.0 * relative };
    (relative > WIDE[0] && time.low > 0.0).then(|| Finding::new(severity, kind))
}

/// A finding if the interval of a component's time is wider than the requested precision, a share of the value.
pub fn precision_finding(component: &str, time: &Estimate, asked: f64) -> Option<Finding> {
    let missed = time.low > 0.0 && time.relative() > asked;
    let (reached_percent, asked_percent) = (100.0 * time.relative(), 100.0 * asked);
    let kind = FindingKind::PrecisionMissed { component: component.to_owned(), reached_percent, asked_percent };
    missed.then(|| Finding::new(Severity::Warning, kind))
}

/// Readings that something else disturbed, as shares of all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disturbed {
    /// Disturbed readings.
    pub share: f64,
    /// Readings that are left out. Fewer than the disturbed ones where too few would remain.
    pub left_out: f64,
}

impl Disturbed {
    /// Disturbed readings, all of which are left out.
    pub fn left_out(share: f64) -> Disturbed {
        Disturbed { share, left_out: share }
    }
}

/// A finding if the share of disturbed readings is large. `longest_ns` is the length of the longest row, 0 if unknown or if the time is without
/// the pauses of the CPU.
pub fn interference_findings(disturbed: Disturbed, longest_ns: f64, stolen_ms: Option<f64>) -> Option<Finding> {
    // Readings that last as long as the period of the system's timer interrupt are rarely free of it: even those that
    // count as undisturbed contain one.
    let most = if longest_ns > LONG_NS { DISTURBED[1] } else { DISTURBED[2] };
    let severity = match disturbed.share {
        s if s > most => Severity::Untrusted,
        s if s > DISTURBED[1] => Severity::Warning,
        s if s > DISTURBED[0] => Severity::Note,
        _ => return None,
    };
    let (share_percent, left_out_percent) = (100.0 * disturbed.share, 100.0 * disturbed.left_out);
    Some(if disturbed.share - disturbed.left_out > DISTURBED[0] {
        Finding::new(severity, FindingKind::DisturbedThroughout { share_percent, left_out_percent, stolen_ms })
    } else {
        Finding::new(severity, FindingKind::Preempted { share_percent, stolen_ms })
    })
}

/// A finding if the clock is not ordered.
pub fn clock_findings(clock: &str) -> Option<Finding> {
    (clock == "rdtsc").then(|| Finding::new(Severity::Warning, FindingKind::UnorderedClock { clock: clock.to_owned() }))
}

/// A finding if the core clock stepped: compares the reference chain's slope between blocks of rounds with their noise.
pub fn frequency_levels(reference: &Solution) -> Option<Finding> {
    let mut slopes: Vec<f64> = reference.blocks.iter().map(|(_, unknowns)| unknowns[0]).collect();
    if slopes.len() < 8 {
        return None;
    }
    let noise = {
        // Successive differences contain the noise of a block, but not a lasting step.
        let squares: f64 = slopes.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
        (squares / (2.0 * (slopes.len() - 1) as f64)).sqrt()
    };
    slopes.sort_by(f64::total_cmp);
    let (low, middle, high) = (slopes[slopes.len() / 20], slopes[slopes.len() / 2], slopes[slopes.len() - 1 - slopes.len() / 20]);
    let stepped = (high - low) / middle > STEADY && high - low > 5.0 * noise;
    // A longer chain time means a slower clock.
    let kind = FindingKind::FrequencyStepped { low_percent: 100.0 * (middle / high - 1.0), high_percent: 100.0 * (middle / low - 1.0) };
    stepped.then(|| Finding::new(Severity::Note, kind))
}

/// Distances of a control chain from its known length, as shares, above which the severity is warning, and untrusted. They are
/// smaller for a chain of one cycle, because other chains can be ten times as far off as it; a longer chain is as far off as
/// code of its kind ...
const CONTROL_OFF: [f64; 2] = [0.003, 0.005];
const LONG_CONTROL_OFF: [f64; 2] = [0.005, 0.015];
/// ... if the distance also exceeds this many half-widths of its interval.
const CONTROL_SURE: f64 = 1.0;

/// A finding if a control chain does not have its known length.
pub fn control_finding(control: &Estimate, expected_cycles: f64) -> Option<Finding> {
    let off = (control.value / expected_cycles - 1.0).abs();
    let sure = (control.value - expected_cycles).abs() > CONTROL_SURE * control.half_width();
    let limits = if expected_cycles < 2.0 { CONTROL_OFF } else { LONG_CONTROL_OFF };
    let severity = if off > limits[1] { Severity::Untrusted } else { Severity::Warning };
    let kind = FindingKind::CoreShared { control_cycles: control.value, expected_cycles };
    (sure && off > limits[0]).then(|| Finding::new(severity, kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Question, SeriesResult, assess, code};
    use crate::observations::Observations;

    /// Rows of a body with an init before each. The rows depart from their plane by `departure` ticks, in a pattern that follows
    /// neither count.
    fn behind_an_init(body: f64, init: f64, departure: f64) -> Observations {
        let mut table = Observations::new(vec!["body".into(), "init".into()]);
        table.origin.serving = vec!["init".into()];
        let series = table.series("main");
        for round in 0..64u32 {
            for (at, (n, further)) in [(1, 0), (1, 1), (2, 0), (2, 2), (4, 0), (4, 4), (8, 0), (8, 8), (16, 0), (16, 16)].iter().enumerate()
            {
                let (bodies, inits) = (f64::from(*n), f64::from(n + further));
                let row = table.row(series, &[bodies, inits]);
                let off = [1.0, -1.0, -1.0, 1.0, 0.5, -0.5, -1.0, 1.0, 1.0, -1.0][at] * departure;
                let wobble = f64::from((round * 7 + at as u32 * 13) % 11) / 10.0 - 0.5;
                table.push(row, round, body * bodies + init * inits + 90.0 + off + wobble);
            }
        }
        table
    }

    fn judged(table: &Observations) -> SeriesResult {
        assess(table, &Question::default()).unwrap().series.remove(0)
    }

    #[test]
    fn the_lack_of_fit_of_a_small_init_does_not_damn_the_body() {
        let found = judged(&behind_an_init(500.0, 6.0, 12.0));
        assert!(found.trusts("body") && !found.trusts("init") && found.is_trusted(), "{:?}", found.findings);
        let about_init = found.findings.iter().find(|finding| finding.is(code::NON_LINEAR) && finding.component() == Some("init"));
        assert!(about_init.is_some_and(|finding| finding.number("effect_percent").unwrap() > 10.0), "{:?}", found.findings);
    }

    #[test]
    fn an_init_that_is_asked_for_distrusts_the_series() {
        let mut table = behind_an_init(500.0, 6.0, 12.0);
        table.origin.serving.clear();
        let found = judged(&table);
        assert!(found.trusts("body") && !found.trusts("init") && !found.is_trusted(), "{:?}", found.findings);
    }

    #[test]
    fn a_small_body_behind_a_long_init_is_untrusted() {
        let found = judged(&behind_an_init(6.0, 500.0, 12.0));
        assert!(!found.trusts("body") && found.trusts("init") && !found.is_trusted(), "{:?}", found.findings);
    }

    #[test]
    fn a_large_departure_distrusts_every_component() {
        let found = judged(&behind_an_init(500.0, 6.0, 900.0));
        let whole = |finding: &&Finding| finding.is(code::NON_LINEAR) && finding.component().is_none();
        assert!(found.findings.iter().any(|finding| whole(&finding) && finding.severity == Severity::Untrusted), "{:?}", found.findings);
        assert!(!found.trusts("body") && !found.trusts("init"));
    }

    #[test]
    fn straight_rows_have_no_finding_about_the_line() {
        let found = judged(&behind_an_init(500.0, 6.0, 0.0));
        assert!(!found.findings.iter().any(|finding| finding.is(code::NON_LINEAR)), "{:?}", found.findings);
        assert!(found.trusts("body") && found.trusts("init"));
    }

    #[test]
    fn a_negative_init_shifts_a_short_body_and_not_a_long_one() {
        let severity = |body: f64| {
            let found = judged(&behind_an_init(body, -4.0, 0.0));
            assert!(!found.trusts("init"), "{:?}", found.findings);
            found.findings.iter().find(|finding| finding.is(code::SHIFTED_BY_NEGATIVE)).map(|finding| finding.severity)
        };
        assert_eq!([20.0, 100.0, 4_000.0].map(severity), [Some(Severity::Untrusted), Some(Severity::Warning), None]);
    }

    #[test]
    fn disturbed_readings_that_are_used_are_told_apart_from_those_left_out() {
        let message = |share, left_out| interference_findings(Disturbed { share, left_out }, 0.0, None).unwrap();
        let used = message(0.96, 0.012);
        assert!(used.is(code::DISTURBED_THROUGHOUT) && used.message.contains("only 1.2 % are left out"), "{}", used.message);
        assert_eq!(used.severity, Severity::Untrusted);
        let out = message(0.2, 0.2);
        assert_eq!((out.message.as_str(), out.severity), ("20.0 % of the readings were disturbed and left out", Severity::Warning));
        assert!(out.is(code::PREEMPTED) && used.remedy != out.remedy);
    }
}
