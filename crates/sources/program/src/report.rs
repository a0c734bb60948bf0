//! Makes the document of a measured group.

use crate::benchmark::Group;
use crate::circumstances::here;
use crate::error::Result;
use crate::remedies::PROGRAM;
use crate::session::{MeasuredGroup, Session, Timing};
use hairspring_core::estimate::Options;
use hairspring_core::judge::{Assessment, Question, Remedies};
use hairspring_host::identity::program;
use hairspring_result::{Clock, Environment, Measurement, Reference, Run, Subject};

/// Estimates and findings of a measured group. There is a finding if the requested `precision` is
/// missed.
///
/// # Errors
/// If the observations are too few to be solved.
pub fn assessed(
    measured: &MeasuredGroup,
    level: f64,
    precision: Option<f64>,
) -> Result<Assessment> {
    assessed_with(&PROGRAM, measured, level, precision)
}

fn assessed_with(
    remedies: &Remedies,
    measured: &MeasuredGroup,
    level: f64,
    precision: Option<f64>,
) -> Result<Assessment> {
    let options = Options { level, ..Options::default() };
    let mut found = remedies.assess(
        &measured.run.table,
        &Question { options, precision, stolen_ms: measured.run.stolen_ms },
    )?;
    let mut thread = measured.seated.finding();
    remedies.apply(&mut thread);
    for series in &mut found.series {
        thread.iter().for_each(|finding| series.add(finding.clone()));
    }
    Ok(found)
}

/// The document of a group; `command` is the command that made it.
///
/// # Errors
/// As [`assessed`].
pub fn document(
    session: &Session,
    group: &Group,
    measured: &MeasuredGroup,
    command: &str,
    precision: Option<f64>,
) -> Result<Measurement> {
    let subject = |(benchmark, name): (&crate::Benchmark, &String)| Subject {
        name: name.clone(),
        code: benchmark.code.clone(),
        ..Subject::default()
    };
    let assessment =
        assessed_with(session.settings.remedies, measured, session.settings.level, precision)?;
    Ok(Measurement {
        command: command.to_owned(),
        environment: environment(session, measured),
        ns_per_unit: measured.run.table.origin.ns_per_unit(),
        subjects: group.benchmarks.iter().zip(&measured.names).map(subject).collect(),
        methods: Vec::new(),
        run: Some(Run {
            rounds: measured.run.rounds,
            measured_ms: Some(measured.run.measuring.as_secs_f64() * 1e3),
            budget_spent_ms: Some(measured.run.elapsed.as_secs_f64() * 1e3),
            elapsed_ms: Some(measured.run.elapsed.as_secs_f64() * 1e3),
            stop: measured.run.stop.to_string(),
            stolen_ms: measured.run.stolen_ms,
            quiet_percent: assessment.quiet_share.map(|share| 100.0 * share),
            processes: None,
            placements: measured.run.placements(),
        }),
        assessment,
    })
}

fn environment(session: &Session, measured: &MeasuredGroup) -> Environment {
    let Timing { clock, granularity, meter } = session.timing();
    let reference = session
        .ruler(&measured.seated)
        .map(|ruler| Reference { cycles: f64::from(ruler.cycles), provenance: ruler.provenance });
    Environment {
        clock: Some(
            Clock::named(clock.name, clock.description)
                .with_rate(&meter.rate())
                .with_reading(granularity.quantum, granularity.back_to_back_mean),
        ),
        pinned_cpu: measured.seated.cpu,
        priority_raised: Some(measured.seated.priority_raised),
        program: program(),
        ..here("").with_reference(reference)
    }
}
