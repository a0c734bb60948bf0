//! BenchmarkDotNet: the full JSON (`JsonExporter.Full`), which has every iteration with the number
//! of its operations. Only iterations of the workload itself count: not those that jit, search for
//! the number of operations or warm up, not those of the empty method (the overhead), and not
//! `Result`, which is the workload less the overhead.

use crate::collect::Collected;
use crate::{Imported, Tool, json};
use hairspring_core::Result;
use hairspring_core::error::Error;
use serde::Deserialize;

const ADVICE: &str = "BenchmarkDotNet keeps the number of operations that its pilot has chosen; \
                      give the benchmark several jobs with WithInvocationCount(16), 32, 64 and so \
                      on";
/// Characteristics of a job that only state the length of the run.
const OF_THE_RUN: [&str; 8] = [
    "InvocationCount=",
    "IterationCount=",
    "IterationTime=",
    "LaunchCount=",
    "MaxIterationCount=",
    "MinIterationCount=",
    "UnrollFactor=",
    "WarmupCount=",
];

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    benchmarks: Vec<Benchmark>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Benchmark {
    display_info: Option<String>,
    full_name: Option<String>,
    #[serde(default)]
    measurements: Option<Vec<Iteration>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Iteration {
    iteration_mode: Option<String>,
    iteration_stage: Option<String>,
    operations: Option<f64>,
    nanoseconds: Option<f64>,
}

impl Iteration {
    /// Whether it is a measured one of the workload; before 0.11 that was one word.
    fn is_actual(&self) -> bool {
        match (self.iteration_mode.as_deref(), self.iteration_stage.as_deref()) {
            (Some("Workload"), Some("Actual")) => true,
            (Some("MainTarget"), stage) => stage.is_none(),
            _ => false,
        }
    }
}

/// Reads the document.
pub fn read(text: &str) -> Result<Imported> {
    let what = "the full JSON of BenchmarkDotNet (a list `Benchmarks` with `Measurements`)";
    let document: Document = json::read(text, what)?;
    let mut collected = Collected::default();
    for (at, benchmark) in document.benchmarks.iter().enumerate() {
        let name = benchmark.called();
        add(&mut collected, benchmark, &name).map_err(|reason| {
            Error::BadTable(format!("benchmark {} (`{name}`): {reason}", at + 1))
        })?;
    }
    collected.finish(Tool::BenchmarkDotNet, "full JSON of BenchmarkDotNet", ADVICE)
}

impl Benchmark {
    /// Its full name, with what its job is beyond the length of the run, such as the runtime.
    fn called(&self) -> String {
        let name = self.full_name.as_deref().unwrap_or("main");
        let job = self.display_info.as_deref().map(job).unwrap_or_default();
        if job.is_empty() { name.to_owned() } else { format!("{name} [{job}]") }
    }
}

/// The job in `Type.Method: Job-ABCDEF(Runtime=.NET 8.0, InvocationCount=16) [N=5]`, without the
/// name that was made for it and what only states the length of the run.
fn job(display: &str) -> String {
    let Some((_, job)) = display.split_once(": ") else { return String::new() };
    let job = job.split(" [").next().unwrap_or_default();
    let (id, characteristics) = job.split_once('(').unwrap_or((job, ""));
    let own = (!id.starts_with("Job-") && id != "DefaultJob").then_some(id);
    let others = characteristics
        .trim_end_matches(')')
        .split(", ")
        .filter(|one| !one.is_empty() && !OF_THE_RUN.iter().any(|word| one.starts_with(word)));
    own.into_iter().chain(others).collect::<Vec<_>>().join(", ")
}

fn add(
    collected: &mut Collected,
    benchmark: &Benchmark,
    name: &str,
) -> std::result::Result<(), String> {
    let Some(iterations) = &benchmark.measurements else {
        collected.remark(format!(
            "`{name}` is left out: it has no `Measurements`; export it with JsonExporter.Full"
        ));
        return Ok(());
    };
    for (at, one) in iterations.iter().enumerate().filter(|(_, one)| one.is_actual()) {
        let (operations, ns) =
            (one.operations.unwrap_or(f64::NAN), one.nanoseconds.unwrap_or(f64::NAN));
        collected
            .push(name, operations, ns)
            .map_err(|reason| format!("measurement {}: {reason}", at + 1))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::job;

    #[test]
    fn a_job_is_what_is_not_the_length_of_its_run() {
        for (display, expected) in [
            ("B.Work: DefaultJob", ""),
            ("B.Work: DefaultJob [N=10]", ""),
            ("B.Work: Job-ABC(InvocationCount=16, UnrollFactor=1)", ""),
            ("B.Work: Job-ABC(Runtime=.NET 8.0, InvocationCount=16) [N=1]", "Runtime=.NET 8.0"),
            ("B.Work: Short(LaunchCount=1)", "Short"),
            ("no job", ""),
        ] {
            assert_eq!(job(display), expected, "{display}");
        }
    }
}
