//! Everything that is known of a table while the steps run.

use super::{
    Did, Phase, Stage, Step, controls, core_clock, denormals, fence, flags, layouts, line,
    neighbour, overlap, pauses, placements, ports, quantum, rows, settling, slow, threads,
};
use crate::error::Result;
use crate::estimate::{Cells, Options, Solution, Uncertain};
use crate::grid::{Grid, MOST_BLOCKS};
use crate::observations::{Observations, Occupancy, SeriesId};
use crate::result::Outcome;
use crate::sheet::Sheet;
use std::ops::Range;
use std::sync::Arc;

/// What a stage says that did not run because of [`Options::without`].
pub const BY_REQUEST: &str = "left out by request";

/// What a stage did to a series, while the steps run.
#[derive(Debug, Clone, Default)]
struct Record {
    texts: Vec<String>,
    acted: bool,
    /// What it moved the first time by, as a share of it.
    moved: f64,
}

impl Record {
    /// Adds what a step did. What it says that did nothing is left only if no other step says
    /// something.
    fn add(&mut self, text: &str, acted: bool) {
        if acted && !self.acted {
            self.texts.clear();
        }
        let is_new = !text.is_empty() && !self.texts.iter().any(|known| known == text);
        if is_new && (acted || self.texts.is_empty()) {
            self.texts.push(text.to_owned());
        }
        self.acted |= acted;
    }
}

/// Everything that is known of a table while the steps run. Each stage writes its own fields.
pub(crate) struct State<'t> {
    pub table: &'t Observations,
    pub options: &'t Options,
    /// The readings, and which of them count.
    pub sheet: Sheet<'t>,
    /// How the rounds are divided.
    pub grid: Arc<Grid>,
    /// The step of the clock.
    pub quantum: quantum::Quantum,
    /// The core clock, as the reference chain shows it.
    pub clock: Option<core_clock::CoreClock>,
    /// The readings of all series as means of rows in blocks, and whether the choice of readings
    /// has changed since.
    pub cells: Vec<Cells>,
    pub are_cells_old: bool,
    /// The systems of the series.
    pub systems: Vec<Option<rows::Rows>>,
    /// Their solutions.
    pub solutions: Vec<Option<Result<Solution>>>,
    pub disturbed: Vec<flags::Disturbed>,
    pub warm_up: Option<settling::WarmUp>,
    pub slow: Vec<slow::SlowEvaluations>,
    pub paused: pauses::Paused,
    pub odd: Vec<Option<placements::Odd>>,
    pub undone: Vec<Option<Uncertain>>,
    pub fence_bias: Option<fence::FenceBias>,
    pub overlaps: Vec<Option<overlap::Overlap>>,
    pub controls: Vec<controls::Control>,
    /// Share of the readings of each series beside a co-runner; empty where guards do not show it.
    pub shared: Vec<f64>,
    /// What the rounds of each series that fills units say of these.
    pub ports: Vec<Option<ports::Shared>>,
    /// What the time of each chain was above that of its quickest readings, as a share, and what
    /// each of its times was moved by.
    pub above_quickest: Vec<Option<(f64, Vec<f64>)>>,
    pub denormals: Vec<Option<denormals::Denormals>>,
    /// Series that other threads of the code slow in some rounds.
    pub contended: Vec<(SeriesId, threads::Contended)>,
    /// What is known of the correlation of errors, for series that ran in the order of counts.
    pub serial: Vec<Option<crate::estimate::Serial>>,
    pub layouts: layouts::Layouts,
    pub results: Vec<crate::result::SeriesResult>,
    pub comparisons: Vec<crate::result::Comparison>,
    pub open: crate::result::Open,
    /// Requested precision, as a share of the first component.
    pub precision: Option<f64>,
    /// Time that the hypervisor took during the run, in milliseconds.
    pub stolen_ms: Option<f64>,
    /// Sum and number of the readings of each row that each stage left out; known behind the last
    /// step.
    pub tally: Vec<Vec<(f64, usize)>>,
    /// The systems and solutions with placements of another kind, while they are made again
    /// without.
    pub before: Option<Before>,
    /// The stages, each once, in the order of their first steps.
    stages: Vec<&'static Stage>,
    /// The number of the stage that runs.
    stage: u8,
    /// By stage and series.
    records: Vec<Vec<Record>>,
}

