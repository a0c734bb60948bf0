#!/usr/bin/env bash
# The cycle counters of ARM: probe/arm/, probe/linux/ and rigs/arm/. All of it is emulated, one
# instruction is one nanosecond: this tests the path of the code, not its timing. With all warnings
# as errors, for gcc and clang, C and C++: the headers compile for armv7-A, aarch64 and Cortex-M. In
# QEMU, without a system: k instructions between two reads give k + 1; the overflow of 32 bits is
# right at each instruction of a read, while readers that are wrong on purpose fail; clocks that do
# not count are refused with their reason; a plugin counts the same instructions. In qemu-user: a
# program without any permission. In Debian's kernels armmp, rt-armmp and arm64: the modules, loaded
# and unloaded 100 times, and programs with every kind of permission, perf's use of the counter,
# migration and hotplug; a Cortex-A8, whose counter never counts; and the tables of the paper by
# Kwon and Choi.
# Tier: all
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../rigs/arm/build.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../../rigs/arm/linux/linux.sh"

status=0

# ---- compiling -----------------------------------------------------------------------------------

header_compiles() { # COMPILER FLAG...
  local level
  for level in -O0 -O2; do
    echo '#include "hairspring_arm.h"' |
      "$@" "${WARNINGS[@]}" -Iprobe -Iprobe/arm "$level" -c - -o "$BUILT/header.o" || return
  done
}

headers() {
  local core c=(-std=c11 -x c) cpp=(-std=c++17 -x c++)
  for core in cortex-a7 cortex-a8 cortex-a15; do
    step "$core, gcc" header_compiles arm-none-eabi-gcc "-mcpu=$core" -ffreestanding "${c[@]}"
    step "$core, gcc, Thumb" header_compiles arm-none-eabi-gcc "-mcpu=$core" -mthumb \
      -ffreestanding "${c[@]}"
    step "$core, clang" header_compiles clang --target=arm-none-eabi "-mcpu=$core" \
      -ffreestanding "${c[@]}"
  done
  for core in cortex-m0 cortex-m3 cortex-m4 cortex-m7 cortex-m23 cortex-m33; do
    step "$core, gcc" header_compiles arm-none-eabi-gcc "-mcpu=$core" -mthumb \
      -ffreestanding "${c[@]}"
    step "$core, clang" header_compiles clang --target=arm-none-eabi "-mcpu=$core" -mthumb \
      -ffreestanding "${c[@]}"
  done
  step "aarch64, gcc" header_compiles aarch64-linux-gnu-gcc -ffreestanding \
    -DHAIRSPRING_FREESTANDING "${c[@]}"
  step "aarch64, clang" header_compiles clang --target=aarch64-none-elf -ffreestanding "${c[@]}"
  step "cortex-a15, C++" header_compiles arm-none-eabi-g++ -mcpu=cortex-a15 \
    -ffreestanding "${cpp[@]}"
  step "cortex-m4, C++" header_compiles arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb \
    -ffreestanding "${cpp[@]}"
  step "another processor, gcc" header_compiles gcc "${c[@]}"
  step "another processor, clang" header_compiles clang "${c[@]}"
}

# ---- without a system ----------------------------------------------------------------------------

# Keeps the output of a program in a file and shows its checks. A program without any check fails.
checks() { # FILE COMMAND...
  local file="$1" ended=0
  shift
  "$@" >"$file" || ended=$?
  sed 's/^ok: /    /' "$file"
  [ "$ended" -eq 0 ] && grep -q '^ok: ' "$file"
}

# Builds a program, runs it, and shows its checks.
passes() { # CORE NAME FILE FLAGS [OPTION...]
  local core="$1" name="$2" file="$3" flags
  read -ra flags <<<"$4"
  shift 4
  metal "$core" "$name" "$file" "${flags[@]}" &&
    checks "$BUILT/$core-$name.txt" emulate "$core" "$name" "$@"
}

# The clock and the reason that a program must report.
refuses() { # CORE NAME CLOCK REASON [OPTION...]
  local core="$1" name="$2" nothing=()
  [ "$3" != none ] || nothing=(-DEXPECTED_NOTHING)
  metal "$core" "$name" negative.c "-DEXPECTED_CLOCK=\"$3\"" "-DEXPECTED_REASON=\"$4\"" \
    "${nothing[@]}" || return
  shift 4
  checks "$BUILT/$core-$name.txt" emulate "$core" "$name" "$@"
}

# Five readings of each row of a benchmark of hairspring.h: each copy is one instruction, and the
# overhead is the same in each row.
table_is_exact() { # CORE READINGS
  metal "$1" table table.c && emulate "$1" table >"$BUILT/$1-table.csv" || return
  awk -F, -v "expected=$2" '/^"nop"/ { rows += 1; overhead = $5 - $2; if (rows > 1 && overhead != first) wrong += 1; first = overhead; if ($6 != "") doubts += 1 }
    END { if (wrong > 0 || doubts > 0 || rows != expected) { print wrong + 0 " of " rows + 0 " readings are off, " doubts + 0 " are doubtful"; exit 1 } }' \
    "$BUILT/$1-table.csv"
}

