//! `hairspring blocks` when the program does not get to a call in time, ends before, is interrupted
//! by signals or has other threads at work.

use crate::blocks::{compile, json};
use std::time::{Duration, Instant};

/// Ways to the calls, by the first argument.
const WAYS: &str = r#"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
static volatile long kept, lasting;
static void tick(int number) { (void)number; }
__attribute__((noinline)) long work(long n) {
  if (n > 2) kept++;
  for (volatile long i = 0; i < n || lasting; i++) kept += i;
  return n;
}
__attribute__((noinline)) static void give_way(void) { sched_yield(); }
__attribute__((noinline)) long turn(long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) {
    sum += i ^ n;
    give_way();
  }
  return sum;
}
static void *one(void *a) { work(5); return a; }
static void *many(void *a) { for (;;) turn(7); return a; }
int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  pthread_t thread;
  if (!strcmp(how, "lasts")) { lasting = 1; work(5); }
  if (!strcmp(how, "daemon")) { if (fork()) return 0; for (;;) pause(); }
  if (!strcmp(how, "thread")) { pthread_create(&thread, 0, one, 0); for (;;) pause(); }
  if (!strcmp(how, "crash")) { for (long i = 1; i <= 3; i++) work(i); abort(); }
  if (!strcmp(how, "two")) { pthread_create(&thread, 0, many, 0); usleep(20000); for (;;) turn(7); }
  if (!strcmp(how, "timer")) {
    struct itimerval often = {{0, 200}, {0, 200}};
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, 0);
  }
  if (!strcmp(how, "endless")) for (;;) { work(3); usleep(1000); }
  if (!strcmp(how, "turns")) turn(7);
  for (long i = 1; i <= 30; i++) work(i);
  return 0;
}
"#;

#[test]
fn the_time_limit_holds_wherever_the_program_stays() {
    let rig = compile(WAYS, &["-O1", "-g"]);
    for (how, more, expected) in [
        ("lasts", &["--from", "B2@1-2"][..], "not finished after 1 s (--timeout)"),
        ("daemon", &[], "not finished after 1 s (--timeout)"),
        (
            "thread",
            &["--calls", "2", "--json"],
            "call 2: reach the call: not finished after 1 s (--timeout)",
        ),
    ] {
        let begin = Instant::now();
        let done = rig.blocks("work", &format!("{how}\n"), &[&["--timeout", "1s"], more].concat());
        assert!(done.stderr.contains(expected), "{how}: {} {}", done.status, done.stderr);
        assert!(begin.elapsed() < Duration::from_secs(30), "{how}: {:?}", begin.elapsed());
        // The call before the one that was not reached is timed.
        assert_eq!(done.status, i32::from(how != "thread"), "{how}: {}", done.stderr);
    }
}

