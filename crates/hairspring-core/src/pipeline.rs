//! What happens to a table, from its readings to the result: the only file that knows the order. A
//! step that says "again" repeats an earlier one.
//!
//! A stage is one file of `stages/`, with its question, what it needs, its limits, its words and
//! its tests. `STEPS` says when each stage does what. A stage may have a step in several phases:
//! that for slow evaluations chooses readings at the beginning, widens times at the end, and says
//! so.
//!
//! ```text
//! choose    Which readings count? Each that does not has the stage that left it out.
//! convert   What would the readings be at the mean core clock, and without what calls begin and
//!           end with?
//! solve     Means of rows in blocks of rounds, and the line through them: the vector of times.
//! correct   Times move by what rows of counts cannot show.
//! widen     Entries of the one error budget: a standard deviation or a bound, with its sign in
//!           each time.
//! express   Ticks, ns, cycles and ratios are views of the vector. Nothing behind it changes a
//!           number.
//! judge     Findings and verdicts, from what the stages left behind.
//! ```
//!
//! Phases come back: what a reading counts for depends on how it is read, and the other way round.
//!
//! The table is neither copied nor changed. Eight stages leave readings out: flags, neighbour,
//! ports, settling, visits, spikes, pauses and placements. Where the code itself is slow at times,
//! or the rest is too little, slow, settling and pauses use readings again. The stage for rows
//! leaves out whole rows of counts, and blocks in which a row has no reading; the line leaves out
//! outliers, where rows were not repeated. What they went past is marked at the end.
//!
//! A stage that lacks what it needs does not run. One that runs acts if it left something out,
//! found what it asked for, moved a time or widened one. The outcomes of a result say which.

use crate::error::{Error, Result};
use crate::estimate::{Options, Solution};
use crate::finding::Finding;
use crate::limit::Limit;
use crate::observations::{Observations, RowId, SeriesId};
use crate::result::Assessment;
pub use crate::stages::BY_REQUEST;
use crate::stages::{
    Phase, Stage, State, Step, blocks, controls, core_clock, denormals, departure, ends, express,
    fence, flags, layouts, line, negative, neighbour, noise, order, origin, overlap, pauses,
    placements, ports, quantum, quickest, readings, reference, rows, settling, slow, spikes,
    threads, undone, visits, widths,
};

/// The stages in their order, each with what it does at this place.
pub(crate) const STEPS: &[Step] = &[
    // Which readings count, by what was seen while they were taken.
    Step(Phase::Choose, &flags::STAGE, flags::choose),
    // How they are to be read.
    Step(Phase::Convert, &quantum::STAGE, quantum::learn),
    Step(Phase::Convert, &core_clock::STAGE, core_clock::convert),
    Step(Phase::Choose, &neighbour::STAGE, neighbour::choose),
    Step(Phase::Convert, &core_clock::STAGE, core_clock::convert_again),
    Step(Phase::Convert, &ends::STAGE, ends::take_off),
    Step(Phase::Choose, &ports::STAGE, ports::choose),
    // Which readings count, by what the others are.
    Step(Phase::Choose, &settling::STAGE, settling::choose),
    Step(Phase::Choose, &visits::STAGE, visits::choose),
    Step(Phase::Choose, &spikes::STAGE, spikes::choose),
    Step(Phase::Solve, &blocks::STAGE, blocks::average),
    Step(Phase::Choose, &slow::STAGE, slow::restore),
    Step(Phase::Choose, &pauses::STAGE, pauses::choose),
    Step(Phase::Solve, &blocks::STAGE, blocks::average_again),
    // The times of all rounds.
    Step(Phase::Solve, &rows::STAGE, rows::choose),
    Step(Phase::Solve, &line::STAGE, line::fit),
    // Once more, if a series needs rounds that were left out.
    Step(Phase::Choose, &settling::STAGE, settling::use_if_needed),
    Step(Phase::Solve, &blocks::STAGE, blocks::average_again),
    Step(Phase::Solve, &rows::STAGE, rows::choose_again),
    Step(Phase::Solve, &line::STAGE, line::fit_again),
    // Once more, without a few placements that are of another kind, unless a series needs them.
    Step(Phase::Choose, &placements::STAGE, placements::leave_out_odd),
    Step(Phase::Solve, &blocks::STAGE, blocks::average_again),
    Step(Phase::Solve, &rows::STAGE, rows::choose_again),
    Step(Phase::Solve, &line::STAGE, line::fit_again),
    Step(Phase::Choose, &placements::STAGE, placements::use_if_needed),
    // What the line leaves open.
    Step(Phase::Widen, &noise::STAGE, noise::widen),
    Step(Phase::Widen, &order::STAGE, order::widen),
    Step(Phase::Widen, &departure::STAGE, departure::widen),
    Step(Phase::Widen, &quantum::STAGE, quantum::widen),
    Step(Phase::Widen, &readings::STAGE, readings::widen),
    Step(Phase::Widen, &ends::STAGE, ends::widen),
    Step(Phase::Widen, &negative::STAGE, negative::widen),
    // What rows of counts cannot show.
    Step(Phase::Correct, &quickest::STAGE, quickest::follow),
    Step(Phase::Correct, &undone::STAGE, undone::move_undone_time_to_init),
    Step(Phase::Correct, &fence::STAGE, fence::correct_bias),
    Step(Phase::Correct, &overlap::STAGE, overlap::reach),
    Step(Phase::Correct, &pauses::STAGE, pauses::subtract),
    // What may be missing in all times of a series.
    Step(Phase::Widen, &settling::STAGE, settling::widen),
    Step(Phase::Widen, &slow::STAGE, slow::widen),
    Step(Phase::Widen, &controls::STAGE, controls::widen),
    Step(Phase::Widen, &quickest::STAGE, quickest::widen),
    Step(Phase::Widen, &ports::STAGE, ports::widen),
    Step(Phase::Widen, &reference::STAGE, reference::widen),
    // Views of the vector.
    Step(Phase::Judge, &layouts::STAGE, layouts::look),
    Step(Phase::Express, &express::STAGE, express::express),
    // What is said of them.
    Step(Phase::Judge, &denormals::STAGE, denormals::look),
    Step(Phase::Judge, &threads::STAGE, threads::look),
    Step(Phase::Judge, &origin::STAGE, origin::look),
    Step(Phase::Judge, &widths::STAGE, widths::look),
    // What the line went past.
    Step(Phase::Choose, &rows::STAGE, rows::leave_out),
    Step(Phase::Choose, &line::STAGE, line::leave_out),
];

