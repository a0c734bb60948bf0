//! The assessment of a table: every series is solved, converted to nanoseconds and core cycles, checked, and compared
//! with the first one.

use super::comparison::{compare, compare_placements, doubt_differences};
use super::denormals::denormals;
use super::overlap::{Alone, Shadow, correct, overlap, shadow};
use super::pauses::{unpaused, without_pauses};
use super::placements::{Placements, layouts_untried};
use super::precision::tell_widths;
use super::resolution::{component_floor, overhead_floor};
use super::settled::{settled, tell_settling};
use super::slow::{slow, tell_slow, with_slow};
use super::solver::{Ruler, Slowed, Solver};
use super::time::Time;
use super::undisturbed::from_undisturbed;
use super::undone::{self, move_to_init, undone, without};
use super::{
    Bound, Context, Disturbed, Finding, FindingKind, Severity, Verdict, check, clock_findings, code, frequency_levels,
    interference_findings, upper_bound,
};
use crate::error::{Error, Result};
use crate::estimate::{Component, Contribution, Estimate, Options, Paused, Solution, Source, Uncertain, stated_quantum};
use crate::observations::{Flags, Observations, Origin, Reading, Role, SeriesId, Unit};

/// Settings of an assessment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Question {
    /// Confidence level, and treatment of rows off the line.
    pub options: Options,
    /// Requested precision, as a share of the first component.
    pub precision: Option<f64>,
    /// Time that the hypervisor took during the run, in milliseconds.
    pub stolen_ms: Option<f64>,
}

/// A component with its time.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentResult {
    /// Name of the component, or its combination, such as `B4 + B6`.
    pub name: String,
    /// Its time.
    pub time: Time,
    /// Whether it only serves the others, such as an init: their verdicts do not depend on its verdict.
    pub serves: bool,
    /// Largest change when any one row is left out, in the table's unit.
    pub row_influence: f64,
}

/// The result of one series.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesResult {
    /// Name of the series.
    pub name: String,
    /// Components that can be told apart.
    pub components: Vec<ComponentResult>,
    /// Time that all rows have in common; `None` where the design merges it with a component.
    pub overhead: Option<Time>,
    /// The solution that the result is made from.
    pub solution: Solution,
    /// Findings, the most severe first.
    pub findings: Vec<Finding>,
}

impl SeriesResult {
    /// Severity of the most severe finding.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Whether the time of a component can be trusted: no untrusted finding is about it, or about the whole series.
    pub fn trusts(&self, component: &str) -> bool {
        !self.findings.iter().any(|finding| finding.distrusts(component))
    }

    /// Whether every time that is asked for can be trusted.
    pub fn is_trusted(&self) -> bool {
        self.components.iter().filter(|component| !component.serves).all(|component| self.trusts(&component.name))
    }

    /// Adds a bound to all times, as a share of each.
    pub(super) fn bound_by(&mut self, share: f64, source: Source) {
        self.components.iter_mut().for_each(|component| component.time.bound_by(share, source));
    }

    /// Adds a finding of a check outside this crate, and keeps the order by severity.
    pub fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
        sort(&mut self.findings);
    }
}

/// Two series compared by their first component.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Name of the series that is compared.
    pub a: String,
    /// Name of the series it is compared with, the first of the table.
    pub b: String,
    /// Time of `a` over time of `b`.
    pub ratio: Estimate,
    /// Verdict from the interval of the ratio alone: see [`Assessment::verdict`].
    pub verdict: Verdict,
}

/// The result of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// Every series that is not auxiliary.
    pub series: Vec<SeriesResult>,
    /// Every further series compared with the first.
    pub comparisons: Vec<Comparison>,
    /// Frequency of the core clock during the run in Hz, where a reference chain ran.
    pub core_hz: Option<Estimate>,
    /// Share of the run during which nobody else used the core, as far as guards of the reference chain show; `None` where they do not.
    pub quiet_share: Option<f64>,
}

