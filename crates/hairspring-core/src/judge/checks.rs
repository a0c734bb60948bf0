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
    pub unit: &'a str,
    /// Factor from the solution's unit to this unit.
    pub factor: f64,
}

impl Context<'static> {
    /// The context of a table: nanoseconds where the clock's rate is known, otherwise ticks.
    pub fn for_table(table: &Observations) -> Context<'static> {
        let factor = table.origin.ns_per_unit();
        Context { unit: if factor.is_some() { "ns" } else { "ticks" }, factor: factor.unwrap_or(1.0) }
    }
}

/// Rows beyond the unknowns, and residual relative to the longest row, at which the rows check the line without repeats.
const EXACT: (usize, f64) = (3, 1e-9);
/// Departure from the line, relative to the longest row, above which there is a warning.
const DEPARTURE_WARNING: f64 = 0.003;
/// Departure above which the numbers must not be trusted.
const DEPARTURE_UNTRUSTED: f64 = 0.03;
/// A smaller departure of single readings gets a note if its probability by chance is below this.
const DEPARTURE_SURE: f64 = 1e-6;
/// Shares of disturbed readings above which the severity is note, warning, and untrusted.
const DISTURBED: [f64; 3] = [0.02, 0.15, 0.5];
/// Readings longer than this are rarely free of interrupts.
const LONG_NS: f64 = 1e6;
/// Half-widths relative to the value above which the severity is warning, and untrusted.
const WIDE: [f64; 2] = [0.05, 0.25];
/// Repeated readings whose spread is below this many quanta do not average the quantum out.
const DITHERED: f64 = 0.05;
/// A core clock that varies by less than this share of its median did not step.
const STEADY: f64 = 0.01;

/// All checks of one solution.
pub fn check(solution: &Solution, context: &Context) -> Vec<Finding> {
    // A difference of times may legitimately be negative or close to zero.
    let per_component = solution.components.iter().filter(|component| !component.is_difference()).flat_map(|component| {
        match below_resolution(component, solution, context) {
            Some(below) => vec![below],
            None => [negative(component, context), wide(component)].into_iter().flatten().collect(),
        }
    });
    [rank(solution), not_checked(solution), non_linear(solution), bend(solution), outliers(solution), coarse(solution)]
        .into_iter()
        .flatten()
        .chain(per_component)
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

fn non_linear(solution: &Solution) -> Option<Finding> {
    let lack = solution.lack_of_fit.filter(|lack| lack.p < 0.001)?;
    if solution.largest == 0.0 {
        return None;
    }
    let departure = lack.sd / solution.largest;
    // A departure of a thousandth of the longest row can still be large compared with a small component.
    let carried = solution
        .components
        .iter()
        .map(|component| component.uncertain.part(Source::LackOfFit, component.ticks.level) / component.ticks.value.abs())
        .fold(0.0, f64::max);
    let severity = match departure.max(carried / 5.0) {
        d if d > DEPARTURE_UNTRUSTED => Severity::Untrusted,
        d if d > DEPARTURE_WARNING => Severity::Warning,
        _ if lack.p < DEPARTURE_SURE && solution.blocks.is_empty() => Severity::Note,
        _ => return None,
    };
    Some(Finding::new(severity, FindingKind::NonLinear { lack_of_fit_f: lack.f, departure_percent: 100.0 * departure }))
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

fn coarse(solution: &Solution) -> Option<Finding> {
    let phase_spread = solution.phase_spread.filter(|spread| *spread < DITHERED)?;
    let matters = solution
        .components
        .iter()
        .any(|component| component.uncertain.part(Source::Granularity, component.ticks.level) > 0.001 * component.ticks.value.abs());
    let severity = if matters { Severity::Warning } else { Severity::Note };
    Some(Finding::new(severity, FindingKind::ClockTooCoarse { phase_spread }))
}

type Part = crate::estimate::Component;

/// A finding for a time whose interval contains zero, or that adds less to the longest row than readings can show.
fn below_resolution(component: &Part, solution: &Solution, context: &Context) -> Option<Finding> {
    let bound = upper_bound(&component.ticks, component_floor(solution))?;
    let kind =
        FindingKind::BelowResolution { component: component.name.clone(), bound: bound * context.factor, unit: context.unit.to_owned() };
    Some(Finding::new(Severity::Warning, kind))
}

fn negative(component: &Part, context: &Context) -> Option<Finding> {
    let kind = FindingKind::Negative {
        component: component.name.clone(),
        value: component.ticks.value * context.factor,
        unit: context.unit.to_owned(),
    };
    (component.ticks.high < 0.0).then(|| Finding::new(Severity::Untrusted, kind))
}

fn wide(component: &Part) -> Option<Finding> {
    let relative = component.ticks.relative();
    let severity = if relative > WIDE[1] { Severity::Untrusted } else { Severity::Warning };
    let shown = relative > WIDE[0] && component.ticks.low > 0.0;
    shown.then(|| {
        Finding::new(severity, FindingKind::WideInterval { component: component.name.clone(), half_width_percent: 100.0 * relative })
    })
}

/// A finding if the interval of a time is wider than the requested precision, a share of the value.
pub fn precision_finding(time: &Estimate, asked: f64) -> Option<Finding> {
    let missed = time.low > 0.0 && time.relative() > asked;
    let kind = FindingKind::PrecisionMissed { reached_percent: 100.0 * time.relative(), asked_percent: 100.0 * asked };
    missed.then(|| Finding::new(Severity::Warning, kind))
}

/// A finding if the share of disturbed readings is large. `longest_ns` is the length of the longest row, 0 if unknown.
pub fn interference_findings(share: f64, longest_ns: f64, stolen_ms: Option<f64>) -> Option<Finding> {
    // Readings that last as long as the period of the system's timer interrupt are rarely free of it: even those that
    // count as undisturbed contain one.
    let most = if longest_ns > LONG_NS { DISTURBED[1] } else { DISTURBED[2] };
    let severity = match share {
        s if s > most => Severity::Untrusted,
        s if s > DISTURBED[1] => Severity::Warning,
        s if s > DISTURBED[0] => Severity::Note,
        _ => return None,
    };
    Some(Finding::new(severity, FindingKind::Preempted { share_percent: 100.0 * share, stolen_ms }))
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
