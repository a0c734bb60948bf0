//! What `hairspring blocks` says of its answers, and which inputs it takes.

use crate::command::needs;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// `called` takes time with the square of its argument, `steady` none of it; `work` calls one of
/// them and has a loop.
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
    let done = Command::new("gcc")
        .args(["-O1", "-g"])
        .arg(&file)
        .arg("-o")
        .arg(&program)
        .output()
        .expect("gcc");
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
        let fixed =
            ["blocks", self.program.to_str().unwrap(), "--function", "work", "--budget", "200ms"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_hairspring"));
        let done =
            command.args([&fixed[..], more].concat()).current_dir(&self.folder).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Done {
            status: done.status.code().unwrap_or(-1),
            stdout: text(done.stdout),
            stderr: text(done.stderr),
        }
    }
}

fn kinds(document: &Value) -> Vec<&str> {
    document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["kind"].as_str().unwrap())
        .collect()
}

fn inputs(count: usize) -> String {
    (1..=count).map(|n| format!("{n} {}\n", n % 2)).collect()
}

#[test]
fn a_block_whose_callee_depends_on_the_data_is_named() {
    let document = compile(CALLER).blocks(inputs(24).as_bytes(), &["--json"]).json();
    assert!(kinds(&document).contains(&"depends_on_data"), "{}", document["findings"]);
    let finding = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["kind"] == "depends_on_data")
        .unwrap();
    assert_eq!(finding["blocks"][0], "B1 calls called");
}

#[test]
fn as_many_unknowns_as_rows_are_not_certified() {
    let rig = compile(CALLER);
    let document = rig.blocks(b"3 0\n5 1\n", &["--json"]).json();
    let schema: Value =
        serde_json::from_str(include_str!("../../../../spec/blocks.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let model = &document["model"];
    assert!(
        model["carried"].is_null() && model["departure"].is_null() && model["spare_rows"] == 0,
        "{model}"
    );
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
        (
            &["--generate", "echo 3 1; sleep 7771", "--timeout", "300ms"],
            1,
            "has not ended after 0.3 s (--timeout)",
        ),
        (
            &["--generate", "echo 3 1; exec >&-; sleep 7772", "--timeout", "300ms"],
            1,
            "has not ended after 0.3 s (--timeout)",
        ),
        (&["--generate", "echo 3 1; exit 5"], 1, "ended with exit status: 5"),
        (&["--generate", "echo 3 1", "--save", "-"], 2, "standard output; give a file"),
        (&["--inputs", "/nonexistent/inputs"], 1, "/nonexistent/inputs: No such file"),
    ] {
        let done = rig.run(more);
        assert!(
            done.status == status && done.stderr.contains(expected),
            "{more:?}: {} {}",
            done.status,
            done.stderr
        );
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
        reason(0).contains("/nonexistent: No such file")
            && reason(1).contains("too long")
            && reason(2).contains("nul byte"),
        "{skipped:#?}"
    );
    assert!(done.stderr.len() < 2_000, "{}", done.stderr.len());
}

#[test]
fn the_report_speaks_of_one_thing_in_the_singular_and_of_no_share_of_a_difference() {
    let rig = compile(CALLER);
    // Fewer trips than those for which ends are chosen.
    let text = rig.blocks(b"3 1\n", &[]).stdout;
    assert!(text.contains("1 whole call of 1 input;") && text.contains(" long "), "{text}");
    let document = rig.blocks(inputs(12).as_bytes(), &["--json"]).json();
    for component in document["components"].as_array().unwrap() {
        let is_difference = component["parts"]
            .as_array()
            .unwrap()
            .iter()
            .any(|part| part["coefficient"].as_f64().unwrap() < 0.0);
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
    assert!(
        !document["undetermined_edges"].as_array().unwrap().is_empty(),
        "the graph is another one"
    );
    assert_eq!(document["unknowns"], "blocks");
}

#[test]
fn a_line_with_several_blocks_says_where_calls_end() {
    let line = CALLER
        .lines()
        .position(|line| line.contains("for (long i = 0; i < n; i++) CHAIN(30)"))
        .unwrap()
        + 1;
    let done = compile(CALLER).blocks(inputs(6).as_bytes(), &["--until", &line.to_string()]);
    assert!(done.status == 0, "{}", done.stderr);
    assert!(
        done.stderr.contains(&format!("--until {line}: calls end before B")),
        "{}",
        done.stderr
    );
}

/// A line of its own for a loop, and a line that shares its block with others.
const LINES: &str = r#"
#include <stdlib.h>
#define CHAIN(n) __asm__ volatile(".rept " #n "\n imul %0, %0\n .endr" : "+r"(x))
__attribute__((noinline)) long work(long n, long odd) {
  long x = n;
  CHAIN(7);
  CHAIN(9);
  do CHAIN(30); while (--n > 0);
  if (odd & 1) CHAIN(20);
  return x;
}
int main(int argc, char **argv) { return argc > 2 ? (int)work(atol(argv[1]), atol(argv[2])) & 1 : 3; }
"#;

/// The number of the line of [`LINES`] that holds a text.
fn line_number(text: &str) -> u64 {
    LINES.lines().position(|line| line.contains(text)).unwrap() as u64 + 1
}

/// The first entry of a list of the document that has this value for a key.
fn entry<'d>(document: &'d Value, list: &str, key: &str, value: &Value) -> &'d Value {
    document[list].as_array().unwrap().iter().find(|one| one[key] == *value).unwrap()
}