/// Solves, converts, checks and compares. All series are solved from their readings with short guards where nearly all are short, and
/// from their undisturbed readings where control chains show a neighbour on the core, if there are enough. Rounds before the code has
/// settled, and few placements in which it takes a quarter more or less than in the others, are left out, with a finding.
///
/// # Errors
/// [`Error::TooFewRows`] and [`Error::BadTable`] where a series cannot be solved.
pub fn assess(table: &Observations, question: &Question) -> Result<Assessment> {
    let of_settled = settled(table, question).and_then(|(rest, settling)| {
        let mut found = assess_settled(&rest, question).ok()?;
        tell_settling(&mut found, &settling);
        Some(found)
    });
    // A table that needs the rounds before is told with all of them.
    let mut found = of_settled.map_or_else(|| assess_settled(table, question), Ok)?;
    found.series.iter_mut().for_each(|series| tell_widths(series, question, &Context::for_table(table)));
    Ok(found)
}

/// The assessment of a table whose code has settled.
fn assess_settled(table: &Observations, question: &Question) -> Result<Assessment> {
    let slow = slow(table, question);
    let counts = slow.iter().any(|slow| slow.counts);
    let mut found = if counts { assess_all(table, &with_slow(question, &slow), &[])?.0 } else { assess_unpaused(table, question)? };
    slow.iter().for_each(|slow| tell_slow(&mut found, &table.series_names()[usize::from(slow.series)], slow));
    Ok(found)
}

/// The assessment without the readings in which the CPU paused, if they can be told from the others.
fn assess_unpaused(table: &Observations, question: &Question) -> Result<Assessment> {
    let rest = unpaused(table).and_then(|(rest, left_out)| assess_usual(&rest, question, &left_out).ok());
    rest.map_or_else(|| assess_usual(table, question, &[]), Ok)
}

/// The assessment without placements of another kind, if there are few.
fn assess_usual(table: &Observations, question: &Question, left_out: &[Paused]) -> Result<Assessment> {
    let (found, placements) = assess_all(table, question, left_out)?;
    let others = placements.others(&found);
    if others.is_empty() {
        return Ok(found);
    }
    let mut usual = table.clone();
    usual.exclude_rounds(&others.rounds);
    // A series that needs the rounds of these placements is told with all of them.
    let Ok((mut better, _)) = assess_all(&usual, question, left_out) else { return Ok(found) };
    for (series, finding) in better.series.iter_mut().zip(others.findings) {
        series.findings.extend(finding);
        sort(&mut series.findings);
    }
    Ok(better)
}

/// The assessment of all rounds, and its placements. Of the paused readings some are left out.
fn assess_all(table: &Observations, question: &Question, left_out: &[Paused]) -> Result<(Assessment, Placements)> {
    // The rows of a chain count only its copies, so its departure cannot follow other counts.
    let chains = Options { departure_follows_counts: false, ..question.options.clone() };
    let all = Solver::new(table, &chains);
    let found = assess_by(&all, table, question, &chains, None)?;
    let better = from_undisturbed(&all, &found, table, question, &chains);
    let (mut found, solver) = better.unwrap_or((found, all));
    found.quiet_share = solver.quiet_share_of_run();
    let excess = if solver.is_quiet() { Vec::new() } else { find_slowed(&mut found, &solver, table, question) };
    let placements = Placements::new(table, question, &chains, (&solver, &found));
    with_placements(&mut found, &placements, table, &solver, question.options.level);
    for (at, excess) in excess {
        found.series[at].bound_by(excess, Source::Neighbour);
    }
    let mut carried = super::carried::carried(&table.origin);
    carried.extend(layouts_untried(table).inspect(|_| doubt_differences(&mut found.comparisons)));
    without_pauses(&mut found, table, left_out);
    for (at, series) in found.series.iter_mut().enumerate() {
        // These are found once, not for every solver and every placement.
        let met = table.find_series(&series.name).and_then(|id| denormals(table, id));
        let own = met.into_iter().chain(not_optimised(&table.origin, &series.name)).chain(placements.layouts_differ(at, series));
        series.findings.extend(carried.iter().cloned().chain(own));
        sort(&mut series.findings);
    }
    Ok((found, placements))
}