/// The stages, each once, in the order of their first steps.
pub fn stages() -> Vec<&'static Stage> {
    crate::stages::once(STEPS)
}

/// Stages that all others need.
const NEEDED_STAGES: [&Stage; 4] = [&blocks::STAGE, &rows::STAGE, &line::STAGE, &express::STAGE];

/// The stages that a table can be solved without ([`Options::without`]), in their order.
pub fn optional_stages() -> Vec<&'static Stage> {
    stages()
        .into_iter()
        .filter(|stage| !NEEDED_STAGES.iter().any(|needed| needed.name == stage.name))
        .collect()
}

/// All limits: those that several stages share, and those of each stage.
pub fn limits() -> Vec<(&'static str, Vec<&'static Limit>)> {
    let of = |stage: &'static Stage| (stage.name, stage.limits.iter().copied().flatten().collect());
    std::iter::once(("shared", crate::limit::LIMITS.iter().collect()))
        .chain(stages().into_iter().map(of))
        .collect()
}

/// The state of one series behind the steps that read, choose and solve, without what is said of
/// it.
fn solved<'t>(table: &'t Observations, series: SeriesId, options: &'t Options) -> State<'t> {
    let mut state = State::new(STEPS, table, &[series], options);
    let solving: Vec<Step> = STEPS
        .iter()
        .filter(|step| !matches!(step.0, Phase::Express | Phase::Judge))
        .copied()
        .collect();
    state.run(&solving);
    state
}

/// Solves one series of a table: the time of every component (or of the combinations that can be
/// told apart), the overhead, the lack of fit, and intervals that include systematic errors.
///
/// If the rows were repeated in several rounds, they are averaged within blocks of rounds, and the
/// interval combines the variation between blocks with the rows' departure from the plane. If they
/// were not repeated (a table of inputs and totals), this is a robust regression with a
/// heteroscedasticity-consistent covariance.
///
/// # Errors
/// [`crate::Error::TooFewRows`] if the usable rows are too few for the unknowns.
///
/// # Cost
/// About 50 ns for each reading and `rows * unknowns^2` for the factorisation.
pub fn solve(table: &Observations, series: SeriesId, options: &Options) -> Result<Solution> {
    let mut state = solved(table, series, options);
    let mut solution =
        state.solutions.swap_remove(usize::from(series)).unwrap_or_else(|| Err(no_readings()))?;
    solution.express(options.level);
    Ok(solution)
}

fn no_readings() -> Error {
    Error::BadTable("the series has no readings".into())
}

/// Solves, converts, checks and compares all series of a table.
///
/// # Errors
/// [`Error::TooFewRows`], [`Error::Singular`] and [`Error::BadTable`] where a series cannot be
/// solved.
pub(crate) fn assess(
    table: &Observations,
    options: &Options,
    precision: Option<f64>,
    stolen_ms: Option<f64>,
) -> Result<Assessment> {
    let mut state = run(table, options, precision, stolen_ms)?;
    let core_hz = state.core_hz().map(|hz| express::with_rate(&state, hz).estimate(options.level));
    let quiet_share =
        state.reference().and_then(|(series, _)| neighbour::quiet_share(&state, series));
    let said: Vec<_> =
        state.subjects().into_iter().map(|id| (findings(&state, id), state.outcomes(id))).collect();
    let mut series = std::mem::take(&mut state.results);
    series
        .iter_mut()
        .zip(said)
        .for_each(|(one, (findings, outcomes))| (one.findings, one.stages) = (findings, outcomes));
    Ok(Assessment {
        series,
        comparisons: std::mem::take(&mut state.comparisons),
        core_hz,
        quiet_share,
        open: state.open,
    })
}

