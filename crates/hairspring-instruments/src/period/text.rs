//! A cyclic task as text. Times are in microseconds, as users of such tools expect.

use super::PeriodReport;
use crate::period::QUANTUM_HIDES_SPREAD;
use crate::period::distribution::Distribution;
use crate::period::histogram::Histogram;
use crate::period::partner::Responded;
use crate::period::summary::{ClockPeriods, Exchange, Summary};
use crate::period::task::Stop;
use hairspring_core::Estimate;
use hairspring_core::judge::{Finding, Severity};
use hairspring_core::stream::Extreme;
use hairspring_view::clean::{clean, cut, pad, width};
use hairspring_view::format::{Digits, count, digits, plus_minus, significant};
use hairspring_view::page::{INDENT, Page, Style, Tone};
use hairspring_view::text::findings;
use hairspring_view::text::{clock, environment};

/// A cyclic task as text.
pub fn period(report: &PeriodReport, style: &Style) -> String {
    let mut page = Page::new(*style);
    let summary = &report.summary;
    page.line(
        &format!("hairspring period: a task due every {}", time(summary.period_ns as f64)),
        Tone::Strong,
    );
    page.gap();
    let all_findings = &summary.findings;
    if all_findings.iter().any(|finding| finding.severity == Severity::Untrusted) {
        page.line("  NOT TO BE TRUSTED", Tone::Alarm);
        findings(&mut page, all_findings, Severity::Untrusted);
        page.gap();
    }
    table(&mut page, summary);
    page.gap();
    counts(&mut page, summary);
    page.gap();
    histogram(&mut page, "latency", &summary.latency.histogram);
    if let Some(round_trip) =
        summary.exchange.as_ref().and_then(|exchange| exchange.round_trip.as_ref())
    {
        page.gap();
        histogram(&mut page, "trip", &round_trip.histogram);
    }
    page.gap();
    for severity in [Severity::Warning, Severity::Note] {
        findings(&mut page, all_findings, severity);
    }
    page.gap();
    circumstances(&mut page, report);
    page.finish()
}

/// The partner's counts as text.
pub fn responder(done: &Responded, address: &str, style: &Style) -> String {
    let mut page = Page::new(*style);
    page.line(&format!("hairspring period: partner at {address}"), Tone::Strong);
    page.gap();
    let ignored = format!(
        "ignored {} foreign and {} short frames",
        count(done.foreign as usize),
        count(done.short as usize)
    );
    let refused = format!("{} answers refused by the system", count(done.not_sent as usize));
    page.item(
        "answered",
        &format!("{} frames; {ignored}; {refused}", count(done.answered as usize)),
        Tone::Strong,
    );
    page.finish()
}

fn us(ns: f64) -> String {
    significant(ns / 1e3, 4)
}

/// A time in a readable unit.
fn time(ns: f64) -> String {
    let (factor, unit) = match ns.abs() {
        size if size < 1e3 => (1.0, "ns"),
        size if size < 1e6 => (1e-3, "us"),
        size if size < 1e9 => (1e-6, "ms"),
        _ => (1e-9, "s"),
    };
    format!("{} {unit}", significant(ns * factor, 4))
}

/// One line of the table.
struct Row {
    name: String,
    cells: [String; 5],
}

impl Row {
    fn new(name: &str, times: &Distribution) -> Row {
        let Extreme { value, cycle } = times.most_ns;
        Row {
            name: clean(name),
            cells: [
                mean(&times.mean_ns),
                us(times.sd_ns),
                us(times.least_ns.value),
                us(value),
                count(cycle as usize),
            ],
        }
    }
}

/// A mean in microseconds, or in nanoseconds if it is small: the mean error of a long run is a
/// fraction of a nanosecond.
fn mean(ns: &Estimate) -> String {
    let size = ns.value.abs().max(if ns.half_width().is_finite() { ns.half_width() } else { 0.0 });
    let (factor, unit) = if size < 1e3 { (1.0, "ns") } else { (1e-3, "us") };
    let Digits { value, half } = digits(&ns.scaled(factor));
    format!("{value} {unit} +- {half}")
}

/// The row of a clock. A spread that is hidden by the quantum is shown as less than the quantum.
fn clock_row(clock: &ClockPeriods, summary: &Summary) -> Row {
    let mut row = Row::new(&format!("error by {}", clock.name), &clock.error);
    let hides = |finding: &&Finding| {
        finding.is(QUANTUM_HIDES_SPREAD) && finding.text("clock") == Some(clock.name.as_str())
    };
    let hidden = summary.findings.iter().find(hides);
    if let Some(quantum_ns) = hidden.and_then(|finding| finding.number("quantum_ns")) {
        row.cells[1] = format!("< {}", us(quantum_ns));
    }
    row
}

/// Width of the name of a row, in columns.
const LONGEST_NAME: usize = 18;

