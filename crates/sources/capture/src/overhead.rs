//! Checks the counts of pulses by the fitted line, the only place where wrong counts show.

use crate::kinds::PulseFinding;
use hairspring_core::estimate::Solution;
use hairspring_core::judge::{Assessment, Finding, SeriesResult, Severity, code};
use hairspring_core::observations::Observations;

/// How far below zero an overhead must be for a finding, in half-widths of its interval and in
/// quanta of the recorder.
const MARGIN: (f64, f64) = (3.0, 3.0);
/// Minimum number of copies for a finding: different shapes of the two edges explain less.
const COPIES: f64 = 0.05;

/// Findings about signals whose edges may be moved.
const MOVING_FINDINGS: [&str; 6] =
    ["clipped", "overloaded", "saturated", "not_linear", "edges_differ", "neighbours_unknown"];

/// Adds a finding to each series whose overhead shows that the counts are wrong.
pub fn doubt_counts(table: &Observations, assessment: &mut Assessment) {
    let Some(first) = table.rows().first() else { return };
    let (factor, unit) = table.origin.shown_unit();
    for series in &mut assessment.series {
        if let Some(finding) = overhead_below_zero(&series.solution, &first.counts, factor, unit) {
            series.add(finding);
        }
    }
}

/// Rows that are left out as a bend are not harmless where something moves edges: the bend may be
/// its effect on the other rows too. Findings travel with a saved table, so this is for a recording
/// as for its table.
pub fn doubt_bend(assessment: &mut Assessment) {
    let moves = |series: &SeriesResult| {
        series
            .findings
            .iter()
            .any(|finding| MOVING_FINDINGS.into_iter().any(|code| finding.is(code)))
    };
    for finding in assessment
        .series
        .iter_mut()
        .filter(|series| moves(series))
        .flat_map(|series| &mut series.findings)
    {
        if is_bend(finding) {
            finding.severity = Severity::Warning;
            finding.remedy = "record without what moves edges (see the other warnings): it may \
                              bend the remaining rows too, which the interval includes only roughly"
                .into();
        }
    }
}

/// Whether a finding says that rows with few copies are left out.
fn is_bend(finding: &Finding) -> bool {
    finding.is(code::ROWS_LEFT_OUT) && finding.number("bent").is_some_and(|rows| rows > 0.0)
}

/// A finding about a significantly negative overhead. The toggle of a pin cannot take negative
/// time, so the counts are too high. `first` holds the counts of the first pulse.
fn overhead_below_zero(
    solution: &Solution,
    first: &[f64],
    factor: f64,
    unit: &'static str,
) -> Option<Finding> {
    let overhead = solution.overhead?;
    if overhead.value + MARGIN.0 * overhead.half_width() >= -MARGIN.1 * solution.quantum {
        return None;
    }
    // The shortest component gives the largest error of the counts.
    let measured = solution
        .components
        .iter()
        .filter(|component| !component.is_difference() && component.ticks.low > 0.0);
    let shortest = measured.min_by(|a, b| a.ticks.value.total_cmp(&b.ticks.value))?;
    let copies = -overhead.value / shortest.ticks.value;
    let counts = solution.columns.iter().zip(first);
    let kind = PulseFinding::OverheadBelowZero {
        value: overhead.value * factor,
        unit,
        copies,
        component: shortest.name.clone(),
        first_pulse: match first {
            [k] => format!("k = {k}"),
            _ => counts
                .map(|(name, count)| format!("{name} = {count}"))
                .collect::<Vec<_>>()
                .join(", "),
        },
    };
    Some(Finding::new(if copies < COPIES { Severity::Warning } else { Severity::Untrusted }, kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::OverloadFinding;
    use hairspring_core::judge::{Question, assess, carry};
    use hairspring_core::observations::{read_csv, write_csv};

    /// The finding for pulses of 100 ticks a copy plus `overhead`, with counts that are wrong by
    /// `off` and noise of a few ticks.
    fn judged(overhead: f64, off: f64, quantum: f64) -> Option<Finding> {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        for round in 0..20u32 {
            for k in 1..=4u32 {
                let row = table.row(series, &[f64::from(k) + off]);
                let wobble = f64::from((round * 7 + k * 13) % 11) / 5.0 - 1.0;
                table.push(row, round, 100.0 * f64::from(k) + overhead + wobble);
            }
        }
        table.origin.granularity = Some(quantum);
        let mut assessment = assess(&table, &Question::default()).unwrap();
        doubt_counts(&table, &mut assessment);
        assessment.series[0]
            .findings
            .iter()
            .find(|finding| finding.is("overhead_below_zero"))
            .cloned()
    }

    #[test]
    fn too_high_counts_are_reported_in_copies() {
        let overhead = judged(8.5, 1.0, 0.001).unwrap();
        assert_eq!(overhead.severity, Severity::Untrusted);
        let (copies, value) =
            (overhead.number("copies").unwrap(), overhead.number("value_ticks").unwrap());
        assert!((copies - 0.915).abs() < 0.02 && (value + 91.5).abs() < 2.0, "{overhead:?}");
        assert!(
            overhead.message.contains("k = 2") && overhead.message.contains("0.9 "),
            "{overhead:?}"
        );
        assert!(
            judged(8.5, 100.0, 0.001)
                .is_some_and(|overhead| overhead.severity == Severity::Untrusted)
        );
        // Edges of different shapes may shorten a pulse a little.
        assert!(
            judged(-3.0, 0.0, 0.001).is_some_and(|overhead| overhead.severity == Severity::Warning)
        );
    }

    #[test]
    fn a_bend_is_a_warning_where_edges_are_moved_also_in_a_saved_table() {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        for (round, k) in (0..20u32).flat_map(|round| (1..=12u32).map(move |k| (round, k))) {
            let row = table.row(series, &[f64::from(k)]);
            let bend = if k == 1 { 30.0 } else { 0.0 };
            table.push(
                row,
                round,
                100.0 * f64::from(k) + bend + f64::from((round * 7 + k * 13) % 11) / 50.0,
            );
        }
        let severity = |table: &Observations| {
            let mut assessment = assess(table, &Question::default()).unwrap();
            doubt_bend(&mut assessment);
            assessment.series[0]
                .findings
                .iter()
                .find(|finding| is_bend(finding))
                .map(|finding| finding.severity)
        };
        assert_eq!(severity(&table), Some(Severity::Note));
        let saturated = Finding::new(
            Severity::Warning,
            OverloadFinding::Saturated { bent_percent: 3.0, bound_samples: None },
        );
        carry(&[saturated], &mut table.origin);
        let mut text = Vec::new();
        write_csv(&table, &mut text).unwrap();
        assert_eq!(severity(&read_csv(&text[..]).unwrap()), Some(Severity::Warning));
    }

    #[test]
    fn overheads_near_zero_are_accepted() {
        for (overhead, off, quantum) in [
            (0.0, 0.0, 0.001),
            (-0.3, 0.0, 0.001),
            (-20.0, 0.0, 10.0),
            (8.5, 0.0, 0.001),
            (8.5, -1.0, 0.001),
        ] {
            assert_eq!(judged(overhead, off, quantum), None, "{overhead} {off} {quantum}");
        }
    }
}
