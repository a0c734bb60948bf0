#!/usr/bin/env bash
# Firmware with nothing but a pin or a timer: rigs/avr-simavr/ and probe/chip/. With all warnings as
# errors: the headers compile for AVR, Cortex-M and RISC-V and refuse wrong settings; avr-gcc makes
# the expected code of them; in a cycle-exact simulator waits, slopes and overheads are exact, by
# pin and by timer; and a simulated sound card gives Tables 1 and 2 of the report.
# Tier: all
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../rigs/avr-simavr/build.sh"

ANY=probe/tests/chip/any.c
WARNINGS=(-Wall -Wextra -Wpedantic -Wconversion -Werror -Iprobe -Iprobe/chip)
FREE=(-std=c11 "${WARNINGS[@]}" -ffreestanding -DHAIRSPRING_CLOCK_HZ=16000000ul)
status=0

# ---- compiling -----------------------------------------------------------------------------------

compiles() { # COMPILER FLAG...
  local level
  for level in -Os -O1 -O2 -O3; do
    "$@" "${FREE[@]}" "$level" -c "$ANY" -o "$BUILT/any.o" &&
      "$@" "${FREE[@]}" "$level" -DOWN_PIN -c "$ANY" -o "$BUILT/any.o" || return
  done
}

compiles_for_avr() { # PART FLAG...
  avr-gcc "-mmcu=$1" -std=gnu11 "${WARNINGS[@]}" -Os -DF_CPU=8000000UL -DHAIRSPRING_PORT=B \
    -DHAIRSPRING_BIT=4 "${@:2}" -c "$ANY" -o "$BUILT/any.o"
}

# A part without a 16-bit timer: the program defines its own clock, which is never read.
compiles_for_a_small_part() {
  printf '%s\n' '#include "hairspring_pin.h"' 'void send(struct hairspring_pin *pin);' \
    'void send(struct hairspring_pin *pin) { HAIRSPRING_PULSE(pin, 3, __asm__ volatile("nop")); }' |
    avr-gcc -mmcu=attiny85 -std=gnu11 "${WARNINGS[@]}" -Os -DF_CPU=8000000UL \
    '-DHAIRSPRING_READ_CLOCK()=0' \
      -DHAIRSPRING_PORT=B -DHAIRSPRING_BIT=4 -x c -c - -o "$BUILT/any.o"
}

# A program in C++, as with Arduino.
compiles_as_cpp() {
  printf '%s\n' '#include "hairspring_pin.h"' 'void send();' \
    'void send() { static struct hairspring_pin pin = HAIRSPRING_PIN(500); hairspring_pin_start(); hairspring_clock_start();' \
    '  hairspring_frame_steps(&pin, 1, 1, 1); HAIRSPRING_PULSE(&pin, 1, __asm__ volatile("nop")); hairspring_frame_end(&pin); }' |
    avr-g++ -mmcu=atmega2560 -std=gnu++11 -Wall -Wextra -Werror -Os -DF_CPU=8000000UL -Iprobe \
    -Iprobe/chip \
      -DHAIRSPRING_PORT=B -DHAIRSPRING_BIT=4 -x c++ -c - -o "$BUILT/any.o"
}

# hairspring.h without the chip's clock.
refuses_the_host_header() {
  if echo '#include "hairspring.h"' |
      avr-gcc -mmcu=atmega2560 -Os -Iprobe -x c -c - -o "$BUILT/any.o" \
      2>"$BUILT/refused.txt"; then return 1; fi
  grep -q 'error: .*include hairspring_clock.h instead' "$BUILT/refused.txt"
}

# Every program that docs/firmware.md shows.
docs_compile() {
  local at
  for at in 1 2; do
    awk -v want="$at" '/^```c$/ { n += 1; next } /^```$/ { if (n == want) exit; next } n == want' \
      docs/firmware.md >"$BUILT/docs.c"
    grep -q 'int main' "$BUILT/docs.c" &&
      avr-gcc -mmcu=atmega2560 "${AVR_FLAGS[@]}" -c "$BUILT/docs.c" -o "$BUILT/docs.o" || return
  done
}

# Compiling ends with an error that contains these words.
refuses() { # WORDS COMPILER FLAG...
  local words="$1"
  shift
  if "$@" -Iprobe -Iprobe/chip -c "$ANY" -o "$BUILT/any.o" 2>"$BUILT/refused.txt"; then echo \
      "it compiles" && return 1; fi
  grep -q "error: .*$words" "$BUILT/refused.txt" || { head -n 3 "$BUILT/refused.txt" && return 1; }
}

