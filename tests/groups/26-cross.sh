#!/usr/bin/env bash
# The command, the engine and the C library on ARM, 64-bit and 32-bit, and on RISC-V: built here,
# and run in an emulator. Its times are meaningless; the code, the choice of the clocks and the
# errors are not. Counters that the emulator forbids must be passed over with their reason.
# Benchmarks in C, C++, Fortran, Rust and Python run there, the last ones in Debian's Python for
# ARM. Then the command in Debian's kernels for ARM in QEMU, where a multiplication is one cycle:
# with the module, with perf, and while perf, another core or the system takes the counter. 32-bit
# ARM and RISC-V are built with HAIRSPRING_CROSS=all only, because each build takes minutes.
# Tier: release
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../rigs/arm/build.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../../rigs/arm/linux/linux.sh"
. "$ROOT/tools/foreign-python.sh"

# The unit tests that run in the emulator, by parts of their names: what depends on the processor.
# Others simulate for minutes there, and those of clocks fail where an emulated read takes a
# microsecond.
UNITS=(chains fence floating)
BUILT="$CACHE/cross/built"
status=0

cross() { tools/cross.sh "$ARCHITECTURE" "$@"; }
emulated() { cross --emulate "$HAIRSPRING" "$@"; } # ARGUMENT...

# Runs the command, which must print every text; `!` before the first argument: it must fail, and
# not by a signal.
says() { # TEXT... -- ARGUMENT...
  local texts=() ended=0 fails=0 text
  while [ "$1" != -- ]; do texts+=("$1") && shift; done
  shift
  if [ "$1" = '!' ]; then fails=1 && shift; fi
  emulated "$@" >"$BUILT/said.txt" 2>&1 </dev/null || ended=$?
  if [ "$ended" -gt 128 ] || { [ "$fails" -eq 0 ] && [ "$ended" -ne 0 ]; } ||
      { [ "$fails" -eq 1 ] && [ "$ended" -eq 0 ]; }; then
    echo "ended with $ended:" && cat "$BUILT/said.txt" && return 1
  fi
  for text in "${texts[@]}"; do
    grep -Fq -- "$text" "$BUILT/said.txt" || { echo "it does not say '$text':" &&
      cat "$BUILT/said.txt" && return 1; }
  done
}

# A value of the JSON document that the last command printed.
holds() { # EXPRESSION
  python3 -c "import json, sys; d = json.load(open('$BUILT/said.txt')); sys.exit(not ($1))" ||
    { echo "not so: $1" && cat "$BUILT/said.txt" && return 1; }
}

clocks() {
  says -- clocks --json --budget 200ms "$TIMER" "$COUNTER" perf perf_read monotonic || return
  holds "all(c['measured']['granularity_ticks'] for c in d['clocks'] if c['available']) and d['chosen']['steady'] == '$STEADY'" || return
  [ "$ARCHITECTURE" != riscv64 ] || return 0 # there the emulator lets programs read the counter
  holds "d['chosen']['seated'] == '$STEADY'" || return
  holds "next(c for c in d['clocks'] if c['name'] == 'pmccntr')['available_reason'].count('does not let programs read')" || return
  holds "[p['name'] for p in d['chosen']['passed_over']][0] == 'pmccntr'"
}

# Times code, with a body of the expected sign, by the clock that is chosen.
timed() { # ARGUMENT...
  says -- time --json --budget 150ms --no-pin "$@" || return
  holds "d['environment']['clock']['name'] == '$STEADY' and d['results'][0]['components']['body']['time_ns']['value'] > 0"
}

fit() {
  says -- fit --json spec/vectors/line.csv &&
    holds "abs(d['results'][0]['components']['body']['time_ns']['value'] - 40.41) < 0.02"
}

units() { cross test --quiet -p hairspring-host --lib -- "${UNITS[@]}"; }

# Chains need not lie on a lattice in an emulator: then an error says so.
core_clock() {
  local ended=0
  emulated mhz >"$BUILT/said.txt" 2>&1 </dev/null || ended=$?
  [ "$ended" -eq 0 ] || { [ "$ended" -eq 1 ] && grep -q 'lattice' "$BUILT/said.txt"; } ||
    { echo "ended with $ended:" && cat "$BUILT/said.txt" && return 1; }
}

# Compiles a program of the C library.
library_program() { # FILE OUTPUT
  "$TOOLS-gcc" -O2 -DHAIRSPRING_ENGINE -Iprobe -Icrates/hairspring-capi/include "$1" \
    "${HAIRSPRING%/*}/libhairspring_capi.a" \
    -lutil -lrt -lpthread -ldl -lm -o "$2"
}

