//! The document of `doctor`, and its part that ends a certificate.

use super::change::Change;
use super::{Diagnosis, Role, Smallest};
use crate::verify::Standing;
use hairspring_core::Estimate;
use hairspring_result::Environment;
use hairspring_result::document::finite;
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DoctorSchema {
    /// First version.
    #[serde(rename = "hairspring/doctor/1")]
    V1,
}

/// What a machine can and cannot give.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring doctor"))]
pub struct DoctorDocument {
    /// Name and version of this format.
    pub schema: DoctorSchema,
    /// The verb that made it.
    pub command: String,
    /// Circumstances.
    pub environment: Environment,
    /// What the machine can give; `null` where nothing can be measured.
    pub machine: Option<MachineJson>,
    /// Why nothing can be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_reason: Option<String>,
}

/// What a machine can give.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineJson {
    /// The smallest times that can be measured to 1 %.
    pub smallest: SmallestJson,
    /// The step of the clock, in nanoseconds.
    pub clock_step_ns: Option<f64>,
    /// A read of the clock, in nanoseconds.
    pub clock_read_ns: Option<f64>,
    /// Factor on the measuring time that the step of the clock costs; 1 if it costs nothing.
    pub clock_step_factor: Option<f64>,
    /// Core clock in Hz.
    pub core_hz: Option<Estimate>,
    /// Kinds of units of the core.
    pub roles: Vec<RoleJson>,
    /// Share of the readings that nobody else disturbed; `null` where the reads of the clock do not
    /// show it.
    pub quiet_share: Option<f64>,
    /// Share of the time in which the CPU paused; `null` if it hardly did.
    pub pauses_share: Option<f64>,
    /// Time that the hypervisor gave to others, in milliseconds; `null` where it does not say.
    pub stolen_ms: Option<f64>,
    /// What to change, the most useful first.
    pub changes: Vec<Change>,
}

/// The smallest times to 1 %, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SmallestJson {
    /// Of what runs once between two reads, in 0.1 s of measuring.
    pub once_in_100_ms_ns: Option<Estimate>,
    /// The same in 1 s.
    pub once_in_1_s_ns: Option<Estimate>,
    /// Number of copies in a row for the next two.
    pub copies: u32,
    /// Of each of these copies, in 0.1 s.
    pub copy_in_100_ms_ns: Option<Estimate>,
    /// The same in 1 s.
    pub copy_in_1_s_ns: Option<Estimate>,
}

/// A kind of units of the core.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoleJson {
    /// Its name.
    pub role: String,
    /// The chain that uses it.
    pub chain: String,
    /// Core cycles of a copy.
    pub cycles: Option<Estimate>,
    /// The shortest and the longest length in parts of the run, but for a tenth of them on either
    /// side.
    pub parts_cycles: (Option<f64>, Option<f64>),
    /// The whole number that it is proved to take.
    pub integer: Option<u32>,
    /// What the chain is worth here.
    pub standing: Standing,
    /// Whether something else uses these units now.
    pub shared: bool,
}

impl From<&Smallest> for SmallestJson {
    fn from(smallest: &Smallest) -> Self {
        SmallestJson {
            once_in_100_ms_ns: smallest.once_in_100_ms.if_finite(),
            once_in_1_s_ns: smallest.once_in_1_s.if_finite(),
            copies: smallest.copies,
            copy_in_100_ms_ns: smallest.copy_in_100_ms.if_finite(),
            copy_in_1_s_ns: smallest.copy_in_1_s.if_finite(),
        }
    }
}

impl From<&Role> for RoleJson {
    fn from(role: &Role) -> Self {
        RoleJson {
            role: role.name.to_owned(),
            chain: role.chain.clone(),
            cycles: role.cycles.if_finite(),
            parts_cycles: (finite(role.parts.0), finite(role.parts.1)),
            integer: role.integer,
            standing: role.standing,
            shared: role.is_shared(),
        }
    }
}

impl From<&Diagnosis> for MachineJson {
    fn from(diagnosis: &Diagnosis) -> Self {
        let ns = 1e9 / diagnosis.rate.hz;
        MachineJson {
            smallest: (&diagnosis.smallest).into(),
            clock_step_ns: finite(diagnosis.reading.quantum as f64 * ns),
            clock_read_ns: finite(diagnosis.reading.back_to_back_mean * ns),
            clock_step_factor: finite(diagnosis.smallest.step_factor),
            core_hz: diagnosis.core_hz.if_finite(),
            roles: diagnosis.roles.iter().map(RoleJson::from).collect(),
            quiet_share: diagnosis.quiet_share.and_then(finite),
            pauses_share: diagnosis.pauses.share().and_then(|(share, _)| finite(share)),
            stolen_ms: diagnosis.stolen_ms.and_then(finite),
            changes: diagnosis.changes.clone(),
        }
    }
}

/// The document: what the machine can give, or why nothing.
pub fn doctor(
    diagnosis: Result<&Diagnosis, &String>,
    circumstances: &Environment,
) -> DoctorDocument {
    DoctorDocument {
        schema: DoctorSchema::V1,
        command: "doctor".into(),
        environment: circumstances.clone(),
        machine: diagnosis.ok().map(MachineJson::from),
        machine_reason: diagnosis.err().cloned(),
    }
}
