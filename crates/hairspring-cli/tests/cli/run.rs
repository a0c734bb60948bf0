//! Programs with benchmarks, run by `hairspring run`: what they print is merged, and failures are
//! reported.

use crate::command::{Hairspring, needs};
use serde_json::{Value, json};

fn run() -> Hairspring {
    Hairspring::new().with("run")
}

fn estimate(value: f64) -> Value {
    json!({"value": value, "low": 0.99 * value, "high": 1.01 * value, "level": 0.95})
}

/// The output of a program with these times.
fn document(times: &[(&str, f64)]) -> String {
    let series = |(name, time): &(&str, f64)| {
        json!({"name": name, "code": null, "bytes_per_copy": null,
            "components": {"body": {"time_ns": estimate(*time), "cycles": null,
            "cycles_reason": "none", "below_resolution": false, "mode": null}}, "overhead": null,
                "overhead_reason": "none",
            "fit": {"rows": 5, "left_out": 0, "rank": 2, "unknowns": 2, "lack_of_fit": null,
            "lack_of_fit_reason": "none",
            "residual_ns": 0.1, "readings": 9, "readings_used": 9, "columns": [], "rows_detail": [],
            "rows_detail_reason": "none"},
            "budget": {"body": []}, "findings": []})
    };
    let environment = json!({"cpu": null, "cpu_reason": "none", "system": null, "clock": null,
        "core_clock_hz": null,
        "core_clock_reason": "none", "reference": null, "reference_reason": "none",
            "compiler": null, "compiler_flags": null,
        "pinned_cpu": null, "priority_raised": null, "memory_locked": null});
    json!({"schema": "hairspring/result/2", "command": "run", "environment": environment,
        "results": times.iter().map(series).collect::<Vec<_>>(), "comparisons": [], "methods": [],
            "run": null})
    .to_string()
}

/// A program that has these benchmarks, and writes down how it is called.
fn program(command: Hairspring, name: &str, times: &[(&str, f64)]) -> Hairspring {
    let list: String = times.iter().map(|(name, _)| format!("{name}: benchmark\n")).collect();
    let script = format!(
        "echo \"$@\" >> {name}.calls\ncase \"$1\" in --list) cat <<'END'\n{list}END\n;;\n\
         *) {OUTPUT} cat >\"$out\" <<'END'\n{}\nEND\n;; esac\n",
        document(times)
    );
    command.with_script(name, &script)
}

/// Finds the file that a program writes its document into.
const OUTPUT: &str = "while [ $# -gt 0 ]; do [ \"$1\" != --output ] || out=$2; shift; done;";

