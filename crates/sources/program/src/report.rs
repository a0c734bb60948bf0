//! From a measured group to the document that is reported.

use crate::benchmark::Group;
use crate::error::Result;
use crate::session::{MeasuredGroup, Session};
use hairspring_core::estimate::Options;
use hairspring_core::judge::{Assessment, Question, Setting, assess};
use hairspring_report::{ClockInfo, Document, Environment, Run, Subject};

/// What can be said of a measured group. `precision` is one that the user asked for: missing it is a finding.
///
/// # Errors
/// If the observations are too few to be solved.
pub fn assessed(measured: &MeasuredGroup, level: f64, precision: Option<f64>) -> Result<Assessment> {
    assessed_in(Setting::Program, measured, level, precision)
}

fn assessed_in(setting: Setting, measured: &MeasuredGroup, level: f64, precision: Option<f64>) -> Result<Assessment> {
    let options = Options { level, ..Options::default() };
    Ok(assess(&measured.run.table, &Question { options, precision, stolen_ms: measured.run.stolen_ms, setting })?)
}

/// The document of a group; `command` says who made it.
///
/// # Errors
/// As [`assessed`].
pub fn document(session: &Session, group: &Group, measured: &MeasuredGroup, command: &str, precision: Option<f64>) -> Result<Document> {
    let subject = |(benchmark, name): (&crate::Benchmark, &String)| Subject {
        name: name.clone(),
        code: benchmark.code.clone(),
        ..Subject::default()
    };
    Ok(Document {
        command: command.to_owned(),
        environment: environment(session),
        assessment: assessed_in(session.settings.setting, measured, session.settings.level, precision)?,
        ns_per_unit: measured.run.table.origin.ns_per_unit(),
        subjects: group.benchmarks.iter().zip(&measured.names).map(subject).collect(),
        methods: Vec::new(),
        run: Some(Run {
            rounds: measured.run.rounds,
            measured_ms: measured.run.measuring.as_secs_f64() * 1e3,
            elapsed_ms: measured.run.elapsed.as_secs_f64() * 1e3,
            stop: measured.run.stop.to_string(),
            stolen_ms: measured.run.stolen_ms,
        }),
    })
}

fn environment(session: &Session) -> Environment {
    Environment {
        machine: Some(hairspring_host::environment::machine()),
        clock: Some(ClockInfo {
            name: session.clock.name.into(),
            description: session.clock.description.into(),
            rate: Some(session.meter.rate()),
            granularity_ticks: (session.granularity.quantum > 0).then_some(session.granularity.quantum as f64),
            read_cost_ticks: Some(session.granularity.back_to_back_mean),
        }),
        ruler: session.ruler.clone().map(Into::into),
        pinned_cpu: session.seat.as_ref().map(|seat| seat.cpu),
        priority_raised: session.seat.as_ref().map(hairspring_host::thread::Seat::priority_raised),
        ..Environment::unknown("")
    }
}
