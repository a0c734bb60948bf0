#!/usr/bin/env bash
# The tests of all crates that are in modules named `long`: they take minutes for what they show.
# Tier: all
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

need_rust
need_command gcc gcc libc6-dev
need_command g++ g++
need_command clang clang
LOG="$CACHE/long-tests.txt"
cargo test --workspace --exclude hairspring-fuzz-targets --no-fail-fast --lib --bins --tests \
  --examples long:: 2>&1 | tee "$LOG"
grep -qE '^test result: ok\. [1-9]' "$LOG" || { echo "no test is in a module named long" &&
  exit 1; }
