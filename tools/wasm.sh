#!/usr/bin/env bash
# Builds the module for pages, crates/hairspring-wasm, and the pages that contain it:
#
#   tools/wasm.sh             target/lab/index.html and the other files below
#   tools/wasm.sh --check     whether it can build
#
#   target/lab/hairspring.wasm   the module
#   target/lab/engine.js         its JavaScript, with what a worker does
#   target/lab/index.html        the bench in the browser, in one file (docs/lab/)
#   target/lab/solver.json       what `hairspring report --interactive` puts into its page
#
# wasm-bindgen is built once, into .cache. wasm-opt is not used: the module keeps to its limit
# without it. Exit status 77: something is missing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$ROOT"

TARGET=wasm32-unknown-unknown
BUILT="$CARGO_TARGET_DIR/lab"

# The version that the crate depends on: the two must be the same.
bindgen_version() { sed -n 's/^wasm-bindgen = "=\(.*\)"$/\1/p' crates/hairspring-wasm/Cargo.toml; }

need_wasm_bindgen() {
  local version
  version="$(bindgen_version)"
  WASM_BINDGEN="$CACHE/wasm-bindgen-$version/bin/wasm-bindgen"
  [ ! -x "$WASM_BINDGEN" ] || return 0
  say "building wasm-bindgen $version into .cache (cargo install; a few minutes, once)"
  quietly cargo install wasm-bindgen-cli --version "=$version" --debug \
    --config profile.dev.debug=false --bin wasm-bindgen \
    --root "$CACHE/wasm-bindgen-$version" --target-dir "$CACHE/wasm-bindgen-target" ||
    missing "wasm-bindgen $version" "cargo install wasm-bindgen-cli --version =$version" || return
  rm -rf "$CACHE/wasm-bindgen-target"
}

has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$TARGET/lib" ]; }

need_target() {
  has_target && return
  if command -v rustup >/dev/null; then quietly timeout 120 rustup target add "$TARGET" || true; fi
  has_target || missing "Rust's standard library for $TARGET" "rustup target add $TARGET"
}

module() {
  cargo build --quiet --locked --package hairspring-wasm --lib --profile wasm --target "$TARGET"
  "$WASM_BINDGEN" --target no-modules --no-typescript --remove-name-section \
    --remove-producers-section --out-name hairspring --out-dir "$BUILT" \
    "$CARGO_TARGET_DIR/$TARGET/wasm/hairspring_wasm.wasm"
  mv "$BUILT/hairspring_bg.wasm" "$BUILT/hairspring.wasm"
}

need_rust
need_target
need_wasm_bindgen
need_command python3 python3
[ "${1:-}" != --check ] || exit 0
mkdir -p "$BUILT"
module
python3 tools/lab.py "$BUILT"
