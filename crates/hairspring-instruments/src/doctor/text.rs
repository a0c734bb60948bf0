//! What this machine can and cannot give, as text of about ten lines.

use super::{Diagnosis, Role, Smallest};
use crate::verify::Standing;
use hairspring_core::Estimate;
use hairspring_view::format::{frequency, significant, time_unit};
use hairspring_view::page::{Page, Style, Tone};

/// The report of `doctor`.
pub fn doctor(diagnosis: &Diagnosis, style: &Style) -> String {
    let mut page = Page::new(*style);
    page.line("hairspring doctor: what this machine can and cannot give", Tone::Strong);
    page.gap();
    machine(&mut page, diagnosis);
    page.finish()
}

/// The same as the end of another report.
pub fn section(diagnosis: &Diagnosis, style: &Style) -> String {
    let mut page = Page::new(*style);
    page.line("  What this machine can and cannot give", Tone::Strong);
    machine(&mut page, diagnosis);
    page.finish()
}

fn machine(page: &mut Page, diagnosis: &Diagnosis) {
    let Smallest { once_in_100_ms, once_in_1_s, copies, copy_in_100_ms, copy_in_1_s, .. } =
        diagnosis.smallest;
    page.item("once", &format!("to 1 %: {}", both(&once_in_100_ms, &once_in_1_s)), Tone::Strong);
    page.item(
        "copies",
        &format!("{copies} in a row, each to 1 %: {}", both(&copy_in_100_ms, &copy_in_1_s)),
        Tone::Strong,
    );
    page.item("clock", &clock(diagnosis), Tone::Plain);
    page.item("core", &frequency(&diagnosis.core_hz), Tone::Plain);
    roles(page, &diagnosis.roles);
    if diagnosis.changes.is_empty() {
        page.item("change", "nothing", Tone::Plain);
    }
    for change in &diagnosis.changes {
        page.item("change", &format!("{}: {}", change.about, change.text), Tone::Warning);
    }
}

/// `12 ns (11 to 13) in 0.1 s, 3.9 ns (2.9 to 6.2) in 1 s`.
fn both(tenth: &Estimate, second: &Estimate) -> String {
    format!("{} in 0.1 s, {} in 1 s", time(tenth), time(second))
}

fn time(estimate: &Estimate) -> String {
    let (factor, unit) = time_unit(estimate.value);
    let number = |ns: f64| significant(ns / factor, 2);
    format!(
        "{} {unit} ({} to {})",
        number(estimate.value),
        number(estimate.low),
        number(estimate.high)
    )
}

fn clock(diagnosis: &Diagnosis) -> String {
    let ns = 1e9 / diagnosis.rate.hz;
    let (step, read) =
        (diagnosis.reading.quantum as f64 * ns, diagnosis.reading.back_to_back_mean * ns);
    let factor = diagnosis.smallest.step_factor;
    let costs = match factor {
        factor if factor < 1.05 => "its step costs nothing".to_owned(),
        factor if factor.is_finite() => format!(
            "its step takes {} times the measuring time of one without",
            significant(factor, 2)
        ),
        _ => "what its step costs does not show".to_owned(),
    };
    format!(
        "{} steps by {} ns, a read takes {} ns; {costs}",
        diagnosis.clock,
        significant(step, 3),
        significant(read, 3)
    )
}

fn roles(page: &mut Page, roles: &[Role]) {
    let named =
        |is_wanted: &dyn Fn(&Role) -> bool, text: &dyn Fn(&Role) -> String| -> Vec<String> {
            roles.iter().filter(|role| is_wanted(role)).map(text).collect()
        };
    let mut line = |label: &str, names: Vec<String>, tone: Tone| {
        if !names.is_empty() {
            page.item(label, &names.join(", "), tone);
        }
    };
    let is = |standing: Standing| move |role: &Role| role.standing == standing;
    line("quiet", named(&is(Standing::Whole), &|role| role.name.to_owned()), Tone::Plain);
    line("shared", named(&Role::is_shared, &shared), Tone::Warning);
    line(
        "no ruler",
        named(&is(Standing::None), &|role| {
            format!("{} ({} takes {:.2} cycles)", role.name, role.chain, role.cycles.value)
        }),
        Tone::Plain,
    );
    line(
        "unknown",
        named(&is(Standing::Open), &|role| format!("{} (its interval is too wide)", role.name)),
        Tone::Plain,
    );
}

/// `load (4.05 to 4.50 cycles for 4)`.
fn shared(role: &Role) -> String {
    let length = role.integer.map(|integer| format!(" for {integer}")).unwrap_or_default();
    format!("{} ({:.2} to {:.2} cycles{length})", role.name, role.parts.0, role.parts.1)
}
