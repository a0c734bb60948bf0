#!/usr/bin/env bash
# The README, the book in docs/ and the other documents: the outputs that they show
# (tests/book_outputs.py); the book is built, and the links of its pages lead somewhere. Their
# links, tables and code blocks are checked by links-and-names. UPDATE_EXPECT=1 ./test book rewrites
# the outputs. HAIRSPRING=PATH uses a command that is already built.
# Tier: all
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

MDBOOK_VERSION=0.4.52 # the last one that builds with the oldest Rust that the project supports
MDBOOK="$CACHE/mdbook-$MDBOOK_VERSION/bin/mdbook"
BUILT="$CARGO_TARGET_DIR/book"
status=0

# No distribution and no registry of wheels has mdBook, so it is built, once: without its server and
# its search, and without optimisation, which takes a third of the time and is enough for a small
# book.
need_mdbook() {
  [ ! -x "$MDBOOK" ] || return 0
  need_rust || return
  say "building mdBook $MDBOOK_VERSION into .cache (cargo install; a few minutes, once)"
  quietly cargo install mdbook --version "=$MDBOOK_VERSION" --no-default-features --locked \
    --debug --config profile.dev.debug=false \
    --root "$CACHE/mdbook-$MDBOOK_VERSION" --target-dir "$CACHE/mdbook-target" ||
    missing "mdBook $MDBOOK_VERSION" "cargo install mdbook --version =$MDBOOK_VERSION" || return
  rm -rf "$CACHE/mdbook-target"
}

need_binary() {
  [ -z "${HAIRSPRING:-}" ] || return 0
  need_rust || return
  quietly cargo build --release --package hairspring-cli
  HAIRSPRING="$CARGO_TARGET_DIR/release/hairspring"
}

outputs() { project_files '*.md' | python3 tests/book_outputs.py "$HAIRSPRING"; }

# The example files of the book are those that their script makes.
example_files() {
  rm -rf "$CACHE/example-files"
  mkdir "$CACHE/example-files"
  cp examples/files/make.py "$CACHE/example-files"
  python3 "$CACHE/example-files/make.py" && diff -rq examples/files "$CACHE/example-files"
}

build() {
  rm -rf "$BUILT"
  "$MDBOOK" build --dest-dir "$BUILT" >"$CACHE/mdbook.log" 2>&1 || { cat "$CACHE/mdbook.log" &&
    return 1; }
  # the bench in the browser, where it was built (tools/wasm.sh)
  if tools/wasm.sh --check 2>/dev/null; then
    tools/wasm.sh && cp "$CARGO_TARGET_DIR/lab/index.html" "$BUILT/lab/" || return 1
  fi
  # a missing file is not an error for mdBook
  if grep -E '\[(WARN|ERROR)\]' "$CACHE/mdbook.log"; then return 1; fi
}

need_project_venv
need_mdbook
need_binary
PATH="$ROOT/.venv/bin:$PATH" # after Rust, which may put /usr/bin first

step "examples/files" example_files
step "outputs" outputs
step "mdbook build" build
step "links of the built book" python3 tests/book_pages.py --html "$BUILT"
exit "$status"
