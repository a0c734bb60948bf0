//! Several methods side by side, as Table 1 of Moreno and Fischmeister: technique, time, standard
//! deviation, distance.

use crate::cells::{Cell, align};
use crate::clean::{clean, pad, width};
use crate::format::{fixed, significant, time_unit};
use crate::page::{Page, Tone};
use hairspring_result::document::{Method, MethodTable, Standing, standing};

/// Widest technique that is not cut.
const WIDEST_TECHNIQUE: usize = 24;

/// Writes a table.
pub fn methods(page: &mut Page, table: &MethodTable) {
    let techniques: Vec<String> = table.rows.iter().map(|row| clean(&row.technique)).collect();
    let first =
        techniques.iter().map(|text| width(text)).max().unwrap_or(0).clamp(9, WIDEST_TECHNIQUE);
    let cells: Vec<Cell> = table.rows.iter().map(time).collect();
    let times = align(&cells);
    let second = times.first().map_or(0, |text| width(text)).max(4);
    page.line(
        &format!(
            "  {}  {}  {:>11}  {:>10}",
            pad("technique", first),
            pad("time", second),
            "single sd",
            "distance"
        ),
        Tone::Strong,
    );
    for ((row, technique), time) in table.rows.iter().zip(&techniques).zip(&times) {
        let (sd, distance) = (sd(row), distance(row));
        let mark = if table.rows.first().is_some_and(|line| row.departs(line)) { " !" } else { "" };
        page.line(
            &format!(
                "  {}  {}  {sd:>11}  {distance:>10}{mark}",
                pad(technique, first),
                pad(time, second)
            ),
            Tone::Plain,
        );
    }
}

/// Time, single standard deviation and distance of a method as text.
pub fn method(row: &Method) -> [String; 3] {
    [time(row).text(), sd(row), distance(row)]
}

fn time(row: &Method) -> Cell {
    row.time().map_or_else(Cell::default, |time| Cell::time(&time, row.time_ns.is_some()))
}

fn sd(row: &Method) -> String {
    match (row.sd_ns.flatten(), row.sd_ticks.flatten()) {
        (Some(ns), _) => {
            let (factor, unit) = time_unit(ns);
            format!("{} {unit}", significant(ns * factor, 2))
        }
        (_, Some(ticks)) => format!("{} ticks", significant(ticks, 2)),
        _ => "unknown".into(),
    }
}

/// The distance from the line fit, if the time is resolved.
fn distance(row: &Method) -> String {
    let resolved = row.time().is_some_and(|time| standing(&time) == Standing::Above);
    let Some(percent) = row.distance_percent.filter(|_| resolved) else {
        return "unresolved".into();
    };
    let sign = if percent > 0.0 { "+" } else { "" };
    match percent {
        0.0 => "-".into(),
        p if p.abs() < 0.01 => "< 0.01 %".into(),
        p => format!("{sign}{} %", fixed(p, if p.abs() < 100.0 { 2 } else { 0 })),
    }
}
