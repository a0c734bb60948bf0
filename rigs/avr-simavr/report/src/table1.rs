//! Table 1 of the report: one routine of exactly 100 us, timed by straight lines, differences, and
//! by dividing.

use crate::front_end::{FrontEnd, Transition};
use crate::recording::{calibrated, exact, frames, heard, pulses};
use crate::{AnyError, Check, mean_and_sd};
use hairspring_capture::edge::{Edge, Method};
use hairspring_capture::pattern::{Frame, Kind, Pulse};
use hairspring_core::estimate::{Estimate, Options, Solution};
use hairspring_core::methods::differential::differential;
use hairspring_core::methods::direct::direct;
use hairspring_core::observations::{Observations, Unit};
use hairspring_core::pipeline::solve;

/// Time of the routine, in microseconds.
const TRUTH: f64 = 100.0;
/// The report's overhead, in microseconds.
pub const PUBLISHED_OVERHEAD: f64 = 8.5;
/// Largest distance of a line fit's mean from the published one, in microseconds; and of a direct
/// measurement's.
const LINE_TOLERANCE: f64 = 0.02;
const DIRECT_TOLERANCE: f64 = 0.1;
/// The rows of the table with the report's mean and standard deviation.
pub const PUBLISHED_ROWS: [(Row, f64, f64); 11] = [
    (Row::Line(10), 99.986, 0.125),
    (Row::Line(20), 100.001, 0.044),
    (Row::Differential(55), 99.834, 0.237),
    (Row::Differential(210), 100.009, 0.121),
    (Row::Differential(1000), 100.003, 0.050),
    (Row::Direct(1), 108.521, 1.119),
    (Row::Direct(10), 100.808, 0.135),
    (Row::Direct(20), 100.412, 0.068),
    (Row::Direct(55), 100.154, 0.024),
    (Row::Direct(100), 100.087, 0.012),
    (Row::Direct(210), 100.004, 0.004),
];

/// An experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// A line through k = 1 to this many copies, each once.
    Line(u16),
    /// The mean of this many differences of 2 copies and 1.
    Differential(usize),
    /// This many copies, once, divided by their number.
    Direct(u16),
}

/// The result of one row: mean and standard deviation of an experiment, and the number of
/// experiments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The row.
    pub row: Row,
    /// Mean in microseconds.
    pub mean: f64,
    /// Standard deviation of one experiment, in microseconds.
    pub sd: f64,
    /// Experiments.
    pub experiments: usize,
}

/// The results with one method to find edges.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// All rows, in the order of the report.
    pub rows: Vec<Found>,
    /// Share of the intervals of the lines through 1 to 20 copies that contain the true time, and
    /// their number.
    pub coverage: (f64, usize),
    /// Mean overhead of those lines, in microseconds.
    pub overhead: f64,
    /// Half the width of the typical interval.
    pub half_width: f64,
    /// Standard deviations of single pulses of 1 and of 2 copies, of which the differences are
    /// made, in microseconds.
    pub pulse_sds: [f64; 2],
}

/// The edges of the three recordings.
pub struct Recordings<T> {
    /// Frames of k = 1 to 20.
    pub line: T,
    /// Frames of k = 1, 10, 20, 55, 100, 210.
    pub direct: T,
    /// Pulses of 1 and 2 copies in turn.
    pub differential: T,
}

impl Recordings<Vec<Transition>> {
    /// All three recordings with the edges of each method.
    pub fn heard(
        &self,
        front_end: &FrontEnd,
        methods: &[Method],
        seed: u64,
    ) -> Result<Vec<Recordings<Vec<Edge>>>, AnyError> {
        let line = heard(&self.line, front_end, methods, seed)?;
        let direct = heard(&self.direct, front_end, methods, seed.wrapping_add(1 << 32))?;
        let differential =
            heard(&self.differential, front_end, methods, seed.wrapping_add(2 << 32))?;
        let all = line.into_iter().zip(direct).zip(differential);
        Ok(all
            .map(|((line, direct), differential)| Recordings { line, direct, differential })
            .collect())
    }
}

