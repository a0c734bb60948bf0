//! Pages of all other documents: each number with its interval, findings beside them, budgets,
//! histograms and levels as plots, lists as tables. What a document holds is on its page.

use super::block::{Block, Doubt, Fact, Number, Table, name, shown};
use super::{
    Sheet, blocks_document, certificate, clocks, experiment, fleet, instructions, machine, stages,
};
use crate::Extras;
use crate::svg::{
    Bar, Bin, Interval, Moment, Plot, Stretch, budget, histogram, history, intervals,
};
use hairspring_core::Estimate;
use hairspring_core::judge::Severity;
use hairspring_core::judge::words::counted;
use hairspring_result::{Environment, Figure};
use hairspring_view::clean::{clean, cut};
use hairspring_view::format::{Digits, digits, is_lopsided, with_interval};
use hairspring_view::format::{count, fixed, frequency, frequency_unit, significant, time_unit};
use hairspring_view::keys;
use hairspring_view::node::Node;
use hairspring_view::page::Page;
use hairspring_view::text;

/// Rows of a table, parts with a heading of their own, and numbers that are shown large.
const MOST_ROWS: usize = 500;
const MOST_PARTS: usize = 16;
const MOST_NUMBERS: usize = 4;
/// Depth of the parts below each other.
const DEEPEST: usize = 5;
/// Keys that are shown elsewhere or say nothing to a reader.
const SILENT: &[&str] = &["schema", "command", "environment", "identity", "findings"];
/// Lists of a document of `blocks` that its plots show, or that are too long to read.
const OF_BLOCKS: &[&str] = &["lines", "edges", "paths", "stages", "blocks"];

/// The page of a document whose kind is named by its schema.
pub fn document(document: &Node, environment: Option<&Environment>, extras: &Extras) -> Sheet {
    let command = document.text_of("command").unwrap_or("result");
    let is_blocks = command == "blocks";
    let mut writer = Writer { plots: 0, silent: if is_blocks { OF_BLOCKS } else { &[] } };
    let mut blocks = match command {
        "experiment" => experiment::blocks(document),
        "doctor" => machine::doctor(document),
        "merge" => fleet::blocks(document),
        "instructions" => instructions::blocks(document),
        "verify" => certificate::blocks(document),
        _ => Vec::new(),
    };
    // A document of another version, whose parts have other names.
    if blocks.iter().all(Block::is_empty) {
        blocks = writer.part(document, 0, "");
    }
    if command == "clocks" {
        blocks.insert(0, clocks::overview(document));
    }
    if is_blocks {
        let at = blocks.iter().take_while(|block| !matches!(block, Block::Group(..))).count();
        blocks.splice(at..at, blocks_document::blocks(document));
        blocks.insert(0, Block::Table(blocks_document::times(document)));
        let readings = 0;
        let all: Vec<_> = document.list_of("stages").iter().filter_map(stage).collect();
        blocks.extend(stages::stages(&all, readings));
    }
    blocks.push(Block::Group("Recording".into(), vec![Block::Plots(extras.plots.clone())]));
    let facts = environment.map(|one| Page::pieces(|page| text::environment(page, one)));
    let facts = Block::facts(&facts.unwrap_or_default());
    blocks.push(Block::Group("Circumstances".into(), vec![facts]));
    let of = blocks_document::title(document).or_else(|| experiment::title(document));
    let of = of.map(|title| format!(": {title}"));
    Sheet {
        title: shown(&format!("hairspring {}{}", cut(command, 60), of.unwrap_or_default())),
        about: String::new(),
        blocks,
        origin: origin(document, environment),
    }
}

fn origin(document: &Node, environment: Option<&Environment>) -> String {
    let own = environment
        .and_then(|one| one.identity.as_ref())
        .map(|one| format!("{}, hairspring {}", one.created, one.version));
    let other = document.get("identity").map(|one| {
        let part = |key| one.text_of(key).unwrap_or("unknown");
        format!("{}, hairspring {}", part("created"), part("version"))
    });
    shown(&own.or(other).unwrap_or_default())
}

