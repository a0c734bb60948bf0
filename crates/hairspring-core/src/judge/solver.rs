//! How the series of a table are solved: from all their readings or, where control chains or, by a coarse clock, guards show a
//! neighbour on the core, from the undisturbed ones.

use super::control::Control;
use super::{Finding, FindingKind, Severity, control_finding};
use crate::error::{Error, Result};
use crate::estimate::ratio::{clock_movement, in_cycles, moved, of_few_rounds};
use crate::estimate::{Component, Contribution, Estimate, LeftOut, Options, Quiet, Solution, Source, Uncertain, solve};
use crate::observations::{CoreClock, Observations, Origin, SeriesId};
use std::cell::OnceCell;
use std::ops::Range;

/// Alternatives whose times differ by less than this share are compared by the same rows.
const SIMILAR: f64 = 0.25;

/// Code that is surely longer by more than this share beside a neighbour is not to be trusted ...
const SLOWED: f64 = 0.02;
/// ... nor is code that seems longer by more than this share, whatever its interval, if a control chain shows the neighbour, too.
const SEEMS_SLOWED: f64 = 0.05;

/// The solved reference chain, and the length of one copy in core cycles.
#[derive(Debug)]
pub(super) struct Ruler {
    pub solution: Solution,
    pub cycles: f64,
}

impl Ruler {
    /// The ruler of a table, if it has a usable reference chain.
    pub fn from_table(table: &Observations, options: &Options) -> Option<Ruler> {
        Ruler::new(table, |series| solve(table, series, options).ok())
    }

    fn new(table: &Observations, solve: impl Fn(SeriesId) -> Option<Solution>) -> Option<Ruler> {
        let (name, cycles) = table.origin.reference.as_ref()?;
        let solution = solve(table.find_series(name)?)?;
        let usable = solution.components.len() == 1 && solution.components[0].ticks.low > 0.0;
        usable.then_some(Ruler { solution, cycles: *cycles })
    }

    pub fn component(&self) -> &Component {
        &self.solution.components[0]
    }

    /// Core cycles per unit of the table.
    pub fn per_tick(&self) -> f64 {
        self.cycles / self.component().ticks.value
    }

    /// A component of a solution in core cycles.
    pub fn in_cycles(&self, solution: &Solution, component: &Component) -> Option<Uncertain> {
        in_cycles((solution, component), (&self.solution, self.component()), self.cycles)
    }

    pub fn core_hz(&self, origin: &Origin) -> Option<Uncertain> {
        let chain = &self.component().uncertain;
        let hz = self.cycles * 1e9 / (chain.value * origin.ns_per_unit()?);
        let budget = chain.budget.iter().map(|entry| entry.scaled(hz / chain.value)).collect();
        Some(Uncertain { value: hz, budget })
    }
}

/// The mean core clock of a table's rounds in hertz, by its reference chain; `None` without a usable chain, or without a rate.
///
/// # Cost
/// That of solving the chain.
pub fn core_hz(table: &Observations) -> Option<f64> {
    Ruler::from_table(table, &Options::default())?.core_hz(&table.origin).map(|hz| hz.value)
}

/// How far the time of a series from all readings exceeds that from the readings with short guards.
#[derive(Debug, Clone)]
pub(super) struct Slowed {
    /// Excess as a share of the time; at least 0.
    pub longer: f64,
    /// A finding, if a neighbour surely slows the code.
    pub finding: Option<Finding>,
}

/// Solves the series of a table.
#[derive(Debug)]
pub(super) struct Solver<'a> {
    table: &'a Observations,
    /// What the guards and the clock show, once it was asked for.
    seen: OnceCell<Option<Quiet>>,
    /// Set if only the undisturbed readings are used.
    quiet: Option<Quiet>,
    /// The reference chain.
    pub ruler: Option<Ruler>,
    controls: Vec<Control>,
}

