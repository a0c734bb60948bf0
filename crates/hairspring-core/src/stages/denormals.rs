//! Whether the code met denormals, numbers below the smallest normal one: many cores take 100
//! cycles and more for them.

use crate::finding::words::share;
use crate::finding::{Finding, Severity, code};
use crate::limit::{Basis, NEARLY_ALL, limits};
use crate::numbers;
use crate::observations::{Flags, SeriesId};
use crate::stages::{Did, Stage, State};

limits! {
    /// Share of the readings above which the finding is a warning.
    DENORMALS_MATTER = 0.01, "share of the readings",
        Basis::Derived("a hundredth of the readings at 100 times their time doubles the mean");
}

pub(crate) const STAGE: Stage = Stage {
    name: "denormals",
    question: "Did the code meet denormals?",
    needs: &[],
    limits: &[LIMITS],
    source: None,
    says,
};

/// Denormals in the readings of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Denormals {
    share: f64,
    operands: bool,
    results: bool,
    /// Whether some rows always meet them and others never: the slope between these is no time of a
    /// copy.
    some_rows: bool,
}

/// Looks at the flags of the readings.
pub(crate) fn look(state: &mut State) -> Did {
    state.denormals = state.all_series().map(|series| denormals(state, series)).collect();
    let met = state.all_series().filter(|series| state.denormals[usize::from(*series)].is_some());
    Did::each(
        met.map(|series| (series, "some readings met them".to_owned())).collect(),
        "no reading met any",
    )
}

fn denormals(state: &State, series: SeriesId) -> Option<Denormals> {
    if !state.sheet.flags.has_denormals() {
        return None;
    }
    let seen_flags = state
        .sheet
        .raw(series)
        .fold(Flags::NONE, |seen_flags, (_, reading)| seen_flags.with(reading.flags));
    if !seen_flags.has_denormals() {
        return None;
    }
    let has = |one: &crate::sheet::Sample| state.sheet.reading(one.at).flags.has_denormals();
    let met = |row: u32| {
        (state.sheet.row(row).filter(has).count() as f64, state.sheet.number_of(row) as f64)
    };
    let rows: Vec<(f64, f64)> =
        state.sheet.rows_of(series).into_iter().map(met).filter(|(_, all)| *all > 0.0).collect();
    let share =
        rows.iter().map(|row| row.0).sum::<f64>() / rows.iter().map(|row| row.1).sum::<f64>();
    let some_rows = rows.iter().any(|(met, all)| *met > NEARLY_ALL * all)
        && rows.iter().any(|(met, all)| *met < (1.0 - NEARLY_ALL) * all);
    let (operands, results) =
        (seen_flags.contains(Flags::DENORMAL_OPERAND), seen_flags.contains(Flags::DENORMAL_RESULT));
    Some(Denormals { share, operands, results, some_rows })
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    state.denormals[usize::from(series)].iter().map(told).collect()
}

fn told(met: &Denormals) -> Finding {
    let Denormals { operands, results, some_rows, .. } = *met;
    let share_percent = 100.0 * met.share;
    let severity = match () {
        () if some_rows => Severity::Untrusted,
        () if met.share > DENORMALS_MATTER => Severity::Warning,
        () => Severity::Note,
    };
    let denormal_values = match (operands, results) {
        (true, true) => "operands and results",
        (true, false) => "operands",
        _ => "results",
    };
    let rows = if some_rows {
        ", but not in all rows, so that their difference is no time of the code"
    } else {
        ""
    };
    let message = format!(
        "denormal {denormal_values} in {} % of the readings{rows}: many cores take 100 cycles or \
         more for an instruction that meets one",
        share(share_percent)
    );
    let remedy = "begin with values that stay ordinary, or have the processor treat denormals as \
                  zero (FTZ and DAZ) as the real program does; nothing to do if denormals are \
                  what you want to time";
    Finding::of(
        severity,
        code::DENORMALS,
        message,
        numbers! { share_percent, operands, results, some_rows },
        remedy,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Question, assess};
    use crate::observations::Observations;

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
        let mut assessment = assess(&table, &Question::default()).unwrap().series.remove(0);
        assert_eq!(
            assessment.solution.readings_used, assessment.solution.readings,
            "denormals are not left out"
        );
        assessment.findings.retain(|finding| finding.is("denormals"));
        assessment.findings
    }

    #[test]
    fn code_that_always_meets_denormals_gets_a_warning() {
        let findings = found(1, 100, Flags::DENORMAL_OPERAND);
        assert_eq!((findings.len(), findings[0].severity), (1, Severity::Warning));
        assert_eq!(findings[0].number("share_percent"), Some(99.0));
        assert!(
            findings[0].message.starts_with("denormal operands in 99 % of the readings"),
            "{}",
            findings[0].message
        );
    }

    #[test]
    fn rows_that_differ_in_denormals_are_not_to_be_trusted() {
        let findings = found(5, 100, Flags::DENORMAL_RESULT);
        assert_eq!(findings[0].severity, Severity::Untrusted);
        assert!(
            findings[0].message.contains("denormal results")
                && findings[0].message.contains("not in all rows")
        );
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
            table.push_flagged(
                row,
                round,
                5.0,
                if round == 7 { Flags::DENORMAL_OPERAND } else { Flags::NONE },
            );
        }
        let options = crate::estimate::Options::default();
        let state = crate::pipeline::state_of(&table, &options);
        assert_eq!(says(&state, series)[0].severity, Severity::Note);
    }
}
