#!/usr/bin/env bash
# The documentation of all crates: it builds without a warning, and its examples run.
# Tier: all
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

need_rust
status=0
RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps || status=1
cargo test --workspace --doc --no-fail-fast || status=1
exit "$status"
