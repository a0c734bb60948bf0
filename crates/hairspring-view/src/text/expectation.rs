//! A measurement beside its expectation, as text.

use crate::clean::clean;
use crate::format::{Digits, bound, digits, fixed, significant, time_unit};
use crate::page::{Page, Style, Tone};
use hairspring_core::Estimate;
use hairspring_core::judge::Agreement;
use hairspring_result::Unit;
use hairspring_result::document::{Expectation, Scheduling};

/// The comparison, to follow a report.
pub fn expectation(expectation: &Expectation, style: &Style) -> String {
    let mut page = Page::new(*style);
    page.line("", Tone::Plain);
    page.line(&format!("against the expectation {}", clean(&expectation.expression)), Tone::Strong);
    page.gap();
    let assumed = if expectation.is_stated { "" } else { " (2 % are assumed, as it states none)" };
    page.item("expected", &(number(&expectation.expected, expectation.unit) + assumed), Tone::Plain);
    if let Some(measured) = &expectation.measured {
        page.item("measured", &number(measured, expectation.unit), Tone::Plain);
    }
    let tone = if expectation.verdict == Agreement::Deviates { Tone::Alarm } else { Tone::Strong };
    page.item("verdict", &verdict(expectation), tone);
    if let Some(found) = &expectation.scheduling {
        scheduling(&mut page, found);
    }
    page.finish()
}

/// What a scheduling model says, and what a difference may mean.
fn scheduling(page: &mut Page, found: &Scheduling) {
    let (throughput, single) = (significant(found.throughput_cycles, 4), significant(found.single_cycles, 4));
    let limits = found.bottleneck.join("; ");
    page.item(
        "model",
        &format!("{}: units and front end alone {throughput} cycles, one copy from start to end {single} cycles; {limits}", found.model),
        Tone::Plain,
    );
    found.warnings.iter().for_each(|warning| page.marked("", &format!("it warns: {warning}")));
    found.may_mean.iter().for_each(|meaning| page.marked("may mean: ", meaning));
}

/// A time, or its upper bound where it cannot be told from zero.
fn number(estimate: &Estimate, unit: Unit) -> String {
    let (factor, word) = if unit == Unit::Nanoseconds { time_unit(estimate.value) } else { (1.0, unit.word()) };
    let scaled = estimate.scaled(factor);
    if scaled.low <= 0.0 && scaled.high >= 0.0 && scaled.half_width() > 0.0 {
        return format!("{} {word}, below {} {word}", significant(scaled.value, 2), bound(scaled.high));
    }
    let Digits { value, half } = digits(&scaled);
    format!("{value} {word} +- {half}")
}

/// A ratio: near 1 its distance from 1 is what counts.
pub fn ratio(ratio: f64) -> String {
    if (0.5..2.0).contains(&ratio) { fixed(ratio, 4) } else { significant(ratio, 4) }
}

/// The verdict in words: by which factor and how many sigmas the two differ.
pub fn verdict(expectation: &Expectation) -> String {
    let factor = expectation.factor.map(|factor| format!("{} times the expected value", ratio(factor)));
    let sigmas = expectation.sigmas.filter(|sigmas| *sigmas > 0.0);
    let sigmas = sigmas.map(|sigmas| format!("{} sigmas beyond the systematic bounds", significant(sigmas, 2)));
    let numbers: Vec<String> = factor.into_iter().chain(sigmas).collect();
    let word = match expectation.verdict {
        Agreement::Agrees => "agrees".to_owned(),
        Agreement::Deviates => "deviates".to_owned(),
        Agreement::Undecided => format!("undecided: {}", expectation.verdict_reason.as_deref().unwrap_or("not precise enough to say")),
    };
    std::iter::once(word).chain((!numbers.is_empty()).then(|| numbers.join(", "))).collect::<Vec<_>>().join(": ")
}
