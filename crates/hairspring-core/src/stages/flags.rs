//! Readings that were seen to be disturbed while they were taken, or that the author of the table
//! excluded.

use crate::finding::words::taken;
use crate::finding::{Finding, Severity, code};
use crate::limit::{Basis, limits};
use crate::numbers;
use crate::observations::{Flags, Reading, SeriesId};
use crate::stages::{Did, Stage, State};

limits! {
    /// If a smaller share of the readings is undisturbed, the disturbed ones count too: code that
    /// takes longer than a slice of the scheduler is never undisturbed.
    LEAST_UNDISTURBED = 0.25, "share of the readings",
        Basis::Seen("code of 20 ms in virtual machines with two CPUs, September 2026");
    /// Share of disturbed readings that is reported.
    DISTURBED_NOTE = 0.02, "share of the readings",
        Basis::Seen("calm machines lose less; all CPU models of docs/measured.md");
    /// The same for a warning; and what long readings, which are rarely free of interrupts, may
    /// have.
    DISTURBED_WARNING = 0.15, "share of the readings",
        Basis::Seen("beside a busy process on the same CPU; all CPU models of docs/measured.md");
    /// Readings longer than this are rarely free of interrupts.
    LONG_NS = 1e6, "ns", Basis::Derived("the timer of most systems interrupts 100 to 1,000 times \
                                         in a second");
}

pub(crate) const STAGE: Stage = Stage {
    name: "flags",
    question: "Was a reading seen to be disturbed, or excluded by the author?",
    needs: &[],
    limits: &[LIMITS],
    source: None,
    says,
};

/// Readings of a series by their flags.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Disturbed {
    pub excluded: usize,
    pub flagged: usize,
    /// Whether the flagged ones count, because nearly all are.
    pub count: bool,
}

/// Leaves out what is flagged. Of a series whose readings are all excluded, none is left out.
pub(crate) fn choose(state: &mut State) -> Did {
    if !state.sheet.flags.any() {
        return Did::nothing("no reading has a flag");
    }
    let is_asked =
        |reading: &Reading| reading.flags.any() && state.sheet.number_of(reading.row) > 0;
    let readings =
        state.table.readings().iter().enumerate().filter(|(_, reading)| is_asked(reading));
    let flagged: Vec<(SeriesId, usize, Flags)> =
        readings.map(|(at, reading)| (state.sheet.series_of(at), at, reading.flags)).collect();
    let mut out = Vec::new();
    for series in state.all_series() {
        let flagged: Vec<(usize, Flags)> = flagged
            .iter()
            .filter(|(of, _, _)| *of == series)
            .map(|(_, at, flags)| (*at, *flags))
            .collect();
        let is_excluded = |one: &&(usize, Flags)| one.1.contains(Flags::EXCLUDED);
        let excluded = flagged.iter().filter(is_excluded).count();
        let kept_readings = state.sheet.number_in(series) - excluded;
        let doubted = flagged.len() - excluded;
        let is_few = ((kept_readings - doubted) as f64) < LEAST_UNDISTURBED * kept_readings as f64;
        let count = doubted > 0 && (is_few || lacks_rows(state, series, &flagged));
        state.disturbed[usize::from(series)] = Disturbed { excluded, flagged: doubted, count };
        out.extend(
            flagged
                .iter()
                .filter(|one| kept_readings > 0 && (!count || is_excluded(one)))
                .map(|(at, _)| *at),
        );
    }
    state.leave_out_all(out, "no flag is a doubt")
}

/// Whether undisturbed readings are in too few rows for the unknowns of a series, which all of its
/// rows are enough for.
fn lacks_rows(state: &State, series: SeriesId, flagged: &[(usize, Flags)]) -> bool {
    let unknowns = state.table.components().len() + 1;
    let rows = state.sheet.rows_of(series);
    let mut flagged_in = vec![0; state.table.rows().len()];
    flagged.iter().for_each(|(at, _)| flagged_in[state.table.readings()[*at].row as usize] += 1);
    let undisturbed =
        rows.iter().filter(|row| state.sheet.number_of(**row) > flagged_in[**row as usize]).count();
    undisturbed <= unknowns && rows.len() > undisturbed
}

