//! Code that runs other threads: it has the CPUs and the priority of the process, and the report
//! says what was done.

use crate::command::{Hairspring, time};
use crate::document::Document;
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

/// CPUs of this process, and so of the command.
fn cpus() -> usize {
    let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap();
    (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu).unwrap_or(false)).count()
}

/// Ends the process when a thread, or the code that is run when the file is loaded, has not all
/// CPUs, or another priority than the process had when it was started.
const CHECKED_CODE: &str = r#"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
static int nice_of_process;
static void check(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != CPUS) abort();
  if (getpriority(PRIO_PROCESS, syscall(SYS_gettid)) != nice_of_process) abort();
}
__attribute__((constructor)) static void loaded(void) {
  nice_of_process = getpriority(PRIO_PROCESS, getppid());
  check();
}
static void *run(void *nothing) {
  for (volatile int i = 0; i < 100000; i++) {}
  check();
  return nothing;
}
/* A pool that is made when it is first needed. */
static void pool(void) {
  static int made;
  if (!made) check();
  made = 1;
}
static void start(void) {
  pthread_t thread;
  if (pthread_create(&thread, 0, run, 0) != 0 || pthread_join(thread, 0) != 0) abort();
}
"#;

fn checked(code: &str) -> Hairspring {
    let flags = format!("-O2 -D_GNU_SOURCE -DCPUS={}", cpus());
    time(code)
        .option("--cflags", flags)
        .option("--link", "-pthread")
        .with_file("checked.c", CHECKED_CODE)
}

fn is_not_bound(document: &Document) {
    let environment = &document.0["environment"];
    assert!(environment["pinned_cpu"].is_null(), "{environment:#}");
    assert_eq!(environment["priority_raised"], false, "{environment:#}");
    assert!(
        document.body()["cycles"].is_null()
            && document.body()["cycles_reason"].as_str().unwrap().contains("several CPUs")
    );
    // What others do on the CPUs can hide a thread's time: then the interval reaches below zero.
    assert!(
        document.body()["time_ns"]["high"].as_f64().is_some_and(|ns| ns > 0.0),
        "{:#}",
        document.body()
    );
}

#[test]
fn threads_of_the_code_have_all_cpus_and_the_priority_of_the_process() {
    let document = checked("start()").document();
    is_not_bound(&document);
    let found = document.finding("threads");
    // No limit but zero: beside others that use the CPUs, a thread waits for most of the time that
    // its share is taken of.
    assert!(
        found["cpus_used"].as_f64().is_some_and(|used| used > 0.0) && found["cpus"] == cpus(),
        "{found:#}"
    );
    assert!(found["remedy"].as_str().unwrap().contains("--threads"), "{found:#}");
}

#[test]
fn threads_that_are_declared_are_not_looked_for() {
    let document = checked("start()").with("--threads").document();
    is_not_bound(&document);
    assert_eq!(document.finding("unbound")["threads"], true);
    assert!(!document.findings(0).contains(&"threads"));
    checked("start()").with("--threads").succeeds().says("not bound to a CPU");
}

#[test]
fn threads_of_the_setup_are_free_too() {
    let document = checked("__asm__ volatile(\"\")").option("--setup", "start()").document();
    assert!(
        !document.findings(0).contains(&"threads"),
        "the code runs none: {:?}",
        document.findings(0)
    );
    assert!(document.0["environment"]["pinned_cpu"].is_u64());
}

#[test]
fn a_pool_of_threads_is_made_for_all_cpus() {
    let document = checked("pool()").document();
    assert!(document.0["environment"]["pinned_cpu"].is_u64());
}

#[test]
fn a_cpu_that_was_asked_for_is_kept_and_that_is_doubted() {
    let spawn = "#include <thread>\nstatic void start() { std::thread([] {}).join(); }\n";
    let command = time("start()")
        .option("--lang", "c++")
        .option("--link", "-pthread")
        .with_file("spawn.cpp", spawn);
    let document = command.option("--cpu", "0").document();
    let found = document.finding("threads_bound");
    assert!(
        found["cpu"] == 0
            && found["severity"] == "warning"
            && found["remedy"].as_str().unwrap().contains("--cpu"),
        "{found:#}"
    );
    assert_eq!(document.0["environment"]["pinned_cpu"], 0);
    assert_eq!(document.0["environment"]["priority_raised"], false);
}

#[test]
fn the_thread_can_be_left_where_it_is() {
    let check = "cpu_set_t set; if (sched_getaffinity(0, sizeof set, &set) != 0 || \
                 CPU_COUNT(&set) != CPUS) abort()";
    let document = checked(check).with("--no-pin").document();
    assert!(document.0["environment"]["pinned_cpu"].is_null());
    assert_eq!(document.finding("unbound")["threads"], false);
}

#[test]
fn a_cpu_and_none_at_the_same_time_are_refused() {
    for option in ["--threads", "--no-pin"] {
        time("1").with(option).option("--cpu", "0").ends_with(2).complains("cannot be used with");
    }
}
