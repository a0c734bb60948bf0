#!/usr/bin/env bash
# The C code: the headers for the code under test (probe/), and the C ABI of the engine
# (crates/hairspring-capi). With two compilers and all warnings as errors: every header by itself;
# the programs under probe/tests/ and examples/c/ run at every level of optimisation and with
# sanitizers, and `hairspring fit` solves what they print; the example of the cam design problem
# computes what it should; the instructions that both compilers make of the header are the expected
# ones; the programs under probe/tests/engine/ run with the installed library, shared and static,
# found by pkg-config and by CMake.
# Tier: all
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
. "$ROOT/tools/library.sh"
cd "$ROOT"

FLAGS=(-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror)
SANITIZED=(-O1 -g -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all)
BUILT="$CACHE/probe"
PREFIX="$BUILT/installed"
LMBENCH_LINE='^(.+: )?[0-9.]+ (microseconds|MB/sec) \[[0-9.]+ to [0-9.]+; [0-9.]+ %, 11 experiments\]$'
status=0

check_header() { # COMPILER HEADER
  echo "#include \"$2\"" | "$1" "${FLAGS[@]}" -I. -Iprobe -Icrates/hairspring-capi/include -O2 \
    -x c -fsyntax-only -
}

build_and_run() { # COMPILER FILE FLAG...
  local compiler="$1" file="$2"
  shift 2
  "$compiler" "${FLAGS[@]}" "$@" "$file" -o "$BUILT/program" -lm && "$BUILT/program" >/dev/null
}

