//! Code that reaches for other processes, the instrument's pipes or its own limits.

use crate::command::{Hairspring, time};

fn x(code: &str) -> Hairspring {
    ["signal.h", "unistd.h", "spawn.h", "pthread.h", "fcntl.h", "sys/resource.h"]
        .iter()
        .fold(time(code).given("int x = 3"), |command, header| command.option("--include", header))
}

#[test]
fn processes_are_refused() {
    for code in [
        "fork()",
        "vfork()",
        "system(\"true\")",
        "popen(\"true\", \"r\")",
        "execl(\"/bin/true\", \"true\", (char *)0)",
    ] {
        x(code).fails("tried to start a process").complains("SIGSYS");
    }
    let spawn = x("posix_spawn(&pid, \"/bin/true\", 0, 0, arguments, 0)")
        .given("int pid")
        .given("char *arguments[] = {\"true\", 0}");
    spawn.fails("tried to start a process");
    x("x").option("--setup", "fork();").fails("tried to start a process");
    // The pilot, which has a filter, runs the code 14,020 times at most.
    x("if (++late == 30000) fork()")
        .with_file("late.h", "static int late;\n")
        .fails("tried to start a process");
}

#[test]
fn leaving_the_group_is_refused() {
    x("setsid()").fails("change its session");
    x("setpgid(0, 0)").fails("change its session");
}

#[test]
fn threads_are_allowed() {
    let file = "static void *nothing(void *p) { return p; }\n";
    let started = x("pthread_create(&t, 0, nothing, 0); pthread_join(t, 0)")
        .given("pthread_t t")
        .with_file("nothing.c", file);
    started.option("--link", "-lpthread").succeeds();
}

#[test]
fn a_thread_that_goes_on_does_not_outlive_the_command() {
    let file =
        "#include <unistd.h>\nstatic void *forever(void *p) { for (;;) pause(); return p; }\n";
    let setup = "pthread_t t; pthread_create(&t, 0, forever, 0);";
    x("x = x * 3")
        .with_file("forever.c", file)
        .option("--setup", setup)
        .option("--link", "-lpthread")
        .succeeds();
}

#[test]
fn signals_reach_nobody_else() {
    for code in [
        "kill(getppid(), SIGTERM)",
        "kill(getppid(), SIGKILL)",
        "kill(0, SIGKILL)",
        "kill(-getppid(), SIGKILL)",
        "kill(-getpgrp(), SIGKILL)",
        "sigqueue(getppid(), SIGTERM, (union sigval){0})",
    ] {
        let call = code.split('(').next().unwrap_or_default();
        x(&format!("if ({code} == 0) abort()"))
            .fails(&format!("tried to reach another process with {call}()"));
    }
    let file = "#include <sys/syscall.h>\n#include <unistd.h>\n";
    x("if (syscall(SYS_tkill, getppid(), SIGTERM) == 0) abort()")
        .with_file("calls.c", file)
        .fails("with tkill()");
    x("if (syscall(SYS_tgkill, getppid(), getppid(), SIGTERM) == 0) abort()")
        .with_file("calls.c", file)
        .fails("with tgkill()");
}

#[test]
fn limits_cannot_be_lifted() {
    let lift = "struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY}; if (setrlimit(RLIMIT_AS, \
                &most) == 0) abort();";
    x("x = x * 3").option("--setup", lift).succeeds();
    x("struct rlimit now; getrlimit(RLIMIT_AS, &now); if (now.rlim_max == RLIM_INFINITY) abort();")
        .succeeds();
}

#[test]
fn descriptors_that_are_not_its_own_are_reported() {
    let close = "for (int i = 0; i < 1024; i++) close(i);";
    x(close).fails("closed the instrument's descriptors");
    x("x = x * 3").option("--setup", close).fails("closed the instrument's descriptors");
    x("x = x * 3")
        .option("--setup", format!("{close} for (;;) pause();"))
        .fails("closed the instrument's descriptors");
}

#[test]
fn its_own_three_descriptors_may_be_closed() {
    x("x = x * 3").option("--setup", "close(0); close(1); close(2);").succeeds();
}

#[test]
fn garbage_on_every_descriptor_is_reported() {
    for garbage in [
        "\"garbage\", 7",
        "\"\\0\\0\\0\\0\\0\\0\\0\", 7",
        "\"\\1\\0\\0\\0\\7\", 5",
        "\"\\377\\377\\377\\377\", 4",
    ] {
        let write = format!("for (int i = 0; i < 1024; i++) write(i, {garbage});");
        let ended = x("x = x * 3").option("--setup", &write).ends_with(1);
        assert!(
            ended.error.contains("the measuring process failed")
                || ended.error.contains("code under test"),
            "{ended}"
        );
    }
    x("for (int i = 0; i < 1024; i++) write(i, \"garbage\", 7);")
        .fails("written into the instrument's memory or pipe");
}

#[test]
fn its_input_is_empty() {
    time("if (getchar() != EOF) abort()").input("abc").succeeds();
}