#[test]
fn one_table_and_one_document_of_several_programs() {
    let ended = |json: bool| {
        let command = program(
            program(run(), "one", &[("copy", 5.0), ("twice", 1.0)]),
            "two",
            &[("twice", 2.0)],
        );
        let command = command.with("./one").with("./two");
        if json { command.with("--json").succeeds() } else { command.succeeds() }
    };
    let all = crate::document::Document::result(&ended(true).output).0;
    let names: Vec<&str> = all["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["copy", "./one: twice", "./two: twice"]);
    let text = ended(false).output;
    assert!(
        text.contains("  copy                  5.000 ns +- 0.050")
            && text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn benchmarks_without_core_cycles_have_no_time_at_a_stated_clock() {
    let command =
        || program(run(), "bench", &[("copy", 5.0)]).with("./bench").option("--at-clock", "3.5GHz");
    command().succeeds().says("at 3.5 GHz: copy no core cycles");
    let document = crate::document::Document::result(&command().with("--json").succeeds().output);
    assert!(
        document.body()["stated_clock_ns"].is_null()
            && document.0["environment"]["stated_clock_hz"] == 3.5e9
    );
}

#[test]
fn names_are_listed_and_chosen() {
    let three = || {
        program(run(), "bench", &[("copy/size:64", 5.0), ("copy/size:128", 6.0), ("sort", 7.0)])
            .with("./bench")
    };
    assert_eq!(three().with("--list").succeeds().output, "copy/size:64\ncopy/size:128\nsort\n");
    assert_eq!(
        three().with("--list").with("copy").option("--skip", "128").succeeds().output,
        "copy/size:64\n"
    );
    three()
        .with("--list")
        .with("--exact")
        .with("copy")
        .ends_with(2)
        .complains("no benchmark's name contains `copy`");
    let ended = three().with("copy").succeeds();
    let calls = ended.file("bench.calls");
    assert!(
        calls
            .lines()
            .nth(1)
            .is_some_and(|call| call.ends_with("--exact -- copy/size:64 copy/size:128")),
        "{calls}"
    );
    three().with("nothing").ends_with(2).complains("no benchmark's name contains `nothing`");
    assert_eq!(three().with("--list").with("copy/size:64").succeeds().output, "copy/size:64\n");
    three().option("--skip", "o").ends_with(2).complains("--skip excludes them all");
}

#[test]
fn options_are_passed_on() {
    let ended = program(run(), "bench", &[("a", 5.0)])
        .with("./bench")
        .option("--budget", "20ms")
        .option("--clock", "monotonic")
        .option("--cpu", "0")
        .option("--precision", "1%")
        .succeeds();
    let calls = ended.file("bench.calls");
    let expected = "--bench --json --confidence-level 0.95 --budget 20000000ns --precision 0.01 \
                    --clock monotonic --cpu 0";
    assert!(calls.lines().nth(1).is_some_and(|call| call.starts_with(expected)), "{calls}");
}

#[test]
fn several_processes_make_an_interval_of_how_they_differ() {
    let times = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n\n";
    let script = |name: &str| {
        format!(
            "case \"$1\" in --list) echo 'a: benchmark' ;; *) {OUTPUT} {times} cat {name}$n.json \
             >\"$out\" ;; esac\n"
        )
    };
    let mut command = run().with_script("bench", &script("run"));
    for (at, time) in [10.0, 11.0, 12.0].iter().enumerate() {
        command = command.beside(&format!("run{at}.json"), document(&[("a", *time)]));
    }
    let all = crate::document::Document::result(
        &command.with("./bench").option("--processes", "3").with("--json").succeeds().output,
    )
    .0;
    let body = &all["results"][0]["components"]["body"];
    // The intervals of longer times are wider, and these count a little less.
    assert!((body["time_ns"]["value"].as_f64().unwrap() - 11.0).abs() < 1e-3, "{body:#}");
    assert!(body["time_ns"]["high"].as_f64().unwrap() > 13.0, "{body:#}");
    assert_eq!((body["runs"].as_array().unwrap().len(), &all["run"]), (3, &Value::Null));
}

#[test]
fn a_baseline_is_saved_and_compared_with() {
    let ended = program(run(), "bench", &[("a", 5.0)])
        .with("./bench")
        .option("--save-baseline", "main")
        .succeeds();
    let saved = ended.file(".hairspring/baselines/main.json");
    let slower =
        program(run(), "bench", &[("a", 6.0)]).beside_baseline("main", &saved).with("./bench");
    let ended = slower.option("--baseline", "main").option("--threshold", "5%").ends_with(3);
    assert!(ended.output.contains("new is slower, past the threshold"), "{}", ended.output);
}

#[test]
fn there_are_several_processes_unless_their_number_is_given() {
    let processes = |options: &[&str]| {
        let command = program(run(), "bench", &[("a", 5.0)]).with("./bench");
        let document =
            options.iter().fold(command, |command, option| command.with(option)).document().0;
        document["results"][0]["components"]["body"]["runs"].as_array().map_or(1, Vec::len)
    };
    assert_eq!((processes(&[]), processes(&["--save-baseline", "main"])), (5, 5));
    assert_eq!((processes(&["--processes", "2"]), processes(&["--processes", "1"])), (2, 1));
}

#[test]
fn the_precision_is_that_of_all_processes() {
    // Each process has an interval of 1 %.
    let with = |precision: &str| {
        program(run(), "bench", &[("a", 5.0)]).with("./bench").option("--precision", precision)
    };
    with("2%").succeeds();
    with("0.5%").ends_with(3).says("the requested precision of 0.50 % was not reached");
}

#[test]
fn a_program_that_fails_does_not_run_again() {
    let script = format!(
        "echo called >> calls\ncase \"$1\" in --list) echo 'a: benchmark' ;; *) {OUTPUT} exit 9 ;; \
         esac\n"
    );
    let ended = run().with_script("bench", &script).with("./bench").ends_with(1);
    assert_eq!(ended.file("calls").lines().count(), 2, "once for its names, once to measure");
}

#[test]
fn a_source_file_is_compiled_and_its_observations_are_solved() {
    needs("cc");
    let source = "#include \"hairspring.h\"\nHAIRSPRING_BENCHMARK(multiply, (uint64_t x = 3, c = \
                  5; HAIRSPRING_OPAQUE(c)), x *= c; HAIRSPRING_OPAQUE(x));\n\
                  HAIRSPRING_BENCHMARK(twice, (uint64_t x = 3, c = 5; HAIRSPRING_OPAQUE(c)), x *= \
                  c; HAIRSPRING_OPAQUE(x); x *= c; HAIRSPRING_OPAQUE(x));\n\
                  HAIRSPRING_MAIN({.benchmark = &multiply}, {.benchmark = &twice})\n";
    let all = run().beside("bench.c", source).with("bench.c").document().0;
    let time =
        |at: usize| all["results"][at]["components"]["body"]["time_ns"]["value"].as_f64().unwrap();
    // Twice the work, with a tolerance larger than any noise.
    assert!((1.4..2.8).contains(&(time(1) / time(0))), "{} and {} ns", time(0), time(1));
    // The program runs no chain: core cycles are by the core clock before and after it, where this
    // can be measured.
    let (cycles, clock) =
        (&all["results"][0]["components"]["body"]["cycles"], &all["environment"]["core_clock_hz"]);
    assert_eq!(cycles["value"].is_f64(), clock["value"].is_f64(), "{cycles} {clock}");
    if let (Some(cycles), Some(hz)) = (cycles["value"].as_f64(), clock["value"].as_f64()) {
        assert!(
            (0.8..1.25).contains(&(cycles / (time(0) * hz / 1e9))),
            "{cycles} cycles, {} ns, {hz} Hz",
            time(0)
        );
    }
    run()
        .beside("bad.c", "int main(void) { return x; }")
        .with("bad.c")
        .fails("bad.c: does not compile");
    run()
        .beside("other.c", "int main(void) { return 3; }")
        .with("other.c")
        .fails("other.c: ended with status 3 when asked");
    let unknown =
        run().beside("bench.c", source).with("bench.c").option("--cc", "no-such-compiler");
    unknown.fails("the compiler `no-such-compiler` (--cc) cannot be started");
}

#[test]
fn programs_with_a_time_of_their_own_run_in_more_processes_within_the_budgets() {
    needs("cc");
    let source = "#include \"hairspring.h\"\nHAIRSPRING_BENCHMARK(product, (uint64_t x = 3, c = \
                  5), x = x * c);\nHAIRSPRING_MAIN({.benchmark = &product})\n";
    let processes = |budget: &str| {
        let all =
            run().beside("bench.c", source).with("bench.c").option("--budget", budget).document().0;
        all["results"][0]["components"]["body"]["runs"].as_array().map_or(1, Vec::len)
    };
    let (few, many) = (processes("1ms"), processes("3s"));
    assert!(few == 5 && many > 5 && many <= 40, "{few}, {many}");
}

/// A program that prints the number of CPUs that it may use as a time, after some time on so many
/// further threads.
fn cpus_of(threads: u32) -> f64 {
    let source = format!(
        "#define _GNU_SOURCE\n#include <pthread.h>\n#include <sched.h>\n#include <stdio.h>\n\
         #include <time.h>\nstatic void *spin(void *p) {{ struct timespec a, b; \
         clock_gettime(CLOCK_MONOTONIC, &a); do clock_gettime(CLOCK_MONOTONIC, &b); while \
         ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec) < 3e8); return p; }}\n\
         int main(void) {{ pthread_t t[4]; cpu_set_t set; sched_getaffinity(0, sizeof set, &set);\n\
         for (int i = 0; i < {threads}; i++) pthread_create(&t[i], 0, spin, 0);\n\
         for (int i = 0; i < {threads}; i++) pthread_join(t[i], 0);\n\
         printf(\"# hairspring observations: 1\\n# clock: other\\nbody,time_ns\\n\");\n\
         for (int r = 0; r < 8; r++) for (int n = 1; n < 5; n++) printf(\"%d,%d\\n\", n, n * 100 * \
         CPU_COUNT(&set) + r % 2); return 0; }}\n"
    );
    let all = run()
        .beside("bench.c", &source)
        .with("bench.c")
        .with("--processes")
        .with("1")
        .option("--cflags", "-O2 -pthread")
        .document()
        .0;
    all["results"][0]["components"]["body"]["time_ns"]["value"].as_f64().unwrap() / 100.0
}

#[test]
fn a_program_with_several_threads_is_not_bound_to_a_cpu() {
    needs("cc");
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    assert!((cpus_of(0) - 1.0).abs() < 0.1, "one thread is bound");
    if cpus > 1 {
        let several = cpus_of(2);
        assert!(several > 1.9, "two threads have {several} CPUs");
    }
}

/// `run` and `time` take the same text: quotes keep blanks, and the compiler sees no shell.
#[test]
fn flags_for_the_compiler_are_split_as_in_time() {
    needs("cc");
    let source = "#include \"hairspring.h\"\n\
        HAIRSPRING_BENCHMARK(sum, (uint64_t x = 3), x += SUM; HAIRSPRING_OPAQUE(x));\n\
        HAIRSPRING_MAIN({.benchmark = &sum})\n";
    let run_with = |flags: &str| {
        run().beside("bench.c", source).with("bench.c").with("--list").option("--cflags", flags)
    };
    let time_with = |flags: &str| {
        crate::command::time("x += SUM").given("long x = 3").option("--cflags", flags)
    };
    for flags in ["-O1 -DSUM='1 + 2'", " -DSUM=\"( 1 )\"\t-O2 ", "-DSUM=1\\ +\\ 2 -w"] {
        run_with(flags).succeeds();
        time_with(flags).succeeds();
    }
    for flags in ["-DSUM='1", "-DSUM=1\\"] {
        run_with(flags).ends_with(2).complains("--cflags").complains("open quote").in_one_line();
        time_with(flags).ends_with(2).complains("--cflags").complains("open quote").in_one_line();
    }
}

#[test]
fn other_programs_are_reported() {
    run().with("README").ends_with(2).complains("there is no file `README`");
    run().with("./missing").fails("./missing: No such file");
    run().with(".").fails("is a folder");
    run().beside("text", "hello").with("text").fails("neither a program");
    run().with_script("talks", "echo hello\n").with("./talks").fails("it prints `hello`");
    run()
        .with_script("refuses", "exit 4\n")
        .with("./refuses")
        .fails("ended with status 4 when asked");
    run().with("--processes").with("0").with("x").ends_with(2);
    run()
        .with_script("never", "exit 4\n")
        .with("./never")
        .option("--cpu", "9999")
        .ends_with(2)
        .complains("CPU 9999 is not available");
}

#[test]
fn failing_programs_are_reported_and_ended() {
    let with = |then: &str| {
        run()
            .with_script(
                "bench",
                &format!(
                    "case \"$1\" in --list) echo 'a: benchmark' ;; *) {OUTPUT} {then} ;; esac\n"
                ),
            )
            .with("./bench")
    };
    with("kill -SEGV $$").fails("signal SIGSEGV");
    with("exit 1").fails("ended with status 1");
    with("echo '{\"schema\": \"hairspring/result/2\"' >\"$out\"").fails("its result is not a JSON");
    with("echo '{\"schema\": \"hairspring/mhz/2\"}' >\"$out\"")
        .fails("is a document of `hairspring/mhz/2`");
    with("true").fails("wrote no result");
    with("sleep 60 & sleep 60").option("--timeout", "300ms").fails("did not end within 0.3 s");
    with("exec >/dev/null; sleep 60")
        .option("--timeout", "300ms")
        .fails("did not end within 0.3 s");
    run()
        .with_script("slow", "sleep 60\n")
        .with("./slow")
        .option("--timeout", "300ms")
        .fails("./slow: did not end within 0.3 s");
    // The others are still reported.
    let bad = "case \"$1\" in --list) echo 'bad: benchmark' ;; *) exit 9 ;; esac\n";
    let ended = program(run().with_script("bad", bad), "good", &[("fine", 5.0)])
        .with("./bad")
        .with("./good")
        .ends_with(1);
    assert!(ended.output.contains("fine"), "{}", ended.output);
}

#[test]
fn output_of_the_code_is_not_in_the_document() {
    let ended = program(run(), "bench", &[("a", 5.0)]);
    let all = ended
        .with_script("noisy", "[ \"$1\" = --list ] || echo noise\nexec ./bench \"$@\"\n")
        .with("./noisy")
        .document()
        .0;
    assert_eq!(all["results"][0]["name"], "a");
}

#[test]
fn odd_names_break_nothing() {
    let odd = "\"a\", b/c:1 #;<&>%s \u{1b}[31m \u{e9} {}: benchmark";
    let ended = program(run(), "bench", &[(odd, 5.0)]).with("./bench").succeeds();
    assert!(!ended.output.contains('\u{1b}'), "{}", ended.output);
    let all = program(run(), "bench", &[(odd, 5.0)]).with("./bench").document().0;
    assert_eq!(all["results"][0]["name"], *odd);
}

#[test]
fn a_program_that_is_compiled_without_optimisation_is_told() {
    needs("cc");
    let source = "#include \"hairspring.h\"\n\
        HAIRSPRING_BENCHMARK(multiply, (uint64_t x = 3), x *= 7; HAIRSPRING_OPAQUE(x));\n\
        HAIRSPRING_MAIN({.benchmark = &multiply})\n";
    for (flags, told) in [("-O0", true), ("-O2", false)] {
        let alone = run()
            .beside("bench.c", source)
            .with("bench.c")
            .option("--cflags", flags)
            .with("--json");
        // Where pkg-config finds no library, the header alone prints observations.
        let alone =
            alone.variable("PKG_CONFIG_PATH", "/nowhere").variable("PKG_CONFIG_LIBDIR", "/nowhere");
        let document = crate::document::Document::result(&alone.succeeds().output);
        assert_eq!(
            document.findings(0).contains(&"not_optimised"),
            told,
            "{flags}: {:#}",
            document.result_of(0)["findings"]
        );
    }
}

#[test]
fn programs_of_a_version_without_stages_explain_nothing() {
    let command = || program(run(), "bench", &[("copy", 5.0)]).with("./bench").with("--explain");
    command()
        .succeeds()
        .says("stages not in the document: the program is of a version without them");
    crate::document::Document::result(&command().with("--json").succeeds().output);
    command().with("--list").succeeds().does_not_say("stages");
}

/// Four benchmarks in two programs, of which a part is run.
fn part(shard: &str) -> Hairspring {
    let first = program(run(), "one", &[("a", 5.0), ("b", 1.0), ("c", 2.0)]);
    program(first, "two", &[("d", 2.0)]).with("./one").with("./two").option("--shard", shard)
}

#[test]
fn parts_are_disjoint_over_all_programs() {
    part("1/2").with("--list").succeeds().says("./one: a ./one: c").does_not_say("d");
    part("2/2").with("--list").succeeds().says("./one: b ./two: d").does_not_say("./one: c");
    part("5/9").succeeds().complains("part 5 of 9 has no benchmark: there are only 4");
    part("3/2").ends_with(2).complains("I/N");
    part("1/2").with("--replicate").ends_with(2);
    part("auto").with("--list").succeeds().says("./one: a").says("./two: d").complains("left out");
    part("auto")
        .variable("SLURM_ARRAY_TASK_ID", "7")
        .variable("SLURM_ARRAY_TASK_COUNT", "4")
        .variable("SLURM_ARRAY_TASK_MIN", "1")
        .variable("SLURM_ARRAY_TASK_STEP", "2")
        .with("--list")
        .succeeds()
        .says("./two: d")
        .does_not_say("./one");
}

#[test]
fn a_document_is_left_in_the_folder_and_nothing_else() {
    let ended = part("1/2").option("--processes", "2").option("--document", "out/here").succeeds();
    let files = ended.files("out/here");
    assert!(files.len() == 1 && files[0].ends_with("-1of2.json"), "{files:?}");
    let saved: Value =
        serde_json::from_str(&ended.file(&format!("out/here/{}", files[0]))).unwrap();
    let names: Vec<&str> = saved["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert!(names.contains(&"a") && !names.contains(&"d"), "{names:?}");
}
