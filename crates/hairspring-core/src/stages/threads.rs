//! Whether other threads that the code runs slow it in some rounds: they contend with it for memory
//! while they run, and do not while they wait. Both are the code's own time, so that no slow
//! reading is left out of it.

use crate::finding::words::short;
use crate::finding::{Finding, Severity, code};
use crate::limit::{Basis, NEARLY_ALL, limits};
use crate::numbers;
use crate::observations::{RowId, SeriesId};
use crate::stages::{Did, Stage, State, need};

limits! {
    /// Slow rounds take this many times longer than fast ones if other threads slow them.
    MUCH_SLOWER = 1.25, "", Basis::Seen("a shared line of the cache, 4 times; without one 1.02 \
                                         times; AMD family 25, November 2026");
}

pub(crate) const STAGE: Stage = Stage {
    name: "threads",
    question: "Do other threads of the code slow it in some rounds?",
    needs: &[need::THREADS],
    limits: &[LIMITS],
    source: None,
    says,
};

/// Ticks of a copy in fast and in slow rounds.
pub(crate) type Contended = (f64, f64);

/// Compares the rounds by their longest rows.
pub(crate) fn look(state: &mut State) -> Did {
    let contended_series: Vec<(SeriesId, Contended)> = state
        .subjects()
        .into_iter()
        .filter_map(|series| Some((series, contended(state, series)?)))
        .collect();
    let told = contended_series.iter().map(|(series, (fast, slow))| {
        (*series, format!("slow rounds take {:.2} times as long as fast ones", slow / fast))
    });
    let did = Did::each(told.collect(), "all rounds take about as long");
    state.contended = contended_series;
    did
}

/// Rounds of which the mean is taken: what each evaluation differs by is no contention, and a
/// thread that waits does so for longer.
const ROUNDS: usize = 8;

fn contended(state: &State, series: SeriesId) -> Option<Contended> {
    let copies = |row: &RowId| state.table.rows()[*row as usize].counts.iter().sum::<f64>();
    let longest = state
        .sheet
        .rows_of(series)
        .into_iter()
        .max_by(|one, other| copies(one).total_cmp(&copies(other)))?;
    let overhead = state
        .solution(series)?
        .vector
        .values
        .last()
        .copied()
        .filter(|overhead| *overhead > 0.0)
        .unwrap_or(0.0);
    let ticks: Vec<f64> =
        state.sheet.row(longest).map(|one| (one.ticks - overhead) / copies(&longest)).collect();
    let mut means: Vec<f64> =
        ticks.chunks(ROUNDS).map(|some| some.iter().sum::<f64>() / some.len() as f64).collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means.get((share * means.len() as f64) as usize).copied();
    let (fast, slow) = (at(1.0 - NEARLY_ALL)?, at(NEARLY_ALL)?);
    (fast > 0.0 && slow > MUCH_SLOWER * fast).then_some((fast, slow))
}

fn says(state: &State, series: SeriesId) -> Vec<Finding> {
    let (per_tick, unit) = state.shown_unit();
    let told = |(fast, slow): &Contended| {
        let (fast, slow) = (fast * per_tick, slow * per_tick);
        let (few, many) = (short(fast), short(slow));
        let message = format!(
            "the code runs other threads, and takes {few} {unit} in fast rounds and {many} {unit} \
             in slow ones; the time is the mean of all rounds"
        );
        let remedy = "keep other programs off the CPUs of the threads, which then run at the same \
                      time throughout";
        Finding::of(Severity::Warning, code::CONTENDED, message, numbers! { fast, slow }, remedy)
    };
    let name = state.name(series);
    let is_known = state.results.iter().any(|one| {
        one.name == name && one.components.first().is_some_and(|body| body.time.bound.is_none())
    });
    state
        .contended
        .iter()
        .filter(|(of, _)| is_known && *of == series)
        .map(|(_, found)| told(found))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::finding::code;
    use crate::judge::{Question, assess};
    use crate::observations::Observations;

    /// Rounds of code of 8 ticks; so many of ten take four times as long, because another thread
    /// runs.
    fn table(threads: bool, slow: u32) -> Observations {
        let mut table = Observations::new(vec!["body".into()]);
        table.origin.threads = threads;
        let series = table.series("code");
        let rows: Vec<(u32, f64)> = (1..=8)
            .map(|at| f64::from(at * 16))
            .map(|count| (table.row(series, &[count]), count))
            .collect();
        for round in 0..1_000_u32 {
            let factor = if round / 20 % 10 < slow { 4.0 } else { 1.0 };
            for (row, count) in &rows {
                table.push(*row, round, 40.0 + 8.0 * factor * count + f64::from(round % 3));
            }
        }
        table
    }

    #[test]
    fn rounds_that_other_threads_of_the_code_slow_count() {
        let assessment = assess(&table(true, 3), &Question::default()).unwrap();
        let time = assessment.series[0].components[0].time.ticks;
        assert!(time.contains(8.0 * (0.7 + 0.3 * 4.0)), "{time:?}");
        let contended = assessment.series[0]
            .findings
            .iter()
            .find(|finding| finding.is(code::CONTENDED))
            .expect("a finding");
        assert!(contended.message.contains("slow ones"), "{}", contended.message);
    }

    #[test]
    fn rounds_of_one_time_are_not_contended_and_code_without_threads_is_not_asked() {
        for (threads, slow) in [(true, 0), (false, 3)] {
            let assessment = assess(&table(threads, slow), &Question::default()).unwrap();
            assert!(
                !assessment.series[0].findings.iter().any(|finding| finding.is(code::CONTENDED)),
                "{threads} {slow}"
            );
        }
    }
}
