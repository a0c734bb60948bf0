//! A waveform as text.

use super::counts::Bin;
use super::{Kind, Summary, Waveform};
use hairspring_core::Estimate;
use hairspring_view::clean::clean;
use hairspring_view::format::{bar, count, digits, frequency, significant, time_unit};
use hairspring_view::page::{Page, Style, Tone};
use hairspring_view::text::all_findings;

/// Width of a bar in characters.
const BAR: usize = 40;

/// The report on a waveform.
pub fn waveform(waveform: &Waveform, style: &Style) -> String {
    let mut page = Page::new(*style);
    let channel = clean(&waveform.recording.channel);
    page.line(&format!("hairspring capture: pulses of channel {channel}"), Tone::Strong);
    page.gap();
    waveform.summaries.iter().for_each(|summary| quantity(&mut page, summary));
    if let Some(hz) = waveform.frequency() {
        page.item("rate", &frequency(&hz), Tone::Plain);
    }
    page.gap();
    all_findings(&mut page, &waveform.findings);
    page.gap();
    recorded(&mut page, waveform);
    let varies = |summary: &&Summary| summary.distribution.bins.len() > 1;
    for summary in waveform.summaries.iter().filter(varies) {
        histogram(&mut page, summary);
    }
    page.finish()
}

/// The unit of a quantity, with the factor from its values.
fn unit_of(summary: &Summary) -> (f64, &'static str) {
    match summary.kind {
        Kind::Duty => (100.0, "%"),
        _ => time_unit(summary.distribution.most.0.abs().max(summary.jitter.value)),
    }
}

fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Period => "period",
        Kind::High => "high",
        Kind::Low => "low",
        Kind::CycleToCycle => "cycles",
        Kind::Duty => "duty",
    }
}

/// `1.50 us +- 0.02`, or the value alone where its interval is unknown.
fn interval(estimate: &Estimate, (factor, unit): (f64, &str)) -> String {
    if !estimate.half_width().is_finite() {
        return format!("{} {unit}, without an interval", significant(estimate.value * factor, 4));
    }
    let shown = digits(&estimate.scaled(factor));
    format!("{} {unit} +- {}", shown.value, shown.half)
}

fn quantity(page: &mut Page, summary: &Summary) {
    let unit = unit_of(summary);
    let shown_value = |value: f64| significant(value * unit.0, 6);
    let jitter_unit =
        if summary.kind == Kind::Duty { unit } else { time_unit(summary.jitter.value) };
    let jitter = |value: f64| significant(value * jitter_unit.0, 3);
    let rest = format!(
        "{} to {} {}, jitter {} {} rms ({} to {}), {} values",
        shown_value(summary.distribution.least.0),
        shown_value(summary.distribution.most.0),
        unit.1,
        jitter(summary.jitter.value),
        jitter_unit.1,
        jitter(summary.jitter.low),
        jitter(summary.jitter.high),
        count(summary.count as usize)
    );
    if summary.kind == Kind::CycleToCycle {
        let text = format!("from one period to the next: {rest}");
        page.item(title(summary.kind), &text, Tone::Plain);
        return;
    }
    page.item(title(summary.kind), &interval(&summary.mean, unit), Tone::Strong);
    page.marked("", &rest);
}

fn recorded(page: &mut Page, waveform: &Waveform) {
    let rate = &waveform.rate;
    let (factor, unit) = time_unit(1e9 * waveform.seconds);
    let edges = format!(
        "{} in {} {unit}",
        count(waveform.recording.edges as usize),
        significant(1e9 * waveform.seconds * factor, 5)
    );
    page.item("edges", &edges, Tone::Quiet);
    let (factor, unit) = time_unit(1e9 * waveform.quantum_s);
    let step = format!(
        "+- {} ppm ({}); edges are known to {} {unit}",
        significant(rate.uncertainty_ppm, 2),
        rate.provenance,
        significant(1e9 * waveform.quantum_s * factor, 4)
    );
    page.item("clock", &step, Tone::Quiet);
    let level = waveform.summaries.first().map_or(0.95, |summary| summary.mean.level);
    let level = format!("intervals of {} % confidence", significant(100.0 * level, 4));
    page.item("", &level, Tone::Quiet);
}

fn histogram(page: &mut Page, summary: &Summary) {
    let (factor, unit) = unit_of(summary);
    page.gap();
    page.line(&format!("  {} in {unit}", title(summary.kind)), Tone::Strong);
    let bins = &summary.distribution.bins;
    let most_values = bins.iter().map(|bin| bin.count).max().unwrap_or(1);
    let shown_value = |value: f64| significant(value * factor, 6);
    for bin in bins {
        let range = match bin {
            Bin { low, high, .. } if low.is_infinite() => format!("< {}", shown_value(*high)),
            Bin { low, high, .. } if high.is_infinite() => format!("> {}", shown_value(*low)),
            Bin { low, high, .. } => shown_value(0.5 * (low + high)),
        };
        let marks = bar(bin.count, most_values, BAR);
        let text = format!("{range:>16} {:>11} {marks}", count(bin.count as usize));
        page.line(text.trim_end(), Tone::Plain);
    }
}
