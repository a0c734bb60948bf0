//! Which calls of a run `hairspring blocks` takes: several of one run, of any thread, and of
//! processes that the program starts.

use crate::blocks::{Rig, compile, json};
use serde_json::Value;

/// Twenty calls of `work`, the i-th with i trips of its loop, or of 3 i + 1 in another thread or
/// process.
const CALLS: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define CHAIN(n) __asm__ volatile(".rept " #n "\n imul %0, %0\n .endr" : "+r"(x))
__attribute__((noinline)) long work(long n) { long x = n; do CHAIN(30); while (--n > 0); return x; }
static void *idle(void *a) { for (;;) usleep(1000); return a; }
static void *others(void *a) { long s = 0; for (long i = 1; i <= 20; i++) s += work(i * 3 + 1); return (void *)s; }
int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  pthread_t thread; void *result; long sum = 0;
  if (argc > 2 && !strcmp(how, "mark")) { int file = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0600); if (write(file, "x", 1) != 1) return 9; }
  if (!strcmp(how, "sleeps")) pthread_create(&thread, 0, idle, 0);
  if (!strcmp(how, "thread")) { pthread_create(&thread, 0, others, 0); pthread_join(thread, &result); return (long)result & 1; }
  if (!strcmp(how, "child")) { if (fork() == 0) { others(0); _exit(0); } wait(0); return 0; }
  if (!strcmp(how, "daemon")) { if (fork() != 0) return 0; setsid(); others(0); return 0; }
  if (!strcmp(how, "shell") && system("true")) return 5;
  if (!strcmp(how, "waits")) { int c = fork(); if (c == 0) _exit(0); int status; if (wait(&status) != c || wait(&status) != -1) return 6; }
  if (!strcmp(how, "memory")) { char *much = malloc(60 << 20); memset(much, 1, 60 << 20); __asm__ volatile("" : : "r"(much) : "memory"); }
  long longest = !strcmp(how, "long") ? 7 : !strcmp(how, "last") ? 20 : 0;
  for (long i = 1; i <= 20; i++) {
    if (longest && i == 3) usleep(200000);
    sum += work(i == longest ? 3000000 : i);
  }
  return sum & 1;
}
"#;

fn rig() -> Rig {
    compile(CALLS, &["-O1", "-g"])
}

