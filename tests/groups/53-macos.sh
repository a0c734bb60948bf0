#!/usr/bin/env bash
# The C headers on systems that are not available here. A compiler for other systems (from PyPI, 100
# MB) builds the programs with all warnings as errors: for macOS on both its processors, compiled
# and linked, NOT RUN; for Windows on processors other than x86-64, compiled, NOT RUN; for Linux on
# aarch64, run by an emulator of that processor, so that its counter is read. The emulator's times
# are meaningless, but `hairspring fit` must solve them.
# Tier: all
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

FLAGS=(-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror -Iprobe)
PROGRAMS=(probe/tests/{benchmark,system}.c examples/c/{multiply,stopwatch}.c)
BUILT="$CACHE/macos"
VENV="$CACHE/zig/venv"
export ZIG_GLOBAL_CACHE_DIR="$CACHE/zig/global" ZIG_LOCAL_CACHE_DIR="$CACHE/zig/local"
status=0

compiler() { nice -n 5 "$VENV/bin/python" -m ziglang cc "$@"; } # ARGUMENT...

compile() { # TARGET FILE FLAG...
  compiler -target "$1" "${FLAGS[@]}" "${@:3}" -c "$2" -o "$BUILT/program.o"
}

link_program() { # TARGET FILE FLAG...
  compiler -target "$1" "${FLAGS[@]}" -O2 "${@:3}" "$2" -o "$BUILT/$1-$(basename "$2" .c)"
}

levels() { # TARGET
  local level file
  for file in "${PROGRAMS[@]}"; do
    for level in -O0 -O1 -O2 -O3; do compile "$1" "$file" "$level" || return; done
    compile "$1" "$file" -O2 -DHAIRSPRING_SYSTEM_CLOCK || return
  done
}

freestanding() { compile "$1" probe/tests/freestanding.c -O2 -ffreestanding; } # TARGET

macos() { # PROCESSOR
  local file
  step "$1-macos: compiled" levels "$1-macos"
  step "$1-macos: freestanding" freestanding "$1-macos"
  for file in "${PROGRAMS[@]}"; do
    step "$1-macos: linked, not run: $file" link_program "$1-macos" "$file"
  done
  step "$1-macos: the system's clock linked, not run" link_program "$1-macos" \
    examples/c/stopwatch.c -DHAIRSPRING_SYSTEM_CLOCK
}

# Links a program for aarch64 and runs it in the emulator.
emulate() { # FILE FLAG...
  link_program aarch64-linux-musl "$@" &&
    timeout --kill-after=5 120 qemu-aarch64 "$BUILT/aarch64-linux-musl-$(basename "$1" .c)" \
    >"$BUILT/emulated.txt"
}

# The counter, and the rate that the processor reports.
counter() {
  emulate examples/c/stopwatch.c && sed 's/^/  /' "$BUILT/emulated.txt" &&
    grep -Eq '^clock *cntvct in steps of [1-9][0-9]*, [1-9][0-9]+ Hz, as stated$' \
    "$BUILT/emulated.txt"
}

fit_table() {
  emulate examples/c/multiply.c && grep -q '^# clock: cntvct' "$BUILT/emulated.txt" &&
    grep -Eq '^# rate_hz: [1-9][0-9]+$' "$BUILT/emulated.txt" &&
    cargo run --quiet --release -p hairspring-cli -- fit "$BUILT/emulated.txt" --json \
    >"$BUILT/emulated.json" &&
    grep -q '"copy/size:4096"' "$BUILT/emulated.json"
}

need_rust
case "$(uname -m)" in
  x86_64 | aarch64)
    [ -d "$VENV" ] || say "fetching a compiler of 100 MB, which takes 500 MB in .cache and a minute for its first program"
    need_venv "$VENV" "$ROOT/tools/zig-requirements.txt"
    ;;
  *) echo "nothing: the compiler is not made for $(uname -m)" && exit 0 ;;
esac
need_command qemu-aarch64 qemu-user
rm -rf "$BUILT"
mkdir -p "$BUILT"

for processor in x86_64 aarch64; do macos "$processor"; done
for target in aarch64-windows-gnu x86-windows-gnu; do
  step "$target: compiled, not run" levels "$target"
done
step "aarch64-linux: compiled" levels aarch64-linux-musl
step "aarch64-linux: freestanding" freestanding aarch64-linux-musl
for file in probe/tests/{benchmark,system}.c; do
  step "aarch64-linux: emulated: $file" emulate "$file"
done
step "aarch64-linux: emulated: the counter and its rate" counter
step "aarch64-linux: emulated: hairspring fit" fit_table
step "aarch64-linux: emulated: the system's clock" emulate examples/c/stopwatch.c \
  -DHAIRSPRING_SYSTEM_CLOCK
exit "$status"
