//! Whether two results were measured at the same place: on one machine, and on one of its CPUs. Two
//! CPUs of one machine may differ by more than a change of the code: by their clock, their caches,
//! what else runs on them.

use super::tools::on_other_machines;
use crate::document::ResultDocument;

/// Which results may be compared with a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Places {
    /// Those of one machine and one of its CPUs.
    Same,
    /// Those of any two.
    Any,
}

const MACHINES: &str =
    "the two ran on different machines, which may make such a difference: measure both on one";
const CPUS: &str =
    "the two ran on different CPUs, which may make such a difference: measure both on one (--cpu)";

/// Why the places of the two leave it open whether the code changed; `None` if they are the same,
/// or not known.
pub(super) fn apart(
    old_result: &ResultDocument,
    new_result: &ResultDocument,
) -> Option<&'static str> {
    let (old, new) = (&old_result.environment, &new_result.environment);
    let cpus = old.cpu.as_ref().zip(new.cpu.as_ref());
    let hosts = old.host().zip(new.host());
    let bound = old.pinned_cpu.zip(new.pinned_cpu);
    let is_another = cpus.is_some_and(|(old, new)| {
        (&old.model, &old.architecture) != (&new.model, &new.architecture)
    });
    let is_measured = old.cpu.is_some() || new.cpu.is_some();
    let is_elsewhere = hosts.filter(|_| is_measured).is_some_and(|(old, new)| old != new);
    match is_another || is_elsewhere || on_other_machines(old_result, new_result) {
        true => Some(MACHINES),
        false => bound.filter(|(old, new)| old != new).map(|_| CPUS),
    }
}
