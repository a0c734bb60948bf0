//! Two builds as text.

use super::findings::all_findings;
use crate::clean::{clean, cut};
use crate::format::{count, plus_minus, readable, significant};
use crate::page::{Page, Style, Tone};
use hairspring_core::Estimate;
use hairspring_core::judge::Verdict;
use hairspring_core::judge::words::counted;
use hairspring_result::Unit;
use hairspring_result::ab::{AbDocument, Change, How, Source, Stopped, Threshold};
use hairspring_result::compare::Limit;

/// Benchmarks that are listed; any more are counted.
const MOST_LISTED: usize = 200;
/// Names of a list that are shown.
const MOST_NAMES: usize = 10;
/// Columns of a name.
const NAME_COLUMNS: usize = 200;

/// The text of two builds.
pub fn ab(document: &AbDocument, style: &Style) -> String {
    let mut page = Page::new(*style);
    page.line("hairspring ab: head over base", Tone::Strong);
    page.item("base", &source(&document.base), Tone::Quiet);
    page.item("head", &source(&document.head), Tone::Quiet);
    page.item("measured", &measured(document), Tone::Quiet);
    if let Some(start) = &document.start {
        let text = format!("{}: the time of a process that does nothing", interval(start, NS));
        page.item("start", &text, Tone::Quiet);
    }
    for change in document.results.iter().take(MOST_LISTED) {
        page.gap();
        one(&mut page, change);
    }
    if document.results.len() > MOST_LISTED {
        page.gap();
        let more = count(document.results.len() - MOST_LISTED);
        page.marked("", &format!("and {more} more; the JSON document has all"));
    }
    page.gap();
    unpaired(&mut page, "missing", "only in the base", &document.missing);
    unpaired(&mut page, "added", "only in the head", &document.added);
    all_findings(&mut page, &document.findings);
    page.gap();
    let tone = if document.past_threshold > 0 { Tone::Alarm } else { Tone::Strong };
    page.item("result", &summary(document), tone);
    page.finish()
}

