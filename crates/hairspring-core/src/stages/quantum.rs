//! The step of the clock (its quantum): how large it is, and what of it repeats do not average out.
//!
//! Readings are whole numbers of quanta. Over all phases of the clock their mean is the true time.
//! Where the rounds of a row have nearly the same phase, it is off by up to a quantum, which
//! neither noise nor the departure from the line shows.

use crate::estimate::{Entry, Solution, Source, dot, largest_error, median};
use crate::finding::{Finding, Severity, about, code};
use crate::limit::{Basis, LITTLE_SHARE, NEARLY_ALL, limits};
use crate::math::{exp, sin_cos};
use crate::numbers;
use crate::observations::{Observations, RowId, SeriesId, Unit};
use crate::quantum::{digit_of_readings, step_of_readings};
use crate::stages::{Did, Stage, State};
use std::f64::consts::PI;

limits! {
    /// Largest middle standard deviation of the rows' readings at which their phases may hardly
    /// change, and largest jitter that is looked for.
    STILL_QUANTA = 0.35, "quanta",
        Basis::Derived("over all phases half of the rows have more than 0.43");
    /// Rows times squared mean resultant length of their fractional parts above which these are
    /// alike (Rayleigh's test).
    PHASES_ALIKE = 7.0, "", Basis::Derived("spread parts exceed it in one of 1,000 tables");
    /// Least mean resultant length: in tables of many rows the test would also find parts that are
    /// only a little alike.
    MUCH_ALIKE = 0.5, "", Basis::Derived("half of the way from spread parts to equal ones");
    /// Mean variance of a row's readings from which repeats average the rounding out.
    AVERAGED_PHASES = 0.15, "squared quanta",
        Basis::Derived("phases that are evenly distributed give 1/6 without any jitter");
    /// Below this spread repeated readings do not average the quantum out; a reading so near to a
    /// whole number of quanta is one.
    LEAST_DITHER = 0.05, "quanta",
        Basis::Derived("less than a sixth of the least that phases give");
}

pub(crate) const STAGE: Stage = Stage {
    name: "quantum",
    question: "By which step does the clock move, and do repeats average it out?",
    needs: &[],
    limits: &[LIMITS],
    source: Some(Source::Quantum),
    says,
};

/// The quantum of a table's readings.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Quantum {
    /// In the table's unit; 0 if unknown.
    pub step: f64,
    /// Whether the table states it, or its readings show it; else it is assumed to be a tick.
    pub is_known: bool,
    /// Whether the readings alone show it.
    pub is_learnt: bool,
}

impl Quantum {
    /// The quantum that a table states, or that of the digits of its readings.
    pub fn stated(table: &Observations) -> Quantum {
        let step = table
            .origin
            .granularity
            .unwrap_or_else(|| table.origin.quantum().max(digit_of_readings(table)));
        Quantum { step, is_known: table.origin.granularity.is_some(), is_learnt: false }
    }

    /// Variance of a reading by the quantum alone, where that is known: two roundings at phases
    /// that are evenly distributed. A row whose few readings happen to be equal has no smaller one,
    /// and would else draw the line to its whole number of quanta.
    pub fn rounding(&self) -> f64 {
        if self.is_known { self.step * self.step / 6.0 } else { 0.0 }
    }
}

/// Learns a quantum that the table does not state.
pub(crate) fn learn(state: &mut State) -> Did {
    let stated = state.quantum;
    let learnt = if stated.is_known { None } else { step_of_readings(state.table) };
    if let Some(step) = learnt {
        let step = step.max(stated.step);
        state.quantum = Quantum { step, is_known: true, is_learnt: step > stated.step };
    }
    let unit = unit(state.table);
    match state.quantum {
        Quantum { is_learnt: true, step, .. } => Did::something(format!(
            "all readings are multiples of {step} {unit}, which nothing states"
        )),
        Quantum { is_known: true, step, .. } => Did::nothing(format!("{step} {unit}, as stated")),
        Quantum { step, .. } => {
            Did::nothing(format!("not stated and not seen: taken as {step} {unit}"))
        }
    }
}

fn unit(table: &Observations) -> &'static str {
    if table.origin.unit == Unit::TimeNs { "ns" } else { "ticks" }
}

/// Variance of each row's location by rounding that more rounds do not reduce, by the variance of
/// the readings of each row. Readings between whole quanta were not rounded to this quantum. Rounds
/// that are measured beside a reference chain begin at random phases, unless readings do not vary
/// at all.
pub(crate) fn stuck(state: &State, rows: &[RowId], variances: &[f64]) -> f64 {
    let square = state.quantum.step * state.quantum.step;
    if variances.is_empty() || square <= 0.0 {
        return 0.0;
    }
    let mean = variances.iter().sum::<f64>() / variances.len() as f64;
    if state.table.origin.reference.is_some() && mean > square * LEAST_DITHER.powi(2) {
        return 0.0;
    }
    unaveraged(mean / square)
        .filter(|_| are_whole(state, rows))
        .map_or(0.0, |variance| variance * square)
}