/// Edges without a front end: slope and overhead must be exact.
pub fn exact_checks(
    recordings: &Recordings<Vec<Transition>>,
    toggle_cycles: f64,
) -> Result<Vec<Check>, AnyError> {
    let (rate, line) = calibrated(frames(&exact(&recordings.line))?, 1e6)?;
    let solution = solved(&table(&line, 20, 1e6)?)?;
    let overhead = solution.overhead.ok_or("no overhead")?.value;
    let slope = solution.components[0].ticks.value;
    let departure =
        line.iter().flat_map(widths).map(|(k, width)| (width - TRUTH * k - toggle_cycles).abs());
    let departure = departure.fold(0.0, f64::max);
    Ok(vec![
        Check::new(
            format!("without noise, {} frames: slope {slope:.9} cycles", line.len()),
            (slope - TRUTH).abs() < 1e-9,
        ),
        Check::new(
            format!("overhead {overhead:.9} cycles, the toggle's own {toggle_cycles}"),
            (overhead - toggle_cycles).abs() < 1e-6,
        ),
        Check::new(format!("largest departure of a pulse {departure} cycles"), departure == 0.0),
        Check::new(format!("the chip's second has {} cycles", rate.hz), rate.hz == 1e6),
    ])
}

/// All rows from the edges of a recorder that states this rate.
pub fn results(recordings: &Recordings<Vec<Edge>>, stated_hz: f64) -> Result<Results, AnyError> {
    let (rate, line) = calibrated(frames(&recordings.line)?, stated_hz)?;
    let (_, whole) = calibrated(frames(&recordings.direct)?, stated_hz)?;
    let pairs = pulses(&recordings.differential)?;
    let to_20 = lines(&line, 20, rate.hz)?;
    let mut rows = Vec::new();
    for (row, _, _) in PUBLISHED_ROWS {
        rows.push(match row {
            Row::Line(most) => line_row(row, &lines(&line, most, rate.hz)?),
            Row::Differential(number) => differential_row(number, &pairs, rate.hz)?,
            Row::Direct(copies) => direct_row(copies, &whole, rate.hz)?,
        });
    }
    let held = to_20.iter().filter(|(slope, _)| slope.contains(TRUTH)).count();
    let half_widths: f64 = to_20.iter().map(|(slope, _)| slope.half_width()).sum();
    let n = to_20.len() as f64;
    Ok(Results {
        rows,
        coverage: (held as f64 / n, to_20.len()),
        overhead: to_20.iter().map(|(_, overhead)| overhead).sum::<f64>() / n,
        half_width: half_widths / n,
        pulse_sds: [0, 1].map(|first| pulse_sd(&pairs, first, rate.hz)),
    })
}

/// The requirements for the default method to find edges.
pub fn checks(results: &Results) -> Vec<Check> {
    let mut checks = Vec::new();
    for (found, (row, mean, _)) in results.rows.iter().zip(PUBLISHED_ROWS) {
        let tolerance = match row {
            Row::Line(_) => LINE_TOLERANCE,
            Row::Direct(210) | Row::Differential(_) => continue,
            Row::Direct(_) => DIRECT_TOLERANCE,
        };
        let words = format!(
            "{}: {:+.3} us from the published mean, at most {tolerance}",
            row.name(),
            found.mean - mean
        );
        checks.push(Check::new(words, (found.mean - mean).abs() <= tolerance));
    }
    let (share, captures) = results.coverage;
    let words = format!(
        "intervals of 95 % that hold the true time: {:.1} % of {captures} captures",
        100.0 * share
    );
    // A single frame has one pulse of each count, in order: that errors of neighbours may be alike
    // makes its interval 1.15 times as wide.
    checks.push(Check::new(words, (0.93..=0.995).contains(&share)));
    checks
}

impl Row {
    /// Its name in the report.
    pub fn name(self) -> String {
        match self {
            Row::Line(most) => format!("line fit 1x to {most}x"),
            Row::Differential(number) => format!("differential {number}x"),
            Row::Direct(copies) => format!("direct {copies}x"),
        }
    }
}

fn widths(frame: &Frame) -> Vec<(f64, f64)> {
    let Kind::Counts(counts) = &frame.kind else { return Vec::new() };
    counts
        .iter()
        .zip(&frame.pulses)
        .map(|(count, pulse)| (f64::from(count[0]), pulse.width()))
        .collect()
}

/// A table without a quantum, because edges are found between the samples; its unit, here
/// microseconds, does not matter.
fn empty() -> Observations {
    let mut table = Observations::new(vec!["body".into()]);
    table.origin.unit = Unit::TimeNs;
    table
}