# ---- running -------------------------------------------------------------------------------------

# Each pulse of delay.c is a cycle longer than the one before.
waits_are_exact() {
  firmware delay "$RIG/firmware/delay.c"
  simulate delay --edges "$BUILT/delay.edges"
  awk '{ width = $1 - before; before = $1 } $2 == 0 { pulses += 1; if (pulses > 1 && width != last + 1) wrong += 1; last = width }
    END { if (wrong > 0 || pulses != 397) { print wrong + 0 " of " pulses + 0 " waits are off"; exit 1 } }' "$BUILT/delay.edges"
}

# The serial line sends a table of exact readings: 100 cycles a copy, with the same overhead in
# each.
timer_is_exact() {
  firmware timer "$RIG/firmware/timer.c" -DROUNDS=5
  simulate timer --uart "$BUILT/timer.csv"
  awk -F, '/^"routine"/ { rows += 1; overhead = $5 - 100 * $2; if (rows > 1 && overhead != first) wrong += 1; first = overhead }
    END { if (wrong > 0 || rows != 60) { print wrong + 0 " of " rows + 0 " readings are off"; exit 1 } }' "$BUILT/timer.csv"
  "$HAIRSPRING" fit "$BUILT/timer.csv" --json >"$BUILT/timer.json"
  python3 - "$BUILT/timer.json" <<'END'
import json, sys
body = json.load(open(sys.argv[1], encoding="utf-8"))["results"][0]["components"]["body"]["time_ns"]
assert abs(body["value"] - 100_000) < 1e-6 and body["low"] <= 100_000 <= body["high"], body
END
}

# Code that simavr 1.6 runs wrongly: interrupts, and a skip over adiw or sbiw with a constant of 12
# to 15, modulo 16.
touches_a_defect() { # ELF
  avr-objdump -d "$1" | awk -F'\t' '$3 ~ /^(sei|reti)/ || skip && $3 ~ /^(adiw|sbiw)/ && $4 ~ /0x[0-3][c-fC-F]/ { found = 1; print }
    { skip = $3 ~ /^(sbrc|sbrs|sbic|sbis|cpse)/ } END { exit !found }'
}

no_known_defect() {
  local name
  for name in line line-out direct differential coder published delay timer; do
    if touches_a_defect "$BUILT/$name.elf"; then echo \
        "$name.elf has code that the simulator runs wrongly" && return 1; fi
  done
  # The check itself finds such code.
  printf '%s\n' '.global main' 'main:' 'sbrc r24, 0' 'adiw r28, 13' 'ret' |
    avr-gcc -mmcu=atmega2560 -x assembler -o "$BUILT/defect.elf" -
  touches_a_defect "$BUILT/defect.elf" >"$BUILT/defect.txt"
}

# Exit statuses and messages of the simulator for wrong uses.
simulator_complains() {
  local found=0
  "$BUILT/simulate" 2>/dev/null || found=$?
  [ "$found" -eq 2 ] || { echo "without a firmware it ends with $found" && return 1; }
  found=0
  "$BUILT/simulate" "$BUILT/timer.csv" 2>"$BUILT/complaint.txt" || found=$?
  if [ "$found" -ne 1 ] || [ ! -s "$BUILT/complaint.txt" ]; then echo \
      "with a text for a firmware it ends with $found" && return 1; fi
  found=0
  "$BUILT/simulate" "$BUILT/line.elf" --mcu nothing 2>"$BUILT/complaint.txt" || found=$?
  if [ "$found" -ne 1 ] || ! grep -q nothing "$BUILT/complaint.txt"; then echo \
      "with an unknown part it ends with $found" && return 1; fi
  found=0
  "$BUILT/simulate" "$BUILT/line.elf" --seconds 0.01 2>/dev/null || found=$?
  [ "$found" -eq 3 ] || { echo "with too little time it ends with $found" && return 1; }
}