impl<'a> Solver<'a> {
    /// Solves from all readings. `options` apply to the chains.
    pub fn new(table: &'a Observations, options: &Options) -> Solver<'a> {
        let by_all = |series| solve(table, series, options).ok();
        let ruler = Ruler::new(table, by_all);
        Solver { table, seen: OnceCell::new(), quiet: None, ruler, controls: Vec::new() }.with_controls(by_all, options.level)
    }

    /// Solves from the undisturbed readings, if the control chains show a neighbour in all readings but not in these, and the guards
    /// show it too. Whole rounds are chosen by their guards alone, whatever the control chains show: some code is slowed more than they
    /// are.
    pub fn undisturbed(&self, options: &Options) -> Option<Solver<'a>> {
        let is_useful = |quiet: &&Quiet| quiet.shows_neighbour() && (quiet.judges_rounds() || self.is_disturbed());
        let quiet = self.seen().filter(is_useful)?;
        let solver = Solver::from_quiet(self.table, quiet.clone(), options)?;
        let complete = solver.controls.len() == self.controls.len();
        let trusted = solver.control_finding().is_none_or(|finding| finding.severity < Severity::Untrusted);
        (complete && trusted).then_some(solver)
    }

    /// Solves from the readings with short guards of a core that hardly anybody else used. Single readings are converted to core cycles,
    /// so that steps of the core clock add no noise, which would be that of the ratio to the reference chain otherwise. `None` if a
    /// control chain is off its length in these, because guards do not show every neighbour.
    pub fn calm(&self, options: &Options) -> Option<Solver<'a>> {
        let solver = Solver::from_quiet(self.table, self.seen()?.calm()?, options)?;
        (solver.controls.len() == self.controls.len() && !solver.controls.iter().any(Control::is_missed_beyond_offsets)).then_some(solver)
    }

    /// Solves from what is undisturbed in a table; `None` if the reference chain has too few such readings.
    fn from_quiet<'b>(table: &'b Observations, quiet: Quiet, options: &Options) -> Option<Solver<'b>> {
        let by_quiet = |series| quiet.solve(table, series, options);
        let ruler = Ruler::new(table, by_quiet)?;
        let solver = Solver { table, seen: OnceCell::new(), quiet: None, ruler: Some(ruler), controls: Vec::new() };
        let solver = solver.with_controls(by_quiet, options.level);
        Some(Solver { quiet: Some(quiet), ..solver })
    }

    /// What the table shows about the core during its rounds, if it has a reference chain. All checks share one analysis.
    fn seen(&self) -> Option<&Quiet> {
        self.seen.get_or_init(|| Quiet::by_reference(self.table)).as_ref()
    }

    /// Share of the run during which nobody else used the core, as far as the guards of the reference chain show it. The code may lengthen its own.
    pub fn quiet_share_of_run(&self) -> Option<f64> {
        self.quiet.as_ref().or_else(|| self.seen())?.share_of_reference()
    }

    /// Share of the readings during which nobody else used the core; `None` if it is unknown, or if all readings are used.
    pub fn quiet_share(&self) -> Option<f64> {
        self.quiet.as_ref().and_then(Quiet::share)
    }

    /// Whether a control chain shows a neighbour on the core.
    pub fn is_disturbed(&self) -> bool {
        self.controls.iter().any(Control::is_off)
    }

    /// Whether a control chain shows a neighbour on the core in a part of a run, which is so short that the chains have wide intervals and
    /// that one of several is often off its length by chance.
    pub fn is_surely_disturbed(&self) -> bool {
        self.controls.iter().any(Control::is_surely_off)
    }

    /// For each series, given with its reported core cycles: how much a neighbour on the core lengthens it, whatever the control
    /// chains show. The reported cycles then exceed those of the readings with short guards.
    pub fn slowed(&self, reported: &[(SeriesId, Estimate)], options: &Options) -> Vec<Option<Slowed>> {
        let alone = || {
            let quiet = self.seen()?;
            let ruler = Ruler::new(self.table, |series| quiet.solve_by_guards(self.table, series, options))?;
            Some((quiet, ruler))
        };
        let Some((quiet, ruler)) = alone() else { return vec![None; reported.len()] };
        let is_seen = self.control_finding().is_some();
        let slowed = |(series, reported): &(SeriesId, Estimate)| {
            let solution = quiet.solve_by_guards(self.table, *series, options)?;
            let alone = ruler.in_cycles(&solution, solution.components.first()?)?.estimate(options.level);
            let longer = reported.value / alone.value - 1.0;
            let is_sure = alone.low > 0.0 && (reported.low > (1.0 + SLOWED) * alone.high || is_seen && longer > SEEMS_SLOWED);
            let kind =
                FindingKind::SlowedByNeighbour { longer_percent: 100.0 * longer, quiet_percent: quiet.share().map(|share| 100.0 * share) };
            let finding = is_sure.then(|| Finding::new(Severity::Untrusted, kind));
            Some(Slowed { longer: longer.max(0.0), finding })
        };
        reported.iter().map(slowed).collect()
    }

    /// A finding if the guards show that a neighbour used the core most of the time.
    pub fn hardly_quiet(&self) -> Option<Finding> {
        let quiet = self.seen().filter(|quiet| quiet.is_hardly())?;
        let reads_longer_percent = quiet.longer_than_earlier().map(|longer| 100.0 * longer);
        let kind = FindingKind::HardlyQuiet { quiet_percent: 100.0 * quiet.share()?, reads_longer_percent };
        Some(Finding::new(Severity::Untrusted, kind))
    }

    fn with_controls(mut self, solve: impl Fn(SeriesId) -> Option<Solution>, level: f64) -> Solver<'a> {
        let length = |(name, expected): &(String, f64)| {
            let series = self.table.find_series(name)?;
            let solution = solve(series)?;
            let cycles = self.ruler.as_ref()?.in_cycles(&solution, solution.components.first()?)?;
            Some(Control::new(self.table, series, cycles.estimate(level), *expected))
        };
        self.controls = self.table.origin.controls.iter().filter_map(length).collect();
        self
    }

    /// Solves a series.
    ///
    /// # Errors
    /// As [`solve`]; [`Error::BadTable`] if too few of its readings were undisturbed.
    pub fn solve(&self, series: SeriesId, options: &Options) -> Result<Solution> {
        let Some(quiet) = &self.quiet else { return solve(self.table, series, options) };
        quiet.solve(self.table, series, options).ok_or_else(|| Error::BadTable("too few of the readings were undisturbed".into()))
    }

    /// Solves several series. Those with the same rows and similar times are compared by the same of them: a bend that is seen in one of two
    /// equal series would make their times differ, so the shortest rows are then left out of both.
    pub fn solve_all(&self, series: &[SeriesId], options: &Options) -> Vec<Result<Solution>> {
        let mut all: Vec<Result<Solution>> = series.iter().map(|one| self.solve(*one, options)).collect();
        let bends: Vec<Option<Bend>> = all.iter().map(|one| Bend::of(one.as_ref().ok()?)).collect();
        let further = |bend: &Bend| {
            let others = bends.iter().flatten().filter(|other| other.rows > bend.rows && bend.is_like(other));
            others.map(|other| other.rows).max()
        };
        let wanted: Vec<Option<usize>> = bends.iter().map(|bend| further(bend.as_ref()?)).collect();
        for (at, shortest_left_out) in wanted.into_iter().enumerate().filter_map(|(at, rows)| Some((at, rows?))) {
            if let Ok(again) = self.solve(series[at], &Options { shortest_left_out, ..options.clone() }) {
                all[at] = Ok(again);
            }
        }
        all
    }

    /// The time of a component in the table's unit as it is reported: with what control chains miss of their lengths, and with the
    /// movement of the core clock.
    pub fn reported(&self, solution: &Solution, component: &Component) -> Uncertain {
        // Undisturbed readings were converted to the mean clock, whose own error is the same for all of them.
        let clock_error = self.quiet.as_ref().map_or(0.0, Quiet::clock_error) * component.uncertain.value.abs();
        let of_mean_clock = (clock_error > 0.0).then(|| Contribution::standard(Source::Reference, clock_error, f64::INFINITY));
        let time = of_mean_clock.into_iter().fold(self.with_bound(component.uncertain.clone()), Uncertain::with);
        let between = self.table.origin.clock_spread;
        let movement = match (&self.quiet, &self.ruler) {
            (Some(quiet), _) => moved(time.value, quiet.clock_sd(), between),
            (None, Some(ruler)) => clock_movement((solution, component), (&ruler.solution, ruler.component()), between),
            // How far the time follows the clock is unknown without a chain: as far as it goes.
            (None, None) => moved(time.value, 0.0, between),
        };
        movement.into_iter().fold(time, Uncertain::with)
    }

    /// The time of a component in core cycles as it is reported: with what control chains miss of their lengths, and of few rounds, too.
    pub fn reported_cycles(&self, solution: &Solution, component: &Component) -> Option<Uncertain> {
        let between = self.table.origin.clock_spread;
        let Some(ruler) = &self.ruler else { return self.by_core_clock(component) };
        let of_few = || of_few_rounds((solution, component), (&ruler.solution, ruler.component()), ruler.cycles, between);
        ruler.in_cycles(solution, component).or_else(of_few).map(|cycles| self.with_bound(cycles))
    }

    /// The time of a component in core cycles by a core clock that was measured beside the readings, if there is one.
    fn by_core_clock(&self, component: &Component) -> Option<Uncertain> {
        let (clock, ns) = (self.table.origin.core_clock?, self.table.origin.ns_per_unit()?);
        let cycles = component.uncertain.scaled(ns * clock.hz / 1e9);
        let of_clock = Contribution::standard(Source::CoreClock, clock.sd * cycles.value.abs(), f64::INFINITY);
        Some(cycles.with(of_clock))
    }

    /// The core clock: by the reference chain, or as it was measured beside the readings.
    pub fn core_hz(&self) -> Option<Uncertain> {
        let origin = &self.table.origin;
        let beside = |clock: CoreClock| {
            let budget = vec![Contribution::standard(Source::CoreClock, clock.sd * clock.hz, f64::INFINITY)];
            Uncertain { value: clock.hz, budget }
        };
        self.ruler.as_ref().map_or_else(|| origin.core_clock.map(beside), |ruler| ruler.core_hz(origin))
    }

    /// Whether disturbed readings are left out.
    pub fn is_quiet(&self) -> bool {
        self.quiet.is_some()
    }

    /// Solves these rounds alone, which are a table of their own, as this solver does where it leaves out disturbed rounds: these are not
    /// judged again. `None` if it does not leave any out, or if the reference chain has too few undisturbed readings there.
    pub fn in_rounds<'b>(&self, part: &'b Observations, rounds: &Range<u32>, options: &Options) -> Option<Solver<'b>> {
        let quiet = self.quiet.as_ref().filter(|quiet| quiet.judges_rounds())?;
        Solver::from_quiet(part, quiet.in_rounds(rounds), options)
    }

    /// Whether disturbed rounds are left out, which guards chose.
    pub fn leaves_out_rounds(&self) -> bool {
        self.quiet.as_ref().is_some_and(Quiet::judges_rounds)
    }

    /// The most severe finding of the control chains.
    pub fn control_finding(&self) -> Option<Finding> {
        let all = self.controls.iter().filter_map(|control| control_finding(&control.cycles, control.length));
        all.max_by_key(|finding| finding.severity)
    }

    /// Largest relative excess of a control chain over its length.
    pub fn excess(&self) -> f64 {
        self.controls.iter().map(Control::excess).fold(0.0, f64::max)
    }

    /// Adds a bound to a time: the largest that a control chain misses of its known length, as a share of it.
    pub fn with_bound(&self, time: Uncertain) -> Uncertain {
        let bound = self.controls.iter().map(Control::distance).fold(0.0, f64::max) * time.value.abs();
        if bound > 0.0 { time.with(Contribution::bound(Source::Neighbour, bound)) } else { time }
    }
}

