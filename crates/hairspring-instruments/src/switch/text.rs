//! The cost of a switch as text.

use super::design::{CALLS, FLUSH, FLUSHED_REFILL, REFILL, SWITCH, TOUCH, WORK};
use super::document::{Asked, Results, Sides};
use super::mechanism::Mechanism;
use super::result::{Check, Cost, Part, Switched};
use hairspring_core::Estimate;
use hairspring_core::load::Load;
use hairspring_result::Environment;
use hairspring_view::clean::{pad, width};
use hairspring_view::format::{bound, count, plus_minus, significant};
use hairspring_view::page::{Page, Style, Tone};
use hairspring_view::text::{all_findings, machine_line};

/// The report.
pub fn switch(
    results: Results,
    asked_settings: &Asked,
    circumstances: &Environment,
    style: &Style,
) -> String {
    let mut page = Page::new(*style);
    let sides = if asked_settings.sides == Sides::Threads { "threads" } else { "processes" };
    page.line(
        &format!("hairspring switch: two {sides} that alternate on CPU {}", asked_settings.cpu),
        Tone::Strong,
    );
    page.gap();
    comparison(&mut page, results);
    for (mechanism, switched) in results {
        page.gap();
        match switched {
            Ok(found) => one(&mut page, found, asked_settings),
            Err(reason) => page.item(mechanism.name(), reason, Tone::Alarm),
        }
    }
    page.gap();
    machine_line(&mut page, circumstances);
    page.finish()
}

fn nanoseconds(time: &Estimate) -> String {
    format!("{} ns", plus_minus(time))
}

fn comparison(page: &mut Page, results: Results) {
    page.line(
        &format!(
            "  {}  {}  {}",
            pad("by", 8),
            pad("a switch with its calls", 26),
            "the switch alone"
        ),
        Tone::Strong,
    );
    for (mechanism, switched) in results {
        match switched.as_ref().ok().and_then(|found| Some((found, found.warm()?))) {
            Some((found, warm)) => page.line(&compared(*mechanism, found, warm), Tone::Plain),
            None => page
                .line(&format!("  {}  unknown, see below", pad(mechanism.name(), 8)), Tone::Alarm),
        }
    }
    if let Some(level) =
        results.iter().find_map(|(_, found)| Some(found.as_ref().ok()?.warm()?.ns.level))
    {
        page.marked("", &format!("intervals of {} % confidence", significant(100.0 * level, 4)));
    }
}

fn compared(mechanism: Mechanism, switched: &Switched, warm: &Cost) -> String {
    let alone = switched
        .parts
        .iter()
        .find(|part| part.name == SWITCH)
        .map_or_else(|| "unknown".to_owned(), time);
    format!("  {}  {}  {alone}", pad(mechanism.name(), 8), pad(&nanoseconds(&warm.ns), 26))
}

/// The time of a component. A negative one is shown as it is.
fn time(part: &Part) -> String {
    match part.bound_ns {
        Some(most) if part.ns.low <= 0.0 => {
            format!("{} (below {} ns)", nanoseconds(&part.ns), bound(most))
        }
        _ => nanoseconds(&part.ns),
    }
}

fn one(page: &mut Page, switched: &Switched, asked_settings: &Asked) {
    page.line(
        &format!("  {} ({})", switched.mechanism.name(), switched.mechanism.calls()),
        Tone::Strong,
    );
    for cost in &switched.costs {
        let label = cost.cache.name();
        let cycles = cost
            .cycles
            .map_or_else(String::new, |cycles| format!(" = {} cycles", plus_minus(&cycles)));
        page.item(
            label,
            &format!(
                "{}{cycles}, {}",
                nanoseconds(&cost.ns),
                cost.cache.meaning(asked_settings.bytes)
            ),
            Tone::Strong,
        );
    }
    for part in &switched.parts {
        page.item(
            "",
            &format!("{}: {}, {}", part.name, time(part), meaning(&part.name)),
            Tone::Plain,
        );
    }
    match &switched.check {
        Ok(check) => page.item(
            "check",
            &checked(check),
            if check.agrees { Tone::Plain } else { Tone::Warning },
        ),
        Err(reason) => page.item("check", &format!("none: {reason}"), Tone::Warning),
    }
    table(page, switched, asked_settings);
    page.item("run", &run(switched), Tone::Quiet);
    all_findings(page, &switched.findings);
}