# Where no program may flush a cache line, a benchmark with cold caches does not compile, and says
# why.
no_cold_caches() {
  if library_program examples/c/alternatives.c "$BUILT/alternatives" 2>"$BUILT/said.txt"; then \
      echo "it compiles" && return 1; fi
  grep -q 'error: static assertion failed: .*load_cold.*: programs cannot flush cache lines' \
    "$BUILT/said.txt" || { head "$BUILT/said.txt" && return 1; }
}

# A program that is linked with the C library, alone and by the command, for which it is a script:
# the system cannot start the program itself.
linked() {
  local program="$BUILT/benchmarks-$ARCHITECTURE"
  printf '%s\n' '#include "hairspring.h"' 'HAIRSPRING_BENCHMARK(multiply, (uint32_t x = 3, c = 5; HAIRSPRING_OPAQUE(c)), x *= c; HAIRSPRING_OPAQUE(x));' \
    'HAIRSPRING_MAIN({.benchmark = &multiply})' >"$program.c"
  library_program "$program.c" "$program" || return
  cross --emulate "$program" multiply --json --budget 100ms --no-pin >"$BUILT/said.txt" &&
    holds "d['environment']['clock']['name'] == '$STEADY'" || return
  printf '#!/bin/sh\nexec %q %q --emulate %q "$@"\n' "$ROOT/tools/cross.sh" "$ARCHITECTURE" \
    "$program" >"$program.sh" && chmod +x "$program.sh" || return
  says -- run "$program.sh" multiply --json --budget 100ms --no-pin &&
    holds "d['results'][0]['name'] == 'multiply'"
}

