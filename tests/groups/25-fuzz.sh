#!/usr/bin/env bash
# Every reader on damaged files: a short run of all fuzz targets (fuzz/targets), each with a fixed number of edited inputs from a
# fixed seed. It is built without optimisation, so that an overflow panics, and is therefore not a part of group 20.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

need_rust
cargo test --package hairspring-fuzz-targets
