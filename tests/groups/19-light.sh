#!/usr/bin/env bash
# A user's first build stays light: the Rust library and the C library have at most 50 lines in
# cargo's tree of packages, and none of the dependencies of the instruments: no disassembler, no
# readers of object files, no ptrace, no seccomp.
# Tier: patch
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

MOST_PACKAGES=50
HEAVY='addr2line|cpp_demangle|gimli|iced-x86|libloading|nalgebra|object|resvg|rustc-demangle|seccompiler|syscalls|hairspring-(blocks|capture|cli|import|instructions|instruments|page|plot|snippet)'
status=0

tree() { cargo tree --quiet --locked -p "$1" -e "$2" --prefix none; } # PACKAGE EDGES

few_packages() { # PACKAGE
  local lines
  lines="$(tree "$1" normal | sort -u | wc -l)" || return 1
  [ "$lines" -le "$MOST_PACKAGES" ] ||
    { echo "cargo tree -p $1 -e normal: $lines different lines, at most $MOST_PACKAGES are allowed" &&
    false; }
}

nothing_heavy() { # PACKAGE
  local all found
  all="$(tree "$1" normal | sort -u)" || return 1
  found="$(grep -E "^($HEAVY) v" <<<"$all" || true)"
  [ -z "$found" ] || { echo "$1 depends on: $found" && false; }
}

no_ptrace() { # PACKAGE
  local all
  all="$(tree "$1" features,normal)" &&
    ! grep -E '^nix feature "(ptrace|personality|uio)"' <<<"$all"
}

need_rust
for package in hairspring hairspring-capi; do
  step "$package: few packages" few_packages "$package"
  step "$package: nothing of the instruments" nothing_heavy "$package"
  step "$package: no ptrace" no_ptrace "$package"
done
exit "$status"
