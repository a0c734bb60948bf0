//! Table 2 of the report: the times of a coder's basic blocks, from the totals of whole runs and
//! how often each block ran.

use crate::front_end::{FrontEnd, Transition};
use crate::recording::{exact, heard, pulses};
use crate::steps::{Steps, block_counts};
use crate::{AnyError, Check};
use hairspring_capture::edge::{Edge, Method};
use hairspring_core::estimate::{Component, Options, Solution};
use hairspring_core::observations::{Observations, Unit};
use hairspring_core::pipeline::solve;

/// Number of recordings of the same runs with different noise; the first is shown.
const RECORDINGS: u64 = 20;

/// One unknown that can be determined: a block, or several whose counts are dependent.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown {
    /// The components in it.
    pub name: String,
    /// Whether it includes the overhead (also that of the front end): the time from call to return
    /// that all runs share.
    pub constant: bool,
    /// Cycles, from edges without noise.
    pub exact: f64,
    /// Cycles by the instruction set.
    pub by_instructions: f64,
    /// Value through the front end, in microseconds.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

/// A solved system.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// The unknowns.
    pub unknowns: Vec<Unknown>,
    /// Columns, including the overhead.
    pub columns: usize,
    /// Inputs.
    pub inputs: usize,
    /// Share of the intervals that contain the exact time, except those of the constant, and the
    /// number of intervals of recordings with different noise.
    pub coverage: (f64, usize),
    /// Largest residual of a total without noise, in cycles.
    pub residual: f64,
}

/// The recording of the coder.
pub struct Coder {
    /// Edges of the pin.
    pub transitions: Vec<Transition>,
    /// The simulator's counts.
    pub steps: Steps,
}

/// A table: counts by window with the columns' names.
struct Counts {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Coder {
    /// Blocks as unknowns, and edges as unknowns. The recorder's rate comes from another recording.
    pub fn solved(
        &self,
        front_end: &FrontEnd,
        hz: f64,
        seed: u64,
    ) -> Result<[Results; 2], AnyError> {
        let clean = widths(&exact(&self.transitions), 1e6)?;
        let recording = |at: u64| {
            let edges = heard(
                &self.transitions,
                front_end,
                &[Method::BandLimited],
                seed.wrapping_add((3 + at) << 32),
            )?
            .swap_remove(0);
            widths(&edges, hz)
        };
        let noisy = (0..RECORDINGS).map(recording).collect::<Result<Vec<Vec<f64>>, AnyError>>()?;
        let (blocks, edges) = self.steps.graph();
        let rows = self.steps.edge_counts(&edges);
        let end = |to: Option<usize>| to.map_or("end".into(), |to| format!("B{to}"));
        let by_block = Counts {
            names: (0..blocks.len()).map(|at| format!("B{at}")).collect(),
            rows: block_counts(blocks.len(), &edges, &rows),
        };
        let by_edge = Counts {
            names: edges.iter().map(|edge| format!("B{}>{}", edge.from, end(edge.to))).collect(),
            rows,
        };
        let cycles: Vec<u64> = edges.iter().map(|edge| edge.cycles).collect();
        let outside = self.outside(&cycles, &by_edge.rows)?;
        let sum = |row: &Vec<f64>| {
            cycles.iter().zip(row).map(|(each, count)| *each as f64 * count).sum::<f64>() + outside
        };
        let by_instructions: Vec<f64> = by_edge.rows.iter().map(sum).collect();
        let edges = by_edge.results(&clean, &noisy, |unknown| {
            Ok(unknown
                .parts
                .iter()
                .map(|(name, factor)| factor * by_edge.cycles_of(name, &cycles, outside))
                .sum())
        })?;
        let of_blocks = by_block.solve(&by_instructions)?;
        let of = |unknown: &Component| {
            Ok(of_blocks.component(&unknown.name).ok_or("another unknown")?.ticks.value)
        };
        Ok([by_block.results(&clean, &noisy, of)?, edges])
    }

