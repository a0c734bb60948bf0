//! Two clocks over the same spans.

use super::super::environment::machine_line;
use super::super::page::{Page, Style, Tone};
use super::{percent, short_time};
use crate::clean::{clean, pad};
use crate::document::Environment;
use crate::format::{count, plus_minus, significant};
use hairspring_machine::clocks::{Comparison, SpanPoint};

/// The comparison as text.
pub fn clock_comparison(comparison: &Comparison, level: f64, circumstances: &Environment, style: &Style) -> String {
    let mut page = Page::new(*style);
    let (a, b) = (clean(&comparison.a.0), clean(&comparison.b.0));
    page.line(&format!("hairspring clocks: {a} compared with {b}"), Tone::Strong);
    page.gap();
    let head = format!("  {:>9}  {}  {:>12}  {:>7}  {:>8}", "span", pad("difference in percent", 26), "single, sd", "used", "left out");
    page.line(&head, Tone::Strong);
    for point in &comparison.points {
        line(&mut page, point, level);
    }
    page.gap();
    let text = format!(
        "difference: time by {a} less time by {b}, in percent of it, on the mean; intervals of {} confidence, * where zero is not in it. Either clock is \
         read outside the other as often and both are read warm, so the cost of the reads is in neither. single: the same for one span. left out: \
         something else ran between the reads of the two.",
        percent(level)
    );
    page.marked("", &text);
    page.gap();
    for (name, rate) in [&comparison.a, &comparison.b] {
        let ppm = if rate.uncertainty_ppm > 0.0 { format!(" +- {} ppm", significant(rate.uncertainty_ppm, 2)) } else { String::new() };
        page.item("clock", &format!("{name}: {} MHz{ppm}, {}", significant(rate.hz / 1e6, 9), rate.provenance), Tone::Quiet);
    }
    machine_line(&mut page, circumstances);
    page.finish()
}

fn line(page: &mut Page, point: &SpanPoint, level: f64) {
    let difference = point.percent.as_ref().map(|percent| percent.estimate(level));
    let text = difference.map_or_else(|| "the second did not move".to_owned(), |estimate| plus_minus(&estimate));
    let apart = difference.is_some_and(|estimate| !estimate.contains(0.0));
    let sd = if point.sd_percent.is_finite() { significant(point.sd_percent, 3) } else { "-".into() };
    let (used, out) = (count(point.used), count(point.left_out));
    let mark = if apart { "*" } else { " " };
    page.line(&format!("  {:>9}  {}{mark} {sd:>12}  {used:>7}  {out:>8}", short_time(point.seen_ns), pad(&text, 26)), Tone::Plain);
}