fn source(source: &Source) -> String {
    let short = |commit: &String| format!("commit {}", commit.chars().take(12).collect::<String>());
    let parts = [
        Some(cut(&clean(&source.named), NAME_COLUMNS)),
        source.commit.as_ref().map(short),
        source.dirty.then(|| "with changes that are not committed".to_owned()),
        source.build.as_ref().map(|build| format!("built by `{build}`")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn measured(document: &AbDocument) -> String {
    let how = match document.how {
        How::Rounds => "whose batches take turns",
        How::Processes => "one after the other",
        How::Commands => "to and fro",
    };
    let pairs = counted(u64::from(document.pairs), "pair", "pairs");
    let stopped = match document.stopped {
        Stopped::Decided => "all is decided",
        Stopped::Pairs => "all pairs that were asked for",
        Stopped::Interrupted => "stopped by a signal: this is the result so far",
        Stopped::Failed => "a program failed: this is the result so far",
    };
    let took = significant(document.took_s, 2);
    format!("{pairs} of fresh processes {how}, in {took} s: {stopped}")
}

fn one(page: &mut Page, change: &Change) {
    page.line(&format!("  {}", cut(&clean(&change.name), page.width() - 2)), Tone::Strong);
    let unit = change.unit.map_or("", Unit::word);
    for (label, time) in [("base", &change.base), ("head", &change.head)] {
        if let Some(time) = time {
            page.item(label, &interval(time, unit), Tone::Plain);
        }
    }
    let ratio = change.ratio.as_ref().map_or_else(|| "none".to_owned(), plain);
    let tone = if change.limit == Some(Limit::Past) { Tone::Alarm } else { Tone::Strong };
    page.item("ratio", &format!("{ratio}: {}", verdict(change)), tone);
    if let Some(null) = &change.null {
        page.item(
            "null",
            &format!("{}, base over base{}", plain(null), widened(change)),
            Tone::Plain,
        );
    }
    for trust in &change.untrusted {
        let processes = counted(u64::from(trust.processes), "process", "processes");
        page.item("doubt", &format!("in {processes}: {}", trust.message), Tone::Warning);
    }
}

/// Ends are shown where one is this part of the interval farther from the value than the other.
const LOPSIDED_PART: f64 = 0.1;

const NS: &str = "ns";

/// A time with its unit; long ones in a larger unit than nanoseconds.
fn interval(time: &Estimate, unit: &str) -> String {
    let (time, unit) = readable(time, unit);
    format!("{} {unit}", plain(&time))
}

/// An interval; without ends where there are too few pairs.
fn plain(estimate: &Estimate) -> String {
    let Estimate { value, low, high, .. } = *estimate;
    if !high.is_finite() {
        return format!("{}, in any interval", significant(value, 4));
    }
    if (high - value) - (value - low) > LOPSIDED_PART * (high - low) {
        let ends = [low, high].map(|end| significant(end, 3));
        return format!("{}, from {} to {}", significant(value, 4), ends[0], ends[1]);
    }
    plus_minus(estimate)
}

fn widened(change: &Change) -> String {
    change.widened_percent.map_or_else(String::new, |percent| {
        format!(
            ": not 1, so the interval of the ratio is extended by {} % on both sides",
            significant(percent, 2)
        )
    })
}

fn verdict(change: &Change) -> String {
    let percent = |percent: f64| format!("{} %", significant(percent, 2));
    let verdict = match (change.verdict, change.excludes_percent, change.smallest_percent) {
        (Verdict::Faster, ..) => "head is faster".to_owned(),
        (Verdict::Slower, ..) => "head is slower".to_owned(),
        (Verdict::NoDifference, Some(most), _) => format!("no difference within {}", percent(most)),
        (_, _, Some(least)) if change.verdict_reason.is_none() => {
            format!("undecided: a change of less than {} could not be seen", percent(least))
        }
        _ => {
            let reason = change.verdict_reason.as_deref();
            format!("undecided: {}", reason.unwrap_or("the interval has no end"))
        }
    };
    let most = threshold(&change.threshold);
    match change.limit {
        Some(Limit::Past) => format!("{verdict}, past the threshold of {most}"),
        Some(Limit::Undecided) => format!("{verdict}; the threshold of {most} is undecided"),
        Some(Limit::Within) => format!("{verdict}, within the threshold of {most}"),
        None => verdict,
    }
}

fn threshold(threshold: &Threshold) -> String {
    let all = [(threshold.percent, "%"), (threshold.cycles, "cycles"), (threshold.ns, "ns")];
    let part = |(most, unit): &(Option<f64>, &str)| {
        most.map(|most| format!("{} {unit}", significant(most, 4)))
    };
    all.iter().filter_map(part).collect::<Vec<_>>().join(" and ")
}

fn unpaired(page: &mut Page, label: &str, what: &str, names: &[String]) {
    if names.is_empty() {
        return;
    }
    let shown: Vec<String> =
        names.iter().take(MOST_NAMES).map(|name| cut(&clean(name), NAME_COLUMNS)).collect();
    let more = names.len().saturating_sub(MOST_NAMES);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    page.item(label, &format!("{what}: {}{more}", shown.join("; ")), Tone::Warning);
}

fn summary(document: &AbDocument) -> String {
    if document.results.is_empty() {
        return "no benchmark was measured".to_owned();
    }
    let number = |verdict| document.results.iter().filter(|one| one.verdict == verdict).count();
    let verdicts = [
        (Verdict::Slower, "slower"),
        (Verdict::Faster, "faster"),
        (Verdict::NoDifference, "no difference"),
        (Verdict::Undecided, "undecided"),
    ];
    let parts = verdicts.map(|(verdict, word)| (number(verdict), word));
    let parts: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let all = counted(document.results.len() as u64, "benchmark", "benchmarks");
    let past = match document.past_threshold {
        0 => String::new(),
        past => format!("; {past} past the threshold"),
    };
    let level = significant(100.0 * document.level, 4);
    format!(
        "{all}: {}{past}; all verdicts together hold in {level} % of runs, at every look",
        parts.join(", ")
    )
}
