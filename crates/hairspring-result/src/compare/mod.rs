//! Compares two results, series by series: the ratio of their bodies with its interval, and
//! differences in circumstances.

mod departures;
mod document;
mod place;
mod tools;

pub use document::{Change as ChangeEntry, CompareDocument, CompareSchema, Side, Unpaired};
pub use place::Places;
pub use tools::comparable;

use crate::document::{Environment, Measures, ResultDocument, Series, Unit};
use crate::kinds::ResultFinding;
use departures::{differing, with_share};
use hairspring_core::Estimate;
use hairspring_core::estimate::ratio::apart;
use hairspring_core::judge::{
    Finding, LAYOUTS_MAKE, Looks, Severity, Verdict, verdict, verdict_if,
};
use hairspring_core::named::Named;
use serde::Serialize;

/// Core clocks that differ by more than this share are a finding.
const SAME_CORE_CLOCK: f64 = 0.02;

/// The comparison of two results.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Series that both have, in the order of the new result.
    pub pairs: Vec<Pair>,
    /// Series of the old result that the new one does not have.
    pub missing: Vec<Series>,
    /// Series of the new result that the old one does not have.
    pub added: Vec<Series>,
    /// Differences between the circumstances of the two, most severe first.
    pub findings: Vec<Finding>,
    /// Share by which a body may take longer, if one was given.
    pub threshold: Option<f64>,
}

/// One series of both results.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Name of the series in the new result.
    pub name: String,
    /// The code.
    pub code: Option<String>,
    /// The component that is compared: the first one.
    pub component: String,
    /// What the times are, of results of another tool.
    pub measures: Option<Measures>,
    /// Times and their ratio, or why there is none.
    pub change: Result<Change, String>,
}

/// How a time changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Unit of the two times.
    pub unit: Unit,
    /// The old time, as an interval that reaches down to zero if it is below resolution.
    pub old: Estimate,
    /// The new time.
    pub new: Estimate,
    /// New over old ([`apart`]).
    pub ratio: Estimate,
    /// The conclusion from the ratio's interval; undecided if the two ran at different places, if
    /// one of them is not to be trusted, if a small difference may be that of layouts of the code
    /// that were not tried, or if the new time is not above zero.
    pub verdict: Verdict,
    /// Whether both results are to be trusted.
    pub trusted: bool,
    /// Whether the code did not run in all of its layouts in one of the two.
    pub lacks_layouts: bool,
    /// Why the places where the two ran leave it open whether the code changed, if they do.
    pub apart: Option<&'static str>,
    /// How often the verdict was looked for.
    pub looks: Looks,
    /// Whether the times are means or medians of values of another tool.
    pub of_values: bool,
}

/// Where an interval lies relative to the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The whole interval is above the threshold.
    Past,
    /// The whole interval is below the threshold.
    Within,
    /// The interval contains the threshold, there is no ratio, the two ran at different places, a
    /// result is not to be trusted, or a time past the threshold may be that of layouts.
    Undecided,
}

impl Pair {
    /// Whether the verdict is another one than that there is no difference.
    fn may_differ(&self) -> bool {
        self.change.as_ref().is_ok_and(|change| change.verdict != Verdict::NoDifference)
    }
}

impl Change {
    /// The change; its verdict is undecided if the results are not to be trusted, or ran apart.
    fn judged(self, trusted: bool, apart: Option<&'static str>) -> Change {
        let is_decided = trusted && apart.is_none();
        Change {
            trusted,
            apart,
            verdict: if is_decided { self.verdict } else { Verdict::Undecided },
            ..self
        }
    }

    /// Whether the interval shows a difference that may be that of layouts which were not tried.
    fn may_be_layouts(&self) -> bool {
        verdict_if(self.lacks_layouts, &self.ratio, self.looks) != verdict(&self.ratio, self.looks)
    }

    /// Whether the whole interval is above this limit, whatever layouts that were not tried may
    /// make.
    fn is_surely_past(&self, most: f64) -> bool {
        self.ratio.low > if self.lacks_layouts { most * LAYOUTS_MAKE } else { most }
    }

    /// Whether the intervals of both times reach down to zero.
    fn is_below_resolution(&self) -> bool {
        [self.old, self.new].iter().all(|time| time.contains(0.0))
    }