fn table(page: &mut Page, summary: &Summary) {
    let head = ["mean", "spread us", "least us", "most us", "in cycle"].map(str::to_owned);
    let mut rows =
        vec![Row { name: String::new(), cells: head }, Row::new("latency", &summary.latency)];
    for clock in &summary.clocks {
        rows.push(clock_row(clock, summary));
    }
    if let Some(round_trip) =
        summary.exchange.as_ref().and_then(|exchange| exchange.round_trip.as_ref())
    {
        rows.push(Row::new("round trip", round_trip));
    }
    let name = rows.iter().map(|row| width(&row.name)).max().unwrap_or(0).min(LONGEST_NAME);
    let widest = |at: usize| rows.iter().map(|row| width(&row.cells[at])).max().unwrap_or(0);
    let columns = [0, 1, 2, 3, 4].map(widest);
    for (at, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row
            .cells
            .iter()
            .zip(columns)
            .map(|(cell, columns)| format!("{cell:>columns$}"))
            .collect();
        let tone = if at == 0 { Tone::Quiet } else { Tone::Plain };
        page.line(&format!("  {}  {}", pad(&cut(&row.name, name), name), cells.join("  ")), tone);
    }
    let level = significant(100.0 * summary.latency.mean_ns.level, 4);
    page.marked(
        "",
        &format!(
            "latency: wake-up less due time; error: period less due period; spread: standard \
             deviation; intervals of {level} % confidence; a longer run finds a greater maximum"
        ),
    );
}

fn counts(page: &mut Page, summary: &Summary) {
    let due = summary.cycles + summary.missed;
    let share = 100.0 * summary.missed as f64 / due.max(1) as f64;
    let gap = format!(
        "longest gap {} before cycle {}",
        time(summary.longest_gap_ns.value),
        count(summary.longest_gap_ns.cycle as usize)
    );
    let missed = if summary.missed == 0 {
        format!("none of {} cycles; {gap}", count(due as usize))
    } else {
        format!(
            "{} of {} cycles ({} %); {gap}",
            count(summary.missed as usize),
            count(due as usize),
            significant(share, 2)
        )
    };
    page.item("missed", &missed, if summary.missed == 0 { Tone::Plain } else { Tone::Warning });
    clocks(page, summary);
    if let Some(exchange) = &summary.exchange {
        frames(page, exchange);
    }
    late(page, summary);
    if let Some(limit) = summary.limit {
        let (word, tone) = if summary.limit_exceeded() {
            ("EXCEEDED", Tone::Alarm)
        } else {
            ("kept", Tone::Plain)
        };
        let most_latency = summary.latency.most_ns;
        let text = format!(
            "{word}: latency at most {}, {} in cycle {}",
            time(limit.latency_ns),
            time(most_latency.value),
            count(most_latency.cycle as usize)
        );
        page.item("limit", &text, tone);
    }
}

fn clocks(page: &mut Page, summary: &Summary) {
    let disagreement = &summary.disagreement;
    let names = format!("{} against {}", summary.clocks[0].name, summary.clocks[1].name);
    let [least_error, most_error] = disagreement.extremes_ns;
    let spread = format!(
        "spread {} a period, {} to {}",
        time(disagreement.sd_ns),
        time(least_error.value),
        time(most_error.value)
    );
    page.item(
        "clocks",
        &format!(
            "{names}: {} ppm, by the rates from before the run; {spread}",
            plus_minus(&disagreement.ppm)
        ),
        Tone::Plain,
    );
}

fn frames(page: &mut Page, exchange: &Exchange) {
    let number = |number: u64| count(number as usize);
    let text = format!(
        "{} sent to {}, {} answered in time, {} late, {} lost{}",
        number(exchange.sent),
        exchange.partner,
        number(exchange.in_time),
        number(exchange.late),
        number(exchange.lost),
        if exchange.not_sent > 0 {
            format!(", {} not sent", number(exchange.not_sent))
        } else {
            String::new()
        }
    );
    page.item(
        "frames",
        &text,
        if exchange.lost + exchange.late + exchange.not_sent > 0 {
            Tone::Warning
        } else {
            Tone::Plain
        },
    );
    let ignored = exchange.ignored;
    let ignored_frames = [
        (ignored.duplicates, "duplicate"),
        (ignored.stale, "stale"),
        (ignored.foreign, "foreign"),
        (ignored.short, "short"),
    ];
    let seen_frames: Vec<String> = ignored_frames
        .iter()
        .filter(|(seen, _)| *seen > 0)
        .map(|(seen, name)| format!("{} {name}", number(*seen)))
        .collect();
    if !seen_frames.is_empty() {
        page.item("ignored", &seen_frames.join(", "), Tone::Plain);
    }
}

/// Outliers that are printed; the JSON document lists more.
const SHOWN_OUTLIERS: usize = 6;