header_only() { # COMPILER
  local file level
  for file in probe/*.h crates/hairspring-capi/include/*.h; do
    step "$1 $file" check_header "$1" "$file"
  done
  for file in probe/tests/{benchmark,system}.c examples/c/{multiply,stopwatch}.c; do
    for level in -O0 -O1 -O2 -O3; do
      step "$1 $level $file" build_and_run "$1" "$file" "$level" -Iprobe
    done
    step "$1 sanitized $file" build_and_run "$1" "$file" "${SANITIZED[@]}" -Iprobe
  done
  step "$1 examples/c/stopwatch.c, the system's clock" build_and_run "$1" examples/c/stopwatch.c \
    -O2 -Iprobe -DHAIRSPRING_SYSTEM_CLOCK
}

# The rows that the macros make are the engine's.
rows_of_the_table() { # COMPILER
  "$1" "${FLAGS[@]}" -O1 -Iprobe probe/tests/rows.c -o "$BUILT/rows" && "$BUILT/rows" |
    python3 probe/tests/rows.py spec/rows.json
}

# An object for a machine without a C library needs only symbols that its program provides.
freestanding() { # COMPILER
  local needed
  "$1" "${FLAGS[@]}" -O2 -Iprobe -ffreestanding -nostdlib -c probe/tests/freestanding.c \
    -o "$BUILT/freestanding.o" || return
  needed="$(nm -u "$BUILT/freestanding.o" | sed 's/.* //' | grep -v _GLOBAL_OFFSET_TABLE_)"
  [ "$needed" = put_somewhere ] || { echo "needs: $needed" && return 1; }
}

# The command solves the table that an example prints.
fit_table() { # COMPILER FLAG...
  local compiler="$1"
  shift
  "$compiler" "${FLAGS[@]}" -O2 -Iprobe "$@" examples/c/multiply.c -o "$BUILT/program" &&
    "$BUILT/program" >"$BUILT/program.csv" &&
    cargo run --quiet --release -p hairspring-cli -- fit "$BUILT/program.csv" --json \
    >"$BUILT/program.json" &&
    grep -q '"copy/size:4096"' "$BUILT/program.json"
}

# The functions of the cam design problem have the values that they must have.
cam_functions() { # COMPILER
  "$1" "${FLAGS[@]}" -O2 probe/tests/cam/check.c -o "$BUILT/cam_check" -lm &&
    python3 probe/tests/cam/check.py "$BUILT/cam_check"
}

# Its program prints observations that `fit` solves; an argument shortens the run.
cam_observations() { # COMPILER
  "$1" "${FLAGS[@]}" -O2 -Iprobe examples/experiments/cam/cam.c -o "$BUILT/cam" -lm &&
    "$BUILT/cam" short >"$BUILT/cam.csv" &&
    cargo run --quiet --release -p hairspring-cli -- fit "$BUILT/cam.csv" --json |
    python3 probe/tests/cam/series.py
}

# Links a program with the installed library and runs it; `static` uses only the archive.
with_engine() { # COMPILER FILE shared|static FLAG...
  local compiler="$1" file="$2" kind="$3" flags libraries arguments=()
  shift 3
  [[ $file == examples/* || $file == */lmbench/* ]] || arguments=("$BUILT/program.csv")
  read -ra flags < <(pkg-config --cflags hairspring)
  read -ra libraries < <(library_flags "$BUILT" "$kind")
  "$compiler" "${FLAGS[@]}" -O2 "$@" "${flags[@]}" "$file" -o "$BUILT/program" "${libraries[@]}" \
    -lm -lpthread &&
    LD_LIBRARY_PATH="$PREFIX/lib" "$BUILT/program" "${arguments[@]}" >"$BUILT/program.txt"
}

engine_programs() { # COMPILER
  local file
  for file in probe/tests/engine/*.c examples/c/alternatives.c; do
    step "$1 shared $file" with_engine "$1" "$file" shared
    step "$1 static $file" with_engine "$1" "$file" static
    step "$1 sanitized $file" with_engine "$1" "$file" shared "${SANITIZED[@]}"
  done
}

# Code that ends its program is named, and the program ends in the same way as without Hairspring.
ends() { # COMPILER
  local flags libraries name expected text ended
  read -ra flags < <(pkg-config --cflags hairspring)
  read -ra libraries < <(library_flags "$BUILT" shared)
  "$1" "${FLAGS[@]}" -O2 "${flags[@]}" probe/tests/ends/ends.c -o "$BUILT/ends" "${libraries[@]}" ||
    return
  while read -r name expected text; do
    ended=0
    LD_LIBRARY_PATH="$PREFIX/lib" "$BUILT/ends" --exact "$name" >"$BUILT/ends.txt" 2>&1 || ended=$?
    if [ "$ended" -ne "$expected" ] ||
        ! grep -Fq "benchmark \`$name\` $text" "$BUILT/ends.txt"; then
      echo "$name ended with $ended" && cat "$BUILT/ends.txt" && return 1
    fi
  done <<<"crashes 139 crashed
leaves 1 ended the program
aborts 134 crashed"
}

# The tutorial's programs with lmbench's interface: each prints a line in lmbench's format, followed
# by an interval.
lmbench_example() { # COMPILER FILE FLAG...
  local compiler="$1" file="$2" flags libraries
  shift 2
  read -ra flags < <(pkg-config --cflags hairspring)
  read -ra libraries < <(pkg-config --libs hairspring)
  "$compiler" "$@" "${flags[@]}" "-I$PREFIX/include/lmbench" "$file" -o "$BUILT/program" \
    "${libraries[@]}" &&
    prints_intervals
}

# Neighbours on the CPU can hide a short time from one run, but not from all runs.
prints_intervals() {
  local tries
  for tries in $(seq 10); do
    LD_LIBRARY_PATH="$PREFIX/lib" "$BUILT/program" 2>"$BUILT/program.txt" || return
    if [ -s "$BUILT/program.txt" ] &&
        ! grep -Evq "$LMBENCH_LINE" "$BUILT/program.txt"; then return; fi
  done
  echo "not in $tries tries a time with its interval:" && cat "$BUILT/program.txt" && return 1
}

# Odd input causes a message on standard error, which the program itself checks.
lmbench_odd() { # COMPILER FLAG...
  with_engine "$1" probe/tests/lmbench/odd.c shared "${@:2}" 2>"$BUILT/odd.txt" ||
    { tail -n 3 "$BUILT/odd.txt" && return 1; }
}

lmbench() { # COMPILER
  local file flag
  for file in examples/lmbench/*.c; do
    step "$1 $file" lmbench_example "$1" "$file" "${FLAGS[@]}" -O2
  done
  step "$1 lmbench.h in C++" lmbench_example "$1" examples/lmbench/lrand48.c -x c++ -std=c++17 \
    -Wall -Wextra -Wpedantic -Wconversion -Werror -O2
  for flag in -O0 -O2 "-DSANITIZED ${SANITIZED[*]}"; do
    # shellcheck disable=SC2086 # several flags
    step "$1 $flag lmbench.h with odd input" lmbench_odd "$1" $flag
  done
}

cmake_package() {
  quietly cmake -S probe/tests/package -B "$BUILT/package" -DCMAKE_PREFIX_PATH="$PREFIX" &&
    quietly cmake --build "$BUILT/package" && "$BUILT/package/shared" "$BUILT/program.csv" &&
    "$BUILT/package/static" "$BUILT/program.csv"
}

# The headers for chips are installed, and find the header that they include.
chip_headers() {
  local file
  for file in probe/chip/*.h; do
    cmp "$file" "$PREFIX/include/hairspring-chip/${file##*/}" || return
  done
  printf '%s\n' '#include <hairspring_pin.h>' 'struct hairspring_pin pin = HAIRSPRING_PIN(200);' \
    >"$BUILT/chip.c"
  gcc "${FLAGS[@]}" -O2 -ffreestanding -DHAIRSPRING_CLOCK_HZ=16000000ul \
    '-DHAIRSPRING_READ_CLOCK()=0' '-DHAIRSPRING_PIN_TOGGLE()=(void)0' \
    "-I$PREFIX/include/hairspring-chip" -c "$BUILT/chip.c" -o "$BUILT/chip.o"
}

