//! Collects series, counts and times into a table.

use crate::{Imported, Tool};
use hairspring_core::Result;
use hairspring_core::error::Error;
use hairspring_core::judge::{Finding, carry};
use hairspring_core::observations::{
    Observations, RowId, SeriesId, USABLE_NUMBERS, Unit, is_usable,
};
use std::collections::{BTreeSet, HashMap};

/// Maximum number of series; a file with more counts as damaged.
const MAX_SERIES: usize = 1_000;
/// Maximum number of units; a file with more counts as damaged.
const MOST_UNITS: usize = 20;
/// Maximum length of the name of a unit.
const MOST_UNIT_NAME: usize = 40;
/// Maximum number of remarks that are kept.
const MOST_REMARKS: usize = 20;

/// One timed run of a benchmark.
struct Timing {
    series: usize,
    iterations: f64,
    /// In nanoseconds, or in another unit.
    value: f64,
    /// The place of that unit in [`Collected::units`].
    other_unit: Option<usize>,
}

/// Runs of benchmarks.
#[derive(Default)]
pub struct Collected {
    names: Vec<String>,
    known_names: HashMap<String, usize>,
    runs: Vec<Timing>,
    /// Units that are none of time.
    units: Vec<String>,
    /// Largest error of a reading by the digits of the file.
    bound: f64,
    /// Findings that every result from the table is to have.
    findings: Vec<Finding>,
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
        self.push_in(name, iterations, ns, "ns")
    }

    /// The same in a unit of the tool's own, which need not be one of time.
    ///
    /// # Errors
    /// As [`Collected::push`], or too many units.
    pub fn push_in(
        &mut self,
        name: &str,
        iterations: f64,
        value: f64,
        unit: &str,
    ) -> std::result::Result<(), String> {
        let factor = nanoseconds(unit);
        let value = value * factor.unwrap_or(1.0);
        if !(is_usable(iterations) && iterations > 0.0) {
            return Err(format!(
                "the number of iterations is {iterations}, it must be above 0; {USABLE_NUMBERS}"
            ));
        }
        if !is_usable(value) {
            return Err(format!(
                "the time is {value}, it must be a finite number; {USABLE_NUMBERS}"
            ));
        }
        let other_unit = if factor.is_some() { None } else { Some(self.unit(unit)?) };
        let series = self.series(name)?;
        self.runs.push(Timing { series, iterations, value, other_unit });
        Ok(())
    }

    fn series(&mut self, name: &str) -> std::result::Result<usize, String> {
        if let Some(series) = self.known_names.get(name) {
            return Ok(*series);
        }
        if self.names.len() == MAX_SERIES {
            return Err(format!("there are more than {MAX_SERIES} benchmarks"));
        }
        self.known_names.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        Ok(self.names.len() - 1)
    }

    fn unit(&mut self, name: &str) -> std::result::Result<usize, String> {
        let shown_name: String =
            name.chars().filter(|c| !c.is_control()).take(MOST_UNIT_NAME).collect();
        let name = if shown_name.is_empty() { "a unit without a name" } else { &shown_name };
        if let Some(at) = self.units.iter().position(|unit| unit == name) {
            return Ok(at);
        }
        if self.units.len() == MOST_UNITS {
            return Err(format!("there are more than {MOST_UNITS} units"));
        }
        self.units.push(name.to_owned());
        Ok(self.units.len() - 1)
    }

    /// Tells that a reading has so few digits in the file that it may be off by half of the last
    /// one, which is this much. The error follows the counts, so that neither repeats nor rows show
    /// it; and a spread below the digit is no disturbance.
    pub fn doubt_digit(&mut self, half: f64) {
        self.bound = self.bound.max(half);
    }

    /// Adds a finding to every result from the table.
    pub fn doubt(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Adds a remark that something was left out.
    pub fn remark(&mut self, text: String) {
        if self.remarks.contains(&text) {
            return;
        }
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
        let unit = self.keep_one_unit();
        if self.runs.is_empty() {
            return Err(Error::BadTable(format!(
                "contains no benchmark run{}",
                self.first_remark()
            )));
        }
        let usable = self.with_a_line();
        if !usable.contains(&true) {
            return Err(Error::BadTable(format!(
                "no benchmark in it ran with three or more different numbers of iterations, so \
                 there is no line to fit: {advice}"
            )));
        }
        let ran: BTreeSet<usize> = self.runs.iter().map(|run| run.series).collect();
        for series in ran.into_iter().filter(|series| !usable[*series]) {
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
        if let Some(unit) = unit {
            (table.origin.unit, table.origin.clock) = (Unit::Ticks, Some(format!("in {unit}")));
        }
        table.origin.reading_bound =
            Some(self.bound).filter(|bound| is_usable(*bound) && *bound > 0.0);
        table.origin.granularity = table.origin.reading_bound.map(|bound| 2.0 * bound);
        carry(&self.findings, &mut table.origin);
        Ok(Imported { table, tool, remarks: self.remarks })
    }

    /// Leaves out what is in another unit than the rest, because a table has one: times where there
    /// are some, else the first unit, which is returned.
    fn keep_one_unit(&mut self) -> Option<String> {
        let kept_unit = if self.runs.iter().any(|run| run.other_unit.is_none()) {
            None
        } else {
            self.runs.first()?.other_unit
        };
        let mut left_out: BTreeSet<(usize, Option<usize>)> = BTreeSet::new();
        self.runs.retain(|run| {
            run.other_unit == kept_unit || {
                left_out.insert((run.series, run.other_unit));
                false
            }
        });
        for (series, unit) in left_out {
            let unit = unit.and_then(|unit| self.units.get(unit)).map_or("ns", String::as_str);
            self.remark(format!(
                "runs of `{}` are left out: they are in `{unit}`, and others in another unit",
                self.names[series]
            ));
        }
        kept_unit.and_then(|unit| self.units.get(unit)).cloned()
    }

    fn first_remark(&self) -> String {
        self.remarks.first().map(|remark| format!(" ({remark})")).unwrap_or_default()
    }

    /// Which series a line can be fitted to: those with three different counts, or two with
    /// repeats.
    fn with_a_line(&self) -> Vec<bool> {
        let mut seen_counts: Vec<(Vec<f64>, usize)> = vec![(Vec::new(), 0); self.names.len()];
        for run in &self.runs {
            let Some((counts, readings)) = seen_counts.get_mut(run.series) else { continue };
            *readings += 1;
            if counts.len() < 3 && !counts.contains(&run.iterations) {
                counts.push(run.iterations);
            }
        }
        let has_a_line = |(counts, readings): &(Vec<f64>, usize)| {
            counts.len() >= 3 || (counts.len() == 2 && *readings >= 8)
        };
        seen_counts.iter().map(has_a_line).collect()
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
            table.push(row, *round, run.value);
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