/// Adds to all intervals how the placements differ.
fn with_placements(found: &mut Assessment, placements: &Placements, table: &Observations, solver: &Solver, level: f64) {
    for (at, series) in found.series.iter_mut().enumerate() {
        for (component, solved) in series.components.iter_mut().zip(&series.solution.components) {
            let before = solver.reported(&series.solution, solved);
            let ticks = placements.divided(before.clone(), level, |placement| {
                Some(placement.series.get(at)?.solution.component(&component.name)?.uncertain.clone())
            });
            let cycles = component.time.cycles.clone().map(|cycles| {
                placements.divided(cycles, level, |placement| {
                    let same = |other: &&ComponentResult| other.name == component.name;
                    placement.series.get(at)?.components.iter().find(same)?.time.cycles.clone()
                })
            });
            // Times in one unit must not be the mean of the placements while those in the other one are that of most of them.
            let is_mean = ticks.is_mean || cycles.as_ref().is_some_and(|cycles| cycles.is_mean);
            let (ticks, cycles) = (ticks.value(is_mean), cycles.map(|cycles| cycles.value(is_mean)));
            if ticks != before {
                component.time = widened(&component.time, &ticks, table, level);
                let bound = || bound(&component.time.ticks, component_floor(&series.solution), table, solver.ruler.as_ref());
                component.time.bound = if solved.is_difference() { None } else { bound() };
            }
            component.time.cycles = cycles;
        }
    }
    compare_placements(found, placements, level);
}

/// A time in the table's unit and in nanoseconds with the budget of `ticks`.
fn widened(time: &Time, ticks: &Uncertain, table: &Observations, level: f64) -> Time {
    let ns = table.origin.ns_per_unit().map(|factor| with_rate(ticks.scaled(factor), &table.origin));
    Time { ticks: ticks.estimate(level), ns, ..time.clone() }
}

/// Adds a finding to every series whose code a neighbour surely slows, and to all if the neighbour was there most of the time.
/// Returns by how much it seems to slow each, as a share of the time.
fn find_slowed(found: &mut Assessment, solver: &Solver, table: &Observations, question: &Question) -> Vec<(usize, f64)> {
    let options = &question.options;
    let body = |series: &SeriesResult| {
        let cycles = series.components.first()?.time.cycles.as_ref()?.estimate(options.level);
        Some((table.find_series(&series.name)?, cycles))
    };
    let (places, reported): (Vec<usize>, Vec<_>) =
        found.series.iter().enumerate().filter_map(|(at, series)| Some((at, body(series)?))).unzip();
    let mut excess = Vec::new();
    for (at, slowed) in places.into_iter().zip(solver.slowed(&reported, options)) {
        let Some(Slowed { longer, finding }) = slowed else { continue };
        finding.into_iter().for_each(|finding| found.series[at].add(finding));
        excess.push((at, longer));
    }
    if let Some(finding) = solver.hardly_quiet() {
        let trusted = found.series.iter_mut().filter(|series| series.worst() < Some(Severity::Untrusted));
        trusted.for_each(|series| series.add(finding.clone()));
    }
    excess
}

