//! The circumstances: machine, clock, core clock, compiler.

use crate::format::{bound, fixed, frequency, frequency_unit, significant, time_unit};
use crate::page::{Page, Tone};
use hairspring_core::math::log10;
use hairspring_result::{Clock, Environment};

/// Writes the circumstances that are known.
pub fn environment(page: &mut Page, environment: &Environment) {
    line(page, environment, true);
    page.item(
        "clock",
        &environment.clock.as_ref().map_or_else(|| "unknown".to_owned(), clock),
        Tone::Quiet,
    );
    page.item("core", &core(environment), Tone::Quiet);
    if let Some(compiler) = &environment.compiler {
        let flags = environment.compiler_flags.as_deref().unwrap_or_default();
        page.item("compiler", &format!("{compiler} {flags}"), Tone::Quiet);
    }
}

/// The machine alone, for reports that name their CPUs themselves.
pub fn machine_line(page: &mut Page, environment: &Environment) {
    line(page, environment, false);
}

fn line(page: &mut Page, environment: &Environment, tells_unbound: bool) {
    if let Some(text) = machine(environment, tells_unbound) {
        page.item("machine", &text, Tone::Quiet);
    }
}

fn machine(environment: &Environment, tells_unbound: bool) -> Option<String> {
    let (machine, system) =
        (environment.cpu.as_ref()?, environment.system.as_deref().unwrap_or("system unknown"));
    let guest = if machine.hypervisor { ", virtual machine" } else { "" };
    let cpus =
        if machine.cpus == 1 { "1 CPU".to_owned() } else { format!("{} CPUs", machine.cpus) };
    let model = format!("{}, {}, {cpus}{guest}, {system}", machine.model, machine.architecture);
    let settings = thread_settings(environment, tells_unbound);
    Some(if settings.is_empty() { model } else { format!("{model}; {}", settings.join(", ")) })
}

fn thread_settings(environment: &Environment, tells_unbound: bool) -> Vec<String> {
    let yes_or_no = |state: Option<bool>, yes: &str, no: &str| {
        state.map(|done| if done { yes.to_owned() } else { no.to_owned() })
    };
    let bound = environment.pinned_cpu.map(|cpu| format!("bound to CPU {cpu}"));
    // Observations from elsewhere say nothing of the thread.
    let is_unbound = tells_unbound && environment.priority_raised.is_some();
    let cpu = bound.or_else(|| is_unbound.then(|| "not bound to a CPU".to_owned()));
    let priority = yes_or_no(environment.priority_raised, "priority raised", "priority not raised");
    let memory = yes_or_no(environment.memory_locked, "memory locked", "memory not locked");
    cpu.into_iter().chain(priority).chain(memory).collect()
}

/// A clock in words: name, rate, quantum, cost.
pub fn clock(clock: &Clock) -> String {
    let name = if clock.description.is_empty() {
        clock.name.clone()
    } else {
        format!("{}: {}", clock.name, clock.description)
    };
    let ns = clock.rate_hz.map(|hz| 1e9 / hz).filter(|ns| ns.is_finite());
    let quantum =
        clock.granularity_ticks.map(|ticks| format!("quantum {}", ticks_and_time(ticks, ns)));
    let cost = clock.read_cost_ticks.map(|ticks| format!("read {}", ticks_and_time(ticks, ns)));
    [Some(name), Some(rate(clock)), quantum, cost]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
}

/// `2,596.14400 MHz +- 0.1 ppm (measured against ...)`.
fn rate(clock: &Clock) -> String {
    let Some(hz) = clock.rate_hz else { return "rate unknown".into() };
    let (factor, unit) = frequency_unit(hz);
    let ppm = clock.rate_uncertainty_ppm.filter(|ppm| *ppm > 0.0);
    let value = match ppm.map(|ppm| hz * factor * ppm * 1e-6) {
        Some(doubt) => fixed(hz * factor, (1 - log10(doubt).floor() as i32).clamp(0, 9)),
        None => significant(hz * factor, 7),
    };
    let doubt = ppm.map(|ppm| format!(" +- {} ppm", bound(ppm))).unwrap_or_default();
    let known =
        clock.rate_provenance.as_ref().map(|known| format!(" ({known})")).unwrap_or_default();
    format!("{value} {unit}{doubt}{known}")
}

/// `26 ticks (10.0 ns)`.
fn ticks_and_time(ticks: f64, ns_per_tick: Option<f64>) -> String {
    let count =
        format!("{} {}", significant(ticks, 3), if ticks == 1.0 { "tick" } else { "ticks" });
    let Some(ns) = ns_per_tick.map(|factor| ticks * factor) else { return count };
    let (factor, unit) = time_unit(ns);
    format!("{count} ({} {unit})", significant(ns * factor, 3))
}

fn core(environment: &Environment) -> String {
    let clock =
        environment.core_clock_hz.map_or_else(|| "clock unknown".to_owned(), |hz| frequency(&hz));
    let Some(reference) = &environment.reference else {
        let reason = environment.no_cycles();
        return if environment.core_clock_hz.is_some() {
            format!("{clock}; {reason}")
        } else {
            format!("no core cycles: {reason}")
        };
    };
    format!(
        "{clock}; reference chain of {} cycles: {}",
        significant(reference.cycles, 6),
        reference.provenance
    )
}
