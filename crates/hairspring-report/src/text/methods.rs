//! Several methods side by side, as Table 1 of Moreno and Fischmeister: technique, time, standard deviation, distance.

use super::cells::{Cell, align};
use super::page::{Page, Tone};
use crate::clean::{clean, pad, width};
use crate::document::{MethodRow, MethodTable, Standing, standing};
use crate::format::{fixed, significant, time_unit};
use crate::methods::departs;

/// Widest technique that is not cut.
const WIDEST: usize = 24;

/// Writes a table; the factor is from the table's unit to nanoseconds.
pub fn methods(page: &mut Page, table: &MethodTable, factor: Option<f64>) {
    let techniques: Vec<String> = table.rows.iter().map(|row| clean(&row.technique)).collect();
    let first = techniques.iter().map(|text| width(text)).max().unwrap_or(0).clamp(9, WIDEST);
    let cells: Vec<Cell> = table.rows.iter().map(|row| Cell::time(&row.value.scaled(factor.unwrap_or(1.0)), factor.is_some())).collect();
    let times = align(&cells);
    let second = times.first().map_or(0, |text| width(text)).max(4);
    page.line(&format!("  {}  {}  {:>11}  {:>10}", pad("technique", first), pad("time", second), "single sd", "distance"), Tone::Strong);
    for ((row, technique), time) in table.rows.iter().zip(&techniques).zip(&times) {
        let (sd, distance) = (sd(row.sd, factor), distance(row));
        let mark = if table.rows.first().is_some_and(|line| departs(row, line)) { " !" } else { "" };
        page.line(&format!("  {}  {}  {sd:>11}  {distance:>10}{mark}", pad(technique, first), pad(time, second)), Tone::Plain);
    }
}

fn sd(sd: f64, factor: Option<f64>) -> String {
    let scaled = sd * factor.unwrap_or(1.0);
    let (more, unit) = if factor.is_some() { time_unit(scaled) } else { (1.0, "ticks") };
    if scaled.is_finite() { format!("{} {unit}", significant(scaled * more, 2)) } else { "unknown".into() }
}

/// The distance from the line fit, where the time is one.
fn distance(row: &MethodRow) -> String {
    let percent = row.distance_percent;
    if standing(&row.value) != Standing::Above {
        return "unresolved".into();
    }
    let sign = if percent > 0.0 { "+" } else { "" };
    match percent {
        0.0 => "-".into(),
        p if p.abs() < 0.01 => "< 0.01 %".into(),
        p => format!("{sign}{} %", fixed(p, if p.abs() < 100.0 { 2 } else { 0 })),
    }
}
