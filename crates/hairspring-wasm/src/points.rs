//! The raw readings, for a plot that a page zooms into.

use crate::open::Table;
use hairspring_core::estimate::Options;
use hairspring_core::observations::{Observations, Unit};
use hairspring_core::pipeline::{Weighed, weighed};
use std::ops::Range;

/// Most points of a plot; of more readings those that stand out in each stretch are drawn.
pub const MOST_POINTS: usize = 100_000;

/// Readings in the order of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Points {
    /// The place of each reading among those that are shown.
    pub at: Vec<f64>,
    /// The raw reading.
    pub ticks: Vec<f64>,
    /// Which of the stages left it out, from 1; 0 for a reading that is used.
    pub left_out: Vec<u8>,
    /// Names of these stages.
    pub stages: Vec<&'static str>,
    /// Unit of the readings.
    pub unit: &'static str,
    /// Number of readings that there are.
    pub all: usize,
}

impl Points {
    /// The readings of a row, or of all rows, between two places; those that a page leaves out are
    /// in the table with their flag.
    ///
    /// # Errors
    /// The table cannot be solved.
    pub fn of(
        table: &Table,
        used: &Observations,
        options: &Options,
        row: Option<u32>,
        places: Range<f64>,
    ) -> Result<Points, String> {
        let weighed = weighed(used, options).map_err(|error| error.to_string())?;
        let is_shown =
            |one: &&Weighed| row.is_none_or(|row| used.readings()[one.reading].row == row);
        let shown = weighed.iter().filter(is_shown).enumerate();
        let shown: Vec<(usize, &Weighed)> =
            shown.filter(|(at, _)| places.contains(&(*at as f64))).collect();
        let unit = if used.origin.unit == Unit::TimeNs { "ns" } else { "ticks" };
        let mut points = Points { unit, all: shown.len(), ..Points::default() };
        let readings = table.observations.readings();
        for (at, one) in thinned(&shown, |one| readings[one.1.reading].ticks) {
            points.push(*at, readings[one.reading].ticks, one.left_out_by);
        }
        Ok(points)
    }

    fn push(&mut self, at: usize, ticks: f64, stage: Option<&'static str>) {
        self.at.push(at as f64);
        self.ticks.push(ticks);
        let number = stage.map_or(0, |stage| self.number(stage));
        self.left_out.push(number);
    }

    fn number(&mut self, stage: &'static str) -> u8 {
        let known = self.stages.iter().position(|known| *known == stage);
        let at = known.unwrap_or_else(|| {
            self.stages.push(stage);
            self.stages.len() - 1
        });
        u8::try_from(at + 1).unwrap_or(u8::MAX)
    }
}

/// At most so many as a plot has: of each stretch the smallest and the largest.
fn thinned<T>(all: &[T], value: impl Fn(&T) -> f64) -> Vec<&T> {
    if all.len() <= MOST_POINTS {
        return all.iter().collect();
    }
    let stretch = all.len().div_ceil(MOST_POINTS / 2);
    all.chunks(stretch).flat_map(|part| ends(part, &value)).collect()
}

/// The smallest and the largest of a stretch, in their order.
fn ends<'t, T>(part: &'t [T], value: &impl Fn(&T) -> f64) -> Vec<&'t T> {
    let (mut least, mut most) = (0, 0);
    for at in 1..part.len() {
        least = if value(&part[at]) < value(&part[least]) { at } else { least };
        most = if value(&part[at]) > value(&part[most]) { at } else { most };
    }
    let (first, last) = (least.min(most), least.max(most));
    if first == last { vec![&part[first]] } else { vec![&part[first], &part[last]] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_keep_what_stands_out() {
        let mut all = vec![10.0; 1_000_003];
        (all[123_456], all[777_777]) = (-5.0, 1e9);
        let shown = thinned(&all, |one| *one);
        assert!(shown.len() <= MOST_POINTS, "{}", shown.len());
        assert!(shown.contains(&&-5.0) && shown.contains(&&1e9));
        assert_eq!(thinned(&all[..9], |one| *one).len(), 9);
    }
}
