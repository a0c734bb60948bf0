//! What to change on a machine, so that it gives more: each with what was seen.

use super::{Diagnosis, Role};
use crate::verify::verdict::QUIET_SHARE;
use hairspring_host::clock::catalogue;
use hairspring_host::environment::machine;
use hairspring_host::thread::allowed_cpus;
use serde::Serialize;

/// From this factor on the measuring time that the step of the clock costs is worth a word.
const STEP_COSTS: f64 = 1.5;
/// A finer clock exists for steps above this one: time stamp counters step by less.
const COARSE_NS: f64 = 5.0;
/// From this share on, pauses of the CPU are worth a word: they are half of the usual precision of
/// 0.5 %.
const PAUSES: f64 = 0.0025;

/// Something to change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// What it is about: `cpu`, `clock`, `counters`, `governor`, `hypervisor`.
    pub about: &'static str,
    /// What was seen, and what to do.
    pub text: String,
}

/// What the system says about this CPU.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// The governor of its frequency.
    pub governor: Option<String>,
    /// Why the counters of the processor cannot be read; `None` if they can, or this system has
    /// none.
    pub no_counters: Option<String>,
    /// Whether a hypervisor runs this system.
    pub hypervisor: bool,
    /// CPUs that this process may use.
    pub cpus: usize,
}

impl Facts {
    /// Those of a CPU of this machine.
    pub fn here(cpu: usize) -> Facts {
        let governor = std::fs::read_to_string(format!(
            "/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"
        ))
        .ok();
        let counters = catalogue().into_iter().find(|(clock, _)| clock.name.starts_with("perf"));
        Facts {
            governor: governor.map(|text| text.trim().to_owned()),
            no_counters: counters.and_then(|(_, available)| available.err()),
            hypervisor: machine().hypervisor,
            cpus: allowed_cpus().len(),
        }
    }
}

/// What to change, the most useful first.
pub fn changes(diagnosis: &Diagnosis, facts: &Facts) -> Vec<Change> {
    [
        cpu(diagnosis, facts),
        clock(diagnosis),
        governor(facts),
        hypervisor(diagnosis, facts),
        counters(facts),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn cpu(diagnosis: &Diagnosis, facts: &Facts) -> Option<Change> {
    let shared: Vec<&str> = diagnosis
        .roles
        .iter()
        .filter(|role| role.is_shared())
        .map(|role: &Role| role.name)
        .collect();
    let quiet = diagnosis.quiet_share.filter(|share| *share < QUIET_SHARE);
    if shared.is_empty() && quiet.is_none() {
        return None;
    }
    let units = if shared.is_empty() { String::new() } else { format!(" ({})", shared.join(", ")) };
    let readings = quiet
        .map(|share| format!(" in {:.0} % of the readings", 100.0 * (1.0 - share)))
        .unwrap_or_default();
    let other_place = if facts.cpus > 1 {
        "choose another CPU (--cpu), or stop what runs beside"
    } else {
        "stop what runs beside, or use a machine with more CPUs"
    };
    Some(Change {
        about: "cpu",
        text: format!("something else uses this core{readings}{units}: {other_place}"),
    })
}

fn clock(diagnosis: &Diagnosis) -> Option<Change> {
    let (factor, step_ns) = (
        diagnosis.smallest.step_factor,
        diagnosis.reading.quantum as f64 * 1e9 / diagnosis.rate.hz,
    );
    (factor > STEP_COSTS && step_ns > COARSE_NS).then(|| Change {
        about: "clock",
        text: format!(
            "the step of the clock takes {factor:.1} times the measuring time: a finer one is \
             better (`hairspring clocks` lists them)"
        ),
    })
}

fn governor(facts: &Facts) -> Option<Change> {
    let governor = facts.governor.as_deref().filter(|governor| *governor != "performance")?;
    let text = format!(
        "the governor is {governor}, so the core clock moves: `cpupower frequency-set -g \
         performance` keeps it up"
    );
    Some(Change { about: "governor", text })
}

fn hypervisor(diagnosis: &Diagnosis, facts: &Facts) -> Option<Change> {
    let share = diagnosis.pauses.share().map(|(share, _)| share).filter(|share| *share > PAUSES);
    let stolen = diagnosis.stolen_ms.filter(|stolen| *stolen > 0.0);
    if !facts.hypervisor || share.is_none() && stolen.is_none() {
        return None;
    }
    let pauses =
        share.map(|share| format!("the CPU pauses for {:.1} % of the time", 100.0 * share));
    let stolen = stolen.map(|ms| format!("the hypervisor gave {ms:.0} ms to others"));
    let seen_effects = [pauses, stolen].into_iter().flatten().collect::<Vec<_>>().join(", ");
    Some(Change {
        about: "hypervisor",
        text: format!("{seen_effects}: ask for CPUs of your own (pinned, or a dedicated host)"),
    })
}

fn counters(facts: &Facts) -> Option<Change> {
    // What the system calls the error is in the list of the clocks.
    let reason = facts.no_counters.as_ref()?.split(" (").next()?;
    Some(Change { about: "counters", text: format!("{reason}; chains count the cycles instead") })
}
