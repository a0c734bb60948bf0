//! How the rows lie on the line: counts, lack of fit, budget, readings, plots.

use crate::format::{count, probability, significant, time_unit};
use crate::page::{INDENT, Page, Tone};
use crate::plot::{Plot, ROUNDING, line_plot, residual_plot};
use crate::source::source_name;
use hairspring_core::judge::words::counted;
use hairspring_core::pipeline::BY_REQUEST;
use hairspring_result::document::{BudgetEntry, Fit};
use hairspring_result::{Component, Run, Series};

/// Most components for which the budgets are printed; otherwise they are only in the JSON document.
const MOST_BUDGETS: usize = 3;

/// Writes the fit of one series.
pub fn fit(page: &mut Page, series: &Series) {
    let is_line = series.components.len() == 1
        && series.fit.rows_detail.iter().all(|row| row.counts.len() < 2);
    page.item(if is_line { "line" } else { "plane" }, &rows(&series.fit), Tone::Quiet);
    budgets(page, series);
    page.item("readings", &readings(series), Tone::Quiet);
    let without = without(series);
    if !without.is_empty() {
        page.item(
            "without",
            &format!(
                "the {} {}, by request",
                if without.len() == 1 { "stage" } else { "stages" },
                without.join(", ")
            ),
            Tone::Quiet,
        );
    }
}

/// The stages that the series was solved without.
fn without(series: &Series) -> Vec<&str> {
    series
        .stages
        .iter()
        .filter(|stage| stage.did == BY_REQUEST)
        .map(|stage| stage.stage.as_str())
        .collect()
}

fn rows(fit: &Fit) -> String {
    let mut parts = Vec::new();
    let unknowns = counted(fit.unknowns as u64, "unknown", "unknowns");
    if fit.rows + fit.left_out == 0 {
        parts.push(format!("{unknowns} from single readings"));
    } else {
        let unknowns =
            span(fit).map_or_else(|| format!(" for {unknowns}"), |span| format!(", {span}"));
        let out =
            if fit.left_out > 0 { format!(", {} left out", fit.left_out) } else { String::new() };
        let rows = if fit.rows == 1 { "row" } else { "rows" };
        parts.push(format!("{} {rows}{unknowns}{out}", count(fit.rows)));
    }
    parts.push(match &fit.lack_of_fit {
        Some(lack) => {
            let (f, p) = (lack.f.unwrap_or(f64::NAN), lack.p.unwrap_or(f64::NAN));
            format!("lack of fit F = {}, p {}", significant(f, 3), probability(p))
        }
        None => "lack of fit unknown".into(),
    });
    parts.push(format!("residual {}", in_unit(residual(fit), fit.residual_ns.is_some())));
    parts.join("; ")
}

/// The residual; 0 if it is only rounding error.
fn residual(fit: &Fit) -> f64 {
    let residual = fit.residual_ns.or(fit.residual_ticks).flatten().unwrap_or(f64::NAN);
    let used = fit.rows_detail.iter().filter(|row| row.left_out.is_none());
    let largest = used.map(|row| row.location().abs()).fold(0.0, f64::max);
    if residual > ROUNDING * largest { residual } else { 0.0 }
}

/// `16x to 256x`, for rows of one component.
fn span(fit: &Fit) -> Option<String> {
    if fit.rows_detail.iter().any(|row| row.counts.len() != 1) {
        return None;
    }
    let counts =
        || fit.rows_detail.iter().filter(|row| row.left_out.is_none()).map(|row| row.counts[0]);
    let (few, many) = (counts().fold(f64::INFINITY, f64::min), counts().fold(0.0, f64::max));
    few.is_finite().then(|| format!("{}x to {}x", significant(few, 6), significant(many, 6)))
}

/// A number with its unit: a readable unit of time, or ticks.
fn in_unit(number: f64, in_ns: bool) -> String {
    let (factor, unit) = if in_ns { time_unit(number) } else { (1.0, "ticks") };
    format!("{} {unit}", significant(number * factor, 2))
}

fn budgets(page: &mut Page, series: &Series) {
    if series.components.len() > MOST_BUDGETS {
        page.item(
            "budget",
            "see the JSON document (--json) for the budget of each component",
            Tone::Quiet,
        );
        return;
    }
    for (component, part) in &series.components {
        let name =
            if series.components.len() > 1 { format!("{component}: ") } else { String::new() };
        let entries = shares(series.budget.get(component).map_or(&[][..], Vec::as_slice));
        let entries = if entries.is_empty() { nothing(series) } else { entries };
        page.item("budget", &format!("{name}{entries}{}", influence(part)), Tone::Quiet);
    }
}

/// The largest change when any one row is left out.
fn influence(part: &Component) -> String {
    let influence = part.row_influence_ns.or(part.row_influence_ticks).flatten();
    let text = influence.map(|change| in_unit(change, part.row_influence_ns.is_some()));
    text.map_or_else(String::new, |text| {
        format!("; leaving any one row out changes it by {text} at most")
    })
}

