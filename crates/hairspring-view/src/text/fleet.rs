//! Results of many machines as text.

use super::findings::all_findings;
use crate::clean::{clean, cut};
use crate::format::{bound, count, plus_minus, significant};
use crate::page::{Page, Style, Tone};
use hairspring_core::Estimate;
use hairspring_core::judge::words::counted;
use hairspring_result::fleet::{Build, Documents, Family, MergeDocument, Merged};

/// Series of a family that are listed; any more are counted.
const MOST_SERIES: usize = 100;
/// Odd machines that are listed; any more are counted.
const MOST_ODD: usize = 10;
/// Builds and models that are listed.
const MOST_LISTED: usize = 4;
/// Columns of a name.
const NAME_COLUMNS: usize = 200;

/// The text of a merge.
pub fn fleet(merged: &MergeDocument, style: &Style) -> String {
    let mut page = Page::new(*style);
    page.line("hairspring merge: the mean of machines", Tone::Strong);
    page.item("read", &documents(&merged.documents), Tone::Quiet);
    for one in &merged.families {
        page.gap();
        family(&mut page, one, merged.level);
    }
    if let Some(all) = &merged.across {
        page.gap();
        page.line("over families, each counted once", Tone::Strong);
        series(&mut page, all, "families");
    }
    if !merged.findings.is_empty() {
        page.gap();
        all_findings(&mut page, &merged.findings);
    }
    page.gap();
    page.item("result", &summary(merged), Tone::Strong);
    page.finish()
}

fn documents(all: &Documents) -> String {
    let others = [
        (all.repeated, "given twice"),
        (all.refused, "not merged"),
        (all.unread, "not read: the merge was stopped"),
    ];
    let others = others.iter().filter(|(number, _)| *number > 0);
    let mut parts = vec![format!("{} of {} files", count(all.merged), count(all.given))];
    parts.extend(others.map(|(number, what)| format!("{} {what}", count(*number))));
    parts.join(", ")
}

fn family(page: &mut Page, family: &Family, level: f64) {
    let machines = counted(family.machines as u64, "machine", "machines");
    let by = if family.by_model { " (by model name)" } else { "" };
    let title = format!("family {}{by}, {}: {machines}", family.name, family.architecture);
    page.line(&cut(&clean(&title), page.width()), Tone::Strong);
    let models = family.models.iter().filter(|model| **model != family.name);
    let models: Vec<String> = models.map(|model| cut(&clean(model), NAME_COLUMNS)).collect();
    if !models.is_empty() {
        page.item("models", &listed(&models), Tone::Quiet);
    }
    builds(page, family);
    page.item("floor", &floor(family, level), Tone::Plain);
    series(page, &family.results, "machines");
    page.gap();
    odd(page, family);
}

