//! Tables of observations, and files of other tools that are converted to one.

use hairspring_core::judge::methods;
use hairspring_core::judge::{Question, assess};
use hairspring_core::observations::{Observations, read_csv, write_csv};
use hairspring_import::{Tool, detect, has_only_times};
use hairspring_result::read::read;
use hairspring_result::{Environment, Measurement, ResultDocument, json};
use hairspring_view::{Style, text};
use std::collections::BTreeSet;

/// Observation files: a table that is written and read again is the same, and `fit` makes a report
/// of it whose JSON can be read back.
pub fn observations(bytes: &[u8]) -> bool {
    let Ok(table) = read_csv(bytes) else { return false };
    let mut written = Vec::new();
    write_csv(&table, &mut written).expect("a vector takes all bytes");
    let again = read_csv(&written[..])
        .unwrap_or_else(|error| panic!("{error}:\n{}", String::from_utf8_lossy(&written)));
    assert_same(&table, &again);
    fitted(&table);
    true
}

fn assert_same(a: &Observations, b: &Observations) {
    assert_eq!((a.components(), a.series_names()), (b.components(), b.series_names()));
    assert_eq!((a.rows(), a.readings()), (b.rows(), b.readings()));
    let kept = |table: &Observations| {
        let mut origin = table.origin.clone();
        origin.notes.retain(|(key, _)| key != "hairspring observations");
        origin
    };
    assert_eq!(kept(a), kept(b));
}

/// `sample.json` and `raw.csv` of Criterion.rs, and the messages of cargo-criterion.
pub fn criterion(bytes: &[u8]) -> bool {
    imported(bytes, Tool::Criterion)
}

/// The JSON of Google Benchmark.
pub fn google_benchmark(bytes: &[u8]) -> bool {
    imported(bytes, Tool::GoogleBenchmark)
}

/// The JSON of nanobench.
pub fn nanobench(bytes: &[u8]) -> bool {
    imported(bytes, Tool::Nanobench)
}

/// The full JSON of BenchmarkDotNet.
pub fn benchmark_dot_net(bytes: &[u8]) -> bool {
    imported(bytes, Tool::BenchmarkDotNet)
}

/// The output of `go test -bench`, as text and with `-json`.
pub fn go_bench(bytes: &[u8]) -> bool {
    imported(bytes, Tool::Go)
}

/// Tables of instructions to compare with: every number is finite and not negative, and a form has
/// one number of a quantity.
pub fn instructions(bytes: &[u8]) -> bool {
    let Ok(figures) = hairspring_instructions::against::read(bytes) else { return false };
    assert!(figures.iter().all(|figure| figure.cycles.is_finite() && figure.cycles >= 0.0));
    let forms: BTreeSet<_> =
        figures.iter().map(|figure| (&figure.form, figure.quantity.name())).collect();
    assert_eq!(forms.len(), figures.len());
    true
}

/// Imported tables have finite times and counts above zero, and can be fitted.
fn imported(bytes: &[u8], tool: Tool) -> bool {
    let _ = (detect(bytes), has_only_times(bytes));
    let Ok(imported) = hairspring_import::read(bytes, tool) else { return false };
    let table = &imported.table;
    assert!(
        !table.readings().is_empty()
            && table.readings().iter().all(|reading| reading.ticks.is_finite())
    );
    assert!(table.rows().iter().all(|row| row.counts[0].is_finite() && row.counts[0] > 0.0));
    fitted(table);
    true
}

/// The steps of `hairspring fit` from a table to its text and JSON.
fn fitted(table: &Observations) {
    let Ok(assessment) = assess(table, &Question::default()) else { return };
    let document = ResultDocument::new(&Measurement {
        command: "fit".into(),
        environment: Environment::unknown("a fuzz target").with_origin(&table.origin),
        ns_per_unit: table.origin.ns_per_unit(),
        methods: methods::beside_tools(table, &assessment),
        assessment,
        subjects: Vec::new(),
        run: None,
    });
    crate::results::harmless(&text::report(&document, &Style::default()));
    let printed = json::print(&document);
    read(&printed).unwrap_or_else(|error| panic!("the printed result {error}:\n{printed}"));
}
