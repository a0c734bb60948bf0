//! The comparison of two saved results as text.

use super::findings::findings;
use super::report::no_difference;
use crate::clean::{clean, cut};
use crate::format::{plus_minus, significant};
use crate::page::{Page, Style, Tone};
use hairspring_core::Estimate;
use hairspring_core::judge::{Severity, Verdict, excludes};
use hairspring_result::compare::{Change, Compared, Limit, Pair};
use hairspring_result::{Finding, Series, Unit};

/// The comparison; `old` and `new` say where the two come from.
pub fn compare(compared: &Compared, old: &str, new: &str, style: &Style) -> String {
    let mut page = Page::new(*style);
    page.line("hairspring compare: new over old", Tone::Strong);
    page.item("old", old, Tone::Quiet);
    page.item("new", new, Tone::Quiet);
    body(&mut page, compared);
    page.finish()
}

/// The comparison with a baseline, to follow a report.
pub fn against_baseline(compared: &Compared, baseline: &str, style: &Style) -> String {
    let mut page = Page::new(*style);
    page.line("", Tone::Plain);
    page.line(&format!("against the baseline {}: new over old", clean(baseline)), Tone::Strong);
    body(&mut page, compared);
    page.finish()
}

fn body(page: &mut Page, compared: &Compared) {
    let measures = compared.measures();
    if let Some(measures) = measures {
        page.item("times", &measures.words(), Tone::Quiet);
    }
    let all: Vec<Finding> = compared.findings.clone();
    if compared.findings.iter().any(|finding| finding.severity == Severity::Untrusted) {
        page.gap();
        findings(page, &all, Severity::Untrusted);
    }
    for pair in &compared.pairs {
        page.gap();
        one(page, compared, pair, measures.is_some());
    }
    page.gap();
    unpaired(page, "missing", "only in the old result", &compared.missing);
    unpaired(page, "new", "only in the new result", &compared.added);
    findings(page, &all, Severity::Warning);
    findings(page, &all, Severity::Note);
    page.gap();
    page.item(
        "result",
        &summary(compared),
        if compared.past() > 0 { Tone::Alarm } else { Tone::Strong },
    );
    if compared.pairs.iter().any(|pair| pair.change.is_ok()) {
        page.marked(
            "",
            "not measured in the same rounds, so disturbances do not cancel: a ratio's interval \
             covers the worst case of all that may differ between the two, and the verdict comes \
             from it",
        );
    }
}

fn one(page: &mut Page, compared: &Compared, pair: &Pair, is_said: bool) {
    let title = pair.code.as_deref().unwrap_or(&pair.name);
    page.line(&format!("  {}", cut(&clean(title), page.width() - 2)), Tone::Strong);
    if let Some(measures) = pair.measures.as_ref().filter(|_| !is_said) {
        page.item("times", &measures.words(), Tone::Quiet);
    }
    match &pair.change {
        Err(reason) => page.item("ratio", &format!("none, undecided: {reason}"), Tone::Plain),
        Ok(change) => {
            page.item(
                &pair.component,
                &format!(
                    "{} -> {}",
                    time(&change.old, change.unit),
                    time(&change.new, change.unit)
                ),
                Tone::Plain,
            );
            let tone =
                if compared.limit(pair) == Some(Limit::Past) { Tone::Alarm } else { Tone::Strong };
            page.item(
                "ratio",
                &format!("{}: {}", ratio(&change.ratio), verdict_text(compared, pair, change)),
                tone,
            );
        }
    }
}

/// A time, or its upper bound if it is below resolution.
fn time(estimate: &Estimate, unit: Unit) -> String {
    if estimate.contains(0.0) {
        return format!("below {} {}", crate::format::bound(estimate.high), unit.word());
    }
    format!("{} {}", plus_minus(estimate), unit.word())
}

/// An interval is shown by its ends if its upper half is longer than its lower half by this factor.
const LOPSIDED_FACTOR: f64 = 1.2;

fn ratio(ratio: &Estimate) -> String {
    match (ratio.low.is_finite(), ratio.high.is_finite()) {
        (true, true) if ratio.high - ratio.value > LOPSIDED_FACTOR * (ratio.value - ratio.low) => {
            format!(
                "{} ({} to {})",
                significant(ratio.value, 2),
                significant(ratio.low, 2),
                significant(ratio.high, 2)
            )
        }
        (true, true) => plus_minus(ratio),
        (true, false) => format!("at least {}", significant(ratio.low, 3)),
        _ => "unknown".to_owned(),
    }
}

fn verdict_text(compared: &Compared, pair: &Pair, change: &Change) -> String {
    let verdict = match change.verdict {
        Verdict::Faster => "new is faster".to_owned(),
        Verdict::Slower => "new is slower".to_owned(),
        Verdict::NoDifference => {
            no_difference(Some(excludes(&change.looks.interval(&change.ratio))))
        }
        Verdict::Undecided => {
            "undecided: a difference is not certain, and the interval is wide".to_owned()
        }
    };
    let most = compared.threshold.map(|share| significant(100.0 * share, 4)).unwrap_or_default();
    let limit = compared.limit(pair);
    if let Some(reason) = change.no_verdict() {
        let too = if limit == Some(Limit::Undecided) {
            format!("; so the threshold of {most} % is undecided, too")
        } else {
            String::new()
        };
        return format!("undecided: {reason}{too}");
    }
    match limit {
        Some(Limit::Past) => format!("{verdict}, past the threshold of {most} %"),
        Some(Limit::Undecided) => {
            format!("{verdict}; the threshold of {most} % lies inside the interval")
        }
        _ => verdict,
    }
}

/// Series that are listed; any more are counted.
const MOST_SERIES: usize = 20;

fn unpaired(page: &mut Page, label: &str, what: &str, series: &[Series]) {
    for one in series.iter().take(MOST_SERIES) {
        page.item(label, &format!("{} ({what})", cut(&clean(one.title()), 200)), Tone::Warning);
    }
    if series.len() > MOST_SERIES {
        page.marked("", &format!("and {} more {what}", series.len() - MOST_SERIES));
    }
}

fn summary(compared: &Compared) -> String {
    let count = |verdict| {
        compared
            .pairs
            .iter()
            .filter(|pair| pair.change.as_ref().is_ok_and(|change| change.verdict == verdict))
            .count()
    };
    let [slower, faster, same] =
        [Verdict::Slower, Verdict::Faster, Verdict::NoDifference].map(count);
    let pairs = compared.pairs.len();
    let mut parts = vec![
        format!("{slower} slower"),
        format!("{faster} faster"),
        format!("{same} no difference"),
        format!("{} undecided", pairs - slower - faster - same),
    ];
    parts.retain(|part| !part.starts_with("0 "));
    if compared.threshold.is_some() {
        parts.push(format!("{} past the threshold", compared.past()));
        let undecided = compared.number_at(Limit::Undecided);
        if undecided > 0 {
            parts.push(format!("{undecided} undecided about it"));
        }
    }
    format!(
        "{pairs} compared: {}",
        if parts.is_empty() { "nothing in common".to_owned() } else { parts.join(", ") }
    )
}
