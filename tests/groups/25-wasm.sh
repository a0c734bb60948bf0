#!/usr/bin/env bash
# The module of pages (crates/hairspring-wasm, tools/wasm.sh) says what the command says, digit for
# digit, and takes at most three times as long on the same table in the same run.
#
# The core builds for WebAssembly without a system (wasm32-unknown-unknown), where it can use no
# clock, file or thread. rustup provides the standard library for that target; otherwise it is built
# from its sources, which Debian has: next to its own compiler, or unpacked into .cache with the
# compiler of the same version; then the module is not built.
# shellcheck disable=SC2317 # the checks are called by `step`
# Tier: all
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

TARGET=wasm32-unknown-unknown
WASM_CACHE="$CACHE/wasm"
BUILT="$CARGO_TARGET_DIR/lab"

has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$TARGET/lib" ]; }
has_sources() { [ -f "$("$1" --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ]; } # RUSTC

add_target() { command -v rustup >/dev/null && quietly timeout 120 rustup target add "$TARGET"; }

# Debian's compiler and sources of the standard library, of the same version.
debian_packages() {
  apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
    --no-replaces --no-enhances \
    rustc-web rust-web-src 2>/dev/null |
    grep -Ex 'rustc-web|rust-web-src|libstd-rust-web.*|libllvm[0-9]+' | sort -u
}

unpacked_rustc() {
  LD_LIBRARY_PATH="$WASM_CACHE/root/usr/lib/$(uname -m)-linux-gnu"
  export LD_LIBRARY_PATH
  RUSTC_OF_SOURCES="$WASM_CACHE/root/usr/bin/rustc"
  [ -x "$RUSTC_OF_SOURCES" ] && has_sources "$RUSTC_OF_SOURCES"
}

unpack_debian() {
  local packages package
  packages="$(debian_packages)" || return
  grep -qx rust-web-src <<<"$packages" || return
  say "unpacking Debian's rustc-web and rust-web-src into .cache/wasm"
  rm -rf "$WASM_CACHE/root" && mkdir -p "$WASM_CACHE/root" "$WASM_CACHE/packages"
  # shellcheck disable=SC2086 # one word for each package
  (cd "$WASM_CACHE/packages" && rm -f ./*.deb && quietly apt-get download $packages) || return
  for package in "$WASM_CACHE/packages"/*.deb; do
    dpkg-deb -x "$package" "$WASM_CACHE/root" || return
  done
  rm -rf "$WASM_CACHE/packages"
}

# Finds a compiler with the sources of its standard library.
find_sources() {
  RUSTC_OF_SOURCES="$(command -v rustc)"
  has_sources "$RUSTC_OF_SOURCES" && return
  if [ "$(rust_origin)" = rustc-web ] &&
      need_apt rust-web-src; then has_sources "$RUSTC_OF_SOURCES" && return; fi
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return
  unpacked_rustc && return
  apt_update || true
  unpack_debian && unpacked_rustc
}

check() {
  cargo check --quiet --package hairspring-core --package hairspring-page --target "$TARGET" "$@"
}

# Building the standard library is not stable yet: the compiler of a release needs this variable.
check_from_sources() {
  RUSTC_BOOTSTRAP=1 RUSTC="$RUSTC_OF_SOURCES" CARGO_TARGET_DIR="$CARGO_TARGET_DIR/wasm" check \
    -Zbuild-std=std,panic_abort
}

# The functions whose last digit differs between systems are not called where a result passes.
portable_functions() {
  CLIPPY_CONF_DIR="$ROOT/tests/wasm" cargo clippy --quiet --lib --target "$TARGET" \
    -p hairspring-core -p hairspring-result -p hairspring-view -p hairspring-capture \
    -- -D clippy::disallowed_methods
}

need_command_of_this_build() {
  [ -z "${HAIRSPRING:-}" ] || return 0
  quietly cargo build --release --package hairspring-cli
  HAIRSPRING="$CARGO_TARGET_DIR/release/hairspring"
}

compare() { # OPTION...
  python3 tests/wasm/compare.py "$HAIRSPRING" "$BUILT/engine.js" "$BUILT/hairspring.wasm" \
    "$WASM_CACHE/documents" "$@"
}

# The module of pages in node, which runs it as a browser does.
of_pages() {
  need_command node nodejs
  tools/wasm.sh --check
  need_command_of_this_build
  tools/wasm.sh
  mkdir -p "$WASM_CACHE"
  step "functions with the same digits everywhere" portable_functions
  step "the module and the command have the same digits" compare
  step "the module is not much slower than the command" compare --speed
  step "a table of 100 MB" compare --large
}

status=0
need_rust
if has_target || { add_target && has_target; }; then
  check
  of_pages
elif find_sources; then
  check_from_sources
else
  missing "Rust's standard library for $TARGET, or its sources" \
    "rustup target add $TARGET, or on Debian $(apt_command rust-web-src)"
fi
exit "$status"
