//! The page of an experiment: its seven steps with their results, and its file to run it again.

use super::block::{Block, Doubt, Fact, Number, Table, shown};
use super::other::with_unit;
use crate::svg::{Bar, budget};
use hairspring_core::judge::Severity;
use hairspring_view::clean::{clean, cut};
use hairspring_view::format::significant;
use hairspring_view::node::Node;
use hairspring_view::text;

/// Lines of the file that are shown.
const MOST_LINES: usize = 2000;

/// The title: the name of the experiment.
pub fn title(document: &Node) -> Option<String> {
    document.get("definition")?.text_of("name").map(|name| cut(&shown(name), 100))
}

/// The blocks of a record; none if it has no definition.
pub fn blocks(document: &Node) -> Vec<Block> {
    let (Some(definition), Some(measured)) =
        (document.get("definition"), document.get("measurement"))
    else {
        return Vec::new();
    };
    let unit = document.text_of("unit").unwrap_or_default();
    let step = |title: &str, blocks: Vec<Block>| Block::Group(title.into(), blocks);
    let text = |key: &str| vec![Block::Text(shown(definition.text_of(key).unwrap_or_default()))];
    let mut blocks = summary(document, measured, unit);
    blocks.extend([
        step("1. What do we need?", text("need")),
        step("2. The quantity", text("quantity")),
        step("3. Required accuracy", accuracy(document, definition, measured, unit)),
        step("4A. Circumstances", vec![Block::Facts(circumstances(definition, measured))]),
        step("4B. Expectation", expectation(document, definition, unit)),
        step("4C. Set-up", setup(measured)),
        step("5. Actual accuracy", actual("budget", measured, unit)),
        step("6. Measurement", measurement(measured, unit)),
        step("7. Sanity check", sanity(document, unit)),
        step("To run it again", again(document)),
    ]);
    blocks
}

/// An interval of an object in the unit of the experiment.
fn value(of: Option<&Node>, unit: &str) -> Option<String> {
    let estimate = of?.get("value")?.estimate()?;
    Some(shown(&with_unit(&estimate, unit)))
}

fn amount(number: f64, digits: i32, unit: &str) -> String {
    format!("{} {unit}", significant(number, digits)).trim_end().to_owned()
}

/// Whether it passed, and the numbers that count.
fn summary(document: &Node, measured: &Node, unit: &str) -> Vec<Block> {
    let verdict = document.get("sanity").map(verdict).unwrap_or_default();
    let is_met = document.get("accuracy").is_some_and(|one| one.is_set("met"));
    let met = if is_met { "reached" } else { "not reached" };
    let said = format!(
        "{}: measurement against expectation {verdict}; the required accuracy was {met}.",
        if document.is_set("passed") { "Passed" } else { "Not passed" }
    );
    let said = shown(&said);
    let number = |label: &str, of: Option<&Node>, distrusted: bool| Number {
        label: label.into(),
        value: value(of, unit).unwrap_or_else(|| "unknown".into()),
        distrusted,
        ..Number::default()
    };
    let check = document.get("check").and_then(|check| check.get("measurement"));
    let mut numbers = vec![
        number("Measured", Some(measured), !measured.is_set("trusted")),
        number("Expected", document.get("expectation"), false),
    ];
    numbers.extend(check.map(|one| number("By the second method", Some(one), false)));
    let first = if document.is_set("passed") { Block::Text(said) } else { Block::Alarm(said) };
    vec![first, Block::Numbers(numbers)]
}

/// `agrees (a factor of 1.0102, 0.1 sigmas)`.
fn verdict(comparison: &Node) -> String {
    let word = match (comparison.text_of("verdict"), comparison.text_of("verdict_reason")) {
        (Some(verdict), Some(reason)) => format!("{verdict}: {reason}"),
        (verdict, _) => verdict.unwrap_or("unknown").to_owned(),
    };
    let of = |key: &str| comparison.number_of(key);
    match text::distance(of("factor"), of("sigmas")) {
        Some(distance) => format!("{word} ({distance})"),
        None => word,
    }
}