/// Whether readings of a row differ by whole numbers of quanta, but for the digits that a file may
/// have cut. They themselves need not be whole: a constant may be subtracted from them.
fn are_whole(state: &State, rows: &[RowId]) -> bool {
    let (mut whole_differences, mut all_differences) = (0_usize, 0_usize);
    for row in rows {
        let mut readings = state
            .sheet
            .row(*row)
            .map(|one| state.sheet.reading(one.at))
            .filter(|one| !one.flags.any());
        let Some(first) = readings.next() else { continue };
        for reading in readings {
            let quanta = (reading.ticks - first.ticks) / state.quantum.step;
            whole_differences += usize::from((quanta - quanta.round()).abs() < LEAST_DITHER);
            all_differences += 1;
        }
    }
    whole_differences as f64 >= NEARLY_ALL * all_differences as f64
}

/// Adds what repeats do not average out.
pub(crate) fn widen(state: &mut State) -> Did {
    let mut done = Vec::new();
    for series in 0..state.solutions.len() {
        let (Some(rows), Some(Ok(solution))) =
            (&state.systems[series], &mut state.solutions[series])
        else {
            continue;
        };
        let active = rows
            .active
            .iter()
            .map(|row| (&rows.system.design[*row][..], rows.variances[*row]))
            .collect::<Vec<_>>();
        let entries = unaveraged_parts(&active, rows.stuck, solution, state.quantum.step);
        done.extend(
            (!entries.is_empty())
                .then(|| (series as SeriesId, "repeats do not average it out".to_owned())),
        );
        entries.into_iter().for_each(|(unknown, entry)| solution.add(unknown, entry));
    }
    Did::each(done, "repeats average it out")
}

/// The entry of each unknown, if it has one, by the counts of the rows in use and the variance of a
/// reading of each.
fn unaveraged_parts(
    rows: &[(&[f64], Option<f64>)],
    stuck: f64,
    solution: &Solution,
    quantum: f64,
) -> Vec<(usize, Entry)> {
    let fitted = rows.iter().map(|(counts, _)| dot(counts, &solution.vector.values));
    let mut sds: Vec<f64> =
        rows.iter().filter_map(|(_, variance)| *variance).map(f64::sqrt).collect();
    let is_commensurate = is_commensurate(fitted, median(&mut sds), quantum);
    let entry = |unknown: usize| {
        if is_commensurate {
            let counts = rows.iter().map(|(counts, _)| counts[unknown]);
            return Some(Entry::bound(Source::Quantum, largest_error(counts, quantum)));
        }
        let spread: f64 =
            solution.vector.map.row(unknown).iter().map(|weight| weight * weight).sum();
        (stuck > 0.0)
            .then(|| Entry::standard(Source::Quantum, (stuck * spread).sqrt(), f64::INFINITY))
    };
    (0..solution.vector.values.len())
        .filter_map(|unknown| Some((unknown, entry(unknown)?)))
        .collect()
}

/// Whether the fitted times of the rows are whole numbers of quanta but for the same fraction of
/// one, while readings of a row hardly vary (`sd` is typical of the rows).
pub(crate) fn is_commensurate(fitted: impl Iterator<Item = f64>, sd: f64, quantum: f64) -> bool {
    if quantum <= 0.0 || sd.is_nan() || sd >= STILL_QUANTA * quantum {
        return false;
    }
    let (mut cosines, mut sines, mut rows) = (0.0, 0.0, 0.0);
    for time in fitted {
        let (sine, cosine) = sin_cos(std::f64::consts::TAU * time / quantum);
        (cosines, sines, rows) = (cosines + cosine, sines + sine, rows + 1.0);
    }
    let squared = cosines * cosines + sines * sines;
    squared > PHASES_ALIKE * rows && squared > (MUCH_ALIKE * rows).powi(2)
}

/// The variance of a row's mean, in squared quanta, that repeats do not reduce, because each row
/// has its own phase relative to the clock and its readings differ by less than a quantum.
/// `variance` is that of the readings of a row in squared quanta, as the mean of the rows; `None`
/// where repeats average the rounding out.
///
/// With a jitter of `s` quanta (normal), the mean of rounded readings is off by a sum of sines of
/// the phase, whose variance over all phases is `b = sum of exp(-4 pi^2 k^2 s^2) / (2 pi^2 k^2)`,
/// and the readings have the variance `s^2 + 1/12 - b` (Widrow and Kollar 2008, on rounding and
/// dither). Twice as much counts: both ends of a reading are rounded.
pub fn unaveraged(variance: f64) -> Option<f64> {
    if variance.is_nan() || variance >= AVERAGED_PHASES {
        return None;
    }
    if variance <= 0.0 {
        return Some(1.0 / 6.0);
    }
    let off = |jitter: f64| -> f64 {
        let order = |k: f64| exp(-4.0 * (PI * k * jitter).powi(2)) / (2.0 * (PI * k).powi(2));
        (1..=40).map(|k| order(f64::from(k))).sum()
    };
    let (mut less, mut more) = (0.0, STILL_QUANTA);
    for _ in 0..40 {
        let middle: f64 = (less + more) / 2.0;
        let seen = middle * middle + 1.0 / 12.0 - off(middle);
        (less, more) = if seen < variance { (middle, more) } else { (less, middle) };
    }
    Some(2.0 * off(less))
}

