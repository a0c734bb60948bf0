//! Forms of instructions: a line for each, with its latency and its throughput.

use super::Parts;
use super::compare::findings;
use super::escape::code;
use super::parts::{Findings, circumstances};
use super::quantity::Quantity;
use super::table::{Side, Table};
use crate::format::{count, significant};
use crate::node::Node;
use hairspring_result::{Environment, Finding};

/// The parts of a document; `None` for one without forms.
pub fn parts(document: &Node, environment: Option<&Environment>) -> Option<Parts> {
    let Some(Node::List(forms)) = document.get("forms") else { return None };
    let found: Vec<(String, Finding)> = forms
        .iter()
        .flat_map(|form| {
            let name = form.text_of("name").unwrap_or_default();
            findings(form).into_iter().map(move |finding| (name.to_owned(), finding))
        })
        .collect();
    let told = Findings::new(found.iter().map(|(name, finding)| (name.as_str(), finding)));
    let doubtful = forms.iter().filter(|form| is_doubtful(form)).count();
    let doubted = match doubtful {
        0 => String::new(),
        number => format!("; {} in doubt (?)", count(number)),
    };
    Some(Parts {
        title: "hairspring instructions".into(),
        lead: format!(
            "{}Core cycles of {} forms{doubted}. The latency is that of the slowest pair of \
             operands; at most so much (\u{2264}) with helpers that carry the value back. The \
             throughput is the cycles of one of many independent copies.\n\n",
            told.alarm(),
            count(forms.len()),
        ),
        tables: vec![table(forms)],
        tail: told.folded()
            + &environment.map_or_else(String::new, |found| circumstances(found, &[])),
    })
}

fn is_doubtful(form: &Node) -> bool {
    form.is_set("throughput_doubtful")
        || form.list_of("latencies").iter().any(|one| one.is_set("doubtful"))
}

fn table(forms: &[Node]) -> Table {
    let columns = [
        ("form", Side::Left),
        ("latency", Side::Right),
        ("interval", Side::Right),
        ("throughput", Side::Right),
        ("interval", Side::Right),
        ("", Side::Left),
    ];
    let mut table = Table::new("", &columns);
    for form in forms {
        let known = form.list_of("latencies").iter().filter(|one| !touches_flags(one));
        let slowest = known.filter_map(cycles).max_by(|a, b| a.0.total_cmp(&b.0));
        let [latency, within] = slowest.map(|(_, cells)| cells).unwrap_or_default();
        let throughput = form.get("throughput").and_then(Node::estimate);
        let [value, interval, _] =
            throughput.map(|one| Quantity::new(&one, "cycles").cells()).unwrap_or_default();
        let doubt = if is_doubtful(form) { "?" } else { "" };
        let name = code(form.text_of("name").unwrap_or_default());
        table.row(vec![name, latency, within, value, interval, doubt.into()]);
    }
    table
}

fn touches_flags(latency: &Node) -> bool {
    ["from", "to"].iter().any(|end| latency.text_of(end) == Some("flags"))
}

/// The most cycles that are known of a latency, with the cells of the value and its interval.
fn cycles(latency: &Node) -> Option<(f64, [String; 2])> {
    if let Some(alone) = latency.get("cycles").and_then(Node::estimate) {
        let [value, interval, _] = Quantity::new(&alone, "cycles").cells();
        return Some((alone.value, [value, interval]));
    }
    let most = latency.number_of("at_most")?;
    Some((most, [format!("\u{2264} {}", significant(most, 3)), String::new()]))
}
