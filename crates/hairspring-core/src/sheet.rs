//! The readings of a table by row, in the order of their rounds, with the reason of each that is
//! left out. The table itself is neither copied nor changed: a sheet knows where its readings are.

use crate::observations::{Flags, Observations, Reading, RowId, SeriesId};
use std::ops::Range;
use std::sync::OnceLock;

/// The mark of a reading that is used; any other is the number of the stage that left it out.
pub(crate) const USED_MARK: u8 = 0;

/// A reading as the stages see it: at the mean core clock of the run, where that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    /// Its place in the table.
    pub at: usize,
    /// The round in which it was taken.
    pub round: u32,
    /// The reading.
    pub ticks: f64,
    /// Whether it is used.
    pub is_used: bool,
}

/// What a reading is multiplied by, from this round on, to be as it were at the mean core clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Piece {
    pub first_round: u32,
    pub factor: f64,
}

/// Some readings of a row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sorted {
    /// Rows that nobody asks for stay empty.
    pub is_unwanted: bool,
    /// What was read.
    pub ticks: Vec<f64>,
    /// The places in the table.
    pub places: Vec<u32>,
}

impl Sorted {
    fn clear(&mut self) {
        self.ticks.clear();
        self.places.clear();
    }

    #[inline]
    fn push(&mut self, ticks: f64, at: usize) {
        if !self.is_unwanted {
            self.ticks.push(ticks);
            self.places.push(at as u32);
        }
    }
}

/// Where the readings of each row are in the table, in the order of their rounds, and where each
/// row begins among them.
#[derive(Debug, Clone)]
struct ByRow {
    starts: Vec<u32>,
    places: Vec<u32>,
}

/// The readings of a table by row.
#[derive(Debug, Clone)]
pub(crate) struct Sheet<'t> {
    pub table: &'t Observations,
    /// One more than the highest round.
    pub rounds: u32,
    /// All flags that readings have.
    pub flags: Flags,
    /// Number of readings of each row; 0 for series that are not in question.
    numbers: Vec<u32>,
    /// The places of the readings in the order of their rounds, if the table has another one.
    order: Option<Vec<u32>>,
    /// The readings row by row, for those who ask.
    by_row: OnceLock<ByRow>,
    /// The stage that left each reading of the table out.
    marks: Vec<u8>,
    /// The core clock; empty if it is not known.
    clock: Vec<Piece>,
    /// Whether each row follows the core clock, and what is taken off each of its readings.
    views: Vec<View>,
}

/// How the readings of a row are read.
#[derive(Debug, Clone, Copy)]
struct View {
    follows: bool,
    less: f64,
}

impl<'t> Sheet<'t> {
    /// The readings of these series; of all, if none are named.
    ///
    /// # Cost
    /// About 2 ns and a byte for each reading; five more bytes if some stage asks for them row by
    /// row, and four for a table that is not in the order of its rounds.
    pub fn new(table: &'t Observations, wanted_series: &[SeriesId]) -> Sheet<'t> {
        let is_wanted = |row: RowId| {
            wanted_series.is_empty() || wanted_series.contains(&table.rows()[row as usize].series)
        };
        let wanted_rows: Vec<bool> = (0..table.rows().len() as RowId).map(is_wanted).collect();
        let (mut numbers, mut latest, mut is_sorted, mut flags) =
            (vec![0_u32; table.rows().len()], 0, true, Flags::NONE);
        let mut rounds = 0;
        for reading in table.readings() {
            numbers[reading.row as usize] += u32::from(wanted_rows[reading.row as usize]);
            is_sorted &= reading.round >= latest;
            latest = reading.round;
            rounds = rounds.max(reading.round.saturating_add(1));
            flags = flags.with(reading.flags);
        }
        let order = (!is_sorted).then(|| {
            let mut order: Vec<u32> = (0..table.readings().len() as u32).collect();
            order.sort_by_key(|at| table.readings()[*at as usize].round);
            order
        });
        let marks = vec![USED_MARK; table.readings().len()];
        let views = vec![View { follows: true, less: 0.0 }; table.rows().len()];
        Sheet {
            table,
            rounds,
            flags,
            numbers,
            order,
            by_row: OnceLock::new(),
            marks,
            clock: Vec::new(),
            views,
        }
    }

    /// The rows of a series.
    pub fn rows_of(&self, series: SeriesId) -> Vec<RowId> {
        self.table.rows_of(series).map(|(row, _)| row).collect()
    }

    /// All rows.
    pub fn rows(&self) -> Range<RowId> {
        0..self.table.rows().len() as RowId
    }

    /// Number of readings of a row.
    pub fn number_of(&self, row: RowId) -> usize {
        self.numbers[row as usize] as usize
    }

    /// Number of readings of a series.
    pub fn number_in(&self, series: SeriesId) -> usize {
        self.rows_of(series).into_iter().map(|row| self.number_of(row)).sum()
    }

    /// The reading at a place of the table.
    pub fn reading(&self, at: usize) -> &'t Reading {
        &self.table.readings()[at]
    }

