//! Findings as text, grouped by kind.

use crate::format::significant;
use crate::page::{Page, Tone};
use hairspring_core::judge::Severity;
use hairspring_result::Finding;

/// Findings of one kind that are listed; any more are counted.
const MOST_OF_A_KIND: usize = 3;
/// Names that are listed with a finding; any more are counted.
const MOST_NAMES: usize = 24;

/// The findings of one severity.
pub fn findings(page: &mut Page, all: &[Finding], severity: Severity) {
    chosen(page, &all.iter().filter(|finding| finding.severity == severity).collect::<Vec<_>>());
}

/// Findings, those of one kind together.
pub fn chosen(page: &mut Page, chosen: &[&Finding]) {
    let mut done: Vec<(&str, Severity)> = Vec::new();
    for finding in chosen {
        let kind = (finding.code.as_ref(), finding.severity);
        if !done.contains(&kind) {
            let group: Vec<&Finding> = chosen
                .iter()
                .copied()
                .filter(|other| (other.code.as_ref(), other.severity) == kind)
                .collect();
            same_kind(page, &group);
            done.push(kind);
        }
    }
}

/// All findings, most severe first.
pub fn all_findings(page: &mut Page, all: &[Finding]) {
    for severity in [Severity::Untrusted, Severity::Warning, Severity::Note] {
        findings(page, all, severity);
    }
}

fn same_kind(page: &mut Page, group: &[&Finding]) {
    let (label, tone) = label(group[0].severity);
    for finding in group.iter().take(MOST_OF_A_KIND) {
        page.item(label, &finding.message, tone);
    }
    if group.len() > MOST_OF_A_KIND {
        page.marked("", &format!("and {} more of this kind", group.len() - MOST_OF_A_KIND));
    }
    remedy(page, group[0]);
}

fn label(severity: Severity) -> (&'static str, Tone) {
    match severity {
        Severity::Note => ("note", Tone::Plain),
        Severity::Warning => ("warning", Tone::Warning),
        Severity::Untrusted => ("distrust", Tone::Alarm),
    }
}

fn remedy(page: &mut Page, finding: &Finding) {
    if !finding.remedy.is_empty() {
        page.marked("-> ", &finding.remedy);
    }
}

/// A finding that several results have, which is told once.
#[derive(Debug)]
pub struct Shared<'f> {
    /// The finding of the first result.
    pub finding: &'f Finding,
    /// Names of the results that have it.
    pub names: Vec<&'f str>,
    /// The share that each of them names first, in percent, with the name.
    shares: Vec<String>,
    /// Whether all have it with the same words, and so with the same numbers.
    same_words: bool,
}

/// Findings of several results by kind, severity and component, the most severe first; each comes
/// with the name of its result.
pub fn shared<'f>(all: impl IntoIterator<Item = (&'f str, &'f Finding)>) -> Vec<Shared<'f>> {
    let mut groups: Vec<Shared> = Vec::new();
    for (name, finding) in all {
        let same = |group: &&mut Shared| {
            let known = group.finding;
            (&known.code, known.severity, known.component())
                == (&finding.code, finding.severity, finding.component())
        };
        match groups.iter_mut().find(same) {
            Some(group) => {
                group.same_words &= group.finding.message == finding.message;
                if !group.names.contains(&name) {
                    group.names.push(name);
                    group.shares.push(with_share(name, finding));
                }
            }
            None => groups.push(Shared {
                finding,
                names: vec![name],
                shares: vec![with_share(name, finding)],
                same_words: true,
            }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.finding.severity));
    groups
}

impl Shared<'_> {
    /// Writes it with its names and its remedy; `mark` is what the lines of these results are
    /// marked with.
    pub fn tell(&self, page: &mut Page, mark: &str) {
        let (label, tone) = label(self.finding.severity);
        page.item(label, &format!("{mark}{}", self.words()), tone);
        remedy(page, self.finding);
    }

    /// The names of the results, and the finding in words.
    pub fn words(&self) -> String {
        let message = &self.finding.message;
        if self.same_words {
            return format!("{}: {message}", listed(&self.names));
        }
        let others: Vec<&str> = self.shares[1..].iter().map(String::as_str).collect();
        format!("{}: {message}; likewise, with other numbers, {}", self.names[0], listed(&others))
    }
}

/// The name of a result with the first share that its finding has: kinds of findings begin with the
/// one that counts.
fn with_share(name: &str, finding: &Finding) -> String {
    let share = finding
        .numbers
        .iter()
        .filter(|(key, _)| key.ends_with("_percent"))
        .find_map(|(key, _)| finding.number(key));
    share.map_or_else(|| name.to_owned(), |share| format!("{name} ({} %)", significant(share, 2)))
}

/// Names with commas between them; those beyond the most are counted.
fn listed(names: &[&str]) -> String {
    let list = names[..names.len().min(MOST_NAMES)].join(", ");
    if names.len() > MOST_NAMES {
        format!("{list} and {} more", names.len() - MOST_NAMES)
    } else {
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Style;

    fn finding(code: &'static str, severity: Severity, message: &str) -> Finding {
        Finding {
            code: code.into(),
            severity,
            message: message.into(),
            remedy: "wait".into(),
            keeps_remedy: false,
            numbers: [("number", 1.0.into())].into(),
        }
    }

    fn text(all: &[(&str, Finding)]) -> String {
        let mut page = Page::new(Style::default());
        shared(all.iter().map(|(name, finding)| (*name, finding)))
            .iter()
            .for_each(|one| one.tell(&mut page, ""));
        page.finish()
    }

    #[test]
    fn a_finding_of_several_results_is_told_once_with_their_names() {
        let busy =
            |number: u32| finding("busy", Severity::Untrusted, &format!("busy {number} times"));
        let slow = finding("slow", Severity::Warning, "slow");
        let told = text(&[("a", slow.clone()), ("b", busy(1)), ("c", slow), ("d", busy(2))]);
        let expected = "  distrust  b: busy 1 times; likewise, with other numbers, d\n            \
                        -> wait\n  warning   a, c: slow\n            -> wait\n";
        assert_eq!(told, expected);
    }

    #[test]
    fn results_with_other_numbers_have_their_share() {
        let wide = |percent: f64| {
            let numbers = [("half_width_percent", percent.into())].into();
            Finding { numbers, ..finding("wide", Severity::Warning, &format!("+-{percent} %")) }
        };
        let told = text(&[("a", wide(7.0)), ("b", wide(12.34)), ("c", wide(5.5))]);
        assert!(
            told.contains("a: +-7 %; likewise, with other numbers, b (12 %), c (5.5 %)\n"),
            "{told}"
        );
    }

    #[test]
    fn many_names_are_counted() {
        let names: Vec<String> = (0..30).map(|at| format!("n{at}")).collect();
        let all: Vec<(&str, Finding)> = names
            .iter()
            .map(|name| (name.as_str(), finding("slow", Severity::Warning, "slow")))
            .collect();
        assert!(text(&all).contains("n23 and 6 more: slow"), "{}", text(&all));
    }
}