# So are those for the cycle counters of ARM. On any other processor their calls are those of
# hairspring.h, which they include.
arm_headers() {
  local file
  for file in probe/arm/*.h; do
    cmp "$file" "$PREFIX/include/hairspring-arm/${file##*/}" || return
  done
  cmp probe/hairspring_dwt.h "$PREFIX/include/hairspring_dwt.h" || return
  printf '%s\n' '#include <hairspring_arm.h>' \
    'int main(void) { return !hairspring_clock_start(); }' >"$BUILT/arm.c"
  gcc "${FLAGS[@]}" -O2 "-I$PREFIX/include/hairspring-arm" "$BUILT/arm.c" -o "$BUILT/arm" &&
    "$BUILT/arm"
}

need_rust
need_command gcc gcc libc6-dev
need_clang clang
need_command python3 python3
need_command cmake cmake make
need_command pkg-config pkg-config
need_command objdump binutils
rm -rf "$BUILT"
mkdir -p "$BUILT"

for compiler in gcc clang; do
  header_only "$compiler"
  step "$compiler freestanding" freestanding "$compiler"
  step "$compiler the rows are the engine's" rows_of_the_table "$compiler"
  step "$compiler hairspring fit" fit_table "$compiler"
  step "$compiler hairspring fit, the system's clock" fit_table "$compiler" \
    -DHAIRSPRING_SYSTEM_CLOCK
  step "$compiler the functions of the cam design problem" cam_functions "$compiler"
  step "$compiler the observations of the cam design problem" cam_observations "$compiler"
done
if [ "$(uname -m)" = x86_64 ]; then
  step disassembly python3 probe/tests/disassembly.py "$BUILT" gcc clang
else
  echo "nothing: the expected instructions are those of x86-64"
fi
step "cmake --install" install_library "$BUILT"
step "the headers for chips" chip_headers
step "the headers for ARM" arm_headers
for compiler in gcc clang; do
  engine_programs "$compiler"
  step "$compiler code that ends the program" ends "$compiler"
done
for compiler in gcc clang; do lmbench "$compiler"; done
step "the CMake package" cmake_package
exit "$status"
