#!/usr/bin/env bash
# The static command for ARM in an emulator: it starts, and fits a file of readings.
# Needs: qemu-user
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install() {
  tar -xzf "$(file_of 'hairspring-*-aarch64-linux.tar.gz')" -C /opt
  qemu-aarch64 /opt/hairspring-*/bin/hairspring --version
  qemu-aarch64 /opt/hairspring-*/bin/hairspring fit "$WORK/line.csv" --json >"$WORK/fit.json"
}

try() {
  no_network
  write_line
  timed install
  tr -d ' \n' <"$WORK/fit.json" | grep -q '"body":' ||
    fail "no body was fitted: $(head -c 600 "$WORK/fit.json")"
  rm -rf /opt/hairspring-*
}

"$1"