/// The rows of a series that are left out as a bend.
struct Bend<'s> {
    rows: usize,
    /// The counts of all rows.
    counts: Vec<&'s [f64]>,
    /// The time of the first component.
    time: f64,
}

impl Bend<'_> {
    fn of(solution: &Solution) -> Option<Bend<'_>> {
        let rows = solution.rows.iter().filter(|row| row.left_out == Some(LeftOut::Bend)).count();
        let counts = solution.rows.iter().map(|row| &*row.counts).collect();
        Some(Bend { rows, counts, time: solution.components.first()?.ticks.value })
    }

    /// Whether a small difference of the two series matters.
    fn is_like(&self, other: &Bend) -> bool {
        (self.time / other.time - 1.0).abs() < SIMILAR && self.counts == other.counts
    }
}

#[cfg(test)]
mod tests {
    use super::{Control, Options, Solver};
    use crate::estimate::simulated::{CALM, Core, EPISODES, STALLS};
    use crate::judge::{Assessment, Question, Severity, assess, code};
    use crate::observations::Observations;

    fn found(table: &Observations) -> (f64, bool, Assessment) {
        let found = assess(table, &Question::default()).unwrap();
        let body = found.series[0].components[0].time.cycles.as_ref().unwrap().value;
        let has_neighbour = found.series[0].findings.iter().any(|finding| finding.is(code::NEIGHBOUR));
        (body, has_neighbour, found)
    }

