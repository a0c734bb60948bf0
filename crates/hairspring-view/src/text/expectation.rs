//! A measurement beside its expectation, as text.

use crate::format::{
    Digits, bound, digits, fixed, is_lopsided, significant, time_unit, with_interval,
};
use crate::page::{Page, Tone};
use hairspring_core::Estimate;
use hairspring_core::judge::Agreement;
use hairspring_result::document::{Expectation, Scheduling};
use hairspring_result::{ResultDocument, Series, Unit};

/// The expectation of a document and the verdict, to follow the times. The number is named where
/// the page has several.
pub fn expectation(page: &mut Page, document: &ResultDocument) {
    let Some(expectation) = document.expectation.as_deref() else { return };
    let assumed = match (expectation.is_stated, expectation.propagations_agree) {
        (false, _) => ", which states no uncertainty: 2 % are assumed",
        (_, false) => " (ends by Monte Carlo, because the model is not straight)",
        _ => "",
    };
    let (number, expression) =
        (number(&expectation.expected, expectation.unit), &expectation.expression);
    page.item(
        "expected",
        &format!("{}{number} by `{expression}`{assumed}", about(document, expectation)),
        Tone::Plain,
    );
    let measured = expectation.measured.as_ref().filter(|_| expectation.unit == Unit::Ticks);
    if let Some(measured) = measured {
        page.item("measured", &self::number(measured, expectation.unit), Tone::Plain);
    }
    let tone = if expectation.verdict == Agreement::Deviates { Tone::Alarm } else { Tone::Strong };
    page.item("verdict", &verdict(expectation), tone);
    if let Some(found) = &expectation.scheduling {
        scheduling(page, found);
    }
}

/// The name of the number with a colon, where a document has several.
fn about(document: &ResultDocument, expectation: &Expectation) -> String {
    let several = |series: &Series| series.components.len() > 1;
    match &document.results[..] {
        [series] if !several(series) => String::new(),
        [_] => format!("{}: ", expectation.component),
        all if all.iter().any(several) => {
            format!("{}, {}: ", expectation.series, expectation.component)
        }
        _ => format!("{}: ", expectation.series),
    }
}

/// What a scheduling model says, and what a difference may mean.
fn scheduling(page: &mut Page, scheduling: &Scheduling) {
    let (throughput, single) =
        (significant(scheduling.throughput_cycles, 4), significant(scheduling.single_cycles, 4));
    let limits = scheduling.bottleneck.join("; ");
    page.item(
        "model",
        &format!(
            "{}: units and front end alone {throughput} cycles, one copy from start to end \
             {single} cycles; {limits}",
            scheduling.model
        ),
        Tone::Plain,
    );
    scheduling.warnings.iter().for_each(|warning| page.marked("", &format!("it warns: {warning}")));
    scheduling.may_mean.iter().for_each(|meaning| page.marked("may mean: ", meaning));
}

/// A time, or its upper bound where it is indistinguishable from zero.
fn number(estimate: &Estimate, unit: Unit) -> String {
    let (factor, word) =
        if unit == Unit::Nanoseconds { time_unit(estimate.value) } else { (1.0, unit.word()) };
    let scaled = estimate.scaled(factor);
    if scaled.contains(0.0) && scaled.half_width() > 0.0 {
        return format!(
            "{} {word}, below {} {word}",
            significant(scaled.value, 2),
            bound(scaled.high)
        );
    }
    if is_lopsided(&scaled) {
        return format!("{} {word}", with_interval(&scaled));
    }
    let Digits { value, half } = digits(&scaled);
    format!("{value} {word} +- {half}")
}

/// A ratio: near 1 its distance from 1 is what counts.
pub fn ratio(ratio: f64) -> String {
    if (0.5..2.0).contains(&ratio) { fixed(ratio, 4) } else { significant(ratio, 4) }
}

/// How far two values differ: `a factor of 1.2500, 4.9 sigmas`. Sigmas are beyond the systematic
/// bounds.
pub fn distance(factor: Option<f64>, sigmas: Option<f64>) -> Option<String> {
    let factor = factor.map(|factor| format!("a factor of {}", ratio(factor)));
    let sigmas = sigmas.map(|sigmas| match sigmas {
        0.0 => "within the systematic bounds".to_owned(),
        sigmas => format!("{} sigmas", significant(sigmas, 2)),
    });
    let parts: Vec<String> = factor.into_iter().chain(sigmas).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The verdict in words: by which factor and how many sigmas the two differ.
fn verdict(expectation: &Expectation) -> String {
    let word = match expectation.verdict {
        Agreement::Agrees => "agrees".to_owned(),
        Agreement::Deviates => "deviates".to_owned(),
        Agreement::Undecided => format!(
            "undecided: {}",
            expectation.verdict_reason.as_deref().unwrap_or("not precise enough to say")
        ),
    };
    let distance = distance(expectation.factor, expectation.sigmas);
    std::iter::once(word).chain(distance).collect::<Vec<_>>().join(": ")
}