fn stage(node: &Node) -> Option<hairspring_result::document::Stage> {
    Some(hairspring_result::document::Stage {
        stage: node.text_of("stage")?.to_owned(),
        question: node.text_of("question")?.to_owned(),
        did: node.text_of("did")?.to_owned(),
        acted: node.is_set("acted"),
        left_out: node.number_of("left_out").unwrap_or(0.0) as usize,
        moved_percent: node.number_of("moved_percent"),
        widened_percent: node.number_of("widened_percent"),
    })
}

/// Writes the parts of a document, and numbers its plots.
struct Writer {
    plots: usize,
    silent: &'static [&'static str],
}

impl Writer {
    /// The blocks of an object: its numbers, its findings, facts, plots, then its lists and parts.
    fn part(&mut self, of: &Node, depth: usize, about: &str) -> Vec<Block> {
        let shown_keys: Vec<(&str, &Node)> = of
            .entries()
            .iter()
            .map(|(key, value)| (key.as_str(), value))
            .filter(|(key, _)| !(SILENT.contains(key) || depth == 0 && self.silent.contains(key)))
            .collect();
        let estimates: Vec<(&str, Estimate)> =
            shown_keys.iter().filter_map(|(key, value)| Some((*key, value.estimate()?))).collect();
        let title = title_key(of).filter(|_| depth > 0);
        let told: Vec<(&str, &Node)> =
            shown_keys.iter().copied().filter(|(key, _)| Some(*key) != title).collect();
        let facts = facts(&told, estimates.get(MOST_NUMBERS..).unwrap_or_default());
        let plots = shown_keys.iter().filter_map(|(key, value)| self.plot((of, about), key, value));
        let plots = Block::Plots(plots.collect());
        // Its numbers may be in its first table.
        let (first, rest) = match shown_keys.iter().position(|(key, value)| is_table(key, value)) {
            Some(at) if estimates.is_empty() => shown_keys.split_at(at + 1),
            _ => shown_keys.split_at(0),
        };
        let mut blocks = vec![numbers(&estimates)];
        blocks.extend(first.iter().filter_map(|(key, value)| self.inner(key, value, depth)));
        blocks.extend([findings(of), facts, plots]);
        blocks.extend(rest.iter().filter_map(|(key, value)| self.inner(key, value, depth)));
        blocks
    }

    /// The blocks of a list or an object of a key.
    fn inner(&mut self, key: &str, value: &Node, depth: usize) -> Option<Block> {
        if is_plot(key, value) || value.estimate().is_some() || depth >= DEEPEST {
            return None;
        }
        match value {
            Node::Map(entries) if !entries.is_empty() && !is_figure(value) => {
                let name = label(key);
                let part = self.part(value, depth + 1, &name);
                Some(Block::Group(name, part))
            }
            Node::List(list) if !list.iter().all(|one| matches!(one, Node::Map(_))) => None,
            Node::List(list) if list.is_empty() => None,
            Node::List(list) if list.iter().all(is_flat) => Some(table(key, list)),
            Node::List(list) => Some(self.parts(key, list, depth)),
            _ => None,
        }
    }

    /// Each object of a list as a part of its own.
    fn parts(&mut self, key: &str, list: &[Node], depth: usize) -> Block {
        let title = |at: usize, one: &Node| {
            named(one).unwrap_or_else(|| format!("{} {}", label(key), at + 1))
        };
        let mut blocks: Vec<Block> = list
            .iter()
            .take(MOST_PARTS)
            .enumerate()
            .map(|(at, one)| {
                let title = title(at, one);
                let part = self.part(one, depth + 2, &title);
                if clocks::is_folded(key, one) {
                    return Block::Details(title, part);
                }
                Block::Group(title, part)
            })
            .collect();
        if list.len() > MOST_PARTS {
            let rest = format!(
                "The first {MOST_PARTS} of {} are shown; the JSON document has all.",
                count(list.len())
            );
            blocks.push(Block::Text(rest));
        }
        Block::Group(label(key), blocks)
    }

