//! Whether the counts of pulses can be what they are said to be: nothing but the line shows it.

use super::Context;
use super::finding::{Finding, FindingKind, Severity};
use crate::estimate::Solution;

/// How far below zero an overhead must be, in half-widths of its interval and in quanta of the recorder.
const SURE: (f64, f64) = (3.0, 3.0);
/// Copies from which on edges of different shapes do not explain it.
const COPIES: f64 = 0.05;

/// An overhead that is surely below zero. The toggle of a pin takes some time or none, and so the counts are too high.
/// `first` holds what the first pulse is said to count.
pub(super) fn overhead_below_zero(solution: &Solution, first: &[f64], context: &Context) -> Option<Finding> {
    let overhead = solution.overhead?;
    if overhead.value + SURE.0 * overhead.half_width() >= -SURE.1 * solution.quantum {
        return None;
    }
    // By the shortest component the counts are off the most.
    let measured = solution.components.iter().filter(|component| !component.is_difference() && component.ticks.low > 0.0);
    let shortest = measured.min_by(|a, b| a.ticks.value.total_cmp(&b.ticks.value))?;
    let copies = -overhead.value / shortest.ticks.value;
    let counts = solution.columns.iter().zip(first);
    let kind = FindingKind::OverheadBelowZero {
        value: overhead.value * context.factor,
        unit: context.unit.to_owned(),
        copies,
        component: shortest.name.clone(),
        first_pulse: match first {
            [k] => format!("k = {k}"),
            _ => counts.map(|(name, count)| format!("{name} = {count}")).collect::<Vec<_>>().join(", "),
        },
    };
    Some(Finding::new(if copies < COPIES { Severity::Warning } else { Severity::Untrusted }, kind))
}

#[cfg(test)]
mod tests {
    use crate::judge::{FindingKind, Question, Setting, Severity, assess};
    use crate::observations::Observations;

    /// What is said of pulses of 100 ticks a copy and an overhead, with counts that are off and noise of a few ticks.
    fn judged(overhead: f64, off: f64, quantum: f64, setting: Setting) -> Option<(Severity, FindingKind, String)> {
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
        let found = assess(&table, &Question { setting, ..Question::default() }).unwrap();
        let findings = found.series[0].findings.iter();
        let mut below = findings.filter(|finding| matches!(finding.kind, FindingKind::OverheadBelowZero { .. }));
        below.next().map(|finding| (finding.severity, finding.kind.clone(), finding.message.clone()))
    }

    #[test]
    fn counts_that_are_too_high_are_told_in_copies() {
        let (severity, kind, message) = judged(8.5, 1.0, 0.001, Setting::Recording).unwrap();
        assert_eq!(severity, Severity::Untrusted);
        let FindingKind::OverheadBelowZero { copies, value, .. } = kind else { panic!("{message}") };
        assert!((copies - 0.915).abs() < 0.02 && (value + 91.5).abs() < 2.0, "{message}");
        assert!(message.contains("k = 2") && message.contains("0.9 "), "{message}");
        assert!(judged(8.5, 100.0, 0.001, Setting::Recording).is_some_and(|(severity, ..)| severity == Severity::Untrusted));
        // Edges of different shapes may make a pulse a little shorter.
        assert!(judged(-3.0, 0.0, 0.001, Setting::Recording).is_some_and(|(severity, ..)| severity == Severity::Warning));
    }

    #[test]
    fn an_overhead_of_nothing_and_one_within_quanta_are_none_of_it() {
        for (overhead, off, quantum) in [(0.0, 0.0, 0.001), (-0.3, 0.0, 0.001), (-20.0, 0.0, 10.0), (8.5, 0.0, 0.001), (8.5, -1.0, 0.001)] {
            assert_eq!(judged(overhead, off, quantum, Setting::Recording), None, "{overhead} {off} {quantum}");
        }
        // In a table an overhead may be anything.
        assert_eq!(judged(8.5, 1.0, 0.001, Setting::Table), None);
    }
}
