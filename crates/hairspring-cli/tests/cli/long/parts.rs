//! Parts of a call: begun inside of the function, ended at later arrivals, so that one input tells
//! what many whole calls cannot.

use crate::blocks::{Rig, compile, json};
use serde_json::Value;

const WORK: &str = include_str!("../../../../../bench/programs/blocks.c");

/// One input whose 22 trips take all cases and arms.
const ONE_INPUT: &str = "1 2 3 11 27 35 6 7 4 5 8 9 10 20 30 31 22 13 14 15 16 17\n";
const TRIPS: usize = 22;

fn rig() -> Rig {
    compile(WORK, &["-O2", "-g"])
}

fn line_of(text: &str) -> usize {
    WORK.lines().position(|line| line.contains(text)).unwrap() + 1
}

/// The first block that begins on a line.
fn block(document: &Value, line: usize) -> &Value {
    document["blocks"].as_array().unwrap().iter().find(|block| block["line"] == line).unwrap()
}

fn places(document: &Value) -> Vec<&str> {
    document["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["place"].as_str().unwrap())
        .collect()
}

fn cycles(document: &Value, line: usize) -> Option<f64> {
    let name = &block(document, line)["name"];
    let component =
        document["components"].as_array().unwrap().iter().find(|part| part["name"] == *name)?;
    component["time"]["cycles"]["value"]
        .as_f64()
        .or_else(|| component["time"]["time_ns"]["value"].as_f64())
}

#[test]
fn one_input_tells_blocks_apart_when_calls_begin_at_each_trip() {
    let place = format!("{}@1-{TRIPS}", line_of("CHAIN(10)"));
    let document = json(&rig().blocks(
        "work",
        ONE_INPUT,
        &["--json", "--from", &place, "--until", "each", "--budget", "1s"],
    ));
    let schema: Value =
        serde_json::from_str(include_str!("../../../../../spec/blocks.schema.json")).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&document));
    assert_eq!(
        (&document["inputs"]["from"], &document["inputs"]["calls"]),
        (&place.into(), &TRIPS.into())
    );
    // The k-th part has all trips but the first k - 1.
    assert_eq!(block(&document, line_of("CHAIN(10)"))["runs"], (TRIPS * (TRIPS + 1) / 2) as f64);
    // On a loaded CPU some are so uncertain that they are told together.
    let alone =
        places(&document).iter().filter(|place| matches!(**place, "alone" | "together")).count();
    let ran =
        document["blocks"].as_array().unwrap().iter().filter(|block| block["runs"] != 0.0).count();
    assert_eq!(alone, ran, "{}", document["parts"]);
    assert!(
        document["dependencies"].as_array().unwrap().is_empty(),
        "{}",
        document["dependencies"]
    );
    let before = block(&document, line_of("CHAIN(20);"))["name"].as_str().unwrap();
    assert!(
        !document["missing"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["message"].as_str().unwrap() == format!("no input reached {before}"))
    );
    // 48 copies against 20, with the jumps around them.
    if let (Some(long), Some(short)) =
        (cycles(&document, line_of("case 7")), cycles(&document, line_of("case 0")))
    {
        assert!(long / short > 1.2 && long / short < 5.0, "{long} {short}");
    }
}

#[test]
fn parts_of_one_call_that_begin_by_themselves_tell_its_blocks_apart() {
    let codes: String = (0..600).map(|at| format!(" {}", (at * at + at / 7) % 64)).collect();
    let document = json(&rig().blocks(
        "work",
        &format!("{codes}\n"),
        &["--json", "--parts", "24", "--budget", "1s"],
    ));
    let schema: Value =
        serde_json::from_str(include_str!("../../../../../spec/blocks.schema.json")).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&document));
    // Counts and the time are those of the whole call, and the parts are short.
    let trip = block(&document, line_of("CHAIN(10)"));
    assert_eq!((&document["inputs"]["calls"], &trip["runs"]), (&1.into(), &600.0.into()));
    assert!(
        document["mean_call_ticks"].as_f64().unwrap() > 600.0 * 10.0,
        "{}",
        document["mean_call_ticks"]
    );
    assert!(
        document["inputs"]["partial"].as_u64().unwrap() > 24
            && document["model"]["spare_rows"].as_u64().unwrap() > 0
    );
    let told =
        places(&document).iter().filter(|place| matches!(**place, "alone" | "together")).count();
    assert!(told >= 12, "{}", document["parts"]);
    if let (Some(long), Some(short)) =
        (cycles(&document, line_of("case 7")), cycles(&document, line_of("case 0")))
    {
        assert!(long / short > 1.2 && long / short < 5.0, "{long} {short}");
    }
}