/// `noise 0.0005 ns, lack of fit 0.0002 ns`: the half-width that each source alone would give.
fn shares(budget: &[BudgetEntry]) -> String {
    let in_ns = budget.iter().any(|entry| entry.half_width_ns.is_some());
    let half = |entry: &BudgetEntry| {
        entry.half_width_ns.or(entry.half_width_ticks).flatten().unwrap_or(f64::INFINITY)
    };
    let mut named: Vec<(&str, f64)> = Vec::new();
    for entry in budget.iter().filter(|entry| half(entry) != 0.0) {
        let name = source_name(entry.source);
        match named.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += half(entry),
            None => named.push((name, half(entry))),
        }
    }
    let all: f64 = named.iter().map(|(_, half)| half).sum();
    let share = |(name, half): &(&str, f64)| {
        if *half < 0.01 * all {
            format!("{name} < 1 %")
        } else {
            format!("{name} {}", in_unit(*half, in_ns))
        }
    };
    named.iter().map(share).collect::<Vec<_>>().join(", ")
}

/// Why a budget has no entries.
fn nothing(series: &Series) -> String {
    if without(series).is_empty() {
        "no variation was seen".into()
    } else {
        "empty without the stages below".into()
    }
}

fn readings(series: &Series) -> String {
    let fit = &series.fit;
    let all = count(fit.readings);
    let unused = fit.readings.saturating_sub(fit.readings_used);
    match 100.0 * unused as f64 / fit.readings.max(1) as f64 {
        0.0 => format!("{all}, all used"),
        share => format!("{all}, {} % left out{}", significant(share, 2), reasons(series)),
    }
}

/// `: flags 5 %, spikes 1.9 %`: the stages that left readings out, with their shares of all
/// readings.
fn reasons(series: &Series) -> String {
    let percent =
        |number: usize| significant(100.0 * number as f64 / series.fit.readings.max(1) as f64, 2);
    let by = series.stages.iter().filter(|stage| stage.left_out > 0);
    let shares: Vec<String> =
        by.map(|stage| format!("{} {} %", stage.stage, percent(stage.left_out))).collect();
    if shares.is_empty() { String::new() } else { format!(": {}", shares.join(", ")) }
}

/// `96 rounds; 211 ms measured, 403 ms in all; precision reached; stolen 0 ms`.
pub fn run(run: &Run) -> String {
    let ms = |time: Option<f64>| significant(time.unwrap_or(f64::NAN), 3);
    let spent = run
        .budget_spent_ms
        .map_or_else(String::new, |spent| format!(", {} ms of the budget", ms(Some(spent))));
    let times =
        format!("{} ms measured{spent}, {} ms in all", ms(run.measured_ms), ms(run.elapsed_ms));
    let stolen = run.stolen_ms.map(|ms| format!("stolen {} ms", significant(ms, 2)));
    let stop = Some(run.stop.clone()).filter(|stop| !stop.is_empty());
    let places = run
        .placements
        .map_or_else(String::new, |placements| format!(" in {placements} placements"));
    let rounds = format!("{} rounds{places}", count(run.rounds as usize));
    let quiet = run
        .quiet_percent
        .map(|percent| format!("core quiet in {} % of the run", significant(percent, 2)));
    [Some(rounds), Some(times), stop, stolen, quiet]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
}

/// Plots of the rows: the line where there is one component, and the residuals.
pub fn plots(page: &mut Page, series: &Series) {
    let rows = &series.fit.rows_detail;
    let used = || rows.iter().filter(|row| row.left_out.is_none());
    let in_ns = series.fit.residual_ns.is_some();
    let (factor, unit) =
        axis_unit(rows.iter().map(|row| row.location().abs()).fold(0.0, f64::max), in_ns);
    let one = !rows.is_empty() && rows.iter().all(|row| row.counts.len() == 1);
    let mut lines = 10;
    let overhead = series.overhead.as_ref().and_then(|overhead| overhead.time());
    let slope = series
        .body()
        .filter(|_| one && series.components.len() == 1)
        .and_then(|(_, body)| body.figure.time());
    let line = slope
        .zip(overhead)
        .and_then(|(slope, overhead)| line_plot(rows, slope.value, overhead.value, factor));
    if let Some(plot) = line {
        let left_out =
            if plot.points.iter().any(|point| !point.used) { "; x left out" } else { "" };
        draw(page, &plot, 8, unit, &format!("copies; o rows{left_out}; fitted line"));
        lines = 5;
    }
    let (small, small_unit) =
        axis_unit(used().map(|row| row.residual().abs()).fold(0.0, f64::max), in_ns);
    if let Some(plot) = residual_plot(rows, factor, small) {
        let across = if one { "copies".to_owned() } else { format!("{unit} fitted") };
        draw(page, &plot, lines, small_unit, &format!("{across}; residuals of the rows"));
    }
}

/// Factor and unit of an axis with this largest number.
pub fn axis_unit(size: f64, in_ns: bool) -> (f64, &'static str) {
    if in_ns { time_unit(size) } else { (1.0, "ticks") }
}

/// Writes a plot with its axes.
fn draw(page: &mut Page, plot: &Plot, lines: usize, unit: &str, below: &str) {
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
