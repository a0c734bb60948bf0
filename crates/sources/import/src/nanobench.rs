//! nanobench: the JSON of its template `ankerl::nanobench::templates::json()`. Each measurement is
//! an epoch with the number of its iterations and the seconds of one of them.

use crate::collect::Collected;
use crate::{Imported, Tool, json};
use hairspring_core::Result;
use hairspring_core::error::Error;
use serde::Deserialize;

const ADVICE: &str = "nanobench varies the iterations of its epochs only if there are many; set \
                      minEpochIterations to several numbers in runs of one name";

#[derive(Deserialize)]
struct Document {
    results: Vec<Benchmark>,
}

#[derive(Deserialize)]
struct Benchmark {
    title: Option<String>,
    name: Option<String>,
    unit: Option<String>,
    batch: Option<f64>,
    #[serde(default)]
    measurements: Vec<Epoch>,
}

/// `elapsed` is the time of one iteration in seconds, whatever the batch is.
#[derive(Deserialize)]
struct Epoch {
    iterations: Option<f64>,
    elapsed: Option<f64>,
}

/// Reads the document.
pub fn read(text: &str) -> Result<Imported> {
    let format_name = "JSON of nanobench (a list `results` with `measurements`)";
    let document: Document = json::read(text, format_name)?;
    let titled = document.results.windows(2).any(|pair| pair[0].title != pair[1].title);
    let mut collected = Collected::default();
    for (at, benchmark) in document.results.iter().enumerate() {
        let name = benchmark.called(titled);
        add(&mut collected, benchmark, &name).map_err(|reason| {
            Error::BadTable(format!("benchmark {} (`{name}`): {reason}", at + 1))
        })?;
    }
    collected.finish(Tool::Nanobench, "JSON of nanobench", ADVICE)
}

impl Benchmark {
    /// Its name, with the title where a file has several.
    fn called(&self, titled: bool) -> String {
        let title = self.title.as_deref().filter(|title| titled && !title.is_empty());
        let name = self.name.as_deref().unwrap_or("main");
        title.map_or_else(|| name.to_owned(), |title| format!("{title}/{name}"))
    }
}

fn add(
    collected: &mut Collected,
    benchmark: &Benchmark,
    name: &str,
) -> std::result::Result<(), String> {
    for (at, epoch) in benchmark.measurements.iter().enumerate() {
        let iterations = epoch.iterations.unwrap_or(f64::NAN);
        let seconds = epoch.elapsed.unwrap_or(f64::NAN);
        collected
            .push(name, iterations, iterations * seconds * 1e9)
            .map_err(|reason| format!("measurement {}: {reason}", at + 1))?;
    }
    if let Some(batch) = benchmark.batch.filter(|batch| *batch != 1.0) {
        let unit = benchmark.unit.as_deref().unwrap_or("op");
        collected.remark(format!("`{name}`: the time is that of one iteration, of {batch} {unit}"));
    }
    Ok(())
}
