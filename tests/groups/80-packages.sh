#!/usr/bin/env bash
# The packages of a release: packaging/build makes all of them, and packaging/try proves each in a
# bare Debian. It needs root, and 40 minutes, most of them for builds of the command: dynamic,
# static, for ARM, and from the packages of the crates.
# Tier: release
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"
status=0

[ "$(id -u)" -eq 0 ] || missing "root" "sudo ./test packages"

# A file that is cut is named, and nothing is tried with it.
half_a_package() {
  local file whole="$CACHE/whole.tar.gz" ended=0
  file="$(compgen -G "$ROOT/dist/hairspring-headers-*.tar.gz")" || return
  cp "$file" "$whole" && head -c 1000 "$whole" >"$file"
  says 1 "make the packages again with packaging/build" packaging/try header || ended=1
  mv "$whole" "$file"
  return "$ended"
}

step "an unknown package to build" says 2 "there are: crates wheel" packaging/build nonsense
step "an unknown package to try" says 2 "there are: crates wheel" packaging/try nonsense
step "packages are made" packaging/build
step "half a package" half_a_package
step "packages are proved" packaging/try all
exit "$status"