# The same output again and again.
repeats() { # CORE NAME
  local run
  for run in 1 2 3; do
    emulate "$1" "$2" | cmp - "$BUILT/$1-$2.txt" || { echo "run $run differs" && return 1; }
  done
}

# The plugin counts what the counter counts.
plugin_agrees() { # CORE NM
  local segments name by
  metal "$1" segments segments.c || return
  segments="$("$2" "$BUILT/$1-segments.elf" | awk '/ segment_[0-9]+_begin$/ { sub("_begin", "", $3); begin[$3] = $1 }
    / segment_[0-9]+_end$/ { sub("_end", "", $3); end[$3] = $1 } END { for (name in begin) printf ",%s=%s-%s", name, begin[name], end[name] }')"
  emulate "$1" segments -plugin "$BUILT/count.so$segments" -d plugin >"$BUILT/$1-segments.txt" ||
    return
  for name in 1 2 5 10 20; do
    for by in counter plugin; do
      grep -qx "$by segment_$name $((50 * name))" "$BUILT/$1-segments.txt" ||
        { cat "$BUILT/$1-segments.txt" && return 1; }
    done
  done
}

build_plugin() {
  local compiler
  for compiler in clang gcc; do
    "$compiler" -std=gnu11 -O2 "${WARNINGS[@]}" -shared -fPIC -fvisibility=hidden \
      "$RIG/plugin/count.c" -o "$BUILT/count.so" || return
  done
}

dwt_counts() { # CORE [OPTION]
  metal "$1" dwt cortex_m.c -DEXPECT_DWT &&
    checks "$BUILT/$1-dwt.txt" "$BUILT/unicorn/bin/python" "$RIG/unicorn/dwt.py" \
    "$BUILT/$1-dwt.elf" "${@:2}"
}

without_system() {
  local core silent="it accepts its settings but does not count"
  for core in cortex-a15 cortex-a7; do
    step "$core: the wrap of 32 bits" passes "$core" wrap wrap.c ""
    step "$core: one tick in 64 cycles" passes "$core" wrap-64 wrap.c -DHAIRSPRING_CYCLES_BY_64
  done
  for core in cortex-a15 cortex-a7 cortex-a53 cortex-a72; do
    step "$core: slopes" passes "$core" slope slope.c ""
    step "$core: the same results again" repeats "$core" slope
    step "$core: the generic timer" passes "$core" timer timer.c "" -icount shift=4,sleep=off
  done
  for core in cortex-a15 cortex-a7; do
    step "$core: a table of hairspring.h" table_is_exact "$core" 60
  done
  # These have rows that run a block several times, and a nop is short enough for them.
  for core in cortex-a53 cortex-a72; do
    step "$core: a table of hairspring.h" table_is_exact "$core" 30
  done
  for core in cortex-a53 cortex-a72; do step "$core: 64 bits" passes "$core" wide wide.c ""; done
  for core in cortex-m3 cortex-m4 cortex-m7; do
    step "$core: SysTick" passes "$core" systick cortex_m.c ""
  done
  step "cortex-a8: nothing counts" refuses cortex-a8 none none \
    "ccnt: $silent; cntvct: the processor has no generic timer"
  step "cortex-a15 with pmu=off" refuses cortex-a15 off cntvct "ccnt: $silent" \
    -cpu cortex-a15,pmu=off
  step "cortex-a72 with pmu=off" refuses cortex-a72 off cntvct \
    "pmccntr: the processor has no performance monitors" -cpu cortex-a72,pmu=off
}

# ---- with Linux ----------------------------------------------------------------------------------

linux_headers() {
  local c=(-std=c11 -x c) cpp=(-std=c++17 -x c++)
  step "armv7 Linux, gcc" header_compiles arm-linux-gnueabihf-gcc "${c[@]}"
  step "armv7 Linux, C++" header_compiles arm-linux-gnueabihf-g++ "${cpp[@]}"
  step "armv7 Linux, clang" header_compiles clang --target=arm-linux-gnueabihf \
    -isystem /usr/arm-linux-gnueabihf/include "${c[@]}"
  step "docs/arm.md" docs_compile
  step "aarch64 Linux, gcc" header_compiles aarch64-linux-gnu-gcc "${c[@]}"
  step "aarch64 Linux, C++" header_compiles aarch64-linux-gnu-g++ "${cpp[@]}"
  step "aarch64 Linux, clang" header_compiles clang --target=aarch64-linux-gnu \
    -isystem /usr/aarch64-linux-gnu/include "${c[@]}"
}

