#!/usr/bin/env bash
# The tests of all crates, but for those in modules named `long` (group 22). The examples in the
# documentation are group 30, the fuzz targets group 25.
# Tier: patch
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

need_rust
# The rows are compiled by all three.
need_command gcc gcc libc6-dev
need_command g++ g++
need_command clang clang
# Its scheduling model is compared with a compiled copy.
need_command llvm-mca llvm
status=0
cargo metadata --locked --format-version 1 >/dev/null || status=1 # Cargo.lock fits the manifests
cargo test --workspace --exclude hairspring-fuzz-targets --no-fail-fast --lib --bins --tests \
  --examples -- --skip long:: || status=1
exit "$status"
