//! What `hairspring blocks` says of its answers, and which inputs it takes.

use crate::command::needs;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// `called` takes time with the square of its argument, `steady` none of it; `work` calls one of them and has a loop.
const CALLER: &str = r#"
#include <stdlib.h>
#define CHAIN(n) __asm__ volatile(".rept " #n "\n imul %0, %0\n .endr" : "+r"(x))
__attribute__((noinline)) long called(long n) { long x = n; for (long i = 0; i < n * n; i++) CHAIN(2); return x; }
__attribute__((noinline)) long work(long n, long odd) {
  long x = called(n);
  for (long i = 0; i < n; i++) CHAIN(30);
  if (odd) CHAIN(20);
  return x;
}
int main(int argc, char **argv) { return argc > 2 ? (int)work(atol(argv[1]), atol(argv[2])) & 1 : 3; }
"#;

struct Rig {
    folder: TempDir,
    program: PathBuf,
}

fn compile(source: &str) -> Rig {
    needs("gcc");
    let folder = TempDir::new().unwrap();
    let (file, program) = (folder.path().join("program.c"), folder.path().join("program"));
    std::fs::write(&file, source).unwrap();
    let done = Command::new("gcc").args(["-O1", "-g"]).arg(&file).arg("-o").arg(&program).output().expect("gcc");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Rig { folder, program }
}

struct Done {
    status: i32,
    stdout: String,
    stderr: String,
}

impl Done {
    fn json(&self) -> Value {
        assert!(self.status == 0, "{}", self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }
}

impl Rig {
    /// Runs the verb on `work` with inputs in a file.
    fn blocks(&self, inputs: &[u8], more: &[&str]) -> Done {
        let file = self.folder.path().join("inputs.txt");
        std::fs::write(&file, inputs).unwrap();
        self.run(&[&["--inputs", file.to_str().unwrap()], more].concat())
    }

