#!/usr/bin/env bash
# The Fortran module (probe/fortran/hairspring.f90) with the installed library: it compiles without
# a warning, its tests pass, every example runs, and the command line reaches the program and its
# results come back.
# Tier: all
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
. "$ROOT/tools/library.sh"
cd "$ROOT"

# gfortran 12 warns that the bounds of an allocatable that a call allocates are uninitialized.
FLAGS=(-std=f2018 -Wall -Wextra -Werror -Wno-maybe-uninitialized -Wno-uninitialized)
BUILT="$CACHE/fortran"
status=0

# Builds FILE into the program of its name, with the installed module's source.
build() { # FILE LEVEL
  local module libraries
  module="$(pkg-config --variable=includedir hairspring)/hairspring.f90"
  read -ra libraries < <(library_flags "$BUILT" shared)
  gfortran "${FLAGS[@]}" "$2" -J"$BUILT" "$module" "$1" -o "$BUILT/$(basename "$1" .f90)" \
    "${libraries[@]}"
}

build_and_run() { # FILE LEVEL ARGUMENT...
  local file="$1"
  build "$file" "$2" || return
  shift 2
  "$BUILT/$(basename "$file" .f90)" "$@" >"$BUILT/output.txt"
}

refused() { # TEXT COMMAND...
  local text="$1"
  shift
  if "$@" >"$BUILT/output.txt" 2>&1; then return 1; fi
  grep -q -- "$text" "$BUILT/output.txt"
}

results() { # COMMAND... -- NAME...
  local command=()
  while [ "$1" != -- ]; do command+=("$1") && shift; done
  shift
  "${command[@]}" --json --budget 50ms >"$BUILT/output.json" &&
    python3 probe/tests/results.py "$@" <"$BUILT/output.json"
}

cam_functions() {
  gfortran "${FLAGS[@]}" -O2 -J"$BUILT" probe/tests/cam/check.f90 -o "$BUILT/cam_check" &&
    python3 probe/tests/cam/check.py "$BUILT/cam_check"
}

# An argument shortens the run.
cam_observations() {
  build_and_run examples/experiments/cam/cam.f90 -O2 short &&
    cargo run --quiet --release -p hairspring-cli -- fit "$BUILT/output.txt" --json |
    python3 probe/tests/cam/series.py
}

# What `hairspring new` writes into a project of fpm is built and measures. fpm itself is tried with
# the packages of a release.
first_benchmark() {
  local project="$BUILT/new"
  mkdir -p "$project" && echo 'name = "first"' >"$project/fpm.toml" &&
    quietly cargo run --quiet -p hairspring-cli -- new --source . "$project" &&
    build "$project/bench/speed.f90" -O2 &&
    results "$BUILT/speed" -- nothing dot/size:16 dot/size:256 dot/size:4096
}

need_rust
need_command gfortran gfortran
need_command python3 python3
need_command cmake cmake make
need_command pkg-config pkg-config
rm -rf "$BUILT"
mkdir -p "$BUILT"
step "cmake --install" install_library "$BUILT"
export LD_LIBRARY_PATH="$BUILT/installed/lib"

for level in -O0 -O2 -O3; do
  step "$level check" build_and_run probe/tests/fortran/check.f90 "$level" "$BUILT/table.csv"
done
step "vectors" build_and_run probe/tests/fortran/vectors.f90 -O2
step "arguments, init and setup" results "$BUILT/check" counted -- 'counted "%s", b/n:7' \
  'counted "%s", b/n:-7'
step "an unknown event" refused 'START and STOP' "$BUILT/check" --odd-event
for level in -O0 -O2; do
  step "$level stopwatch" build_and_run examples/fortran/stopwatch.f90 "$level"
  step "$level products" build_and_run examples/fortran/products.f90 "$level" --budget 50ms
done
step "hairspring new" first_benchmark
step "a filter" results "$BUILT/products" dot -- dot/size:16 dot/size:256 dot/size:4096
step "the functions of the cam design problem" cam_functions
step "the observations of the cam design problem" cam_observations
step "no such benchmark" refused "zzz" "$BUILT/products" zzz
exit "$status"