/// Trips of the loop in all calls.
fn trips(document: &Value) -> f64 {
    document["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["runs"].as_f64().unwrap())
        .fold(0.0, f64::max)
}

#[test]
fn calls_of_one_run_are_taken_without_running_it_again() {
    let rig = rig();
    let mark = rig.folder.path().join("mark");
    let inputs = format!("mark {}\n", mark.to_str().unwrap());
    let document = json(&rig.blocks("work", &inputs, &["--json", "--calls", "12", "--skip", "3"]));
    assert_eq!(
        (&document["inputs"]["calls"], trips(&document)),
        (&12.into(), (4..=15).sum::<u64>() as f64)
    );
    assert_eq!(std::fs::read(&mark).unwrap(), b"x");
    // Fewer calls than requested are taken as they are, and none at all is an error.
    let document = json(&rig.blocks("work", "--\n", &["--json", "--calls", "30", "--skip", "12"]));
    assert_eq!(
        (&document["inputs"]["calls"], trips(&document)),
        (&8.into(), (13..=20).sum::<u64>() as f64)
    );
    let done = rig.blocks("work", "--\n", &["--skip", "20"]);
    assert!(
        done.status == 1
            && done.stderr.contains("reach call 21 of `work`: the program ended before"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_sample_takes_calls_over_the_whole_run() {
    let document = json(&rig().blocks("work", "--\n", &["--json", "--calls", "4", "--sample"]));
    assert_eq!((&document["inputs"]["calls"], trips(&document)), (&4.into(), 42.0));
}

#[test]
fn the_longest_call_is_found() {
    let rig = rig();
    // The program waits longer behind another call, and the longest one may be the last.
    for how in ["long\n", "last\n"] {
        let document = json(&rig.blocks("work", how, &["--json", "--longest"]));
        assert_eq!(
            (&document["inputs"]["calls"], trips(&document)),
            (&1.into(), 3_000_000.0),
            "{how}"
        );
    }
    let done = rig.blocks("work", "long\n", &["--longest", "--sample"]);
    assert!(done.status == 2 && done.stderr.contains("--sample"), "{}", done.stderr);
    let done = rig.blocks("work", "long\n", &["--longest", "--skip", "20"]);
    assert!(done.status == 1 && done.stderr.contains("reach call 21 of `work`"), "{}", done.stderr);
}

/// Call 1 has 400 trips and makes call 2, of 100, before it returns; call 3 has 300.
const NESTED_CALLS: &str = r#"
#define CHAIN(n) __asm__ volatile(".rept " #n "\n imul %0, %0\n .endr" : "+r"(x))
__attribute__((noinline)) long work(long n, long inner) {
  long x = n;
  for (long i = 0; i < n; i++) { CHAIN(8); if (i % 3 == 0) CHAIN(4); }
  if (inner) x += work(100, 0);
  return x;
}
int main(void) { return (work(400, 1) + work(300, 0)) == 7; }
"#;

#[test]
fn a_call_that_the_function_makes_of_itself_is_the_next_one() {
    let rig = compile(NESTED_CALLS, &["-O1", "-fno-optimize-sibling-calls", "-fno-ipa-cp"]);
    let of = |more: &[&str]| {
        json(&rig.blocks("work", "--\n", &[&["--json", "--budget", "300ms"], more].concat()))
    };
    let (whole, parts) = (of(&["--calls", "3"]), of(&["--calls", "3", "--parts", "9"]));
    assert_eq!(
        (&whole["inputs"]["calls"], trips(&whole)),
        (&3.into(), 900.0),
        "{}",
        whole["inputs"]
    );
    assert_eq!(
        (&parts["inputs"]["calls"], trips(&parts)),
        (&3.into(), 900.0),
        "{}",
        parts["inputs"]
    );
}

#[test]
fn calls_of_other_threads_and_processes_count() {
    let rig = rig();
    let first: u64 = (1..=5).sum();
    let others: u64 = (1..=5).map(|i| 3 * i + 1).sum();
    for (how, expected) in [
        ("sleeps", first),
        ("shell", first),
        ("waits", first),
        ("thread", others),
        ("child", others),
        ("daemon", others),
    ] {
        let document = json(&rig.blocks("work", &format!("{how}\n"), &["--json", "--calls", "5"]));
        assert_eq!(
            (&document["inputs"]["calls"], trips(&document)),
            (&5.into(), expected as f64),
            "{how}"
        );
    }
}

#[test]
fn memory_of_waiting_calls_is_limited_and_calls_of_one_run_share_it() {
    let rig = rig();
    let document =
        json(&rig.blocks("work", "memory\nmemory\nmemory\n", &["--json", "--memory", "150"]));
    let skipped = document["inputs"]["skipped"].as_array().unwrap();
    assert!(skipped.len() == 1 && skipped[0]["input"] == 3, "{skipped:#?}");
    let reason = skipped[0]["reason"].as_str().unwrap();
    assert!(
        reason.contains("150 MiB is the limit")
            && reason.contains("--memory")
            && reason.contains("--calls"),
        "{reason}"
    );
    let document =
        json(&rig.blocks("work", "memory\n", &["--json", "--memory", "150", "--calls", "10"]));
    assert_eq!(document["inputs"]["calls"], 10, "{}", document["inputs"]["skipped"]);
    for (more, expected) in
        [(["--memory", "0"], "0 is not in 1..="), (["--calls", "0"], "0 is not in 1..=")]
    {
        let done = rig.blocks("work", "--\n", &more);
        assert!(done.status == 2 && done.stderr.contains(expected), "{}", done.stderr);
    }
}
