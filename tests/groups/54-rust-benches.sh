#!/usr/bin/env bash
# Benchmarks in Rust programs, as cargo and other runners start them: examples/rust with
# `cargo bench` and `cargo test`, with filters, lists, JSON and the flags of libtest; all forms of
# the attribute, measured (crates/hairspring/tests/forms.rs).
# Tier: all
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

BUILT="$CACHE/rust-benches"
EXAMPLE=(--quiet -p hairspring-example --bench alternatives)
status=0

bench() { cargo bench "${EXAMPLE[@]}" -- "$@"; }

# The output of `bench` is exactly these lines.
prints() { # LINES ARGUMENT...
  local expected="$1" found
  shift
  found="$(bench "$@")" && { [ "$found" = "$expected" ] || { echo "printed: $found" && false; }; }
}

all_measured() {
  bench --budget 100ms >"$BUILT/all.txt" && grep -q '^[ !] multiply ' "$BUILT/all.txt" &&
    grep -q 'memory::copy/size:4096' "$BUILT/all.txt" &&
    grep -Eq 'sum_cold: flush|memory::sum_cold: flush' "$BUILT/all.txt"
}

# Lengths are compared within one run and with wide limits, which only a row with a wrong number of
# copies can exceed.
document() {
  bench --json multiply ten_behind_four one_by_one >"$BUILT/some.json" &&
    python3 - "$BUILT/some.json" <<'PYTHON'
import json
import sys

document = json.load(open(sys.argv[1], encoding="utf-8"))
results = {result["name"]: result["components"] for result in document["results"]}
alternatives = {f"{name}/word:{word}" for name in ("one_by_one", "at_once") for word in (17, 4294967295)}
assert document["schema"] == "hairspring/result/2", document["schema"]
assert set(results) == {"multiply", "ten_behind_four"} | alternatives, results.keys()
assert {pair["verdict"] for pair in document["comparisons"]} <= {"faster", "slower", "no_difference", "undecided"}
assert len(document["comparisons"]) == 2, document["comparisons"]
one = results["multiply"]["body"]["time_ns"]["value"]
ten = results["ten_behind_four"]["body"]["time_ns"]["value"]
four = results["ten_behind_four"]["init"]["time_ns"]["value"]
assert 7 < ten / one < 13 and 2.5 < four / one < 6, (one, ten, four)
PYTHON
}

each_once() { # CARGO-ARGUMENT...
  cargo test "$@" >"$BUILT/once.txt" && grep -q 'benchmarks ran once' "$BUILT/once.txt"
}

# The program that the README and the documentation of the crate begin with.
first_program() {
  cargo bench --quiet -p hairspring-example --bench first -- --budget 50ms >"$BUILT/first.txt" &&
    grep -q '^[ !] multiply ' "$BUILT/first.txt"
}

unknown_option() {
  local ended=0
  bench --no-such-option 2>"$BUILT/unknown.txt" || ended=$?
  [ "$ended" -ne 0 ] && grep -q 'no-such-option' "$BUILT/unknown.txt"
}

# Every form of the attribute, with rows of all lengths; names with blanks, quotes and control
# characters.
all_forms() {
  cargo test --quiet --release -p hairspring --test forms -- --bench --budget 20ms --json \
    >"$BUILT/forms.json" &&
    python3 - "$BUILT/forms.json" <<'PYTHON'
import json
import sys

names = [result["name"] for result in json.load(open(sys.argv[1], encoding="utf-8"))["results"]]
assert len(names) == len(set(names)) == 23, names
assert {"cases/state:3", "try/text:äöü/:=%", "inner::deeper::plain", "owned/text:owned"} <= set(names), names
PYTHON
}

# What `hairspring new` writes into a package of Cargo is built and measures.
new_benchmark() {
  local project="$BUILT/new"
  rm -rf "$project" && mkdir -p "$project/src" && touch "$project/src/lib.rs" &&
    printf '%s\n' '[package]' 'name = "first"' 'edition = "2021"' '[workspace]' \
      >"$project/Cargo.toml" && cp Cargo.lock "$project" &&
    quietly cargo run --quiet -p hairspring-cli -- new --source . "$project" &&
    CARGO_TARGET_DIR="$BUILT/target" cargo bench --quiet --offline \
      --manifest-path "$project/Cargo.toml" --bench speed -- --budget 50ms >"$BUILT/new.txt" &&
    grep -q '^[ !] multiply ' "$BUILT/new.txt" && grep -q 'sum/size:256' "$BUILT/new.txt"
}

need_rust
need_command python3 python3
mkdir -p "$BUILT"
step "cargo bench" all_measured
step "the first program" first_program
step "hairspring new" new_benchmark
step "a filter" prints 'memory::copy/size:64
memory::copy/size:4096' --list memory::copy
step "a whole name" prints 'memory::copy/size:64' --list --exact memory::copy/size:64
step "--skip" prints 'memory::copy/size:4096' --list memory::copy --skip size:64
step "a list for runners" prints 'multiply: benchmark' --list --format terse multiply
step "ignored ones: there are none" prints '' --list --format terse --ignored
step "flags of libtest" prints 'multiply' --nocapture --test-threads=1 --color=always \
  -Z unstable-options --list multiply
step "a filter that matches nothing" prints '' no-such-benchmark
step "--json" document
step "an unknown option" unknown_option
step "cargo test" each_once --release "${EXAMPLE[@]}"
step "cargo test with flags" each_once --release "${EXAMPLE[@]}" -- --nocapture --test-threads=1 \
  -q copy
step "measured in ordinary code" cargo bench --quiet -p hairspring-example --bench in_code
step "all forms of the attribute" all_forms
exit "$status"