/// A loop over a switch with a block of two bytes, behind which the next trip runs: a jump there
/// would lie over that.
const SHORT_BLOCKS: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) uint64_t work(const unsigned char *p, long n, uint64_t x) {
  for (long i = 0; i < n; i++) {
    switch (p[i] & 7) {
      case 0: x *= 3; x *= 5; x *= 7; x *= 9; break;
      case 1: for (int k = 0; k < (p[i] >> 3 & 7); k++) x = x * x + 1; break;
      case 2: x ^= x >> 7; x += 13; break;
      case 3: x = x / (7 + (x & 3)); break;
      case 4: x = x << 13 | x >> 51; break;
      case 5: x *= 11; x *= 13; break;
      case 6: if (x & 1) x += i; else x -= i; break;
      default: x = ~x;
    }
  }
  return x;
}
int main(int count, char **words) {
  long n = count > 1 ? atol(words[1]) : 100;
  unsigned seed = count > 2 ? atoi(words[2]) : 1;
  unsigned char *p = malloc(n + 1);
  for (long i = 0; i < n; i++) p[i] = (seed = seed * 1103515245 + 12345) >> 16;
  uint64_t sum = 0;
  for (int j = 0; j < 20; j++) sum += work(p, n, sum + 1);
  printf("%lu\n", (unsigned long)sum);
  return 0;
}
"#;

#[test]
fn a_part_does_not_end_where_a_jump_would_lie_over_code_that_it_runs() {
    let done = compile(SHORT_BLOCKS, &["-O1"]).blocks(
        "work",
        "411 411\n",
        &["--parts", "200", "--budget", "500ms"],
    );
    assert!(done.status == 0 && !done.stderr.contains("crashed"), "{}", done.stderr);
}

#[test]
fn parts_of_many_inputs_leave_room_for_what_the_engine_solves() {
    let inputs: String = (1..=12).map(|seed| format!("{} {seed}\n", 100 + 10 * seed)).collect();
    let document = json(&compile(SHORT_BLOCKS, &["-O1"]).blocks(
        "work",
        &inputs,
        &["--parts", "40", "--json", "--budget", "500ms"],
    ));
    let partial = document["inputs"]["partial"].as_u64().unwrap();
    assert!(
        (480..2_000).contains(&partial) && document["model"]["spare_rows"].as_u64().unwrap() > 0,
        "{partial} {}",
        document["model"]
    );
    // How many components they make depends on the noise: on a loaded CPU it may be a single one.
    let told =
        places(&document).iter().filter(|place| matches!(**place, "alone" | "together")).count();
    assert!(told > 10, "{}", document["parts"]);
}

#[test]
fn a_call_without_a_loop_has_no_parts() {
    let done = rig().blocks("work", "1 2\n", &["--parts", "8"]);
    assert!(done.status == 1 && done.stderr.contains("leave --parts out"), "{}", done.stderr);
}

/// Loops of one block and of three, whose trips are all alike: chains of 4 and of 24 cycles.
const ALIKE_TRIPS: &str = r#"
#include <stdlib.h>
#define CHAIN(x) __asm__ volatile("imul %1, %0\n\timul %1, %0\n\timul %1, %0\n\timul %1, %0" : "+r"(x) : "r"(k))
__attribute__((noinline)) long one_block(long n, long x, long k) { while (n-- > 0) x = x * k + 5; return x; }
__attribute__((noinline)) long three_blocks(long n, long x, long k) {
  for (long i = 0; i < n; i++) {
    CHAIN(x);
    if (i < n + 1) CHAIN(x);
    __asm__ volatile("" : "+r"(n));
  }
  return x;
}
int main(int c, char **v) { return one_block(atol(v[1]), c, 5) + three_blocks(atol(v[1]), c, 7) == 7; }
"#;

