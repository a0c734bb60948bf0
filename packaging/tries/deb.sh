#!/usr/bin/env bash
# apt installs the packages from files: the command measures, a program is built with the library,
# and removing them leaves nothing.
# Needs: lintian pkgconf cmake make gfortran man-db
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# The project has no address of its own yet; this is no upload to Debian; cargo-deb writes no
# shlibs, which packages built on the library would read, and gives the variant for development the
# trigger of the library.
SUPPRESSED='bogus-mail-host
bogus-mail-host-in-debian-changelog
initial-upload-closes-no-bugs
no-shlibs
package-has-unnecessary-activation-of-ldconfig-trigger'

install() {
  apt-get install -qy "$(file_of 'hairspring_*.deb')" >/dev/null
  measures hairspring
}

library() {
  apt-get install -qy "$(file_of 'libhairspring0_*.deb')" "$(file_of 'libhairspring-dev_*.deb')" \
    >/dev/null
  write_program "$WORK/c"
  # shellcheck disable=SC2046 # words
  gcc -O2 "$WORK/c/multiply.c" $(pkg-config --cflags --libs hairspring) -o "$WORK/c/multiply"
  "$WORK/c/multiply" --json >"$WORK/program.json"
  grep -q '"multiply"' "$WORK/program.json" ||
    fail "the program printed: $(head -c 600 "$WORK/program.json")"
  printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(try C)' \
    'find_package(hairspring REQUIRED)' 'add_executable(multiply multiply.c)' \
    'target_compile_options(multiply PRIVATE -O2)' \
    'target_link_libraries(multiply PRIVATE hairspring::static m)' >"$WORK/c/CMakeLists.txt"
  cmake -S "$WORK/c" -B "$WORK/c/build" >/dev/null && cmake --build "$WORK/c/build" >/dev/null &&
    "$WORK/c/build/multiply" --list | grep -q multiply
  fortran
}

fortran() {
  printf '%s\n' 'program p' '  use hairspring' '  implicit none' '  type(stopwatch) :: watch' \
    '  type(span_time) :: time' '  call watch%start()' '  call watch%stop(time)' \
    '  call watch%free()' 'end program' >"$WORK/p.f90"
  # shellcheck disable=SC2046 # words
  gfortran -O2 -J"$WORK" /usr/include/hairspring.f90 "$WORK/p.f90" $(pkg-config --libs hairspring) \
    -o "$WORK/p" && "$WORK/p"
}

try() {
  no_network
  timed install
  names_its_commit hairspring
  measures env -u HOME hairspring
  man hairspring-time | grep -q -- --budget || fail "man shows no option"
  library
  lintian --allow-root --fail-on error,warning --suppress-tags "$(paste -sd, <<<"$SUPPRESSED")" \
    "$DIST"/*.deb || fail "lintian complains"
  apt-get install -qy --reinstall "$(file_of 'hairspring_*.deb')" >/dev/null
  apt-get purge -qy hairspring libhairspring0 libhairspring-dev >/dev/null
}

"$1"
