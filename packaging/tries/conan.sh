#!/usr/bin/env bash
# Conan creates the package of the headers, and its test builds a program with it.
# Needs: python3-venv cmake make g++
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

export CONAN_HOME="$WORK/conan-home"

prepare() {
  python3 -m venv "$WORK/venv"
  "$WORK/venv/bin/pip" -q install 'conan==2.34.0'
  "$WORK/venv/bin/conan" profile detect >/dev/null 2>&1
}

install() {
  "$WORK/venv/bin/conan" create "$WORK"/hairspring-conan-* --no-remote >"$WORK/conan.txt" 2>&1 ||
    fail "conan create: $(tail -n 30 "$WORK/conan.txt")"
  grep -q '^"multiply",' "$WORK/conan.txt" ||
    fail "the test printed no reading: $(tail -n 30 "$WORK/conan.txt")"
}

try() {
  no_network
  tar -xzf "$(file_of 'hairspring-conan-*.tar.gz')" -C "$WORK"
  timed install
}

"$1"