    fn plot(&mut self, (of, about): (&Node, &str), key: &str, value: &Node) -> Option<Plot> {
        let kind = kind(key);
        let file = match self.plots {
            0 => kind.to_owned(),
            number => format!("{kind}-{}", number + 1),
        };
        let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
        let plot = match kind {
            "budget" => {
                let of = label(key.trim_end_matches("budget").trim_end_matches('_'));
                let of = if of.is_empty() { of } else { format!(": {of}") };
                let title = format!("Error budget{of}{about}");
                budget(&file, &title, &bars(value.list(), key.trim_end_matches("_budget")))
            }
            "histogram" => {
                let unit = of.text_of("unit").unwrap_or("ns");
                let what = format!("value ({unit})");
                histogram(&file, &format!("Histogram{about}"), &what, &bins(value, unit))
            }
            "history" => history_of(&file, of, value.list()),
            "levels" => levels(&file, &format!("Levels of the core clock{about}"), value.list()),
            "comparisons" => ratios(&file, value.list()),
            _ => None,
        };
        self.plots += usize::from(plot.is_some());
        plot
    }
}

/// A time and its core cycles, or their bounds, of a figure in a document.
pub fn figure(of: &Node) -> [String; 2] {
    let estimate = |key: &str| of.get(key).map(Node::estimate);
    let bound = |key: &str| of.get(key).map(Node::number);
    text::figure(&Figure {
        time_ns: estimate("time_ns"),
        ticks: estimate("ticks"),
        cycles: estimate("cycles").flatten(),
        below_resolution: of.is_set("below_resolution"),
        bound_ns: bound("bound_ns"),
        bound_ticks: bound("bound_ticks"),
        bound_cycles: bound("bound_cycles").flatten(),
        ..Figure::default()
    })
}

/// Whether an object is a figure.
fn is_figure(of: &Node) -> bool {
    of.get("below_resolution").is_some()
}

/// The kind of plot that a key names; empty for none.
fn kind(key: &str) -> &'static str {
    match key {
        _ if key == "budget" || key.ends_with("_budget") => "budget",
        "histogram" => "histogram",
        "levels" => "levels",
        "points" => "history",
        "comparisons" => "comparisons",
        _ => "",
    }
}

/// Whether a value is a list that is shown as a table with intervals.
fn is_table(key: &str, value: &Node) -> bool {
    let has_interval = |one: &Node| one.entries().iter().any(|(_, v)| v.estimate().is_some());
    let list = value.list();
    !is_plot(key, value) && list.iter().any(has_interval) && list.iter().all(is_flat)
}

/// Whether a value is drawn in place of being listed.
fn is_plot(key: &str, value: &Node) -> bool {
    let is_drawn = matches!(kind(key), "budget" | "histogram" | "history");
    is_drawn && matches!(value, Node::List(_) | Node::Map(_))
}

/// Keys of which the first one names an object.
const NAMES: &[&str] = &["name", "cpu", "clock", "mechanism", "role", "cache", "source", "kind"];

/// The key that names an object by a plain value.
fn title_key(of: &Node) -> Option<&'static str> {
    let is_plain = |key: &&&str| matches!(of.get(key), Some(Node::Text(_) | Node::Number(_)));
    NAMES.iter().find(is_plain).copied()
}

/// A name of an object.
fn named(of: &Node) -> Option<String> {
    NAMES.iter().find_map(|key| match of.get(key)? {
        Node::Text(text) => Some(cut(&shown(text), 80)),
        Node::Number(number) => Some(format!("{} {}", label(key), significant(*number, 9))),
        Node::Map(_) => of.get(key)?.text_of("name").map(|text| cut(&shown(text), 80)),
        _ => None,
    })
}

fn numbers(all: &[(&str, Estimate)]) -> Block {
    let number = |(key, estimate): &(&str, Estimate)| Number {
        label: label(key),
        value: shown(&interval(key, estimate)),
        ..Number::default()
    };
    Block::Numbers(all.iter().take(MOST_NUMBERS).map(number).collect())
}