    /// The series of the reading at a place of the table.
    pub fn series_of(&self, at: usize) -> SeriesId {
        self.table.rows()[self.reading(at).row as usize].series
    }

    /// The readings of a series as they are in the table, with their places there, in its order.
    pub fn raw(&self, series: SeriesId) -> impl Iterator<Item = (usize, &'t Reading)> {
        let rows = self.table.rows();
        let all = self.table.readings().iter().enumerate();
        all.filter(move |(_, reading)| {
            rows[reading.row as usize].series == series && self.number_of(reading.row) > 0
        })
    }

    /// Number of readings.
    pub fn len(&self) -> usize {
        self.numbers.iter().map(|number| *number as usize).sum()
    }

    /// Sets the core clock: what readings are multiplied by from each of these rounds on.
    pub fn set_clock(&mut self, pieces: Vec<Piece>) {
        self.clock = pieces;
    }

    /// Says that the time of a series does not depend on the core clock, as that of memory.
    pub fn ignore_clock(&mut self, series: SeriesId) {
        self.rows_of(series).into_iter().for_each(|row| self.views[row as usize].follows = false);
    }

    /// Whether the readings of a series are converted to the mean core clock.
    pub fn is_converted(&self, series: SeriesId) -> bool {
        !self.clock.is_empty()
            && self.rows_of(series).into_iter().all(|row| self.views[row as usize].follows)
    }

    /// Takes something off each reading of a row.
    pub fn take_off(&mut self, row: RowId, ticks: f64) {
        self.views[row as usize].less += ticks;
    }

    /// What a reading is, as the stages see it.
    #[inline]
    fn ticks(&self, reading: &Reading, factor: &mut Factor) -> f64 {
        let view = self.views[reading.row as usize];
        let factor = if view.follows { factor.at(reading.round) } else { 1.0 };
        reading.ticks * factor - view.less
    }

    /// A reading of the table, as the stages see it, with its row.
    #[inline]
    fn sample(&self, at: usize, factor: &mut Factor) -> (RowId, Sample) {
        let reading = &self.table.readings()[at];
        let ticks = self.ticks(reading, factor);
        (
            reading.row,
            Sample { at, round: reading.round, ticks, is_used: self.marks[at] == USED_MARK },
        )
    }

    /// The numbers in the order of rounds at which these rounds begin and end.
    fn numbers_in(&self, rounds: &Range<u32>) -> Range<usize> {
        let readings = self.table.readings();
        let before = |end: u32| match &self.order {
            Some(order) => order.partition_point(|at| readings[*at as usize].round < end),
            None => readings.partition_point(|reading| reading.round < end),
        };
        before(rounds.start)..before(rounds.end)
    }

    /// The place in the table of a reading by its number in the order of rounds.
    #[inline]
    fn place(&self, number: usize) -> usize {
        self.order.as_ref().map_or(number, |order| order[number] as usize)
    }

    /// The places of the readings of these rounds, in their order.
    pub fn places(&self, rounds: &Range<u32>) -> impl Iterator<Item = usize> {
        self.numbers_in(rounds).map(|number| self.place(number))
    }

    /// Goes through the readings of these rounds that are used, in their order.
    #[inline]
    pub fn each_used(&self, rounds: &Range<u32>, mut call: impl FnMut(&Reading, f64, usize)) {
        let mut factor = Factor::of(&self.clock);
        let mut one = |at: usize, reading: &Reading, mark: u8| {
            if mark == USED_MARK {
                call(reading, self.ticks(reading, &mut factor), at);
            }
        };
        if self.order.is_some() {
            self.places(rounds).for_each(|at| one(at, self.reading(at), self.marks[at]));
        } else {
            let places = self.numbers_in(rounds);
            let readings =
                self.table.readings()[places.clone()].iter().zip(&self.marks[places.clone()]);
            places.zip(readings).for_each(|(at, (reading, mark))| one(at, reading, *mark));
        }
    }

    /// Puts the readings of these rounds that are used into a list for each row.
    pub fn sort_into(&self, rows: &mut [Sorted], rounds: Range<u32>) {
        rows.iter_mut().for_each(Sorted::clear);
        self.each_used(&rounds, |reading, ticks, at| rows[reading.row as usize].push(ticks, at));
    }

