#!/usr/bin/env bash
# The C++ header (probe/hairspring.hpp). With two compilers, as C++17 and as C++20, and all warnings
# as errors: the headers compile alone; the programs under probe/tests/cpp/ and examples/cpp/ run,
# with the installed library if they need it, and with sanitizers; the instructions that both
# compilers make of it are the expected ones; odd names and code that throws have the expected
# results; the CMake package works for C++.
# Tier: all
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
. "$ROOT/tools/library.sh"
cd "$ROOT"

FLAGS=(-Wall -Wextra -Wpedantic -Wconversion -Werror)
SANITIZED=(-O0 -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all)
BUILT="$CACHE/cpp"
ODD=$'"a", b/c:1\t#;<&>%s %n \xc3\xa9'
status=0

check_header() { # COMPILER STANDARD HEADER
  echo "#include \"$3\"" | "$1" "-std=$2" "${FLAGS[@]}" -Iprobe -Icrates/hairspring-capi/include \
    -x c++ -fsyntax-only -
}

build_alone() { # COMPILER FILE FLAG...
  local compiler="$1" file="$2"
  shift 2
  "$compiler" "${FLAGS[@]}" -Iprobe "$@" "$file" -o "$BUILT/alone" &&
    "$BUILT/alone" >"$BUILT/output.txt"
}

# The program of the last `build_alone` printed the engine's rows.
rows_of_the_table() { python3 probe/tests/rows.py spec/rows.json <"$BUILT/output.txt"; }

# Builds with the installed library into the program of that name.
build() { # COMPILER FILE FLAG...
  local compiler="$1" file="$2" flags libraries
  shift 2
  read -ra flags < <(pkg-config --cflags hairspring)
  read -ra libraries < <(library_flags "$BUILT" shared)
  "$compiler" "${FLAGS[@]}" "$@" "${flags[@]}" "$file" -o "$BUILT/$(basename "$file" .cpp)" \
    "${libraries[@]}"
}

build_and_run() { # COMPILER FILE FLAG...
  build "$@" && run_example "$2"
}

vectors() { # COMPILER
  build "$1" probe/tests/cpp/vectors.cpp -std=c++17 -O1 && "$BUILT/vectors"
}

run_example() { # FILE
  local options=(--budget 50ms)
  [[ $1 != *stopwatch* ]] || options=()
  "$BUILT/$(basename "$1" .cpp)" "${options[@]}" >"$BUILT/output.txt"
}

results() { # COMMAND... -- NAME...
  local command=()
  while [ "$1" != -- ]; do command+=("$1") && shift; done
  shift
  "${command[@]}" --json >"$BUILT/output.json" &&
    python3 probe/tests/results.py "$@" <"$BUILT/output.json"
}

# clang's sanitizers take a third of the time of gcc's to compile the rows.
build_engine() { # COMPILER
  local flags=(-O1)
  [ "$1" != clang++ ] || flags=("${SANITIZED[@]}")
  build "$1" probe/tests/cpp/engine.cpp -std=c++17 "${flags[@]}"
}

throws() {
  if "$BUILT/engine" throws 2>"$BUILT/output.txt"; then return 1; fi
  grep -q 'std::runtime_error: the spring is loose' "$BUILT/output.txt"
}

cmake_package() {
  quietly cmake -S probe/tests/cpp -B "$BUILT/package" -DCMAKE_PREFIX_PATH="$BUILT/installed" &&
    quietly cmake --build "$BUILT/package" &&
    "$BUILT/package/program_hairspring" >/dev/null && "$BUILT/package/program_static" >/dev/null
}

# What `hairspring new` writes into a project of CMake is built and measures, and a machine without
# the library builds the rest of the project.
first_benchmark() {
  local project="$BUILT/new"
  mkdir -p "$project" &&
    printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(first C)' >"$project/CMakeLists.txt" &&
    quietly cargo run --quiet -p hairspring-cli -- new "$project" &&
    quietly cmake -S "$project" -B "$project/without" -DCMAKE_DISABLE_FIND_PACKAGE_hairspring=ON &&
    quietly cmake --build "$project/without" &&
    quietly cmake -S "$project" -B "$project/build" -DCMAKE_PREFIX_PATH="$BUILT/installed" \
      -DCMAKE_CXX_FLAGS="${FLAGS[*]}" &&
    quietly cmake --build "$project/build" --target speed &&
    results "$project/build/bench/speed" --budget 50ms -- multiply copy/size:64 copy/size:4096
}

need_rust
need_command g++ g++
need_clang clang++
need_command python3 python3
need_command cmake cmake make
need_command pkg-config pkg-config
need_command objdump binutils
rm -rf "$BUILT"
mkdir -p "$BUILT"

step "cmake --install" install_library "$BUILT"
export LD_LIBRARY_PATH="$BUILT/installed/lib"
for compiler in g++ clang++; do
  for standard in c++17 c++20; do
    for header in hairspring.h hairspring_engine.h hairspring.hpp; do
      step "$compiler $standard $header" check_header "$compiler" "$standard" "$header"
    done
  done
  for level in -O0 -O1 -O2 -O3; do
    step "$compiler $level stopwatch" build_and_run "$compiler" examples/cpp/stopwatch.cpp \
      -std=c++20 "$level"
  done
  for level in -O0 -O2; do # the disassembly below is of -O1 to -O3
    step "$compiler $level chains" build_and_run "$compiler" examples/cpp/chains.cpp -std=c++17 \
      "$level"
  done
  for name in first containers sort; do
    step "$compiler $name" build_and_run "$compiler" "examples/cpp/$name.cpp" -std=c++20 -O1
  done
  step "$compiler sanitized stopwatch" build_and_run "$compiler" examples/cpp/stopwatch.cpp \
    -std=c++17 "${SANITIZED[@]}"
  step "$compiler vectors" vectors "$compiler"
  step "$compiler engine" build_engine "$compiler"
  step "$compiler code that throws" throws
  step "$compiler odd names" results "$BUILT/engine" b/c --budget 50ms -- "$ODD"
  step "$compiler types with an init" results "$BUILT/engine" kinds --budget 50ms -- 'kinds<int>' \
    'kinds<double>'
  step "$compiler 10 behind 4" results "$BUILT/chains" behind -- ratio 2 3.2
done
step "g++ rows" build_alone g++ probe/tests/cpp/rows.cpp -std=c++17 -O2
step "the rows are the engine's" rows_of_the_table
step "clang++ sanitized rows" build_alone clang++ probe/tests/cpp/rows.cpp -std=c++17 \
  "${SANITIZED[@]}"
if [ "$(uname -m)" = x86_64 ]; then
  step disassembly python3 probe/tests/disassembly_cpp.py "$BUILT" g++ clang++
else
  echo "nothing: the expected instructions are those of x86-64"
fi
step "the CMake package" cmake_package
step "hairspring new" first_benchmark
exit "$status"