/// The assessment by one solver, without what concerns the whole run. That of a part of the run moves time from bodies to inits where that of
/// the `whole` does.
pub(super) fn assess_by(
    solver: &Solver,
    table: &Observations,
    question: &Question,
    chains: &Options,
    whole: Option<&Assessment>,
) -> Result<Assessment> {
    let names = table.series_names().to_vec();
    let control = solver.control_finding();
    let shadow = solver.ruler.as_ref().and_then(|ruler| shadow_of(table, ruler, solver, chains));
    let idle = never_ran(table);
    let mut series = Vec::new();
    let subjects = names.iter().enumerate().filter(|(_, name)| !table.origin.is_auxiliary(name));
    let (ids, subjects): (Vec<SeriesId>, Vec<&String>) = subjects.map(|(at, name)| (at as SeriesId, name)).unzip();
    for ((id, name), solution) in ids.iter().copied().zip(subjects).zip(solver.solve_all(&ids, &question.options)) {
        let mut solution = solution.map_err(|e| in_series(e, name, names.len()))?;
        let same = whole.and_then(|whole| whole.series.get(series.len()));
        let moves = same.map(|same| same.findings.iter().any(|finding| finding.is(code::INIT_UNDOES)));
        let undone = undone_by_init(table, name, (&solution, moves), solver, &question.options);
        undone.iter().for_each(|undone| move_to_init(&mut solution, undone, question.options.level));
        let alone = standing_start(table, name, shadow, solver, &question.options);
        let alone = alone.map(|alone| Alone { measured: without(alone.measured, undone.as_ref()), ..alone });
        let in_place = in_place(table, name, solver, &question.options).map(|body| without(body, undone.as_ref()));
        let overlap = overlap(&solution, in_place, alone.as_ref(), &Context::for_table(table));
        let undone = undone.map(|undone| undone::finding(&undone, &Context::for_table(table), question.options.level));
        let in_place = overlap.as_ref().and(in_place);
        correct(&mut solution, table.origin.is_fenced(name), shadow, (alone.as_ref(), in_place), question.options.level);
        let mut result = series_result((id, name), solution, table, solver, question);
        result.findings.extend(control.clone().into_iter().chain(overlap).chain(undone).chain(idle.clone()));
        sort(&mut result.findings);
        series.push(result);
    }
    if series.is_empty() {
        return Err(Error::BadTable(
            "the table holds only auxiliary series (reference, control, shadow, variant): it needs a series to measure".into(),
        ));
    }
    let comparisons = series[1..].iter().filter_map(|a| compare(a, &series[0], question.options.level)).collect();
    let core_hz = solver.core_hz().map(|hz| with_rate(hz, &table.origin).estimate(question.options.level));
    Ok(Assessment { series, comparisons, core_hz, quiet_share: None })
}

/// Sorts by severity, the most severe first.
pub(super) fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
}

/// Adds the name of the series to an error.
fn in_series(error: Error, name: &str, series: usize) -> Error {
    match error {
        Error::TooFewRows { usable, unknowns, detail, advice } if series > 1 => {
            Error::TooFewRows { usable, unknowns, detail: format!("series `{name}`; {detail}"), advice }
        }
        other => other,
    }
}

/// What fences do to the time of the code between them, in the table's unit.
fn shadow_of(table: &Observations, ruler: &Ruler, solver: &Solver, options: &Options) -> Option<Shadow> {
    let (name, cycles) = table.origin.shadow.as_ref()?;
    let solution = solver.solve(table.find_series(name)?, options).ok()?;
    // A combination is of no use: the rows cannot tell the chain from the other parts of it.
    let chain = solution.components.first().filter(|chain| chain.parts.len() == 1)?;
    let further = solution.components.get(1).filter(|further| further.parts.len() == 1);
    let expected = ruler.component().uncertain.scaled(cycles / ruler.cycles).estimate(options.level);
    Some(shadow(&expected, &chain.ticks, further.map(|further| &further.ticks)))
}

/// The body of a series measured from a standing start, where rows with fences check it.
fn standing_start(table: &Observations, name: &str, shadow: Option<Shadow>, solver: &Solver, options: &Options) -> Option<Alone> {
    let measured = arranged(table, name, Role::Fenced, solver, options)?.components.first()?.ticks;
    Some(Alone { measured, shadow: shadow? })
}

/// The body of a series measured with all inits before the bodies, where there are such rows.
fn in_place(table: &Observations, name: &str, solver: &Solver, options: &Options) -> Option<Estimate> {
    let solution = arranged(table, name, Role::InPlace, solver, options)?;
    solution.components.first().map(|body| body.ticks)
}

/// The series that runs the code of another one in this arrangement, solved.
fn arranged(table: &Observations, name: &str, role: Role, solver: &Solver, options: &Options) -> Option<Solution> {
    solver.solve(table.find_series(table.origin.variant(name, role)?)?, options).ok()
}

