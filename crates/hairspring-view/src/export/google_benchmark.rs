//! The JSON of Google Benchmark (`--benchmark_format=json`, schema version 1). Its readers look for `context.caches`, `name`,
//! `real_time`, `cpu_time` and `time_unit`; the interval is in user counters, as the format has no field for it.

use super::{Timed, finite};
use hairspring_result::Environment;
use serde_json::{Value, json};

/// The document. A thread that is bound to its CPU is timed: `cpu_time` repeats `real_time`.
pub(super) fn text(entries: &[Timed], environment: &Environment) -> String {
    let mhz = environment.core_clock_hz.map(|hz| (hz.value / 1e6).round());
    hairspring_result::json::print(&json!({
        "context": {
            "executable": "hairspring",
            "num_cpus": environment.cpu.as_ref().map(|cpu| cpu.cpus),
            "mhz_per_cpu": mhz,
            "caches": [],
            "load_avg": [],
            "library_version": env!("CARGO_PKG_VERSION"),
            "library_build_type": if cfg!(debug_assertions) { "debug" } else { "release" },
            "json_schema_version": 1,
        },
        "benchmarks": entries.iter().enumerate().map(|(at, entry)| benchmark(at, entry)).collect::<Vec<_>>(),
    }))
}

fn benchmark(at: usize, (entry, time): &Timed) -> Value {
    let mut value = json!({
        "name": entry.label,
        "family_index": at,
        "per_family_instance_index": 0,
        "run_name": entry.label,
        "run_type": "iteration",
        "repetitions": 1,
        "repetition_index": 0,
        "threads": 1,
        "iterations": entry.executions() as u64,
        "real_time": time.value,
        "cpu_time": time.value,
        "time_unit": "ns",
    });
    let cycles = entry.figure.cycles;
    let counters = [
        ("low_ns", Some(time.low)),
        ("high_ns", Some(time.high)),
        ("level", Some(time.level)),
        ("cycles", cycles.map(|cycles| cycles.value)),
        ("low_cycles", cycles.map(|cycles| cycles.low)),
        ("high_cycles", cycles.map(|cycles| cycles.high)),
    ];
    for (name, number) in counters {
        if let Some(number) = number.and_then(finite) {
            value[name] = json!(number);
        }
    }
    value
}
