#!/usr/bin/env bash
# The commands of docs/install.md, word for word: every block marked `sh`, in the order of the page,
# as typed by a user who has installed the packages that the page names. `~` is a new folder; the
# project's folder is not changed. The first section prepares the shell (install, PATH); all others
# run in a shell in this state.
# Tier: all
# shellcheck disable=SC2317 # the functions are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

PAGE=docs/install.md
# Not inside the project, where cargo would treat a new crate as a part of the workspace.
WORK="$(mktemp -d -t hairspring-documented.XXXXXX)"
trap 'rm -rf "$WORK"' EXIT
status=0

# Headings of the sections that have commands.
sections() {
  awk '/^## / { heading = substr($0, 4) } /^```sh$/ && heading != last { print heading; last = heading }' "$PAGE"
}

commands_of() { # SECTION
  awk -v wanted="$1" '/^```/ { shown = 0 } shown && heading == wanted { print } /^## / && !shown { heading = substr($0, 4) }
    /^```sh$/ { shown = 1 }' "$PAGE"
}

# The packages of the page's `apt-get install` line.
page_packages() { sed -n 's/^sudo apt-get install //p' "$PAGE" | tr ' ' '\n'; }

need_page_packages() {
  local package
  while read -r package; do
    case "$package" in
      python3-venv) need_python || return ;;
      *) need_command "$package" "$package" || return ;;
    esac
  done < <(page_packages)
}

# Writes a script of a section's commands, which ends at the first failure and names it. The
# environment is kept for the next.
write_script() { # SECTION
  # shellcheck disable=SC2016 # the script fills them in
  printf '%s\n' 'set -eEuo pipefail' 'trap '\''echo "failed: $BASH_COMMAND" >&2'\'' ERR' \
    "[ ! -e $WORK/state ] || . $WORK/state"
  commands_of "$1"
  # shellcheck disable=SC2016 # as above
  [ -e "$WORK/state" ] || printf '%s\n' \
    '{ export -p && printf '\''cd %q\n'\'' "$PWD"; } >'"$WORK/state"
}

try_section() { # SECTION
  write_script "$1" >"$WORK/script"
  if ! bash "$WORK/script" >"$WORK/output.txt" 2>&1; then
    tail -n 15 "$WORK/output.txt"
    return 1
  fi
}

if [ "$(uname -m)" != x86_64 ]; then
  echo "nothing: the page is about x86-64" && exit 0
fi
need_rust
need_page_packages
# The user's own toolchains and configuration stay in use.
export CARGO_HOME="${CARGO_HOME:-$HOME/.cargo}" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}"
for file in "$HOME/.config/pip/pip.conf" "$HOME/.pip/pip.conf"; do
  if [ -e "$file" ]; then export PIP_CONFIG_FILE="${PIP_CONFIG_FILE:-$file}"; fi
done
unset PKG_CONFIG_PATH LD_LIBRARY_PATH VIRTUAL_ENV
export HOME="$WORK/home"
mkdir "$HOME"

mapfile -t headings < <(sections)
[ "${#headings[@]}" -ge 7 ] ||
  { echo "FAILED: $PAGE has commands in ${#headings[@]} sections only" && exit 1; }
for heading in "${headings[@]}"; do
  step "$PAGE: $heading" try_section "$heading"
  [ -e "$WORK/state" ] || exit 1 # nothing works without the first one
done
left="$(find "$HOME/.local" -type f ! -name '.crates*')"
if [ -n "$left" ]; then echo "FAILED: --remove left $left" && status=1; fi
exit "$status"