/// The line of the loop has the time of its block for each call.
fn has_time_of_its_block(document: &Value, alone: &Value, block: &Value) {
    let component = entry(document, "components", "name", &block["name"]);
    let per_call = block["runs"].as_f64().unwrap() / document["inputs"]["calls"].as_f64().unwrap();
    for key in ["value", "low", "high"] {
        let (line, once) =
            (&alone["time"]["time_ns"][key], component["time"]["time_ns"][key].as_f64().unwrap());
        assert!(
            (line.as_f64().unwrap() / (once * per_call) - 1.0).abs() < 1e-9,
            "{key}: {alone} {component}"
        );
    }
    assert!(
        alone["share"].as_f64() == component["share"].as_f64()
            && alone["text"].as_str().unwrap().contains("do CHAIN(30)")
    );
}

/// A block's code ends with the jump back to it.
fn ends_with_its_jump(block: &Value) {
    let steps = block["code"].as_array().unwrap();
    let jump = steps.last().unwrap();
    assert_eq!(
        (steps.len(), &jump["text"]),
        (
            block["instructions"].as_u64().unwrap() as usize,
            &format!("jg {}", block["name"].as_str().unwrap()).into()
        )
    );
    assert!(
        jump["line"] == line_number("do CHAIN(30)")
            && jump["file"].as_str().unwrap().ends_with("program.c"),
        "{jump}"
    );
}

#[test]
fn lines_have_a_time_only_where_no_block_has_several_lines() {
    let document = compile(LINES).blocks(inputs(12).as_bytes(), &["--json"]).json();
    let of = |list: &str, text: &str| entry(&document, list, "line", &line_number(text).into());
    let block = of("blocks", "do CHAIN(30)");
    has_time_of_its_block(&document, of("lines", "do CHAIN(30)"), block);
    // Both are in the block that runs once in every call.
    for shared in [of("lines", "  CHAIN(7)"), of("lines", "  CHAIN(9)")] {
        assert!(
            shared["time"].is_null()
                && shared["share"].is_null()
                && shared["instruction_share"].as_f64().unwrap() > 0.0,
            "{shared}"
        );
    }
    let all: f64 = document["lines"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|line| line["instruction_share"].as_f64())
        .sum();
    assert!((all - 1.0).abs() < 1e-9, "{all}");
    ends_with_its_jump(block);
}

#[test]
fn source_and_assembly_stand_side_by_side_and_the_graph_is_written() {
    let rig = compile(LINES);
    let done = rig.blocks(inputs(12).as_bytes(), &["--annotate", "--dot", "graph.dot"]);
    assert!(done.status == 0, "{}", done.stderr);
    let line = |words: &[&str]| {
        done.stdout.lines().any(|line| words.iter().all(|word| line.contains(word)))
    };
    assert!(
        line(&["% time", "cycles", "do CHAIN(30)"]) || line(&["% time", " ns ", "do CHAIN(30)"]),
        "{}",
        done.stdout
    );
    assert!(
        line(&["% instr.", "CHAIN(9);"])
            && line(&["jg B2"])
            && line(&["instr.: share of the instructions"]),
        "{}",
        done.stdout
    );
    let graph = std::fs::read_to_string(rig.folder.path().join("graph.dot")).unwrap();
    assert!(
        graph.starts_with("digraph \"work\" {")
            && graph.contains("B2 -> B2 [label=")
            && graph.contains("do CHAIN(30)"),
        "{graph}"
    );
    let plain = rig.blocks(inputs(3).as_bytes(), &[]).stdout;
    assert!(!plain.contains("instr."), "{plain}");
    for (file, expected) in [
        ("-", "--dot -: the report goes to standard output"),
        ("/nonexistent/graph", "--dot /nonexistent/graph: No such file"),
    ] {
        let done = rig.blocks(inputs(3).as_bytes(), &["--dot", file]);
        assert!(done.status != 0 && done.stderr.contains(expected), "{}", done.stderr);
    }
}

#[test]
fn without_debug_information_there_is_assembly_and_no_line() {
    let rig = compile(LINES);
    let stripped = Command::new("strip").arg(&rig.program).arg("-g").status().unwrap();
    assert!(stripped.success());
    let done = rig.blocks(inputs(6).as_bytes(), &["--annotate"]);
    assert!(
        done.stdout.contains("no source lines: the program has no debug information")
            && done.stdout.contains("jg B2"),
        "{}",
        done.stdout
    );
}

#[test]
fn stages_are_explained_on_request_and_are_in_the_document() {
    let rig = compile(CALLER);
    let text = rig.blocks(inputs(6).as_bytes(), &["--explain"]);
    assert!(
        text.status == 0
            && text.stdout.contains("  stages    what each asked, and what it did with"),
        "{}{}",
        text.stdout,
        text.stderr
    );
    let explained = text.stdout.split_once("  stages    ").unwrap().1;
    assert!(explained.lines().all(|line| line.chars().count() <= 80), "{explained}");
    assert!(!rig.blocks(inputs(6).as_bytes(), &[]).stdout.contains("what each asked"));
    let stages =
        rig.blocks(inputs(6).as_bytes(), &["--explain", "--json"]).json()["stages"].clone();
    assert!(
        stages
            .as_array()
            .is_some_and(|stages| stages.iter().any(|stage| stage["stage"] == "visits")),
        "{stages}"
    );
}
