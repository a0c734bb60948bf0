//! The circumstances: machine, clock, core clock, compiler.

use super::page::{Page, Tone};
use crate::document::{ClockInfo, Environment};
use crate::format::{bound, fixed, frequency, frequency_unit, significant, time_unit};
use hairspring_core::Estimate;
use hairspring_core::observations::Rate;

/// Writes what is known of the circumstances.
pub fn environment(page: &mut Page, environment: &Environment, core_hz: Option<&Estimate>) {
    machine_line(page, environment);
    page.item("clock", &environment.clock.as_ref().map_or_else(|| "not known".to_owned(), clock), Tone::Quiet);
    page.item("core", &core(environment, core_hz), Tone::Quiet);
    if let Some(compiler) = &environment.compiler {
        let flags = environment.compiler_flags.as_deref().unwrap_or_default();
        page.item("compiler", &format!("{compiler} {flags}"), Tone::Quiet);
    }
}

/// The machine alone, for reports that are about clocks.
pub fn machine_line(page: &mut Page, environment: &Environment) {
    if let Some(text) = machine(environment) {
        page.item("machine", &text, Tone::Quiet);
    }
}

fn machine(environment: &Environment) -> Option<String> {
    let machine = environment.machine.as_ref()?;
    let guest = if machine.hypervisor { ", virtual machine" } else { "" };
    let cpus = if machine.cpus == 1 { "1 CPU".to_owned() } else { format!("{} CPUs", machine.cpus) };
    let model = format!("{}, {}, {cpus}{guest}, {}", machine.cpu_model, machine.architecture, machine.system);
    let settled = settled(environment);
    Some(if settled.is_empty() { model } else { format!("{model}; {}", settled.join(", ")) })
}

fn settled(environment: &Environment) -> Vec<String> {
    let yes_or_no = |state: Option<bool>, yes: &str, no: &str| state.map(|done| if done { yes.to_owned() } else { no.to_owned() });
    let cpu = environment.pinned_cpu.map(|cpu| format!("bound to CPU {cpu}"));
    let priority = yes_or_no(environment.priority_raised, "priority raised", "priority not raised");
    let memory = yes_or_no(environment.memory_locked, "memory locked", "memory not locked");
    cpu.into_iter().chain(priority).chain(memory).collect()
}

/// A clock in words: name, rate, quantum, cost.
pub fn clock(clock: &ClockInfo) -> String {
    let name = if clock.description.is_empty() { clock.name.clone() } else { format!("{}: {}", clock.name, clock.description) };
    let ns = clock.rate.as_ref().map(|rate| 1e9 / rate.hz).filter(|ns| ns.is_finite());
    let rate = clock.rate.as_ref().map_or_else(|| "rate unknown".to_owned(), rate);
    let quantum = clock.granularity_ticks.map(|ticks| format!("quantum {}", ticks_and_time(ticks, ns)));
    let cost = clock.read_cost_ticks.map(|ticks| format!("read {}", ticks_and_time(ticks, ns)));
    [Some(name), Some(rate), quantum, cost].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// `2,596.14400 MHz +- 0.1 ppm (measured against ...)`.
fn rate(rate: &Rate) -> String {
    if !rate.hz.is_finite() {
        return "rate unknown".into();
    }
    let (factor, unit) = frequency_unit(rate.hz);
    let doubt = rate.hz * factor * rate.uncertainty_ppm * 1e-6;
    let known = doubt.is_finite() && doubt > 0.0;
    let value =
        if known { fixed(rate.hz * factor, (1 - doubt.log10().floor() as i32).clamp(0, 9)) } else { significant(rate.hz * factor, 7) };
    let doubt = if known { format!(" +- {} ppm", bound(rate.uncertainty_ppm)) } else { String::new() };
    format!("{value} {unit}{doubt} ({})", rate.provenance)
}

/// `26 ticks (10.0 ns)`.
fn ticks_and_time(ticks: f64, ns_per_tick: Option<f64>) -> String {
    let count = format!("{} {}", significant(ticks, 3), if ticks == 1.0 { "tick" } else { "ticks" });
    let Some(ns) = ns_per_tick.map(|factor| ticks * factor) else { return count };
    let (factor, unit) = time_unit(ns);
    format!("{count} ({} {unit})", significant(ns * factor, 3))
}

fn core(environment: &Environment, core_hz: Option<&Estimate>) -> String {
    match (&environment.ruler, core_hz) {
        (Ok(ruler), Some(hz)) => {
            format!("{}; reference chain of {} cycles: {}", frequency(hz), significant(ruler.cycles, 6), ruler.provenance)
        }
        (Ok(ruler), None) => format!("clock unknown; reference chain of {} cycles: {}", significant(ruler.cycles, 6), ruler.provenance),
        (Err(reason), _) => format!("no core cycles: {reason}"),
    }
}