fn accuracy(document: &Node, definition: &Node, measured: &Node, unit: &str) -> Vec<Block> {
    let Some(accuracy) = document.get("accuracy") else { return Vec::new() };
    let stated = definition.get("accuracy").and_then(|one| one.text_of("required"));
    let of = |key: &str, digits: i32| {
        let number = accuracy.number_of(key);
        number.map_or_else(|| "unknown".into(), |number| amount(number, digits, unit))
    };
    let level = measured.get("value").and_then(Node::estimate).map_or(0.95, |one| one.level);
    let enough = match (accuracy.is_set("met"), measured.is_set("trusted")) {
        (true, _) => "which is enough",
        (_, true) => "which is not enough",
        (_, false) => "by a measurement that is not to be trusted",
    };
    vec![Block::Text(shown(&format!(
        "{}: +- {} at {} % confidence. Reached: +- {}, {enough}.",
        stated.unwrap_or("required"),
        of("required", 3),
        significant(100.0 * level, 4),
        of("reached", 2),
    )))]
}

/// What was stated, and what the set-up says of itself.
fn circumstances(definition: &Node, measured: &Node) -> Vec<Fact> {
    let stated = definition.get("circumstances").map(Node::entries).unwrap_or_default();
    let stated = stated.iter().filter_map(|(name, text)| Some(Fact::new(name, text.text()?)));
    let own = measured.get("environment").unwrap_or(&Node::Null);
    let of = |key: &str| own.text_of(key);
    let found = [
        ("clock", own.get("clock").and_then(|clock| clock.text_of("name"))),
        ("compiler", of("compiler")),
        ("flags of the compiler", of("compiler_flags")),
    ];
    let found = found.into_iter().filter_map(|(label, text)| Some(Fact::new(label, text?)));
    stated.chain(found).collect()
}

fn expectation(document: &Node, definition: &Node, unit: &str) -> Vec<Block> {
    let Some(expected) = document.get("expectation") else { return Vec::new() };
    let stated = definition.get("expectation").unwrap_or(&Node::Null);
    let part = |key: &str| match expected.number_of(key) {
        Some(half) => amount(half, 2, unit),
        None => "without bounds".into(),
    };
    let parts = if expected.is_set("is_stated") {
        format!("Stochastic {}, systematic {}.", part("stochastic"), part("systematic"))
    } else {
        "2 % are assumed, because the model states no uncertainty.".into()
    };
    let mut facts = vec![
        Fact::new("model", stated.text_of("model").unwrap_or_default()),
        Fact::new("value", &value(Some(expected), unit).unwrap_or_default()),
    ];
    facts.extend(monte_carlo(expected, unit).map(|text| Fact::new("by Monte Carlo", &text)));
    facts.extend(stated.text_of("because").map(|text| Fact::new("from", text)));
    let doubts = expected.list_of("findings").iter().filter_map(Node::text);
    let doubts = doubts.map(|text| Doubt::new(Severity::Warning, text, "")).collect();
    vec![
        Block::Facts(facts),
        Block::Text(parts),
        Block::Findings(doubts),
        Block::Table(inputs(expected)),
    ]
}

fn monte_carlo(expected: &Node, unit: &str) -> Option<String> {
    let end = |key: &str| expected.number_of(key);
    let (low, high) = (end("monte_carlo_low")?, end("monte_carlo_high")?);
    let agree = if expected.is_set("propagations_agree") {
        "which agrees"
    } else {
        "which does not agree: the model is not straight within its uncertainties, so these ends \
         count, each on its side"
    };
    let (low, high) = (significant(low, 5), amount(high, 5, unit));
    Some(format!("{low} to {high}, {agree}"))
}

fn inputs(expected: &Node) -> Table {
    let measured_by = |name: &str| {
        let by = expected.get("measured_by").and_then(|all| all.text_of(name));
        by.map(shown).unwrap_or_default()
    };
    let all = expected.get("inputs").map(Node::entries).unwrap_or_default();
    let row = |(name, value): &(String, Node)| {
        vec![shown(name), shown(value.text().unwrap_or_default()), measured_by(name)]
    };
    Table {
        caption: "Inputs of the model".into(),
        heads: ["Name", "Value", "Measured by"].map(str::to_owned).into(),
        rows: all.iter().map(row).collect(),
    }
}

fn lines(text: &str) -> Vec<String> {
    text.trim().lines().take(MOST_LINES).map(clean).collect()
}

