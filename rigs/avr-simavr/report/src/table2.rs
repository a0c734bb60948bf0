//! Table 2 of the report: the times of a coder's basic blocks, from the totals of whole runs and how often each block ran.

use crate::front_end::{FrontEnd, Transition};
use crate::recording::{exact, heard, pulses};
use crate::steps::{Steps, block_counts};
use crate::{AnyError, Check};
use hairspring_capture::edge::{Edge, Method};
use hairspring_engine::estimate::{Options, Solution, solve};
use hairspring_engine::observations::Observations;

/// One unknown that can be told: a block, or several whose counts go together.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown {
    /// The components in it.
    pub name: String,
    /// Cycles, from edges without noise.
    pub exact: f64,
    /// Cycles by the instruction set, where the unknowns are edges.
    pub by_instructions: Option<f64>,
    /// Through the front end: value and the ends of its interval, in microseconds.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A solved system.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// The unknowns.
    pub unknowns: Vec<Unknown>,
    /// Columns, the overhead among them.
    pub columns: usize,
    /// Inputs.
    pub inputs: usize,
    /// Largest residual of a total without noise, in cycles.
    pub residual: f64,
}

/// What was recorded of the coder.
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
    /// Blocks as unknowns, and edges as unknowns.
    ///
    /// The recorder's rate is that found in another recording.
    pub fn solved(&self, front_end: &FrontEnd, hz: f64) -> Result<[Results; 2], AnyError> {
        let heard = heard(&self.transitions, front_end, &[Method::BandLimited], 4)?.swap_remove(0);
        let noisy = widths(&heard, hz)?;
        let clean = widths(&exact(&self.transitions), 1e6)?;
        let (blocks, edges) = self.steps.graph();
        let rows = self.steps.edge_counts(&edges);
        let end = |to: Option<usize>| to.map_or("end".into(), |to| format!("B{to}"));
        let by_block =
            Counts { names: (0..blocks.len()).map(|at| format!("B{at}")).collect(), rows: block_counts(blocks.len(), &edges, &rows) };
        let by_edge = Counts { names: edges.iter().map(|edge| format!("B{}:{}", edge.from, end(edge.to))).collect(), rows };
        let cycles: Vec<u64> = edges.iter().map(|edge| edge.cycles).collect();
        let outside = self.outside(&cycles, &by_edge.rows)?;
        Ok([by_block.results(&clean, &noisy, None)?, by_edge.results(&clean, &noisy, Some((&cycles, outside)))?])
    }

    /// Cycles of each window that no edge explains: call, arguments and toggle. They are the same in all windows.
    fn outside(&self, cycles: &[u64], rows: &[Vec<f64>]) -> Result<f64, AnyError> {
        let inside = |row: &Vec<f64>| cycles.iter().zip(row).map(|(each, count)| *each as f64 * count).sum::<f64>();
        let mut left = self.steps.totals.iter().zip(rows).map(|(total, row)| *total as f64 - inside(row));
        let first = left.next().ok_or("no window")?;
        match left.find(|other| *other != first) {
            Some(other) => Err(format!("{first} cycles of one window are outside of the coder, and {other} of another").into()),
            None => Ok(first),
        }
    }
}

impl Counts {
    fn solve(&self, totals: &[f64]) -> Result<Solution, AnyError> {
        let mut table = Observations::new(self.names.clone());
        let series = table.series("main");
        if totals.len() != self.rows.len() {
            return Err(format!("{} pulses of {} runs were found", totals.len(), self.rows.len()).into());
        }
        for (counts, total) in self.rows.iter().zip(totals) {
            let row = table.row(series, counts);
            let round = u32::try_from(table.readings().iter().filter(|reading| reading.row == row).count())?;
            table.push(row, round, *total);
        }
        // Without noise nothing sticks out; with it, a rare block is no outlier.
        Ok(solve(&table, series, &Options { leave_rows_out: false, ..Options::default() })?)
    }

    fn results(&self, clean: &[f64], noisy: &[f64], instructions: Option<(&[u64], f64)>) -> Result<Results, AnyError> {
        let (clean, noisy) = (self.solve(clean)?, self.solve(noisy)?);
        let of = |name: &str| match instructions {
            Some((_, outside)) if name == "overhead" => outside,
            Some((cycles, _)) => self.names.iter().position(|other| other == name).map_or(f64::NAN, |at| cycles[at] as f64),
            None => f64::NAN,
        };
        let unknowns = clean.components.iter().zip(&noisy.components).map(|(clean, noisy)| Unknown {
            name: clean.name.clone(),
            exact: clean.ticks.value,
            by_instructions: instructions.map(|_| clean.parts.iter().map(|(name, factor)| factor * of(name)).sum()),
            value: noisy.ticks.value,
            low: noisy.ticks.low,
            high: noisy.ticks.high,
        });
        let residual = clean.rows.iter().map(|row| row.residual.abs()).fold(0.0, f64::max);
        Ok(Results { unknowns: unknowns.collect(), columns: clean.columns.len(), inputs: self.rows.len(), residual })
    }
}

fn widths(edges: &[Edge], hz: f64) -> Result<Vec<f64>, AnyError> {
    Ok(pulses(edges)?.iter().map(|pulse| 1e6 * pulse.width() / hz).collect())
}

impl Results {
    /// Share of the intervals that hold the exact time.
    pub fn coverage(&self) -> f64 {
        let held = self.unknowns.iter().filter(|unknown| (unknown.low..=unknown.high).contains(&unknown.exact)).count();
        held as f64 / self.unknowns.len() as f64
    }

    /// What must hold of it.
    pub fn checks(&self, what: &str) -> Vec<Check> {
        let of_integer = |unknown: &Unknown| (unknown.exact - unknown.exact.round()).abs();
        let of_instructions = |unknown: &Unknown| unknown.by_instructions.map_or(0.0, |cycles| (unknown.exact - cycles).abs());
        let farthest = |distance: &dyn Fn(&Unknown) -> f64| self.unknowns.iter().map(distance).fold(0.0, f64::max);
        let mut checks = vec![
            Check::new(format!("{what}: largest residual without noise {:.1e} cycles", self.residual), self.residual < 1e-6),
            Check::new(format!("{what}: farthest from an integer {:.1e} cycles", farthest(&of_integer)), farthest(&of_integer) < 1e-6),
        ];
        if self.unknowns.iter().all(|unknown| unknown.by_instructions.is_some()) {
            let words = format!("{what}: farthest from the instruction set {:.1e} cycles", farthest(&of_instructions));
            checks.push(Check::new(words, farthest(&of_instructions) < 1e-6));
        }
        checks
    }
}