    /// Why there is no verdict, whatever the interval of the ratio.
    pub fn no_verdict(&self) -> Option<&'static str> {
        match self.trusted {
            _ if self.apart.is_some() => self.apart,
            false => Some("one of the results is not to be trusted"),
            true if self.may_be_layouts() => Some(
                "one of the results lacks layouts of the code, which may make such a difference: \
                 measure it for longer",
            ),
            true if self.of_values && (self.old.contains(0.0) || self.new.contains(0.0)) => Some(
                "the interval of a time contains zero: its values are too few, or differ by too \
                 much",
            ),
            true if self.is_below_resolution() => {
                Some("both times are below resolution: the compiler may have removed the code")
            }
            true if self.ratio.value <= 0.0 => {
                Some("the new time is not above zero: the compiler may have removed the code")
            }
            true if self.ratio.low <= 0.0 && self.ratio.high < 1.0 => Some(
                "the new time is indistinguishable from zero: the compiler may have removed the \
                 code",
            ),
            true => None,
        }
    }
}

impl Compared {
    /// Where a pair lies relative to the threshold; `None` if none was given.
    pub fn limit(&self, pair: &Pair) -> Option<Limit> {
        let most = 1.0 + self.threshold?;
        Some(match &pair.change {
            Ok(change) if !change.trusted || change.apart.is_some() => Limit::Undecided,
            // The whole interval of the time is where no time can be: that is no reason to pass.
            Ok(change) if change.ratio.high <= 0.0 => Limit::Undecided,
            Ok(change) if change.is_surely_past(most) => Limit::Past,
            Ok(change) if change.ratio.high <= most => Limit::Within,
            _ => Limit::Undecided,
        })
    }

    /// Whether everything that the old result has is certainly within the threshold; without a
    /// threshold, whether everything was compared and has a verdict.
    pub fn is_certain(&self) -> bool {
        let certain = |pair: &Pair| match self.limit(pair) {
            Some(limit) => limit == Limit::Within,
            None => pair.change.as_ref().is_ok_and(|change| change.verdict != Verdict::Undecided),
        };
        self.missing.is_empty() && self.pairs.iter().all(certain)
    }

    /// What all times are, of results of another tool; `None` if they differ.
    pub fn measures(&self) -> Option<&Measures> {
        let first = self.pairs.first()?.measures.as_ref()?;
        let is_same = |pair: &Pair| {
            pair.measures.as_ref().is_some_and(|measures| measures.is_of_the_same(first))
        };
        self.pairs.iter().all(is_same).then_some(first)
    }

    /// Number of pairs that lie so relative to the threshold.
    pub fn number_at(&self, limit: Limit) -> usize {
        self.pairs.iter().filter(|pair| self.limit(pair) == Some(limit)).count()
    }

    /// Number of pairs that certainly took longer than the threshold allows.
    pub fn past(&self) -> usize {
        self.number_at(Limit::Past)
    }
}

/// Compares two results. Series are matched by name and code, else by code alone.
pub fn compare(
    old: &ResultDocument,
    new: &ResultDocument,
    threshold: Option<f64>,
    places: Places,
) -> Compared {
    let apart = place::apart(old, new).filter(|_| places == Places::Same);
    let partners = partners(&old.results, &new.results);
    let mut findings = circumstances(&old.environment, &new.environment);
    let of_tools = tools::circumstances(old, new);
    findings.extend(
        of_tools
            .into_iter()
            .filter_map(|(severity, what, old, new)| differ(severity, what, old, new)),
    );
    findings.extend(tools::lacking(old, new));
    let mut pairs = Vec::new();
    for (at, now) in new.results.iter().enumerate() {
        if let Some(before) = partners[at].map(|partner| &old.results[partner]) {
            let pair = pair(before, &old.environment, now, &new.environment, apart);
            findings.extend(core_clock(&old.environment, &new.environment, &pair));
            findings.extend(doubts(before, now));
            pairs.push(pair);
        }
    }
    if pairs.iter().any(Pair::may_differ) {
        findings.extend(other_build(&old.environment, &new.environment));
    }
    let compared = || {
        partners.iter().enumerate().filter_map(|(at, partner)| partner.map(|partner| (partner, at)))
    };
    findings.extend(untrusted("old", compared().map(|(partner, _)| &old.results[partner])));
    findings.extend(untrusted("new", compared().map(|(_, at)| &new.results[at])));
    let mut seen: Vec<Finding> = Vec::new();
    findings.retain(|finding| {
        !seen.contains(finding) && {
            seen.push(finding.clone());
            true
        }
    });
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let missing = old
        .results
        .iter()
        .enumerate()
        .filter(|(at, _)| !partners.contains(&Some(*at)))
        .map(|(_, series)| series.clone());
    let added = new
        .results
        .iter()
        .zip(&partners)
        .filter(|(_, partner)| partner.is_none())
        .map(|(series, _)| series.clone());
    Compared { pairs, missing: missing.collect(), added: added.collect(), findings, threshold }
}

