//! What people ask for: code as a compiler takes it, calls as a program makes them, and words where
//! the answer is another one than they expect.

use crate::command::{Hairspring, needs, time};
use crate::document::Document;

fn cpp(code: &str) -> Hairspring {
    time(code).option("--lang", "c++")
}

/// The time of the first result in ns.
fn ns(document: &Document) -> f64 {
    document.body()["time_ns"]["value"].as_f64().unwrap()
}

#[test]
fn declarations_constants_and_structures_compile_as_they_do_elsewhere() {
    needs("c++");
    cpp("std::string q(s);")
        .option("--include", "string")
        .given("const char *s = \"hello\"")
        .succeeds()
        .says("body");
    cpp("x").given("struct X { const int value; } x{5}").succeeds();
    cpp("y = x + *p")
        .given("const int x = 3")
        .given("const int *p = &x")
        .given("int y = 0")
        .succeeds();
    cpp("n = r.size()")
        .option("--include", "string")
        .given("const std::string &r = *new std::string(\"ab\")")
        .given("size_t n = 0")
        .succeeds();
}

#[test]
fn a_file_that_compiles_by_itself_compiles_here() {
    needs("cc");
    let file = "#define _GNU_SOURCE\n#include <sched.h>\n\
                static int which(void) { cpu_set_t s; CPU_ZERO(&s); return sched_getcpu(); }\n";
    time("which()").with_file("gnu.c", file).succeeds();
    let implicit = "static int n(void) { return hs_absent_before(); }\n\
                    int hs_absent_before(void) { return 3; }\n";
    time("n()").with_file("old.c", implicit).succeeds();
    time("nosuch(3)")
        .fails("the code does not compile")
        .complains("--include")
        .complains("_GNU_SOURCE");
}

#[test]
fn commands_and_code_that_starts_processes_are_told_what_times_them() {
    time("./program --fast")
        .fails("the code does not compile")
        .complains("hyperfine")
        .complains("hairspring blocks");
    time("system(\"true\")").fails("start a process").complains("hyperfine");
    let script = || Hairspring::new().with("run").with_script("plain", "exit 0\n").with("./plain");
    script().ends_with(2).complains("hyperfine").complains("hairspring blocks");
}

#[test]
fn calls_that_the_compiler_dropped_are_told() {
    let code = "p = malloc(1 << 22); memset(p, 1, 1 << 22); free(p)";
    let document = time(code).given("char *p = 0").document();
    if cfg!(target_arch = "x86_64") {
        let message =
            document.finding("work_changed")["message"].as_str().unwrap_or_default().to_owned();
        assert!(message.contains("0 calls of memset"), "{message}");
    }
}

#[test]
fn a_walk_goes_on_from_row_to_row_unless_it_ends() {
    let walk = |last: &str| {
        let setup = format!(
            "static struct N a[3000]; for (int i = 0; i < 2999; i++) a[i].n = a + i + 1; a[2999].n \
             = {last}; p = a;"
        );
        time("p = p->n")
            .given("struct N { struct N *n; } *p = 0")
            .option("--setup", &setup)
            .document()
    };
    if cfg!(target_arch = "x86_64") {
        assert!(!walk("a").findings(0).contains(&"walk_restarts"));
        assert!(walk("0").findings(0).contains(&"walk_restarts"));
    }
}

#[test]
fn keys_that_come_again_in_a_growing_map_are_told() {
    needs("c++");
    let insert = |code| {
        cpp(code).given("std::map<int, int> m").given("int k = 0").option("--include", "map")
    };
    if cfg!(target_arch = "x86_64") {
        assert!(insert("m[k++] = 1").document().findings(0).contains(&"values_restart"));
        let cleared = insert("m[k] = 1").option("--init", "m.clear(); k = 0").document();
        assert!(!cleared.findings(0).contains(&"values_restart"));
    }
}