    #[test]
    fn time_beside_a_neighbour_is_that_of_the_undisturbed_readings() {
        let (cycles, has_neighbour, found) = found(&STALLS.table(1.0, 4));
        assert!(has_neighbour && (cycles - 1.0).abs() < 0.003, "{cycles}");
        assert!(found.series[0].worst() < Some(Severity::Untrusted), "{:?}", found.series[0].findings);
        let body = &found.series[0].components[0].time;
        assert!((body.ticks.value - 0.82).abs() < 0.03, "ticks are those at the mean clock: {:?}", body.ticks);
        assert!(body.ticks.half_width() > 0.0);
    }

    #[test]
    fn a_calm_core_has_no_neighbour() {
        let (cycles, has_neighbour, _) = found(&CALM.table(2.0, 4));
        assert!(!has_neighbour && (cycles - 2.0).abs() < 0.01, "{cycles}");
    }

    /// The table with a factor on its readings and something added to their guards, which depend on the series and on the round.
    fn with_times(table: &Observations, change: impl Fn(&str, u32) -> (f64, u32)) -> Observations {
        let mut changed = Observations::new(table.components().to_vec());
        changed.origin = table.origin.clone();
        for reading in table.readings() {
            let row = &table.rows()[reading.row as usize];
            let name = &table.series_names()[usize::from(row.series)];
            let (factor, longer_guard) = change(name, reading.round);
            let guard = reading.guard.and_then(|guard| guard.checked_add(longer_guard));
            let series = changed.series(name);
            let row = changed.row(series, &row.counts);
            changed.push_guarded(row, reading.round, reading.ticks * factor, reading.flags, guard);
        }
        changed
    }

