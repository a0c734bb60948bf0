//! The overhead of the stopwatch, in the form of StopWatch's Table 2.

use super::{percent, short_time};
use crate::clocks::{ClockOverhead, OverheadReport};
use hairspring_measure::stopwatch::{Moments, Overhead};
use hairspring_result::Environment;
use hairspring_view::clean::{clean, pad};
use hairspring_view::format::{count, significant};
use hairspring_view::page::{Page, Style, Tone};
use hairspring_view::text::machine_line;

/// The overhead as text.
pub fn stopwatch_overhead(
    report: &OverheadReport,
    level: f64,
    circumstances: &Environment,
    style: &Style,
) -> String {
    let mut page = Page::new(*style);
    page.line("hairspring clocks --overhead: what a stopwatch reads for no work", Tone::Strong);
    page.gap();
    table(&mut page, report, level);
    page.gap();
    page.marked("", &legend(level));
    page.gap();
    report.clocks.iter().for_each(|clock| coarse(&mut page, clock));
    machine_line(&mut page, circumstances);
    page.finish()
}

/// A column for each clock: its rate, and the overhead with its parts.
fn table(page: &mut Page, report: &OverheadReport, level: f64) {
    let title: Vec<String> = report.clocks.iter().map(|clock| clean(&clock.clock)).collect();
    row(page, "", title, Tone::Strong);
    let figure = |of: fn(&Overhead) -> &Moments, statistic: fn(&Moments) -> f64| {
        report
            .clocks
            .iter()
            .map(|clock| {
                clock.steadiest().map_or_else(String::new, |o| both(statistic(of(o)), clock))
            })
            .collect::<Vec<_>>()
    };
    let half = |of: fn(&Overhead) -> &Moments| {
        let text = |clock: &ClockOverhead| {
            clock
                .mean(of, level)
                .map_or_else(String::new, |mean| both(mean.estimate(level).half_width(), clock))
        };
        report.clocks.iter().map(text).collect::<Vec<_>>()
    };
    let hertz = report
        .clocks
        .iter()
        .map(|clock| format!("{} MHz", significant(clock.rate.hz / 1e6, 7)))
        .collect();
    row(page, "tick rate", hertz, Tone::Plain);
    row(page, "total overhead", figure(|o| &o.total, |m| m.mean), Tone::Plain);
    row(page, "  +-", half(|o| &o.total), Tone::Plain);
    row(page, "  its deviation", figure(|o| &o.total, |m| m.sd), Tone::Plain);
    row(page, "two reads in a row", figure(|o| &o.read, |m| m.mean), Tone::Plain);
    row(page, "  +-", half(|o| &o.read), Tone::Plain);
    row(page, "mean calibrator", figure(|o| &o.calibrator, |m| m.mean), Tone::Plain);
    row(page, "  +-", half(|o| &o.calibrator), Tone::Plain);
    row(page, "  its deviation", figure(|o| &o.calibrator, |m| m.sd), Tone::Plain);
    row(
        page,
        "total, lowest of 5",
        report.clocks.iter().map(|clock| both(clock.range().0, clock)).collect(),
        Tone::Plain,
    );
    row(
        page,
        "total, highest of 5",
        report.clocks.iter().map(|clock| both(clock.range().1, clock)).collect(),
        Tone::Plain,
    );
    row(page, "runs used", report.clocks.iter().map(runs).collect(), Tone::Plain);
}

/// What the lines of the table are.
fn legend(level: f64) -> String {
    let text = "ticks of the clock, and time. total: between start and stop with nothing in \
                between; it is subtracted from what the stopwatch reads, and its deviation is \
                part of the result's uncertainty. calibrator: the total less two reads in a row, \
                run by run: the stopwatch's own part. Of five repetitions the one with the least \
                deviation is shown, as in the paper; runs with an interrupt in them are left out.";
    format!("{text} +-: intervals of {} confidence, from the spread of the five.", percent(level))
}

/// Warns about a clock that steps by more than its overhead: only some of its runs contain a step.
fn coarse(page: &mut Page, clock: &ClockOverhead) {
    let Some(total) = clock.steadiest().map(|steadiest| steadiest.total.mean) else { return };
    if clock.quantum as f64 <= total {
        return;
    }
    let step = short_time(clock.quantum as f64 * 1e9 / clock.rate.hz);
    let text = format!(
        "{} steps by {step}, which is more than its overhead: single runs do not show it, only \
         the mean does, within its interval",
        clock.clock
    );
    page.item("coarse", &text, Tone::Warning);
}

fn row(page: &mut Page, label: &str, cells: Vec<String>, tone: Tone) {
    let cells: Vec<String> = cells.iter().map(|cell| pad(cell, 18)).collect();
    page.line(&format!("  {} {}", pad(label, 20), cells.join(" ")), tone);
}

/// `69.7 (26.8 ns)`.
fn both(ticks: f64, clock: &ClockOverhead) -> String {
    let digits = if ticks.abs() < 1.0 { 3 } else { 4 }; // no longer than a cell
    format!("{} ({})", significant(ticks, digits), short_time(ticks * 1e9 / clock.rate.hz))
}

fn runs(clock: &ClockOverhead) -> String {
    clock
        .steadiest()
        .map_or_else(String::new, |o| format!("{} of {}", count(o.total.used), count(o.total.all)))
}