/// The findings of a part of a document.
pub fn findings(of: &Node) -> Block {
    let doubt = |one: &Node| {
        let severity = match one.text_of("severity") {
            Some("untrusted") => Severity::Untrusted,
            Some("warning") => Severity::Warning,
            _ => Severity::Note,
        };
        let remedy = one.text_of("remedy").unwrap_or_default();
        Some(Doubt::new(severity, one.text_of("message")?, remedy))
    };
    Block::Findings(of.list_of("findings").iter().filter_map(doubt).take(MOST_ROWS).collect())
}

/// Plain values, and the intervals that are not shown large.
fn facts(all: &[(&str, &Node)], estimates: &[(&str, Estimate)]) -> Block {
    let intervals = estimates.iter().map(|(key, one)| Fact::new(&label(key), &interval(key, one)));
    let plain =
        all.iter().filter(|(key, value)| value.estimate().is_none() && !is_plot(key, value));
    let plain = plain.filter_map(|(key, value)| {
        let text = match value {
            Node::Map(_) if is_figure(value) => cell(key, value),
            Node::Map(_) => return None,
            Node::List(list) if list.iter().any(|one| matches!(one, Node::Map(_))) => return None,
            Node::Null => return None,
            other => cell(key, other),
        };
        let unknown = missed(all, key);
        let text = if unknown.is_some() { format!("unknown: {text}") } else { text };
        let label = unknown.map_or_else(|| label_of(key, value), label);
        (!text.is_empty()).then(|| Fact::new(&label, &text))
    });
    Block::Facts(together(intervals.chain(plain)))
}

/// The key of the value that is not known, of a key that gives the reason.
fn missed<'k>(all: &[(&str, &Node)], key: &'k str) -> Option<&'k str> {
    let of = key.strip_suffix("_reason")?;
    let value = all.iter().find(|(name, _)| *name == of).map(|(_, value)| *value);
    value.is_none_or(|value| *value == Node::Null).then_some(of)
}

/// One fact of those with the same label, such as a granularity in ticks and in nanoseconds.
fn together(facts: impl Iterator<Item = Fact>) -> Vec<Fact> {
    let mut all: Vec<Fact> = Vec::new();
    for fact in facts {
        match all.iter_mut().find(|known| known.label == fact.label) {
            Some(known) => known.text = format!("{}, {}", known.text, fact.text),
            None => all.push(fact),
        }
    }
    all
}

/// Whether an object fits into a row of a table.
fn is_flat(one: &Node) -> bool {
    let plain = |(key, value): &(String, Node)| match value {
        Node::Map(inner) => {
            is_figure(value)
                || value.estimate().is_some()
                || inner.len() <= 4 && inner.iter().all(|(_, v)| is_short(v))
        }
        Node::List(list) => {
            kind(key) == "budget" || list.is_empty() || list.len() <= 9 && list.iter().all(is_short)
        }
        _ => true,
    };
    one.entries().iter().all(plain) && one.get("findings").is_none()
}

fn is_short(one: &Node) -> bool {
    !matches!(one, Node::Map(_) | Node::List(_)) || one.estimate().is_some()
}

/// A list of objects as a table, with a heading.
pub fn table(key: &str, list: &[Node]) -> Block {
    let mut keys: Vec<&str> = Vec::new();
    for (name, _) in list.iter().take(MOST_ROWS).flat_map(Node::entries) {
        let is_silent = kind(name) == "budget" || keys.contains(&name.as_str());
        if !is_silent && list.iter().any(|one| one.get(name).is_some_and(|v| *v != Node::Null)) {
            keys.push(name);
        }
    }
    let row = |one: &Node| {
        keys.iter().map(|key| one.get(key).map_or_else(String::new, |v| cell(key, v))).collect()
    };
    let rest = list.len().saturating_sub(MOST_ROWS);
    let rest = if rest > 0 {
        format!("; {} more are in the JSON document", count(rest))
    } else {
        String::new()
    };
    let table = Table {
        caption: format!(
            "{}: {}{rest}",
            label(key),
            counted(list.len() as u64, "entry", "entries")
        ),
        heads: heads(&keys, list),
        rows: list.iter().take(MOST_ROWS).map(row).collect(),
    };
    Block::Group(label(key), vec![Block::Table(table)])
}

