//! All details of one clock.

use super::table::{rate, ticks};
use super::{percent, short_time};
use crate::clocks::{Across, HandOver, MeasuredClock, RateSeen, Report, Survey};
use hairspring_core::judge::SeriesResult;
use hairspring_host::clock::{Clock, CountsWhen};
use hairspring_view::clean::clean;
use hairspring_view::format::{count, plus_minus, probability, significant};
use hairspring_view::page::{Page, Tone};

pub fn detail(page: &mut Page, report: &Report, survey: &Survey, level: f64) {
    let clock = &report.clock;
    page.line(&format!("  {}", clean(clock.name)), Tone::Strong);
    page.item("what", clock.description, Tone::Quiet);
    match &report.state {
        Err(reason) => page.item("not here", reason, Tone::Warning),
        Ok(measured_clock) => {
            page.item("ordered", &ordered(clock), Tone::Quiet);
            page.item("counter", &counter(clock, measured_clock), Tone::Quiet);
            page.item("step", &step(clock, measured_clock), Tone::Quiet);
            page.item("read", &read(clock, measured_clock, survey, level), Tone::Quiet);
            page.item("rate", &rate_in_words(clock, measured_clock, level), Tone::Quiet);
            across(page, clock, measured_clock);
        }
    }
    page.gap();
}

fn ordered(clock: &Clock) -> String {
    let before = clock.ordering.before.map_or_else(
        || "NOT before: earlier instructions may still run when it is read".to_owned(),
        |by| format!("before by {by}: earlier instructions are done when it is read"),
    );
    let after = clock.ordering.after.map_or_else(
        || "NOT after: later instructions may begin before it is read".to_owned(),
        |by| format!("after by {by}: later instructions begin when it has been read"),
    );
    format!("{before}; {after}")
}

fn counter(clock: &Clock, measured: &MeasuredClock) -> String {
    let bits = format!("{} bits", clock.width.count());
    let wraps = match (clock.width.period(), measured.hz(clock)) {
        (None, _) => String::new(),
        (Some(_), None) => ", wraps".into(),
        (Some(period), Some(hz)) => format!(", wraps every {}", short_time(period * 1e9 / hz)),
    };
    let counts = match clock.counts {
        CountsWhen::Always => "counts always",
        CountsWhen::WhileCoreRuns => "counts while this core runs",
        CountsWhen::WhileThreadRuns => "counts while this thread runs",
        CountsWhen::WhileProcessRuns => "counts while threads of this process run",
    };
    let enabled = if clock.enable.is_some() {
        ", after being enabled in the thread that reads it"
    } else {
        ""
    };
    format!("{bits}{wraps}; {counts}{enabled}")
}

fn step(clock: &Clock, measured: &MeasuredClock) -> String {
    let reading = &measured.reading;
    let time = |number: f64| match measured.hz(clock) {
        Some(hz) => format!("{} ({})", counted(number), short_time(number * 1e9 / hz)),
        None => counted(number),
    };
    let quantum = if reading.quantum == 0 {
        "it did not move".to_owned()
    } else {
        time(reading.quantum as f64)
    };
    let backward = if reading.backward > 0 {
        format!("; WENT BACKWARDS {} times", count(reading.backward))
    } else {
        String::new()
    };
    format!(
        "{quantum}, from {} steps; in a row {} on average, {} at least{backward}",
        count(reading.steps),
        time(reading.back_to_back_mean),
        time(reading.back_to_back_min as f64)
    )
}

/// `1 tick`, `26 ticks`.
fn counted(number: f64) -> String {
    format!("{} {}", ticks(number), if number == 1.0 { "tick" } else { "ticks" })
}

fn read(clock: &Clock, measured: &MeasuredClock, survey: &Survey, level: f64) -> String {
    match &measured.cost {
        Err(reason) => format!("cost unknown: {reason}"),
        Ok(cost) => cost_in_words(clock, cost, measured, survey, level),
    }
}

fn cost_in_words(
    clock: &Clock,
    cost: &SeriesResult,
    measured: &MeasuredClock,
    survey: &Survey,
    level: f64,
) -> String {
    let Some(ns) =
        cost.components.first().and_then(|read| read.time.ns.as_ref()).map(|ns| ns.estimate(level))
    else {
        return "cost unknown in nanoseconds".into();
    };
    let own_ticks = measured.hz(clock).map_or_else(String::new, |hz| {
        format!(", {} of its own ticks", significant(ns.value * hz / 1e9, 3))
    });
    let (used, left_out) = cost.solution.rows_used();
    let fit = cost.solution.lack_of_fit.as_ref().map_or_else(String::new, |fit| {
        format!(", lack of fit F = {} (p {})", significant(fit.f, 3), probability(fit.p))
    });
    let out = if left_out > 0 { format!(", {left_out} left out") } else { String::new() };
    format!(
        "{} ns{own_ticks}; slope of {used} rows of 2 to 32 reads{out}, timed by {}{fit}; intervals \
         of {} confidence",
        plus_minus(&ns),
        survey.timed_by,
        percent(level)
    )
}

fn rate_in_words(clock: &Clock, measured: &MeasuredClock, level: f64) -> String {
    let text = rate(clock, &measured.rate, level);
    match &measured.rate {
        RateSeen::Measured(seen) => format!("{text}; {}", seen.provenance),
        RateSeen::Reference => format!("{text}: rates are measured against this clock"),
        RateSeen::NotApplicable(reason) => format!("{text}: {reason}"),
    }
}

fn across(page: &mut Page, clock: &Clock, measured: &MeasuredClock) {
    match &measured.across {
        Across::NotTried(reason) => page.item("CPUs", &format!("not tried: {reason}"), Tone::Quiet),
        Across::Tried(pairs) => {
            for pair in pairs {
                let tone = if pair.violations > 0 { Tone::Alarm } else { Tone::Quiet };
                page.item("CPUs", &hand_over(clock, measured, pair), tone);
            }
        }
    }
}

fn hand_over(clock: &Clock, measured: &MeasuredClock, pair: &HandOver) -> String {
    let ns = measured.hz(clock).map(|hz| 1e9 / hz);
    let time = |number: f64| {
        ns.map_or_else(|| format!("{} ticks", ticks(number)), |ns| short_time(number * ns))
    };
    let (offset, bound) = pair.offset_ticks(measured.reading.quantum);
    let (a, b) = pair.cpus;
    let lower = match pair.violations {
        0 => "none lower than the reading that it followed".to_owned(),
        n => format!(
            "{} LOWER than the reading that they followed, by at most {}",
            count(n as usize),
            time(pair.worst_ticks as f64)
        ),
    };
    let handovers = count(pair.handovers as usize);
    if pair.violations > 0 {
        return format!("{a} and {b}: {handovers} hand-overs, {lower}");
    }
    let apart = match offset {
        small if small.abs() <= bound => {
            format!("no offset resolved: {b} ahead of {a} by {} +- {}", time(offset), time(bound))
        }
        ahead if ahead > 0.0 => {
            format!("{b} runs ahead of {a} by {} +- {}", time(offset), time(bound))
        }
        behind => format!("{b} runs behind {a} by {} +- {}", time(-behind), time(bound)),
    };
    format!("{a} and {b}: {handovers} hand-overs, {lower}; {apart}")
}
