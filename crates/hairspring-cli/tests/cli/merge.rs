//! `merge`: results of many machines.

use crate::command::Hairspring;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// A document of a machine, whose code takes so many cycles.
fn document(host: &str, cycles: f64) -> String {
    let e = |value: f64| {
        let [low, high] = [0.999, 1.001].map(|share| share * value);
        json!({ "value": value, "low": low, "high": high, "level": 0.95 })
    };
    json!({ "schema": "hairspring/result/2", "command": "run", "run": null,
        "environment": {
            "identity": { "created": "2026-11-30T12:00:00Z", "host": host, "version": "0.1.0",
                "commit": null },
            "cpu": { "model": "Invented 9000", "family": "6-207", "cpus": 2,
                "architecture": "x86_64", "hypervisor": false },
            "program": "0011" },
        "results": [{ "name": "sum", "code": null, "bytes_per_copy": null, "overhead": null,
            "components": { "body": { "time_ns": e(cycles / 4.0), "cycles": e(cycles),
                "below_resolution": false, "mode": null } } }] })
    .to_string()
}

/// Three machines in a folder.
fn fleet() -> Hairspring {
    let machine = |command: Hairspring, at: u32| {
        let text = document(&format!("h{at}"), 100.0 + f64::from(at));
        command.beside(&format!("nodes/{at}.json"), text)
    };
    (0..3).fold(Hairspring::new().with("merge"), machine)
}

#[test]
fn a_folder_is_merged() {
    fleet().with("nodes").succeeds().says("mean of 3 machines").says("3 of 3 files").says("floor");
    let text = fleet().with("nodes").with("--json").succeeds().output;
    let merged: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&merged["schema"], &merged["machines"]), (&json!("hairspring/merge/1"), &json!(3)));
    let mean = merged["families"][0]["results"][0]["time"]["value"].as_f64().unwrap();
    assert!((mean - 101.0).abs() < 0.01 && merged["identity"]["created"].is_string(), "{mean}");
}

#[test]
fn names_come_from_a_list_or_from_standard_input() {
    let names = "nodes/0.json\nnodes/1.json\nmissing.json\n";
    fleet()
        .option("--files-from", "-")
        .input(names)
        .succeeds()
        .says("mean of 2 machines")
        .says("missing.json: No such file");
    fleet().beside("list", names).option("--files-from", "list").with("--strict").ends_with(3);
    fleet().with("-").ends_with(2).complains("--files-from -");
    Hairspring::new().with("merge").ends_with(2);
}

#[test]
fn what_cannot_be_merged_is_told_and_fails_only_if_nothing_is_left() {
    let text = document("h9", 100.0);
    let damaged = || {
        fleet()
            .beside("nodes/cut.json", &text[..200])
            .beside("nodes/copy.json", document("h0", 100.0))
            .beside("nodes/odd.json", [0xff, 0x00, 0x7b])
    };
    damaged()
        .with("nodes")
        .succeeds()
        .says("2 not merged")
        .says("cut.json: is not a JSON document")
        .says("copy.json");
    damaged().with("nodes").with("--strict").ends_with(3);
    Hairspring::new()
        .with("merge")
        .beside("cut.json", &text[..200])
        .with("cut.json")
        .fails("nothing is merged");
}

#[test]
fn ctrl_c_gives_what_was_read() {
    let names: String = (0..200_000).map(|at| format!("missing{at}.json\n")).collect();
    let running = fleet()
        .beside("list", format!("nodes/0.json\n{names}"))
        .option("--files-from", "list")
        .start();
    running.until_it_catches_signals();
    running.signal(Signal::SIGINT);
    running.ends_with_any(&[0, 1]).says("the merge was stopped");
}
