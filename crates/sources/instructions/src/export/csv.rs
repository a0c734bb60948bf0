//! The table as CSV: a line for each latency and each throughput.

use crate::result::{Cycles, FormResult, Latency, Table};
use hairspring_core::Estimate;

/// Names of the columns. Other tables with the columns `form`, `quantity` and `cycles` can be
/// compared with this one.
const COLUMNS: [&str; 11] = [
    "form",
    "set",
    "extension",
    "quantity",
    "from",
    "to",
    "cycles",
    "low",
    "high",
    "with",
    "doubtful",
];

/// Where copies of a store are, if they are not on separate lines of the cache.
const ONE_LINE: [&str; 2] = ["one line", ""];

/// The table; a latency that is only known with helpers has the sum as its cycles, and the helpers
/// in `with`.
///
/// # Errors
/// Those of the CSV library; none for text.
pub fn csv(table: &Table) -> Result<String, Box<dyn std::error::Error>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for row in &table.forms {
        for latency in &row.latencies {
            writer.write_record(latency_record(row, latency))?;
        }
        let throughput = &row.throughput;
        let doubtful = throughput.is_doubtful;
        writer.write_record(record(
            row,
            "throughput",
            ["", ""],
            throughput.cycles.as_ref().ok(),
            &throughput.with.join("; "),
            doubtful,
        ))?;
        if let Some(cycles) = &throughput.one_line {
            writer.write_record(record(row, "throughput", ONE_LINE, Some(cycles), "", false))?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn latency_record(row: &FormResult, latency: &Latency) -> Vec<String> {
    let with = match &latency.cycles {
        Cycles::Sum(_, helpers) => {
            helpers.iter().map(|helper| helper.form.clone()).collect::<Vec<_>>().join("; ")
        }
        _ => String::new(),
    };
    record(
        row,
        "latency",
        [&latency.from, &latency.to],
        latency.cycles.measured(),
        &with,
        latency.is_doubtful,
    )
}

fn record(
    row: &FormResult,
    quantity: &str,
    pair: [&str; 2],
    cycles: Option<&Estimate>,
    with: &str,
    doubtful: bool,
) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.4}"));
    vec![
        row.name.clone(),
        row.set.clone(),
        row.extension.clone(),
        quantity.to_owned(),
        pair[0].to_owned(),
        pair[1].to_owned(),
        number(cycles.map(|cycles| cycles.value)),
        number(cycles.map(|cycles| cycles.low)),
        number(cycles.map(|cycles| cycles.high)),
        with.to_owned(),
        if doubtful { "yes" } else { "no" }.to_owned(),
    ]
}
