#!/usr/bin/env bash
# The barriers of Rust programs, and the values that they store, under Miri, which finds undefined
# behaviour of unsafe code. Miri runs no assembly, so the barriers have another implementation there
# (crates/hairspring/src/barrier.rs), which is also built and tested without Miri, on every machine.
# Miri is a part of nightly Rust that only rustup provides. Without Miri the group says so, and
# passes; no other group replaces it.
# Tier: all
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

TESTS=(barrier:: values::)
status=0

# Only this crate gets the flag: others read it too, and would leave out code for real machines.
without_assembly() {
  local program
  program="$(cargo rustc --quiet -p hairspring --lib --profile test --message-format=json \
    -- --cfg miri |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)"
  [ -n "$program" ] && runs_some "$program" "${TESTS[@]}"
}

# Runs tests; it is a failure if a name matches none of them.
runs_some() { # COMMAND...
  local text
  text="$("$@" 2>&1)" || { printf '%s\n' "$text" && return 1; }
  grep -E '^test result: ok\. [1-9]' <<<"$text" || { printf '%s\n' "$text" && return 1; }
}

# The first nightly toolchain of rustup that has Miri.
miri_toolchain() {
  command -v rustup >/dev/null || return 1
  local toolchain
  while read -r toolchain; do
    rustup run "$toolchain" cargo miri --version >/dev/null 2>&1 && echo "$toolchain" && return 0
  done < <(rustup toolchain list | sed -n 's/^\(nightly[^ ]*\).*/\1/p')
  return 1
}

# Isolation keeps the tests from the machine's clocks and files: these need none.
under_miri() { # TOOLCHAIN
  CARGO_TARGET_DIR="$CACHE/miri" runs_some rustup run "$1" cargo miri test --quiet -p hairspring \
    --lib -- "${TESTS[@]}"
}

need_rust
step "without assembly" without_assembly
if toolchain="$(miri_toolchain)"; then
  step "Miri of $toolchain" under_miri "$toolchain"
else
  echo "nothing: Miri is not here, and was not run:" \
    "rustup toolchain install nightly --component miri"
fi
exit "$status"