    fn run(&self, more: &[&str]) -> Done {
        let fixed = ["blocks", self.program.to_str().unwrap(), "--function", "work", "--budget", "200ms"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_hairspring"));
        let done = command.args([&fixed[..], more].concat()).current_dir(&self.folder).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Done { status: done.status.code().unwrap_or(-1), stdout: text(done.stdout), stderr: text(done.stderr) }
    }
}

fn kinds(document: &Value) -> Vec<&str> {
    document["findings"].as_array().unwrap().iter().map(|finding| finding["kind"].as_str().unwrap()).collect()
}

fn inputs(count: usize) -> String {
    (1..=count).map(|n| format!("{n} {}\n", n % 2)).collect()
}

#[test]
fn a_block_whose_callee_depends_on_the_data_is_named() {
    let document = compile(CALLER).blocks(inputs(24).as_bytes(), &["--json"]).json();
    assert!(kinds(&document).contains(&"depends_on_data"), "{}", document["findings"]);
    let finding = document["findings"].as_array().unwrap().iter().find(|finding| finding["kind"] == "depends_on_data").unwrap();
    assert_eq!(finding["blocks"][0], "B1 calls called");
}

#[test]
fn as_many_unknowns_as_rows_are_not_certified() {
    let rig = compile(CALLER);
    let document = rig.blocks(b"3 0\n5 1\n", &["--json"]).json();
    let schema: Value = serde_json::from_str(include_str!("../../../../spec/blocks.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let model = &document["model"];
    assert!(model["carried"].is_null() && model["departure"].is_null() && model["spare_rows"] == 0, "{model}");
    assert!(model["reason"].as_str().unwrap().contains("no spare row"), "{model}");
    let text = rig.blocks(b"3 0\n5 1\n", &[]).stdout;
    assert!(text.contains("NOTHING CHECKS THE SUM") && !text.contains("add up"), "{text}");
}

#[test]
fn inputs_without_end_are_cut_and_a_command_without_end_is_ended() {
    let rig = compile(CALLER);
    for (more, status, expected) in [
        (&["--generate", "yes 3 1"][..], 2, "too many inputs: 10000 at the most"),
        (&["--generate", "cat /dev/zero"], 2, "64 MiB at the most"),
        (&["--inputs", "/dev/zero"], 2, "64 MiB at the most"),
        (&["--generate", "echo 3 1; sleep 7771", "--timeout", "300ms"], 1, "has not ended after 0.3 s (--timeout)"),
        (&["--generate", "echo 3 1; exec >&-; sleep 7772", "--timeout", "300ms"], 1, "has not ended after 0.3 s (--timeout)"),
        (&["--generate", "echo 3 1; exit 5"], 1, "ended with exit status: 5"),
        (&["--generate", "echo 3 1", "--save", "-"], 2, "standard output; give a file"),
        (&["--inputs", "/nonexistent/inputs"], 1, "/nonexistent/inputs: No such file"),
    ] {
        let done = rig.run(more);
        assert!(done.status == status && done.stderr.contains(expected), "{more:?}: {} {}", done.status, done.stderr);
    }
    assert!(!rig.folder.path().join("-").exists());
}

#[test]
fn an_input_whose_file_or_arguments_cannot_be_used_is_left_out_with_its_number() {
    let rig = compile(CALLER);
    let mut lines = inputs(6).into_bytes();
    lines.extend_from_slice(b"3 1 < /nonexistent\n");
    lines.extend_from_slice(format!("3 1 {}\n", "x".repeat(200_000)).as_bytes());
    lines.extend_from_slice(b"3 1 '\xff\xfe'\n3 1 a\0b\n");
    let done = rig.blocks(&lines, &["--json"]);
    let document = done.json();
    assert_eq!(document["inputs"]["calls"], 7, "{}", done.stderr);
    let skipped = document["inputs"]["skipped"].as_array().unwrap();
    let numbers: Vec<u64> = skipped.iter().map(|skip| skip["input"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [7, 8, 10], "{skipped:#?}");
    let reason = |at: usize| skipped[at]["reason"].as_str().unwrap();
    assert!(
        reason(0).contains("/nonexistent: No such file") && reason(1).contains("too long") && reason(2).contains("nul byte"),
        "{skipped:#?}"
    );
    assert!(done.stderr.len() < 2_000, "{}", done.stderr.len());
}

#[test]
fn the_report_speaks_of_one_thing_in_the_singular_and_of_no_share_of_a_difference() {
    let rig = compile(CALLER);
    let text = rig.blocks(b"4 1\n", &[]).stdout;
    assert!(text.contains("1 whole call of 1 input;") && text.contains(" long "), "{text}");
    let document = rig.blocks(inputs(12).as_bytes(), &["--json"]).json();
    for component in document["components"].as_array().unwrap() {
        let is_difference = component["parts"].as_array().unwrap().iter().any(|part| part["coefficient"].as_f64().unwrap() < 0.0);
        assert!(!is_difference || component["share"].is_null(), "{component}");
    }
}

#[test]
fn nested_loops_are_solved_by_blocks_where_edges_tell_nothing_more() {
    let source = r#"
#include <stdlib.h>
__attribute__((noinline)) long work(long a, long b) {
  long x = 3;
  for (long i = 0; i < a; i++) for (long k = 0; k < i * i; k++) __asm__ volatile("imul %0, %0" : "+r"(x));
  if (b) __asm__ volatile(".rept 50\n imul %0, %0\n .endr" : "+r"(x));
  return x;
}
int main(int argc, char **argv) { return argc > 2 ? (int)work(atol(argv[1]), atol(argv[2])) & 1 : 3; }
"#;
    let document = compile(source).blocks(inputs(16).as_bytes(), &["--json"]).json();
    assert!(!document["undetermined_edges"].as_array().unwrap().is_empty(), "the graph is another one");
    assert_eq!(document["unknowns"], "blocks");
}

#[test]
fn a_line_with_several_blocks_says_where_calls_end() {
    let line = CALLER.lines().position(|line| line.contains("for (long i = 0; i < n; i++) CHAIN(30)")).unwrap() + 1;
    let done = compile(CALLER).blocks(inputs(6).as_bytes(), &["--until", &line.to_string()]);
    assert!(done.status == 0, "{}", done.stderr);
    assert!(done.stderr.contains(&format!("--until {line}: calls end before B")), "{}", done.stderr);
}
