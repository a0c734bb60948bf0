#!/usr/bin/env bash
# The pages that the command writes, in Debian's Chromium, as people see them (tests/browser):
# three widths, light, dark and on paper; no console message, no request, a content security policy;
# WCAG 2 A and AA by axe-core; the keyboard alone; without JavaScript; colours with a colour vision
# deficiency; hostile documents. The bench in the browser gives the digits of the command, where
# tools/wasm.sh can build it. Screenshots and the times until the first paint are left in
# .cache/browser-pages for people. HAIRSPRING=PATH uses a command that is already built.
# Tier: release
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

VENV="$CACHE/browser"
status=0

need_binary() {
  [ -z "${HAIRSPRING:-}" ] || return 0
  need_rust || return
  cargo build --package hairspring-cli
  HAIRSPRING="$CARGO_TARGET_DIR/debug/hairspring"
}

# Another Chromium or Chrome serves as well: HAIRSPRING_CHROMIUM names it.
need_chromium() {
  HAIRSPRING_CHROMIUM="${HAIRSPRING_CHROMIUM:-$(command -v chromium || true)}"
  [ -x "$HAIRSPRING_CHROMIUM" ] || need_apt chromium fonts-dejavu-core || return
  HAIRSPRING_CHROMIUM="${HAIRSPRING_CHROMIUM:-$(command -v chromium || true)}"
  "$HAIRSPRING_CHROMIUM" --version 2>/dev/null ||
    missing "a Chromium that starts" "$(apt_command chromium)"
}

# The newest axe-core where npm is there; otherwise the one of tools/browser-requirements.txt.
need_axe() {
  local folder="$CACHE/axe-core-4.14.1"
  if [ ! -f "$folder/package/axe.min.js" ]; then
    command -v npm >/dev/null || return 0
    mkdir -p "$folder"
    quietly npm pack --silent --pack-destination "$folder" axe-core@4.14.1 || return 0
    tar -xzf "$folder/axe-core-4.14.1.tgz" -C "$folder" package/axe.min.js
  fi
  export HAIRSPRING_AXE="$folder/package/axe.min.js"
}

# Without it the pages without a solver are still tested.
need_bench() {
  tools/wasm.sh || echo "the bench and interactive reports are not tested: no solver was built"
}

need_chromium
need_venv "$VENV" tests/requirements.txt tools/browser-requirements.txt
need_binary
need_bench
need_axe
export HAIRSPRING HAIRSPRING_CHROMIUM
PATH="$VENV/bin:$PATH"

pages() { pytest --quiet -p no:cacheprovider tests/browser; }

step "types" mypy --strict tests/browser/*.py
step "pages" pages
exit "$status"