#[test]
fn loops_whose_trips_are_all_alike_have_long_parts_and_a_time() {
    let rig = compile(ALIKE_TRIPS, &["-O1"]);
    let saved = rig.folder.path().join("alike.csv");
    for (function, cycles) in [("one_block", 4.0), ("three_blocks", 24.0)] {
        let options =
            ["--parts", "8", "--json", "--budget", "500ms", "--save", saved.to_str().unwrap()];
        let document = json(&rig.blocks(function, "30000\n", &options));
        let components = document["components"].as_array().unwrap();
        assert!(
            components.len() == 1 && !components[0]["name"].as_str().unwrap().contains("counter"),
            "{components:?}"
        );
        // The longest parts are there with their arrivals counted once and twice.
        let text = std::fs::read_to_string(&saved).unwrap();
        assert!(
            text.contains("counter at") && text.contains(",65,") && text.contains(",130,"),
            "{}",
            &text[..500]
        );
        // On a loaded machine there may be no core clock.
        let Some(time) = components[0]["time"]["cycles"]["value"].as_f64() else { continue };
        assert!(time > 0.5 * cycles && time < 2.0 * cycles, "{function}: {time}");
    }
}

/// A loop whose head is the function's first instruction.
const ENTRY_IS_HEAD: &str = r#"
#include <stdlib.h>
__asm__(".text\n.globl work\n.type work, @function\nwork:\n\timul %rsi, %rax\n\ttest $1, %dil\n\tjz 1f\n\timul %rsi, %rax\n\timul %rsi, %rax\n"
        "\timul %rsi, %rax\n1:\n\timul %rsi, %rax\n\timul %rsi, %rax\n\tdec %rdi\n\tjnz work\n\tret\n.size work, . - work\n");
long work(long n, long k);
int main(int c, char **v) { return work(atol(v[1]), 5) == 7; }
"#;

#[test]
fn trips_of_a_loop_that_begins_at_the_entry_are_no_calls() {
    let rig = compile(ENTRY_IS_HEAD, &["-O1"]);
    let document =
        json(&rig.blocks("work", "30000\n", &["--parts", "8", "--json", "--budget", "500ms"]));
    assert_eq!(
        (&document["inputs"]["calls"], document["inputs"]["partial"].as_u64().unwrap() > 8),
        (&1.into(), true)
    );
    for option in [&["--calls", "3"][..], &["--skip", "1"], &["--sample"], &["--longest"]] {
        let done = rig.blocks("work", "30000\n", option);
        assert!(
            done.status == 2
                && done.stderr.contains("indistinguishable from the trips of the loop"),
            "{}",
            done.stderr
        );
    }
}

/// A loop whose callee takes 24 cycles in the first half of the call and 96 in the second, behind
/// the same branches.
const PHASES: &str = r#"
#include <stdlib.h>
#define CHAIN "imul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\t"
__attribute__((noinline)) static long first(long x) { __asm__ volatile(CHAIN : "+r"(x)); return x; }
__attribute__((noinline)) static long second(long x) { __asm__ volatile(CHAIN CHAIN CHAIN CHAIN : "+r"(x)); return x; }
__attribute__((noinline)) long work(long n, long x, long (**table)(long)) {
  for (long i = 0; i < n; i++) x = table[2 * i >= n](x) + 1;
  return x;
}
int main(int c, char **v) { long (*table[])(long) = {first, second}; return work(atol(v[1]), 5, table) == 7; }
"#;