#[test]
fn signals_while_calls_are_copied_are_delivered_later() {
    let rig = compile(WAYS, &["-O1", "-g"]);
    let document = json(&rig.blocks("work", "timer\n", &["--json", "--calls", "20"]));
    assert_eq!(
        (&document["inputs"]["calls"], &document["inputs"]["skipped"]),
        (&20.into(), &serde_json::json!([]))
    );
    let most = document["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["runs"].as_f64().unwrap())
        .fold(0.0, f64::max);
    // The loop's condition runs once more than its body; no call is counted twice.
    assert_eq!(most, (1..=20).map(|n| f64::from(n + 1)).sum::<f64>());
}

#[test]
fn only_an_end_of_the_program_makes_fewer_calls() {
    let rig = compile(WAYS, &["-O1", "-g"]);
    let done = rig.blocks("work", "--\n", &["--json", "--calls", "40"]);
    assert_eq!(json(&done)["inputs"]["calls"], 30);
    assert!(
        done.stderr.contains("fewer calls than requested (--calls)")
            && done.stderr.contains("30 of 40"),
        "{}",
        done.stderr
    );
    let done = rig.blocks("work", "crash\n", &["--json", "--calls", "40"]);
    let document = json(&done);
    assert_eq!(document["inputs"]["calls"], 3);
    let reason = document["inputs"]["skipped"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("call 4: ") && reason.contains("SIGABRT"), "{reason}");
    let done =
        rig.blocks("work", "endless\n", &["--json", "--calls", "3", "--sample", "--timeout", "1s"]);
    assert_eq!(json(&done)["inputs"]["calls"], 3);
    assert!(
        done.stderr.contains("counting them stopped") && done.stderr.contains("(raise --timeout)"),
        "{}",
        done.stderr
    );
}

#[test]
fn parts_are_those_of_one_thread() {
    let rig = compile(WAYS, &["-O1", "-g"]);
    let plain = json(&rig.blocks("turn", "turns\n", &["--json"]));
    // The first block of the loop's body.
    let body =
        plain["blocks"].as_array().unwrap().iter().find(|block| block["runs"] == 7.0).unwrap();
    let place = format!("{}@1-5", body["name"].as_str().unwrap());
    let document =
        json(&rig.blocks("turn", "two\n", &["--json", "--from", &place, "--calls", "3"]));
    assert_eq!(
        (&document["inputs"]["calls"], &document["inputs"]["skipped"]),
        (&15.into(), &serde_json::json!([]))
    );
    // Each call has seven trips: its five parts have 7, 6, 5, 4 and 3 of them.
    let again = document["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|block| block["name"] == body["name"])
        .unwrap();
    assert_eq!(again["runs"], 75.0, "{}", document["blocks"]);
}

#[test]
fn files_that_are_read_are_not_written() {
    let rig = compile(WAYS, &["-O1", "-g"]);
    let path = |name: &str| rig.folder.path().join(name).to_str().unwrap().to_owned();
    let (program, inputs, kept, link) =
        (path("program"), path("inputs.txt"), path("kept"), path("link"));
    let before = std::fs::read(&program).unwrap();
    std::fs::write(&kept, "kept").unwrap();
    std::fs::hard_link(&program, &link).unwrap();
    for (more, expected) in [
        (&["--dot", &program][..], "it is the program, which would be lost"),
        (&["--save", &link], "it is the program, which would be lost"),
        (&["--save", &inputs], "it is the file of --inputs"),
        (&["--dot", &kept, "--save", &kept], "--dot"),
    ] {
        let done = rig.blocks("work", "--\n", more);
        assert!(
            done.status == 2 && done.stderr.contains(expected),
            "{more:?}: {} {}",
            done.status,
            done.stderr
        );
    }
    let done = rig.blocks("work", &format!("< {kept}\n"), &["--dot", &kept]);
    assert!(
        done.status == 2 && done.stderr.contains("it is the standard input of a run"),
        "{}",
        done.stderr
    );
    // Nor is a file emptied by a run that fails.
    assert_eq!(rig.blocks("absent", "--\n", &["--dot", &kept]).status, 1);
    assert_eq!(
        (std::fs::read(&program).unwrap(), std::fs::read_to_string(&kept).unwrap()),
        (before, "kept".to_owned())
    );
    std::fs::write(&kept, "x".repeat(1 << 20)).unwrap();
    assert_eq!(rig.blocks("work", "--\n", &["--dot", &kept]).status, 0);
    assert!(std::fs::read_to_string(&kept).unwrap().ends_with("}\n"));
}

#[test]
fn options_without_a_meaning_are_refused_or_named() {
    let rig = compile(WAYS, &["-O1", "-g"]);
    for (more, expected) in [
        (
            &["--debug-files", "/nonexistent"][..],
            "--debug-files /nonexistent: there is no such folder",
        ),
        (&["--list"], "cannot be used with"),
        (&["--until", "each@2"], "`each` and `merged` end calls at the first arrival"),
        (&["--until", "c:13"], "no block begins on that line"),
        (
            &["--from", "B2@1-1000", "--calls", "3"],
            "3000 parts (arrivals x calls x inputs: 1000 x 3 x 1), and 2000 is the limit",
        ),
    ] {
        let done = rig.blocks("work", "--\n", more);
        assert!(
            done.status == 2 && done.stderr.contains(expected),
            "{more:?}: {} {}",
            done.status,
            done.stderr
        );
    }
    for more in
        [["--until", "B2"], ["--from", "B2"], ["--calls", "2"], ["--skip", "2"], ["--memory", "9"]]
    {
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_hairspring"))
            .args(["blocks", "/bin/true", "--list"])
            .args(more)
            .output();
        let done = done.unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(
            done.status.code() == Some(2) && said.contains("cannot be used with"),
            "{more:?}: {said}"
        );
    }
    // The first call does not get there.
    let done = rig.blocks("work", "--\n", &["--until", "B2"]);
    assert!(
        done.status == 0 && done.stderr.contains("--until B2: no call was ended there"),
        "{}",
        done.stderr
    );
}
