//! Messages that must fit the verb, the option and the code at hand.

use crate::command::{Hairspring, fit, time};

fn x(code: &str) -> Hairspring {
    ["signal.h", "unistd.h"]
        .iter()
        .fold(time(code).given("int x = 3"), |command, header| command.option("--include", header))
}

#[test]
fn a_fit_speaks_of_its_table() {
    let bent: String = (0..60).map(|k| format!("{k},{}\n", k * k * 10 + k)).collect();
    let ended =
        fit(format!("body,ticks\n{bent}{bent}{bent}{bent}{bent}")).succeeds().says("straight line");
    ended
        .does_not_say("--init")
        .does_not_say("--save")
        .does_not_say("--budget")
        .does_not_say("--cpu");
}

#[test]
fn a_component_that_never_ran_is_named() {
    fit("a,b,ticks\n1,0,108\n2,0,208\n3,0,308\n4,0,409\n")
        .succeeds()
        .says("never ran and are not in the result: b");
}

#[test]
fn missing_clocks_and_cpus_are_wrong_usage() {
    for command in [time("1"), Hairspring::new().with("verify")] {
        command
            .option("--clock", "sundial")
            .ends_with(2)
            .complains("available here: ")
            .in_one_line();
    }
    for command in [time("1"), Hairspring::new().with("verify")] {
        command.option("--cpu", "9999").ends_with(2).complains("may use the CPUs ").in_one_line();
    }
}

#[test]
fn values_with_a_minus_are_values() {
    for option in ["--budget", "--timeout"] {
        time("1").option(option, "-1s").ends_with(2).complains("must be above 0");
    }
    time("1").option("--precision", "5").ends_with(2).complains("for 5 percent write 5%");
}

#[test]
fn a_clock_that_is_too_coarse_for_chains_is_reported() {
    Hairspring::new()
        .with("verify")
        .option("--clock", "times")
        .ends_with(2)
        .complains("moves in steps of")
        .in_one_line();
}

#[test]
fn a_wrong_compiler_is_reported() {
    time("1").option("--cc", "/bin/true").fails("is it a compiler?").in_one_line();
}

#[test]
fn two_variables_want_two_lets() {
    time("a + b").given("int a, b").ends_with(2).complains("a --let of its own").in_one_line();
}

#[test]
fn registers_that_an_instruction_changes_are_explained() {
    if cfg!(target_arch = "x86_64") {
        time("cpuid")
            .option("--lang", "asm")
            .fails("SIGSEGV")
            .complains("the code changes rax, rbx, rcx, rdx without naming them");
    }
}

#[test]
fn endless_memory_is_not_reported_as_hanging() {
    let code = "for (;;) { void *volatile p = malloc(64 << 20); (void)p; }";
    x(code)
        .option("--timeout", "1s")
        .fails("used up its memory and did not return")
        .complains("allocate without limit");
}

#[test]
fn a_short_timeout_is_the_codes_alone() {
    x("x = x * 3").option("--timeout", "20ms").succeeds();
    x("pause()").option("--timeout", "20ms").fails("did not return within 0.02 s");
}

#[test]
fn a_sanitizer_is_reported() {
    x("x = x * 3").option("--cflags", "-O2 -fsanitize=address").start().ends_with_any(&[0, 1]);
}

#[test]
fn notes_on_the_request() {
    let document = time("x = x * 3").given("long double x = 3").option("--cflags", "-g").document();
    assert_eq!(document.finding("kept_in_memory")["variables"][0], "x");
    assert_eq!(document.finding("not_optimised")["flags"], "-g");
    let ended = time("x = x * 3").given("long x = 3").option("--cflags", "-g -O1").succeeds();
    ended.does_not_say("kept in memory").does_not_say("level of optimisation");
}
