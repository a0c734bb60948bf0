# shellcheck shell=bash
# What the tries share. Each is a script NAME.sh in a bare root, with the packages on its line
# `# Needs:`. `NAME.sh prepare` runs with the network, if there is such a function; then
# `NAME.sh try` runs without it. To be sourced.
set -euo pipefail

DIST="$HOME/try/dist"
WORK="$HOME/try/work"
mkdir -p "$WORK"

fail() { echo "FAILED: $*" >&2 && exit 1; }

# The one file of dist/ that matches.
file_of() { # PATTERN
  local files
  mapfile -t files < <(compgen -G "$DIST/$1")
  [ "${#files[@]}" -eq 1 ] || fail "dist/ has ${#files[@]} files $1, expected one"
  echo "${files[0]}"
}

no_network() {
  ! timeout 5 bash -c 'exec 3<>/dev/tcp/1.1.1.1/53' 2>/dev/null || fail "there is a network here"
}

# A multiplication of 64 bits, which takes 3 cycles on each x86-64 that is in use. The text is that
# of `hairspring time --json`.
is_right() { # FILE
  local text cycles
  text="$(tr -d ' \n' <"$1")"
  text="${text#*\"body\":\{}"
  text="${text#*\"cycles\":\{\"value\":}"
  cycles="$(grep -oE '^[0-9.]+' <<<"$text" || true)"
  [ -n "$cycles" ] || fail "the result has no core cycles: $(head -c 600 "$1")"
  awk -v cycles="$cycles" 'BEGIN { exit !(cycles > 2.9 && cycles < 3.1) }' ||
    fail "a multiplication takes $cycles cycles, expected 3"
  echo "a multiplication takes $cycles core cycles"
}

# The version, with the commit and the day that it is of.
names_its_commit() { # COMMAND...
  "$@" --version | grep -qE '^hairspring [0-9.]+ \([0-9a-f]{10} [0-9-]{10}\)$' ||
    fail "$* --version: $("$@" --version)"
}

# The first number, by a command.
measures() { # COMMAND...
  "$@" time 'x = x * c' --let 'uint64_t x = 3' --let 'uint64_t c = 5' --json >"$WORK/result.json" ||
    fail "$* time ended with $?"
  is_right "$WORK/result.json"
}

# Readings of a program, of which each line of the benchmark has a number.
prints_readings() { # PROGRAM
  "$1" >"$WORK/readings.csv" || fail "$1 ended with $?"
  [ "$(grep -c '^"multiply",' "$WORK/readings.csv")" -gt 10 ] ||
    fail "$1 printed: $(head -c 600 "$WORK/readings.csv")"
}

# Runs the steps of a user and prints how long they took.
timed() { # FUNCTION
  local start="$EPOCHREALTIME"
  "$1"
  awk -v start="$start" -v end="$EPOCHREALTIME" \
    'BEGIN { printf "%.1f s from the first command to the first number\n", end - start }'
}

# Rows of a line with a slope of 40 ns and an overhead of 100 ns, in $WORK/line.csv.
write_line() {
  {
    printf '%s\n' '# hairspring observations: 1' '# rate_hz: 1000000000' \
      'series,body,round,flags,ticks'
    awk 'BEGIN { for (round = 0; round < 40; round++) for (copies = 1; copies <= 16; copies *= 2)
      printf "main,%d,%d,,%d\n", copies, round, 100 + 40 * copies + (round * 7 + copies) % 3 }'
  } >"$WORK/line.csv"
}

# A small program for the headers.
write_program() { # FOLDER
  mkdir -p "$1"
  cat >"$1/multiply.c" <<'C'
#include <hairspring.h>

HAIRSPRING_BENCHMARK(multiply, (uint64_t x = 3, c = 5; HAIRSPRING_OPAQUE(c)), x *= c; HAIRSPRING_OPAQUE(x));

HAIRSPRING_MAIN({.benchmark = &multiply})
C
}