/// A finding if the share of disturbed readings is large: of those that stages left out, and of the
/// flagged ones that count.
fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let Some(solution) = state.solution(series) else { return Vec::new() };
    let Disturbed { excluded, flagged, count } = state.disturbed[usize::from(series)];
    let all_readings = solution.readings.saturating_sub(excluded).max(1) as f64;
    let left_out = state.out_as_disturbed(series).saturating_sub(excluded) as f64 / all_readings;
    let share = left_out.max(flagged as f64 / all_readings);
    let longest = solution.rows.iter().map(|row| row.location).fold(0.0, f64::max)
        * state.table.origin.ns_per_unit().unwrap_or(0.0);
    let is_long = longest > LONG_NS && state.table.origin.pauses.share().is_none();
    disturbed(share, if count { left_out } else { share }, is_long, state.stolen_ms)
        .into_iter()
        .collect()
}

/// The finding that so many readings were disturbed, as a share of all, of which so many are left
/// out. The others give the time; of long readings none is free of interrupts.
pub fn disturbed(
    share: f64,
    left_out: f64,
    is_long: bool,
    stolen_ms: Option<f64>,
) -> Option<Finding> {
    let count = share - left_out > DISTURBED_NOTE;
    let severity = match share {
        s if count || is_long && s > DISTURBED_WARNING => Severity::Untrusted,
        s if s > DISTURBED_WARNING => Severity::Warning,
        s if s > DISTURBED_NOTE => Severity::Note,
        _ => return None,
    };
    let (share_percent, left_out_percent) = (100.0 * share, 100.0 * left_out);
    let message = if count {
        let out = if left_out_percent < 0.05 {
            "none are".to_owned()
        } else {
            format!("only {left_out_percent:.1} % are")
        };
        format!(
            "{share_percent:.1} % of the readings were disturbed, and the time includes what \
             disturbed them: too few others remain, so {out} left out{}",
            taken(stolen_ms)
        )
    } else {
        format!(
            "{share_percent:.1} % of the readings were disturbed and left out{}",
            taken(stolen_ms)
        )
    };
    let numbers = numbers! { share_percent, left_out_percent, stolen_ms };
    Some(Finding::of(
        severity,
        code::DISTURBED,
        message,
        numbers,
        "measure again on a quieter CPU or machine, for longer, or time a shorter piece of code",
    ))
}

#[cfg(test)]
mod tests {
    use crate::estimate::Options;
    use crate::observations::Flags;
    use crate::simulated::CALM;

    /// Four rows of code of 2 ms in two rounds: all readings but those of two rows were disturbed.
    #[test]
    fn disturbed_readings_count_where_the_others_are_of_too_few_rows() {
        let mut table = crate::observations::Observations::new(vec!["body".into()]);
        let series = table.series("code");
        let rows = [1.0, 2.0, 3.0, 4.0].map(|count| table.row(series, &[count]));
        for round in 0..2 {
            for (at, row) in rows.iter().enumerate() {
                let ticks = 2e6
                    * (at + 1) as f64
                    * if (at + round as usize) % 2 == 0 { 1.02 } else { 0.98 };
                let flags = if round == 0 && at < 2 { Flags::NONE } else { Flags::GAP };
                table.push_flagged(*row, round, ticks, flags);
            }
        }
        let assessment = crate::judge::assess(&table, &crate::judge::Question::default()).unwrap();
        let body = &assessment.series[0].components[0].time.ticks;
        assert!((1.8e6..2.2e6).contains(&body.value), "{body:?}");
        assert!(
            assessment.series[0]
                .findings
                .iter()
                .any(|finding| finding.is(crate::finding::code::DISTURBED))
        );
    }

    #[test]
    fn flags_of_a_series_that_is_not_asked_for_are_nobodys_doubt() {
        let mut table = CALM.table(0.2, 1);
        let code = table.find_series("code").unwrap();
        let alone = crate::pipeline::solve(&table, code, &Options::default()).unwrap();
        let (chain, _) = table.rows_of(table.find_series("reference").unwrap()).next().unwrap();
        table.push_flagged(chain, 0, 1.0, Flags::GAP);
        let beside = crate::pipeline::solve(&table, code, &Options::default()).unwrap();
        assert_eq!((alone.readings, alone.vector.values), (beside.readings, beside.vector.values));
    }
}
