#!/usr/bin/env bash
# The C headers on Windows: mingw-w64 with all warnings as errors builds the programs at every level
# of optimisation, and Wine runs them: the performance counter and the time stamp counter, the
# priority raised and restored as Windows reports it, <windows.h> before and after the headers.
# `hairspring fit` solves their output, which has the line ends of Windows.
# Tier: all
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

COMPILER=x86_64-w64-mingw32-gcc
FLAGS=(-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror -Iprobe)
BUILT="$CACHE/windows"
QPC=-DHAIRSPRING_SYSTEM_CLOCK
status=0

# Wine stays in its own folder: no menu entries, no downloads, no window.
export WINEPREFIX="$BUILT/wine" WINEDEBUG=-all \
  WINEDLLOVERRIDES="mscoree,mshtml,winemenubuilder.exe="
unset DISPLAY WAYLAND_DISPLAY WINESERVER WINELOADER

# The loader of 64-bit programs: at its path on Debian and Ubuntu, or by its name on other systems.
find_wine() {
  local loader
  for loader in /usr/lib/wine/wine64 wine64 wine; do
    if command -v "$loader"; then return; fi
  done
  missing "Wine's 64-bit loader" "$(apt_command wine64)"
}

# PROGRAM ARGUMENT...
run_windows() { HOME="$BUILT/home" timeout --kill-after=5 "${SECONDS_LIMIT:-60}" "$WINE" "$@"; }

# Ends the processes that Wine left running, and deletes its 700 MB of a Windows, which the next run
# makes again.
clean_up() {
  local server
  for server in /usr/lib/wine/wineserver64 /usr/lib/wine/wineserver wineserver; do
    if command -v "$server" >/dev/null; then timeout 20 "$server" -k >/dev/null 2>&1 || true &&
        break; fi
  done
  rm -rf "$WINEPREFIX"
}

build() { # FILE FLAG...
  "$COMPILER" "${FLAGS[@]}" "${@:2}" "$1" -o "$BUILT/program.exe"
}

build_and_run() { # FILE FLAG...
  build "$@" && run_windows "$BUILT/program.exe" >"$BUILT/program.txt"
}

check_header() { # HEADER
  echo "#include \"$1\"" | "$COMPILER" "${FLAGS[@]}" -O2 -x c -fsyntax-only -
}

# Without a C library it needs nothing of Windows either.
freestanding() {
  local needed
  "$COMPILER" "${FLAGS[@]}" -O2 -ffreestanding -nostdlib -c probe/tests/freestanding.c \
    -o "$BUILT/freestanding.o" || return
  needed="$(x86_64-w64-mingw32-nm -u "$BUILT/freestanding.o" | sed 's/.* //')"
  [ "$needed" = put_somewhere ] || { echo "needs: $needed" && return 1; }
}

stopwatch() { # CLOCK FLAG...
  build_and_run examples/c/stopwatch.c -O2 "${@:2}" || return
  sed 's/^/  /' "$BUILT/program.txt"
  grep -q "^clock *$1 " "$BUILT/program.txt" &&
    grep -q '^priority *raised from 0, given back' "$BUILT/program.txt" &&
    grep -Eq '^sum .* us [+]- [0-9]' "$BUILT/program.txt"
}

# All of a result but the time at which it was made.
solved() { "$HAIRSPRING" fit - --json | grep -v '"created":'; }

# The table is solved as it is printed, with the same result as with the line ends of other systems.
fit_table() { # CLOCK FLAG...
  local table="$BUILT/$1.csv" series
  build examples/c/multiply.c -O2 "${@:2}" && run_windows "$BUILT/program.exe" >"$table" &&
    grep -q "^# clock: $1"$'\r' "$table" || return
  solved <"$table" >"$BUILT/$1.json" || return
  tr -d '\r' <"$table" | solved | cmp - "$BUILT/$1.json" || return
  for series in multiply copy/size:64 copy/size:4096 divide; do
    grep -q "\"name\": *\"$series\"" "$BUILT/$1.json" || { echo "no series $series" && return 1; }
  done
}

rate_is_printed() {
  grep -Eq '^# rate_hz: [1-9][0-9]+' "$BUILT/qpc.csv" && ! grep -q '^# rate_hz' "$BUILT/tsc.csv"
}

if [ "$(uname -m)" != x86_64 ]; then
  echo "nothing: programs for Windows on x86-64 run only there" && exit 0
fi
need_rust
need_command "$COMPILER" gcc-mingw-w64-x86-64
[ -x /usr/lib/wine/wine64 ] || need_command wine64 wine64
WINE="$(find_wine)"
cargo build --release -p hairspring-cli
HAIRSPRING="$CARGO_TARGET_DIR/release/hairspring"
trap clean_up EXIT
rm -rf "$BUILT"
mkdir -p "$BUILT/home"
say "making a Windows for Wine, which takes a few seconds"
SECONDS_LIMIT=240 quietly run_windows wineboot --init

for header in probe/hairspring*.h; do step "$header" check_header "$header"; done
for level in -O0 -O1 -O2 -O3; do
  for file in probe/tests/{benchmark,system,windows}.c examples/c/{multiply,stopwatch}.c; do
    step "$level $file" build_and_run "$file" "$level"
  done
done
step "<windows.h> before the headers" build_and_run probe/tests/windows.c -O2 -DWINDOWS_FIRST
step "the performance counter" build_and_run probe/tests/windows.c -O2 "$QPC"
step freestanding freestanding
step "the stopwatch, time stamp counter" stopwatch tsc
step "the stopwatch, performance counter" stopwatch qpc "$QPC"
step "hairspring fit, time stamp counter" fit_table tsc
step "hairspring fit, performance counter" fit_table qpc "$QPC"
step "the rate of the performance counter is in its table" rate_is_printed
exit "$status"
