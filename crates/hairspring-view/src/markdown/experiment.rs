//! An experiment: what was measured beside what was expected, its error budget, and its file.

use super::Parts;
use super::escape::{code, prose};
use super::parts::{circumstances, folded};
use super::quantity::Quantity;
use super::table::{Side, Table};
use crate::clean::clean;
use crate::format::significant;
use crate::node::Node;
use crate::text::distance;
use hairspring_core::Estimate;
use hairspring_result::Environment;

/// Bytes of the file that are shown.
const MOST_FILE: usize = 8_000;
/// Findings that are listed.
const MOST_FINDINGS: usize = 5;

/// The parts of a record; `None` for a document without its parts.
pub fn parts(document: &Node, environment: Option<&Environment>) -> Option<Parts> {
    let (definition, measured) = (document.get("definition")?, document.get("measurement")?);
    let unit = document.text_of("unit").unwrap_or_default();
    let level = measured.get("value")?.estimate()?.level;
    Some(Parts {
        title: format!("hairspring experiment: {}", code(definition.text_of("name")?)),
        lead: lead(document, definition, measured),
        tables: vec![numbers(document, measured, unit, level), budget(measured, unit)],
        tail: file(document.text_of("text").unwrap_or_default())
            + &environment.map_or_else(String::new, |found| circumstances(found, &[])),
    })
}

fn lead(document: &Node, definition: &Node, measured: &Node) -> String {
    let passed = if document.is_set("passed") { "**Passed**" } else { "**Not passed**" };
    let met = document.get("accuracy").is_some_and(|one| one.is_set("met"));
    let met = if met { "reached" } else { "not reached" };
    let sanity = document.get("sanity").map(verdict).unwrap_or_default();
    let mut lead = format!(
        "{passed}: measurement against expectation {sanity}; the required accuracy was {met}.\n\n\
         - need: {}\n- quantity: {}\n",
        prose(definition.text_of("need").unwrap_or_default()),
        prose(definition.text_of("quantity").unwrap_or_default()),
    );
    let model = definition.get("expectation").and_then(|one| one.text_of("model"));
    lead += &model.map_or_else(String::new, |model| format!("- expectation: {}\n", code(model)));
    if !measured.is_set("trusted") {
        lead += "- **the measurement is not to be trusted**\n";
    }
    let doubts = measured.list_of("findings").iter().filter_map(Node::text);
    lead +=
        &doubts.take(MOST_FINDINGS).map(|one| format!("- {}\n", prose(one))).collect::<String>();
    let none = document.text_of("no_check").map(prose);
    lead += &none.map_or_else(String::new, |why| format!("- no second method: {why}\n"));
    lead + "\n"
}

/// `agrees (a factor of 1.0102, 0.1 sigmas)`.
fn verdict(comparison: &Node) -> String {
    let of = |key: &str| comparison.number_of(key);
    let reason = comparison.text_of("verdict_reason").map(|why| format!(": {why}"));
    let distance = distance(of("factor"), of("sigmas")).map(|text| format!(" ({text})"));
    prose(&format!(
        "{}{}{}",
        comparison.text_of("verdict").unwrap_or("unknown"),
        reason.unwrap_or_default(),
        distance.unwrap_or_default()
    ))
}

fn numbers(document: &Node, measured: &Node, unit: &str, level: f64) -> Table {
    let interval = format!("{} % interval", significant(100.0 * level, 4));
    let columns = [
        ("quantity", Side::Left),
        ("value", Side::Right),
        (interval.as_str(), Side::Right),
        ("unit", Side::Left),
    ];
    let mut table = Table::new("", &columns);
    let check = document.get("check").and_then(|check| check.get("measurement"));
    let values = [
        ("measured", Some(measured)),
        ("expected", document.get("expectation")),
        ("by the second method", check),
    ];
    let estimate = |of: Option<&Node>| -> Option<Estimate> { of?.get("value")?.estimate() };
    for (name, found) in values.into_iter().filter_map(|(name, of)| Some((name, estimate(of)?))) {
        let cells = Quantity::new(&found, "").cells();
        let [value, interval, _] = cells;
        table.row(vec![name.into(), value, interval, prose(unit)]);
    }
    let accuracy = document.get("accuracy");
    for (name, key) in [("required half-width", "required"), ("reached half-width", "reached")] {
        if let Some(number) = accuracy.and_then(|one| one.number_of(key)) {
            table.row(vec![name.into(), significant(number, 3), String::new(), prose(unit)]);
        }
    }
    table
}

fn budget(measured: &Node, unit: &str) -> Table {
    let half = if unit.is_empty() { "half-width".into() } else { format!("half-width ({unit})") };
    let half = prose(&half);
    let columns = [
        ("source of error", Side::Left),
        ("kind", Side::Left),
        (half.as_str(), Side::Right),
        ("share", Side::Right),
        ("note", Side::Left),
    ];
    let mut table = Table::new("", &columns);
    for one in measured.list_of("budget") {
        let text = |key: &str| prose(one.text_of(key).unwrap_or_default());
        let number = |key: &str, factor: f64| {
            one.number_of(key).map_or_else(String::new, |number| significant(factor * number, 2))
        };
        table.row(vec![
            text("source"),
            text("kind"),
            number("half_width", 1.0),
            format!("{} %", number("share", 100.0)),
            text("note"),
        ]);
    }
    table
}

/// The file, folded, in a fence that is longer than any in it.
fn file(text: &str) -> String {
    let mut lines = String::new();
    for line in text.trim().lines().map(clean) {
        if lines.len() + line.len() > MOST_FILE {
            lines += "# ... the JSON document (`--json`) has the rest\n";
            break;
        }
        lines += &line;
        lines.push('\n');
    }
    let longest = lines.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    if lines.is_empty() {
        return String::new();
    }
    folded("The file of the experiment", &format!("{fence}toml\n{lines}{fence}\n"))
}
