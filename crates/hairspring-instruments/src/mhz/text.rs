//! The core clock as text: a table of CPUs, the proof of each, and the result of the paper's
//! method.

use crate::mhz::CoreClock;
use crate::mhz::classic::{ClassicResult, ExpressionResult, Outcome};
use hairspring_core::Estimate;
use hairspring_result::Environment;
use hairspring_view::clean::pad;
use hairspring_view::format::{count, digits, significant};
use hairspring_view::page::{Page, Style, Tone};
use hairspring_view::text::all_findings;
use hairspring_view::text::machine_line;

/// CPUs, each with its core clock or the reason why it was not found.
pub type Cpus<'a> = &'a [(usize, Result<CoreClock, String>)];

/// The report.
pub fn mhz(
    cpus: Cpus,
    classic: Option<&ClassicResult>,
    circumstances: &Environment,
    style: &Style,
) -> String {
    let mut page = Page::new(*style);
    page.line("hairspring mhz: core clock from the lattice of dependent chains", Tone::Strong);
    page.gap();
    table(&mut page, cpus);
    for (cpu, core_clock) in cpus {
        page.gap();
        match core_clock {
            Ok(found) => proof(&mut page, found, cpus.len() > 1),
            Err(reason) => page.item(&format!("CPU {cpu}"), reason, Tone::Alarm),
        }
    }
    if let Some(result) = classic {
        page.gap();
        classic_part(&mut page, result);
    }
    page.gap();
    machine_line(&mut page, circumstances);
    page.finish()
}

/// One line of `--watch`, or its header if `clock` is `None`.
pub fn mhz_line(seconds: f64, clock: Option<&Result<CoreClock, String>>) -> String {
    match clock {
        None => format!("  {:>8}  {}\n", "s", head()),
        Some(Ok(clock)) => format!("  {seconds:>8.2}  {}{}\n", row(clock), other_levels(clock)),
        Some(Err(reason)) => format!("  {seconds:>8.2}  {reason}\n"),
    }
}

/// Further levels, for a line that has no room for their shares.
fn other_levels(clock: &CoreClock) -> String {
    let further: Vec<String> = clock
        .levels
        .iter()
        .skip(1)
        .map(|level| format!("{:.0}", level.value.value / 1e6))
        .collect();
    if further.is_empty() { String::new() } else { format!("  also {}", further.join(", ")) }
}

fn head() -> String {
    format!("{}  {}  {}", pad("core MHz", 20), pad("clock's tick MHz", 26), "cycles a tick")
}

fn row(clock: &CoreClock) -> String {
    let ticks = Estimate::of_rate(&clock.rate, clock.core_hz.level);
    let ratio = significant(clock.core_hz.value / clock.rate.hz, 5);
    format!("{}  {}  {ratio}", pad(&megahertz(&clock.core_hz), 20), pad(&megahertz(&ticks), 26))
}

/// `3,694.81 +- 0.12`.
fn megahertz(hz: &Estimate) -> String {
    let shown_digits = digits(&hz.scaled(1e-6));
    if hz.half_width() > 0.0 {
        format!("{} +- {}", shown_digits.value, shown_digits.half)
    } else {
        significant(hz.value * 1e-6, 9)
    }
}

fn table(page: &mut Page, cpus: Cpus) {
    page.line(&format!("  {:>3}  {}", "CPU", head()), Tone::Strong);
    for (cpu, core_clock) in cpus {
        match core_clock {
            Ok(found) => page.line(&format!("  {cpu:>3}  {}", row(found)), Tone::Plain),
            Err(_) => page.line(&format!("  {cpu:>3}  unknown, see below"), Tone::Alarm),
        }
    }
    if let Some(core_clock) = cpus.iter().find_map(|(_, core_clock)| core_clock.as_ref().ok()) {
        let level = significant(100.0 * core_clock.core_hz.level, 4);
        page.marked(
            "",
            &format!(
                "intervals of {level} % confidence; the tick rate of a clock is not the core's \
                 clock"
            ),
        );
    }
}

