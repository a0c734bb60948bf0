//! Code that ends its process: the message says how and where, and the command survives.

use crate::command::{Hairspring, time};

const CRASH: &str = "*(volatile int *)0 = 1;";

fn x(code: &str) -> Hairspring {
    time(code).given("int x = 3").option("--include", "signal.h").option("--include", "unistd.h")
}

#[test]
fn a_fault_is_reported_with_its_place() {
    x(CRASH).fails("SIGSEGV at address 0x0 while it was measured").in_one_line();
    x("x").option("--init", CRASH).fails("SIGSEGV at address 0x0 while it was measured");
    x("x").option("--setup", CRASH).fails("SIGSEGV at address 0x0 in --setup");
    x("x").option("--vs", CRASH).fails("SIGSEGV at address 0x0");
    time("x")
        .given("int x = *(volatile int *)8")
        .fails("SIGSEGV at address 0x8 in --setup or the initialisers of --let");
}

#[test]
fn a_fault_while_loading_is_reported() {
    let file = "static int *volatile nowhere;\n\
                __attribute__((constructor)) static void begin(void) { *nowhere = 1; }\n";
    x("x").with_file("begin.c", file).fails("SIGSEGV at address 0x0 while it was loaded");
}

#[test]
fn exit_and_abort_are_reported() {
    x("abort()").fails("SIGABRT while it was measured");
    x("exit(0)")
        .fails("ended the process with status 0 instead of returning")
        .complains("remove the call of exit");
    x("_exit(3)").fails("status 3");
    x("x").option("--setup", "exit(7);").fails("status 7");
    x("raise(SIGKILL)").fails("SIGKILL");
    x("raise(SIGTERM)").fails("SIGTERM");
    x("kill(getpid(), SIGILL)").fails("SIGILL");
}

#[test]
fn last_output_is_reported() {
    x("assert(x == 4)")
        .option("--include", "assert.h")
        .fails("SIGABRT while it was measured\nit printed: ")
        .complains("Assertion `x == 4' failed.");
    x("fputs(\"first\\nlast \\033[31m\\n\\n\", stderr); exit(3);")
        .fails("status 3")
        .complains("it printed: last ?[31m");
}

#[test]
fn arithmetic_faults_are_reported() {
    time("x / y").given("int x = 3").given("int y = 0").fails("SIGFPE while it was measured");
    x("__builtin_trap()").fails("SIGILL");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn instructions_that_the_processor_refuses_have_no_address() {
    for code in ["hlt", "movaps xmm0, [rsp+1]"] {
        time(code)
            .option("--lang", "asm")
            .fails("SIGSEGV while it was measured")
            .complains("the processor refused an instruction");
    }
}

#[test]
fn recursion_without_end_is_reported() {
    let file = "static int deeper(int n) { volatile char a[4096]; a[0] = n; return deeper(n + \
                a[0]) + a[0]; }\n";
    x("deeper(1)").with_file("deeper.c", file).option("--cflags", "-O0").fails("SIGSEGV");
}

#[test]
fn faults_are_reported_despite_own_handlers() {
    for handler in ["SIG_IGN", "SIG_DFL"] {
        x(CRASH).option("--setup", format!("signal(SIGSEGV, {handler});")).fails("SIGSEGV");
    }
    x("abort()").option("--setup", "signal(SIGABRT, SIG_IGN);").fails("SIGABRT");
    let handled = "static void caught(int s) { (void)s; _exit(9); }\n";
    let command = x(CRASH).with_file("caught.c", &format!("#include <unistd.h>\n{handled}"));
    command.option("--setup", "signal(SIGSEGV, caught);").fails("status 9");
}

#[test]
fn a_signal_to_itself_that_it_handles_is_fine() {
    let handled = "static volatile int seen;\nstatic void caught(int s) { seen = s; }\n";
    let command = x("raise(SIGUSR1)").with_file("caught.c", handled);
    command.option("--setup", "signal(SIGUSR1, caught);").succeeds();
}
