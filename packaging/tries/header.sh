#!/usr/bin/env bash
# The one file hairspring.h: a program is compiled with gcc alone, and prints readings. Its version
# is that of the release.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install() {
  cp "$(file_of hairspring.h)" "$WORK/c"
  gcc -O2 -I"$WORK/c" "$WORK/c/multiply.c" -o "$WORK/c/multiply"
  prints_readings "$WORK/c/multiply"
}

version() {
  printf '%s\n' '#include <hairspring.h>' '#include <stdio.h>' \
    '#if HAIRSPRING_VERSION_NUMBER < 100' '#error "too old"' '#endif' \
    'int main(void) { return puts(HAIRSPRING_VERSION) < 0; }' >"$WORK/version.c"
  gcc -O2 -I"$WORK/c" "$WORK/version.c" -o "$WORK/version"
  [ -f "$DIST/hairspring-headers-$("$WORK/version").tar.gz" ] ||
    fail "the macro says version $("$WORK/version")"
}

try() {
  no_network
  write_program "$WORK/c"
  timed install
  version
}

"$1"