/// The first of a list, and how many more there are.
fn listed(all: &[String]) -> String {
    let shown = all[..all.len().min(MOST_LISTED)].join("; ");
    match all.len().saturating_sub(MOST_LISTED) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

fn builds(page: &mut Page, family: &Family) {
    let all: Vec<String> = family.builds.iter().map(build).collect();
    match family.same_build {
        Some(true) => {
            page.item("build", &format!("the same on all: {}", listed(&all)), Tone::Quiet)
        }
        Some(false) => page.item("builds", &format!("differ: {}", listed(&all)), Tone::Warning),
        None => page.item("build", "the documents do not name it", Tone::Quiet),
    }
}

fn build(build: &Build) -> String {
    let short = |text: &String| text.chars().take(12).collect::<String>();
    let parts = [
        build.program.as_ref().map(|program| format!("program {}", short(program))),
        build.commit.as_ref().map(|commit| format!("commit {}", short(commit))),
        build.compiler.clone(),
        build.compiler_flags.clone(),
        Some(format!("({})", counted(build.documents as u64, "document", "documents"))),
    ];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn floor(family: &Family, level: f64) -> String {
    match family.floor_percent {
        Some(floor) => format!(
            "two machines of this family differ by up to {} % with the same build ({} %, over all \
             series)",
            significant(floor, 2),
            significant(100.0 * level, 4)
        ),
        None => format!("unknown: {}", family.floor_reason.as_deref().unwrap_or("no spread")),
    }
}

fn series(page: &mut Page, all: &[Merged], of: &str) {
    let mut title = None;
    for one in all.iter().take(MOST_SERIES) {
        let own = (one.code.as_deref().unwrap_or(&one.name), &one.code_hash);
        if title.replace(own) != Some(own) {
            page.gap();
            page.line(&format!("  {}", cut(&clean(own.0), page.width() - 2)), Tone::Strong);
        }
        mean(page, one, of);
    }
    if all.len() > MOST_SERIES {
        page.gap();
        let more = count(all.len() - MOST_SERIES);
        page.marked("", &format!("and {more} more times; the JSON document has all"));
    }
}

fn mean(page: &mut Page, one: &Merged, of: &str) {
    let Some(time) = one.time else {
        let reason = one.time_reason.as_deref().unwrap_or("unknown");
        return page.item(&one.component, &format!("none: {reason}"), Tone::Plain);
    };
    let machines = match one.machines {
        1 => "of one machine; how machines differ is unknown".to_owned(),
        number => format!("mean of {} {of}", count(number)),
    };
    page.item(&one.component, &format!("{}, {machines}", shown(one, &time)), Tone::Strong);
    if let Some(spread) = one.spread_percent {
        let floor = one.floor_percent.map_or_else(String::new, |floor| {
            format!("; two differ by up to {} %", significant(floor, 2))
        });
        let text = format!("{} % (standard deviation){floor}", significant(spread, 2));
        page.item("differ", &format!("by {text}"), Tone::Plain);
    }
    let other = |words, time| format!("{words} the odd machines: {}", shown(one, time));
    for (words, time) in [("without", &one.without_odd), ("with", &one.with_odd)] {
        if let Some(time) = time {
            page.marked("", &other(words, time));
        }
    }
}

fn shown(one: &Merged, time: &Estimate) -> String {
    let unit = one.unit.map_or("", hairspring_result::Unit::word);
    if one.below_resolution {
        return format!("below {} {unit}", bound(time.high.max(time.half_width())));
    }
    format!("{} {unit}", plus_minus(time))
}

fn odd(page: &mut Page, family: &Family) {
    for one in family.odd.iter().take(MOST_ODD) {
        let host = one.host.as_ref().map(|host| format!(" (host {host})")).unwrap_or_default();
        let file = cut(&clean(&one.file), NAME_COLUMNS);
        page.item("odd", &format!("{file}{host}: {}", one.reason), Tone::Warning);
    }
    if family.odd.len() > MOST_ODD {
        page.marked("", &format!("and {} more", family.odd.len() - MOST_ODD));
    }
    if let Some(reason) = &family.odd_reason {
        page.item("odd", &format!("not looked for: {reason}"), Tone::Quiet);
    }
}

fn summary(merged: &MergeDocument) -> String {
    let sum = |of: &dyn Fn(&Family) -> usize| merged.families.iter().map(of).sum::<usize>() as u64;
    let mut parts = vec![
        counted(merged.machines as u64, "machine", "machines"),
        counted(merged.families.len() as u64, "family", "families"),
        counted(sum(&|family| family.results.len()), "mean", "means"),
        counted(sum(&|family| family.odd.len()), "odd machine", "odd machines"),
    ];
    if merged.without_odd {
        parts.push("means are without odd machines".into());
    }
    if merged.families.len() > 1 && merged.across.is_none() {
        parts.push("families are not averaged".into());
    }
    if merged.documents.unread > 0 {
        parts.push("stopped before all files were read".into());
    }
    parts.join(", ")
}
