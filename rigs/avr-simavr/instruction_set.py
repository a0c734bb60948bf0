"""Checks that the simulator gave every instruction of a function the cycles of the AVR instruction
set manual.

The cycles are those of parts with a 22-bit program counter.
Arguments: the firmware, and the file of --steps.
"""

import csv
import re
import subprocess
import sys

ONE = """adc add and andi asr bld bst clc cli clr com cp cpc cpi dec eor in inc ldi lsr mov
movw neg nop or ori out ror sbc sbci sec sub subi swap"""
TWO = "adiw cbi fmul ld ldd lds mul muls pop push rjmp sbi sbiw st std sts"
CYCLES = dict.fromkeys(ONE.split(), 1) | dict.fromkeys(TWO.split(), 2)
CYCLES |= {"jmp": 3, "lpm": 3, "rcall": 4, "call": 5, "ret": 5}
SKIPS = {"cpse", "sbic", "sbis", "sbrc", "sbrs"}


def mnemonics(firmware: str) -> dict[int, str]:
    """The mnemonics of all instructions, by address."""
    dump = subprocess.run(
        ["avr-objdump", "-d", "-z", firmware], check=True, capture_output=True, text=True
    ).stdout
    found = re.findall(r"^ +([0-9a-f]+):\t(?:[0-9a-f]{2} )+ *\t(\w+)", dump, re.M)
    return {int(address, 16): name for address, name in found}


def expected(name: str, length: int) -> int:
    """Cycles of an instruction, from the distance in bytes to the next one that ran."""
    if name.startswith("br"):
        return 1 if length == 2 else 2
    if name in SKIPS:
        return length // 2
    return CYCLES[name]


def main() -> int:
    """Compares all steps, and prints their number."""
    firmware, steps = sys.argv[1:]
    names, seen, wrong = mnemonics(firmware), set(), 0
    with open(steps, encoding="utf-8", newline="") as file:
        for _, begin, end, count, cycles in csv.reader(file):
            if not begin:
                continue
            name, each = names[int(begin)], int(cycles) / int(count)
            manual = expected(name, int(end) - int(begin))
            seen.add((begin, end))
            if each != manual:
                wrong += 1
                print(f"{name} at {int(begin):#x}: {each} cycles where the manual has {manual}")
    print(f"{len(seen)} steps looked at, {wrong} wrong")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