/// One round for each frame, in microseconds, of rows with at most this many copies.
fn table(frames: &[Frame], most: u16, hz: f64) -> Result<Observations, AnyError> {
    let mut table = empty();
    let series = table.series("main");
    for (round, frame) in frames.iter().enumerate() {
        for (copies, width) in
            widths(frame).into_iter().filter(|(copies, _)| *copies <= f64::from(most))
        {
            let row = table.row(series, &[copies]);
            table.push(row, u32::try_from(round)?, 1e6 * width / hz);
        }
    }
    Ok(table)
}

fn solved(table: &Observations) -> Result<Solution, AnyError> {
    Ok(solve(table, 0, &Options::default())?)
}

/// Slope and overhead of each single frame.
fn lines(frames: &[Frame], most: u16, hz: f64) -> Result<Vec<(Estimate, f64)>, AnyError> {
    let one = |frame: &Frame| {
        let solution = solved(&table(std::slice::from_ref(frame), most, hz)?)?;
        let overhead = solution.overhead.ok_or("no overhead")?.value;
        Ok((solution.components[0].ticks, overhead))
    };
    frames.iter().map(one).collect()
}

fn line_row(row: Row, lines: &[(Estimate, f64)]) -> Found {
    let values: Vec<f64> = lines.iter().map(|(slope, _)| slope.value).collect();
    let (mean, sd) = mean_and_sd(&values);
    Found { row, mean, sd, experiments: values.len() }
}

/// Standard deviation of every second pulse from this one on.
fn pulse_sd(pulses: &[Pulse], first: usize, hz: f64) -> f64 {
    let widths: Vec<f64> =
        pulses.iter().skip(first).step_by(2).map(|pulse| 1e6 * pulse.width() / hz).collect();
    mean_and_sd(&widths).1
}

/// Standard deviation of one difference that the row of so many published ones needs, if its
/// differences are independent.
fn of_one(row: Row, sd: f64) -> Option<f64> {
    match row {
        Row::Differential(number) => Some(sd * (number as f64).sqrt()),
        _ => None,
    }
}

/// Standard deviations of one difference by the published rows.
pub fn published_differences() -> Vec<f64> {
    PUBLISHED_ROWS.iter().filter_map(|(row, _, sd)| of_one(*row, *sd)).collect()
}

/// The requirements of the report's method: its differences scatter as independent pulses do.
pub fn difference_checks(results: &Results) -> Vec<Check> {
    let [one, two] = results.pulse_sds;
    let single = one.hypot(two);
    let found = results.rows.iter().filter(|found| found.row != Row::Differential(1000));
    let ratios = found.filter_map(|found| Some((found.row, of_one(found.row, found.sd)? / single)));
    let check = |(row, ratio): (Row, f64)| {
        let words = format!(
            "three-point {}: {ratio:.3} of the deviation of independent pulses",
            row.name()
        );
        Check::new(words, (0.85..=1.15).contains(&ratio))
    };
    ratios.map(check).collect()
}

/// Experiments of this many differences each, from pulses of 1 and 2 copies in turn.
fn differential_row(number: usize, pulses: &[Pulse], hz: f64) -> Result<Found, AnyError> {
    let mut values = Vec::new();
    for experiment in pulses.chunks_exact(2 * number).take(500) {
        let mut table = empty();
        let series = table.series("main");
        for (at, pulse) in experiment.iter().enumerate() {
            let row = table.row(series, &[1.0 + (at % 2) as f64]);
            table.push(row, u32::try_from(at / 2)?, 1e6 * pulse.width() / hz);
        }
        values.push(
            differential(&table, series, 0.95)
                .ok_or("no two rows to take the difference of")?
                .ticks
                .value,
        );
    }
    let (mean, sd) = mean_and_sd(&values);
    Ok(Found { row: Row::Differential(number), mean, sd, experiments: values.len() })
}

fn direct_row(copies: u16, frames: &[Frame], hz: f64) -> Result<Found, AnyError> {
    let table = table(frames, u16::MAX, hz)?;
    let all = direct(&table, 0, 0.95);
    let found = all
        .iter()
        .find(|found| found.copies == f64::from(copies))
        .ok_or_else(|| format!("no row of {copies} copies"))?;
    Ok(Found {
        row: Row::Direct(copies),
        mean: found.ticks.value,
        sd: found.sd,
        experiments: frames.len(),
    })
}
