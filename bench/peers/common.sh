# Shared by every tool's `measure`, which sources it. Only the CSV lines go to standard output.
# shellcheck shell=bash

peers=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# HS_CASES=chains leaves out the functions of work.c, which only `bench/run languages` needs.
# shellcheck disable=SC2034
cases=${HS_CASES:-all}

say() { printf 'peers: %s\n' "$*" >&2; }

missing() { # missing WHAT: the tool cannot be measured here
  say "missing: $*"
  exit 3
}

# build_dir TOOL: where its build and its raw output go; ignored by git
build_dir() {
  mkdir -p "$peers/../target/peers/$1"
  (cd "$peers/../target/peers/$1" && pwd)
}

debian_install() { # debian_install PACKAGE...: quiet; fails if that is not allowed
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  command -v apt-get >/dev/null || return 1
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || return 1
    apt=(sudo "${apt[@]}")
  fi
  say "installing $*"
  { "${apt[@]}" install "$@" || { "${apt[@]}" update && "${apt[@]}" install "$@"; }; } >&2
}

need_command() { # need_command COMMAND PACKAGE
  command -v "$1" >/dev/null && return
  debian_install "$2" && command -v "$1" >/dev/null && return
  missing "the command $1 (Debian: apt-get install $2)"
}

has_header() { printf '#include <%s>\n' "$1" | g++ -E -x c++ - >/dev/null 2>&1; }

need_header() { # need_header HEADER PACKAGE
  has_header "$1" && return
  debian_install "$2" && has_header "$1" && return
  missing "the header $1 (Debian 12: apt-get install $2)"
}

need_cargo() { command -v cargo >/dev/null || missing "cargo (https://rustup.rs)"; }

# work_object: the C functions that all tools time, compiled once
work_object() {
  local object source=$peers/../languages/work.c
  object=$(build_dir work)/work.o
  [ "$object" -nt "$source" ] ||
    gcc -std=c11 -O2 -falign-functions=64 -Wall -Wextra -c "$source" -o "$object" >&2
  printf '%s\n' "$object"
}

compile() { # compile SOURCE BINARY [LIBRARY...]: only when the source or the chains are newer
  local source=$1 binary=$2
  shift 2
  [ "$binary" -nt "$source" ] && [ "$binary" -nt "$peers/chains.hpp" ] && return
  g++ -std=c++17 -O2 -Wall -Wextra -Wpedantic -o "$binary" "$source" "$@" >&2
}

# built: ends the script if only the programs were asked for (HS_BUILD_ONLY)
built() { [ -z "${HS_BUILD_ONLY:-}" ] || exit 0; }

# pinned COMMAND...: on the CPU HS_CPU, or on the last one that this process may use
pinned() {
  local cpu=${HS_CPU:-}
  [ -n "$cpu" ] || cpu=$(taskset -cp $$ | sed 's/.*[-,: ]//')
  taskset -c "$cpu" "$@"
}

# to_csv TOOL RAW: the tool's own output as lines of `tool,case,time_ns,low_ns,high_ns,note`
to_csv() { python3 "$peers/to_csv.py" "$@"; }

[ "$(uname -m)" = x86_64 ] || missing "an x86-64 machine (the chains are x86-64 instructions)"
need_command taskset util-linux
need_command python3 python3
need_command gcc gcc
