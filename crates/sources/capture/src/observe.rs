//! Collects pulses into a table of observations.

use crate::pattern::{Frame, Kind, Problem, Pulse};
use hairspring_core::observations::{Flags, Observations, Reading};
use std::collections::HashMap;

use crate::phase::Phases;

/// Maximum number of problems that are kept.
const MOST_PROBLEMS: usize = 20;
/// Distance from the median of its row beyond which a reading is an outlier, in robust standard
/// deviations and as a share.
const OUTLIER_DISTANCES: (f64, f64) = (20.0, 0.25);

/// Maximum number of readings of a row from which its median is taken.
const MOST_OF_A_ROW: usize = 4096;

/// Default names of components.
pub const COMPONENTS: [&str; 4] = ["body", "init", "c3", "c4"];

/// Name of the overhead of a pulse; no component may have it.
pub const OVERHEAD: &str = "overhead";

/// Gathers frames.
#[derive(Debug)]
pub struct Collector {
    names: Vec<String>,
    table: Option<Observations>,
    phases: Phases,
    /// Frames that are in the table.
    pub frames: u32,
    /// Frames that are left out.
    pub left_out: u32,
    /// The first problems, with place and reason.
    pub problems: Vec<Problem>,
    /// The first damaged frame of reference intervals.
    pub damaged_reference: Option<Problem>,
    /// Reference intervals, in ticks.
    pub intervals: Vec<f64>,
}

impl Collector {
    /// A collector; components beyond `names` are named as in [`COMPONENTS`].
    pub fn new(names: Vec<String>) -> Collector {
        Collector {
            names,
            table: None,
            phases: Phases::default(),
            frames: 0,
            left_out: 0,
            problems: Vec::new(),
            damaged_reference: None,
            intervals: Vec::new(),
        }
    }

    /// Takes a frame: a round of readings, or reference intervals.
    ///
    /// # Errors
    /// A number of components that differs from the frames before.
    pub fn frame(&mut self, frame: &Frame) -> Result<(), String> {
        match &frame.kind {
            Kind::Reference(_) => self
                .intervals
                .extend(frame.pulses.windows(2).map(|pair| pair[1].leading - pair[0].leading)),
            Kind::Counts(counts) => {
                let counts: Vec<Vec<f64>> = counts
                    .iter()
                    .map(|row| row.iter().map(|count| f64::from(*count)).collect())
                    .collect();
                self.round(&counts, &frame.pulses)?;
            }
        }
        Ok(())
    }

    /// Takes a round of pulses with the counts of each.
    ///
    /// # Errors
    /// A number of components that differs from the rounds before.
    pub fn round(&mut self, counts: &[Vec<f64>], pulses: &[Pulse]) -> Result<(), String> {
        let width = counts.first().map_or(0, Vec::len);
        let names = &self.names;
        let name = |at: usize| {
            names.get(at).cloned().unwrap_or_else(|| {
                COMPONENTS.get(at).map_or(format!("c{}", at + 1), ToString::to_string)
            })
        };
        let table =
            self.table.get_or_insert_with(|| Observations::new((0..width).map(name).collect()));
        if table.components().len() != width {
            return Err(format!(
                "a frame counts {width} components, and those before count {}",
                table.components().len()
            ));
        }
        let series = table.series("main");
        for (counts, pulse) in counts.iter().zip(pulses) {
            let row = table.row(series, counts);
            table.push(row, self.frames, pulse.width());
            self.phases.push(row as usize, pulse.leading);
        }
        self.frames += 1;
        Ok(())
    }

    /// Checks that every given name has a component and that names are distinct.
    ///
    /// # Errors
    /// Names without a component, a duplicate name, or that of the overhead.
    pub fn all_names_used(&self) -> Result<(), String> {
        let Some(table) = self.table.as_ref().filter(|_| !self.names.is_empty()) else {
            return Ok(());
        };
        let counted = table.components();
        if let Some(more) = self.names.get(counted.len()..).filter(|more| !more.is_empty()) {
            let components = if counted.len() == 1 {
                "1 component".to_owned()
            } else {
                format!("{} components", counted.len())
            };
            return Err(format!(
                "--components names {} and the pulses count {components}: nothing is left for {}",
                self.names.len(),
                more.join(", ")
            ));
        }
        match counted.iter().enumerate().find(|(at, name)| counted[..*at].contains(name)) {
            Some((_, name)) => {
                Err(format!("--components: two components would be called `{name}`"))
            }
            None if counted.iter().any(|name| name == OVERHEAD) => Err(format!(
                "--components: `{OVERHEAD}` is the name of the time that a pulse takes beside its \
                 components"
            )),
            None => Ok(()),
        }
    }

