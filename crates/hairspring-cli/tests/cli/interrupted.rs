//! Signals to the command while it compiles and while it measures: it ends with 128 and the
//! signal's number, and nothing is left of it (which every end is checked for).

use crate::command::{Hairspring, Running, time};
use nix::sys::signal::Signal;

/// A compiler that leaves a temporary file and hangs.
const SLOW_COMPILER: &str = "case \"$*\" in *--version*) echo slow 1; exit;; esac\n\
                             : > \"$TMPDIR/half-done.s\"\nexec sleep 1000\n";

fn compiling() -> Running {
    let running = time("x = x * 3")
        .given("int x = 3")
        .with_script("slow", SLOW_COMPILER)
        .option("--cc", "./slow")
        .start();
    running.until_it_runs("sleep 1000");
    running
}

fn long(command: Hairspring) -> Running {
    let running = command.option("--budget", "100s").option("--precision", "0.00001%").start();
    running.until_it_runs("__host");
    running
}

fn measuring() -> Running {
    long(time("x = x * 3").given("int x = 3"))
}

#[test]
fn ctrl_c_while_it_compiles() {
    let running = compiling();
    running.signal(Signal::SIGINT);
    running.ends_with(130);
}

#[test]
fn ctrl_c_while_it_measures() {
    let running = measuring();
    running.signal(Signal::SIGINT);
    running.ends_with(130);
}

#[test]
fn ctrl_c_while_the_code_hangs() {
    let running = long(time("for (;;) __asm__ volatile(\"\")").option("--timeout", "100s"));
    running.signal(Signal::SIGINT);
    running.ends_with(130);
}

#[test]
fn at_any_moment() {
    for milliseconds in [0, 5, 20, 60, 150, 400] {
        let running = time("x = x * 3")
            .given("int x = 3")
            .option("--budget", "100s")
            .option("--precision", "0.00001%")
            .start();
        running.until_it_catches_signals();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        running.signal(Signal::SIGINT);
        running.ends_with(130);
    }
}

#[test]
fn other_signals_also_clean_up() {
    for (signal, status) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let running = measuring();
        running.signal(signal);
        running.ends_with(status);
    }
}
