//! The latency of reading clocks: three experiments with their distributions.

use super::{percent, short_time};
use crate::clocks::{ClockLatency, Experiment, Latency, Summary};
use hairspring_result::Environment;
use hairspring_view::cells::Cell;
use hairspring_view::clean::{clean, pad};
use hairspring_view::format::{bar, count, significant};
use hairspring_view::page::{Page, Style, Tone};
use hairspring_view::text::machine_line;

/// The experiments as text.
pub fn clock_latency(latency: &Latency, circumstances: &Environment, style: &Style) -> String {
    let mut page = Page::new(*style);
    page.line("hairspring clocks --latency: what a reading costs, cold and warm", Tone::Strong);
    page.gap();
    means(&mut page, latency);
    for experiment in &latency.experiments {
        page.line(&format!("  {}", title(experiment)), Tone::Strong);
        experiment.clocks.iter().for_each(|clock| distribution(&mut page, clock));
        page.gap();
    }
    let scale = latency.plan.scale;
    if scale != 1.0 {
        let whole = latency.plan.pauses().as_secs_f64() / scale;
        let text = format!(
            "pauses scaled by {}; --scale 1 waits as the paper does, for {}",
            significant(scale, 3),
            long_time(whole)
        );
        page.item("pauses", &text, Tone::Quiet);
    }
    machine_line(&mut page, circumstances);
    page.finish()
}

/// A waiting time: `3 s`, `67 min`.
fn long_time(seconds: f64) -> String {
    if seconds < 120.0 {
        format!("{} s", significant(seconds, 2))
    } else {
        format!("{:.0} min", seconds / 60.0)
    }
}

fn title(experiment: &Experiment) -> String {
    let pauses: Vec<String> = experiment.pauses_ms.iter().map(|ms| short_time(ms * 1e6)).collect();
    match pauses.len() {
        0 => "consecutive reads".into(),
        1 => format!("a pair every {}", pauses[0]),
        _ => format!("a pair every {} in turn", pauses.join(" and ")),
    }
}

/// Table 1 of Kwon and Choi: one line for each experiment, one column for each clock.
fn means(page: &mut Page, latency: &Latency) {
    const COLUMN: usize = 20;
    const TITLE: usize = 34;
    let columns = |texts: Vec<String>| {
        texts.iter().map(|text| pad(text, COLUMN)).collect::<Vec<_>>().join(" ")
    };
    let Some(first) = latency.experiments.first() else { return };
    let names = first.clocks.iter().map(|clock| clean(&clock.clock)).collect();
    page.line(&format!("  {}  {}", pad("mean latency", TITLE), columns(names)), Tone::Strong);
    for experiment in &latency.experiments {
        let means =
            experiment.clocks.iter().map(|clock| Cell::time(&clock.ns.mean, true).text()).collect();
        page.line(
            &format!(
                "  {}  {}",
                pad(title(experiment).trim_start_matches("a pair "), TITLE),
                columns(means)
            ),
            Tone::Plain,
        );
    }
    let level = first.clocks.first().map_or(0.95, |clock| clock.ns.mean.level);
    page.marked(
        "",
        &format!(
            "{} differences each; intervals of {} confidence",
            count(latency.plan.count),
            percent(level)
        ),
    );
    page.gap();
}

fn distribution(page: &mut Page, clock: &ClockLatency) {
    let Summary { sd, quantiles: [least_ns, median, p99_ns, largest], .. } = &clock.ns;
    let text = format!(
        "sd {}; least {}, median {}, 99 % up to {}, largest {}; steps of {}",
        short_time(*sd),
        short_time(*least_ns),
        short_time(*median),
        short_time(*p99_ns),
        short_time(*largest),
        short_time(clock.quantum as f64 * clock.tick_ns)
    );
    page.line(&format!("    {}", clean(&clock.clock)), Tone::Plain);
    page.marked("", &text);
    histogram(page, &clock.ns);
}

fn histogram(page: &mut Page, summary: &Summary) {
    const BAR: usize = 44;
    let most_values = summary.histogram.iter().map(|bin| bin.count).max().unwrap_or(1);
    for bin in &summary.histogram {
        let range = if bin.high.is_finite() {
            let middle = (bin.low + bin.high) / 2.0;
            short_time(middle)
        } else {
            format!("> {}", short_time(bin.low))
        };
        let marks = bar(bin.count as u64, most_values as u64, BAR);
        page.line(&format!("{range:>20} {:>6} {marks}", count(bin.count)), Tone::Plain);
    }
}

#[cfg(test)]
mod tests {
    use super::long_time;

    #[test]
    fn short_waits_are_in_seconds() {
        assert_eq!([8.0, 90.0, 4_000.0].map(long_time), ["8 s", "90 s", "67 min"]);
    }
}