# Benchmarks in Rust: a program whose `body` has a time, and a filter.
rust_benchmarks() {
  local program
  cross build --quiet -p hairspring-example --benches || return
  # The newest one: earlier builds leave theirs.
  program="$(find "${HAIRSPRING%/*}/deps" -maxdepth 1 -name 'alternatives-*' -type f -executable -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2)"
  cross --emulate "$program" --bench multiply --json --budget 100ms --no-pin >"$BUILT/said.txt" &&
    holds "d['environment']['clock']['name'] == '$STEADY' and d['results'][0]['components']['body']['time_ns']['value'] > 0"
}

# Programs in C++ and Fortran, on the same library.
other_languages() {
  local libraries=("${HAIRSPRING%/*}/libhairspring_capi.a" -lutil -lrt -lpthread -ldl -lm)
  need_command "$TOOLS-gfortran" "gfortran-$TOOLS" &&
    "$TOOLS-g++" -std=c++17 -O2 -Wno-psabi -DHAIRSPRING_ENGINE -Iprobe \
    -Icrates/hairspring-capi/include examples/cpp/chains.cpp "${libraries[@]}" -o "$BUILT/chains" &&
    "$TOOLS-gfortran" -std=f2018 -O2 -J"$BUILT" probe/fortran/hairspring.f90 \
    examples/fortran/products.f90 "${libraries[@]}" -o "$BUILT/products" || return
  cross --emulate "$BUILT/chains" behind --budget 50ms --no-pin --json >"$BUILT/said.txt" &&
    holds "'init' in d['results'][0]['components']" || return
  cross --emulate "$BUILT/products" dot/size:16 --budget 50ms --no-pin --json >"$BUILT/said.txt" &&
    holds "d['results'][0]['name'] == 'dot/size:16'"
}

# The Python package in Debian's Python for that processor.
python() { # ARGUMENT...
  foreign_python "$ARCHITECTURE" "$EMULATOR" "$BUILT/python-$ARCHITECTURE" "$@" >"$BUILT/said.txt" \
    2>"$BUILT/complaint.txt" ||
    { cat "$BUILT/complaint.txt" && return 1; }
}

# A statement, a program with benchmarks, a table of numpy, and a clock that the system forbids.
python_package() {
  local folder="$BUILT/python-$ARCHITECTURE"
  need_foreign_python "$ARCHITECTURE" || return
  rm -rf "$folder" && mkdir -p "$folder/hairspring" &&
    cp python/hairspring/*.py "$folder/hairspring" &&
    cp "${HAIRSPRING%/*}/libhairspring_python.so" "$folder/hairspring/_native.abi3.so" || return
  python examples/python/statement.py && grep -q 'sum of 100 numbers: [0-9]' "$BUILT/said.txt" ||
    return
  python examples/python/program.py find/size:10 --exact --json --budget 100ms --no-pin &&
    holds "d['environment']['clock']['name'] == '$STEADY' and d['results'][0]['components']['body']['time_ns']['value'] > 0" || return
  python examples/python/fit.py && grep -q '^read *78[01]' "$BUILT/said.txt" || return
  python -c 'import hairspring
try: hairspring.time("pass", clock="pmccntr", pin=False)
except Exception as error: print(error)' || return
  grep -q 'does not let programs read' "$BUILT/said.txt" || { cat "$BUILT/said.txt" && return 1; }
}

# Debian's kernel with the module and perf: the command and the program there, with the counters.
kernel() { # FLAVOUR CORE [OPTION...]
  local console="$BUILT/linux-$1/command.txt"
  need_linux "$1" && library_program rigs/arm/linux/span.c "$BUILT/span-$ARCHITECTURE" &&
    build_guest "$1" "$HAIRSPRING" "$BUILT/benchmarks-$ARCHITECTURE:benchmarks" \
    "$BUILT/span-$ARCHITECTURE:span" || return
  boot "$1" "$2" hairspring=command "${@:3}" >"$console" || return
  { python3 rigs/arm/command.py "$ARCHITECTURE" "$console" &&
    grep -qx 'end: 0 failures' "$console"; } || { tail -n 20 "$console" && return 1; }
}

# Readings of a C program on that processor.
program() {
  local program="$BUILT/multiply-$ARCHITECTURE"
  "$TOOLS-gcc" -O2 -Iprobe examples/c/multiply.c -o "$program" &&
    cross --emulate "$program" >"$BUILT/multiply.csv" &&
    says 'multiply' 'copy/size:4096' -- fit "$BUILT/multiply.csv"
}

check() { # ARCHITECTURE TARGET TOOLS EMULATOR STEADY-CLOCK [FLAVOUR CORE]
  local packages=(-p hairspring-cli -p hairspring-capi)
  ARCHITECTURE="$1" TOOLS="$3" EMULATOR="$4" STEADY="$5" TIMER=cntvct COUNTER=pmccntr
  if [ "$1" = riscv64 ]; then
    TIMER=rdtime COUNTER=rdcycle
  else
    packages+=(-p hairspring-python)
  fi
  HAIRSPRING="target/cross/$2/debug/hairspring"
  cross build "${packages[@]}" || { status=1 && return; }
  step "$1: clocks and their choice" clocks
  step "$1: fit" fit
  step "$1: time, C" timed 'x = x * c' --let 'uint32_t x = 3' --let 'uint32_t c = 5'
  step "$1: time, C++" timed --lang c++ 'x = x * c' --let 'uint32_t x = 3' --let 'uint32_t c = 5'
  step "$1: time, assembly" timed --lang asm "$MULTIPLY"
  [ "$1" = riscv64 ] || step "$1: a clock that the system forbids" says \
    'does not let programs read' -- ! time --clock pmccntr '1'
  step "$1: an unknown clock" says 'there is no clock of this name' "$STEADY" -- ! time \
    --clock sundial '1'
  step "$1: readings of a C program" program
  step "$1: a program of the C library" linked
  step "$1: benchmarks in Rust" rust_benchmarks
  step "$1: programs in C++ and Fortran" other_languages
  [ "$1" = riscv64 ] || step "$1: the Python package" python_package
  step "$1: period" says "error by monotonic" -- period 1ms --duration 200ms
  step "$1: mhz" core_clock
  step "$1: verify refuses a coarse clock" says 'moves in steps of' "$STEADY" -- ! verify \
    --clock times
  step "$1: blocks" says 'x86-64 Linux only' -- ! blocks /bin/true --function main \
    --inputs "$BUILT/inputs.txt"
  step "$1: instructions" says 'built for x86-64' -- ! instructions imul
  [ "$1" = arm64 ] || step "$1: no cold caches in C" no_cold_caches
  [ "$1" = arm64 ] || step "$1: no flush of the caches" says 'programs cannot flush cache lines' \
    -- ! time 'x' --let 'int x = 1' --cold x
  # They need a build of their own, and the programs in the kernel run the same code.
  [ "${HAIRSPRING_CROSS:-}" != all ] || step "$1: unit tests" units
  [ "$#" -lt 7 ] || step "$1: in Debian's kernel" kernel "${@:6}"
}

need_rust
need_python
mkdir -p "$BUILT"
echo 1 >"$BUILT/inputs.txt"
MULTIPLY='mul x0, x0, x1' check arm64 aarch64-unknown-linux-gnu aarch64-linux-gnu qemu-aarch64 \
  cntvct arm64 cortex-a72 -smp 2
if [ "${HAIRSPRING_CROSS:-}" = all ]; then
  MULTIPLY='mul r0, r0, r1' check armhf armv7-unknown-linux-gnueabihf arm-linux-gnueabihf qemu-arm \
    monotonic armmp cortex-a15
  # Debian has it from 13 on only.
  if tools/cross.sh riscv64 --check; then
    MULTIPLY='mul a0, a0, a1' check riscv64 riscv64gc-unknown-linux-gnu riscv64-linux-gnu \
      qemu-riscv64 rdtime
  else
    echo "nothing: Rust's standard library for RISC-V is not here"
  fi
else
  say "32-bit ARM, and RISC-V where Rust's library for it is installed, take as long again: HAIRSPRING_CROSS=all ./test cross"
fi
exit "$status"
