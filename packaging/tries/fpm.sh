#!/usr/bin/env bash
# The Fortran package manager builds a program that depends on the package, over the library of
# libhairspring-dev.
# Needs: python3-venv gfortran git pkgconf
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

prepare() {
  python3 -m venv "$WORK/venv"
  "$WORK/venv/bin/pip" -q install 'fpm==0.12.0'
}

install() {
  (cd "$WORK/program" && "$WORK/venv/bin/fpm" run --profile release >"$WORK/fpm.txt" 2>&1) ||
    fail "fpm run: $(tail -n 30 "$WORK/fpm.txt")"
  grep -q 'a span of time' "$WORK/fpm.txt" ||
    fail "the program printed: $(tail -n 30 "$WORK/fpm.txt")"
}

write_fortran() {
  mkdir -p "$WORK/program/app"
  printf '%s\n' 'name = "program"' '[dependencies]' \
    "hairspring = { path = \"../$(basename "$WORK"/hairspring-fpm-*)\" }" >"$WORK/program/fpm.toml"
  printf '%s\n' 'program p' '  use hairspring' '  implicit none' '  type(stopwatch) :: watch' \
    '  type(span_time) :: time' '  call watch%start()' '  call watch%stop(time)' \
    "  print '(a)', 'a span of time'" '  call watch%free()' 'end program' \
    >"$WORK/program/app/main.f90"
}

try() {
  no_network
  apt-get install -qy "$(file_of 'libhairspring0_*.deb')" "$(file_of 'libhairspring-dev_*.deb')" \
    >/dev/null
  tar -xzf "$(file_of 'hairspring-fpm-*.tar.gz')" -C "$WORK"
  write_fortran
  timed install
  apt-get purge -qy libhairspring0 libhairspring-dev >/dev/null
}

"$1"