/// Systems and solutions of all series.
pub(crate) struct Before {
    pub systems: Vec<Option<rows::Rows>>,
    pub solutions: Vec<Option<Result<Solution>>>,
}

impl<'t> State<'t> {
    /// The state of a table before the first step, with the readings of these series; of all, if
    /// none are named.
    pub fn new(
        steps: &[Step],
        table: &'t Observations,
        wanted_series: &[SeriesId],
        options: &'t Options,
    ) -> State<'t> {
        let stages = once(steps);
        let sheet = Sheet::new(table, wanted_series);
        // Without the stage for placements all rounds are of one; without that for layouts, all
        // placements of one layout.
        let layouts =
            if options.is_without(layouts::STAGE.name) { 1 } else { table.origin.layouts as usize };
        let layouts = (!options.is_without(placements::STAGE.name)).then_some(layouts);
        let grid = Arc::new(Grid::new(table, sheet.rounds, MOST_BLOCKS as usize, layouts));
        let series = table.series_names().len();
        let none = |_| None;
        State {
            table,
            options,
            sheet,
            grid,
            quantum: quantum::Quantum::stated(table),
            clock: None,
            cells: Vec::new(),
            are_cells_old: false,
            systems: (0..series).map(none).collect(),
            solutions: (0..series).map(|_| None).collect(),
            disturbed: vec![flags::Disturbed::default(); series],
            warm_up: None,
            slow: Vec::new(),
            paused: pauses::Paused::default(),
            odd: (0..series).map(|_| None).collect(),
            undone: (0..series).map(|_| None).collect(),
            fence_bias: None,
            overlaps: (0..series).map(|_| None).collect(),
            controls: Vec::new(),
            shared: Vec::new(),
            ports: vec![None; series],
            above_quickest: vec![None; series],
            denormals: (0..series).map(|_| None).collect(),
            contended: Vec::new(),
            serial: vec![None; series],
            layouts: layouts::Layouts::default(),
            results: Vec::new(),
            comparisons: Vec::new(),
            open: crate::result::Open::default(),
            precision: None,
            stolen_ms: None,
            tally: Vec::new(),
            before: None,
            stage: 0,
            records: vec![vec![Record::default(); series]; stages.len()],
            stages,
        }
    }

    /// Runs these steps one after the other.
    pub fn run(&mut self, steps: &[Step]) {
        for Step(phase, stage, run) in steps {
            let number = self.number_of(stage);
            self.stage = number;
            let at = usize::from(number) - 1;
            let before = if *phase == Phase::Correct { self.first_times() } else { Vec::new() };
            let missing = stage.needs.iter().find(|need| !(need.is_met)(self));
            let did = match missing {
                _ if self.options.is_without(stage.name) => Did::nothing(BY_REQUEST),
                Some(need) => Did::nothing(format!("needs {}", need.what)),
                None => run(self),
            };
            self.note(at, &did, &before);
        }
    }

    fn note(&mut self, stage: usize, did: &Did, before: &[f64]) {
        let after = self.first_times();
        let records = &mut self.records[stage];
        for (series, record) in records.iter_mut().enumerate() {
            let (text, acted) = did.of(series as SeriesId);
            record.add(text, acted);
        }
        records
            .iter_mut()
            .zip(before)
            .zip(after)
            .for_each(|((record, before), after)| record.moved += after / before - 1.0);
    }

    /// The first time of each series.
    fn first_times(&self) -> Vec<f64> {
        let first = |solution: &Option<Result<Solution>>| {
            Some(solution.as_ref()?.as_ref().ok()?.vector.values[0])
        };
        self.solutions.iter().map(|solution| first(solution).unwrap_or(f64::NAN)).collect()
    }

    /// Leaves out the reading at a place of the sheet, by the stage that runs.
    pub fn leave_out(&mut self, at: usize) {
        self.sheet.leave_out(at, self.stage);
    }

    /// Leaves out the readings at these places; what the stage says of a series of which it left
    /// out none.
    pub fn leave_out_all(&mut self, places: Vec<usize>, otherwise: &str) -> Did {
        let number = places.len();
        places.into_iter().for_each(|at| self.leave_out(at));
        Did::left_out(number, otherwise)
    }

    /// Whether the series are still to be solved, or again.
    pub fn is_unsolved(&self) -> bool {
        self.solutions.iter().all(Option::is_none)
    }

    /// Has the steps that solve do so again, as other readings count now; what they had found.
    pub fn solve_again(&mut self) -> Before {
        self.are_cells_old = true;
        let systems = self.systems.iter_mut().map(Option::take).collect();
        Before { systems, solutions: self.solutions.iter_mut().map(Option::take).collect() }
    }

    /// Leaves out all readings of these rounds, by the stage that runs.
    pub fn leave_out_rounds(&mut self, rounds: &[Range<u32>]) {
        let out: Vec<usize> = rounds.iter().flat_map(|rounds| self.sheet.places(rounds)).collect();
        out.into_iter().for_each(|at| self.leave_out(at));
    }

    /// Counts what each stage left out, behind the last step.
    pub fn count(&mut self) {
        self.tally = self.sheet.tally(self.stages.len());
    }

    /// How many readings of a series a stage left out.
    pub fn number_out(&self, series: SeriesId, stage: &Stage) -> usize {
        let stage = usize::from(self.number_of(stage));
        self.sheet
            .rows_of(series)
            .into_iter()
            .filter_map(|row| self.tally.get(row as usize))
            .map(|row| row[stage].1)
            .sum()
    }

    /// The number of a stage, which is the mark of the readings that it leaves out.
    pub fn number_of(&self, stage: &Stage) -> u8 {
        self.stages
            .iter()
            .position(|known| known.name == stage.name)
            .map_or(u8::MAX, |at| at as u8 + 1)
    }

    /// The stages, each once.
    pub fn stages(&self) -> &[&'static Stage] {
        &self.stages
    }

    /// The solution of a series, if it has one.
    pub fn solution(&self, series: SeriesId) -> Option<&Solution> {
        self.solutions[usize::from(series)].as_ref()?.as_ref().ok()
    }

    /// The same, to be changed.
    pub fn solution_mut(&mut self, series: SeriesId) -> Option<&mut Solution> {
        self.solutions[usize::from(series)].as_mut()?.as_mut().ok()
    }

    /// The series that are asked for, and not only there to check others.
    pub fn subjects(&self) -> Vec<SeriesId> {
        let names = self.table.series_names().iter().enumerate();
        names
            .filter(|(_, name)| !self.table.origin.is_auxiliary(name))
            .map(|(at, _)| at as SeriesId)
            .collect()
    }

    /// How many readings of a series stages left out because something else disturbed them.
    pub fn out_as_disturbed(&self, series: SeriesId) -> usize {
        let other_stages = [
            &settling::STAGE,
            &placements::STAGE,
            &neighbour::STAGE,
            &ports::STAGE,
            &rows::STAGE,
            &line::STAGE,
        ];
        let other_names = other_stages.map(|stage| stage.name);
        let disturbed = self.stages.iter().filter(|stage| !other_names.contains(&stage.name));
        disturbed.map(|stage| self.number_out(series, stage)).sum()
    }

    /// Adds a bound to all times of a series, as a share of each.
    pub fn bound_all(&mut self, series: SeriesId, share: f64, source: crate::estimate::Source) {
        let Some(solution) = self.solution_mut(series) else { return };
        for unknown in 0..solution.vector.values.len() {
            let bound = (share * solution.vector.values[unknown]).abs();
            solution.add(unknown, crate::estimate::Entry::bound(source, bound));
        }
    }

    /// The factor and the name of the unit in which times are told: nanoseconds where the clock's
    /// rate is known.
    pub fn shown_unit(&self) -> (f64, &'static str) {
        self.table.origin.shown_unit()
    }

    /// The name of the unit of the table.
    pub fn table_unit(&self) -> &'static str {
        if self.table.origin.unit == crate::observations::Unit::TimeNs { "ns" } else { "ticks" }
    }

    /// All series.
    pub fn all_series(&self) -> Range<SeriesId> {
        0..self.table.series_names().len() as SeriesId
    }

    /// The name of a series.
    pub fn name(&self, series: SeriesId) -> &str {
        &self.table.series_names()[usize::from(series)]
    }

    /// What the copies of a series do to the core, if that is known.
    pub fn occupancy(&self, series: SeriesId) -> Option<Occupancy> {
        self.table.origin.occupancy_of(self.name(series))
    }

    /// The reference chain and the length of a copy in core cycles.
    pub fn reference(&self) -> Option<(SeriesId, f64)> {
        let (name, cycles) = self.table.origin.reference.as_ref()?;
        Some((self.table.find_series(name)?, *cycles))
    }

    /// What each stage did to a series.
    pub fn outcomes(&self, series: SeriesId) -> Vec<Outcome> {
        let all_readings = self.sheet.number_in(series);
        let outcome = |(at, stage): (usize, &'static Stage)| {
            let (record, left_out) =
                (&self.records[at][usize::from(series)], self.number_out(series, stage));
            let moved = Some(record.moved).filter(|moved| moved.is_finite()).unwrap_or(0.0);
            let did = match (record.texts.join("; "), left_out) {
                (texts, _) if record.acted => texts,
                (texts, 0) if texts.is_empty() => "none of this series".into(),
                (texts, 0) => texts,
                (_, some) => format!("{some} of {all_readings} readings"),
            };
            Outcome {
                stage: stage.name,
                question: stage.question,
                did,
                acted: record.acted || left_out > 0,
                left_out,
                moved: moved + self.moved_by_choice(series, stage),
                widened: self.widened(series, stage),
            }
        };
        self.stages.iter().copied().enumerate().map(outcome).collect()
    }

    /// By how much the first time of a series moved because a stage left readings out: to the first
    /// order, or by a line through all rows.
    fn moved_by_choice(&self, series: SeriesId, stage: &Stage) -> f64 {
        let (Some(solution), Some(rows)) =
            (self.solution(series), &self.systems[usize::from(series)])
        else {
            return 0.0;
        };
        let mark = usize::from(self.number_of(stage));
        let by_rows = if stage.name == rows::STAGE.name { rows.moved_by_rows() } else { 0.0 };
        let moved =
            by_rows + rows.moved_by(&solution.vector.map, |row| self.tally[row as usize][mark]);
        let share = moved / solution.vector.values[0];
        if share.is_finite() { share } else { 0.0 }
    }

    /// Half-width that the entries of a stage alone give to the first time of a series, as a share
    /// of it, in the unit in which it is largest.
    fn widened(&self, series: SeriesId, stage: &Stage) -> f64 {
        let (Some(solution), Some(source)) = (self.solution(series), stage.source) else {
            return 0.0;
        };
        let shown = self
            .results
            .iter()
            .find(|result| result.name == self.name(series))
            .and_then(|result| result.components.first());
        let views =
            shown.into_iter().flat_map(|first| first.time.ns.iter().chain(&first.time.cycles));
        let share = |time: &Uncertain| time.part(source, self.options.level) / time.value.abs();
        let own = share(&solution.uncertain(0, self.options.level));
        views.map(share).chain([own]).filter(|share| share.is_finite()).fold(0.0, f64::max)
    }
}

/// The stages of some steps, each once.
pub(crate) fn once(steps: &[Step]) -> Vec<&'static Stage> {
    let mut distinct_stages: Vec<&'static Stage> = Vec::new();
    for Step(_, stage, _) in steps {
        if !distinct_stages.iter().any(|known| known.name == stage.name) {
            distinct_stages.push(stage);
        }
    }
    distinct_stages
}