/// What all stages say of a series, the most severe first.
fn findings(state: &State, series: SeriesId) -> Vec<Finding> {
    let ran = state.stages().iter().filter(|stage| !state.options.is_without(stage.name));
    let mut findings: Vec<Finding> = ran.flat_map(|stage| (stage.says)(state, series)).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// The state behind the last step.
fn run<'t>(
    table: &'t Observations,
    options: &'t Options,
    precision: Option<f64>,
    stolen_ms: Option<f64>,
) -> Result<State<'t>> {
    let mut state = State::new(STEPS, table, &[], options);
    (state.precision, state.stolen_ms) = (precision, stolen_ms);
    state.run(STEPS);
    state.count();
    let subjects = state.subjects();
    if subjects.is_empty() {
        let why = "the table holds only auxiliary series (reference, control, shadow, variant): \
                   it needs a series to measure";
        return Err(Error::BadTable(why.into()));
    }
    let number = table.series_names().len();
    for series in subjects {
        let name = &table.series_names()[usize::from(series)];
        let failed = state.solutions[usize::from(series)].take_if(|solution| solution.is_err());
        if let Some(Err(error)) = failed {
            return Err(in_series(error, name, number));
        }
        if state.solutions[usize::from(series)].is_none() {
            return Err(no_readings());
        }
    }
    Ok(state)
}

/// Adds the name of the series to an error.
fn in_series(error: Error, name: &str, series: usize) -> Error {
    match error {
        Error::TooFewRows { usable, unknowns, detail, advice } if series > 1 => Error::TooFewRows {
            usable,
            unknowns,
            detail: format!("series `{name}`; {detail}"),
            advice,
        },
        other => other,
    }
}

mod export;

pub use export::write_weighed;

/// A reading with the reason why it is left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weighed {
    /// Its place in the table.
    pub reading: usize,
    /// The reading at the mean core clock.
    pub ticks: f64,
    /// The stage that left it out; `None` for a reading that is used.
    pub left_out_by: Option<&'static str>,
}

/// Every reading of a table with the reason why it is left out, in the order of the table.
///
/// # Errors
/// As [`crate::judge::assess`].
pub fn weighed(table: &Observations, options: &Options) -> Result<Vec<Weighed>> {
    let state = run(table, options, None, None)?;
    let stage = |mark: u8| {
        usize::from(mark)
            .checked_sub(1)
            .and_then(|at| state.stages().get(at))
            .map(|stage| stage.name)
    };
    let all = state.sheet.rows().flat_map(|row| state.sheet.row(row));
    let mut all: Vec<Weighed> = all
        .map(|one| Weighed {
            reading: one.at,
            ticks: one.ticks,
            left_out_by: stage(state.sheet.mark(one.at)),
        })
        .collect();
    all.sort_by_key(|one| one.reading);
    Ok(all)
}

/// The rows of a series, their means in blocks of rounds, and their readings in use with their
/// rounds; `None` if they were not repeated.
#[allow(clippy::type_complexity, reason = "only the methods beside the line fit use it")]
pub(crate) fn block_means(
    table: &Observations,
    series: SeriesId,
) -> Option<(Vec<RowId>, Vec<Vec<f64>>, Vec<Vec<(u32, f64)>>)> {
    let options = Options::default();
    let mut state = solved(table, series, &options);
    let rows = state.systems[usize::from(series)].take()?;
    let readings = |row: &RowId| {
        state.sheet.row(*row).filter(|one| one.is_used).map(|one| (one.round, one.ticks)).collect()
    };
    let readings = rows.cells.rows.iter().map(readings).collect();
    Some((rows.cells.rows, rows.means, readings))
}

/// The mean core clock of a table's rounds in hertz, by its reference chain; `None` without a
/// usable chain, or without a rate.
///
/// # Cost
/// That of solving the chain.
pub fn core_hz(table: &Observations) -> Option<f64> {
    let options = Options::default();
    let reference =
        table.origin.reference.as_ref().and_then(|(name, _)| table.find_series(name))?;
    solved(table, reference, &options).core_hz().map(|hz| hz.value)
}

/// The state of a table behind the last step.
#[cfg(test)]
pub(crate) fn state_of<'t>(table: &'t Observations, options: &'t Options) -> State<'t> {
    let mut state = State::new(STEPS, table, &[], options);
    state.run(STEPS);
    state
}

#[cfg(test)]
mod tests;
