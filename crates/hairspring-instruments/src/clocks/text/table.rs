//! All clocks in two tables of 80 columns: ordering and cost of a read; rates and synchronisation
//! across CPUs.

use super::{percent, short_time};
use crate::clocks::{Across, MeasuredClock, RateSeen, Survey};
use hairspring_core::Estimate;
use hairspring_core::estimate::{Contribution, Source, Uncertain};
use hairspring_core::observations::Rate;
use hairspring_host::clock::Clock;
use hairspring_view::cells::{Cell, align};
use hairspring_view::clean::{clean, pad};
use hairspring_view::format::{count, fixed, frequency_unit, plus_minus, significant};
use hairspring_view::page::{Page, Tone};

/// Width of a name, in columns.
const NAME: usize = 16;
/// Width of the ordering of a read, in columns.
const ORDER: usize = 9;

pub fn tables(page: &mut Page, survey: &Survey, level: f64) {
    let here: Vec<(&Clock, &MeasuredClock)> = survey
        .clocks
        .iter()
        .filter_map(|report| report.state.as_ref().ok().map(|found| (&report.clock, found)))
        .collect();
    if !here.is_empty() {
        reads(page, &here, level);
        rates(page, &here, level);
        legend(page, survey, level);
    }
    for report in &survey.clocks {
        if let Err(reason) = &report.state {
            page.item("not here", &format!("{}: {reason}", report.clock.name), Tone::Quiet);
        }
    }
    page.gap();
}

fn reads(page: &mut Page, here: &[(&Clock, &MeasuredClock)], level: f64) {
    let costs = align(&here.iter().map(|(_, found)| cost(found, level)).collect::<Vec<_>>());
    let line = |name: &str, before: &str, after: &str, step: &str, cost: &str| {
        format!(
            "  {} {} {} {step:>8}  {cost}",
            pad(name, NAME),
            pad(before, ORDER),
            pad(after, ORDER)
        )
    };
    page.line(&line("clock", "ordered", "behind", "step", "a read"), Tone::Strong);
    for ((clock, measured_clock), cost) in here.iter().zip(&costs) {
        let step = if measured_clock.reading.quantum == 0 {
            "none".to_owned()
        } else {
            time(clock, measured_clock, measured_clock.reading.quantum as f64)
        };
        let (before, after) =
            (clock.ordering.before.unwrap_or("NO"), clock.ordering.after.unwrap_or("NO"));
        page.line(&line(&clean(clock.name), before, after, &step, cost), Tone::Plain);
    }
    page.gap();
}

/// Ticks of a clock as a time, if its rate is known.
fn time(clock: &Clock, measured: &MeasuredClock, number: f64) -> String {
    measured
        .hz(clock)
        .map_or_else(|| format!("{} ticks", ticks(number)), |hz| short_time(number * 1e9 / hz))
}

fn cost(measured: &MeasuredClock, level: f64) -> Cell {
    let ns =
        measured.cost.as_ref().ok().and_then(|cost| {
            cost.components.first()?.time.ns.as_ref().map(|ns| ns.estimate(level))
        });
    ns.map_or_else(Cell::default, |ns| Cell::time(&ns, true))
}

fn rates(page: &mut Page, here: &[(&Clock, &MeasuredClock)], level: f64) {
    const RATE: usize = 28;
    let line = |name: &str, row: &str, rate: &str, together: &str| {
        format!("  {} {row:>8}  {} {together}", pad(name, NAME), pad(rate, RATE))
    };
    page.line(&line("clock", "in a row", "rate", "from CPU to CPU"), Tone::Strong);
    for (clock, measured_clock) in here {
        let (together, tone) = together(measured_clock);
        let row = time(clock, measured_clock, measured_clock.reading.back_to_back_mean);
        page.line(
            &line(&clean(clock.name), &row, &rate(clock, &measured_clock.rate, level), &together),
            tone,
        );
    }
    page.gap();
}

/// `2.59614381 GHz +- 0.28 ppm`, or `1 GHz, runs -3.1 +- 0.3 ppm off`.
pub fn rate(clock: &Clock, seen_rate: &RateSeen, level: f64) -> String {
    match (seen_rate, clock.nominal_hz) {
        (RateSeen::Reference, Some(hz)) => format!("{}, by definition", frequency(hz, 7)),
        (RateSeen::Reference, None) => "by definition".into(),
        (RateSeen::NotApplicable(_), _) => "none of its own".into(),
        (RateSeen::Measured(rate), Some(hz)) => {
            let off = off_ppm(rate, hz, level);
            // A coarse clock's uncertainty may be so large that percent are more readable.
            let (shown_estimate, unit) = if off.value.abs() + off.half_width() < 1e4 {
                (off, "ppm")
            } else {
                (off.scaled(1e-4), "%")
            };
            let text = plus_minus(&shown_estimate);
            let sign = if off.value >= 0.0 && !text.starts_with('-') { "+" } else { "" };
            format!("{}, {sign}{text} {unit}", frequency(hz, 7))
        }
        (RateSeen::Measured(rate), None) => {
            let ppm = off_ppm(rate, rate.hz, level).half_width();
            format!("{} +- {} ppm", frequency(rate.hz, 9), significant(ppm, 2))
        }
    }
}

fn frequency(hz: f64, digits: i32) -> String {
    let (factor, unit) = frequency_unit(hz);
    format!("{} {unit}", significant(hz * factor, digits))
}

/// Distance of a measured rate from a nominal one, in parts per million.
pub fn off_ppm(rate: &Rate, nominal_hz: f64, level: f64) -> Estimate {
    let value = 1e6 * (rate.hz / nominal_hz - 1.0);
    Uncertain {
        value,
        budget: vec![Contribution::standard(Source::Rate, rate.uncertainty_ppm, f64::INFINITY)],
    }
    .estimate(level)
}

fn together(measured: &MeasuredClock) -> (String, Tone) {
    match (&measured.across, measured.across.counted()) {
        (Across::NotTried(_), _) => ("not tried".into(), Tone::Plain),
        (Across::Tried(_), (all, 0)) => (format!("0 of {} fell", count(all as usize)), Tone::Plain),
        (Across::Tried(_), (all_readings, lower_readings)) => (
            format!(
                "{} % FELL, {}",
                significant(100.0 * lower_readings as f64 / all_readings as f64, 2),
                count(lower_readings as usize)
            ),
            Tone::Alarm,
        ),
    }
}

fn legend(page: &mut Page, survey: &Survey, level: f64) {
    let text = format!(
        "ordered, behind: what completes earlier instructions before the read, and what keeps \
         later ones behind it. a read: slope over 2 to 32 reads in a straight line, timed by {}. \
         in a row: mean step of consecutive reads, which for unordered or coarse clocks is not \
         the cost. rate: measured against {}, with intervals of {} confidence; the error of {} \
         itself is not in them. from CPU to CPU: readings that follow one of another CPU, and how \
         many of them are below it. hairspring clocks NAME has more.",
        survey.timed_by,
        survey.against,
        percent(level),
        survey.against
    );
    page.marked("", &text);
    page.gap();
}

/// A number of ticks with few decimals.
pub fn ticks(number: f64) -> String {
    if number.abs() >= 100.0 { fixed(number, 0) } else { significant(number, 3) }
}
