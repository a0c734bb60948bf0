#!/usr/bin/env bash
# Every reader on damaged files: a short run of all fuzz targets (fuzz/targets), each with a fixed
# number of edited inputs from a fixed seed. It is selected from the whole workspace, so that it
# shares everything that group 20 has built.
# Tier: patch
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

need_rust
cargo test --workspace --test short
