//! `period`: a cyclic task, its partner, and what cannot be measured. Nothing depends on how late
//! this machine wakes.

use crate::command::{Ended, Hairspring};
use crate::document::Document;
use crate::place::wait_for;
use nix::sys::signal::Signal;
use serde_json::Value;
use std::net::UdpSocket;
use std::process::{Command, Stdio};

fn period() -> Hairspring {
    Hairspring::new().with("period")
}

fn document(ended: &Ended) -> Value {
    Document::period(&ended.output)
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("no `{key}` in {value:#}"))
}

/// A free port, on which nothing listens.
fn free_port() -> u16 {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_short_run_keeps_to_its_schema_and_counts_every_cycle() {
    let ended = period().with("2ms").option("-D", "200ms").with("--json").succeeds();
    let json = document(&ended);
    assert_eq!(
        (json["schema"].as_str(), number(&json, "period_ns")),
        (Some("hairspring/period/2"), 2_000_000)
    );
    assert_eq!(number(&json, "cycles") + number(&json, "missed"), 100);
    assert_eq!(json["clocks"].as_array().unwrap().len(), 2);
    assert_eq!(json["run"]["stop"], "done");
    assert_eq!(json["exchange"], Value::Null);
}

#[test]
fn the_text_fits_80_columns() {
    let ended = period()
        .option("--period", "5ms")
        .option("--duration", "100ms")
        .succeeds()
        .says("a task due every 5 ms")
        .says("latency");
    assert!(ended.output.lines().all(|line| line.chars().count() <= 80), "{ended}");
}

#[test]
fn clocks_cpu_and_cycles_can_be_chosen() {
    let ended = period()
        .with("1ms")
        .option("-l", "50")
        .option("-a", "0")
        .option("--clock", "monotonic_raw")
        .option("--clock", "realtime")
        .with("--json")
        .succeeds();
    let json = document(&ended);
    assert_eq!(number(&json, "cycles") + number(&json, "missed"), 50);
    assert_eq!(
        (&json["clocks"][0]["clock"]["name"], &json["clocks"][1]["clock"]["name"]),
        (&"monotonic_raw".into(), &"realtime".into())
    );
    assert_eq!(json["environment"]["pinned_cpu"], 0);
}

#[test]
fn a_limit_that_is_missed_is_status_3_and_can_end_the_run() {
    // Every wake-up is later than a nanosecond, and none is a day late.
    let missed = period().option("-l", "20").option("--limit", "1ns").with("--json").ends_with(3);
    assert_eq!(
        (&document(&missed)["limit"]["exceeded"], &document(&missed)["run"]["stop"]),
        (&true.into(), &"done".into())
    );
    // It goes on until there is enough for a report.
    let ended = period()
        .option("-l", "100000")
        .option("--limit", "1ns")
        .with("--break")
        .with("--json")
        .ends_with(3);
    assert_eq!(document(&ended)["run"]["stop"], "limit_exceeded");
    period().option("-l", "20").option("--limit", "24h").succeeds().says("kept");
}

#[test]
fn raw_observations_are_saved() {
    let ended = period().with("1ms").option("-l", "40").option("--save", "raw.csv").succeeds();
    let file = ended.file("raw.csv");
    assert!(
        file.starts_with("# hairspring period observations: 1\n# period_ns: 1000000\n"),
        "{file}"
    );
    let rows: Vec<&str> = file.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(rows[0], "cycle,due_ns,wake_ns,first_ticks,second_ticks,round_trip_ticks");
    assert!(rows.len() > 2 && rows.len() <= 41 && file.contains("# first_rate_hz: "), "{file}");
    let fields = |row: &str| {
        row.split(',').take(3).map(|field| field.parse::<u64>().unwrap()).collect::<Vec<_>>()
    };
    assert!(rows[1..].iter().all(|row| fields(row)[2] >= fields(row)[1]), "{file}");
}

#[test]
fn ctrl_c_reports_what_was_measured_so_far() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let running = period()
            .with("1ms")
            .option("-D", "1h")
            .with("--json")
            .option("--save", "raw.csv")
            .start();
        running.until_it_catches_signals();
        // The clocks are checked, then cycles run.
        std::thread::sleep(std::time::Duration::from_millis(600));
        running.signal(signal);
        let json = document(&running.ends_with(0));
        assert_eq!(json["run"]["stop"], "interrupted");
        assert!(number(&json, "cycles") + number(&json, "missed") < 3_600_000);
    }
}

#[test]
fn ctrl_c_before_any_result_is_an_error() {
    let running = period().with("1h").option("-D", "24h").start();
    running.until_it_catches_signals();
    std::thread::sleep(std::time::Duration::from_millis(300));
    running.signal(Signal::SIGINT);
    running.ends_with(1).complains("the run ended too early").in_one_line();
}

