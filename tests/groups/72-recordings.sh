#!/usr/bin/env bash
# Files of oscilloscopes that the tests of hairspring-capture wrote (fuzz/corpus/instrument), read
# by Hairspring and by RigolWFM: the same edges in every kind.
# Tier: all
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

need_rust
need_venv "$CACHE/recordings" "$ROOT/tools/recordings-requirements.txt"
cargo build --package hairspring-cli
"$CACHE/recordings/bin/python" rigs/recordings/compare.py \
  "${CARGO_TARGET_DIR:-target}/debug/hairspring" fuzz/corpus/instrument