    /// Records a frame that is left out.
    pub fn problem(&mut self, problem: Problem) {
        self.left_out += 1;
        if problem.reference {
            self.damaged_reference.get_or_insert_with(|| problem.clone());
        }
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(problem);
        }
    }

    /// Forgets the frames that are left out: they were none.
    pub fn forget_problems(&mut self) {
        self.left_out = 0;
        self.problems.clear();
    }

    /// Phases of the leading edges between samples.
    pub fn phases(&self) -> &Phases {
        &self.phases
    }

    /// The table, with outliers flagged, and the number of these. `None` if there was no frame.
    pub fn finish(self) -> Option<(Observations, usize)> {
        let table = self.table?;
        let doubted = doubted(&table);
        match doubted.len() {
            0 => Some((table, 0)),
            found => Some((flagged(table, |at, _| doubted.contains(&at)), found)),
        }
    }
}

/// The table with the flag `x` added to the readings that `is_out` selects.
pub(crate) fn flagged(
    mut table: Observations,
    is_out: impl Fn(usize, &Reading) -> bool,
) -> Observations {
    let mut flagged = Observations::new(table.components().to_vec());
    flagged.origin = std::mem::take(&mut table.origin);
    let series = flagged.series("main");
    for row in table.rows() {
        flagged.row(series, &row.counts);
    }
    for (at, reading) in table.readings().iter().enumerate() {
        let flags =
            if is_out(at, reading) { reading.flags.with(Flags::EXCLUDED) } else { reading.flags };
        flagged.push_flagged(reading.row, reading.round, reading.ticks, flags);
    }
    flagged
}

/// Outliers in their row, for example a glitch in place of a missing pulse.
fn doubted(table: &Observations) -> std::collections::BTreeSet<usize> {
    let mut rows: HashMap<u32, Vec<f64>> = HashMap::new();
    for reading in table.readings() {
        let ticks = rows.entry(reading.row).or_default();
        if ticks.len() < MOST_OF_A_ROW {
            ticks.push(reading.ticks);
        }
    }
    let limits: HashMap<u32, (f64, f64)> = rows
        .into_iter()
        .filter(|(_, ticks)| ticks.len() >= 5)
        .map(|(row, ticks)| (row, spread(ticks)))
        .collect();
    let far = |ticks: f64, (middle, spread): (f64, f64)| {
        (ticks - middle).abs()
            > (OUTLIER_DISTANCES.0 * spread).max(OUTLIER_DISTANCES.1 * middle.abs())
    };
    let readings = table.readings().iter().enumerate();
    readings
        .filter(|(_, reading)| {
            limits.get(&reading.row).is_some_and(|limit| far(reading.ticks, *limit))
        })
        .map(|(at, _)| at)
        .collect()
}

/// Median and robust standard deviation.
pub(crate) fn spread(mut values: Vec<f64>) -> (f64, f64) {
    let middle = median(&mut values);
    let mut distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    (middle, 1.4826 * median(&mut distances))
}

fn median(values: &mut [f64]) -> f64 {
    let at = values.len() / 2;
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_components() {
        let named = |names: &[&str]| {
            let mut collector = Collector::new(names.iter().map(ToString::to_string).collect());
            collector.round(&[vec![1.0, 2.0]], &[Pulse { leading: 0.0, trailing: 9.0 }]).unwrap();
            collector.all_names_used()
        };
        assert_eq!(named(&[]).and(named(&["a"])).and(named(&["a", "b"])), Ok(()));
        for wrong in
            [&["a", "a"][..], &["init"], &["a", "b", "c"], &["a", "overhead"], &["overhead"]]
        {
            assert!(named(wrong).is_err(), "{wrong:?}");
        }
    }
}