    /// Cycles of each window that no edge explains: call, arguments and toggle. They are the same
    /// in all windows.
    fn outside(&self, cycles: &[u64], rows: &[Vec<f64>]) -> Result<f64, AnyError> {
        let inside = |row: &Vec<f64>| {
            cycles.iter().zip(row).map(|(each, count)| *each as f64 * count).sum::<f64>()
        };
        let mut left =
            self.steps.totals.iter().zip(rows).map(|(total, row)| *total as f64 - inside(row));
        let first = left.next().ok_or("no window")?;
        match left.find(|other| *other != first) {
            Some(other) => Err(format!(
                "{first} cycles of one window are outside of the coder, and {other} of another"
            )
            .into()),
            None => Ok(first),
        }
    }
}

impl Counts {
    fn solve(&self, totals: &[f64]) -> Result<Solution, AnyError> {
        let mut table = Observations::new(self.names.clone());
        table.origin.unit = Unit::TimeNs; // no quantum, for edges are found between the samples
        let series = table.series("main");
        if totals.len() != self.rows.len() {
            return Err(
                format!("{} pulses of {} runs were found", totals.len(), self.rows.len()).into()
            );
        }
        for (counts, total) in self.rows.iter().zip(totals) {
            let row = table.row(series, counts);
            let round = u32::try_from(
                table.readings().iter().filter(|reading| reading.row == row).count(),
            )?;
            table.push(row, round, *total);
        }
        // Without noise there are no outliers; with noise, a rare block is not an outlier.
        Ok(solve(&table, series, &Options { leave_rows_out: false, ..Options::default() })?)
    }

    /// Cycles of an edge by the instruction set; those of the overhead are outside of the coder.
    fn cycles_of(&self, name: &str, cycles: &[u64], outside: f64) -> f64 {
        self.names.iter().position(|other| other == name).map_or(outside, |at| cycles[at] as f64)
    }

    /// `by_instructions` knows the cycles of an unknown.
    fn results(
        &self,
        clean: &[f64],
        noisy: &[Vec<f64>],
        by_instructions: impl Fn(&Component) -> Result<f64, AnyError>,
    ) -> Result<Results, AnyError> {
        let clean = self.solve(clean)?;
        let noisy = noisy
            .iter()
            .map(|totals| self.solve(totals))
            .collect::<Result<Vec<Solution>, AnyError>>()?;
        let unknown = |(clean, noisy): (&Component, &Component)| {
            Ok(Unknown {
                name: clean.name.clone(),
                constant: is_constant(clean),
                exact: clean.ticks.value,
                by_instructions: by_instructions(clean)?,
                value: noisy.ticks.value,
                low: noisy.ticks.low,
                high: noisy.ticks.high,
            })
        };
        let first = noisy.first().ok_or("no recording")?;
        Ok(Results {
            unknowns: clean
                .components
                .iter()
                .zip(&first.components)
                .map(unknown)
                .collect::<Result<Vec<Unknown>, AnyError>>()?,
            columns: clean.columns.len(),
            inputs: self.rows.len(),
            coverage: coverage(&clean, &noisy),
            residual: clean.rows.iter().map(|row| row.residual.abs()).fold(0.0, f64::max),
        })
    }
}

fn is_constant(component: &Component) -> bool {
    component.parts.iter().any(|(name, _)| name == "overhead")
}

fn coverage(clean: &Solution, noisy: &[Solution]) -> (f64, usize) {
    let all = noisy.iter().flat_map(|noisy| clean.components.iter().zip(&noisy.components));
    let held: Vec<bool> = all
        .filter(|(clean, _)| !is_constant(clean))
        .map(|(clean, noisy)| noisy.ticks.contains(clean.ticks.value))
        .collect();
    (held.iter().filter(|held| **held).count() as f64 / held.len() as f64, held.len())
}

fn widths(edges: &[Edge], hz: f64) -> Result<Vec<f64>, AnyError> {
    Ok(pulses(edges)?.iter().map(|pulse| 1e6 * pulse.width() / hz).collect())
}

impl Results {
    /// The requirements.
    pub fn checks(&self, what: &str) -> Vec<Check> {
        let of_integer = |unknown: &Unknown| (unknown.exact - unknown.exact.round()).abs();
        let of_instructions = |unknown: &Unknown| (unknown.exact - unknown.by_instructions).abs();
        let farthest = |distance: &dyn Fn(&Unknown) -> f64| {
            self.unknowns.iter().map(distance).fold(0.0, f64::max)
        };
        let mut checks = vec![
            Check::new(
                format!("{what}: largest residual without noise {:.1e} cycles", self.residual),
                self.residual < 1e-6,
            ),
            Check::new(
                format!("{what}: farthest from an integer {:.1e} cycles", farthest(&of_integer)),
                farthest(&of_integer) < 1e-6,
            ),
        ];
        let words = format!(
            "{what}: farthest from the instruction set {:.1e} cycles",
            farthest(&of_instructions)
        );
        checks.push(Check::new(words, farthest(&of_instructions) < 1e-6));
        let (share, intervals) = self.coverage;
        let words = format!(
            "{what}: intervals of 95 % that hold the exact time: {:.1} % of {intervals}",
            100.0 * share
        );
        checks.push(Check::new(words, (0.91..=0.99).contains(&share)));
        checks
    }
}