fn late(page: &mut Page, summary: &Summary) {
    let late_cycles = summary.latency.histogram.above() as usize;
    if late_cycles == 0 {
        return;
    }
    let shown_cycles: Vec<String> = summary
        .outliers
        .iter()
        .take(SHOWN_OUTLIERS)
        .map(|late| format!("{} ({})", count(late.cycle as usize), time(late.latency_ns)))
        .collect();
    let more = if late_cycles > shown_cycles.len() {
        format!(", and {} more", count(late_cycles - shown_cycles.len()))
    } else {
        String::new()
    };
    let beyond = time(summary.latency.histogram.range_ns().1);
    let cycles = if late_cycles == 1 {
        "1 cycle".to_owned()
    } else {
        format!("{} cycles", count(late_cycles))
    };
    page.item(
        "late",
        &format!("{cycles} woke {beyond} late or more: {}{more}", shown_cycles.join(", ")),
        Tone::Plain,
    );
}

/// Lower edges of the lines of a printed histogram: 1, 2, 5 times powers of ten.
fn edges() -> impl Iterator<Item = f64> {
    std::iter::once(0.0)
        .chain((0..13).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power))))
}

/// The counts of a histogram in lines of growing width, each with its share of all and a bar.
fn lines(of: &Histogram) -> Vec<(String, u64)> {
    let top = of.range_ns().1;
    let all_edges: Vec<f64> =
        edges().filter(|edge| *edge < top && (*edge == 0.0 || *edge >= of.bin_ns())).collect();
    let counts: Vec<u64> = all_edges
        .iter()
        .enumerate()
        .map(|(at, low)| {
            let high = all_edges.get(at + 1).copied().unwrap_or(top);
            // The bin that an edge falls into goes with the line below it, so that each bin is
            // counted once.
            of.filled()
                .filter(|(from, _)| *from >= low - 1e-6 && *from < high - 1e-6)
                .map(|(_, count)| count)
                .sum()
        })
        .collect();
    let (Some(first), Some(last)) =
        (counts.iter().position(|count| *count > 0), counts.iter().rposition(|count| *count > 0))
    else {
        return Vec::new();
    };
    (first..=last).map(|at| (format!("from {}", time(all_edges[at])), counts[at])).collect()
}

fn histogram(page: &mut Page, name: &str, of: &Histogram) {
    let mut all_lines = lines(of);
    if of.below() > 0 {
        all_lines.insert(0, ("below 0".into(), of.below()));
    }
    if of.above() > 0 {
        all_lines.push((format!("beyond {}", time(of.range_ns().1)), of.above()));
    }
    let most_cycles = all_lines.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    let label = all_lines.iter().map(|(label, _)| width(label)).max().unwrap_or(0);
    let digits =
        all_lines.iter().map(|(_, number)| count(*number as usize).len()).max().unwrap_or(0);
    let room = page.width().saturating_sub(INDENT + label + digits + 4) as f64;
    for (at, (edge, number)) in all_lines.iter().enumerate() {
        // A bar that is not empty has at least one mark.
        let bar = "#".repeat(
            (room * *number as f64 / most_cycles as f64)
                .round()
                .max(f64::from(u8::from(*number > 0))) as usize,
        );
        let name = if at == 0 { name } else { "" };
        page.line(
            &format!(
                "  {}  {}  {:>digits$}  {bar}",
                pad(name, INDENT - 4),
                pad(edge, label),
                count(*number as usize)
            ),
            Tone::Plain,
        );
    }
}

fn circumstances(page: &mut Page, report: &PeriodReport) {
    let stop = match report.summary.stop {
        Stop::Done => "ran to its end",
        Stop::Interrupted => "interrupted",
        Stop::LimitExceeded => "ended at the limit",
    };
    let stolen = report
        .stolen_ms
        .map_or_else(String::new, |ms| format!("; stolen {} ms", significant(ms, 3)));
    let switched = match report.switches {
        1 => "once".to_owned(),
        times => format!("{} times", count(times.max(0) as usize)),
    };
    let text =
        format!("{}; {stop}; switched out {switched}{stolen}", time(report.elapsed_ms * 1e6));
    page.item("run", &text, Tone::Quiet);
    let priority = match &report.real_time {
        Ok(priority) => format!("real-time, SCHED_FIFO {priority}"),
        Err(reason) if report.environment.priority_raised == Some(true) => {
            format!("nice -20, not real-time: {reason}")
        }
        Err(reason) => format!("not real-time: {reason}"),
    };
    page.item(
        "priority",
        &format!(
            "{priority}; no cycle is shorter than {} here",
            time(report.least_cycle_ns as f64)
        ),
        Tone::Quiet,
    );
    environment(page, &report.environment);
    page.item("clock", &clock(&report.second_clock), Tone::Quiet);
}
