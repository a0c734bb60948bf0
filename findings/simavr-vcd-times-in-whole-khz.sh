#!/usr/bin/env bash
# simavr 1.6 (Debian 12): the times in its VCD are cycles over the frequency cut to whole kHz. A pin
# that toggles every 65,536 cycles does so every 2.048 s at 32,768 Hz (2 s in truth, 2.4 % too
# long), 8,889.86 us at 7.3728 MHz (8,888.89, 108.5 ppm) and 4,444.63 us at 14.7456 MHz (4,444.44,
# 40.7 ppm): crystals for serial ports and clocks. Whole MHz are right. The file has neither
# `$version` nor the frequency, so a reader cannot correct it. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/archives/partial" "$folder/root"
apt-get install --yes --quiet=2 --download-only --no-install-recommends --reinstall \
    -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
    -o Dir::Cache::archives="$folder/archives" \
    simavr=1.6+dfsg-3 libsimavr2=1.6+dfsg-3 libsimavrparts1=1.6+dfsg-3 libelf1 \
    binutils-avr=2.26.20160125+Atmel3.6.2-4 > "$folder/apt.log"
for package in "$folder"/archives/*.deb; do dpkg -x "$package" "$folder/root"; done
LD_LIBRARY_PATH=$folder/root/usr/lib/$(uname -m)-linux-gnu
export LD_LIBRARY_PATH
cd "$folder"
# The section `.mmcu` tells simavr the chip, the frequency (tag 2), the file and the pin to record.
cat > pin.s <<'ASM'
	.section .mmcu, "a", @progbits
	.byte 1, 64
0:	.ascii "atmega328p"
	.fill 64 - (. - 0b), 1, 0
	.byte 2, 4
	.4byte FREQUENCY
	.byte 12, 64
0:	.ascii "pin.vcd"
	.fill 64 - (. - 0b), 1, 0
	.byte 13, 4
	.4byte 1000
	.byte 14, 35, 0x20
	.2byte 0x25
0:	.ascii "PB5"
	.fill 32 - (. - 0b), 1, 0
	.byte 0, 0
	.text
	sbi 4, 5
	ldi r16, 0x20
	ldi r17, 0x20
	ldi r24, 5
1:	out 5, r16
	eor r16, r17
	ldi r26, 0xfe
	ldi r27, 0x3f
2:	sbiw r26, 1
	brne 2b
	nop
	nop
	dec r24
	brne 1b
	cli
	sleep
ASM
seen=$(for frequency in 16000000 14745600 7372800 32768; do
    root/usr/bin/avr-as -mmcu=atmega328p --defsym FREQUENCY=$frequency pin.s -o pin.o
    root/usr/bin/avr-ld -m avr5 pin.o -o pin.elf
    timeout 60 root/usr/bin/simavr pin.elf > simavr.log 2>&1
    awk -v frequency=$frequency '
        /^[$]timescale/ { unit = $2 } /^[$]version/ { named = 1 }
        /^#/ { at[++n] = substr($1, 2) }
        END { print frequency " Hz: " at[n] - at[n - 1] " x " unit (named ? "" : ", no version") }
    ' pin.vcd
done)
echo "$seen"
diff <(echo "$seen") - <<'TEXT' || { echo 'the behaviour has changed' >&2; exit 1; }
16000000 Hz: 409600 x 10ns, no version
14745600 Hz: 444463 x 10ns, no version
7372800 Hz: 888986 x 10ns, no version
32768 Hz: 204800000 x 10ns, no version
TEXT