fn setup(measured: &Node) -> Vec<Block> {
    let commands = measured.list_of("commands").iter().filter_map(Node::text);
    let times = measured.number_of("runs").filter(|runs| *runs > 1.0);
    let times = times.map(|runs| format!("Run {} times:", significant(runs, 9)));
    vec![Block::Text(times.unwrap_or_default()), Block::Code(commands.flat_map(lines).collect())]
}

/// The budget as a table with its notes, and as bars.
fn actual(file: &str, measured: &Node, unit: &str) -> Vec<Block> {
    let entries = measured.list_of("budget");
    let half = |one: &Node| one.number_of("half_width").unwrap_or(0.0);
    let text = |one: &Node, key: &str| shown(one.text_of(key).unwrap_or_default());
    let row = |one: &Node| {
        let share = 100.0 * one.number_of("share").unwrap_or(0.0);
        vec![
            text(one, "source"),
            text(one, "kind"),
            shown(&amount(half(one), 2, unit)),
            format!("{} %", significant(share, 2)),
            text(one, "note"),
        ]
    };
    let bar = |one: &Node| Bar {
        name: cut(&clean(one.text_of("source").unwrap_or_default()), 40),
        size: half(one),
        text: amount(half(one), 2, unit),
    };
    let bars: Vec<Bar> = entries.iter().map(bar).filter(|bar| bar.size > 0.0).collect();
    let total = measured.number_of("total").map(|total| {
        let total = amount(total, 2, unit);
        format!("In all +- {total}: stochastic ones in quadrature, plus systematic ones.")
    });
    let heads = ["Source", "Kind", "Half-width", "Share", "Note"];
    vec![
        Block::Plots(budget(file, "Error budget", &bars).into_iter().collect()),
        Block::Table(Table {
            caption: "Error budget".into(),
            heads: heads.map(str::to_owned).into(),
            rows: entries.iter().map(row).collect(),
        }),
        Block::Text(shown(&total.unwrap_or_default())),
    ]
}

fn measurement(measured: &Node, unit: &str) -> Vec<Block> {
    let doubts = measured.list_of("findings").iter().filter_map(Node::text);
    let severity = if measured.is_set("trusted") { Severity::Warning } else { Severity::Untrusted };
    let doubts = doubts.map(|text| Doubt::new(severity, text, "")).collect();
    let said = value(Some(measured), unit).unwrap_or_else(|| "unknown".into());
    let trusted = if measured.is_set("trusted") { "." } else { ", not to be trusted." };
    vec![Block::Text(format!("{said}{trusted}")), Block::Findings(doubts)]
}

fn sanity(document: &Node, unit: &str) -> Vec<Block> {
    let first = document.get("sanity").map(verdict).unwrap_or_default();
    let mut blocks =
        vec![Block::Text(shown(&format!("Measurement against expectation: {first}.")))];
    if let Some(reason) = document.text_of("no_check") {
        let message = format!("The second method gave no figure: {reason}");
        blocks.push(Block::Findings(vec![Doubt::new(Severity::Warning, &message, "")]));
    }
    let Some(check) = document.get("check").filter(|one| **one != Node::Null) else {
        return blocks;
    };
    let measured = check.get("measurement").unwrap_or(&Node::Null);
    let found = value(Some(measured), unit).unwrap_or_default();
    let second = check.get("comparison").map(verdict).unwrap_or_default();
    let runs = if check.is_set("same_runs") { ", from the same runs" } else { "" };
    blocks.push(Block::Text(shown(&format!(
        "The second method gives {found}{runs}. The first method against it: {second}."
    ))));
    if runs.is_empty() {
        blocks.extend(setup(measured));
    }
    blocks.extend(actual("budget-2", measured, unit));
    blocks
}

fn again(document: &Node) -> Vec<Block> {
    let text = "Save this as FILE in the folder that has what it runs, and run \
                `hairspring experiment FILE`.";
    let mut blocks = vec![
        Block::Text(text.replace('`', "")),
        Block::Code(lines(document.text_of("text").unwrap_or_default())),
    ];
    let folder = document.text_of("folder").map(|folder| vec![Fact::new("folder", folder)]);
    blocks.push(Block::Facts(folder.unwrap_or_default()));
    blocks
}
