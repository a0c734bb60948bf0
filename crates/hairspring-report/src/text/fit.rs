//! How the rows lie on the line: counts, lack of fit, budget, readings, plots.

use super::page::{INDENT, Page, Tone};
use crate::document::{Document, Entry, Run};
use crate::format::{count, probability, significant, time_unit};
use crate::plot::{Plot, ROUNDING, line_plot, present_columns, residual_plot};
use hairspring_core::estimate::{Contribution, Solution, Source};

/// Components whose budget is written out; with more it stands in the JSON document only.
const MOST_BUDGETS: usize = 3;

/// Writes all about the fit of one series.
pub fn fit(page: &mut Page, entry: &Entry, document: &Document) {
    let solution = &entry.result.solution;
    let name = if entry.result.components.len() == 1 && present_columns(&solution.rows).len() < 2 { "line" } else { "plane" };
    page.item(name, &rows(solution, document.ns_per_unit), Tone::Quiet);
    budgets(page, entry, document);
    page.item("readings", &readings(solution), Tone::Quiet);
}

fn rows(solution: &Solution, factor: Option<f64>) -> String {
    let (used, left_out) = solution.rows_used();
    let mut parts = Vec::new();
    if solution.rows.is_empty() {
        parts.push(format!("{} unknowns from single readings", solution.columns.len()));
    } else {
        let span = span(solution).map(|span| format!(", {span}")).unwrap_or_default();
        let out = if left_out > 0 { format!(", {left_out} left out") } else { String::new() };
        let unknowns = if span.is_empty() { format!(" for {} unknowns", solution.columns.len()) } else { span };
        parts.push(format!("{} rows{unknowns}{out}", count(used)));
    }
    parts.push(match solution.lack_of_fit {
        Some(lack) => format!("lack of fit F = {}, p {}", significant(lack.f, 3), probability(lack.p)),
        None => "lack of fit not known".into(),
    });
    let seen = solution.residual_sd > ROUNDING * solution.largest;
    parts.push(format!("residual {}", plain(if seen { solution.residual_sd } else { 0.0 }, factor)));
    parts.join("; ")
}

/// `16x to 256x`, for rows of one component.
fn span(solution: &Solution) -> Option<String> {
    let present = present_columns(&solution.rows);
    let [column] = present[..] else { return None };
    let counts = || solution.rows.iter().filter(|row| row.left_out.is_none()).map(|row| row.counts[column]);
    let (few, many) = (counts().fold(f64::INFINITY, f64::min), counts().fold(0.0, f64::max));
    few.is_finite().then(|| format!("{}x to {}x", significant(few, 6), significant(many, 6)))
}

/// A number of the table's unit with its unit.
fn plain(number: f64, factor: Option<f64>) -> String {
    match factor {
        Some(factor) => {
            let (more, unit) = time_unit(number * factor);
            format!("{} {unit}", significant(number * factor * more, 2))
        }
        None => format!("{} ticks", significant(number, 2)),
    }
}

fn budgets(page: &mut Page, entry: &Entry, document: &Document) {
    let components = &entry.result.components;
    if components.len() > MOST_BUDGETS {
        page.item("budget", "of each component: in the JSON document (--json)", Tone::Quiet);
        return;
    }
    for (at, part) in components.iter().enumerate() {
        let name = if components.len() > 1 { format!("{}: ", part.name) } else { String::new() };
        let in_ns = part.time.ns.as_ref().map(|_| 1.0);
        let entries = shares(entry.budget(at), document.level(), in_ns);
        let influence = if part.row_influence.is_finite() {
            format!("; leaving any one row out changes it by {} at most", plain(part.row_influence, document.ns_per_unit))
        } else {
            String::new()
        };
        page.item("budget", &format!("{name}{entries}{influence}"), Tone::Quiet);
    }
}

/// `noise 0.0005 ns, lack of fit 0.0002 ns`: the half-width that each source alone would give.
fn shares(budget: &[Contribution], level: f64, factor: Option<f64>) -> String {
    let sources = [
        (Source::Stochastic, "noise"),
        (Source::LackOfFit, "lack of fit"),
        (Source::Granularity, "quantum"),
        (Source::Rate, "clock rate"),
        (Source::Fence, "the fence's shadow"),
        (Source::Reference, "reference"),
        (Source::Runs, "runs"),
    ];
    let part = |source| budget.iter().filter(|entry| entry.source == source).map(|entry| entry.half_width(level)).sum::<f64>();
    let named: Vec<(&str, f64)> = sources.iter().map(|(source, name)| (*name, part(*source))).filter(|(_, half)| *half != 0.0).collect();
    let all: f64 = named.iter().map(|(_, half)| half).sum();
    let share =
        |(name, half): &(&str, f64)| if *half < 0.01 * all { format!("{name} < 1 %") } else { format!("{name} {}", plain(*half, factor)) };
    if named.is_empty() { "no variation was seen".into() } else { named.iter().map(share).collect::<Vec<_>>().join(", ") }
}

