//! Findings of the source of the readings. They are notes of the table, so that a file in which it is saved has them too.

use super::Finding;
use crate::observations::Origin;

/// Key of a note that holds a finding.
const KEY: &str = "finding";

/// Adds findings of the source of the readings to a table: every result from it has them.
pub fn carry(findings: &[Finding], origin: &mut Origin) {
    let text = |finding: &Finding| Some((KEY.to_owned(), serde_json::to_string(finding).ok()?));
    origin.notes.extend(findings.iter().filter_map(text));
}

/// Most findings that a table carries. A source has a few kinds; a file may have any number.
const MOST: usize = 100;

/// The findings that came with the table, at most [`MOST`]. A note of the same key that is no finding stays a note.
pub(super) fn carried(origin: &Origin) -> Vec<Finding> {
    let notes = origin.notes.iter().filter(|(key, _)| key == KEY);
    notes.filter_map(|(_, text)| serde_json::from_str(text).ok()).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{FindingKind, Question, Severity, assess};
    use crate::observations::{Observations, read_csv, write_csv};

    /// Rows of 1 to 8 copies of 500 ticks.
    fn table() -> Observations {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        for (round, copies) in (0..64).flat_map(|round| (1..=8u32).map(move |copies| (round, copies))) {
            let row = table.row(series, &[f64::from(copies)]);
            table.push(row, round, 500.0 * f64::from(copies) + 40.0 + f64::from((round * 7 + copies * 13) % 11));
        }
        table
    }

    #[test]
    fn findings_of_the_source_travel_with_the_table() {
        let mut table = table();
        let finding = Finding::new(Severity::Untrusted, FindingKind::NoCycles { reason: "line\nbreak, \"quotes\"".into() });
        carry(std::slice::from_ref(&finding), &mut table.origin);
        table.origin.notes.push((KEY.into(), "the result of somebody's thought".into()));
        let mut text = Vec::new();
        write_csv(&table, &mut text).unwrap();
        let found = assess(&read_csv(&text[..]).unwrap(), &Question::default()).unwrap();
        assert_eq!(found.series[0].findings.first(), Some(&finding));
        assert!(!found.series[0].is_trusted());
    }

    #[test]
    fn doubted_readings_widen_the_interval() {
        let half = |bound| {
            let mut table = table();
            table.origin.reading_bound = bound;
            assess(&table, &Question::default()).unwrap().series[0].components[0].time.ticks.half_width()
        };
        // The sum of the distances of 1 to 8 from their middle over that of the squares, times 10.
        assert!((half(Some(10.0)) - half(None) - 3.81).abs() < 0.3, "{} {}", half(Some(10.0)), half(None));
    }
}
