//! Reports on the clocks of the machine and on the stopwatch.

mod comparison;
mod detail;
mod latency;
mod overhead;
mod table;

pub use comparison::clock_comparison;
pub use latency::clock_latency;
pub use overhead::stopwatch_overhead;

use crate::clocks::Survey;
use hairspring_host::clock::Choice;
use hairspring_result::Environment;
use hairspring_view::format::{significant, time_unit};
use hairspring_view::page::{Page, Style, Tone};
use hairspring_view::text::all_findings;
use hairspring_view::text::machine_line;

/// The survey of all clocks: a table, or all details of each.
pub fn clock_survey(
    survey: &Survey,
    verbose: bool,
    level: f64,
    circumstances: &Environment,
    style: &Style,
) -> String {
    let mut page = Page::new(*style);
    let missing = survey.clocks.iter().filter(|report| report.state.is_err()).count();
    let here = survey.clocks.len() - missing;
    let clocks = if here == 1 { "1 clock".to_owned() } else { format!("{here} clocks") };
    let rest = if missing > 0 { format!(", {missing} not here") } else { String::new() };
    page.line(&format!("hairspring clocks: {clocks}{rest}"), Tone::Strong);
    page.gap();
    if verbose {
        survey.clocks.iter().for_each(|report| detail::detail(&mut page, report, survey, level));
    } else {
        table::tables(&mut page, survey, level);
    }
    chosen(&mut page, &survey.choice);
    all_findings(&mut page, &survey.findings);
    page.gap();
    machine_line(&mut page, circumstances);
    page.finish()
}

/// The clocks that measurements use unless one is named, and why not finer ones.
fn chosen(page: &mut Page, choice: &Choice) {
    let Choice { steady, seated, passed_over } = choice;
    let for_one_cpu = if seated.name == steady.name {
        String::new()
    } else {
        format!(", and {} for code that stays on one CPU", seated.name)
    };
    let text = format!(
        "{}{for_one_cpu}: used where no clock is named, as the finest that counts and goes on \
         while code waits",
        steady.name
    );
    page.item("chosen", &text, Tone::Quiet);
    for (name, reason) in passed_over {
        page.item("not used", &format!("{name}: {reason}"), Tone::Quiet);
    }
    page.gap();
}

/// A time in a readable unit: `10 ns`, `4 ms`.
fn short_time(ns: f64) -> String {
    let (factor, unit) = match ns.abs() {
        size if size < 1e3 => (1.0, "ns"),
        size if size < 1e6 => (1e-3, "us"),
        size if size < 1e9 => (1e-6, "ms"),
        _ => time_unit(1e12),
    };
    format!("{} {unit}", significant(ns * factor, 3))
}

/// A confidence level as a percentage.
fn percent(level: f64) -> String {
    format!("{} %", significant(100.0 * level, 4))
}
