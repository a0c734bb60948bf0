#!/usr/bin/env bash
# Rust: no warning of the compiler or of clippy, including tests and examples. It is a separate
# group, because a distribution may lack the clippy that fits its Rust, and this must not hide the
# result of the formatter.
# Tier: patch
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

need_rust_tool clippy
cargo clippy --workspace --all-targets -- -D warnings
