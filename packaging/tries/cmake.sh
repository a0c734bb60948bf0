#!/usr/bin/env bash
# CMake's FetchContent takes the archive of the headers, without cargo; and find_package finds what
# it installs.
# Needs: cmake make
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

project() { # FOLDER LINE...
  write_program "$1"
  printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(try C)' "${@:2}" \
    'add_executable(multiply multiply.c)' \
    'target_compile_options(multiply PRIVATE -O2)' \
    'target_link_libraries(multiply PRIVATE hairspring::header)' >"$1/CMakeLists.txt"
}

builds() { # FOLDER OPTION...
  cmake -S "$1" -B "$1/build" "${@:2}" >/dev/null && cmake --build "$1/build" >/dev/null &&
    prints_readings "$1/build/multiply"
}

install() { builds "$WORK/fetched"; }

# The headers, installed by themselves.
installed() {
  mkdir -p "$WORK/headers"
  tar -xzf "$ARCHIVE" -C "$WORK/headers" --strip-components 1
  cmake -S "$WORK/headers" -B "$WORK/headers-build" >/dev/null &&
    cmake --install "$WORK/headers-build" --prefix "$WORK/prefix" >/dev/null
  project "$WORK/found" 'find_package(hairspring CONFIG REQUIRED)'
  builds "$WORK/found" -DCMAKE_PREFIX_PATH="$WORK/prefix"
}

try() {
  no_network
  ! command -v cargo || fail "cargo is here"
  ARCHIVE="$(file_of 'hairspring-headers-*.tar.gz')"
  project "$WORK/fetched" 'include(FetchContent)' "FetchContent_Declare(hairspring URL $ARCHIVE)" \
    'FetchContent_MakeAvailable(hairspring)'
  timed install
  installed
}

"$1"
