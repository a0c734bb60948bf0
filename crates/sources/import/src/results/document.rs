//! Results of a tool as the document that the views know.

use super::model::{Benchmark, Results};
use hairspring_core::Estimate;
use hairspring_core::judge::{Finding, Severity};
use hairspring_core::named::Named;
use hairspring_result::ToolFinding;
use hairspring_result::document::{
    Component, Environment, Figure, Fit, Measures, ResultDocument, ResultSchema, Series,
    part_budget,
};

/// The component of each series.
const COMPONENT: &str = "time";
const NO_CYCLES: &str = "the file has no core cycles";

impl Results {
    /// The document of the results.
    pub fn into_document(self) -> ResultDocument {
        let results = self.benchmarks.iter().map(series).collect();
        ResultDocument {
            schema: ResultSchema::V2,
            command: "import".into(),
            origin: Some(Box::new(self.origin)),
            environment: Environment {
                cpu_reason: Some("the result is of another tool: see `origin`".into()),
                core_clock_reason: Some(NO_CYCLES.into()),
                ..Environment::unknown(NO_CYCLES)
            },
            results,
            comparisons: Vec::new(),
            baseline: None,
            complexity: Vec::new(),
            throughput: Vec::new(),
            expectation: None,
            methods: Vec::new(),
            run: None,
        }
    }
}

fn series(benchmark: &Benchmark) -> Series {
    let timed = benchmark.times.timed();
    let mut findings: Vec<Finding> = Vec::new();
    if let Some((doubted, reason)) = benchmark.doubted.clone() {
        let of = benchmark.times.count() as u64;
        let kind = ToolFinding::ValuesDoubted { doubted: doubted as u64, of, reason };
        findings.push(Finding::new(Severity::Untrusted, kind));
    }
    if let Some(reason) = timed.reason.clone() {
        findings.push(Finding::new(Severity::Untrusted, ToolFinding::NoInterval { reason }));
    }
    let entries = part_budget(&timed.budget, true, timed.time.level);
    let component = Component {
        figure: figure(&timed.time),
        trusted: true,
        serves: false,
        mode: None,
        mode_reason: None,
        row_influence_ns: None,
        row_influence_ticks: None,
        runs: None,
    };
    let readings = benchmark.times.count();
    Series {
        name: benchmark.name.clone(),
        code: None,
        measures: Some(Measures {
            value: benchmark.value.clone(),
            statistic: timed.statistic.to_owned(),
            independent: timed.independent,
        }),
        code_hash: None,
        bytes_per_copy: None,
        disassembly: None,
        components: Named::from_iter([(COMPONENT.to_owned(), component)]),
        overhead: None,
        overhead_reason: Some("the file has no counts to separate it by".into()),
        fit: Fit {
            readings,
            readings_used: readings,
            rows_detail_reason: Some("the file has no rows".into()),
            ..Fit::default()
        },
        budget: Named::from_iter([(COMPONENT.to_owned(), entries)]),
        stages: Vec::new(),
        findings,
        trusted: true,
    }
    .judged()
}

/// The time; below resolution if its interval contains zero.
fn figure(time: &Estimate) -> Figure {
    let has_ends = time.low.is_finite() && time.high.is_finite();
    let below = has_ends && time.contains(0.0);
    Figure {
        time_ns: Some(Some(*time)),
        cycles_reason: Some(NO_CYCLES.into()),
        below_resolution: below,
        bound_ns: below.then(|| Some(time.high.max(time.half_width()))),
        ..Figure::default()
    }
}
