//! What pauses of the CPU add to long readings. A pause in a short reading makes it an outlier, which is left out. Readings that are longer
//! than the time from one pause to the next have some each, so that no reading shows the time without them.

use super::assessment::SeriesResult;
use super::{Finding, FindingKind, Severity};
use crate::observations::Pauses;

/// Pauses in the longest row, in the mean, from which its readings without one are not surely found.
const TOO_MANY: f64 = 0.5;
/// Pauses with a smaller share of the time are not told ...
const LITTLE: f64 = 0.002;
/// ... and with a larger one they make a time untrusted.
const MUCH: f64 = 0.1;

/// By how much pauses may have lengthened the times of a series, as a share of them, and the finding; `None` if its rows are short, or if
/// pauses are rare.
pub(super) fn lengthened(series: &SeriesResult, pauses: &Pauses, ns_per_unit: Option<f64>) -> Option<(f64, Finding)> {
    let ((share, apart), most) = (pauses.share()?, pauses.most_share()?);
    let longest = series.solution.rows.iter().map(|row| row.location).fold(0.0, f64::max);
    if longest < TOO_MANY * apart || share < LITTLE {
        return None;
    }
    let mean_us = 1e-3 * ns_per_unit? * pauses.lost / f64::from(pauses.number);
    let severity = if most > MUCH { Severity::Untrusted } else { Severity::Warning };
    let kind = FindingKind::Paused { share_percent: 100.0 * share, mean_us, in_longest: longest / apart };
    Some((most, Finding::new(severity, kind)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Assessment, Question, assess};
    use crate::observations::{Observations, Rate};

    /// Rows of up to 8 copies of a body of so many ticks, on a CPU that pauses once in 10,000 ticks.
    fn assessed(body: f64, lost: f64, number: u32) -> Assessment {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("code");
        for round in 0..64_u32 {
            for copies in 1..=8_u32 {
                let row = table.row(series, &[f64::from(copies)]);
                table.push(row, round, body * f64::from(copies) + 40.0 + f64::from((round * 7 + copies * 13) % 11));
            }
        }
        table.origin.rate = Some(Rate { hz: 2e9, uncertainty_ppm: 1.0, provenance: "test".into() });
        table.origin.pauses = Pauses { watched: 10_000.0 * f64::from(number), lost, number };
        assess(&table, &Question::default()).unwrap()
    }

    fn finding(found: &Assessment) -> Option<&Finding> {
        found.series[0].findings.iter().find(|finding| finding.is(crate::judge::code::PAUSED))
    }

    #[test]
    fn times_of_long_rows_have_the_pauses_in_their_interval() {
        let found = assessed(5_000.0, 40_000.0, 100);
        let time = found.series[0].components[0].time.ticks;
        // 40,000 of 1,000,000 ticks, and 28 % more by chance.
        assert!((0.04..0.06).contains(&time.relative()), "{time:?}");
        let paused = finding(&found).unwrap();
        assert!(
            paused.severity == Severity::Warning && paused.message.contains("4.2 %") && paused.message.contains("0.2 us"),
            "{paused:?}"
        );
        assert!(paused.message.contains("contains 4.0 pauses"), "{}", paused.message);
        assert_eq!(finding(&assessed(5_000.0, 200_000.0, 100)).unwrap().severity, Severity::Untrusted);
    }

    #[test]
    fn short_rows_and_rare_pauses_are_no_doubt() {
        for (body, lost, number) in [(500.0, 40_000.0, 100), (5_000.0, 1_000.0, 100), (5_000.0, 2_000.0, 4), (5_000.0, 0.0, 0)] {
            let found = assessed(body, lost, number);
            assert!(finding(&found).is_none(), "{body} {lost} {number}");
            assert!(found.series[0].components[0].time.ticks.relative() < 0.01);
        }
    }
}