#[test]
fn a_frame_goes_to_the_partner_and_back_in_every_cycle() {
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let partner = period().option("--respond", &address).with("--json").start();
    // The port is free until the partner listens.
    assert!(wait_for(|| UdpSocket::bind(&address).is_err()), "nobody listens at {address}");
    let json = document(
        &period()
            .with("2ms")
            .option("-l", "100")
            .option("--exchange", &address)
            .with("--json")
            .succeeds(),
    );
    let exchange = &json["exchange"];
    let counted = number(exchange, "in_time") + number(exchange, "late") + number(exchange, "lost");
    assert_eq!((number(exchange, "sent"), number(&json, "cycles")), (counted, counted));
    assert!(number(&exchange["round_trip"], "count") > 0, "{exchange:#}");
    partner.signal(Signal::SIGINT);
    let answered = Document::responder(&partner.ends_with(0).output);
    assert!(
        number(&answered, "answered") > number(&exchange["round_trip"], "count"),
        "{answered:#}"
    );
}

#[test]
fn a_missing_partner_is_an_error_that_says_what_to_start() {
    let nobody = format!("127.0.0.1:{}", free_port());
    period()
        .option("--exchange", &nobody)
        .fails("no partner at")
        .complains("period --respond")
        .in_one_line();
    period()
        .option("--exchange", "no.such.host.invalid")
        .fails("no address for `no.such.host.invalid`")
        .complains("HOST:PORT");
    period()
        .option("--respond", "192.0.2.1:47110")
        .fails("cannot listen at 192.0.2.1:47110")
        .in_one_line();
}

#[test]
fn unmeasurable_periods_are_refused_with_a_remedy() {
    period()
        .option("--cpu", "4000")
        .ends_with(2)
        .complains("CPU 4000 is not available")
        .in_one_line();
    period()
        .with("2ns")
        .fails("a period of 2 ns cannot be kept here")
        .complains("at least")
        .complains("--period")
        .in_one_line();
    period()
        .option("--clock", "sundial")
        .ends_with(2)
        .complains("clock `sundial`")
        .complains("available here: ")
        .in_one_line();
    period()
        .option("--clock", "times")
        .fails("clock `times` cannot measure this period")
        .complains("finer clock")
        .in_one_line();
    let asleep =
        period().option("--clock", "thread_cputime").option("--period", "100ms").option("-D", "1s");
    asleep.fails("clock `thread_cputime`").complains("while the task slept").in_one_line();
    let three = ["tsc", "monotonic", "realtime"]
        .iter()
        .fold(period(), |command, name| command.option("--clock", name));
    three.ends_with(2).complains("3 clocks were named").in_one_line();
    for time in ["1s", "20s"] {
        period()
            .with("10s")
            .option("-D", time)
            .ends_with(2)
            .complains("give a longer --duration")
            .in_one_line();
    }
    let twice = |name| period().with("1ms").option("--clock", name).option("--clock", name);
    twice("tsc").ends_with(2).complains("this is the same clock twice").in_one_line();
    twice("monotonic").ends_with(2).complains("this is the same clock twice").in_one_line();
    period()
        .option("--bin", "2ms")
        .ends_with(2)
        .complains("wider than the histogram")
        .in_one_line();
    period().option("--save", "/nowhere/raw.csv").fails("--save /nowhere/raw.csv").in_one_line();
}

#[test]
fn values_must_make_sense() {
    for (value, message) in [
        ("0", "above 0"),
        ("0us", "above 0"),
        ("100", "give a unit: 100us"),
        ("fast", "expected a time"),
    ] {
        period().with(value).ends_with(2).complains(message);
        period().option("--period", value).ends_with(2).complains(message);
    }
    period().with("1ms").option("--period", "1ms").ends_with(2).complains("cannot be used with");
    period().option("-p", "100").ends_with(2).complains("0..=99");
    period().with("--break").ends_with(2).complains("--limit");
    period()
        .option("--respond", "127.0.0.1")
        .option("--exchange", "127.0.0.1")
        .ends_with(2)
        .complains("cannot be used with");
    period().option("-l", "2").ends_with(2).complains("3..=");
}

/// The command without the right to a real-time priority, whoever runs the tests.
fn without_rights(arguments: &[&str]) -> std::process::Output {
    let mut command = if nix::unistd::geteuid().is_root() {
        let mut command = Command::new("setpriv");
        command.args([
            "--bounding-set=-sys_nice",
            "--inh-caps=-sys_nice",
            "prlimit",
            "--rtprio=0",
            env!("CARGO_BIN_EXE_hairspring"),
        ]);
        command
    } else {
        let mut command = Command::new("prlimit");
        command.args(["--rtprio=0", env!("CARGO_BIN_EXE_hairspring")]);
        command
    };
    command
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("setpriv and prlimit are part of util-linux")
}

#[test]
fn without_privilege_it_runs_at_normal_priority_unless_one_is_requested() {
    let run = without_rights(&["period", "1ms", "-l", "20", "--json"]);
    assert!(run.status.success(), "{run:?}");
    let json = Document::period(&String::from_utf8(run.stdout).unwrap());
    assert_eq!(json["run"]["real_time_priority"], Value::Null);
    let reason = json["run"]["real_time_reason"].as_str().unwrap();
    assert!(reason.contains("CAP_SYS_NICE"), "{reason}");
    assert!(
        json["findings"].as_array().unwrap().iter().any(|finding| finding["kind"] == "not_settled"),
        "{json:#}"
    );
    let refused = without_rights(&["period", "1ms", "-l", "20", "-p", "50"]);
    let message = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        message.contains("real-time priority 50") && message.contains("CAP_SYS_NICE"),
        "{message}"
    );
}
