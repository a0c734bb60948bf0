//! `hairspring blocks` on real programs, compiled here: the good path, and every bad input.

use crate::command::needs;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// How a command ended.
pub struct Done {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

fn hairspring(arguments: &[&str]) -> Done {
    let done = Command::new(env!("CARGO_BIN_EXE_hairspring")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Done {
        status: done.status.code().unwrap_or(-1),
        stdout: text(done.stdout),
        stderr: text(done.stderr),
    }
}

/// A loop around a switch with a jump table, an if within an if; blocks are dependent
/// multiplications.
const WORK: &str = include_str!("../../../../bench/programs/blocks.c");

/// Programs that are hard to follow, by their first argument.
const HARD_PROGRAMS: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
static void tick(int number) { (void)number; }
static void *idle(void *argument) { pause(); return argument; }
__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) int part(int n, volatile int *bad) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += i * n ^ sum;
  if (n == 13) sum += *bad;
  if (n == 14) for (;;) __asm__ volatile("");
  if (n == 15) { char byte; sum += (int)read(0, &byte, 1); }
  if (n == 16) { char text[32]; snprintf(text, sizeof text, "%d", sum); sum += (int)strlen(text); }
  if (n == 17) exit(3);
  if (n == 18) { void *p = malloc(5000); memset(p, n, 5000); sum += ((char *)p)[7]; free(p); }
  if (n == 19) {
    uintptr_t page = (uintptr_t)part & ~(uintptr_t)4095;
    mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    unsigned char *code = (unsigned char *)part;
    code[0] ^= 0; code[0] = code[0] == 0x90 ? 0x90 : 0x90;
  }
  return sum;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  if (n == 20) { pthread_t thread; pthread_create(&thread, 0, idle, 0); }
  if (n == 21) { if (fork() == 0) { for (;;) { part(1, 0); usleep(1000); } } n = 3; }
  if (n == 24) { if (fork() == 0) { setsid(); if (fork() == 0) for (;;) usleep(1000); _exit(0); } n = 3; }
  if (n == 26) { if (system("true")) return 5; n = 3; }
  if (n == 25) { struct itimerval late = {{0, 1000}, {0, 100000}}; signal(SIGALRM, tick); setitimer(ITIMER_REAL, &late, 0); n = 3; }
  if (n == 22) execl("/bin/true", "true", (char *)0);
  if (n == 23) return 4;
  if (n > 100) return fib(n - 100);
  return part(n, 0) & 1;
}
"#;

pub struct Rig {
    pub folder: TempDir,
    pub program: PathBuf,
}

pub fn compile(source: &str, flags: &[&str]) -> Rig {
    compile_with("gcc", source, "program.c", flags)
}

fn compile_with(compiler: &str, source: &str, name: &str, flags: &[&str]) -> Rig {
    needs(compiler);
    let folder = TempDir::new().unwrap();
    let (file, program) = (folder.path().join(name), folder.path().join("program"));
    std::fs::write(&file, source).unwrap();
    let done = Command::new(compiler)
        .args(flags)
        .arg(&file)
        .arg("-o")
        .arg(&program)
        .arg("-pthread")
        .output()
        .expect(compiler);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Rig { folder, program }
}

impl Rig {
    /// Runs the verb with inputs and further options, briefly.
    pub fn blocks(&self, function: &str, inputs: &str, more: &[&str]) -> Done {
        let file = self.folder.path().join("inputs.txt");
        std::fs::write(&file, inputs).unwrap();
        let (program, file) = (self.program.to_str().unwrap(), file.to_str().unwrap());
        let fixed = ["blocks", program, "--function", function, "--inputs", file];
        let brief: &[&str] = if more.contains(&"--budget") { &[] } else { &["--budget", "200ms"] };
        let done = hairspring(&[&fixed, brief, more].concat());
        assert!(!is_running(&self.program), "something was left running");
        done
    }
}

/// Whether a process of this program runs.
fn is_running(program: &Path) -> bool {
    !processes(program).is_empty()
}

/// Processes of this program.
fn processes(program: &Path) -> Vec<i32> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let of_program = all.filter(|entry| {
        std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program)
    });
    of_program.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Inputs that take every path through `work`.