# The simulator's code built with another compiler, and with sanitizers, gives the same output.
# Leaks in libsimavr are ignored.
simulator_is_sound() {
  local from to program
  clang "${C_FLAGS[@]}" -isystem /usr/include/simavr -fsyntax-only "$RIG/simulator/simulate.c" ||
    return
  gcc "${C_FLAGS[@]}" -g -fsanitize=address,undefined -fno-sanitize-recover=all \
    -isystem /usr/include/simavr \
    "$RIG/simulator/simulate.c" -lsimavr -o "$BUILT/sanitized" || return
  firmware few "$RIG/firmware/blocks.c" "$RIG/firmware/coder.c" -DINPUTS=20
  read -r from to < <(addresses few code_samples)
  for program in simulate sanitized; do
    ASAN_OPTIONS=detect_leaks=0 "$BUILT/$program" "$BUILT/few.elf" --edges "$BUILT/$program.edges" \
      --vcd "$BUILT/$program.vcd" \
      --steps "$BUILT/$program.steps" --from "$from" --to "$to" || return
  done
  cmp "$BUILT/simulate.edges" "$BUILT/sanitized.edges" &&
    cmp "$BUILT/simulate.steps" "$BUILT/sanitized.steps"
}

# The command reads the simulator's own recording, and finds slope and overhead without an error.
capture_of_vcd() { # NAME OVERHEAD
  simulate "$1" --vcd "$BUILT/$1.vcd" &&
    "$HAIRSPRING" capture "$BUILT/$1.vcd" --json >"$BUILT/$1.json" &&
    python3 - "$BUILT/$1.json" "$2" <<'END'
import json, sys
result = json.load(open(sys.argv[1], encoding="utf-8"))["results"][0]
body, overhead = result["components"]["body"]["time_ns"]["value"], result["overhead"]["time_ns"]["value"]
assert abs(body - 100_000) < 1e-6 and abs(overhead - float(sys.argv[2])) < 1e-4, (body, overhead)
END
}

# Other parts, pins and clocks: at 16 MHz, with a program counter of 16 bits (98 cycles), and a port
# beyond sbi (100 cycles).
capture_of_other_parts() {
  local line=("$RIG/firmware/reference.c" -DLINE -DFRAMES=4 -UF_CPU -DF_CPU=16000000UL)
  PART=atmega328p firmware m328p "${line[@]}" -DHAIRSPRING_PORT=B -DHAIRSPRING_BIT=5 &&
    firmware port-h "${line[@]}" -DHAIRSPRING_PORT=H -DHAIRSPRING_BIT=3 \
    -DHAIRSPRING_TOGGLE_BY_STS &&
    simulate m328p --mcu atmega328p --frequency 16000000 --pin B5 --vcd "$BUILT/m328p.vcd" &&
    simulate port-h --frequency 16000000 --pin H3 --vcd "$BUILT/port-h.vcd" || return
  local name
  for name in m328p port-h; do
    "$HAIRSPRING" capture "$BUILT/$name.vcd" --reference 1s --json >"$BUILT/$name.json" || return
  done
  python3 - "$BUILT/m328p.json" 98 "$BUILT/port-h.json" 100 <<'END'
import json, sys
for file, cycles in zip(sys.argv[1::2], sys.argv[2::2]):
    result = json.load(open(file, encoding="utf-8"))["results"][0]
    body, overhead = result["components"]["body"]["time_ns"]["value"], result["overhead"]["time_ns"]["value"]
    assert abs(body - 62.5 * int(cycles)) < 1e-6 and abs(overhead - 125) < 1e-4, (file, body, overhead)
END
}

# ... and the recording of the simulated sound card, with a rate calibrated by the chip's own
# second.
capture_of_sound() {
  cargo run --quiet --release -p hairspring-avr-rig -- --wav "$BUILT/line-out.edges" \
    "$BUILT/line-out.wav" &&
    "$HAIRSPRING" capture "$BUILT/line-out.wav" --reference 1s --json >"$BUILT/sound.json" &&
    python3 - "$BUILT/sound.json" <<'END'
import json, sys
result = json.load(open(sys.argv[1], encoding="utf-8"))["results"][0]
body, overhead = result["components"]["body"]["time_ns"], result["overhead"]["time_ns"]
assert abs(body["value"] - 100_000) < 20 and body["high"] - body["low"] < 40, body
assert 7_000 < overhead["value"] < 8_000, overhead  # 1 us of the toggle, 6.5 us of the front end
END
}

tables() { cargo run --quiet --release -p hairspring-avr-rig -- "$BUILT"; }

