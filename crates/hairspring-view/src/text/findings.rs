//! Findings: those that take the trust away first and in large, the others behind the numbers.

use crate::page::{Page, Tone};
use hairspring_core::judge::Severity;
use hairspring_result::FindingJson;

/// Findings of one kind that are written out; more are counted.
const MOST_OF_A_KIND: usize = 3;

/// The findings of one severity.
pub fn findings(page: &mut Page, all: &[FindingJson], severity: Severity) {
    let chosen: Vec<&FindingJson> = all.iter().filter(|finding| finding.severity == severity).collect();
    let mut done: Vec<&str> = Vec::new();
    for finding in &chosen {
        if !done.contains(&finding.kind.as_str()) {
            let group: Vec<&FindingJson> = chosen.iter().copied().filter(|other| other.kind == finding.kind).collect();
            same_kind(page, &group);
            done.push(&finding.kind);
        }
    }
}

/// All findings, the heaviest first.
pub fn all_findings(page: &mut Page, all: &[FindingJson]) {
    for severity in [Severity::Untrusted, Severity::Warning, Severity::Note] {
        findings(page, all, severity);
    }
}

fn same_kind(page: &mut Page, group: &[&FindingJson]) {
    let (label, tone) = match group[0].severity {
        Severity::Note => ("note", Tone::Plain),
        Severity::Warning => ("warning", Tone::Warning),
        Severity::Untrusted => ("distrust", Tone::Alarm),
    };
    for finding in group.iter().take(MOST_OF_A_KIND) {
        page.item(label, &finding.message, tone);
    }
    if group.len() > MOST_OF_A_KIND {
        page.marked("", &format!("and {} more of this kind", group.len() - MOST_OF_A_KIND));
    }
    if !group[0].remedy.is_empty() {
        page.marked("-> ", &group[0].remedy);
    }
}
