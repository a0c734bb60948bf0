#!/usr/bin/env bash
# The static command: unpacked, it measures, also where the home is read-only or unset; what it
# cannot do here it says.
# Needs: man-db qemu-user
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install() {
  tar -xzf "$(file_of 'hairspring-*-x86_64-linux.tar.gz')" -C /opt
  measures /opt/hairspring-*/bin/hairspring
}

# Prints the text and ends with a status.
says() { # STATUS TEXT COMMAND...
  local status=0 expected="$1" text="$2"
  shift 2
  "$@" >"$WORK/said.txt" 2>&1 || status=$?
  [ "$status" -eq "$expected" ] ||
    fail "$* ended with $status, expected $expected: $(cat "$WORK/said.txt")"
  grep -qF -- "$text" "$WORK/said.txt" || fail "$* does not say '$text': $(cat "$WORK/said.txt")"
}

# A root without /proc: the file in memory has no path there.
without_proc() {
  umount -l /proc
  says 1 "/proc" "$COMMAND" time 1
  mount -t proc proc /proc
}

# Root may write where nobody may, but not into a file system that is read-only.
with_a_home_that_is_read_only() {
  mkdir -p "$WORK/home" && mount -t tmpfs -o ro tmpfs "$WORK/home"
  measures env HOME="$WORK/home" "$COMMAND"
  umount "$WORK/home"
}

# A root without /sys: the CPU's topology and frequency are unknown.
without_sys() {
  umount -l /sys
  measures "$COMMAND"
  mount -t sysfs sysfs /sys
}

# A CPU without AVX.
without_avx() {
  write_line
  qemu-x86_64 -cpu Nehalem "$COMMAND" fit "$WORK/line.csv" --json >/dev/null || fail "it needs AVX"
}

try() {
  no_network
  timed install
  COMMAND="$(echo /opt/hairspring-*/bin/hairspring)"
  names_its_commit "$COMMAND"
  measures env -u HOME "$COMMAND"
  with_a_home_that_is_read_only
  man --local-file /opt/hairspring-*/share/man/man1/hairspring-time.1 | grep -q -- --budget ||
    fail "the manual page shows no option"
  bash -c '. /opt/hairspring-*/share/bash-completion/completions/hairspring && complete -p hairspring' >/dev/null
  without_proc
  without_sys
  without_avx
  rm -rf /opt/hairspring-*
}

"$1"