fn proof(page: &mut Page, clock: &CoreClock, several: bool) {
    if several {
        page.line(&format!("  CPU {}", clock.cpu), Tone::Strong);
    }
    let chain = |chain: &crate::mhz::ChainUnits| {
        let integer =
            chain.integer.map_or_else(|| "left out".to_owned(), |integer| integer.to_string());
        format!("{} {:.3} = {integer}", chain.name, chain.cycles.value)
    };
    let chains: Vec<String> = clock.chains.iter().map(chain).collect();
    page.item("chains", &format!("{} core cycles", chains.join(", ")), Tone::Quiet);
    if clock.levels.len() > 1 {
        let levels: Vec<String> = clock
            .levels
            .iter()
            .map(|level| {
                format!("{} MHz for {:.0} %", megahertz(&level.value), 100.0 * level.share)
            })
            .collect();
        page.item(
            "levels",
            &format!("the core clock stepped: {} of the run", levels.join(", ")),
            Tone::Warning,
        );
    }
    if let Some(of_runs) = &clock.of_runs {
        let text = format!(
            "{} MHz may be met in other runs: it moved so between {} runs here",
            megahertz(&of_runs.hz),
            of_runs.runs
        );
        page.item("runs", &text, Tone::Quiet);
    }
    page.item("ticks", &format!("{}: {}", clock.clock, clock.rate.provenance), Tone::Quiet);
    let run = format!(
        "{} rounds in {:.0} ms",
        count(clock.rounds as usize),
        clock.elapsed.as_secs_f64() * 1e3
    );
    page.item("run", &run, Tone::Quiet);
    all_findings(page, &clock.findings);
}

/// The paper's method.
fn classic_part(page: &mut Page, result: &ClassicResult) {
    page.line("  --classic: the method of the paper (Staelin and McVoy, 1998)", Tone::Strong);
    page.item(
        "answer",
        &answer(result),
        if result.mhz.is_some() { Tone::Strong } else { Tone::Alarm },
    );
    page.line(
        &format!(
            "  {}  {:>9}  {:>9}  {:>7}  {:>7}  {}",
            pad("expression", 16),
            "min ns",
            "next ns",
            "cycles",
            "used",
            "guard"
        ),
        Tone::Strong,
    );
    result
        .expressions
        .iter()
        .for_each(|expression| page.line(&expression_row(expression), Tone::Plain));
    if result.expressions.iter().any(|expression| expression.choice.opaque) {
        page.marked(
            "",
            "guarded: the compiler would fold it; a barrier on a register prevents that",
        );
    }
    let tries = format!(
        "{} of intervals of {:.1} ms ({}), {:.2} s in all",
        if result.attempts.len() == 1 {
            "1 try".to_owned()
        } else {
            format!("{} tries", result.attempts.len())
        },
        result.window_ns / 1e6,
        if result.enough.proven {
            "long enough for 1 %"
        } else {
            "no shorter one was long enough for 1 %"
        },
        result.seconds
    );
    page.item("run", &tries, Tone::Quiet);
}

fn answer(result: &ClassicResult) -> String {
    match (result.outcome, result.mhz) {
        (_, Some(mhz)) => format!(
            "{} MHz from the minima, {} from the next larger values; the middle half of the \
             subsets says {} to {}; no interval",
            mhz.value, mhz.next, mhz.middle_half.0, mhz.middle_half.1
        ),
        (Outcome::OutOfBudget, None) => "none within the budget; give more time (--budget)".into(),
        (_, None) => "system too busy: minima and next larger values disagree in every try".into(),
    }
}

fn expression_row(expression: &ExpressionResult) -> String {
    let number = |number: Option<f64>| {
        number.map_or_else(|| "-".to_owned(), |number| format!("{number:.3}"))
    };
    let times = expression.time_ns.map(|times| times.minimum);
    format!(
        "  {}  {:>9}  {:>9}  {:>7}  {:>7}  {}",
        pad(&expression.name, 16),
        number(times.map(|times| times.value)),
        number(times.map(|times| times.next)),
        number(expression.cycles.map(|cycles| cycles.value)),
        if expression.used { "yes" } else { "no" },
        if expression.choice.opaque { "guarded" } else { "plain" }
    )
}