need_rig
need_apt gcc-arm-none-eabi gcc-riscv64-unknown-elf
need_command python3 python3
need_command clang clang
# Separately, so that the command is the one that the other groups have built.
cargo build --release -p hairspring-cli
cargo build --release -p hairspring-avr-rig
HAIRSPRING="$CARGO_TARGET_DIR/release/hairspring"

for part in cortex-m3 cortex-m4 cortex-m7 cortex-m33; do
  step "$part" compiles arm-none-eabi-gcc "-mcpu=$part" -mthumb
done
step "RISC-V, 32 bits" compiles riscv64-unknown-elf-gcc -march=rv32imac_zicsr -mabi=ilp32
step "RISC-V, 32 bits, mcycle" compiles riscv64-unknown-elf-gcc -march=rv32imac_zicsr -mabi=ilp32 \
  -DHAIRSPRING_MACHINE_MODE
step "RISC-V, 64 bits" compiles riscv64-unknown-elf-gcc -march=rv64imac_zicsr -mabi=lp64
for part in atmega2560 atmega328p atmega1284p atmega32u4; do
  step "$part" compiles_for_avr "$part"
done
step "docs/firmware.md" docs_compile
step "attiny85" compiles_for_a_small_part
step "C++" compiles_as_cpp
step "hairspring.h alone is an error on AVR" refuses_the_host_header
AVR=(avr-gcc -mmcu=atmega2560 -std=gnu11 -Os -DHAIRSPRING_PORT=B -DHAIRSPRING_BIT=4)
step "no rate is an error on AVR" refuses "rate of the clock is not known" "${AVR[@]}"
step "no rate is an error on Cortex-M" refuses "rate of the clock is not known" arm-none-eabi-gcc \
  -mcpu=cortex-m4 -mthumb -Os
step "no optimisation is an error" refuses "with optimisation" "${AVR[@]}" -DF_CPU=1000000UL -O0
step "a port beyond sbi is an error" refuses "HAIRSPRING_TOGGLE_BY_STS" "${AVR[@]}" \
  -DF_CPU=1000000UL -UHAIRSPRING_PORT -DHAIRSPRING_PORT=H
step "a bit that is none is an error" refuses "HAIRSPRING_BIT is 0 to 7" "${AVR[@]}" \
  -DF_CPU=1000000UL -UHAIRSPRING_BIT -DHAIRSPRING_BIT=8
step "a unit that is too short is an error" refuses "unit out of range" "${AVR[@]}" \
  -DF_CPU=1000000UL
step "no pin is an error" refuses "no pin" avr-gcc -mmcu=atmega2560 -std=gnu11 -Os -DF_CPU=1000000UL
step "a baud rate that is far off is an error" refuses "off by more than 2 %" "${AVR[@]}" \
  -DF_CPU=1000000UL -DHAIRSPRING_BAUD=115200
step "a part without serial line 0 is an error" refuses "no serial line 0" avr-gcc \
  -mmcu=atmega32u4 -std=gnu11 -Os -DF_CPU=1000000UL -DHAIRSPRING_PORT=B -DHAIRSPRING_BIT=4 \
  -DHAIRSPRING_BAUD=9600
step "a Cortex-M0 is an error" refuses "knows AVR, Cortex-M" arm-none-eabi-gcc -mcpu=cortex-m0 \
  -mthumb -Os -DHAIRSPRING_CLOCK_HZ=1000000ul
step "the expected instructions" python3 probe/tests/chip/avr.py "$BUILT"
step "the simulator compiles" build_simulator
step "the firmware compiles" build_tables_firmware
step "waits in the simulator" waits_are_exact
step "the timer in the simulator" timer_is_exact
step "no defect of the simulator is touched" no_known_defect
step "odd arguments of the simulator" simulator_complains
step "the firmware runs" simulate_tables
step "the simulator with clang and with sanitizers" simulator_is_sound
step "the simulator's cycles are those of the manual" python3 "$RIG/instruction_set.py" \
  "$BUILT/coder.elf" "$BUILT/coder.steps"
step "hairspring capture of the simulator's file, sbi" capture_of_vcd line 2000
step "hairspring capture of the simulator's file, out" capture_of_vcd line-out 1000
step "hairspring capture of other parts, pins and clocks" capture_of_other_parts
step "hairspring capture of the sound card's file" capture_of_sound
if tables >"$BUILT/tables.txt"; then
  echo "ok: tables 1 and 2"
else
  echo "FAILED: tables 1 and 2" && status=1
fi
cat "$BUILT/tables.txt"
exit "$status"