/// How much longer the init of a series takes behind a body than behind an init, where that is to be moved from the body to the init: the whole
/// run decides (`moves`), or, where it is the whole run that is assessed, whether it matters to the main series.
fn undone_by_init(
    table: &Observations,
    name: &str,
    (main, moves): (&Solution, Option<bool>),
    solver: &Solver,
    options: &Options,
) -> Option<Uncertain> {
    if moves == Some(false) {
        return None;
    }
    let behind = |role| arranged(table, name, role, solver, options);
    let undone = undone(&behind(Role::BehindBody)?, &behind(Role::BehindInit)?)?;
    moves.unwrap_or_else(|| undone::matters(&undone, main, options.level)).then_some(undone)
}

fn series_result(
    (id, name): (SeriesId, &str),
    solution: Solution,
    table: &Observations,
    solver: &Solver,
    question: &Question,
) -> SeriesResult {
    let ruler = solver.ruler.as_ref();
    let components: Vec<ComponentResult> = solution
        .components
        .iter()
        .map(|component| ComponentResult {
            name: component.name.clone(),
            time: time(component, &solution, table, solver, question.options.level),
            serves: table.origin.serves(&component.parts),
            row_influence: component.row_influence,
        })
        .collect();
    let overhead = solution.overhead.map(|ticks| Time {
        ticks,
        ns: table.origin.ns_per_unit().map(|factor| with_bound(ticks).scaled(factor)),
        cycles: ruler.map(|ruler| with_bound(ticks).scaled(ruler.per_tick())),
        bound: bound(&ticks, overhead_floor(&solution), table, ruler),
    });
    let findings = findings(&solution, table, id, solver, question);
    SeriesResult { name: name.to_owned(), components, overhead, solution, findings }
}

/// A finding for components that are 0 in every row of the table, unless they only serve: programs without an init have its column.
fn never_ran(table: &Observations) -> Option<Finding> {
    let ran = |at: usize| table.rows().iter().any(|row| row.counts[at] != 0.0);
    let is_idle = |(at, name): &(usize, &String)| !table.origin.serving.contains(name) && !ran(*at);
    let components: Vec<String> = table.components().iter().enumerate().filter(is_idle).map(|(_, name)| name.clone()).collect();
    (!components.is_empty()).then(|| Finding::new(Severity::Warning, FindingKind::NeverRan { components }))
}

/// A finding if the rows of a series were compiled without optimisation.
fn not_optimised(origin: &Origin, series: &str) -> Option<Finding> {
    let unoptimised = origin.unoptimised.iter().any(|name| name == series);
    unoptimised.then(|| Finding::new(Severity::Warning, FindingKind::NotOptimised))
}

/// Disturbed readings of a series, and those that are left out, among those that are not excluded. Where the
/// undisturbed part of the readings is used, only those with a flag of their own are disturbed: all others were judged singly or by their round.
fn disturbed(solution: &Solution, table: &Observations, id: SeriesId, by_part: bool) -> Disturbed {
    let of_series = |reading: &&Reading| table.rows()[reading.row as usize].series == id;
    let (mut all, mut excluded, mut flagged) = (0usize, 0usize, 0usize);
    for reading in table.readings().iter().filter(of_series) {
        let flags = if by_part { reading.flags.without(Flags::SHARED) } else { reading.flags };
        all += 1;
        if reading.flags.contains(Flags::EXCLUDED) {
            excluded += 1;
        } else {
            flagged += usize::from(flags.any());
        }
    }
    let kept = all.saturating_sub(excluded).max(1) as f64;
    let flagged = flagged as f64 / kept;
    if by_part {
        return Disturbed::left_out(flagged);
    }
    let unused = solution.readings.saturating_sub(solution.readings_used).saturating_sub(excluded) as f64;
    Disturbed { share: (unused / kept).max(flagged), left_out: unused / kept }
}

/// An estimate as a value whose budget is its half-width as a bound.
fn with_bound(estimate: Estimate) -> Uncertain {
    Uncertain { value: estimate.value, budget: vec![Contribution::bound(Source::Stochastic, estimate.half_width())] }
}