/// What a component is.
fn meaning(name: &str) -> &'static str {
    match name {
        SWITCH => "beyond its system calls",
        CALLS => "the same system calls in one process, where nobody waits",
        WORK => "a unit of work: 100 dependent multiplications",
        TOUCH => "a repeated pass over the working set, in the same turn",
        REFILL => "extra time of the first pass after a switch",
        FLUSH => "extra time of a pass over a flushed set, with the flush itself (clflush)",
        FLUSHED_REFILL => "extra time of the first pass after a switch if the set is flushed",
        _ => "",
    }
}

fn checked(check: &Check) -> String {
    let verdict =
        if check.agrees { "agrees within both intervals" } else { "DIFFERS beyond both intervals" };
    let longer = |percent: f64| {
        let (size, word) =
            (significant(percent.abs(), 2), if percent < 0.0 { "less" } else { "more" });
        format!(". Beside the counter a switch takes {size} % {word} than without it")
    };
    format!(
        "{verdict}: {} by the work that a background counter lost at up to {} switches a second, \
         {} by the clock beside it{}",
        nanoseconds(&check.ns),
        significant(check.most_per_second, 3),
        nanoseconds(&check.timed_ns),
        check.longer_percent.map(longer).unwrap_or_default()
    )
}

/// The share of the CPU that switches take (Muller, Figure 21), in columns as wide as their longest
/// text.
fn table(page: &mut Page, switched: &Switched, asked_settings: &Asked) {
    let rates = || asked_settings.rates.iter().map(|rate| significant(*rate, DIGITS));
    let mut columns =
        vec![std::iter::once("switches/s".to_owned()).chain(rates()).collect::<Vec<_>>()];
    for cost in &switched.costs {
        let shares = asked_settings.rates.iter().map(|rate| share(&Load::new(&cost.ns, *rate)));
        columns.push(std::iter::once(cost.cache.name().to_owned()).chain(shares).collect());
    }
    let widths: Vec<usize> = columns
        .iter()
        .map(|cells| cells.iter().map(|cell| width(cell)).max().unwrap_or(0))
        .collect();
    for row in 0..=asked_settings.rates.len() {
        let numbers = format!("{:>1$}", columns[0][row], widths[0]);
        let cells: String = columns
            .iter()
            .zip(&widths)
            .skip(1)
            .map(|(cells, wide)| format!("  {}", pad(&cells[row], *wide)))
            .collect();
        page.line(
            format!("  {numbers}{cells}").trim_end(),
            if row == 0 { Tone::Strong } else { Tone::Plain },
        );
    }
}

/// Digits of a rate: those of the highest one that can be asked for.
const DIGITS: i32 = 10;

fn share(load: &Load) -> String {
    if load.fits() { format!("{} %", plus_minus(&load.percent())) } else { "no time for it".into() }
}

fn run(switched: &Switched) -> String {
    let rounds = format!(
        "{} rounds in {:.1} s",
        count(switched.rounds as usize),
        switched.elapsed.as_secs_f64()
    );
    let earlier = switched.scatter.map_or_else(String::new, |scatter| {
        format!(
            "; {} earlier runs scatter by {} %, which the intervals include",
            scatter.earlier,
            significant(100.0 * scatter.sd, 2)
        )
    });
    match &switched.placed {
        Some(placed) => format!(
            "{rounds}; {} partners in turn gave {:.0} to {:.0} ns ({} %){earlier}",
            placed.placements,
            placed.range_ns.0,
            placed.range_ns.1,
            significant(placed.spread_percent, 2)
        ),
        None => rounds + &earlier,
    }
}
