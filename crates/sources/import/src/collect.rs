//! Collects series, counts and times into a table.

use crate::{Imported, Tool};
use hairspring_core::Result;
use hairspring_core::error::Error;
use hairspring_core::observations::{
    Observations, RowId, SeriesId, USABLE_NUMBERS, Unit, is_usable,
};
use std::collections::{BTreeSet, HashMap};

/// Maximum number of series; a file with more counts as damaged.
const MAX_SERIES: usize = 1_000;
/// Maximum number of remarks that are kept.
const MOST_REMARKS: usize = 20;

/// One timed run of a benchmark.
struct Timing {
    series: usize,
    iterations: f64,
    ns: f64,
}

/// Runs of benchmarks.
#[derive(Default)]
pub struct Collected {
    names: Vec<String>,
    known: HashMap<String, usize>,
    runs: Vec<Timing>,
    remarks: Vec<String>,
    unwritten: usize,
}

impl Collected {
    /// Adds a run: how often the code ran, and how long all of that took.
    ///
    /// # Errors
    /// Iterations not above zero, a number that cannot be calculated with, or too many series.
    pub fn push(
        &mut self,
        name: &str,
        iterations: f64,
        ns: f64,
    ) -> std::result::Result<(), String> {
        if !(is_usable(iterations) && iterations > 0.0) {
            return Err(format!(
                "the number of iterations is {iterations}, it must be above 0; {USABLE_NUMBERS}"
            ));
        }
        if !is_usable(ns) {
            return Err(format!("the time is {ns}, it must be a finite number; {USABLE_NUMBERS}"));
        }
        let series = match self.known.get(name) {
            Some(series) => *series,
            None if self.names.len() == MAX_SERIES => {
                return Err(format!("there are more than {MAX_SERIES} benchmarks"));
            }
            None => {
                self.known.insert(name.to_owned(), self.names.len());
                self.names.push(name.to_owned());
                self.names.len() - 1
            }
        };
        self.runs.push(Timing { series, iterations, ns });
        Ok(())
    }

    /// Adds a remark that something was left out.
    pub fn remark(&mut self, text: String) {
        if self.remarks.len() < MOST_REMARKS {
            self.remarks.push(text)
        } else {
            self.unwritten += 1
        }
    }

    /// The table of all series that a line can be fitted to.
    ///
    /// # Errors
    /// [`Error::BadTable`] with the advice if there is no such series.
    pub fn finish(mut self, tool: Tool, source: &str, advice: &str) -> Result<Imported> {
        if self.runs.is_empty() {
            return Err(Error::BadTable(format!(
                "contains no benchmark run{}",
                self.first_remark()
            )));
        }
        let usable: Vec<bool> =
            (0..self.names.len()).map(|series| self.has_a_line(series)).collect();
        if !usable.contains(&true) {
            return Err(Error::BadTable(format!(
                "no benchmark in it ran with three or more different numbers of iterations, so \
                 there is no line to fit: {advice}"
            )));
        }
        for series in (0..self.names.len()).filter(|series| !usable[*series]) {
            self.remark(format!(
                "`{}` is left out: too few different numbers of iterations for a line",
                self.names[series]
            ));
        }
        if self.unwritten > 0 {
            self.remarks.push(format!("and {} more that were left out", self.unwritten));
        }
        let mut table = self.table(&usable);
        table.origin.notes.push(("imported".into(), source.to_owned()));
        Ok(Imported { table, tool, remarks: self.remarks })
    }

    fn first_remark(&self) -> String {
        self.remarks.first().map(|remark| format!(" ({remark})")).unwrap_or_default()
    }

    /// Three different counts, or two with repeats.
    fn has_a_line(&self, series: usize) -> bool {
        let runs = self.runs.iter().filter(|run| run.series == series);
        let (mut counts, mut readings) = (BTreeSet::new(), 0);
        for run in runs {
            counts.insert(run.iterations.to_bits());
            readings += 1;
        }
        counts.len() >= 3 || (counts.len() == 2 && readings >= 8)
    }

    /// The n-th reading of a row belongs to round n - 1, as in an observation file without rounds.
    fn table(&self, usable: &[bool]) -> Observations {
        let mut table = Observations::new(vec!["body".into()]);
        table.origin.unit = Unit::TimeNs;
        let mut ids: HashMap<usize, SeriesId> = HashMap::new();
        let mut rounds: HashMap<RowId, u32> = HashMap::new();
        for run in self.runs.iter().filter(|run| usable[run.series]) {
            let series =
                *ids.entry(run.series).or_insert_with(|| table.series(&self.names[run.series]));
            let row = table.row(series, &[run.iterations]);
            let round = rounds.entry(row).or_default();
            table.push(row, *round, run.ns);
            *round += 1;
        }
        table
    }
}

/// Nanoseconds in a unit of time by its name; `None` for anything else.
pub fn nanoseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ps" => 1e-3,
        "ns" => 1.0,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    })
}
