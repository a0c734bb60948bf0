//! Whether the code met denormals, numbers below the smallest normal one: many cores take 100 cycles and more for them.

use super::{Finding, FindingKind, Severity};
use crate::observations::{Flags, Observations, SeriesId};

/// Share of the readings above which the finding is a warning.
const MATTERS: f64 = 0.01;
/// A row meets denormals always if it does in more than this share of its readings ...
const ALWAYS: f64 = 0.9;
/// ... and never if it does in less than this share.
const NEVER: f64 = 0.1;

/// Readings of a row, and how many of them met denormals.
#[derive(Debug, Clone, Copy, Default)]
struct Met {
    readings: u32,
    denormals: u32,
}

impl Met {
    fn share(self) -> f64 {
        f64::from(self.denormals) / f64::from(self.readings.max(1))
    }

    fn add(self, other: Met) -> Met {
        Met { readings: self.readings + other.readings, denormals: self.denormals + other.denormals }
    }
}

/// A finding if readings of a series met denormals. The slope between rows that always meet them and rows that never do is no
/// time of a copy; otherwise the time is that of the code with these numbers.
pub fn denormals(table: &Observations, series: SeriesId) -> Option<Finding> {
    let mut rows = vec![Met::default(); table.rows().len()];
    let mut seen = Flags::NONE;
    for one in table.readings().iter().filter(|one| table.rows()[one.row as usize].series == series) {
        let row = &mut rows[one.row as usize];
        *row = row.add(Met { readings: 1, denormals: u32::from(one.flags.has_denormals()) });
        seen = seen.with(one.flags);
    }
    if !seen.has_denormals() {
        return None;
    }
    let share = rows.iter().copied().fold(Met::default(), Met::add).share();
    let of_rows = || rows.iter().filter(|row| row.readings > 0).map(|row| row.share());
    let some_rows = of_rows().any(|share| share > ALWAYS) && of_rows().any(|share| share < NEVER);
    let severity = match () {
        () if some_rows => Severity::Untrusted,
        () if share > MATTERS => Severity::Warning,
        () => Severity::Note,
    };
    let kind = FindingKind::Denormals {
        share_percent: 100.0 * share,
        operands: seen.contains(Flags::DENORMAL_OPERAND),
        results: seen.contains(Flags::DENORMAL_RESULT),
        some_rows,
    };
    Some(Finding::new(severity, kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Question, assess};

    /// Eight rows, of which those from `first` on have this flag in all but every `clean`-th round.
    fn found(first: u32, clean: u32, flag: Flags) -> Vec<Finding> {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        for round in 0..200 {
            for copies in 1..=8u32 {
                let row = table.row(series, &[f64::from(copies)]);
                let wobble = f64::from((round * 7 + copies * 13) % 11) - 5.0;
                let flags = if copies >= first && round % clean != 0 { flag } else { Flags::NONE };
                table.push_flagged(row, round, 500.0 * f64::from(copies) + wobble, flags);
            }
        }
        let mut found = assess(&table, &Question::default()).unwrap().series.remove(0);
        assert_eq!(found.solution.readings_used, found.solution.readings, "denormals are not left out");
        found.findings.retain(|finding| finding.is("denormals"));
        found.findings
    }

    #[test]
    fn code_that_always_meets_denormals_gets_a_warning() {
        let findings = found(1, 100, Flags::DENORMAL_OPERAND);
        assert_eq!((findings.len(), findings[0].severity), (1, Severity::Warning));
        assert_eq!(findings[0].number("share_percent"), Some(99.0));
        assert!(findings[0].message.starts_with("denormal operands in 99 % of the readings"), "{}", findings[0].message);
    }

    #[test]
    fn rows_that_differ_in_denormals_are_not_to_be_trusted() {
        let findings = found(5, 100, Flags::DENORMAL_RESULT);
        assert_eq!(findings[0].severity, Severity::Untrusted);
        assert!(findings[0].message.contains("denormal results") && findings[0].message.contains("not in all rows"));
    }

    #[test]
    fn without_denormals_there_is_no_finding() {
        assert!(found(1, 1, Flags::DENORMAL_OPERAND).is_empty());
        assert!(found(9, 100, Flags::DENORMAL_OPERAND).is_empty());
    }

    #[test]
    fn a_few_denormals_are_a_note() {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        for round in 0..1000 {
            let row = table.row(series, &[1.0]);
            table.push_flagged(row, round, 5.0, if round == 7 { Flags::DENORMAL_OPERAND } else { Flags::NONE });
        }
        assert_eq!(denormals(&table, series).unwrap().severity, Severity::Note);
        assert_eq!(denormals(&table, series + 1), None);
    }
}
