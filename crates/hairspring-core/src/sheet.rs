//! The readings of a table by row, in the order of their rounds, with the reason of each that is left out. The table itself is neither
//! copied nor changed: a sheet holds the places of its readings.

use crate::observations::{Observations, Reading, RowId, SeriesId};
use std::ops::Range;

/// The mark of a reading that is used; any other is the number of the stage that left it out.
pub(crate) const USED: u8 = 0;

/// A reading as the stages see it: at the mean core clock of the run, where that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    /// Its place on the sheet.
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

/// The readings of a table by row.
#[derive(Debug, Clone)]
pub(crate) struct Sheet<'t> {
    pub table: &'t Observations,
    /// One more than the highest round.
    pub rounds: u32,
    /// Where each row begins among the places.
    starts: Vec<u32>,
    /// Places of the readings in the table.
    places: Vec<u32>,
    /// The stage that left each of them out.
    marks: Vec<u8>,
    /// The core clock; empty if it is not known.
    clock: Vec<Piece>,
    /// Whether each series follows the core clock.
    follows: Vec<bool>,
    /// What is taken off each reading of some rows.
    taken_off: Vec<(RowId, f64)>,
}

impl<'t> Sheet<'t> {
    /// The readings of these series; of all, if none are named.
    ///
    /// # Cost
    /// About 5 ns and 5 bytes for each reading.
    pub fn new(table: &'t Observations, wanted: &[SeriesId]) -> Sheet<'t> {
        let is_wanted = |row: RowId| wanted.is_empty() || wanted.contains(&table.rows()[row as usize].series);
        let wanted: Vec<bool> = (0..table.rows().len() as RowId).map(is_wanted).collect();
        let mut starts = vec![0_u32; table.rows().len() + 1];
        for reading in table.readings().iter().filter(|reading| wanted[reading.row as usize]) {
            starts[reading.row as usize + 1] += 1;
        }
        for row in 1..starts.len() {
            starts[row] += starts[row - 1];
        }
        let mut next = starts.clone();
        let mut places = vec![0_u32; starts.last().map_or(0, |all| *all as usize)];
        for (at, reading) in table.readings().iter().enumerate().filter(|(_, reading)| wanted[reading.row as usize]) {
            let place = &mut next[reading.row as usize];
            places[*place as usize] = at as u32;
            *place += 1;
        }
        let marks = vec![USED; places.len()];
        let follows = vec![true; table.series_names().len()];
        let mut sheet = Sheet { table, rounds: table.rounds(), starts, places, marks, clock: Vec::new(), follows, taken_off: Vec::new() };
        (0..table.rows().len()).for_each(|row| sheet.sort_by_round(row as RowId));
        sheet
    }

    /// Readings are nearly always in the order of their rounds.
    fn sort_by_round(&mut self, row: RowId) {
        let readings = self.table.readings();
        let places = &mut self.places[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize];
        let round = |at: &u32| readings[*at as usize].round;
        if !places.is_sorted_by_key(round) {
            places.sort_by_key(round);
        }
    }

    /// The places of a row on the sheet.
    pub fn places_of(&self, row: RowId) -> Range<usize> {
        self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize
    }

    /// The rows of a series.
    pub fn rows_of(&self, series: SeriesId) -> Vec<RowId> {
        self.table.rows_of(series).map(|(row, _)| row).collect()
    }

    /// The places of all readings of a series.
    pub fn places_in(&self, series: SeriesId) -> impl Iterator<Item = usize> + use<> {
        let ranges: Vec<Range<usize>> = self.rows_of(series).into_iter().map(|row| self.places_of(row)).collect();
        ranges.into_iter().flatten()
    }

    /// The reading at a place, as it is in the table.
    pub fn reading(&self, at: usize) -> &'t Reading {
        &self.table.readings()[self.places[at] as usize]
    }

    /// The place in the table of a reading at a place of the sheet.
    pub fn place_in_table(&self, at: usize) -> usize {
        self.places[at] as usize
    }

    /// Number of readings.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Sets the core clock: what readings are multiplied by from each of these rounds on, and which series follow it.
    pub fn set_clock(&mut self, pieces: Vec<Piece>) {
        self.clock = pieces;
    }

    /// What a reading of a round is multiplied by, to be as it were at the mean core clock.
    pub fn factor(&self, round: u32) -> f64 {
        let at = self.clock.partition_point(|piece| piece.first_round <= round);
        at.checked_sub(1).map_or(1.0, |at| self.clock[at].factor)
    }

    /// Says that the time of a series does not depend on the core clock, as that of memory.
    pub fn ignore_clock(&mut self, series: SeriesId) {
        self.follows[usize::from(series)] = false;
    }

    /// Whether the readings of a series are converted to the mean core clock.
    pub fn is_converted(&self, series: SeriesId) -> bool {
        !self.clock.is_empty() && self.follows[usize::from(series)]
    }

    /// Takes something off each reading of a row.
    pub fn take_off(&mut self, row: RowId, ticks: f64) {
        self.taken_off.push((row, ticks));
    }

    /// The readings at places of one row, as the stages see them.
    pub fn samples(&self, row: RowId, places: Range<usize>) -> Samples<'_, 't> {
        let clock = if self.is_converted(self.table.rows()[row as usize].series) { &self.clock[..] } else { &[] };
        let round = self.places.get(places.start).map_or(0, |at| self.table.readings()[*at as usize].round);
        let clock = &clock[clock.partition_point(|piece| piece.first_round <= round).saturating_sub(1)..];
        let less = self.taken_off.iter().filter(|(other, _)| *other == row).map(|(_, ticks)| ticks).sum();
        Samples { sheet: self, clock, places, less }
    }

    /// All readings of a row.
    pub fn row(&self, row: RowId) -> Samples<'_, 't> {
        self.samples(row, self.places_of(row))
    }

    /// Leaves a reading out by a stage, unless an earlier one has.
    pub fn leave_out(&mut self, at: usize, stage: u8) {
        if self.marks[at] == USED {
            self.marks[at] = stage;
        }
    }

    /// Uses a reading again.
    pub fn restore(&mut self, at: usize) {
        self.marks[at] = USED;
    }

    /// The stage that left a reading out; [`USED`] for none.
    pub fn mark(&self, at: usize) -> u8 {
        self.marks[at]
    }

    /// How many readings of a series each stage left out, by its number, and how many are used.
    pub fn counts(&self, series: SeriesId, stages: usize) -> Vec<usize> {
        let mut counts = vec![0; stages + 1];
        self.places_in(series).for_each(|at| counts[usize::from(self.marks[at])] += 1);
        counts
    }
}

/// The readings of a row one after the other.
pub(crate) struct Samples<'s, 't> {
    sheet: &'s Sheet<'t>,
    /// The pieces of the clock from that of the latest reading on.
    clock: &'s [Piece],
    places: Range<usize>,
    less: f64,
}

impl Iterator for Samples<'_, '_> {
    type Item = Sample;

    fn next(&mut self) -> Option<Sample> {
        let at = self.places.next()?;
        let reading = self.sheet.reading(at);
        while self.clock.get(1).is_some_and(|piece| piece.first_round <= reading.round) {
            self.clock = &self.clock[1..];
        }
        let factor = self.clock.first().map_or(1.0, |piece| piece.factor);
        let ticks = reading.ticks * factor - self.less;
        Some(Sample { at, round: reading.round, ticks, is_used: self.sheet.marks[at] == USED })
    }
}