    /// The table with the readings of its code longer by a factor that depends on the round.
    fn with_code_times(table: &Observations, factor: impl Fn(u32) -> f64) -> Observations {
        with_times(table, |name, round| (if name == "code" { factor(round) } else { 1.0 }, 0))
    }

    #[test]
    fn readings_with_short_guards_are_used_where_the_few_others_lengthen_a_control_chain() {
        let beside = |name: &str, round: u32| match (round % 400 < 32, name) {
            (true, "control") => (1.03, 40),
            (true, _) => (1.0, 40),
            (false, _) => (1.0, 0),
        };
        for seed in 0..4 {
            let table = with_times(&CALM.table(1.0, seed), beside);
            let all = Solver::new(&table, &Options::default());
            assert!(all.controls.iter().any(Control::is_missed), "the neighbour must matter: {:?}", all.controls);
            let (cycles, has_neighbour, _) = found(&table);
            assert!(!has_neighbour && (cycles - 1.0).abs() < 0.001, "{cycles}");
        }
    }

    #[test]
    fn equal_rows_of_alternatives_are_left_out_together() {
        let calm = CALM.table(1.0, 3);
        let mut table = Observations::new(calm.components().to_vec());
        table.origin = calm.origin.clone();
        let counts = |row: u32| calm.rows()[row as usize].counts.clone();
        let code = calm.find_series("code").unwrap();
        let of_code = |row: &u32| calm.rows()[*row as usize].series == code;
        let shortest = (0..calm.rows().len() as u32).filter(of_code).map(|row| counts(row)[0]).fold(f64::INFINITY, f64::min);
        for reading in calm.readings() {
            let mut push = |name: &str, ticks| {
                let series = table.series(name);
                let row = table.row(series, &counts(reading.row));
                table.push_guarded(row, reading.round, ticks, reading.flags, reading.guard);
            };
            push(&calm.series_names()[usize::from(calm.rows()[reading.row as usize].series)], reading.ticks);
            if of_code(&reading.row) {
                push("bent", reading.ticks + if counts(reading.row)[0] == shortest { 8.0 } else { 0.0 });
            }
        }
        let left_out = |found: &Assessment| -> Vec<usize> { found.series.iter().map(|one| one.solution.rows_used().1).collect() };
        assert_eq!(left_out(&assess(&calm, &Question::default()).unwrap()), [0], "the code alone has no bend");
        let found = assess(&table, &Question::default()).unwrap();
        assert_eq!(left_out(&found), [1, 1]);
        let ratio = &found.comparisons[0].ratio;
        assert!((ratio.value - 1.0).abs() < 1e-6, "{ratio:?}");
    }

