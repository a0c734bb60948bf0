//! What each stage of the estimator left out, moved and widened.

use super::block::{Block, Table, shown};
use hairspring_result::document::Stage;
use hairspring_view::format::{count, significant};
use hairspring_view::text;

/// Smaller effects are not shown, in percent.
const SMALLEST: f64 = 0.0005;

/// The stages of a series with `readings` readings; nothing without one.
pub fn stages(stages: &[Stage], readings: usize) -> Option<Block> {
    let table = Table {
        caption: "Stages in their order, with their effects on the first time".into(),
        heads: ["Stage", "Question and answer", "Left out", "Moved", "Widened"]
            .map(str::to_owned)
            .into(),
        rows: stages.iter().map(|stage| row(stage, readings)).collect(),
    };
    let acted = stages.iter().filter(|stage| stage.acted).count();
    let title = format!("What each of {} stages did ({acted} acted)", stages.len());
    (!stages.is_empty()).then(|| Block::Details(title, vec![Block::Table(table)]))
}

fn row(stage: &Stage, readings: usize) -> Vec<String> {
    let percent = |number: Option<f64>, sign: &str| {
        number.filter(|number| number.abs() >= SMALLEST).map_or_else(
            || "-".to_owned(),
            |number| {
                let plus = if number > 0.0 { sign } else { "" };
                shown(&format!("{plus}{} %", significant(number, 2)))
            },
        )
    };
    let left_out = if stage.left_out > 0 { count(stage.left_out) } else { "-".into() };
    vec![
        shown(&stage.stage),
        shown(&text::told(stage, readings)),
        left_out,
        percent(stage.moved_percent, "+"),
        percent(stage.widened_percent, "+- "),
    ]
}