/// A finding for each component that the quantum makes uncertain; a note if there is none, or if
/// the quantum is learnt.
fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let Some(solution) = state.solution(series) else { return Vec::new() };
    let learnt =
        state.quantum.is_learnt.then(|| learnt_finding(state.quantum.step, unit(state.table)));
    let Some(spread) = solution.phase_spread.filter(|spread| *spread < LEAST_DITHER) else {
        return learnt.into_iter().collect();
    };
    let matters = |component: &&crate::estimate::Component| {
        component.uncertain.part(Source::Quantum, component.ticks.level)
            > LITTLE_SHARE * component.ticks.value.abs()
    };
    let affected = solution
        .components
        .iter()
        .filter(matters)
        .map(|component| coarse_finding(Some(&component.name), spread));
    let mut findings: Vec<Finding> = affected.collect();
    if findings.is_empty() {
        findings.push(coarse_finding(None, spread));
    }
    findings.into_iter().chain(learnt).collect()
}

fn coarse_finding(component: Option<&str>, phase_spread: f64) -> Finding {
    let of = component.map(|component| format!(" of {component}")).unwrap_or_default();
    let message = format!(
        "repeated readings hardly vary ({phase_spread:.3} quanta of the clock): the quantum does \
         not average out and is included in the interval{of}"
    );
    let severity = if component.is_some() { Severity::Warning } else { Severity::Note };
    let remedy = "use a finer clock, or rows with larger counts";
    Finding::of(
        severity,
        code::CLOCK_TOO_COARSE,
        message,
        about(component, numbers! { phase_spread }),
        remedy,
    )
}

fn learnt_finding(step: f64, unit: &str) -> Finding {
    let step = (1e6 * step).round() / 1e6;
    let message = format!(
        "all readings are multiples of {step} {unit}: this is taken as the quantum of the clock, \
         which nothing states"
    );
    let unit = unit.to_owned();
    let remedy = "nothing to do; `# granularity:` in the file states the clock's quantum";
    Finding::of(Severity::Note, code::CLOCK_TOO_COARSE, message, numbers! { step, unit }, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    #[test]
    fn rounding_that_repeats_do_not_reduce_is_known_from_their_variance() {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(3);
        for jitter in [0.05, 0.1, 0.2, 0.25] {
            let (mut seen_variance, mut off) = (0.0, 0.0);
            for _ in 0..400 {
                let phase: f64 = random.random();
                // A sum of twelve even numbers is nearly normal.
                let mut reading = || {
                    (phase + jitter * ((0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0))
                        .floor()
                };
                let readings: Vec<f64> = (0..400).map(|_| reading()).collect();
                let mean = readings.iter().sum::<f64>() / 400.0;
                seen_variance +=
                    readings.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 399.0 / 400.0;
                off += (mean + 0.5 - phase).powi(2) / 400.0;
            }
            let found = unaveraged(seen_variance).unwrap() / 2.0;
            assert!((found - off).abs() < 0.15 * off + 0.003, "{jitter}: {found} {off}");
        }
        assert_eq!((unaveraged(0.17), unaveraged(f64::NAN)), (None, None));
        assert_eq!(unaveraged(0.0), Some(1.0 / 6.0));
        assert!((unaveraged(1e-9).unwrap() - 1.0 / 6.0).abs() < 0.01);
    }

    #[test]
    fn times_that_are_alike_are_commensurate_unless_readings_vary() {
        let at = |fraction: f64| (1..=20).map(move |n| f64::from(n) * (165.0 + fraction));
        assert!(is_commensurate(at(0.004), 0.1, 1.0));
        assert!(!is_commensurate(at(0.004), 0.5, 1.0), "jitter moves the phases");
        assert!(!is_commensurate(at(0.004), f64::NAN, 1.0));
        assert!(!is_commensurate(at(0.37), 0.1, 1.0));
        assert!(!is_commensurate(at(0.004).take(6), 0.1, 1.0), "six rows may be alike by chance");
        assert!(!is_commensurate(at(0.004), 0.1, 0.0));
        assert!(!is_commensurate(std::iter::empty(), 0.1, 1.0));
        let many =
            (1..=10_000).map(|n| f64::from(n) * 0.618_034 + if n % 20 == 0 { 0.0 } else { 1e-3 });
        assert!(!is_commensurate(many, 0.1, 1.0));
    }
}
