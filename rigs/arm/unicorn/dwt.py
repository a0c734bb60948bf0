"""Runs a Cortex-M program in Unicorn with a model of the DWT's cycle counter, which QEMU does not
have.

    dwt.py PROGRAM.elf [--lock]

The model counts instructions. It answers while DEMCR.TRCENA is set and counts only while
DWT_CTRL.CYCCNTENA is set. With --lock (as on a Cortex-M7) writes to the DWT have no effect before
the lock register got its key. It is a model of ARM's manual and not of a chip: it checks the order
of enabling and the arithmetic. The status is that of the program.
"""

# Unicorn's functions have no types, and it does not export its class by name.
# mypy: disable-error-code="no-untyped-call, attr-defined"

import argparse
import struct
import sys
from pathlib import Path

from unicorn import UC_ARCH_ARM, UC_HOOK_CODE, UC_HOOK_INTR, UC_MODE_MCLASS, UC_MODE_THUMB, Uc
from unicorn.arm_const import UC_ARM_REG_PC, UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_SP

MEMORY = 0x400000
PRIVATE = 0xE0000000  # the private peripheral bus
PRIVATE_SIZE = 0x100000
DEMCR, DWT_CTRL, DWT_CYCCNT, DWT_LAR = 0xEDFC, 0x1000, 0x1004, 0x1FB0
TRCENA, CYCCNTENA, KEY = 1 << 24, 1, 0xC5ACCE55
WRITE0, EXIT_EXTENDED = 0x04, 0x20
MOST_INSTRUCTIONS = 10_000_000


class Dwt:
    """The registers of the model; `instructions` is the time."""

    def __init__(self, locked: bool) -> None:
        self.instructions = 0
        self.locked = locked
        self.demcr = 0
        self.enabled = False
        self.offset = 0  # count = instructions + offset while it counts
        self.stopped = 0  # the count while it does not

    def count(self) -> int:
        """The 32 bits of DWT_CYCCNT."""
        return (self.instructions + self.offset if self.enabled else self.stopped) & 0xFFFFFFFF

    def set_count(self, value: int) -> None:
        """Writes DWT_CYCCNT."""
        self.stopped = value
        self.offset = value - self.instructions

    def read(self, register: int) -> int:
        """The value of a register; those that the model does not have are 0."""
        if register == DEMCR:
            return self.demcr
        if self.demcr & TRCENA == 0:
            return 0
        return {DWT_CTRL: CYCCNTENA * self.enabled, DWT_CYCCNT: self.count()}.get(register, 0)

    def write(self, register: int, value: int) -> None:
        """Writes a register, where the order of enabling allows it."""
        if register == DEMCR:
            self.demcr = value
        elif self.demcr & TRCENA == 0:
            return
        elif register == DWT_LAR:
            self.locked = self.locked and value != KEY
        elif self.locked:
            return
        elif register == DWT_CYCCNT:
            self.set_count(value)
        elif register == DWT_CTRL:
            self.set_count(self.count())
            self.enabled = bool(value & CYCCNTENA)


def segments(elf: bytes) -> list[tuple[int, bytes]]:
    """Addresses and contents of the loaded segments of a 32-bit file."""
    start, size, number = struct.unpack_from("<I", elf, 28)[0], *struct.unpack_from("<HH", elf, 42)
    found = []
    for at in range(start, start + size * number, size):
        kind, offset, _, address, length = struct.unpack_from("<5I", elf, at)
        if kind == 1 and length > 0:
            found.append((address, elf[offset : offset + length]))
    return found


def text_at(machine: Uc, address: int) -> str:
    """The text that ends with a zero byte."""
    letters = bytearray()
    while (byte := machine.mem_read(address + len(letters), 1)[0]) != 0:
        letters.append(byte)
    return letters.decode()


def run(program: Path, locked: bool) -> int:
    """Runs the program and returns its status; 97 if it does not end."""
    machine, dwt, status = Uc(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS), Dwt(locked), [97]
    machine.mem_map(0, MEMORY)
    for address, content in segments(program.read_bytes()):
        machine.mem_write(address, content)

    def semihosting(engine: Uc, _number: int, _data: object) -> None:
        operation, argument = engine.reg_read(UC_ARM_REG_R0), engine.reg_read(UC_ARM_REG_R1)
        if operation == WRITE0:
            sys.stdout.write(text_at(engine, argument))
            engine.reg_write(UC_ARM_REG_PC, (engine.reg_read(UC_ARM_REG_PC) + 2) | 1)
        else:
            if operation == EXIT_EXTENDED:
                status[0] = struct.unpack("<I", engine.mem_read(argument + 4, 4))[0]
            engine.emu_stop()

    def counted(_engine: Uc, _address: int, _size: int, _data: object) -> None:
        dwt.instructions += 1

    machine.mmio_map(
        PRIVATE,
        PRIVATE_SIZE,
        lambda _engine, offset, _size, _data: dwt.read(offset),
        None,
        lambda _engine, offset, _size, value, _data: dwt.write(offset, value),
        None,
    )
    machine.hook_add(UC_HOOK_INTR, semihosting)
    machine.hook_add(UC_HOOK_CODE, counted)
    stack, entry = struct.unpack("<II", machine.mem_read(0, 8))
    machine.reg_write(UC_ARM_REG_SP, stack)
    machine.emu_start(entry | 1, MEMORY, count=MOST_INSTRUCTIONS)
    return status[0]


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--lock", action="store_true", help="a DWT with a lock register")
    arguments = parser.parse_args()
    return run(arguments.program, arguments.lock)


if __name__ == "__main__":
    sys.exit(main())