fn time(component: &Component, solution: &Solution, table: &Observations, solver: &Solver, level: f64) -> Time {
    let ruler = solver.ruler.as_ref();
    let uncertain = solver.reported(solution, component);
    let ticks = if uncertain == component.uncertain { component.ticks } else { uncertain.estimate(level) };
    let ns = table.origin.ns_per_unit().map(|factor| with_rate(uncertain.scaled(factor), &table.origin));
    let cycles = solver.reported_cycles(solution, component);
    let bound = if component.is_difference() { None } else { bound(&ticks, component_floor(solution), table, ruler) };
    Time { ticks, ns, cycles, bound }
}

fn bound(ticks: &Estimate, floor: f64, table: &Observations, ruler: Option<&Ruler>) -> Option<Bound> {
    let most = upper_bound(ticks, floor)?;
    let shown = most * table.origin.ns_per_unit().unwrap_or(1.0);
    Some(Bound { shown, cycles: ruler.map(|ruler| most * ruler.per_tick()) })
}

/// Adds the uncertainty of the clock's rate to a value in nanoseconds.
fn with_rate(value: Uncertain, origin: &Origin) -> Uncertain {
    match origin.rate.as_ref().filter(|_| origin.unit == Unit::Ticks) {
        Some(rate) if value.value.abs() * rate.uncertainty_ppm > 0.0 => {
            let entry = Contribution::rate(value.value, rate);
            value.with(entry)
        }
        _ => value,
    }
}

fn findings(solution: &Solution, table: &Observations, id: SeriesId, solver: &Solver, question: &Question) -> Vec<Finding> {
    let ruler = solver.ruler.as_ref();
    let mut all = check(solution, &Context::for_table(table));
    all.extend(ruler.and_then(|ruler| frequency_levels(&ruler.solution)));
    let disturbed = disturbed(solution, table, id, solver.is_quiet());
    let longest = solution.rows.iter().map(|row| row.location).fold(0.0, f64::max) * table.origin.ns_per_unit().unwrap_or(0.0);
    let longest = if table.origin.pauses.share().is_some() { 0.0 } else { longest };
    all.extend(interference_findings(disturbed, longest, question.stolen_ms));
    all.extend(table.origin.clock.as_deref().and_then(clock_findings));
    all.extend(quantum_learnt(solution, table));
    if let (Some((name, _)), None) = (&table.origin.reference, ruler) {
        let reason = format!("the reference chain `{name}` could not be measured in this run");
        all.push(Finding::new(Severity::Note, FindingKind::NoCycles { reason }));
    }
    sort(&mut all);
    all
}

