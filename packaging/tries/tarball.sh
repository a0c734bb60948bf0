#!/usr/bin/env bash
# The static command: unpacked, it measures, also where the home is read-only or unset; what it
# cannot do here it says.
# Needs: man-db
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

try() {
  no_network
  timed install
  COMMAND="$(echo /opt/hairspring-*/bin/hairspring)"
  measures env -u HOME "$COMMAND"
  mkdir -p "$WORK/home" && chmod 555 "$WORK/home" && measures env HOME="$WORK/home" "$COMMAND"
  man --local-file /opt/hairspring-*/share/man/man1/hairspring-time.1 | grep -q -- --budget ||
    fail "the manual page shows no option"
  bash -c '. /opt/hairspring-*/share/bash-completion/completions/hairspring && complete -p hairspring' >/dev/null
  without_proc
  rm -rf /opt/hairspring-*
}

"$1"