/// Heads of columns; of those with the same words each has its unit.
fn heads(keys: &[&str], list: &[Node]) -> Vec<String> {
    let named = |key: &str| {
        let known = list.iter().filter_map(|one| one.get(key)).find(|one| **one != Node::Null);
        known.map_or_else(|| label(key), |value| label_of(key, value))
    };
    let head = |key: &&str| {
        let (own, unit) = (named(key), keys::unit(key));
        let is_twice = keys.iter().filter(|other| named(other) == own).count() > 1;
        if is_twice && !unit.is_empty() { format!("{own} ({unit})") } else { own }
    };
    keys.iter().map(head).collect()
}

/// A value as text, in the unit that its key ends in.
pub fn cell(key: &str, value: &Node) -> String {
    if let Some(estimate) = value.estimate() {
        return shown(&interval(key, &estimate));
    }
    match value {
        Node::Null => String::new(),
        Node::Flag(flag) => if *flag { "yes" } else { "no" }.into(),
        Node::Number(number) => shown(&plain(key, *number)),
        Node::Text(text) => shown(text),
        Node::List(list) => {
            let all: Vec<String> = list.iter().take(12).map(|one| cell(key, one)).collect();
            let more = if list.len() > 12 { " ..." } else { "" };
            format!("{}{more}", all.join(", "))
        }
        Node::Map(entries) => {
            let part = |(key, value): &(String, Node)| {
                let text = cell(key, value);
                (!text.is_empty()).then(|| format!("{} {text}", clean(&label(key)).to_lowercase()))
            };
            if is_figure(value) {
                return shown(&figure(value).join(", ")).trim_matches([' ', ',']).to_owned();
            }
            entries.iter().filter_map(part).collect::<Vec<_>>().join("; ")
        }
    }
}

/// A value with its interval, in the unit that its key ends in.
pub fn interval(key: &str, estimate: &Estimate) -> String {
    if keys::is_share(key) {
        return format!("{} %", with_interval(&estimate.scaled(100.0)));
    }
    match keys::unit(key) {
        // It may be a difference, which is below zero by right.
        "ns" => {
            let (factor, unit) = time_unit(estimate.value.abs().max(estimate.half_width()));
            with_unit(&estimate.scaled(factor), unit)
        }
        "Hz" => frequency(estimate),
        unit => with_unit(estimate, unit),
    }
}

/// `2600 ns +- 2200`.
pub fn with_unit(estimate: &Estimate, unit: &str) -> String {
    if unit.is_empty() {
        return with_interval(estimate);
    }
    if is_lopsided(estimate) {
        return with_interval(estimate).replacen(", from", &format!(" {unit}, from"), 1);
    }
    let Digits { value, half } = digits(estimate);
    format!("{value} {unit} +- {half}")
}

fn plain(key: &str, number: f64) -> String {
    if keys::is_share(key) {
        return format!("{} %", significant(100.0 * number, 4));
    }
    let (factor, unit) = match keys::unit(key) {
        "ns" => time_unit(number),
        "Hz" => frequency_unit(number),
        unit => (1.0, unit),
    };
    let is_whole = number.fract() == 0.0 && number.abs() < 1e12 && factor == 1.0;
    // A rate is known to many digits, and a difference of two values to few.
    let places = match unit {
        "%" | "ppm" => 3,
        _ if unit.ends_with("Hz") => 9,
        _ => 5,
    };
    let text = if is_whole { fixed(number, 0) } else { significant(number * factor, places) };
    format!("{text} {unit}").trim_end().to_owned()
}

/// A key as words, without the unit that its numbers have.
pub fn label(key: &str) -> String {
    name(&cut(&keys::words(key), 60)).replace("Cpu", "CPU")
}