/// The old series of every new one.
fn partners(old: &[Series], new: &[Series]) -> Vec<Option<usize>> {
    let mut partners = vec![None; new.len()];
    let mut taken = vec![false; old.len()];
    let same_both = |a: &Series, b: &Series| a.name == b.name && a.code == b.code;
    let same_code = |a: &Series, b: &Series| a.code.is_some() && a.code == b.code;
    for same in [&same_both as &dyn Fn(&Series, &Series) -> bool, &same_code] {
        for (at, now) in new.iter().enumerate() {
            if partners[at].is_none() {
                partners[at] =
                    (0..old.len()).find(|other| !taken[*other] && same(&old[*other], now));
                partners[at].into_iter().for_each(|other| taken[other] = true);
            }
        }
    }
    partners
}

fn pair(
    old: &Series,
    before: &Environment,
    new: &Series,
    after: &Environment,
    apart: Option<&'static str>,
) -> Pair {
    let component = new.body().map_or_else(|| "body".to_owned(), |(name, _)| name.to_owned());
    let trusted = [old, new].iter().all(|series| series.distrust().is_none());
    let none = tools::differ(old, new)
        .or_else(|| tools::no_interval("old", old))
        .or_else(|| tools::no_interval("new", new));
    let change = match (old.body(), new.body()) {
        _ if none.is_some() => Err(none.unwrap_or_default()),
        (Some(_), Some(_)) => change(old, new, clock(before) == clock(after))
            .map(|change| change.judged(trusted, apart)),
        (None, _) => Err("the old result has no component".to_owned()),
        (_, None) => Err("the new result has no component".to_owned()),
    };
    let measures = new.measures.clone();
    Pair { name: new.name.clone(), code: new.code.clone(), component, measures, change }
}

/// In core cycles if both have them, else in nanoseconds, else in ticks of the same clock. What the
/// rows of both depart from their lines by in the same way is not in the interval of the ratio.
fn change(before: &Series, after: &Series, same_clock: bool) -> Result<Change, String> {
    let interval = |series: &Series, unit| series.body()?.1.figure.interval(unit);
    let both = |unit| Some((unit, interval(before, unit)?, interval(after, unit)?));
    let ticks = || both(Unit::Ticks).filter(|_| same_clock);
    let Some((unit, old, new)) =
        both(Unit::Cycles).or_else(|| both(Unit::Nanoseconds)).or_else(ticks)
    else {
        return Err("the two have no time in a common unit: one has no time, or one is in \
                    nanoseconds and one in ticks, or both are in ticks of different clocks"
            .into());
    };
    let share = differing(before, after);
    let ratio = apart(&with_share(new, after, unit, share), &with_share(old, before, unit, share))
        .ok_or("the old time is not above zero, so there is no ratio")?;
    let lacks_layouts = before.lacks_layouts() || after.lacks_layouts();
    let looks = tools::looks(before, after);
    Ok(Change {
        unit,
        old,
        new,
        ratio,
        verdict: verdict_if(lacks_layouts, &ratio, looks),
        trusted: true,
        lacks_layouts,
        apart: None,
        looks,
        of_values: after.measures.is_some(),
    })
}

fn clock(environment: &Environment) -> Option<&str> {
    environment.clock.as_ref().map(|clock| clock.name.as_str())
}

