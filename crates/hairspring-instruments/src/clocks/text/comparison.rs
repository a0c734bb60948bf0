//! Two clocks over the same spans.

use super::{percent, short_time};
use crate::clocks::{Compared, Comparison, SpanPoint, constant_ns};
use hairspring_core::Estimate;
use hairspring_host::clock::CountsWhen;
use hairspring_result::Environment;
use hairspring_view::clean::{clean, pad};
use hairspring_view::format::{count, plus_minus, significant};
use hairspring_view::page::{Page, Style, Tone};
use hairspring_view::text::machine_line;

/// The comparison as text.
pub fn clock_comparison(
    comparison: &Comparison,
    level: f64,
    circumstances: &Environment,
    style: &Style,
) -> String {
    let mut page = Page::new(*style);
    let (a, b) = (clean(&comparison.a.name), clean(&comparison.b.name));
    page.line(&format!("hairspring clocks: {a} compared with {b}"), Tone::Strong);
    page.gap();
    let constant = constant_ns(&comparison.points, level).map(|found| found.estimate(level));
    table(&mut page, comparison, constant.as_ref(), level);
    page.marked("", &legend(&a, &b, level));
    page.gap();
    if let Some(constant) = constant {
        let text = format!(
            "{} ns over every span: what remains of the cost of the reads, not a difference of \
             the clocks",
            plus_minus(&constant)
        );
        page.item("constant", &text, Tone::Plain);
    }
    too_short(&mut page, comparison);
    coarse(&mut page, comparison, level);
    [&comparison.a, &comparison.b].into_iter().for_each(|compared| clock(&mut page, compared));
    machine_line(&mut page, circumstances);
    page.finish()
}

/// The differences, a line for each length of the spans.
fn table(page: &mut Page, comparison: &Comparison, constant: Option<&Estimate>, level: f64) {
    let difference = pad("difference in percent", DIFFERENCE);
    let head = format!(
        "  {:>7}  {:>8}  {difference}  {:>10}  {:>6}  {:>8}",
        "aimed", "seen", "single, sd", "used", "left out"
    );
    page.line(&head, Tone::Strong);
    for point in &comparison.points {
        line(page, point, constant, level);
    }
    page.gap();
}

/// What the columns of the table are.
fn legend(a: &str, b: &str, level: f64) -> String {
    format!(
        "difference: mean of the time by {a} less that by {b}, in percent of the latter; \
         intervals of {} confidence; * if it is more than the constant explains. Each clock is \
         read outside the other equally often, so the cost of the reads cancels; what remains of \
         it is the constant. seen: mean length by {b}. single, sd: standard deviation of the \
         difference of one span. left out: something else ran within the span or between the \
         reads of the two.",
        percent(level)
    )
}

/// One of the two clocks: when it counts, its rate and its step.
fn clock(page: &mut Page, clock: &Compared) {
    counting(page, clock);
    let rate = &clock.rate;
    let ppm = if rate.uncertainty_ppm > 0.0 {
        format!(" +- {} ppm", significant(rate.uncertainty_ppm, 2))
    } else {
        String::new()
    };
    let step = short_time(clock.step_ns);
    let text = format!(
        "{}: {} MHz{ppm}, {}; steps by {step}",
        clock.name,
        significant(rate.hz / 1e6, 9),
        rate.provenance
    );
    page.item("clock", &text, Tone::Quiet);
}

/// Columns of a difference.
const DIFFERENCE: usize = 24;

fn too_short(page: &mut Page, comparison: &Comparison) {
    if comparison.too_short_ns.is_empty() {
        return;
    }
    let all_spans: Vec<String> = comparison.too_short_ns.iter().map(|ns| short_time(*ns)).collect();
    let text = format!(
        "spans of {} are too short: the reads of both clocks alone take {}",
        all_spans.join(", "),
        short_time(comparison.least_span_ns)
    );
    page.item("reads", &text, Tone::Warning);
}

/// Warns about a clock that is too coarse for some of the spans.
fn coarse(page: &mut Page, comparison: &Comparison, level: f64) {
    let (a, b) = (&comparison.a, &comparison.b);
    let unknown =
        |point: &&SpanPoint| point.percent.is_none() || point.bound_percent(level).is_some();
    let Some(longest) = comparison.points.iter().rfind(unknown) else { return };
    let clock = if a.step_ns > b.step_ns { a } else { b };
    if clock.step_ns <= longest.aimed_ns {
        return;
    }
    let text = format!(
        "{} steps by {}, too coarse for spans of {} and less, so a difference there is unknown; \
         compare the clocks over longer times",
        clock.name,
        short_time(clock.step_ns),
        short_time(longest.aimed_ns)
    );
    page.item("coarse", &text, Tone::Warning);
}

fn counting(page: &mut Page, clock: &Compared) {
    let whose = match clock.counts {
        CountsWhen::Always => return,
        CountsWhen::WhileCoreRuns => "the core runs",
        CountsWhen::WhileThreadRuns => "this thread runs",
        CountsWhen::WhileProcessRuns => "threads of this process run",
    };
    let text = format!(
        "{} counts only while {whose}: the difference includes the time of other threads and of \
         the hypervisor, and is not one of the rates",
        clock.name
    );
    page.item("counts", &text, Tone::Warning);
}

fn line(page: &mut Page, point: &SpanPoint, constant: Option<&Estimate>, level: f64) {
    let difference = point.percent.as_ref().map(|percent| percent.estimate(level));
    let text = match (difference, point.bound_percent(level)) {
        (_, Some(bound)) => format!("unknown: up to {}", significant(bound, 2)),
        (Some(estimate), None) => plus_minus(&estimate),
        (None, None) => point.reason().to_owned(),
    };
    let sd =
        if point.sd_percent.is_finite() { significant(point.sd_percent, 3) } else { "-".into() };
    let (used, out) = (count(point.used), count(point.left_out));
    let mark = if point.differs(constant, level) { "*" } else { " " };
    let (aimed_text, seen_text) = (
        short_time(point.aimed_ns),
        if point.used > 0 { short_time(point.seen_ns) } else { "-".into() },
    );
    page.line(
        &format!(
            "  {aimed_text:>7}  {seen_text:>8}  {}{mark} {sd:>10}  {used:>6}  {out:>8}",
            pad(&text, DIFFERENCE)
        ),
        Tone::Plain,
    );
}