# The program that docs/arm.md shows.
docs_compile() {
  awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' docs/arm.md >"$BUILT/docs.c"
  grep -q 'int main' "$BUILT/docs.c" &&
    arm-linux-gnueabihf-gcc -std=c11 -O2 "${WARNINGS[@]}" -Iprobe -Iprobe/arm "$BUILT/docs.c" \
    -o "$BUILT/docs-armhf" &&
    aarch64-linux-gnu-gcc -std=c11 -O2 "${WARNINGS[@]}" -Iprobe -Iprobe/arm "$BUILT/docs.c" \
    -o "$BUILT/docs-arm64"
}

# The same program in qemu-user, which has no module and no perf, and where reading a cycle counter
# is an illegal instruction: the next clock is taken, with the reasons.
docs_in_user_mode() { # ARCHITECTURE EMULATOR TOOLS CLOCK REASON...
  local program="$BUILT/docs-$1" text
  "$2" -L "/usr/$3" "$program" >"$program.csv" 2>"$program.txt" || { cat "$program.txt" &&
    return 1; }
  { grep -qx "$4" "$program.txt" && grep -q '^"multiply"' "$program.csv"; } ||
    { cat "$program.txt" && return 1; }
  for text in "${@:5}"; do
    grep -Fq "$text" "$program.txt" || { echo "it does not say '$text':" && cat "$program.txt" &&
      return 1; }
  done
}

user_mode() {
  step "armhf in qemu-user" docs_in_user_mode armhf qemu-arm arm-linux-gnueabihf monotonic \
    "ccnt: the kernel module hairspring_cycles is not loaded" \
    "perf read: this kernel has no perf events" "cntvct: there is no generic timer"
  step "arm64 in qemu-user" docs_in_user_mode arm64 qemu-aarch64 aarch64-linux-gnu cntvct \
    "perf cycles: perf knows no cycle counter here" \
    "pmccntr: the kernel module hairspring_cycles is not loaded"
}

# The table of that program in a kernel with the module: a multiplication takes one cycle, between
# rows that no interrupt lengthened.
documented_is_exact() { # FLAVOUR
  sed -n '/^begin of the table$/,/^end of the table$/p' "$BUILT/linux-$1/counters.txt" \
    >"$BUILT/documented.csv"
  awk -F, '/^"multiply"/ { if (!($2 in least) || $5 < least[$2]) least[$2] = $5 }
    END { slope = (least[256] - least[128]) / 128; if (slope < 0.999 || slope > 1.001) { print "a multiplication takes " slope " cycles"; exit 1 } }' \
    "$BUILT/documented.csv"
}

# A kernel with a scenario: all its checks pass.
boots() { # FLAVOUR CORE SCENARIO [OPTION...]
  local output="$BUILT/linux-$1/${3%% *}.txt" ended=0
  boot "$1" "$2" "hairspring=$3" "${@:4}" >"$output" || ended=$?
  sed 's/^ok: /    /' "$output"
  [ "$ended" -eq 0 ] && grep -qx 'end: 0 failures' "$output"
}

with_linux() {
  local flavour
  for flavour in armmp rt-armmp arm64; do
    step "$flavour: the modules and the program" build_guest "$flavour" \
      "$BUILT/docs-$(debian_architecture "$flavour"):documented"
  done
  step "armmp: counters" boots armmp cortex-a15 "counters loads=100"
  step "rt-armmp: counters" boots rt-armmp cortex-a15 "counters loads=100"
  step "arm64, two cores: counters" boots arm64 cortex-a72 "counters loads=100" -smp 2
  for flavour in armmp rt-armmp arm64; do
    step "$flavour: the table of docs/arm.md" documented_is_exact "$flavour"
  done
  step "armmp with pmu=off" boots armmp cortex-a15,pmu=off nothing
  step "arm64 with pmu=off" boots arm64 cortex-a72,pmu=off nothing
  step "armmp on a cortex-a8" boots armmp cortex-a8 nothing
  step "tables 1 and 2" print_tables 200 4 armmp rt-armmp arm64
}

need_metal
need_venv "$BUILT/unicorn" "$RIG/unicorn/requirements.txt"
headers
without_system
step "cortex-m4: DWT in Unicorn" dwt_counts cortex-m4
step "cortex-m7: DWT with a lock in Unicorn" dwt_counts cortex-m7 --lock
step "the plugin" build_plugin
for core in cortex-a15 cortex-a7; do
  step "$core: the plugin counts the same" plugin_agrees "$core" arm-none-eabi-nm
done
for core in cortex-a53 cortex-a72; do
  step "$core: the plugin counts the same" plugin_agrees "$core" aarch64-linux-gnu-nm
done
or_missing() { "$@" || exit "$((status > 0 ? status : MISSING))"; } # COMMAND...
or_missing need_apt gcc-arm-linux-gnueabihf g++-arm-linux-gnueabihf libc6-dev-armhf-cross \
  gcc-aarch64-linux-gnu g++-aarch64-linux-gnu \
  libc6-dev-arm64-cross
linux_headers
or_missing need_command qemu-arm qemu-user
user_mode
or_missing need_linux armmp rt-armmp arm64
with_linux
exit "$status"
