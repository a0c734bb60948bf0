//! BenchmarkDotNet: the full JSON (`JsonExporter.Full`), which has every iteration with the number
//! of its operations. Only iterations of the workload itself count: not those that jit, search for
//! the number of operations or warm up, not those of the empty method (the overhead), and not
//! `Result`, which is the workload less the overhead.

mod job;

use crate::collect::Collected;
use crate::{Imported, Tool, json};
use hairspring_core::Result;
use hairspring_core::error::Error;
use job::Job;
use serde::Deserialize;

const ADVICE: &str = "BenchmarkDotNet keeps the number of operations that its pilot has chosen; \
                      give the benchmark several jobs with WithInvocationCount(16), 32, 64 and so \
                      on";

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
    let format_name = "the full JSON of BenchmarkDotNet (a list `Benchmarks` with `Measurements`)";
    let document: Document = json::read(text, format_name)?;
    let jobs: Vec<(&str, Job)> = document.benchmarks.iter().map(Benchmark::job).collect();
    let (names, remarks) = job::series(&jobs);
    let mut collected = Collected::default();
    remarks.into_iter().for_each(|remark| collected.remark(remark));
    for ((benchmark, name), number) in document.benchmarks.iter().zip(&names).zip(1..) {
        add(&mut collected, benchmark, name).map_err(|reason| {
            Error::BadTable(format!("benchmark {number} (`{name}`): {reason}"))
        })?;
    }
    collected.finish(Tool::BenchmarkDotNet, "full JSON of BenchmarkDotNet", ADVICE)
}

impl Benchmark {
    /// Its full name, and its job.
    fn job(&self) -> (&str, Job<'_>) {
        let job = self.display_info.as_deref().map(Job::of).unwrap_or_default();
        (self.full_name.as_deref().unwrap_or("main"), job)
    }
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
    for (at, iteration) in
        iterations.iter().enumerate().filter(|(_, iteration)| iteration.is_actual())
    {
        let (operations, ns) =
            (iteration.operations.unwrap_or(f64::NAN), iteration.nanoseconds.unwrap_or(f64::NAN));
        collected
            .push(name, operations, ns)
            .map_err(|reason| format!("measurement {}: {reason}", at + 1))?;
    }
    Ok(())
}
