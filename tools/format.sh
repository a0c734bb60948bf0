#!/usr/bin/env bash
# Formats all Rust source, or with --check says what is not formatted. `cargo fmt` alone does not
# see the modules that a macro declares: verbs, formats of exports, methods.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$ROOT"

need_rust_tool fmt
cargo fmt --all "$@"
mapfile -t files < <(project_files 'crates/*.rs')
rustfmt --edition "$(sed -n 's/^edition = "\(.*\)"/\1/p' Cargo.toml)" "$@" "${files[@]}"