/// Differences between the circumstances, as findings.
fn circumstances(old: &Environment, new: &Environment) -> Vec<Finding> {
    let machine = |environment: &Environment| {
        let machine = environment.cpu.as_ref()?;
        let guest = if machine.hypervisor { ", virtual machine" } else { "" };
        Some(format!("{}, {}, {} CPUs{guest}", machine.model, machine.architecture, machine.cpus))
    };
    let name = |environment: &Environment| clock(environment).map(str::to_owned);
    let cpu = |environment: &Environment| environment.pinned_cpu.map(|cpu| cpu.to_string());
    let host = |environment: &Environment| environment.host().map(str::to_owned);
    [
        (Severity::Warning, "machine", machine(old), machine(new)),
        (Severity::Note, "system", old.system.clone(), new.system.clone()),
        (Severity::Warning, "clock", name(old), name(new)),
        (Severity::Warning, "compiler", old.compiler.clone(), new.compiler.clone()),
        (
            Severity::Warning,
            "compiler flags",
            old.compiler_flags.clone(),
            new.compiler_flags.clone(),
        ),
        (Severity::Note, "CPU bound to", cpu(old), cpu(new)),
        (Severity::Note, "host", host(old), host(new)),
    ]
    .into_iter()
    .filter_map(|(severity, what, old, new)| differ(severity, what, old, new))
    .collect()
}

fn differ(
    severity: Severity,
    what: &str,
    old: Option<String>,
    new: Option<String>,
) -> Option<Finding> {
    let shown = |text: Option<String>| match text {
        Some(text) if text.is_empty() => "none".to_owned(),
        Some(text) => format!("`{text}`"),
        None => "unknown".to_owned(),
    };
    (old != new).then(|| {
        Finding::new(
            severity,
            ResultFinding::CircumstancesDiffer {
                what: what.into(),
                old: shown(old),
                new: shown(new),
            },
        )
    })
}

/// A finding if the two were measured in different builds of a program.
fn other_build(old: &Environment, new: &Environment) -> Option<Finding> {
    let (old, new) = (old.program.clone()?, new.program.clone()?);
    (old != new).then(|| Finding::new(Severity::Note, ResultFinding::OtherBuild { old, new }))
}

/// A finding if the core clocks differ. It matters only where times are not in core cycles.
fn core_clock(old: &Environment, new: &Environment, pair: &Pair) -> Option<Finding> {
    let (before, after) = (old.core_clock_hz?.value, new.core_clock_hz?.value);
    let in_time = pair.change.as_ref().is_ok_and(|change| change.unit != Unit::Cycles);
    let apart = (after / before - 1.0).abs() > SAME_CORE_CLOCK;
    let shown = |hz: f64| Some(format!("{} MHz", (hz / 1e6).round()));
    (in_time && apart)
        .then(|| differ(Severity::Warning, "core clock", shown(before), shown(after)))
        .flatten()
}

/// The series of one result that are not to be trusted, those with the same reason together.
fn untrusted<'s>(which: &str, all: impl Iterator<Item = &'s Series>) -> Vec<Finding> {
    let mut by_reason: Named<Vec<String>> = Named::new();
    for series in all {
        if let Some(found) = series.distrust() {
            by_reason.entry(&found.message).push(series.title().to_owned());
        }
    }
    let kind = |(reason, series): (String, Vec<String>)| ResultFinding::ComparedUntrusted {
        result: which.into(),
        series,
        reason,
    };
    by_reason.into_iter().map(|found| Finding::new(Severity::Untrusted, kind(found))).collect()
}

/// Findings about a different mode, confidence level or component.
fn doubts(old: &Series, new: &Series) -> Vec<Finding> {
    let title = shortened(new.title());
    let mode = |series: &Series| {
        series.body().and_then(|(_, component)| component.mode).map(|mode| mode.word().to_owned())
    };
    let level =
        |series: &Series| Some((100.0 * series.body()?.1.figure.time()?.level).to_string() + " %");
    let component = |series: &Series| series.body().map(|(name, _)| name.to_owned());
    [
        differ(Severity::Warning, &format!("mode of {title}"), mode(old), mode(new)),
        level(old)
            .and(level(new))
            .and_then(|_| differ(Severity::Note, "confidence level", level(old), level(new))),
        differ(Severity::Warning, &format!("component of {title}"), component(old), component(new)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The title, cut if it is too long for a sentence.
fn shortened(title: &str) -> String {
    const MOST_NAMES: usize = 40;
    match title.char_indices().nth(MOST_NAMES) {
        Some((end, _)) => format!("{}...", &title[..end]),
        None => title.to_owned(),
    }
}
