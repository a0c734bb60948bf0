#!/usr/bin/env bash
# Every crate that is not `publish = false` can be packaged: its manifest is complete, nothing is
# included from outside its folder, and cargo makes the package with the right files. The packages
# are not built again, because the other groups build the same source.
# Tier: all
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

# From this version on cargo can package crates together that depend on each other and are not in a
# registry yet.
TOGETHER=1.90
status=0

# Makes packages of all crates, from the files as they are here.
packaged() {
  local name options=()
  for name in "${names[@]}"; do options+=(-p "$name"); done
  cargo package --quiet --no-verify --allow-dirty --locked "${options[@]}" 2>"$CACHE/packaged.txt" \
    || { cat "$CACHE/packaged.txt" && return 1; }
}

# Checks that a package contains the manifest, the licences and the source, and nothing that was
# built or cached.
has_its_files() { # NAME
  local files file
  files="$(cargo package --list --quiet --allow-dirty -p "$1")" || return
  for file in Cargo.toml LICENSE-APACHE LICENSE-MIT README.md; do
    grep -qx "$file" <<<"$files" || { echo "$1: its package has no $file" && return 1; }
  done
  grep -q '^src/.*\.rs$' <<<"$files" || { echo "$1: its package has no source" && return 1; }
  ! grep -E '^(target|\.cache|\.venv)/|\.(pyc|so|a|o)$' <<<"$files"
}

need_rust
need_command python3 python3
mapfile -t names < <(python3 tests/packages.py names)
[ "${#names[@]}" -gt 0 ] || { echo "no crate is published" && exit 1; }
step "manifests" python3 tests/packages.py published
for name in "${names[@]}"; do step "files of $name" has_its_files "$name"; done
if at_least "$TOGETHER" "$(cargo --version | cut -d ' ' -f 2)"; then
  step "cargo package" packaged
else
  echo "nothing: cargo $TOGETHER or newer packages crates that no registry has; the files and manifests were looked at"
fi
exit "$status"