#[test]
fn shared_pointers_say_which_of_two_ways_was_measured() {
    needs("c++");
    let copy = || {
        let given = cpp("std::shared_ptr<int> q = p; x = *q").option("--include", "memory");
        given.given("std::shared_ptr<int> p = std::make_shared<int>(4)").given("int x = 0")
    };
    let (alone, threaded) = (copy().document(), copy().with("--multithreaded").document());
    if cfg!(all(target_arch = "x86_64", target_env = "gnu")) {
        assert!(
            alone.findings(0).contains(&"one_thread")
                && !threaded.findings(0).contains(&"one_thread")
        );
        assert!(ns(&threaded) > 1.2 * ns(&alone), "{} {}", ns(&threaded), ns(&alone));
    }
}

/// The same calls in copies and in a program: a limit of the measuring process made the first of
/// them twice as fast.
#[test]
fn calls_take_the_time_that_they_take_in_a_program() {
    needs("cc");
    let calls = ["clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t)", "getppid()", "sched_yield()"];
    let benchmark = |(at, call): (usize, &&str)| {
        format!(
            "HAIRSPRING_BENCHMARK(b{at}, (struct timespec t), {call}; HAIRSPRING_USE_MEMORY());\n"
        )
    };
    let benchmarks: String = calls.iter().enumerate().map(benchmark).collect();
    let head = "#define _GNU_SOURCE\n#include \"hairspring.h\"\n#include <sched.h>\n\
                #include <time.h>\n#include <unistd.h>\n";
    let source = format!(
        "{head}{benchmarks}HAIRSPRING_MAIN({{.benchmark = &b0}}, {{.benchmark = &b1}}, \
         {{.benchmark = &b2}})\n"
    );
    let in_program = || {
        let all = Hairspring::new()
            .with("run")
            .beside("bench.c", &source)
            .with("bench.c")
            .option("--processes", "3")
            .document()
            .0;
        [0, 1, 2].map(|at| {
            all["results"][at]["components"]["body"]["time_ns"]["value"].as_f64().unwrap()
        })
    };
    let in_copies = |call: &str| {
        let given = time(call)
            .given("struct timespec t")
            .option("--include", "time.h")
            .option("--include", "unistd.h");
        ns(&given.option("--include", "sched.h").document())
    };
    // Beside other work one of the two may be slower: the best of three.
    let tries: Vec<([f64; 3], [f64; 3])> =
        (0..3).map(|_| (in_program(), [0, 1, 2].map(|at| in_copies(calls[at])))).collect();
    for (at, call) in calls.iter().enumerate() {
        let ratio = |one: &([f64; 3], [f64; 3])| (one.1[at] / one.0[at]).ln().abs();
        let nearest = tries.iter().map(ratio).fold(f64::INFINITY, f64::min);
        assert!(nearest < 1.3_f64.ln(), "{call}: {tries:?}");
    }
}

/// A result of another CPU has no verdict, and the CPU of a baseline is measured again.
#[test]
fn a_baseline_is_measured_on_its_cpu_and_another_cpu_decides_nothing() {
    let code = || time("x = x * c").given("uint64_t x = 3").given("uint64_t c = 5");
    let old = code().option("--cpu", "0").with("--json").succeeds().output;
    let again =
        code().beside_baseline("main", &old).option("--baseline", "main").with("--json").succeeds();
    assert_eq!(Document::result(&again.output).0["environment"]["pinned_cpu"], 0);
    let elsewhere = old.replace("\"pinned_cpu\": 0", "\"pinned_cpu\": 1");
    let compare = || {
        Hairspring::new()
            .with("compare")
            .beside("old.json", &old)
            .beside("new.json", &elsewhere)
            .with("old.json")
            .with("new.json")
    };
    compare()
        .option("--threshold", "5%")
        .succeeds()
        .says("undecided: the two ran on different CPUs");
    compare().with("--across").succeeds().does_not_say("different CPUs, which");
}