    /// The readings of a row in the order of their rounds.
    ///
    /// # Cost
    /// That of a walk along the table for the first one who asks, and 10 ns for each reading.
    pub fn row(&self, row: RowId) -> impl Iterator<Item = Sample> {
        let by_row = self.by_row.get_or_init(|| self.sorted_by_row());
        let mut factor = Factor::of(&self.clock);
        let places = by_row.starts[row as usize] as usize..by_row.starts[row as usize + 1] as usize;
        by_row.places[places].iter().map(move |at| self.sample(*at as usize, &mut factor).1)
    }

    fn sorted_by_row(&self) -> ByRow {
        let mut starts = vec![0; self.numbers.len() + 1];
        self.numbers
            .iter()
            .enumerate()
            .for_each(|(row, number)| starts[row + 1] = starts[row] + number);
        let (mut next, mut places) = (starts.clone(), vec![0; self.len()]);
        let all_rounds = 0..self.rounds;
        let rows = self.places(&all_rounds).map(|at| (at, self.reading(at).row));
        for (at, row) in rows.filter(|(_, row)| self.number_of(*row) > 0) {
            let place = &mut next[row as usize];
            places[*place as usize] = at as u32;
            *place += 1;
        }
        ByRow { starts, places }
    }

    /// The readings that one of these stages left out, with their rows.
    pub fn left_out<'s>(&'s self, stages: &'s [u8]) -> impl Iterator<Item = (RowId, Sample)> {
        let mut factor = Factor::of(&self.clock);
        let marked = self
            .marks
            .iter()
            .enumerate()
            .filter(|(_, mark)| **mark != USED_MARK && stages.contains(mark));
        marked.map(move |(at, _)| self.sample(at, &mut factor))
    }

    /// The sum and the number of the readings of each row that each of so many stages left out.
    pub fn tally(&self, stages: usize) -> Vec<Vec<(f64, usize)>> {
        let mut sums = vec![vec![(0.0, 0); stages + 1]; self.numbers.len()];
        let mut factor = Factor::of(&self.clock);
        for (at, mark) in self.marks.iter().enumerate().filter(|(_, mark)| **mark != USED_MARK) {
            let (row, sample) = self.sample(at, &mut factor);
            let sum = &mut sums[row as usize][usize::from(*mark)];
            *sum = (sum.0 + sample.ticks, sum.1 + 1);
        }
        sums
    }

    /// The guards of every so-manieth reading at the mean core clock, in the order of the table.
    pub fn guards(&self, step: usize) -> impl Iterator<Item = (usize, f64)> {
        let mut factor = Factor::of(&self.clock);
        let readings = self.table.readings().iter().enumerate().step_by(step);
        readings.filter_map(move |(at, reading)| {
            Some((at, f64::from(reading.guard?.get()) * factor.at(reading.round)))
        })
    }

    /// Leaves a reading out by a stage, unless an earlier one has.
    pub fn leave_out(&mut self, at: usize, stage: u8) {
        if self.marks[at] == USED_MARK {
            self.marks[at] = stage;
        }
    }

    /// Uses a reading again.
    pub fn restore(&mut self, at: usize) {
        self.marks[at] = USED_MARK;
    }

    /// Uses all readings again that a stage left out.
    pub fn restore_all(&mut self, stage: u8) {
        self.marks.iter_mut().filter(|mark| **mark == stage).for_each(|mark| *mark = USED_MARK);
    }

    /// The stage that left a reading out; [`USED_MARK`] for none.
    pub fn mark(&self, at: usize) -> u8 {
        self.marks[at]
    }
}

/// The factor to the mean core clock of rounds that are asked for one after the other.
struct Factor<'s> {
    clock: &'s [Piece],
    /// The latest one, and the rounds in which it holds.
    latest: f64,
    rounds: Range<u32>,
}

impl Factor<'_> {
    fn of(clock: &[Piece]) -> Factor<'_> {
        Factor { clock, latest: 1.0, rounds: 0..0 }
    }

    #[inline]
    fn at(&mut self, round: u32) -> f64 {
        if !self.rounds.contains(&round) {
            let next = self.clock.partition_point(|piece| piece.first_round <= round);
            let before = next.checked_sub(1).map(|at| self.clock[at]);
            self.latest = before.map_or(1.0, |piece| piece.factor);
            self.rounds = before.map_or(0, |piece| piece.first_round)
                ..self.clock.get(next).map_or(u32::MAX, |piece| piece.first_round);
        }
        self.latest
    }
}
