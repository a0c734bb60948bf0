//! The page of `instructions`: a line for each form, in a table for each set, so that thousands of
//! forms stay readable; the pairs of operands are folded.

use super::block::{Block, Doubt, Table, name, shown};
use super::other::{cell, interval};
use hairspring_core::judge::Severity;
use hairspring_core::judge::words::counted;
use hairspring_view::format::{count, significant};
use hairspring_view::node::Node;

/// Forms and pairs of operands that are listed.
const MOST: usize = 10_000;
/// Sets with a table of their own.
const MOST_SETS: usize = 40;
/// Findings that are shown in full; the lines have all in a word.
const MOST_FINDINGS: usize = 20;

/// The blocks of a document.
pub fn blocks(document: &Node) -> Vec<Block> {
    let Some(Node::List(forms)) = document.get("forms") else { return Vec::new() };
    let mut blocks = vec![Block::Text(summary(document, forms))];
    blocks.push(Block::Findings(findings(forms)));
    let shown_ones = &forms[..forms.len().min(MOST)];
    blocks.extend(sets(shown_ones).into_iter().map(|(set, forms)| {
        let title = if set.is_empty() { "Forms".to_owned() } else { name(&set) };
        Block::Group(title.clone(), vec![Block::Table(table(&title, &forms))])
    }));
    blocks.push(pairs(shown_ones));
    blocks.push(left_out(document.list_of("left_out")));
    blocks.extend(document.list_of("against").iter().map(against));
    blocks
}

fn summary(document: &Node, forms: &[Node]) -> String {
    let doubtful = forms.iter().filter(|form| is_doubtful(form)).count();
    let more = forms.len().saturating_sub(MOST);
    let mut parts = vec![counted(forms.len() as u64, "form", "forms")];
    parts.extend((doubtful > 0).then(|| format!("{} in doubt (?)", count(doubtful))));
    parts.extend((more > 0).then(|| format!("the JSON document has {} more", count(more))));
    let value = |key: &str| document.get(key).map(|value| cell(key, value)).unwrap_or_default();
    parts.push(format!(
        "{} rounds in {} on CPU {}",
        value("rounds"),
        value("elapsed_ms"),
        value("cpu")
    ));
    let front_end = document.get("front_end_cycles").and_then(Node::estimate);
    parts.extend(
        front_end.map(|one| {
            format!("an instruction that does nothing takes {}", interval("cycles", &one))
        }),
    );
    let cycle = document.text_of("cycle_provenance").unwrap_or_default();
    shown(&format!(
        "{}. Core cycles by {cycle}. The latency is that of the slowest pair of operands; \u{2264} \
         with helpers that carry the value back. The throughput is the cycles of one of many \
         independent copies.",
        parts.join("; ")
    ))
}

/// The forms of each set, in the order of the document.
fn sets(forms: &[Node]) -> Vec<(String, Vec<&Node>)> {
    let mut all: Vec<(String, Vec<&Node>)> = Vec::new();
    for form in forms {
        let set = form.text_of("set").unwrap_or_default();
        // Names of sets are few; in a document with very many the last table has the rest.
        let known = all.iter().position(|(known, _)| known == set);
        match known.or_else(|| all.len().checked_sub(1).filter(|last| *last + 1 >= MOST_SETS)) {
            Some(at) => all[at].1.push(form),
            None => all.push((set.to_owned(), vec![form])),
        }
    }
    all
}

fn table(set: &str, forms: &[&Node]) -> Table {
    let row = |form: &&Node| {
        let is_flags = |one: &&Node| touches_flags(one);
        let latencies = form.list_of("latencies");
        let throughput = match form.get("throughput").and_then(Node::estimate) {
            Some(one) => number(&one),
            None => form.text_of("throughput_reason").map(shown).unwrap_or_default(),
        };
        vec![
            shown(form.text_of("name").unwrap_or_default()),
            slowest(latencies.iter().filter(|one| !is_flags(one))),
            slowest(latencies.iter().filter(is_flags)),
            throughput,
            notes(form),
        ]
    };
    Table {
        caption: format!("{set}: {}", counted(forms.len() as u64, "form", "forms")),
        heads: ["Form", "Latency", "Through flags", "Throughput", "Notes"]
            .map(str::to_owned)
            .into(),
        rows: forms.iter().map(row).collect(),
    }
}

fn touches_flags(latency: &Node) -> bool {
    ["from", "to"].iter().any(|end| latency.text_of(end) == Some("flags"))
}

fn number(estimate: &hairspring_core::Estimate) -> String {
    shown(&hairspring_view::format::with_interval(estimate))
}

/// The most cycles of a latency that are known, with their text.
fn cycles(latency: &Node) -> Option<(f64, String)> {
    if let Some(alone) = latency.get("cycles").and_then(Node::estimate) {
        return Some((alone.value, number(&alone)));
    }
    let most = latency.number_of("at_most")?;
    Some((most, format!("\u{2264} {}", significant(most, 3))))
}

fn slowest<'n>(latencies: impl Iterator<Item = &'n Node>) -> String {
    let known = latencies.filter_map(cycles);
    known.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, text)| text).unwrap_or_default()
}

fn is_doubtful(form: &Node) -> bool {
    form.is_set("throughput_doubtful")
        || form.list_of("latencies").iter().any(|one| one.is_set("doubtful"))
}