fn readings(solution: &Solution) -> String {
    let all = count(solution.readings);
    match 100.0 * solution.share_unused() {
        0.0 => format!("{all}, all used"),
        share => format!("{all}, {} % left out", significant(share, 2)),
    }
}

/// `96 rounds; 211 ms measured, 403 ms in all; precision reached; stolen 0 ms`.
pub fn run(run: &Run) -> String {
    let times = format!("{} ms measured, {} ms in all", significant(run.measured_ms, 3), significant(run.elapsed_ms, 3));
    let stolen = run.stolen_ms.map(|ms| format!("stolen {} ms", significant(ms, 2)));
    let stop = Some(run.stop.clone()).filter(|stop| !stop.is_empty());
    let rounds = format!("{} rounds", count(run.rounds as usize));
    [Some(rounds), Some(times), stop, stolen].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Plots of the rows: the line where there is one component, and the residuals.
pub fn plots(page: &mut Page, entry: &Entry, document: &Document) {
    let solution = &entry.result.solution;
    let (factor, unit) = axis_unit(solution, document.ns_per_unit);
    let columns = present_columns(&solution.rows);
    let mut lines = 10;
    if let ([column], [component], Some(overhead)) = (&columns[..], &solution.components[..], solution.overhead) {
        let (slope, overhead) = (component.ticks.value, overhead.value);
        if let Some(plot) = line_plot(&solution.rows, *column, slope, overhead, factor) {
            let left_out = if plot.points.iter().any(|point| !point.used) { "; x left out" } else { "" };
            draw(page, &plot, (8, unit), &format!("copies; o rows{left_out}; fitted line"));
            lines = 5;
        }
    }
    let column = if let [column] = columns[..] { Some(column) } else { None };
    let (small, small_unit) = small_unit(solution, document.ns_per_unit);
    if let Some(plot) = residual_plot(&solution.rows, column, (factor, small)) {
        let across = if column.is_some() { "copies".to_owned() } else { format!("{unit} fitted") };
        draw(page, &plot, (lines, small_unit), &format!("{across}; residuals of the rows"));
    }
}

/// Factor and unit for the axis of the locations.
fn axis_unit(solution: &Solution, factor: Option<f64>) -> (f64, &'static str) {
    unit_for(solution.rows.iter().map(|row| row.location.abs()).fold(0.0, f64::max), factor)
}

/// Factor and unit for the axis of the residuals.
fn small_unit(solution: &Solution, factor: Option<f64>) -> (f64, &'static str) {
    let used = solution.rows.iter().filter(|row| row.left_out.is_none());
    unit_for(used.map(|row| row.residual.abs()).fold(0.0, f64::max), factor)
}

fn unit_for(size: f64, factor: Option<f64>) -> (f64, &'static str) {
    let Some(factor) = factor else { return (1.0, "ticks") };
    let (more, unit) = time_unit(size * factor);
    (factor * more, unit)
}

/// Writes a plot with its axes.
fn draw(page: &mut Page, plot: &Plot, (lines, unit): (usize, &str), below: &str) {
    let columns = page.width() - INDENT - 2;
    page.gap();
    let drawn = plot.draw(columns, lines, page.ascii());
    for (at, line) in drawn.iter().enumerate() {
        let label = match at {
            0 => significant(plot.y.1, 3),
            1 => unit.to_owned(),
            _ if at + 1 == drawn.len() => significant(plot.y.0, 3),
            _ => String::new(),
        };
        page.line(&format!("{label:>width$} |{line}", width = INDENT - 1), Tone::Plain);
    }
    page.line(&format!("{}+{}", " ".repeat(INDENT), "-".repeat(columns)), Tone::Plain);
    let (left, right) = (significant(plot.x.0, 3), significant(plot.x.1, 3));
    let room = columns.saturating_sub(left.len() + right.len());
    page.line(&format!("{} {left}{below:^room$}{right}", " ".repeat(INDENT)), Tone::Plain);
}
