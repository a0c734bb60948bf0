#!/usr/bin/env bash
# The static command for ARM in an emulator: it starts, and fits a file of readings.
# Needs: qemu-user
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install() {
  tar -xzf "$(file_of 'hairspring-*-aarch64-linux.tar.gz')" -C /opt
  qemu-aarch64 /opt/hairspring-*/bin/hairspring --version
  qemu-aarch64 /opt/hairspring-*/bin/hairspring fit "$WORK/line.csv" --json >"$WORK/fit.json"
}

# Rows of a line with a slope of 40 ns and an overhead of 100 ns.
write_line() {
  printf '%s\n' '# hairspring observations: 1' '# rate_hz: 1000000000' \
    'series,body,round,flags,ticks'
  awk 'BEGIN { for (round = 0; round < 40; round++) for (copies = 1; copies <= 16; copies *= 2)
    printf "main,%d,%d,,%d\n", copies, round, 100 + 40 * copies + (round * 7 + copies) % 3 }'
}

try() {
  no_network
  write_line >"$WORK/line.csv"
  timed install
  tr -d ' \n' <"$WORK/fit.json" | grep -q '"body":' ||
    fail "no body was fitted: $(head -c 600 "$WORK/fit.json")"
  rm -rf /opt/hairspring-*
}

"$1"