#[test]
fn the_first_phase_of_a_call_is_not_told_as_the_time_of_all() {
    let document = json(&compile(PHASES, &["-O2"]).blocks(
        "work",
        "20000\n",
        &["--parts", "24", "--json", "--budget", "500ms"],
    ));
    // Rows with the same counts are there from many places of the call, and they contradict each
    // other.
    assert!(document["inputs"]["partial"].as_u64().unwrap() > 24, "{}", document["inputs"]);
    let is_doubted = document["model"]["carried"] == false
        || document["findings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|finding| finding["severity"] == "untrusted");
    assert!(is_doubted, "{} {}", document["model"], document["components"]);
}

#[test]
fn remedies_are_those_for_parts() {
    let codes: String = (0..600).map(|at| format!(" {}", (at * at + at / 7) % 64)).collect();
    let document = json(&rig().blocks(
        "work",
        &format!("{codes}\n"),
        &["--json", "--parts", "8", "--budget", "1ms"],
    ));
    let findings = document["findings"].as_array().unwrap();
    let few = findings.iter().find(|finding| finding["kind"] == "few_rounds").unwrap();
    assert!(few["remedy"].as_str().unwrap().contains("take fewer parts (--parts)"), "{few}");
}

#[test]
fn calls_end_at_the_arrival_that_was_asked_for() {
    let rig = rig();
    let place = format!("{}@1-{}", line_of("CHAIN(10)"), TRIPS + 5);
    let saved = rig.folder.path().join("saved.csv");
    let document = json(&rig.blocks(
        "work",
        ONE_INPUT,
        &["--json", "--until", &place, "--save", saved.to_str().unwrap()],
    ));
    // One row for each arrival there is, and the whole call with its arrivals counted.
    assert_eq!(
        (&document["inputs"]["calls"], &document["inputs"]["partial"]),
        (&1.into(), &(TRIPS + 1).into())
    );
    let name = block(&document, line_of("CHAIN(10)"))["name"].as_str().unwrap();
    let text = std::fs::read_to_string(saved).unwrap();
    assert!(text.contains(&format!("counter at {name}")), "{}", &text[..500]);
    assert!(
        !document["components"]
            .as_array()
            .unwrap()
            .iter()
            .any(|part| part["name"].as_str().unwrap().contains("counter"))
    );
    assert!(
        document["model"]["spare_rows"].as_u64().unwrap() > 0
            && document["model"]["departure"].as_f64().unwrap() < 0.05,
        "{}",
        document["model"]
    );
}

#[test]
fn a_call_of_itself_is_not_taken_for_an_end() {
    let source = "#include <stdlib.h>\n__attribute__((noinline)) int fib(int n) {\n if (n < 2)\n  \
                  return n;\n int a = fib(n - 1);\n return a + fib(n - 2);\n}\n\
                  int main(int c, char **v) { return fib(atoi(v[1])) & c; }\n";
    let rig = compile(source, &["-O1", "-g", "-fno-optimize-sibling-calls"]);
    let inputs = "4\n5\n6\n7\n8\n9\n10\n";
    let whole = json(&rig.blocks("fib", inputs, &["--json"]));
    let document =
        json(&rig.blocks("fib", inputs, &["--json", "--until", "each", "--until", "B2@1-40"]));
    for (one, other) in
        whole["blocks"].as_array().unwrap().iter().zip(document["blocks"].as_array().unwrap())
    {
        assert_eq!(one["runs"], other["runs"]);
    }
    let departure = document["model"]["departure"].as_f64().unwrap();
    assert!(departure < 0.1, "{}", document["model"]);
    let done = rig.blocks("fib", "6\n", &["--from", "B2@2"]);
    assert!(
        done.status == 1 && done.stderr.contains("the function calls itself"),
        "{}",
        done.stderr
    );
}

#[test]
fn blocks_that_always_run_together_are_told_apart_on_request() {
    let rig = rig();
    let inputs = "1 2 3\n1 2\n9 25\n25 9 1\n2\n3 3\n";
    let merged = |document: &Value| document["dependencies"].as_array().unwrap().len();
    let plain = json(&rig.blocks("work", inputs, &["--json"]));
    let parts = json(&rig.blocks("work", inputs, &["--json", "--until", "merged"]));
    assert!(merged(&parts) < merged(&plain), "{} {}", plain["dependencies"], parts["dependencies"]);
    let each = json(&rig.blocks("work", inputs, &["--json", "--until", "each"]));
    assert!(parts["inputs"]["partial"].as_u64() < each["inputs"]["partial"].as_u64());
}

#[test]
fn places_and_numbers_that_are_wrong_are_named() {
    let rig = rig();
    for (more, status, expected) in [
        (["--from", "B1"], 2, "--from B1: whole calls begin there"),
        (["--from", "B999"], 2, "--from B999: the function has the blocks B1 to"),
        (["--from", "each"], 2, "--from each: give a block as B4"),
        (
            ["--from", "B3@0"],
            2,
            "behind the @, give the number of an arrival as 3 or a range as 3-8",
        ),
        (["--until", "B3@5-2"], 2, "--until B3@5-2: behind the @"),
        (["--until", "B3@1-5000"], 2, "1000 at the most"),
        (
            ["--from", "B3@23"],
            1,
            "reach arrival 23 at B3 (--from B3@23) in the call: the call ends before",
        ),
    ] {
        let done = rig.blocks("work", ONE_INPUT, &more);
        assert!(
            done.status == status && done.stderr.contains(expected),
            "{more:?}: {} {}",
            done.status,
            done.stderr
        );
    }
}