/// A note if the readings show a quantum that the table does not state.
fn quantum_learnt(solution: &Solution, table: &Observations) -> Option<Finding> {
    let unit = if table.origin.unit == Unit::TimeNs { "ns" } else { "ticks" };
    let kind = FindingKind::QuantumLearnt { step: (1e6 * solution.quantum).round() / 1e6, unit: unit.to_owned() };
    (table.origin.granularity.is_none() && solution.quantum > stated_quantum(table)).then(|| Finding::new(Severity::Note, kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::code;
    use crate::observations::{CoreClock, Rate};

    fn table(slopes: &[(&str, f64)]) -> Observations {
        let mut table = Observations::new(vec!["body".into()]);
        for round in 0..64 {
            for (name, slope) in slopes {
                let series = table.series(name);
                for copies in 1..=8u32 {
                    let row = table.row(series, &[f64::from(copies)]);
                    // A deterministic wobble that differs from row to row.
                    let wobble = f64::from((round * 7 + copies * 13) % 11) - 5.0;
                    table.push(row, round, slope * f64::from(copies) + 40.0 + wobble);
                }
            }
        }
        table.origin.rate = Some(Rate { hz: 2e9, uncertainty_ppm: 1.0, provenance: "test".into() });
        table
    }

    #[test]
    fn cycles_are_counted_by_the_reference_chain() {
        let mut table = table(&[("a", 500.0), ("ruler", 150.0)]);
        table.origin.reference = Some(("ruler".into(), 3.0));
        let found = assess(&table, &Question::default()).unwrap();
        assert_eq!(found.series.len(), 1);
        let time = &found.series[0].components[0].time;
        assert!((time.cycles.as_ref().unwrap().value - 10.0).abs() < 0.02);
        assert!((time.ns.as_ref().unwrap().value - 250.0).abs() < 0.5);
        assert!((found.core_hz.unwrap().value / 4e7 - 1.0).abs() < 0.01);
    }

    #[test]
    fn cycles_are_counted_by_a_core_clock_beside_the_readings() {
        let mut table = table(&[("a", 500.0)]);
        table.origin.core_clock = Some(CoreClock { hz: 4e9, sd: 0.01 });
        let found = assess(&table, &Question::default()).unwrap();
        let cycles = found.series[0].components[0].time.cycles.as_ref().unwrap().estimate(0.95);
        // 250 ns at 4 GHz; 1.96 standard deviations of 1 %.
        assert!((cycles.value - 1_000.0).abs() < 1.0 && (19.0..21.0).contains(&cycles.half_width()), "{cycles:?}");
        assert!((found.core_hz.unwrap().half_width() / 4e9 - 0.0196).abs() < 1e-4);
    }

    #[test]
    fn finding_and_time_have_the_same_bound() {
        let found = assess(&table(&[("a", 0.0)]), &Question::default()).unwrap();
        let in_time = found.series[0].components[0].time.bound.unwrap().shown;
        assert_eq!(found.series[0].findings.iter().find_map(|finding| finding.number("bound_ns")), Some(in_time));
        assert!(in_time > 0.0);
        assert_eq!(found.series[0].overhead.as_ref().unwrap().bound, None);
    }

    #[test]
    fn component_that_never_ran_is_reported() {
        let mut table = Observations::new(vec!["a".into(), "b".into(), "c".into()]);
        let series = table.series("main");
        for (a, ticks) in [(1.0, 108.0), (2.0, 208.0), (3.0, 308.0), (4.0, 408.0)] {
            let row = table.row(series, &[a, 0.0, 0.0]);
            table.push(row, 0, ticks);
        }
        let findings = &assess(&table, &Question::default()).unwrap().series[0].findings;
        let named =
            |finding: &Finding| finding.is(code::NEVER_RAN) && finding.list("components") == Some(&["b".to_owned(), "c".to_owned()]);
        assert!(findings.iter().any(named), "{findings:?}");
        table.origin.serving = vec!["b".into(), "c".into()];
        assert!(!assess(&table, &Question::default()).unwrap().series[0].findings.iter().any(|finding| finding.is(code::NEVER_RAN)));
    }

    #[test]
    fn component_of_another_series_is_not_reported_as_never_run() {
        let mut table = Observations::new(vec!["a".into(), "b".into()]);
        let (first, second) = (table.series("first"), table.series("second"));
        for count in 1..=4u32 {
            let n = f64::from(count);
            for (series, counts) in [(first, [n, 0.0]), (second, [0.0, n])] {
                let row = table.row(series, &counts);
                table.push(row, 0, 100.0 * n + 8.0);
            }
        }
        let found = assess(&table, &Question::default()).unwrap();
        let missed = |finding: &Finding| finding.is(code::NEVER_RAN);
        assert!(!found.series.iter().flat_map(|series| &series.findings).any(missed));
    }

    #[test]
    fn control_chain_of_wrong_length_is_reported() {
        for (slope, reported) in [(50.0, false), (52.0, true)] {
            let mut table = table(&[("a", 500.0), ("ruler", 150.0), ("control", slope)]);
            table.origin.reference = Some(("ruler".into(), 3.0));
            table.origin.controls = vec![("control".into(), 1.0)];
            let found = assess(&table, &Question::default()).unwrap();
            assert_eq!(found.series.len(), 1);
            assert_eq!(found.series[0].findings.iter().any(|f| f.is(code::CORE_SHARED)), reported);
        }
    }

    #[test]
    fn series_are_compared_with_the_first() {
        let found = assess(&table(&[("a", 500.0), ("b", 500.0), ("c", 400.0)]), &Question::default()).unwrap();
        let verdicts: Vec<Verdict> = found.comparisons.iter().map(|c| c.verdict).collect();
        assert_eq!(verdicts, [Verdict::NoDifference, Verdict::Faster]);
        assert!((found.comparisons[1].ratio.value - 0.8).abs() < 0.01);
    }
}