/// The same for a value: only numbers have a unit.
fn label_of(key: &str, value: &Node) -> String {
    match value {
        Node::Flag(_) | Node::Text(_) => {
            name(&cut(&key.replace('_', " "), 60)).replace("Cpu", "CPU")
        }
        _ => label(key),
    }
}

fn bars(entries: &[Node], key: &str) -> Vec<Bar> {
    let half = |entry: &Node| {
        ["half_width", "half_width_ns", "half_width_ticks"]
            .iter()
            .find_map(|name| Some((*name, entry.number_of(name)?)))
    };
    let bar = |entry: &Node| {
        let (own, size) = half(entry)?;
        let key = if own == "half_width" { key } else { own };
        let text = plain(&format!("x_{}", key.rsplit('_').next().unwrap_or(key)), rounded(size));
        let name = entry.text_of("source")?.replace('_', " ");
        Some(Bar { name: cut(&clean(&name), 40), size, text })
    };
    entries.iter().filter_map(bar).filter(|bar| bar.size > 0.0).collect()
}

/// The number with two digits.
fn rounded(number: f64) -> f64 {
    format!("{number:.1e}").parse().unwrap_or(number)
}

/// The bins of a histogram, in any of its forms.
fn bins(value: &Node, unit: &str) -> Vec<Bin> {
    if let Node::List(list) = value {
        let bin = |one: &Node| {
            let end = |name: &str| one.number_of(&format!("{name}_{unit}")).or(one.number_of(name));
            Some(Bin { low: end("low")?, high: end("high")?, count: one.number_of("count")? })
        };
        return list.iter().filter_map(bin).collect();
    }
    let wide = value.number_of("bin_ns").unwrap_or(1.0);
    let counts = value.list_of("counts").iter().filter_map(Node::number);
    value
        .list_of("from_ns")
        .iter()
        .filter_map(Node::number)
        .zip(counts)
        .map(|(low, count)| Bin { low, high: low + wide, count })
        .collect()
}

fn levels(file: &str, title: &str, list: &[Node]) -> Option<Plot> {
    let level = |one: &Node| {
        let share = one.number_of("share").map_or(0.0, |share| 100.0 * share);
        let estimate = one.get("core_hz")?.estimate()?.scaled(1e-9);
        Some(Interval { name: format!("{} % of rounds", significant(share, 3)), estimate })
    };
    let all: Vec<Interval> = list.iter().filter_map(level).collect();
    intervals((file, title), "core clock (GHz)", &all, None)
}

/// The points of a series of a history over its levels.
fn history_of(file: &str, of: &Node, list: &[Node]) -> Option<Plot> {
    let moment = |(at, one): (usize, &Node)| Moment {
        at,
        value: one.number_of("value").unwrap_or(f64::NAN),
        ends: ["low", "high"].map(|end| one.number_of(end).unwrap_or(f64::NAN)),
        used: one.is_set("used") && one.number_of("value").is_some(),
    };
    let stretch = |one: &Node| -> Option<Stretch> {
        let place = |key: &str| one.number_of(key).map(|number| number as usize);
        Some((place("from")?, place("to")?, one.get("mean")?.estimate()?.value))
    };
    let points: Vec<Moment> = list.iter().enumerate().map(moment).collect();
    let levels: Vec<Stretch> = of.list_of("levels").iter().filter_map(stretch).collect();
    let name = cut(&shown(of.text_of("name").unwrap_or_default()), 60);
    history((file, &name), &shown(of.text_of("unit").unwrap_or("value")), &points, &levels)
}

/// The ratios of a comparison of saved results.
fn ratios(file: &str, list: &[Node]) -> Option<Plot> {
    let ratio = |one: &Node| {
        let name = cut(&shown(one.text_of("name").unwrap_or_default()), 60);
        Some(Interval { name, estimate: one.get("ratio")?.estimate()? })
    };
    let all: Vec<Interval> = list.iter().filter_map(ratio).collect();
    intervals((file, "Ratios: new over old"), "new over old", &all, Some((1.0, "equal")))
}
