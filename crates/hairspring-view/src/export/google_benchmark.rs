//! The JSON of Google Benchmark (`--benchmark_format=json`, schema version 1). Its readers look for
//! `context.caches`, `name`, `real_time`, `cpu_time` and `time_unit`; the interval is in user
//! counters, as the format has no field for it.

use super::{Format, Holds, Names, Timed, finite};
use hairspring_result::Environment;
use serde_json::{Value, json};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "google-benchmark",
    aliases: &[],
    purpose: "Google Benchmark",
    help: "The JSON of Google Benchmark; the interval in user counters",
    interval: "user counters `low_ns`, `high_ns`, `level`, and for `cycles` likewise; `cpu_time` \
               repeats `real_time`",
    names: Names::Json,
    holds: Holds::Intervals(text),
    #[cfg(test)]
    labels: tests::labels,
};

/// The document. A thread that is bound to its CPU is timed: `cpu_time` repeats `real_time`.
fn text(entries: &[Timed], environment: &Environment) -> String {
    let mhz = environment.core_clock_hz.map(|hz| (hz.value / 1e6).round());
    super::json(&json!({
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
        "benchmarks": entries.iter().enumerate().map(|(at, entry)| benchmark(at,
        entry)).collect::<Vec<_>>(),
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

#[cfg(test)]
mod tests {
    use super::super::{export, samples};
    use super::*;

    pub fn labels(text: &str) -> Vec<String> {
        let found: Value = serde_json::from_str(text).unwrap();
        found["benchmarks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn it_has_what_its_readers_look_for() {
        let found: Value =
            serde_json::from_str(&export(&samples::result(&samples::line()), &FORMAT).text)
                .unwrap();
        assert!(found["context"]["caches"].is_array());
        let one = &found["benchmarks"][0];
        assert_eq!((&one["time_unit"], &one["run_type"]), (&"ns".into(), &"iteration".into()));
        assert!(
            one["real_time"].is_f64()
                && one["cpu_time"] == one["real_time"]
                && one["iterations"].as_u64().unwrap() > 1
        );
        assert!(
            one["low_ns"].as_f64() < one["real_time"].as_f64()
                && one["real_time"].as_f64() < one["high_ns"].as_f64()
        );
    }
}
