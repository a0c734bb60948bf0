#!/usr/bin/env bash
# Rust and shell source: formatted, without warnings of shellcheck, and with no arrow that runs back
# (tests/arrows.txt).
# Tier: patch
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

# All files with any name that start with a shell's `#!` line, and those that are only sourced.
shell_scripts() {
  local file
  project_files | while read -r file; do
    [ -f "$file" ] || continue # a link to a folder
    if [[ $file == *.sh ]] || head -n 1 "$file" |
        grep -qaE '^#!.*\b(ba)?sh\b'; then printf '%s\n' "$file"; fi
  done
}

need_rust_tool fmt
need_command shellcheck shellcheck
need_command python3 python3

status=0
tools/format.sh --check || { echo 'tools/format.sh formats them' && status=1; }
mapfile -t scripts < <(shell_scripts)
shellcheck --external-sources --source-path=SCRIPTDIR "${scripts[@]}" || status=1
python3 tests/arrows.py tests/arrows.txt . || status=1
exit "$status"
