# shellcheck shell=bash
# Builds the firmware and the simulator, and runs them. To be sourced by `tables` and by the test
# group.
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT" || exit

RIG="$ROOT/rigs/avr-simavr"
BUILT="$CACHE/avr-simavr"
# -std=gnu11: the headers of avr-libc need asm.
AVR_FLAGS=(-DF_CPU=1000000UL -Os -std=gnu11 -Wall -Wextra -Wpedantic -Wconversion -Werror
  -Iprobe -Iprobe/chip "-I$RIG/firmware")
C_FLAGS=(-std=c11 -O2 -Wall -Wextra -Wpedantic -Wconversion -Werror)

need_rig() {
  need_rust
  need_command gcc gcc libc6-dev
  need_apt gcc-avr avr-libc binutils-avr libsimavr-dev
  mkdir -p "$BUILT"
}

# The one program that is linked with libsimavr (GPL).
build_simulator() {
  gcc "${C_FLAGS[@]}" -isystem /usr/include/simavr "$RIG/simulator/simulate.c" -lsimavr \
    -o "$BUILT/simulate"
}

firmware() { # NAME FILE... [FLAG...]: for PART, the ATmega2560 unless it is set
  avr-gcc "-mmcu=${PART:-atmega2560}" "${AVR_FLAGS[@]}" "${@:2}" -o "$BUILT/$1.elf"
}

build_tables_firmware() {
  firmware line "$RIG/firmware/reference.c" -DLINE -DFRAMES=500
  firmware line-out "$RIG/firmware/reference.c" -DLINE -DFRAMES=20 -DHAIRSPRING_TOGGLE_BY_OUT
  firmware direct "$RIG/firmware/reference.c" -DDIRECT -DFRAMES=500
  firmware differential "$RIG/firmware/reference.c" -DDIFFERENTIAL -DFRAMES=40000
  firmware coder "$RIG/firmware/blocks.c" "$RIG/firmware/coder.c" -DINPUTS=1000 -gdwarf-2
  # Limits of an `int` of 16 bits, at which the reference coder looks.
  firmware published "$RIG/firmware/blocks.c" "$RIG/firmware/published_coder.c" -DINPUTS=1000 \
    -gdwarf-2 -Wno-type-limits
}

simulate() { # NAME ARGUMENT...
  timeout 120 "$BUILT/simulate" "$BUILT/$1.elf" "${@:2}"
}

# First address of a function, and the first one after it.
addresses() { # NAME FUNCTION
  local start size
  read -r start size _ < <(avr-nm -S "$BUILT/$1.elf" | grep " [Tt] $2\$")
  echo "$((0x$start)) $((0x$start + 0x$size))"
}

# Address and line of the source, `0x1a4,57`, of every instruction that was counted.
source_lines() { # NAME
  awk -F, '$2 != "" { printf "%x\n", $2; printf "%x\n", $3 }' "$BUILT/$1.steps" | sort -u |
    avr-addr2line -s -a -e "$BUILT/$1.elf" |
    awk -F: '/^0x/ { address = $1; next } { print address "," $2 + 0 }' > "$BUILT/$1.lines"
}

# Name and line, `BB2,30`, of every block of the report that the source of a firmware names.
named_blocks() { # NAME SOURCE
  grep -n -o 'BB[0-9]*' "$2" | awk -F: '{ print $2 "," $1 }' > "$BUILT/$1.names"
}

simulate_blocks() { # NAME
  local from to
  read -r from to < <(addresses "$1" code_samples)
  simulate "$1" --edges "$BUILT/$1.edges" --steps "$BUILT/$1.steps" --from "$from" --to "$to"
  source_lines "$1"
}

simulate_tables() {
  local name
  for name in line line-out direct differential; do
    simulate "$name" --edges "$BUILT/$name.edges"
  done
  simulate_blocks coder
  simulate_blocks published
  named_blocks published "$RIG/firmware/published_coder.c"
}