fn ways() -> String {
    let line = |n: usize| {
        (0..n % 7).map(|i| format!("{} ", (n * 5 + i * 3 + n * i) % 32)).collect::<String>()
    };
    (0..40).map(|n| if n % 7 == 0 { "--\n".to_owned() } else { line(n) + "\n" }).collect()
}

pub fn json(done: &Done) -> Value {
    assert!(done.status == 0, "{}", done.stderr);
    serde_json::from_str(&done.stdout).unwrap()
}

#[test]
fn a_switch_in_a_loop_is_followed_block_by_block() {
    let rig = compile(WORK, &["-O2", "-g"]);
    let document = json(&rig.blocks("work", &ways(), &["--json", "--until", "each"]));
    let schema: Value =
        serde_json::from_str(include_str!("../../../../spec/blocks.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let blocks = document["blocks"].as_array().unwrap();
    assert!(blocks.len() >= 14, "{}", blocks.len());
    assert_eq!(document["unknowns"], "blocks");
    assert_eq!(document["inputs"]["given"], 40);
    // Every run of the program counts: each of the codes takes one case of the switch, identified
    // by its source line.
    let codes: usize = ways()
        .lines()
        .filter(|line| *line != "--")
        .map(|line| line.split_whitespace().count())
        .sum();
    let line_of =
        |text: &str| WORK.lines().position(|line| line.contains(text)).unwrap() as u64 + 1;
    let runs = |line: u64| {
        blocks
            .iter()
            .filter(|block| block["line"] == line)
            .map(|block| block["runs"].as_f64().unwrap())
            .sum::<f64>()
    };
    let cases: f64 = (0..8).map(|case| runs(line_of(&format!("case {case}:")))).sum();
    assert_eq!(cases as usize, codes);
    // With calls that end early all blocks can be separated; only the first one includes the
    // overhead. On a loaded CPU some are so uncertain that they are told together.
    let places: Vec<&str> = document["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["place"].as_str().unwrap())
        .collect();
    assert!(
        places.iter().filter(|place| matches!(**place, "alone" | "together")).count()
            >= places.len() - 3,
        "{places:?}"
    );
    assert!(
        document["dependencies"].as_array().unwrap().len() <= 3,
        "{}",
        document["dependencies"]
    );
}

#[test]
fn the_listing_names_inseparable_blocks_and_a_remedy() {
    let rig = compile(WORK, &["-O2", "-g"]);
    let done = rig.blocks("work", "1 2 3\n1 2\n9 25\n25 9 1\n2\n3 3\n", &[]);
    assert!(done.status == 0, "{}", done.stderr);
    for expected in [
        "hairspring blocks: work",
        "program.c",
        "runs/call",
        "never  -",
        "run equally often in every whole call",
        "--until",
        "no input reached",
        "followed",
    ] {
        assert!(done.stdout.contains(expected), "no {expected:?} in {}", done.stdout);
    }
    assert!(done.stdout.lines().all(|line| line.chars().count() <= 80), "{}", done.stdout);
}

#[test]
fn observations_can_be_saved_and_solved_again() {
    let rig = compile(WORK, &["-O2"]);
    let saved = rig.folder.path().join("saved.csv");
    let done = rig.blocks("work", &ways(), &["--save", saved.to_str().unwrap()]);
    assert!(done.status == 0, "{}", done.stderr);
    let again = hairspring(&["fit", saved.to_str().unwrap()]);
    assert!(again.status == 0 && again.stdout.contains("B1"), "{}{}", again.stdout, again.stderr);
}

#[test]
fn two_branches_with_the_same_successors_are_solved_by_edges() {
    // Two branches that share both of their successors: the study's forced example, in assembly.
    let source = r#"
#include <stdlib.h>
__attribute__((noinline)) long pick(long a, long b, long n);
__asm__(".globl pick\n.type pick, @function\npick:\n"
        "0: test $1, %dil\n jz 1f\n"
        " test $2, %dil\n jz 3f\n"
        "2: add %rsi, %rdx\n jmp 4f\n"
        "1: test $4, %dil\n jz 2b\n"
        "3: imul %rsi, %rsi\n"
        "4: shr $3, %rdi\n jnz 0b\n mov %rdx, %rax\n ret\n.size pick, .-pick\n");
int main(int argc, char **argv) { return (int)pick(argc > 1 ? atol(argv[1]) : 0, 3, 1) & 1; }
"#;
    let rig = compile(source, &["-O1"]);
    let inputs: String = (1..60).map(|n| format!("{}\n", n * 7919 % 4096)).collect();
    let document = json(&rig.blocks("pick", &inputs, &["--json"]));
    assert_eq!(document["unknowns"], "edges");
    assert!(
        document["undetermined_edges"].as_array().unwrap().len() >= 4,
        "{}",
        document["undetermined_edges"]
    );
    let blocks = json(&rig.blocks("pick", &inputs, &["--json", "--unknowns", "blocks"]));
    assert_eq!(blocks["unknowns"], "blocks");
}

#[test]
fn calls_of_itself_and_of_others_are_counted_as_they_should() {
    let rig = compile(HARD_PROGRAMS, &["-O1", "-fno-inline", "-fno-optimize-sibling-calls"]);
    let document = json(&rig.blocks("fib", "104\n105\n106\n107\n108\n109\n", &["--json"]));
    // fib(4..9) is entered 9, 15, 25, 41, 67 and 109 times.
    assert_eq!(document["blocks"][0]["runs"], 266.0);
    // A callee's memory is put back: malloc and snprintf can be repeated.
    let document = json(&rig.blocks("part", "1\n2\n5\n9\n16\n18\n", &["--json"]));
    assert_eq!(document["inputs"]["calls"], 6, "{}", document["inputs"]);
}

#[test]
fn bad_inputs_are_left_out_by_name_and_the_rest_is_solved() {
    let rig = compile(HARD_PROGRAMS, &["-O1", "-fno-inline"]);
    let done = rig.blocks(
        "part",
        "1\n2\n13\n3\n14\n4\n15 < /dev/zero\n17\n19\n20\n22\n23\n5\n6\n",
        &["--json", "--timeout", "1s"],
    );
    let document = json(&done);
    let skipped = document["inputs"]["skipped"].as_array().unwrap();
    let reason = |input: usize| {
        skipped
            .iter()
            .find(|skip| skip["input"] == input)
            .map_or("", |skip| skip["reason"].as_str().unwrap())
    };
    assert!(reason(3).contains("SIGSEGV"), "{skipped:#?}");
    assert!(reason(5).contains("not finished after 1 s"), "{skipped:#?}");
    assert!(reason(7).contains("read"), "{skipped:#?}");
    assert!(reason(8).contains("ended during the call, with status 3"), "{skipped:#?}");
    assert!(
        reason(9).contains("changes its own code")
            || reason(9).contains("bytes")
            || reason(9).contains("SIG"),
        "{skipped:#?}"
    );
    assert!(reason(11).contains("replaces itself with another program"), "{skipped:#?}");
    assert!(reason(12).contains("ended before, with status 4"), "{skipped:#?}");
    // A thread that sleeps does no harm.
    assert_eq!(document["inputs"]["calls"], 7);
    assert!(done.stderr.contains("input 3 (13) left out"), "{}", done.stderr);
}

#[test]
fn a_program_that_forks_leaves_nothing_running() {
    let rig = compile(HARD_PROGRAMS, &["-O1", "-fno-inline"]);
    let done = rig.blocks("part", "21\n24\n2\n3\n4\n", &[]);
    assert!(done.status == 0 && done.stderr.is_empty(), "{}", done.stderr);
}

#[test]
fn an_input_whose_program_dies_while_it_is_timed_is_left_out() {
    let rig = compile(HARD_PROGRAMS, &["-O1", "-fno-inline"]);
    let program = rig.program.clone();
    // Killed from outside, once all of them wait to be timed.
    let killer = std::thread::spawn(move || {
        let second = loop {
            let all = processes(&program);
            let of = |id: &i32| {
                std::fs::read(format!("/proc/{id}/cmdline"))
                    .is_ok_and(|words| words.ends_with(b"\x003\0"))
            };
            match all.iter().find(|id| of(id)) {
                Some(id) if all.len() == 4 => break *id,
                _ => std::thread::sleep(std::time::Duration::from_millis(1)),
            }
        };
        std::thread::sleep(std::time::Duration::from_millis(300));
        nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(second),
            nix::sys::signal::Signal::SIGKILL,
        )
        .unwrap();
    });
    let document = json(&rig.blocks("part", "1\n3\n4\n5\n", &["--json", "--budget", "2s"]));
    killer.join().unwrap();
    let skipped = document["inputs"]["skipped"].as_array().unwrap();
    assert!(skipped.len() == 1 && skipped[0]["input"] == 2, "{skipped:#?}");
    assert!(skipped[0]["reason"].as_str().unwrap().contains("something killed it"), "{skipped:#?}");
    assert_eq!(document["inputs"]["calls"], 3);
}

#[test]
fn signals_of_timers_do_not_reach_the_repeated_calls() {
    let rig = compile(HARD_PROGRAMS, &["-O1", "-fno-inline"]);
    let document = json(&rig.blocks("part", "25\n2\n3\n4\n", &["--json", "--budget", "600ms"]));
    assert_eq!(document["inputs"]["calls"], 4, "{}", document["inputs"]);
}

#[test]
fn processes_that_share_memory_for_a_while_are_survived() {
    let rig = compile(HARD_PROGRAMS, &["-O1", "-fno-inline"]);
    let document = json(&rig.blocks("part", "26\n2\n3\n4\n", &["--json"]));
    assert_eq!(document["inputs"]["calls"], 4, "{}", document["inputs"]);
}

#[test]
fn an_exception_that_comes_back_is_refused() {
    let source = r#"
#include <cstdlib>
int raise_at(int i, int n) { if (i % 3 == n) throw i; return i; }
int catcher(int n) { int sum = 0; for (int i = 0; i < n; i++) try { sum += raise_at(i, n > 9 ? 2 : 3); } catch (int e) { sum -= e; } return sum; }
int main(int n, char **v) { return catcher(atoi(v[1])) & n; }
"#;
    let rig = compile_with("g++", source, "program.cpp", &["-O1", "-fno-inline"]);
    let document = json(&rig.blocks("catcher", "2\n20\n5\n7\n9\n", &["--json"]));
    let skipped = document["inputs"]["skipped"].as_array().unwrap();
    assert!(skipped.len() == 1 && skipped[0]["input"] == 2, "{skipped:#?}");
    assert!(
        skipped[0]["reason"]
            .as_str()
            .unwrap()
            .contains("an exception returned control into the function"),
        "{skipped:#?}"
    );
}

#[test]
fn a_function_of_a_library_that_is_loaded_later_is_found_and_names_what_it_calls() {
    let library = "#include <stdlib.h>\nint turn(int n) { int sum = atoi(\"7\"); for (int i = 0; \
                   i < n; i++) sum ^= sum * 5 + i; return sum; }";
    let shared = compile(library, &["-O1", "-shared", "-fPIC"]);
    let main = "#include <dlfcn.h>\n#include <stdlib.h>\n\
                int main(int n, char **v) { void *l = n > 2 ? dlopen(v[2], RTLD_NOW) : 0; if (!l) \
                return 3; return ((int (*)(int))dlsym(l, \"turn\"))(atoi(v[1])) & 1; }";
    let rig = compile(main, &["-O1", "-ldl"]);
    let path = shared.program.to_str().unwrap();
    let document =
        json(&rig.blocks("turn", &format!("1 {path}\n2 {path}\n3\n9 {path}\n"), &["--json"]));
    assert_eq!(document["function"]["object"].as_str().unwrap(), path);
    assert_eq!(
        (&document["inputs"]["calls"], &document["inputs"]["skipped"][0]["input"]),
        (&3.into(), &3.into())
    );
    assert!(
        document["inputs"]["skipped"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("no library that has `turn` was loaded")
    );
    assert!(
        document["blocks"].as_array().unwrap().iter().any(|block| block["calls"][0]
            .as_str()
            .is_some_and(|name| name == "atoi" || name.contains("strtol"))),
        "{}",
        document["blocks"]
    );
    let done = rig.blocks("trun", &format!("1 {path}\n"), &[]);
    assert!(
        done.status == 1
            && done.stderr.contains("no function `trun`")
            && done.stderr.contains("turn"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_function_that_is_not_there_is_an_error_with_a_suggestion() {
    let rig = compile(WORK, &["-O2"]);
    let done = rig.blocks("wrok", "1\n", &[]);
    assert!(
        done.status == 1
            && done.stderr.contains("no function `wrok`")
            && done.stderr.contains("work"),
        "{}",
        done.stderr
    );
}

#[test]
fn stripped_and_static_programs_are_found_by_address() {
    let address = |rig: &Rig| {
        let listing = Command::new("nm").arg(&rig.program).output().unwrap();
        let text = String::from_utf8(listing.stdout).unwrap();
        let line = text.lines().find(|line| line.ends_with(" T work")).unwrap().to_owned();
        format!("0x{}", line.split_whitespace().next().unwrap().trim_start_matches('0'))
    };
    for flags in [&["-O2"][..], &["-O2", "-static"], &["-O2", "-no-pie"]] {
        let rig = compile(WORK, flags);
        let entry = address(&rig);
        assert!(Command::new("strip").arg(&rig.program).status().unwrap().success());
        let done = rig.blocks("work", "1\n", &[]);
        assert!(
            done.status == 1 && done.stderr.contains("stripped: give the address"),
            "{flags:?} {}",
            done.stderr
        );
        let document = json(&rig.blocks(&entry, &ways(), &["--json"]));
        assert_eq!(document["inputs"]["calls"], 40, "{flags:?}");
        let inside = format!("{:#x}", u64::from_str_radix(&entry[2..], 16).unwrap() + 4);
        let done = rig.blocks(&inside, "1\n", &[]);
        assert!(
            done.status == 1 && done.stderr.contains("inside a function"),
            "{flags:?} {}",
            done.stderr
        );
    }
}

#[test]
fn a_function_of_a_library_is_found_where_it_is_loaded() {
    let source = "#include <stdlib.h>\n#include <string.h>\n\
                  static int less(const void *a, const void *b) { return *(const int *)a - \
                  *(const int *)b; }\nint main(int n, char **v) { int a[64]; for (int i = 0; i < \
                  n; i++) a[i] = atoi(v[i]); qsort(a, (size_t)n, sizeof *a, less); return a[0]; }";
    let rig = compile(source, &["-O1"]);
    let document = json(&rig.blocks("qsort", "1\n2 1\n3 2 1\n5 4 3 2 1\n", &["--json"]));
    assert!(
        document["function"]["object"].as_str().unwrap().contains("libc"),
        "{}",
        document["function"]
    );
}

#[test]
fn wrong_usage_ends_with_2() {
    let rig = compile(WORK, &["-O2"]);
    for (inputs, more, expected) in [
        ("# nothing\n", &[][..], "there are no inputs"),
        ("'1\n", &[], "a quote is not closed"),
        ("1\n", &["--until", "B99"], "has the blocks B1 to"),
        ("1\n", &["--until", "12"], "no line numbers"),
        ("1\n", &["--cpu", "999"], "CPU 999 is not available"),
    ] {
        let done = rig.blocks("work", inputs, more);
        assert!(
            done.status == 2 && done.stderr.contains(expected),
            "{expected}: {} {}",
            done.status,
            done.stderr
        );
    }
    let script = rig.folder.path().join("script");
    std::fs::write(&script, "#!/bin/sh\nexit 0\n").unwrap();
    let done = hairspring(&[
        "blocks",
        script.to_str().unwrap(),
        "--function",
        "f",
        "--generate",
        "echo 1",
    ]);
    assert!(done.status == 1 && done.stderr.contains("not a script"), "{}", done.stderr);
    let done = hairspring(&[
        "blocks",
        rig.program.to_str().unwrap(),
        "--function",
        "work",
        "--generate",
        "exit 5",
    ]);
    assert!(done.status == 1 && done.stderr.contains("--generate"), "{}", done.stderr);
}
