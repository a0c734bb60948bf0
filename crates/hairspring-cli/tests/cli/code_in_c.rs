//! C: modes, variables, initialisation, cold data, files, compilers.

use crate::command::{Hairspring, needs, time};

fn chain() -> Hairspring {
    time("x = x * c").given("uint64_t x = 3").given("uint64_t c = 5")
}

#[test]
fn an_assignment_to_a_variable_is_a_latency() {
    let document = chain().document();
    assert_eq!(document.mode(), ("latency", "chained through x"));
    assert_eq!(document.components(), ["body"]);
    document.takes_a_few_cycles();
}

#[test]
fn an_expression_is_a_throughput() {
    let document = time("x * c").given("uint64_t x = 3").given("uint64_t c = 5").document();
    assert_eq!(document.mode().0, "throughput");
    assert!(
        document.result_of(0)["bytes_per_copy"].as_f64().is_some_and(|bytes| bytes >= 3.0),
        "{:#}",
        document.result_of(0)
    );
}

#[test]
fn text_says_the_mode_and_why() {
    chain().succeeds().says("latency, chained through x").says("body").says("cycles");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_saved_table_says_whether_copies_wait_or_fill_units_of_the_core() {
    let head = |code: &str, second: &str| {
        let time = time(code).given("uint64_t x = 3").given(second);
        let saved = time
            .option("--budget", "50ms")
            .option("--save", "/dev/stderr")
            .start()
            .ends_with_any(&[0, 3])
            .error;
        saved
            .lines()
            .take_while(|line| line.starts_with('#'))
            .fold(String::new(), |head, line| head + line + "\n")
    };
    for (code, key) in [
        ("x = x * c", "# waits: code\n"),
        ("x * c", "# fills: code\n"),
        ("x = x * c", "# uses: code = multiply 1\n"),
    ] {
        let head = head(code, "uint64_t c = 5");
        assert!(head.contains(key), "{head}");
    }
    let loads = head("x = a[x & 7]", "uint64_t a[8] = {3, 1, 2}");
    assert!(
        loads.contains("# waits: code\n") && loads.contains("# uses: code = simple 1, load 1\n"),
        "{loads}"
    );
    let branches = head("if (x & 1) x = x * 3 + 1; else x >>= 1", "uint64_t c = 5");
    assert!(
        !branches.contains("# waits: code") && !branches.contains("# fills: code"),
        "{branches}"
    );
}

#[test]
fn variables_of_all_kinds_are_possible() {
    let lets = [
        "double d = 1.5",
        "float f = 2",
        "int a[3] = {1, 2, 3}",
        "char *p = malloc(16)",
        "const unsigned c = 7",
        "_Bool b = 1",
    ];
    let all = lets.iter().fold(time("d * f + a[1] + c + b + (p != 0)"), |command, declaration| {
        command.given(declaration)
    });
    all.given("struct P { int x; } s = {3}")
        .given("struct { int x; } t[2]")
        .given("int (*call)(int) = abs")
        .succeeds();
}

#[test]
fn an_init_is_a_component_of_its_own() {
    let document =
        time("x = x * x").given("double x = 1.5").option("--init", "x = 1.25").document();
    assert_eq!(document.components(), ["body", "init"]);
    assert_eq!(
        document.mode(),
        ("throughput", "--init sets x again for each copy: copies are independent")
    );
    assert!(!document.findings(0).contains(&"optimised_away"), "{:?}", document.findings(0));
}

/// A body of 40 steps, and an init of 80 that only runs them behind a body; with fences, too.
#[test]
fn an_init_that_undoes_what_the_body_left_takes_its_own_time() {
    const SOURCE: &str = "
        static int dirty; static unsigned long x = 3;
        __attribute__((noinline)) static void multiply(int n) { unsigned long y = x; while (n--) { \
y *= 5; __asm__ volatile(\"\" : \"+r\"(y)); } x = y; }
        static void undo(void) { if (dirty) { multiply(80); dirty = 0; } }
        static void work(void) { multiply(40); dirty = 1; }";
    // Without the rows for it the body takes as long as both. Something else that uses the core may
    // hide the difference.
    let is_told = |fenced: bool| {
        let code = time("work()").option("--init", "undo()").with_file("undo.c", SOURCE);
        let document = if fenced { code.with("--fence") } else { code }.document();
        let time = |part: &str| {
            document.result_of(0)["components"][part]["time_ns"]["value"].as_f64().unwrap()
        };
        let (body, init) = (time("body"), time(if fenced { "init+fence" } else { "init" }));
        document.findings(0).contains(&"init_undoes") && (0.25..0.8).contains(&(body / init))
    };
    assert!([false, true].iter().all(|fenced| (0..3).any(|_| is_told(*fenced))));
}

#[test]
fn a_fence_is_separate_from_the_body() {
    let document = time("x = x * 3").given("unsigned x = 3").with("--fence").document();
    assert_eq!(document.components(), ["body", "fence"]);
    assert_eq!(document.mode().0, "latency");
    let document = time("x = x * 3")
        .given("unsigned x = 3")
        .with("--fence")
        .option("--init", "x = 5")
        .document();
    assert_eq!(document.components(), ["body", "init+fence"]);
    // What a fence hides of the code is in the budget.
    let budget = &document.result_of(0)["budget"]["body"];
    assert!(
        budget.as_array().unwrap().iter().any(|entry| entry["source"] == "fence"),
        "{budget:#}"
    );
}

#[test]
fn what_the_init_sets_is_opaque_to_the_body() {
    // The body would be a constant if the compiler knew what the init wrote.
    let document =
        time("x = x / 3").given("unsigned x = 7").option("--init", "x = 1000").document();
    assert!(
        document.result_of(0)["bytes_per_copy"].as_f64().is_some_and(|bytes| bytes > 6.0),
        "{:#}",
        document.result_of(0)
    );
}

#[test]
fn the_setup_runs_once() {
    let counted = time("if (runs != 1) abort(); x = x * 3")
        .given("unsigned x = 1")
        .with_file("runs.c", "static int runs;\n");
    counted.option("--setup", "runs++").succeeds();
}

#[test]
fn rows_see_what_the_setup_did() {
    time("if (x != 8) abort()").given("int x = 3").option("--setup", "x += 5").succeeds();
}

#[test]
fn cold_data_are_named_or_given_by_pointer_and_bytes() {
    for (code, declaration, data) in
        [("a[5]", "int a[64] = {1}", "a"), ("p[64]", "char *p = calloc(4096, 1)", "p:4096")]
    {
        let document = time(code).given(declaration).option("--cold", data).document();
        assert_eq!(document.components(), ["body", "flush"]);
        assert_eq!(document.mode().0, "latency");
    }
}

#[test]
fn init_and_cold_data_go_together() {
    let document = time("a[0] + b[0]")
        .given("int a[4]")
        .given("int b[4]")
        .option("--init", "a[0] = 3")
        .option("--cold", "a,b")
        .document();
    assert_eq!(document.components(), ["body", "init+fence", "flush"]);
}

#[test]
fn macros_and_local_labels_are_possible() {
    time("#define TWICE(a) \\\n  ((a) * 2)\nx = TWICE(x) + 1")
        .given("unsigned x = 3")
        .succeeds()
        .says("chained through x");
    time("#define TWICE(a) ((a) * 2)\nTWICE(x)").given("unsigned x = 3").succeeds();
    time("__label__ again; again: x = x * 3; if (x == 5) goto again;")
        .given("unsigned x = 3")
        .succeeds();
}

#[test]
fn functions_come_from_a_source_file() {
    time("twice(x)")
        .given("int x = 3")
        .with_file("twice.c", "static int twice(int x) { return x * 2; }\n")
        .succeeds();
}

#[test]
fn functions_come_from_an_object_file() {
    let command = time("twice(x)")
        .given("int x = 3")
        .beside("twice.h", "int twice(int);\n")
        .option("--include", "twice.h");
    let command = command.beside("twice.c", "int twice(int x) { return x * 2; }\n");
    command.compiled("twice.c", "twice.o").option("--file", "twice.o").succeeds();
}

#[test]
fn functions_come_from_an_assembly_file() {
    let twice = ".globl twice\ntwice:\n  lea (%rdi,%rdi), %rax\n  ret\n\
                 .section .note.GNU-stack,\"\",@progbits\n";
    time("extern long twice(long); x = twice(x);")
        .given("long x = 3")
        .with_file("twice.s", twice)
        .succeeds();
}

#[test]
fn headers_are_included() {
    time("toupper(x)").given("int x = 'a'").option("--include", "ctype.h").succeeds();
}

#[test]
fn libraries_are_linked() {
    time("sin(x)").given("double x = 1").option("--link", "-lm").succeeds();
}

#[test]
fn any_compiler_and_its_flags_can_be_used() {
    for compiler in ["gcc", "clang", "gcc -m64"] {
        let name = compiler.split(' ').next().unwrap();
        needs(name);
        let document = chain().option("--cc", compiler).document();
        assert!(
            document.0["environment"]["compiler"]
                .as_str()
                .is_some_and(|version| version.contains(name))
        );
        document.takes_a_few_cycles();
    }
    for flags in ["-O0", "-O3", "-march=native"] {
        let document = chain().option("--cflags", flags).document();
        assert_eq!(document.0["environment"]["compiler_flags"], flags);
    }
}

#[test]
fn one_copy_is_shown_on_request() {
    let document = chain().option("--show", "asm").document();
    let lines = document.result_of(0)["disassembly"].as_array().cloned().unwrap_or_default();
    assert!(
        lines.len() == 1 && lines[0].as_str().is_some_and(|line| line.starts_with("imul %")),
        "{lines:?}"
    );
    assert!(chain().document().result_of(0).get("disassembly").is_none());
    chain().option("--show", "asm").succeeds().says("one copy").says("imul %");
}

#[test]
fn work_that_the_compiler_took_out_is_reported() {
    let ten = time("x = x * c; ".repeat(10))
        .given("uint64_t x = 3")
        .given("uint64_t c = 5")
        .option("--cc", "gcc");
    let document = ten.document();
    let finding = document.finding("work_changed");
    assert_eq!((&finding["operation"], &finding["source"]), (&"multiplication".into(), &10.into()));
    assert!(finding["copy"].as_u64().is_some_and(|copy| copy < 10), "{finding:#}");
    assert!(!chain().document().findings(0).contains(&"work_changed"));
}