/// Findings in a few words each.
fn notes(form: &Node) -> String {
    let mut all: Vec<String> = Vec::new();
    all.extend(is_doubtful(form).then(|| "in doubt (?)".to_owned()));
    let kinds = form.list_of("findings").iter().filter_map(|one| one.text_of("kind"));
    for kind in kinds.map(|kind| kind.replace('_', " ")) {
        if !all.contains(&kind) {
            all.push(kind);
        }
    }
    let with: Vec<&str> = form.list_of("throughput_with").iter().filter_map(Node::text).collect();
    all.extend((!with.is_empty()).then(|| format!("with {}", with.join(", "))));
    shown(&all.join("; "))
}

/// Each message once, with the number of forms that have it; the most severe first.
fn findings(forms: &[Node]) -> Vec<Doubt> {
    let mut all: Vec<(&Node, &str, usize)> = Vec::new();
    for form in forms {
        for one in form.list_of("findings") {
            let kind = one.text_of("kind");
            match all.iter().position(|(known, _, _)| known.text_of("kind") == kind) {
                Some(at) => all[at].2 += 1,
                None if all.len() < MOST_FINDINGS => {
                    all.push((one, form.text_of("name").unwrap_or_default(), 1));
                }
                None => {}
            }
        }
    }
    let severity = |one: &Node| match one.text_of("severity") {
        Some("untrusted") => Severity::Untrusted,
        Some("warning") => Severity::Warning,
        _ => Severity::Note,
    };
    all.sort_by_key(|(one, _, _)| std::cmp::Reverse(severity(one)));
    let doubt = |(one, form, number): (&Node, &str, usize)| {
        let more = if number > 1 {
            format!(" (and {} more of this kind)", count(number - 1))
        } else {
            String::new()
        };
        let message = format!("{form}: {}{more}", one.text_of("message")?);
        Some(Doubt::new(severity(one), &message, one.text_of("remedy").unwrap_or_default()))
    };
    all.into_iter().filter_map(doubt).collect()
}

/// Every pair of operands, folded.
fn pairs(forms: &[Node]) -> Block {
    let rows = forms.iter().flat_map(|form| {
        form.list_of("latencies").iter().map(|one| {
            let text = |key: &str| one.text_of(key).unwrap_or_default();
            let estimate = |key: &str| one.get(key).and_then(Node::estimate);
            let with: Vec<&str> = one.list_of("with").iter().filter_map(Node::text).collect();
            let own = match (estimate("cycles"), one.text_of("reason")) {
                (Some(cycles), _) => number(&cycles),
                (None, Some(reason)) => shown(reason),
                (None, None) => cycles(one).map(|(_, text)| text).unwrap_or_default(),
            };
            vec![
                shown(form.text_of("name").unwrap_or_default()),
                shown(&format!("{} to {}", text("from"), text("to"))),
                own,
                estimate("sum").map(|sum| number(&sum)).unwrap_or_default(),
                shown(&with.join(", ")),
                special(one),
            ]
        })
    });
    let rows: Vec<Vec<String>> = rows.take(MOST).collect();
    let title = format!("Each pair of operands ({})", count(rows.len()));
    let heads = ["Form", "Operands", "Cycles", "With helpers", "Helpers", "Other values"];
    let table = Table {
        caption: "Core cycles from one operand to another".into(),
        heads: heads.map(str::to_owned).into(),
        rows,
    };
    Block::Details(title, vec![Block::Table(table)])
}

/// The chain with special values, and with other uses of memory.
fn special(latency: &Node) -> String {
    let part = |one: &Node, name: &str| {
        Some(format!("{}: {}", one.text_of(name)?, number(&one.get("cycles")?.estimate()?)))
    };
    let values = latency.list_of("values").iter().filter_map(|one| part(one, "values"));
    let uses = latency.list_of("arrangements").iter().filter_map(|one| part(one, "arrangement"));
    shown(&values.chain(uses).collect::<Vec<_>>().join("; "))
}

fn left_out(all: &[Node]) -> Block {
    let row =
        |one: &Node| ["name", "reason"].map(|key| shown(one.text_of(key).unwrap_or(""))).into();
    let table = Table {
        caption: "Forms that were left out, and why".into(),
        heads: ["Form", "Reason"].map(str::to_owned).into(),
        rows: all.iter().take(MOST).map(row).collect(),
    };
    Block::Details(format!("Left out ({})", count(all.len())), vec![Block::Table(table)])
}

/// The numbers of another source beside these.
fn against(one: &Node) -> Block {
    let keys: Vec<&str> = one.list_of("rows").iter().take(1).flat_map(keys).collect();
    let row = |row: &Node| {
        let text = |key: &&str| row.get(key).map(|value| cell(key, value)).unwrap_or_default();
        keys.iter().map(text).collect()
    };
    let source = shown(one.text_of("source").unwrap_or("another source"));
    let table = Table {
        caption: format!("Forms here and in {source}"),
        heads: keys.iter().map(|key| super::other::label(key)).collect(),
        rows: one.list_of("rows").iter().take(MOST).map(row).collect(),
    };
    Block::Group(format!("Beside {source}"), vec![Block::Table(table)])
}

fn keys(of: &Node) -> impl Iterator<Item = &str> {
    of.entries().iter().map(|(key, _)| key.as_str())
}