    /// Every second reading of the code is longer by this share: its time varies by itself.
    fn varying(table: &Observations, longer: f64) -> Observations {
        with_code_times(table, |round| if round % 2 == 0 { 1.0 + longer } else { 1.0 })
    }

    #[test]
    fn code_that_varies_on_a_calm_core_keeps_its_mean() {
        for longer in [0.002, 0.01, 0.05] {
            let cycles = found(&varying(&CALM.table(4.0, 9), longer)).0;
            assert!((cycles / 4.0 - 1.0 - longer / 2.0).abs() < 0.001, "{longer}: {cycles}");
        }
    }

    #[test]
    fn code_that_a_neighbour_slows_is_untrusted_while_the_chains_are_on_their_integers() {
        let core = Core { stalls: (600.0, 6_000.0), slower: 0.6, of_chains: 0.0, ..STALLS };
        for seed in 0..4 {
            let (cycles, _, found) = found(&core.table(1.0, seed));
            let shared = found.series[0].findings.iter().find(|finding| finding.is(code::CORE_SHARED));
            assert!(cycles > 1.02, "the code was not slowed: {cycles}");
            assert!(shared.is_some_and(|finding| finding.severity == Severity::Untrusted), "{found:?}");
        }
    }

    /// The readings of the code are longer and shorter in turn, so that its interval is wide.
    fn unsteady(table: &Observations) -> Observations {
        with_code_times(table, |round| 1.0 + 0.95 * (f64::from(round) / 150.0).sin())
    }

    #[test]
    fn code_that_seems_much_slower_is_untrusted_if_a_control_chain_shows_the_neighbour() {
        let code = |of_chains: f64| {
            let found = found(&unsteady(&Core { stalls: (600.0, 6_000.0), slower: 0.6, of_chains, ..STALLS }.table(1.0, 3))).2;
            found.series[0].findings.iter().any(|finding| finding.number("longer_percent").is_some_and(|longer| longer > 5.0))
        };
        assert!(code(0.01), "the control chain shows a neighbour");
        assert!(!code(0.0), "nothing but unsteady code");
    }

    #[test]
    fn code_that_a_neighbour_does_not_slow_stays_trusted() {
        let core = Core { slower: 0.0, ..EPISODES };
        for seed in 0..4 {
            let (cycles, _, found) = found(&core.table(1.0, seed));
            assert!((cycles - 1.0).abs() < 0.01 && found.series[0].worst() < Some(Severity::Untrusted), "{:?}", found.series[0].findings);
        }
    }

    #[test]
    fn nothing_is_trusted_on_a_core_that_is_hardly_ever_quiet_unless_undisturbed_readings_show_it() {
        let (_, has_neighbour, found) = found(&Core { slower: 0.0, ..STALLS }.table(1.0, 1));
        let quiet_percent = found.series[0].findings.iter().find_map(|finding| finding.number("quiet_percent"));
        assert!(!has_neighbour && found.series[0].worst() == Some(Severity::Untrusted), "{:?}", found.series[0].findings);
        assert!(quiet_percent.is_some_and(|percent| percent < 30.0), "{quiet_percent:?}");
    }

    #[test]
    fn placements_are_solved_from_the_rounds_that_the_whole_run_uses() {
        let half_width = |placements: Vec<u32>| {
            let mut table = Core { slower: 0.08, of_chains: 0.0, quantum: 26.0, ..EPISODES }.table(1.0, 4);
            table.origin.placements = placements;
            let (cycles, _, found) = found(&table);
            assert!((cycles - 1.0).abs() < 0.02, "{cycles}");
            found.series[0].components[0].time.cycles.as_ref().unwrap().estimate(0.95).half_width()
        };
        let (alone, placed) = (half_width(Vec::new()), half_width(vec![600, 1_200, 1_800, 2_400]));
        assert!(placed < 3.0 * alone, "{placed} with placements, {alone} without");
    }

    #[test]
    fn code_that_is_never_undisturbed_stays_untrusted() {
        let core = Core { stalls: (1.0, 1e9), slower: 0.5, ..STALLS };
        let (_, has_neighbour, found) = found(&core.table(1.0, 4));
        assert!(!has_neighbour && found.series[0].worst() == Some(Severity::Untrusted), "{:?}", found.series[0].findings);
    }
}
